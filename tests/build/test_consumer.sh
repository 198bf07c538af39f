#!/usr/bin/env bash
# installs feeler into an empty folder, moves that folder, and builds a user's project against it by
# find_package and by pkg-config; then checks what the library exports and links.
set -euo pipefail
source_dir=$1 build_dir=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }

cmake --install "$build_dir" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix" # an installed tree can be moved
prefix=$scratch/prefix
libdir=$(dirname "$(find "$prefix" -name libfeeler.so | head -n 1)")

# by find_package
cmake -S "$source_dir/tests/build/consumer" -B "$scratch/cmake" -G Ninja \
  -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$scratch/cmake" >/dev/null
for program in consumer_shared consumer_static consumer_cpp; do "$scratch/cmake/$program"; done

# by pkg-config, shared and static
export PKG_CONFIG_PATH=$libdir/pkgconfig
[ "$(pkg-config --modversion feeler)" = "$(sed -nE 's/^project\(feeler VERSION ([0-9.]+).*/\1/p' "$source_dir/CMakeLists.txt")" ] ||
  fail "pkg-config's version is not the project's"
cc -std=c17 "$source_dir/tests/build/consumer/main.c" -o "$scratch/plain" $(pkg-config --cflags --libs feeler)
LD_LIBRARY_PATH=$libdir "$scratch/plain"
cc -std=c17 "$source_dir/tests/build/consumer/main.c" -o "$scratch/static" \
  $(pkg-config --cflags feeler) "$libdir/libfeeler.a" -lm -lpthread
"$scratch/static"

# foreign formats from a user's program: the library finds its helper in the moved tree, also when the
# loader names it by a link, as it does where /lib is a link to /usr/lib
if grep -q '^FLR_IMPORT:BOOL=ON' "$build_dir/CMakeCache.txt"; then
  ln -s "$libdir" "$scratch/linked"
  for folder in "$libdir" "$scratch/linked"; do
    LD_LIBRARY_PATH=$folder "$scratch/plain" "$source_dir/tests/data/import/box.glb" ||
      fail "a program with the library of $folder cannot open a foreign file"
  done
  mv "$prefix/libexec" "$prefix/hidden"
  if [ ! -e /usr/libexec/feeler ] && [ ! -e /usr/local/libexec/feeler ]; then
    LD_LIBRARY_PATH=$libdir "$scratch/plain" "$source_dir/tests/data/import/box.glb" 2>"$scratch/said" &&
      fail "opened a foreign file without a helper"
    for place in "$scratch" "$prefix/libexec/feeler" /usr/libexec/feeler /usr/local/libexec/feeler; do
      grep -qF "$place" "$scratch/said" || fail "does not say that it looked in $place: $(cat "$scratch/said")"
    done
  fi
  mv "$prefix/hidden" "$prefix/libexec"
fi

# only flr_ symbols leave the library; it needs libc and libm (pthreads are in libc) only
foreign=$(nm -D --defined-only "$libdir/libfeeler.so" | awk '{print $3}' | grep -v '^flr_' || true)
[ -z "$foreign" ] || fail "symbols without the prefix leave the library: $foreign"
needed=$(objdump -p "$libdir/libfeeler.so" | awk '/NEEDED/ {print $2}' | grep -vE '^(libc|libm|libpthread)\.so' || true)
[ -z "$needed" ] || fail "libfeeler links more than libc, libm, pthreads: $needed"
objdump -p "$libdir/libfeeler.so" | grep -q 'SONAME *libfeeler\.so\.[0-9]' || fail "no SONAME"

# every static symbol has the prefix too, so that two libraries can be linked together
foreign=$(nm --defined-only --extern-only "$libdir/libfeeler.a" 2>/dev/null | awk 'NF==3 {print $3}' | grep -v '^flr_' || true)
[ -z "$foreign" ] || fail "static symbols without the prefix: $foreign"

# what belongs to a user's installation is there
for file in bin/feeler share/man/man1/feeler.1 share/bash-completion/completions/feeler \
  "lib/systemd/system/feeler@.service"; do
  [ -e "$prefix/$file" ] || [ -e "$prefix/$file.gz" ] || fail "not installed: $file"
done
"$prefix/bin/feeler" --version >/dev/null

# the service template gives the loop its rights, and systemd understands it
unit="$prefix/lib/systemd/system/feeler@.service"
for line in LimitRTPRIO=85 LimitMEMLOCK=infinity Type=notify WatchdogSec=10 Restart=on-failure; do
  grep -qx "$line" "$unit" || fail "the service template lacks $line"
done
if command -v systemd-analyze >/dev/null; then
  sed "s|^ExecStart=[^ ]*/feeler|ExecStart=$prefix/bin/feeler|" "$unit" >"$scratch/feeler@scene.service"
  said=$(systemd-analyze verify --man=no "$scratch/feeler@scene.service" 2>&1 || true)
  ! grep -q "feeler@" <<<"$said" || fail "systemd does not like the service template: $said"
fi
