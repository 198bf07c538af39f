#!/usr/bin/env bash
# shared sessions as processes: what is printed and refused; then two controllers with a page each in a headless Chromium
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball --quiet

# the command line
expect 2 feeler join
says 'HOST'
expect 2 feeler join localhost
says 'token'
expect 2 feeler join localhost --token short
expect 3 feeler join localhost --token-file nowhere
says 'nowhere'
expect 2 feeler join localhost:99999 --token 0123456789abcdef0123456789abcdef
expect 2 feeler serve ball/scene.json --share --share-listen not.an.address --port 0 --no-devices
says '0.0.0.0'
expect 2 feeler serve --share --share-port 0 --port 0 --no-devices
says 'needs a scene'
sed -E 's/"voxel": *[^,]*,/"voxel": 500,/' ball/scene.json >ball/coarse.json
run feeler serve ball/coarse.json --share --share-port 0 --port 0 --no-devices --seconds 600
[ "$code" != 0 ] && pass || fail "a scene with parts that have no voxels is shared"
says 'shared only with voxels of all its parts'

# a made token is printed once, one of a file never
printf 'a-secret-that-nobody-knows\n' >token
feeler serve ball/scene.json --share --share-port 0 --port 0 --no-devices --user Ada --token-file token --verbose >ada.out 2>ada.err &
ada=$!
waits 'feeler join 127\.0\.0\.1:[0-9]+ --token-file token$' ada.out
waits 'is loaded' ada.out
address=$(sed -nE 's/.*feeler join ([0-9.:]+) .*/\1/p' ada.out)
XDG_CACHE_HOME=$scratch/bob feeler join "$address" --token-file token --no-devices --user Bob >bob.out 2>bob.err &
bob=$!
# one with another token gets no answer, while the rest goes on
run feeler join "$address" --token another-secret-than-this --no-devices
[ "$code" = 1 ] && pass || fail "$ran: exit $code, not 1"
says 'does not answer, or the token is another'
waits 'is loaded: 2 parts' bob.out
waits 'Bob has joined' ada.out
# one with little memory reads voxels as they are needed
XDG_CACHE_HOME=$scratch/dora feeler join "$address" --token-file token --no-devices --user Dora --memory 1MiB >dora.out 2>dora.err &
dora=$!
waits 'part "socket": .* read as they are needed' dora.out
waits 'is loaded: 2 parts' dora.out
waits 'Dora has joined' ada.out
kill -TERM "$dora"
wait "$dora" && pass || fail "feeler join --memory ended by TERM: exit $?"
waits 'Dora has left' ada.out
# a member that only watches takes nothing
if command -v node >/dev/null && [ -d "$source_dir/web/node_modules/ws" ]; then
  XDG_CACHE_HOME=$scratch/cleo feeler join "$address" --token-file token --user Cleo --watch >cleo.out 2>cleo.err &
  cleo=$!
  waits 'is loaded: 2 parts' cleo.out
  served cleo.out
  expect 0 node "$source_dir/web/test/member.mjs" "$port" people 3
  expect 1 node "$source_dir/web/test/member.mjs" "$port" carry ball 0 0 1
  says 'only watches'
  kill -TERM "$cleo"
  wait "$cleo" && pass || fail "feeler join ended by TERM: exit $?"
  waits 'Cleo has left' ada.out
fi
# the port is taken
run feeler serve ball/scene.json --share --share-port "${address##*:}" --port 0 --no-devices
[ "$code" = 1 ] && pass || fail "$ran: exit $code, not 1"
says "$address"
# killed: the other goes on and says so
kill -9 "$bob"
wait "$bob" 2>/dev/null
waits 'Bob is not heard any more' ada.out
kill -TERM "$ada"
wait "$ada" && pass || fail "feeler serve --share ended by TERM: exit $?"
grep -q 'secret' ada.err bob.err && fail "the token is in a log" || pass
[ -z "$(find "$HOME/.cache/feeler/shared" -name scene.json)" ] && pass || fail "the scene that was sent stays"
# nobody there
run feeler join "$address" --token-file token --no-devices
[ "$code" = 1 ] && pass || fail "$ran: exit $code, not 1"
says 'does not answer'

# in the browser
if [ "$sanitized" = no ] && command -v node >/dev/null && [ -d "$source_dir/web/node_modules/playwright-core" ] && grep -aq 'viewer\.js' "$feeler"; then
  limit=3000
  run node "$source_dir/web/test/share.mjs" --feeler "$feeler"
  cat "$scratch/out"
  [ "$code" = 77 ] && finish
  if [ "$code" = 0 ]; then pass; else fail "the pages (exit $code)"; grep -v 'ERROR:dbus' "$scratch/err" | head -c 1500; fi
else
  echo "the pages are not tried here"
fi
finish
