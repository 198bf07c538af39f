#!/usr/bin/env bash
# a host application and a controller: meshes given, one grabbed and pushed against the other, which it does not enter
source "$(dirname "$0")/common.sh"
host=$build_dir/examples/14_host_application
[ -x "$host" ] || exit 77
feeler serve --port 0 --no-devices --seconds 1800 >serve.out 2>serve.err &
server=$!
stop_server() { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
cleanups+=(stop_server)
served serve.out

expect 0 "$host" "127.0.0.1:$port"
tells '^gave two meshes'
# the hand ends at 5 mm; the peg, of 20 mm, touches the plate when its middle is at 10 mm
tells '^hand at +5\.00 mm +peg at +1[0-3]\.[0-9]+ mm +[1-9][0-9]* contacts, +[0-9.]+ N'
tells '^clearance to the plate: [0-3]\.[0-9]+ mm'
expect 0 "$host" "ws://127.0.0.1:$port/"
expect 1 "$host" 127.0.0.1:9
says '127\.0\.0\.1:9'
expect 1 "$host" nonsense:port
says 'host:port'
finish
