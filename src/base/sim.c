/* simulation: nodes, time, chance, programs */
#include "base/sim.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "feeler/base.h"

/* ---- chance ---- */

/* splitmix64: a counter with a large step, well mixed */
uint64_t flr_sim_random_u64(sim_random *random)
{
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

bool flr_sim_random_chance(sim_random *random, double probability)
{
    if (probability <= 0) return false;
    return (double)(flr_sim_random_u64(random) >> 11) * 0x1p-53 < probability;
}

int64_t flr_sim_random_below(sim_random *random, int64_t bound)
{
    return bound > 0 ? (int64_t)(flr_sim_random_u64(random) % (uint64_t)bound) : 0;
}

static sim_random seed_stream(uint64_t seed, uint64_t purpose)
{
    sim_random random = {seed ^ purpose * 0xD1342543DE82EF95u};
    random.state = flr_sim_random_u64(&random);
    return random;
}

/* ---- clock and random numbers of a node ---- */

static int64_t sim_clock(flr_env *env)
{
    const sim_node *node = (const sim_node *)env;
    return node->sim->now_ns + node->ahead_ns;
}

static int64_t sim_clock_wall(flr_env *env)
{
    return ((const sim_node *)env)->sim->def.wall_ns + sim_clock(env);
}

static void sim_sleep_until(flr_env *env, int64_t time_ns)
{
    sim_node *node = (sim_node *)env;
    flr_sim_move_to(node->sim, time_ns - node->ahead_ns);
}

static void sim_random_bytes(flr_env *env, void *bytes, size_t count)
{
    sim_node *node = (sim_node *)env;
    uint8_t *next = bytes;
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++, word >>= 8) {
        if (i % 8 == 0) word = flr_sim_random_u64(&node->random);
        next[i] = (uint8_t)word;
    }
}

static const flr_env_ops sim_ops = {
    .clock = sim_clock,
    .clock_wall = sim_clock_wall,
    .sleep_until = sim_sleep_until,
    .random_bytes = sim_random_bytes,
    .file_open = flr_sim_file_open,
    .file_lock = flr_sim_file_lock,
    .file_read = flr_sim_file_read,
    .file_write = flr_sim_file_write,
    .file_size = flr_sim_file_size,
    .file_sync = flr_sim_file_sync,
    .reads_open = flr_sim_reads_open,
    .reads_add = flr_sim_reads_add,
    .reads_take = flr_sim_reads_take,
    .reads_close = flr_sim_reads_close,
    .file_map = flr_sim_file_map,
    .file_unmap = flr_sim_file_unmap,
    .file_close = flr_sim_file_close,
    .path_look = flr_sim_path_look,
    .path_follow = flr_sim_path_follow,
    .path_writable = flr_sim_path_writable,
    .path_rename = flr_sim_path_rename,
    .path_remove = flr_sim_path_remove,
    .tree_remove = flr_sim_tree_remove,
    .folder_make = flr_sim_folder_make,
    .folder_tighten = flr_sim_folder_tighten,
    .folder_sync = flr_sim_folder_sync,
    .folder_room = flr_sim_folder_room,
    .folder_list = flr_sim_folder_list,
    .udp_open = flr_sim_udp_open,
    .udp_send = flr_sim_udp_send,
    .udp_receive = flr_sim_udp_receive,
    .tcp_listen = flr_sim_tcp_listen,
    .socket_close = flr_sim_socket_close,
    .wait = flr_sim_wait,
};

/* ---- a simulation and its nodes ---- */

flr_sim_def flr_default_sim_def(void)
{
    flr_sim_def def;
    memset(&def, 0, sizeof def);
    def.seed = 1;
    def.wall_ns = 1767225600 * FLR_SIM_S; // 2026-01-01
    def.network.delay_ns = 100000;
    def.network.udp_buffer = 212992;
    return def;
}

flr_sim *flr_sim_create(const flr_sim_def *def)
{
    FLR_ASSERT(def);
    flr_sim *sim = calloc(1, sizeof *sim);
    if (!sim) return NULL;
    sim->def = *def;
    sim->network_random = seed_stream(def->seed, 1);
    return sim;
}

void flr_sim_destroy(flr_sim *sim)
{
    if (!sim) return;
    for (size_t i = 0; i < sim->node_count; i++)
        FLR_ASSERT(!sim->nodes[i]->sockets && sim->nodes[i]->disk.open_files == 0);
    flr_sim_net_free(sim);
    for (size_t i = 0; i < sim->node_count; i++) {
        flr_sim_disk_free(&sim->nodes[i]->disk);
        free(sim->nodes[i]->links);
        free(sim->nodes[i]);
    }
    free(sim->nodes);
    free(sim);
}

/* room for one more node in every table; what was enlarged before a failure does no harm */
static bool make_room(flr_sim *sim)
{
    size_t count = sim->node_count + 1;
    if (!flr_array_resize(&sim->nodes, count, sizeof *sim->nodes)) return false;
    for (size_t i = 0; i < sim->node_count; i++) {
        sim_link **links = &sim->nodes[i]->links;
        if (!flr_array_resize(links, count, sizeof **links)) return false;
        memset(&(*links)[count - 1], 0, sizeof **links);
    }
    return true;
}

flr_env *flr_sim_node(flr_sim *sim, flr_address address)
{
    FLR_ASSERT(sim && (address.family == 4 || address.family == 6));
    FLR_ASSERT(!flr_address_is_loopback(address));
    address.port = 0;
    for (size_t i = 0; i < sim->node_count; i++)
        if (flr_address_equal(sim->nodes[i]->address, address)) return &sim->nodes[i]->base;
    if (!make_room(sim)) return NULL;
    sim_node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->links = calloc(sim->node_count + 1, sizeof *node->links);
    if (!node->links) {
        free(node);
        return NULL;
    }
    node->base.ops = &sim_ops;
    node->sim = sim;
    node->index = sim->node_count;
    node->address = address;
    node->up = true;
    node->next_port = 49152; // where systems choose theirs
    node->disk.def = sim->def.disk;
    node->disk.random = seed_stream(sim->def.seed, 2 * node->index + 2);
    node->random = seed_stream(sim->def.seed, 2 * node->index + 3);
    sim->nodes[sim->node_count++] = node;
    return &node->base;
}

/* the node behind an env, which must be one of ours */
static sim_node *node_of(const flr_env *env)
{
    FLR_ASSERT(env && env->ops == &sim_ops);
    return (sim_node *)env;
}

/* ---- time ---- */

void flr_sim_move_to(flr_sim *sim, int64_t time_ns)
{
    // what became due while a disk was slow happens now, the clock never goes back
    for (;;) {
        int64_t next = flr_sim_net_next(sim);
        if (next == INT64_MAX || (next > time_ns && next > sim->now_ns)) break;
        if (next > sim->now_ns) sim->now_ns = next;
        flr_sim_net_deliver(sim);
    }
    if (time_ns > sim->now_ns) sim->now_ns = time_ns;
}

void flr_sim_settle(flr_sim *sim) { flr_sim_move_to(sim, sim->now_ns); }

int64_t flr_sim_now(const flr_sim *sim)
{
    FLR_ASSERT(sim);
    return sim->now_ns;
}

void flr_sim_advance(flr_sim *sim, int64_t duration_ns)
{
    FLR_ASSERT(sim && duration_ns >= 0);
    flr_sim_move_to(sim, sim->now_ns + duration_ns);
}

void flr_sim_set_clock(flr_env *env, int64_t ahead_ns)
{
    sim_node *node = node_of(env);
    FLR_ASSERT(ahead_ns >= node->ahead_ns);
    node->ahead_ns = ahead_ns;
}

void flr_sim_interrupt(flr_env *env, int64_t duration_ns)
{
    FLR_ASSERT(duration_ns >= 0);
    node_of(env)->interrupt_ns = duration_ns;
}

void flr_sim_set_program(flr_env *env, flr_sim_program program, void *context)
{
    sim_node *node = node_of(env);
    node->program = program;
    node->context = context;
    node->touched = true; // a new program is called once at the start
    node->wake_ns = INT64_MAX;
}

/* calls the program where its time has come */
static void run_node(sim_node *node)
{
    flr_sim *sim = node->sim;
    if (!node->program || !node->up || !(node->touched || node->wake_ns <= sim->now_ns)) return;
    node->touched = false;
    int64_t wake = node->program(node->context, &node->base);
    node->wake_ns = wake == INT64_MAX ? INT64_MAX : wake - node->ahead_ns;
    // a step that wants to be called at once gets the next nanosecond, or time would stand still
    if (node->wake_ns <= sim->now_ns) node->wake_ns = sim->now_ns + 1;
}

void flr_sim_run(flr_sim *sim, int64_t until_ns)
{
    FLR_ASSERT(sim && !sim->running);
    sim->running = true;
    while (sim->now_ns < until_ns) {
        flr_sim_settle(sim);
        for (size_t i = 0; i < sim->node_count; i++) run_node(sim->nodes[i]);

        // on to the next moment at which there is something to do
        int64_t next = flr_sim_net_next(sim);
        for (size_t i = 0; i < sim->node_count; i++) {
            const sim_node *node = sim->nodes[i];
            if (!node->program || !node->up) continue;
            int64_t wake = node->touched ? sim->now_ns : node->wake_ns;
            if (wake < next) next = wake;
        }
        flr_sim_move_to(sim, next < until_ns ? next : until_ns);
    }
    sim->running = false;
}

/* ---- faults ---- */

void flr_sim_set_network(flr_sim *sim, const flr_sim_network *network)
{
    FLR_ASSERT(sim && network);
    sim->def.network = *network;
}

void flr_sim_set_link(flr_env *from, flr_env *to, const flr_sim_network *network)
{
    FLR_ASSERT(network && node_of(from)->sim == node_of(to)->sim);
    sim_link *link = &node_of(from)->links[node_of(to)->index];
    link->own = true;
    link->network = *network;
}

void flr_sim_set_group(flr_env *node, int group) { node_of(node)->group = group; }

void flr_sim_heal(flr_sim *sim)
{
    FLR_ASSERT(sim);
    for (size_t i = 0; i < sim->node_count; i++) sim->nodes[i]->group = 0;
}

void flr_sim_set_disk(flr_env *node, const flr_sim_disk *disk)
{
    FLR_ASSERT(disk);
    node_of(node)->disk.def = *disk;
    node_of(node)->disk.operation = 0;
}

void flr_sim_crash(flr_env *env)
{
    sim_node *node = node_of(env);
    if (!node->up) return;
    node->up = false;
    node->crashes++;
    node->sim->stats.crashes++;
    flr_sim_net_crash(node);
    flr_sim_disk_crash(&node->disk);
}

void flr_sim_restart(flr_env *env)
{
    sim_node *node = node_of(env);
    node->up = true;
    node->touched = true;
}

bool flr_sim_is_up(const flr_env *node) { return node_of(node)->up; }

flr_sim_stats flr_sim_get_stats(const flr_sim *sim)
{
    FLR_ASSERT(sim);
    return sim->stats;
}
