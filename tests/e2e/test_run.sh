#!/usr/bin/env bash
# run, replay, report, and recordings as tables: what is recorded comes out again to the bit, a killed
# recorder leaves a file that can be used, every refusal says why
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball -q
scene="ball/scene.json --voxel 0.7mm"
refuse() { # CODE WORDS COMMAND ARGUMENTS...
  local code=$1 words=$2
  shift 2
  expect "$code" feeler "$@"
  says "$words"
  silent_out
}
hash_of() { jq -r .hash "$scratch/out"; }

printf 'not a recording' >no.mcap

# ---- a run: the same command gives the same hash; every key that is promised ----
expect 0 feeler run $scene --hand builtin:aggressive --frames 400 --json
json '.frames == 400 and .rate == 1000 and .part == "ball" and (.hash | length) == 32'
json '[.compute_us, .step_us, .wakeup_us, .points_tested] | all(.p50 <= .p99 and .p99 <= .p999 and .p999 <= .max * 1.01)'
json 'has("overruns") and has("travel_limited_frames") and has("contacts") and has("penetrations") and has("penetration_ratio") and has("max_force") and has("max_torque") and has("energy") and has("worst")'
json '.contact_frames > 0 and .max_force <= 15 and .faulty_frames == 0 and .lost_frames == 0'
first=$(hash_of)
expect 0 feeler run $scene --hand builtin:aggressive --frames 400 --record a.mcap --poses a.txt --json
[ "$(hash_of)" = "$first" ] && pass || fail "recording changes the run"
[ "$(grep -vc '^#' a.txt)" = 400 ] && pass || fail "not one pose per frame"
expect 0 feeler run $scene --hand builtin:aggressive --frames 400 --seed 2 --json
[ "$(hash_of)" != "$first" ] && pass || fail "another seed gives the same"
# the exact engine: a tight fit comes apart, its least clearance is reported, and a recording of it is the same again
expect 0 feeler make fit square-peg --gap 0.05mm --out peg -q
expect 0 feeler run peg/scene.json --engine exact --hand builtin:removal --frames 200 --record exact.mcap --json
json '.distance.lower > 0.00004 and .distance.upper < 0.000051 and .penetration_frames == 0'
exact=$(hash_of)
expect 0 feeler run peg/scene.json --engine exact --hand builtin:removal --frames 200
tells 'least clearance 0.0[45][0-9]* mm ±'
expect 0 feeler replay exact.mcap --json
[ "$(hash_of)" = "$exact" ] && pass || fail "the exact engine does not repeat itself"
# a part that lies in its seat: told where the force layer is before the surface
expect 0 feeler run $scene --force-layer 2 --displace 0mm --frames 5
says 'part "ball" starts nearer to another'
expect 0 feeler run $scene --hand builtin:slide --frames 50
tells 'ball: 50 frames at 1000 Hz'
tells 'hash [0-9a-f]{32}'
plain
silent_err
expect 0 feeler run $scene --hand a.txt --exact-hand --speed 2 --json # a pose file is a hand, too
json '.frames == 700 or .frames == 699'
expect 0 feeler run $scene --hand builtin:idle --frames 30 --rate 4000 --model smooth --friction 0.3 --json
json '.rate == 4000 and .frames == 30'

# ---- the command line comes before what the scene says ----
expect 0 feeler run $scene --hand builtin:idle --frames 20 --force-layer 2 --displace 0mm --json
other=$(hash_of)
jq '.contact = {"force_layer": 2}' ball/scene.json >ball/usual.json
expect 0 feeler run ball/usual.json --voxel 0.7mm --hand builtin:idle --frames 20 --json
[ "$(hash_of)" = "$other" ] && pass || fail "the scene's contact is another than the command line's"

# ---- replay ----
expect 0 feeler replay a.mcap
tells "same: 400 frames, hash $first"
silent_err
expect 0 feeler replay a.mcap ball/scene.json --json
json ".same and .complete and .frames == 400 and .hash == \"$first\" and .first_difference == null and .run.hash == .hash and (.scene_changed | not)"
expect 0 feeler run $scene --hand path:turn --frames 300 --model smooth --friction 0.2 --rate 2000 --integrator quasi-static --no-braking --no-check --stiffness 700 --record b.mcap
expect 0 feeler replay b.mcap --no-cache
tells 'same: 300 frames'
mkdir elsewhere && cp ball/* elsewhere
expect 0 feeler replay a.mcap elsewhere/scene.json
mv ball away
refuse 3 'name the scene: feeler replay a.mcap SCENE' replay a.mcap
mv away ball
refuse 3 'none.flrstate: ' run $scene --hand builtin:idle --frames 20 --resume none.flrstate
# … and another file that cannot be used is not taken for it, whatever its name
touch none.flrstate.mcap
refuse 1 'none.flrstate.mcap' run $scene --hand builtin:idle --frames 20 --resume none.flrstate --record none.flrstate.mcap

# ---- changes are reported ----
cp ball/ball.stl ball.stl
expect 0 feeler convert ball/ball.stl ball/ball.stl --out-unit 0.00099 --force -q
refuse 3 'mesh of part "ball" has changed.*--anyway' replay a.mcap
expect 1 feeler replay a.mcap --anyway
says 'mesh of part "ball" has changed'
tells 'differs from frame 0 on'
expect 1 feeler replay a.mcap --anyway --json
json '(.same | not) and .first_difference.frame == 0 and .first_difference.recorded != .first_difference.now'
cp ball.stl ball/ball.stl
jq '.parts[0].pose = {"position": [0, 0, -0.1]}' ball/scene.json >ball/moved.json
expect 1 feeler replay a.mcap ball/moved.json
tells 'differs from frame'
tells 'scene file has changed'
jq '.parts |= reverse' ball/scene.json >ball/turned.json
refuse 3 'part "ball" was not there' replay a.mcap ball/turned.json
jq '.parts |= .[1:]' ball/scene.json >ball/less.json
refuse 3 'part' replay a.mcap ball/less.json

# ---- taking out goes out; a way without end is refused, not run as nothing ----
# a way that begins elsewhere is held with that offset, and said so
printf '0 0 0 90 1 0 0 0\n1 0 0 95 1 0 0 0\n' >elsewhere.txt
expect 0 feeler run $scene --hand elsewhere.txt --frames 20
says "the hand's way begins .* mm and .* degrees from where"
expect 0 feeler run $scene --hand builtin:removal --poses out.txt --json
tail -n 1 out.txt | awk '{ exit !($4 > 25) }' && pass || fail "the ball was not taken out of its socket"
printf '0 0 0 0 1 0 0 0\n1e300 0 0 1 1 0 0 0\n' >endless.txt
refuse 2 "the exact engine reads no voxels" run $scene --engine exact --memory 5MiB
refuse 2 "the coherent engine needs all voxels in memory" run $scene --engine coherent --memory 5MiB
refuse 2 "are in no state file" run $scene --engine coherent --state s.flrstate
refuse 2 "is for --engine coherent" run $scene --tests 2000
refuse 2 "is for --engine coherent" run $scene --max-time 100
refuse 2 "give one of them" run $scene --engine coherent --tests 2000 --max-time 100
expect 0 feeler run $scene --hand path:turn --frames 100 --engine coherent --max-time 200 --record timed.mcap
tells 'point tests take 200 us'
expect 0 feeler replay timed.mcap --json
json '.same'
expect 0 feeler run $scene --hand path:turn --frames 300 --json
whole=$(hash_of)
expect 0 feeler run $scene --hand path:turn --frames 300 --engine coherent --tests 1e6 --record coherent.mcap --json
json '.most_queued > 0 and .travel_limited_frames == 0 and .least_travel > 0'
[ "$(hash_of)" = "$whole" ] && pass || fail "the coherent engine gives other bits"
expect 0 feeler replay coherent.mcap --json
json '.same'
expect 0 feeler run $scene --hand path:turn --frames 300 --engine coherent --tests 100 --json
json '.travel_limited_frames > 0 and .late_frames > 0'
refuse 2 "sphere trees need all voxels in memory" run $scene --engine spheres --memory 5MiB
refuse 2 "needs 1MiB to 8GiB" run $scene --memory 9GiB
# ---- voxels that do not all come into memory: what was recorded with all of them is replayed to the same bits ----
expect 0 feeler run $scene --hand builtin:removal --voxel 0.2mm --moving-voxel 1mm --frames 300 --record fine.mcap
expect 0 feeler replay fine.mcap --memory 2MiB --json
json '.same and .frames == 300 and .run.paging.bytes_read > 0'
refuse 1 'give --memory [2-9]MiB or more' replay fine.mcap --memory 1MiB
refuse 2 'needs 1MiB to 8GiB' replay fine.mcap --memory 1KiB
refuse 2 'leave out --no-cache' replay fine.mcap --memory 2MiB --no-cache
refuse 2 'say how far with --frames' run $scene --hand endless.txt
expect 0 feeler run $scene --hand endless.txt --frames 10

# ---- a recorder that is killed leaves what it had written ----
feeler run $scene --hand builtin:aggressive --frames 100000 --paced --record killed.mcap >/dev/null 2>&1 &
writer=$!
written() { [ -f killed.mcap ] && [ "$(stat -c %s killed.mcap)" -gt 100000 ]; }
await written || fail "nothing is recorded"
kill -9 $writer
wait $writer 2>/dev/null
expect 0 feeler replay killed.mcap
says 'not ended properly; it is whole up to its frame [0-9]+'
tells 'same: [0-9]+ frames'
expect 0 feeler replay killed.mcap --json
json '(.complete | not) and .same and .frames >= 100'
expect 0 feeler convert killed.mcap killed.csv
says 'not ended properly'
expect 0 feeler report killed.mcap --out killed.html --measure 20
says 'not ended properly'
grep -q 'the recording was cut off' killed.html && pass || fail "the page does not say that it is cut off"

# ---- what is in it ----
expect 0 feeler info a.mcap
tells 'frames +400 in 0.399 s, contact in [0-9]+'
tells 'hand +builtin:aggressive'
expect 0 feeler info a.mcap killed.mcap --json
json '.files[0] | .kind == "recording" and .complete and .frames == 400 and .part == "ball" and .rate == "1000"'
json '.files[1] | (.complete | not) and .missing_frames == 0'
refuse 2 'feeler report a.mcap --out' info a.mcap --png a.png
refuse 3 'no.mcap' info no.mcap

# ---- a table ----
expect 0 feeler convert a.mcap a.csv
tells 'a.csv: 400 frames'
[ "$(wc -l <a.csv)" = 401 ] && pass || fail "not a head and one line per frame"
head -1 a.csv | grep -q '^frame,t,compute_us.*"ball qw"' && pass || fail "the head of the table"
[ "$(awk -F, '{ print NF }' a.csv | sort -u | wc -l)" = 1 ] && pass || fail "lines of the table differ in length"
tail -1 a.csv | grep -q "^399,0.399,.*,${first:16:16}," || tail -1 a.csv | grep -qE "^399,0.399,.*,[0-9a-f]{16}," && pass || fail "the last line of the table"
expect 0 feeler convert a.mcap a.csv --json
json '.complete and .files[0].frames == 400'
refuse 2 'as .csv' convert a.mcap a.obj
refuse 2 'as .csv' convert ball/ball.stl ball.csv

# ---- the page: whole in itself, pass and fail ----
expect 1 feeler report a.mcap --out a.html --clearance 5mm
tells 'fail: required clearance 5 mm'
grep -q 'class="verdict fail"' a.html && pass || fail "the page does not say fail"
grep -qE '(src|href)="(https?:|/|[a-z]+\.)' a.html && fail "the page needs other files" || pass
[ "$(grep -c 'data:image/png;base64' a.html)" = 4 ] && pass || fail "not four pictures: the nearest place from nearby, start, nearest, end"
for words in Summary 'Clearance along the way' 'Force and torque' Contacts Timing Conditions 'surfaces that meet' 'builtin:aggressive'; do
  grep -q "$words" a.html && pass || fail "the page lacks $words"
done
expect 0 feeler report a.mcap --animation a.png --json
json '.file == null and .animation == "a.png" and .pictures >= 2'
head -c 8 a.png | cmp -s - <(printf '\211PNG\r\n\032\n') && grep -qa acTL a.png && pass || fail "$ran: not an animated PNG"
expect 0 feeler report a.mcap --out a.html
json_before=$(wc -c <a.html)
[ "$json_before" -gt 20000 ] && pass || fail "the page is small"
printf '0 0 0 60 1 0 0 0\n0.3 0 0 80 1 0 0 0\n' >up.txt
jq '.parts[1].pose = {"position": [0, 0, 60]}' ball/scene.json >ball/high.json
expect 0 feeler run ball/high.json --voxel 0.7mm --hand up.txt --frames 200 --paced --record high.mcap
expect 0 feeler report high.mcap --out high.html --clearance 10mm --json
json '.verdict == "pass" and .distance.lower == .distance.upper and .distance.lower > 0.04 and .meeting_frames == 0 and .frames == 200'
grep -q 'began late by' high.html && pass || fail "a paced run has no wake-up times"
expect 1 feeler report high.mcap --out high.html --clearance 10mm --measure 0 --json # the voxels look only so far
json '.verdict == "undecided" and .measured_frames == 0'
mv ball away
expect 0 feeler report high.mcap --out bare.html
says 'no exact distances and no pictures'
grep -q 'data:image' bare.html && fail "pictures without meshes" || pass
refuse 3 'nowhere.json' report high.mcap nowhere.json --out bare.html
mv away ball

# ---- touching with a point ----
expect 0 feeler make probe --out probe
expect 0 feeler run probe/scene.json --hand probe/stroke.txt --frames 3000 --record point.mcap --json
json '.tool == "point" and .part == null and .touching_frames > 100 and .max_torque == 0 and .max_force > 0.5'
expect 0 feeler replay point.mcap --json
json '.same == true'
refuse 2 'a point holds no part' run probe/scene.json --part butterfly
refuse 2 'no path "turn"' run probe/scene.json --hand path:turn
refuse 3 'no part is marked as "moving"' run probe/scene.json --tool grip

# ---- steps that take longer than a frame ----
expect 0 feeler run $scene --hand path:turn --frames 200 --slow 5 --local-haptics --record slow.mcap --json
json '.served == 1000 and .stretched > 500 and .frames == 200 and .guard_trips == 0'
expect 0 feeler replay slow.mcap --json
json '.same == true'
jq '.haptics = "local"' ball/scene.json >ball/local.json
expect 0 feeler run ball/local.json --frames 20
tells 'served 20 times from local models'
refuse 2 'leave out --slow' run $scene --slow 5 --paced
refuse 2 'in no state file' run $scene --local-haptics --state s.flrstate

# ---- refused ----
refuse 3 'no.mcap' replay no.mcap
refuse 3 'nowhere.mcap' replay nowhere.mcap
refuse 3 'no.mcap' report no.mcap --out x.html
refuse 3 'no.mcap' convert no.mcap x.csv
refuse 2 'add --out' report a.mcap
refuse 2 'a recording' replay
refuse 2 'clearance' report a.mcap --out x.html --clearance=-1mm
refuse 1 'x.html' report a.mcap --out nowhere/x.html --measure 1
refuse 1 'a.mcap' run $scene --frames 5 --record a.mcap
refuse 1 'p.txt' run $scene --frames 5 --poses nowhere/p.txt
refuse 2 'did you mean' run $scene --hand builtin:agressive
refuse 2 'no path "spin".*seat, turn' run $scene --hand path:spin
refuse 3 'hand.txt' run $scene --hand hand.txt
refuse 2 'no part "bull"' run $scene --part bull
refuse 2 'no part "socket" that moves' run $scene --part socket
refuse 2 'from 250 to 10000' run $scene --rate 100
refuse 2 'larger than the whole part' run ball/scene.json --voxel 1m
refuse 3 'nowhere.json' run nowhere.json
jq 'del(.parts[1].moving, .paths)' ball/scene.json >ball/still.json
refuse 3 'no part is marked as "moving"' run ball/still.json
jq 'del(.voxel)' ball/scene.json >ball/bare.json
expect 0 feeler run ball/bare.json --frames 20 # where nobody says how large voxels are, feeler chooses
tells '^feeler chose voxels of 0\.062 mm, '
refuse 2 'is called --onset now' run ball/bare.json --clearance 1mm
jq '.contact.force_layer = -1' ball/scene.json >ball/bad.json
refuse 3 'bad.json:[0-9]+:[0-9]+: contact.force_layer: must be from 0 to 252' run ball/bad.json
expect 3 feeler replay no.mcap --json
json '.error.exit == 3'
finish
