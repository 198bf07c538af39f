#!/usr/bin/env bash
# tests/reliability/corrupt.sh SOURCE_DIR BUILD_DIR [--short] [--seed N] [--count N] [--minutes N]: cache files, recordings and
# saved scenes are damaged by chance and loaded by the engine of feeler serve. Damage is reported, or has no effect: the same
# voxels, forces, motion and replay as with sound files. `build/tests/corrupt FOLDER SEED 1 60 CASE` repeats one case.
source "$(dirname "$0")/../e2e/common.sh"
shift 2
count=100000 seconds=86400 seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
while [ $# -gt 0 ]; do
  case $1 in
    --short) count=1500 seconds=10; shift ;;
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    --minutes) seconds=$(($2 * 60)); shift 2 ;;
    *) echo "corrupt.sh: no option '$1'" >&2; exit 2 ;;
  esac
done
[ -x "$build_dir/tests/corrupt" ] || { echo "corrupt: there is no $build_dir/tests/corrupt"; exit 77; }
echo "corrupt: seed $seed"
mkdir "$scratch/files"
"$build_dir/tests/corrupt" "$scratch/files" "$seed" "$count" "$seconds" >"$scratch/out" 2>"$scratch/err"
code=$?
grep -v '^[0-9]* damaged files' "$scratch/out"
line=$(grep '^[0-9]* damaged files' "$scratch/out")
if [ "$code" = 0 ] && [ -n "$line" ]; then
  echo "corrupt: $line: held"
  exit 0
fi
tail -n 3 "$scratch/err"
echo "corrupt: ${line:-exit status $code after $(grep -c cases "$scratch/err") thousand cases}: NOT HELD"
exit 1
