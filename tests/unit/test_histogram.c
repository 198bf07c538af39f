/* histogram: steps without gaps, percentiles beside sorted numbers, a reader in another thread */
#include "feeler/base.h"

#include <pthread.h>
#include <stdatomic.h>

#include "support/test.h"

static void steps_join(void **state)
{
    (void)state;
    // every step begins behind the end of the one before and holds its own end
    for (unsigned i = 0; i < FLR_HISTOGRAM_SIZE; i++) {
        uint64_t upper = flr_histogram_upper(i);
        assert_int_equal(flr_histogram_index(upper), i);
        if (i + 1 < FLR_HISTOGRAM_SIZE) assert_int_equal(flr_histogram_index(upper + 1), i + 1);
        // and is at most 1/32 wide
        uint64_t lower = i ? flr_histogram_upper(i - 1) + 1 : 0;
        assert_le((upper - lower) * 32, lower);
    }
    assert_eq(flr_histogram_upper(FLR_HISTOGRAM_SIZE - 1), ((uint64_t)1 << 42) - 1);
    assert_int_equal(flr_histogram_index(UINT64_MAX), FLR_HISTOGRAM_SIZE - 1);
}

static void empty_and_one(void **state)
{
    (void)state;
    static flr_histogram h;
    memset(&h, 0, sizeof h);
    flr_percentiles p = flr_histogram_percentiles(&h);
    assert_eq(p.count, 0);
    assert_eq(p.mean, 0);
    assert_eq(p.p50, 0);
    assert_eq(p.p999, 0);
    assert_eq(p.max, 0);
    flr_histogram_add(&h, 123456789);
    p = flr_histogram_percentiles(&h);
    assert_eq(p.p50, 123456789);
    assert_eq(p.p999, 123456789);
    assert_eq(p.max, 123456789);
    flr_histogram_add(&h, UINT64_MAX / 2);
    assert_eq(flr_histogram_quantile(&h, 1), UINT64_MAX / 2);
    assert_le(flr_histogram_quantile(&h, 0), 123456789 + 123456789 / 32);
    flr_histogram_clear(&h);
    assert_eq(flr_histogram_percentiles(&h).count, 0);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void like_sorted(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static uint64_t values[COUNT];
    static flr_histogram h, part;
    flr_test_random random = flr_test_random_begin("histogram");
    for (int round = 0; round < 20; round++) {
        memset(&h, 0, sizeof h);
        memset(&part, 0, sizeof part);
        unsigned bits = 1 + flr_test_random_below(&random, 41);
        for (int i = 0; i < COUNT; i++) {
            values[i] = flr_test_random_u64(&random) >> (64 - bits);
            flr_histogram_add(i % 3 ? &h : &part, values[i]);
        }
        flr_histogram_merge(&h, &part);
        qsort(values, COUNT, sizeof values[0], compare);
        static const double q[] = {0, 0.25, 0.5, 0.99, 0.999, 1};
        for (size_t i = 0; i < sizeof q / sizeof q[0]; i++) {
            size_t wanted = COUNT - (size_t)((1 - q[i]) * COUNT);
            uint64_t exact = values[wanted ? wanted - 1 : 0];
            uint64_t got = flr_histogram_quantile(&h, q[i]);
            if (got < exact || got > exact + exact / 32)
                fail_msg("quantile %g: %llu, not %llu", q[i], (unsigned long long)got,
                         (unsigned long long)exact);
        }
        assert_eq(flr_histogram_percentiles(&h).count, COUNT);
        assert_eq(flr_histogram_percentiles(&h).max, values[COUNT - 1]);
    }
}

static flr_histogram shared;
static atomic_bool done;

static void *add_many(void *context)
{
    (void)context;
    for (int i = 0; i < 100000; i++) flr_histogram_add(&shared, 1000 + (uint64_t)i % 100);
    atomic_store(&done, true);
    return NULL;
}

static void read_meanwhile(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, add_many, NULL), 0);
    uint64_t before = 0;
    while (!atomic_load(&done)) {
        flr_percentiles p = flr_histogram_percentiles(&shared);
        assert_ge(p.count, before);
        assert_le(p.count, 100000);
        if (p.count) assert_in_range(p.p50, 1000, 1099);
        before = p.count;
    }
    pthread_join(thread, NULL);
    assert_int_equal(flr_histogram_percentiles(&shared).count, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_join),
        cmocka_unit_test(empty_and_one),
        cmocka_unit_test(like_sorted),
        cmocka_unit_test(read_meanwhile),
    };
    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
