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
refuse 2 'needs --path' ball/scene.json
refuse 2 'of its own' ball/scene.json --path seat --against ball/socket.stl
refuse 2 'no path "sit"; it has seat, turn' ball/scene.json --path sit
refuse 2 'for scenes' ball/ball.stl --path seat --voxel 1mm
refuse 2 'as a mesh' socket.flrvox --poses far.txt --voxel 1mm
refuse 2 'flrvox' $part --out swept.stl
refuse 2 'unit of the poses' ball/ball.stl --poses far.txt --pose-unit m --voxel 1um --memory 1GiB
refuse 3 'nowhere.txt' ball/ball.stl --poses nowhere.txt --voxel 1mm
refuse 3 'nowhere.stl' $part --against nowhere.stl --step 100
finish
