#!/usr/bin/env bash
# a layer that reaches to its right must not build: neither by an include of a public header, nor by
# one of a private header, nor by declaring a function by hand. Tried on a copy of the tree.
set -uo pipefail
source_dir=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
mkdir "$tree"
(cd "$source_dir" && git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$tree" 2>/dev/null)

build() { cmake --build "$scratch/build" --target flr_link_math >"$scratch/log" 2>&1; }
cmake -S "$tree" -B "$scratch/build" -G Ninja -DFLR_IMPORT=OFF -DFLR_TESTS=OFF >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; echo "FAIL: the copy does not configure"; exit 1; }
build || { cat "$scratch/log"; echo "FAIL: the untouched math layer does not build"; exit 1; }

[ -e "$tree/src/mesh/weld.h" ] || { echo "FAIL: the header that is tried is gone"; exit 1; }
failed=0
try() { # description, source text
  printf '%s\n' "$2" >"$tree/src/math/intruder.c"
  if build; then echo "FAIL: $1 builds"; failed=1; else echo "refused, as it should be: $1"; fi
  rm "$tree/src/math/intruder.c"
}
prototype='void flr_intruder(void);'
try "math including a public header of mesh" "#include \"feeler/mesh.h\"
$prototype
void flr_intruder(void) {}"
try "math including a private header of mesh" "#include \"mesh/weld.h\"
$prototype
void flr_intruder(void) {}"
try "math calling mesh by a declaration of its own" "$prototype
void flr_mesh_destroy(void *mesh);
void flr_intruder(void) { flr_mesh_destroy(0); }"
try "math reaching across by a relative path" "#include \"../mesh/weld.h\"
$prototype
void flr_intruder(void) {}"
build || { echo "FAIL: the math layer does not build any more"; failed=1; }
exit $failed
