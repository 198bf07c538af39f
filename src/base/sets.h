/* sets.h: sets of numbers that grow together. Each number is in a set of its own at first: parent[i] = i. Thread: any. */
#ifndef FLR_BASE_SETS_H
#define FLR_BASE_SETS_H

#include <stdint.h>

/* The number that a set is known by; paths are halved on the way. */
static inline uint32_t flr_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Two sets are joined under their smallest number, whatever the order. */
static inline void flr_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = flr_root(parent, a), b = flr_root(parent, b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
}

#endif
