#!/usr/bin/env bash
# shared sessions in other ways than the usual: IPv6, other rates, the barrier, voxels of another size on one side, a flood of bad
# packets, the leader killed while it holds a part, a guest killed and back again; then members who reach only who began
source "$(dirname "$0")/common.sh"
source "$source_dir/tests/e2e/link.sh"
[ "$sanitized" = no ] || { echo "skipped: one build is enough"; exit 77; }
command -v node >/dev/null && [ -d "$source_dir/web/node_modules/ws" ] || { echo "skipped: node or the viewer's packages are not there"; exit 77; }
export TOKEN=0123456789abcdef0123456789abcdef
(umask 077 && echo "$TOKEN" >token)
node "$source_dir/web/test/scene.mjs" "$PWD/bay"
declare -A pids ports
end_all() { for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done; }
cleanups+=(end_all)

# begin NAME COMMAND…: a controller; sets pids[NAME] and ports[NAME]; with $side set in that namespace
begin() {
  local name=$1 in=()
  shift
  [ -n "${side:-}" ] && in=(nsenter --net="/proc/${link_sides[side]}/ns/net")
  empty "$scratch/$name"
  XDG_CACHE_HOME=$scratch/cache$name "${in[@]}" "$feeler" "$@" --user "$name" --token-file token --no-devices --port 0 >"$scratch/$name" 2>&1 &
  pids[$name]=$!
  served "$scratch/$name"
  ports[$name]=$port
}
# at NAME WHAT…: what a client of that controller does or sees
at() {
  local name=$1
  shift
  node "$source_dir/web/test/member.mjs" "${ports[$name]}" "$@" >"$scratch/said" 2>&1 && pass || fail "$name: $*: $(head -c 800 "$scratch/said")"
}
# heard NAME REGEX: it is said on that controller's terminal
heard() { waits "$2" "$scratch/$1"; }
stop() { kill "-$2" "${pids[$1]}" && wait "${pids[$1]}" 2>/dev/null; }

# one with another token beside all this: no answer, within its patience
begin Ada serve bay/scene.json --share --share-listen ::1 --share-port 0 --barrier --state-rate 1000
heard Ada 'is loaded'
address=$(sed -nE 's/.*feeler join (\S+) .*/\1/p' "$scratch/Ada")
[[ $address == \[::1\]:* ]] && pass || fail "not on IPv6: $address"
(time timeout 300 "$feeler" join "$address" --token another-token-than-theirs --no-devices --port 0) >"$scratch/stranger" 2>&1 &
stranger=$!
begin Bob join "$address" --state-rate 20 --barrier --voxel 2mm
begin Cleo join "$address" --state-rate 500
at Bob people 3
# what each carries comes to rest at the same bits, and the other voxel size is reported
at Bob carry bracket 0 40 0
both_lie() {
  at Ada pose bracket
  cp "$scratch/said" "$scratch/there"
  at Cleo pose bracket
  cmp -s "$scratch/said" "$scratch/there"
}
await both_lie && pass || fail "bracket: $(cat "$scratch/said" "$scratch/there")"
heard Ada 'Bob touches with voxels of 2 mm where there are 1 mm here'
heard Ada 'Bob has joined'

# a guest is killed and comes again under its name
stop Cleo KILL
heard Ada 'Cleo is not heard'
begin Cleo join "$address"
at Cleo people 3
wait "$stranger"
grep -q 'does not answer, or the token is another' "$scratch/stranger" && pass || fail "the stranger: $(cat "$scratch/stranger")"

# the leader dies while it holds a part: the oldest who is left leads; other parts can be taken at once
node "$source_dir/web/test/member.mjs" "${ports[Ada]}" carry tube 0 0 20 900 >/dev/null 2>&1 &
holder=$!
at Bob others tube 1
stop Ada KILL
wait "$holder" 2>/dev/null
at Bob leads
echo "  another leads after $(cat "$scratch/said") s"
heard Bob 'this controller leads the session now'
at Cleo carry bracket 0 -40 0
for name in Bob Cleo; do stop $name TERM && pass || fail "$name ended by TERM: $(tail -n 3 "$scratch/$name")"; done

# a flood: all of it is refused and counted, and nobody is lost
begin Ada serve bay/scene.json --share --share-port 0
heard Ada 'is loaded'
address=$(sed -nE 's/.*feeler join (\S+) .*/\1/p' "$scratch/Ada")
begin Bob join "$address"
at Bob people 2
(for kind in mixed calls sealed; do "$build_dir/tests/udp_flood" "${address##*:}" 100000 1 $kind; done) >"$scratch/flood" &
flood=$!
at Bob carry bracket 0 20 0
wait "$flood"
# what the system had room for is all refused, each kind of it, when it has been looked at
sent=$(jq -s 'map(.sent - .drops) | add' "$scratch/flood")
health() {
  curl -s "http://localhost:${ports[Ada]}/health?token=$TOKEN" >"$scratch/health"
  jq -e --argjson sent "$sent" "$1" "$scratch/health" >/dev/null
}
await health '.share.rejected.all >= $sent' && health '$sent > 1000 and .share.members == 2 and .share.rejected.forged > $sent / 100' && pass ||
  fail "$(cat "$scratch/flood" "$scratch/health")"
# on a machine that is busy beside it somebody may not be heard for a moment; all are there in the end
for name in Ada Bob; do at $name people 2; done

# a guest with another version, and one for whom there is no room: both get the reason at once
empty "$scratch/odd"
"$build_dir/tests/odd_peer" version "$address" >"$scratch/odd" 2>&1 &
pids[odd]=$!
waits '127.0.0.1:' "$scratch/odd"
expect 1 timeout 300 "$feeler" join "$(cat "$scratch/odd")" --token-file token --no-devices --port 0
says 'runs another version of feeler: sessions need the same on all sides'
empty "$scratch/crowd"
"$build_dir/tests/odd_peer" crowd "$address" 62 >"$scratch/crowd" 2>&1 &
pids[crowd]=$!
waits 'all are in' "$scratch/crowd"
expect 1 timeout 300 "$feeler" join "$address" --token-file token --no-devices --port 0
says 'the session is full; somebody must leave first'
grep -q "$TOKEN" "$scratch/Bob" && fail "the token is in what Bob's controller says" || pass
end_all

# Bob and Cleo cannot reach each other; through Ada they do
link_begin 3 seed 7
for pair in '2 3' '3 2'; do
  read -r from to <<<"$pair"
  link_run "$from" ip route add blackhole "10.77.0.$to/32" 2>/dev/null || { echo "skipped: routes cannot be set here"; finish; }
done
side=1 begin Ada serve bay/scene.json --share --share-listen 10.77.0.1 --relay
side=2 begin Bob join 10.77.0.1
side=3 begin Cleo join 10.77.0.1
client() { local side=$1 name=$2; shift 2; link_run "$side" node "$source_dir/web/test/member.mjs" "${ports[$name]}" "$@"; }
client 3 Cleo people 3 >"$scratch/said" 2>&1 && pass || fail "$(cat "$scratch/said")"
client 2 Bob carry bracket 0 30 0 900 >/dev/null 2>&1 &
holder=$!
client 3 Cleo others bracket 1 >"$scratch/said" 2>&1 && pass || fail "Cleo does not see what Bob holds: $(cat "$scratch/said")"
client 2 Bob release >"$scratch/said" 2>&1 && pass || fail "Bob does not let go: $(cat "$scratch/said")"
wait "$holder" && pass || fail "Bob did not carry it"
one_place() { client 3 Cleo pose bracket >"$scratch/said" 2>&1 && client 2 Bob pose bracket >"$scratch/there" 2>&1 && cmp -s "$scratch/said" "$scratch/there"; }
await one_place && pass ||
  fail "bracket: $(cat "$scratch/said" "$scratch/there")"
link_end
finish
