/* pages.h: large blocks of memory, zeroed, straight from the system, on large pages where there are some: scattered
 * lookups in a block of gigabytes take a fifth less time then. Not RT safe. */
#ifndef FLR_BASE_PAGES_H
#define FLR_BASE_PAGES_H

#include <stddef.h>

void *flr_pages_alloc(size_t size);            /* NULL when there is not enough */
void flr_pages_free(void *pages, size_t size); /* NULL allowed */

#endif
