#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "feeler/base.h"

static void capacity_is_a_power_of_two(void **state)
{
    (void)state;
    static const size_t pairs[][2] = {{1, 1}, {2, 2}, {3, 4}, {1000, 1024}, {1024, 1024}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        flr_ring *ring = flr_ring_create(3, pairs[i][0]);
        assert_int_equal(flr_ring_capacity(ring), pairs[i][1]);
        flr_ring_destroy(ring);
    }
    assert_null(flr_ring_create(8, SIZE_MAX));
    assert_null(flr_ring_create(SIZE_MAX / 2, 4));
    flr_ring_destroy(NULL);
}

static void first_in_first_out(void **state)
{
    (void)state;
    flr_ring *ring = flr_ring_create(sizeof(int), 4);
    int out = -1;
    assert_false(flr_ring_pop(ring, &out));
    assert_int_equal(out, -1);
    for (int i = 0; i < 4; i++) assert_true(flr_ring_push(ring, &i));
    int extra = 99;
    assert_false(flr_ring_push(ring, &extra));
    assert_false(flr_ring_push(ring, &extra));
    assert_int_equal(flr_ring_dropped(ring), 2);
    assert_int_equal(flr_ring_count(ring), 4);
    for (int i = 0; i < 4; i++) {
        assert_true(flr_ring_pop(ring, &out));
        assert_int_equal(out, i);
    }
    assert_false(flr_ring_pop(ring, &out));
    assert_int_equal(flr_ring_count(ring), 0);
    flr_ring_destroy(ring);
}

/* random batches against a counter, with an odd element size, many times around */
static void random_batches(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random_batches");
    typedef struct element {
        uint8_t bytes[7];
    } element;
    flr_ring *ring = flr_ring_create(sizeof(element), 16);
    uint32_t pushed = 0, popped = 0;
    for (int round = 0; round < 20000; round++) {
        element batch[20];
        size_t count = flr_test_random_below(&random, 21);
        if (flr_test_random_below(&random, 2)) {
            for (uint32_t i = 0; i < count; i++) {
                uint32_t number = pushed + i;
                memset(&batch[i], (int)(number & 0x7F), sizeof batch[i]);
                memcpy(batch[i].bytes, &number, sizeof number);
            }
            size_t room = 16 - (pushed - popped);
            size_t done = flr_ring_push_batch(ring, batch, count);
            assert_int_equal(done, count < room ? count : room);
            pushed += (uint32_t)done;
        } else {
            size_t there = pushed - popped;
            size_t done = flr_ring_pop_batch(ring, batch, count);
            assert_int_equal(done, count < there ? count : there);
            for (size_t i = 0; i < done; i++, popped++) {
                uint32_t number;
                memcpy(&number, batch[i].bytes, sizeof number);
                assert_int_equal(number, popped);
                assert_int_equal(batch[i].bytes[6], popped & 0x7F);
            }
        }
        assert_int_equal(flr_ring_count(ring), pushed - popped);
    }
    assert_int_equal(flr_ring_dropped(ring), 0);
    flr_ring_drop(ring, 5);
    assert_int_equal(flr_ring_dropped(ring), 5);
    flr_ring_destroy(ring);
}

/* two threads: every element that was pushed arrives once, whole and in order */
typedef struct message {
    uint64_t number, copies[5];
} message;

enum { MESSAGES = 200000 };

static void *produce(void *argument)
{
    flr_ring *ring = argument;
    uint64_t next = 0;
    while (next < MESSAGES) {
        message batch[8];
        size_t count = 1 + next % 8;
        if (count > MESSAGES - next) count = MESSAGES - next;
        for (size_t i = 0; i < count; i++) {
            batch[i].number = next + i;
            for (int k = 0; k < 5; k++) batch[i].copies[k] = (next + i) * 0x9E3779B97F4A7C15u;
        }
        size_t done = flr_ring_push_batch(ring, batch, count);
        next += done;
        if (done == 0) sched_yield();
    }
    return NULL;
}

static void two_threads(void **state)
{
    (void)state;
    flr_ring *ring = flr_ring_create(sizeof(message), 64);
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce, ring), 0);
    uint64_t expected = 0;
    bool right = true;
    while (expected < MESSAGES) {
        message batch[11];
        size_t count = flr_ring_pop_batch(ring, batch, 1 + expected % 11);
        right = right && flr_ring_count(ring) <= 64;
        for (size_t i = 0; i < count; i++, expected++) {
            right = right && batch[i].number == expected;
            for (int k = 0; k < 5; k++)
                right = right && batch[i].copies[k] == expected * 0x9E3779B97F4A7C15u;
        }
        if (count == 0) sched_yield();
        if (!right) expected += MESSAGES;
    }
    if (!right) fail_msg("an element was lost, torn or out of order"); // the producer may hang
    pthread_join(producer, NULL);
    assert_false(flr_ring_pop(ring, &(message){0}));
    flr_ring_destroy(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacity_is_a_power_of_two),
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(random_batches),
        cmocka_unit_test(two_threads),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
