#!/usr/bin/env bash
# sweep: volume, file, what stands in the way, scenes, what is refused
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball
part="ball/ball.stl --poses ball/seat.txt --voxel 1mm"

# ---- a ball of radius 12.5 mm falls 30 mm: a rod with round ends ----
expect 0 feeler sweep $part --out swept.flrvox
tells 'swept +[0-9.]+ cm3'
tells 'file +swept.flrvox'
plain
silent_err
expect 0 feeler sweep $part --json
json '.volume | .least < .estimate and .estimate < .most'
json '(.volume.estimate / 2.3e-5 - 1 | fabs) < 0.1'
json '.poses == 101 and .places >= 60 and .against == null and .voxel_size == 0.001'
expect 0 feeler info swept.flrvox --json
json "[.. | .voxel_size? | select(. != null)][0] == 0.001"
expect 0 feeler convert swept.flrvox swept.nvdb

# ---- what stands in the way ----
expect 0 feeler sweep $part --step 2 --against ball/socket.stl --json
json '.against | .parts == 1 and .voxels > 100 and .volume > 1e-7 and .distance.lower == 0'
expect 0 feeler sweep ball/scene.json --path seat --voxel 1mm
tells 'in the way'
printf '0 0 0 200 1 0 0 0\n1 0 0 210 1 0 0 0\n' >far.txt
expect 0 feeler sweep ball/ball.stl --poses far.txt --voxel 1mm --against ball/socket.stl
tells 'nothing stands in it'
expect 0 feeler voxelize ball/socket.stl --voxel 1mm --out socket.flrvox -q
expect 0 feeler sweep ball/ball.stl --poses far.txt --voxel 1mm --against socket.flrvox --json
json '.against.voxels == 0 and .places == 21'

# ---- refused ----
refuse() { # CODE WORDS ARGUMENTS...
  local code=$1 words=$2
  shift 2
  expect "$code" feeler sweep "$@"
  says "$words"
  silent_out
}
refuse 2 'poses of the part' ball/ball.stl --voxel 1mm
refuse 2 'size of a voxel' ball/ball.stl --poses ball/seat.txt
refuse 2 'needs --joint NAME or --path NAME' ball/scene.json
refuse 2 'of its own' ball/scene.json --path seat --against ball/socket.stl
refuse 2 'no path "sit"; it has seat, turn' ball/scene.json --path sit
refuse 2 'for scenes' ball/ball.stl --path seat --voxel 1mm
refuse 2 'as a mesh' socket.flrvox --poses far.txt --voxel 1mm
refuse 2 'flrvox' $part --out swept.stl
refuse 2 'unit of the poses' ball/ball.stl --poses far.txt --pose-unit m --voxel 1um --memory 1GiB
refuse 3 'nowhere.txt' ball/ball.stl --poses nowhere.txt --voxel 1mm
refuse 3 'nowhere.stl' $part --against nowhere.stl --step 100

# ---- joints ----
expect 0 feeler make cabinet --out cabinet --quiet
expect 0 feeler info cabinet/scene.json
tells 'hinge            revolute'
expect 0 feeler info cabinet/scene.json --json
json '.files[0] | (.joints | length) == 3 and (.rigid | length) == 2'
expect 1 feeler sweep cabinet/scene.json --joint hinge --from 0 --to 120deg --json --csv c.csv --plot c.svg
json '.free == false and (.at.hinge - 115.409 | fabs) < 0.01 and .contact.part == "panel" and .contact.with == "pipe"'
json '(.samples | length) == 121 and .samples[0].clearance > 0.007 and .samples[120].clearance < 1e-6'
[ "$(wc -l <c.csv)" = 122 ] && grep -q '<svg' c.svg && pass || fail "the table or the drawing is wrong"
expect 1 feeler sweep cabinet/scene.json --joint hinge --to 2.0rad --clearance 10mm
tells 'too near'
expect 0 feeler sweep cabinet/scene.json --joint hinge --from 0 --to 90
tells 'all the way, to hinge at 90.000 deg'
expect 0 feeler sweep cabinet/scene.json --joint rails --volume keep.glb --tolerance 1cm --json
json '.free and .at.rails == 0.24'
[ "$(head -c 4 keep.glb)" = glTF ] && pass || fail "the file is no glTF"
expect 1 feeler sweep cabinet/scene.json --joint 'rails=0..20cm,hinge=0..90deg+rails=20cm..0mm,hinge=90..120deg' --json
json '.stage == 2 and (.at.hinge - 115.409 | fabs) < 0.01'
# the pipe is allowed to be met, or all pass through it
jq '.allow = [["pipe", "door"]]' cabinet/scene.json >cabinet/allowed.json
expect 0 feeler sweep cabinet/allowed.json --joint hinge --from 0 --to 120deg --json
json '.free and (.at.hinge - 120 | fabs) < 1e-6'
jq '.parts |= map(if .name == "pipe" then .use = "pass" else . end)' cabinet/scene.json >cabinet/pass.json
expect 0 feeler sweep cabinet/pass.json --joint hinge --from 0 --to 120deg --json
json '.free'
refuse 3 'has no joint "hing"; did you mean "hinge"' cabinet/scene.json --joint hing
refuse 2 'is no angle' cabinet/scene.json --joint hinge --to 12mm
refuse 2 'is no length' cabinet/scene.json --joint rails --to 12deg
refuse 2 'leave out --from and --to' cabinet/scene.json --joint hinge=0..90deg --to 80deg
refuse 2 'two motions at the same time' cabinet/scene.json --joint hinge+hinge
refuse 2 'needs no --voxel' cabinet/scene.json --joint hinge --voxel 1mm
refuse 2 'JOINT=FROM..TO' cabinet/scene.json --joint hinge=90
refuse 3 'has no joints' ball/scene.json --joint hinge
refuse 2 'is for scenes' ball/ball.stl --joint hinge
refuse 2 'ends in .stl' cabinet/scene.json --joint hinge --volume v.step
refuse 2 'go with --joint' ball/scene.json --path seat --csv x.csv

# ---- a part along a path of a pose file: its swept volume as a mesh, which is a keep-out zone elsewhere ----
mkdir path
for i in 0 1; do
  x=$((20 * i))
  printf 'v %d 0 0\nv %d 0 0\nv %d 10 0\nv %d 10 0\nv %d 0 10\nv %d 0 10\nv %d 10 10\nv %d 10 10\n' \
    $x $((x + 10)) $x $((x + 10)) $x $((x + 10)) $x $((x + 10)) >path/cube$i.obj
  printf 'f %s\n' '1 3 4 2' '5 6 8 7' '1 2 6 5' '3 7 8 4' '1 5 7 3' '2 4 8 6' >>path/cube$i.obj
done
expect 0 feeler scene path/cube0.obj path/cube1.obj --out path/two.json
printf '0 0 0 0 1 0 0 0\n1 0 40 0 1 0 0 0\n' >path/away.txt
expect 0 feeler sweep path/two.json --path path/away.txt --part cube0 --volume path/way.stl --tolerance 0.5mm --json
json '.mesh.triangles > 100 and .mesh.error == 0.0005 and .against.parts == 1 and .against.voxels == 0 and (.volume.estimate - 5e-6 | fabs) < 5e-7'
expect 0 feeler check path/way.stl --json
# 10 x 50 x 10 mm, and no more than the tolerance beside it
expect 0 feeler info path/way.stl --json
json '[.. | objects | select(has("bounds")) | .bounds][0] | [.low, .high] | flatten | [., [0, 0, 0, 0.01, 0.05, 0.01]] | transpose | all(.[]; (.[0] - .[1] | fabs) <= 5e-4)'
# a rigid group moves as one
jq '.groups = [{"name": "both", "rigid": true}] | .parts[].in = "both"' path/two.json >path/rigid.json
expect 0 feeler sweep path/rigid.json --path path/away.txt --part cube0 --volume path/both.ply --json
json '(has("against") | not) and (.volume.estimate - 1e-5 | fabs) < 2e-6'
# the poses are those of the first part named, wherever it is in the scene
jq '.parts[1].pose = {"position": [30, 0, 0]}' path/two.json >path/apart.json
expect 0 feeler sweep path/apart.json --path path/away.txt --part cube1,cube0 --volume path/named.stl
expect 0 feeler info path/named.stl --json
json '[.. | objects | select(has("bounds")) | .bounds][0] | [.low[0], .high[0]] | [., [-0.03, 0.03]] | transpose | all(.[]; (.[0] - .[1] | fabs) <= 2e-3)'
jq '.parts = [.parts[1] | .pose = {"position": [-20, 30, 0]}] + [{"name": "way", "file": "way.stl", "unit": "mm", "use": "keep-out"}]' path/two.json >path/kept.json
expect 1 feeler clash path/kept.json --json
json '.findings == 1 and .pairs[0].keep_out'
refuse 2 'only pose files have a --pose-unit' ball/scene.json --path seat --pose-unit m
refuse 2 'of a pose file, --part NAME says what moves' path/two.json --path path/away.txt --voxel 1mm
refuse 2 'has no part "cube9"' path/two.json --path path/away.txt --part cube9 --voxel 1mm
refuse 2 'in place of --voxel' path/two.json --path path/away.txt --part cube0 --voxel 1mm --volume path/x.stl
refuse 2 'for scenes' path/cube0.obj --poses path/away.txt --part cube0 --voxel 1mm

# ---- groups and joints in a run: what is recorded is repeated bit for bit ----
expect 0 feeler run cabinet/scene.json --part handle --hand builtin:slide --frames 1500 --record door.mcap
expect 0 feeler replay door.mcap
finish
