/* Memory, or an end that feeler understands.
 *
 * Of the libraries behind this program some catch a failed allocation deep inside and go on with
 * half a shape, others write through the null pointer. So an allocation that fails ends the process
 * with the status for it. These definitions take the place of the C library's for all of them.
 * A sanitizer brings its own, and no memory limit is set then. */
#ifndef FLR_SANITIZED

#include <stdlib.h>

#include "collect.h"

#define TAKES_PLACE __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

TAKES_PLACE void *malloc(size_t size)
{
    void *block = __libc_malloc(size);
    if (!block) flr_collect_out_of_memory();
    return block;
}

TAKES_PLACE void *calloc(size_t count, size_t size)
{
    void *block = __libc_calloc(count, size);
    if (!block) flr_collect_out_of_memory();
    return block;
}

TAKES_PLACE void *realloc(void *block, size_t size)
{
    void *moved = __libc_realloc(block, size);
    // nothing is the answer to a size of nothing, too
    if (!moved && size > 0) flr_collect_out_of_memory();
    return moved;
}

#else
typedef int flr_memory_is_left_to_the_sanitizer;
#endif
