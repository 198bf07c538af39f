#!/usr/bin/env bash
# Foreign formats: damaged CAD files through the real feeler-import, a process for each. What the helper does is its own affair and counted;
# feeler must answer every file with a mesh or a sentence and leave no process behind. (What feeler reads from the helper is fuzzed in
# process, without it: the family mesh_stream of files.sh.)
#
#   import.sh SOURCE_DIR BUILD_DIR [--short] [--seed N] [--count N] [--minutes N] [--jobs N]
#
# --count: files (default 10,000), --minutes: at most so long (default 60), --jobs: so many at once (default: one for each processor).
source "$(dirname "$0")/../e2e/common.sh"
shift 2
count=10000 minutes=60 jobs=$(nproc) seed=$RANDOM
while [ $# -gt 0 ]; do
  case $1 in
    --short) count=20 minutes=1 jobs=1; shift ;;
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    --minutes) minutes=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    *) echo "import.sh: no option '$1'" >&2; exit 2 ;;
  esac
done
test=$build_dir/tests/test_import_mutations
[ -x "$test" ] && [ -x "$build_dir/feeler-import" ] && [ -x "$build_dir/tests/make_cad" ] ||
  { echo "import: $build_dir has no feeler-import or no tests of it"; exit 77; }
echo "import: seed $seed"
pids=() verdict=held
stop_jobs() { [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null; }
cleanups+=(stop_jobs)
for ((job = 0; job < jobs; job++)); do
  FLR_TEST_SEED=$((seed * 1000 + job)) FLR_MUTATIONS=$(((count + jobs - 1) / jobs)) FLR_MUTATIONS_SECONDS=$((minutes * 60)) \
    nice -n 19 "$test" >"$scratch/$job.log" 2>&1 &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || verdict="NOT HELD"; done
pids=()

# number WORDS: the sum of what stands behind the words in all logs
number() { sed -nE "s/^$1: ([0-9]+)\$/\1/p" "$scratch"/*.log | awk '{ sum += $1 } END { print sum + 0 }'; }
[ "$verdict" = held ] || grep -hv '^\[' "$scratch"/*.log | tail -n 20
echo "import: $(number files) damaged files through feeler-import (target $count): $(number ok) read, $(number crashed) ended the helper," \
  "$(number timeout) ran out of its time, the others refused: $verdict"
[ "$verdict" = held ]
