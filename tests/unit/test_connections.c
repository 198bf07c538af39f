/* sealed connections between controllers, under a simulated network */
#include "net/connections.h"

#include "support/fail_alloc.h"
#include "support/wire.h"

static void test_opens(void **state)
{
    (void)state;
    flr_wire wire;
    flr_wire_begin(&wire, 2, NULL, NULL);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    flr_connections_set_hello(b->connections, "here is b", 9);
    uint32_t connection =
        flr_connections_connect(a->connections, flr_wire_address(1), "here is a", 9);
    assert_int_not_equal(connection, 0);
    assert_int_equal(flr_connections_state(a->connections, connection, "early", 5), FLR_CLOSED);
    flr_wire_run(&wire, 0.5);
    assert_int_equal(a->told[FLR_CONNECTIONS_OPEN], 1);
    assert_int_equal(b->told[FLR_CONNECTIONS_OPEN], 1);
    assert_int_equal(a->connection, connection);
    assert_true(a->last[FLR_CONNECTIONS_OPEN].initiator);
    assert_false(b->last[FLR_CONNECTIONS_OPEN].initiator);
    assert_int_equal(a->last[FLR_CONNECTIONS_OPEN].other, flr_connections_self(b->connections));
    assert_int_equal(b->last[FLR_CONNECTIONS_OPEN].other, flr_connections_self(a->connections));
    assert_memory_equal(a->hello, "here is b", 9);
    assert_memory_equal(b->hello, "here is a", 9);
    assert_int_equal(flr_connections_state(a->connections, connection, "state", 5), FLR_OK);
    assert_int_equal(flr_connections_send(b->connections, b->connection, "message", 7), FLR_OK);
    assert_int_equal(flr_connections_send(b->connections, b->connection, NULL, 0), FLR_OK);
    flr_wire_run(&wire, 0.5);
    assert_int_equal(b->told[FLR_CONNECTIONS_GOT_STATE], 1);
    assert_int_equal(a->told[FLR_CONNECTIONS_GOT_MESSAGE], 2);
    flr_wire_run(&wire, 10); // keepalives keep it
    assert_int_equal(a->opens, 1);
    flr_connections_close(a->connections, connection, "enough\x1b");
    flr_wire_run(&wire, 0.1);
    assert_int_equal(b->told[FLR_CONNECTIONS_CLOSED], 1);
    assert_int_equal(b->last[FLR_CONNECTIONS_CLOSED].cause, FLR_CONNECTIONS_BYE);
    assert_string_equal(b->why, "enough?");
    assert_int_equal(a->told[FLR_CONNECTIONS_CLOSED], 0);
    flr_wire_end(&wire);
}

/* ---- messages over a bad network, both ways, while states go on ---- */

typedef struct traffic {
    flr_test_random random, check; /* what to send; what should come */
    uint32_t sent, got, wanted;
    uint8_t bytes[FLR_CONNECTIONS_MESSAGE];
    uint64_t all;
    int64_t state_ns;
    uint32_t states;
    uint64_t state_number;
} traffic;

static size_t make_message(flr_test_random *random, uint32_t index, uint8_t *bytes)
{
    // mostly small, some large, some empty
    uint32_t kind = flr_test_random_below(random, 20);
    size_t size = kind == 0   ? 0
                  : kind == 1 ? flr_test_random_below(random, FLR_CONNECTIONS_MESSAGE + 1)
                              : flr_test_random_below(random, 300);
    uint64_t word = flr_test_random_u64(random) + index;
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(word >> (i % 8) * 8) ^ (uint8_t)(i / 8);
    return size;
}

static void on_traffic(flr_wire_side *side, const flr_connections_event *event)
{
    traffic *mine = side->context;
    if (event->kind == FLR_CONNECTIONS_GOT_STATE) mine->states++;
    if (event->kind != FLR_CONNECTIONS_GOT_MESSAGE) return;
    size_t size = make_message(&mine->check, mine->got, mine->bytes);
    assert_int_equal(event->size, size);
    assert_memory_equal(event->bytes, mine->bytes, size);
    mine->got++;
    mine->all += size;
}

static int64_t step_traffic(flr_wire_side *side, int64_t now)
{
    traffic *mine = side->context;
    if (!side->connection) return INT64_MAX;
    while (mine->sent < mine->wanted) {
        flr_test_random before = mine->random;
        size_t size = make_message(&mine->random, mine->sent, mine->bytes);
        flr_result result =
            flr_connections_send(side->connections, side->connection, mine->bytes, size);
        if (result == FLR_AGAIN) {
            mine->random = before;
            break;
        }
        assert_int_equal(result, FLR_OK);
        mine->sent++;
    }
    if (now >= mine->state_ns) {
        assert_int_equal(
            flr_connections_state(side->connections, side->connection, mine->bytes, 200), FLR_OK);
        mine->state_ns = now + 10 * FLR_SIM_MS;
    }
    return mine->state_ns;
}

static void run_traffic(const flr_sim_network *network, uint32_t wanted, double seconds)
{
    flr_sim_def def = flr_default_sim_def();
    flr_test_random random = flr_test_random_begin("test_connections traffic");
    def.seed = flr_test_random_u64(&random);
    def.network = *network;
    flr_wire wire;
    flr_wire_begin(&wire, 2, &def, NULL);
    flr_wire_join(&wire, 10);
    static traffic both[2];
    for (int i = 0; i < 2; i++) {
        both[i] = (traffic){.random = {def.seed + (uint64_t)i},
                            .check = {def.seed + 1 - (uint64_t)i},
                            .wanted = wanted};
        wire.sides[i].context = &both[i];
        wire.sides[i].on_event = on_traffic;
        wire.sides[i].on_step = step_traffic;
    }
    double t = 0;
    for (; t < seconds && (both[0].got < wanted || both[1].got < wanted); t += 0.25)
        flr_wire_run(&wire, 0.25);
    flr_connections_info info;
    assert_int_equal(wire.sides[0].opens, 1);
    assert_true(flr_connections_get(wire.sides[0].connections, wire.sides[0].connection, &info));
    print_message(
        "%u + %u messages, %.1f MB in %.1f s; rtt %.0f ms, jitter %.0f ms, loss %.0f %% in "
        "%.0f %% out, resent %llu\n",
        both[0].got, both[1].got, (double)(both[0].all + both[1].all) * 1e-6, t, info.rtt * 1e3,
        info.jitter * 1e3, info.loss_in * 100, info.loss_out * 100,
        (unsigned long long)info.resent);
    assert_int_equal(both[0].got, wanted);
    assert_int_equal(both[1].got, wanted);
    assert_gt(both[0].states, 0);
    flr_wire_end(&wire);
}

static void test_bad_network(void **state)
{
    (void)state;
    flr_sim_network network = flr_default_sim_def().network;
    network.delay_ns = 20 * FLR_SIM_MS;
    network.jitter_ns = 30 * FLR_SIM_MS;
    network.loss = 0.2;
    network.duplicate = 0.1;
    network.reorder = 0.1;
    network.reorder_ns = 50 * FLR_SIM_MS;
    run_traffic(&network, 300, 60);
}

static void test_worst_network(void **state)
{
    (void)state;
    flr_sim_network network = flr_default_sim_def().network;
    network.delay_ns = 1000 * FLR_SIM_MS;
    network.jitter_ns = 300 * FLR_SIM_MS;
    network.loss = 0.2;
    network.duplicate = 0.1;
    run_traffic(&network, 100, 120);
}

/* ---- how fast, and how quick the rest stays ---- */

typedef struct transfer {
    uint32_t sent, got, wanted;
    uint8_t bytes[FLR_CONNECTIONS_MESSAGE];
    int64_t state_ns, begun_ns, done_ns;
    double age_worst;
} transfer;

static void on_transfer(flr_wire_side *side, const flr_connections_event *event)
{
    transfer *mine = side->context;
    if (event->kind == FLR_CONNECTIONS_GOT_STATE) {
        double age = (double)(flr_clock_ns(side->env) - event->sent_ns) * 1e-9;
        if (age > mine->age_worst) mine->age_worst = age;
    }
    if (event->kind != FLR_CONNECTIONS_GOT_MESSAGE) return;
    assert_int_equal(event->size, FLR_CONNECTIONS_MESSAGE);
    assert_int_equal(event->bytes[0], (uint8_t)mine->got);
    if (++mine->got == mine->wanted) mine->done_ns = flr_clock_ns(side->env);
}

static int64_t step_transfer(flr_wire_side *side, int64_t now)
{
    transfer *mine = side->context;
    if (!side->connection) return INT64_MAX;
    while (mine->sent < mine->wanted) {
        mine->bytes[0] = (uint8_t)mine->sent;
        if (flr_connections_send(side->connections, side->connection, mine->bytes,
                                 sizeof mine->bytes) != FLR_OK)
            break;
        mine->sent++;
    }
    if (now >= mine->state_ns) {
        assert_int_equal(
            flr_connections_state(side->connections, side->connection, mine->bytes, 200), FLR_OK);
        mine->state_ns = now + 10 * FLR_SIM_MS;
    }
    return mine->state_ns;
}

/* 20 MB; returns the seconds they took */
static double run_transfer(const flr_sim_network *network, double *age_worst,
                           void (*change)(flr_connections_def *def, uint32_t side))
{
    flr_sim_def def = flr_default_sim_def();
    def.network = *network;
    flr_wire wire;
    flr_wire_begin(&wire, 2, &def, change);
    flr_wire_join(&wire, 10);
    flr_wire_run(&wire, 0.5);
    static transfer both[2];
    memset(both, 0, sizeof both);
    both[0].wanted = both[1].wanted = 20000000 / FLR_CONNECTIONS_MESSAGE;
    both[1].sent = both[1].wanted;
    int64_t begun = flr_sim_now(wire.sim);
    for (int i = 0; i < 2; i++) {
        wire.sides[i].context = &both[i];
        wire.sides[i].on_event = on_transfer;
        wire.sides[i].on_step = step_transfer;
    }
    for (int i = 0; i < 240 && both[1].got < both[1].wanted; i++) flr_wire_run(&wire, 0.25);
    assert_int_equal(both[1].got, both[1].wanted);
    flr_connections_info info;
    assert_true(flr_connections_get(wire.sides[0].connections, wire.sides[0].connection, &info));
    double seconds = (double)(both[1].done_ns - begun) * 1e-9;
    *age_worst = both[1].age_worst;
    print_message("20 MB in %.2f s, states at most %.0f ms old, %llu parts sent again\n", seconds,
                  *age_worst * 1e3, (unsigned long long)info.resent);
    flr_wire_end(&wire);
    return seconds;
}

static void test_transfer(void **state)
{
    (void)state;
    flr_sim_network network = flr_default_sim_def().network;
    network.delay_ns = 10 * FLR_SIM_MS;
    network.bytes_per_second = 10e6;
    double age;
    double seconds = run_transfer(&network, &age, NULL);
    assert_lt(seconds, 3);
    assert_lt(age, 0.120); // the queue that the transfer makes stays short
    network.loss = 0.05;
    network.jitter_ns = 5 * FLR_SIM_MS;
    seconds = run_transfer(&network, &age, NULL);
    assert_lt(seconds, 4);
}

static void bound_bandwidth(flr_connections_def *def, uint32_t side)
{
    (void)side;
    def->bandwidth = 4e6;
}

static void test_bandwidth(void **state)
{
    (void)state;
    flr_sim_network network = flr_default_sim_def().network;
    double age;
    double seconds = run_transfer(&network, &age, bound_bandwidth);
    assert_gt(seconds, 20e6 / 4e6);
    assert_lt(seconds, 20e6 / 4e6 * 1.15);
}

/* ---- calls ---- */

/* two sides connect to each other at moments that differ by a little: one connection, however that falls */
static void test_both_call(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("test_connections both");
    const char *text = getenv("FLR_CONNECTIONS_RACES");
    uint32_t kept = 0, runs = text ? (uint32_t)strtoul(text, NULL, 10) : 60;
    for (uint32_t run = 0; run < runs; run++) {
        flr_sim_def def = flr_default_sim_def();
        def.seed = flr_test_random_u64(&random);
        def.network.delay_ns = (int64_t)flr_test_random_below(&random, 100) * FLR_SIM_MS;
        def.network.jitter_ns = (int64_t)flr_test_random_below(&random, 100) * FLR_SIM_MS;
        def.network.loss = run % 2 ? 0.2 : 0;
        flr_wire wire;
        flr_wire_begin(&wire, 2, &def, NULL);
        flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
        uint32_t connection_a =
            flr_connections_connect(a->connections, flr_wire_address(1), NULL, 0);
        flr_wire_run(&wire, flr_test_random_range(&random, 0, 0.5));
        uint32_t connection_b =
            flr_connections_connect(b->connections, flr_wire_address(0), NULL, 0);
        flr_wire_run(&wire, 8);
        if (a->opens != 1 || b->opens != 1)
            fail_msg("run %u: %u and %u lines open", run, a->opens, b->opens);
        kept += a->connection == connection_a && b->connection == connection_b;
        // and it is the same one
        assert_int_equal(flr_connections_send(a->connections, a->connection, "x", 1), FLR_OK);
        assert_int_equal(flr_connections_send(b->connections, b->connection, "x", 1), FLR_OK);
        flr_wire_run(&wire, 5);
        assert_int_equal(a->told[FLR_CONNECTIONS_GOT_MESSAGE], 1);
        assert_int_equal(b->told[FLR_CONNECTIONS_GOT_MESSAGE], 1);
        assert_int_equal(a->opens, 1);
        assert_int_equal(b->opens, 1);
        flr_wire_end(&wire);
    }
    print_message("%u of %u kept the numbers of both calls\n", kept, runs);
}

static void other_token(flr_connections_def *def, uint32_t side)
{
    if (side == 1) def->token = "0123456789abcdef0123456789abcdeF";
}

static void test_wrong_token(void **state)
{
    (void)state;
    flr_wire wire;
    flr_wire_begin(&wire, 2, NULL, other_token);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    flr_connections_connect(a->connections, flr_wire_address(1), "a", 1);
    flr_wire_run(&wire, 9.9);
    assert_int_equal(a->told[FLR_CONNECTIONS_REFUSED], 0);
    flr_wire_run(&wire, 0.2);
    assert_int_equal(a->told[FLR_CONNECTIONS_REFUSED], 1);
    assert_non_null(strstr(a->why, "10.0.0.2:7000 does not answer, or the token is another one"));
    assert_int_equal(b->told[FLR_CONNECTIONS_OPEN], 0);
    // not a single packet came back
    flr_sim_stats stats = flr_sim_get_stats(wire.sim);
    assert_int_equal(flr_connections_get_rejected(b->connections).forged, stats.sent);
    assert_int_equal(flr_connections_get_rejected(a->connections).forged, 0);
    flr_wire_end(&wire);
}

static void one_connection(flr_connections_def *def, uint32_t side)
{
    (void)side;
    def->most = 1;
}

static void test_refused(void **state)
{
    (void)state;
    flr_wire wire;
    flr_wire_begin(&wire, 3, NULL, one_connection);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1], *c = &wire.sides[2];
    flr_wire_join(&wire, 5);
    // no room
    assert_int_equal(flr_connections_connect(a->connections, flr_wire_address(2), NULL, 0), 0);
    assert_int_not_equal(flr_connections_connect(c->connections, flr_wire_address(1), NULL, 0), 0);
    flr_wire_run(&wire, 1);
    assert_int_equal(c->told[FLR_CONNECTIONS_REFUSED], 1);
    assert_int_equal(c->last[FLR_CONNECTIONS_REFUSED].cause, FLR_CONNECTIONS_BYE);
    assert_string_equal(c->why, "10.0.0.2:7000 has no room for more; somebody must leave first");
    assert_int_equal(b->opens, 1);
    // itself
    assert_int_not_equal(flr_connections_connect(c->connections, flr_wire_address(2), NULL, 0), 0);
    flr_wire_run(&wire, 1);
    assert_int_equal(c->told[FLR_CONNECTIONS_REFUSED], 2);
    assert_non_null(strstr(c->why, "is this controller itself"));
    // nobody
    assert_int_not_equal(flr_connections_connect(c->connections, flr_wire_address(77), NULL, 0), 0);
    flr_wire_run(&wire, 11);
    assert_int_equal(c->told[FLR_CONNECTIONS_REFUSED], 3);
    // given up by the owner: no report
    uint32_t connection = flr_connections_connect(c->connections, flr_wire_address(77), NULL, 0);
    flr_connections_close(c->connections, connection, NULL);
    flr_wire_run(&wire, 11);
    assert_int_equal(c->told[FLR_CONNECTIONS_REFUSED], 3);
    assert_int_equal(a->opens, 1);
    flr_wire_end(&wire);
}

static void test_bad_defs(void **state)
{
    (void)state;
    flr_connections_def def = flr_default_connections_def();
    flr_error error;
    flr_connections *connections = NULL;
    def.env = flr_env_real();
    def.local = (flr_address){.family = 4, .ip = {127, 0, 0, 1}};
    def.token = "short secret";
    assert_int_equal(flr_connections_create(&def, &connections, &error), FLR_BAD_ARGUMENT);
    assert_null(strstr(error.message, "secret"));
    def.token = "with a blank in the secret";
    assert_int_equal(flr_connections_create(&def, &connections, &error), FLR_BAD_ARGUMENT);
    assert_null(strstr(error.message, "secret"));
    def.token = "0123456789abcdef";
    def.most = FLR_MAX_CONNECTIONS + 1;
    assert_int_equal(flr_connections_create(&def, &connections, &error), FLR_BAD_ARGUMENT);
    assert_null(connections);
}

/* ---- the end of a connection, and a new one ---- */

static void test_silence(void **state)
{
    (void)state;
    flr_wire wire;
    flr_wire_begin(&wire, 2, NULL, NULL);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    flr_wire_join(&wire, 5);
    flr_wire_run(&wire, 1);
    uint32_t first = a->connection;
    flr_sim_set_group(b->env, 1);
    flr_wire_run(&wire, 2.2);
    assert_int_equal(a->opens, 1);
    flr_wire_run(&wire, 0.6);
    assert_int_equal(a->told[FLR_CONNECTIONS_CLOSED], 1);
    assert_int_equal(a->last[FLR_CONNECTIONS_CLOSED].cause, FLR_CONNECTIONS_SILENCE);
    assert_int_equal(b->opens, 0);
    assert_non_null(strstr(a->why, "10.0.0.2:7000 has not been heard for 2.5 s"));
    assert_int_equal(flr_connections_state(a->connections, first, "x", 1), FLR_CLOSED);
    assert_int_equal(flr_connections_send(a->connections, first, "x", 1), FLR_CLOSED);
    flr_connections_info info;
    assert_false(flr_connections_get(a->connections, first, &info));
    // connected again at the same place
    flr_sim_heal(wire.sim);
    flr_wire_join(&wire, 5);
    assert_int_not_equal(a->connection, first);
    flr_wire_end(&wire);
}

/* one side forgets, the other does not know yet: a new handshake takes the connection's place at once */
static void test_called_again(void **state)
{
    (void)state;
    for (int initiator = 0; initiator < 2; initiator++) {
        flr_wire wire;
        flr_wire_begin(&wire, 2, NULL, NULL);
        flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
        flr_wire_join(&wire, 5);
        flr_wire_side *forgets = initiator ? b : a, *stays = initiator ? a : b;
        flr_sim_set_group(forgets->env, 1);
        flr_connections_close(forgets->connections, forgets->connection, "unheard");
        forgets->opens = 0;
        flr_sim_heal(wire.sim);
        flr_connections_connect(forgets->connections, flr_wire_address(initiator ? 0 : 1), NULL, 0);
        flr_wire_run(&wire, 0.5);
        assert_int_equal(forgets->opens, 1);
        assert_int_equal(stays->opens, 1);
        assert_int_equal(stays->told[FLR_CONNECTIONS_CLOSED], 1);
        assert_int_equal(stays->last[FLR_CONNECTIONS_CLOSED].cause, FLR_CONNECTIONS_REPLACED);
        flr_wire_end(&wire);
    }
}

/* ---- what is measured ---- */

static int64_t step_states(flr_wire_side *side, int64_t now)
{
    int64_t *next = side->context;
    if (!side->connection) return INT64_MAX;
    if (now >= *next) {
        assert_int_equal(flr_connections_state(side->connections, side->connection, "state", 5),
                         FLR_OK);
        *next = now + 10 * FLR_SIM_MS;
    }
    return *next;
}

static void test_measures(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = 40 * FLR_SIM_MS;
    def.network.loss = 0.1;
    flr_wire wire;
    flr_wire_begin(&wire, 2, &def, NULL);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    flr_sim_set_clock(b->env, 1234567 * FLR_SIM_MS);
    int64_t next[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        wire.sides[i].context = &next[i], wire.sides[i].on_step = step_states;
    flr_wire_join(&wire, 5);
    flr_wire_run(&wire, 20);
    flr_connections_info info;
    assert_true(flr_connections_get(a->connections, a->connection, &info));
    assert_true(info.open);
    assert_true(info.initiator);
    assert_gt(info.rtt, 0.0799);
    assert_lt(info.rtt, 0.082);
    assert_gt(info.rtt_least, 0.0799);
    assert_lt(info.rtt_least, 0.081);
    assert_lt(info.jitter, 0.002);
    assert_gt(info.loss_in, 0.05);
    assert_lt(info.loss_in, 0.15);
    assert_gt(info.loss_out, 0.05);
    assert_lt(info.loss_out, 0.15);
    assert_lt(llabs(info.offset_ns - 1234567 * FLR_SIM_MS), FLR_SIM_MS);
    assert_ge(info.offset_wrong_ns, 40 * FLR_SIM_MS);
    assert_lt(info.offset_wrong_ns, 45 * FLR_SIM_MS);
    assert_gt(info.packets_out, 98);
    assert_lt(info.packets_out, 104);
    assert_gt(info.packets_in, 80);
    assert_lt(info.packets_in, 98);
    assert_gt(info.bytes_out, 60 * info.packets_out);
    assert_lt(info.bytes_out, 80 * info.packets_out);
    assert_gt(info.heard_ns, 20 * FLR_SIM_S);
    // the age of a state that just came
    assert_lt(llabs(b->last[FLR_CONNECTIONS_GOT_STATE].sent_ns -
                    (flr_clock_ns(b->env) - 40 * FLR_SIM_MS)),
              15 * FLR_SIM_MS);
    flr_wire_end(&wire);
}

/* as step_states, on a machine that interrupts the thread for up to 15 ms now and then */
static int64_t step_interrupted(flr_wire_side *side, int64_t now)
{
    int64_t next = step_states(side, now);
    uint64_t dice = (uint64_t)now * 0x9e3779b97f4a7c15u;
    if (dice >> 62 == 0)
        flr_sim_interrupt(side->env, (int64_t)((dice >> 32) % (uint64_t)(15 * FLR_SIM_MS)));
    return next;
}

static void test_measures_interrupted(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = 23 * FLR_SIM_MS;
    def.network.jitter_ns = 10 * FLR_SIM_MS;
    flr_wire wire;
    flr_wire_begin(&wire, 2, &def, NULL);
    int64_t next[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        wire.sides[i].context = &next[i], wire.sides[i].on_step = step_interrupted;
    flr_wire_join(&wire, 5);
    flr_wire_run(&wire, 20);
    for (int i = 0; i < 2; i++) {
        flr_connections_info info;
        assert_true(
            flr_connections_get(wire.sides[i].connections, wire.sides[i].connection, &info));
        // no round trip is shorter than the way, and the clocks, which are one, differ by no more than the bound
        assert_gt(info.rtt_least, 0.0459);
        assert_le(llabs(info.offset_ns), info.offset_wrong_ns);
        assert_lt(llabs(info.offset_ns), 5 * FLR_SIM_MS);
    }
    flr_wire_end(&wire);
}

/* ---- the same seed, the same bits ---- */

static uint64_t run_seed(uint64_t seed)
{
    flr_sim_def def = flr_default_sim_def();
    def.seed = seed;
    def.network.delay_ns = 5 * FLR_SIM_MS, def.network.jitter_ns = 20 * FLR_SIM_MS;
    def.network.loss = 0.1;
    flr_wire wire;
    flr_wire_begin(&wire, 3, &def, NULL);
    int64_t next[3] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        wire.sides[i].context = &next[i], wire.sides[i].on_step = step_states;
        flr_connections_connect(wire.sides[i].connections, flr_wire_address((i + 1) % 3), NULL, 0);
    }
    flr_wire_run(&wire, 5);
    flr_sim_stats stats = flr_sim_get_stats(wire.sim);
    uint64_t sum = stats.sent * 1000003 + stats.delivered;
    for (uint32_t i = 0; i < 3; i++)
        sum = sum * 1000003 + wire.sides[i].told[FLR_CONNECTIONS_GOT_STATE] +
              wire.sides[i].connection;
    flr_wire_end(&wire);
    return sum;
}

static void test_repeats(void **state)
{
    (void)state;
    assert_int_equal(run_seed(5), run_seed(5));
    assert_int_not_equal(run_seed(5), run_seed(6));
}

/* ---- memory that is not there ---- */

static flr_result open_one(void *context, flr_error *error)
{
    flr_wire *wire = context;
    flr_connections_def def = flr_default_connections_def();
    def.token = "0123456789abcdef0123456789abcdef";
    flr_connections *connections[2] = {NULL, NULL};
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < 2 && result == FLR_OK; i++) {
        def.env = wire->sides[i].env;
        def.local = flr_wire_address(i);
        def.local.port = 8000;
        result = flr_connections_create(&def, &connections[i], error);
    }
    bool open = false, refused = false;
    if (result == FLR_OK) {
        flr_address to = flr_wire_address(1);
        to.port = 8000;
        flr_connections_connect(connections[0], to, NULL, 0);
        for (int i = 0; i < 800 && !(open && i > 100) && !refused; i++) {
            flr_connections_event event;
            for (int side = 0; side < 2; side++) {
                while (flr_connections_next(connections[side], &event)) {
                    open = open || (side == 0 && event.kind == FLR_CONNECTIONS_OPEN);
                    refused = refused || event.kind == FLR_CONNECTIONS_REFUSED ||
                              event.kind == FLR_CONNECTIONS_CLOSED;
                }
                flr_connections_service(connections[side]);
            }
            flr_sim_advance(wire->sim, 20 * FLR_SIM_MS);
        }
        if (!open || refused) result = flr_fail(error, FLR_NO_MEMORY, "no memory for a line");
    }
    flr_connections_destroy(connections[0]);
    flr_connections_destroy(connections[1]);
    flr_sim_advance(wire->sim, FLR_SIM_S);
    return result;
}

static void test_alloc(void **state)
{
    (void)state;
    flr_wire wire;
    flr_wire_begin(&wire, 2, NULL, NULL);
    // once without trouble, so that the simulation has what it keeps
    flr_error error;
    assert_ok(open_one(&wire, &error), error);
    flr_fail_alloc_at(0);
    assert_gt(flr_fail_alloc_each(open_one, &wire), 10);
    flr_wire_end(&wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens),
        cmocka_unit_test(test_bad_network),
        cmocka_unit_test(test_worst_network),
        cmocka_unit_test(test_transfer),
        cmocka_unit_test(test_bandwidth),
        cmocka_unit_test(test_both_call),
        cmocka_unit_test(test_wrong_token),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bad_defs),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_called_again),
        cmocka_unit_test(test_measures),
        cmocka_unit_test(test_measures_interrupted),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_alloc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
