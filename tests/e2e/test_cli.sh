#!/usr/bin/env bash
# the command as users and scripts meet it: exit codes, messages, bad files, full disks, terminals
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out "$scratch/ball"
ball=$scratch/ball/ball.stl
stl_header() { head -c 80 /dev/zero; } # followed by the count in four bytes, then 50 bytes each

# ---- words ----
expect 2 feeler
says 'feeler --help'
silent_out
expect 0 feeler --help
tells '^ +make '
silent_err
expect 0 feeler help --json
json '[.commands[].name] | index("info") != null'
expect 0 feeler help make
expect 2 feeler help mkae
says 'did you mean make'
expect 2 feeler mkae
says 'no command "mkae"; did you mean feeler make'
expect 2 feeler --jsno
expect 0 feeler --version
tells '^feeler [0-9]+\.[0-9]+\.[0-9]+$'
expect 0 feeler --version --json
json '.version | test("^[0-9]+[.]")'
expect 2 feeler info
says 'needs a mesh'
expect 2 feeler info --unti mm "$ball"
says 'did you mean --unit\?'
expect 2 feeler info --unit parsec "$ball"
says 'parsec'
expect 2 feeler info --unti mm "$ball" --json
json '.error.exit == 2 and (.error.message | test("--unit"))'
expect 2 feeler mkae --json
json '.error.exit == 2'
for command in $(feeler help | sed -n '/^Commands/,/^$/p' | awk 'NR > 1 && NF { print $1 }'); do
  expect 0 feeler "$command" --help
  tells '^Examples'
  tells '^Exit codes'
  silent_err
  expect 0 feeler "$command" --help --json
  json ".name == \"$command\" and (.options | length) >= 5 and (.examples | length) >= 1"
done

# ---- make ----
expect 0 feeler make --list
tells '^ball '
expect 0 feeler make --list --json
json '[.scenarios[].name] | index("ball") != null'
expect 2 feeler make
expect 2 feeler make gea --out x
says 'did you mean gear'
expect 2 feeler make ball
says '--out'
expect 0 feeler make ball --out made --json
json '.scenario == "ball" and .parts == 2 and ([.files[].file] | index("made/scene.json") != null)'
expect 1 feeler make ball --out made
says 'not empty.*--force'
expect 0 feeler make ball --out made --force
touch file
expect 1 feeler make ball --out file
says 'file is there already and is not a folder'
mkdir empty
expect 0 feeler make ball --out empty/ --quiet
silent_out
cmp -s empty/ball.stl made/ball.stl && pass || fail "the same seed gives other bytes"
mkdir here && cd here
expect 0 feeler make ball --out .
[ -e scene.json ] && pass || fail "$ran: wrote no scene.json"
cd ..
expect 0 feeler make ball --out deep/er/ball
expect 2 feeler make falling --number 101 --out f
says 'from 1 to 100, not 101'
expect 2 feeler make ball --number 3 --out f
says 'ball always has the same parts'
expect 0 feeler make ball --out dotted/.
[ -e dotted/scene.json ] && pass || fail "$ran: wrote no scene.json"
expect 1 feeler make ball --out nothing/..
says 'nothing/\.\.: no such folder'
rm -rf made empty file here deep dotted
holds .

# ---- info and convert ----
expect 0 feeler info "$ball"
tells 'binary STL'
plain
expect 0 feeler info "$ball" "$scratch/ball/scene.json" --json
json '.files[1].kind == "scene" and (.files[1].parts | length) == 2'
expect 0 feeler info "$ball" --unit m --json
json '.files[0].unit == 1'
expect 3 feeler info "$ball" nowhere.stl "$scratch/ball/socket.stl" --json
json '(.files | length) == 3 and .files[1].error.exit == 3 and .files[2].triangles > 0'
says 'nowhere.stl'
expect 2 feeler info "$ball" --unit 1e300
says 'from 1e-12 to 1e12'
expect 2 feeler convert "$ball" x.stl --out-unit 1e-13
expect 0 feeler info "$ball" -v --json
says '^ +[0-9.]+ s  reading .*ball.stl'
says '^ +[0-9.]+ s  done; at most [0-9.]+ MB of memory'
json '.files[0].kind == "mesh"'
for command in check "convert --force --quiet"; do
  expect 0 feeler $command -v "$ball" $([ "$command" = check ] || echo v.stl)
  says ' s  reading .*ball.stl'
done
rm v.stl
expect 2 feeler info "$ball" --size 10x10
expect 2 feeler info "$ball" --png x.png --size 10xx10
expect 2 feeler info "$ball" "$ball" --png x.png
expect 2 feeler info "$ball" --png "$ball"
expect 2 feeler info "$ball" --features
expect 0 feeler info "$scratch/ball/scene.json" --png x.png --size 64x48 --view left
file -b x.png | grep -q 'PNG image data, 64 x 48' && pass || fail "x.png is no picture of 64 x 48"
rm x.png
for ending in obj ply itri stl; do
  expect 0 feeler convert "$ball" b.$ending
  expect 0 feeler info b.$ending --json
  json ".files[0].triangles == $(feeler info "$ball" --json | jq '.files[0].triangles')"
done
expect 2 feeler convert b.obj b.obj
says 'is the input itself'
ln b.obj link.obj
expect 2 feeler convert b.obj link.obj
expect 0 feeler convert b.obj b.obj --force
expect 2 feeler convert b.obj b.xyz
says '\.stl, \.obj, \.ply and \.itri'
expect 2 feeler convert b.obj
expect 2 feeler convert "$ball" x.stl --group nothing
says 'no group'
expect 0 feeler convert b.obj --split parts --json
json '.files | length >= 1'
expect 0 feeler info parts/scene.json
expect 1 feeler convert b.obj --split parts
expect 0 feeler convert b.obj --split dotted/.
[ -e dotted/scene.json ] && pass || fail "$ran: wrote no scene.json"
rm -r dotted
mkfifo fifo.stl
expect 1 feeler convert "$ball" fifo.stl
says 'fifo.stl: is a pipe.*name a file'
rm fifo.stl
rm -rf b.* link.obj parts

# ---- files that are not what they should be: exit 3, a sentence with the file's name ----
refuse() { # FILE [WORDS]: by info, convert and check
  for command in info check; do
    expect 3 feeler $command -- "$1"
    says "^feeler: .*${2:-}"
    plain
    expect 3 feeler $command --json -- "$1"
    json '.files[0].error.exit == 3 and (.files[0].error.message | length) > 0'
  done
  expect 3 feeler convert --json -- "$1" refused.stl
  json '.error.exit == 3'
  [ -e refused.stl ] && { fail "$ran: left an output behind"; rm -f refused.stl; } || pass
}
mkdir bad
: >bad/empty.stl
: >bad/empty.obj
: >bad/empty.ply
mkdir bad/folder.stl
mkfifo bad/pipe.stl
{ stl_header; printf '\x00\xb3\x3f\x71'; head -c 500 /dev/zero; } >bad/claims.stl # 1.9e9 facets
head -c 5000 /dev/urandom >bad/noise.stl
head -c 5000 /dev/urandom >bad/noise.obj
head -c 5000 /dev/urandom >bad/noise
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' | iconv -t UTF-16 >bad/utf16.obj
printf 'v 0 0 0\nv 1 0 0\nv 0 1e38 0\nf 1 2 3\n' >bad/far.obj
printf 'v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n' >bad/nan.obj
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n' >bad/index.obj
printf 'v 0 0 0\nv 1 0 0\n' >bad/points.obj
refuse bad/none.stl 'bad/none.stl'
for f in bad/*; do refuse "$f" "$f"; done
refuse "bad/$(printf 'odd\033[2J\nname').stl" 'odd'

# a folder with a scene in it
expect 3 feeler info "$scratch/ball/"
says "did you mean $scratch/ball/scene.json"
expect 3 feeler check "$scratch/ball"
says "did you mean $scratch/ball/scene.json"

# in a message an odd name cannot drive the terminal
run feeler info "$(printf 'odd\033[31mname')"
plain

# cut off anywhere
size=$(stat -c %s "$ball")
for cut in 1 5 79 80 83 84 85 133 134 1000 $((size / 2)) $((size - 50)) $((size - 1)); do
  head -c "$cut" "$ball" >cut.stl
  expect 3 feeler info cut.stl
  says 'cut.stl'
done
feeler convert "$ball" whole.ply --quiet
size=$(stat -c %s whole.ply)
for cut in 1 3 4 20 100 $((size / 2)) $((size - 1)); do
  head -c "$cut" whole.ply >cut.ply
  expect 3 feeler info cut.ply
  says 'cut.ply'
done
rm cut.* whole.ply

# scenes
printf '{"feeler": 1,\n "parts": [}' >bad/scene.json
expect 3 feeler info bad/scene.json
says 'scene.json:2:'
cp "$scratch/ball/scene.json" alone.json
expect 3 feeler info alone.json
says 'alone.json'

# a scene whose pose file is missing or broken
cp -r "$scratch/ball" posed
rm posed/turn.txt
expect 3 feeler check posed/scene.json
says 'posed/scene.json:[0-9]+:[0-9]+: path turn: .*no such file'
expect 3 feeler check posed/scene.json --json
json '.exit == 3 and ([.files[] | select(.path == "turn") | .error.exit] == [3])'
for pose in posed/*.txt; do echo 'no pose' >>"$pose"; done
expect 3 feeler check posed/scene.json
says 'path seat: .*txt:[0-9]+:'
rm -r posed

# no permission; root may read everything, so become nobody
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  mkdir "$scratch/nobody" && cp "$feeler" "$scratch/nobody/feeler" && cp "$ball" "$scratch/nobody/secret.stl"
  chmod 755 "$scratch" "$scratch/nobody" && chmod 600 "$scratch/nobody/secret.stl"
  mkdir -m 555 "$scratch/nobody/readonly"
  chmod 644 "$ball"; chmod 755 "$scratch/ball"
  as_nobody="setpriv --reuid 65534 --regid 65534 --clear-groups $scratch/nobody/feeler"
  cd /
  expect 3 $as_nobody info "$scratch/nobody/secret.stl"
  says 'secret.stl.*permission|not allowed|may not'
  expect 1 $as_nobody convert "$ball" "$scratch/nobody/readonly/x.obj"
  says 'readonly/x.obj'
  expect 1 $as_nobody make ball --out "$scratch/nobody/readonly/new"
  says 'readonly/new: no permission'
  expect 1 $as_nobody info "$ball" --png "$scratch/nobody/readonly/x.png"
  holds "$scratch/nobody/readonly"
  # a cache that cannot be written is reported, and the controller starts without one; so does one without a home
  chmod 644 "$scratch/ball"/*
  for cache in "FEELER_CACHE=$scratch/nobody/readonly" "FEELER_CACHE=$scratch/nobody/readonly/cache" HOME=/nonexistent; do
    expect 0 env "$cache" $as_nobody serve "$scratch/ball/scene.json" --port 0 --no-devices --seconds 0.2
    says 'the cache cannot be written, so voxels are not kept'
  done
  holds "$scratch/nobody/readonly"
  cd "$scratch/here"
fi

# ---- full disks ----
# larger than a file may be, here 50 kB
expect 1 bash -c "ulimit -f 50; feeler convert '$ball' x.obj"
says 'x.obj: cannot write: larger than'
expect 1 bash -c "ulimit -f 50; feeler make ball --out x/y/z"
says 'x/y/z/[a-z]*.stl: cannot write: larger than'
ls -A | grep -E '^(x|\.feeler)' && fail "$ran: left something behind" || pass
expect 1 bash -c "feeler info '$ball' >/dev/full"
says 'cannot write to standard output'
expect 1 bash -c "feeler completion bash >/dev/full"
expect 1 bash -c "feeler info '$ball' --json >/dev/full"
# the reader of a pipe is gone before anything is written
python3 - "$ball" 2>pipe.txt <<'END'
import os, subprocess, sys
read, write = os.pipe()
os.close(read)
code = subprocess.run(["feeler", "info", sys.argv[1]], stdout=write).returncode
print(code, file=sys.stderr)
END
[ "$(cat pipe.txt)" = "$(printf 'feeler: cannot write to standard output: nobody reads it any more\n1')" ] && pass || fail "a closed pipe gives: $(cat pipe.txt)"
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
  cleanups+=("umount $scratch/here/small")
  expect 1 feeler convert "$ball" small/b.obj
  says 'small/b.obj.*(space|full)'
  expect 1 feeler make ball --out small/ball
  says 'small/ball'
  holds small
  expect 1 feeler make ball --out small
  holds small
  expect 1 feeler make ball --out small/x/y/z
  says 'small/x/y/z/[a-z]*.stl: .*full'
  holds small
  mount -o remount,ro small
  expect 1 feeler convert "$ball" small/b.stl
  says 'small/b.stl: .*read-only'
  expect 1 feeler make ball --out small/x
  says 'small/x: .*read-only'
  mount -o remount,rw small
  head -c 61440 /dev/zero >small/filler
  expect 1 feeler info "$ball" --png small/b.png
  says 'small/b.png'
  holds small filler
fi

# ---- killed while it writes: all of it or nothing ----
for delay in 0.05 0.2 0.4 0.8 1.6; do
  feeler make gear --out killed --quiet >/dev/null 2>&1 &
  pid=$!
  sleep $delay
  kill -TERM $pid 2>/dev/null
  wait $pid 2>/dev/null
  if [ -e killed ]; then
    expect 0 feeler info killed/scene.json
    rm -rf killed
  fi
  ls | grep -q 'killed' && fail "killed after $delay s: $(ls | grep killed) is left behind" || pass
done

mkdir bench
feeler bench mesh --scratch bench >/dev/null 2>bench.txt &
pid=$!
at_work() { [ -n "$(ls bench)" ]; }
await at_work || fail "bench mesh writes nothing"
kill -TERM $pid
wait $pid
[ $? = 130 ] && pass || fail "a stopped bench: $(cat bench.txt)"
holds bench

# ---- terminals ----
if command -v script >/dev/null; then
  # on a terminal: progress on it, and colours unless NO_COLOR
  script -qec "env TERM=xterm feeler info '$ball'" /dev/null </dev/null >terminal.txt 2>&1
  grep -q '\[[#.]*\] 0/1 reading' terminal.txt && pass || fail "no progress on a terminal"
  grep -q $'\033\[1m' terminal.txt && pass || fail "no colours on a terminal"
  script -qec "env TERM=xterm NO_COLOR=1 feeler info '$ball'" /dev/null </dev/null >terminal.txt 2>&1
  grep -q $'\033\[[0-9]*m' terminal.txt && fail "colours in spite of NO_COLOR" || pass
  script -qec "env TERM=xterm feeler info -q '$ball'" /dev/null </dev/null >terminal.txt 2>&1
  grep -q '\[[#.]*\] 0/1 reading' terminal.txt && fail "progress in spite of --quiet" || pass
  # progress only: stdout in a file stays clean
  script -qec "env TERM=xterm feeler info '$ball' >clean.txt" /dev/null </dev/null >terminal.txt 2>&1
  grep -q $'\033' clean.txt && fail "escape codes in a file" || pass
fi

# ---- locale ----
expect 0 env LC_ALL=de_DE.UTF-8 feeler info "$ball" --json
json '.files[0].size[0] < 1'

# ---- bench loop ----
expect 0 feeler bench loop --divide 100 --json
json '[.rows[].frames] == [10000, 10000, 12, 50, 200, 500]'
json '.rows[0].compute_us.p50 <= .rows[0].compute_us.max'

# ---- bench serve: a whole controller, viewers in a process of their own ----
expect 0 feeler bench serve --divide 40 --repeat 1 --json
json '(.rows | length) == 9 and ([.rows[] | .frames > 0 and .points > 0] | all)'
json '.scene == "bay" and .rows[0].p99_growth_percent == 0'

# ---- bench collaboration ----
expect 0 feeler bench collaboration --divide 100 --json
json '[.collaboration[].delay] | unique == [0, 0.02, 0.12, 0.5, 1]'
json 'all(.collaboration[]; .energy < 1e-5 and .agreed <= 2 + 4 * .delay)'

# ---- doctor ----
expect 0 feeler doctor
tells '^(ok|better) +processor'
plain
expect 0 feeler doctor --json
json '.checks | map(select(.name == "sharing")) | length == 1 and .[0].numbers.port == 7879'
json '.checks[] | select(.name == "timer") | .numbers | .p50_us <= .worst_us and .holds_hz >= 0'
json '[.checks[].name] | index("kernel") != null and index("governor") != null and index("isolated") != null'
[ -e "$HOME/.cache/feeler" ] && fail "doctor left its folder behind" || pass
# a name that is empty: a sentence that says so, never one that begins with a colon
printf 'solid\nendsolid\n' >empty.stl
while read -r what command; do
  eval "expect ${what%%:*} feeler $command"
  says "${what#*:}"
  ! grep -qE '(^|feeler: ): ' "$scratch/err" && pass || fail "$command: a name is missing: $(cat "$scratch/err")"
done <<'END'
2:name.of.the.scene.is.empty serve ''
2:name.of.the.scene.is.empty serve '' --share
2:name.of.the.host.is.empty join '' --token 123456789012345678901234
2:name.of.the.file.to.write.is.empty convert empty.stl ''
3:file.name.is.empty info ''
3:file.name.is.empty check ''
2:file.name.is.empty run ''
3:file.name.is.empty convert '' x.ply
END

finish
