/* falling_frames.h: whole frames of falling parts, for `feeler bench falling`. */
#ifndef FLR_BENCH_FALLING_FRAMES_H
#define FLR_BENCH_FALLING_FRAMES_H

#include "bench/bench.h"

/* Rows of a table, or the members of a JSON list. */
flr_result flr_bench_falling_frames(const flr_bench_options *options, FILE *out, flr_error *error);

#endif
