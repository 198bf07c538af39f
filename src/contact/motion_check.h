/* motion_check.h: what the parts of the continuous check share: a motion under way, a point's path, the end of a smooth layer.
 *
 * All lengths are in voxels, time runs from 0 to 1. */
#ifndef FLR_CONTACT_MOTION_CHECK_H
#define FLR_CONTACT_MOTION_CHECK_H

#include "contact/contact_engine.h"

#define FLR_MOTION_CHECK_CLIP 1e-4 /* voxels: how far a point may pass into a voxel unnoticed */
#define FLR_MOTION_CHECK_STEEP                                                                     \
    1.7320508075688772 /* voxels of distance, per voxel of way: at most, where it is interpolated */
#define FLR_MOTION_CHECK_HOP     0.5 /* voxels: between two looks at a point, where a layer is smooth */
#define FLR_MOTION_CHECK_SHALLOW 0.1 /* voxels: … and so little below, it may not get deeper */
#define FLR_MOTION_CHECK_ROUNDING                                                                  \
    2e-3 /* voxels: a point so little below the end of a smooth layer is not in it */

typedef struct flr_motion_check {
    flr_pair_view pair;
    flr_contact_frame frame;     /* at time 0 */
    flr_vec3 way;                /* of the centre */
    flr_vec3 axis;               /* unit, voxmap's axes */
    double angle;                /* radians, about it */
    double turned, cosine, sine; /* of the angle at that time, which many points have in common */
    double bend[3];              /* acceleration per voxel of a circle's radius, along each axis */
    double around;               /* voxels, added to radii: displacement, rounding */
    uint32_t limit;              /* marks 1 … limit are the layer, or are near a smooth one */
    uint32_t level;              /* smooth: the mark of the layer; 0: not smooth */
    double margin;               /* smooth: voxels of interpolated distance from there to its end */
    double travel;               /* no point moves farther */
    double begin;                /* time at which checking begins */
    double end;                  /* time up to which all that was looked at is free */
    double c[2], s[2];           /* cosine and sine of the angle at that time, and at time 1 */
    double
        bow; /* voxels per voxel of radius: how far an arc of all the angle strays from its chord */
    uint64_t lookups, budget;
    uint64_t scanned; /* points looked up many at a time, besides */
    bool stopped, exhausted;
    uint32_t chunk, point; /* that stopped it */
    flr_label label;
    double turned_to; /* time at which the following two are */
    flr_mat3 turn_then;
    flr_vec3 centre_then;
    bool planning; /* look where the whole motion would pass, and no more */
    uint32_t plane_count;
    flr_motion_check_plane planes[FLR_MOTION_CHECK_PLANES]; /* voxels */
    double deep[FLR_MOTION_CHECK_PLANES];
    flr_motion_check_memory *memory; /* where points that are looked at are noted; NULL: not now */
    bool suspects;                   /* what is in there are all that may come in on this way */
    double chunk_travel;             /* no point of the chunk at hand moves farther */
} flr_motion_check;

/* One point's way: a circle about the axis, whose middle moves straight. */
typedef struct flr_motion_check_path {
    flr_vec3 middle, side,
        across; /* at time 0: of the circle; from there to the point; ahead of that */
    double radius;
} flr_motion_check_path;

/* Where a point begins; only displacing needs its normal. */
static inline flr_vec3 flr_motion_check_place(const flr_motion_check *m, uint32_t chunk,
                                              uint32_t point)
{
    if (m->frame.displacement != 0) return flr_contact_place(&m->frame, chunk, point).at;
    flr_vec3 p = flr_shell_point(m->frame.shell, chunk, point, 0);
    return flr_contact_voxels(&m->frame, p.x, p.y, p.z);
}

static inline flr_motion_check_path flr_motion_check_path_from(const flr_motion_check *m,
                                                               flr_vec3 at)
{
    flr_vec3 arm = flr_vec3_sub(at, m->frame.centre);
    flr_vec3 along = flr_vec3_scale(m->axis, flr_vec3_dot(m->axis, arm));
    flr_motion_check_path p = {.middle = flr_vec3_add(m->frame.centre, along),
                               .side = flr_vec3_sub(arm, along)};
    p.across = flr_vec3_cross(m->axis, p.side);
    p.radius = flr_vec3_length(p.side);
    return p;
}

/* Of the budget: scanning takes an eighth of the time of a lookup by itself. */
static inline uint64_t flr_motion_check_spent(const flr_motion_check *m)
{
    return m->lookups + m->scanned / 8;
}

static inline bool flr_motion_check_spend(flr_motion_check *m)
{
    if (m->budget && flr_motion_check_spent(m) >= m->budget) m->exhausted = true;
    m->lookups++;
    return !m->exhausted;
}

/* Voxels from a place to the end of the layer, by the interpolated distance; below 0: in it. `slope`, the way out, may be
 * NULL. */
static inline double flr_motion_check_above(const flr_motion_check *m, flr_vec3 at, flr_vec3 *slope)
{
    const flr_voxmap_header *h = m->pair.voxmap->header;
    const unsigned farther = FLR_MARK_SURFACE + h->range - h->offset + 1;
    int32_t x = flr_contact_stencil_base(at.x), y = flr_contact_stencil_base(at.y),
            z = flr_contact_stencil_base(at.z);
    const uint64_t marks = flr_table_stencil(m->pair.fields, x, y, z);
    double d[8], part[3] = {at.x - 0.5 - x, at.y - 0.5 - y, at.z - 0.5 - z}, grows[3] = {0};
    for (int i = 0; i < 8; i++) {
        unsigned mark = marks >> 8 * i & 255;
        d[i] = mark == FLR_MARK_FREE ? farther : mark;
    }
    for (int axis = 0; slope && axis < 3; axis++)
        for (int i = 0; i < 8; i++) {
            if (i >> axis & 1) continue;
            double weight = 1;
            for (int other = 0; other < 3; other++)
                if (other != axis) weight *= i >> other & 1 ? part[other] : 1 - part[other];
            grows[axis] += weight * (d[i | 1 << axis] - d[i]);
        }
    if (slope) *slope = flr_vec3_make(grows[0], grows[1], grows[2]);
    for (int i = 0; i < 4; i++) d[i] = d[2 * i] + part[0] * (d[2 * i + 1] - d[2 * i]);
    for (int i = 0; i < 2; i++) d[i] = d[2 * i] + part[1] * (d[2 * i + 1] - d[2 * i]);
    return d[0] + part[2] * (d[1] - d[0]) - m->level - m->margin;
}

/* How deep a point may go that is so high when checking begins: to the end of the layer, or a rounding below where it is at it;
 * where it is well in the layer already, to the next whole voxel below, so that it can still slide. */
static inline double flr_motion_check_floor(double height)
{
    if (height > -FLR_MOTION_CHECK_ROUNDING) return fmin(height, 0) - FLR_MOTION_CHECK_CLIP;
    return height > -FLR_MOTION_CHECK_SHALLOW ? height : floor(height);
}

/* ---- motion_check.c ---- */

/* The largest mark of the layer that is checked; a smooth one ends among the voxels with the next. */
uint32_t flr_motion_check_limit(const flr_voxmap *voxmap, const flr_motion_check_params *params);

/* A point from a time on, to another. One that is in the layer when checking begins may go on there, but not deeper, until it
 * has left; it is advanced to the end at once, and true is returned. */
bool flr_motion_check_point_on(flr_motion_check *m, uint32_t chunk, uint32_t point, flr_label label,
                               double t, double to);

/* The same where a layer is smooth, by looks that are so near to each other that it cannot get far into the layer between
 * them. It is not in it at the last one. */
bool flr_motion_check_smoothly(flr_motion_check *m, uint32_t chunk, uint32_t point, flr_label label,
                               double t, double to);

/* ---- motion_check_near.c ---- */

/* A motion of a few voxels, by the points that are near. False: it goes too far for that. */
bool flr_motion_check_slowly(flr_motion_check *m, flr_contact_pair *pair, flr_pose_span shell,
                             flr_pose_span voxmap, double displacement);

/* The planes that the whole motion would pass. */
void flr_motion_check_tell_planes(const flr_motion_check *m, flr_pose T_world_voxmap,
                                  flr_motion_check_result *result);

#endif
