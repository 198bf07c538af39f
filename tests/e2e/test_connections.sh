#!/usr/bin/env bash
# sealed lines between three processes in three namespaces, through a network that loses, doubles and delays
source "$(dirname "$0")/common.sh"
source "$source_dir/tests/e2e/link.sh"
talk=$build_dir/tests/connection_talk
token=0123456789abcdef0123456789abcdef

# talk_at SIDE ADDRESS...: begins to talk there, into $scratch/talk.SIDE
talk_at() {
  local side=$1
  shift
  empty "$scratch/talk.$side"
  # not by link_run: the pid shall be the talker's own
  nsenter --net="/proc/${link_sides[side]}/ns/net" "$talk" "10.77.0.$side:7000" "${talk_token:-$token}" 1700 100 "$@" >"$scratch/talk.$side" 2>&1 &
  talkers[side]=$!
}
# event SIDE NAME N: waits until that has happened N times there
said() { [ "$(grep -c "\"event\": \"$2\"" "$scratch/talk.$1")" -ge "$3" ]; }
event() {
  if await said "$@"; then pass; else
    fail "side $1: not $3 times $2"
    cat "$scratch/talk.$1"
  fi
}
# reported SIDE FILTER: what it counts, now, fulfils the jq filter
reported() {
  if tail -n 1 "$scratch/talk.$1" | jq -e "$2" >/dev/null; then pass; else
    fail "side $1: not so: $2"
    tail -n 1 "$scratch/talk.$1"
  fi
}
# asked SIDE FILTER: its next report fulfils the jq filter
asked() {
  local before
  before=$(grep -c '"report"' "$scratch/talk.$1")
  kill -USR1 "${talkers[$1]}"
  event "$1" report $((before + 1))
  grep '"report"' "$scratch/talk.$1" | tail -n 1 >"$scratch/report"
  jq -e "$2" "$scratch/report" >/dev/null
}
# becomes SIDE FILTER: a report of it does, sooner or later: loss is counted by the second, and a second may have few packets
becomes() {
  if await asked "$@"; then pass; else
    fail "side $1: never so: $2"
    cat "$scratch/report"
  fi
}
# ended SIDE...: each reports what it has counted; then all end
ended() {
  local side
  for side in "$@"; do asked "$side" true; done
  for side in "$@"; do
    kill -TERM "${talkers[side]}"
    wait "${talkers[side]}" && pass || fail "side $side: messages were missing, doubled or out of order"
    grep '"report"' "$scratch/talk.$side" | tail -n 1 >"$scratch/report" && cp "$scratch/report" "$scratch/talk.$side"
  done
}
stop_talkers() { for pid in "${talkers[@]}"; do kill -9 "$pid" 2>/dev/null; done; }
cleanups+=(stop_talkers)
talkers=()

link_begin 3 delay 20 jitter 10 loss 0.1 duplicate 0.05 seed 3
# all at once, each calls both others: one line between any two
talk_at 1 10.77.0.2:7000 10.77.0.3:7000
talk_at 2 10.77.0.1:7000 10.77.0.3:7000
talk_at 3 10.77.0.1:7000 10.77.0.2:7000
for side in 1 2 3; do event $side open 2; event $side messages 1; done
# one is cut off for longer than silence lasts, then found again
link_cut 3
event 3 closed 2
event 1 closed 1
link_heal
event 3 open 4
for side in 1 2; do event $side messages 4; done
event 3 messages "$(($(grep -c '"event": "messages"' "$scratch/talk.3") + 2))"
known='(.lines | length) == 2 and (.lines | all(.rtt_ms > 0 and .states > 0'
becomes 1 "$known and .loss_in > 0.01 and .loss_in < 0.4))"
becomes 2 "$known and .loss_in > 0.01 and .loss_in < 0.4))"
becomes 3 "$known))"
ended 1 2 3
reported 1 '.wrong == 0 and .closed >= 1 and .messages > 60'
reported 2 '.wrong == 0 and .messages > 60'
reported 3 '.wrong == 0 and .opened >= 4 and .closed >= 2 and .messages > 10'
# what they know of their way, wherever a packet came back; the clocks are one, so the offset is none
for side in 1 2; do
  tail -n 1 "$scratch/talk.$side" >"$scratch/out"
  ran="side $side"
  json '.lines | all(.rtt_ms == 0 or (.least_ms > 39.5
        and (.offset_ms | fabs) <= .offset_wrong_ms and .offset_wrong_ms <= .least_ms))
        and all(.states == 0 or .age_ms > 15)'
done
# another token: no line, and no answer
talk_at 1
talk_token=${token%f}0 talk_at 2 10.77.0.1:7000
event 2 refused 1 # by its own patience
ended 1 2
reported 1 '.opened == 0'
reported 2 '.opened == 0'
link_end
finish
