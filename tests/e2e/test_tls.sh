#!/usr/bin/env bash
# feeler serve with TLS, where others can come: page, WebSocket, client library; who is refused
source "$(dirname "$0")/common.sh"
client=$source_dir/tests/e2e/serve_client.py
command -v openssl >/dev/null || exit 77
# certificate NAME: NAME.crt for localhost, and NAME.key
certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.crt" -days 2 \
    -subj "/CN=$1" -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
}
certificate one && certificate other || exit 77

# ---- a certificate of feeler's own: made, explained, kept, and made anew for another name ----
export XDG_DATA_HOME=$PWD/data
expect 0 feeler serve --https --port 0 --no-devices --seconds 0.1
tells 'https://localhost:'
tells 'No browser knows it'
tells 'made now'
tells 'SHA-256 [0-9A-F]{2}:'
[ "$(stat -c %a data/feeler/https/key.pem)" = 600 ] && pass || fail "the key can be read by others"
openssl x509 -in data/feeler/https/certificate.pem -noout -checkhost localhost | grep -q 'does match' && pass || fail "it is not for localhost"
cp data/feeler/https/certificate.pem first.pem
expect 0 feeler serve --https --port 0 --no-devices --seconds 0.1
cmp -s first.pem data/feeler/https/certificate.pem && pass || fail "it was made anew"
expect 0 feeler serve --https --name cad.example --port 0 --no-devices --seconds 0.1
openssl x509 -in data/feeler/https/certificate.pem -noout -checkhost cad.example | grep -q 'does match' && pass || fail "it is not for the new name"
expect 2 feeler serve --https --tls-cert one.crt --tls-key one.key --port 0
says 'leave out --tls-cert'

feeler serve --port 0 --no-devices --listen 0.0.0.0 --name localhost --tls-cert one.crt --tls-key one.key --seconds 1800 >serve.out 2>serve.err &
server=$!
stop_server() { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
cleanups+=(stop_server)
waits 'Ctrl-C' serve.out
port=$(sed -nE 's,.*https://localhost:([0-9]+)/#token=.*,\1,p' serve.out)
token=$(sed -nE 's,.*#token=([0-9a-f]{32})$,\1,p' serve.out)
[ -n "$port" ] && [ -n "$token" ] && pass || { fail "no address with a token: $(cat serve.out serve.err)"; finish; exit; }

# a client that stays longer than a handshake may take; looked at in the end
CA=one.crt TOKEN=$token python3 "$client" "$port" stay 12 >stay.out 2>&1 &
stays=$!

# get PATH [HEADER]: by https; the answer goes to $scratch/out
get() {
  run python3 -c '
import socket, ssl, sys
port, path, header = int(sys.argv[1]), sys.argv[2], sys.argv[3]
link = ssl.create_default_context(cafile="one.crt").wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=600), server_hostname="localhost")
link.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n{header}Connection: close\r\n\r\n".encode())
while piece := link.recv(65536):
    sys.stdout.buffer.write(piece)' "$port" "$1" "${2:-}"
}
get /
tells '<!doctype html>'
tells "wss://localhost:$port"
get /health
tells '^HTTP/1.1 401 '
get /health "Authorization: Bearer $token"$'\r\n'
tells '"rate_held"'

# HTTP/2 is refused here, too: it is not agreed on in the handshake, and no upgrade leads to it
get / 'Upgrade: h2c'$'\r\n''HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'$'\r\n'
tells '^HTTP/1.1 400 '
run python3 -c '
import socket, ssl, sys
context = ssl.create_default_context(cafile="one.crt")
context.set_alpn_protocols(["h2", "http/1.1"])
link = context.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20), server_hostname="localhost")
print("agreed on", link.selected_alpn_protocol())
link.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9))
print(link.recv(65536).decode())' "$port"
tells 'agreed on http/1.1'
tells '^HTTP/1.1 505 '

# the WebSocket
export CA=one.crt
TOKEN=$token expect 0 python3 "$client" "$port" hello
tells 'welcome'
TOKEN=$token ORIGIN=https://localhost:$port expect 0 python3 "$client" "$port" hello
expect 1 python3 "$client" "$port" hello
says 'a token is needed'
TOKEN=${token//[0-9]/x} expect 1 python3 "$client" "$port" hello
says 'the token is not right'
TOKEN=$token ORIGIN=https://elsewhere.example expect 1 python3 "$client" "$port" hello
says ' 403 '
TOKEN=$token HOST=elsewhere.example expect 1 python3 "$client" "$port" hello
says ' 403 '
# whom nobody vouches for is not talked to, nor one that does not speak TLS
CA=other.crt TOKEN=$token expect 1 python3 "$client" "$port" hello
says 'CERTIFICATE_VERIFY_FAILED'
CA='' TOKEN=$token expect 1 python3 "$client" "$port" hello

# a host application
host=$build_dir/examples/14_host_application
if [ -x "$host" ]; then
  expect 0 "$host" "wss://localhost:$port" "$token" one.crt
  tells '^clearance to the plate: [0-3]\.[0-9]+ mm'
  expect 1 "$host" "wss://localhost:$port" "$token" other.crt
  expect 1 "$host" "wss://localhost:$port" wrong one.crt
  says 'token is not right'
fi
wait "$stays" && pass || fail "a client over TLS was dropped: $(tail -n 1 stay.out)"
kill -0 "$server" && pass || fail "feeler serve has ended: $(cat serve.err)"
stop_server
# libwebsockets 4.1 loses 72 bytes of a virtual host that it could not make
expect 3 env ASAN_OPTIONS=detect_leaks=0 feeler serve --port 0 --no-devices --tls-cert one.crt --tls-key other.key
says 'a certificate and its key'
finish
