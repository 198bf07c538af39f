/* two sides of a connection with a stranger, or a member, in the middle: whatever happens to the packets, messages come whole, once
 * and in order, no state comes twice, nothing breaks
 *
 * The input is a list of orders of a byte each, with their values behind them: what the sides do, what happens to packets, what
 * is invented, and how much time passes. Orders that use the keys of a member try what stands behind the seal; after the first
 * of them connections may close with a reason, but still nothing may break. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "feeler/sim.h"
#include "net/net_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { FUZZ_CONNECTIONS_SIDES = 2, FUZZ_CONNECTIONS_RECORDED = 64 };

typedef struct fuzz_connections_side {
    flr_connections *connections;
    uint32_t connection; /* that is open; 0: none */
    uint64_t sent, got;  /* messages on this connection */
    uint64_t highest;    /* number of a state */
    uint64_t seen[64];   /* the last of them */
    uint32_t seen_count;
} fuzz_connections_side;

typedef struct packet {
    int way;
    size_t size;
    uint8_t bytes[FLR_PACKET_MAX_SIZE];
} packet;

static flr_sim *sim;
static flr_env *middle;
static flr_socket *doors
    [FUZZ_CONNECTIONS_SIDES]; /* where each side finds the other: its packets come in there, and answers go out */
static fuzz_connections_side sides[FUZZ_CONNECTIONS_SIDES];
static packet record[FUZZ_CONNECTIONS_RECORDED];
static uint32_t recorded;
static uint32_t drop, twice, hold;
static bool edit, insider;
static uint16_t edit_at;
static uint8_t edit_with;
static const uint8_t *input, *input_end;

static uint8_t take(void) { return input < input_end ? *input++ : 0; }

static flr_address address_of(int which, uint16_t port)
{
    return (flr_address){.family = 4, .ip = {10, 0, 0, (uint8_t)(which + 1)}, .port = port};
}

/* ---- the sides ---- */

static size_t message_size(uint64_t index) { return (size_t)(index * 2654435761u % 3000); }

static void check_message(fuzz_connections_side *me, const flr_connections_event *event)
{
    if (insider) return;
    if (event->size != message_size(me->got)) abort();
    for (size_t i = 0; i < event->size; i++) {
        if (event->bytes[i] != (uint8_t)(me->got + i)) abort();
    }
    me->got++;
}

static void check_state(fuzz_connections_side *me, const flr_connections_event *event)
{
    for (uint32_t i = 0; i < 64 && i < me->seen_count; i++) {
        if (me->seen[i] == event->number) abort();
    }
    me->seen[me->seen_count++ % 64] = event->number;
    if (event->late != (event->number < me->highest)) abort();
    if (!event->late) me->highest = event->number;
}

static int64_t step_side(void *context, flr_env *env)
{
    (void)env;
    fuzz_connections_side *me = context;
    flr_connections_event event;
    while (flr_connections_next(me->connections, &event)) {
        if (!event.bytes || !event.why) abort();
        switch (event.kind) {
        case FLR_CONNECTIONS_OPEN:
            if (me->connection) abort(); // one after the other, never two
            me->connection = event.connection;
            me->sent = me->got = me->highest = me->seen_count = 0;
            break;
        case FLR_CONNECTIONS_CLOSED:
            if (event.connection != me->connection) abort();
            if (event.cause == FLR_CONNECTIONS_BROKEN && !insider) abort();
            me->connection = 0;
            break;
        case FLR_CONNECTIONS_REFUSED:
            break;
        case FLR_CONNECTIONS_GOT_STATE:
        case FLR_CONNECTIONS_GOT_MESSAGE:
            if (event.connection != me->connection) abort();
            if (event.kind == FLR_CONNECTIONS_GOT_STATE)
                check_state(me, &event);
            else
                check_message(me, &event);
        }
    }
    return flr_connections_service(me->connections);
}

static void send_message(fuzz_connections_side *me)
{
    static uint8_t content[3000];
    size_t size = message_size(me->sent);
    for (size_t i = 0; i < size; i++) content[i] = (uint8_t)(me->sent + i);
    if (me->connection &&
        flr_connections_send(me->connections, me->connection, content, size) == FLR_OK)
        me->sent++;
}

/* ---- the middle ---- */

/* to the side that `way` leads to, as if from the other */
static void pass(int way, const uint8_t *bytes, size_t size)
{
    flr_udp_send(doors[way], address_of(way, 7000), bytes, size, NULL);
}

static int64_t step_middle(void *context, flr_env *env)
{
    (void)context, (void)env;
    packet p;
    for (int from = 0; from < FUZZ_CONNECTIONS_SIDES; from++) {
        flr_address sender;
        p.way = 1 - from;
        while (flr_udp_receive(doors[from], &sender, p.bytes, sizeof p.bytes, &p.size, NULL) ==
               FLR_OK) {
            record[recorded++ % FUZZ_CONNECTIONS_RECORDED] = p;
            if (drop > 0) {
                drop--;
                continue;
            }
            if (edit && p.size > 0) {
                p.bytes[edit_at % p.size] ^= edit_with;
                edit = false;
            }
            if (hold > 0)
                hold--; // it may come later, by an order to repeat it
            else
                pass(p.way, p.bytes, p.size);
            if (twice > 0) {
                twice--;
                pass(p.way, p.bytes, p.size);
            }
        }
    }
    return INT64_MAX;
}

/* ---- orders ---- */

static void run(int64_t milliseconds)
{
    for (int i = 0; i < FUZZ_CONNECTIONS_SIDES; i++)
        flr_sim_set_program(flr_sim_node(sim, address_of(i, 0)), step_side, &sides[i]);
    flr_sim_run(sim, flr_sim_now(sim) + milliseconds * FLR_SIM_MS);
}

/* a packet with a right head and anything else */
static void invent(void)
{
    packet p = {.way = take() % 2, .size = (size_t)(take() * 5)};
    if (p.size < FLR_PACKET_HEAD) p.size = FLR_PACKET_HEAD;
    if (p.size > sizeof p.bytes) p.size = sizeof p.bytes;
    for (size_t i = 0; i < p.size; i++) p.bytes[i] = i < 64 ? take() : (uint8_t)i;
    const flr_connection *connection = &sides[p.way].connections->table[take() % 2];
    flr_packet_head(p.bytes, (flr_packet_kind)(FLR_PACKET_HELLO + take() % 4), connection->id,
                    take());
    pass(p.way, p.bytes, p.size);
}

/* a frame of any kind, rightly sealed */
static void insider_frame(void)
{
    uint8_t content[256];
    fuzz_connections_side *me = &sides[take() % 2];
    int type = take() % 10;
    size_t size = take();
    for (size_t i = 0; i < size; i++) content[i] = take();
    if (!me->connection) return;
    for (uint32_t i = 0; i < me->connections->count; i++) {
        flr_connection *connection = &me->connections->table[i];
        if (connection->stage != FLR_CONNECTION_OPEN) continue;
        insider = true;
        flr_packet_send(me->connections, connection, (flr_packet_part)type, content, size,
                        flr_clock_ns(me->connections->env));
        return;
    }
}

/* a call with any content, rightly sealed, with or without a right cookie */
static void insider_call(void)
{
    int way = take() % 2;
    flr_connections *connections = sides[way].connections;
    uint8_t packet[FLR_HELLO_SIZE], plain[FLR_HELLO_PLAIN] = {0};
    uint8_t with = take(), key = take();
    memset(plain, key, FLR_SEAL_KEY);
    flr_put_u64(plain + FLR_SEAL_KEY, with & 2 ? connections->self : take());
    if (with & 1)
        flr_seal_make_cookie(connections->secret, flr_socket_local(doors[way]), plain,
                             flr_clock_ns(connections->env), plain + FLR_SEAL_KEY + 12);
    flr_put_u16(plain + FLR_SEAL_KEY + 12 + FLR_SEAL_COOKIE, (uint16_t)(take() * 3));
    flr_packet_head(packet, FLR_PACKET_HELLO, 0, 0);
    flr_seal_close(connections->env, connections->token.hello, packet, FLR_PACKET_HEAD, plain,
                   sizeof plain, packet + FLR_PACKET_HEAD);
    pass(way, packet, sizeof packet);
}

static void obey(uint8_t order)
{
    fuzz_connections_side *me = &sides[order >> 4 & 1];
    static const uint8_t content[FLR_CONNECTIONS_STATE];
    switch (order & 15) {
    case 0:
        run(take());
        break;
    case 1:
        if (me->connection)
            flr_connections_state(me->connections, me->connection, content, (size_t)take() * 4);
        break;
    case 2:
        send_message(me);
        break;
    case 3:
        drop = take() % 16;
        break;
    case 4:
        twice = take() % 16;
        break;
    case 5:
        edit = true;
        edit_at = (uint16_t)(take() << 3 | (order >> 5));
        edit_with = take();
        break;
    case 6:
        hold = take() % 16;
        break;
    case 7: {
        // only of this run: the keys of the next one are the same
        uint32_t index = take();
        if (recorded == 0) break;
        const packet *p =
            &record[index %
                    (recorded < FUZZ_CONNECTIONS_RECORDED ? recorded : FUZZ_CONNECTIONS_RECORDED)];
        pass(order & 16 ? p->way : 1 - p->way, p->bytes, p->size);
        break;
    }
    case 8:
        invent();
        break;
    case 9:
        flr_connections_connect(me->connections, flr_socket_local(doors[me - sides]), content,
                                take());
        break;
    case 10:
        if (me->connection) flr_connections_close(me->connections, me->connection, "enough");
        me->connection = 0;
        break;
    case 11:
        run(100 * (int64_t)take());
        break;
    case 12:
        insider_frame();
        break;
    case 13:
        insider_call();
        break;
    case 14:
        flr_sim_set_group(middle, take() & 1);
        break;
    case 15:
        for (int i = take() % 32; i > 0; i--) send_message(me);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    flr_sim_def def = flr_default_sim_def();
    def.network.delay_ns = FLR_SIM_MS;
    sim = flr_sim_create(&def);
    middle = flr_sim_node(sim, address_of(9, 0));
    recorded = drop = twice = hold = 0;
    edit = insider = false;
    for (int i = 0; i < FUZZ_CONNECTIONS_SIDES; i++) {
        flr_connections_def connections = flr_default_connections_def();
        connections.env = flr_sim_node(sim, address_of(i, 0));
        connections.local = address_of(i, 7000);
        connections.token = "0123456789abcdef0123456789abcdef";
        connections.most = 4;
        connections.queue = 2 * (size_t)FLR_CONNECTIONS_MESSAGE;
        sides[i] = (fuzz_connections_side){.connection = 0};
        if (flr_connections_create(&connections, &sides[i].connections, NULL) != FLR_OK ||
            flr_udp_open(middle, address_of(9, (uint16_t)(7000 + i)), &doors[i], NULL) != FLR_OK)
            abort();
    }
    flr_sim_set_program(middle, step_middle, NULL);
    flr_connections_connect(sides[0].connections, flr_socket_local(doors[0]), "a", 1);
    run(5);
    input = bytes, input_end = bytes + size;
    for (int i = 0; i < 400 && input < input_end; i++) obey(take());
    // in peace, what was sent comes
    flr_sim_heal(sim);
    drop = hold = twice = 0, edit = false;
    run(500);
    uint64_t wanted[FUZZ_CONNECTIONS_SIDES] = {sides[1].sent, sides[0].sent};
    uint32_t open[FUZZ_CONNECTIONS_SIDES] = {sides[0].connection, sides[1].connection};
    run(4000);
    for (int i = 0; i < FUZZ_CONNECTIONS_SIDES && !insider; i++) {
        if (open[0] && open[1] && sides[0].connection == open[0] &&
            sides[1].connection == open[1] && sides[i].got != wanted[i])
            abort();
    }
    for (int i = 0; i < FUZZ_CONNECTIONS_SIDES; i++) {
        flr_connections_destroy(sides[i].connections);
        flr_socket_close(doors[i]);
    }
    flr_sim_destroy(sim);
    return 0;
}
