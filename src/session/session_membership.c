/* how the membership comes about: commands, claims, and reports to its user */
#include <string.h>

#include "base/array.h"
#include "session/session_internal.h"

bool flr_session_put_place(flr_session *p, uint32_t part, uint32_t number, flr_pose T_world_part)
{
    for (uint32_t i = 0; i < p->place_count; i++)
        if (p->places[i].part == part) {
            p->places[i] = (flr_place){part, number, T_world_part};
            return true;
        }
    if (!FLR_GROW(p->places, p->place_count, p->place_capacity, 64)) return false;
    p->places[p->place_count++] = (flr_place){part, number, T_world_part};
    return true;
}

/* ---- the membership ---- */

/* What of this side's commands is in the membership. */
static void match_commands(flr_session *p)
{
    const flr_membership_member *self = flr_membership_member_find(&p->membership, p->self);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->command_count; i++) {
        const flr_session_command *command = &p->commands[i];
        const flr_membership_part *part = flr_membership_part_find(&p->membership, command->part);
        bool done = self && self->seen >= command->serial;
        bool held = part && flr_membership_holds(part, p->self);
        // what was let go is in the membership until it is settled here, too, or else it was full
        if (done && (command->holds ? !held : !part))
            flr_session_tell(p,
                             (flr_session_event){.kind = FLR_SESSION_LOST, .part = command->part});
        if (done && !(command->holds && held)) continue;
        p->commands[kept++] = *command;
    }
    p->command_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < p->settled_count; i++) {
        const flr_membership_part *part =
            flr_membership_part_find(&p->membership, p->settled[i].part);
        if (part && part->number == p->settled[i].number && flr_membership_owes(part, p->self))
            p->settled[kept++] = p->settled[i];
    }
    p->settled_count = kept;
}

static bool same_part(const flr_membership_part *a, const flr_membership_part *b)
{
    return a->rest == b->rest && a->frozen == b->frozen && a->number == b->number &&
           a->holder_count == b->holder_count && a->unsettled_count == b->unsettled_count &&
           memcmp(&a->T_world_part, &b->T_world_part, sizeof a->T_world_part) == 0 &&
           memcmp(a->holders, b->holders, a->holder_count * sizeof *a->holders) == 0 &&
           memcmp(a->unsettled, b->unsettled, a->unsettled_count * sizeof *a->unsettled) == 0;
}

static void tell_part(flr_session *p, uint32_t part)
{
    flr_session_tell(p, (flr_session_event){.kind = FLR_SESSION_PART, .part = part});
}

/* Reports to the user what has changed since the last report. */
static void tell_changes(flr_session *p)
{
    const flr_membership *a = &p->reported, *b = &p->membership;
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
    if (members) flr_session_tell(p, (flr_session_event){.kind = FLR_SESSION_PEOPLE});
    if (a->epoch.leader != b->epoch.leader) {
        const flr_peer *leader = flr_session_peer(p, b->epoch.leader);
        flr_session_tell(
            p, (flr_session_event){.kind = FLR_SESSION_LEADER, .member = b->epoch.leader});
        if (a->epoch.leader && leader)
            flr_session_news(p, "%s leads the session now",
                             leader->member == p->self ? "this controller" : leader->name);
    }
    p->reported = p->membership;
}

void flr_session_membership_changed(flr_session *p)
{
    if (flr_session_hosts(p)) flr_membership_publish(&p->membership);
    for (uint32_t i = 0; i < p->membership.member_count; i++)
        if (p->top < p->membership.members[i].member) p->top = p->membership.members[i].member;
    for (uint32_t i = 0; i < p->membership.part_count; i++) {
        const flr_membership_part *part = &p->membership.parts[i];
        if (part->rest) flr_session_put_place(p, part->part, part->number, part->T_world_part);
    }
    p->changes++;
    match_commands(p);
    flr_session_forget_gone(p);
    tell_changes(p);
    // the leader sends it to everybody at once, the others acknowledge it
    for (uint32_t i = 0; i < p->peer_count; i++) p->peers[i].roll_ns = 0;
    p->claim_now = true;
}

/* What is settled at a place that another leader has put elsewhere, perhaps under the same number, is not. */
static void drop_moved(flr_session *p, flr_membership *newer)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->settled_count; i++) {
        const flr_membership_part *a = flr_membership_part_find(&p->membership, p->settled[i].part);
        const flr_membership_part *b = flr_membership_part_find(newer, p->settled[i].part);
        if (a && b && memcmp(&a->T_world_part, &b->T_world_part, sizeof a->T_world_part) == 0)
            p->settled[kept++] = p->settled[i];
    }
    p->settled_count = kept;
}

void flr_session_on_membership(flr_session *p, uint32_t connection,
                               const flr_msg_peer_membership *message)
{
    static _Thread_local flr_membership membership;
    if (p->phase != FLR_PHASE_IN || message->session != p->session) return;
    if (flr_membership_read(message, &membership, NULL) != FLR_OK) return;
    if (flr_membership_compare(&membership, &p->membership) <= 0) return;
    const flr_membership_member *self = flr_membership_member_find(&membership, p->self);
    // a membership that knows this side, and not somebody who got the same number from another leader; of its own leader or of one
    // who took over from it
    if (self && self->nonce == p->nonce && !self->away &&
        !(flr_session_hosts(p) && membership.epoch.leader != p->self)) {
        drop_moved(p, &membership);
        p->membership = membership;
        p->ahead_ns = 0;
        for (uint32_t i = 0; i < membership.member_count; i++)
            flr_session_know_as(p, membership.members[i].member, membership.members[i].nonce);
        flr_session_bind(p);
        flr_peer *leader = flr_session_peer(p, membership.epoch.leader);
        p->leader_lost_ns = leader && leader->connection ? 0 : flr_session_now(p);
        flr_session_membership_changed(p);
        return;
    }
    flr_session_seek(p, membership.epoch.leader, connection);
}

/* ---- claims ---- */

/* What a member does goes into the membership, each command once. */
static void enter(flr_session *p, flr_membership_member *m, const flr_wire_peer_command *commands,
                  uint32_t count, uint32_t serial, bool all)
{
    const flr_peer *peer = flr_session_peer(p, m->member);
    bool may = peer && peer->role == FLR_WIRE_PEER_HAND; /* who only looks moves nothing */
    for (uint32_t i = 0; i < count && may; i++) {
        const flr_wire_peer_command *command = &commands[i];
        if (command->serial <= m->seen) continue;
        if (!(command->bits & FLR_WIRE_PEER_HOLDS))
            flr_membership_release(&p->membership, m->member, command->part, command->T_world_part);
        else
            (void)flr_membership_hold(&p->membership, m->member, command->part);
    }
    // a membership that is older than the last one sent to its member may claim that it holds what it has released
    // (but not what an old claim, late on its way, does not know of)
    for (uint32_t i = 0; all && serial >= m->seen && i < p->membership.part_count; i++) {
        flr_membership_part *part = &p->membership.parts[i];
        bool settled = !flr_membership_holds(part, m->member);
        for (uint32_t k = 0; k < count && !settled; k++) settled = commands[k].part == part->part;
        flr_pose pose = part->T_world_part;
        if (settled) continue;
        if (p->def.where) (void)p->def.where(p->def.context, part->part, &pose);
        flr_membership_release(&p->membership, m->member, part->part, pose);
    }
    if (serial > m->seen) {
        m->seen = serial;
        p->membership.changed = true;
    }
}

void flr_session_own_commands(flr_session *p)
{
    static _Thread_local flr_wire_peer_command commands[FLR_SESSION_COMMANDS];
    flr_membership_member *self = flr_membership_member_find(&p->membership, p->self);
    if (!flr_session_hosts(p) || !self) return;
    for (uint32_t i = 0; i < p->command_count; i++)
        commands[i] =
            (flr_wire_peer_command){.part = p->commands[i].part,
                                    .serial = p->commands[i].serial,
                                    .bits = p->commands[i].holds ? FLR_WIRE_PEER_HOLDS : 0,
                                    .T_world_part = p->commands[i].T_world_part};
    enter(p, self, commands, p->command_count, p->serial, true);
    for (uint32_t i = 0; i < p->settled_count; i++)
        flr_membership_settle(&p->membership, p->self, p->settled[i].part, p->settled[i].number);
    flr_membership_ready(&p->membership, p->self, p->ready);
    if (p->membership.changed) flr_session_membership_changed(p);
}

/* Somebody is in another epoch. Who is behind gets the membership; when a newer one does not come, this side asks for it by
 * asking to be let in. */
static void hear_epoch(flr_session *p, uint32_t connection, flr_epoch epoch)
{
    int64_t now = flr_session_now(p);
    int newer = flr_epoch_compare(epoch, p->membership.epoch);
    if (newer < 0 && !flr_session_peer_of_connection(p, connection) && now >= p->stranger_ns) {
        flr_peer stranger = {.connection = connection};
        flr_session_send_membership(p, &stranger, now);
        p->stranger_ns = now + 100 * FLR_SESSION_MS;
    }
    if (newer <= 0 || epoch.leader == p->membership.epoch.leader) return;
    if (!p->ahead_ns)
        p->ahead_ns = now;
    else if (now - p->ahead_ns > 2 * FLR_SESSION_S)
        flr_session_seek(p, epoch.leader, connection);
}

void flr_session_on_claim(flr_session *p, uint32_t connection, const flr_msg_peer_claim *claim)
{
    if (p->phase != FLR_PHASE_IN || claim->session != p->session || claim->member == p->self)
        return;
    flr_epoch epoch = {claim->count, claim->leader};
    hear_epoch(p, connection, epoch);
    flr_peer *peer = flr_session_peer(p, claim->member);
    if (!peer) return;
    if (peer->connection != connection) {
        const flr_open *open = flr_session_open_connection(p, connection);
        if (flr_session_peer_of_connection(p, connection) || !open || open->nonce != peer->nonce)
            return;
        flr_session_give_connection(p, peer, connection);
    }
    peer->claim_ns = flr_session_now(p);
    peer->epoch = epoch;
    peer->number = claim->number;
    peer->heard_ms = claim->heard;
    peer->delay = flr_session_delay(claim->delay);
    flr_membership_member *m = flr_membership_member_find(&p->membership, claim->member);
    if (!flr_session_hosts(p) || !m || m->away || claim->leader != p->self) return;
    enter(p, m, claim->commands, claim->commands_count, claim->serial,
          !(claim->bits & FLR_WIRE_PEER_MORE));
    // a place may have been given by another leader under the same number
    bool same = claim->count == p->membership.epoch.count;
    for (uint32_t i = 0; same && i < claim->settled_count; i++)
        flr_membership_settle(&p->membership, m->member, claim->settled[i].part,
                              claim->settled[i].number);
    flr_membership_ready(&p->membership, m->member, claim->bits & FLR_WIRE_PEER_READY);
    if (p->membership.changed) flr_session_membership_changed(p);
}
