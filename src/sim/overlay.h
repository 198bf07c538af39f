/* overlay.h: voxels or points of a part, gathered to be looked at. Thread: any. */
#ifndef FLR_SIM_OVERLAY_H
#define FLR_SIM_OVERLAY_H

#include <stdint.h>

#include "feeler/base.h"
#include "sim/engine.h"

enum { FLR_OVERLAY_MAX_POSITIONS = 1000000 }; /* positions, whatever is asked for */

typedef struct flr_overlay {
    flr_part_id part;
    uint8_t kind;      /* FLR_WIRE_OVERLAY_VOXELS or _POINTS */
    uint32_t count;    /* gathered, evenly from … */
    uint32_t total;    /* … all that there are */
    float size;        /* of a voxel, metres */
    float *positions;  /* [3 * count] metres, part's frame */
    uint8_t *features; /* [count] of points: 0 vertex, 1 edge, 2 face; NULL for voxels */
} flr_overlay;

/* At most `limit` of them; 0: as many as FLR_OVERLAY_MAX_POSITIONS. FLR_AGAIN: the part has none yet. On success the caller owns
 * `*overlay`. */
flr_result flr_overlay_make(const flr_engine_part *part, uint8_t kind, uint32_t limit,
                            flr_overlay **overlay, flr_error *error);
void flr_overlay_free(flr_overlay *overlay); /* NULL allowed */

/* An overlay that a worker gathers. Thread: control. */
typedef struct flr_overlay_request flr_overlay_request;

/* On success the caller owns `*request`. The engine's wake() is called when the worker is done. */
flr_result flr_overlay_begin(flr_engine *engine, flr_part_id part, uint8_t kind, uint32_t limit,
                             flr_overlay_request **request, flr_error *error);
/* FLR_OK: `*overlay`, the request's own. FLR_AGAIN: not yet. Else what flr_overlay_make() said. */
flr_result flr_overlay_get(const flr_overlay_request *request, const flr_overlay **overlay,
                           flr_error *error);
void flr_overlay_end(flr_overlay_request *request); /* NULL allowed */

#endif
