#!/usr/bin/env bash
# study: all combinations run once, whatever is killed; shards and ranks share the work; damaged results are run again
# FLR_STUDY_TASKS and FLR_STUDY_KILLS make it a longer test
source "$(dirname "$0")/common.sh"
expect 0 feeler make fit round-peg --gap 0.1mm --out peg
tasks=${FLR_STUDY_TASKS:-24} kills=${FLR_STUDY_KILLS:-4}
clearances=$(seq -f '"%.0fum"' -s , 10 $((9 + tasks / 2)))
echo "{\"study\": \"verify\", \"scenes\": [\"peg/scene.json\"], \"path\": [\"removal\", \"away.txt\"], \"clearance\": [$clearances]}" >study.json
{ echo '0 0 0 200 1 0 0 0'; echo '1 0 0 300 1 0 0 0'; } >away.txt
expect 0 feeler study study.json --out whole --json
json ".tasks == $((tasks / 2 * 2)) and .done == .tasks and .failed == 0"
[ "$(grep -c ',free,' whole/table.csv)" = $((tasks / 2 * 2)) ] && pass || fail "the table lacks rows"
grep -q 'hsl(120' whole/table.html && pass || fail "the page lacks the heat map"
jq -e ".[0].state == \"free\" and length == $((tasks / 2 * 2))" whole/table.json >/dev/null && pass || fail "table.json"

# ---- killed again and again: nothing is lost, nothing is done twice ----
for ((i = 0; i < kills; i++)); do
  feeler study study.json --out killed --jobs $((i % 4 + 1)) >/dev/null 2>&1 &
  study=$!
  before=$(find killed -name '*.json' 2>/dev/null | wc -l)
  # something new is there, or it is done
  while kill -0 $study 2>/dev/null && [ "$(find killed -name '*.json' 2>/dev/null | wc -l)" -le "$before" ]; do sleep 0.02; done
  kill -KILL $study 2>/dev/null
  wait $study 2>/dev/null
done
find killed -name '*.json' ! -name 'table*' -exec stat -c '%n %Y %i' {} + | sort >before.txt
expect 0 feeler study study.json --out killed
cmp -s whole/table.csv killed/table.csv && pass || fail "killed: another table"
find killed -name '*.json' ! -name 'table*' -exec stat -c '%n %Y %i' {} + | sort >after.txt
[ -z "$(comm -23 before.txt after.txt)" ] && pass || fail "a task that was done was run again"
# a damaged result
damaged=$(find killed -name '*.json' ! -name 'table*' | sort | head -n 1)
printf 'x' | dd of="$damaged" bs=1 seek=60 conv=notrunc 2>/dev/null
expect 0 feeler study study.json --out killed
cmp -s whole/table.csv killed/table.csv && pass || fail "damaged: another table"

# ---- shards and ranks ----
expect 0 feeler study study.json --out shards --shard 1/3
expect 0 feeler study study.json --out shards --shard 2/3
grep -q missing shards/table.csv && pass || fail "two shards of three did everything"
expect 0 feeler study study.json --out shards --shard 3/3
cmp -s whole/table.csv shards/table.csv && pass || fail "shards: another table"
if command -v mpirun >/dev/null; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  timeout "$limit" mpirun --oversubscribe -n 4 "$(command -v feeler)" study study.json --out ranks >/dev/null 2>&1
  cmp -s whole/table.csv ranks/table.csv && pass || fail "ranks: another table"
  [ -z "$(ls ranks/claims)" ] && pass || fail "claims are left"
fi

# ---- a mesh or a path that has changed: what depends on it is run again ----
mkdir moved
jq '.path = ["../away.txt"] | .scenes = ["../peg/scene.json"]' study.json >moved/study.json
expect 0 feeler study moved/study.json --json
json '.failed == 0 and .good == .tasks'
results() { find moved/study-results -name '*.json' ! -name 'table*' | wc -l; }
first=$(results)
expect 0 feeler study moved/study.json
[ "$(results)" = "$first" ] && pass || fail "what had not changed was run again"
echo '2 5 0 300 1 0 0 0' >>away.txt
expect 0 feeler study moved/study.json
[ "$(results)" = $((2 * first)) ] && pass || fail "a path that has changed"
expect 0 feeler make fit round-peg --gap 0.3mm --out wide
cp wide/peg.stl peg/peg.stl
expect 0 feeler study moved/study.json
[ "$(results)" = $((3 * first)) ] && pass || fail "a mesh that has changed"

# ---- what is wrong ----
expect 2 feeler study study.json --shard 4/3
says 'write I/N'
expect 3 feeler study nowhere.json
echo '{"study": "fly", "scenes": "peg/scene.json"}' >wrong.json
expect 3 feeler study wrong.json
says '"study" has to be plan'
echo '{"study": "plan", "scenes": "peg/scene.json", "wings": 2}' >wrong.json
expect 3 feeler study wrong.json
says 'no key "wings"'
echo '{"study": "plan", "scenes": "peg/scene.json", "seed": []}' >wrong.json
expect 3 feeler study wrong.json
says '"seed" has no values'
echo '{"study": "plan", "scenes": "peg/scene.json", "part": "nobody"}' >wrong.json
expect 1 feeler study wrong.json
tells 'nobody'
finish
