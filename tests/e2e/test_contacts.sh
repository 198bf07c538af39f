#!/usr/bin/env bash
# contacts: one line per pose, all engines, meshes, voxel files and scenes, JSON, what is refused
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball
pair="ball/socket.stl ball/ball.stl"

# ---- a ball comes to rest in its socket: free, then touching, pushed up, hardly turned ----
seat="ball/scene.json --path seat" # the scene says how: at the surface, points half a voxel inwards
expect 0 feeler contacts $seat
tells 't \[s\] +contacts +penetr.'
tells '^101 poses of 24,[0-9]+ points: [0-9]+ in contact'
plain
silent_err
[ "$(grep -cE '^ +[0-9]' "$scratch/out")" = 101 ] && pass || fail "$ran: not one line per pose"
expect 0 feeler contacts $seat --json
json '.force_layer == 0 and (.displacement + 0.000175 | fabs) < 1e-12 and .model == "tangent" and .stiffness == 1000'
json '(.poses | length) == 101 and .summary.poses == 101 and .engine == "culled" and .points > 23720'
json '.poses[0] | .contacts == 0 and .penetrations == 0 and .force == [0,0,0] and .torque == [0,0,0] and .distance.lower > 0.001'
json '.poses[-1] | .contacts > 20 and .force[2] > 0.1 and (.force[0] | fabs) < .force[2] / 10 and .distance.lower == 0'
json '.poses | all(.points_tested >= 0 and .us >= 0 and (.force | length) == 3 and (.torque | length) == 3)'
json '.summary | .in_contact > 0 and .in_contact < 101 and .us.p50 <= .us.p99 and .us.p99 <= .us.max'
cp "$scratch/out" culled.json

expect 0 feeler contacts $seat --force-layer 2 --displace 0mm --stiffness 500 --json # the command line comes first
json '.force_layer == 2 and .displacement == 0 and .stiffness == 500 and .poses[-1].penetrations > 100'

# ---- the reference says the same, and looks at every point ----
expect 0 feeler contacts $seat --engine reference --json
json '.points as $n | .poses | all(.points_tested == $n)'
cp "$scratch/out" reference.json
same() { jq -c '[.poses[] | [.t, .contacts, .penetrations, .force, .torque]]' "$1"; }
[ "$(same culled.json)" = "$(same reference.json)" ] && pass || fail "the engines differ"

# ---- sphere trees: voxels of both parts, not points ----
for marks in 2 4 8; do # the same poses touch by marks of any width
  jq ".contact = {marks: $marks, force_layer: 2}" ball/scene.json >ball/marks.json
  expect 0 feeler contacts ball/marks.json --path seat --voxel 0.7mm --json
  cp "$scratch/out" marks-$marks.json
done
for marks in 2 8; do
  [ "$(jq -c '[.poses[].contacts > 0]' marks-$marks.json)" = "$(jq -c '[.poses[].contacts > 0]' marks-4.json)" ] && pass || fail "other poses touch by marks of $marks bits"
done
jq '.contact = {marks: 2, force_layer: 2}' ball/scene.json >ball/marks.json
expect 2 feeler run ball/marks.json --force-layer 3 --frames 2
says 'marks of 2 bits with force layer 2 built in'
expect 2 feeler contacts $seat --level 2
says 'are for --engine spheres'
expect 0 feeler contacts $seat --engine spheres --view 64 --threads 2 --json
cp "$scratch/out" view.json
expect 0 feeler contacts $seat --engine spheres --json
cmp -s <(jq -c '[.poses[].contacts]' view.json) <(jq -c '[.poses[].contacts]' "$scratch/out") && pass || fail "other pairs by another view"
expect 0 feeler contacts $seat --engine spheres --level 2
says 'end at cubes larger than voxels'
expect 0 feeler contacts $seat --engine spheres --json
json '.engine == "spheres" and .summary.in_contact > 0 and .summary.in_contact < .summary.poses and (.poses | all(.contacts == .penetrations))'

# ---- so does the coherent engine, in steps within its travel limit; what it cannot reach is a jump ----
expect 0 feeler contacts $seat --engine coherent --json
cp "$scratch/out" coherent.json
[ "$(same culled.json)" = "$(same coherent.json)" ] && pass || fail "the coherent engine differs"
json '(.poses | all(.max_travel > 0 and .steps >= 1)) and .summary.steps >= 101 and .summary.jumps == 0 and .summary.tests_per_frame > 0'
expect 0 feeler contacts $seat --engine coherent --tests 2000 --json
cp "$scratch/out" slow.json
[ "$(same culled.json)" = "$(same slow.json)" ] && pass || fail "the coherent engine differs with few tests"
json '.summary.tests_per_frame == 2000 and .summary.steps > 200 and (.poses | map(.max_travel) | min) < 0.0001'
expect 0 feeler contacts $seat --engine coherent --tests 2000
tells 'with 2000 tests in a frame the travel limit takes [0-9]+ frames for them, and is exceeded by 0 jumps'

# ---- the smooth model: other forces, the same in all engines ----
expect 0 feeler contacts ball/scene.json --path seat --voxel 1mm --model smooth --displace -0.175mm --json
json '.model == "smooth" and .poses[0].contacts == 0 and .poses[-1].contacts > 20 and .poses[-1].force[2] > 0.1'
cp "$scratch/out" smooth.json
for engine in reference coherent; do
  expect 0 feeler contacts ball/scene.json --path seat --voxel 1mm --model smooth --displace -0.175mm --engine $engine --json
  cp "$scratch/out" other.json
  [ "$(same smooth.json)" = "$(same other.json)" ] && pass || fail "the $engine engine differs in the smooth model"
done
expect 0 feeler contacts ball/scene.json --path seat --voxel 1mm --json
json '.model == "tangent" and (.poses | all(has("sweep") | not))'
[ "$(same smooth.json)" != "$(same "$scratch/out")" ] && pass || fail "the models do not differ"

# ---- from one side to the other between two poses, and back where it is free ----
printf '0 0 0 60 1 0 0 0\n1 0 0 -60 1 0 0 0\n2 0 0 -80 1 0 0 0\n' >through.txt
expect 0 feeler contacts $pair --voxel 0.5mm --poses through.txt --sweep --json
json '(.poses | all(.contacts == 0)) and .poses[0].sweep == null and .summary.motions_stopped == 1'
json '.poses[1].sweep | .fraction > 0.4 and .fraction < 0.5 and (.place | length) == 3'
json '.poses[2].sweep == {"fraction": 1, "place": null, "checked": true}'
expect 0 feeler contacts $pair --voxel 0.5mm --poses through.txt --sweep --engine reference
tells '1 motion between poses is stopped; the first on the way to t = 1.0000 s, after 0.46'
printf '0 0 0 60 1 0 0 0\n1 1e9 0 60 1 0 0 0\n' >leap.txt
expect 0 feeler contacts $pair --voxel 0.5mm --poses leap.txt --sweep --json
json '.poses[1].sweep == {"fraction": 0, "place": null, "checked": false} and .summary.motions_stopped == 0 and .summary.motions_unchecked == 1'
expect 0 feeler contacts $pair --voxel 0.5mm --poses leap.txt --sweep
tells '1 motion between poses is a billion voxels or longer and was not looked at'
expect 0 feeler contacts $pair --voxel 1mm --moving-voxel 5mm --poses leap.txt
says 'points are 5 mm apart, and there are voxels of 1 mm.*--moving-voxel 1mm'
expect 0 feeler contacts $pair --voxel 1mm --moving-voxel 0.5mm --poses leap.txt
silent_err
expect 0 feeler contacts ball/scene.json --path seat --voxel 1mm --displace 3mm
says 'displace 3mm moves neighbouring points .* apart'

# ---- files: meshes, voxels, poses in another unit ----
printf '0 0 0 0 1 0 0 0\n1 0 0 100 1 0 0 0 # far\n' >poses.txt
printf '0 0 0 0 1 0 0 0\n1 0 0 0.1 1 0 0 0\n' >metres.txt
expect 0 feeler contacts $pair --voxel 0.5mm --poses poses.txt --json
json '.poses[0].contacts > 100 and .poses[1].contacts == 0 and .poses[1].points_tested < 10 and .poses[1].t == 1'
cp "$scratch/out" mm.json
expect 0 feeler contacts $pair --voxel 0.5mm --poses metres.txt --pose-unit m --json
cp "$scratch/out" m.json
[ "$(same mm.json)" = "$(same m.json)" ] && pass || fail "the unit of poses matters"
expect 0 feeler voxelize ball/socket.stl --voxel 0.5mm --out socket.flrvox -q
expect 0 feeler voxelize ball/ball.stl --voxel 0.5mm --out ball.flrvox -q
expect 0 feeler contacts socket.flrvox ball.flrvox --poses poses.txt --json
cp "$scratch/out" voxels.json
[ "$(same mm.json)" = "$(same voxels.json)" ] && pass || fail "a voxel file is something else than its mesh"
expect 0 feeler contacts socket.flrvox ball/ball.stl --moving-voxel 0.5mm --poses poses.txt --no-cache --json
json '.poses[0].contacts > 100'
expect 0 feeler contacts socket.flrvox ball.flrvox --poses poses.txt --stiffness 2000 --json
doubled=$(jq -n --slurpfile a mm.json --slurpfile b "$scratch/out" '($b[0].poses[0].force[2] / $a[0].poses[0].force[2] - 2) | fabs < 1e-9')
[ "$doubled" = true ] && pass || fail "twice the stiffness is not twice the force"
expect 0 feeler contacts socket.flrvox ball.flrvox --poses poses.txt --awareness on --force-layer 0 --json
json '.awareness and .force_layer == 0'
printf '0 0 0 0 1 0 0 0\n1 0 0 0 0 1 0 0\n2 0 0 5000 1 0 0 0\n' >jump.txt
expect 0 feeler contacts socket.flrvox ball.flrvox --poses jump.txt --engine coherent --tests 2000 --json
json '.summary.jumps == 1 and .poses[1].steps > 1000 and .poses[1].contacts > 100 and .poses[2].contacts == 0'
expect 0 feeler voxelize ball/socket.stl --voxel 0.5mm --bits 2 --out two.flrvox -q
expect 0 feeler contacts two.flrvox ball.flrvox --poses poses.txt --json
json '.force_layer == 2'

# ---- exact distances within the bounds of the voxels, nearest points and features; a tolerance ----
expect 0 feeler contacts $seat --exact --tolerance 0.05mm --json
json '.poses | all(.exact.distance >= .distance.lower and (.distance.upper == null or .exact.distance <= .distance.upper) and .within_tolerance == false)'
json '.poses[0].exact | .meet == false and .obstacle == 0 and (.moving.on == "vertex" or .other.on == "vertex" or .moving.on == "edge")'
json '.poses | all((([.exact.moving.point, .exact.other.point] | transpose | map((.[0] - .[1]) * (.[0] - .[1])) | add | sqrt) - .exact.distance | fabs) < 1e-12)'
# the signed distance agrees while the parts are apart, and says how sure it is
json '.poses | all(((.distance.exact - .exact.distance) | fabs) <= .distance.error + 1e-9 and .distance.error < 1e-6)'
json '(.summary.exact_distance | . > 5e-5 and . < 6e-5) and .summary.within_tolerance == 0 and .summary.tolerance == 5e-5'
expect 1 feeler contacts $seat --tolerance 1mm
tells 'in [0-9]+ poses the parts are within 1 mm'
expect 1 feeler contacts $seat --exact --tolerance 1mm
tells 'nearest at t = 1.0000 s: 0.0552[0-9]* mm between'
expect 0 feeler contacts $seat --tolerance 0mm
tells 'stay more than 0 mm apart'

# ---- refused ----
refuse() { # CODE WORDS ARGUMENTS...
  local code=$1 words=$2
  shift 2
  expect "$code" feeler contacts "$@"
  says "$words"
  silent_out
}
refuse 2 'two parts' ball/socket.stl --poses poses.txt
refuse 2 'poses of the moving part' $pair --voxel 1mm
refuse 2 'socket.stl is a mesh.*--voxel' $pair --poses poses.txt
refuse 2 'needs --path' ball/scene.json
refuse 2 'give it alone' ball/scene.json ball/ball.stl --path seat
refuse 2 'give it alone' ball/ball.stl ball/scene.json --poses poses.txt
refuse 2 'no path "sit"; it has seat, turn' ball/scene.json --path sit
refuse 2 'in place of --poses' ball/scene.json --path seat --poses poses.txt
refuse 2 'for scenes' $pair --path seat
refuse 2 'at most 15' $pair --voxel 1mm --poses poses.txt --force-layer 16
refuse 2 'force layers up to 7' socket.flrvox ball.flrvox --poses poses.txt --force-layer 8
refuse 2 'force layer 2 built in' two.flrvox ball.flrvox --poses poses.txt --force-layer 1
refuse 2 'need the mesh' socket.flrvox ball/ball.stl --moving-voxel 0.5mm --poses poses.txt --exact
refuse 2 'need the mesh' socket.flrvox ball.flrvox --poses poses.txt --tolerance 1mm
refuse 2 'tolerance' $pair --voxel 1mm --poses poses.txt --tolerance=-1mm
refuse 2 'stiffness' $pair --voxel 1mm --poses poses.txt --stiffness=-1
refuse 2 'larger than the whole part' $pair --voxel 1m --poses poses.txt
refuse 2 'tangent' $pair --voxel 1mm --poses poses.txt --model springy
refuse 2 'culled, reference' $pair --voxel 1mm --poses poses.txt --engine fast
refuse 2 'tests is for --engine coherent' $pair --voxel 1mm --poses poses.txt --tests 5
refuse 3 'nowhere.txt' $pair --voxel 1mm --poses nowhere.txt
refuse 3 'nowhere.stl' nowhere.stl ball/ball.stl --voxel 1mm --poses poses.txt
refuse 3 'nowhere.json' nowhere.json --path seat
printf '0 0 0 0 1 0 0\n' >short.txt
refuse 3 'short.txt:1' $pair --voxel 1mm --poses short.txt
printf '0 0 0 nan 1 0 0 0\n' >nan.txt
refuse 3 'nan.txt:1' $pair --voxel 1mm --poses nan.txt
printf '0 0 0 0 2 0 0 0\n' >long.txt
refuse 3 'unit quaternion' $pair --voxel 1mm --poses long.txt
expect 0 feeler voxelize ball/ball.stl --voxel 0.5mm --no-shell --out bare.flrvox -q
refuse 3 'bare.flrvox holds no points' socket.flrvox bare.flrvox --poses poses.txt
printf 'x' | dd of=bare.flrvox bs=1 seek=9000 conv=notrunc 2>/dev/null
refuse 3 'bare.flrvox' bare.flrvox ball.flrvox --poses poses.txt
expect 2 feeler contacts $pair --json
json '.error.exit == 2'

# ---- the benchmark: culling hardly ever looks at more ----
if [ "$sanitized" = no ]; then
  mkdir plots slide
  expect 0 feeler bench smooth --divide 4 --repeat 1 --json --plots slide
  json '(.cost | length) == 8 and (.slide | length) == 2 and .slide[1].jump < .slide[0].jump / 5'
  [ -s slide/contact-slide.svg ] && pass || fail "no plot of the slide"
  expect 0 feeler bench smooth --divide 10000 --repeat 1 --json
  expect 0 feeler bench motion-check --divide 10 --repeat 1 --json
  json '(."motion-check" | length) > 12 and (."motion-check" | map(select(.voxels < 0.5)) | all(.lookups == 0 and .stopped == 0))'
  expect 0 feeler bench contact --divide 10 --repeat 1 --json --plots plots
  json '(.contact | length) >= 36 and (.contact | map(.scenario) | unique | length) == 6'
  json '.contact | all(.us.p50 <= .us.p99 and .us.p99 <= .us.max and .points_per_ms > 0)'
  json '.contact | group_by(.scenario) | all(([.[] | select(.cull) | .tested] | max) <= 1.5 * ([.[] | select(.cull | not) | .tested] | max))'
  json '(.growth | map(.by)) == ["points", "surface voxels", "contacts"] and (.growth | all(.rows | length >= 4))'
  holds plots contact-ideas.svg contact-points.svg contact-voxels.svg contact-contacts.svg contact-coherent.svg
  json '(.coherent | map(.scenario) | unique | length) == 7 and (.coherent | all(.slower >= 0.99 and .least_limit > 0 and .below_half <= 1))'
  mkdir approach
  expect 0 feeler bench approach --divide 10 --repeat 1 --json --plots approach
  json '(.resolution | length) == 5 and (.octree | length) == 4 and (.engines | length) == 5 and (.trees | all(.bytes_per_voxel[0] < 4))'
  json '[.octree[].steps | map(.[3]) | add] | .[3] <= .[2] and .[2] < .[0]'
  json '(.threads.steps | length) == 3 and (.threads.steps | all(.us | map(.[0]) == [1, 2, 4]))'
  [ -s approach/approach-random-time.svg ] && pass || fail "no plot of the random paths"
  expect 0 feeler bench falling --divide 20 --repeat 1 --json --plots plots
  json '(.falling | length) == 33 and (.falling | all(.us.broad <= .us.p50 and .us.p50 <= .us.p99 and .pairs.mean <= .pairs.most))'
  json '(.frames | length) == 7 and (.frames | all(.us.p50 > 0 and .us.p50 <= .us.p99 and .us.p99 <= .us.max))'
  json '.growth | length == 2 and (.[0].lines | map(.exponent) | all(. > 0.3 and . < 3))'
  holds plots contact-ideas.svg contact-points.svg contact-voxels.svg contact-contacts.svg contact-coherent.svg contact-parts.svg contact-broad.svg
  mkdir travel
  expect 0 feeler bench travel --divide 4 --json --plots travel
  json '(.travel | length) == 4 and (.travel | all(.ours.travel > 0 and .ours.speed > (.paper.speed | max) and (.paper.seconds | length) == 3))'
  holds travel travel-ring.svg travel-housing.svg
  mkdir papers
  expect 0 feeler bench haptics --json --plots papers
  json '.haptics | length == 6 and .[3].ripple < 0.5 * .[2].ripple and .[3].mean > .[2].mean and all(.deficit < 0.01)'
  expect 0 feeler bench queries --divide 40 --repeat 1 --json --plots papers
  json '(.queries | length) == 2 and (.queries | all(.rows | length >= 5)) and (.queries[0].rows[0:4] | all(.paper_us > 0 and .p50_us > 0))'
  expect 0 feeler bench structures --divide 10 --json --plots papers
  json '.structures | length == 4 and .[2].physics_ms.p50 >= 10 and .[3].network_ms.p50 >= 10'
  holds papers haptics-slow.svg queries-axle.svg queries-table.svg structures-0ms.svg structures-10ms.svg
  grep -q 'grows as x^' plots/contact-parts.svg || fail "the plot shows no exponent"
fi
finish
