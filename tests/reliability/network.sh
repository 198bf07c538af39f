#!/usr/bin/env bash
# network.sh SOURCE BUILD [--short] [--seed N] [--count N] [--minutes N] [--jobs N] [--tls-only | --plain-only]: hostile clients over loopback do
# not crash, hang or slow down a controller. --count: HTTP connections, and as many WebSocket messages (default 1,000,000 each); then a tenth of
# them over TLS. --jobs: so many controllers at the same time, which share the count.
folders=("$1" "$2")
shift 2
seed=$((RANDOM * 32768 + RANDOM)) count=1000000 minutes=60 short=no jobs=1 kinds=(plain tls)
while [ $# -gt 0 ]; do
  case $1 in
    --short) short=yes; shift ;;
    --seed) seed=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    --minutes) minutes=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --tls-only) kinds=(tls); shift ;;
    --plain-only) kinds=(plain); shift ;;
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
[ "$short" = yes ] && count=4000 minutes=2 jobs=1 bounds=(--seconds-to-answer 60)
# sanitizers slow the controller down several times
[ "$sanitized" = yes ] && bounds=(--seconds-to-answer 60)

# a scene with joints and rigid groups, a device that moves a hand, and a file that changes now and then
feeler make cabinet --out scene --quiet || { echo "network: no scene to serve: NOT HELD"; exit 1; }
device=(--no-devices)
[ ! -f "$build_dir/examples/plugin/my_device.so" ] || device=(--device my_device)
export FEELER_DEVICES=$build_dir/examples/plugin
# a kit brings a certificate along
if [ -f "$build_dir/tests/network.crt" ]; then
  cp "$build_dir/tests/network.crt" cert.pem && cp "$build_dir/tests/network.key" key.pem
else
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost 2>/dev/null || { echo "network: no openssl, so not over TLS"; kinds=(plain); }
fi

stop_servers() { for file in "$scratch"/here/*/pid; do [ ! -f "$file" ] || kill "$(cat "$file")" 2>/dev/null; done; }
cleanups+=(stop_servers)

# change FILE PID: it is cut off, and whole again, for as long as the process runs
change() {
  cp "$1" "$1.whole" && head -c $(($(stat -c %s "$1") / 2)) "$1" >"$1.half"
  while kill -0 "$2" 2>/dev/null; do
    for state in half whole; do
      cp "$1.$state" "$1.next" && mv "$1.next" "$1"
      sleep 0.5
    done
  done
}

# one KIND JOB COUNT: a controller and its clients; the result in KIND-JOB/, its exit status in KIND-JOB/code
one() {
  local kind=$1 job=$2 count=$3 folder=$PWD/$1-$2 tls=() server port code ended scene changer
  cp -r scene "$folder/scene"
  scene=$(realpath "$folder/scene/scene.json")
  [ "$kind" = tls ] && tls=(--tls-cert cert.pem --tls-key key.pem)
  HOME=$folder/home feeler serve "$scene" --port 0 "${device[@]}" --watch --every-frame --recordings "$folder/recordings" "${tls[@]}" >"$folder/serve.out" 2>"$folder/serve.err" &
  server=$!
  echo "$server" >"$folder/pid"
  waits "is loaded" "$folder/serve.out"
  change "$folder/scene/foot.stl" "$server" &
  changer=$!
  port=$(sed -nE 's,.*://[^:]*:([0-9]+)/.*,\1,p' "$folder/serve.out")
  # every controller has cases of its own
  "$network" "$port" "$server" --seed "$seed" --first $((job * 1000000000)) --connections "$count" --messages "$count" --minutes "$minutes" \
    --scene "$scene" "${bounds[@]}" ${tls:+--tls 1} >"$folder/result.txt"
  code=$?
  # it must end when it is asked to, whatever came before
  kill "$server" 2>/dev/null
  gone() { ! kill -0 "$server" 2>/dev/null; }
  await gone || kill -9 "$server"
  wait "$server"
  ended=$?
  wait "$changer"
  rm "$folder/pid"
  [ "$code" = 0 ] && [ "$ended" != 0 ] && { code=1; echo "feeler serve ended with $ended" >>"$folder/result.txt"; tail -n 40 "$folder/serve.err" >>"$folder/result.txt"; }
  [ "$ended" -gt 128 ] && tail -n 60 "$folder/serve.err" >>"$folder/result.txt"
  echo "$code" >"$folder/code"
}

# try KIND COUNT: all jobs of a kind; one line
try() {
  local kind=$1 share=$((($2 + jobs - 1) / jobs)) job pids=() bad=no line
  for ((job = 0; job < jobs; job++)); do
    mkdir -p "$kind-$job/home" "$kind-$job/recordings"
    one "$kind" "$job" "$share" &
    pids+=($!)
  done
  wait "${pids[@]}"
  for ((job = 0; job < jobs; job++)); do
    [ "$(cat "$kind-$job/code" 2>/dev/null)" = 0 ] || { bad=yes; cat "$kind-$job/result.txt"; echo "job $job: exit $(cat "$kind-$job/code" 2>/dev/null)"; }
  done
  # the sums of what was sent, the longest of what was waited for
  line=$(cat "$kind"-*/result.txt | awk '
    / HTTP connections and / {
      gsub(/[(,;)]/, ""); jobs++
      connections += $1; messages += $5
      for (i = 6; i < NF; i++) {
        if ($(i + 1) == "handshakes") handshakes += $i
        if ($(i + 1) == "commands") done += $i
        if ($(i + 1) == "refused") refused += $i
        if ($i == "in" && $(i + 2) == "s" && $(i + 1) > seconds) seconds = $(i + 1)
        if ($i == "/health" && $(i + 2) > health) health = $(i + 2)
        if ($i == "pings") { pings += $(i - 1); if ($(i + 2) > ping) ping = $(i + 2) }
        if ($(i + 1) == "over") slow += $i
        if ($(i + 2) == "with" && $i > raw) raw = $i
      }
    }
    END {
      printf "%d HTTP connections and %d WebSocket messages (%d handshakes accepted, %d commands carried out, %d refused) in %d s at %d controllers; ",
        connections, messages, handshakes, done, refused, seconds, jobs
      printf "/health within %d ms; %d pings of ordinary clients within %d ms, %d over 25 ms (%d ms with the time that other processes took)",
        health, pings, ping, slow, raw
    }')
  [ "$kind" = tls ] && line="over TLS: $line"
  if [ "$bad" = no ]; then
    echo "network: $line: held"
  else
    echo "network: $line: NOT HELD"
    return 1
  fi
}

status=0
for kind in "${kinds[@]}"; do
  # a handshake takes as long as ten connections without
  amount=$count
  [ "$kind" = tls ] && [ ${#kinds[@]} = 2 ] && amount=$((count / 10))
  try "$kind" "$amount" || status=1
done
exit $status
