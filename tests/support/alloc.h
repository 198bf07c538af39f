/* alloc.h: tests in which memory runs out.
 *
 * All tests are linked so that malloc, calloc and realloc of our own code (not of libc itself)
 * pass through here. The loop over all allocations of an action:
 *
 *     for (unsigned n = 1;; n++) {
 *         flr_test_alloc_fail(n);
 *         flr_result result = action(...);
 *         if (!flr_test_alloc_end()) break;      // nothing failed: fewer than n allocations
 *         assert_int_equal(result, FLR_NO_MEMORY);
 *     }
 */
#ifndef FLR_TEST_ALLOC_H
#define FLR_TEST_ALLOC_H

#include <stdbool.h>

/* From now on the n-th allocation of this thread fails (the first is 1), and all after it. */
void flr_test_alloc_fail(unsigned n);

/* Allocations succeed again; says whether one has failed. */
bool flr_test_alloc_end(void);

#endif
