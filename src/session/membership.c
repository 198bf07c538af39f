/* the membership of a shared session: what its leader does to it, and how it travels */
#include "session/membership.h"

#include <string.h>

int flr_epoch_compare(flr_epoch a, flr_epoch b)
{
    if (a.count != b.count) return a.count > b.count ? 1 : -1;
    // the older member has the lower number
    return a.leader == b.leader ? 0 : a.leader < b.leader ? 1 : -1;
}

int flr_membership_compare(const flr_membership *a, const flr_membership *b)
{
    int epoch = flr_epoch_compare(a->epoch, b->epoch);
    return epoch ? epoch : a->number > b->number ? 1 : a->number < b->number ? -1 : 0;
}

/* ---- looking ---- */

flr_membership_member *flr_membership_member_find(flr_membership *membership, uint16_t member)
{
    for (uint32_t i = 0; i < membership->member_count; i++)
        if (membership->members[i].member == member) return &membership->members[i];
    return NULL;
}

flr_membership_part *flr_membership_part_find(flr_membership *membership, uint32_t part)
{
    for (uint32_t i = 0; i < membership->part_count; i++)
        if (membership->parts[i].part == part) return &membership->parts[i];
    return NULL;
}

static bool is_in(const uint16_t *list, uint32_t count, uint16_t member)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == member) return true;
    return false;
}

static bool take_out(uint16_t *list, uint32_t *count, uint16_t member)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (list[i] != member) continue;
        memmove(list + i, list + i + 1, (*count - i - 1) * sizeof *list);
        --*count;
        return true;
    }
    return false;
}

bool flr_membership_holds(const flr_membership_part *part, uint16_t member)
{
    return is_in(part->holders, part->holder_count, member);
}

bool flr_membership_owes(const flr_membership_part *part, uint16_t member)
{
    return is_in(part->unsettled, part->unsettled_count, member);
}

uint16_t flr_membership_owner(const flr_membership_part *part)
{
    return part->holder_count ? part->holders[0] : 0;
}

static uint32_t max_parts_with(uint32_t members)
{
    uint32_t max = members ? FLR_MEMBERSHIP_UNSETTLED / members : FLR_SESSION_PARTS;
    return max < FLR_SESSION_PARTS ? max : FLR_SESSION_PARTS;
}

uint32_t flr_membership_max_parts(const flr_membership *membership)
{
    return max_parts_with(membership->member_count);
}

/* ---- members ---- */

bool flr_membership_add(flr_membership *membership, uint16_t member, uint64_t nonce)
{
    uint32_t count = membership->member_count;
    if (count == FLR_SESSION_MEMBERS || membership->part_count > max_parts_with(count + 1))
        return false;
    membership->members[membership->member_count++] =
        (flr_membership_member){.member = member, .nonce = nonce};
    // where parts are that are settled already it learns separately; these it has to bring there
    for (uint32_t i = 0; i < membership->part_count; i++) {
        flr_membership_part *p = &membership->parts[i];
        if (p->rest && p->unsettled_count < FLR_SESSION_MEMBERS)
            p->unsettled[p->unsettled_count++] = member;
    }
    return membership->changed = true;
}

void flr_membership_ready(flr_membership *membership, uint16_t member, bool ready)
{
    flr_membership_member *m = flr_membership_member_find(membership, member);
    if (!m || m->ready == ready) return;
    m->ready = ready;
    membership->changed = true;
}

/* ---- parts ---- */

static flr_membership_part *insert(flr_membership *membership, uint32_t part)
{
    if (membership->part_count >= flr_membership_max_parts(membership)) return NULL;
    uint32_t at = 0;
    while (at < membership->part_count && membership->parts[at].part < part) at++;
    memmove(&membership->parts[at + 1], &membership->parts[at],
            (membership->part_count - at) * sizeof *membership->parts);
    membership->part_count++;
    membership->parts[at] =
        (flr_membership_part){.part = part, .T_world_part = flr_pose_identity()};
    return &membership->parts[at];
}

/* What everybody has at its place, and anybody may take, need not be spoken of any more. */
static void drop_settled(flr_membership *membership)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < membership->part_count; i++) {
        const flr_membership_part *p = &membership->parts[i];
        if (p->holder_count == 0 && p->unsettled_count == 0 && !p->frozen) continue;
        if (kept != i) membership->parts[kept] = *p;
        kept++;
    }
    membership->part_count = kept;
}

bool flr_membership_hold(flr_membership *membership, uint16_t member, uint32_t part)
{
    flr_membership_part *p = flr_membership_part_find(membership, part);
    if (p && flr_membership_holds(p, member)) return true;
    if (p && (p->frozen || p->holder_count == FLR_SESSION_HOLDERS)) return false;
    uint32_t held = 0;
    for (uint32_t i = 0; i < membership->part_count; i++) held += membership->parts[i].holder_count;
    if (held == FLR_MEMBERSHIP_HOLDERS) return false;
    if (!p) p = insert(membership, part);
    if (!p) return false;
    p->rest = false;
    p->unsettled_count = 0;
    p->holders[p->holder_count++] = member;
    return membership->changed = true;
}

/* The place of a part that nobody holds; all who can be heard have to bring it there. */
static void put(flr_membership *membership, flr_membership_part *p, flr_pose T_world_part)
{
    p->rest = true;
    p->number = membership->number + 1;
    p->T_world_part = T_world_part;
    p->unsettled_count = 0;
    for (uint32_t i = 0; i < membership->member_count; i++)
        if (!membership->members[i].away)
            p->unsettled[p->unsettled_count++] = membership->members[i].member;
    membership->changed = true;
}

void flr_membership_release(flr_membership *membership, uint16_t member, uint32_t part,
                            flr_pose T_world_part)
{
    flr_membership_part *p = flr_membership_part_find(membership, part);
    // it may not be moved; who moved it before that was known brings it back
    if (p && p->frozen) {
        put(membership, p, p->T_world_part);
        return;
    }
    // a part that was taken and let go of before the leader knew has been moved all the same
    if (!p) p = insert(membership, part);
    if (!p) return;
    if (take_out(p->holders, &p->holder_count, member)) membership->changed = true;
    if (p->holder_count == 0) put(membership, p, T_world_part);
}

void flr_membership_settle(flr_membership *membership, uint16_t member, uint32_t part,
                           uint32_t number)
{
    flr_membership_part *p = flr_membership_part_find(membership, part);
    if (!p || !p->rest || p->number != number) return;
    if (!take_out(p->unsettled, &p->unsettled_count, member)) return;
    membership->changed = true;
    drop_settled(membership);
}

void flr_membership_move(flr_membership *membership, uint32_t part, uint32_t number,
                         flr_pose T_world_part)
{
    flr_membership_part *p = flr_membership_part_find(membership, part);
    if (p && p->rest && p->number == number) put(membership, p, T_world_part);
}

/* Everything that a member had to do with parts ends. */
static void empty_hands(flr_membership *membership, uint16_t member, bool freeze,
                        flr_membership_where *where, void *context)
{
    for (uint32_t i = 0; i < membership->part_count; i++) {
        flr_membership_part *p = &membership->parts[i];
        membership->changed |= take_out(p->unsettled, &p->unsettled_count, member);
        if (!take_out(p->holders, &p->holder_count, member)) continue;
        membership->changed = true;
        if (p->holder_count > 0) continue;
        flr_pose pose = p->T_world_part;
        if (where) (void)where(context, p->part, &pose);
        put(membership, p, pose);
        p->frozen = freeze ? member : 0;
    }
    drop_settled(membership);
}

void flr_membership_thaw(flr_membership *membership, uint16_t member)
{
    for (uint32_t i = 0; i < membership->part_count; i++)
        if (membership->parts[i].frozen == member) {
            membership->parts[i].frozen = 0;
            membership->changed = true;
        }
    drop_settled(membership);
}

void flr_membership_away(flr_membership *membership, uint16_t member, flr_membership_where *where,
                         void *context)
{
    flr_membership_member *m = flr_membership_member_find(membership, member);
    if (!m || m->away) return;
    m->away = true;
    m->ready = false;
    membership->changed = true;
    empty_hands(membership, member, true, where, context);
}

void flr_membership_back(flr_membership *membership, uint16_t member)
{
    flr_membership_member *m = flr_membership_member_find(membership, member);
    if (!m) return;
    m->away = false;
    membership->changed = true;
    flr_membership_thaw(membership, member);
    for (uint32_t i = 0; i < membership->part_count; i++) {
        flr_membership_part *p = &membership->parts[i];
        if (p->rest && !flr_membership_owes(p, member) && p->unsettled_count < FLR_SESSION_MEMBERS)
            p->unsettled[p->unsettled_count++] = member;
    }
}

void flr_membership_remove(flr_membership *membership, uint16_t member, flr_membership_where *where,
                           void *context)
{
    flr_membership_member *m = flr_membership_member_find(membership, member);
    if (!m) return;
    m->away = true; /* it owes nothing any more */
    empty_hands(membership, member, false, where, context);
    flr_membership_thaw(membership, member);
    uint32_t at = (uint32_t)(m - membership->members);
    memmove(m, m + 1, (membership->member_count - at - 1) * sizeof *m);
    membership->member_count--;
    membership->changed = true;
}

void flr_membership_publish(flr_membership *membership)
{
    if (membership->changed) membership->number++;
    membership->changed = false;
}

/* ---- as a message ---- */

void flr_membership_write(const flr_membership *membership, uint64_t session,
                          flr_membership_buffers *buffers, flr_msg_peer_membership *message)
{
    *message = (flr_msg_peer_membership){.session = session,
                                         .count = membership->epoch.count,
                                         .leader = membership->epoch.leader,
                                         .number = membership->number,
                                         .bits = membership->relay ? FLR_WIRE_PEER_RELAY : 0,
                                         .members = buffers->members,
                                         .members_count = membership->member_count,
                                         .parts = buffers->parts,
                                         .holders = buffers->holders,
                                         .unsettled = buffers->unsettled};
    for (uint32_t i = 0; i < membership->member_count; i++) {
        const flr_membership_member *m = &membership->members[i];
        uint32_t bits = (m->ready ? FLR_WIRE_PEER_READY : 0u) | (m->away ? FLR_WIRE_PEER_AWAY : 0u);
        buffers->members[i] = (flr_wire_peer_entry){
            .member = m->member, .bits = bits, .seen = m->seen, .nonce = m->nonce};
    }
    for (uint32_t i = 0; i < membership->part_count; i++) {
        const flr_membership_part *p = &membership->parts[i];
        // only where a leader before this one broke the rules
        if (message->holders_count + p->holder_count > FLR_MEMBERSHIP_HOLDERS ||
            message->unsettled_count + p->unsettled_count > FLR_MEMBERSHIP_UNSETTLED)
            break;
        uint32_t bits =
            (p->rest ? FLR_WIRE_PEER_REST : 0u) | (p->frozen ? FLR_WIRE_PEER_FROZEN : 0u);
        buffers->parts[message->parts_count++] =
            (flr_wire_peer_place){.part = p->part,
                                  .bits = bits,
                                  .number = p->number,
                                  .member = p->frozen,
                                  .T_world_part = p->T_world_part};
        for (uint32_t k = 0; k < p->holder_count; k++)
            buffers->holders[message->holders_count++] =
                (flr_wire_peer_pair){.part = p->part, .member = p->holders[k]};
        for (uint32_t k = 0; k < p->unsettled_count; k++)
            buffers->unsettled[message->unsettled_count++] =
                (flr_wire_peer_pair){.part = p->part, .member = p->unsettled[k]};
    }
}

static flr_result bad(flr_error *error, const char *what)
{
    return flr_fail(error, FLR_BAD_INPUT, "a membership whose %s", what);
}

/* Gives each pair to its part. Pairs stand in the order of parts. */
static bool deal(const flr_wire_peer_pair *pairs, uint32_t count, flr_membership *membership,
                 bool holders)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (at < membership->part_count && membership->parts[at].part < pairs[i].part) at++;
        if (at == membership->part_count || membership->parts[at].part != pairs[i].part)
            return false;
        flr_membership_part *p = &membership->parts[at];
        uint32_t *n = holders ? &p->holder_count : &p->unsettled_count;
        uint16_t *list = holders ? p->holders : p->unsettled;
        uint32_t capacity = holders ? FLR_SESSION_HOLDERS : FLR_SESSION_MEMBERS;
        const flr_membership_member *m = flr_membership_member_find(membership, pairs[i].member);
        if (*n == capacity || is_in(list, *n, pairs[i].member) || !m || m->away) return false;
        list[(*n)++] = pairs[i].member;
    }
    return true;
}

flr_result flr_membership_read(const flr_msg_peer_membership *message, flr_membership *membership,
                               flr_error *error)
{
    static _Thread_local flr_membership read; /* large, and only copied when all of it is right */
    memset(&read, 0, sizeof read);
    read.epoch = (flr_epoch){message->count, message->leader};
    read.number = message->number;
    read.relay = message->bits & FLR_WIRE_PEER_RELAY;
    for (uint32_t i = 0; i < message->members_count; i++) {
        const flr_wire_peer_entry *m = &message->members[i];
        if (m->member == 0 || (i && m->member <= message->members[i - 1].member))
            return bad(error, "members are not in order");
        read.members[read.member_count++] =
            (flr_membership_member){.member = m->member,
                                    .ready = m->bits & FLR_WIRE_PEER_READY,
                                    .away = m->bits & FLR_WIRE_PEER_AWAY,
                                    .seen = m->seen,
                                    .nonce = m->nonce};
    }
    const flr_membership_member *leader = flr_membership_member_find(&read, read.epoch.leader);
    if (!leader || leader->away) return bad(error, "leader is not in it");
    for (uint32_t i = 0; i < message->parts_count; i++) {
        const flr_wire_peer_place *p = &message->parts[i];
        if (i && p->part <= message->parts[i - 1].part) return bad(error, "parts are not in order");
        bool frozen = p->bits & FLR_WIRE_PEER_FROZEN;
        if (frozen != (p->member != 0)) return bad(error, "frozen parts were held by nobody");
        read.parts[read.part_count++] = (flr_membership_part){.part = p->part,
                                                              .rest = p->bits & FLR_WIRE_PEER_REST,
                                                              .frozen = p->member,
                                                              .number = p->number,
                                                              .T_world_part = p->T_world_part};
    }
    if (!deal(message->holders, message->holders_count, &read, true) ||
        !deal(message->unsettled, message->unsettled_count, &read, false))
        return bad(error, "pairs name what is not in it, twice or out of order");
    for (uint32_t i = 0; i < read.part_count; i++)
        if (read.parts[i].rest == (read.parts[i].holder_count > 0))
            return bad(error, "parts are both held and at rest, or neither");
    *membership = read;
    return FLR_OK;
}
