/* large_pages.h: large blocks of memory, zeroed, straight from the system, on large pages where there are some: scattered
 * lookups in a block of gigabytes take a fifth less time then. Not RT safe. */
#ifndef FLR_BASE_LARGE_PAGES_H
#define FLR_BASE_LARGE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

void *flr_pages_alloc(size_t size);            /* NULL when there is not enough */
void flr_pages_free(void *pages, size_t size); /* NULL allowed */

/* Address space alone: no memory, and touching it ends the process, until a part of it (whole pages) is opened, which
 * gives zeros. Locking all memory of a process leaves what is not opened alone. Free with flr_pages_free(). */
void *flr_pages_reserve(size_t size);          /* NULL when there is not enough */
bool flr_pages_open(void *pages, size_t size); /* false: not enough memory */

#endif
