#!/usr/bin/env bash
# foreign formats from the command line: the chord that follows from the voxel, limits, sentences
source "$(dirname "$0")/common.sh"
grep -q '^FLR_IMPORT:BOOL=ON' "$build_dir/CMakeCache.txt" || exit 77
mkdir cad && "$build_dir/tests/make_cad" cad >/dev/null || fail "make_cad"
data=$source_dir/tests/data/import

# ---- finer voxels give finer triangles; --chord has the last word ----
triangles() { jq "$1" "$scratch/out"; }
expect 0 feeler voxelize cad/ball.brep --voxel 2mm --no-cache --json
coarse=$(triangles .triangles)
expect 0 feeler voxelize cad/ball.brep --voxel 0.2mm --no-cache --json
fine=$(triangles .triangles)
[ "$fine" -gt "$coarse" ] && pass || fail "voxelize: $fine triangles at 0.2 mm, $coarse at 2 mm"
expect 0 feeler voxelize cad/ball.brep --voxel 2mm --chord 0.05mm --no-cache --json
[ "$(triangles .triangles)" = "$fine" ] && pass || fail "voxelize: --chord is not what counts"
expect 0 feeler check cad/ball.brep --voxel 0.2mm --json
[ "$(triangles '.files[0].triangles')" = "$fine" ] && pass || fail "check: not the triangles of voxelize"
expect 0 feeler info cad/ball.brep --features --voxel 0.2mm --json
[ "$(triangles '.files[0].triangles')" = "$fine" ] && pass || fail "info: not the triangles of voxelize"
cat >scene.json <<'END'
{"feeler": 1, "name": "balls", "unit": "mm", "voxel": 2, "parts": [
  {"name": "a", "file": "cad/ball.brep"},
  {"name": "b", "file": "cad/ball.brep", "voxel": 0.2}]}
END
expect 0 feeler info scene.json --json
json "[.files[0].parts[].triangles] == [$coarse, $fine]"

# ---- a rod of 10 mm in holes of 10 mm slides out along its axis, as opened ----
expect 0 "$build_dir/tests/make_assembly" --nominal nominal.step
expect 0 feeler scene nominal.step --out nominal/scene.json
awk 'BEGIN { for (i = 0; i < 150; i++) printf "%.3f 0 0 %g 1 0 0 0\n", i / 1000, i * 0.1 }' >up.txt
expect 0 feeler run nominal/scene.json --part rod --hand up.txt --frames 150 --poses out.txt
awk '/^# part/ { part = $3 } part == "rod" && !/^#/ { x = $2; y = $3; z = $4 }
     END { exit !(z > 7 && x * x + y * y < 0.02 ^ 2) }' out.txt && pass || fail "the rod is stuck or aside"

# ---- limits can be raised, and the sentence says how ----
expect 3 feeler info cad/ball.brep --chord 0.000001mm --import-seconds 1
says 'longer than 1 s.*time limit.*chord'
expect 2 feeler info cad/ball.brep --import-seconds 0
expect 2 feeler info cad/ball.brep --import-memory lots

# ---- the format is that of the content, whatever the name says ----
cp cad/assembly.step fake.stl
cp cad/assembly.step nameless
for file in fake.stl nameless; do
  expect 0 feeler info $file --json
  json '.files[0].format == "STEP"'
  expect 0 feeler info $file
  tells '^ +format +STEP, .*read by feeler-import'
done
expect 0 feeler info "$data/box_mm.fbx"
tells '^ +unit +mm '

# ---- what is not what its name says: a sentence with advice, none of the libraries' words ----
head -c 4096 /dev/urandom >noise
for ending in step glb iges brep 3ds; do
  cp noise noise.$ending
  : >empty.$ending
  for file in noise.$ending empty.$ending; do
    expect 3 feeler info $file
    says "$file: .*(export it again|convert it to STL)"
    grep -q 'No suitable' "$scratch/err" && fail "$ran: raw words of a library" || pass
  done
done

# ---- tolerant reading is offered where the sentence says so, and told ----
printf 'solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex nan 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid s\n' >nan.stl
expect 3 feeler info nan.stl
says 'read it tolerantly'
expect 0 feeler info nan.stl --tolerant
says 'nan.stl: 1 triangle left out; the first: line'
expect 0 feeler convert nan.stl nan.obj --tolerant --json
json '.left_out | test("1 triangle left out")'
expect 3 feeler check nan.stl
[ "$(cat "$scratch/out" "$scratch/err" | grep -c 'line [0-9]')" = 1 ] && pass || fail "$ran: the trouble is reported more than once"
# a header that lies: the whole reason is reported
printf 'ply\nformat ascii 1.0\nelement vertex 1900000000\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n' >liar.ply
expect 3 feeler check liar.ply
says '1,?900,?000,?000'
# one point is not closed
expect 0 feeler make ball --out ball
expect 0 feeler info ball/ball.stl --weld 1m --json
json '.files[0].vertices == 1 and (.files[0].closed | not)'

finish
