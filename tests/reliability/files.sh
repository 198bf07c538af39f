#!/usr/bin/env bash
# Malformed files: fuzzes all families of readers and checks that none crashes, hangs or takes more than 8 times the memory of
# its file beside a fixed amount (16 KiB; 592 KiB for recordings). Scenes and text configurations, which take more than that as
# trees, must take no more than was computed before they were read.
#
#   files.sh SOURCE_DIR BUILD_DIR [--short] [--seed N] [--count N] [--minutes N] [--jobs N] [--prebuilt]
#
# --count: executions per family (default 10^8), --minutes: at most so long (default 20). Uses the programs of build-fuzz-fast/
# (without sanitizers) and, where it is there, of build-fuzz/ (ASan and UBSan). --short and --prebuilt take what was built before and
# skip without; otherwise they are built first. --jobs: so many processes at once (default: one for each processor).
#
# Behind them the family "import": damaged CAD files through the real feeler-import, a process for each, so that there are only
# COUNT / 10,000 of them (20 with --short), reported on a line of their own. What the helper does is its own affair and counted;
# feeler must answer every file with a mesh or a sentence and leave no process behind.
. "$1/tests/e2e/common.sh"
source_dir=$1 build_dir=$2 short=0 prebuilt=0 seed=1 count=100000000 minutes=20 jobs=$(nproc)
shift 2
while [ $# -gt 0 ]; do
  case $1 in
    --short) short=1 prebuilt=1; shift ;;
    --prebuilt) prebuilt=1; shift ;;
    --jobs) jobs=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    --minutes) minutes=$2; shift 2 ;;
    *) echo "files.sh: no option '$1'" >&2; exit 2 ;;
  esac
done
families="stl obj ply itri scene poses segments kim recording voxfile nanovdb mesh_stream state"
command -v flock >/dev/null || { echo "files: needs flock"; exit 77; }
if [ "$prebuilt" -eq 0 ]; then
  command -v clang >/dev/null || { echo "files: needs clang with libFuzzer"; exit 77; }
  for preset in fuzz-fast fuzz; do
    (cd "$source_dir" && cmake --preset $preset >/dev/null && ninja -C build-$preset $(printf 'fuzz_%s ' $families) >/dev/null) ||
      { echo "files: the targets of the preset $preset do not build"; exit 77; }
  done
else
  [ -x "$source_dir/build-fuzz-fast/fuzz_state" ] ||
    { echo "files: no build-fuzz-fast/; cmake --preset fuzz-fast && ninja -C build-fuzz-fast makes it"; exit 77; }
  [ "$short" -eq 0 ] || count=2000
fi
kit=$(mktemp -d) out=$source_dir/build-fuzz-fast/files
mkdir -p "$kit/corpus"
trap 'rm -rf "$kit"' EXIT
ln -s "$source_dir/build-fuzz-fast" "$kit/fast"
[ "$short" -eq 1 ] || [ ! -d "$source_dir/build-fuzz" ] || ln -s "$source_dir/build-fuzz" "$kit/asan"
for family in $families; do
  cp -r "$source_dir/fuzz/corpus/$family" "$kit/corpus/" 2>/dev/null || mkdir "$kit/corpus/$family"
  [ ! -f "$source_dir/fuzz/$family.dict" ] || cp -L "$source_dir/fuzz/$family.dict" "$kit/"
done
rm -rf "$out"
echo "seed $seed"
if [ "$short" -eq 1 ]; then seconds=60; else seconds=$((minutes * 60)); fi
if FLR_FUZZ_CORES=$jobs bash "$source_dir/fuzz/support/readers.sh" "$kit" "$seconds" "$out" "$count" "$seed"; then verdict=held status=0; else verdict="NOT HELD" status=1; fi
least=$(for family in $families; do echo $(($(cat "$out/count/$family.fast" 2>/dev/null || echo 0) + $(cat "$out/count/$family.asan" 2>/dev/null || echo 0))); done | sort -n | head -n 1)

# number WORDS LOGS...: the sum of what stands behind the words in all logs
number() { local words=$1; shift; sed -nE "s/^$words: ([0-9]+)\$/\1/p" "$@" | awk '{ sum += $1 } END { print sum + 0 }'; }

test=$build_dir/tests/test_import_mutations
if [ -x "$test" ] && [ -x "$build_dir/feeler-import" ] && [ -x "$build_dir/tests/make_cad" ]; then
  if [ "$short" -eq 1 ]; then wanted=20 workers=1; else wanted=$((count / 10000)) workers=$jobs; fi
  [ "$wanted" -ge "$workers" ] || workers=1
  mkdir -p "$out/import"
  pids=()
  for ((w = 0; w < workers; w++)); do
    FLR_TEST_SEED=$((seed * 1000 + w)) FLR_MUTATIONS=$(((wanted + workers - 1) / workers)) \
      FLR_MUTATIONS_SECONDS=$((short ? 60 : seconds / 4 + 60)) nice -n 19 "$test" >"$out/import/$w.log" 2>&1 &
    pids+=($!)
  done
  import=held
  for pid in "${pids[@]}"; do wait "$pid" || import="NOT HELD" status=1 verdict="NOT HELD"; done
  logs=("$out"/import/*.log)
  echo "import: $(number files "${logs[@]}") damaged files through feeler-import (target $wanted): $(number ok "${logs[@]}") read," \
    "$(number crashed "${logs[@]}") ended the helper, $(number timeout "${logs[@]}") ran out of its time, the others refused: $import"
  [ "$import" = held ] || cat "${logs[@]}" | grep -v '^\[' | tail -n 20
else
  echo "import: not tried: $build_dir has no feeler-import"
fi
echo "files: 13 families of readers, at least $least executions each (target $count), no crash, no hang, memory within 8 times the file: $verdict"
exit $status
