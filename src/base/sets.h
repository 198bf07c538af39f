/* sets.h: disjoint sets of numbers (union-find). Each number starts in a set of its own: parent[i] = i. Thread: any. */
#ifndef FLR_BASE_SETS_H
#define FLR_BASE_SETS_H

#include <stdint.h>

/* The representative of the set of `i`; halves the path to it. */
static inline uint32_t flr_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Joins two sets. The smaller representative, which is the smallest number, stays. */
static inline void flr_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = flr_root(parent, a), b = flr_root(parent, b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
}

#endif
