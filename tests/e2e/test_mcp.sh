#!/usr/bin/env bash
# mcp: tools over standard input and output; limits of files, time and memory; the official SDK as a client
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball
export TMPDIR=$scratch/tmp
mkdir "$TMPDIR"

# asks REQUEST... : sets the file $scratch/out, one answer on each line
asks() {
  printf '%s\n' "$@" >"$scratch/requests"
  timeout -k 5 "$limit" feeler mcp ball ${options:-} <"$scratch/requests" >"$scratch/out" 2>"$scratch/err"
  code=$?
}
call() { printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}' "$1" "$2" "$3"; }
# holds FILTER: of all answers as one array
holds() { if jq -es "$1" "$scratch/out" >/dev/null; then pass; else fail "$1: $(head -c 900 "$scratch/out")"; fi; }

# ---- a conversation ----
asks '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}' \
  '{"jsonrpc":"2.0","method":"notifications/initialized"}' '' "$(call 1 clashes '{"file":"scene.json","clearance":"1mm"}')" \
  "$(call 2 open_assembly '{"file":"../../secret"}')" '{"jsonrpc":"2.0","id":3,"method":"ping"}'
[ "$code" = 0 ] && pass || fail "exit $code"
# a ping is answered while a tool runs, so answers come in any order
holds 'length == 4 and .[0].result.serverInfo.name == "feeler" and (.[] | select(.id == 3).result == {})'
holds '.[] | select(.id == 1).result | .isError == false and (.content[0].text | fromjson | .findings == 1)'
holds '.[] | select(.id == 2).result | .isError and (.content[0].text | contains("no such file"))'

# ---- a message that is too long is skipped ----
{ head -c 3000000 /dev/zero | tr '\0' 'x'; echo; echo '{"jsonrpc":"2.0","id":9,"method":"ping"}'; } >"$scratch/long"
feeler mcp ball <"$scratch/long" >"$scratch/out"
holds 'length == 2 and .[0].error.code == -32600 and .[1].id == 9'

# ---- the last line needs no end ----
printf '{"jsonrpc":"2.0","id":7,"method":"ping"}' | feeler mcp ball >"$scratch/out"
holds 'length == 1 and .[0].id == 7'
head -c 3000000 /dev/zero | tr '\0' 'x' | feeler mcp ball >"$scratch/out"
holds 'length == 1 and .[0].error.code == -32600'

# ---- a socket that does not block, as clients give it: nothing to read is no end, and answers wait until they are read ----
python3 - >"$scratch/out" <<'END' && pass || fail "a socket that does not block: $(cat "$scratch/out")"
import json, socket, subprocess

ours, theirs = socket.socketpair()
theirs.setblocking(False)
server = subprocess.Popen(["feeler", "mcp", "ball"], stdin=theirs, stdout=theirs)
theirs.close()
answers = ours.makefile("r")
for k in range(3):
    ours.sendall(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % k)
    assert json.loads(answers.readline())["id"] == k
ours.sendall(b'{"jsonrpc":"2.0","id":9,"method":"tools/list"}\n' * 200)
for k in range(200):
    assert json.loads(answers.readline())["id"] == 9, k
ours.shutdown(socket.SHUT_WR)
assert answers.readline() == "" and server.wait() == 0
END

# ---- limits ----
# a cube in a closed box: the search for a way out ends only when its time is up
shell() { # FIRST LOW HIGH FACES...: a cube between two corners, whose vertices are numbered from FIRST on
  local first=$1 a=$2 b=$3 i f
  shift 3
  for i in 0 1 2 3 4 5 6 7; do echo "v $((i & 1 ? b : a)) $((i & 2 ? b : a)) $((i & 4 ? b : a))"; done
  for f in "$@"; do echo "f $(for i in $f; do echo -n "$((i + first)) "; done)"; done
}
out=('0 2 3 1' '4 5 7 6' '0 1 5 4' '2 6 7 3' '0 4 6 2' '1 3 7 5')
in=('1 3 2 0' '6 7 5 4' '4 5 1 0' '3 7 6 2' '2 6 4 0' '5 7 3 1')
shell 1 0 10 "${out[@]}" >ball/inner.obj
{ shell 1 -20 30 "${out[@]}"; shell 9 -10 20 "${in[@]}"; } >ball/outer.obj
echo '{"feeler": 1, "name": "closed", "parts": [{"name": "box", "file": "outer.obj"},
  {"name": "cube", "file": "inner.obj", "moving": true}]}' >ball/closed.json
# progress of a long tool; it is cancelled, and with it one that waits; then the server answers as before
mkfifo "$scratch/input"
empty "$scratch/out"
feeler mcp ball <"$scratch/input" >"$scratch/out" &
server=$!
exec 9>"$scratch/input"
call 1 removal_path '{"file":"closed.json","time":3600},"_meta":{"progressToken":"p1"}' >&9
echo >&9
waits '"progressToken":"p1"' "$scratch/out"
{
  call 2 check_mesh '{"file":"ball.stl"}'
  printf '\n{"jsonrpc":"2.0","id":3,"method":"ping"}\n'
} >&9
waits '"id":3' "$scratch/out"
for id in 2 1; do echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":$id}}" >&9; done
call 4 clashes '{"file":"scene.json","clearance":"1mm"}' >&9
exec 9>&-
wait "$server"
[ $? = 0 ] && pass || fail "the server ended otherwise"
holds 'map(select(.id)) | map(.id) == [3, 4] and .[1].result.isError == false'
holds 'map(select(.method == "notifications/progress").params) | length > 0 and all(.progressToken == "p1" and (.message | length > 0))
  and ([.[].progress] | . == (sort | unique))'
[ -z "$(ls "$TMPDIR")" ] && pass || fail "folders are left behind: $(ls "$TMPDIR")"
options="--time 1" asks "$(call 1 removal_path '{"file":"closed.json","time":3600}')"
holds '.[0].result | .isError and (.content[0].text | contains("stopped after 1 s"))'
if [ "$sanitized" = no ]; then # memory is limited by addresses, of which a sanitizer takes terabytes
  options="--memory 20MiB" asks "$(call 1 clashes '{"file":"scene.json"}')"
  holds '.[0].result.isError'
fi
[ -z "$(ls "$TMPDIR")" ] && pass || fail "folders are left behind: $(ls "$TMPDIR")"

# ---- robots and CAD files ----
cat >ball/arm.urdf <<'URDF'
<robot name="arm">
  <link name="base"><collision><geometry><mesh filename="ball.stl" scale="0.001 0.001 0.001"/></geometry></collision></link>
  <link name="arm"><collision><geometry><box size="0.05 0.05 0.3"/></geometry></collision></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0.2 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>
URDF
echo '<mujoco><worldbody><geom type="box" size="0.1 0.1 0.1"/>
  <body pos="0 0 0.5"><freejoint/><geom type="sphere" size="0.05"/></body></worldbody></mujoco>' >ball/arm.xml
sed 's,"ball.stl","../secret.stl",' ball/arm.urdf >ball/trick.urdf
cp ball/ball.stl secret.stl
cad=no
if [ -x "$build_dir/tests/make_cad" ]; then # else feeler was built without OpenCASCADE
  cad=yes
  "$build_dir/tests/make_cad" ball >/dev/null || fail "make_cad"
fi
asks "$(call 1 open_assembly '{"file":"arm.urdf"}')" "$(call 2 open_assembly '{"file":"arm.xml"}')" \
  "$(call 3 picture '{"file":"arm.urdf"}')" "$(call 4 removal_path '{"file":"arm.xml","time":20}')" \
  "$(call 5 open_assembly '{"file":"trick.urdf"}')" "$(call 6 open_assembly '{"file":"assembly.step"}')" \
  "$(call 7 clashes '{"file":"assembly.step"}')" "$(call 8 removal_path '{"file":"assembly.step"}')"
if jq -es 'any(.result.content[0].text | contains("landlock"))' "$scratch/out" >/dev/null; then
  echo "this system has no landlock: robots are left out"
else
  holds '.[0].result | .isError == false and (.content[0].text | fromjson.files[0] | (.parts | length == 2) and .joints[0].name == "elbow")'
  holds '.[1].result | .isError == false and (.content[0].text | fromjson.files[0].parts | length == 2)'
  holds '.[2].result.content[1].type == "image"'
  holds '.[3].result | .isError == false and (.content[0].text | fromjson.found)'
  holds '.[4].result.isError'
fi
if [ "$cad" = yes ]; then
  holds '.[5].result | .isError == false and (.content[0].text | fromjson.files[0] | .format == "STEP" and .components == 3)'
  holds '.[6].result | .isError == false and (.content[0].text | fromjson.parts == 3)'
  # it is read, and says what to ask for
  holds '.[7].result | .isError and (.content[0].text | contains("--part"))'
fi
[ -z "$(ls "$TMPDIR")" ] && pass || fail "folders are left behind: $(ls "$TMPDIR")"

# ---- scenes name files of the folder only ----
mkdir other && cp ball/ball.stl other/
jq '.parts[0].file = "../other/ball.stl"' ball/scene.json >ball/trick.json
asks "$(call 1 clashes '{"file":"trick.json"}')"
holds '.[0].result | .isError and (.content[0].text | contains("no file in the folders"))'

# ---- the command line ----
expect 2 feeler mcp
says 'a folder whose files may be read'
expect 3 feeler mcp nowhere
says 'nowhere: is no folder'

# ---- the official client, where it can be had ----
sdk=$build_dir/mcp
if [ ! -d "$sdk/node_modules" ] && command -v npm >/dev/null; then
  mkdir -p "$sdk" && cp "$source_dir"/tests/mcp/{package.json,package-lock.json,.npmrc} "$sdk/" &&
    (cd "$sdk" && HOME=$sdk timeout 120 npm ci >"$scratch/npm" 2>&1) || rm -rf "$sdk/node_modules"
fi
if [ -d "$sdk/node_modules" ]; then
  cp "$source_dir/tests/mcp/client.mjs" "$sdk/"
  expect 0 node "$sdk/client.mjs" "$feeler" ball
  [ "$(grep -c '^holds' "$scratch/out")" = 14 ] && pass || fail "the client: $(cat "$scratch/out" "$scratch/err")"
else
  echo "the official SDK is not installed and cannot be had from npm: left out"
fi
finish
