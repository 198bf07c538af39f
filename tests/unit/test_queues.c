/* queues as bitmaps of two levels, against plain arrays */
#include "contact/queues.h"

#include "support/test.h"

enum { ITEMS = 10000, NOWHERE = 255 };

typedef struct model {
    uint8_t queue[ITEMS]; /* where an item is */
    double since[ITEMS];  /* when it was last served or moved */
} model;

static void check(const flr_queues *queues, const model *m)
{
    for (int k = 0; k < FLR_QUEUES; k++) {
        const flr_queue *q = &queues->queue[k];
        uint32_t count = 0;
        for (uint32_t i = 0; i < ITEMS; i++) {
            bool in = q->bits[i / 64] >> i % 64 & 1;
            assert_eq(in, (m->queue[i] == k));
            count += in;
        }
        assert_int_equal(q->count, count);
        for (uint32_t w = 0; w < queues->words; w++)
            assert_eq((q->any[w / 64] >> w % 64 & 1), (q->bits[w] != 0));
    }
}

/* Nobody waits longer than the queue says, and who is served is served in turn. */
static void serve(flr_queues *queues, model *m, uint32_t k, uint32_t times, double odometer)
{
    flr_queue *q = &queues->queue[k];
    for (uint32_t n = 0; n < times && q->count; n++) {
        uint32_t from = q->cursor, item = flr_queue_next(queues, q, odometer);
        assert_int_equal(m->queue[item], k);
        for (uint32_t i = from % ITEMS; i != item; i = (i + 1) % ITEMS) assert_ne(m->queue[i], k);
        m->since[item] = odometer;
    }
    for (uint32_t i = 0; q->count && i < ITEMS; i++)
        if (m->queue[i] == k) assert_ge(m->since[i], flr_queue_since(q));
}

static void queues_keep_order(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("queues_keep_order");
    flr_queues queues;
    assert_true(flr_queues_make(&queues, ITEMS));
    model *m = calloc(1, sizeof *m);
    memset(m->queue, NOWHERE, ITEMS);
    double odometer = 0;
    for (int round = 0; round < 3000; round++) {
        odometer += flr_test_random_range(&random, 0, 1);
        uint32_t k = flr_test_random_below(&random, FLR_QUEUES),
                 first = flr_test_random_below(&random, ITEMS), count = 0;
        switch (flr_test_random_below(&random, 6)) {
        case 0: /* a run of items that are nowhere */
            while (count < 300 && first + count < ITEMS && m->queue[first + count] == NOWHERE) {
                m->queue[first + count] = (uint8_t)k;
                m->since[first + count++] = odometer;
            }
            flr_queue_add_run(&queues.queue[k], first, count, odometer);
            break;
        case 1: /* a run out of all queues */
            count = flr_test_random_below(&random, ITEMS - first < 500 ? ITEMS - first : 500);
            for (int i = 0; i < FLR_QUEUES; i++)
                flr_queue_remove_run(&queues.queue[i], first, count);
            memset(m->queue + first, NOWHERE, count);
            break;
        case 2: /* from one queue to another */
            for (uint32_t i = 0; i < 200; i++) {
                uint32_t item = flr_test_random_below(&random, ITEMS), from = m->queue[item];
                if (from == NOWHERE || from == k) continue;
                flr_queue_remove(&queues.queue[from], item);
                flr_queue_add(&queues.queue[k], item, odometer);
                m->queue[item] = (uint8_t)k;
                m->since[item] = odometer;
            }
            break;
        default:
            serve(&queues, m, k, flr_test_random_below(&random, 120), odometer);
        }
        if (round % 50 == 0) check(&queues, m);
    }
    check(&queues, m);
    flr_queues_clear(&queues);
    memset(m->queue, NOWHERE, ITEMS);
    check(&queues, m);
    flr_queues_free(&queues);
    free(m);
}

/* A full turn serves everybody once. */
static void everybody_has_a_turn(void **state)
{
    (void)state;
    flr_queues queues;
    assert_true(flr_queues_make(&queues, ITEMS));
    flr_queue *q = &queues.queue[3];
    uint32_t served[ITEMS] = {0};
    for (uint32_t i = 0; i < ITEMS; i += i % 7 ? 63 : 130) flr_queue_add(q, i, 0);
    for (int turn = 1; turn <= 3; turn++) {
        for (uint32_t n = 0; n < q->count; n++) served[flr_queue_next(&queues, q, turn)]++;
        for (uint32_t i = 0; i < ITEMS; i++)
            if (q->bits[i / 64] >> i % 64 & 1) assert_int_equal(served[i], turn);
        assert_ge(flr_queue_since(q), turn - 1);
    }
    flr_queues_free(&queues);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_keep_order),
        cmocka_unit_test(everybody_has_a_turn),
    };
    return cmocka_run_group_tests_name("queues", tests, NULL, NULL);
}
