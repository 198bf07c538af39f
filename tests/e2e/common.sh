# what the end-to-end tests share. A test begins with:  source "$(dirname "$0")/common.sh"
# It gets the source and the build folder as arguments, runs in an empty scratch folder $scratch,
# and ends with `finish`. All expectations are checked; none stops the rest.
set -uo pipefail
source_dir=$(realpath "$1") build_dir=$(realpath "$2")
feeler=$build_dir/feeler
[ -x "$feeler" ] || { echo "there is no $feeler"; exit 1; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/feeler-e2e.XXXXXX")
cleanups=()
trap 'for c in "${cleanups[@]}"; do $c; done; chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
mkdir "$scratch/here" && cd "$scratch/here"
export PATH=$build_dir:$PATH HOME=$scratch/home
mkdir "$HOME"
unset NO_COLOR XDG_CACHE_HOME FEELER_CACHE
passed=0 failed=0
# seconds after which a command or a wait counts as hung: a condition is awaited, however busy the machine is
limit=600 patience=600
sanitized=no
grep -q '^FLR_SANITIZE:STRING=..*' "$build_dir/CMakeCache.txt" && sanitized=yes

fail() { failed=$((failed + 1)); printf 'FAILED: %s\n' "$*"; }
pass() { passed=$((passed + 1)); }

# run COMMAND...: sets $code, and the files $scratch/out and $scratch/err
run() {
  ran="$*"
  timeout -k 5 "$limit" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  code=$?
}

# empty FILE...: before a command in the background writes there: it opens its files when it gets to run, and until then what an
# earlier one said would be read
empty() { for file in "$@"; do : >"$file"; done; }
# await COMMAND...: repeats it until it succeeds; fails when it is still not so after $patience
await() {
  local end=$((SECONDS + patience))
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.05
  done
}
# waits REGEX FILE: until a line of the file has it
waits() {
  if await grep -qsE -- "$1" "$2"; then pass; else fail "$2 lacks /$1/: $(head -c 600 "$2")"; fi
}
# served FILE: until the address of a page stands there; sets $port
served() {
  waits '://[^:]*:[0-9]+/' "$1"
  port=$(sed -nE 's,.*://[^:]*:([0-9]+)/.*,\1,p' "$1")
}

# expect CODE COMMAND...: runs and checks the exit code
expect() {
  local wanted=$1
  shift
  run "$@"
  if [ "$code" = "$wanted" ]; then pass; else
    fail "$ran: exit $code, not $wanted"
    head -c 600 "$scratch/err"
  fi
}

# says/tells REGEX: standard error / standard output of the last run
says() { if grep -qiE -- "$1" "$scratch/err"; then pass; else fail "$ran: stderr lacks /$1/"; head -c 600 "$scratch/err"; fi; }
tells() { if grep -qiE -- "$1" "$scratch/out"; then pass; else fail "$ran: stdout lacks /$1/"; head -c 600 "$scratch/out"; echo; tail -n +2 "$scratch/out" | tail -c 1200; fi; }
silent_out() { if [ -s "$scratch/out" ]; then fail "$ran: stdout is not empty"; head -c 300 "$scratch/out"; else pass; fi; }
silent_err() { if [ -s "$scratch/err" ]; then fail "$ran: stderr is not empty"; head -c 300 "$scratch/err"; else pass; fi; }
# json FILTER: standard output is one JSON document for which the jq filter is true
json() { if jq -e -s "length == 1 and (.[0] | $1)" "$scratch/out" >/dev/null 2>&1; then pass; else fail "$ran: JSON does not fulfil $1"; head -c 600 "$scratch/out"; fi; }
# no terminal, no escape codes
plain() { if grep -q $'\033' "$scratch/out" "$scratch/err"; then fail "$ran: escape codes without a terminal"; else pass; fi; }
# holds FOLDER [NAME...]: the folder holds exactly these names
holds() {
  local folder=$1 is wanted
  shift
  is=$(ls -A "$folder" | sort | xargs) wanted=$(printf '%s\n' "$@" | sort | xargs)
  if [ "$is" = "$wanted" ]; then pass; else fail "$ran: $folder holds ${is:-nothing}, not ${wanted:-nothing}"; fi
}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}
