/* joints that are moved from one place to another: what is in the way, and how near parts come */
#include "world/joint_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "world/tight_internal.h"

#define PIECE_TURN 0.2 /* rad: of a part, in a piece of the motion, at most */
#define SWEEP_ASTRAY                                                                               \
    1e-6 /* metres: so little a piece deviates from a screw motion, unless it is short */
#define SHORTEST 1e-5 /* share of a stage: no piece is shorter */
#define CAREFUL  1.5  /* deviations are measured at three places; in between they may be larger */
#define OPEN     1e-7 /* metres: a loop that is open by more cannot close */
#define HALTS    40   /* halvings that find where a loop locks */
#define TOUCHING 1e-7 /* metres: parts that are this near at the start meet there */
#define LEAVING                                                                                    \
    (1.0 / 64) /* share of a stage: how often such parts are asked whether they still do */

flr_joint_sweep_def flr_default_joint_sweep_def(void)
{
    return (flr_joint_sweep_def){.samples = 121};
}

/* ---- where parts are ---- */

/* The place of a travel among the freedoms of its island; none: its joint closes a loop. */
static uint32_t freedom_of(const flr_mechanism *m, const flr_joint_travel *t, uint32_t *island)
{
    const uint32_t first = flr_mechanism_freedom(m, t->joint, island);
    if (first == FLR_MECHANISM_NONE) return first;
    return first + (t->slide && m->joints[t->joint].kind == FLR_JOINT_CYLINDRICAL);
}

/* Moves one island to where its driven joints shall be. */
static double place_island(const flr_joint_sweep_def *def, uint32_t island, const double *goals,
                           const bool *driven, flr_pose *T)
{
    const flr_mechanism *m = def->mechanism;
    double change[FLR_MECHANISM_FREEDOMS] = {0};
    flr_joint_position *at = calloc(m->joint_count + 1u, sizeof *at);
    flr_vec3 *centres = calloc(m->part_count + 1u, sizeof *centres);
    double open = INFINITY;
    if (at && centres) {
        for (uint32_t i = 0; i < m->joint_count; i++) at[i].q = flr_quat_identity();
        memcpy(change, goals, m->islands[island].freedoms * sizeof *change);
        /* a loop is followed in small steps, so that it stays on its branch */
        const uint32_t steps = m->islands[island].loop_count ? 64 : 1;
        for (uint32_t i = 0; i < m->islands[island].freedoms; i++) change[i] /= steps;
        for (uint32_t i = 0; i < steps; i++)
            open = flr_mechanism_advance(m, island, centres, change, driven, at, T);
    }
    free(at);
    free(centres);
    return open;
}

double flr_joint_sweep_pose(const flr_joint_sweep_def *def, uint32_t stage, double share,
                            flr_pose *T)
{
    const flr_mechanism *m = def->mechanism;
    double open = 0;
    memcpy(T, def->T_world_part, m->part_count * sizeof *T);
    for (uint32_t k = 0; k < m->island_count; k++) {
        double goals[FLR_MECHANISM_FREEDOMS] = {0};
        bool driven[FLR_MECHANISM_FREEDOMS] = {0}, any = false;
        for (uint32_t s = 0; s <= stage && s < def->stage_count; s++)
            for (uint32_t i = def->first[s]; i < def->first[s + 1]; i++) {
                uint32_t island;
                const uint32_t freedom = freedom_of(m, &def->travels[i], &island);
                if (island != k || freedom == FLR_MECHANISM_NONE) continue;
                goals[freedom] = flr_joint_travel_at(&def->travels[i], s < stage ? 1 : share);
                driven[freedom] = any = true;
            }
        if (any) open = fmax(open, place_island(def, k, goals, driven, T));
    }
    return open;
}

bool flr_joint_sweep_moves(const flr_joint_sweep_def *def, uint32_t part)
{
    const uint32_t island = flr_mechanism_island_of(def->mechanism, part);
    for (uint32_t i = 0; island != FLR_MECHANISM_NONE && i < def->first[def->stage_count]; i++)
        if (def->mechanism->island_of_joint[def->travels[i].joint] == island) return true;
    return false;
}

/* ---- one run ---- */

typedef struct running {
    const flr_joint_sweep_def *def;
    flr_joint_sweep *out;
    uint32_t parts;
    bool *moves;
    flr_pose *T[3]; /* at the beginning and at the end of a piece; in between */
    flr_pose *T_mid[2];
    flr_box3 *swept;      /* of each part, over a piece */
    flr_fit_pair **pairs; /* [parts x parts], made when needed; low part first */
    bool *met;            /* [parts x parts], low part first: met at the start, and do so still */
    flr_error *error;
} running;

static flr_fit_pair *pair_of(running *r, uint32_t a, uint32_t b)
{
    flr_fit_pair **at = &r->pairs[(size_t)a * r->parts + b];
    if (!*at && flr_fit_pair_create(r->def->fits[a], r->def->fits[b], at, r->error) != FLR_OK)
        return NULL;
    return *at;
}

static bool is_pair(const running *r, uint32_t a, uint32_t b)
{
    return (r->moves[a] || r->moves[b]) && r->def->fits[a] && r->def->fits[b] &&
           flr_mechanism_may_touch(r->def->mechanism, a, b) &&
           !(r->def->skip && r->def->skip(r->def->skip_context, a, b));
}

/* Place of a in the order of a pair: what stands is a. */
static bool is_swapped(const running *r, uint32_t a, uint32_t b)
{
    return r->moves[a] && !r->moves[b];
}

static flr_vec3 corner_of(flr_box3 box, int i)
{
    return flr_vec3_make(i & 1 ? box.high.x : box.low.x, i & 2 ? box.high.y : box.low.y,
                         i & 4 ? box.high.z : box.low.z);
}

/* How far the corners of a box are apart in two poses, at most. */
static double apart(flr_box3 box, flr_pose one, flr_pose other)
{
    double most = 0;
    for (int i = 0; i < 8; i++)
        most = fmax(most, flr_vec3_distance(flr_pose_apply(one, corner_of(box, i)),
                                            flr_pose_apply(other, corner_of(box, i))));
    return most;
}

/* The point about which b turns on a straight line from one pose to the other, in its frame. */
static flr_vec3 screw_centre(flr_pose from, flr_pose to, flr_vec3 middle)
{
    const flr_pose M = flr_pose_mul(to, flr_pose_inverse(from));
    const flr_vec3 turn = flr_quat_to_rotation_vector(flr_quat_normalize(M.q));
    const double angle = flr_vec3_length(turn);
    if (!(angle > 1e-9)) return middle;
    const flr_vec3 n = flr_vec3_scale(turn, 1 / angle);
    const flr_vec3 across = flr_vec3_add_scaled(M.p, -flr_vec3_dot(M.p, n), n);
    const flr_vec3 c = flr_vec3_scale(
        flr_vec3_add_scaled(across, 1 / tan(angle / 2), flr_vec3_cross(n, across)), 0.5);
    /* of all points of the axis, the one next to the part */
    const flr_vec3 there = flr_pose_apply(from, middle);
    const flr_vec3 near = flr_vec3_add_scaled(c, flr_vec3_dot(flr_vec3_sub(there, c), n), n);
    return flr_pose_apply_inverse(from, near);
}

static flr_fit_motion motion_of(const running *r, uint32_t a, uint32_t b)
{
    flr_fit_motion motion = {.from = flr_tight_between(r->T[0][a], r->T[0][b]),
                             .to = flr_tight_between(r->T[1][a], r->T[1][b])};
    motion.centre = screw_centre(motion.from, motion.to,
                                 flr_box3_centre(flr_fit_get_info(r->def->fits[b]).bounds));
    return motion;
}

/* How far the true motion of a pair deviates from a screw motion over the piece, measured at three places. */
static double deviation_of(const running *r, uint32_t a, uint32_t b, const flr_fit_motion *motion)
{
    const flr_pose *const between_ends[3] = {r->T_mid[0], r->T[2], r->T_mid[1]};
    const flr_box3 box = flr_fit_get_info(r->def->fits[b]).bounds;
    double most = 0;
    for (int i = 0; i < 3; i++)
        most = fmax(most, apart(box, flr_tight_between(between_ends[i][a], between_ends[i][b]),
                                flr_fit_motion_pose(motion, 0.25 * (i + 1))));
    return most < 1e-12 ? 0 : CAREFUL * most;
}

/* ---- pieces ---- */

/* Poses of a piece. Returns by how many metres loops are open at its end. */
static double pose_piece(running *r, uint32_t stage, double from, double to)
{
    const double length = to - from;
    flr_joint_sweep_pose(r->def, stage, from, r->T[0]);
    flr_joint_sweep_pose(r->def, stage, from + 0.25 * length, r->T_mid[0]);
    flr_joint_sweep_pose(r->def, stage, from + 0.5 * length, r->T[2]);
    flr_joint_sweep_pose(r->def, stage, from + 0.75 * length, r->T_mid[1]);
    return flr_joint_sweep_pose(r->def, stage, to, r->T[1]);
}

/* A piece is short enough when no part turns far, so that its box can be bounded from its ends. */
static bool is_short(const running *r)
{
    for (uint32_t i = 0; i < r->parts; i++)
        if (r->moves[i] && flr_quat_angle(r->T[0][i].q, r->T[1][i].q) > PIECE_TURN) return false;
    return true;
}

/* Boxes around parts over a piece: no point is farther from one of its five poses than an eighth of its path. */
static void box_piece(running *r)
{
    const flr_pose *const five[5] = {r->T[0], r->T_mid[0], r->T[2], r->T_mid[1], r->T[1]};
    for (uint32_t i = 0; i < r->parts; i++) {
        r->swept[i] = flr_box3_empty();
        if (!r->def->fits[i]) continue;
        const flr_box3 box = flr_fit_get_info(r->def->fits[i]).bounds;
        double path = 0;
        for (int k = 0; k < (r->moves[i] ? 5 : 1); k++) {
            r->swept[i] = flr_box3_union(r->swept[i], flr_box3_transform(five[k][i], box));
            if (k > 0) path = fmax(path, apart(box, five[k - 1][i], five[k][i]));
        }
        r->swept[i] = flr_box3_grow(r->swept[i], 0.55 * path + 0.5 * r->def->clearance + 1e-9);
    }
}

/* Follows one pair over a piece: how much of it is free. */
static bool follow(running *r, uint32_t a, uint32_t b, flr_fit_motion_result *found)
{
    if (is_swapped(r, a, b)) {
        const uint32_t other = a;
        a = b, b = other;
    }
    flr_fit_pair *pair = pair_of(r, a, b);
    if (!pair) return false;
    flr_fit_motion motion = motion_of(r, a, b);
    flr_fit_motion_params how = flr_default_fit_motion_params();
    how.deviation = deviation_of(r, a, b, &motion);
    how.clearance = r->def->clearance;
    flr_fit_pair_motion(pair, &motion, &how, found);
    r->out->pairs++;
    return true;
}

static void note_contact(running *r, uint32_t a, uint32_t b, const flr_fit_motion_result *found,
                         double free)
{
    const bool swapped = is_swapped(r, a, b);
    const uint32_t frame = swapped ? b : a, mover = swapped ? a : b;
    const flr_pose T_frame = flr_pose_interpolate(r->T[0][frame], r->T[1][frame], free);
    r->out->part[0] = mover, r->out->part[1] = frame;
    for (int i = 0; i < 2; i++) r->out->point[!i] = flr_pose_apply(T_frame, found->point[i]);
}

/* The largest deviation of any pair whose boxes meet over the piece. */
static double worst_deviation(running *r)
{
    double most = 0;
    for (uint32_t a = 0; a < r->parts; a++)
        for (uint32_t b = a + 1; b < r->parts; b++) {
            if (!is_pair(r, a, b) || !flr_box3_overlap(r->swept[a], r->swept[b])) continue;
            const uint32_t frame = is_swapped(r, a, b) ? b : a, mover = frame == a ? b : a;
            const flr_fit_motion motion = motion_of(r, frame, mover);
            most = fmax(most, deviation_of(r, frame, mover, &motion));
        }
    return most;
}

/* Whether two parts meet where a piece begins. */
static bool meet_now(running *r, uint32_t a, uint32_t b, bool *meet)
{
    const uint32_t frame = is_swapped(r, a, b) ? b : a, mover = frame == a ? b : a;
    flr_fit_pair *pair = pair_of(r, frame, mover);
    if (!pair) return false;
    flr_fit_params ask = flr_default_fit_params();
    flr_fit_result found;
    ask.reach = -1;
    ask.max_distance = 2 * TOUCHING;
    flr_fit_pair_query(pair, flr_tight_between(r->T[0][frame], r->T[0][mover]), &ask, NULL, 0,
                       &found);
    *meet = found.distance <= TOUCHING;
    return true;
}

/* Parts that met at the start count from where they have come apart. */
static bool look_at_met(running *r, bool *any)
{
    *any = false;
    for (uint32_t a = 0; a < r->parts; a++)
        for (uint32_t b = a + 1; b < r->parts; b++) {
            bool *met = &r->met[(size_t)a * r->parts + b];
            if (*met && !meet_now(r, a, b, met)) return false;
            *any |= *met;
        }
    return true;
}

/* Checks all pairs over a piece. `*free` is the share of it that is free. */
static bool check_piece(running *r, double *free)
{
    *free = 1;
    for (uint32_t a = 0; a < r->parts; a++)
        for (uint32_t b = a + 1; b < r->parts; b++) {
            if (!is_pair(r, a, b) || !flr_box3_overlap(r->swept[a], r->swept[b])) continue;
            if (r->met[(size_t)a * r->parts + b]) continue;
            flr_fit_motion_result found;
            if (!follow(r, a, b, &found)) return false;
            if (found.free < *free) {
                *free = found.free;
                r->out->blocked = true;
                note_contact(r, a, b, &found, *free);
            }
        }
    return true;
}

/* Where a loop locks between two shares: the last one that closes. */
static double find_lock(running *r, uint32_t stage, double from, double to)
{
    for (int i = 0; i < HALTS; i++) {
        const double middle = 0.5 * (from + to);
        if (flr_joint_sweep_pose(r->def, stage, middle, r->T[2]) > OPEN)
            to = middle;
        else
            from = middle;
    }
    return from;
}

/* One stage, in pieces that are as long as they may be. */
static bool run_stage(running *r, uint32_t stage)
{
    flr_joint_sweep *out = r->out;
    double at = 0, length = 1;
    out->stage = stage;
    while (at < 1) {
        const double to = fmin(1, at + length);
        const double open = pose_piece(r, stage, at, to);
        box_piece(r);
        if (to - at > SHORTEST && (!is_short(r) || worst_deviation(r) > SWEEP_ASTRAY)) {
            length = 0.5 * (to - at);
            continue;
        }
        bool met;
        if (!look_at_met(r, &met)) return false;
        if (met && to - at > LEAVING) {
            length = LEAVING;
            continue;
        }
        if (open > OPEN) {
            out->blocked = out->locked = true;
            out->open = open;
            out->share = find_lock(r, stage, at, to);
            return true;
        }
        double free;
        if (!check_piece(r, &free)) return false;
        if (out->blocked) {
            out->share = at + free * (to - at);
            return true;
        }
        at = out->share = to;
        length *= 2;
    }
    return true;
}

/* ---- clearance ---- */

/* The least distance of all pairs where parts are now. */
static bool measure(running *r, flr_joint_sweep_sample *sample)
{
    const flr_pose *T = r->T[0];
    sample->clearance = INFINITY;
    sample->part[0] = sample->part[1] = FLR_MECHANISM_NONE;
    for (uint32_t i = 0; i < r->parts; i++)
        r->swept[i] = r->def->fits[i]
                          ? flr_box3_transform(T[i], flr_fit_get_info(r->def->fits[i]).bounds)
                          : flr_box3_empty();
    for (uint32_t a = 0; a < r->parts; a++)
        for (uint32_t b = a + 1; b < r->parts; b++) {
            if (!is_pair(r, a, b)) continue;
            const double range = sample->clearance;
            if (isfinite(range) &&
                !flr_box3_overlap(flr_box3_grow(r->swept[a], range), r->swept[b]))
                continue;
            const uint32_t frame = is_swapped(r, a, b) ? b : a, mover = frame == a ? b : a;
            flr_fit_pair *pair = pair_of(r, frame, mover);
            if (!pair) return false;
            flr_fit_params ask = flr_default_fit_params();
            flr_fit_result found;
            ask.reach = -1;
            ask.max_distance = range;
            flr_fit_pair_query(pair, flr_tight_between(T[frame], T[mover]), &ask, NULL, 0, &found);
            if (!(found.distance < range)) continue;
            sample->clearance = fmax(found.distance, 0);
            sample->part[0] = mover, sample->part[1] = frame;
        }
    return true;
}

/* Pairs that meet where the first stage begins. */
static bool find_starts(running *r)
{
    flr_joint_sweep *out = r->out;
    flr_joint_sweep_pose(r->def, 0, 0, r->T[0]);
    for (uint32_t a = 0; a < r->parts; a++)
        for (uint32_t b = a + 1; b < r->parts; b++) {
            if (!is_pair(r, a, b)) continue;
            const flr_box3 box_a = flr_box3_transform(r->T[0][a],
                                                      flr_fit_get_info(r->def->fits[a]).bounds),
                           box_b = flr_box3_transform(r->T[0][b],
                                                      flr_fit_get_info(r->def->fits[b]).bounds);
            bool *met = &r->met[(size_t)a * r->parts + b];
            if (!flr_box3_overlap(flr_box3_grow(box_a, 2 * TOUCHING), box_b)) continue;
            if (!meet_now(r, a, b, met)) return false;
            if (!*met) continue;
            const uint32_t frame = is_swapped(r, a, b) ? b : a, mover = frame == a ? b : a;
            flr_joint_sweep_start *more =
                realloc(out->starts, (out->start_count + 1u) * sizeof *more);
            if (!more) return false;
            out->starts = more;
            more[out->start_count++] = (flr_joint_sweep_start){{mover, frame}};
        }
    return true;
}

static bool sample_all(running *r)
{
    flr_joint_sweep *out = r->out;
    const uint32_t each = r->def->samples, stages = out->stage + 1;
    out->samples = calloc((size_t)each * stages, sizeof *out->samples);
    if (!out->samples) return false;
    for (uint32_t s = 0; s < stages; s++)
        for (uint32_t i = 0; i < each; i++) {
            flr_joint_sweep_sample *sample = &out->samples[out->sample_count];
            const double end = s == out->stage ? out->share : 1;
            *sample = (flr_joint_sweep_sample){.stage = s, .share = end * i / (each - 1)};
            flr_joint_sweep_pose(r->def, s, sample->share, r->T[0]);
            if (!measure(r, sample)) return false;
            out->sample_count++;
        }
    return true;
}

/* ---- the whole ---- */

static flr_result check(const flr_joint_sweep_def *def, flr_error *error)
{
    const flr_mechanism *m = def->mechanism;
    if (def->stage_count == 0 || def->first[def->stage_count] == 0)
        return flr_fail(error, FLR_BAD_ARGUMENT, "there is no joint to be moved");
    if (def->samples < 2 || def->samples > 100000)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%u samples are not 2 to 100000", def->samples);
    for (uint32_t i = 0; i < def->first[def->stage_count]; i++) {
        const flr_joint_travel *t = &def->travels[i];
        uint32_t island = FLR_MECHANISM_NONE;
        if (t->joint >= m->joint_count)
            return flr_fail(error, FLR_BAD_ARGUMENT, "there is no joint %u", t->joint);
        const flr_joint_kind kind = m->joints[t->joint].kind;
        if (kind == FLR_JOINT_FIXED || kind == FLR_JOINT_PLANAR || kind == FLR_JOINT_BALL)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "joint %u is %s and has no single motion to sweep", t->joint,
                            flr_joint_kind_name(kind));
        if (freedom_of(m, t, &island) == FLR_MECHANISM_NONE)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "joint %u closes a loop; sweep another joint of that loop", t->joint);
        if (!isfinite(t->from) || !isfinite(t->to))
            return flr_fail(error, FLR_BAD_ARGUMENT, "joint %u: no number", t->joint);
    }
    return FLR_OK;
}

flr_result flr_joint_sweep_run(const flr_joint_sweep_def *def, flr_joint_sweep *sweep,
                               flr_error *error)
{
    const uint32_t parts = def->mechanism->part_count;
    flr_error inner = {0};
    running r = {.def = def, .out = sweep, .parts = parts, .error = &inner};
    *sweep = (flr_joint_sweep){.part = {FLR_MECHANISM_NONE, FLR_MECHANISM_NONE}};
    flr_result result = check(def, error);
    if (result != FLR_OK) return result;
    r.moves = calloc(parts + 1u, sizeof *r.moves);
    r.swept = calloc(parts + 1u, sizeof *r.swept);
    r.pairs = calloc((size_t)parts * parts + 1, sizeof *r.pairs);
    r.met = calloc((size_t)parts * parts + 1, sizeof *r.met);
    for (int i = 0; i < 3; i++) r.T[i] = calloc(parts + 1u, sizeof *r.T[i]);
    for (int i = 0; i < 2; i++) r.T_mid[i] = calloc(parts + 1u, sizeof *r.T_mid[i]);
    sweep->T_end = calloc(parts + 1u, sizeof *sweep->T_end);
    bool ok = r.moves && r.swept && r.pairs && r.met && r.T[0] && r.T[1] && r.T[2] && r.T_mid[0] &&
              r.T_mid[1] && sweep->T_end;
    for (uint32_t i = 0; ok && i < parts; i++) r.moves[i] = flr_joint_sweep_moves(def, i);
    ok = ok && find_starts(&r);
    for (uint32_t s = 0; ok && s < def->stage_count && !sweep->blocked; s++) ok = run_stage(&r, s);
    ok = ok && sample_all(&r);
    if (ok) flr_joint_sweep_pose(def, sweep->stage, sweep->share, sweep->T_end);
    for (size_t i = 0; r.pairs && i < (size_t)parts * parts; i++) flr_fit_pair_destroy(r.pairs[i]);
    free(r.pairs);
    free(r.met);
    free(r.moves);
    free(r.swept);
    for (int i = 0; i < 3; i++) free(r.T[i]);
    for (int i = 0; i < 2; i++) free(r.T_mid[i]);
    if (ok) return FLR_OK;
    flr_joint_sweep_free(sweep);
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the sweep of %u parts", parts);
}

void flr_joint_sweep_free(flr_joint_sweep *sweep)
{
    free(sweep->samples);
    free(sweep->starts);
    free(sweep->T_end);
    *sweep = (flr_joint_sweep){0};
}
