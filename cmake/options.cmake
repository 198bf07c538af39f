# flr_options: what every target of ours is compiled with.
add_library(flr_options INTERFACE)
target_compile_definitions(flr_options INTERFACE _GNU_SOURCE)
target_compile_options(flr_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wundef -Wvla
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  # the same bits from every compiler: no fused multiply-add behind our back, errno unused
  -ffp-contract=off -fno-math-errno
  # an assertion names its file as in the source tree, not where that lay on the build machine
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
  # gcc 12 drops the rounding of neighbouring (double)(float) conversions when it vectorizes them;
  # tests/unit/test_decimal.c has the case
  $<$<COMPILE_LANG_AND_ID:C,GNU>:-fno-tree-slp-vectorize>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-tree-slp-vectorize>)
if(FLR_WERROR)
  target_compile_options(flr_options INTERFACE -Werror)
endif()
if(FLR_SANITIZE)
  target_compile_definitions(flr_options INTERFACE FLR_SANITIZED)
  target_compile_options(flr_options INTERFACE -fsanitize=${FLR_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(flr_options INTERFACE -fsanitize=${FLR_SANITIZE})
  if(FLR_SANITIZE MATCHES undefined)
    target_compile_options(flr_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
if(FLR_FUZZ_STATIC) # the fast build: which way was taken, but not what was compared
  target_compile_options(flr_options INTERFACE -fsanitize-coverage=inline-8bit-counters,pc-table)
elseif(FLR_FUZZ)
  target_compile_options(flr_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(FLR_FUZZ_STATIC) # the choice among clones is made before libFuzzer's counters can be used
  target_compile_definitions(flr_options INTERFACE FLR_NO_CLONES)
endif()
if(FLR_COVERAGE)
  target_compile_options(flr_options INTERFACE --coverage -fprofile-abs-path -fprofile-update=atomic)
  target_link_options(flr_options INTERFACE --coverage)
endif()
if(NOT FLR_SIMD)
  target_compile_definitions(flr_options INTERFACE FLR_NO_SIMD)
endif()
