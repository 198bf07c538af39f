/* part_ids.h: compares ids of parts and prints what differs. */
#ifndef FLR_TEST_PART_IDS_H
#define FLR_TEST_PART_IDS_H

#include "feeler/ids.h"
#include "support/test.h"

#define assert_part_equal(a, b)                                                                    \
    do {                                                                                           \
        flr_part_id assert_a = (a), assert_b = (b);                                                \
        assert_int_equal(assert_a.index, assert_b.index);                                          \
        assert_int_equal(assert_a.generation, assert_b.generation);                                \
    } while (0)

#endif
