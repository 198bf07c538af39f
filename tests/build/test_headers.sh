#!/usr/bin/env bash
# every public header compiles alone, as C17 and as C++17, with all warnings as errors, and says
# which threads may call it.
set -uo pipefail
source_dir=$1 build_dir=$2
failed=0
for header in "$source_dir"/include/feeler/*.h "$build_dir"/generated/feeler/*.h; do
  name=feeler/$(basename "$header")
  for compiler in "cc -std=c17 -x c" "c++ -std=c++17 -x c++"; do
    printf '#include "%s"\n#include "%s"\nextern int flr_header_alone;\n' "$name" "$name" |
      $compiler -Wall -Wextra -Wconversion -Wpedantic -Werror -fsyntax-only \
        -I"$source_dir/include" -I"$build_dir/generated" - || { echo "FAIL: $name does not compile alone by: $compiler"; failed=1; }
  done
  grep -qE 'Thread|RT safe' "$header" || [ "$name" = feeler/feeler.h ] || { echo "FAIL: $name never says which thread may call it"; failed=1; }
done
exit $failed
