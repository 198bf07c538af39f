#!/usr/bin/env bash
# guarantee: three peers. Three real controllers share a scene over links that delay, lose and duplicate packets; a client at each grabs,
# carries and releases parts at random. Once a minute one controller is killed (every other time the leader) and joins again. No part ever
# has two owners in one epoch, and whenever the clients pause, all controllers come to the same membership and to poses equal to the bit.
#
#   tests/reliability/peers.sh SOURCE_DIR BUILD_DIR [--short] [--seed N] [--count N] [--minutes N]
#
# --minutes N: N kills, a minute each (30). --count N: N kills, 15 s each. --short: one kill.
source "$(dirname "$0")/../e2e/common.sh"
source "$source_dir/tests/e2e/link.sh"
shift 2
[ "$sanitized" = no ] || { echo "skipped: one build is enough"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
kills=30 period=60 seed=$RANDOM
while [ $# -gt 0 ]; do
  case $1 in
    --short) kills=1 period=8; shift ;;
    --minutes) kills=$2 period=60; shift 2 ;;
    --count) kills=$2 period=15; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    *) echo "peers: no option '$1'" >&2; exit 2 ;;
  esac
done
echo "peers: seed $seed"
link_begin 3 delay 20 jitter 10 loss 0.05 duplicate 0.02 seed "$seed" seconds $((kills * (period + 600) + 600))
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source_dir/tests/e2e python3 "$source_dir/tests/reliability/peers.py" \
  "$feeler" "$scratch" "$seed" "$kills" "$period" "${link_sides[@]:1}"
code=$?
[ $code = 0 ] || for side in 1 2 3; do echo "--- controller $side"; tail -n 15 "$scratch/controller$side.log"; done
exit $code
