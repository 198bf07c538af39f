/* the roll of a shared session: what its leader does to it, and how it travels */
#include "peer/roll.h"

#include <string.h>

int flr_epoch_compare(flr_epoch a, flr_epoch b)
{
    if (a.count != b.count) return a.count > b.count ? 1 : -1;
    // the older member has the lower number
    return a.leader == b.leader ? 0 : a.leader < b.leader ? 1 : -1;
}

int flr_roll_compare(const flr_roll *a, const flr_roll *b)
{
    int epoch = flr_epoch_compare(a->epoch, b->epoch);
    return epoch ? epoch : a->number > b->number ? 1 : a->number < b->number ? -1 : 0;
}

/* ---- looking ---- */

flr_roll_member *flr_roll_member_find(flr_roll *roll, uint16_t member)
{
    for (uint32_t i = 0; i < roll->member_count; i++)
        if (roll->members[i].member == member) return &roll->members[i];
    return NULL;
}

flr_roll_part *flr_roll_part_find(flr_roll *roll, uint32_t part)
{
    for (uint32_t i = 0; i < roll->part_count; i++)
        if (roll->parts[i].part == part) return &roll->parts[i];
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

bool flr_roll_holds(const flr_roll_part *part, uint16_t member)
{
    return is_in(part->holders, part->holder_count, member);
}

bool flr_roll_owes(const flr_roll_part *part, uint16_t member)
{
    return is_in(part->unsettled, part->unsettled_count, member);
}

uint16_t flr_roll_owner(const flr_roll_part *part)
{
    return part->holder_count ? part->holders[0] : 0;
}

static uint32_t most_with(uint32_t members)
{
    uint32_t most = members ? FLR_ROLL_UNSETTLED / members : FLR_PARTY_PARTS;
    return most < FLR_PARTY_PARTS ? most : FLR_PARTY_PARTS;
}

uint32_t flr_roll_most(const flr_roll *roll) { return most_with(roll->member_count); }

/* ---- members ---- */

bool flr_roll_add(flr_roll *roll, uint16_t member, uint64_t nonce)
{
    uint32_t count = roll->member_count;
    if (count == FLR_PARTY_MEMBERS || roll->part_count > most_with(count + 1)) return false;
    roll->members[roll->member_count++] = (flr_roll_member){.member = member, .nonce = nonce};
    // where parts are that are settled already it is told apart; these it has to bring there
    for (uint32_t i = 0; i < roll->part_count; i++) {
        flr_roll_part *p = &roll->parts[i];
        if (p->rest && p->unsettled_count < FLR_PARTY_MEMBERS)
            p->unsettled[p->unsettled_count++] = member;
    }
    return roll->changed = true;
}

void flr_roll_ready(flr_roll *roll, uint16_t member, bool ready)
{
    flr_roll_member *m = flr_roll_member_find(roll, member);
    if (!m || m->ready == ready) return;
    m->ready = ready;
    roll->changed = true;
}

/* ---- parts ---- */

static flr_roll_part *insert(flr_roll *roll, uint32_t part)
{
    if (roll->part_count >= flr_roll_most(roll)) return NULL;
    uint32_t at = 0;
    while (at < roll->part_count && roll->parts[at].part < part) at++;
    memmove(&roll->parts[at + 1], &roll->parts[at], (roll->part_count - at) * sizeof *roll->parts);
    roll->part_count++;
    roll->parts[at] = (flr_roll_part){.part = part, .T_world_part = flr_pose_identity()};
    return &roll->parts[at];
}

/* What everybody has at its place, and anybody may take, need not be spoken of any more. */
static void drop_settled(flr_roll *roll)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < roll->part_count; i++) {
        const flr_roll_part *p = &roll->parts[i];
        if (p->holder_count == 0 && p->unsettled_count == 0 && !p->frozen) continue;
        if (kept != i) roll->parts[kept] = *p;
        kept++;
    }
    roll->part_count = kept;
}

bool flr_roll_hold(flr_roll *roll, uint16_t member, uint32_t part)
{
    flr_roll_part *p = flr_roll_part_find(roll, part);
    if (p && flr_roll_holds(p, member)) return true;
    if (p && (p->frozen || p->holder_count == FLR_PARTY_HOLDERS)) return false;
    uint32_t held = 0;
    for (uint32_t i = 0; i < roll->part_count; i++) held += roll->parts[i].holder_count;
    if (held == FLR_ROLL_HOLDERS) return false;
    if (!p) p = insert(roll, part);
    if (!p) return false;
    p->rest = false;
    p->unsettled_count = 0;
    p->holders[p->holder_count++] = member;
    return roll->changed = true;
}

/* The place of a part that nobody holds; all who can be heard have to bring it there. */
static void put(flr_roll *roll, flr_roll_part *p, flr_pose T_world_part)
{
    p->rest = true;
    p->number = roll->number + 1;
    p->T_world_part = T_world_part;
    p->unsettled_count = 0;
    for (uint32_t i = 0; i < roll->member_count; i++)
        if (!roll->members[i].away) p->unsettled[p->unsettled_count++] = roll->members[i].member;
    roll->changed = true;
}

void flr_roll_release(flr_roll *roll, uint16_t member, uint32_t part, flr_pose T_world_part)
{
    flr_roll_part *p = flr_roll_part_find(roll, part);
    // it may not be moved; who moved it before that was known brings it back
    if (p && p->frozen) {
        put(roll, p, p->T_world_part);
        return;
    }
    // a part that was taken and let go of before the leader knew has been moved all the same
    if (!p) p = insert(roll, part);
    if (!p) return;
    if (take_out(p->holders, &p->holder_count, member)) roll->changed = true;
    if (p->holder_count == 0) put(roll, p, T_world_part);
}

void flr_roll_settle(flr_roll *roll, uint16_t member, uint32_t part, uint32_t number)
{
    flr_roll_part *p = flr_roll_part_find(roll, part);
    if (!p || !p->rest || p->number != number) return;
    if (!take_out(p->unsettled, &p->unsettled_count, member)) return;
    roll->changed = true;
    drop_settled(roll);
}

void flr_roll_move(flr_roll *roll, uint32_t part, uint32_t number, flr_pose T_world_part)
{
    flr_roll_part *p = flr_roll_part_find(roll, part);
    if (p && p->rest && p->number == number) put(roll, p, T_world_part);
}

/* Everything that a member had to do with parts ends. */
static void empty_hands(flr_roll *roll, uint16_t member, bool freeze, flr_roll_where *where,
                        void *context)
{
    for (uint32_t i = 0; i < roll->part_count; i++) {
        flr_roll_part *p = &roll->parts[i];
        roll->changed |= take_out(p->unsettled, &p->unsettled_count, member);
        if (!take_out(p->holders, &p->holder_count, member)) continue;
        roll->changed = true;
        if (p->holder_count > 0) continue;
        flr_pose pose = p->T_world_part;
        if (where) (void)where(context, p->part, &pose);
        put(roll, p, pose);
        p->frozen = freeze ? member : 0;
    }
    drop_settled(roll);
}

void flr_roll_thaw(flr_roll *roll, uint16_t member)
{
    for (uint32_t i = 0; i < roll->part_count; i++)
        if (roll->parts[i].frozen == member) {
            roll->parts[i].frozen = 0;
            roll->changed = true;
        }
    drop_settled(roll);
}

void flr_roll_away(flr_roll *roll, uint16_t member, flr_roll_where *where, void *context)
{
    flr_roll_member *m = flr_roll_member_find(roll, member);
    if (!m || m->away) return;
    m->away = true;
    m->ready = false;
    roll->changed = true;
    empty_hands(roll, member, true, where, context);
}

void flr_roll_back(flr_roll *roll, uint16_t member)
{
    flr_roll_member *m = flr_roll_member_find(roll, member);
    if (!m) return;
    m->away = false;
    roll->changed = true;
    flr_roll_thaw(roll, member);
    for (uint32_t i = 0; i < roll->part_count; i++) {
        flr_roll_part *p = &roll->parts[i];
        if (p->rest && !flr_roll_owes(p, member) && p->unsettled_count < FLR_PARTY_MEMBERS)
            p->unsettled[p->unsettled_count++] = member;
    }
}

void flr_roll_remove(flr_roll *roll, uint16_t member, flr_roll_where *where, void *context)
{
    flr_roll_member *m = flr_roll_member_find(roll, member);
    if (!m) return;
    m->away = true; /* it owes nothing any more */
    empty_hands(roll, member, false, where, context);
    flr_roll_thaw(roll, member);
    uint32_t at = (uint32_t)(m - roll->members);
    memmove(m, m + 1, (roll->member_count - at - 1) * sizeof *m);
    roll->member_count--;
    roll->changed = true;
}

void flr_roll_publish(flr_roll *roll)
{
    if (roll->changed) roll->number++;
    roll->changed = false;
}

/* ---- as a message ---- */

void flr_roll_write(const flr_roll *roll, uint64_t session, flr_roll_room *room,
                    flr_msg_peer_roll *message)
{
    *message = (flr_msg_peer_roll){.session = session,
                                   .count = roll->epoch.count,
                                   .leader = roll->epoch.leader,
                                   .number = roll->number,
                                   .bits = roll->relay ? FLR_WIRE_PEER_RELAY : 0,
                                   .members = room->members,
                                   .members_count = roll->member_count,
                                   .parts = room->parts,
                                   .holders = room->holders,
                                   .unsettled = room->unsettled};
    for (uint32_t i = 0; i < roll->member_count; i++) {
        const flr_roll_member *m = &roll->members[i];
        uint32_t bits = (m->ready ? FLR_WIRE_PEER_READY : 0u) | (m->away ? FLR_WIRE_PEER_AWAY : 0u);
        room->members[i] = (flr_wire_peer_entry){
            .member = m->member, .bits = bits, .seen = m->seen, .nonce = m->nonce};
    }
    for (uint32_t i = 0; i < roll->part_count; i++) {
        const flr_roll_part *p = &roll->parts[i];
        // only where a leader before this one broke the rules
        if (message->holders_count + p->holder_count > FLR_ROLL_HOLDERS ||
            message->unsettled_count + p->unsettled_count > FLR_ROLL_UNSETTLED)
            break;
        uint32_t bits =
            (p->rest ? FLR_WIRE_PEER_REST : 0u) | (p->frozen ? FLR_WIRE_PEER_FROZEN : 0u);
        room->parts[message->parts_count++] =
            (flr_wire_peer_place){.part = p->part,
                                  .bits = bits,
                                  .number = p->number,
                                  .member = p->frozen,
                                  .T_world_part = p->T_world_part};
        for (uint32_t k = 0; k < p->holder_count; k++)
            room->holders[message->holders_count++] =
                (flr_wire_peer_pair){.part = p->part, .member = p->holders[k]};
        for (uint32_t k = 0; k < p->unsettled_count; k++)
            room->unsettled[message->unsettled_count++] =
                (flr_wire_peer_pair){.part = p->part, .member = p->unsettled[k]};
    }
}

static flr_result bad(flr_error *error, const char *what)
{
    return flr_fail(error, FLR_BAD_INPUT, "a roll whose %s", what);
}

/* Gives each pair to its part. Pairs stand in the order of parts. */
static bool deal(const flr_wire_peer_pair *pairs, uint32_t count, flr_roll *roll, bool holders)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (at < roll->part_count && roll->parts[at].part < pairs[i].part) at++;
        if (at == roll->part_count || roll->parts[at].part != pairs[i].part) return false;
        flr_roll_part *p = &roll->parts[at];
        uint32_t *n = holders ? &p->holder_count : &p->unsettled_count;
        uint16_t *list = holders ? p->holders : p->unsettled;
        uint32_t most = holders ? FLR_PARTY_HOLDERS : FLR_PARTY_MEMBERS;
        const flr_roll_member *m = flr_roll_member_find(roll, pairs[i].member);
        if (*n == most || is_in(list, *n, pairs[i].member) || !m || m->away) return false;
        list[(*n)++] = pairs[i].member;
    }
    return true;
}

flr_result flr_roll_read(const flr_msg_peer_roll *message, flr_roll *roll, flr_error *error)
{
    static _Thread_local flr_roll read; /* large, and only copied when all of it is right */
    memset(&read, 0, sizeof read);
    read.epoch = (flr_epoch){message->count, message->leader};
    read.number = message->number;
    read.relay = message->bits & FLR_WIRE_PEER_RELAY;
    for (uint32_t i = 0; i < message->members_count; i++) {
        const flr_wire_peer_entry *m = &message->members[i];
        if (m->member == 0 || (i && m->member <= message->members[i - 1].member))
            return bad(error, "members are not in order");
        read.members[read.member_count++] =
            (flr_roll_member){.member = m->member,
                              .ready = m->bits & FLR_WIRE_PEER_READY,
                              .away = m->bits & FLR_WIRE_PEER_AWAY,
                              .seen = m->seen,
                              .nonce = m->nonce};
    }
    const flr_roll_member *leader = flr_roll_member_find(&read, read.epoch.leader);
    if (!leader || leader->away) return bad(error, "leader is not in it");
    for (uint32_t i = 0; i < message->parts_count; i++) {
        const flr_wire_peer_place *p = &message->parts[i];
        if (i && p->part <= message->parts[i - 1].part) return bad(error, "parts are not in order");
        bool frozen = p->bits & FLR_WIRE_PEER_FROZEN;
        if (frozen != (p->member != 0)) return bad(error, "frozen parts were held by nobody");
        read.parts[read.part_count++] = (flr_roll_part){.part = p->part,
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
    *roll = read;
    return FLR_OK;
}
