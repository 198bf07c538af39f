#!/usr/bin/env bash
# devices: what doctor says about them, a plugin, a device that moves a part
source "$(dirname "$0")/common.sh"
unset FEELER_DEVICES
export SPNAV_SOCKET=$scratch/no.sock

# ---- doctor: every driver, and what it lacks ----
expect 0 feeler doctor --json
json '[.checks[] | select(.name == "device") | .numbers.driver] == ["spacemouse", "openhaptics", "forcedimension"]'
json '.checks[] | select(.numbers.driver == "spacemouse") | .numbers.present == false and (.advice | contains("apt install spacenavd"))'

# ---- a plugin appears, and a file that is no plugin is reported ----
mkdir devices
cp "$build_dir/examples/plugin/my_device.so" devices/
export FEELER_DEVICES=$PWD/devices
expect 0 feeler doctor --json
json '.checks[] | select(.numbers.driver == "my_device") | .state == "ok" and .numbers.device == "my device"'
echo junk >devices/zz_bad.so
expect 0 feeler doctor --json
json '.checks[] | select(.name == "plugins") | .value | contains("zz_bad.so")'
rm devices/zz_bad.so

# ---- it moves a part, by the clock ----
expect 0 feeler make ball --out ball -q
scene="ball/scene.json --voxel 2mm"
expect 0 feeler run $scene --device my_device:0.002 --frames 200 --poses way.txt --json
json '.frames == 200 and .faulty_frames == 0'
[ "$(grep -vc '^#' way.txt)" = 200 ] && pass || fail "way.txt has not 200 poses"
expect 2 feeler run $scene --device my_device:7 --frames 20
says 'radius'
expect 2 feeler run $scene --device spacemouse --frames 20
says 'apt install spacenavd'
expect 2 feeler run $scene --device spacemose --frames 20
says 'did you mean "spacemouse"'
finish
