#!/usr/bin/env bash
# feeler cache: where it lies, what is in it, what is broken, what goes; feeler info of what is no voxel file
source "$(dirname "$0")/common.sh"

# nothing there yet: no folder is made for asking
expect 0 feeler cache
tells "$HOME/.cache/feeler: 0 files"
silent_err
[ -e "$HOME/.cache" ] && fail "feeler cache made a folder" || pass
expect 0 feeler cache size --json
json '.files == 0 and .bytes == 0'
expect 0 env XDG_CACHE_HOME="$scratch/xdg" feeler cache size
tells "$scratch/xdg/feeler"
expect 0 env FEELER_CACHE="$scratch/own" XDG_CACHE_HOME="$scratch/xdg" feeler cache size
tells "$scratch/own: 0 files"
expect 1 env -u HOME feeler cache
says FEELER_CACHE

# wrong use
expect 2 feeler cache lst
says "did you mean list"
expect 2 feeler cache prune
says "prune --max"
expect 2 feeler cache clear --max 1GB
expect 2 feeler cache prune --max nothing

# broken files are reported, others' are left alone
mkdir -p own
head -c 5000 /dev/urandom >own/0123456789abcdef0123456789abcdef.flrvox
printf 'flrvox\r\n' >own/fedcba9876543210fedcba9876543210.flrvox
echo mine >own/note.txt
export FEELER_CACHE=own
expect 0 feeler cache list
tells "2 files"
tells "is not a voxel file"
expect 3 feeler cache verify --json
json '.broken == 2 and (.entries | length) == 2 and .entries[0].sound == false'
expect 3 feeler info own/0123456789abcdef0123456789abcdef.flrvox
says "is not a voxel file"
expect 3 feeler info nowhere.flrvox
says "no such file"
expect 3 feeler info own/0123456789abcdef0123456789abcdef.flrvox --png x.png
expect 0 feeler cache prune --max 5000
tells "removed 1 file"
expect 0 feeler cache clear --json
json '.files == 0'
holds own note.txt

# what was voxelized is found the next time; a damaged file is reported and built again, a full disk does not matter
export FEELER_CACHE=own/deeper
expect 0 feeler make ball --out ball --quiet
expect 0 feeler voxelize ball/ball.stl --voxel 1mm --json
json '.cache.found == false and .cache.stored and .warnings == []'
expect 0 feeler voxelize ball/ball.stl --voxel 1mm --json
json '.cache.found and (.cache.stored | not)'
expect 0 feeler voxelize ball/ball.stl --voxel 1.1mm --json
json '.cache.found == false'
expect 0 feeler cache verify
tells "2 files"
tells "all sound"
for file in own/deeper/*.flrvox; do printf X | dd of="$file" bs=1 seek=30000 conv=notrunc 2>/dev/null; done
expect 3 feeler cache verify
tells damaged
expect 0 feeler voxelize ball/ball.stl --voxel 1mm --json
json '.cache.found == false and .cache.stored and (.warnings[0] | test("damaged.*it was built again"))'
expect 0 feeler voxelize ball/ball.stl --voxel 1mm --json
json '.cache.found and .warnings == []'
FEELER_CACHE=own/note.txt expect 0 feeler voxelize ball/ball.stl --voxel 1mm --json
json '.cache.stored == false and (.warnings | any(test("the cache")))'
# a file of one's own is written once: not into the cache as well
expect 0 feeler voxelize ball/ball.stl --voxel 1.5mm --out once.flrvox --json
json '.cache.found == false and .cache.stored == false and .warnings == []'
expect 0 feeler voxelize ball/ball.stl --voxel 1.5mm --json
json '.cache.found == false and .cache.stored'
cmp -s once.flrvox own/deeper/"$(ls -t own/deeper | head -1)" && pass || fail "the same voxels, other bytes"
expect 0 feeler voxelize ball/ball.stl --voxel 1mm --out ball.flrvox --quiet
expect 0 feeler info ball.flrvox --json
json '.files[0].kind == "voxels" and .files[0].voxel_size == 0.001 and (.files[0].sections | length) == 2'
head -c 9000 ball.flrvox >cut.flrvox
expect 3 feeler info cut.flrvox
says "should have"
finish
