#!/usr/bin/env bash
# the bad network between namespaces does what it is told: as seen by packets with number and time
source "$(dirname "$0")/common.sh"
source "$source_dir/tests/e2e/link.sh"
flow=$build_dir/tests/udp_flow

# flow_from A B COUNT SIZE MICROS: packets from side A to side B; what came is in $scratch/out
flow_from() {
  local from=$1 to=$2 count=$3 size=$4 micros=$5
  ran="flow from $from to $to"
  empty "$scratch/out"
  # not by link_run: the pid shall be the taker's own
  nsenter --net="/proc/${link_sides[to]}/ns/net" "$flow" take "0.0.0.0:9000" "$count" >"$scratch/out" 2>"$scratch/err" &
  local taker=$!
  await grep -q ready "$scratch/out" || fail "udp_flow does not get ready"
  link_run "$from" "$flow" send "10.77.0.$to:9000" "$count" "$size" "$micros"
  link_drain
  kill -TERM $taker
  wait $taker
  sed -i 1d "$scratch/out"
}
# flow_is A B COUNT SIZE MICROS CONDITION: a machine that stalls makes packets late and sockets overflow, so up to three tries
flow_is() {
  local try
  for try in 1 2 3; do
    flow_from "$1" "$2" "$3" "$4" "$5"
    jq -e "$6" "$scratch/out" >/dev/null && break
  done
  json "$6"
}

link_begin 3 seed 5
# nothing wrong: all come, in order, soon; and no way out
flow_is 1 2 1000 200 300 '.came == 1000 and .lost == 0 and .twice == 0 and .overtaken == 0 and .least_ms < 5'
ran="out of the namespace" # only loopback and the link are there
[ "$(link_run 1 cat /proc/net/dev | grep -c :)" = 2 ] && pass || fail "side 1 has other interfaces than its link"
[ "$(link_run 1 cat /proc/net/route | tail -n +2 | wc -l)" = 1 ] && pass || fail "side 1 has another route than its link"

# late
link_set delay 40
flow_is 2 3 300 200 500 '.came == 300 and .least_ms >= 39.5 and .least_ms < 45 and .overtaken == 0'
# by more or less
link_set delay 10 jitter 50
flow_is 3 1 1000 200 500 '.came == 1000 and .least_ms >= 9.5 and .least_ms < 15 and .nine_tenths_ms - .tenth_ms > 35 and .overtaken > 0.1'
# lost, twice: within five deviations of 3000 packets
link_set delay 0 jitter 0 loss 0.2 duplicate 0.1
flow_is 1 2 3000 100 200 '.lost > 0.16 and .lost < 0.24 and .twice > 0.07 and .twice < 0.13'
# held back, so that others overtake
link_set loss 0 duplicate 0 reorder 0.1 hold 20
flow_is 1 3 2000 100 500 '.lost == 0 and .overtaken > 0.06 and .overtaken < 0.14'
# slow: at 100 kB/s with 28 bytes of heads each
link_set reorder 0 rate 100000 queue 200
flow_is 2 1 400 972 2500 '.bytes_per_second < 110000 and .bytes_per_second > 60000 and .lost > 0.4 and .lost < 0.8'
# cut off, and not
link_set rate 0
link_cut 2
flow_is 1 2 50 100 500 '.came == 0'
flow_is 1 3 50 100 500 '.came == 50'
link_heal
flow_is 1 2 50 100 500 '.came == 50'
ran="the end of the link"
link_end && pass || fail "lossy_link did not end well"
jq -e '.sent > 7000 and .lost > 500 and .duplicated > 200 and .held > 100 and .overflowed > 100 and .cut >= 50' \
  "$scratch/link.json" >/dev/null && pass || { fail "what it counted"; cat "$scratch/link.json"; }
kill -0 "${link_sides[1]}" 2>/dev/null && fail "a namespace is still held" || pass

# the same seed loses the same packets, another one others
for seed in 7 7 8; do
  link_begin 2 seed $seed loss 0.3
  flow_from 1 2 400 100 200
  jq -r .which "$scratch/out" >>"$scratch/which"
  link_end
done
ran="seeds"
[ "$(sed -n 1p "$scratch/which")" = "$(sed -n 2p "$scratch/which")" ] && pass || fail "the same seed, other packets"
[ "$(sed -n 1p "$scratch/which")" != "$(sed -n 3p "$scratch/which")" ] && pass || fail "another seed, the same packets"

# it ends by itself
link_begin 2 seconds 0.2
ran="its own end"
ended() { ! kill -0 "$link_pid" 2>/dev/null; }
await ended && pass || fail "it does not end by itself"
expect 2 "$build_dir/tests/lossy_link" 1
expect 2 "$build_dir/tests/lossy_link" 2 loss 1.5
finish
