/* collaboration: two controllers in one process, each on a simulated machine of its own, states of their parts going to and fro
 * 100 times a second and late: what hands feel, how far instances are apart, how long it takes until they agree
 *
 * Hands are simulated ones (feeler/hand.h), which yield to what they feel. Time is virtual: the same run gives the same numbers
 * on every machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/session.h"
#include "feeler/hand.h"
#include "feeler/sim.h"
#include "sim/engine.h"

enum {
    BENCH_COLLABORATION_SIDES = 2,
    DELAYS = 5,
    BENCH_COLLABORATION_LINE = 256,
    MOVED = 2,
    BENCH_COLLABORATION_MAX_FRAMES = 20000
};
static const double delays[DELAYS] = {0, 0.02, 0.12, 0.5, 1}; /* s, one way */
static const double jitter = 0.1, loss = 0.01;                /* of the delay; of the samples */
static const double still = 1, settle = 2;                    /* s: before and after the motion */
static const double moving = 8;
static const double calm = 1e-6;                     /* J: less is rest */
static const double agree_base = 2, agree_trips = 2; /* s, round trips: in which all must agree */

typedef enum situation {
    CARRY,
    MEET,
    BENCH_COLLABORATION_TOGETHER,
    BENCH_COLLABORATION_PRESS,
    SITUATIONS
} situation;
static const char *const names[SITUATIONS] = {"carry", "meet", "together", "press"};
static const char *const words[SITUATIONS] = {
    "one carries a part in a circle of 30 mm, the other sees it",
    "each holds a part and presses it against the other's",
    "both hold one part and carry it in a circle of 30 mm, the second as late as it sees it",
    "both hold one part, press it to a plate and slide it over that"};

typedef struct bench_collaboration_row {
    situation situation;
    double delay;
    double stiffness;        /* N/m, of the remote coupling; 0: none */
    double jump, jump_max;   /* N: of a hand's force from frame to frame; p99 */
    double force;            /* N: p99 */
    double apart50, apart99; /* metres, between instances at the same time */
    double turned;           /* rad, p99 */
    double rest, energy;     /* metres, J: at the end */
    double agreed;           /* s from letting go until all are at the same bits; NAN: never */
} bench_collaboration_row;

typedef struct post {
    flr_engine_coupling_sample sample;
    int64_t due_ns;
    uint32_t part; /* 0 or 1 */
} post;

typedef struct bench_collaboration_side {
    flr_sim *sim;
    flr_env *env;
    flr_engine *engine;
    flr_device *hand;
    flr_part_id plate, parts[MOVED];
    bool holds[MOVED];
    post line[BENCH_COLLABORATION_LINE]; /* to the other */
    uint32_t sent;
    const struct bench_collaboration_bench *bench;
} bench_collaboration_side;

typedef struct bench_collaboration_bench {
    bench_collaboration_side sides[BENCH_COLLABORATION_SIDES];
    bench_collaboration_row *row;
    double moving; /* s */
    uint64_t frame, random;
    double *jumps, *forces, *aparts, *turns;
    size_t felt, compared;
    flr_vec3 last[BENCH_COLLABORATION_SIDES]; /* N: what was felt in the frame before */
    bool begun;
} bench_collaboration_bench;

/* ---- hands ---- */

static double ease(double x) { return x <= 0 ? 0 : x >= 1 ? 1 : x * x * (3 - 2 * x); }

/* Where a hand wants to be `t` seconds after the beginning. */
static flr_pose target(const void *context, double t)
{
    const bench_collaboration_side *s = context;
    const bench_collaboration_bench *b = s->bench;
    int second = s == &b->sides[1];
    situation kind = b->row->situation;
    flr_pose pose = flr_pose_identity();
    pose.p = flr_vec3_make(0.05 * (kind == MEET && second), 0, 0.03);
    if (second && kind != MEET) t -= b->row->delay;
    double on = fmin(t - still, b->moving), phase = FLR_PI * on; /* a turn in 2 s */
    if (on <= 0) return pose;
    double share = ease(2 * on) * ease(2 * (b->moving - on));
    if (kind == CARRY || kind == BENCH_COLLABORATION_TOGETHER) {
        pose.p.x += 0.03 * share * sin(phase);
        pose.p.z += 0.04 * ease(on) * share + 0.03 * share * (1 - cos(phase)) / 2;
    } else if (kind == BENCH_COLLABORATION_PRESS) {
        pose.p.z -= 0.03 * ease(on / 2);
        pose.p.x += 0.01 * share * sin(phase);
    } else { /* 14 mm into each other's way */
        pose.p.x += (second ? -0.022 : 0.022) * ease(on / 2);
        pose.p.y += 0.003 * share * sin(phase) * (second ? -1 : 1);
    }
    return pose;
}

/* ---- a side ---- */

static flr_result give_hand(bench_collaboration_side *s, flr_error *error)
{
    flr_hand_def def = flr_default_hand_def();
    uint32_t device;
    def.target = (flr_target){target, s};
    flr_result result = flr_device_open(&flr_hand_driver, &def, &s->hand, error);
    if (result == FLR_OK)
        result = flr_engine_add_device(s->engine, s->hand, FLR_WIRE_DEVICE_SIMULATED, "hand", NULL,
                                       flr_pose_identity(), 1, &device, error);
    return result == FLR_OK ? flr_engine_select(s->engine, flr_hand(0), device, error) : result;
}

static void wait(bench_collaboration_side *s, int frames)
{
    for (int i = 0; i < frames; i++) {
        flr_engine_run(s->engine, 1);
        flr_engine_service(s->engine);
    }
}

static flr_result open_side(bench_collaboration_side *s, flr_error *error)
{
    flr_sim_def sim = flr_default_sim_def();
    s->sim = flr_sim_create(&sim);
    if (!s->sim) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    s->env = flr_sim_node(s->sim, (flr_address){.family = 4, .ip = {10, 0, 0, 1}});
    flr_engine_def def = flr_threadless_engine_def(s->env);
    def.hands = 1;
    def.merge = false;
    flr_result result = flr_engine_create(&def, &s->engine, error);
    if (result == FLR_OK)
        result = flr_bench_add_box(s->engine, "plate", flr_vec3_make(0.2, 0.1, 0.01),
                                   flr_vec3_make(0, 0, -0.005), FLR_PART_STATIC, &s->plate, error);
    for (int i = 0; i < MOVED && result == FLR_OK; i++)
        result = flr_bench_add_box(
            s->engine, i ? "block" : "brick", flr_vec3_make(0.02, 0.012, 0.008),
            flr_vec3_make(0.05 * i, 0, 0.03), FLR_PART_MOVABLE, &s->parts[i], error);
    if (result == FLR_OK) wait(s, 40);
    return result;
}

static void close_side(bench_collaboration_side *s)
{
    flr_engine_destroy(s->engine);
    flr_device_close(s->hand);
    flr_sim_destroy(s->sim);
}

static flr_engine_part_state look(bench_collaboration_side *s, int part)
{
    const flr_engine_state *state = flr_engine_view(s->engine);
    for (uint32_t i = 0; i < state->part_count; i++)
        if (flr_same_part(state->parts[i].part, s->parts[part])) return state->parts[i];
    return (flr_engine_part_state){.part = FLR_NO_PART_ID, .T_world_part = flr_pose_identity()};
}

/* ---- between them ---- */

static double chance(bench_collaboration_bench *b)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(b->random >> 11) * 0x1p-53;
}

static void send(bench_collaboration_bench *b, bench_collaboration_side *from)
{
    const flr_engine_state *state = flr_engine_view(from->engine);
    int64_t now = flr_clock_ns(from->env);
    for (int i = 0; i < MOVED; i++) {
        if (!from->holds[i]) continue;
        double put = 0, late = b->row->delay * (1 + jitter * (chance(b) - 0.5));
        for (uint32_t t = 0; t < state->coupling_count; t++)
            if (state->couplings[t].coupling == (uint32_t)i) put = state->couplings[t].put;
        if (chance(b) < loss) continue;
        flr_engine_part_state part = look(from, i);
        from->line[from->sent++ % BENCH_COLLABORATION_LINE] =
            (post){.sample = {now, part.T_world_part, part.twist, put},
                   .due_ns = now + (int64_t)(1e9 * late),
                   .part = (uint32_t)i};
    }
}

static flr_result receive(bench_collaboration_side *from, bench_collaboration_side *to,
                          flr_error *error)
{
    int64_t now = flr_clock_ns(to->env);
    flr_result result = FLR_OK;
    for (uint32_t k = from->sent > BENCH_COLLABORATION_LINE ? from->sent - BENCH_COLLABORATION_LINE
                                                            : 0;
         k < from->sent && result == FLR_OK; k++) {
        post *p = &from->line[k % BENCH_COLLABORATION_LINE];
        if (p->due_ns > now) continue;
        result = flr_engine_coupling_input(to->engine, p->part, &p->sample, error);
        p->due_ns = INT64_MAX;
    }
    return result;
}

static flr_result coupling(bench_collaboration_side *s, int part, bool mutual, const flr_pose *rest,
                           flr_error *error)
{
    flr_remote_coupling_def def = flr_default_remote_coupling_def();
    def.mutual = mutual;
    def.rest = rest != NULL;
    if (rest) def.T_world_rest = *rest;
    return flr_engine_set_coupling(s->engine, (uint32_t)part, s->parts[part], &def, error);
}

/* ---- measuring ---- */

static void compare(bench_collaboration_bench *b)
{
    bool counts =
        b->felt < BENCH_COLLABORATION_MAX_FRAMES && b->compared < BENCH_COLLABORATION_MAX_FRAMES;
    for (int i = 0; i < BENCH_COLLABORATION_SIDES && counts; i++) {
        const flr_engine_hand_state *hand = &flr_engine_view(b->sides[i].engine)->hands[0];
        if (b->sides[i].hand && b->begun) {
            b->forces[b->felt] = flr_vec3_length(hand->wrench.force);
            b->jumps[b->felt++] = flr_vec3_distance(hand->wrench.force, b->last[i]);
        }
        b->last[i] = hand->wrench.force;
    }
    b->begun = true;
    for (int i = 0; i < MOVED && counts; i++) {
        if (!b->sides[0].holds[i] && !b->sides[1].holds[i]) continue;
        flr_pose a = look(&b->sides[0], i).T_world_part, c = look(&b->sides[1], i).T_world_part;
        b->aparts[b->compared] = flr_vec3_distance(a.p, c.p);
        b->turns[b->compared++] = flr_vec3_length(
            flr_quat_to_rotation_vector(flr_quat_mul(a.q, flr_quat_conjugate(c.q))));
    }
}

static flr_result pass(bench_collaboration_bench *b, double seconds, bool measured,
                       flr_error *error)
{
    flr_result result = FLR_OK;
    for (uint64_t n = (uint64_t)(1000 * seconds); n > 0 && result == FLR_OK; n--, b->frame++) {
        for (int i = 0; i < BENCH_COLLABORATION_SIDES && result == FLR_OK; i++) {
            if (b->frame % 10 == 0) send(b, &b->sides[i]);
            result = receive(&b->sides[!i], &b->sides[i], error);
            flr_engine_run(b->sides[i].engine, 1);
            if (b->frame % 10 == 0) flr_engine_service(b->sides[i].engine);
        }
        if (measured) compare(b);
    }
    return flr_bench_stopped() ? flr_fail(error, FLR_CANCELLED, "stopped") : result;
}

/* Who holds what, and who is coupled. */
static flr_result begin(bench_collaboration_bench *b, flr_error *error)
{
    situation kind = b->row->situation;
    flr_result result = FLR_OK;
    for (int i = 0; i < BENCH_COLLABORATION_SIDES && result == FLR_OK; i++) {
        b->sides[i].bench = b;
        result = open_side(&b->sides[i], error);
    }
    for (int i = 0; i < BENCH_COLLABORATION_SIDES && result == FLR_OK; i++) {
        int own = kind == MEET ? i : 0;
        bool takes = i == 0 || kind != CARRY, mutual = kind >= BENCH_COLLABORATION_TOGETHER;
        b->sides[i].holds[own] = takes;
        if (kind == MEET || i == 1 || mutual)
            result = coupling(&b->sides[i], kind == MEET ? !i : 0, mutual, NULL, error);
        if (takes && result == FLR_OK) result = give_hand(&b->sides[i], error);
        wait(&b->sides[i], 20); /* of both: their clocks go together */
        if (takes && result == FLR_OK)
            result =
                flr_engine_grab(b->sides[i].engine, flr_hand(0), b->sides[i].parts[own], error);
    }
    return result;
}

/* All let go: where parts are at the first side, there they shall lie. Were it each part's own holder who says that, parts that are
 * pressed together would have to lie in each other. */
static flr_result release(bench_collaboration_bench *b, flr_error *error)
{
    flr_result result = FLR_OK;
    flr_pose rest[MOVED];
    for (int i = 0; i < BENCH_COLLABORATION_SIDES && result == FLR_OK; i++)
        if (b->sides[i].hand) result = flr_engine_release(b->sides[i].engine, flr_hand(0), error);
    for (int i = 0; i < BENCH_COLLABORATION_SIDES && result == FLR_OK; i++)
        for (uint32_t t = 0; t < MOVED && result == FLR_OK; t++)
            result = flr_engine_set_coupling(b->sides[i].engine, t, FLR_NO_PART_ID, NULL, error);
    if (result == FLR_OK) result = pass(b, 0.002, false, error);
    for (int i = 0; i < MOVED; i++) {
        rest[i] = look(&b->sides[0], i).T_world_part;
        b->sides[0].holds[i] = b->sides[1].holds[i] = false;
    }
    /* the decision goes the same way */
    if (result == FLR_OK) result = pass(b, b->row->delay, false, error);
    for (int i = 0; i < MOVED && result == FLR_OK; i++)
        result = coupling(&b->sides[1], i, false, &rest[i], error);
    b->row->agreed = NAN;
    for (int ms = 0; ms < 10000 && result == FLR_OK && !isfinite(b->row->agreed); ms++) {
        bool same = true;
        for (int i = 0; i < MOVED; i++) {
            flr_pose a = look(&b->sides[0], i).T_world_part, c = look(&b->sides[1], i).T_world_part;
            same &= memcmp(&a, &c, sizeof a) == 0;
        }
        if (same) b->row->agreed = 0.002 + b->row->delay + 1e-3 * ms;
        if (!same) result = pass(b, 0.001, false, error);
    }
    return result;
}

static flr_result measure(const flr_bench_options *options, bench_collaboration_row *r,
                          flr_error *error)
{
    bench_collaboration_bench *b = calloc(1, sizeof *b);
    double *room = calloc(4 * (size_t)BENCH_COLLABORATION_MAX_FRAMES, sizeof *room);
    if (!b || !room) {
        free(b), free(room);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    }
    b->row = r;
    b->random = 1;
    b->moving = fmax(0.5, moving / options->divide);
    b->jumps = room, b->forces = room + BENCH_COLLABORATION_MAX_FRAMES,
    b->aparts = room + 2 * BENCH_COLLABORATION_MAX_FRAMES;
    b->turns = room + 3 * BENCH_COLLABORATION_MAX_FRAMES;
    flr_result result = begin(b, error);
    if (result == FLR_OK) result = pass(b, still + r->delay, false, error);
    if (result == FLR_OK) result = pass(b, b->moving, true, error);
    if (result == FLR_OK) result = pass(b, settle + 4 * r->delay, false, error);
    if (result == FLR_OK) {
        const flr_engine_state *state = flr_engine_view(b->sides[1].engine);
        r->stiffness = state->coupling_count ? state->couplings[0].stiffness : 0;
        r->energy = state->energy + flr_engine_view(b->sides[0].engine)->energy;
        for (int i = 0; i < MOVED; i++)
            r->rest = fmax(r->rest, flr_vec3_distance(look(&b->sides[0], i).T_world_part.p,
                                                      look(&b->sides[1], i).T_world_part.p));
        r->jump = flr_bench_percentile(b->jumps, b->felt, 0.99);
        r->jump_max = b->jumps[b->felt - 1];
        r->force = flr_bench_percentile(b->forces, b->felt, 0.99);
        r->apart50 = flr_bench_percentile(b->aparts, b->compared, 0.5);
        r->apart99 = flr_bench_percentile(b->aparts, b->compared, 0.99);
        r->turned = flr_bench_percentile(b->turns, b->compared, 0.99);
        result = release(b, error);
    }
    for (int i = 0; i < BENCH_COLLABORATION_SIDES; i++) close_side(&b->sides[i]);
    free(room);
    free(b);
    return result;
}

/* ---- telling ---- */

static bool is_held(const bench_collaboration_row *r)
{
    return r->energy < calm && r->agreed <= agree_base + 2 * agree_trips * r->delay;
}

static void print_row(const bench_collaboration_row *r, bool json, bool first, FILE *out)
{
    if (json)
        fprintf(out,
                "%s\n  {\"situation\": \"%s\", \"delay\": %g, \"stiffness\": %.1f, \"force_jump\": "
                "{\"p99\": %.6g, \"max\": %.6g}, \"force\": {\"p99\": %.6g}, \"apart\": {\"p50\": "
                "%.6g, \"p99\": %.6g, \"rest\": %.3g}, \"turned\": {\"p99\": %.6g}, \"energy\": "
                "%.3g, \"agreed\": ",
                first ? "" : ",", names[r->situation], r->delay, r->stiffness, r->jump, r->jump_max,
                r->force, r->apart50, r->apart99, r->rest, r->turned, r->energy);
    else
        fprintf(out, "%-9s %6.0f %7.0f %9.4f %9.4f %8.3f %9.3f %9.3f %9.5f %9.2g %9.1g ",
                r->delay > 0 ? "" : names[r->situation], 1e3 * r->delay, r->stiffness, r->jump,
                r->jump_max, r->force, 1e3 * r->apart50, 1e3 * r->apart99, r->turned, 1e3 * r->rest,
                r->energy);
    if (json && isfinite(r->agreed))
        fprintf(out, "%.3f}", r->agreed);
    else if (json)
        fprintf(out, "null}");
    else if (isfinite(r->agreed))
        fprintf(out, "%9.0f  %s\n", 1e3 * r->agreed, is_held(r) ? "held" : "MISSED");
    else
        fprintf(out, "%9s  MISSED\n", "never");
}

static flr_result plot(flr_env *env, const char *folder, const char *file, const char *title,
                       const char *label, const bench_collaboration_row *rows, size_t offset,
                       double scale, flr_error *error)
{
    flr_plot_series series[SITUATIONS];
    double x[DELAYS], y[SITUATIONS][DELAYS];
    for (int k = 0; k < SITUATIONS; k++) {
        for (int d = 0; d < DELAYS; d++) {
            double value;
            memcpy(&value, (const char *)&rows[k * DELAYS + d] + offset, sizeof value);
            x[d] = 1e3 * delays[d];
            y[k][d] = scale * value;
        }
        series[k] =
            (flr_plot_series){.name = names[k], .x = x, .y = y[k], .count = DELAYS, .dots = true};
    }
    flr_plot_def def = flr_default_plot_def();
    def.title = title;
    def.x_label = "delay, one way [ms]";
    def.y_label = label;
    def.series = series;
    def.series_count = SITUATIONS;
    return flr_bench_plot(env, folder, file, &def, error);
}

static void print_head(FILE *out)
{
    fputs("Two controllers, states 100 times a second, delay one way with 10 % jitter and 1 % "
          "loss; virtual time, 1000 Hz\n",
          out);
    for (int k = 0; k < SITUATIONS; k++) fprintf(out, "  %-9s %s\n", names[k], words[k]);
    fprintf(out,
            "\n%-9s %6s %7s %19s %8s %19s %9s %9s %9s %9s\n%-9s %6s %7s %9s %9s %8s %9s %9s %9s "
            "%9s %9s %9s\n",
            "", "delay", "tie", "force jump [N]", "force", "apart [mm]", "turned", "at rest",
            "energy", "agree", "", "ms", "N/m", "p99", "max", "p99 N", "p50", "p99", "p99 rad",
            "mm", "J", "ms");
}

flr_result flr_bench_collaboration(flr_env *env, const flr_bench_options *options, FILE *out,
                                   flr_error *error)
{
    bench_collaboration_row rows[SITUATIONS * DELAYS] = {0};
    flr_bench_begin(env, options, "collaboration", out);
    if (!options->json) print_head(out);
    flr_result result = FLR_OK;
    flr_bench_catch_begin();
    for (int i = 0; i < SITUATIONS * DELAYS && result == FLR_OK; i++) {
        rows[i].situation = (situation)(i / DELAYS);
        rows[i].delay = delays[i % DELAYS];
        result = measure(options, &rows[i], error);
        if (result == FLR_OK) print_row(&rows[i], options->json, i == 0, out);
        fflush(out);
    }
    if (result == FLR_OK && options->json) fputs("], \"sessions\": [", out);
    if (result == FLR_OK && !options->json)
        fprintf(out,
                "\nheld: at rest below %g J after the motion, and the same bits at both within 2 s "
                "and two round trips of letting go\n",
                calm);
    if (result == FLR_OK) result = flr_bench_session(options, out, error);
    if (result == FLR_OK && options->json) fputs("], \"threads\": [", out);
    if (result == FLR_OK) result = flr_bench_threads(env, options, out, error);
    if (result == FLR_OK && options->json) fputs("]}\n", out);
    flr_bench_catch_end();
    if (result == FLR_OK && options->plots)
        result = plot(env, options->plots, "collaboration-force.svg",
                      "What a hand feels from frame to frame", "change of force [N], p99", rows,
                      offsetof(bench_collaboration_row, jump), 1, error);
    if (result == FLR_OK && options->plots)
        result = plot(env, options->plots, "collaboration-apart.svg",
                      "How far instances are apart at the same time", "distance [mm], p99", rows,
                      offsetof(bench_collaboration_row, apart99), 1e3, error);
    return result;
}
