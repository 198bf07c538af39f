/* three members of a shared session, and a fourth who knows the token and says anything: nothing breaks, never two own a part in
 * one epoch among those who are honest, and rolls that are taken over are in order
 *
 * The input is a list of orders of a byte each, with their values behind them. The stranger's messages go through the encoder,
 * so that they get past the decoder's checks of form; a second kind are bytes as they are. */
#include <stdlib.h>
#include <string.h>

#include "feeler/sim.h"
#include "peer/party_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { HONEST = 3, PARTS = 4 };
/* of a line: the usual 1 MiB each way for twelve ends is what a run would spend its time on, clearing pages */
enum { QUEUE = 2 * FLR_LINES_MESSAGE };

static flr_sim *sim;
static flr_party *parties[HONEST];
static flr_lines *liar;
static uint32_t lines[HONEST]; /* the liar's, to each */
static bool open_lines[HONEST];
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

static void check_roll(const flr_roll *roll)
{
    if (roll->member_count > FLR_PARTY_MEMBERS || roll->part_count > FLR_PARTY_PARTS) abort();
    for (uint32_t i = 0; i < roll->part_count; i++) {
        const flr_roll_part *p = &roll->parts[i];
        if (p->holder_count > FLR_PARTY_HOLDERS || p->unsettled_count > FLR_PARTY_MEMBERS) abort();
        if (p->holder_count && (p->rest || p->frozen)) abort();
        if (i && p->part <= roll->parts[i - 1].part) abort();
    }
}

static int64_t step(void *context, flr_env *env)
{
    flr_party *p = context;
    flr_party_event event;
    while (flr_party_next(p, &event)) {
        if (event.kind == FLR_PARTY_IN) flr_party_ready(p, true);
        if (event.kind == FLR_PARTY_STATE && !event.state) abort();
        if (event.kind == FLR_PARTY_MESSAGE && !event.message) abort();
    }
    check_roll(flr_party_roll(p));
    flr_party_person person;
    for (uint32_t i = 0; flr_party_person_at(p, i, &person); i++)
        if (!memchr(person.name, 0, sizeof person.name)) abort();
    return soon(env, flr_party_service(p));
}

static int64_t step_liar(void *context, flr_env *env)
{
    (void)context;
    flr_lines_event event;
    while (flr_lines_next(liar, &event))
        for (int i = 0; i < HONEST; i++) {
            if (event.line != lines[i]) continue;
            if (event.kind == FLR_LINES_OPEN) open_lines[i] = true;
            if (event.kind == FLR_LINES_CLOSED) open_lines[i] = false;
        }
    return soon(env, flr_lines_service(liar));
}

static void run(int64_t milliseconds)
{
    flr_sim_run(sim, flr_sim_now(sim) + milliseconds * FLR_SIM_MS);
    for (uint32_t part = 0; part < PARTS && !lied; part++)
        for (int i = 0; i < HONEST; i++)
            for (int k = 0; k < i; k++)
                if (flr_party_owns(parties[i], part) && flr_party_owns(parties[k], part) &&
                    flr_epoch_compare(flr_party_epoch(parties[i]), flr_party_epoch(parties[k])) ==
                        0)
                    abort();
}

/* ---- lies ---- */

static flr_wire_peer_place places[32];
static flr_wire_peer_pair pairs[2][64];
static flr_wire_peer_entry entries[32];
static flr_wire_peer_deed deeds[32];
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

static void lie_roll(flr_message *m, const flr_roll *roll)
{
    m->id = FLR_MSG_PEER_ROLL;
    flr_msg_peer_roll *r = &m->as.peer_roll;
    *r = (flr_msg_peer_roll){.session = parties[0]->session,
                             .count = roll->epoch.count + take() % 3,
                             .leader = (uint16_t)(take() % 6),
                             .number = roll->number + take_number(),
                             .bits = take(),
                             .members = entries,
                             .parts = places,
                             .holders = pairs[0],
                             .unsettled = pairs[1]};
    r->members_count = take() % 8;
    for (uint32_t i = 0; i < r->members_count; i++) {
        uint64_t nonce = i < HONEST ? parties[i]->nonce : take();
        entries[i] = (flr_wire_peer_entry){
            .member = (uint16_t)(i + 1), .bits = take() & 3, .seen = take(), .nonce = nonce};
    }
    r->parts_count = fill_places(8);
    r->holders_count = take() % 8, r->unsettled_count = take() % 8;
    for (uint32_t list = 0; list < 2; list++)
        for (uint32_t i = 0; i < 8; i++)
            pairs[list][i] = (flr_wire_peer_pair){.part = take() % 8, .member = take() % 8};
}

static void lie_claim(flr_message *m, const flr_roll *roll)
{
    m->id = FLR_MSG_PEER_CLAIM;
    flr_msg_peer_claim *c = &m->as.peer_claim;
    *c = (flr_msg_peer_claim){.session = parties[0]->session,
                              .member = take() % 6,
                              .count = roll->epoch.count + take() % 3,
                              .leader = take() % 6,
                              .number = take_number(),
                              .heard = take_number(),
                              .bits = take(),
                              .delay = take() == 3 ? 1e38f : 0.1f,
                              .serial = take_number(),
                              .deeds = deeds,
                              .settled = settled};
    c->deeds_count = take() % 32, c->settled_count = take() % 16;
    for (uint32_t i = 0; i < c->deeds_count; i++)
        deeds[i] = (flr_wire_peer_deed){.part = take_number(),
                                        .serial = take_number(),
                                        .bits = take(),
                                        .T_world_part = take_pose()};
    for (uint32_t i = 0; i < c->settled_count; i++)
        settled[i] = (flr_wire_peer_settled){take() % 8, roll->number - take() % 4};
}

static void lie_state(flr_message *m)
{
    static uint16_t via[32];
    m->id = FLR_MSG_PEER_STATE;
    flr_msg_peer_state *s = &m->as.peer_state;
    *s = (flr_msg_peer_state){.session = parties[0]->session,
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
    const flr_roll *roll = flr_party_roll(parties[to]);
    uint32_t words[4] = {0};
    switch (take() % 7) {
    case 0:
        m.as.peer_join = (flr_msg_peer_join){.session = parties[0]->session,
                                             .nonce = take() % 4 ? 77 : parties[to]->nonce,
                                             .member = take(),
                                             .role = take() % 2,
                                             .name = flr_wire_text_of("liar"),
                                             .scene = words,
                                             .scene_count = take() % 2 * 4u};
        break;
    case 1:
        m.id = FLR_MSG_PEER_WELCOME;
        m.as.peer_welcome = (flr_msg_peer_welcome){.session = parties[0]->session,
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
                                             .nonce = take() % 4 ? take() : parties[to]->nonce,
                                             .name = flr_wire_text_of("liar"),
                                             .address = flr_wire_text_of("10.0.0.2:7000")};
        break;
    case 4:
        lie_roll(&m, roll);
        break;
    case 5:
        lie_claim(&m, roll);
        break;
    default:
        lie_state(&m);
    }
    uint8_t frame[4096];
    size_t size;
    if (flr_protocol_encode(&m, FLR_PROTOCOL_MINOR, frame, sizeof frame, &size, NULL) != FLR_OK)
        return;
    if (take() % 8 == 0) frame[take() % size] ^= take();
    if (size > FLR_LINES_STATE || (m.id != FLR_MSG_PEER_STATE && take() % 2))
        (void)flr_lines_send(liar, lines[to], frame, size);
    else
        (void)flr_lines_state(liar, lines[to], frame, size);
    lied = true;
}

/* ---- orders ---- */

static void obey(uint8_t order)
{
    int who = (order >> 4) % HONEST;
    uint32_t part = take() % PARTS;
    switch (order & 7) {
    case 0:
        run(take());
        break;
    case 1:
        flr_party_hold(parties[who], part);
        break;
    case 2:
        flr_party_release(parties[who], part, take_pose());
        break;
    case 3:
        flr_party_settle(parties[who], part, flr_party_roll(parties[who])->number);
        break;
    case 4:
        if (open_lines[who]) lie(who);
        break;
    case 5:
        flr_sim_set_group(flr_sim_node(sim, address_of(who)), take() & 1);
        break;
    case 6:
        run(20 * (int64_t)(take() % 64));
        break;
    default:
        if (take() & 1) flr_sim_heal(sim);
        if (!open_lines[who]) lines[who] = flr_lines_call(liar, address_of(who), "12345678", 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = FLR_SIM_MS;
    sim = flr_sim_create(&def);
    lied = false;
    for (int i = 0; i < HONEST; i++) {
        flr_party_def party = flr_default_party_def();
        party.env = flr_sim_node(sim, address_of(i));
        party.local = address_of(i);
        party.token = "0123456789abcdef0123456789abcdef";
        party.lines.queue = QUEUE;
        if (flr_party_create(&party, &parties[i], NULL) != FLR_OK) abort();
        flr_sim_set_program(party.env, step, parties[i]);
    }
    flr_party_lead(parties[0]);
    flr_lines_def line = flr_default_lines_def();
    line.env = flr_sim_node(sim, address_of(9));
    line.local = address_of(9);
    line.token = "0123456789abcdef0123456789abcdef";
    line.queue = QUEUE;
    if (flr_lines_create(&line, &liar, NULL) != FLR_OK) abort();
    flr_sim_set_program(line.env, step_liar, NULL);
    run(20);
    uint64_t nonce = 77;
    for (int i = 0; i < HONEST; i++) {
        if (i) flr_party_join(parties[i], address_of(0));
        open_lines[i] = false;
        lines[i] = flr_lines_call(liar, address_of(i), &nonce, sizeof nonce);
        run(40);
    }
    if (flr_party_count(parties[0]) != HONEST) abort();
    input = bytes, input_end = bytes + size;
    for (int i = 0; i < 60 && input < input_end; i++) obey(take());
    run(500);
    for (int i = 0; i < HONEST; i++) flr_party_destroy(parties[i]);
    flr_lines_destroy(liar);
    flr_sim_destroy(sim);
    return 0;
}
