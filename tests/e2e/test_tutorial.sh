#!/usr/bin/env bash
# docs/tutorial.md: every command in it works as printed, its scene is one, its pictures are there
source "$(dirname "$0")/common.sh"
tutorial=$source_dir/docs/tutorial.md

# blocks LANGUAGE: what stands in blocks of that language
blocks() { awk -v open="^\`\`\`$1\$" '/^```/ { inside = $0 ~ open; next } inside' "$tutorial"; }

mkdir bay
blocks json >bay/removal.json
blocks sh >commands
[ "$(wc -l <commands)" -ge 7 ] && pass || fail "the tutorial has hardly any commands"
# a report is about what the last part records: those lines first
{ grep -v '^feeler \(run\|report\)' commands; grep '^feeler run' commands; grep '^feeler report' commands; } >ordered
while read -r line; do
  case $line in
  "feeler make"*) line="$line --force" ;; # the scene is there already
  "feeler serve"*) line="$line --port 0 --no-devices --seconds 1" ;;
  esac
  read -ra words <<<"$line"
  expect 0 "${words[@]}"
  case $line in
  "feeler serve"*) tells 'http://localhost:[0-9]+/' ;;
  "feeler report"*) figure=$(grep '^pass: ' "$scratch/out") frames=$(grep '^surfaces meet' "$scratch/out") ;;
  esac
done <ordered
# the figure is the one that is printed in the page
grep -qxF "${figure:-none}" "$tutorial" && pass || fail "the figure is not that of the tutorial: ${figure:-none}"
grep -qxF "${frames:-none}" "$tutorial" && pass || fail "the frames are not those of the tutorial: ${frames:-none}"
[ -s removal.html ] && pass || fail "there is no report"
for picture in $(grep -oE 'images/[a-z-]+\.png' "$tutorial"); do
  [ -s "$source_dir/docs/$picture" ] && pass || fail "docs/$picture is missing"
done
finish
