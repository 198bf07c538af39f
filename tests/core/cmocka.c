/* runs tests one after another */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "cmocka.h"

jmp_buf cmocka_here;

int cmocka_run(const char *name, const struct CMUnitTest *tests, size_t count,
               int (*begin)(void **state), int (*end)(void **state))
{
    void *shared = NULL;
    volatile int failed = 0, skipped = 0;
    if (begin && begin(&shared) != 0) return 1;
    for (volatile size_t i = 0; i < count; i++) {
        void *state = shared;
        const int how = setjmp(cmocka_here);
        if (how == 0) {
            if (tests[i].setup && tests[i].setup(&state) != 0) fail_msg("setup");
            tests[i].test(&state);
        }
        if (tests[i].teardown) tests[i].teardown(&state);
        failed += how == CMOCKA_FAILED;
        skipped += how == CMOCKA_SKIPPED;
        if (how == CMOCKA_FAILED) printf("%s: %s failed\n", name, tests[i].name);
    }
    if (end) end(&shared);
    printf("%s: %zu tests, %d failed, %d skipped\n", name, count, failed, skipped);
    return failed;
}
