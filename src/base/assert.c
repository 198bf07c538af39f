/* the assert handler */
#include "feeler/base.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* NULL: the default; the one process-wide variable of the library */
static _Atomic(flr_assert_handler) current_handler;

flr_assert_handler flr_set_assert_handler(flr_assert_handler handler)
{
    return atomic_exchange(&current_handler, handler);
}

void flr_assert_failed(const char *condition, const char *file, int line, const char *function)
{
    flr_assert_handler handler = atomic_load(&current_handler);
    if (handler)
        handler(condition, file, line, function);
    else
        fprintf(stderr, "%s:%d: %s: assertion failed: %s\n", file, line, function, condition);
    abort();
}
