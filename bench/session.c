/* what users of a shared session cost one another
 *
 * Every user has a controller of its own, on a simulated machine: an engine at 1000 Hz with all parts, and its share in the
 * session. All run in one thread, one after the other, so that the processor's time of each piece can be told: the loop's
 * frame, and what the network thread does. Each user carries a part of its own in a circle; all see all. */
#include "bench/session.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "collab/share.h"
#include "feeler/sim.h"

enum { USERS = 15, BENCH_SESSION_SIZES = 5, RATE = 1000 };
static const uint32_t sizes[BENCH_SESSION_SIZES] = {1, 2, 4, 8, USERS};
static const double window = 2; /* s, virtual */

typedef struct bench_session_user {
    struct bench_session_session *session;
    flr_env *env;
    flr_engine *engine;
    flr_share *share;
    uint32_t index;
    int64_t frame_ns, service_ns;
    bool up;
} bench_session_user;

typedef struct bench_session_session {
    flr_sim *sim;
    bench_session_user users[USERS];
    uint32_t count;
    bool barrier, measuring;
    double physics, network; /* s of processor */
    uint64_t frames, rounds;
    double bytes_in, bytes_out; /* a second, of one user */
} bench_session_session;

static flr_vec3 place(uint32_t index)
{
    return flr_vec3_make(0.05 * (index % 5) - 0.1, 0.04 * (index / 5) - 0.04, 0.03);
}

flr_result flr_bench_add_box(flr_engine *engine, const char *name, flr_vec3 size, flr_vec3 at,
                             flr_part_kind kind, flr_part_id *part, flr_error *error)
{
    flr_vec3 corners[8];
    uint32_t triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                 {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (int i = 0; i < 8; i++)
        corners[i] = flr_vec3_make(size.x * ((i & 1) - 0.5), size.y * ((i >> 1 & 1) - 0.5),
                                   size.z * ((i >> 2) - 0.5));
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners;
    def.vertex_count = 8;
    def.triangles = (const void *)triangles;
    def.triangle_count = 12;
    flr_engine_add_def add = flr_default_engine_add_def();
    flr_result result = flr_mesh_create(&def, &add.mesh, error);
    uint32_t job;
    add.name = name;
    add.kind = kind;
    add.voxel = 0.001;
    add.T_world_part.p = at;
    return result == FLR_OK ? flr_engine_add(engine, &add, part, &job, error) : result;
}

/* Every user has the scene already. */
static flr_result start(bench_session_user *u, flr_error *error)
{
    flr_engine_def def = flr_threadless_engine_def(u->env);
    def.rate = RATE;
    def.paced = false;
    def.hands = 1;
    def.merge = false;
    flr_part_id part;
    flr_result result = flr_engine_create(&def, &u->engine, error);
    if (result == FLR_OK)
        result = flr_bench_add_box(u->engine, "plate", flr_vec3_make(0.3, 0.2, 0.01),
                                   flr_vec3_make(0, 0, -0.005), FLR_PART_STATIC, &part, error);
    for (uint32_t i = 0; i < USERS && result == FLR_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "part %u", i);
        result = flr_bench_add_box(u->engine, name, flr_vec3_make(0.02, 0.012, 0.008), place(i),
                                   FLR_PART_MOVABLE, &part, error);
    }
    if (result != FLR_OK) return result;
    flr_share_def share = flr_default_share_def();
    share.engine = u->engine;
    share.env = u->env;
    share.local =
        (flr_address){.family = 4, .ip = {10, 0, 0, (uint8_t)(u->index + 1)}, .port = 7000};
    share.token = "a-token-of-24-characters";
    share.barrier = u->session->barrier;
    share.join = u->index > 0;
    share.host = (flr_address){.family = 4, .ip = {10, 0, 0, 1}, .port = 7000};
    result = flr_share_create(&share, &u->share, error);
    u->frame_ns = u->service_ns = flr_clock_ns(u->env);
    u->up = result == FLR_OK;
    return result;
}

/* The hand: at its part, then in a circle of 10 mm, once a second. */
static void move(bench_session_user *u, int64_t now)
{
    double t = (double)now * 1e-9 * 6.283185307;
    flr_vec3 at = place(u->index);
    bool holds = flr_is_part(flr_engine_view(u->engine)->hands[0].held);
    if (holds) {
        at.x += 0.01 * sin(t);
        at.z += 0.005 * (1 - cos(t));
    }
    (void)flr_engine_hand_input(u->engine, flr_hand(0), flr_pose_make(at, flr_quat_identity()),
                                flr_share_ready(u->share), NULL);
}

static int64_t run(void *context, flr_env *env)
{
    bench_session_user *u = context;
    bench_session_session *s = u->session;
    int64_t now = flr_clock_ns(env);
    if (!u->up) return now + FLR_SIM_MS;
    if (now >= u->frame_ns) {
        move(u, now);
        double begin = flr_bench_processor_us();
        flr_engine_run(u->engine, 1);
        if (s->measuring) s->physics += 1e-6 * (flr_bench_processor_us() - begin), s->frames++;
        u->frame_ns += FLR_SIM_S / RATE;
    }
    if (now >= u->service_ns) {
        flr_engine_event event;
        double begin = flr_bench_processor_us();
        flr_engine_service(u->engine);
        while (flr_engine_next(u->engine, &event)) flr_share_event(u->share, &event);
        int64_t wake = flr_share_service(u->share);
        if (s->measuring) s->network += 1e-6 * (flr_bench_processor_us() - begin), s->rounds++;
        int64_t soonest = now + FLR_SIM_MS, latest = now + 10 * FLR_SIM_MS;
        u->service_ns = wake < soonest ? soonest : wake > latest ? latest : wake;
    }
    return u->frame_ns < u->service_ns ? u->frame_ns : u->service_ns;
}

static void pass(bench_session_session *s, double seconds)
{
    flr_sim_run(s->sim, flr_sim_now(s->sim) + (int64_t)(seconds * 1e9));
}

static flr_result open_session(bench_session_session *s, flr_error *error)
{
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = 5 * FLR_SIM_MS;
    s->sim = flr_sim_create(&def);
    if (!s->sim) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < s->count && result == FLR_OK; i++) {
        bench_session_user *u = &s->users[i];
        u->session = s;
        u->index = i;
        u->env =
            flr_sim_node(s->sim, (flr_address){.family = 4, .ip = {10, 0, 0, (uint8_t)(i + 1)}});
        if (!u->env) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
        flr_sim_set_program(u->env, run, u);
        result = start(u, error);
        if (result == FLR_OK) pass(s, 0.2);
    }
    if (result == FLR_OK) pass(s, 2);
    for (uint32_t i = 0; i < s->count && result == FLR_OK; i++)
        if (!flr_share_ready(s->users[i].share) ||
            !flr_is_part(flr_engine_view(s->users[i].engine)->hands[0].held))
            result = flr_fail(error, FLR_CLOSED, "user %u of the session holds nothing", i + 1);
    return result;
}

static void close_session(bench_session_session *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        flr_share_destroy(s->users[i].share);
        flr_engine_destroy(s->users[i].engine);
    }
    flr_sim_destroy(s->sim);
}

static void count_bytes(bench_session_session *s)
{
    flr_session_person person;
    flr_session *shared = flr_share_session(s->users[s->count - 1].share);
    for (uint32_t i = 0; flr_session_person_at(shared, i, &person); i++) {
        s->bytes_in += person.bytes_in;
        s->bytes_out += person.bytes_out;
    }
}

static void print_row(const bench_session_session *s, bool json, bool first, FILE *out)
{
    double physics = 1e6 * s->physics / (double)s->frames,
           network = 1e6 * s->network / (double)s->frames,
           round = 1e6 * s->network / (double)s->rounds;
    if (json)
        fprintf(out,
                "%s\n  {\"users\": %u, \"barrier\": %s, \"physics_us\": %.2f, \"network_us\": "
                "%.2f, \"round_us\": %.2f, \"bytes_in\": %.0f, \"bytes_out\": %.0f}",
                first ? "" : ",", s->count, s->barrier ? "true" : "false", physics, network, round,
                s->bytes_in, s->bytes_out);
    else
        fprintf(out, "%5u %8s %11.2f %11.2f %11.2f %9.1f %9.1f\n", s->count,
                s->barrier ? "yes" : "no", physics, network, round, 1e-3 * s->bytes_in,
                1e-3 * s->bytes_out);
}

flr_result flr_bench_session(const flr_bench_options *options, FILE *out, flr_error *error)
{
    flr_result result = FLR_OK;
    if (!options->json)
        fprintf(
            out,
            "\nSessions of 1 to %d users, each with a controller at %d Hz and all %d parts, "
            "each carries one; states 100 times a second, 5 ms; one thread\n\n%5s %8s %11s %11s "
            "%11s %9s %9s\n%5s %8s %11s %11s %11s %9s %9s\n",
            USERS, RATE, USERS, "users", "barrier", "physics", "network", "network", "in", "out",
            "", "", "us/frame", "us/frame", "us/round", "kB/s", "kB/s");
    for (int i = 0; i < 2 * BENCH_SESSION_SIZES && result == FLR_OK; i++) {
        if (options->divide > 1 && sizes[i / 2] > 4) break; /* a quick look */
        bench_session_session *s = calloc(1, sizeof *s);
        if (!s) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
        s->count = sizes[i / 2];
        s->barrier = i % 2;
        result = open_session(s, error);
        if (result == FLR_OK) {
            s->measuring = true;
            pass(s, window / options->divide);
            count_bytes(s);
            print_row(s, options->json, i == 0, out);
            fflush(out);
        }
        close_session(s);
        free(s);
    }
    return result;
}
