#!/usr/bin/env bash
# tests/reliability/corrupt.sh SOURCE_DIR BUILD_DIR [--short] [--seed N] [--count N] [--minutes N] [--jobs N]: cache files, recordings and
# saved scenes are damaged by chance and loaded by the engine of feeler serve. Damage is reported, or has no effect: the same
# voxels, forces, motion and replay as with sound files. --jobs processes share the cases. `build/tests/corrupt FOLDER SEED 1 60 CASE`
# repeats one case.
source "$(dirname "$0")/../e2e/common.sh"
shift 2
count=100000 seconds=86400 jobs=1 seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
while [ $# -gt 0 ]; do
  case $1 in
    --short) count=1500 seconds=10 jobs=1; shift ;;
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    --minutes) seconds=$(($2 * 60)); shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    *) echo "corrupt.sh: no option '$1'" >&2; exit 2 ;;
  esac
done
[ -x "$build_dir/tests/corrupt" ] || { echo "corrupt: there is no $build_dir/tests/corrupt"; exit 77; }
echo "corrupt: seed $seed"
pids=()
stop_jobs() { [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null; }
cleanups+=(stop_jobs)
share=$(((count + jobs - 1) / jobs))
for ((job = 0; job < jobs; job++)); do
  mkdir "$scratch/files$job"
  "$build_dir/tests/corrupt" "$scratch/files$job" "$seed" "$share" "$seconds" $((job * share)) >"$scratch/out$job" 2>"$scratch/err$job" &
  pids+=($!)
done
code=0
for ((job = 0; job < jobs; job++)); do
  wait "${pids[job]}" || { code=$?; tail -n 3 "$scratch/err$job"; }
done
pids=()
grep -hv '^[0-9]* damaged files' "$scratch"/out*
# the sums of all lines, number by number
line=$(grep -h '^[0-9]* damaged files' "$scratch"/out* | awk '
  { for (i = 1; i <= NF; i++) if ($i ~ /^\(?[0-9]+$/) { open = sub(/^\(/, "", $i); sum[i] += $i; $i = (open ? "(" : "") sum[i] } line = $0; lines++ }
  END { if (lines) print line }')
ended=$(grep -hc '^[0-9]* damaged files' "$scratch"/out* | awk '{ sum += $1 } END { print sum }')
if [ "$code" = 0 ] && [ "$ended" = "$jobs" ]; then
  echo "corrupt: $line: held"
  exit 0
fi
echo "corrupt: ${line:-no result}; $ended of $jobs processes came to their end, exit status $code: NOT HELD"
exit 1
