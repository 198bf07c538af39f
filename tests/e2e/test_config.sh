#!/usr/bin/env bash
# a text configuration (Kim 2004, figure 4.2) is a scene wherever one is taken
source "$(dirname "$0")/common.sh"
expect 0 feeler make ball --out ball -q
cat >ball.cfg <<'END'
Haptic device: 0 (1=yes/0=no)
Number of models: 2
ball/socket.stl  0 0 0     0.00328  0.006
ball/ball.stl    0 0 0.1   0.00328  0.006
Barrier_synchronization: 1 (1=yes/0=no)
END
expect 0 feeler info ball.cfg --json
json '[.. | .name? // empty] | index("socket") and index("ball")'
expect 0 feeler check ball.cfg
tells 'part ball: nothing wrong'
expect 0 feeler run ball.cfg --part ball --frames 100 --json
json '.frames == 100 and .part == "ball"'
expect 0 feeler convert ball.cfg scene.json
expect 0 feeler run scene.json --part ball --frames 100 --json
json '.frames == 100'
sed -i 's/ 0.1 / high /' ball.cfg
expect 3 feeler run ball.cfg --frames 10
says '^feeler: ball.cfg:4:22: '
expect 2 feeler convert ball.cfg elsewhere/scene.json
says 'beside ball.cfg'
expect 2 feeler convert ball.cfg ball.stl
says 'is a scene'
finish
