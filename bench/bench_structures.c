/* structures: physics and network in one thread or in two, with a slow network (Kim 2004, Figures 3.14, 4.13 and 4.14)
 *
 * A hand carries a part of the axle against its base. After each step, its state goes by UDP to a server on this machine, which
 * returns it after a delay, as the state of another user. In structure (b) of Figure 3.14 one thread steps, sends and waits
 * for the answer. In structure (d), which feeler uses, the network has a thread of its own; both threads hand over the
 * newest state through buffers without locks. Times are those of a loop's work; the pause until the next millisecond in (d) is not
 * counted. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench/axle_world.h"
#include "bench/bench.h"

enum { STRUCTURE_LOOPS = 300, STRUCTURES = 4 };
static const int64_t patience_ns = 1000000000; /* for one answer: a datagram may get lost */
static const double delays[2] = {0, 10e-3};    /* s, of the server */

/* what goes over the network */
typedef struct state_packet {
    uint64_t number;
    flr_pose T_world_part;
} state_packet;

typedef struct structure {
    bool threads; /* (d); else (b) */
    double delay; /* s */
    size_t physics_count, network_count;
    double physics[STRUCTURE_LOOPS], network[STRUCTURE_LOOPS]; /* ms of each loop, wall clock */
} structure;

typedef struct structure_run {
    flr_env *env;
    flr_socket *client, *server;
    flr_address to;       /* the server */
    flr_latest *mine;     /* physics to network */
    flr_latest *received; /* network to physics */
    atomic_bool stop;
    structure *s;
} structure_run;

static const flr_address loopback = {.family = 4, .ip = {127, 0, 0, 1}};

/* ---- network ---- */

static bool receive(flr_env *env, flr_socket *socket, int64_t limit_ns, flr_address *from,
                    state_packet *packet)
{
    flr_wait wait = {.socket = socket, .wanted = FLR_WAIT_READ};
    size_t got = 0;
    if (flr_env_wait(env, &wait, 1, flr_clock_ns(env) + limit_ns, NULL) != FLR_OK) return false;
    return flr_udp_receive(socket, from, packet, sizeof *packet, &got, NULL) == FLR_OK &&
           got == sizeof *packet;
}

static void *run_server(void *context)
{
    structure_run *r = context;
    while (!atomic_load(&r->stop)) {
        flr_address from;
        state_packet packet;
        if (!receive(r->env, r->server, 10000000, &from, &packet)) continue;
        flr_sleep_until(r->env, flr_clock_ns(r->env) + (int64_t)(1e9 * r->s->delay));
        (void)flr_udp_send(r->server, from, &packet, sizeof packet, NULL);
    }
    return NULL;
}

/* sends a state and waits for the answer to it */
static void exchange(structure_run *r, const state_packet *send, state_packet *answer)
{
    flr_address from;
    if (flr_udp_send(r->client, r->to, send, sizeof *send, NULL) != FLR_OK) return;
    while (receive(r->env, r->client, patience_ns, &from, answer) && answer->number != send->number)
        continue;
}

static void *run_network(void *context)
{
    structure_run *r = context;
    uint64_t number = 0;
    while (!atomic_load(&r->stop)) {
        state_packet mine = {0}, answer = {0};
        flr_latest_read(r->mine, &mine);
        mine.number = ++number;
        const int64_t begun = flr_clock_ns(r->env);
        exchange(r, &mine, &answer);
        flr_latest_write(r->received, &answer);
        if (r->s->network_count < STRUCTURE_LOOPS)
            r->s->network[r->s->network_count++] = 1e-6 * (double)(flr_clock_ns(r->env) - begun);
    }
    return NULL;
}

/* ---- physics ---- */

static void run_physics(structure_run *r, const flr_axle *a, flr_world *world, size_t count)
{
    const uint32_t part = flr_axle_find(a, "ring");
    flr_world_grab(world, 0, part);
    for (size_t i = 0; i < count; i++) {
        const int64_t begun = flr_clock_ns(r->env);
        const flr_world_input in = {
            .T_world_hand = flr_axle_carry(a, part, (double)i / (double)count), .fresh = true};
        flr_world_step(world, &in, NULL);
        state_packet mine = {i + 1, flr_world_body(world, part)->T_world_part}, answer = {0};
        if (r->s->threads) {
            flr_latest_write(r->mine, &mine);
            flr_latest_read(r->received, &answer);
        } else
            exchange(r, &mine, &answer);
        r->s->physics[r->s->physics_count++] = 1e-6 * (double)(flr_clock_ns(r->env) - begun);
        if (r->s->threads) flr_sleep_until(r->env, begun + 1000000);
    }
}

static flr_result measure(flr_env *env, const flr_axle *a, size_t count, structure *s,
                          flr_error *error)
{
    structure_run r = {.env = env, .s = s};
    flr_world_def def = flr_default_world_def();
    def.parts = a->parts;
    def.part_count = a->count;
    flr_world *world = NULL;
    pthread_t server, network;
    bool serving = false, networking = false;
    flr_result result = flr_world_create(&def, &world, error);
    if (result == FLR_OK) result = flr_udp_open(env, loopback, &r.server, error);
    if (result == FLR_OK) result = flr_udp_open(env, loopback, &r.client, error);
    r.mine = flr_latest_create(sizeof(state_packet));
    r.received = flr_latest_create(sizeof(state_packet));
    if (result == FLR_OK && (!r.mine || !r.received))
        result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (result == FLR_OK) {
        r.to = flr_socket_local(r.server);
        serving = pthread_create(&server, NULL, run_server, &r) == 0;
        if (s->threads) networking = pthread_create(&network, NULL, run_network, &r) == 0;
        if (serving && networking == s->threads)
            run_physics(&r, a, world, count);
        else
            result = flr_fail(error, FLR_NO_MEMORY, "no thread for the network");
    }
    atomic_store(&r.stop, true);
    if (networking) pthread_join(network, NULL);
    if (serving) pthread_join(server, NULL);
    flr_latest_destroy(r.mine);
    flr_latest_destroy(r.received);
    flr_socket_close(r.client);
    flr_socket_close(r.server);
    flr_world_destroy(world);
    return result;
}

/* ---- telling ---- */

static void tell_row(structure *s, bool json, bool first, FILE *out)
{
    const char *name = s->threads ? "(d) two threads" : "(b) one thread";
    const double p50 = flr_bench_percentile(s->physics, s->physics_count, 0.5);
    const double p99 = flr_bench_percentile(s->physics, s->physics_count, 0.99);
    const double *network = s->threads ? s->network : s->physics; /* one loop: the same */
    double sorted[STRUCTURE_LOOPS] = {0};
    const size_t count = s->threads ? s->network_count : s->physics_count;
    for (size_t i = 0; i < count; i++) sorted[i] = network[i];
    const double network50 = count ? flr_bench_percentile(sorted, count, 0.5) : 0;
    if (json)
        fprintf(out,
                "%s\n  {\"structure\": \"%s\", \"delay_ms\": %g, \"physics_ms\": {\"p50\": %.4f, "
                "\"p99\": %.4f}, \"network_ms\": {\"p50\": %.4f}, \"loops\": %zu}",
                first ? "" : ",", name, 1e3 * s->delay, p50, p99, network50, s->physics_count);
    else
        fprintf(out, "%-16s %10.0f %12.3f %12.3f %12.3f\n", name, 1e3 * s->delay, p50, p99,
                network50);
    fflush(out);
}

/* Figure 4.13 with delay, 4.14 without: the loops of both structures */
static flr_result plot(flr_env *env, const char *folder, const structure *one, const structure *two,
                       flr_error *error)
{
    const flr_plot_series series[] = {
        {.name = "one thread: physics and network", .y = one->physics, .count = one->physics_count},
        {.name = "two threads: physics", .y = two->physics, .count = two->physics_count},
        {.name = "two threads: network",
         .y = two->network,
         .count = two->network_count,
         .dashed = true}};
    const bool slow = one->delay > 0;
    flr_plot_def def = flr_default_plot_def();
    def.title = slow ? "delay of 10 ms" : "no delay";
    def.x_label = "loop";
    def.y_label = "time of a loop [ms]";
    def.log_y = true;
    def.series = series;
    def.series_count = sizeof series / sizeof *series;
    return flr_bench_plot(env, folder, slow ? "structures-10ms.svg" : "structures-0ms.svg", &def,
                          error);
}

static flr_result tell(flr_env *env, const flr_bench_options *options, const flr_axle *a,
                       structure *all, FILE *out, flr_error *error)
{
    const size_t count =
        STRUCTURE_LOOPS / options->divide > 10 ? STRUCTURE_LOOPS / options->divide : 10;
    flr_result result = FLR_OK;
    for (size_t i = 0; i < STRUCTURES && result == FLR_OK; i++) {
        all[i] = (structure){.threads = i % 2, .delay = delays[i / 2]};
        result = measure(env, a, count, &all[i], error);
        if (result == FLR_OK && i % 2 && options->plots)
            result = plot(env, options->plots, &all[i - 1], &all[i], error);
        if (result == FLR_OK && i % 2) {
            tell_row(&all[i - 1], options->json, i == 1, out);
            tell_row(&all[i], options->json, false, out);
        }
    }
    return result;
}

flr_result flr_bench_structures(flr_env *env, const flr_bench_options *options, FILE *out,
                                flr_error *error)
{
    flr_axle a = {0};
    structure *all = calloc(STRUCTURES, sizeof *all);
    if (!all) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_bench_begin(env, options, "structures", out);
    if (!options->json)
        fprintf(out,
                "Kim 2004, Figures 4.13 and 4.14: one loop of physics and of the network, "
                "milliseconds\n%-16s %10s %12s %12s %12s\n",
                "structure", "delay [ms]", "physics p50", "p99", "network p50");
    flr_result result = flr_axle_make(&a, options->divide, error);
    if (result == FLR_OK) result = tell(env, options, &a, all, out, error);
    if (options->json) fputs("]}\n", out);
    flr_axle_free(&a);
    free(all);
    return result;
}
