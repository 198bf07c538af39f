/* states of a session: what is shown, what others expect anyway, who passes it on */
#include <math.h>
#include <string.h>

#include "session/session_internal.h"

void flr_session_show(flr_session *p, const flr_wire_peer_hand *hands, uint32_t hand_count,
                      const flr_wire_peer_part *parts, uint32_t part_count,
                      const flr_wire_peer_energy *energies, uint32_t energy_count)
{
    flr_shown *s = &p->show;
    s->hand_count = hand_count < 8 ? hand_count : 8;
    s->part_count = part_count < FLR_SESSION_SHOWN ? part_count : FLR_SESSION_SHOWN;
    s->energy_count = energy_count < FLR_SESSION_SHOWN ? energy_count : FLR_SESSION_SHOWN;
    if (s->hand_count) memcpy(s->hands, hands, s->hand_count * sizeof *hands);
    if (s->part_count) memcpy(s->parts, parts, s->part_count * sizeof *parts);
    if (s->energy_count) memcpy(s->energies, energies, s->energy_count * sizeof *energies);
    p->shown_anew = true;
}

/* Do two poses differ by more than the band? A turn counts as the way of a point a decimetre away. */
static bool differs(flr_pose a, flr_pose b, double band)
{
    double turn = 1 - fabs(a.q.w * b.q.w + a.q.x * b.q.x + a.q.y * b.q.y + a.q.z * b.q.z);
    return flr_vec3_distance(a.p, b.p) > band || 0.2 * sqrt(fmax(0, 2 * turn)) > band;
}

static flr_pose ahead(const flr_wire_peer_part *part, double seconds)
{
    flr_pose pose = part->T_world_part;
    flr_vec3 v = {part->linear.x, part->linear.y, part->linear.z};
    pose.p = flr_vec3_add(pose.p, flr_vec3_scale(v, seconds));
    return pose;
}

static bool is_still(const flr_wire_peer_part *part)
{
    flr_wire_vec3f v = part->linear, w = part->angular;
    return v.x == 0 && v.y == 0 && v.z == 0 && w.x == 0 && w.y == 0 && w.z == 0;
}

/* Would somebody notice if this was not sent? The others go on with the last velocity. */
static bool is_news(const flr_session *p, int64_t now)
{
    const flr_shown *a = &p->sent, *b = &p->show;
    double seconds = (double)(now - p->sent_ns) * 1e-9;
    if (a->hand_count != b->hand_count || a->part_count != b->part_count ||
        a->energy_count != b->energy_count)
        return true;
    for (uint32_t i = 0; i < b->hand_count; i++)
        if (a->hands[i].hand != b->hands[i].hand || a->hands[i].held != b->hands[i].held ||
            differs(a->hands[i].T_world_hand, b->hands[i].T_world_hand, p->def.band))
            return true;
    for (uint32_t i = 0; i < b->part_count; i++)
        if (a->parts[i].part != b->parts[i].part || a->parts[i].bits != b->parts[i].bits ||
            differs(ahead(&a->parts[i], seconds), b->parts[i].T_world_part, p->def.band) ||
            (is_still(&b->parts[i]) && !is_still(&a->parts[i])))
            return true;
    return false;
}

/* Sends it to whom a connection leads, and by the leader to the others. */
static void send(flr_session *p, flr_message *m)
{
    uint16_t via[FLR_SESSION_MEMBERS];
    uint32_t via_count = 0;
    const flr_peer *leader = flr_session_peer(p, p->membership.epoch.leader);
    bool relay = p->membership.relay && !flr_session_hosts(p);
    for (uint32_t i = 0; i < p->peer_count; i++) {
        const flr_peer *peer = &p->peers[i];
        const flr_membership_member *entry =
            flr_membership_member_find(&p->membership, peer->member);
        if (peer->member == p->self || peer == leader || !entry || entry->away) continue;
        if (!relay && peer->connection)
            flr_session_push(p, peer->connection, m, false);
        else
            via[via_count++] = peer->member;
    }
    m->as.peer_state.via = via;
    m->as.peer_state.via_count = via_count;
    if (leader && leader->connection) flr_session_push(p, leader->connection, m, false);
}

void flr_session_state_service(flr_session *p, int64_t now)
{
    enum { SESSION_STATE_AT_ONCE = 4, KEPT_UP = 10 /* states in a second though nothing moves */ };
    if (p->phase != FLR_PHASE_IN || !p->shown_anew || now < p->state_ns) return;
    int64_t period = (int64_t)(1e9 / p->def.rate);
    // in step with the rate, also where the caller is a little late
    p->state_ns = now - p->state_ns < period && p->state_ns ? p->state_ns + period : now + period;
    p->shown_anew = false;
    const flr_shown *s = &p->show;
    bool anything = s->hand_count || s->part_count || p->sent.hand_count || p->sent.part_count;
    if (!anything || (!is_news(p, now) && now - p->sent_ns < FLR_SESSION_S / KEPT_UP)) return;
    uint32_t part = 0, energy = 0;
    bool first = true;
    const flr_peer *leader = flr_session_peer(p, p->membership.epoch.leader);
    flr_connections_info info;
    bool hears = leader && leader->connection &&
                 flr_connections_get(p->connections, leader->connection, &info);
    do {
        uint32_t parts = s->part_count - part < SESSION_STATE_AT_ONCE ? s->part_count - part
                                                                      : SESSION_STATE_AT_ONCE;
        uint32_t energies = s->energy_count - energy < 4 ? s->energy_count - energy : 4;
        flr_message m = {.id = FLR_MSG_PEER_STATE};
        m.as.peer_state = (flr_msg_peer_state){.session = p->session,
                                               // parts of one moment, in rising order
                                               .time = (uint64_t)now + part + energy,
                                               .member = p->self,
                                               .count = p->membership.epoch.count,
                                               .leader = p->membership.epoch.leader,
                                               .delay = hears ? (float)(info.rtt / 2) : 0,
                                               .hands = s->hands,
                                               .hands_count = first ? s->hand_count : 0,
                                               .parts = s->parts + part,
                                               .parts_count = parts,
                                               .energies = s->energies + energy,
                                               .energies_count = energies};
        send(p, &m);
        part += parts;
        energy += energies;
        first = false;
    } while (part < s->part_count || energy < s->energy_count);
    p->sent = *s;
    p->sent_ns = now;
}

/* The leader passes it on, as it is. */
static void pass_on(flr_session *p, const flr_connections_event *from,
                    const flr_msg_peer_state *state)
{
    for (uint32_t i = 0; i < state->via_count; i++) {
        const flr_peer *to = flr_session_peer(p, state->via[i]);
        if (to && to->connection && to->connection != from->connection)
            (void)flr_connections_state(p->connections, to->connection, from->bytes, from->size);
    }
}

bool flr_session_on_state(flr_session *p, const flr_connections_event *from,
                          flr_session_event *event)
{
    const flr_msg_peer_state *state = &p->message.as.peer_state;
    flr_peer *peer = flr_session_peer(p, state->member),
             *by = flr_session_peer_of_connection(p, from->connection);
    const flr_membership_member *entry = flr_membership_member_find(&p->membership, state->member);
    if (p->phase != FLR_PHASE_IN || state->session != p->session || !peer || !by || !entry ||
        entry->away || peer->member == p->self || from->kind != FLR_CONNECTIONS_GOT_STATE)
        return false;
    // a state comes from who it is about, or from the leader
    if (by != peer && by->member != p->membership.epoch.leader) return false;
    if (flr_session_hosts(p) && by == peer) pass_on(p, from, state);
    if (state->time <= peer->state_time) return false;
    peer->state_time = state->time;
    peer->delay = flr_session_delay(state->delay);
    *event = (flr_session_event){.kind = FLR_SESSION_STATE,
                                 .member = peer->member,
                                 .state = state,
                                 .sent_ns = from->sent_ns};
    if (by != peer) event->sent_ns -= (int64_t)(peer->delay * 1e9);
    return true;
}
