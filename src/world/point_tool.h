/* point_tool.h: hands whose tool is a point: what they touch, and what parts get of it.
 *
 * Each step, after the parts have moved: those that came over a proxy, or hold it by friction, carry it along; then it
 * follows its hand among all parts that are near (probe/among.h).
 *
 * Thread: that of the world; RT safe but for making. */
#ifndef FLR_WORLD_POINT_TOOL_H
#define FLR_WORLD_POINT_TOOL_H

#include "feeler/dynamics.h"
#include "feeler/probe.h"
#include "feeler/world.h"

/* What a part gets from a point. */
typedef struct flr_point_push {
    uint32_t part;
    flr_vec3 force; /* N, world's axes, at the proxy */
} flr_point_push;

/* A hand's point between two steps: plain data, part of the world's state. */
typedef struct flr_point {
    flr_proxy proxy;       /* world's frame */
    flr_world_point shown; /* what flr_world_proxy() gives */
    uint32_t push_count;
    flr_point_push pushes[FLR_PROXY_CONTACTS];
} flr_point;

typedef struct flr_points flr_points;

/* NULL: not enough memory. */
flr_points *flr_points_create(uint32_t part_count);
void flr_points_destroy(flr_points *points); /* NULL allowed */

/* A point that is nowhere yet. */
flr_point flr_point_none(void);

/* NULL: no point touches the part. */
void flr_points_set(flr_points *points, uint32_t part, const flr_probe_model *model);

/* A step. `before` and `bodies` [part_count]: where the parts were and are. False: the hand is nowhere. */
bool flr_points_step(flr_points *points, flr_point *point, flr_vec3 hand,
                     const flr_proxy_params *params, const flr_pose *before,
                     const flr_body *bodies);

/* Can this have come from flr_points_step()? For states from outside. */
bool flr_point_is_valid(const flr_point *point, uint32_t part_count);

#endif
