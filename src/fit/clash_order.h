/* clash_order.h: in which order clashes are listed: the worst state first, then the deepest or nearest pair. For qsort(). */
#ifndef FLR_FIT_CLASH_ORDER_H
#define FLR_FIT_CLASH_ORDER_H

#include "feeler/clash.h"

static inline int flr_clash_by_severity(const void *a, const void *b)
{
    const flr_clash_pair *one = a, *other = b;
    if (one->state != other->state) return one->state > other->state ? -1 : 1;
    if (one->depth != other->depth) return one->depth > other->depth ? -1 : 1;
    if (one->distance != other->distance) return one->distance < other->distance ? -1 : 1;
    if (one->a != other->a) return one->a < other->a ? -1 : 1;
    return one->b < other->b ? -1 : one->b > other->b;
}

#endif
