/* weld.h: equal (or near) positions become one vertex; the arrays that grow while a mesh is made.
 *
 * Private to src/mesh. */
#ifndef FLR_MESH_WELD_H
#define FLR_MESH_WELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"

/* Bytes that one job has allocated, and how many it may. */
typedef struct flr_budget {
    size_t used, limit;
} flr_budget;

/* `array` made to hold at least `need` elements of `size` bytes, half as much again where the
 * budget allows, less near its limit; returns where it is now. While the array is copied, the old and the new one
 * count. `*result` becomes FLR_OK, FLR_NO_MEMORY, or FLR_TOO_LARGE beyond the budget; on failure nothing has
 * changed. */
void *flr_budget_grow(flr_budget *budget, void *array, size_t *capacity, size_t need, size_t size,
                      flr_result *result);

/* `array` cut to `count` elements, where that saves memory and the budget allows the copy; returns where it is now. */
void *flr_budget_trim(flr_budget *budget, void *array, size_t *capacity, size_t count, size_t size);

/* Frees an array of the given capacity and takes it off the budget. */
void flr_budget_free(flr_budget *budget, void *array, size_t capacity, size_t size);

/* More vertices or triangles than this do not fit 32-bit indices. */
#define FLR_MESH_MAX_COUNT 4000000000u

/* One place of the hash table: the hash of a vertex' position (or grid cell) and its number. */
typedef struct flr_weld_slot {
    uint32_t tag;
    uint32_t vertex; /* number + 1; 0: free */
} flr_weld_slot;

typedef struct flr_weld {
    double distance; /* metres; 0: equal positions only */
    flr_vec3 *vertices;
    size_t count, capacity;
    size_t max_count;     /* there will be no more vertices than this; 0: unknown */
    flr_weld_slot *slots; /* [1 << bits], linear probing from tag >> (32 - bits) */
    unsigned bits;        /* 0: no table yet */
    uint64_t seed[4]; /* of the hash, random for each table; the outcome does not depend on it */
    uint64_t probes;  /* slots looked at so far */
} flr_weld;

/* Is this a weld distance we can work with? */
static inline bool flr_weld_distance_ok(double distance)
{
    return distance == 0 || (distance >= 1e-15 && distance <= 1e9);
}

/* Makes room for `more` further vertices. */
flr_result flr_weld_reserve(flr_weld *weld, flr_budget *budget, size_t more);

/* The numbers of `count` positions in order, new vertices made where needed. -0 becomes +0.
 * Room for `count` more must have been reserved. At most FLR_WELD_BATCH positions. */
enum { FLR_WELD_BATCH = 192 };
void flr_weld_add(flr_weld *weld, const flr_vec3 *positions, size_t count, uint32_t *numbers);

void flr_weld_free_table(flr_weld *weld, flr_budget *budget);

#endif
