/* the continuous check: how far can a part move before some point comes into a layer of voxels?
 *
 * A point goes from box to box: its mark tells how many voxels around its own are free; the time at which it leaves that box
 * at the earliest follows from its velocity and from a bound on its acceleration (a point that turns moves on a
 * circle while the centre moves straight). A sphere around many points goes where its centre goes,
 * as far as there is room for all of it; where that gets stuck, what is in it goes on from there one by one.
 *
 * All lengths are in voxels, time runs from 0 to 1. */
#include "contact/motion_check.h"

#define MOTION_CHECK_FARTHEST                                                                      \
    1e9            /* voxels: of a motion; beyond, time is too coarse for single voxels */
#define WINDOW 6   /* voxels: points move so far one by one before their sphere is tried again */
#define STEP   0.5 /* voxels: a sphere that has less room gives up */
enum { MOTION_CHECK_ROUNDS = 16 }; /* over a smooth layer */

flr_motion_check_params flr_default_motion_check_params(void)
{
    return (flr_motion_check_params){.layer = 1, .unchecked = 0.5};
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

void flr_motion_check_poses(flr_pose_span shell, flr_pose_span voxmap, flr_vec3 centre,
                            double fraction, flr_pose *T_world_shell, flr_pose *T_world_voxmap)
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

static flr_vec3 path_at(flr_motion_check *m, const flr_motion_check_path *p, double t,
                        flr_vec3 *velocity)
{
    if (m->angle > 0 && t != m->turned)
        m->cosine = flr_cos(m->angle * t), m->sine = flr_sin(m->angle * t), m->turned = t;
    double c = m->cosine, s = m->sine;
    *velocity = flr_vec3_add_scaled(flr_vec3_add_scaled(m->way, m->angle * c, p->across),
                                    -m->angle * s, p->side);
    flr_vec3 at = flr_vec3_add_scaled(p->middle, t, m->way);
    return flr_vec3_add_scaled(flr_vec3_add_scaled(at, c, p->side), s, p->across);
}

/* ---- how much room is there? ---- */

/* Chessboard distance of the voxel that holds a place to the nearest voxel of the layer, at least; 0 or less: in it. */
static double room(const flr_motion_check *m, flr_vec3 at, uint32_t mark)
{
    const flr_voxmap *voxmap = m->pair.voxmap;
    double layer = m->limit - 2.0;
    if (mark != FLR_MARK_FREE) return mark - 2.0 - layer;
    double beyond = flr_table_outside(m->pair.fields, at);
    double far = flr_larger(flr_table_by_mark(voxmap, mark, beyond),
                            voxmap->header->range - voxmap->header->offset + 1.0);
    return flr_larger(far, flr_table_by_chunks(voxmap, at, beyond)) - layer;
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
static double leave_box(const flr_motion_check *m, const flr_motion_check_path *p, flr_vec3 at,
                        flr_vec3 velocity, double free, double more)
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
 * has left; it is advanced to the end at once, and true is returned. */
bool flr_motion_check_point_on(flr_motion_check *m, uint32_t chunk, uint32_t point, flr_label label,
                               double t, double to)
{
    flr_motion_check_path p =
        flr_motion_check_path_from(m, flr_motion_check_place(m, chunk, point));
    flr_vec3 velocity, at = path_at(m, &p, t, &velocity), before = at, before_velocity = velocity;
    uint32_t mark = flr_table_mark(m->pair.fields, at), limit = m->limit;
    bool whole = t <= m->begin && mark != FLR_MARK_FREE && mark <= m->limit, within = whole;
    if (whole) limit = mark - 1, to = 1;
    double free = 0, since = t;
    while (flr_motion_check_spend(m)) {
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
        t = fmin(t + leave_box(m, &p, at, velocity, free, FLR_MOTION_CHECK_CLIP), to);
        at = path_at(m, &p, t, &velocity);
        mark = flr_table_mark(m->pair.fields, at);
    }
    return whole;
}

/* ---- a layer with a smooth end ---- */

/* A point from a time on, to another, by looks that are so near to each other that it cannot get far into the layer between
 * them. It is not in it at the last one. */
bool flr_motion_check_smoothly(flr_motion_check *m, uint32_t chunk, uint32_t point, flr_label label,
                               double t, double to)
{
    flr_motion_check_path p =
        flr_motion_check_path_from(m, flr_motion_check_place(m, chunk, point));
    double speed = flr_vec3_length(m->way) + m->angle * p.radius;
    flr_vec3 velocity;
    double height = flr_motion_check_above(m, path_at(m, &p, t, &velocity), NULL);
    double least = t <= m->begin ? flr_motion_check_floor(height) : -FLR_MOTION_CHECK_CLIP;
    bool whole = least < -FLR_MOTION_CHECK_CLIP;
    if (whole) to = 1;
    while (flr_motion_check_spend(m)) {
        if (height >= 0) least = -FLR_MOTION_CHECK_CLIP;
        to = fmin(to, m->end);
        if (!(t < to)) break;
        double next = fmin(
            t + flr_larger(FLR_MOTION_CHECK_HOP, (height - least) / FLR_MOTION_CHECK_STEEP) / speed,
            to);
        height = flr_motion_check_above(m, path_at(m, &p, next, &velocity), NULL);
        if (height < least) { /* when did it come in? */
            while ((next - t) * speed > FLR_MOTION_CHECK_CLIP && flr_motion_check_spend(m)) {
                double middle = t + (next - t) / 2;
                bool in =
                    flr_motion_check_above(m, path_at(m, &p, middle, &velocity), NULL) < least;
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
static double advance_sphere(flr_motion_check *m, const float centre[3], float radius, double t)
{
    double r = (double)radius / m->frame.voxmap->header->grid.voxel + m->around;
    flr_motion_check_path p = flr_motion_check_path_from(
        m, flr_contact_voxels(&m->frame, (double)centre[0], (double)centre[1], (double)centre[2]));
    double speed = flr_vec3_length(m->way) + m->angle * p.radius;
    flr_vec3 velocity;
    while (t < m->end && flr_motion_check_spend(m)) {
        flr_vec3 at = path_at(m, &p, t, &velocity);
        double left = room(m, at, flr_table_mark(m->pair.fields, at)) - 1 - r;
        if (!(left >= STEP)) break;
        t += left / speed;
    }
    return t;
}

/* The sphere of a chunk as far as it gets; then its points, a little; then the sphere again. */
static void advance_chunk(flr_motion_check *m, uint32_t chunk, double t)
{
    const flr_shell_chunk *c = &m->pair.shell->chunks[chunk];
    uint64_t done[8] = {0};
    double window = WINDOW / m->travel;
    for (;;) {
        t = advance_sphere(m, c->centre, c->radius, t);
        if (!(t < m->end) || m->exhausted) return;
        uint32_t i = 0;
        for (int label = 0; label < FLR_LABEL_COUNT; label++)
            for (unsigned k = 0; k < c->count[label]; k++, i++)
                if (!(done[i / 64] >> i % 64 & 1) && t < m->end && !m->exhausted &&
                    (m->level ? flr_motion_check_smoothly : flr_motion_check_point_on)(
                        m, chunk, c->first + i, (flr_label)label, t, t + window))
                    done[i / 64] |= UINT64_C(1) << i % 64;
        t += window;
    }
}

/* ---- a whole shell ---- */

uint32_t flr_motion_check_limit(const flr_voxmap *voxmap, const flr_motion_check_params *params)
{
    const flr_voxmap_header *h = voxmap->header;
    const unsigned layer = params->layer < h->range ? params->layer : h->range;
    return params->interior || layer < h->offset ? FLR_MARK_INTERIOR
                                                 : FLR_MARK_SURFACE + layer - h->offset;
}

/* False: nothing moves, touches or makes sense. */
static bool begin(flr_motion_check *m, const flr_contact_pair *pair, flr_pose_span shell,
                  flr_pose_span voxmap, const flr_motion_check_params *params,
                  flr_contact_params *contact)
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
    flr_vec3 turn = turn_between(relative(voxmap.from, shell.from), relative(voxmap.to, shell.to));
    m->way = flr_vec3_sub(last.centre, m->frame.centre);
    m->angle = flr_vec3_length(turn);
    m->axis = m->angle > 0 ? flr_vec3_scale(turn, 1 / m->angle) : flr_vec3_zero();
    const double axis[3] = {m->axis.x, m->axis.y, m->axis.z};
    for (int i = 0; i < 3; i++)
        m->bend[i] = m->angle * m->angle * sqrt(flr_larger(0, 1 - axis[i] * axis[i]));
    m->around = fabs(m->frame.displacement) + 1e-3;
    m->limit = flr_motion_check_limit(m->pair.voxmap, params);
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
static double farthest(const flr_motion_check *m)
{
    const float *c = m->pair.shell->centre;
    flr_motion_check_path p = flr_motion_check_path_from(
        m, flr_contact_voxels(&m->frame, (double)c[0], (double)c[1], (double)c[2]));
    double radius = (double)m->pair.shell->radius / m->pair.voxmap->header->grid.voxel + m->around;
    return flr_vec3_length(m->way) + m->angle * (p.radius + radius);
}

/* What stopped it, and where. */
static void tell(flr_motion_check *m, flr_pose_span voxmap, flr_motion_check_result *result)
{
    flr_contact_point start = flr_contact_place(&m->frame, m->chunk, m->point);
    flr_motion_check_path p = flr_motion_check_path_from(m, start.at);
    flr_vec3 velocity, at = path_at(m, &p, m->end, &velocity);
    flr_quat turn = flr_quat_from_rotation_vector(flr_vec3_scale(m->axis, m->angle * m->end));
    flr_pose T = flr_pose_interpolate(voxmap.from, voxmap.to, m->end);
    result->stopped = true;
    result->index = m->point;
    result->label = (uint8_t)m->label;
    result->point = flr_pose_apply(T, flr_grid_to_metres(&m->pair.voxmap->header->grid, at));
    flr_vec3 normal = flr_quat_rotate(turn, start.normal), out = flr_vec3_zero();
    if (m->level) flr_motion_check_above(m, at, &out);
    if (flr_vec3_length2(out) > 1e-6) normal = flr_vec3_normalize(out);
    result->normal = flr_quat_rotate(T.q, normal);
}

/* All of the shell, from spheres to points. */
static void advance_all(flr_motion_check *m)
{
    const flr_shell *s = m->pair.shell;
    double t = m->exhausted ? 0 : advance_sphere(m, s->centre, s->radius, m->begin);
    for (uint32_t i = 0; i < s->hyper_count && t < m->end && !m->exhausted; i++) {
        const flr_shell_hyper *hyper = &s->hypers[i];
        double from = advance_sphere(m, hyper->centre, hyper->radius, t);
        for (uint32_t k = 0; k < hyper->chunk_count && from < m->end && !m->exhausted; k++)
            advance_chunk(m, hyper->first_chunk + k, from);
    }
}

void flr_contact_check_motion(flr_contact_pair *pair, flr_pose_span shell, flr_pose_span voxmap,
                              const flr_motion_check_params *params,
                              flr_motion_check_result *result)
{
    flr_motion_check m = {0};
    flr_contact_params contact = flr_default_contact_params();
    *result = (flr_motion_check_result){.fraction = 1};
    if (!begin(&m, pair, shell, voxmap, params, &contact)) return;
    double travel = m.travel = farthest(&m);
    result->travel = travel * m.pair.voxmap->header->grid.voxel;
    double unchecked =
        params->unchecked > 0 ? params->unchecked : 0; /* also for what is no number */
    if (travel <= unchecked) return;
    m.begin = unchecked / travel;
    m.exhausted = !(travel < MOTION_CHECK_FARTHEST);

    if (m.level && m.travel <= FLR_MOTION_CHECK_HOP && m.begin == 0 && !m.exhausted) {
        m.planning = true;
        bool all = flr_motion_check_slowly(&m, pair, shell, voxmap, params->displacement);
        m.planning = false;
        result->lookups = m.lookups + m.scanned;
        result->spent = flr_motion_check_spent(&m);
        if (all && m.plane_count == 0 && !m.exhausted) return; /* the usual case */
        if (all && params->planes && !m.exhausted) {
            result->fraction = 0;
            flr_motion_check_tell_planes(&m, voxmap.from, result);
            return;
        }
    }
    /* where a layer is smooth, points that were seen outside at one end need not be at another */
    double end;
    int rounds = 0;
    do {
        end = m.end;
        if (m.exhausted || !flr_motion_check_slowly(&m, pair, shell, voxmap, params->displacement))
            advance_all(&m);
    } while (m.level && m.end < end && !m.exhausted && ++rounds < MOTION_CHECK_ROUNDS);
    if (m.end < end && m.level) m.exhausted = true;
    result->lookups = m.lookups + m.scanned;
    result->spent = flr_motion_check_spent(&m);
    result->exhausted = m.exhausted;
    result->fraction = m.exhausted ? m.begin : m.end;
    if (m.stopped && !m.exhausted) tell(&m, voxmap, result);
    if (!m.exhausted) flr_motion_check_tell_planes(&m, voxmap.from, result);
}
