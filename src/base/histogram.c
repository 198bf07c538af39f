/* log-linear histogram: exact below 32, then 32 steps to each doubling
 *
 * One thread adds, others may look. Every field is written by relaxed atomic stores of the whole
 * word, which cost what plain stores cost, so that a reader sees old or new counts, never half. */
#include "feeler/base.h"

/* the struct is plain data for C++ and for copies, so the accesses are made atomic, not the fields */
static uint64_t load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static void store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

unsigned flr_histogram_index(uint64_t value)
{
    if (value < FLR_HISTOGRAM_STEPS) return (unsigned)value;
    // the leading bit says which doubling, the five bits behind it which step
    unsigned top = 63 - (unsigned)__builtin_clzll(value);
    unsigned index = (top - 4) * FLR_HISTOGRAM_STEPS + (unsigned)(value >> (top - 5) & 31);
    return index < FLR_HISTOGRAM_SIZE ? index : FLR_HISTOGRAM_SIZE - 1;
}

uint64_t flr_histogram_upper(unsigned index)
{
    FLR_ASSERT(index < FLR_HISTOGRAM_SIZE);
    if (index < FLR_HISTOGRAM_STEPS) return index;
    unsigned shift = index / FLR_HISTOGRAM_STEPS - 1;
    uint64_t step = FLR_HISTOGRAM_STEPS + index % FLR_HISTOGRAM_STEPS;
    return ((step + 1) << shift) - 1;
}

void flr_histogram_add(flr_histogram *histogram, uint64_t value)
{
    FLR_ASSERT(histogram);
    uint64_t *count = &histogram->counts[flr_histogram_index(value)];
    store(count, *count + 1);
    store(&histogram->sum, histogram->sum + value);
    if (value > histogram->max) store(&histogram->max, value);
    store(&histogram->total, histogram->total + 1);
}

void flr_histogram_clear(flr_histogram *histogram)
{
    FLR_ASSERT(histogram);
    store(&histogram->total, 0);
    store(&histogram->sum, 0);
    store(&histogram->max, 0);
    for (unsigned i = 0; i < FLR_HISTOGRAM_SIZE; i++) store(&histogram->counts[i], 0);
}

void flr_histogram_merge(flr_histogram *histogram, const flr_histogram *other)
{
    FLR_ASSERT(histogram && other);
    for (unsigned i = 0; i < FLR_HISTOGRAM_SIZE; i++)
        store(&histogram->counts[i], histogram->counts[i] + load(&other->counts[i]));
    store(&histogram->sum, histogram->sum + load(&other->sum));
    if (load(&other->max) > histogram->max) store(&histogram->max, load(&other->max));
    store(&histogram->total, histogram->total + load(&other->total));
}

uint64_t flr_histogram_quantile(const flr_histogram *histogram, double q)
{
    FLR_ASSERT(histogram && q >= 0 && q <= 1);
    // the counts themselves are summed: `total` may be of another moment
    uint64_t total = 0;
    for (unsigned i = 0; i < FLR_HISTOGRAM_SIZE; i++) total += load(&histogram->counts[i]);
    if (total == 0) return 0;
    // how many numbers must be at or below it: all of them but the share 1 - q, at least one
    uint64_t wanted = total - (uint64_t)((1 - q) * (double)total);
    if (wanted == 0) wanted = 1;
    uint64_t max = load(&histogram->max), below = 0;
    for (unsigned i = 0; i < FLR_HISTOGRAM_SIZE; i++) {
        below += load(&histogram->counts[i]);
        if (below < wanted) continue;
        uint64_t upper = flr_histogram_upper(i);
        return i == FLR_HISTOGRAM_SIZE - 1 || upper > max ? max : upper;
    }
    return max;
}

flr_percentiles flr_histogram_percentiles(const flr_histogram *histogram)
{
    FLR_ASSERT(histogram);
    uint64_t count = load(&histogram->total);
    flr_percentiles p = {
        .count = count,
        .mean = count ? (double)load(&histogram->sum) / (double)count : 0,
        .p50 = flr_histogram_quantile(histogram, 0.5),
        .p99 = flr_histogram_quantile(histogram, 0.99),
        .p999 = flr_histogram_quantile(histogram, 0.999),
        .max = load(&histogram->max),
    };
    return p;
}
