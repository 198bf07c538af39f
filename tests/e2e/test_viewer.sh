#!/usr/bin/env bash
# the viewer: its units, its types, and the page in a headless Chromium against feeler serve
source "$(dirname "$0")/common.sh"

skip() { echo "$*: the viewer is not tried"; exit 77; }
[ "$sanitized" = no ] || skip "one build is enough"
command -v node >/dev/null || skip "node is not installed"
[ -d "$source_dir/web/node_modules/playwright-core" ] || skip "the viewer's packages are not there"
grep -aq 'viewer\.js' "$feeler" || skip "feeler was built without the viewer"

expect 0 node "$source_dir/web/node_modules/typescript/bin/tsc" --noEmit -p "$source_dir/web"
expect 0 node --test "$source_dir/web/test/unit/"
tells '^# fail 0'

limit=3000
cad=()
[ -x "$build_dir/tests/make_cad" ] && mkdir cad && "$build_dir/tests/make_cad" cad >/dev/null && cad=(--cad "$PWD/cad")
run node "$source_dir/web/test/page.mjs" --feeler "$feeler" "${cad[@]}"
cat "$scratch/out"
[ "$code" = 77 ] && finish
if [ "$code" = 0 ]; then pass; else fail "the page (exit $code)"; grep -v 'ERROR:dbus' "$scratch/err" | head -c 1500; fi
tells 'checks passed, 0 failed'
models=${FLR_MODELS_DIR:-$source_dir/../shared/models}
expect 0 node "$source_dir/web/test/files.mjs" --feeler "$feeler" "${cad[@]}" --models "$models"
tells 'checks passed, 0 failed'
expect 0 node "$source_dir/web/test/gaps.mjs" --feeler "$feeler"
tells 'checks passed, 0 failed'
expect 0 node "$source_dir/web/test/way.mjs" --feeler "$feeler"
tells 'checks passed, 0 failed'
expect 0 node "$source_dir/web/test/engineer.mjs" --feeler "$feeler"
tells 'checks passed, 0 failed'
expect 0 node "$source_dir/web/test/review.mjs" --feeler "$feeler"
tells 'checks passed, 0 failed'
expect 0 node "$source_dir/web/test/recordings.mjs" --feeler "$feeler"
tells 'checks passed, 0 failed'
expect 0 node "$source_dir/web/test/everybody.mjs" --feeler "$feeler"
tells 'checks passed, 0 failed'
expect 0 node "$source_dir/web/test/opening.mjs" --feeler "$feeler"
tells 'checks passed, 0 failed'
arm=()
[ -f "$build_dir/tests/stubs/stub_hd.so" ] && arm=(--arm "$build_dir/tests/stubs/stub_hd.so")
expect 0 node "$source_dir/web/test/devices.mjs" --feeler "$feeler" "${arm[@]}"
tells 'checks passed, 0 failed'
finish
