#!/usr/bin/env bash
# The numbers of docs/reliability.md are those of fuzz/results.tsv, and every fuzz target is run by scripts/reliability: readers by `files`,
# what comes by the network by tests/reliability/network.sh and the short run of scripts/fuzz.
#   test_fuzz_table.sh SOURCE_DIR BUILD_DIR
set -u
cd "$1" || exit 1
failed=0
fail() { failed=1; echo "FAILED: $*"; }
copy=$(mktemp)
trap 'rm -f "$copy"' EXIT
cp docs/reliability.md "$copy"
bash scripts/fuzz --table "$copy" || fail "scripts/fuzz --table"
diff docs/reliability.md "$copy" || fail "docs/reliability.md is out of date: run scripts/fuzz --table"
[ "$(grep -c '^| all | [1-9]' "$copy")" = 1 ] || fail "the table has no sum"

readers=" $(sed -nE 's/^set\(readers (.*)\)/\1/p' fuzz/CMakeLists.txt) "
network=" connections http mcp protocol service session "
for source in fuzz/fuzz_*.c; do
  family=${source#fuzz/fuzz_} family=${family%.c}
  case "$readers$network" in *" $family "*) ;; *) fail "$source belongs neither to the readers nor to the network" ;; esac
done
awk -F '\t' 'NF != 5 || $3 !~ /^[0-9]+$/ || $4 !~ /^[0-9]+$/ || $4 + 0 > $3 + 0 { print FILENAME ":" FNR ": " $0; bad = 1 } END { exit bad }' fuzz/results.tsv ||
  fail "fuzz/results.tsv has lines that are no results"
exit $failed
