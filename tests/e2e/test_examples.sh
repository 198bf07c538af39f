#!/usr/bin/env bash
# every example that --help prints works when typed as printed, after `feeler make ball --out ball` and the same with cabinet,
# and with a study file
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball --quiet
expect 0 feeler make cabinet --out cabinet --quiet
echo '{"study": "plan", "scenes": "ball/scene.json", "seed": [1, 2]}' >study.json
silent_out
silent_err
feeler --generate examples >"$scratch/examples"
[ "$(wc -l <"$scratch/examples")" -ge 10 ] || fail "there are hardly any examples"
while IFS= read -r line; do
  expect 0 bash -c "$line"
  silent_err
done <"$scratch/examples"
# and each stands in the help of its command
while IFS= read -r line; do
  command=$(awk '{ print $2 }' <<<"$line")
  feeler "$command" --help >"$scratch/help"
  grep -qF -- "  $line" "$scratch/help" && pass || fail "feeler $command --help lacks: $line"
done <"$scratch/examples"
plain
finish
