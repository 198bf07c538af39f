#!/usr/bin/env bash
# docs/tutorial.md: every command in it works as printed, in its order; its pictures are there; what it does in the page works, too. And the
# commands of docs/viewer.md
source "$(dirname "$0")/common.sh"
tutorial=$source_dir/docs/tutorial.md

# blocks LANGUAGE: what stands in blocks of that language
blocks() { awk -v open="^\`\`\`$1\$" '/^```/ { inside = $0 ~ open; next } inside' "$tutorial"; }

blocks sh >commands
[ "$(wc -l <commands)" -ge 7 ] && pass || fail "the tutorial has hardly any commands"
[ "$(blocks json | wc -l)" = 0 ] && pass || fail "the tutorial asks for JSON written by hand"
# what people do in the page: they place the pump and save the scene, and save the recording that they made
place_pump() { sed '/"name": "pump"/,/}/s/"moving": true/"moving": true, "pose": { "position": [0, 70, 90] }/' bay/plan.json >bay/removal.json; }
download() { expect 0 feeler run bay/removal.json --hand bay/bay_removal.txt --frames 300 --record removal.mcap; }
while read -r line; do
  case $line in
  "feeler serve"*) line="$line --port 0 --no-devices --seconds 1" ;;
  "feeler report removal.mcap"*) download ;;
  esac
  read -ra words <<<"$line"
  expect 0 "${words[@]}"
  case $line in
  "feeler serve"*)
    tells 'http://localhost:[0-9]+/'
    place_pump
    ;;
  *--animation*) grep -q acTL way.png && pass || fail "way.png does not move" ;;
  "feeler report"*) figure=$(grep '^pass: ' "$scratch/out") frames=$(grep '^surfaces meet' "$scratch/out") ;;
  esac
done <commands
# the figure is the one that is printed in the page
grep -qxF "${figure:-none}" "$tutorial" && pass || fail "the figure is not that of the tutorial: ${figure:-none}"
grep -qxF "${frames:-none}" "$tutorial" && pass || fail "the frames are not those of the tutorial: ${frames:-none}"
[ -s scripted.html ] && pass || fail "there is no report"
for picture in $(grep -oE 'images/[a-z-]+\.png' "$tutorial"); do
  [ -s "$source_dir/docs/$picture" ] && pass || fail "docs/$picture is missing"
done

# the page on the viewer
cp bay/removal.json scene.json && sed -i 's|"file": "|&bay/|' scene.json
while read -ra words; do
  [ "${words[1]}" = demo ] && words+=(--no-browser) || words+=(--no-devices)
  expect 0 "${words[@]}" --port 0 --seconds 0.2
  tells 'https?://[^ ]+:[0-9]+/'
done < <(grep -E '^feeler (demo|serve) ' "$source_dir/docs/viewer.md")

# what the tutorial does in the page
if [ "$sanitized" = no ] && command -v node >/dev/null && [ -d "$source_dir/web/node_modules/playwright-core" ] && grep -aq 'viewer\.js' "$feeler"; then
  limit=3000
  run node "$source_dir/web/test/tutorial.mjs" --feeler "$feeler"
  [ "$code" = 77 ] && finish
  if [ "$code" = 0 ]; then pass; else fail "the tutorial in the page (exit $code)"; cat "$scratch/out"; fi
  tells 'checks passed, 0 failed'
fi
finish
