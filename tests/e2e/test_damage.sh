#!/usr/bin/env bash
# feeler serve with a cache that is damaged or cannot be written: it starts, says so once, and works
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball --quiet

# serve [options]: starts it in the background, sets $server and $port
serve() {
  empty "$scratch/serve.out" "$scratch/serve.err"
  feeler serve --port 0 --no-devices ball/scene.json "$@" >"$scratch/serve.out" 2>"$scratch/serve.err" &
  server=$!
  served "$scratch/serve.out"
  waits 'is loaded' "$scratch/serve.out"
}
# ends: stops it; it must end in order
ends() {
  kill -TERM "$server"
  wait "$server"
  code=$?
  [ "$code" = 0 ] && pass || fail "feeler serve: exit $code: $(head -c 600 "$scratch/serve.err")"
}
# stored: until all voxels are in the cache, which happens in the background
stored() {
  for _ in $(seq 1200); do
    [ "$(find "$HOME/.cache/feeler" -maxdepth 1 -name '*.flrvox' | wc -l)" -ge 2 ] &&
      feeler cache verify >/dev/null 2>&1 && { pass; return; }
    sleep 0.05
  done
  fail "the cache is not complete"
}
# warned COUNT REGEX: so many lines of its messages have this
warned() {
  local found
  found=$(grep -cE -- "$2" "$scratch/serve.err")
  [ "$found" = "$1" ] && pass || fail "$found lines with /$2/, not $1: $(head -c 900 "$scratch/serve.err")"
}

# a cache that cannot be written: one warning, everything works, and nothing stays behind
export TMPDIR=$scratch/tmp
mkdir "$TMPDIR"
FEELER_CACHE=/proc/feeler serve
[ -n "$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'feeler-*' -perm 700)" ] && pass || fail "no private folder in $TMPDIR"
ends
warned 1 'the cache cannot be written, so voxels are not kept'
warned 0 'have to be made again'
[ -z "$(ls -A "$TMPDIR")" ] && pass || fail "it leaves $(ls -A "$TMPDIR")"

# one that can be read and not written is read; root can write everywhere, so it becomes nobody
serve
stored
ends
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if [ "$(id -u)" != 0 ] || command -v setpriv >/dev/null; then
  cp "$feeler" "$scratch/feeler"
  chmod 755 "$scratch" "$scratch/here" && chmod 777 "$TMPDIR"
  chmod -R a+rX ball "$HOME"
  chmod -R a-w "$HOME/.cache/feeler"
  before=$(find "$HOME/.cache/feeler" | sort)
  empty "$scratch/serve.out" "$scratch/serve.err"
  "${as[@]}" "$scratch/feeler" serve --port 0 --no-devices ball/scene.json >"$scratch/serve.out" 2>"$scratch/serve.err" &
  server=$!
  served "$scratch/serve.out"
  waits 'is loaded' "$scratch/serve.out"
  ends
  warned 1 'the cache cannot be written'
  warned 0 'built again'
  [ "$before" = "$(find "$HOME/.cache/feeler" | sort)" ] && pass || fail "something was written"
  chmod -R u+w "$HOME/.cache/feeler"
  chmod -R go-rwx "$HOME/.cache/feeler"
fi

# files that are damaged are reported, each once, and built again
files=$(find "$HOME/.cache/feeler" -maxdepth 1 -name '*.flrvox')
count=$(wc -l <<<"$files")
[ "$count" -ge 2 ] && pass || fail "$count files in the cache"
for file in $files; do
  size=$(stat -c %s "$file")
  dd if=/dev/zero of="$file" bs=1 seek=$((size / 2)) count=2000 conv=notrunc status=none
done
expect 3 feeler cache verify
serve
warned "$count" 'damaged: .* it was built again'
stored

# what happens to a file that was loaded does not matter to who has it
for file in $(find "$HOME/.cache/feeler" -maxdepth 1 -name '*.flrvox'); do : >"$file"; done
exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3 && cat <&3 >"$scratch/got"
exec 3<&-
grep -q '200 OK' "$scratch/got" && pass || fail "no answer: $(head -c 300 "$scratch/got")"
ends
serve
stored
ends
finish
