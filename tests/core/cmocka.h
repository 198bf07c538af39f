/* cmocka.h: as much of cmocka as the unit tests of libfeeler use, for platforms that have no package of it. Each test runs in
 * this process; the first assertion that fails ends the test. */
#ifndef FLR_TEST_CORE_CMOCKA_H
#define FLR_TEST_CORE_CMOCKA_H

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state), (*teardown)(void **state);
};

extern jmp_buf cmocka_here;
enum { CMOCKA_FAILED = 1, CMOCKA_SKIPPED = 2 };

#define print_error(...)   fprintf(stderr, __VA_ARGS__)
#define print_message(...) printf(__VA_ARGS__)
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                            \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
        longjmp(cmocka_here, CMOCKA_FAILED);                                                       \
    } while (0)
#define fail() fail_msg("failed")
#define skip() longjmp(cmocka_here, CMOCKA_SKIPPED)
#define assert_true(a)                                                                             \
    do {                                                                                           \
        if (!(a)) fail_msg("not true: %s", #a);                                                    \
    } while (0)
#define assert_false(a)               assert_true(!(a))
#define assert_null(a)                assert_true((a) == NULL)
#define assert_non_null(a)            assert_true((a) != NULL)
#define assert_int_equal(a, b)        assert_true((long long)(a) == (long long)(b))
#define assert_int_not_equal(a, b)    assert_true((long long)(a) != (long long)(b))
#define assert_ptr_equal(a, b)        assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b)    assert_true((const void *)(a) != (const void *)(b))
#define assert_string_equal(a, b)     assert_true(strcmp((a), (b)) == 0)
#define assert_string_not_equal(a, b) assert_true(strcmp((a), (b)) != 0)
#define assert_memory_equal(a, b, n)  assert_true(memcmp((a), (b), (n)) == 0)
#define assert_in_range(a, low, high)                                                              \
    assert_true((unsigned long long)(a) >= (low) && (unsigned long long)(a) <= (high))

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f, NULL, NULL                                                                          \
    }
#define cmocka_unit_test_setup_teardown(f, begin, end)                                             \
    {                                                                                              \
#f, f, begin, end                                                                          \
    }
#define cmocka_run_group_tests(tests, begin, end)                                                  \
    cmocka_run(#tests, tests, sizeof tests / sizeof *tests, begin, end)
#define cmocka_run_group_tests_name(name, tests, begin, end)                                       \
    cmocka_run(name, tests, sizeof tests / sizeof *tests, begin, end)

int cmocka_run(const char *name, const struct CMUnitTest *tests, size_t count,
               int (*begin)(void **state), int (*end)(void **state));

#endif
