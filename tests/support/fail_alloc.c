/* the allocation functions, wrapped by the linker (see fail_alloc.h) */
#include "support/fail_alloc.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

static _Atomic uint64_t asked, failed, fail_first, fail_last;
static _Atomic int64_t live, held, peak, held_before;

void flr_fail_alloc_at(uint64_t n)
{
    asked = 0;
    failed = 0;
    fail_first = n;
    fail_last = n;
}

void flr_fail_alloc_from(uint64_t n)
{
    flr_fail_alloc_at(n);
    if (n) fail_last = UINT64_MAX;
}

uint64_t flr_fail_alloc_asked(void) { return asked; }
uint64_t flr_fail_alloc_failed(void) { return failed; }
int64_t flr_fail_alloc_live(void) { return live; }

void flr_fail_alloc_peak_begin(void)
{
    held_before = held;
    peak = held;
}

uint64_t flr_fail_alloc_peak(void) { return (uint64_t)(peak - held_before); }

static void hold(void *block)
{
    int64_t size = (int64_t)malloc_usable_size(block), now = atomic_fetch_add(&held, size) + size;
    int64_t most = peak;
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {}
}

/* one more is asked for: does it fail? */
static bool fails(void)
{
    uint64_t number = ++asked;
    if (number < fail_first || number > fail_last) return false;
    failed++;
    errno = ENOMEM;
    return true;
}

static void *count_block(void *block)
{
    if (!block) return NULL;
    live++;
    hold(block);
    return block;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_reallocarray(void *block, size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
int __real_vasprintf(char **text, const char *format, va_list arguments) FLR_PRINTF(2, 0);
void __real_free(void *block);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);
int __wrap_asprintf(char **text, const char *format, ...) FLR_PRINTF(2, 3);
int __wrap_vasprintf(char **text, const char *format, va_list arguments) FLR_PRINTF(2, 0);
void __wrap_free(void *block);

/* Within a call of the C library, which may be linked statically: its calloc() may call its malloc(), as musl's does, and
 * that is not one more block. */
static _Thread_local bool inside;

#define WITHIN(call) (inside = true, (call))
static void *came_back(void *block)
{
    inside = false;
    return count_block(block);
}

void *__wrap_malloc(size_t size)
{
    if (inside) return __real_malloc(size);
    return fails() ? NULL : count_block(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : came_back(WITHIN(__real_calloc(count, size)));
}

void *__wrap_realloc(void *block, size_t size)
{
    if (inside) return __real_realloc(block, size);
    if (fails()) return NULL;
    if (!block) return came_back(WITHIN(__real_realloc(NULL, size)));
    int64_t old = (int64_t)malloc_usable_size(block);
    void *moved = WITHIN(__real_realloc(block, size));
    inside = false;
    if (!moved && size == 0) live--; // freed
    if (moved) hold(moved);
    if (moved || size == 0) held -= old;
    return moved;
}

void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) return NULL;
    return __wrap_realloc(block, count * size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    if (inside) return __real_aligned_alloc(alignment, size);
    return fails() ? NULL : came_back(WITHIN(__real_aligned_alloc(alignment, size)));
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    if (fails()) return ENOMEM;
    int code = WITHIN(__real_posix_memalign(block, alignment, size));
    inside = false;
    if (code == 0) count_block(*block);
    return code;
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : came_back(WITHIN(__real_strdup(text)));
}

char *__wrap_strndup(const char *text, size_t size)
{
    return fails() ? NULL : came_back(WITHIN(__real_strndup(text, size)));
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
    if (fails()) return -1;
    int length = WITHIN(__real_vasprintf(text, format, arguments));
    inside = false;
    if (length >= 0) count_block(*text);
    return length;
}

int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = __wrap_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

void __wrap_free(void *block)
{
    if (block && !inside) {
        live--;
        held -= (int64_t)malloc_usable_size(block);
    }
    __real_free(block);
}

uint64_t flr_fail_alloc_each(flr_result (*body)(void *context, flr_error *error), void *context)
{
    uint64_t total = 0;
    for (int sweep = 0; sweep < 2; sweep++) {
        bool met = true;
        for (uint64_t n = 1; met; n++) {
            int64_t before = live;
            flr_error error = {FLR_OK, ""};
            if (sweep)
                flr_fail_alloc_from(n);
            else
                flr_fail_alloc_at(n);
            flr_result result = body(context, &error);
            met = failed > 0;
            total = asked;
            flr_fail_alloc_at(0);
            const char *how = sweep ? "and all after it " : "";
            if (live != before)
                fail_msg("allocation %llu %sfailed: %lld blocks left behind", (unsigned long long)n,
                         how, (long long)(live - before));
            if (result != FLR_OK && (!met || result != FLR_NO_MEMORY))
                fail_msg("allocation %llu %s%s: returned \"%s\": %s", (unsigned long long)n, how,
                         met ? "failed" : "did not fail", flr_result_name(result), error.message);
            if (result != FLR_OK && !error.message[0])
                fail_msg("allocation %llu %sfailed: no sentence", (unsigned long long)n, how);
        }
    }
    return total;
}
