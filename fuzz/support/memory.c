/* counts what is allocated: with a sanitizer by its hooks, else by functions around the C library's */
#include "fuzz/support/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_size_t held, peak;
static size_t before, input, beside;
static double worst;
static size_t worst_peak, worst_input;

static void count_more(size_t size)
{
    size_t now = atomic_fetch_add_explicit(&held, size, memory_order_relaxed) + size;
    if (now > atomic_load_explicit(&peak, memory_order_relaxed))
        atomic_store_explicit(&peak, now, memory_order_relaxed);
}

static void count_less(size_t size)
{
    atomic_fetch_sub_explicit(&held, size, memory_order_relaxed);
}

#ifdef FLR_SANITIZED
size_t __sanitizer_get_allocated_size(const volatile void *block);
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *));

static void allocated(const volatile void *block, size_t size)
{
    (void)block;
    count_more(size);
}

static void freed(const volatile void *block)
{
    if (block) count_less(__sanitizer_get_allocated_size(block));
}
#else
/* the linker sends all calls, also those of the C library, which is linked statically, to __wrap_…; see CMakeLists.txt */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

static void *counted(void *block)
{
    if (block) count_more(malloc_usable_size(block));
    return block;
}

void *__wrap_malloc(size_t size) { return counted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return counted(__real_calloc(count, size)); }

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return counted(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    size_t old = block ? malloc_usable_size(block) : 0;
    void *made = __real_realloc(block, size);
    if (!made && size) return NULL;
    /* both may be there while it is copied, as a sanitizer's hooks count it, too */
    if (made) count_more(malloc_usable_size(made));
    count_less(old);
    return made;
}

void __wrap_free(void *block)
{
    if (block) count_less(malloc_usable_size(block));
    __real_free(block);
}
#endif

/* large blocks, straight from the system: feeler's own functions, so the linker's names serve every build */
void *__real_flr_pages_alloc(size_t size);
void __real_flr_pages_free(void *pages, size_t size);
void *__wrap_flr_pages_alloc(size_t size);
void __wrap_flr_pages_free(void *pages, size_t size);

void *__wrap_flr_pages_alloc(size_t size)
{
    void *pages = __real_flr_pages_alloc(size);
    if (pages) count_more(size);
    return pages;
}

void __wrap_flr_pages_free(void *pages, size_t size)
{
    if (pages) count_less(size);
    __real_flr_pages_free(pages, size);
}

static void report(void)
{
    fprintf(stderr, "memory: worst factor %.2f (%zu bytes for a file of %zu)\n", worst, worst_peak,
            worst_input);
}

__attribute__((constructor)) static void start(void)
{
    /* blocks come from the heap and stay there: no system call per input */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 16 << 20);
#ifdef FLR_SANITIZED
    __sanitizer_install_malloc_and_free_hooks(allocated, freed);
#endif
    atexit(report);
}

void flr_fuzz_memory_begin(size_t size, size_t fixed)
{
    input = size;
    beside = fixed;
    before = atomic_load(&held);
    atomic_store(&peak, before);
}

void flr_fuzz_memory_end(void)
{
    size_t taken = atomic_load(&peak) - before;
    double factor = taken > beside ? (double)(taken - beside) / (double)(input ? input : 1) : 0;
    if (factor > worst) worst = factor, worst_peak = taken, worst_input = input;
    if (factor <= FLR_FUZZ_FACTOR) return;
    fprintf(stderr, "fuzz: %zu bytes of memory for a file of %zu bytes, allowed are %zu\n", taken,
            input, input * FLR_FUZZ_FACTOR + beside);
    if (!getenv("FLR_FUZZ_MEMORY_ONLY_REPORT")) abort();
}
