/* leadership: silent members, taking over, removing those that are away too long */
#include <stdio.h>

#include "session/session_internal.h"

static void lose(flr_session *p, flr_peer *peer, bool bye)
{
    const flr_membership_member *m = flr_membership_member_find(&p->membership, peer->member);
    if (!m || (m->away && !bye)) return;
    flr_session_news(p, bye ? "%s has left" : "%s is not heard any more: what it held is frozen",
                     peer->name);
    p->membership.epoch.count++;
    p->membership.changed = true;
    peer->away_ns = flr_session_now(p);
    if (bye)
        flr_membership_remove(&p->membership, peer->member, p->def.where, p->def.context);
    else
        flr_membership_away(&p->membership, peer->member, p->def.where, p->def.context);
    flr_session_membership_changed(p);
}

/* The connection to whom this side asks to let it in is gone. */
static void lose_target(flr_session *p, const flr_connections_event *closed, int64_t now)
{
    p->target_connection = 0;
    p->join_ns = now + FLR_SESSION_S / 2;
    // it was sent on to a leader that is not there any more: the others will notice, too
    if (flr_session_is_sent_on(p, now)) {
        p->target = p->host;
        return;
    }
    // it had answered, so address and token are right: an interruption, worth another handshake
    bool interrupted = closed->kind == FLR_CONNECTIONS_CLOSED &&
                       closed->cause == FLR_CONNECTIONS_SILENCE &&
                       now - p->began_ns < FLR_SESSION_JOIN_S * FLR_SESSION_S;
    if (p->phase != FLR_PHASE_JOINING || closed->cause == FLR_CONNECTIONS_REPLACED || interrupted)
        return;
    flr_session_event event = {.kind = FLR_SESSION_REFUSED};
    snprintf(event.sentence, sizeof event.sentence, "%s", closed->why);
    flr_session_tell(p, event);
    p->phase = FLR_PHASE_NONE;
}

void flr_session_on_closed(flr_session *p, const flr_connections_event *closed)
{
    int64_t now = flr_session_now(p);
    uint32_t connection = closed->connection;
    flr_connections_cause cause = closed->cause;
    if (connection == p->target_connection) lose_target(p, closed, now);
    for (uint32_t i = 0; i < p->peer_count; i++) {
        flr_peer *peer = &p->peers[i];
        if (peer->calling == connection) {
            peer->calling = 0;
            peer->connect_ns = now + FLR_SESSION_S;
        }
        if (peer->connection != connection) continue;
        peer->connection = 0;
        p->changes++;
        peer->connect_ns = now + (cause == FLR_CONNECTIONS_BYE ? 2 : 0) * FLR_SESSION_S;
        if (cause == FLR_CONNECTIONS_REPLACED) return; /* another one opens */
        peer->bye = cause == FLR_CONNECTIONS_BYE;
        if (flr_session_hosts(p))
            lose(p, peer, peer->bye);
        else if (peer->member == p->membership.epoch.leader)
            p->leader_lost_ns = now;
        return;
    }
}

/* Is this side the one to lead, now that the leader is not heard? */
static bool should_lead(const flr_session *p, int64_t now)
{
    const flr_peer *leader = flr_session_peer((flr_session *)p, p->membership.epoch.leader);
    bool left = leader && leader->bye;
    // one without the scene has nothing to give to a guest; it keeps trying to join
    if (!p->ready) return false;
    for (uint32_t i = 0; i < p->membership.member_count; i++) {
        const flr_membership_member *m = &p->membership.members[i];
        const flr_peer *peer = flr_session_peer((flr_session *)p, m->member);
        if (m->away || m->member == p->self || !peer || !peer->connection) continue;
        if (m->member < p->self && m->ready) return false; /* an older one is there */
        if (peer->claim_ns == 0 || left) continue;
        // another member hears the leader: then this side is cut off
        int64_t heard = peer->heard_ms * FLR_SESSION_MS + (now - peer->claim_ns);
        if (heard < 2 * FLR_SESSION_S) return false;
        // it has a newer membership, and sends it
        if (flr_epoch_compare(peer->epoch, p->membership.epoch) == 0 &&
            peer->number > p->membership.number && now - p->leader_lost_ns < FLR_SESSION_S)
            return false;
    }
    return true;
}

static void take_over(flr_session *p, int64_t now)
{
    flr_epoch epoch = {p->membership.epoch.count + 1, p->self};
    uint16_t gone[FLR_SESSION_MEMBERS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->membership.member_count; i++) {
        const flr_membership_member *m = &p->membership.members[i];
        flr_peer *peer = flr_session_peer(p, m->member);
        if (m->member == p->self || (peer && peer->connection)) continue;
        if (peer && !m->away) peer->away_ns = now;
        gone[count++] = m->member;
    }
    p->membership.epoch = epoch;
    p->membership.changed = true;
    p->leader_lost_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const flr_peer *peer = flr_session_peer(p, gone[i]);
        if (peer && peer->bye)
            flr_membership_remove(&p->membership, gone[i], p->def.where, p->def.context);
        else
            flr_membership_away(&p->membership, gone[i], p->def.where, p->def.context);
    }
    flr_session_membership_changed(p);
    flr_session_own_commands(p);
}

void flr_session_lead_service(flr_session *p, int64_t now)
{
    if (p->phase == FLR_PHASE_JOINING || p->phase == FLR_PHASE_SEEKING) flr_session_ask(p, now);
    // the leader that was to admit it is gone: it stays in the session as it was
    if (p->phase == FLR_PHASE_SEEKING && now - p->seek_ns > 8 * FLR_SESSION_S)
        p->phase = FLR_PHASE_IN;
    if (p->phase != FLR_PHASE_IN || p->membership.member_count == 0) return;
    if (!flr_session_hosts(p)) {
        const flr_peer *leader = flr_session_peer(p, p->membership.epoch.leader);
        if (leader && leader->connection)
            p->leader_lost_ns = 0;
        else if (!p->leader_lost_ns)
            p->leader_lost_ns = now;
        // a first handshake may take its time
        int64_t wait = leader && leader->bye        ? 0
                       : leader && leader->claim_ns ? 0
                                                    : 5 * FLR_SESSION_S;
        if (p->leader_lost_ns && now - p->leader_lost_ns >= wait && should_lead(p, now))
            take_over(p, now);
        return;
    }
    for (uint32_t i = 0; i < p->membership.member_count; i++) {
        const flr_membership_member m = p->membership.members[i];
        flr_peer *peer = flr_session_peer(p, m.member);
        if (peer && !m.away && m.member != p->self && !peer->connection) {
            // one connection was to take another's place, and did not
            if (!peer->unconnected_ns) peer->unconnected_ns = now;
            if (now - peer->unconnected_ns > 3 * FLR_SESSION_S) {
                peer->unconnected_ns = 0;
                lose(p, peer, false);
                break;
            }
        } else if (peer) {
            peer->unconnected_ns = 0;
        }
        if (!m.away || !peer) continue;
        double away = (double)(now - peer->away_ns) * 1e-9;
        if (away > p->def.absence) flr_membership_thaw(&p->membership, m.member);
        if (away > p->def.forget)
            flr_membership_remove(&p->membership, m.member, p->def.where, p->def.context);
        if (!p->membership.changed) continue;
        flr_session_membership_changed(p);
        break;
    }
}
