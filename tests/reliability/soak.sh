#!/usr/bin/env bash
# guarantee: soak. A controller runs at 1000 Hz with a scripted hand that takes a part, carries it against another and lets it go; viewers
# connect and leave, some of them rudely; recordings start and stop. Allocated bytes, memory pages, file descriptors and threads stay flat
# (soak.py has the bounds), and what was recorded has the same state hashes when it runs again without viewers.
#
#   tests/reliability/soak.sh SOURCE_DIR BUILD_DIR [--short] [--seed N] [--count N] [--minutes N]
#
# --minutes N: how long (30). --count N: so many rounds of viewers instead. --short: four short rounds.
source "$(dirname "$0")/../e2e/common.sh"
shift 2
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
[ -f "$build_dir/examples/plugin/my_device.so" ] || { echo "skipped: the example plugin is not built"; exit 77; }
minutes=30 rounds=0 length=10 seed=$RANDOM
while [ $# -gt 0 ]; do
  case $1 in
    --short) rounds=4 length=0.8; shift ;;
    --minutes) minutes=$2; shift 2 ;;
    --count) rounds=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    *) echo "soak: no option '$1'" >&2; exit 2 ;;
  esac
done
echo "soak: seed $seed"
mkdir devices && cp "$build_dir/examples/plugin/my_device.so" devices/
expect 0 feeler make ball --out ball --quiet
# without the C library's caches of freed blocks, one for each thread and up to 230 KiB each: they count as allocated
GLIBC_TUNABLES=glibc.malloc.tcache_count=0 FEELER_DEVICES=$PWD/devices feeler serve ball/scene.json --voxel 2mm --port 0 --device my_device:0.01 --every-frame --recordings tapes >serve.out 2>serve.err &
server=$!
stop_server() { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
cleanups+=(stop_server)
waits 'is loaded' serve.out
served serve.out
[ "$failed" = 0 ] || { cat serve.out serve.err; finish; }
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source_dir/tests/e2e python3 "$source_dir/tests/reliability/soak.py" \
  "$feeler" "$port" "$server" "$seed" "$minutes" "$rounds" "$length" || { cat serve.err; exit 1; }
kill -TERM "$server"
wait "$server" || { echo "soak: feeler serve ended with exit code $?: NOT HELD"; exit 1; }
