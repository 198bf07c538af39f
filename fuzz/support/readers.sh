#!/usr/bin/env bash
# fuzz_readers.sh KIT SECONDS OUTDIR [COUNT [SEED]]: fuzzes all families of readers on all processors for SECONDS, or until
# each has had COUNT executions (default 10^8), and prints a table. KIT holds fast/ and asan/ (fuzz_FAMILY; either may be
# missing), corpus/FAMILY and FAMILY.dict. Findings are kept in OUTDIR/findings; the exit status is 1 where there are any.
# Needs bash, awk and flock alone, so that a folder with KIT and this file runs on any machine.
# FLR_FUZZ_BEFORE: a file with "FAMILY EXECUTIONS" of earlier runs, line by line: they count towards COUNT.
set -u
kit=$(cd "${1:?KIT}" && pwd) seconds=${2:?SECONDS} out=${3:?OUTDIR} count=${4:-100000000} seed=${5:-1}
# the share of time of each family, by how long 10^8 executions take; one of FLR_FUZZ_READERS that is not listed gets 10
families="${FLR_FUZZ_FAMILIES:-stl:10 obj:13 ply:7 itri:7 vrml:7 scene:8 poses:4 segments:4 kim:5 recording:20 voxfile:60 nanovdb:25 mesh_stream:6 state:20 fit:15 robot:10}"
for family in ${FLR_FUZZ_READERS:-}; do
  case " $families" in *" $family:"*) ;; *) families="$families $family:10" ;; esac
done
cores=${FLR_FUZZ_CORES:-$(nproc)}
mkdir -p "$out"/{count,corpus,findings,log,worst}
out=$(cd "$out" && pwd)
deadline=$(($(date +%s) + seconds))
slice=$((seconds / 40))
[ "$slice" -ge 2 ] || slice=2
[ "$slice" -le 30 ] || slice=30

# sum FILE: the number in it, 0 where there is none
sum() { cat "$1" 2>/dev/null || echo 0; }

# add FILE NUMBER, while the lock is held
add() { echo $(($(sum "$1") + $2)) >"$1.new" && mv "$1.new" "$1"; }

# had FAMILY: executions so far, in this run and, where FLR_FUZZ_BEFORE says so, before it
had() {
  local before=0
  [ -z "${FLR_FUZZ_BEFORE:-}" ] || before=$(awk -v family="$1" '$1 == family { sum += $2 } END { printf "%d", sum }' "$FLR_FUZZ_BEFORE")
  echo $((before + $(sum "$out/count/$1.fast") + $(sum "$out/count/$1.asan")))
}

# Which family is next: of those that are not through the one with the least time for its share; "-": none is left.
choose() {
  local best=- least=999999999 pair family share used
  for pair in $families; do
    family=${pair%:*} share=${pair#*:}
    [ "$(had "$family")" -lt "$count" ] || continue
    used=$((1000 * $(sum "$out/count/$family.slices") / share))
    [ "$used" -lt "$least" ] && best=$family least=$used
  done
  echo "$best"
}

# one FAMILY BUILD WORKER NUMBER: a slice of time; again from the start behind a finding
one() {
  local family=$1 build=$2 log=$out/log/$1-$2-$3 until=$(($(date +%s) + slice)) length=4096 options=() left runs
  # mostly short; now and then long ones, at once and not only after short ones have nothing new: what takes memory is long
  case $(($4 % 8)) in
    3) length=16384 ;;
    6) length=512 ;;
    7) length=65536 options+=(-len_control=0) ;;
  esac
  [ -f "$kit/$family.dict" ] && options+=("-dict=$kit/$family.dict")
  while left=$((until - $(date +%s))) && [ "$left" -gt 0 ]; do
    # at most what is missing, in case that is little
    runs=$((count - $(had "$family")))
    [ "$runs" -gt 0 ] || return 0
    "${loader[@]}" "$kit/$build/fuzz_$family" -max_total_time="$left" -runs="$runs" -max_len="$length" -timeout=10 \
      -rss_limit_mb=2048 -entropic=0 -reload=0 -print_final_stats=1 -seed="$((seed * 100000 + $3 * 1000 + $4))" \
      -artifact_prefix="$out/findings/$family-$build-" "${options[@]}" "$out/corpus/$family" "$kit/corpus/$family" \
      >"$log" 2>&1
    local status=$?
    runs=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")
    (
      flock 9
      add "$out/count/$family.$build" "${runs:-0}"
      [ "$status" -eq 0 ] || { add "$out/count/$family.findings" 1; cp "$log" "$out/findings/$family-$build-$3-$4.log"; }
      sed -nE 's/^memory: worst factor ([0-9.]+).*/\1/p' "$log" >>"$out/worst/$family"
    ) 9>"$out/lock"
    [ "$status" -eq 0 ] && return 0
    sleep 0.2
  done
}

worker() {
  local number=$1 round=0 family build
  while [ "$(date +%s)" -lt "$deadline" ]; do
    family=$( (flock 9; family=$(choose); [ "$family" = - ] || add "$out/count/$family.slices" 1; echo "$family") 9>"$out/lock")
    [ "$family" != - ] || return 0
    build=fast
    # every sixth slice with sanitizers
    [ $(((round + number) % 6)) -ne 0 ] || build=asan
    [ -x "$kit/$build/fuzz_$family" ] || build=$([ $build = asan ] && echo fast || echo asan)
    loader=()
    [ $build = asan ] && [ -n "${asan_loader:-}" ] && read -ra loader <<<"$asan_loader"
    one "$family" "$build" "$number" "$round"
    round=$((round + 1))
  done
}

# programs with sanitizers are linked with shared libraries: those of the machine, else those of the kit
asan_loader=
if [ -x "$kit/asan/fuzz_poses" ] && ! "$kit/asan/fuzz_poses" -runs=0 >/dev/null 2>&1; then
  asan_loader="$kit/lib/ld-linux-x86-64.so.2 --library-path $kit/lib"
  $asan_loader "$kit/asan/fuzz_poses" -runs=0 >/dev/null 2>&1 || { echo "the programs with sanitizers do not start here"; kit_asan=none; }
fi
[ "${kit_asan:-}" != none ] || { mkdir -p "$out/kit"; ln -sfn "$kit"/* "$out/kit/"; rm -f "$out/kit/asan"; kit=$out/kit; }

for pair in $families; do mkdir -p "$out/corpus/${pair%:*}" "$out/kit-empty"; [ -d "$kit/corpus/${pair%:*}" ] || mkdir -p "$kit/corpus/${pair%:*}"; done
start=$(date +%s)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null' INT TERM
for ((w = 0; w < cores; w++)); do worker "$w" & pids+=($!); done
wait
took=$(($(date +%s) - start))

total=0
printf '%-12s %13s %13s %12s %14s %9s\n' family executions "of them asan" exec/s "memory factor" findings
for pair in $families; do
  family=${pair%:*}
  fast=$(sum "$out/count/$family.fast") asan=$(sum "$out/count/$family.asan") found=$(sum "$out/count/$family.findings")
  slices=$(sum "$out/count/$family.slices")
  worst=$(sort -g "$out/worst/$family" 2>/dev/null | tail -n 1)
  printf '%-12s %13d %13d %12d %14s %9d\n' "$family" $((fast + asan)) "$asan" \
    $(((fast + asan) / (slices * slice > 0 ? slices * slice : 1))) "${worst:--}" "$found"
  total=$((total + found))
done
echo "$took s on $cores processors, seed $seed; memory factor: worst peak of memory beside a fixed amount by file size, 8 is allowed"
[ "$total" -eq 0 ] || { echo "$total findings in $out/findings"; exit 1; }
