#!/usr/bin/env bash
# each shell loads its completion script and offers what it should
source "$(dirname "$0")/common.sh"
touch part.stl "other part.stl"
mkdir folder

expect 2 feeler completion
expect 2 feeler completion tcsh
says 'bash, zsh and fish'
for shell in bash zsh fish; do
  expect 0 feeler completion $shell
  silent_err
  cp "$scratch/out" script.$shell
done

# ---- bash: what would Tab offer? ----
offers() { # LAST-WORD-LINE...: words; prints the replies, one per line
  bash -c 'source script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _feeler; printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}
check_bash() { # WANTED words...
  local wanted=$1
  shift
  # not by a pipe: grep ends at the first match, and whoever writes into it then fails
  grep -qxF -- "$wanted" <<<"$(offers "$@" 2>&1)" && pass || fail "bash: $* does not offer $wanted: $(offers "$@" 2>&1 | tr '\n' ' ')"
}
expect 0 bash -n script.bash
check_bash make feeler ma
check_bash --version feeler --v
check_bash --json feeler help --j
check_bash make feeler help ma
check_bash zsh feeler completion z
check_bash ball feeler make ba
check_bash --out feeler make --o
check_bash folder feeler make ball --out fo
check_bash mm feeler info --unit m
check_bash mm feeler info --unit = m
check_bash top feeler info x --view t
check_bash part.stl feeler info pa
check_bash "other part.stl" feeler info ot
check_bash other\ part.stl feeler convert ot
[ -z "$(offers feeler make --seed 1)" ] && pass || fail "bash: --seed offers something"

# ---- fish ----
if command -v fish >/dev/null; then
  expect 0 fish --no-config --no-execute script.fish
  check_fish() { # WANTED LINE
    grep -qxF -- "$1" <<<"$(fish --no-config -c "source script.fish; complete -C '$2'" 2>&1 | cut -f1)" && pass ||
      fail "fish: '$2' does not offer $1"
  }
  check_fish make "feeler ma"
  check_fish --json "feeler help --j"
  check_fish ball "feeler make ba"
  check_fish mm "feeler info --unit m"
  check_fish part.stl "feeler info pa"
  check_fish folder/ "feeler make --out fo"
fi

# ---- zsh: load it, then press Tab in a pseudo terminal ----
if command -v zsh >/dev/null; then
  expect 0 zsh -n script.zsh
  expect 0 zsh -f -c 'autoload -U compinit; compinit -u -d $PWD/dump; source script.zsh; [[ $_comps[feeler] == _feeler ]]'
  silent_err
  mkdir fpath && cp script.zsh fpath/_feeler
  cat >tab.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($PWD/fpath \$fpath); autoload -U compinit; compinit -u -d $PWD/dump2"
zpty -w shell "bindkey '^I' complete-word; feeler() { print -r -- \"<\$*>\" }; echo read''y"
zpty -r -m shell out '*ready*'
zpty -w -n shell "$1"$'\t'$'\n'
zpty -w shell "echo do''ne"
zpty -r -m shell out '*done*'
print -r -- "$out"
END
  check_zsh() { # WANTED LINE: what feeler is called with after Tab and Enter
    grep -qF -- "<$1>" <<<"$(timeout 600 zsh -f tab.zsh "$2" 2>&1)" && pass || fail "zsh: '$2' does not complete to $1"
  }
  check_zsh "completion" "feeler compl"
  check_zsh "help --json" "feeler help --js"
  check_zsh "help make" "feeler help ma"
  check_zsh "make ball" "feeler make bal"
  check_zsh "info --view top" "feeler info --view to"
  check_zsh "info --view=top" "feeler info --view=to"
  check_zsh "info other part.stl" "feeler info oth"
fi
finish
