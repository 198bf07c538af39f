#!/usr/bin/env bash
# probe: one line per segment, all methods, units, what is refused
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball

# ---- a line from above meets the ball; the same by every method ----
printf '# x0 y0 z0 x1 y1 z1\n0 0 30 0 0 -30\n\n30 0 0 40 0 0 # beside it\n3 2 40 3 2 0\n' >segments.txt
expect 0 feeler probe ball/ball.stl --segments segments.txt
tells '^ +0 +0\.'
tells '^ +1 +-$'
tells '^2 of 3 segments hit'
plain
silent_err
for method in grid tree hybrid; do
  expect 0 feeler probe ball/ball.stl --segments segments.txt --method $method --json
  silent_err
  [ "$(wc -l <"$scratch/out")" = 3 ] && pass || fail "$ran: not one line per segment"
  jq -se 'length == 3 and .[0].hit and (.[0].t > 0.2 and .[0].t < 0.4) and .[0].i == 0 and .[0].triangle >= 0 and
    (.[1] == {"i": 1, "hit": false, "t": null, "triangle": null}) and .[2].i == 2 and .[2].hit' "$scratch/out" >/dev/null \
    && pass || fail "$ran: not what was expected"
  cp "$scratch/out" $method.json
done
cmp -s grid.json tree.json && cmp -s grid.json hybrid.json && pass || fail "the methods differ"
expect 0 feeler probe ball/ball.stl --segments segments.txt --grain 0.5mm --json
cmp -s "$scratch/out" grid.json && pass || fail "the grain matters"

# ---- units: those of the mesh ----
expect 0 feeler probe ball/ball.stl --segment "0 0 30 0 0 -30" --json
head -1 grid.json | cmp -s - "$scratch/out" && pass || fail "--segment is something else than a file"
expect 0 feeler probe ball/ball.stl --segment "0 0 30 0 0 -30" --unit m --json
cut -c1-25 "$scratch/out" | cmp -s - <(head -1 grid.json | cut -c1-25) && pass || fail "a unit for the mesh is none for the segments"

# ---- what a hand did: the point of a recording goes through the ball's surface where segments say so ----
expect 0 feeler run ball/scene.json --hand path:seat --tool point --frames 400 --record point.mcap -q
expect 0 feeler probe ball/socket.stl --from point.mcap --json
[ "$(wc -l <"$scratch/out")" -gt 100 ] && pass || fail "a hand that moves gives hardly any segments"
jq -s -e 'map(.i) == [range(length)]' "$scratch/out" >/dev/null && pass || fail "segments are not numbered"
expect 2 feeler probe ball/socket.stl --from point.mcap --segment "0 0 0 1 1 1"
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >other.obj
expect 3 feeler probe other.obj --from point.mcap
says 'no part of it has this mesh'

# ---- refused ----
expect 2 feeler probe ball/ball.stl
says 'segments FILE'
expect 2 feeler probe ball/ball.stl --segments segments.txt --segment "0 0 0 1 1 1"
expect 2 feeler probe ball/ball.stl --segments segments.txt --method gird
says 'grid'
expect 3 feeler probe ball/ball.stl --segments none.txt
says 'none.txt'
expect 3 feeler probe none.stl --segments segments.txt
printf '0 0 30 0 0 -30\n0 0 x 1 1 1\n' >bad.txt
expect 3 feeler probe ball/ball.stl --segments bad.txt
says 'bad.txt:2:5'
printf '0 0 30 0 0\n' >short.txt
expect 3 feeler probe ball/ball.stl --segments short.txt
says 'short.txt:1:11: .* before z1'
: >empty.txt
expect 3 feeler probe ball/ball.stl --segments empty.txt
says 'no segment'
finish
