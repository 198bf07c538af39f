/* 06 a simulated world: two machines and a bad network between them, in one process
 *
 * Code that asks an flr_env for time, files and sockets runs unchanged on simulated machines. There
 * a second takes no time, packets get lost as often as you say, and the same seed gives the same
 * run, so that a rare fault can be had again.
 *
 * A hand sends its place 100 times a second over UDP, each with a number; a viewer shows the newest
 * and counts what is missing, late or double.
 *
 *     build/examples/06_simulated_world
 *     build/examples/06_simulated_world 7           (another seed)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "feeler/sim.h"

enum { PACKETS = 1000, PERIOD_MS = 10 };

typedef struct packet {
    uint32_t number;
    int64_t sent_ns;
} packet;

/* ---- the hand ---- */

typedef struct hand {
    flr_socket *socket;
    flr_address viewer;
    uint32_t sent;
} hand;

/* one step: does what is to be done now, and says when it wants to be called again */
static int64_t hand_step(void *context, flr_env *env)
{
    hand *h = context;
    int64_t now = flr_clock_ns(env);
    if (h->sent == PACKETS) return INT64_MAX;
    packet p = {h->sent++, now};
    flr_udp_send(h->socket, h->viewer, &p, sizeof p, NULL); /* may get lost: so be it */
    return now + PERIOD_MS * FLR_SIM_MS;
}

/* ---- the viewer ---- */

typedef struct viewer {
    flr_socket *socket;
    uint32_t next; /* the number that comes after the newest so far */
    uint32_t shown, late;
    int64_t slowest_ns;
} viewer;

static int64_t viewer_step(void *context, flr_env *env)
{
    viewer *v = context;
    packet p;
    size_t got;
    while (flr_udp_receive(v->socket, NULL, &p, sizeof p, &got, NULL) == FLR_OK) {
        if (got != sizeof p) continue; /* not one of ours */
        if (p.number < v->next) {
            v->late++; /* overtaken, or the second copy */
            continue;
        }
        int64_t age = flr_clock_ns(env) - p.sent_ns;
        if (age > v->slowest_ns) v->slowest_ns = age;
        v->next = p.number + 1;
        v->shown++;
    }
    return INT64_MAX; /* only when something arrives */
}

int main(int argc, char **argv)
{
    /* 20 ms away, up to 15 ms more, every 20th packet lost, some twice */
    flr_sim_def def = flr_default_sim_def();
    def.seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    def.network.delay_ns = 20 * FLR_SIM_MS;
    def.network.jitter_ns = 15 * FLR_SIM_MS;
    def.network.loss = 0.05;
    def.network.duplicate = 0.02;
    flr_sim *sim = flr_sim_create(&def);
    if (!sim) return 1;

    flr_error error;
    flr_address at_hand, at_viewer;
    flr_address_parse("10.0.0.1:7000", 0, &at_hand, NULL);
    flr_address_parse("10.0.0.2:7000", 0, &at_viewer, NULL);
    flr_env *one = flr_sim_node(sim, at_hand), *two = flr_sim_node(sim, at_viewer);
    hand h = {.viewer = at_viewer};
    viewer v = {0};
    flr_result result = one && two ? flr_udp_open(one, at_hand, &h.socket, &error)
                                   : flr_fail(&error, FLR_NO_MEMORY, "out of memory");
    if (result == FLR_OK) result = flr_udp_open(two, at_viewer, &v.socket, &error);
    if (result != FLR_OK) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        flr_sim_set_program(one, hand_step, &h);
        flr_sim_set_program(two, viewer_step, &v);
        flr_sim_run(sim, 5 * FLR_SIM_S);

        /* the cable is out for a second: nothing arrives, and nobody crashes */
        flr_sim_set_group(two, 1);
        flr_sim_run(sim, 6 * FLR_SIM_S);
        flr_sim_heal(sim);
        flr_sim_run(sim, 12 * FLR_SIM_S);

        flr_sim_stats stats = flr_sim_get_stats(sim);
        printf("%u sent in %g s of the simulation's time\n", h.sent,
               1e-9 * (double)flr_sim_now(sim));
        printf("%" PRIu64 " lost, %" PRIu64 " while the cable was out, %" PRIu64 " doubled\n",
               stats.lost, stats.cut, stats.duplicated);
        printf("%u shown, %u of the past and left out; the slowest took %.1f ms\n", v.shown, v.late,
               1e-6 * (double)v.slowest_ns);
    }
    flr_socket_close(v.socket);
    flr_socket_close(h.socket);
    flr_sim_destroy(sim);
    return result == FLR_OK ? 0 : 1;
}
