#!/usr/bin/env bash
# scripts/words finds nothing in a clean tree, and rejects each retired word, a file above 700 lines, a name with two meanings, an
# option of the command in a message of the library, a broken link, another layer's internal header, and a named file that is not there.
#   test_words.sh SOURCE_DIR BUILD_DIR
set -u
command -v git >/dev/null || exit 77
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0
cd "$tree" || exit 1
mkdir -p scripts src/base src/sim src/session src/net src/realtime src/world include/feeler apps/feeler docs tests/unit
cp "$1/scripts/words" scripts/
echo '# Architecture' > docs/architecture.md
echo '# Contributing' > CONTRIBUTING.md
git init -q .

# tries one file; the rest of the tree stays clean
rejects() { # path, its text, what scripts/words has to say about it
  printf '%b\n' "$2" > "$1"
  git add -A
  local said
  if said=$(bash scripts/words 2>&1); then
    failed=1; echo "FAILED: not rejected: $2"
  else
    grep -q "$3" <<< "$said" || { failed=1; echo "FAILED: $2: no \"$3\" in: $said"; }
  fi
  git rm -qf --cached "$1"
  rm "$1"
}

git add -A
bash scripts/words || { failed=1; echo "FAILED: a clean tree is rejected"; }
rejects src/base/a.c '/* a deed of the user */' 'write instead: command'
rejects docs/a.md 'A party of three.' 'write instead: membership'
rejects src/session/a.c 'void flr_session_on_roll(void);' 'write instead: membership'
rejects src/sim/a.c 'static void make_framer(void);' 'write instead: stepper'
rejects src/sim/a.c '/* a recast */' 'write instead: rebuild'
rejects src/sim/a.h 'bool casting;' 'write instead: rebuild'
rejects src/base/a.c 'struct crew;' 'write instead: worker pool'
rejects docs/a.md 'What the user wishes.' 'write instead: request'
rejects src/sim/a.c 'static void wish_work(void);' 'write instead: request'
rejects src/base/a.c 'void flr_contact_march(void);' 'write instead: motion check'
rejects src/world/a.c 'void flr_world_ground(void);' 'write instead: merged static scene'
rejects src/base/a.c 'touched_calloc(1, 2);' 'touched_calloc\|prefaulted'
rejects include/feeler/a.h '#define FLR_PARTS_MOST 3' 'write instead: MAX_'
rejects src/net/a.c 'int a(flr_connection *line);' 'write instead: connection'
rejects src/sim/a.c 'void flr_world_tie(void);' 'write instead: remote coupling'
rejects src/realtime/a.c '/* its rights */' 'write instead: scheduling privileges'
rejects src/sim/a.c 'void flr_shape_drop(void);' 'write instead: retain, release'
rejects src/sim/a.c 'static int a(uint32_t place);' 'write instead: index'
rejects src/base/a.c '/* the user is told. */' 'write instead: feeler reports'
rejects tests/unit/a.c '// a fault is told, once' 'write instead: feeler reports'
rejects docs/a.md 'Tell it to the one who shares.' 'write instead: the host'
rejects src/base/a.c '/* an inverted-shell */' 'write instead: component'
rejects src/base/a.c 'fail("use --voxel");' 'an option of the command'
rejects src/sim/a.c '#include "session/session_internal.h"' 'internal header of another layer'
rejects src/base/a.c '/* TODO */' 'unfinished'
rejects src/base/a.c "$(seq -f '/* %g */' 701)" 'files above 700 lines'
rejects docs/a.md '[there](nowhere.md)' 'no such file: nowhere.md'
rejects docs/architecture.md 'See `src/base/nowhere.c`.' 'no such file: src/base/nowhere.c'
echo 'typedef struct a { int b; } flr_a;' > src/base/a.h
rejects src/sim/b.h 'typedef struct a { float b; } flr_b;' 'names with two meanings'
exit $failed
