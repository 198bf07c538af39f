#!/usr/bin/env bash
# a removal at feeler serve: a client takes the pump out of the bay while it is recorded, and the recording is looked at
source "$(dirname "$0")/common.sh"
client=$source_dir/tests/e2e/removal_client.py
expect 0 feeler make bay --out bay --quiet
feeler serve bay/scene.json --port 0 --no-devices --every-frame --recordings tapes >"$scratch/serve.out" 2>"$scratch/serve.err" &
server=$!
waits 'is loaded' "$scratch/serve.out"
served "$scratch/serve.out"
PYTHONDONTWRITEBYTECODE=1 expect 0 python3 "$client" "$port" bay/bay_removal.txt 1 out 2
tells recorded
# pressed against the floor of the bay
{ for i in $(seq 0 40); do echo "$(jq -n "$i*0.02") 0 70 $((90 - i / 2)) 1 0 0 0"; done; } >press.txt
PYTHONDONTWRITEBYTECODE=1 expect 0 python3 "$client" "$port" press.txt 1 press 1 stiffness=3000 onset=0.0045
kill -TERM "$server"
wait "$server"
[ "$?" = 0 ] && pass || fail "feeler serve: $(cat "$scratch/serve.err")"

expect 0 feeler info tapes/out.mcap --json
json '.files[0] | .complete and .missing_frames == 0 and .frames > 1000 and .part == "pump" and .rate == "1000"'
# elsewhere: the scene is found
mkdir elsewhere
cd elsewhere || exit 1
expect 0 feeler report ../tapes/out.mcap --out out.html --clearance 1mm --json
json '.verdict == "pass" and .meeting_frames == 0 and .measured_frames > 100 and .missing_frames == 0'
json '.distance.lower == .distance.upper and .distance.upper < 0.02'
for words in 'pump' 'Clearance' 'Force' 'Timing' 'feeler serve'; do
  grep -qi "$words" out.html && pass || fail "the page lacks $words"
done
expect 1 feeler report ../tapes/out.mcap --out out.html --clearance 20mm --json
json '.verdict == "fail"'
expect 1 feeler report ../tapes/press.mcap --out press.html --clearance 5mm --json
json '.verdict == "fail" and .contact_frames > 0 and .max_force > 0 and .meeting_frames == 0'
# run again, with what was done meanwhile, the same comes out
expect 0 feeler replay ../tapes/out.mcap --json
json '.same and .complete and .not_replayed == 0 and .frames > 1000'
expect 2 feeler replay ../tapes/press.mcap --memory 8MiB
says 'run again with all voxels in memory'
expect 0 feeler replay ../tapes/press.mcap
tells 'same: '
finish
