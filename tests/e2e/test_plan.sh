#!/usr/bin/env bash
# verify: paths of a scene and pose files are free, or not, with the first place that is too near
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
finish
