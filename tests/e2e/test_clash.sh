#!/usr/bin/env bash
# scene and clash: scenes of files, what moves, findings, allow-list, baseline, table and page
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball

# ---- a scene of files ----
expect 0 feeler scene ball/socket.stl ball/ball.stl --out pair.json --move ball
tells '2 parts, 1 of them can be picked up'
[ "$(ls pair_parts/*.ply | wc -l)" = 2 ] && pass || fail "meshes: $(ls pair_parts)"
jq -e '[.parts[] | select(.moving == true) | .name] == ["ball"]' pair.json >/dev/null && pass || fail "what moves: $(cat pair.json)"
expect 2 feeler scene ball/ball.stl --out pair.json
says 'is there already; --force replaces it'
expect 2 feeler scene ball/ball.stl
says 'say where the scene goes'
expect 3 feeler scene ball/ball.stl --out other.json --move nobody
says 'no part or group is called "nobody"'
expect 3 feeler scene ball/ball.stl --out other.json --move ,
says 'names nothing'
[ -e other.json ] && fail "a scene was written" || pass
expect 0 feeler scene ball/ball.stl --out single.json
tells '1 part, 1 of them can be picked up'
expect 0 feeler info pair.json

# ---- progress for programs ----
expect 1 feeler clash pair.json --json --progress --clearance 1mm
json '.parts == 2'
if jq -es 'length > 0 and all(.step and .done >= 0)' "$scratch/err" >/dev/null; then pass; else fail "progress: $(cat "$scratch/err")"; fi
expect 1 feeler clash pair.json --json --progress --quiet --clearance 1mm
silent_err

# ---- clashes: two cubes that share a slab of 1 mm ----
cube() { # NAME X: a cube of 10 mm from X on
  local a=$2 b=$(($2 + 10)) f v=() i
  for i in 0 1 2 3 4 5 6 7; do v+=("$((i & 1 ? b : a)) $((i & 2 ? 10 : 0)) $((i & 4 ? 10 : 0))"); done
  { for f in "${v[@]}"; do echo "v $f"; done
    echo "g $1"
    printf 'f %s\n' '1 3 4 2' '5 6 8 7' '1 2 6 5' '3 7 8 4' '1 5 7 3' '2 4 8 6'; } >"$1.obj"
}
cube left 0
cube right 9
cube far 30
expect 0 feeler scene left.obj right.obj far.obj --out cubes.json
expect 1 feeler clash cubes.json --json
json '.findings == 1 and .checked == 3 and (.pairs | length) == 1'
json '.pairs[0] | .state == "overlap" and .a == "left" and .b == "right" and .volume > 8e-8 and .volume < 1.2e-7'
cp "$scratch/out" known.json
expect 0 feeler clash cubes.json --baseline known.json
tells '0 findings'
expect 0 feeler clash cubes.json --allow 'left|r*'
tells '1 allowed'
printf '# a remark\nright | left\n' >rules
expect 0 feeler clash cubes.json --allow-file rules
expect 1 feeler clash cubes.json --clearance 15mm --csv cubes.csv --html cubes.html
tells '1 overlap, 0 in contact, 1 below the clearance'
[ "$(wc -l <cubes.csv)" = 3 ] && pass || fail "table: $(cat cubes.csv)"
grep -q 'data:image/png;base64,iVBOR' cubes.html && pass || fail "the page has no picture"
expect 3 feeler clash cubes.json --baseline rules
says 'is no result of feeler clash'
expect 3 feeler clash nowhere.step

# ---- nominal fits of a CAD file: their facets overlap, which is no finding; a scene made of the file knows it, too ----
if [ -x "$build_dir/tests/make_assembly" ]; then
  expect 0 "$build_dir/tests/make_assembly" --nominal nominal.step
  expect 0 feeler clash nominal.step --json --csv nominal.csv --html nominal.html
  json '.findings == 0 and .states.overlap == 0 and .nominal_fits >= 1 and .nominal_fits <= .states.contact'
  json 'all(.pairs[]; .facets >= 0 and .depth <= .facets + 1e-5)'
  grep -q 'facets explain' nominal.html && head -1 nominal.csv | grep -q 'facets_mm,touch_mm$' && pass || fail "the page or the table"
  expect 0 feeler clash nominal.step
  tells 'nominal fit'
  expect 0 feeler scene nominal.step --out nominal.json
  expect 0 feeler clash nominal.json
  tells 'nominal fit'
  # meshes without a word about their facets
  jq 'del(.parts[].chord)' nominal.json >plain.json
  expect 1 feeler clash plain.json
  tells 'overlap '
  expect 2 feeler serve nominal.json --up y
  says 'is for CAD files'
fi

# ---- rules: groups around a part, remarks, names that nothing has, what is no rule ----
jq '.groups = [{"name": "all"}, {"name": "pair", "in": "all"}] | .parts[0].in = "pair" | .parts[1].in = "pair"' cubes.json >tree.json
expect 0 feeler clash tree.json --allow 'all|pair'
tells '1 allowed'
expect 0 feeler clash tree.json --apart
jq '.allow = [["left", "r*"]]' cubes.json >allowed.json
expect 0 feeler clash allowed.json
tells '1 allowed'
printf 'left | right  # they are glued\n' >rules
expect 0 feeler clash cubes.json --allow-file rules
expect 1 feeler clash cubes.json --allow 'lefd|right'
says 'no part or group is called "lefd"'
for rule in '|' 'left|' '|left' 'left|right|far'; do
  expect 3 feeler clash cubes.json --allow "$rule"
  says 'is no rule'
done
head -c 4096 /dev/zero >rules
expect 3 feeler clash cubes.json --allow-file rules
says 'is no text'

# ---- what counts as contact depends on the size of the parts ----
block() { # NAME X EDGE: a cube from X on
  awk -v x="$2" -v a="$3" -v name="$1" 'BEGIN {
    for (i = 0; i < 8; i++) printf "v %.9g %.9g %.9g\n", x + (i % 2) * a, int(i / 2) % 2 * a, int(i / 4) * a
    print "g " name
    print "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6" }' >"$1.obj"
}
block micro 0 0.001
block gap 0.002 0.001
block huge 10 100000
block next 100010.005 100000
expect 0 feeler scene micro.obj gap.obj --out micro.json
expect 1 feeler clash micro.json --clearance 0.01mm --json
json '.pairs[0] | .state == "near" and (.distance - 1e-6 | fabs) < 1e-12 and (.touch * 1e9 | . > 1.7 and . < 1.8)'
json '.least_touch == .most_touch and .least_touch == .pairs[0].touch'
expect 1 feeler clash micro.json --clearance 0.01mm --touch 0.01mm --json
json '.pairs[0].state == "contact"'
expect 0 feeler scene micro.obj gap.obj huge.obj next.obj --out sizes.json
expect 1 feeler clash sizes.json --clearance 0.01mm --csv sizes.csv --html sizes.html
tells '1 in contact, 1 below the clearance'
tells 'within a thousandth of the smaller part.s size, here 1.73e-06 to 0.01 mm'
head -1 sizes.csv | grep -q 'touch_mm$' && grep -q 'In contact: within 1.73e-06 to 0.01 mm' sizes.html && pass || fail "what counts as contact: $(head -2 sizes.csv)"
expect 0 feeler help clash
tells 'default, for each pair: a'

# ---- all pairs, in words; outputs that would replace something ----
expect 1 feeler clash cubes.json --clearance 1mm --touch 0mm --all
tells '3 parts, 3 pairs'
expect 0 feeler clash cubes.json --baseline known.json --all
tells 'overlap  left  right'
tells '(known)'
cp cubes.json kept.json
for other in cubes.json known.json; do
  expect 2 feeler clash cubes.json --baseline known.json --csv $other
  says 'is read, so it cannot be written'
done
cmp -s cubes.json kept.json && pass || fail "the scene was replaced"
expect 2 feeler clash cubes.json --csv both --html both
says 'name the same file'
# a part that stands twice in the same place
jq '.parts[1].file = .parts[0].file | del(.parts[].pose)' cubes.json >twice.json
expect 1 feeler clash twice.json --json
json '.pairs[0] | .state == "overlap" and .volume > 9e-7'
# 5,000 parts: their clashes are found, and they are simulated; what cannot be is refused at once
jq '{feeler: 1, name: "many", unit: "mm", parts: [.parts[0] as $part | range(5000) | $part + {name: "p\(.)", moving: (. == 0),
  pose: {position: [(. % 71) * 30, (. / 71 | floor) * 30, 0]}}]}' cubes.json >many.json
expect 0 feeler clash many.json --json
json '.parts == 5000 and .checked == 12497500'
expect 0 feeler info many.json --json
json '.files[0].parts | length == 5000'
expect 0 feeler run many.json --frames 1
jq '.parts += (.parts | map(.name += "b"))' many.json >too_many.json
expect 2 feeler run too_many.json --frames 1
says '10000 parts, and at most 8192 can be simulated'

# the benchmark: fewer parts; the door stops at the post
expect 0 feeler bench clash --divide 20 --json
json '.cases[0].parts == 50 and (.cases | length) == 3 and ([.cases[].rows[0].asked] | min) > 100'
json '.cases[0].rows[0].near > 0 and (.cases[2].contact_degrees - 114.016 | fabs) < 0.01'
json '[.cases[].rows[] | select(.name == "FCL") | .differing] | (add // 0) == 0'
finish
