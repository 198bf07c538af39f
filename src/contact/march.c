/* the continuous check: how far can a part move before some point comes into a layer of voxels?
 *
 * A point goes from box to box: its mark tells how many voxels around its own are free; the time at which it leaves that box
 * at the earliest follows from its velocity and from a bound on its acceleration (a point that turns moves on a
 * circle while the centre moves straight). A sphere around many points goes where its centre goes,
 * as far as there is room for all of it; where that gets stuck, what is in it goes on from there one by one.
 *
 * All lengths are in voxels, time runs from 0 to 1. */
#include <string.h>

#include "contact/engine.h"

#define CLIP     1e-4 /* voxels: how far a point may pass into a voxel unnoticed */
#define FARTHEST 1e9  /* voxels: of a motion; beyond, time is too coarse for single voxels */
#define WINDOW   6    /* voxels: points move so far one by one before their sphere is tried again */
#define STEP     0.5  /* voxels: a sphere that has less room gives up */
#define STEEP                                                                                      \
    1.7320508075688772 /* voxels of distance, per voxel of way: at most, where it is interpolated */
enum { ROUNDS = 16 };  /* over a smooth layer */
#define ALONE    0.15  /* of the shell's radius: planes farther apart than this are two */
#define HOP      0.5   /* voxels: between two looks at a point, where a layer is smooth */
#define SHALLOW  0.1   /* voxels: … and so little below, it may not get deeper */
#define ROUNDING 2e-3  /* voxels: a point so little below the end of a smooth layer is not in it */

typedef struct march {
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
    bool stopped, exhausted;
    uint32_t chunk, point; /* that stopped it */
    flr_label label;
    double turned_to; /* time at which the following two are */
    flr_mat3 turn_then;
    flr_vec3 centre_then;
    bool planning; /* look where the whole motion would pass, and no more */
    uint32_t plane_count;
    flr_march_plane planes[FLR_MARCH_PLANES]; /* voxels */
    double deep[FLR_MARCH_PLANES];
    flr_march_memory *memory; /* where points that are looked at are noted; NULL: not now */
} march;

flr_march_params flr_default_march_params(void)
{
    return (flr_march_params){.layer = 1, .unchecked = 0.5};
}

/* ---- the motion ---- */

static flr_pose relative(flr_pose T_world_voxmap, flr_pose T_world_shell)
{
    T_world_voxmap.q = flr_quat_normalize(T_world_voxmap.q);
    T_world_shell.q = flr_quat_normalize(T_world_shell.q);
    return flr_pose_mul(flr_pose_inverse(T_world_voxmap), T_world_shell);
}

/* The turn from one orientation to the other. */
static flr_vec3 turn_between(flr_pose from, flr_pose to)
{
    return flr_quat_to_rotation_vector(flr_quat_mul(to.q, flr_quat_conjugate(from.q)));
}

void flr_march_poses(flr_pose_span shell, flr_pose_span voxmap, flr_vec3 centre, double fraction,
                     flr_pose *T_world_shell, flr_pose *T_world_voxmap)
{
    flr_pose from = relative(voxmap.from, shell.from), to = relative(voxmap.to, shell.to);
    flr_vec3 begin = flr_pose_apply(from, centre), end = flr_pose_apply(to, centre);
    flr_vec3 turn = flr_vec3_scale(turn_between(from, to), fraction);
    flr_pose T = {.q = flr_quat_mul(flr_quat_from_rotation_vector(turn), from.q)};
    T.p = flr_vec3_sub(flr_vec3_add_scaled(begin, fraction, flr_vec3_sub(end, begin)),
                       flr_quat_rotate(T.q, centre));
    *T_world_voxmap = flr_pose_interpolate(voxmap.from, voxmap.to, fraction);
    *T_world_shell = flr_pose_mul(*T_world_voxmap, T);
}

/* One point's way: a circle about the axis, whose middle moves straight. */
typedef struct path {
    flr_vec3 middle, side,
        across; /* at time 0: of the circle; from there to the point; ahead of that */
    double radius;
} path;

static path path_from(const march *m, flr_vec3 at)
{
    flr_vec3 arm = flr_vec3_sub(at, m->frame.centre);
    flr_vec3 along = flr_vec3_scale(m->axis, flr_vec3_dot(m->axis, arm));
    path p = {.middle = flr_vec3_add(m->frame.centre, along), .side = flr_vec3_sub(arm, along)};
    p.across = flr_vec3_cross(m->axis, p.side);
    p.radius = flr_vec3_length(p.side);
    return p;
}

static flr_vec3 path_at(march *m, const path *p, double t, flr_vec3 *velocity)
{
    if (m->angle > 0 && t != m->turned)
        m->cosine = cos(m->angle * t), m->sine = sin(m->angle * t), m->turned = t;
    double c = m->cosine, s = m->sine;
    *velocity = flr_vec3_add_scaled(flr_vec3_add_scaled(m->way, m->angle * c, p->across),
                                    -m->angle * s, p->side);
    flr_vec3 at = flr_vec3_add_scaled(p->middle, t, m->way);
    return flr_vec3_add_scaled(flr_vec3_add_scaled(at, c, p->side), s, p->across);
}

/* Does a point stay in its voxel from the time at which checking begins to the end? */
static bool stays(const march *m, const path *p)
{
    flr_vec3 at[2];
    for (int i = 0; i < 2; i++) {
        at[i] = flr_vec3_add_scaled(p->middle, i ? 1 : m->begin, m->way);
        at[i] =
            flr_vec3_add_scaled(flr_vec3_add_scaled(at[i], m->c[i], p->side), m->s[i], p->across);
    }
    return m->bow * p->radius < CLIP && floor(at[0].x) == floor(at[1].x) &&
           floor(at[0].y) == floor(at[1].y) && floor(at[0].z) == floor(at[1].z);
}

/* ---- how much room is there? ---- */

/* Chessboard distance of the voxel that holds a place to the nearest voxel of the layer, at least; 0 or less: in it. */
static double room(const march *m, flr_vec3 at, uint32_t mark)
{
    const flr_voxmap *voxmap = m->pair.voxmap;
    double layer = m->limit - 2.0;
    if (mark != FLR_MARK_FREE) return mark - 2.0 - layer;
    double beyond = flr_table_outside(m->pair.fields, at);
    double far = flr_larger(flr_table_by_mark(voxmap, mark, beyond),
                            voxmap->header->range - voxmap->header->offset + 1.0);
    return flr_larger(far, flr_table_by_chunks(voxmap, at, beyond)) - layer;
}

static bool spend(march *m)
{
    if (m->budget && m->lookups >= m->budget) m->exhausted = true;
    m->lookups++;
    return !m->exhausted;
}

/* The time that a coordinate takes at least from `at` to one of two bounds. */
static double leave(double at, double low, double high, double velocity, double acceleration)
{
    double v = fabs(velocity), ahead = velocity < 0 ? at - low : high - at,
           back = velocity < 0 ? high - at : at - low;
    if (!(acceleration > 0)) return ahead / v;
    double time = 2 * ahead / (v + sqrt(v * v + 2 * acceleration * ahead));
    /* before that time it has not yet turned back */
    if (acceleration * time <= 2 * v) return time;
    return fmin(time, (v + sqrt(v * v + 2 * acceleration * back)) / acceleration);
}

/* The time that a point takes at least to get out of its voxel and `free` more on each side, and `more` voxels farther. */
static double leave_box(const march *m, const path *p, flr_vec3 at, flr_vec3 velocity, double free,
                        double more)
{
    const double x[3] = {at.x, at.y, at.z}, v[3] = {velocity.x, velocity.y, velocity.z};
    double time = INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        double low = floor(x[axis]) - free;
        time = fmin(time, leave(x[axis], low - more, low + 1 + 2 * free + more, v[axis],
                                m->bend[axis] * p->radius));
    }
    return time;
}

/* ---- points and spheres on their way ---- */

/* A point from a time on, to another. One that is in the layer when checking begins may go on there, but not deeper, until it
 * has left; it is marched to the end at once, and true is returned. */
static bool march_point(march *m, uint32_t chunk, uint32_t point, flr_label label, double t,
                        double to)
{
    path p = path_from(m, flr_contact_place(&m->frame, chunk, point).at);
    flr_vec3 velocity, at = path_at(m, &p, t, &velocity), before = at, before_velocity = velocity;
    uint32_t mark = flr_table_mark(m->pair.fields, at), limit = m->limit;
    bool whole = t <= m->begin && mark != FLR_MARK_FREE && mark <= m->limit, within = whole;
    if (whole) limit = mark - 1, to = 1;
    double free = 0, since = t;
    while (spend(m)) {
        if (within && (mark == FLR_MARK_FREE || mark > m->limit)) within = false, limit = m->limit;
        if (mark != FLR_MARK_FREE && mark <= limit) {
            /* it is free up to the side of the box that it was in last */
            if (t > since) t = since + leave_box(m, &p, before, before_velocity, free, 0);
            if (!(t < m->end)) break;
            m->end = t;
            m->stopped = true;
            m->chunk = chunk, m->point = point, m->label = label;
            break;
        }
        to = fmin(to, m->end);
        if (!(t < to)) break;
        free = within ? 0 : floor(room(m, at, mark)) - 1;
        since = t, before = at, before_velocity = velocity;
        t = fmin(t + leave_box(m, &p, at, velocity, free, CLIP), to);
        at = path_at(m, &p, t, &velocity);
        mark = flr_table_mark(m->pair.fields, at);
    }
    return whole;
}

/* ---- a layer with a smooth end ---- */

/* Voxels from a place to the end of the layer, by the interpolated distance; below 0: in it. `slope`, the way out, may be
 * NULL. */
static double above(const march *m, flr_vec3 at, flr_vec3 *slope)
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
static double floor_of(double height)
{
    if (height > -ROUNDING) return fmin(height, 0) - CLIP;
    return height > -SHALLOW ? height : floor(height);
}

/* A point from a time on, to another, by looks that are so near to each other that it cannot get far into the layer between
 * them. It is not in it at the last one. */
static bool march_smoothly(march *m, uint32_t chunk, uint32_t point, flr_label label, double t,
                           double to)
{
    path p = path_from(m, flr_contact_place(&m->frame, chunk, point).at);
    double speed = flr_vec3_length(m->way) + m->angle * p.radius;
    flr_vec3 velocity;
    double height = above(m, path_at(m, &p, t, &velocity), NULL);
    double least = t <= m->begin ? floor_of(height) : -CLIP;
    bool whole = least < -CLIP;
    if (whole) to = 1;
    while (spend(m)) {
        if (height >= 0) least = -CLIP;
        to = fmin(to, m->end);
        if (!(t < to)) break;
        double next = fmin(t + flr_larger(HOP, (height - least) / STEEP) / speed, to);
        height = above(m, path_at(m, &p, next, &velocity), NULL);
        if (height < least) { /* when did it come in? */
            while ((next - t) * speed > CLIP && spend(m)) {
                double middle = t + (next - t) / 2;
                bool in = above(m, path_at(m, &p, middle, &velocity), NULL) < least;
                *(in ? &next : &t) = middle;
            }
            m->end = t;
            m->stopped = true;
            m->chunk = chunk, m->point = point, m->label = label;
            break;
        }
        t = next;
    }
    return whole;
}

/* A sphere from a time on: the time up to which nothing in it comes near the layer. */
static double march_sphere(march *m, const float centre[3], float radius, double t)
{
    double r = (double)radius / m->frame.voxmap->header->grid.voxel + m->around;
    path p = path_from(
        m, flr_contact_voxels(&m->frame, (double)centre[0], (double)centre[1], (double)centre[2]));
    double speed = flr_vec3_length(m->way) + m->angle * p.radius;
    flr_vec3 velocity;
    while (t < m->end && spend(m)) {
        flr_vec3 at = path_at(m, &p, t, &velocity);
        double left = room(m, at, flr_table_mark(m->pair.fields, at)) - 1 - r;
        if (!(left >= STEP)) break;
        t += left / speed;
    }
    return t;
}

/* The sphere of a chunk as far as it gets; then its points, a little; then the sphere again. */
static void march_chunk(march *m, uint32_t chunk, double t)
{
    const flr_shell_chunk *c = &m->pair.shell->chunks[chunk];
    uint64_t done[8] = {0};
    double window = WINDOW / m->travel;
    for (;;) {
        t = march_sphere(m, c->centre, c->radius, t);
        if (!(t < m->end) || m->exhausted) return;
        uint32_t i = 0;
        for (int label = 0; label < FLR_LABEL_COUNT; label++)
            for (unsigned k = 0; k < c->count[label]; k++, i++)
                if (!(done[i / 64] >> i % 64 & 1) && t < m->end && !m->exhausted &&
                    (m->level ? march_smoothly : march_point)(m, chunk, c->first + i,
                                                              (flr_label)label, t, t + window))
                    done[i / 64] |= UINT64_C(1) << i % 64;
        t += window;
    }
}

/* ---- a whole shell ---- */

/* False: nothing moves, touches or makes sense. */
static bool begin(march *m, const flr_contact_pair *pair, flr_pose_span shell, flr_pose_span voxmap,
                  const flr_march_params *params, flr_contact_params *contact)
{
    m->pair = flr_contact_pair_view(pair);
    flr_contact_frame last;
    contact->displacement = params->displacement;
    contact->centre = params->centre;
    if (!m->pair.shell || !m->pair.voxmap ||
        !flr_contact_begin(&m->frame, m->pair.shell, m->pair.voxmap, shell.from, voxmap.from,
                           contact) ||
        !flr_contact_begin(&last, m->pair.shell, m->pair.voxmap, shell.to, voxmap.to, contact))
        return false;
    const flr_voxmap_header *h = m->pair.voxmap->header;
    flr_vec3 turn = turn_between(relative(voxmap.from, shell.from), relative(voxmap.to, shell.to));
    m->way = flr_vec3_sub(last.centre, m->frame.centre);
    m->angle = flr_vec3_length(turn);
    m->axis = m->angle > 0 ? flr_vec3_scale(turn, 1 / m->angle) : flr_vec3_zero();
    const double axis[3] = {m->axis.x, m->axis.y, m->axis.z};
    for (int i = 0; i < 3; i++)
        m->bend[i] = m->angle * m->angle * sqrt(flr_larger(0, 1 - axis[i] * axis[i]));
    m->around = fabs(m->frame.displacement) + 1e-3;
    unsigned layer = params->layer < h->range ? params->layer : h->range;
    m->limit = params->interior || layer < h->offset ? FLR_MARK_INTERIOR
                                                     : FLR_MARK_SURFACE + layer - h->offset;
    if (params->margin > 0 && m->limit > FLR_MARK_INTERIOR) {
        m->level = m->limit++;
        m->margin = fmin(params->margin, 1);
    }
    m->budget = params->budget;
    m->cosine = 1; /* at time 0 */
    m->end = 1;
    return true;
}

/* Voxels: no point of the shell moves farther. */
static double farthest(const march *m)
{
    const float *c = m->pair.shell->centre;
    path p = path_from(m, flr_contact_voxels(&m->frame, (double)c[0], (double)c[1], (double)c[2]));
    double radius = (double)m->pair.shell->radius / m->pair.voxmap->header->grid.voxel + m->around;
    return flr_vec3_length(m->way) + m->angle * (p.radius + radius);
}

/* What stopped it, and where. */
static void tell(march *m, flr_pose_span voxmap, flr_march_result *result)
{
    flr_contact_point start = flr_contact_place(&m->frame, m->chunk, m->point);
    path p = path_from(m, start.at);
    flr_vec3 velocity, at = path_at(m, &p, m->end, &velocity);
    flr_quat turn = flr_quat_from_rotation_vector(flr_vec3_scale(m->axis, m->angle * m->end));
    flr_pose T = flr_pose_interpolate(voxmap.from, voxmap.to, m->end);
    result->stopped = true;
    result->index = m->point;
    result->label = (uint8_t)m->label;
    result->point = flr_pose_apply(T, flr_grid_to_metres(&m->pair.voxmap->header->grid, at));
    flr_vec3 normal = flr_quat_rotate(turn, start.normal), out = flr_vec3_zero();
    if (m->level) above(m, at, &out);
    if (flr_vec3_length2(out) > 1e-6) normal = flr_vec3_normalize(out);
    result->normal = flr_quat_rotate(T.q, normal);
}

/* Where all is at the time up to which the motion is free. */
static void turn_to_end(march *m)
{
    m->turned_to = m->end;
    m->turn_then =
        flr_quat_to_mat3(flr_quat_from_rotation_vector(flr_vec3_scale(m->axis, m->angle * m->end)));
    m->centre_then = flr_vec3_add_scaled(m->frame.centre, m->end, m->way);
}

/* Keeps a plane that the whole motion would pass: in the place of one that is near and alike and less deep, else beside the
 * others, else in the place of the least deep one. */
static void keep_plane(march *m, const flr_march_point *near, flr_vec3 there, double height)
{
    flr_vec3 slope;
    above(m, there, &slope);
    double steep = flr_vec3_length(slope);
    if (!(steep > 1e-3)) return;
    flr_march_plane plane = {.point = near->at,
                             .normal = flr_vec3_scale(slope, 1 / steep),
                             .index = near->point,
                             .label = (uint8_t)near->label};
    plane.gap = flr_vec3_dot(plane.normal, flr_vec3_sub(near->at, there)) + height / steep;
    double apart = ALONE * (double)m->pair.shell->radius / m->pair.voxmap->header->grid.voxel;
    uint32_t to = m->plane_count, least = 0;
    for (uint32_t i = 0; i < m->plane_count; i++) {
        const flr_march_plane *p = &m->planes[i];
        if (m->deep[i] < m->deep[least]) least = i;
        if (flr_vec3_dot(p->normal, plane.normal) > 0.9 &&
            flr_vec3_distance(p->point, plane.point) < apart) {
            to = i;
            break;
        }
    }
    if (to == FLR_MARCH_PLANES) to = least;
    if (to < m->plane_count && !(-height > m->deep[to])) return;
    if (to == m->plane_count) m->plane_count++;
    m->planes[to] = plane;
    m->deep[to] = -height;
}

/* A motion of a few voxels: only points that begin near the layer can come into it, and those that a scan of the beginning
 * finds are few. Of them, most do not even leave their voxel. */
static void march_near(march *m, const flr_march_point *near)
{
    if (m->exhausted || !spend(m)) return;
    flr_label label = (flr_label)near->label;
    if (m->level && m->travel <= HOP) { /* mostly a look at where it ends does */
        if (m->end != m->turned_to) turn_to_end(m);
        flr_vec3 arm = flr_vec3_sub(near->at, m->frame.centre);
        flr_vec3 there = flr_vec3_add(m->centre_then, flr_mat3_apply(m->turn_then, arm));
        uint32_t mark = flr_table_mark(m->pair.fields, there);
        if (mark == FLR_MARK_FREE || mark > m->limit) return;
        double height = above(m, there, NULL);
        if (height >= 0) return;
        if (m->planning) {
            double before = above(m, near->at, NULL);
            if (height < floor_of(before)) keep_plane(m, near, there, height - floor_of(before));
            return;
        }
    }
    path p = path_from(m, near->at);
    if (m->level)
        march_smoothly(m, near->chunk, near->point, label, m->begin, 1);
    else if (!stays(m, &p))
        march_point(m, near->chunk, near->point, label, m->begin, 1);
}

static void march_visited(void *context, uint32_t chunk, uint32_t point, flr_label label)
{
    march *m = context;
    flr_march_point near = {chunk, point, label, flr_contact_place(&m->frame, chunk, point).at};
    if (m->memory && m->memory->count < FLR_MARCH_POINTS)
        m->memory->points[m->memory->count++] = near;
    else
        m->memory = NULL; /* too many to be noted */
    march_near(m, &near);
}

/* Was the last motion that was checked one from the same place, and are the points that were near then those for this one? */
static bool remembers(const flr_march_memory *memory, const march *m, flr_pose_span shell,
                      flr_pose_span voxmap, uint32_t near)
{
    return memory->known && memory->shell == m->pair.shell && memory->voxmap == m->pair.voxmap &&
           memory->near == near && memory->displacement == m->frame.displacement &&
           memcmp(&memory->T_world_shell, &shell.from, sizeof shell.from) == 0 &&
           memcmp(&memory->T_world_voxmap, &voxmap.from, sizeof voxmap.from) == 0;
}

/* False: it goes too far for that. */
static bool march_slowly(march *m, flr_contact_pair *pair, flr_pose_span shell,
                         flr_pose_span voxmap, double displacement)
{
    if (!(m->travel < FLR_RANGE_MAX_8BIT)) return false;
    for (int i = 0; i < 2; i++) {
        double angle = m->angle * (i ? 1 : m->begin);
        m->c[i] = cos(angle), m->s[i] = sin(angle);
    }
    m->bow = m->angle * m->angle / 8;
    /* beyond those next to a smooth layer, some distance is left */
    double beyond = m->level && m->travel * STEEP < 1 - m->margin ? 0 : ceil(m->travel);
    uint32_t near = m->limit + (uint32_t)beyond;
    flr_march_memory *memory = flr_contact_march_memory(pair);
    if (remembers(memory, m, shell, voxmap, near)) {
        for (uint32_t i = 0; i < memory->count; i++) march_near(m, &memory->points[i]);
        return true;
    }
    m->memory = memory;
    memory->known = false;
    memory->count = 0;
    if (!flr_contact_visit(pair, shell.from, voxmap.from, displacement, near, march_visited, m,
                           &m->lookups))
        return false;
    memory->known = m->memory != NULL;
    memory->shell = m->pair.shell;
    memory->voxmap = m->pair.voxmap;
    memory->near = near;
    memory->displacement = m->frame.displacement;
    memory->T_world_shell = shell.from;
    memory->T_world_voxmap = voxmap.from;
    return true;
}

static void tell_planes(const march *m, flr_pose T_world_voxmap, flr_march_result *result)
{
    const flr_grid *grid = &m->pair.voxmap->header->grid;
    result->plane_count = m->plane_count;
    for (uint32_t i = 0; i < m->plane_count; i++) {
        flr_march_plane *to = &result->planes[i];
        *to = m->planes[i];
        to->point = flr_pose_apply(T_world_voxmap, flr_grid_to_metres(grid, to->point));
        to->normal = flr_quat_rotate(T_world_voxmap.q, to->normal);
        to->gap *= grid->voxel;
    }
}

/* All of the shell, from spheres to points. */
static void march_all(march *m)
{
    const flr_shell *s = m->pair.shell;
    double t = m->exhausted ? 0 : march_sphere(m, s->centre, s->radius, m->begin);
    for (uint32_t i = 0; i < s->hyper_count && t < m->end && !m->exhausted; i++) {
        const flr_shell_hyper *hyper = &s->hypers[i];
        double from = march_sphere(m, hyper->centre, hyper->radius, t);
        for (uint32_t k = 0; k < hyper->chunk_count && from < m->end && !m->exhausted; k++)
            march_chunk(m, hyper->first_chunk + k, from);
    }
}

void flr_contact_march(flr_contact_pair *pair, flr_pose_span shell, flr_pose_span voxmap,
                       const flr_march_params *params, flr_march_result *result)
{
    march m = {0};
    flr_contact_params contact = flr_default_contact_params();
    *result = (flr_march_result){.fraction = 1};
    if (!begin(&m, pair, shell, voxmap, params, &contact)) return;
    double travel = m.travel = farthest(&m);
    result->travel = travel * m.pair.voxmap->header->grid.voxel;
    double unchecked =
        params->unchecked > 0 ? params->unchecked : 0; /* also for what is no number */
    if (travel <= unchecked) return;
    m.begin = unchecked / travel;
    m.exhausted = !(travel < FARTHEST);

    if (m.level && m.travel <= HOP && m.begin == 0 && !m.exhausted) {
        m.planning = true;
        bool all = march_slowly(&m, pair, shell, voxmap, params->displacement);
        m.planning = false;
        if (all && m.plane_count == 0 && !m.exhausted) { /* the usual case */
            result->lookups = m.lookups;
            return;
        }
    }
    /* where a layer is smooth, points that were seen outside at one end need not be at another */
    double end;
    int rounds = 0;
    do {
        end = m.end;
        if (m.exhausted || !march_slowly(&m, pair, shell, voxmap, params->displacement))
            march_all(&m);
    } while (m.level && m.end < end && !m.exhausted && ++rounds < ROUNDS);
    if (m.end < end && m.level) m.exhausted = true;
    result->lookups = m.lookups;
    result->exhausted = m.exhausted;
    result->fraction = m.exhausted ? m.begin : m.end;
    if (m.stopped && !m.exhausted) tell(&m, voxmap, result);
    if (!m.exhausted) tell_planes(&m, voxmap.from, result);
}
