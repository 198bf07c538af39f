#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "feeler/base.h"

static void newest_only(void **state)
{
    (void)state;
    flr_latest *latest = flr_latest_create(sizeof(int));
    int value = 77;
    assert_int_equal(flr_latest_read(latest, &value), 0);
    assert_int_equal(value, 0);
    for (int i = 1; i <= 5; i++) flr_latest_write(latest, &(int){10 * i});
    assert_int_equal(flr_latest_read(latest, &value), 5);
    assert_int_equal(value, 50);
    value = 0;
    assert_int_equal(flr_latest_read(latest, &value), 5); // the same again
    assert_int_equal(value, 50);
    flr_latest_write(latest, &(int){60});
    assert_int_equal(flr_latest_read(latest, &value), 6);
    assert_int_equal(value, 60);
    flr_latest_destroy(latest);
    flr_latest_destroy(NULL);
    assert_null(flr_latest_create(SIZE_MAX));
}

static void in_place(void **state)
{
    (void)state;
    flr_latest *latest = flr_latest_create(100);
    uint64_t number;
    const uint8_t *seen = flr_latest_view(latest, &number);
    assert_int_equal(number, 0);
    for (int round = 1; round <= 20; round++) {
        uint8_t *next = flr_latest_begin(latest);
        assert_int_equal((uintptr_t)next % 64, 0);
        assert_ptr_not_equal(next, seen); // what the reader looks at is never written to
        memset(next, round, 100);
        flr_latest_publish(latest);
        if (round % 3 == 0) {
            seen = flr_latest_view(latest, &number);
            assert_int_equal(number, round);
        }
        for (int i = 0; i < 100; i++) assert_int_equal(seen[i], round / 3 * 3);
    }
    assert_ptr_equal(flr_latest_view(latest, NULL), flr_latest_view(latest, &number));
    assert_int_equal(number, 20);
    flr_latest_destroy(latest);
}

typedef struct sample {
    uint64_t words[40];
} sample;

enum { SAMPLES = 100000, ENOUGH = 1000 };

typedef struct shared {
    flr_latest *latest;
    atomic_bool enough; /* the reader has seen enough different values */
    uint64_t last;      /* that was published; valid when the writer has ended */
} shared;

/* Publishes SAMPLES values at least, and goes on until the reader has seen enough of them, however rarely it runs. */
static void *publish(void *argument)
{
    shared *s = argument;
    uint64_t n = 0;
    while (n < SAMPLES || !atomic_load(&s->enough)) {
        n++;
        sample *next = flr_latest_begin(s->latest);
        for (int i = 0; i < 40; i++) next->words[i] = n;
        flr_latest_publish(s->latest);
        if (n % 64 == 0) sched_yield();
    }
    s->last = n;
    return NULL;
}

/* values are whole, never go back, and the last one arrives */
static void two_threads(void **state)
{
    (void)state;
    shared s = {.latest = flr_latest_create(sizeof(sample))};
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, publish, &s), 0);
    uint64_t last = 0, different = 0;
    bool whole = true, forward = true;
    while (different < ENOUGH && whole && forward) {
        sample copy;
        uint64_t number = flr_latest_read(s.latest, &copy);
        for (int i = 0; i < 40; i++) whole = whole && copy.words[i] == number;
        forward = forward && number >= last;
        if (number == last)
            sched_yield();
        else
            different++;
        last = number;
    }
    atomic_store(&s.enough, true);
    pthread_join(writer, NULL);
    sample copy;
    assert_int_equal(flr_latest_read(s.latest, &copy), s.last);
    assert_int_equal(copy.words[39], s.last);
    assert_true(whole);
    assert_true(forward);
    flr_latest_destroy(s.latest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_only),
        cmocka_unit_test(in_place),
        cmocka_unit_test(two_threads),
    };
    return cmocka_run_group_tests_name("latest", tests, NULL, NULL);
}
