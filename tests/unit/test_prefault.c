/* memory for the real-time thread: nobody faults there any more */
#include "base/prefault.h"

#include <sys/resource.h>

#include "support/test.h"

static long faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_minflt + usage.ru_majflt;
}

enum { SIZE = 8 << 20, STEP = 512 };

/* How many faults it takes to write everywhere. */
static long write_all(volatile uint8_t *bytes)
{
    long before = faults();
    for (size_t i = 0; i < SIZE; i += STEP) bytes[i] = 1;
    bytes[SIZE - 1] = 1;
    return faults() - before;
}

static void test_pages_are_there(void **state)
{
    (void)state;
    uint8_t *plain = calloc(SIZE, 1), *touched = flr_prefaulted_calloc(SIZE / 16, 16);
    assert_non_null(plain);
    assert_non_null(touched);
    for (size_t i = 0; i < SIZE; i++) assert_int_equal(touched[i], 0);
    long by_plain = write_all(plain), by_touched = write_all(touched);
    free(plain);
    free(touched);
    if (by_plain == 0) skip(); /* an allocator that fills pages itself has nothing to show */
    assert_le(by_touched, 2);  /* a system short of memory may take back a few */
}

static void test_sizes(void **state)
{
    (void)state;
    free(flr_prefaulted_calloc(0, 8));
    free(flr_prefaulted_calloc(1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_are_there),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
