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

# ---- killed again and again, with 1 to 4 jobs or ranks: nothing is lost, nothing is done twice ----
rank() { exec env OMPI_COMM_WORLD_RANK="$1" OMPI_COMM_WORLD_SIZE="$2" PMIX_NAMESPACE="$3" feeler study study.json --out "$4"; }
results() { find "$1" -name '*.json' ! -name 'table*' 2>/dev/null; }
RANDOM=${FLR_TEST_SEED:-1}
for ((i = 0; i < kills; i++)); do
  n=$((i / 2 % 4 + 1)) running=()
  before=$(results killed | wc -l)
  if ((i % 2)); then
    feeler study study.json --out killed --jobs $n >/dev/null 2>&1 & running=($!)
  else
    for ((k = 0; k < n; k++)); do (rank $k $n kill$i killed) >/dev/null 2>&1 & running+=($!); done
  fi
  # something new is there, or it is done; a long study goes on for up to two seconds
  while kill -0 "${running[0]}" 2>/dev/null && [ "$(results killed | wc -l)" -le "$before" ]; do sleep 0.02; done
  ((tasks < 100)) || sleep "$((RANDOM % 2)).$((RANDOM % 900 + 100))"
  kill -KILL "${running[@]}" 2>/dev/null
  wait "${running[@]}" 2>/dev/null
  ((tasks < 100)) || echo "kill $((i + 1)): $n $( ((i % 2)) && echo jobs || echo ranks), $(results killed | wc -l) results"
done
results killed | xargs stat -c '%n %Y %i' | sort >before.txt
expect 0 feeler study study.json --out killed
cmp -s whole/table.csv killed/table.csv && pass || fail "killed: another table"
results killed | xargs stat -c '%n %Y %i' | sort >after.txt
[ -z "$(comm -23 before.txt after.txt)" ] && pass || fail "a task that was done was run again"
# a damaged result
damaged=$(results killed | sort | head -n 1)
printf 'x' | dd of="$damaged" bs=1 seek=60 conv=notrunc 2>/dev/null
expect 0 feeler study study.json --out killed
cmp -s whole/table.csv killed/table.csv && pass || fail "damaged: another table"

# ---- shards and ranks ----
expect 0 feeler study study.json --out shards --shard 1/3
expect 0 feeler study study.json --out shards --shard 2/3
grep -q missing shards/table.csv && pass || fail "two shards of three did everything"
expect 0 feeler study study.json --out shards --shard 3/3
cmp -s whole/table.csv shards/table.csv && pass || fail "shards: another table"
# four ranks, of which one is killed at a task: the others do that, too, and no claims are left
mkdir -p lost/claims
touch lost/claims/0123456789abcdef0123456789abcdef
for i in 0 1 2 3; do (rank $i 4 lost lost) >/dev/null 2>&1 & ranks[i]=$!; done
while kill -0 "${ranks[2]}" 2>/dev/null && [ -z "$(find lost -name '*.json' | head -n 1)" ]; do sleep 0.01; done
kill -KILL "${ranks[2]}" 2>/dev/null
for i in 0 1 3; do wait "${ranks[i]}" || fail "rank $i failed"; done
wait "${ranks[2]}" 2>/dev/null
cmp -s whole/table.csv lost/table.csv && pass || fail "a lost rank: another table"
[ -z "$(ls lost/claims)" ] && pass || fail "a lost rank: claims are left"
# a task that fails is tried by one rank of a team, and again by the next team
echo '{"study": "verify", "scenes": ["peg/scene.json"], "path": ["removal", "nowhere"]}' >failing.json
team() { for i in 0 1 2; do OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE=3 PMIX_NAMESPACE=$1 feeler study failing.json --json; done | jq -s 'map(.failed) | add'; }
[ "$(team one)" = 1 ] && [ "$(team two)" = 1 ] && pass || fail "a task that fails is not tried once by a team"
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
count() { results moved/study-results | wc -l; }
first=$(count)
expect 0 feeler study moved/study.json
[ "$(count)" = "$first" ] && pass || fail "what had not changed was run again"
echo '2 5 0 300 1 0 0 0' >>away.txt
expect 0 feeler study moved/study.json
[ "$(count)" = $((2 * first)) ] && pass || fail "a path that has changed"
expect 0 feeler make fit round-peg --gap 0.3mm --out wide
cp wide/peg.stl peg/peg.stl
expect 0 feeler study moved/study.json
[ "$(count)" = $((3 * first)) ] && pass || fail "a mesh that has changed"

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
