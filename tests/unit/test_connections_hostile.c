/* somebody in the middle, or anywhere, who changes, repeats, cuts and invents packets
 *
 * Side 0 calls a relay, which passes packets on to side 1 and back, sees all of them, and does what each test says. */
#include "net/net_internal.h"

#include "support/version.h"
#include "support/wire.h"

enum { THERE, BACK, RECORDED = 20000 };

typedef struct packet {
    int way;
    size_t size;
    uint8_t bytes[FLR_PACKET_MAX_SIZE];
} packet;

typedef struct middle {
    flr_env *env;
    flr_socket *front, *back; /* to the initiator; to the responder */
    flr_address initiator, responder;
    bool deaf;                                                      /* passes nothing on */
    void (*meddle)(struct middle *relay, int way, const packet *p); /* before it is passed on */
    packet *record;                                                 /* all that was passed on */
    uint32_t recorded;
    uint32_t injected[2];
    flr_test_random random;
} middle;

static flr_address relay_address(uint16_t port)
{
    return (flr_address){.family = 4, .ip = {10, 0, 0, 9}, .port = port};
}

static void pass(middle *relay, int way, const uint8_t *bytes, size_t size)
{
    flr_udp_send(way == THERE ? relay->back : relay->front,
                 way == THERE ? relay->responder : relay->initiator, bytes, size, NULL);
}

static void inject(middle *relay, int way, const uint8_t *bytes, size_t size)
{
    pass(relay, way, bytes, size);
    relay->injected[way]++;
}

static int64_t step_relay(void *context, flr_env *env)
{
    (void)env;
    middle *r = context;
    packet p;
    for (p.way = THERE; p.way <= BACK; p.way++) {
        flr_address from;
        while (flr_udp_receive(p.way == THERE ? r->front : r->back, &from, p.bytes, sizeof p.bytes,
                               &p.size, NULL) == FLR_OK) {
            if (p.way == THERE) r->initiator = from;
            if (r->record && r->recorded < RECORDED) r->record[r->recorded++] = p;
            if (r->meddle) r->meddle(r, p.way, &p);
            if (!r->deaf) pass(r, p.way, p.bytes, p.size);
        }
    }
    return INT64_MAX;
}

static void begin(flr_wire *wire, middle *relay, const flr_sim_def *def)
{
    flr_wire_begin(wire, 2, def, NULL);
    memset(relay, 0, sizeof *relay);
    relay->random = flr_test_random_begin("test_connections_hostile");
    relay->env = flr_sim_node(wire->sim, relay_address(0));
    relay->responder = flr_wire_address(1);
    assert_int_equal(flr_udp_open(relay->env, relay_address(7000), &relay->front, NULL), FLR_OK);
    assert_int_equal(flr_udp_open(relay->env, relay_address(7001), &relay->back, NULL), FLR_OK);
    flr_sim_set_program(relay->env, step_relay, relay);
}

static void end(flr_wire *wire, middle *relay)
{
    free(relay->record);
    flr_socket_close(relay->front);
    flr_socket_close(relay->back);
    flr_wire_end(wire);
}

static void connect_sides(flr_wire *wire)
{
    flr_connections_connect(wire->sides[0].connections, relay_address(7000), "a", 1);
    flr_wire_run(wire, 1);
    assert_int_equal(wire->sides[0].opens, 1);
    assert_int_equal(wire->sides[1].opens, 1);
}

static uint64_t all_rejected(const flr_connections *connections)
{
    flr_connections_rejected r = flr_connections_get_rejected(connections);
    return r.malformed + r.unknown + r.forged + r.replayed + r.old + r.flood + r.broken;
}

/* ---- another version ---- */

static uint8_t caller_key[FLR_SEAL_KEY];

static void translate(middle *relay, int way, const packet *p)
{
    flr_seal_token keys;
    packet other = *p;
    flr_seal_make_token(FLR_WIRE_TOKEN, &keys);
    assert_true(flr_test_other_version(relay->env, &keys, FLR_PACKET_VERSION + 1, other.bytes,
                                       other.size, caller_key));
    inject(relay, way, other.bytes, other.size);
}

/* Each side is of another version for the other: the initiator learns it at once, nothing opens, and who lacks the token gets no
 * answer in any version. */
static void test_version(void **state)
{
    (void)state;
    flr_wire wire;
    middle relay;
    flr_sim_def def = flr_default_sim_def();
    begin(&wire, &relay, &def);
    relay.deaf = true;
    relay.meddle = translate;
    flr_connections_connect(wire.sides[0].connections, relay_address(7000), "a", 1);
    flr_wire_run(&wire, 0.5);
    assert_int_equal(wire.sides[0].told[FLR_CONNECTIONS_REFUSED], 1);
    assert_non_null(strstr(wire.sides[0].why, "runs another version of feeler"));
    assert_int_equal(relay.injected[THERE], 1);
    assert_int_equal(relay.injected[BACK], 1);
    assert_int_equal(flr_connections_get_rejected(wire.sides[1].connections).malformed, 1);
    assert_int_equal(wire.sides[1].opens, 0);
    uint8_t forged[FLR_HELLO_SIZE] = {FLR_PACKET_HELLO, FLR_PACKET_VERSION + 1};
    inject(&relay, THERE, forged, sizeof forged);
    flr_wire_run(&wire, 0.5);
    assert_int_equal(flr_connections_get_rejected(wire.sides[1].connections).forged, 1);
    assert_int_equal(relay.injected[BACK], 1);
    end(&wire, &relay);
}

/* ---- changed ---- */

/* every byte of the packet changed in two ways, before the right one */
static void flip_all(middle *relay, int way, const packet *p)
{
    uint8_t bytes[FLR_PACKET_MAX_SIZE];
    memcpy(bytes, p->bytes, p->size);
    for (size_t i = 0; i < p->size; i++) {
        bytes[i] ^= (uint8_t)(1u << flr_test_random_below(&relay->random, 8));
        inject(relay, way, bytes, p->size);
        bytes[i] = (uint8_t)~p->bytes[i];
        inject(relay, way, bytes, p->size);
        bytes[i] = p->bytes[i];
    }
}

static void test_every_byte(void **state)
{
    (void)state;
    flr_wire wire;
    middle relay;
    flr_sim_def def = flr_default_sim_def();
    def.network.udp_buffer = 64u << 20; // none of them may get lost here
    begin(&wire, &relay, &def);
    relay.meddle = flip_all;
    connect_sides(&wire);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    for (int i = 0; i < 20; i++) {
        assert_int_equal(flr_connections_state(a->connections, a->connection, "state", 5), FLR_OK);
        assert_int_equal(flr_connections_send(b->connections, b->connection, "message", 7), FLR_OK);
        flr_wire_run(&wire, 0.01);
    }
    flr_wire_run(&wire, 1);
    assert_int_equal(a->told[FLR_CONNECTIONS_OPEN], 1);
    assert_int_equal(b->told[FLR_CONNECTIONS_OPEN], 1);
    assert_int_equal(b->told[FLR_CONNECTIONS_GOT_STATE], 20);
    assert_int_equal(a->told[FLR_CONNECTIONS_GOT_MESSAGE], 20);
    // what was changed was refused, all of it
    assert_gt(relay.injected[THERE], 1000);
    assert_gt(relay.injected[BACK], 1000);
    assert_int_equal(all_rejected(b->connections), relay.injected[THERE]);
    assert_int_equal(all_rejected(a->connections), relay.injected[BACK]);
    flr_connections_rejected r = flr_connections_get_rejected(a->connections);
    print_message(
        "%u changed packets: forged %llu, malformed %llu, unknown %llu, old %llu, replayed %llu\n",
        relay.injected[BACK], (unsigned long long)r.forged, (unsigned long long)r.malformed,
        (unsigned long long)r.unknown, (unsigned long long)r.old, (unsigned long long)r.replayed);
    assert_gt(r.forged, relay.injected[BACK] / 2);
    assert_int_equal(r.broken, 0);
    assert_int_equal(r.flood, 0);
    end(&wire, &relay);
}

/* ---- cut short, or longer ---- */

static void cut_all(middle *relay, int way, const packet *p)
{
    uint8_t bytes[FLR_PACKET_MAX_SIZE + 64] = {0};
    memcpy(bytes, p->bytes, p->size);
    for (size_t size = 0; size < p->size; size++) inject(relay, way, bytes, size);
    for (size_t more = 1; more <= 64; more *= 2) inject(relay, way, bytes, p->size + more);
}

static void test_every_size(void **state)
{
    (void)state;
    flr_wire wire;
    middle relay;
    flr_sim_def def = flr_default_sim_def();
    def.network.udp_buffer = 64u << 20;
    begin(&wire, &relay, &def);
    relay.meddle = cut_all;
    connect_sides(&wire);
    flr_wire_run(&wire, 1);
    assert_int_equal(all_rejected(wire.sides[1].connections), relay.injected[THERE]);
    assert_int_equal(all_rejected(wire.sides[0].connections), relay.injected[BACK]);
    assert_int_equal(wire.sides[0].told[FLR_CONNECTIONS_OPEN], 1);
    assert_int_equal(wire.sides[1].told[FLR_CONNECTIONS_OPEN], 1);
    end(&wire, &relay);
}

/* ---- repeated ---- */

static void replay(flr_wire *wire, middle *relay)
{
    uint32_t count = relay->recorded;
    for (uint32_t i = 0; i < count; i++) {
        const packet *p = &relay->record[i];
        inject(relay, p->way, p->bytes, p->size);
        inject(relay, 1 - p->way, p->bytes, p->size); // and back to who sent it
        if (i % 100 == 0) flr_wire_run(wire, 0.01);
    }
    flr_wire_run(wire, 0.5);
    relay->recorded = count; // what that caused is not repeated itself
}

static void test_replayed(void **state)
{
    (void)state;
    flr_wire wire;
    middle relay;
    begin(&wire, &relay, NULL);
    relay.record = malloc(RECORDED * sizeof *relay.record);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    connect_sides(&wire);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(flr_connections_state(a->connections, a->connection, "state", 5), FLR_OK);
        assert_int_equal(flr_connections_send(a->connections, a->connection, "message", 7), FLR_OK);
        flr_wire_run(&wire, 0.01);
    }
    // while the connection lives
    replay(&wire, &relay);
    assert_int_equal(a->told[FLR_CONNECTIONS_OPEN], 1);
    assert_int_equal(b->told[FLR_CONNECTIONS_OPEN], 1);
    assert_int_equal(b->told[FLR_CONNECTIONS_GOT_STATE], 100);
    assert_int_equal(b->told[FLR_CONNECTIONS_GOT_MESSAGE], 100);
    assert_int_equal(a->told[FLR_CONNECTIONS_GOT_STATE], 0);
    assert_gt(flr_connections_get_rejected(b->connections).replayed, 200);
    assert_int_equal(a->opens, 1);
    assert_int_equal(b->opens, 1);
    flr_connections_info info;
    assert_true(flr_connections_get(b->connections, b->connection, &info));
    assert_int_equal(info.moved, 0);
    // after its end, while the proof of address still holds
    flr_connections_close(a->connections, a->connection, NULL);
    flr_wire_run(&wire, 0.1);
    assert_int_equal(b->opens, 0);
    replay(&wire, &relay);
    assert_int_equal(b->told[FLR_CONNECTIONS_OPEN], 1);
    assert_int_equal(a->told[FLR_CONNECTIONS_OPEN], 1);
    // and later
    flr_wire_run(&wire, 20);
    replay(&wire, &relay);
    assert_int_equal(b->told[FLR_CONNECTIONS_OPEN], 1);
    // the way is still free for a true handshake
    flr_connections_connect(a->connections, relay_address(7000), "a", 1);
    flr_wire_run(&wire, 1);
    assert_int_equal(b->told[FLR_CONNECTIONS_OPEN], 2);
    end(&wire, &relay);
}

/* ---- invented ---- */

static void test_random(void **state)
{
    (void)state;
    flr_wire wire;
    middle relay;
    begin(&wire, &relay, NULL);
    connect_sides(&wire);
    flr_wire_side *b = &wire.sides[1];
    uint64_t before = all_rejected(b->connections);
    uint32_t id = b->connections->table[0].id;
    assert_int_equal(b->connections->table[0].stage, FLR_CONNECTION_OPEN);
    static const size_t sizes[] = {
        FLR_HELLO_SIZE, FLR_COOKIE_SIZE, FLR_WELCOME_SIZE, 64, 300, 1232};
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[1500];
        for (size_t k = 0; k < sizeof bytes; k += 8) {
            uint64_t word = flr_test_random_u64(&relay.random);
            memcpy(bytes + k, &word, k + 8 <= sizeof bytes ? 8 : sizeof bytes - k);
        }
        size_t size = flr_test_random_below(&relay.random, 1301);
        if (i % 3) size = sizes[flr_test_random_below(&relay.random, 6)];
        if (i % 2) // as near as one can come without a key
            flr_packet_head(
                bytes,
                (flr_packet_kind)(FLR_PACKET_HELLO + flr_test_random_below(&relay.random, 4)),
                i % 4 == 1 ? id : (uint32_t)flr_test_random_u64(&relay.random),
                flr_test_random_below(&relay.random, 4)
                    ? 1 + flr_test_random_below(&relay.random, 50)
                    : flr_test_random_u64(&relay.random));
        inject(&relay, THERE, bytes, size);
        if (i % 100 == 0) flr_wire_run(&wire, 0.01);
    }
    flr_wire_run(&wire, 1);
    assert_int_equal(all_rejected(b->connections) - before, 20000);
    assert_int_equal(b->opens, 1);
    assert_int_equal(b->told[FLR_CONNECTIONS_OPEN], 1);
    flr_connections_info info;
    assert_true(flr_connections_get(b->connections, b->connection, &info));
    assert_gt(info.forged, 1000);
    end(&wire, &relay);
}

/* ---- no answer is larger than its question before the address is proven ---- */

typedef struct tally {
    size_t in, out;
} tally;

static void test_amplification(void **state)
{
    (void)state;
    flr_wire wire;
    middle relay;
    begin(&wire, &relay, NULL);
    relay.record = malloc(RECORDED * sizeof *relay.record);
    connect_sides(&wire);
    // a right HELLO and a right HELLO with its cookie, from an address that is not theirs
    flr_socket *elsewhere;
    assert_int_equal(flr_udp_open(relay.env, relay_address(9999), &elsewhere, NULL), FLR_OK);
    tally sizes = {0, 0};
    for (uint32_t i = 0; i < relay.recorded; i++) {
        const packet *p = &relay.record[i];
        if (p->way != THERE) continue;
        for (int again = 0; again < 50; again++) {
            flr_udp_send(elsewhere, relay.responder, p->bytes, p->size, NULL);
            sizes.in += p->size;
        }
        flr_wire_run(&wire, 0.1);
        flr_address from;
        uint8_t bytes[2000];
        size_t size;
        while (flr_udp_receive(elsewhere, &from, bytes, sizeof bytes, &size, NULL) == FLR_OK) {
            assert_le(size, p->size);
            sizes.out += size;
        }
        assert_le(sizes.out, sizes.in);
    }
    assert_gt(sizes.out, 0);
    print_message("%zu bytes of answers to %zu of questions\n", sizes.out, sizes.in);
    assert_int_equal(wire.sides[1].told[FLR_CONNECTIONS_OPEN], 1);
    flr_socket_close(elsewhere);
    end(&wire, &relay);
}

/* ---- the other's address changes ---- */

static void test_moves(void **state)
{
    (void)state;
    flr_wire wire;
    middle relay;
    begin(&wire, &relay, NULL);
    connect_sides(&wire);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    // as if a router had forgotten: from now on its packets come from elsewhere, and nothing goes to the old place
    flr_socket_close(relay.back);
    assert_int_equal(flr_udp_open(relay.env, relay_address(7002), &relay.back, NULL), FLR_OK);
    flr_wire_run(&wire, 2);
    flr_connections_info info;
    assert_true(flr_connections_get(b->connections, b->connection, &info));
    assert_int_equal(info.moved, 1);
    assert_int_equal(info.address.port, 7002);
    assert_int_equal(flr_connections_send(b->connections, b->connection, "there?", 6), FLR_OK);
    flr_wire_run(&wire, 5);
    assert_int_equal(a->told[FLR_CONNECTIONS_GOT_MESSAGE], 1);
    assert_int_equal(a->opens + b->opens, 2);
    end(&wire, &relay);
}

static flr_socket *thief;

/* a packet is sent on from another place before it goes its way: that place does not get the connection */
static void steal(middle *relay, int way, const packet *p)
{
    if (way == THERE && p->bytes[0] == FLR_PACKET_SEALED)
        flr_udp_send(thief, relay->responder, p->bytes, p->size, NULL);
}

static void test_does_not_move(void **state)
{
    (void)state;
    flr_wire wire;
    middle relay;
    begin(&wire, &relay, NULL);
    connect_sides(&wire);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    assert_int_equal(flr_udp_open(relay.env, relay_address(6666), &thief, NULL), FLR_OK);
    relay.meddle = steal;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(flr_connections_state(a->connections, a->connection, "state", 5), FLR_OK);
        flr_wire_run(&wire, 0.1);
    }
    flr_connections_info info;
    assert_true(flr_connections_get(b->connections, b->connection, &info));
    assert_int_equal(info.moved, 0);
    assert_int_equal(info.address.port, 7001);
    assert_int_equal(b->told[FLR_CONNECTIONS_GOT_STATE], 50);
    // what it gets for it is a question now and then, no larger than what it sent
    flr_address from;
    uint8_t bytes[2000];
    size_t size, count = 0;
    while (flr_udp_receive(thief, &from, bytes, sizeof bytes, &size, NULL) == FLR_OK) {
        assert_int_equal(size, FLR_PACKET_MIN_SIZE);
        count++;
    }
    assert_gt(count, 0);
    assert_le(count, 26);
    flr_socket_close(thief);
    end(&wire, &relay);
}

/* ---- a member that breaks the rules ---- */

static void test_broken_inside(void **state)
{
    (void)state;
    static const struct {
        flr_packet_part type;
        size_t size;
        uint8_t bytes[40];
    } wrong[] = {
        {(flr_packet_part)77, 4, {0}},
        {FLR_FRAME_ACK, 5, {0}},
        {FLR_FRAME_ACK, 19, {0}},
        {FLR_FRAME_ACK, 18, {255, 255, 255, 255, 255, 255, 255, 255}},
        {FLR_FRAME_PART, 8, {0}},
        {FLR_FRAME_PART, 20, {255, 255, 255, 255, 255, 255, 255, 255, 1}},
        {FLR_FRAME_PART, 12, {0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255}},
        {FLR_FRAME_ASK, 7, {0}},
        {FLR_FRAME_ANSWER, 9, {0}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        flr_wire wire;
        flr_wire_begin(&wire, 2, NULL, NULL);
        flr_wire_join(&wire, 5);
        flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
        flr_packet_send(a->connections, &a->connections->table[0], wrong[i].type, wrong[i].bytes,
                        wrong[i].size, flr_clock_ns(a->env));
        flr_wire_run(&wire, 0.5);
        assert_int_equal(b->told[FLR_CONNECTIONS_CLOSED], 1);
        assert_int_equal(b->last[FLR_CONNECTIONS_CLOSED].cause, FLR_CONNECTIONS_BROKEN);
        assert_int_equal(flr_connections_get_rejected(b->connections).broken, 1);
        // it is told so, or has seen an acknowledgement of what its own stream never sent
        assert_int_equal(a->told[FLR_CONNECTIONS_CLOSED], 1);
        flr_wire_end(&wire);
    }
}

/* ---- new keys on the way ---- */

static void test_new_keys(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    def.network.jitter_ns = 20 * FLR_SIM_MS;
    flr_wire wire;
    flr_wire_begin(&wire, 2, &def, NULL);
    flr_wire_join(&wire, 5);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1];
    // as after a quarter of an hour at 1000 packets a second
    a->connections->table[0].sent_number = FLR_SEAL_EPOCH - 50;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(flr_connections_state(a->connections, a->connection, "state", 5), FLR_OK);
        assert_int_equal(flr_connections_send(a->connections, a->connection, "message", 7), FLR_OK);
        flr_wire_run(&wire, 0.001);
    }
    flr_wire_run(&wire, 1);
    assert_int_equal(b->told[FLR_CONNECTIONS_GOT_STATE], 100);
    assert_int_equal(b->told[FLR_CONNECTIONS_GOT_MESSAGE], 100);
    assert_int_equal(b->connections->table[0].in.epoch, 1);
    assert_gt(b->connections->table[0].window.highest, FLR_SEAL_EPOCH);
    assert_int_equal(all_rejected(b->connections), 0);
    flr_wire_end(&wire);
}

/* ---- far more calls than anybody makes ---- */

static void few_handshakes(flr_connections_def *def, uint32_t side)
{
    (void)side;
    def->handshakes = 4;
}

static void test_call_flood(void **state)
{
    (void)state;
    flr_wire wire;
    flr_wire_begin(&wire, 3, NULL, few_handshakes);
    flr_wire_join(&wire, 5);
    flr_wire_side *b = &wire.sides[1], *c = &wire.sides[2];
    // even a member cannot make the others compute without end
    for (int i = 0; i < 200; i++) {
        uint32_t connection = flr_connections_connect(c->connections, flr_wire_address(1), NULL, 0);
        flr_wire_run(&wire, 0.02);
        flr_connections_close(c->connections, connection, NULL);
    }
    assert_gt(flr_connections_get_rejected(b->connections).flood, 100);
    assert_le(b->told[FLR_CONNECTIONS_OPEN], 1 + 4 + 4 * 4 + 1);
    assert_true(flr_connections_get(b->connections, b->connection, &(flr_connections_info){0}) ||
                b->opens > 0);
    flr_wire_end(&wire);
}

/* a side that begins calls and never goes on takes no room from others */
static void few_connections(flr_connections_def *def, uint32_t side)
{
    (void)side;
    def->most = 3;
}

static void test_half_calls(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = 10 * FLR_SIM_MS;
    flr_wire wire;
    flr_wire_begin(&wire, 3, &def, few_connections);
    flr_wire_side *a = &wire.sides[0], *b = &wire.sides[1], *c = &wire.sides[2];
    // it hangs up when its HELLO with the cookie is on the way: the WELCOME comes to nobody
    for (int i = 0; i < 10; i++) {
        uint32_t connection = flr_connections_connect(c->connections, flr_wire_address(1), NULL, 0);
        flr_wire_run(&wire, 0.025);
        flr_connections_close(c->connections, connection, NULL);
        flr_wire_run(&wire, 0.05);
    }
    flr_wire_run(&wire, 0.1);
    assert_int_equal(b->opens, 0);
    uint32_t half = 0;
    for (uint32_t i = 0; i < b->connections->count; i++)
        half += b->connections->table[i].stage == FLR_CONNECTION_HALF;
    assert_int_equal(half, 2);
    flr_wire_join(&wire, 1);
    assert_int_equal(a->opens, 1);
    flr_wire_end(&wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version),       cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_every_size),    cmocka_unit_test(test_replayed),
        cmocka_unit_test(test_random),        cmocka_unit_test(test_amplification),
        cmocka_unit_test(test_moves),         cmocka_unit_test(test_does_not_move),
        cmocka_unit_test(test_broken_inside), cmocka_unit_test(test_call_flood),
        cmocka_unit_test(test_new_keys),      cmocka_unit_test(test_half_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
