#!/usr/bin/env bash
# durability: feeler is killed at random moments while it saves, records, takes uploads, makes voxels and shares a scene.
# Everything that was acknowledged before must be there and whole, and what was under way is cleared away.
# tests/reliability/durability.sh SOURCE_DIR BUILD_DIR [--short] [--seed N] [--count N]
source "$(dirname "$0")/../e2e/common.sh"
shift 2
count=1000 seed=$RANDOM
while [ $# -gt 0 ]; do
  case $1 in
    --short) count=10; shift ;;
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    --minutes) shift 2 ;; # the number of kills is the measure
    *) echo "durability: no option '$1'" >&2; exit 2 ;;
  esac
done
command -v python3 >/dev/null || exit 77
python3 "$source_dir/tests/reliability/durability.py" "$source_dir" "$seed" "$count"
