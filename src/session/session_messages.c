/* connections and messages of a session: which members are connected to, what is sent when, what came */
#include <string.h>

#include "session/session_internal.h"

bool flr_session_push(flr_session *p, uint32_t connection, const flr_message *message, bool certain)
{
    size_t size;
    if (flr_protocol_encode(message, FLR_PROTOCOL_MINOR, p->frame, sizeof p->frame, &size, NULL) !=
        FLR_OK)
        return false;
    flr_result result = certain || size > FLR_CONNECTIONS_STATE
                            ? flr_connections_send(p->connections, connection, p->frame, size)
                            : flr_connections_state(p->connections, connection, p->frame, size);
    return result == FLR_OK;
}

void flr_session_send_membership(flr_session *p, flr_peer *peer, int64_t now)
{
    if (!peer->connection || now < peer->roll_ns) return;
    flr_message m = {.id = FLR_MSG_PEER_MEMBERSHIP};
    flr_membership_write(&p->membership, p->session, &p->roll_room, &m.as.peer_membership);
    flr_session_push(p, peer->connection, &m, false);
    // a large one goes as a message, which arrives for certain, later
    peer->roll_ns = now + (m.as.peer_membership.parts_count > 6 ? 500 : 100) * FLR_SESSION_MS;
}

/* As much of what this side does as fits one packet; the rest comes when this is known. */
static void send_claim(flr_session *p, int64_t now)
{
    enum { COMMANDS = 10, SETTLED = 16 };
    flr_wire_peer_command commands[COMMANDS];
    uint32_t count = 0;
    // the oldest that are not known yet must not wait behind what is held for long
    const flr_membership_member *self = flr_membership_member_find(&p->membership, p->self);
    uint32_t seen = self ? self->seen : 0, serial = p->serial;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < p->command_count; i++) {
            const flr_session_command *d = &p->commands[i];
            if ((d->serial > seen) != (pass == 0)) continue;
            if (count == COMMANDS) {
                // what is left out is not yet said, nor anything after it
                if (pass == 0 && d->serial <= serial) serial = d->serial - 1;
                continue;
            }
            commands[count++] = (flr_wire_peer_command){.part = d->part,
                                                        .serial = d->serial,
                                                        .bits = d->holds ? FLR_WIRE_PEER_HOLDS : 0,
                                                        .T_world_part = d->T_world_part};
        }
    const flr_peer *leader = flr_session_peer(p, p->membership.epoch.leader);
    flr_connections_info info;
    bool hears = leader && leader->connection &&
                 flr_connections_get(p->connections, leader->connection, &info);
    int64_t heard = flr_session_hosts(p) ? 0
                    : hears              ? now - info.heard_ns
                                         : now - p->leader_lost_ns + 3 * FLR_SESSION_S;
    flr_message m = {.id = FLR_MSG_PEER_CLAIM};
    m.as.peer_claim = (flr_msg_peer_claim){
        .session = p->session,
        .member = p->self,
        .count = p->membership.epoch.count,
        .leader = p->membership.epoch.leader,
        .number = p->membership.number,
        .heard = (uint32_t)(heard / FLR_SESSION_MS),
        .bits = (p->ready ? FLR_WIRE_PEER_READY : 0u) |
                (count < p->command_count ? FLR_WIRE_PEER_MORE : 0u),
        .delay = hears ? (float)(info.rtt / 2) : 0,
        .serial = serial,
        .commands = commands,
        .commands_count = count,
        .settled = p->settled,
        .settled_count = p->settled_count < SETTLED ? p->settled_count : SETTLED};
    for (uint32_t i = 0; i < p->peer_count; i++)
        if (p->peers[i].connection) flr_session_push(p, p->peers[i].connection, &m, false);
}

/* Memberships to those who do not have it. Who does not lead sends one only where the leader cannot, or to who is of another epoch. */
static void send_rolls(flr_session *p, int64_t now)
{
    const flr_peer *leader = flr_session_peer(p, p->membership.epoch.leader);
    bool alone = !flr_session_hosts(p) && !(leader && leader->connection);
    for (uint32_t i = 0; i < p->peer_count; i++) {
        flr_peer *peer = &p->peers[i];
        if (peer->member == p->self || !peer->connection) continue;
        int epoch = peer->claim_ns ? flr_epoch_compare(peer->epoch, p->membership.epoch) : -1;
        bool behind = epoch < 0 || (epoch == 0 && peer->number < p->membership.number);
        bool mine = flr_session_hosts(p) || alone || (peer->claim_ns && epoch < 0);
        if (behind && mine) flr_session_send_membership(p, peer, now);
    }
}

/* Is somebody at this address whom a connection leads to? Then who was there before is not, and a handshake would only put another connection
 * in the place of this one. */
static bool is_reached(const flr_session *p, flr_address address)
{
    for (uint32_t i = 0; i < p->open_count; i++)
        if (flr_address_equal(p->open[i].address, address)) return true;
    for (uint32_t i = 0; i < p->peer_count; i++) {
        flr_connections_info info;
        if (p->peers[i].calling &&
            flr_connections_get(p->connections, p->peers[i].calling, &info) &&
            flr_address_equal(info.address, address))
            return true;
    }
    return false;
}

/* Connects to all members without a connection; also to those that are away, because they may be back. */
static void call_peers(flr_session *p, int64_t now)
{
    for (uint32_t i = 0; i < p->peer_count; i++) {
        flr_peer *peer = &p->peers[i];
        if (peer->member == p->self || peer->connection || peer->calling || !peer->address.family ||
            now < peer->connect_ns)
            continue;
        peer->connect_ns = now + FLR_SESSION_S;
        if (is_reached(p, peer->address)) continue;
        peer->calling =
            flr_connections_connect(p->connections, peer->address, &p->nonce, sizeof p->nonce);
    }
}

void flr_session_messages_service(flr_session *p, int64_t now)
{
    if (p->phase != FLR_PHASE_IN) return;
    call_peers(p, now);
    send_rolls(p, now);
    if (!p->claim_now && now < p->claim_ns) return;
    send_claim(p, now);
    const flr_membership_member *self = flr_membership_member_find(&p->membership, p->self);
    bool open = p->settled_count || !self || p->serial > self->seen;
    p->claim_ns = now + (open ? 50 : 200) * FLR_SESSION_MS;
    p->claim_now = false;
}

/* ---- what came ---- */

const flr_open *flr_session_open_connection(const flr_session *p, uint32_t connection)
{
    for (uint32_t i = 0; i < p->open_count; i++)
        if (p->open[i].connection == connection) return &p->open[i];
    return NULL;
}

void flr_session_bind(flr_session *p)
{
    for (uint32_t i = 0; i < p->open_count; i++) {
        const flr_open *open = &p->open[i];
        if (flr_session_peer_of_connection(p, open->connection)) continue;
        for (uint32_t k = 0; k < p->peer_count; k++) {
            flr_peer *peer = &p->peers[k];
            if (peer->connection || peer->nonce != open->nonce || peer->member == p->self) continue;
            peer->connection = open->connection;
            p->changes++;
            peer->bye = false;
            p->claim_now = true;
        }
    }
}

static void on_open(flr_session *p, const flr_connections_event *event)
{
    uint64_t nonce = 0;
    if (event->size >= sizeof nonce) memcpy(&nonce, event->bytes, sizeof nonce);
    if (p->open_count < FLR_MAX_CONNECTIONS)
        p->open[p->open_count++] = (flr_open){event->connection, nonce, event->address};
    for (uint32_t i = 0; i < p->peer_count; i++)
        if (p->peers[i].calling == event->connection) p->peers[i].calling = 0;
    flr_session_bind(p);
    if (event->connection == p->target_connection) p->join_ns = 0;
}

static void forget_connection(flr_session *p, uint32_t connection)
{
    for (uint32_t i = 0; i < p->open_count; i++)
        if (p->open[i].connection == connection) {
            p->open[i] = p->open[--p->open_count];
            return;
        }
}

void flr_session_close_connection(flr_session *p, uint32_t connection, const char *why)
{
    flr_peer *peer = flr_session_peer_of_connection(p, connection);
    if (peer) peer->connection = 0;
    p->changes++;
    forget_connection(p, connection);
    flr_connections_close(p->connections, connection, why);
}

static void on_closed(flr_session *p, const flr_connections_event *event)
{
    forget_connection(p, event->connection);
    flr_session_on_closed(p, event);
    flr_session_bind(p);
}

/* True: it is for the user. */
static bool on_message(flr_session *p, const flr_connections_event *from, flr_session_event *event)
{
    const flr_message *m = &p->message;
    const flr_peer *peer = flr_session_peer_of_connection(p, from->connection);
    switch (m->id) {
    case FLR_MSG_PEER_JOIN:
        flr_session_on_join(p, from->connection, &m->as.peer_join);
        return false;
    case FLR_MSG_PEER_WELCOME:
        flr_session_on_welcome(p, from->connection, &m->as.peer_welcome);
        return false;
    case FLR_MSG_PEER_REFUSED:
        flr_session_on_refused(p, from->connection, &m->as.peer_refused);
        return false;
    case FLR_MSG_PEER_CARD:
        flr_session_on_card(p, from->connection, &m->as.peer_card);
        return false;
    case FLR_MSG_PEER_MEMBERSHIP:
        flr_session_on_membership(p, from->connection, &m->as.peer_membership);
        return false;
    case FLR_MSG_PEER_CLAIM:
        flr_session_on_claim(p, from->connection, &m->as.peer_claim);
        return false;
    case FLR_MSG_PEER_STATE:
        return flr_session_on_state(p, from, event);
    default:
        if (!peer || p->phase != FLR_PHASE_IN) return false;
        *event =
            (flr_session_event){.kind = FLR_SESSION_MESSAGE, .member = peer->member, .message = m};
        return true;
    }
}

bool flr_session_next(flr_session *p, flr_session_event *event)
{
    flr_connections_event from;
    for (;;) {
        if (p->event_count) {
            *event = p->events[p->event_first];
            p->event_first = (p->event_first + 1) % FLR_SESSION_EVENTS;
            p->event_count--;
            return true;
        }
        if (!flr_connections_next(p->connections, &from)) return false;
        switch (from.kind) {
        case FLR_CONNECTIONS_OPEN:
            on_open(p, &from);
            break;
        case FLR_CONNECTIONS_REFUSED:
        case FLR_CONNECTIONS_CLOSED:
            on_closed(p, &from);
            break;
        case FLR_CONNECTIONS_GOT_STATE:
        case FLR_CONNECTIONS_GOT_MESSAGE:
            if (flr_protocol_decode(from.bytes, from.size, FLR_TO_PEER, p->decode_buffer,
                                    sizeof p->decode_buffer, &p->message, NULL) == FLR_OK &&
                on_message(p, &from, event))
                return true;
            break;
        }
    }
}
