/* sealed lines between controllers, under a simulated network */
#include "peer/lines.h"

#include "support/wire.h"

static void test_opens(void **state)
{
    (void)state;
    flr_wire wire;
    flr_wire_begin(&wire, 2, NULL, NULL);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    flr_lines_set_hello(b->lines, "here is b", 9);
    uint32_t line = flr_lines_call(a->lines, flr_wire_address(1), "here is a", 9);
    assert_int_not_equal(line, 0);
    assert_int_equal(flr_lines_state(a->lines, line, "early", 5), FLR_CLOSED);
    flr_wire_run(&wire, 0.5);
    assert_int_equal(a->told[FLR_LINES_OPEN], 1);
    assert_int_equal(b->told[FLR_LINES_OPEN], 1);
    assert_int_equal(a->line, line);
    assert_true(a->last[FLR_LINES_OPEN].caller);
    assert_false(b->last[FLR_LINES_OPEN].caller);
    assert_int_equal(a->last[FLR_LINES_OPEN].other, flr_lines_self(b->lines));
    assert_int_equal(b->last[FLR_LINES_OPEN].other, flr_lines_self(a->lines));
    assert_memory_equal(a->hello, "here is b", 9);
    assert_memory_equal(b->hello, "here is a", 9);
    assert_int_equal(flr_lines_state(a->lines, line, "state", 5), FLR_OK);
    assert_int_equal(flr_lines_send(b->lines, b->line, "message", 7), FLR_OK);
    assert_int_equal(flr_lines_send(b->lines, b->line, NULL, 0), FLR_OK);
    flr_wire_run(&wire, 0.5);
    assert_int_equal(b->told[FLR_LINES_GOT_STATE], 1);
    assert_int_equal(a->told[FLR_LINES_GOT_MESSAGE], 2);
    assert_true(flr_lines_is_drained(b->lines, b->line));
    flr_wire_run(&wire, 10); // keepalives keep it
    assert_int_equal(a->opens, 1);
    flr_lines_close(a->lines, line, "enough\x1b");
    flr_wire_run(&wire, 0.1);
    assert_int_equal(b->told[FLR_LINES_CLOSED], 1);
    assert_int_equal(b->last[FLR_LINES_CLOSED].cause, FLR_LINES_BYE);
    assert_string_equal(b->why, "enough?");
    assert_int_equal(a->told[FLR_LINES_CLOSED], 0);
    flr_wire_end(&wire);
}

/* ---- messages over a bad network, both ways, while states go on ---- */

typedef struct traffic {
    flr_test_random random, check; /* what to send; what should come */
    uint32_t sent, got, wanted;
    uint8_t bytes[FLR_LINES_MESSAGE];
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
                  : kind == 1 ? flr_test_random_below(random, FLR_LINES_MESSAGE + 1)
                              : flr_test_random_below(random, 300);
    uint64_t word = flr_test_random_u64(random) + index;
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(word >> (i % 8) * 8) ^ (uint8_t)(i / 8);
    return size;
}

static void on_traffic(flr_wire_side *side, const flr_lines_event *event)
{
    traffic *mine = side->context;
    if (event->kind == FLR_LINES_GOT_STATE) mine->states++;
    if (event->kind != FLR_LINES_GOT_MESSAGE) return;
    size_t size = make_message(&mine->check, mine->got, mine->bytes);
    assert_int_equal(event->size, size);
    assert_memory_equal(event->bytes, mine->bytes, size);
    mine->got++;
    mine->all += size;
}

static int64_t step_traffic(flr_wire_side *side, int64_t now)
{
    traffic *mine = side->context;
    if (!side->line) return INT64_MAX;
    while (mine->sent < mine->wanted) {
        flr_test_random before = mine->random;
        size_t size = make_message(&mine->random, mine->sent, mine->bytes);
        flr_result result = flr_lines_send(side->lines, side->line, mine->bytes, size);
        if (result == FLR_AGAIN) {
            mine->random = before;
            break;
        }
        assert_int_equal(result, FLR_OK);
        mine->sent++;
    }
    if (now >= mine->state_ns) {
        assert_int_equal(flr_lines_state(side->lines, side->line, mine->bytes, 200), FLR_OK);
        mine->state_ns = now + 10 * FLR_SIM_MS;
    }
    return mine->state_ns;
}

static void run_traffic(const flr_sim_network *network, uint32_t wanted, double seconds)
{
    flr_sim_def def = flr_default_sim_def();
    flr_test_random random = flr_test_random_begin("test_lines traffic");
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
    flr_lines_info info;
    assert_int_equal(wire.sides[0].opens, 1);
    assert_true(flr_lines_get(wire.sides[0].lines, wire.sides[0].line, &info));
    print_message(
        "%u + %u messages, %.1f MB in %.1f s; rtt %.0f ms, jitter %.0f ms, loss %.0f %% in "
        "%.0f %% out, resent %llu\n",
        both[0].got, both[1].got, (double)(both[0].all + both[1].all) * 1e-6, t, info.rtt * 1e3,
        info.jitter * 1e3, info.loss_in * 100, info.loss_out * 100,
        (unsigned long long)info.resent);
    assert_int_equal(both[0].got, wanted);
    assert_int_equal(both[1].got, wanted);
    assert_true(both[0].states > 0);
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
    uint8_t bytes[FLR_LINES_MESSAGE];
    int64_t state_ns, begun_ns, done_ns;
    double age_worst;
} transfer;

static void on_transfer(flr_wire_side *side, const flr_lines_event *event)
{
    transfer *mine = side->context;
    if (event->kind == FLR_LINES_GOT_STATE) {
        double age = (double)(flr_clock_ns(side->env) - event->sent_ns) * 1e-9;
        if (age > mine->age_worst) mine->age_worst = age;
    }
    if (event->kind != FLR_LINES_GOT_MESSAGE) return;
    assert_int_equal(event->size, FLR_LINES_MESSAGE);
    assert_int_equal(event->bytes[0], (uint8_t)mine->got);
    if (++mine->got == mine->wanted) mine->done_ns = flr_clock_ns(side->env);
}

static int64_t step_transfer(flr_wire_side *side, int64_t now)
{
    transfer *mine = side->context;
    if (!side->line) return INT64_MAX;
    while (mine->sent < mine->wanted) {
        mine->bytes[0] = (uint8_t)mine->sent;
        if (flr_lines_send(side->lines, side->line, mine->bytes, sizeof mine->bytes) != FLR_OK)
            break;
        mine->sent++;
    }
    if (now >= mine->state_ns) {
        assert_int_equal(flr_lines_state(side->lines, side->line, mine->bytes, 200), FLR_OK);
        mine->state_ns = now + 10 * FLR_SIM_MS;
    }
    return mine->state_ns;
}

/* 20 MB; returns the seconds they took */
static double run_transfer(const flr_sim_network *network, double *age_worst,
                           void (*change)(flr_lines_def *def, uint32_t side))
{
    flr_sim_def def = flr_default_sim_def();
    def.network = *network;
    flr_wire wire;
    flr_wire_begin(&wire, 2, &def, change);
    flr_wire_join(&wire, 10);
    flr_wire_run(&wire, 0.5);
    static transfer both[2];
    memset(both, 0, sizeof both);
    both[0].wanted = both[1].wanted = 20000000 / FLR_LINES_MESSAGE;
    both[1].sent = both[1].wanted;
    int64_t begun = flr_sim_now(wire.sim);
    for (int i = 0; i < 2; i++) {
        wire.sides[i].context = &both[i];
        wire.sides[i].on_event = on_transfer;
        wire.sides[i].on_step = step_transfer;
    }
    for (int i = 0; i < 240 && both[1].got < both[1].wanted; i++) flr_wire_run(&wire, 0.25);
    assert_int_equal(both[1].got, both[1].wanted);
    flr_lines_info info;
    assert_true(flr_lines_get(wire.sides[0].lines, wire.sides[0].line, &info));
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
    assert_true(seconds < 3);
    assert_true(age < 0.120); // the queue that the transfer makes stays short
    network.loss = 0.05;
    network.jitter_ns = 5 * FLR_SIM_MS;
    seconds = run_transfer(&network, &age, NULL);
    assert_true(seconds < 4);
}

static void bound_bandwidth(flr_lines_def *def, uint32_t side)
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
    assert_true(seconds > 20e6 / 4e6);
    assert_true(seconds < 20e6 / 4e6 * 1.15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens),         cmocka_unit_test(test_bad_network),
        cmocka_unit_test(test_worst_network), cmocka_unit_test(test_transfer),
        cmocka_unit_test(test_bandwidth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
