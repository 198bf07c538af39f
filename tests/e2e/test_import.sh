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

# ---- limits can be raised, and the sentence says how ----
expect 3 feeler info cad/ball.brep --chord 0.000001mm --import-seconds 1
says 'longer than 1 s.*--import-seconds.*--chord'
expect 2 feeler info cad/ball.brep --import-seconds 0
expect 2 feeler info cad/ball.brep --import-memory lots

finish
