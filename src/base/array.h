/* array.h: arrays that grow. Thread: any; not RT safe. */
#ifndef FLR_BASE_ARRAY_H
#define FLR_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Room for one element more than `count` in `array`, a pointer from malloc() or NULL: its `capacity`
 * is doubled where it must be, from `first`. False: memory is short, and all is as it was. Arguments
 * are evaluated more than once. */
#define FLR_GROW(array, count, capacity, first)                                                    \
    ((count) < (capacity) ||                                                                       \
     (flr_array_resize(&(array), (capacity) ? 2 * (size_t)(capacity) : (first),                    \
                       sizeof *(array)) &&                                                         \
      ((capacity) = (capacity) ? 2 * (capacity) : (first), true)))

/* realloc() of the array that the pointer at `array` points to; false: memory is short. */
bool flr_array_resize(void *array, size_t capacity, size_t size);

#endif
