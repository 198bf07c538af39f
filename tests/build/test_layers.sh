#!/usr/bin/env bash
# Every folder of src/ is a layer that sees only the layers it names. (1) For each layer and each layer it does not name: including a
# private or public header of that one does not compile. (2) On a copy of the tree: a layer that reaches to its right does not build,
# neither by an include, nor by declaring a function by hand, nor by a relative path.
set -uo pipefail
source_dir=$1 build_dir=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0 tried=0

# compiles VIEW HEADER: does a source of that layer get at the header?
compiles() { echo "#include \"$2\"" | cc -std=c17 -D_GNU_SOURCE -fsyntax-only -I"$1" -x c - 2>/dev/null; }
for folder in "$source_dir"/src/*/; do
  layer=$(basename "$folder") view=$build_dir/layers/$(basename "$folder")
  [ -d "$view" ] || { echo "FAIL: src/$layer is not a layer (flr_layer in CMakeLists.txt)"; failed=1; continue; }
  for other in "$source_dir"/src/*/; do
    other=$(basename "$other")
    [ -e "$view/$other" ] && continue
    header=$(ls "$source_dir/src/$other"/*.h 2>/dev/null | head -n 1)
    [ -n "$header" ] || continue
    tried=$((tried + 1))
    if compiles "$view" "$other/$(basename "$header")"; then echo "FAIL: $layer can include $other/$(basename "$header")"; failed=1; fi
  done
done
[ "$tried" -gt 100 ] || { echo "FAIL: only $tried includes were tried"; failed=1; }
echo "$tried includes across layers are refused, as they should be"

tree=$scratch/tree
mkdir "$tree"
(cd "$source_dir" && git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$tree" 2>/dev/null)
build() { cmake --build "$scratch/build" --target flr_link_math >"$scratch/log" 2>&1; }
cmake -S "$tree" -B "$scratch/build" -G Ninja -DFLR_IMPORT=OFF -DFLR_TESTS=OFF >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; echo "FAIL: the copy does not configure"; exit 1; }
build || { cat "$scratch/log"; echo "FAIL: the untouched math layer does not build"; exit 1; }

[ -e "$tree/src/mesh/weld.h" ] || { echo "FAIL: the header that is tried is gone"; exit 1; }
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
