/* point.h: one point against one field: the law of contact, shared by all engines so that they agree to the bit.
 *
 * Everything is in the voxmap's axes and counted in voxels from the grid's corner; what comes out is scaled once, at the
 * end. */
#ifndef FLR_CONTACT_POINT_H
#define FLR_CONTACT_POINT_H

#include "feeler/contact.h"
#include "voxel/normal.h"
#include "voxel/voxmap_format.h"

/* from this layer on, exact surfaces of two parts cannot meet without a force: however large voxels are, an onset asks for no less */
enum { FLR_CONTACT_SAFE_LAYER = 2 };

/* what a query works with */
typedef struct flr_contact_frame {
    const flr_shell *shell;
    const flr_voxmap *voxmap;
    const flr_contact_params *params;
    flr_pose T_world_voxmap;
    flr_mat3 rotation;   /* of directions, from shell to voxmap */
    flr_mat3 to_voxels;  /* the same by voxels per metre, for points */
    flr_vec3 shift;      /* voxels: the shell's origin */
    flr_vec3 centre;     /* voxels: the torque's reference point */
    flr_twist motion;    /* about it; linear in voxels/s */
    double displacement; /* voxels, outward */
    unsigned force_mark; /* marks of the force layer and deeper are <= this (and > 0) */
    unsigned free_mark;  /* that a free voxel counts as: one beyond the field */
    unsigned layer_one;  /* marks of layer 1 of the true surface and deeper are <= this (and > 0) */
    bool awareness;      /* asked for and there are fields for it */
    bool smooth;         /* the smooth law, else that of the tangent plane */
} flr_contact_frame;

/* A quaternion that is nearly unit is made so. False: the pose makes no sense, or is 10^9 m away. */
bool flr_contact_sound(flr_pose *T);

/* Marks of the force layer and deeper are no larger. */
unsigned flr_contact_force_mark(const flr_voxmap *voxmap, const flr_contact_params *params);

/* False when the poses make no sense, the parts are 10^9 m apart or there is no point: then nothing touches. */
bool flr_contact_begin(flr_contact_frame *frame, const flr_shell *shell, const flr_voxmap *voxmap,
                       flr_pose T_world_shell, flr_pose T_world_voxmap,
                       const flr_contact_params *params);

/* The field that a point of this label looks at. */
static inline flr_field flr_contact_field(const flr_contact_frame *frame, flr_label label)
{
    if (!frame->awareness || label == FLR_LABEL_VERTEX) return FLR_FIELD_SURFACE;
    return label == FLR_LABEL_EDGE ? FLR_FIELD_EDGE : FLR_FIELD_VERTEX;
}

/* Metres from a point, displaced by so much, to an exact surface of its part, at most: half a diagonal of its voxel, and what
 * it was moved by. */
static inline double flr_contact_around(const flr_shell *shell, double displacement)
{
    return 0.8660254037844387 * shell->voxel + fabs((double)shell->displaced) + fabs(displacement);
}

/* A point of the shell's frame (metres), in voxels. */
static inline flr_vec3 flr_contact_voxels(const flr_contact_frame *frame, double x, double y,
                                          double z)
{
    const double(*m)[3] = frame->to_voxels.m;
    return flr_vec3_make(m[0][0] * x + m[0][1] * y + m[0][2] * z + frame->shift.x,
                         m[1][0] * x + m[1][1] * y + m[1][2] * z + frame->shift.y,
                         m[2][0] * x + m[2][1] * y + m[2][2] * z + frame->shift.z);
}

/* A point of the shell with its normal (inward, unit), and displaced. */
typedef struct flr_contact_point {
    flr_vec3 at;     /* voxels */
    flr_vec3 normal; /* voxmap's axes */
} flr_contact_point;

/* From its place in the shell's frame (metres) and its packed normal. */
static inline flr_contact_point flr_contact_point_at(const flr_contact_frame *frame, double x,
                                                     double y, double z, uint32_t packed)
{
    flr_contact_point p = {.at = flr_contact_voxels(frame, x, y, z),
                           .normal = flr_mat3_apply(frame->rotation, flr_shell_unpack(packed))};
    p.at = flr_vec3_add_scaled(p.at, -frame->displacement, p.normal);
    return p;
}

flr_contact_point flr_contact_place(const flr_contact_frame *frame, uint32_t chunk, uint32_t point);

/* The law of the tangent plane: voxels that a point in the grid is below the plane through the middle of its voxel, and one
 * more for each layer below the force layer; a contact where positive. */
static inline double flr_contact_depth(const flr_contact_frame *frame, flr_contact_point p,
                                       unsigned mark)
{
    /* in the grid nothing is negative: to cut is to round down */
    flr_vec3 middle =
        flr_vec3_make((int32_t)p.at.x + 0.5, (int32_t)p.at.y + 0.5, (int32_t)p.at.z + 0.5);
    return flr_vec3_dot(flr_vec3_sub(middle, p.at), p.normal) + (int32_t)(frame->force_mark - mark);
}

/* a vector and its moment about the frame's centre */
typedef struct flr_contact_share {
    flr_vec3 push, turn;
} flr_contact_share;

static inline flr_contact_share flr_contact_push(const flr_contact_frame *frame,
                                                 flr_contact_point p, double depth)
{
    flr_vec3 push = flr_vec3_scale(p.normal, depth);
    return (flr_contact_share){push, flr_vec3_cross(flr_vec3_sub(p.at, frame->centre), push)};
}

/* Braking acts on what approaches, in the last layer before contact (1999, section 5.3). Means something where
 * `*approach` is positive. */
static inline flr_contact_share flr_contact_brake(const flr_contact_frame *frame,
                                                  flr_contact_point p, double *approach)
{
    flr_vec3 arm = flr_vec3_sub(p.at, frame->centre);
    flr_vec3 v = flr_vec3_add(frame->motion.linear, flr_vec3_cross(frame->motion.angular, arm));
    *approach = -flr_vec3_dot(p.normal, v);
    flr_vec3 share = flr_vec3_scale(v, *approach / flr_vec3_length(v));
    return (flr_contact_share){share, flr_vec3_cross(arm, share)};
}

/* sums in the making. Points add up in their order within a hyperchunk of the shell, and hyperchunks in theirs: so they
 * may be worked on in any order. */
typedef struct flr_contact_sums {
    flr_vec3 force;        /* voxels: of depth x normal */
    double depth, depth2;  /* voxels, voxels^2: of depths and their squares; smooth law only */
    flr_vec3 torque;       /* voxels^2: of arm x that */
    flr_vec3 braking;      /* voxels/s */
    flr_vec3 braking_turn; /* voxels^2/s */
    double lower, upper;   /* metres */
    uint32_t contacts, penetrations, near, listed;
} flr_contact_sums;

/* Marks of the 2x2x2 voxels whose middles surround a point, a byte each, x fastest; what is outside the grid is free. */
typedef struct flr_contact_stencil {
    uint64_t surface;
    uint64_t field; /* of the point's own field; not read where that is the surface field */
} flr_contact_stencil;

/* The first of these voxels, along one axis, of a point in the grid. */
static inline int32_t flr_contact_stencil_base(double at)
{
    double low = at - 0.5;
    int32_t whole = (int32_t)low;
    return whole - (low < whole);
}

/* Where a point is between the middles of these voxels. */
static inline flr_vec3 flr_contact_stencil_part(flr_vec3 at)
{
    return flr_vec3_make(at.x - 0.5 - flr_contact_stencil_base(at.x),
                         at.y - 0.5 - flr_contact_stencil_base(at.y),
                         at.z - 0.5 - flr_contact_stencil_base(at.z));
}

static inline double flr_contact_between(double a, double b, double part)
{
    return a + part * (b - a);
}

/* The smooth law: how far, in voxels, a point of the grid is below the force layer, by the distance interpolated between the
 * middles of the voxels around it. */
static inline double flr_contact_interpolated(const flr_contact_frame *frame, flr_vec3 at,
                                              uint64_t surface)
{
    const int32_t force = (int32_t)frame->force_mark, free = (int32_t)frame->free_mark;
    flr_vec3 part = flr_contact_stencil_part(at);
    double d[8];
    for (int i = 0; i < 8; i++) {
        int32_t mark = (int32_t)(surface >> 8 * i & 255);
        d[i] = force - (mark == FLR_MARK_FREE ? free : mark);
    }
    for (int i = 0; i < 4; i++) d[i] = flr_contact_between(d[2 * i], d[2 * i + 1], part.x);
    for (int i = 0; i < 2; i++) d[i] = flr_contact_between(d[2 * i], d[2 * i + 1], part.y);
    return flr_contact_between(d[0], d[1], part.z);
}

/* Awareness as a weight of that. What counts are the voxels that pass the filter: inside, or near enough to a feature. The
 * weight grows from 0 where they end to 1 half a voxel within them (chessboard distance), so it is 0 in every voxel that
 * the filter leaves out. Only the voxels of the stencil are as near as that. */
static inline double flr_contact_weight(const flr_contact_frame *frame, flr_vec3 at, uint64_t field)
{
    const uint32_t below = frame->force_mark;
    flr_vec3 part = flr_contact_stencil_part(at);
    uint64_t own = (part.x >= 0.5 ? 1u : 0) | (part.y >= 0.5 ? 2u : 0) | (part.z >= 0.5 ? 4u : 0);
    double x = fabs(part.x - 0.5), y = fabs(part.y - 0.5), z = fabs(part.z - 0.5), weight = 1;
    for (unsigned other = 0; other < 8; other++) {
        uint32_t mark = (uint32_t)(field >> 8 * (own ^ other) & 255);
        double away = other & 1 ? x : 0;
        away = other & 2 && y > away ? y : away;
        away = 2 * (other & 4 && z > away ? z : away);
        away = mark - 1 < below ? 1 : away; /* it counts; free is 0, less 1 the most */
        weight = away < weight ? away : weight;
    }
    return weight;
}

/* Does the law need the marks around a point whose own voxel has this mark? Beyond the force layer there is no force,
 * except in a neighbour of the surface that also touches the interior at an edge or corner. */
static inline bool flr_contact_needs_stencil(const flr_contact_frame *frame, unsigned mark)
{
    return frame->smooth && mark != FLR_MARK_FREE &&
           mark <= frame->force_mark + (frame->force_mark == FLR_MARK_SURFACE);
}

/* Adds what a point contributes whose voxel has this mark. `around` is read only where it is needed, see above. */
void flr_contact_add(const flr_contact_frame *frame, flr_contact_point p, unsigned mark,
                     const flr_contact_stencil *around, uint32_t point, flr_label label,
                     flr_contact_sums *sums, flr_contact *contacts, uint32_t capacity);

/* Puts a contact into the list, if there is room. */
void flr_contact_keep(const flr_contact_frame *frame, flr_contact_point p, double depth,
                      unsigned mark, uint32_t point, flr_label label, flr_contact_sums *sums,
                      flr_contact *contacts, uint32_t capacity);

/* Adds the sums of a hyperchunk, all but the number of contacts in the list. */
void flr_contact_merge(flr_contact_sums *sums, const flr_contact_sums *part);

/* Narrows the bounds of the distance by a mark that some point met. */
void flr_contact_bound(const flr_contact_frame *frame, unsigned mark, flr_contact_sums *sums);

/* From sums to the answer. */
void flr_contact_finish(const flr_contact_frame *frame, const flr_contact_sums *sums,
                        flr_contact_result *result);

static inline flr_contact_sums flr_contact_no_sums(void)
{
    return (flr_contact_sums){.lower = INFINITY, .upper = INFINITY};
}
flr_contact_result flr_contact_nothing(void);

#endif
