/* a body among parts that stand
 *
 * A pair that is apart at the first pose keeps a distance: flr_fit_pair_motion() proves it, and sliding costs little.
 * A pair that touches or overlaps there keeps a depth: flr_fit_slide() follows each sample. */
#include "plan/plan_space.h"

#include <stdlib.h>
#include <string.h>

#define PLAN_TOLERANCE 1e-7
#define START_SHARE    0.99 /* of the distance at the start, which a pair that starts too near keeps */

flr_plan_def flr_default_plan_def(void)
{
    flr_plan_def def = {.touch = -1, .overlap = -1};
    return def;
}

static bool is_length(double length) { return length >= 0 && isfinite(length); }

static bool is_placed(const flr_plan_part *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!flr_pose_is_valid(parts[i].T)) return false;
    return true;
}

/* the sphere around the box's centre: every vertex is a sample */
static double radius_of(const flr_fit *fit, flr_vec3 centre)
{
    const flr_fit_sample *samples = flr_fit_samples(fit);
    double far = 0;
    for (uint32_t i = 0; i < flr_fit_get_info(fit).samples; i++)
        far = fmax(far, flr_vec3_distance(samples[i].point, centre));
    return far;
}

static double radius_of_body(const flr_plan_space *s)
{
    double far = 0;
    for (uint32_t m = 0; m < s->moving_count; m++)
        far = fmax(far,
                   radius_of(s->moving[m].fit, flr_pose_apply_inverse(s->moving[m].T, s->centre)));
    return far;
}

static void measure_body(flr_plan_space *s)
{
    flr_box3 body = flr_box3_empty();
    for (uint32_t m = 0; m < s->moving_count; m++) {
        const flr_box3 bounds = flr_fit_get_info(s->moving[m].fit).bounds;
        const flr_vec3 centre = flr_box3_centre(bounds);
        s->centres[m] = flr_pose_apply(s->moving[m].T, centre);
        s->radii[m] = radius_of(s->moving[m].fit, centre);
        body = flr_box3_union(body, flr_box3_transform(s->moving[m].T, bounds));
    }
    s->centre = flr_box3_centre(body);
    s->size = flr_vec3_length(flr_box3_size(body));
    s->radius = radius_of_body(s);
    s->box = flr_box3_empty();
    for (uint32_t o = 0; o < s->obstacle_count; o++) {
        s->boxes[o] =
            flr_box3_transform(s->obstacles[o].T, flr_fit_get_info(s->obstacles[o].fit).bounds);
        s->box = flr_box3_union(s->box, s->boxes[o]);
    }
}

flr_result flr_plan_space_create(const flr_plan_def *def, flr_plan_space **space, flr_error *error)
{
    if (!def->moving_count)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a plan needs a part that moves");
    if (!is_length(def->clearance) || !(def->touch == -1 || is_length(def->touch)) ||
        !(def->overlap == -1 || is_length(def->overlap)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a clearance is a length of 0 or more");
    if (!is_placed(def->moving, def->moving_count) ||
        !is_placed(def->obstacles, def->obstacle_count))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the pose of a part is not valid");
    flr_plan_space *s = calloc(1, sizeof *s);
    if (!s) return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
    s->moving_count = def->moving_count;
    s->obstacle_count = def->obstacle_count;
    s->moving = calloc(s->moving_count, sizeof *s->moving);
    s->obstacles = calloc(s->obstacle_count + 1u, sizeof *s->obstacles);
    s->boxes = calloc(s->obstacle_count + 1u, sizeof *s->boxes);
    s->centres = calloc(s->moving_count, sizeof *s->centres);
    s->radii = calloc(s->moving_count, sizeof *s->radii);
    s->pairs = calloc((size_t)s->moving_count * s->obstacle_count + 1, sizeof *s->pairs);
    if (!s->moving || !s->obstacles || !s->boxes || !s->centres || !s->radii || !s->pairs) {
        flr_plan_space_destroy(s);
        return flr_fail(error, FLR_NO_MEMORY, "no memory to plan among %u parts",
                        def->obstacle_count);
    }
    memcpy(s->moving, def->moving, s->moving_count * sizeof *s->moving);
    if (s->obstacle_count)
        memcpy(s->obstacles, def->obstacles, s->obstacle_count * sizeof *s->obstacles);
    measure_body(s);
    s->clearance = def->clearance;
    s->touch = def->touch >= 0 ? def->touch : 1e-7 * s->size;
    s->overlap = def->overlap;
    *space = s;
    return FLR_OK;
}

void flr_plan_space_watch(flr_plan_space *space, bool (*go_on)(void *context), void *context)
{
    space->go_on = go_on;
    space->go_on_context = context;
}

void flr_plan_space_destroy(flr_plan_space *space)
{
    if (!space) return;
    for (size_t i = 0; space->pairs && i < (size_t)space->moving_count * space->obstacle_count; i++)
        flr_fit_pair_destroy(space->pairs[i].query);
    free(space->moving);
    free(space->obstacles);
    free(space->boxes);
    free(space->centres);
    free(space->radii);
    free(space->pairs);
    free(space);
}

bool flr_plan_is_out(const flr_plan_space *space, flr_pose T_world_body)
{
    if (flr_box3_is_empty(space->box)) return true;
    const flr_vec3 p = flr_pose_apply(T_world_body, space->centre);
    const flr_vec3 inside = flr_vec3_max(flr_vec3_min(p, space->box.high), space->box.low);
    return flr_vec3_distance(p, inside) > space->radius;
}

/* ---- pairs ---- */

static flr_plan_pair *pair_of(const flr_plan_space *s, uint32_t moving, uint32_t obstacle)
{
    return &s->pairs[(size_t)moving * s->obstacle_count + obstacle];
}

flr_fit_pair *flr_plan_query_of(flr_plan_space *space, uint32_t moving, uint32_t obstacle)
{
    flr_plan_pair *pair = pair_of(space, moving, obstacle);
    flr_error error;
    if (!pair->query && flr_fit_pair_create(space->obstacles[obstacle].fit,
                                            space->moving[moving].fit, &pair->query, &error))
        pair->query = NULL;
    return pair->query;
}

flr_pose flr_plan_relative(const flr_plan_space *space, uint32_t moving, uint32_t obstacle,
                           flr_pose T_world_body)
{
    flr_pose T = flr_pose_mul(flr_pose_inverse(space->obstacles[obstacle].T),
                              flr_pose_mul(T_world_body, space->moving[moving].T));
    T.q = flr_quat_normalize(T.q);
    return T;
}

double flr_plan_travel(const flr_plan_space *space, const flr_plan_motion *motion)
{
    const double straight = flr_vec3_distance(flr_pose_apply(motion->from, motion->centre),
                                              flr_pose_apply(motion->to, motion->centre));
    const double reach = space->radius + flr_vec3_distance(space->centre, motion->centre);
    return straight + flr_quat_angle(motion->from.q, motion->to.q) * reach;
}

bool flr_plan_may_meet(const flr_plan_space *space, const flr_plan_motion *motion, uint32_t moving,
                       uint32_t obstacle, double margin)
{
    // the sphere's centre goes along an arc, no farther from its chord than the sagitta
    const double half = 0.5 * flr_quat_angle(motion->from.q, motion->to.q),
                 arm = flr_vec3_distance(space->centres[moving], motion->centre);
    flr_box3 box =
        flr_box3_add(flr_box3_empty(), flr_pose_apply(motion->from, space->centres[moving]));
    box = flr_box3_add(box, flr_pose_apply(motion->to, space->centres[moving]));
    const double grow = space->radii[moving] + arm * (1 - cos(half)) + margin;
    return flr_box3_overlap(flr_box3_grow(box, grow * (1 + 1e-9)), space->boxes[obstacle]);
}

static bool boxes_meet(const flr_plan_space *s, flr_pose T, uint32_t moving, uint32_t obstacle,
                       double margin)
{
    const flr_box3 box = flr_box3_transform(flr_pose_mul(T, s->moving[moving].T),
                                            flr_fit_get_info(s->moving[moving].fit).bounds);
    return flr_box3_overlap(flr_box3_grow(box, margin * (1 + 1e-9)), s->boxes[obstacle]);
}

double flr_plan_distance(flr_plan_space *space, flr_pose T_world_body, uint32_t moving,
                         uint32_t obstacle, double max_distance, double tolerance,
                         flr_plan_place *place)
{
    if (!boxes_meet(space, T_world_body, moving, obstacle, max_distance)) return INFINITY;
    flr_fit_pair *query = flr_plan_query_of(space, moving, obstacle);
    if (!query) return INFINITY;
    flr_fit_params params = flr_default_fit_params();
    params.max_distance = max_distance;
    params.tolerance = tolerance;
    flr_fit_result r;
    flr_fit_pair_query(query, flr_plan_relative(space, moving, obstacle, T_world_body), &params,
                       NULL, 0, &r);
    space->work += r.work;
    if (!r.found && !r.meet) return INFINITY;
    const double distance = r.meet ? fmin(r.distance, 0) : r.distance;
    if (place) {
        const flr_pose T = space->obstacles[obstacle].T;
        *place = (flr_plan_place){
            .obstacle = obstacle,
            .moving = moving,
            .distance = distance,
            .point = {flr_pose_apply(T, r.point[0]), flr_pose_apply(T, r.point[1])},
            .normal = flr_pose_apply_vector(T, r.normal)};
    }
    return distance;
}

/* one part may be in the other as a whole, with surfaces farther apart than the clearance */
static bool one_in_other(const flr_plan_space *s, uint32_t moving, uint32_t obstacle, flr_pose T)
{
    const flr_fit *a = s->obstacles[obstacle].fit, *b = s->moving[moving].fit;
    const flr_pose T_a_b = flr_plan_relative(s, moving, obstacle, T);
    flr_vec3 of_a[3], of_b[3];
    flr_fit_triangle(a, 0, of_a);
    flr_fit_triangle(b, 0, of_b);
    return flr_fit_inside(a, flr_pose_apply(T_a_b, of_b[0])) ||
           flr_fit_inside(b, flr_pose_apply_inverse(T_a_b, of_a[0]));
}

static double tolerance_of(double floor) { return fmin(PLAN_TOLERANCE, 0.02 * floor); }

static void set_floor(const flr_plan_space *s, flr_plan_pair *pair)
{
    pair->fitted = pair->start <= s->touch;
    if (pair->fitted) {
        const double depth = fmax(-pair->start, 0);
        const double more = s->overlap >= 0 ? s->overlap : fmax(0.5 * depth, 1e-4 * s->size);
        pair->floor = -(depth + more);
    } else {
        // of what there is, a little is left to rounding and tolerances; a search leaves half of that to the check
        const double kept = pair->start < s->clearance ? START_SHARE * pair->start : s->clearance,
                     more = fmin(s->clearance + s->margin, 0.5 * (1 + START_SHARE) * pair->start);
        pair->floor = s->margin > 0 ? fmax(kept, more) : kept;
    }
}

flr_result flr_plan_space_begin(flr_plan_space *space, flr_pose T_world_body, flr_error *error)
{
    const double reach = fmax(space->clearance / START_SHARE + 2 * space->margin, space->touch);
    for (uint32_t m = 0; m < space->moving_count; m++)
        for (uint32_t o = 0; o < space->obstacle_count; o++) {
            flr_plan_pair *pair = pair_of(space, m, o);
            pair->start = INFINITY;
            if (boxes_meet(space, T_world_body, m, o, reach)) {
                if (!flr_plan_query_of(space, m, o))
                    return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
                const bool within = one_in_other(space, m, o, T_world_body);
                pair->start = flr_plan_distance(space, T_world_body, m, o,
                                                within ? INFINITY : reach, 0, NULL);
            }
            set_floor(space, pair);
        }
    return FLR_OK;
}

/* ---- motions ---- */

/* A motion stops after a share of it: at a distance, with two points and a normal in the obstacle's frame. */
static flr_plan_stop stop_at(const flr_plan_space *s, uint32_t moving, uint32_t obstacle,
                             double share, double distance, const flr_vec3 point[2],
                             flr_vec3 normal)
{
    const flr_pose T = s->obstacles[obstacle].T;
    return (flr_plan_stop){share,
                           {.obstacle = obstacle,
                            .moving = moving,
                            .at = share,
                            .distance = distance,
                            .point = {flr_pose_apply(T, point[0]), flr_pose_apply(T, point[1])},
                            .normal = flr_pose_apply_vector(T, normal)}};
}

static flr_plan_motion between(const flr_plan_motion *motion, double from, double to)
{
    return (flr_plan_motion){flr_fit_motion_pose(motion, from), flr_fit_motion_pose(motion, to),
                             motion->centre};
}

/* the motion of one part in the frame of another */
static flr_fit_motion motion_of(const flr_plan_space *s, const flr_plan_motion *motion,
                                uint32_t moving, uint32_t obstacle)
{
    return (flr_fit_motion){flr_plan_relative(s, moving, obstacle, motion->from),
                            flr_plan_relative(s, moving, obstacle, motion->to),
                            flr_pose_apply_inverse(s->moving[moving].T, motion->centre)};
}

static void move_apart(flr_plan_space *s, const flr_plan_motion *motion, uint32_t moving,
                       uint32_t obstacle, double floor, flr_plan_stop *stop)
{
    flr_fit_motion_params params = flr_default_fit_motion_params();
    flr_fit_motion_result r;
    params.clearance = floor;
    params.tolerance = floor > 0 ? tolerance_of(floor) : fmin(PLAN_TOLERANCE, 1e-6 * s->size);
    const flr_fit_motion local = motion_of(s, motion, moving, obstacle);
    flr_fit_pair_motion(pair_of(s, moving, obstacle)->query, &local, &params, &r);
    s->work += r.work;
    if (r.meeting) r.free = 0; // within rounding of each other: not known to be apart
    if (r.free < 1) *stop = stop_at(s, moving, obstacle, r.free, r.distance, r.point, r.normal);
}

static bool go_on(void *context)
{
    const flr_plan_space *s = context;
    return !s->give_up || !s->give_up(s->give_up_context);
}

/* How much of a turn is free for a pair that touched or overlapped at the first pose and is apart at the beginning? Triangles tell
 * that faster than samples: a nut that overlaps its bolt where the thread runs out is free a turn later. */
static double free_apart(flr_plan_space *s, const flr_plan_motion *motion, uint32_t moving,
                         uint32_t obstacle, double floor)
{
    flr_plan_stop stop = {.free = 1};
    if (flr_quat_angle(motion->from.q, motion->to.q) < 1e-6) return 0;
    // what is inside is no deeper than the floor, so that this far is far enough to find it
    const double far = fmax(-1.01 * floor, 2 * s->touch);
    if (flr_plan_distance(s, motion->from, moving, obstacle, far, 0, NULL) <= s->touch) return 0;
    move_apart(s, motion, moving, obstacle, 0, &stop);
    return stop.free;
}

/* A pair that touches or overlaps. */
static void slide(flr_plan_space *s, const flr_plan_motion *motion, uint32_t moving,
                  uint32_t obstacle, double floor, flr_plan_stop *stop)
{
    const double apart = free_apart(s, motion, moving, obstacle, floor);
    if (apart == 1) return;
    const flr_plan_motion rest = between(motion, apart, 1);
    const flr_fit_slide_def def = {.motion = motion_of(s, &rest, moving, obstacle),
                                   .depth = -floor,
                                   .go_on = go_on,
                                   .context = s};
    flr_fit_slide_result r;
    flr_fit_slide(s->obstacles[obstacle].fit, s->moving[moving].fit, &def, &r);
    s->work += r.work;
    if (r.free < 1)
        *stop = stop_at(s, moving, obstacle, apart + (1 - apart) * r.free, r.distance, r.point,
                        r.normal);
}

bool flr_plan_move_pair(flr_plan_space *space, const flr_plan_motion *motion, uint32_t moving,
                        uint32_t obstacle, double floor, flr_plan_stop *stop)
{
    const flr_plan_pair *pair = pair_of(space, moving, obstacle);
    stop->free = 1;
    if (!flr_plan_may_meet(space, motion, moving, obstacle, fmax(floor, 0))) return true;
    if (!flr_plan_query_of(space, moving, obstacle)) return false;
    if (pair->fitted && pair->floor < 0)
        slide(space, motion, moving, obstacle, pair->floor, stop);
    else
        move_apart(space, motion, moving, obstacle, floor, stop);
    return true;
}

bool flr_plan_move(flr_plan_space *space, const flr_plan_motion *motion, flr_plan_stop *stop)
{
    flr_plan_motion left = *motion;
    *stop = (flr_plan_stop){.free = 1};
    for (uint32_t m = 0; m < space->moving_count; m++)
        for (uint32_t o = 0; o < space->obstacle_count; o++) {
            flr_plan_stop one;
            if (!flr_plan_move_pair(space, &left, m, o, pair_of(space, m, o)->floor, &one))
                return false;
            if (one.free == 1) continue;
            // what comes later matters no more
            one.free = one.place.at = stop->free * one.free;
            *stop = one;
            if (one.free <= 0) return true;
            left = between(motion, 0, one.free);
        }
    return true;
}
