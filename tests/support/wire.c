/* connections under a simulated network */
#include "support/wire.h"

flr_address flr_wire_address(uint32_t side)
{
    return (flr_address){.family = 4, .ip = {10, 0, 0, (uint8_t)(side + 1)}, .port = 7000};
}

static void note(flr_wire_side *side, const flr_connections_event *event)
{
    side->told[event->kind]++;
    side->last[event->kind] = *event;
    if (event->kind == FLR_CONNECTIONS_OPEN) {
        side->connection = event->connection;
        side->opens++;
        side->opened_ns = flr_clock_ns(side->env);
        memcpy(side->hello, event->bytes, event->size);
    }
    if (event->kind == FLR_CONNECTIONS_CLOSED) {
        side->opens--;
        if (side->connection == event->connection) side->connection = 0;
    }
    if (event->kind == FLR_CONNECTIONS_CLOSED || event->kind == FLR_CONNECTIONS_REFUSED)
        snprintf(side->why, sizeof side->why, "%s", event->why);
}

static int64_t step(void *context, flr_env *env)
{
    flr_wire_side *side = context;
    (void)env;
    flr_connections_event event;
    while (flr_connections_next(side->connections, &event)) {
        note(side, &event);
        if (side->on_event) side->on_event(side, &event);
    }
    int64_t next = INT64_MAX;
    if (side->on_step) next = side->on_step(side, flr_clock_ns(side->env));
    int64_t service = flr_connections_service(side->connections);
    return service < next ? service : next;
}

void flr_wire_begin(flr_wire *wire, uint32_t count, const flr_sim_def *def,
                    void (*change)(flr_connections_def *def, uint32_t side))
{
    memset(wire, 0, sizeof *wire);
    flr_sim_def plain = flr_default_sim_def();
    wire->sim = flr_sim_create(def ? def : &plain);
    assert_non_null(wire->sim);
    wire->count = count;
    for (uint32_t i = 0; i < count; i++) {
        flr_wire_side *side = &wire->sides[i];
        side->wire = wire;
        side->env = flr_sim_node(wire->sim, flr_wire_address(i));
        flr_connections_def connections = flr_default_connections_def();
        connections.env = side->env;
        connections.local = flr_wire_address(i);
        connections.token = FLR_WIRE_TOKEN;
        if (change) change(&connections, i);
        flr_error error;
        assert_ok(flr_connections_create(&connections, &side->connections, &error), error);
        flr_sim_set_program(side->env, step, side);
    }
}

void flr_wire_end(flr_wire *wire)
{
    for (uint32_t i = 0; i < wire->count; i++) flr_connections_destroy(wire->sides[i].connections);
    flr_sim_destroy(wire->sim);
}

void flr_wire_run(flr_wire *wire, double seconds)
{
    // the test may have given a side something to do: each makes a step now
    for (uint32_t i = 0; i < wire->count; i++)
        flr_sim_set_program(wire->sides[i].env, step, &wire->sides[i]);
    flr_sim_run(wire->sim, flr_sim_now(wire->sim) + (int64_t)(seconds * 1e9));
}

void flr_wire_join(flr_wire *wire, double seconds)
{
    flr_wire_side *a = &wire->sides[0], *b = &wire->sides[1];
    assert_true(flr_connections_connect(a->connections, flr_wire_address(1), "a", 1) != 0);
    for (double t = 0; t < seconds && (a->opens == 0 || b->opens == 0); t += 0.1)
        flr_wire_run(wire, 0.1);
    assert_int_equal(a->opens, 1);
    assert_int_equal(b->opens, 1);
}
