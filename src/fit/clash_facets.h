/* clash_facets.h: overlaps of parts that would not overlap if their curved surfaces were exact. Private to clash.c. */
#ifndef FLR_FIT_CLASH_FACETS_H
#define FLR_FIT_CLASH_FACETS_H

#include "feeler/clash.h"

/* Makes contacts of those overlaps that the parts' facets explain, see flr_clash_part.chord. FLR_NO_MEMORY, FLR_CANCELLED;
 * else no pair is worse than before. */
flr_result flr_clash_explain(const flr_clash_def *def, flr_clash_pair *pairs, size_t count);

#endif
