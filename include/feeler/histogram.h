/* feeler/histogram.h: how a number is spread, counted while it comes in.
 *
 * A histogram with steps that grow with the number: exact below 32, then 32 steps to each doubling,
 * so that a percentile is right to about 3 %. For times in nanoseconds, points tested, contacts.
 * Its size is fixed; adding takes a few instructions.
 *
 *     flr_histogram_add(&h, nanoseconds);
 *     flr_percentiles p = flr_histogram_percentiles(&h);
 *
 * Thread: add by one thread; reading by any, also meanwhile: it sees some moment during the call,
 * each count whole. RT safe.
 */
#ifndef FEELER_HISTOGRAM_H
#define FEELER_HISTOGRAM_H

#include <stdint.h>

#include "feeler/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_HISTOGRAM_STEPS = 32, FLR_HISTOGRAM_SIZE = 32 * 38 };

/* Plain data, all zero at first; about 10 KB. Numbers of 2^42 and more count as the largest step.
 * */
typedef struct flr_histogram {
    uint64_t counts[FLR_HISTOGRAM_SIZE];
    uint64_t total; /* numbers added */
    uint64_t sum;   /* of them */
    uint64_t max;   /* largest, exactly; 0 when empty */
} flr_histogram;

typedef struct flr_percentiles {
    uint64_t count;
    double mean;
    uint64_t p50, p99, p999; /* at most 1/32 above what they stand for, never above max */
    uint64_t max;
} flr_percentiles;

/* Adds one number. */
FLR_API void flr_histogram_add(flr_histogram *histogram, uint64_t value);

/* Takes everything back. By the adding thread. */
FLR_API void flr_histogram_clear(flr_histogram *histogram);

/* Adds what another holds. By the adding thread. */
FLR_API void flr_histogram_merge(flr_histogram *histogram, const flr_histogram *other);

/* The number that the share `q` (0 … 1) of all does not exceed; 0 when empty. */
FLR_API uint64_t flr_histogram_quantile(const flr_histogram *histogram, double q);

/* The usual ones at once; all zero when empty. */
FLR_API flr_percentiles flr_histogram_percentiles(const flr_histogram *histogram);

/* For those who draw it: which step a number falls into, and the largest number of a step. */
FLR_API unsigned flr_histogram_index(uint64_t value);
FLR_API uint64_t flr_histogram_upper(unsigned index);

#ifdef __cplusplus
}
#endif
#endif
