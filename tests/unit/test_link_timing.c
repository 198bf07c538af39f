/* round trip, clock offset, loss and rates from packets whose way is known */
#include "net/link_timing.h"

#include <math.h>

#include "support/test.h"

static const int64_t ms = 1000000;

/* two sides that send every 10 ms; the way there and back takes what `there` and `back` say, plus up to `jitter`; clocks apart
 * by `offset`; every `lost`-th packet is lost */
typedef struct exchange {
    int64_t there, back, jitter, offset;
    uint32_t lost;
    flr_link_timing a, b;
} exchange;

typedef struct flight {
    int64_t arrival; /* true time */
    uint64_t number;
    flr_link_timing_times times;
} flight;

static void run(exchange *x, int count, const char *name)
{
    enum { MAX_SAMPLES = 256 };
    flight to_b[MAX_SAMPLES], to_a[MAX_SAMPLES];
    uint32_t count_b = 0, count_a = 0;
    uint64_t number_a = 0, number_b = 0;
    flr_test_random random = flr_test_random_begin(name);
    int64_t now = 1000 * ms;
    flr_link_timing_begin(&x->a, now);
    flr_link_timing_begin(&x->b, now + x->offset);
    for (int64_t end = now + count * ms; now < end; now += ms) {
        for (uint32_t i = 0; i < count_b; i++) {
            if (to_b[i].arrival > now) continue;
            flr_link_timing_came(&x->b, to_b[i].arrival + x->offset, to_b[i].number, &to_b[i].times,
                                 100);
            to_b[i--] = to_b[--count_b];
        }
        for (uint32_t i = 0; i < count_a; i++) {
            if (to_a[i].arrival > now) continue;
            flr_link_timing_came(&x->a, to_a[i].arrival, to_a[i].number, &to_a[i].times, 100);
            to_a[i--] = to_a[--count_a];
        }
        flr_link_timing_tick(&x->a, now);
        flr_link_timing_tick(&x->b, now + x->offset);
        if (now / ms % 10) continue;
        int64_t more = x->jitter ? (int64_t)flr_test_random_below(&random, (uint32_t)x->jitter) : 0;
        flight f = {now + x->there + more, ++number_a, flr_link_timing_sent(&x->a, now, 100)};
        if (!x->lost || number_a % x->lost) to_b[count_b++] = f;
        more = x->jitter ? (int64_t)flr_test_random_below(&random, (uint32_t)x->jitter) : 0;
        f = (flight){now + x->back + more, ++number_b,
                     flr_link_timing_sent(&x->b, now + x->offset, 100)};
        if (!x->lost || number_b % x->lost) to_a[count_a++] = f;
        assert_lt(count_a, MAX_SAMPLES);
        assert_lt(count_b, MAX_SAMPLES);
    }
}

static void test_even(void **state)
{
    (void)state;
    exchange x = {.there = 30 * ms, .back = 30 * ms, .offset = 5000000 * ms};
    run(&x, 5000, "test_link_timing even");
    assert_lt(fabs(x.a.rtt - 0.060), 0.002);
    assert_lt(fabs(flr_link_timing_least(&x.a) - 0.060), 0.001);
    assert_lt(llabs(x.a.offset_ns - x.offset), ms);
    assert_lt(llabs(x.b.offset_ns + x.offset), ms);
    assert_eq(x.a.loss_in, 0);
    assert_lt(fabs(x.a.in.packets_rate - 100), 3);
    assert_lt(fabs(x.a.out.bytes_rate - 10000), 300);
}

/* one way longer than the other: the offset is wrong by half the difference, and says so */
static void test_uneven(void **state)
{
    (void)state;
    exchange x = {.there = 90 * ms, .back = 10 * ms, .offset = -77 * ms};
    run(&x, 3000, "test_link_timing uneven");
    int64_t wrong = llabs(x.a.offset_ns - x.offset);
    assert_lt(llabs(wrong - 40 * ms), ms);
    assert_le(wrong, flr_link_timing_wrong(&x.a, 4000 * ms));
    assert_lt(flr_link_timing_wrong(&x.a, 4000 * ms), 55 * ms);
}

/* jitter and loss: the least round trip counts for the clock */
static void test_jitter(void **state)
{
    (void)state;
    exchange x = {
        .there = 20 * ms, .back = 20 * ms, .jitter = 60 * ms, .offset = 3 * ms, .lost = 5};
    run(&x, 20000, "test_link_timing jitter");
    assert_lt(fabs(x.a.loss_in - 0.2), 0.05);
    assert_gt(x.a.jitter, 0.004);
    assert_lt(x.a.jitter, 0.05);
    assert_lt(flr_link_timing_least(&x.a), 0.055);
    int64_t wrong = llabs(x.a.offset_ns - x.offset);
    assert_le(wrong, flr_link_timing_wrong(&x.a, 21000 * ms));
    assert_lt(wrong, 12 * ms);
    assert_gt(flr_link_timing_late(&x.a), 0.06);
}

/* a clock that says anything breaks nothing */
static void test_lies(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("test_link_timing lies");
    static const int64_t wild[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    flr_link_timing pulse;
    flr_link_timing_begin(&pulse, 1);
    int64_t now = 1;
    for (int i = 0; i < 20000; i++) {
        now += flr_test_random_below(&random, 100000000);
        flr_link_timing_times times = {.sent_ns = wild[flr_test_random_below(&random, 7)],
                                       .echo_ns = wild[flr_test_random_below(&random, 7)],
                                       .held_us = (uint32_t)flr_test_random_u64(&random)};
        if (flr_test_random_below(&random, 2)) times.echo_ns = now - 1;
        double rtt = flr_link_timing_came(&pulse, now, flr_test_random_u64(&random), &times, 10);
        assert_ge(rtt, 0);
        assert_true(isfinite(rtt));
        flr_link_timing_sent(&pulse, now, 10);
        flr_link_timing_tick(&pulse, now);
        assert_true(isfinite(pulse.rtt));
        assert_ge(pulse.rtt, 0);
        assert_ge(pulse.jitter, 0);
        assert_ge(pulse.loss_in, 0);
        assert_le(pulse.loss_in, 1);
        assert_gt(flr_link_timing_wrong(&pulse, now), 0);
    }
}

/* a packet that is sent with a time from before the last one came is no answer to it: it was held for less than nothing */
static void test_sent_before_it_came(void **state)
{
    (void)state;
    flr_link_timing pulse;
    flr_link_timing_begin(&pulse, 1);
    flr_link_timing_times first = {.sent_ns = 5 * ms};
    flr_link_timing_came(&pulse, 30 * ms, 1, &first, 10);
    flr_link_timing_times times = flr_link_timing_sent(&pulse, 29 * ms, 10);
    assert_int_equal(times.echo_ns, 0);
    assert_int_equal(times.held_us, 0);
    times = flr_link_timing_sent(&pulse, 31 * ms, 10);
    assert_int_equal(times.echo_ns, 5 * ms);
    assert_int_equal(times.held_us, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even),
        cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_sent_before_it_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
