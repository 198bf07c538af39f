# machines joined by a bad network, for the end-to-end tests: namespaces and what is between them, see tests/net/lossy_link.c.
# After common.sh:  source "$source_dir/tests/e2e/link.sh"
#
#   link_begin SIDES [WORD VALUE]...   makes them, or ends the test as skipped (77) where that is not allowed
#   link_run SIDE COMMAND...           runs a command on side 1, 2, …, which has the address 10.77.0.SIDE
#   link_set WORD VALUE [...]          changes the network: delay, jitter, hold, queue (ms), loss, duplicate, reorder, rate
#   link_cut SIDE · link_heal          nothing to or from that side · all again
#   link_drain                         waits until nothing is under way any more
#   link_end                           ends it; what it counted is then in $scratch/link.json
#
# A test that ends in any way ends the network with it, and the network its namespaces and what runs in them may no longer be
# reached; processes are the test's own to stop.
link_pid="" link_sides=()

link_begin() {
  mkfifo "$scratch/link.orders"
  empty "$scratch/link.out" "$scratch/link.err"
  # open for both, so that neither side waits; when the test ends, the link's input does, too
  exec {link_orders}<>"$scratch/link.orders"
  # longer than a test may take; a later word has the last say
  "$build_dir/tests/lossy_link" "$1" seconds 1800 "${@:2}" <"$scratch/link.orders" >"$scratch/link.out" 2>"$scratch/link.err" {link_orders}>&- &
  link_pid=$!
  cleanups+=(link_stop)
  local end=$((SECONDS + patience))
  until grep -q '^ready$' "$scratch/link.out" || [ "$SECONDS" -ge "$end" ]; do
    if ! kill -0 "$link_pid" 2>/dev/null; then
      wait "$link_pid"
      local code=$?
      link_pid=""
      cat "$scratch/link.err"
      [ $code = 77 ] && { echo "skipped: this test needs root and network namespaces"; exit 77; }
      echo "FAILED: lossy_link $*: exit $code"
      exit 1
    fi
    sleep 0.02
  done
  grep -q '^ready$' "$scratch/link.out" || { echo "FAILED: lossy_link $* did not get ready"; exit 1; }
  link_sides=("")
  local word side address pid
  while read -r word side address pid; do
    [ "$word" = side ] && link_sides[side]=$pid
  done <"$scratch/link.out"
}

link_run() { local side=$1; shift; nsenter --net="/proc/${link_sides[side]}/ns/net" "$@"; }
# an order is in force when the link has said so
link_set() {
  local said
  said=$(grep -c '^done$' "$scratch/link.out")
  echo "$*" >&"$link_orders"
  link_said() { [ "$(grep -c '^done$' "$scratch/link.out")" -gt "$said" ]; }
  await link_said || fail "lossy_link does not do: $*"
}
link_drain() { link_set drain; }
link_cut() { link_set cut "$1"; }
link_heal() { link_set heal; }

link_stop() {
  [ -n "$link_pid" ] || return 0
  kill "$link_pid" 2>/dev/null
  wait "$link_pid" 2>/dev/null
  link_pid=""
}

link_end() {
  echo quit >&"$link_orders"
  wait "$link_pid"
  local code=$?
  link_pid=""
  exec {link_orders}>&-
  rm -f "$scratch/link.orders"
  tail -n 1 "$scratch/link.out" >"$scratch/link.json"
  return $code
}
