/* array.c: arrays that grow. */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool flr_array_resize(void *array, size_t capacity, size_t size)
{
    /* by its bytes: the pointer is one to any type */
    void *elements;
    memcpy(&elements, array, sizeof elements);
    elements = capacity <= SIZE_MAX / size ? realloc(elements, capacity * size) : NULL;
    if (!elements) return false;
    memcpy(array, &elements, sizeof elements);
    return true;
}
