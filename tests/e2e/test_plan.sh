#!/usr/bin/env bash
# plan and verify: a way out is found, written and free; what blocks it is named; paths of a scene and pose files are free, or not, with the first place that is too near
source "$(dirname "$0")/common.sh"
expect 0 feeler make fit round-peg --gap 0.1mm --out peg

# ---- verify ----
expect 0 feeler verify peg/scene.json --path removal --clearance 0.05mm
tells 'free: at least 0.09'
expect 0 feeler verify peg/scene.json --path removal --clearance 0.2mm --json
json '.free == 1 and (.paths[0].fits[0].start | . > 0.99e-4 and . < 1.02e-4)'
# straight through the wall between two poses that are both free
{ echo '0 5 0 200 1 0 0 0'; echo '1 5 0 -200 1 0 0 0'; echo '2 5 0 200 1 0 0 0'; } >through.txt
{ echo '0 0 0 200 1 0 0 0'; echo '1 0 0 300 1 0 0 0'; } >away.txt
expect 1 feeler verify peg/scene.json --path through.txt away.txt --json
json '.free == 1 and .paths[0].free == false and .paths[0].violation.part == "block" and .paths[0].violation.pose < 1 and .paths[1].free'
expect 1 feeler verify peg/scene.json --path through.txt
tells 'not free'
expect 2 feeler verify peg/scene.json
says 'needs a path'
expect 2 feeler verify peg/scene.json --part nobody --path away.txt
says 'neither a part nor a group "nobody"'
expect 3 feeler verify peg/scene.json --path nowhere.txt
echo '0 0 0 x 1 0 0 0' >broken.txt
expect 3 feeler verify peg/scene.json --path broken.txt
says 'broken.txt:1'

# ---- plan ----
expect 0 feeler plan peg/scene.json --clearance 0.05mm --out out.txt --json
json '.found and .method == "straight" and .lower > 0.9e-4'
expect 0 feeler verify peg/scene.json --path out.txt --clearance 0.05mm
expect 0 feeler contacts peg/block.stl peg/peg.stl --poses out.txt --voxel 1mm
expect 0 feeler make fit bayonet --gap 0.1mm --out bayonet
expect 0 feeler plan bayonet/scene.json --out out.txt --threads 1
tells 'a way is free'
expect 0 feeler verify bayonet/scene.json --path out.txt
expect 0 feeler plan bayonet/scene.json --out again.txt --threads 1
cmp -s out.txt again.txt && pass || fail "the same seed gives another path"
expect 0 feeler plan bayonet/scene.json --via out.txt --json
json '.found'
expect 3 feeler plan bayonet/scene.json --via nowhere.txt
expect 2 feeler plan bayonet/scene.json --via out.txt --all
expect 2 feeler plan peg/scene.json --to '1 2'
says 'is no pose'
expect 2 feeler plan peg/scene.json --to '5 0 0'
says 'goal is not free: [a-z]+ is in the way there'
expect 2 feeler plan peg/scene.json --part peg,nobody
says 'neither a part nor a group "nobody"'
expect 3 feeler plan nowhere.json
# covers above and below: the peg is shut in, and comes out without any one of the others
jq '.parts += [{name: "lid", file: "block.stl", pose: {position: [10, 0, 24.5]}}, {name: "base", file: "block.stl", pose: {position: [10, 0, -16.5]}}]' \
  peg/scene.json >peg/covered.json
expect 1 feeler plan peg/covered.json --time 2 --json
json '.found == false and ([.blockers[] | select(.sole) | .part] | sort == ["base", "block", "lid"])'
expect 0 feeler plan peg/covered.json --part peg,lid --json
json '.found'

# ---- a sequence: the lid before the peg, the base not at all ----
jq '.parts |= map(if .name == "lid" then .moving = true else . end)' peg/covered.json >peg/lid.json
expect 0 feeler plan peg/lid.json --all --time 5 --html steps.html --out steps --json
json '[.steps[].parts[0]] == ["lid", "peg"] and .steps[1].after == [0] and .steps[1].stage == 1 and .left == []'
grep -q 'after step 1' steps.html && pass || fail "the page lacks the order"
expect 0 feeler verify peg/lid.json --part lid --path steps/step-001.txt
expect 1 feeler verify peg/lid.json --part peg --path steps/step-002.txt # the lid is in the way
expect 0 feeler plan peg/lid.json --until lid --json
json '[.steps[].parts[0]] == ["lid"]'
expect 1 feeler plan peg/covered.json --all --time 0.3
tells 'no way found for peg, blocked by'
expect 2 feeler plan peg/lid.json --until nobody
says 'neither a part nor a rigid group "nobody"'
expect 2 feeler plan peg/lid.json --html steps.html
says 'add --all or --until'
expect 2 feeler plan peg/lid.json --all --part peg
says 'leave out --part'

# the last part that is left may be the one that is asked for
expect 0 feeler plan peg/scene.json --until block --json
json '[.steps[].parts] == [["block"]] and .left == []'

# ---- parts that are passed through are not in the way; rigid groups move as one ----
jq '.parts |= map(if .name == "lid" or .name == "base" then .use = "pass" else . end)' peg/lid.json >peg/pass.json
expect 0 feeler plan peg/pass.json --part peg --time 5 --json
json '.found and (.path | length) == .poses and (.path[0] | (.p | length) == 3 and (.q | length) == 4)'
expect 0 feeler plan peg/pass.json --all --time 5 --html pass.html --json
json '[.steps[].parts[0]] == ["peg"] and .left == []'
expect 2 feeler plan peg/pass.json --until lid
says 'all other parts pass through "lid"'
jq '.parts |= map(.use = "pass")' peg/scene.json >peg/all_pass.json
expect 2 feeler plan peg/all_pass.json --all
says 'all parts are passed through'
expect 2 feeler plan peg/all_pass.json
says 'no part stands in the way'
jq '.groups = [{name: "plug", rigid: true}] | .parts |= map(if .name == "lid" or .name == "peg" then .in = "plug" else . end)' \
  peg/lid.json >peg/rigid.json
expect 0 feeler plan peg/rigid.json --time 5 --out plug.txt --json
json '.found and .part == "peg"'
expect 0 feeler plan peg/rigid.json --part lid --time 5 --json
json '.found and .part == "lid"'
expect 0 feeler verify peg/rigid.json --path plug.txt --part peg

# ---- a file with several parts needs no scene ----
{
  for x in 0 12; do for i in 0 1 2 3 4 5 6 7; do echo "v $((x + (i & 1 ? 10 : 0))) $((i & 2 ? 10 : 0)) $((i & 4 ? 10 : 0))"; done; done
  for g in 0 8; do
    echo "g block$g"
    for f in '1 3 4 2' '5 6 8 7' '1 2 6 5' '3 7 8 4' '1 5 7 3' '2 4 8 6'; do echo "f $(for v in $f; do echo -n "$((v + g)) "; done)"; done
  done
} >two.obj
expect 0 feeler plan two.obj --part block8 --out two.txt --json
json '.found and .scene == "two.obj" and .lower > 1.9e-3'
expect 0 feeler verify two.obj --part block8 --path two.txt --clearance 1mm --json
json '.free == 1 and .scene == "two.obj"'
expect 2 feeler plan two.obj --part lid
says 'two.obj has neither a part nor a group "lid"'
expect 0 feeler plan two.obj
echo nonsense >bad.step
expect 3 feeler plan bad.step --part a
says 'bad.step'

# ---- stopped while a CAD file is read: nothing is left in the temporary folder ----
maker=$build_dir/tests/make_assembly
filled() { [ -n "$(ls -A temporary)" ] || ! kill -0 $job; }
if [ -x "$maker" ] && expect 0 "$maker" --skid skid.step && mkdir temporary; then
  for command in 'plan --part pump' 'verify --path /dev/null --part pump'; do
    empty "$scratch/out" "$scratch/err"
    # shellcheck disable=SC2086
    TMPDIR=$PWD/temporary feeler ${command%% *} skid.step ${command#* } >"$scratch/out" 2>"$scratch/err" &
    job=$! ran="feeler $command"
    await filled || fail "$ran: no temporary folder"
    kill -TERM $job
    wait $job
    code=$?
    [ $code = 130 ] && pass || fail "$ran: exit $code: $(cat "$scratch/err")"
    holds temporary
  done
fi

# ---- nominal fits: bolts in holes of their own diameter overlap by their facets, and come out ----
step=${FLR_MODELS_DIR:-$source_dir/../shared/models}/cad/as1-oc-214.stp
if [ -f "$step" ]; then
  expect 0 feeler plan "$step" --all --time 60 --json
  json '(.steps | length) == 17 and .left == [] and ([.steps[] | select(.parts[0] == "rod")][0].stage == 0)'
  json '([.steps[].parts[0]] | index("rod")) as $rod | [.steps[] | select(.parts[0] == "bolt:1" or .parts[0] == "bolt:4") | .after == [$rod]] == [true, true]'
fi

# ---- a recording is checked again in another revision ----
expect 0 feeler make fit round-peg --gap 0.3mm --out rev_a
expect 0 feeler make fit round-peg --gap 0.01mm --out rev_b
expect 0 feeler run rev_a/scene.json --hand builtin:removal --record removal.mcap
expect 0 feeler verify rev_a/scene.json --path removal.mcap --clearance 0.2mm
tells 'free: at least 0.29'
expect 3 feeler verify rev_b/scene.json --path removal.mcap --part block
says 'no part "block" moves in it'
expect 0 feeler verify rev_b/scene.json --path removal.mcap
finish
