#!/usr/bin/env bash
# every lesson in examples/ runs as it is, says what it teaches, and takes a file of the user's
source "$(dirname "$0")/common.sh"
lessons=$build_dir/examples
expect 0 feeler make ball --out . --force --quiet # the parts of 00_hello
for source in "$source_dir"/examples/*.c; do
  name=$(basename "$source" .c)
  expect 0 "$lessons/$name"
  [ -s "$scratch/out" ] && pass || fail "$ran: says nothing"
  grep -qF "($name.c)" "$source_dir/examples/README.md" && pass || fail "examples/README.md lacks $name.c"
done
# the first program: nothing is felt above the socket, then the ball presses; it is as short as promised, and docs/hello.md shows it
expect 0 "$lessons/00_hello"
tells '^ 500 ms: the hand feels 0\.00 N'
tells '^2000 ms: the hand feels 0\.50 N'
[ "$(wc -l <"$source_dir/examples/00_hello.c")" -le 30 ] && pass || fail "00_hello.c is longer than 30 lines"
sed -n '/^```c$/,/^```$/p' "$source_dir/docs/hello.md" | sed '1d;/^```$/,$d' | cmp -s - "$source_dir/examples/00_hello.c" && pass || fail "docs/hello.md does not show examples/00_hello.c"
expect 1 "$lessons/00_hello" nothing.stl
says 'nothing.stl'
expect 0 "$lessons/01_read_a_mesh"
tells '^30.0 x 20.0 x 10.0 mm'
expect 0 "$lessons/02_check_a_mesh"
tells 'voxels of 0.25 mm: they will not come out right'
tells 'voxels of 1 mm: fine'
expect 0 "$lessons/04_make_a_mesh" ring.stl
tells 'volume cm\^3 +98\.[56]'
tells '^closed'
expect 0 feeler check ring.stl
tells 'nothing wrong'
expect 0 "$lessons/05_voxelize"
tells '\.#+\++#+\.+#+\++#+\.'
expect 0 "$lessons/06_simulated_world"
tells '^1000 sent in 12 s'
cp "$scratch/out" first
expect 0 "$lessons/06_simulated_world"
cmp -s first "$scratch/out" && pass || fail "$ran: not the same again"
expect 0 "$lessons/06_simulated_world" 7
cmp -s first "$scratch/out" && fail "$ran: another seed gives the same" || pass
expect 0 "$lessons/07_own_device"
tells '^after a second: +at +2[23]\.[0-9] mm, +3\.0 N pushed, +-3\.0 N felt'
tells '^25 ms without a cable: .* 0\.0 N felt'
tells '"input lost"'
tells '^the guard lets through [0-9.]+ N'
tells '^0 samples were no numbers'
expect 0 "$lessons/08_embed_the_loop"
tells '^the loop runs'
tells '^[0-9]+ frames, woken up late'
expect 0 "$lessons/09_pairs"
tells '^1500 ms +12 .* 137\.[0-9] mm'
tells '^ *[0-9]+ of the contacts listed push along +-?0\.0[0-9] +-?0\.0[0-9] +-1\.00'
expect 0 "$lessons/10_clearance"
tells '^ 0: +0\.5000 mm from a vertex of the ball to a face'
tells '^in pose 0 there is less than 1 mm'
expect 0 "$lessons/10_clearance" 12
tells '^ 5: +3\.00[0-9]+ mm'
expect 0 "$lessons/12_touch_a_sphere"
tells '^ 250 ms: .* 0 contacts, the hand feels 0\.00 N'
tells '^1000 ms: .* the hand feels 0\.50 N'
expect 0 "$lessons/13_peg_in_hole"
tells '^the peg is in: 0\.[0-9]+ mm above the bottom'
expect 0 "$lessons/15_two_moving_parts"
tells '^ 400 ms: .* 0\.000 m/s; .*; 0\.00 N'
tells '^the block is off the table'
expect 0 "$lessons/16_tight_fit"
tells '^ 600 ms: up +[56]\.[0-9]+ mm, .* 0\.00[0-9]+ mm apart'
tells '^the peg is out; it never came nearer than 0\.00[0-9]+ mm, and had 0\.050 mm of play'

# a file of the user's, and one that is not there
for name in 01_read_a_mesh 02_check_a_mesh 03_features 05_voxelize; do
  expect 0 "$lessons/$name" ring.stl
  expect 1 "$lessons/$name" nothing.stl
  says 'nothing.stl'
done
finish
