/* clash: an assembly of 1000 parts, all pairs; 24 parts at 13 poses of a hinge; a hinge of 120 degrees; FCL and OpenCASCADE beside
 *
 * Geometry is made ready before anything is timed. The peers are asked for the pairs whose boxes feeler's own sweep of boxes leaves over,
 * and for the hinge one pose after the other: none of them follows a motion of meshes continuously. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/clash_parts.h"
#include "feeler/clash.h"
#include "world/joint_sweep.h"

enum { CLASH_PARTS = 1000, DOOR_PARTS = 24, DOOR_POSES = 13, DOOR_SAMPLES = 121, POSTS = 3 };
static const double clash_clearance = 1e-3; /* metres */
static const double door_end = 120 / 360.0 * FLR_TWO_PI;

/* One thing that is asked, and the answer: metres, 0 where parts meet, INFINITY beyond the clearance. */
typedef struct question {
    uint32_t a, b; /* parts */
    double turn;   /* of the door: 0 ... 1 of its way */
    double distance;
} question;

typedef struct clash_case {
    const char *title;
    flr_clash_parts parts;
    double clearance;
    question
        *questions; /* [count]; of the hinge: the answer of feeler stands in the first of a pose */
    size_t count, room;
} clash_case;

typedef struct clash_row {
    const char *name;
    size_t asked, count;
    double seconds, cpu;
    size_t meeting, near, differing;
    double worst; /* metres: the largest difference of a distance; NAN: it gives none */
} clash_row;

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start(clash_row *row)
{
    row->seconds = -1e-6 * flr_bench_wall_us();
    row->cpu = -processor_seconds();
}

static void stop(clash_row *row)
{
    row->seconds += 1e-6 * flr_bench_wall_us();
    row->cpu += processor_seconds();
}

/* ---- the door ---- */

static flr_pose floor_pose(const clash_case *c)
{
    return flr_pose_make(flr_vec3_zero(), c->parts.poses[0].q);
}

static flr_vec3 hinge_point(const clash_case *c)
{
    return flr_pose_apply(floor_pose(c), flr_vec3_make(-0.06, -0.04, 0));
}

static flr_vec3 hinge_axis(const clash_case *c)
{
    return flr_pose_apply_vector(floor_pose(c), flr_vec3_make(0, 0, -1));
}

static flr_pose turned(const clash_case *c, flr_pose T, double angle)
{
    const flr_quat q = flr_quat_from_axis_angle(hinge_axis(c), angle);
    const flr_vec3 p = hinge_point(c);
    const flr_vec3 moved = flr_vec3_add(p, flr_quat_rotate(q, flr_vec3_sub(T.p, p)));
    return flr_pose_make(moved, flr_quat_mul(q, T.q));
}

/* The last parts: posts beside the way of a door, one of them in it, and the door. */
static void add_door(clash_case *c)
{
    static const struct post {
        double radius, angle;
    } posts[POSTS] = {{0.33, 0.7}, {0.33, 1.4}, {0.2, 2.06}};
    const flr_pose T_world_floor = floor_pose(c);
    const flr_vec3 hinge = flr_vec3_make(-0.06, -0.04, 0);
    for (uint32_t i = 0; i < POSTS; i++) {
        const uint32_t at = DOOR_PARTS - 1 - POSTS + i;
        const flr_vec3 p = {hinge.x + posts[i].radius * cos(posts[i].angle),
                            hinge.y - posts[i].radius * sin(posts[i].angle), -0.06};
        c->parts.shape[at] = FLR_CLASH_SHAPES - 1;
        c->parts.poses[at] = flr_pose_mul(T_world_floor, flr_pose_make(p, flr_quat_identity()));
    }
    const flr_vec3 middle = flr_vec3_add(hinge, flr_vec3_make(0.158, 0, 0));
    const flr_quat stands = flr_quat_from_axis_angle(flr_vec3_make(1, 0, 0), FLR_TWO_PI / 4);
    c->parts.shape[DOOR_PARTS - 1] = FLR_CLASH_SHAPES - 2;
    c->parts.poses[DOOR_PARTS - 1] = flr_pose_mul(T_world_floor, flr_pose_make(middle, stands));
    c->parts.triangles = 0;
    for (uint32_t i = 0; i < DOOR_PARTS; i++)
        c->parts.triangles += c->parts.meshes[c->parts.shape[i]]->triangle_count;
}

/* Where a part is when the door has made a share of its way. */
static flr_pose pose_of(const clash_case *c, uint32_t part, double turn)
{
    const flr_pose T = c->parts.poses[part];
    return turn > 0 && part == DOOR_PARTS - 1 ? turned(c, T, door_end * turn) : T;
}

/* ---- feeler ---- */

static flr_result add_question(clash_case *c, question q, flr_error *error)
{
    if (c->count == c->room) {
        const size_t room = c->room ? 2 * c->room : 4096;
        question *more = realloc(c->questions, room * sizeof *more);
        if (!more) return flr_fail(error, FLR_NO_MEMORY, "no memory for pairs of parts");
        c->questions = more, c->room = room;
    }
    c->questions[c->count++] = q;
    return FLR_OK;
}

static void count_answer(clash_row *row, double distance)
{
    row->meeting += distance <= 0;
    row->near += distance > 0 && isfinite(distance);
}

/* All pairs at all poses; what boxes leave over becomes a question. */
static flr_result find_all(clash_case *c, uint32_t poses, clash_row *row, flr_error *error)
{
    flr_clash_part *parts = calloc(c->parts.count, sizeof *parts);
    flr_clash_def def = flr_default_clash_def();
    flr_result result = parts ? FLR_OK : flr_fail(error, FLR_NO_MEMORY, "no memory for parts");
    def.parts = parts, def.part_count = c->parts.count;
    def.clearance = c->clearance, def.all = true;
    for (uint32_t pose = 0; pose < poses && result == FLR_OK; pose++) {
        flr_clash_list list;
        const double turn = poses > 1 ? (double)pose / (poses - 1) : 0;
        clash_row part = *row;
        for (uint32_t i = 0; i < c->parts.count; i++)
            parts[i] = (flr_clash_part){.fit = c->parts.fits[c->parts.shape[i]],
                                        .T_world_part = pose_of(c, i, turn)};
        start(&part);
        result = flr_clash_find(&def, &list, error);
        stop(&part);
        if (result != FLR_OK) break;
        row->seconds += part.seconds, row->cpu += part.cpu;
        for (size_t i = 0; i < list.pair_count && result == FLR_OK; i++) {
            const flr_clash_pair *p = &list.pairs[i];
            const double distance = p->state == FLR_CLASH_OK ? INFINITY : p->distance;
            count_answer(row, distance);
            result = add_question(c, (question){p->a, p->b, turn, distance}, error);
        }
        flr_clash_list_free(&list);
    }
    row->asked = row->count = c->count;
    free(parts);
    return result;
}

/* The hinge, continuously; the least distance at each sample is the answer to the door's questions at that pose. */
static flr_result sweep_door(clash_case *c, clash_row *row, double *contact, flr_error *error)
{
    const flr_fit *fits[DOOR_PARTS];
    flr_vec3 centres[DOOR_PARTS] = {0};
    bool fixed[DOOR_PARTS];
    uint32_t groups[DOOR_PARTS];
    flr_joint joint = flr_default_joint();
    flr_mechanism *mechanism = NULL;
    flr_joint_sweep sweep;
    for (uint32_t i = 0; i < DOOR_PARTS; i++) {
        fits[i] = c->parts.fits[c->parts.shape[i]];
        fixed[i] = i != DOOR_PARTS - 1;
        groups[i] = FLR_MECHANISM_NONE;
    }
    joint.kind = FLR_JOINT_REVOLUTE;
    joint.a = FLR_JOINT_WORLD, joint.b = DOOR_PARTS - 1;
    joint.point = hinge_point(c), joint.axis = hinge_axis(c);
    const flr_mechanism_def how = {.part_count = DOOR_PARTS,
                                   .joint_count = 1,
                                   .T_world_part = c->parts.poses,
                                   .centres = centres,
                                   .fixed = fixed,
                                   .groups = groups,
                                   .joints = &joint};
    flr_result result = flr_mechanism_create(&how, &mechanism, error);
    if (result != FLR_OK) return result;
    const flr_joint_travel travel = {.joint = 0, .from = 0, .to = door_end};
    const uint32_t first[2] = {0, 1};
    flr_joint_sweep_def def = flr_default_joint_sweep_def();
    def.mechanism = mechanism, def.fits = fits, def.T_world_part = c->parts.poses;
    def.travels = &travel, def.first = first, def.stage_count = 1, def.samples = DOOR_SAMPLES;
    clash_row part = {0};
    start(&part);
    result = flr_joint_sweep_run(&def, &sweep, error);
    stop(&part);
    flr_mechanism_destroy(mechanism);
    if (result != FLR_OK) return result;
    row->seconds = part.seconds, row->cpu = part.cpu;
    *contact = sweep.blocked ? sweep.share * 120 : NAN;
    for (uint32_t i = 0; i < sweep.sample_count && result == FLR_OK; i++) {
        const flr_joint_sweep_sample *at = &sweep.samples[i];
        count_answer(row, at->clearance);
        result = add_question(c, (question){DOOR_PARTS - 1, 0, at->share, at->clearance}, error);
    }
    row->asked = row->count = c->count;
    flr_joint_sweep_free(&sweep);
    return result;
}

/* ---- the peers ---- */

#ifdef FLR_PEERS
static const double clash_limit_us = 60e6; /* of one peer in one case */

static bool is_over(const flr_bench_options *options, double since_us)
{
    return flr_bench_stopped() || flr_bench_is_late(options) ||
           flr_bench_wall_us() - since_us > clash_limit_us;
}

static double box_gap(flr_box3 a, flr_box3 b)
{
    const flr_vec3 gap = flr_vec3_max(
        flr_vec3_zero(), flr_vec3_max(flr_vec3_sub(b.low, a.high), flr_vec3_sub(a.low, b.high)));
    return flr_vec3_length(gap);
}

/* The least distance from the door to the others at a pose; pairs whose boxes are farther apart than that are not asked. */
static double ask_door(const clash_case *c, flr_clash_peer *peer, double turn)
{
    double least = INFINITY;
    const flr_pose T = pose_of(c, DOOR_PARTS - 1, turn);
    const uint32_t door = c->parts.shape[DOOR_PARTS - 1];
    const flr_box3 box = flr_box3_transform(T, c->parts.meshes[door]->bounds);
    for (uint32_t i = 0; i < DOOR_PARTS - 1; i++) {
        const uint32_t at = DOOR_PARTS - 2 - i, other = c->parts.shape[at];
        const flr_box3 its = flr_box3_transform(c->parts.poses[at], c->parts.meshes[other]->bounds);
        if (box_gap(box, its) >= least) continue;
        least =
            fmin(least, flr_clash_peer_query(peer, door, T, other, c->parts.poses[at], INFINITY));
    }
    return least;
}

static void compare(const question *q, double distance, clash_row *row)
{
    count_answer(row, distance);
    const bool meets[2] = {q->distance <= 0, distance <= 0};
    const bool found[2] = {isfinite(q->distance), isfinite(distance)};
    if (isnan(row->worst)) {
        row->differing += found[0] != found[1];
        return;
    }
    row->differing += meets[0] != meets[1] || found[0] != found[1];
    if (found[0] && found[1] && !meets[0] && !meets[1])
        row->worst = fmax(row->worst, fabs(q->distance - distance));
}

static void ask_peer(const flr_bench_options *options, const clash_case *c, size_t index,
                     bool sampled, clash_row *row)
{
    flr_clash_peer *peer = flr_clash_peer_create(
        index, c->parts.solids, (const flr_mesh *const *)c->parts.meshes, FLR_CLASH_SHAPES);
    *row = (clash_row){.name = flr_clash_peer_name(index), .count = c->count};
    if (!flr_clash_peer_gives_distance(index)) row->worst = NAN;
    const double since = flr_bench_wall_us();
    start(row);
    for (size_t i = 0; i < c->count && !is_over(options, since); i++, row->asked++) {
        const question *q = &c->questions[i];
        double distance;
        if (sampled)
            distance = ask_door(c, peer, q->turn);
        else
            distance =
                flr_clash_peer_query(peer, c->parts.shape[q->a], pose_of(c, q->a, q->turn),
                                     c->parts.shape[q->b], pose_of(c, q->b, q->turn), c->clearance);
        compare(q, distance, row);
    }
    stop(row);
    flr_clash_peer_destroy(peer);
}
#endif

/* ---- output ---- */

static void tell_row(const flr_bench_options *options, const clash_row *row, bool first, FILE *out)
{
    char worst[32] = "-";
    if (options->json) {
        snprintf(worst, sizeof worst, "null");
        if (!isnan(row->worst)) snprintf(worst, sizeof worst, "%.9g", row->worst);
        fprintf(out,
                "%s{\"name\":\"%s\",\"asked\":%zu,\"of\":%zu,\"seconds\":%.6f,\"cpu_seconds\":%.6f,"
                "\"meeting\":%zu,\"near\":%zu,\"differing\":%zu,\"largest_difference\":%s}",
                first ? "" : ",", row->name, row->asked, row->count, row->seconds, row->cpu,
                row->meeting, row->near, row->differing, worst);
        return;
    }
    if (!isnan(row->worst)) snprintf(worst, sizeof worst, "%.4f um", row->worst * 1e6);
    fprintf(out, "  %-22s %6zu of %6zu %10.4f %10.4f %8zu %6zu %9zu %14s\n", row->name, row->asked,
            row->count, row->seconds, row->cpu, row->meeting, row->near, row->differing, worst);
}

static void tell_head(const flr_bench_options *options, const clash_case *c, bool first, FILE *out)
{
    if (options->json) {
        fprintf(out, "%s{\"case\":\"%s\",\"parts\":%u,\"triangles\":%llu,\"rows\":[",
                first ? "" : ",", c->title, c->parts.count, (unsigned long long)c->parts.triangles);
        return;
    }
    fprintf(out, "\n%s: %u parts, %llu triangles\n", c->title, c->parts.count,
            (unsigned long long)c->parts.triangles);
    fprintf(out, "  %-22s %16s %10s %10s %8s %6s %9s %14s\n", "", "asked", "seconds", "cpu s",
            "meeting", "near", "differing", "off by at most");
}

static flr_result run_case(const flr_bench_options *options, clash_case *c, uint32_t poses,
                           bool sampled, FILE *out, bool first, flr_error *error)
{
    clash_row row = {.name = "feeler"};
    double contact = NAN;
    flr_result result =
        sampled ? sweep_door(c, &row, &contact, error) : find_all(c, poses, &row, error);
    if (result != FLR_OK) return result;
    tell_head(options, c, first, out);
    tell_row(options, &row, true, out);
#ifdef FLR_PEERS
    for (size_t i = 0; i < flr_clash_peer_count() && !flr_bench_stopped(); i++) {
        if (sampled && !flr_clash_peer_gives_distance(i)) continue;
        ask_peer(options, c, i, sampled, &row);
        tell_row(options, &row, false, out);
    }
#endif
    if (options->json) {
        fputs("]", out);
        if (sampled && !isnan(contact)) fprintf(out, ",\"contact_degrees\":%.6f", contact);
        fputs("}", out);
    } else if (sampled && !isnan(contact)) {
        fprintf(out, "  feeler's first contact: %.4f degrees; the others see poses only\n",
                contact);
    }
    fflush(out);
    return flr_bench_stopped() ? flr_fail(error, FLR_CANCELLED, "stopped") : FLR_OK;
}

flr_result flr_bench_clash(flr_env *env, const flr_bench_options *options, FILE *out,
                           flr_error *error)
{
    const uint32_t most = CLASH_PARTS / options->divide;
    clash_case cases[] = {
        {.title = "all pairs, 1 mm", .clearance = clash_clearance},
        {.title = "all pairs, 1 mm, at 13 poses of a hinge", .clearance = clash_clearance},
        {.title = "a hinge, 120 degrees, 121 distances", .clearance = INFINITY},
    };
    flr_result result = FLR_OK;
    flr_bench_begin(env, options, "cases", out);
    flr_bench_catch_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases && result == FLR_OK; i++) {
        clash_case *c = &cases[i];
        const uint32_t count = i > 0 ? DOOR_PARTS : most < FLR_CLASH_UNIT ? FLR_CLASH_UNIT : most;
        result = flr_clash_parts_make(count, options->seed, &c->parts, error);
        if (result == FLR_OK && i > 0) add_door(c);
        if (result == FLR_OK)
            result = run_case(options, c, i == 1 ? DOOR_POSES : 1, i == 2, out, i == 0, error);
        flr_clash_parts_free(&c->parts);
        free(c->questions);
    }
    flr_bench_catch_end();
    if (options->json && result == FLR_OK) fputs("]}\n", out);
    return result;
}
