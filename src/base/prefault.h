/* prefault.h: memory for the real-time thread: the pages are there before it looks */
#ifndef FLR_BASE_PREFAULT_H
#define FLR_BASE_PREFAULT_H

#include <stddef.h>

/* As calloc(), but every page has been written to: the first who writes there causes no page fault. End with free().
 * Thread: any. */
void *flr_prefaulted_calloc(size_t count, size_t size);

#endif
