/* the linker's --wrap sends every malloc, calloc and realloc of ours here */
#include "support/alloc.h"

#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static _Thread_local unsigned fail_at; /* 0: never */
static _Thread_local unsigned seen;

void flr_test_alloc_fail(unsigned n)
{
    fail_at = n;
    seen = 0;
}

bool flr_test_alloc_end(void)
{
    bool failed = fail_at != 0 && seen >= fail_at;
    fail_at = 0;
    return failed;
}

static bool fails(void) { return fail_at != 0 && ++seen >= fail_at; }

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) { return fails() ? NULL : __real_realloc(old, size); }
