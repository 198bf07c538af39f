#!/usr/bin/env bash
# a controller whose control thread hangs ends by itself, one that is only stopped or slow does not; what systemd is sent
source "$(dirname "$0")/common.sh"
hold=$build_dir/tests/hold_thread

# the control thread alone is held, once it comes round, as the note that the scene is loaded shows: exit code, and one line that
# says so
feeler make ball --out ball --quiet || { fail "there is no scene"; finish; }
run "$hold" 'is loaded' 300 feeler serve ball/scene.json --port 0 --no-devices --seconds 250
[ "$code" = 77 ] && exit 77
[ "$code" = 4 ] && pass || fail "a control thread that hangs: exit $code, not 4"
says '^[0-9TZ:.-]+ error: the control thread did nothing for ([2-9]|[0-9]{2,})\.[0-9] s while .*; all forces were brought to zero, and feeler ends with exit code 4$'
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

# a terminal that is stopped (Ctrl-S), one that nobody reads, and a full pipe hold up nobody, though there is something to be logged
cat >mute.py <<'END'
import os, pty, re, select, socket, subprocess, sys, time
how, command = sys.argv[1], sys.argv[2:]
above, below = pty.openpty() if how != "pipe" else os.pipe()
def fill():  # through an open file of its own: the other stays as it is
    other = os.open("/proc/self/fd/%d" % below, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    for size in 1000, 1:
        try:
            while True:
                os.write(other, b"." * size)
        except BlockingIOError:
            pass
    os.close(other)
if how == "pipe":
    fill()
run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if how == "pipe" else below,
                       stderr=below)
said = b""
while b"Ctrl-C ends it" not in said:
    said += os.read(run.stdout.fileno() if how == "pipe" else above, 4096)
port = int(re.search(rb":(\d+)/", said).group(1))
if how == "stopped":
    os.write(above, b"\x13")
if how == "unread":
    fill()
    os.read(above, 700)  # room for a part of a line
opening = (b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
# each is a line of the log, and they come faster than they are written: other numbers, other lines
end, clients = time.monotonic() + 8, 0
while (time.monotonic() < end or clients <= 100) and run.poll() is None:
    for _ in range(50):
        try:
            with socket.create_connection(("127.0.0.1", port), 60) as s:
                s.sendall(opening)
                s.recv(100)
                clients += 1
        except OSError:
            break
    time.sleep(0.2)
alive = run.poll() is None
if alive:
    with socket.create_connection(("127.0.0.1", port), 60) as s:
        s.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        print(s.recv(12).decode())
    if how == "stopped":
        os.write(above, b"\x11")
    run.terminate()
    while run.poll() is None:  # what it says at its end may wait for a reader
        if select.select([above], [], [], 0.05)[0]:
            os.read(above, 65536)
print("alive" if alive else "ended", run.wait(), "clients" if clients > 100 else clients)
END
for how in stopped unread pipe; do
  expect 0 python3 mute.py $how feeler serve --port 0 --no-devices --verbose --seconds 300
  tells '^HTTP/1.1 200$'
  tells '^alive 0 clients$'
done

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
