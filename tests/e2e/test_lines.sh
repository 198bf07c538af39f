#!/usr/bin/env bash
# sealed lines between three processes in three namespaces, through a network that loses, doubles and delays
source "$(dirname "$0")/common.sh"
source "$source_dir/tests/e2e/link.sh"
talk=$build_dir/tests/line_talk
token=0123456789abcdef0123456789abcdef

# talk_at SIDE SECONDS ADDRESS...: begins to talk there, into $scratch/talk.SIDE
talk_at() {
  local side=$1 seconds=$2
  shift 2
  empty "$scratch/talk.$side"
  link_run "$side" "$talk" "10.77.0.$side:7000" "${talk_token:-$token}" "$seconds" 100 "$@" >"$scratch/talk.$side" 2>&1 &
  talkers[side]=$!
}
# opened SIDE N: waits until N lines were opened there
opened() {
  local i
  for ((i = 0; i < 200; i++)); do
    [ "$(grep -c '"event": "open"' "$scratch/talk.$1")" -ge "$2" ] && { pass; return; }
    sleep 0.05
  done
  fail "side $1 did not open $2 lines"
  cat "$scratch/talk.$1"
}
# ended SIDE FILTER: waits for its end; what it counted fulfils the jq filter
ended() {
  wait "${talkers[$1]}" && pass || fail "side $1: messages were missing, doubled or out of order"
  if tail -n 1 "$scratch/talk.$1" | jq -e "$2" >/dev/null; then pass; else
    fail "side $1: not so: $2"
    tail -n 1 "$scratch/talk.$1"
  fi
}
talkers=()

link_begin 3 delay 20 jitter 10 loss 0.1 duplicate 0.05 seed 3
# all at once, each calls both others: one line between any two
talk_at 1 9 10.77.0.2:7000 10.77.0.3:7000
talk_at 2 9 10.77.0.1:7000 10.77.0.3:7000
talk_at 3 9 10.77.0.1:7000 10.77.0.2:7000
for side in 1 2 3; do opened $side 2; done
sleep 1
# one is cut off for longer than silence lasts, then found again
link_cut 3
sleep 3
link_heal
opened 3 4
ended 1 '.wrong == 0 and (.lines | length) == 2 and .closed >= 1 and .messages > 60'
ended 2 '.wrong == 0 and (.lines | length) == 2 and .messages > 60'
ended 3 '.wrong == 0 and (.lines | length) == 2 and .opened >= 4 and .closed >= 2 and .messages > 10'
# what they know of their way; the clocks are one, so the offset is none
for side in 1 2; do
  tail -n 1 "$scratch/talk.$side" >"$scratch/out"
  ran="side $side"
  json '.lines | all(.least_ms > 39.5 and .least_ms < 120 and .loss_in > 0.01 and .loss_in < 0.4
        and (.offset_ms | fabs) <= .offset_wrong_ms and (.offset_ms | fabs) < 30 and .age_ms > 15)'
done
# another token: no line, and no answer
talk_token=${token%f}0 talk_at 2 3 10.77.0.1:7000
talk_at 1 3
ended 1 '.opened == 0'
ended 2 '.opened == 0'
link_end
finish
