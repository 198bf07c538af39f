#!/usr/bin/env bash
# loop.sh SOURCE_DIR BUILD_DIR [--short] [--count FRAMES] [--engines NAMES] [--jobs N] [--seed N]: the real-time loop allocates nothing,
# takes no lock and makes no system call but its sleep: 10^7 frames for each engine, with two viewers, a recording and a peer. --count sets
# the frames. --engines: only these, with commas between. --jobs: so many processes at once; where there are more of them than engines, they
# share the frames of each. Nothing here is random, so there is no seed
source "$(dirname "$0")/../e2e/common.sh"
frames=10000000 paced=20000 jobs=1 names=shell,smooth,awareness,spheres,exact,coherent,point,paged
shift 2
while [ $# -gt 0 ]; do
  case $1 in
    --short) frames=20000 paced=100 ;;
    --count) frames=$2; shift ;;
    --engines) names=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --seed | --minutes) shift ;;
    *) echo "loop.sh: no option '$1'" >&2; exit 2 ;;
  esac
  shift
done
case $jobs in '' | *[!0-9]* | 0) echo "loop.sh: --jobs needs a positive number" >&2; exit 2 ;; esac
program=$build_dir/tests/loop_engines
[ -x "$program" ] || { echo "loop: not built with sanitizers"; exit 77; }
IFS=, read -ra engines <<<"$names"
echo "loop: seed none"
shares=$((jobs / ${#engines[@]}))
[ "$shares" -gt 0 ] || shares=1
# one process for each engine and share; a line of output is shown whole when it comes
watch() { "$1" "$2" "$3" "$4" 2>&1; echo "$4: exit status $?"; }
export -f watch
for engine in "${engines[@]}"; do
  for ((share = 0; share < shares; share++)); do echo "$program $(((frames + shares - 1) / shares)) $((paced / shares)) $engine"; done
done | xargs -P "$jobs" -L 1 bash -c 'watch "$@"' loop | tee loop.out
if grep -q ': exit status 77$' loop.out; then echo "loop: this machine does not allow to trap system calls"; exit 77; fi
processes=$((shares * ${#engines[@]}))
tried="${#engines[@]} engines, $frames free-running and $paced paced frames each, with 2 viewers, a recording and a peer"
if [ "$(grep -c ': exit status 0$' loop.out)" = "$processes" ] &&
  [ "$(grep -cE ': 0 allocations, 0 locks, 0 system calls' loop.out)" = $((2 * processes)) ]; then
  echo "loop: $tried: 0 allocations, 0 locks, 0 unexpected system calls: held"
else
  echo "loop: $tried: see above: NOT HELD"
  exit 1
fi
