#!/usr/bin/env bash
# three controllers in three namespaces, through a network that loses, doubles and delays: parts are handed over, carried together,
# and lie at one place in the end; who dies is said to be away
source "$(dirname "$0")/common.sh"
source "$source_dir/tests/e2e/link.sh"
[ "$sanitized" = no ] || { echo "skipped: one build is enough"; exit 77; }
command -v node >/dev/null && [ -d "$source_dir/web/node_modules/ws" ] || { echo "skipped: node or the viewer's packages are not there"; exit 77; }
export TOKEN=0123456789abcdef0123456789abcdef
echo "$TOKEN" >token
node "$source_dir/web/test/scene.mjs" "$PWD/bay"
pids=() ports=() looks=()
end_all() { for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done; }
cleanups+=(end_all)

link_begin 3 delay 20 jitter 10 loss 0.05 duplicate 0.02 seed 5
# begin SIDE COMMAND…: a controller there; sets pids[SIDE] and ports[SIDE]
begin() {
  local side=$1
  shift
  empty "$scratch/member$side"
  # not by link_run: the pid shall be the controller's own
  XDG_CACHE_HOME=$scratch/cache$side nsenter --net="/proc/${link_sides[side]}/ns/net" "$feeler" "$@" --no-devices --port 0 --share-listen "10.77.0.$side" >"$scratch/member$side" 2>&1 &
  pids[side]=$!
  served "$scratch/member$side"
  ports[side]=$port
}
# client SIDE WHAT…: what a client of that controller does or sees
client() {
  local side=$1
  shift
  link_run "$side" node "$source_dir/web/test/member.mjs" "${ports[side]}" "$@"
}
at() {
  local side=$1
  shift
  client "$side" "$@" >"$scratch/said$side" 2>&1 && pass || fail "side $side: $*: $(head -c 800 "$scratch/said$side")"
}
# one_place PART SIDE…: it comes to lie at the same place on all sides, to the last bit
look_at() {
  local part=$1 side
  shift
  for side in "$@"; do client "$side" pose "$part" >"$scratch/pose$side" 2>&1 & looks[side]=$!; done
  for side in "$@"; do wait "${looks[side]}" || { fail "$part does not come to rest: $(head -c 800 "$scratch/pose$side")"; return 0; }; done
  for side in "${@:2}"; do cmp -s "$scratch/pose$1" "$scratch/pose$side" || return 1; done
}
one_place() { await look_at "$@" && pass || fail "$1 lies at different places: $(cat "$scratch"/pose*)"; }

begin 1 serve bay/scene.json --share --user Ada --token-file token
begin 2 join 10.77.0.1 --user Bob --token-file token
begin 3 join 10.77.0.1 --user Cleo --token-file token
for side in 1 2 3; do at $side people 3; done

# handed over: one carries it, lets go, another carries it on
at 1 carry bracket -20 40 0
one_place bracket 1 2 3
at 2 carry bracket 0 -40 0
one_place bracket 1 2 3
# two hold it at once and carry it together, while a third carries another part
client 1 carry bracket -10 50 0 900 &
first=$!
client 3 carry tube 20 0 10 2 &
third=$!
at 2 others bracket 1
at 2 carry bracket 10 0 0 1
at 1 release
wait $first && pass || fail "side 1 did not carry the bracket"
wait $third && pass || fail "side 3 did not carry the tube"
for part in bracket tube; do one_place $part 1 2 3; done
# one dies while it holds a part: the others say so and go on; what it held may be taken later
client 3 carry tube 0 0 5 900 >/dev/null 2>&1 &
holder=$!
at 2 others tube 1
kill -9 "${pids[3]}"
wait "${pids[3]}" "$holder" 2>/dev/null
at 1 away Cleo
at 2 away Cleo
at 1 carry bracket 0 -20 0
one_place bracket 1 2
at 2 free tube
at 2 carry tube 0 0 -5
one_place tube 1 2
# who led dies: the other inherits, and goes on alone
kill -9 "${pids[1]}"
wait "${pids[1]}" 2>/dev/null
at 2 people 1
at 2 carry bracket 0 20 0
at 2 pose bracket
link_end
jq -e '.lost > 100' "$scratch/link.json" >/dev/null && pass || fail "the network was none: $(cat "$scratch/link.json")"
finish
