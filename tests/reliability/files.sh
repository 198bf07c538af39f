#!/usr/bin/env bash
# Malformed files: fuzzes all families of readers and checks that none crashes, hangs or takes more than 8 times the memory of
# its file beside a fixed amount (16 KiB; 592 KiB for recordings). Scenes and text configurations, which take more than that as
# trees, must take no more than was computed before they were read.
#
#   files.sh SOURCE_DIR BUILD_DIR [--short] [--seed N] [--count N] [--minutes N] [--jobs N] [--prebuilt] [--results FILE WORDS]
#
# --count: executions per family (default 10^8), --minutes: at most so long (default 20). Uses the programs of build-fuzz-fast/
# (without sanitizers) and, where it is there, of build-fuzz/ (ASan and UBSan). --short and --prebuilt take what was built before and
# skip without; otherwise they are built first. --jobs: so many processes at once (default: one for each processor). --results: adds the
# counts to FILE (fuzz/results.tsv) as a run that WORDS describe; scripts/fuzz --table then brings docs/reliability.md up to date.
. "$1/tests/e2e/common.sh"
source_dir=$1 short=0 prebuilt=0 seed=1 count=100000000 minutes=20 jobs=$(nproc) results="" words=""
shift 2
while [ $# -gt 0 ]; do
  case $1 in
    --short) short=1 prebuilt=1; shift ;;
    --prebuilt) prebuilt=1; shift ;;
    --jobs) jobs=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    --minutes) minutes=$2; shift 2 ;;
    --results) results=$2 words=$3; shift 3 ;;
    *) echo "files.sh: no option '$1'" >&2; exit 2 ;;
  esac
done
# all readers that have a target: one list, which the build uses, too
families=$(sed -nE 's/^set\(readers (.*)\)/\1/p' "$source_dir/fuzz/CMakeLists.txt")
[ -n "$families" ] || { echo "files: no list of readers in fuzz/CMakeLists.txt"; exit 1; }
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
if FLR_FUZZ_CORES=$jobs FLR_FUZZ_READERS=$families bash "$source_dir/fuzz/support/readers.sh" "$kit" "$seconds" "$out" "$count" "$seed"; then verdict=held status=0; else verdict="NOT HELD" status=1; fi
least=$(for family in $families; do echo $(($(cat "$out/count/$family.fast" 2>/dev/null || echo 0) + $(cat "$out/count/$family.asan" 2>/dev/null || echo 0))); done | sort -n | head -n 1)

[ -z "$results" ] || bash "$source_dir/fuzz/support/note_run.sh" "$out" "$results" "$words"
echo "files: $(wc -w <<<"$families") families of readers, at least $least executions each (target $count), no crash, no hang, memory within 8 times the file: $verdict"
exit $status
