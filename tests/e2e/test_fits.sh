#!/usr/bin/env bash
# feeler make fit and feeler bench fits: what they write, what they refuse and why
source "$(dirname "$0")/common.sh"

# ---- the list ----
expect 0 feeler make fit --list
tells '^thread '
expect 0 feeler make fit --list --json
json '[.fits[].name] | index("bayonet") != null'
json '[.fits[] | select(.min_size <= .size and .size <= .max_size)] | length == 9'

# ---- every fit: files, the gap of the meshes, a scene that opens, a path that never touches ----
for fit in thread round-peg square-peg key splines dovetail bayonet hook gears; do
  expect 0 feeler make fit "$fit" --gap 0.05mm --out "$fit" --json
  json ".scenario == \"fit\" and .fit == \"$fit\" and .parts == 2 and (.files | length) == 4"
  json '.gap == 0.00005 and .measured_gap > 0.0000499 and .measured_gap < 0.000051'
  [ -s "$fit/removal.txt" ] && pass || fail "$fit has no path"
  expect 0 feeler info "$fit/scene.json" --json
  for mesh in "$fit"/*.stl; do
    expect 0 feeler check "$mesh" --json
    json '.files[0] | .closed_components == .components and .holes == 0 and ([.findings[] | select(.matters)] | length) == 0'
  done
done
expect 0 feeler make fit thread --size M5 --gap 0.02mm --out m5
tells 'gap 0.02 mm; measured between the meshes: 0.020'
expect 0 feeler make fit thread --size 5mm --gap 20um --out m5_again
cmp -s m5/nut.stl m5_again/nut.stl && pass || fail "M5 and 5mm are not the same"
expect 0 feeler make fit thread --size M3 --out m3
tells 'gap 0.0375 mm'
# a coarser chord: fewer triangles, a larger gap, never a smaller one
expect 0 feeler make fit round-peg --gap 0.05mm --chord 0.01mm --out coarse --json
json '.measured_gap >= 0.00005 and .measured_gap <= 0.00007'
[ "$(stat -c %s coarse/peg.stl)" -lt "$(stat -c %s round-peg/peg.stl)" ] && pass || fail "a coarse peg is not smaller"

# ---- what is refused ----
expect 2 feeler make fit
says 'needs the name of a fit'
for none in '--gap 0mm' '--size 0mm' '--chord 0mm'; do
  expect 2 feeler make fit round-peg $none --out x
  says "${none%% *} must be"
done
expect 2 feeler make fit tread --out x
says 'did you mean thread'
expect 2 feeler make fit sofa --out x
says 'see feeler make fit --list'
expect 2 feeler make fit key
says 'feeler make fit key --out key'
expect 2 feeler make key --out x
says 'key is a fit: write feeler make fit key'
expect 2 feeler make fit thread --size M7 --out x
says 'no size M7; there are M3, M4'
expect 2 feeler make fit thread --size M30 --out x
says 'goes from 3 to 20 mm, not 30'
expect 2 feeler make fit thread --size M3 --gap 0.1mm --out x
says 'the gap goes from 0.01 to 0.0375 mm, not 0.1'
expect 2 feeler make fit key --gap 0.001mm --out x
says "must be at least 0.01 mm, not 0.001mm"
expect 2 feeler make fit key --size blue --out x
says 'is not a size'
expect 2 feeler make fit key --chord 1mm --out x
says 'chord error'
expect 2 feeler make fit key --number 3 --out x
says 'leave --number away'
expect 2 feeler make ball --gap 1mm --out x
says '--gap is for feeler make fit'
expect 2 feeler make ball key --out x
says 'what is "key"'
expect 1 feeler make fit key --out key
says 'not empty.*--force'
[ ! -e x ] && pass || fail "a refused fit left a folder"

# ---- nobody chooses an engine: exact where voxels cannot resolve the gap ----
expect 0 feeler make fit thread --size M8 --gap 0.1mm --out tight
jq 'del(.voxel, .contact)' tight/scene.json > tight/bare.json
expect 0 feeler info tight/bare.json --json
json '.files[0].engine == "exact" and (.files[0].chosen_because | test("feeler chose the exact engine"))'
expect 0 feeler run tight/bare.json --frames 2
tells 'feeler chose the exact engine: voxels of'
jq '.contact = "shell"' tight/bare.json > tight/shell.json
expect 0 feeler info tight/shell.json --json
json '.files[0].engine == "shell"'
expect 2 feeler run tight/scene.json --engine shell --strength 2 --frames 2
says '\-\-strength has no effect with the engine shell'
expect 2 feeler serve tight/scene.json --engine shell --overlap 1mm
says '\-\-overlap has no effect with the engine shell'
jq '.gravity = [0, 0, -1e35]' tight/scene.json > tight/heavy.json
expect 1 feeler run tight/heavy.json --engine exact --frames 2
says 'every frame was faulty'
expect 2 feeler contacts tight/scene.json --path removal --onset 0.1mm --force-layer 2
says '\-\-onset and --force-layer say the same'

# ---- the benchmark: one small fit, every engine ----
expect 0 feeler bench fits --scene "square-peg 8 mm, gap 0.1" --divide 100 --repeat 1 --json
json '.conditions.processor != null and (.fits | length) == 1'
json '[.fits[0].rows[] | select(.peer == false)] | length >= 3'
json '[.fits[0].rows[] | select(.peer == false and (.us.p50 <= 0 or .us.p99 < .us.p50 or .exact < 0.00005))] | length == 0'
expect 1 feeler bench fits --scene sofa --divide 100
says 'no fit begins with "sofa"'
expect 1 feeler bench fits --engine steam
says 'no engine "steam"; use shell'
expect 0 feeler bench fits --scene "square-peg 8 mm, gap 0.1" --engine exact --divide 100 --repeat 1 --json
json '(.fits[0].rows | map(select(.peer == false)) | length) == 1 and .fits[0].rows[0].name == "exact"'
expect 0 feeler bench rough-fits --scene "square-peg 8 mm, gap 0.1" --frames 900 --json
json '.fits[0].frames == 900 and .fits[0].meeting == 0 and .fits[0].contact > 0'
expect 0 feeler bench accuracy --scene "square-peg 8 mm, gap 0.1" --frames 3200 --json
json '.cases[0].poses == 50 and .cases[0].apart > 0 and .cases[0].contacts > 0 and .cases[0].share <= 1'
json '.cases[0].beyond == 0 and .cases[0].broken == 0 and .cases[0].sign == 0'
# another seed gives other poses; totals are in the last line
expect 0 feeler bench accuracy --scene "square-peg 8 mm, gap 0.1" --frames 640 --seed 7
tells '  all  *10 '
expect 0 feeler bench rough-fits --scene "square-peg 8 mm, gap 0.1" --frames 90 --seed 7
tells '  all  *90 '
expect 2 feeler bench rough-fits --seed 0
says '--seed must be from 1'
finish
