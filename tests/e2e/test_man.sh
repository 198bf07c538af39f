#!/usr/bin/env bash
# every command has a man page that mandoc accepts and that says what --help says
source "$(dirname "$0")/common.sh"
command -v mandoc >/dev/null || { echo "mandoc is not installed"; exit 77; }

mkdir man
expect 0 feeler --generate man man
silent_err
commands=$(feeler help | sed -n '/^Commands/,/^$/p' | awk 'NR > 1 && NF { print $1 }')
[ "$(wc -w <<<"$commands")" -ge 3 ] || fail "feeler help lists no commands"
for page in man/feeler.1 $(printf 'man/feeler-%s.1 ' $commands); do
  expect 0 mandoc -T lint -W warning "$page"
  run bash -c "mandoc -T ascii '$page' | sed 's/.\x08//g'"
  tells NAME
  tells 'EXIT STATUS'
done
holds man feeler.1 $(printf 'feeler-%s.1 ' $commands)
for command in $commands; do
  # every option of the help stands in the page
  mandoc -T ascii "man/feeler-$command.1" | sed 's/.\x08//g' >page.txt
  for option in $(feeler "$command" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    grep -q -- "$option" page.txt && pass || fail "feeler-$command.1 lacks $option"
  done
  grep -q "feeler-$command" <(mandoc -T ascii man/feeler.1 | sed 's/.\x08//g') && pass || fail "feeler.1 lacks $command"
done
# a folder that is not there: nothing is made
expect 1 feeler --generate man nowhere
[ -e nowhere ] && fail "--generate made a folder" || pass
finish
