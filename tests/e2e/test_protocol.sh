#!/usr/bin/env bash
# what follows from src/protocol/messages.def is what stands in the tree, and the page's codec agrees with the one in C
source "$(dirname "$0")/common.sh"

mkdir -p docs web/src fuzz
expect 0 "$build_dir/tests/flr_protocol_gen" "$source_dir/src/protocol/gen" .
silent_err
for file in docs/protocol.md fuzz/protocol.dict; do
  if cmp -s "$file" "$source_dir/$file"; then pass; else fail "$file is not what messages.def says: ninja -C build protocol"; fi
done
# a folder alone; what is right already is not written again
for file in web/src/protocol.mjs web/src/protocol.d.mts; do
  [ -s "$file" ] && pass || fail "$file was not written"
  cp "$file" "$scratch/$(basename "$file")"
  touch -d 2001-01-01 "$file"
done
rm docs/protocol.md
echo '// changed' >>web/src/protocol.d.mts
expect 0 "$build_dir/tests/flr_protocol_gen" "$source_dir/src/protocol/gen" . web/
[ -e docs/protocol.md ] && fail "a file of another folder was written" || pass
[ "$(date -r web/src/protocol.mjs +%Y)" = 2001 ] && pass || fail "protocol.mjs was written again"
for file in protocol.mjs protocol.d.mts; do
  cmp -s "web/src/$file" "$scratch/$file" && pass || fail "$file is not what it was"
done
expect 1 "$build_dir/tests/flr_protocol_gen" "$source_dir/src/protocol/gen" nowhere
expect 2 "$build_dir/tests/flr_protocol_gen"

if command -v node >/dev/null; then
  for seed in 1 2; do
    "$build_dir/tests/protocol_frames" $seed >frames || fail "protocol_frames $seed"
    run bash -c "node '$source_dir/tests/protocol/agree.mjs' web/src/protocol.mjs <frames"
    [ "$code" = 0 ] && pass || { fail "C and JavaScript do not agree (protocol_frames $seed)"; head -c 1500 "$scratch/err"; }
    tells 'as C does'
  done
  cat "$scratch/out"
else
  echo "node is not installed: the page's codec is not tried"
fi
finish
