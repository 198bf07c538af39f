/* paged_parts.h: parts of a world whose voxels are read as they are needed (feeler/pager.h). */
#ifndef FLR_WORLD_PAGED_PARTS_H
#define FLR_WORLD_PAGED_PARTS_H

#include "feeler/world.h"

typedef struct flr_pages flr_pages;

/* Of these parts; `*pages` is NULL where none is paged. */
flr_result flr_pages_create(const flr_world_part *parts, uint32_t count, flr_pages **pages,
                            flr_error *error);
void flr_pages_destroy(flr_pages *pages); /* NULL allowed */

/* A step begins: tells the pagers where the bodies are [count] and what is at most `reach` metres from their points is
 * looked at. False: something of that is not there yet. Then, or after the step, flr_pages_end(). RT safe; NULL allowed. */
bool flr_pages_begin(flr_pages *pages, const flr_body *bodies, double reach);
void flr_pages_end(flr_pages *pages);

#endif
