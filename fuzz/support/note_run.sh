#!/usr/bin/env bash
# note_run.sh OUTDIR FILE WORDS: adds what readers.sh counted in OUTDIR to FILE, a line for each family, separated by tabs: words about
# the run, family, executions, of them with sanitizers, findings.
set -u
out=${1:?OUTDIR} file=${2:?FILE} words=${3:?WORDS}
sum() { cat "$1" 2>/dev/null || echo 0; }
for slices in "$out"/count/*.slices; do
  family=$(basename "$slices" .slices)
  asan=$(sum "$out/count/$family.asan") found=$(sum "$out/count/$family.findings")
  [ "$found" -gt 0 ] || found=none
  printf '%s\t%s\t%d\t%d\t%s\n' "$words" "$family" $(($(sum "$out/count/$family.fast") + asan)) "$asan" "$found"
done >>"$file"
