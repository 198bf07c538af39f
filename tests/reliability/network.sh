#!/usr/bin/env bash
# network.sh SOURCE BUILD [--short] [--seed N] [--count N] [--minutes N]: hostile clients over loopback do not crash, hang or slow down
# a controller. --count: HTTP connections, and as many WebSocket messages (default 1,000,000 each).
folders=("$1" "$2")
shift 2
seed=$((RANDOM * 32768 + RANDOM)) count=1000000 minutes=60 short=no
while [ $# -gt 0 ]; do
  case $1 in
    --short) short=yes; shift ;;
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    --minutes) minutes=$2; shift 2 ;;
    *) echo "network.sh: no option '$1'"; exit 2 ;;
  esac
done
set -- "${folders[@]}"
source "$(dirname "$0")/../e2e/common.sh"
network=$build_dir/tests/network
[ -x "$network" ] || exit 77
echo "seed $seed"
# a short run says how long others wait, but does not judge it: the machine may be busy with other tests
bounds=(--latency 250 --seconds-to-answer 1)
[ "$short" = yes ] && count=2000 minutes=2 bounds=(--seconds-to-answer 60)
# sanitizers slow the controller down several times
[ "$sanitized" = yes ] && bounds=(--seconds-to-answer 60)

feeler make ball --out ball --quiet || { echo "network: no scene to serve: NOT HELD"; exit 1; }
scene=$(realpath ball/scene.json)
feeler serve "$scene" --port 0 --no-devices --recordings "$scratch/recordings" >serve.out 2>serve.err &
server=$!
stop_server() { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
cleanups+=(stop_server)
mkdir -p "$scratch/recordings"
waits "is loaded" serve.out
port=$(sed -nE 's,.*://[^:]*:([0-9]+)/.*,\1,p' serve.out)
"$network" "$port" "$server" --seed "$seed" --connections "$count" --messages "$count" --minutes "$minutes" --scene "$scene" \
  "${bounds[@]}" >result.txt
code=$?
# it must end when it is asked to, whatever came before
kill "$server" 2>/dev/null
gone() { ! kill -0 "$server" 2>/dev/null; }
await gone || kill -9 "$server"
wait "$server"
ended=$?
[ "$code" = 0 ] && [ "$ended" != 0 ] && { code=1; echo "feeler serve ended with $ended"; tail -n 40 serve.err; }
if [ "$code" = 0 ]; then
  echo "network: $(head -n 1 result.txt): held"
else
  cat result.txt
  [ "$ended" -gt 128 ] && tail -n 60 serve.err
  echo "network: $(head -n 1 result.txt), exit $ended: NOT HELD"
  exit 1
fi
