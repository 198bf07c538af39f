#!/usr/bin/env bash
# a new user and an assembly of 200 parts in the page: open, hide, remove, clashes, report
source "$(dirname "$0")/common.sh"

skip() { echo "$*: the story is not tried"; exit 77; }
[ "$sanitized" = no ] || skip "one build is enough"
command -v node >/dev/null || skip "node is not installed"
[ -d "$source_dir/web/node_modules/playwright-core" ] || skip "the viewer's packages are not there"
grep -aq 'viewer\.js' "$feeler" || skip "feeler was built without the viewer"
[ -x "$build_dir/tests/make_assembly" ] || skip "feeler was built without OpenCASCADE"

expect 0 "$build_dir/tests/make_assembly" --skid skid.step
limit=3000
run node "$source_dir/web/test/story.mjs" --feeler "$feeler" --step "$PWD/skid.step"
cat "$scratch/out"
[ "$code" = 77 ] && finish
if [ "$code" = 0 ]; then pass; else fail "the page (exit $code)"; grep -v 'ERROR:dbus' "$scratch/err" | head -c 1500; fi
tells 'checks passed, 0 failed'
expect 0 node "$source_dir/web/test/assembly.mjs" --feeler "$feeler"
tells 'checks passed, 0 failed'
finish
