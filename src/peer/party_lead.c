/* who leads: who is not heard any more, taking over, taking out who is away too long */
#include <stdio.h>

#include "peer/party_inside.h"

static void lose(flr_party *p, flr_peer *peer, bool bye)
{
    const flr_roll_member *m = flr_roll_member_find(&p->roll, peer->member);
    if (!m || (m->away && !bye)) return;
    flr_party_news(p, bye ? "%s has left" : "%s is not heard any more: what it held is frozen",
                   peer->name);
    p->roll.epoch.count++;
    p->roll.changed = true;
    peer->away_ns = flr_party_now(p);
    if (bye)
        flr_roll_remove(&p->roll, peer->member, p->def.where, p->def.context);
    else
        flr_roll_away(&p->roll, peer->member, p->def.where, p->def.context);
    flr_party_roll_changed(p);
}

void flr_party_on_closed(flr_party *p, uint32_t line, flr_lines_cause cause, const char *why)
{
    int64_t now = flr_party_now(p);
    if (line == p->target_line) {
        p->target_line = 0;
        p->join_ns = now + FLR_PARTY_S / 2;
        // it was sent on to a leader that is not there any more: the others will notice, too
        if (flr_party_is_sent_on(p, now)) {
            p->target = p->host;
        } else if (p->phase == FLR_PHASE_JOINING && cause != FLR_LINES_REPLACED) {
            flr_party_event event = {.kind = FLR_PARTY_REFUSED};
            snprintf(event.sentence, sizeof event.sentence, "%s", why);
            flr_party_tell(p, event);
            p->phase = FLR_PHASE_NONE;
        }
    }
    for (uint32_t i = 0; i < p->peer_count; i++) {
        flr_peer *peer = &p->peers[i];
        if (peer->calling == line) {
            peer->calling = 0;
            peer->call_ns = now + FLR_PARTY_S;
        }
        if (peer->line != line) continue;
        peer->line = 0;
        p->changes++;
        peer->call_ns = now + (cause == FLR_LINES_BYE ? 2 : 0) * FLR_PARTY_S;
        if (cause == FLR_LINES_REPLACED) return; /* another one opens */
        peer->bye = cause == FLR_LINES_BYE;
        if (flr_party_leads(p))
            lose(p, peer, peer->bye);
        else if (peer->member == p->roll.epoch.leader)
            p->leader_lost_ns = now;
        return;
    }
}

/* Is this side the one to lead, now that the leader is not heard? */
static bool should_lead(const flr_party *p, int64_t now)
{
    const flr_peer *leader = flr_party_peer((flr_party *)p, p->roll.epoch.leader);
    bool left = leader && leader->bye;
    // one without the scene has nothing to give to who joins; it goes on calling
    if (!p->ready) return false;
    for (uint32_t i = 0; i < p->roll.member_count; i++) {
        const flr_roll_member *m = &p->roll.members[i];
        const flr_peer *peer = flr_party_peer((flr_party *)p, m->member);
        if (m->away || m->member == p->self || !peer || !peer->line) continue;
        if (m->member < p->self && m->ready) return false; /* an older one is there */
        if (peer->claim_ns == 0 || left) continue;
        // somebody hears the leader: then this side is the one who is cut off
        int64_t heard = peer->heard_ms * FLR_PARTY_MS + (now - peer->claim_ns);
        if (heard < 2 * FLR_PARTY_S) return false;
        // it has a newer roll, and sends it
        if (flr_epoch_compare(peer->epoch, p->roll.epoch) == 0 && peer->number > p->roll.number &&
            now - p->leader_lost_ns < FLR_PARTY_S)
            return false;
    }
    return true;
}

static void take_over(flr_party *p, int64_t now)
{
    flr_epoch epoch = {p->roll.epoch.count + 1, p->self};
    uint16_t gone[FLR_PARTY_MEMBERS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->roll.member_count; i++) {
        const flr_roll_member *m = &p->roll.members[i];
        flr_peer *peer = flr_party_peer(p, m->member);
        if (m->member == p->self || (peer && peer->line)) continue;
        if (peer && !m->away) peer->away_ns = now;
        gone[count++] = m->member;
    }
    p->roll.epoch = epoch;
    p->roll.changed = true;
    p->leader_lost_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const flr_peer *peer = flr_party_peer(p, gone[i]);
        if (peer && peer->bye)
            flr_roll_remove(&p->roll, gone[i], p->def.where, p->def.context);
        else
            flr_roll_away(&p->roll, gone[i], p->def.where, p->def.context);
    }
    flr_party_roll_changed(p);
    flr_party_own_deeds(p);
}

void flr_party_lead_service(flr_party *p, int64_t now)
{
    if (p->phase == FLR_PHASE_JOINING || p->phase == FLR_PHASE_SEEKING) flr_party_ask(p, now);
    // the one who was to let it in is gone again: then things are as they were before
    if (p->phase == FLR_PHASE_SEEKING && now - p->seek_ns > 8 * FLR_PARTY_S)
        p->phase = FLR_PHASE_IN;
    if (p->phase != FLR_PHASE_IN || p->roll.member_count == 0) return;
    if (!flr_party_leads(p)) {
        const flr_peer *leader = flr_party_peer(p, p->roll.epoch.leader);
        if (leader && leader->line)
            p->leader_lost_ns = 0;
        else if (!p->leader_lost_ns)
            p->leader_lost_ns = now;
        // one that is only called the first time may take its time
        int64_t wait = leader && leader->bye ? 0 : leader && leader->claim_ns ? 0 : 5 * FLR_PARTY_S;
        if (p->leader_lost_ns && now - p->leader_lost_ns >= wait && should_lead(p, now))
            take_over(p, now);
        return;
    }
    for (uint32_t i = 0; i < p->roll.member_count; i++) {
        const flr_roll_member m = p->roll.members[i];
        flr_peer *peer = flr_party_peer(p, m.member);
        if (peer && !m.away && m.member != p->self && !peer->line) {
            // one line was to take another's place, and did not
            if (!peer->lineless_ns) peer->lineless_ns = now;
            if (now - peer->lineless_ns > 3 * FLR_PARTY_S) {
                peer->lineless_ns = 0;
                lose(p, peer, false);
                break;
            }
        } else if (peer) {
            peer->lineless_ns = 0;
        }
        if (!m.away || !peer) continue;
        double away = (double)(now - peer->away_ns) * 1e-9;
        if (away > p->def.absence) flr_roll_thaw(&p->roll, m.member);
        if (away > p->def.forget) flr_roll_remove(&p->roll, m.member, p->def.where, p->def.context);
        if (!p->roll.changed) continue;
        flr_party_roll_changed(p);
        break;
    }
}
