/* does a path keep its clearance, and how near does it come?
 *
 * The poses of the path give an upper bound of the least distance. A motion that keeps nearly as much, from pose to pose,
 * proves the lower bound. Where it does not, the rest of the segment is measured more finely and less is asked for, down
 * to what the pair has to keep; what is stopped even then is the violation. */
#include "plan/plan_space.h"

enum { UNTIL_STEPS = 16, CLOSER_SAMPLES = 16, MAX_STOPS = 24 };
#define PROVEN_SHARE 0.99

/* Between two poses of a path: the origin goes straight on. */
static flr_plan_motion segment(const flr_pose *poses, size_t i)
{
    return (flr_plan_motion){poses[i], poses[i + 1], flr_vec3_zero()};
}

/* ---- fits ---- */

/* The last place, on a grid, where a pair is nearer than the clearance. */
static double near_until(flr_plan_space *s, const flr_pose *poses, size_t count, uint32_t m,
                         uint32_t o)
{
    const double reach = fmax(s->clearance, s->touch), tolerance = 0.05 * reach;
    size_t last = count;
    while (last-- > 1)
        if (flr_plan_distance(s, poses[last], m, o, reach, tolerance, NULL) < reach) break;
    if (last + 1 >= count) return (double)(count - 1);
    const flr_plan_motion motion = segment(poses, last);
    for (int k = UNTIL_STEPS - 1; k > 0; k--) {
        const flr_pose T = flr_fit_motion_pose(&motion, (double)k / UNTIL_STEPS);
        if (flr_plan_distance(s, T, m, o, reach, tolerance, NULL) < reach)
            return (double)last + (double)(k + 1) / UNTIL_STEPS;
    }
    return (double)last + 1.0 / UNTIL_STEPS;
}

static void list_fits(flr_plan_space *s, const flr_pose *poses, size_t count, flr_plan_verdict *v)
{
    for (uint32_t m = 0; m < s->moving_count; m++)
        for (uint32_t o = 0; o < s->obstacle_count; o++) {
            const flr_plan_pair *pair = &s->pairs[(size_t)m * s->obstacle_count + o];
            if (!pair->fitted && !(pair->floor < s->clearance)) continue;
            if (v->fit_total++ >= FLR_PLAN_MAX_FITS) continue;
            v->fits[v->fit_count++] =
                (flr_plan_fit){o, m, pair->start, pair->floor, near_until(s, poses, count, m, o)};
        }
}

/* ---- the least distance ---- */

static void look_at(flr_plan_space *s, flr_pose T, double at, uint32_t m, uint32_t o,
                    flr_plan_verdict *v)
{
    flr_plan_place place;
    const double tolerance = v->upper < INFINITY ? fmax(0.005 * v->upper, 0) : 0;
    const double distance = flr_plan_distance(s, T, m, o, v->upper, tolerance, &place);
    if (!(distance < v->upper)) return;
    v->upper = distance;
    v->nearest = place;
    v->nearest.at = at;
}

/* Proves that a pair keeps `lower` in a segment, or makes that smaller, down to its floor. `stop`: where it does not keep
 * even that. */
static bool enclose(flr_plan_space *s, const flr_plan_motion *motion, double index, uint32_t m,
                    uint32_t o, flr_plan_verdict *v, flr_plan_stop *stop)
{
    const flr_plan_pair *pair = &s->pairs[(size_t)m * s->obstacle_count + o];
    if (pair->fitted) return flr_plan_move_pair(s, motion, m, o, pair->floor, stop);
    double at = 0;
    for (int stops = 0;; stops++) {
        const flr_plan_motion rest = {flr_fit_motion_pose(motion, at), motion->to, motion->centre};
        const double kept = fmax(v->lower, pair->floor);
        if (!flr_plan_move_pair(s, &rest, m, o, kept, stop)) return false;
        if (stop->free == 1) break;
        at += (1 - at) * stop->free;
        if (kept == pair->floor) break;
        for (int k = 0; k < CLOSER_SAMPLES; k++) {
            const double there = at + (1 - at) * k / CLOSER_SAMPLES;
            look_at(s, flr_fit_motion_pose(motion, there), index + there, m, o, v);
        }
        v->lower = fmin(kept, PROVEN_SHARE * v->upper);
        // stopped by tolerances, not by a nearer place: less can be proven
        if (v->lower == kept) v->lower = 0.8 * kept;
        if (stops == MAX_STOPS) v->lower = fmin(v->lower, pair->floor);
    }
    if (stop->free < 1) stop->free = stop->place.at = at;
    return true;
}

/* One check of a path, which may be stopped. */
typedef struct stoppable_check {
    flr_plan_space *space;
    unsigned steps;
    bool stopped;
} stoppable_check;

static bool is_stopped(void *context)
{
    enum { STEPS_WITHOUT_ASKING = 16 };
    stoppable_check *c = context;
    if (!c->stopped && c->steps++ % STEPS_WITHOUT_ASKING == 0)
        c->stopped = !c->space->go_on(c->space->go_on_context);
    return c->stopped;
}

/* whether a check that may be stopped is */
static bool gives_up(const flr_plan_space *s) { return s->go_on && s->give_up(s->give_up_context); }

/* All pairs in a segment; `free` becomes false where one is stopped. */
static bool check_segment(flr_plan_space *s, const flr_pose *poses, size_t i, flr_plan_verdict *v)
{
    flr_plan_motion motion = segment(poses, i);
    double free = 1;
    for (uint32_t m = 0; m < s->moving_count; m++)
        for (uint32_t o = 0; o < s->obstacle_count; o++) {
            flr_plan_stop stop;
            if (gives_up(s)) return true;
            if (!enclose(s, &motion, (double)i, m, o, v, &stop)) return false;
            if (stop.free == 1) continue;
            // the first place counts: what comes later matters no more
            free *= stop.free;
            v->free = false;
            v->violation = stop.place;
            v->violation.at = (double)i + free;
            motion.to = flr_fit_motion_pose(&motion, stop.free);
        }
    return true;
}

static bool check_path(flr_plan_space *s, const flr_pose *poses, size_t count, flr_plan_verdict *v)
{
    for (uint32_t m = 0; m < s->moving_count; m++)
        for (uint32_t o = 0; o < s->obstacle_count; o++)
            if (!s->pairs[(size_t)m * s->obstacle_count + o].fitted)
                for (size_t i = 0; i < count && !gives_up(s); i++)
                    look_at(s, poses[i], (double)i, m, o, v);
    v->lower = PROVEN_SHARE * v->upper;
    for (size_t i = 0; i + 1 < count && v->free && !gives_up(s); i++)
        if (!check_segment(s, poses, i, v)) return false;
    return true;
}

flr_result flr_plan_verify(flr_plan_space *space, const flr_pose *poses, size_t count,
                           flr_plan_verdict *verdict, flr_error *error)
{
    const flr_plan_place nowhere = {.obstacle = FLR_NONE, .moving = FLR_NONE, .distance = INFINITY};
    if (!count) return flr_fail(error, FLR_BAD_ARGUMENT, "a path needs a pose");
    for (size_t i = 0; i < count; i++)
        if (!flr_pose_is_valid(poses[i]))
            return flr_fail(error, FLR_BAD_ARGUMENT, "pose %zu of the path is not valid", i + 1);
    *verdict = (flr_plan_verdict){.free = true,
                                  .lower = INFINITY,
                                  .upper = INFINITY,
                                  .nearest = nowhere,
                                  .violation = nowhere};
    space->work = 0;
    stoppable_check check = {.space = space};
    if (space->go_on) space->give_up = is_stopped, space->give_up_context = &check;
    flr_result result = flr_plan_space_begin(space, poses[0], error);
    if (result == FLR_OK && !check_path(space, poses, count, verdict))
        result = flr_fail(error, FLR_NO_MEMORY, "no memory to check a path");
    if (result == FLR_OK && !check.stopped) list_fits(space, poses, count, verdict);
    if (space->go_on) space->give_up = NULL;
    if (result == FLR_OK && check.stopped)
        result = flr_fail(error, FLR_CANCELLED, "the check of the path was stopped");
    verdict->work = space->work;
    return result;
}
