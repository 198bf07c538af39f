/* three members of a shared session, and a fourth who knows the token and says anything: nothing breaks, never two own a part in
 * one epoch among those who are honest, and memberships that are taken over are in order
 *
 * The input is a list of orders of a byte each, with their values behind them. The stranger's messages go through the encoder,
 * so that they get past the decoder's checks of form; a second kind are bytes as they are. */
#include <stdlib.h>
#include <string.h>

#include "feeler/sim.h"
#include "session/session_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { HONEST = 3, FUZZ_SESSION_PARTS = 4 };
/* of a connection: the usual 1 MiB each way for twelve ends is what a run would spend its time on, clearing pages */
enum { QUEUE = 2 * FLR_CONNECTIONS_MESSAGE };

static flr_sim *sim;
static flr_session *sessions[HONEST];
static flr_connections *liar;
static uint32_t connections[HONEST]; /* the liar's, to each */
static bool open_connections[HONEST];
static const uint8_t *input, *input_end;
static bool lied;

static uint8_t take(void) { return input < input_end ? *input++ : 0; }
static uint32_t take_number(void)
{
    uint8_t byte = take();
    return byte == 255 ? UINT32_MAX : byte == 254 ? (uint32_t)take() << 8 : byte;
}

static flr_address address_of(int which)
{
    return (flr_address){.family = 4, .ip = {10, 0, 0, (uint8_t)(which + 1)}, .port = 7000};
}

static flr_pose take_pose(void)
{
    flr_pose pose = flr_pose_identity();
    pose.p = flr_vec3_make(take() * 1e-3, take() == 7 ? 1e300 : 0, 0);
    return pose;
}

/* Somebody may do something meanwhile, of which a side does not know when it says when to be called. */
static int64_t soon(flr_env *env, int64_t wake)
{
    int64_t latest = flr_clock_ns(env) + 20 * FLR_SIM_MS;
    return wake < latest ? wake : latest;
}

/* ---- members ---- */

static void check_roll(const flr_membership *membership)
{
    if (membership->member_count > FLR_SESSION_MEMBERS ||
        membership->part_count > FLR_SESSION_PARTS)
        abort();
    for (uint32_t i = 0; i < membership->part_count; i++) {
        const flr_membership_part *p = &membership->parts[i];
        if (p->holder_count > FLR_SESSION_HOLDERS || p->unsettled_count > FLR_SESSION_MEMBERS)
            abort();
        if (p->holder_count && (p->rest || p->frozen)) abort();
        if (i && p->part <= membership->parts[i - 1].part) abort();
    }
}

static int64_t step(void *context, flr_env *env)
{
    flr_session *p = context;
    flr_session_event event;
    while (flr_session_next(p, &event)) {
        if (event.kind == FLR_SESSION_IN) flr_session_ready(p, true);
        if (event.kind == FLR_SESSION_STATE && !event.state) abort();
        if (event.kind == FLR_SESSION_MESSAGE && !event.message) abort();
    }
    check_roll(flr_session_membership(p));
    flr_session_person person;
    for (uint32_t i = 0; flr_session_person_at(p, i, &person); i++)
        if (!memchr(person.name, 0, sizeof person.name)) abort();
    return soon(env, flr_session_service(p));
}

static int64_t step_liar(void *context, flr_env *env)
{
    (void)context;
    flr_connections_event event;
    while (flr_connections_next(liar, &event))
        for (int i = 0; i < HONEST; i++) {
            if (event.connection != connections[i]) continue;
            if (event.kind == FLR_CONNECTIONS_OPEN) open_connections[i] = true;
            if (event.kind == FLR_CONNECTIONS_CLOSED) open_connections[i] = false;
        }
    return soon(env, flr_connections_service(liar));
}

static void run(int64_t milliseconds)
{
    flr_sim_run(sim, flr_sim_now(sim) + milliseconds * FLR_SIM_MS);
    for (uint32_t part = 0; part < FUZZ_SESSION_PARTS && !lied; part++)
        for (int i = 0; i < HONEST; i++)
            for (int k = 0; k < i; k++)
                if (flr_session_owns(sessions[i], part) && flr_session_owns(sessions[k], part) &&
                    flr_epoch_compare(flr_session_epoch(sessions[i]),
                                      flr_session_epoch(sessions[k])) == 0)
                    abort();
}

/* ---- lies ---- */

static flr_wire_peer_place places[32];
static flr_wire_peer_pair pairs[2][64];
static flr_wire_peer_entry entries[32];
static flr_wire_peer_command commands[32];
static flr_wire_peer_settled settled[16];
static flr_wire_peer_hand hands[8];
static flr_wire_peer_part parts[8];
static flr_wire_peer_energy energies[8];

static uint32_t fill_places(uint32_t most)
{
    uint32_t count = take() % most;
    for (uint32_t i = 0; i < count; i++)
        places[i] = (flr_wire_peer_place){.part = i + take() % 3,
                                          .bits = take(),
                                          .number = take(),
                                          .member = take() % 5,
                                          .T_world_part = take_pose()};
    return count;
}

static void lie_roll(flr_message *m, const flr_membership *membership)
{
    m->id = FLR_MSG_PEER_MEMBERSHIP;
    flr_msg_peer_membership *r = &m->as.peer_membership;
    *r = (flr_msg_peer_membership){.session = sessions[0]->session,
                                   .count = membership->epoch.count + take() % 3,
                                   .leader = (uint16_t)(take() % 6),
                                   .number = membership->number + take_number(),
                                   .bits = take(),
                                   .members = entries,
                                   .parts = places,
                                   .holders = pairs[0],
                                   .unsettled = pairs[1]};
    r->members_count = take() % 8;
    for (uint32_t i = 0; i < r->members_count; i++) {
        uint64_t nonce = i < HONEST ? sessions[i]->nonce : take();
        entries[i] = (flr_wire_peer_entry){
            .member = (uint16_t)(i + 1), .bits = take() & 3, .seen = take(), .nonce = nonce};
    }
    r->parts_count = fill_places(8);
    r->holders_count = take() % 8, r->unsettled_count = take() % 8;
    for (uint32_t list = 0; list < 2; list++)
        for (uint32_t i = 0; i < 8; i++)
            pairs[list][i] = (flr_wire_peer_pair){.part = take() % 8, .member = take() % 8};
}

static void lie_claim(flr_message *m, const flr_membership *membership)
{
    m->id = FLR_MSG_PEER_CLAIM;
    flr_msg_peer_claim *c = &m->as.peer_claim;
    *c = (flr_msg_peer_claim){.session = sessions[0]->session,
                              .member = take() % 6,
                              .count = membership->epoch.count + take() % 3,
                              .leader = take() % 6,
                              .number = take_number(),
                              .heard = take_number(),
                              .bits = take(),
                              .delay = take() == 3 ? 1e38f : 0.1f,
                              .serial = take_number(),
                              .commands = commands,
                              .settled = settled};
    c->commands_count = take() % 32, c->settled_count = take() % 16;
    for (uint32_t i = 0; i < c->commands_count; i++)
        commands[i] = (flr_wire_peer_command){.part = take_number(),
                                              .serial = take_number(),
                                              .bits = take(),
                                              .T_world_part = take_pose()};
    for (uint32_t i = 0; i < c->settled_count; i++)
        settled[i] = (flr_wire_peer_settled){take() % 8, membership->number - take() % 4};
}

static void lie_state(flr_message *m)
{
    static uint16_t via[32];
    m->id = FLR_MSG_PEER_STATE;
    flr_msg_peer_state *s = &m->as.peer_state;
    *s = (flr_msg_peer_state){.session = sessions[0]->session,
                              .time = (uint64_t)take() << (take() % 45),
                              .member = take() % 6,
                              .count = take(),
                              .delay = take() == 3 ? -1e38f : 1e38f,
                              .hands = hands,
                              .hands_count = take() % 8,
                              .parts = parts,
                              .parts_count = take() % 8,
                              .energies = energies,
                              .energies_count = take() % 8,
                              .via = via,
                              .via_count = take() % 32};
    for (uint32_t i = 0; i < 32; i++) via[i] = (uint16_t)(i % 6);
    for (uint32_t i = 0; i < 8; i++) {
        hands[i] = (flr_wire_peer_hand){.hand = i, .T_world_hand = take_pose()};
        parts[i] = (flr_wire_peer_part){.part = take_number(), .T_world_part = take_pose()};
        energies[i] = (flr_wire_peer_energy){.part = take_number(), .member = 1, .put = 1e308};
    }
}

static void lie(int to)
{
    flr_message m = {.id = FLR_MSG_PEER_JOIN};
    const flr_membership *membership = flr_session_membership(sessions[to]);
    uint32_t words[4] = {0};
    switch (take() % 7) {
    case 0:
        m.as.peer_join = (flr_msg_peer_join){.session = sessions[0]->session,
                                             .nonce = take() % 4 ? 77 : sessions[to]->nonce,
                                             .member = take(),
                                             .role = take() % 2,
                                             .name = flr_wire_text_of("liar"),
                                             .scene = words,
                                             .scene_count = take() % 2 * 4u};
        break;
    case 1:
        m.id = FLR_MSG_PEER_WELCOME;
        m.as.peer_welcome = (flr_msg_peer_welcome){.session = sessions[0]->session,
                                                   .member = take() % 6,
                                                   .count = take(),
                                                   .leader = take() % 6,
                                                   .number = take_number(),
                                                   .places = places,
                                                   .places_count = fill_places(32)};
        break;
    case 2:
        m.id = FLR_MSG_PEER_REFUSED;
        m.as.peer_refused = (flr_msg_peer_refused){.code = take() % 4,
                                                   .address = flr_wire_text_of("10.0.0.9:7000"),
                                                   .sentence = flr_wire_text_of("no")};
        break;
    case 3:
        m.id = FLR_MSG_PEER_CARD;
        m.as.peer_card = (flr_msg_peer_card){.member = (uint16_t)take_number(),
                                             .nonce = take() % 4 ? take() : sessions[to]->nonce,
                                             .name = flr_wire_text_of("liar"),
                                             .address = flr_wire_text_of("10.0.0.2:7000")};
        break;
    case 4:
        lie_roll(&m, membership);
        break;
    case 5:
        lie_claim(&m, membership);
        break;
    default:
        lie_state(&m);
    }
    uint8_t frame[4096];
    size_t size;
    if (flr_protocol_encode(&m, FLR_PROTOCOL_MINOR, frame, sizeof frame, &size, NULL) != FLR_OK)
        return;
    if (take() % 8 == 0) frame[take() % size] ^= take();
    if (size > FLR_CONNECTIONS_STATE || (m.id != FLR_MSG_PEER_STATE && take() % 2))
        (void)flr_connections_send(liar, connections[to], frame, size);
    else
        (void)flr_connections_state(liar, connections[to], frame, size);
    lied = true;
}

/* ---- orders ---- */

static void obey(uint8_t order)
{
    int who = (order >> 4) % HONEST;
    uint32_t part = take() % FUZZ_SESSION_PARTS;
    switch (order & 7) {
    case 0:
        run(take());
        break;
    case 1:
        flr_session_hold(sessions[who], part);
        break;
    case 2:
        flr_session_release(sessions[who], part, take_pose());
        break;
    case 3:
        flr_session_settle(sessions[who], part, flr_session_membership(sessions[who])->number);
        break;
    case 4:
        if (open_connections[who]) lie(who);
        break;
    case 5:
        flr_sim_set_group(flr_sim_node(sim, address_of(who)), take() & 1);
        break;
    case 6:
        run(20 * (int64_t)(take() % 64));
        break;
    default:
        if (take() & 1) flr_sim_heal(sim);
        if (!open_connections[who])
            connections[who] = flr_connections_connect(liar, address_of(who), "12345678", 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = FLR_SIM_MS;
    sim = flr_sim_create(&def);
    lied = false;
    for (int i = 0; i < HONEST; i++) {
        flr_session_def session = flr_default_session_def();
        session.env = flr_sim_node(sim, address_of(i));
        session.local = address_of(i);
        session.token = "0123456789abcdef0123456789abcdef";
        session.connections.queue = QUEUE;
        if (flr_session_create(&session, &sessions[i], NULL) != FLR_OK) abort();
        flr_sim_set_program(session.env, step, sessions[i]);
    }
    flr_session_lead(sessions[0]);
    flr_connections_def connection = flr_default_connections_def();
    connection.env = flr_sim_node(sim, address_of(9));
    connection.local = address_of(9);
    connection.token = "0123456789abcdef0123456789abcdef";
    connection.queue = QUEUE;
    if (flr_connections_create(&connection, &liar, NULL) != FLR_OK) abort();
    flr_sim_set_program(connection.env, step_liar, NULL);
    run(20);
    uint64_t nonce = 77;
    for (int i = 0; i < HONEST; i++) {
        if (i) flr_session_join(sessions[i], address_of(0));
        open_connections[i] = false;
        connections[i] = flr_connections_connect(liar, address_of(i), &nonce, sizeof nonce);
        run(40);
    }
    if (flr_session_count(sessions[0]) != HONEST) abort();
    input = bytes, input_end = bytes + size;
    for (int i = 0; i < 60 && input < input_end; i++) obey(take());
    run(500);
    for (int i = 0; i < HONEST; i++) flr_session_destroy(sessions[i]);
    flr_connections_destroy(liar);
    flr_sim_destroy(sim);
    return 0;
}
