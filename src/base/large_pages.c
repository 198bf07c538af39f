/* large blocks of memory */
#include "base/large_pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void *flr_pages_alloc(size_t size)
{
    void *pages =
        mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    if (size >= 2u << 20) madvise(pages, size, MADV_HUGEPAGE);
    return pages;
}

void flr_pages_free(void *pages, size_t size)
{
    if (pages) munmap(pages, size ? size : 1);
}

void *flr_pages_reserve(size_t size)
{
    void *pages =
        mmap(NULL, size ? size : 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

bool flr_pages_open(void *pages, size_t size)
{
    /* from the page that the first byte is on: pages may have 4, 16 or 64 KiB */
    const uintptr_t in_page = (uintptr_t)pages % (uintptr_t)sysconf(_SC_PAGESIZE);
    pages = (uint8_t *)pages - in_page;
    size += in_page;
    if (mprotect(pages, size, PROT_READ | PROT_WRITE) != 0) return false;
    if (size >= 2u << 20) madvise(pages, size, MADV_HUGEPAGE);
    return true;
}
