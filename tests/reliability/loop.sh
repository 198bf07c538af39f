#!/usr/bin/env bash
# loop.sh SOURCE_DIR BUILD_DIR [--short] [--count FRAMES] [--seed N]: the real-time loop allocates nothing, takes no lock and makes no
# system call but its sleep: 10^7 frames for each engine, with two viewers, a recording and a peer. --count sets the frames; nothing
# here is random, so there is no seed
source "$(dirname "$0")/../e2e/common.sh"
frames=10000000 paced=20000
shift 2
while [ $# -gt 0 ]; do
  case $1 in
    --short) frames=20000 paced=100 ;;
    --count) frames=$2; shift ;;
    --seed | --minutes) shift ;;
    *) echo "loop.sh: no option '$1'" >&2; exit 2 ;;
  esac
  shift
done
program=$build_dir/tests/loop_engines
[ -x "$program" ] || { echo "loop: not built with sanitizers"; exit 77; }
engines=(shell smooth awareness spheres exact point paged)
echo "loop: seed none"
"$program" "$frames" "$paced" "${engines[@]}" 2>&1 | tee loop.out
code=${PIPESTATUS[0]}
[ "$code" = 77 ] && { echo "loop: this machine does not allow to trap system calls"; exit 77; }
counted=$(grep -cE ': 0 allocations, 0 locks, 0 system calls' loop.out)
tried="${#engines[@]} engines, $frames free-running and $paced paced frames each, with 2 viewers, a recording and a peer"
if [ "$code" = 0 ] && [ "$counted" = $((2 * ${#engines[@]})) ]; then
  echo "loop: $tried: 0 allocations, 0 locks, 0 unexpected system calls: held"
else
  echo "loop: $tried: see above: NOT HELD"
  exit 1
fi
