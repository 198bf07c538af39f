#!/usr/bin/env bash
# voxelize, and what becomes of its files: exit codes, JSON, errors before the work, Ctrl-C, leaks, NanoVDB, pictures
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball
ball=ball/ball.stl

# ---- the papers' ball: points within 1 % of 23,960 and 130,688 ----
expect 0 feeler voxelize $ball --voxel 0.35mm --json
json '.points.total > 23720 and .points.total < 24200'
json '(.points.vertex + .points.edge + .points.face) == .points.total and .points.total == .surface_voxels'
json '.triangles == 2048 and .polygons > 0 and .polygons < 2048 and .voxel_size == 0.00035'
json '[.surface_voxels, .interior_voxels, .field_voxels, .chunks, .hyperchunks, .bytes, .peak_rss] | all(. > 0)'
json '.seconds | [.read, .scan, .fill, .fields, .shell, .write, .total] | all(type == "number")'
json '.warnings == [] and .leaks == [] and .bytes_per_voxel_and_field < 15'
silent_err
expect 0 feeler voxelize $ball --voxel 0.15mm --no-cache --json
json '.points.total > 129381 and .points.total < 131995 and .cache == null'
expect 0 feeler voxelize $ball --voxel 0.35mm
tells '^ +surface +24,'
tells '^ +points +24,'
tells '^ +time .*cache'
plain

# ---- choices ----
expect 0 feeler voxelize $ball --voxel 1mm --bits 2 --no-shell --json
json '.bits == 2 and .range == 3 and .points == null' # force layer 2 is built in
expect 0 feeler voxelize $ball --voxel 1mm --bits 2 --offset 0 --no-shell --json
json '.bits == 2 and .range == 1'
expect 0 feeler voxelize $ball --voxel 1mm --bits 8 --range 20 --hollow --json
json '.bits == 8 and .range == 20 and .hollow and .interior_voxels == 0'
expect 0 feeler voxelize $ball --voxel 1mm --no-features --on-surface --json
json '.polygons == null and .points.on_surface and .points.edge == 0 and .points.face == 0'
for threads in 1 2 4; do
  expect 0 feeler voxelize $ball --voxel 0.5mm --threads $threads --no-cache --out t$threads.flrvox
done
cmp -s t1.flrvox t2.flrvox && cmp -s t1.flrvox t4.flrvox && pass || fail "the bytes depend on the number of threads"
expect 0 feeler voxelize $ball --voxel 500um --out t1.flrvox -q
expect 0 feeler voxelize $ball --unit m --voxel 500mm --json
json '.surface_voxels > 0'

# ---- the cache ----
expect 0 feeler voxelize $ball --voxel 0.7mm --json
json '.cache.stored and (.cache.found | not)'
expect 0 feeler voxelize $ball --voxel 0.7mm --json
json '.cache.found and (.cache.stored | not) and .seconds.scan == 0'
expect 0 env FEELER_CACHE=/proc/nowhere feeler voxelize $ball --voxel 0.7mm --json
json '.warnings | length == 1'

# ---- refused before the work begins ----
refuse() { # CODE WORDS ARGUMENTS...: and no file appears
  local code=$1 words=$2
  shift 2
  expect "$code" feeler voxelize "$@" --out refused.flrvox
  says "$words"
  silent_out
  [ -e refused.flrvox ] && { fail "$ran: left an output behind"; rm -f refused.flrvox; } || pass
}
refuse 2 'size of a voxel' $ball
refuse 2 'at least' $ball --voxel 0mm
refuse 2 'at least' $ball --voxel=-1mm
refuse 2 'not a size' $ball --voxel nan
refuse 2 'no unit' $ball --voxel 1
refuse 2 'larger than the whole part' $ball --voxel 1m
refuse 2 'GiB.*try voxels of' $ball --voxel 0.1um
expect 2 feeler voxelize $ball --voxel 0.01mm --memory 100MB --no-cache
refuse 2 'number of bytes' $ball --voxel 1mm --memory lots
refuse 2 'GiB.*on the disk.*try voxels of' $ball --voxel 0.1um --out x.flrvox
refuse 2 '2, 4, 8' $ball --voxel 1mm --bits 3
refuse 2 'bits 8' $ball --voxel 1mm --range 20
refuse 2 'marks of 2 bits' $ball --voxel 1mm --offset 1
refuse 2 'no --range' $ball --voxel 1mm --bits 2 --range 3
refuse 2 'from 1 to' $ball --voxel 1mm --range 0
refuse 2 'from 1 to' $ball --voxel 1mm --threads 0
refuse 2 'no-shell' $ball --voxel 1mm --no-shell --on-surface
refuse 2 'is a scene' ball/scene.json --voxel 1mm
refuse 3 'nowhere.stl' nowhere.stl --voxel 1mm
head -c 1000 $ball >cut.stl
refuse 3 'cut.stl' cut.stl --voxel 1mm
expect 2 feeler voxelize $ball --voxel 1mm --out ball.stl
says '\.flrvox'
expect 1 feeler voxelize $ball --voxel 1mm --out none/x.flrvox
says 'none/x.flrvox'
# the size that is advised is taken
advised=$(feeler voxelize $ball --voxel 0.001mm --memory 200MB --no-cache 2>&1 | sed -n 's/.*try voxels of \([0-9.]*\) *\([a-z]*\).*/\1\2/p')
expect 0 feeler voxelize $ball --voxel "$advised" --memory 200MB --no-cache

# ---- larger than the memory given: slab by slab, the same bytes ----
expect 0 feeler voxelize $ball --voxel 0.07mm --no-cache --out whole.flrvox -q
expect 0 feeler voxelize $ball --voxel 0.07mm --memory 24MiB --out slabs.flrvox --json
json '.streamed and .cache == null'
cmp whole.flrvox slabs.flrvox || fail "built slab by slab it differs"
FEELER_CACHE=large expect 0 feeler voxelize $ball --voxel 0.07mm --memory 24MiB --json
json '.streamed and .cache.stored'
cmp whole.flrvox large/*.flrvox || fail "built slab by slab into the cache it differs"
FEELER_CACHE=large expect 0 feeler voxelize $ball --voxel 0.07mm --memory 24MiB --json
json '.cache.found'
[ "$(ls -A large | wc -l)" = 1 ] || fail "something is left in the cache"
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=256k none small 2>/dev/null; then
  cleanups+=("umount $scratch/here/small")
  expect 1 feeler voxelize $ball --voxel 0.1mm --no-cache --out small/b.flrvox
  says 'small/b.flrvox needs .* or more, and the disk has room for'
  holds small
fi

# ---- Ctrl-C: exit code 130, nothing left behind ----
expect 0 feeler make axle --out axle
mkdir stop
for delay in 0.02 0.05 0.1 0.2 0.4; do
  # a shell without job control starts what runs in the background deaf to Ctrl-C; a python does not
  python3 - "$delay" >stop.txt 2>&1 <<'EOF'
import signal, subprocess, sys, time
p = subprocess.Popen(["feeler", "voxelize", "axle/axle_base.stl", "--voxel", "0.8mm", "--no-cache",
                      "--out", "stop/s.flrvox"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
time.sleep(float(sys.argv[1]))
p.send_signal(signal.SIGINT)
text = p.communicate()[0].decode()
print(p.returncode)
print(text)
EOF
  ran="voxelize, stopped after $delay s"
  case $(head -1 stop.txt) in
    130 | -2) holds stop ;;
    0) holds stop s.flrvox; rm -f stop/s.flrvox ;;
    *) fail "$ran: $(cat stop.txt)" ;;
  esac
done

# ---- leaks ----
printf 'v 0 0 0\nv 30 0 0\nv 30 30 0\nv 0 30 0\nv 0 0 50\nv 30 0 50\nv 30 30 50\nv 0 30 50\n' >open.obj
printf 'f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n' >>open.obj
expect 0 feeler voxelize open.obj --voxel 1mm
tells 'leaked through a gap near \(15 mm, 15 mm, 50 mm\), about 30 mm; use voxels of 38mm, or voxelize the part as hollow'
expect 0 feeler voxelize open.obj --voxel 1mm --json
json '(.warnings | length) == 1 and .leaks[0].gap > 0.029 and .leaks[0].voxel == 0.038'
expect 0 feeler voxelize open.obj --voxel 1mm --hollow --json
json '.warnings == []'
expect 0 feeler voxelize open.obj --voxel 38mm --json
json '.warnings == []'

# ---- info and pictures of the file ----
expect 0 feeler info t1.flrvox --json
json '.files[0].kind == "voxels" and .files[0].points.total > 0'
expect 0 feeler info t1.flrvox --png v.png --size 640x480
file -b v.png | grep -q 'PNG image data, 640 x 480' && pass || fail "v.png is no picture of 640 x 480"
expect 0 feeler info $ball --voxel 1mm --png m.png --json
json '.files[0].picture == "m.png"'
file -b m.png | grep -q 'PNG image data, 1200 x 900' && pass || fail "m.png is no picture of 1200 x 900"
expect 2 feeler info $ball --voxel 1m --png m.png
says 'larger than the whole part'
expect 2 feeler info t1.flrvox --png x.png --size 20x20
[ -e x.png ] && fail "$ran: left a picture behind" || pass

# ---- NanoVDB and back ----
expect 0 feeler convert t1.flrvox b.nvdb --json
json '.files[0].surface_voxels > 0 and .files[0].bytes > 0'
expect 0 feeler convert b.nvdb back.flrvox
surface=$(feeler info t1.flrvox --json | jq '.files[0] | [.surface_voxels, .interior_voxels, .field_voxels, .size]' -c)
expect 0 feeler info back.flrvox --json
json ".files[0] | [.surface_voxels, .interior_voxels, .field_voxels, .size] == $surface"
expect 2 feeler convert $ball x.nvdb
says 'feeler voxelize'
expect 2 feeler convert t1.flrvox x.stl
says '\.nvdb'
expect 2 feeler convert b.nvdb x.nvdb
says '\.flrvox'
expect 2 feeler convert t1.flrvox --split parts
says 'no groups'
head -c 5000 b.nvdb >cut.nvdb
expect 3 feeler convert cut.nvdb x.flrvox
says 'cut.nvdb'
expect 3 feeler convert nowhere.nvdb x.flrvox
printf 'x' | dd of=t2.flrvox bs=1 seek=9000 conv=notrunc 2>/dev/null
expect 3 feeler convert t2.flrvox x.nvdb
says 't2.flrvox'
ls x.* 2>/dev/null && fail "a refused conversion left a file behind" || pass

# ---- progress on a terminal ----
if command -v script >/dev/null; then
  script -qec "env TERM=xterm feeler voxelize axle/axle_base.stl --voxel 4mm --no-cache" /dev/null </dev/null >terminal.txt 2>&1
  grep -q '\[[#.]*\] [0-9]*/100 triangles' terminal.txt && pass || fail "no progress on a terminal"
fi
finish
