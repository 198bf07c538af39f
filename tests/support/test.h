/* test.h: what every unit test includes. */
#ifndef FLR_TEST_H
#define FLR_TEST_H

/* cmocka wants these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "feeler/env.h"

/* Asserts FLR_OK and prints the sentence if it is not. Use: assert_ok(call(..., &error), error) */
#define assert_ok(call, error)                                                                     \
    do {                                                                                           \
        flr_result assert_ok_result = (call);                                                      \
        if (assert_ok_result != FLR_OK)                                                            \
            fail_msg("%s: %s: %s", #call, flr_result_name(assert_ok_result), (error).message);     \
    } while (0)

/* Comparisons of numbers that print both values on failure. The arguments are evaluated once more
 * to print them. assert_within: |a - b| <= tolerance. */
#define assert_eq(a, b) flr_test_compare(a, ==, b)
#define assert_ne(a, b) flr_test_compare(a, !=, b)
#define assert_lt(a, b) flr_test_compare(a, <, b)
#define assert_le(a, b) flr_test_compare(a, <=, b)
#define assert_gt(a, b) flr_test_compare(a, >, b)
#define assert_ge(a, b) flr_test_compare(a, >=, b)
#define assert_within(a, b, tolerance)                                                             \
    do {                                                                                           \
        double assert_a = (a), assert_b = (b), assert_t = (tolerance);                             \
        if (!(fabs(assert_a - assert_b) <= assert_t))                                              \
            fail_msg("%s is %.17g, not %.17g within %g", #a, assert_a, assert_b, assert_t);        \
    } while (0)

#define flr_test_compare(a, op, b)                                                                 \
    do {                                                                                           \
        if (!((a)op(b)))                                                                           \
            fail_msg("%s " #op " %s does not hold: %.20Lg and %.20Lg", #a, #b, (long double)(a),   \
                     (long double)(b));                                                            \
    } while (0)

/* Property tests: a seeded generator. The seed comes from FLR_TEST_SEED or the default and is
 * printed, so that a failure can be repeated. */
typedef struct flr_test_random {
    uint64_t state;
} flr_test_random;

flr_test_random flr_test_random_begin(const char *test_name);
uint64_t flr_test_random_u64(flr_test_random *random);
double flr_test_random_range(flr_test_random *random, double low, double high);
uint32_t flr_test_random_below(flr_test_random *random, uint32_t bound);

/* The folder with the shared models (FLR_MODELS_DIR, else ../shared/models beside the source), or
 * NULL when it is not there: then skip(). */
const char *flr_test_models_dir(void);

/* A new empty folder under the system's temporary folder, removed with all it holds by
 * flr_test_folder_remove(). The text is owned by the caller (free). */
char *flr_test_folder(void);
void flr_test_folder_remove(char *folder);

/* This machine, but for the clock: that moves on by a millisecond whenever it is read. What reads it again and again until its time
 * is up gets as far on a busy machine as on a quiet one. */
flr_env *flr_test_counting_env(void);

#endif
