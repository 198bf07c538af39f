/* haptics: what a hand feels when a step takes longer than a period of its device (sphere trees, section 3.3.1; Kim 2004, 3.6)
 *
 * A simulated hand presses a block on a floor, holds it there, slides it and lifts it again; all of it in simulated time, so that
 * the same bits come out on every machine. Steps take 1 to 10 periods of 1 ms. The device gets a force once a step, which its
 * guard fades when that takes too long; or 1000 times a second from the local model that the last step left. */
#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "feeler/loop.h"
#include "feeler/world.h"

enum { HAPTICS_MS = 2400, HAPTICS_HOLD = 900, HAPTICS_SLIDE = 1300, HAPTICS_LIFT = 2000 };
static const double arm_stiffness = 300, arm_damping = 15, hand_mass = 0.6; /* N/m, N s/m, kg */
static const double press = 0.006; /* metres: how far below the floor the hand wants to be */
static const double above = 0.003; /* metres: where it begins */

/* the hand, as a device: what it was given in each millisecond is kept */
typedef struct haptics_hand {
    flr_vec3 p, v, force;
    int64_t now_ns;
    double forces[HAPTICS_MS]; /* N, upwards */
    size_t count;
} haptics_hand;

typedef struct haptics_trial {
    unsigned slow; /* periods of a step */
    bool local;
    // what came of it
    double mean, ripple, slide_ripple, jump; /* N */
    double deficit; /* joules that the device got beyond the bound's account */
    double forces[HAPTICS_MS];
} haptics_trial;

typedef struct haptics_step {
    flr_world *world;
    uint64_t seen;
} haptics_step;

/* ---- the hand ---- */

/* Down to the floor, along it, and up. */
static flr_vec3 wanted(double ms)
{
    const double down = fmin(1, ms / 400), up = fmax(0, fmin(1, (ms - HAPTICS_LIFT) / 300));
    const double along = fmax(0, fmin(1, (ms - HAPTICS_SLIDE) / (HAPTICS_LIFT - HAPTICS_SLIDE)));
    return flr_vec3_make(0.02 * along, 0, above - (above + press) * (down - up));
}

static bool read_hand(void *state, int64_t now_ns, flr_device_sample *sample)
{
    haptics_hand *h = state;
    const int64_t step_ns = 100000;
    const double dt = 1e-9 * (double)step_ns;
    for (; h->now_ns < now_ns; h->now_ns += step_ns) {
        const flr_vec3 goal = wanted(1e-6 * (double)h->now_ns);
        const flr_vec3 pull = flr_vec3_scale(flr_vec3_sub(goal, h->p), arm_stiffness);
        flr_vec3 sum = flr_vec3_add(h->force, flr_vec3_add_scaled(pull, -arm_damping, h->v));
        h->v = flr_vec3_add_scaled(h->v, dt / hand_mass, sum);
        h->p = flr_vec3_add_scaled(h->p, dt, h->v);
        if (h->now_ns % 1000000 == 0 && h->count < HAPTICS_MS) h->forces[h->count++] = h->force.z;
    }
    *sample = (flr_device_sample){.T_base_grip = flr_pose_make(h->p, flr_quat_identity()),
                                  .time_ns = now_ns};
    return true;
}

static bool write_hand(void *state, int64_t now_ns, const flr_wrench *wrench)
{
    (void)now_ns;
    ((haptics_hand *)state)->force = wrench->force;
    return true;
}

static flr_result open_hand(const void *parameters, void **state, flr_device_info *info,
                            flr_error *error)
{
    haptics_hand *h = calloc(1, sizeof *h);
    if (!h) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    (void)parameters;
    h->p.z = above;
    info->force = 15;
    info->torque = 0.5;
    *state = h;
    return FLR_OK;
}

static haptics_hand *opened; /* of the device that was opened last, to be read after a trial */

static flr_result open_and_keep(const void *parameters, void **state, flr_device_info *info,
                                flr_error *error)
{
    const flr_result result = open_hand(parameters, state, info, error);
    if (result == FLR_OK) opened = *state;
    return result;
}

static void close_hand(void *state) { free(state); }

static const flr_device_driver hand_driver = {.name = "pressing",
                                              .summary = "a hand that presses and slides",
                                              .open = open_and_keep,
                                              .close = close_hand,
                                              .read = read_hand,
                                              .write = write_hand};

/* ---- a trial ---- */

static bool step(void *context, flr_loop_frame *frame)
{
    haptics_step *s = context;
    const flr_device_sample *sample = &frame->samples[0];
    const flr_world_input input = {.T_world_hand = sample->T_base_grip,
                                   .fresh = sample->number > s->seen,
                                   .has_sent = true,
                                   .sent = frame->sent[0]};
    s->seen = sample->number;
    flr_world_step(s->world, &input, NULL);
    frame->wrenches[0] = flr_world_wrench(s->world, 0);
    if (!frame->models) return true;
    flr_world_local(s->world, 0, &frame->models[0].model);
    frame->models[0].passivity = flr_world_get_params(s->world)->passivity;
    return true;
}

static double spread(const double *values, size_t from, size_t to)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = from; i < to; i++) low = fmin(low, values[i]), high = fmax(high, values[i]);
    return high - low;
}

static void judge(const haptics_hand *h, const flr_passivity *port, haptics_trial *t)
{
    for (size_t i = 0; i < h->count; i++) t->forces[i] = h->forces[i];
    for (size_t i = HAPTICS_HOLD; i < HAPTICS_SLIDE; i++)
        t->mean += h->forces[i] / (HAPTICS_SLIDE - HAPTICS_HOLD);
    t->ripple = spread(h->forces, HAPTICS_HOLD, HAPTICS_SLIDE);
    t->slide_ripple = spread(h->forces, HAPTICS_SLIDE + 100, HAPTICS_LIFT);
    for (size_t i = HAPTICS_HOLD; i < HAPTICS_LIFT; i++)
        t->jump = fmax(t->jump, fabs(h->forces[i] - h->forces[i - 1]));
    t->deficit = port->deficit;
}

static flr_result run_trial(flr_env *env, flr_part *const shapes[2], haptics_trial *t,
                            flr_error *error)
{
    flr_pose T_block = flr_pose_identity();
    T_block.p.z = above;
    const flr_world_part parts[2] = {
        flr_part_in_world(shapes[0], FLR_PART_STATIC, flr_pose_identity()),
        flr_part_in_world(shapes[1], FLR_PART_MOVABLE, T_block)};
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = 2;
    def.params.coupling.stretch = 0.004;
    haptics_step s = {0};
    flr_device *device = NULL;
    flr_loop *loop = NULL;
    flr_result result = flr_world_create(&def, &s.world, error);
    if (result == FLR_OK) result = flr_device_open(&hand_driver, NULL, &device, error);
    flr_loop_def how = flr_default_loop_def();
    how.env = env;
    how.paced = false;
    how.devices[0] = device;
    how.device_count = 1;
    how.step = step;
    how.context = &s;
    how.local = t->local;
    how.slow = t->slow;
    if (result == FLR_OK) result = flr_loop_create(&how, &loop, error);
    if (result == FLR_OK) {
        flr_world_grab(s.world, 0, 1);
        flr_loop_run(loop, HAPTICS_MS / t->slow + 2);
        const flr_passivity *port = flr_loop_passivity(loop, 0);
        judge(opened, port ? port : flr_world_passivity(s.world, 0), t);
    }
    flr_loop_destroy(loop);
    flr_device_close(device);
    flr_world_destroy(s.world);
    return result;
}

/* ---- telling ---- */

static void tell_row(const haptics_trial *t, bool json, bool first, FILE *out)
{
    if (json)
        fprintf(out,
                "%s\n  {\"step_ms\": %u, \"local\": %s, \"mean\": %.4f, \"ripple\": %.4f, "
                "\"slide_ripple\": %.4f, \"jump\": %.4f, \"deficit\": %.3g}",
                first ? "" : ",", t->slow, t->local ? "true" : "false", t->mean, t->ripple,
                t->slide_ripple, t->jump, t->deficit);
    else
        fprintf(out, "%8u ms %-16s %8.3f %10.4f %10.4f %10.4f %11.2g\n", t->slow,
                t->local ? "local model" : "once a step", t->mean, t->ripple, t->slide_ripple,
                t->jump, t->deficit);
}

static flr_result plot(flr_env *env, const char *folder, const haptics_trial *trials,
                       flr_error *error)
{
    const flr_plot_series series[] = {
        {.name = "steps of 5 ms, a force once a step", .y = trials[2].forces, .count = HAPTICS_MS},
        {.name = "steps of 5 ms, local model", .y = trials[3].forces, .count = HAPTICS_MS},
        {.name = "steps of 1 ms", .y = trials[0].forces, .count = HAPTICS_MS, .dashed = true}};
    flr_plot_def def = flr_default_plot_def();
    def.title = "a hand presses, holds, slides and lifts a block";
    def.x_label = "time [ms]";
    def.y_label = "force on the hand [N]";
    def.series = series;
    def.series_count = sizeof series / sizeof *series;
    return flr_bench_plot(env, folder, "haptics-slow.svg", &def, error);
}

enum { HAPTICS_TRIALS = 6 };

static flr_result tell(flr_env *env, const flr_bench_options *options, flr_part *const shapes[2],
                       haptics_trial *trials, FILE *out, flr_error *error)
{
    static const unsigned slow[HAPTICS_TRIALS / 2] = {1, 5, 10};
    flr_result result = FLR_OK;
    for (size_t i = 0; i < HAPTICS_TRIALS && result == FLR_OK; i++) {
        trials[i] = (haptics_trial){.slow = slow[i / 2], .local = i % 2};
        result = run_trial(env, shapes, &trials[i], error);
        if (result == FLR_OK) tell_row(&trials[i], options->json, i == 0, out);
    }
    if (result == FLR_OK && options->plots) result = plot(env, options->plots, trials, error);
    return result;
}

flr_result flr_bench_haptics(flr_env *env, const flr_bench_options *options, FILE *out,
                             flr_error *error)
{
    const flr_vec3 sizes[2] = {{0.1, 0.1, 0.02}, {0.03, 0.03, 0.03}};
    const flr_vec3 places[2] = {{0, 0, -0.01}, {0, 0, 0.015 + 0.0025}};
    flr_part *shapes[2] = {NULL, NULL};
    haptics_trial *trials = calloc(HAPTICS_TRIALS, sizeof *trials);
    if (!trials) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = FLR_OK;
    for (int i = 0; i < 2 && result == FLR_OK; i++) {
        flr_mesh *mesh = NULL;
        flr_part_def def = flr_default_part_def();
        def.voxelize.voxel = 1e-3;
        result = flr_bench_make_box(sizes[i], places[i], &mesh, error);
        if (result == FLR_OK) result = flr_part_create(env, mesh, &def, &shapes[i], error);
        flr_mesh_destroy(mesh);
    }
    flr_bench_begin(env, options, "haptics", out);
    if (!options->json)
        fprintf(out,
                "A hand presses a block on a floor, holds, slides and lifts it; force at the "
                "device, 1000 times a second\n%11s %-16s %8s %10s %10s %10s %11s\n",
                "step", "device", "mean [N]", "ripple [N]", "sliding", "jump [N]", "surplus [J]");
    if (result == FLR_OK) result = tell(env, options, shapes, trials, out, error);
    if (options->json) fputs("]}\n", out);
    for (int i = 0; i < 2; i++) flr_part_destroy(shapes[i]);
    free(trials);
    return result;
}
