#!/usr/bin/env bash
# a controller whose control thread hangs ends by itself, one that is only stopped or slow does not; what systemd is sent
source "$(dirname "$0")/common.sh"
hold=$build_dir/tests/hold_thread

# the control thread alone is held: exit code, and one line that says so
run "$hold" 'Ctrl-C' 60 feeler serve --port 0 --no-devices --seconds 50
[ "$code" = 77 ] && exit 77
[ "$code" = 4 ] && pass || fail "a control thread that hangs: exit $code, not 4"
says '^[0-9TZ:.-]+ error: the control thread did nothing for 2\.[0-9] s while .*; all forces were brought to zero, and feeler ends with exit code 4$'
[ "$(grep -c 'control thread' "$scratch/err")" = 1 ] && pass || fail "the reason is there more than once"

# the whole process is stopped for longer than that: it goes on, also on a machine that is busy
empty serve.out serve.err
feeler serve --port 0 --no-devices --seconds 120 >serve.out 2>serve.err &
server=$!
stop_server() { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
cleanups+=(stop_server)
waits 'Ctrl-C' serve.out
kill -STOP "$server"
sleep 3
busy=()
for _ in 1 2 3 4; do
  timeout 20 bash -c 'while :; do :; done' &
  busy+=($!)
done
kill -CONT "$server"
sleep 5
kill -0 "$server" 2>/dev/null && pass || fail "a process that was stopped ended: $(cat serve.err)"
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null
kill -TERM "$server"
wait "$server"
code=$?
[ "$code" = 0 ] && pass || fail "a controller that was stopped by SIGTERM: exit $code: $(cat serve.err)"
! grep -q 'control thread' serve.err && pass || fail "a stall that was none: $(cat serve.err)"

# signs of life: ready once, alive while it runs, stopping at the end
cat >notify.py <<'END'
import os, socket, subprocess, sys
box = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
box.bind(sys.argv[1])
box.settimeout(60)
name = sys.argv[1] if sys.argv[1][0] != "\0" else "@" + sys.argv[1][1:]
run = subprocess.Popen(sys.argv[2:], env=dict(os.environ, NOTIFY_SOCKET=name, WATCHDOG_USEC="400000"), stdout=subprocess.DEVNULL)
seen = []
while seen.count("WATCHDOG=1") < 3:
    seen.append(box.recv(4096).decode())
run.terminate()
while seen[-1] != "STOPPING=1":
    seen.append(box.recv(4096).decode())
run.wait()
print(seen[0], seen.count("READY=1"), set(seen[1:-1]), run.returncode)
END
expect 0 python3 notify.py "$scratch/notify" feeler serve --port 0 --no-devices --seconds 100
tells "^READY=1 1 \{'WATCHDOG=1'\} 0$"
# signs that are meant for another process are not sent
cat >other.py <<'END'
import os, socket, subprocess, sys
box = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
box.bind(sys.argv[1])
box.settimeout(60)
environment = dict(os.environ, NOTIFY_SOCKET=sys.argv[1], WATCHDOG_USEC="200000", WATCHDOG_PID="1")
run = subprocess.run(sys.argv[2:], env=environment, stdout=subprocess.DEVNULL)
print(box.recv(4096).decode(), box.recv(4096).decode(), run.returncode)
END
expect 0 python3 other.py "$scratch/other" feeler serve --port 0 --no-devices --seconds 2
tells '^READY=1 STOPPING=1 0$'
finish
