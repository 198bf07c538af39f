/* calloc() gives large blocks as pages that are not there until somebody writes; here they are written at once */
#include "base/prefault.h"

#include <stdlib.h>

enum { MIN_PAGE = 4096 };

void *flr_prefaulted_calloc(size_t count, size_t size)
{
    volatile char *memory = calloc(count, size);
    if (!memory) return NULL;
    size_t bytes = count * size;
    for (size_t at = 0; at < bytes; at += MIN_PAGE) memory[at] = 0;
    if (bytes > 0) memory[bytes - 1] = 0;
    return (void *)memory;
}
