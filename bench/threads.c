/* the barrier between physics and network, with the threads, sockets and clocks of this machine (Kim 2004, tables 4.3 and 4.4)
 *
 * Everybody has a controller as `feeler serve --share` runs one: the loop at 1000 Hz with its priority, the thread of the
 * service, the one that waits for packets, a port. They talk by UDP on loopback. As in the thesis each user holds a part of the
 * axle, and all press their parts against each other. Rows differ by number of users, states in a second and barrier. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/session.h"
#include "feeler/base.h"
#include "feeler/hand.h"
#include "models/models.h"
#include "picture/plot.h"
#include "server/service.h"

enum {
    MIN_THREADS = 2,
    MAX_THREADS = 4,
    BENCH_THREADS_RATES = 2,
    BENCH_THREADS_LOOPS = 100, /* in a plot, as in the thesis; … */
    PLOTTED = 3,               /* … of so many users */
    BENCH_THREADS_ROWS = (MAX_THREADS - MIN_THREADS + 1) * BENCH_THREADS_RATES * 2
};
static const double rates[BENCH_THREADS_RATES] = {100, 1000};
static const double window_s = 2, settle_s = 0.7; /* divided for a quick look */
static const double patience_s = 10;
static const double gap = 0.02; /* metres between parts at the beginning */

/* who holds what: the thesis's three, and one more */
static const char *const held[MAX_THREADS] = {"driveline", "ring", "housing holder", "ring cap"};

/* What a user does follows the whole session: each waits for all. */
typedef enum bench_threads_phase {
    JOINING,
    BENCH_THREADS_TAKING,
    BENCH_THREADS_SETTLING,
    BENCH_THREADS_MEASURING,
    DONE,
    PHASES
} bench_threads_phase;

/* What a thread, or all of them, have done until some moment. */
typedef struct bench_threads_counts {
    flr_histogram compute; /* ns */
    flr_share_stats share;
    flr_loop_stats loop;
    double network_s; /* of processor */
} bench_threads_counts;

typedef struct bench_threads_user {
    struct bench_threads_session *session;
    uint32_t index;
    flr_service *service;
    flr_engine *engine;
    flr_device *hand;
    flr_part_id part;
    flr_pose T_start;
    double way; /* metres along x, to one neighbour and then to the other */
    /* when the first loops of the measurement began, ns; `frames` is written by the real-time thread */
    int64_t frames[BENCH_THREADS_LOOPS + 1], rounds[BENCH_THREADS_LOOPS + 1];
    int frame_count, round_count;
    uint64_t round; /* the number of the last one */
    atomic_bool traced;
    double began; /* s, of the hand: when it began to move; negative: not yet */
    atomic_bool moves;
    pthread_t thread;
    bool started;
    bench_threads_phase phase;
    atomic_int reached; /* phase, for the others */
    int64_t since_ns;
    bench_threads_counts before, after;
    double contacts;
    uint64_t looks;
    flr_error error;
    bool failed;
} bench_threads_user;

typedef struct bench_threads_session {
    flr_env *env;
    bench_threads_user users[MAX_THREADS];
    uint32_t count, divide;
    double row_x[MAX_THREADS]; /* metres: where the middles of held parts are at the beginning */
    double rate;
    bool barrier;
    atomic_int failed;
    double seconds, processor_s;
} bench_threads_session;

typedef struct bench_threads_row {
    uint32_t users;
    double rate;
    bool barrier;
    double physics, network, others; /* Hz; `others`: how often the state of each other one comes */
    double skipped;                  /* of 1000 frames */
    double compute50, compute99;     /* us */
    double age50, age99;             /* us */
    double packets, bytes;           /* in a second, in and out, of one user */
    double cpu, cpu_network;         /* us of processor for a frame and user */
    double contacts;
} bench_threads_row;

/* ---- the hand ---- */

/* Twice a second against one neighbour, then against the other, with a little way up and down. */
static flr_pose press(const void *context, double t)
{
    bench_threads_user *u = (bench_threads_user *)(uintptr_t)context;
    flr_pose pose = u->T_start;
    if (!atomic_load_explicit(&u->moves, memory_order_relaxed)) return pose;
    if (u->began < 0) u->began = t;
    if (u->frame_count <= BENCH_THREADS_LOOPS &&
        atomic_load_explicit(&u->traced, memory_order_relaxed))
        u->frames[u->frame_count++] = flr_clock_ns(u->session->env);
    double turn = 4 * FLR_PI * (t - u->began);
    pose.p.x += u->way * sin(turn);
    pose.p.z += 0.005 * sin(turn / 2);
    return pose;
}

/* ---- the scene: the axle's parts, those that are held in a row in the air ---- */

static void line_up(bench_threads_session *s, const flr_model *model)
{
    double x = 0;
    for (uint32_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < model->part_count; k++) {
            if (strcmp(held[i], model->parts[k].name) != 0) continue;
            flr_vec3 size = flr_box3_size(flr_model_find_mesh(model, model->parts[k].file)->bounds);
            s->row_x[i] = x + 0.5 * size.x;
            x += size.x + gap;
        }
}

static flr_result add_part(bench_threads_user *u, flr_model *model, size_t at, flr_error *error)
{
    const flr_scene_part *from = &model->parts[at];
    flr_engine_add_def add = flr_default_engine_add_def();
    for (size_t i = 0; i < model->mesh_count; i++) {
        if (strcmp(model->meshes[i].file, from->file) != 0) continue;
        add.mesh = model->meshes[i].mesh;
        model->meshes[i].mesh = NULL;
    }
    add.name = from->name;
    add.kind = from->moving ? FLR_PART_MOVABLE : FLR_PART_STATIC;
    add.voxel = model->scene.voxel;
    add.T_world_part = from->T_world_part;
    flr_box3 bounds = add.mesh->bounds;
    flr_part_id id;
    uint32_t job;
    for (uint32_t i = 0; i < u->session->count; i++) {
        if (strcmp(held[i], from->name) != 0) continue;
        flr_vec3 centre = {u->session->row_x[i], 0.3, 2.2};
        add.T_world_part.p = flr_vec3_sub(centre, flr_box3_centre(bounds));
        if (i == u->index) {
            u->T_start = add.T_world_part;
            u->way = i % 2 ? -0.75 * gap : 0.75 * gap;
        }
    }
    flr_result result = flr_engine_add(u->engine, &add, &id, &job, error);
    if (strcmp(held[u->index], from->name) == 0) u->part = id;
    return result;
}

static flr_result add_scene(bench_threads_user *u, flr_error *error)
{
    flr_model model = {0};
    flr_result result = flr_scenario_build(flr_scenario_find("axle"), NULL, &model, error);
    if (result == FLR_OK) line_up(u->session, &model);
    for (size_t i = 0; i < model.part_count && result == FLR_OK; i++)
        result = add_part(u, &model, i, error);
    flr_model_free(&model);
    return result;
}

static flr_result give_hand(bench_threads_user *u, flr_error *error)
{
    flr_target target = {.at = press, .context = u};
    uint32_t device;
    flr_result result = flr_device_open(&flr_script_driver, &target, &u->hand, error);
    if (result == FLR_OK)
        result = flr_engine_add_device(u->engine, u->hand, FLR_WIRE_DEVICE_SIMULATED, "script",
                                       NULL, flr_pose_identity(), 1, &device, error);
    return result == FLR_OK ? flr_engine_select(u->engine, flr_hand(0), device, error) : result;
}

/* ---- a user, in the thread of the service ---- */

static double processor(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count(bench_threads_user *u, bench_threads_counts *c)
{
    flr_engine_health health;
    flr_engine_get_health(u->engine, &health);
    c->loop = health.loop;
    flr_histogram_clear(&c->compute);
    flr_histogram_merge(&c->compute, flr_engine_compute(u->engine));
    c->share = *flr_share_get_stats(flr_service_share(u->service));
    c->network_s = processor(CLOCK_THREAD_CPUTIME_ID);
}

static bool all_reached(const bench_threads_session *s, bench_threads_phase wanted)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (atomic_load(&s->users[i].reached) < (int)wanted) return false;
    return true;
}

static void go_on(bench_threads_user *u, bench_threads_phase next)
{
    u->phase = next;
    u->since_ns = flr_clock_ns(u->session->env);
    atomic_store(&u->reached, (int)next);
}

/* Notes when a round of the network began. */
static void trace(bench_threads_user *u)
{
    const uint64_t now = flr_share_get_stats(flr_service_share(u->service))->rounds;
    if (u->round_count > BENCH_THREADS_LOOPS || now == u->round) return;
    u->round = now;
    u->rounds[u->round_count++] = flr_clock_ns(u->session->env);
}

static flr_result step(bench_threads_user *u, flr_error *error)
{
    bench_threads_session *s = u->session;
    double passed = 1e-9 * (double)(flr_clock_ns(s->env) - u->since_ns);
    flr_result result = FLR_OK;
    switch (u->phase) {
    case JOINING: {
        uint32_t people = flr_session_count(flr_share_session(flr_service_share(u->service)));
        if (flr_share_ready(flr_service_share(u->service)) && people == s->count)
            go_on(u, BENCH_THREADS_TAKING);
        break;
    }
    case BENCH_THREADS_TAKING:
        if (flr_same_part(flr_engine_view(u->engine)->hands[0].held, u->part)) {
            atomic_store(&u->moves, true);
            go_on(u, BENCH_THREADS_SETTLING);
        } else if (all_reached(s, BENCH_THREADS_TAKING)) {
            result = flr_engine_grab(u->engine, flr_hand(0), u->part, error);
            if (result == FLR_AGAIN) result = FLR_OK;
        }
        break;
    case BENCH_THREADS_SETTLING:
        if (!all_reached(s, BENCH_THREADS_SETTLING)) u->since_ns = flr_clock_ns(s->env);
        if (passed < settle_s) return FLR_OK;
        count(u, &u->before);
        // loops have priority over all else: were they to fill the processors, nothing would end this
        if (u->before.loop.compute.mean * s->count > 0.5e6)
            return flr_fail(error, FLR_TIMEOUT,
                            "%u loops of %.0f us a frame are too much for this machine", s->count,
                            1e-3 * u->before.loop.compute.mean);
        atomic_store(&u->traced, true);
        go_on(u, BENCH_THREADS_MEASURING);
        break;
    case BENCH_THREADS_MEASURING:
        trace(u);
        u->contacts += flr_engine_view(u->engine)->contact_count;
        u->looks++;
        if (passed < window_s / s->divide) return FLR_OK;
        count(u, &u->after);
        go_on(u, DONE);
        break;
    default:
        break;
    }
    if (result == FLR_OK && passed > patience_s)
        return flr_fail(error, FLR_TIMEOUT, "user %u of %u did not get on in %g s", u->index + 1,
                        s->count, patience_s);
    return result;
}

static bool stop(void *context)
{
    bench_threads_user *u = context;
    bench_threads_session *s = u->session;
    if (!u->failed && u->phase != DONE) u->failed = step(u, &u->error) != FLR_OK;
    if (!u->failed && flr_bench_stopped())
        u->failed = flr_fail(&u->error, FLR_CANCELLED, "stopped") != FLR_OK;
    if (u->failed) atomic_store(&s->failed, 1);
    // nobody leaves before all have measured
    return atomic_load(&s->failed) || all_reached(s, DONE);
}

static void *serve(void *context)
{
    bench_threads_user *u = context;
    flr_service_run(u->service, stop, u);
    return NULL;
}

static flr_result start(bench_threads_user *u, flr_address host, flr_error *error)
{
    bench_threads_session *s = u->session;
    flr_service_def def = flr_default_service_def();
    def.engine.env = s->env;
    def.engine.hands = 1;
    def.engine.merge = false;
    def.address.port = 0;
    flr_result result = flr_service_create(&def, &u->service, error);
    if (result != FLR_OK) return result;
    u->engine = flr_service_engine(u->service);
    u->since_ns = flr_clock_ns(s->env);
    u->began = -1;
    result = add_scene(u, error);
    if (result == FLR_OK) result = give_hand(u, error);
    // all parts are known before the session asks which scene this is
    for (flr_engine_scene scene; result == FLR_OK && flr_engine_jobs(u->engine) > 0;) {
        flr_engine_service(u->engine);
        flr_engine_get_scene(u->engine, &scene);
        flr_sleep_until(s->env, flr_clock_ns(s->env) + INT64_C(1000000));
    }
    flr_share_def share = flr_default_share_def();
    share.local = (flr_address){.family = 4, .ip = {127, 0, 0, 1}};
    share.token = "a-token-of-24-characters";
    share.rate = s->rate;
    share.barrier = s->barrier;
    share.join = u->index > 0;
    share.host = host;
    if (result == FLR_OK) result = flr_service_set_share(u->service, &share, error);
    if (result == FLR_OK) result = flr_engine_start(u->engine, error);
    if (result == FLR_OK) u->started = pthread_create(&u->thread, NULL, serve, u) == 0;
    if (result == FLR_OK && !u->started)
        return flr_fail(error, FLR_NO_MEMORY, "no thread for a controller");
    return result;
}

/* ---- a session ---- */

static flr_histogram less(const flr_histogram *after, const flr_histogram *before)
{
    flr_histogram h = *after;
    h.total = 0;
    for (unsigned i = 0; i < FLR_HISTOGRAM_SIZE; i++) {
        h.counts[i] -= before->counts[i];
        h.total += h.counts[i];
        if (h.counts[i]) h.max = flr_histogram_upper(i);
    }
    return h;
}

static void gather(const bench_threads_session *s, bench_threads_row *r)
{
    flr_histogram compute = {0}, age = {0}, one;
    double users = s->count, frames = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const bench_threads_user *u = &s->users[i];
        const bench_threads_counts *a = &u->before, *b = &u->after;
        double done = (double)(b->loop.frames - a->loop.frames);
        frames += done;
        r->skipped +=
            1e3 * (double)(b->loop.skipped - a->loop.skipped) / users / (done > 0 ? done : 1);
        r->network += (double)(b->share.rounds - a->share.rounds) / s->seconds / users;
        r->others += (double)(b->share.heard - a->share.heard) / s->seconds / users / (users - 1);
        r->cpu_network += 1e6 * (b->network_s - a->network_s);
        r->contacts += u->contacts / (double)(u->looks + !u->looks) / users;
        one = less(&b->compute, &a->compute);
        flr_histogram_merge(&compute, &one);
        one = less(&b->share.arrival, &a->share.arrival);
        flr_histogram_merge(&age, &one);
    }
    r->physics = frames / s->seconds / users;
    r->cpu = 1e6 * s->processor_s / frames;
    r->cpu_network /= frames;
    r->compute50 = 1e-3 * (double)flr_histogram_quantile(&compute, 0.5);
    r->compute99 = 1e-3 * (double)flr_histogram_quantile(&compute, 0.99);
    r->age50 = 1e-3 * (double)flr_histogram_quantile(&age, 0.5);
    r->age99 = 1e-3 * (double)flr_histogram_quantile(&age, 0.99);
}

static void wait_for(bench_threads_session *s, bench_threads_phase wanted)
{
    while (!all_reached(s, wanted) && !atomic_load(&s->failed))
        flr_sleep_until(s->env, flr_clock_ns(s->env) + INT64_C(1000000));
}

static flr_result measure(bench_threads_session *s, bench_threads_row *r, flr_error *error)
{
    flr_result result = FLR_OK;
    flr_address host = {0};
    s->count = r->users, s->rate = r->rate, s->barrier = r->barrier;
    for (uint32_t i = 0; i < s->count && result == FLR_OK; i++) {
        s->users[i].session = s;
        s->users[i].index = i;
    }
    for (uint32_t i = 0; i < s->count && result == FLR_OK; i++) {
        result = start(&s->users[i], host, error);
        if (result == FLR_OK && i == 0)
            host = flr_share_address(flr_service_share(s->users[0].service));
    }
    if (result != FLR_OK) atomic_store(&s->failed, 1);
    wait_for(s, BENCH_THREADS_MEASURING);
    int64_t began = flr_clock_ns(s->env);
    double processor_s = processor(CLOCK_PROCESS_CPUTIME_ID);
    wait_for(s, DONE);
    s->processor_s = processor(CLOCK_PROCESS_CPUTIME_ID) - processor_s;
    s->seconds = 1e-9 * (double)(flr_clock_ns(s->env) - began);
    for (uint32_t i = 0; i < s->count; i++)
        if (s->users[i].started) pthread_join(s->users[i].thread, NULL);
    flr_session_person person;
    for (uint32_t i = 0; i < s->count && result == FLR_OK; i++) {
        flr_session *shared = flr_share_session(flr_service_share(s->users[i].service));
        for (uint32_t k = 0; flr_session_person_at(shared, k, &person); k++) {
            r->packets += (person.packets_in + person.packets_out) / s->count;
            r->bytes += (person.bytes_in + person.bytes_out) / s->count;
        }
        if (s->users[i].failed && error) *error = s->users[i].error;
        if (s->users[i].failed) result = s->users[i].error.code;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        flr_service_destroy(s->users[i].service);
        flr_device_close(s->users[i].hand);
    }
    if (result == FLR_OK) gather(s, r);
    return result;
}

/* ---- telling ---- */

static void print_row(const bench_threads_row *r, bool json, bool first, FILE *out)
{
    if (json)
        fprintf(out,
                "%s\n  {\"users\": %u, \"rate\": %g, \"barrier\": %s, \"physics_hz\": %.1f, "
                "\"skipped\": %.2f, \"network_hz\": %.1f, \"others_hz\": %.1f, \"compute_us\": "
                "{\"p50\": %.1f, \"p99\": %.1f}, \"age_us\": {\"p50\": %.0f, \"p99\": %.0f}, "
                "\"packets\": %.0f, \"bytes\": %.0f, \"cpu_us\": %.1f, \"cpu_network_us\": %.1f, "
                "\"contacts\": %.0f}",
                first ? "" : ",", r->users, r->rate, r->barrier ? "true" : "false", r->physics,
                r->skipped, r->network, r->others, r->compute50, r->compute99, r->age50, r->age99,
                r->packets, r->bytes, r->cpu, r->cpu_network, r->contacts);
    else
        fprintf(out,
                "%5u %6.0f %8s %8.1f %7.2f %8.0f %8.1f %7.1f %7.1f %8.2f %8.2f %8.0f %7.0f %7.1f "
                "%7.1f\n",
                r->users, r->rate, r->barrier ? "yes" : "no", r->physics, r->skipped, r->network,
                r->others, r->compute50, r->compute99, 1e-3 * r->age50, 1e-3 * r->age99, r->packets,
                1e-3 * r->bytes, r->cpu, r->cpu_network);
    fflush(out);
}

static void print_head(FILE *out)
{
    fprintf(out,
            "\nControllers with threads, sockets and clocks of this machine, %d to %d users who "
            "press parts of the axle against each other; with and without the barrier (Kim, "
            "tables 4.3 and 4.4)\n\n%5s %6s %8s %16s %8s %8s %15s %17s %8s %7s %15s\n%5s %6s %8s "
            "%8s %7s %8s %8s %7s %7s %8s %8s %8s %7s %7s %7s\n",
            MIN_THREADS, MAX_THREADS, "users", "states", "barrier", "physics", "network", "others",
            "frame [us]", "age [ms]", "packets", "kB/s", "cpu us/frame", "", "Hz", "", "Hz",
            "lost/k", "Hz", "Hz", "p50", "p99", "p50", "p99", "/s", "", "all", "network");
}

/* Kim, Figures 4.7 to 4.12: the times of 100 loops of physics and of the network. */
static flr_result plot_loops(const bench_threads_user *u, const bench_threads_row *r,
                             const char *folder, flr_error *error)
{
    double y[2][BENCH_THREADS_LOOPS];
    flr_plot_series series[2] = {{.name = "physics", .y = y[0]}, {.name = "network", .y = y[1]}};
    for (int k = 0; k < 2; k++) {
        const int64_t *at = k ? u->rounds : u->frames;
        const int count = k ? u->round_count : u->frame_count;
        for (int i = 0; i + 1 < count; i++) y[k][i] = 1e-6 * (double)(at[i + 1] - at[i]);
        series[k].count = count > 1 ? (size_t)count - 1 : 0;
    }
    char title[128];
    snprintf(title, sizeof title, "%u users, %g states a second, %s barrier", r->users, r->rate,
             r->barrier ? "with" : "without");
    flr_plot_def def = flr_default_plot_def();
    def.title = title;
    def.x_label = "loop";
    def.y_label = "time of a loop [ms]";
    def.series = series;
    def.series_count = 2;
    return flr_bench_plot(
        u->session->env, folder,
        r->barrier ? "collaboration-loops-barrier.svg" : "collaboration-loops.svg", &def, error);
}

flr_result flr_bench_threads(flr_env *env, const flr_bench_options *options, FILE *out,
                             flr_error *error)
{
    flr_result result = FLR_OK;
    if (!options->json) print_head(out);
    for (int i = 0; i < BENCH_THREADS_ROWS && result == FLR_OK; i++) {
        bench_threads_row r = {.users = (uint32_t)(MIN_THREADS + i / (2 * BENCH_THREADS_RATES)),
                               .rate = rates[i / 2 % BENCH_THREADS_RATES],
                               .barrier = i % 2};
        if (options->divide > 1 && r.users > MIN_THREADS) break; /* a quick look */
        bench_threads_session *s = calloc(1, sizeof *s);
        if (!s) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
        s->env = env;
        s->divide = options->divide;
        result = measure(s, &r, error);
        if (result == FLR_OK) print_row(&r, options->json, i == 0, out);
        if (result == FLR_OK && options->plots && r.users == PLOTTED && r.rate == rates[1])
            result = plot_loops(&s->users[0], &r, options->plots, error);
        free(s);
    }
    return result;
}
