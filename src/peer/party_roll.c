/* how the roll comes about: deeds, claims, and what its user is told of it */
#include <stdlib.h>
#include <string.h>

#include "peer/party_inside.h"

bool flr_party_put_place(flr_party *p, uint32_t part, uint32_t number, flr_pose T_world_part)
{
    for (uint32_t i = 0; i < p->place_count; i++)
        if (p->places[i].part == part) {
            p->places[i] = (flr_place){part, number, T_world_part};
            return true;
        }
    if (p->place_count == p->place_room) {
        uint32_t room = p->place_room ? 2 * p->place_room : 64;
        flr_place *places = realloc(p->places, room * sizeof *places);
        if (!places) return false;
        p->places = places;
        p->place_room = room;
    }
    p->places[p->place_count++] = (flr_place){part, number, T_world_part};
    return true;
}

/* ---- the roll ---- */

/* What of this side's deeds is in the roll. */
static void match_deeds(flr_party *p)
{
    const flr_roll_member *self = flr_roll_member_find(&p->roll, p->self);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->deed_count; i++) {
        const flr_party_deed *deed = &p->deeds[i];
        const flr_roll_part *part = flr_roll_part_find(&p->roll, deed->part);
        bool done = self && self->seen >= deed->serial;
        bool held = part && flr_roll_holds(part, p->self);
        // what was let go is in the roll until it is settled here, too, or else it was full
        if (done && (deed->holds ? !held : !part))
            flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_LOST, .part = deed->part});
        if (done && !(deed->holds && held)) continue;
        p->deeds[kept++] = *deed;
    }
    p->deed_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < p->settled_count; i++) {
        const flr_roll_part *part = flr_roll_part_find(&p->roll, p->settled[i].part);
        if (part && part->number == p->settled[i].number && flr_roll_owes(part, p->self))
            p->settled[kept++] = p->settled[i];
    }
    p->settled_count = kept;
}

static bool same_part(const flr_roll_part *a, const flr_roll_part *b)
{
    return a->rest == b->rest && a->frozen == b->frozen && a->number == b->number &&
           a->holder_count == b->holder_count && a->unsettled_count == b->unsettled_count &&
           memcmp(&a->T_world_part, &b->T_world_part, sizeof a->T_world_part) == 0 &&
           memcmp(a->holders, b->holders, a->holder_count * sizeof *a->holders) == 0 &&
           memcmp(a->unsettled, b->unsettled, a->unsettled_count * sizeof *a->unsettled) == 0;
}

static void tell_part(flr_party *p, uint32_t part)
{
    flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_PART, .part = part});
}

/* Tells the user what is different from what it was told before. */
static void tell_changes(flr_party *p)
{
    const flr_roll *a = &p->told, *b = &p->roll;
    uint32_t i = 0, k = 0;
    while (i < a->part_count || k < b->part_count) {
        if (k == b->part_count || (i < a->part_count && a->parts[i].part < b->parts[k].part)) {
            tell_part(p, a->parts[i++].part);
        } else if (i == a->part_count || b->parts[k].part < a->parts[i].part) {
            tell_part(p, b->parts[k++].part);
        } else {
            if (!same_part(&a->parts[i], &b->parts[k])) tell_part(p, a->parts[i].part);
            i++, k++;
        }
    }
    bool members = a->member_count != b->member_count;
    for (i = 0; i < b->member_count && !members; i++)
        members = a->members[i].member != b->members[i].member ||
                  a->members[i].away != b->members[i].away ||
                  a->members[i].ready != b->members[i].ready;
    if (members) flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_PEOPLE});
    if (a->epoch.leader != b->epoch.leader) {
        const flr_peer *leader = flr_party_peer(p, b->epoch.leader);
        flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_LEADER, .member = b->epoch.leader});
        if (a->epoch.leader && leader)
            flr_party_news(p, "%s leads the session now",
                           leader->member == p->self ? "this controller" : leader->name);
    }
    p->told = p->roll;
}

void flr_party_roll_changed(flr_party *p)
{
    if (flr_party_leads(p)) flr_roll_publish(&p->roll);
    for (uint32_t i = 0; i < p->roll.member_count; i++)
        if (p->top < p->roll.members[i].member) p->top = p->roll.members[i].member;
    for (uint32_t i = 0; i < p->roll.part_count; i++) {
        const flr_roll_part *part = &p->roll.parts[i];
        if (part->rest) flr_party_put_place(p, part->part, part->number, part->T_world_part);
    }
    p->changes++;
    match_deeds(p);
    flr_party_forget_gone(p);
    tell_changes(p);
    // who leads tells everybody at once, the others that they have it
    for (uint32_t i = 0; i < p->peer_count; i++) p->peers[i].roll_ns = 0;
    p->claim_now = true;
}

/* What is settled at a place that another leader has put elsewhere, perhaps under the same number, is not. */
static void drop_moved(flr_party *p, flr_roll *newer)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->settled_count; i++) {
        const flr_roll_part *a = flr_roll_part_find(&p->roll, p->settled[i].part);
        const flr_roll_part *b = flr_roll_part_find(newer, p->settled[i].part);
        if (a && b && memcmp(&a->T_world_part, &b->T_world_part, sizeof a->T_world_part) == 0)
            p->settled[kept++] = p->settled[i];
    }
    p->settled_count = kept;
}

void flr_party_on_roll(flr_party *p, uint32_t line, const flr_msg_peer_roll *message)
{
    static _Thread_local flr_roll roll;
    if (p->phase != FLR_PHASE_IN || message->session != p->session) return;
    if (flr_roll_read(message, &roll, NULL) != FLR_OK) return;
    if (flr_roll_compare(&roll, &p->roll) <= 0) return;
    const flr_roll_member *self = flr_roll_member_find(&roll, p->self);
    // a roll that knows this side, and not somebody who got the same number from another leader; of its own leader or of one
    // who took over from it
    if (self && self->nonce == p->nonce && !self->away &&
        !(flr_party_leads(p) && roll.epoch.leader != p->self)) {
        drop_moved(p, &roll);
        p->roll = roll;
        p->ahead_ns = 0;
        for (uint32_t i = 0; i < roll.member_count; i++)
            flr_party_know_as(p, roll.members[i].member, roll.members[i].nonce);
        flr_party_bind(p);
        flr_peer *leader = flr_party_peer(p, roll.epoch.leader);
        p->leader_lost_ns = leader && leader->line ? 0 : flr_party_now(p);
        flr_party_roll_changed(p);
        return;
    }
    flr_party_seek(p, roll.epoch.leader, line);
}

/* ---- claims ---- */

/* What a member does goes into the roll, each deed once. */
static void enter(flr_party *p, flr_roll_member *m, const flr_wire_peer_deed *deeds, uint32_t count,
                  uint32_t serial, bool all)
{
    const flr_peer *peer = flr_party_peer(p, m->member);
    bool may = peer && peer->role == FLR_WIRE_PEER_HAND; /* who only looks moves nothing */
    for (uint32_t i = 0; i < count && may; i++) {
        const flr_wire_peer_deed *deed = &deeds[i];
        if (deed->serial <= m->seen) continue;
        if (!(deed->bits & FLR_WIRE_PEER_HOLDS))
            flr_roll_release(&p->roll, m->member, deed->part, deed->T_world_part);
        else
            (void)flr_roll_hold(&p->roll, m->member, deed->part);
    }
    // a roll that is older than what its member was told before may have it hold what it has let go of
    // (but not what an old claim, late on its way, does not know of)
    for (uint32_t i = 0; all && serial >= m->seen && i < p->roll.part_count; i++) {
        flr_roll_part *part = &p->roll.parts[i];
        bool told = !flr_roll_holds(part, m->member);
        for (uint32_t k = 0; k < count && !told; k++) told = deeds[k].part == part->part;
        flr_pose pose = part->T_world_part;
        if (told) continue;
        if (p->def.where) (void)p->def.where(p->def.context, part->part, &pose);
        flr_roll_release(&p->roll, m->member, part->part, pose);
    }
    if (serial > m->seen) {
        m->seen = serial;
        p->roll.changed = true;
    }
}

void flr_party_own_deeds(flr_party *p)
{
    static _Thread_local flr_wire_peer_deed deeds[FLR_PARTY_DEEDS];
    flr_roll_member *self = flr_roll_member_find(&p->roll, p->self);
    if (!flr_party_leads(p) || !self) return;
    for (uint32_t i = 0; i < p->deed_count; i++)
        deeds[i] = (flr_wire_peer_deed){.part = p->deeds[i].part,
                                        .serial = p->deeds[i].serial,
                                        .bits = p->deeds[i].holds ? FLR_WIRE_PEER_HOLDS : 0,
                                        .T_world_part = p->deeds[i].T_world_part};
    enter(p, self, deeds, p->deed_count, p->serial, true);
    for (uint32_t i = 0; i < p->settled_count; i++)
        flr_roll_settle(&p->roll, p->self, p->settled[i].part, p->settled[i].number);
    flr_roll_ready(&p->roll, p->self, p->ready);
    if (p->roll.changed) flr_party_roll_changed(p);
}

/* Somebody is in another epoch. Who is behind gets the roll; when a newer one does not come, this side asks for it by
 * asking to be let in. */
static void hear_epoch(flr_party *p, uint32_t line, flr_epoch epoch)
{
    int64_t now = flr_party_now(p);
    int newer = flr_epoch_compare(epoch, p->roll.epoch);
    if (newer < 0 && !flr_party_peer_of_line(p, line) && now >= p->stranger_ns) {
        flr_peer stranger = {.line = line};
        flr_party_send_roll(p, &stranger, now);
        p->stranger_ns = now + 100 * FLR_PARTY_MS;
    }
    if (newer <= 0 || epoch.leader == p->roll.epoch.leader) return;
    if (!p->ahead_ns)
        p->ahead_ns = now;
    else if (now - p->ahead_ns > 2 * FLR_PARTY_S)
        flr_party_seek(p, epoch.leader, line);
}

void flr_party_on_claim(flr_party *p, uint32_t line, const flr_msg_peer_claim *claim)
{
    if (p->phase != FLR_PHASE_IN || claim->session != p->session || claim->member == p->self)
        return;
    flr_epoch epoch = {claim->count, claim->leader};
    hear_epoch(p, line, epoch);
    flr_peer *peer = flr_party_peer(p, claim->member);
    if (!peer) return;
    if (peer->line != line) {
        const flr_open *open = flr_party_open_line(p, line);
        if (flr_party_peer_of_line(p, line) || !open || open->nonce != peer->nonce) return;
        flr_party_give_line(p, peer, line);
    }
    peer->claim_ns = flr_party_now(p);
    peer->epoch = epoch;
    peer->number = claim->number;
    peer->heard_ms = claim->heard;
    peer->delay = flr_party_delay(claim->delay);
    flr_roll_member *m = flr_roll_member_find(&p->roll, claim->member);
    if (!flr_party_leads(p) || !m || m->away || claim->leader != p->self) return;
    enter(p, m, claim->deeds, claim->deeds_count, claim->serial,
          !(claim->bits & FLR_WIRE_PEER_MORE));
    // a place may have been given by another leader under the same number
    bool same = claim->count == p->roll.epoch.count;
    for (uint32_t i = 0; same && i < claim->settled_count; i++)
        flr_roll_settle(&p->roll, m->member, claim->settled[i].part, claim->settled[i].number);
    flr_roll_ready(&p->roll, m->member, claim->bits & FLR_WIRE_PEER_READY);
    if (p->roll.changed) flr_party_roll_changed(p);
}
