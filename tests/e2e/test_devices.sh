#!/usr/bin/env bash
# devices: what doctor says about them, a plugin, a device that moves a part
source "$(dirname "$0")/common.sh"
unset FEELER_DEVICES
export SPNAV_SOCKET=$scratch/no.sock

# ---- doctor: every driver, and what it lacks ----
expect 0 feeler doctor --json
json '[.checks[] | select(.name == "device") | .numbers.driver] == ["spacemouse", "openhaptics", "forcedimension", "haply"]'
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

# ---- what is plugged in is known by its USB ids, and what it lacks is told ----
unset FEELER_DEVICES
usb=$PWD/machine/sys/bus/usb/devices
mkdir -p "$usb/1-1/1-1:1.0/tty/ttyACM0" "$usb/1-2" "$usb/1-3" "$usb/1-4" machine/dev
for device in "1-1 2988 0302" "1-2 1451 0402" "1-3 0483 5740" "1-4 1d6b 0002"; do
  read -r name vendor product <<<"$device"
  echo "$vendor" >"$usb/$name/idVendor" && echo "$product" >"$usb/$name/idProduct" && echo 1 >"$usb/$name/busnum" && echo 7 >"$usb/$name/devnum"
done
echo "Haply Robotics" >"$usb/1-3/manufacturer"
touch machine/dev/ttyACM0
export FEELER_DOCTOR_ROOT=$PWD/machine
expect 0 feeler doctor --json
json '[.checks[] | select(.name == "usb") | .numbers.driver] == ["openhaptics", "forcedimension", "haply"]'
json '.checks[] | select(.numbers.usb_vendor == "2988") | .numbers.node == "/dev/ttyACM0" and .numbers.allowed and (.advice | contains("OpenHaptics") and (contains("udev") | not))'
json '.checks[] | select(.numbers.usb_vendor == "1451") | .numbers.node == "/dev/bus/usb/001/007" and (.numbers.allowed | not) and (.advice | contains("ATTRS{idVendor}==\"1451\""))'
unset FEELER_DOCTOR_ROOT

# ---- a device is measured ----
expect 0 feeler device test hand --seconds 0.5 --force 0.5 --out hand.json
tells 'the grip moved'
jq -e '.samples > 20 and .force.wanted_n == 0.5 and .force.largest_n > 0 and .force.largest_n <= 0.5 and .force.stopped == null' hand.json >/dev/null && pass || fail "hand.json"
"$build_dir/tests/fake_haply" port &
fake=$!
until [ -s port ]; do sleep 0.05; done
expect 0 feeler device test "haply:port=$(cat port)" --seconds 2 --json
kill "$fake"
json '.name == "Haply Inverse3 049D" and .samples > 20 and .stated.force_n == 3 and .force == null and (.reached_high_m[0] - .reached_low_m[0]) > 0.005'
[ -s feeler-device-haply.json ] && pass || fail "there is no report"
# stopped while the force grows: it goes back to zero, what was measured is written, and nothing else is left
"$build_dir/tests/fake_haply" port2 forces &
fake=$!
until [ -s port2 ]; do sleep 0.05; done
mkdir stopped && cd stopped
"$feeler" device test "haply:port=$(cat ../port2)" --seconds 0.1 --force 3 2>../said &
test=$!
until [ -s ../forces ] || ! kill -0 "$test"; do sleep 0.02; done
kill "$test"
wait "$test"
code=$?
[ "$code" = 130 ] && pass || fail "stopped: exit $code"
[ "$(ls -A)" = feeler-device-haply.json ] && pass || fail "stopped: in the folder is $(ls -A)"
jq -e '.stopped_early and .samples > 0 and .force.largest_n > 0 and .force.largest_n < 3 and .force.stopped == null' feeler-device-haply.json >/dev/null && pass || fail "stopped: the report"
cd ..
awk -v max=0 '{ if ($1 > max) max = $1; if ($1 < last - 1.001) cut = last - $1; last = $1 } END { exit !(last == 0 && max < 3 && !cut) }' forces && pass || fail "stopped: the force was $(tail -n 5 forces | tr '\n' ' ')"
kill "$fake"
expect 2 feeler device test haply:port=1
says 'Haply Hub'
expect 2 feeler device move hand
says 'feeler device test NAME'
export FEELER_DEVICES=$PWD/devices

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
