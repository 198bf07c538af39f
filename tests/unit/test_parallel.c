/* a loop over independent pieces of work, on several threads */
#include "base/parallel.h"

#include <stdatomic.h>

#include "support/test.h"

enum { pieces = 10000 };

typedef struct counted {
    atomic_uint done[pieces];
    unsigned threads;
    size_t fail_at; /* pieces: never */
} counted;

static flr_result count(void *context, size_t piece, unsigned worker)
{
    counted *c = context;
    assert_lt(worker, flr_parallel_threads(c->threads));
    atomic_fetch_add(&c->done[piece], 1);
    return piece == c->fail_at ? FLR_IO : FLR_OK;
}

static void every_piece_is_done_once(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= 8; threads++) {
        counted *c = calloc(1, sizeof *c);
        c->threads = threads;
        c->fail_at = pieces;
        assert_int_equal(flr_parallel_for(threads, pieces, count, c), FLR_OK);
        for (size_t i = 0; i < pieces; i++) assert_int_equal(atomic_load(&c->done[i]), 1);
        free(c);
    }
}

static void a_failure_ends_the_loop(void **state)
{
    (void)state;
    counted *c = calloc(1, sizeof *c);
    c->threads = 4;
    c->fail_at = 5;
    assert_int_equal(flr_parallel_for(4, pieces, count, c), FLR_IO);
    assert_int_equal(atomic_load(&c->done[5]), 1);
    for (size_t i = 0; i < pieces; i++) assert_le(atomic_load(&c->done[i]), 1);
    free(c);
}

static void no_work_is_fine(void **state)
{
    (void)state;
    assert_int_equal(flr_parallel_for(3, 0, count, NULL), FLR_OK);
    assert_ge(flr_parallel_threads(0), 1);
    assert_int_equal(flr_parallel_threads(7), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_is_done_once),
        cmocka_unit_test(a_failure_ends_the_loop),
        cmocka_unit_test(no_work_is_fine),
    };
    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
