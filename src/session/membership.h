/* membership.h: who is in a shared session and who holds what, as its leader puts it in order.
 *
 * The leader changes the membership; everybody else takes over the newest that comes. It is a state, not a list of commands: a
 * membership that got lost does no harm, the next one says it all. Epoch and number give the order.
 *
 * A part is in the membership while somebody holds it, while not everybody has it at its place, or while it is frozen. Its
 * holders stand in the order in which they took it; the first is its owner. Within an epoch an owner gives a part up only by
 * its own command, so there are never two.
 *
 * Plain data. Thread: one at a time. */
#ifndef FLR_SESSION_MEMBERSHIP_H
#define FLR_SESSION_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"
#include "protocol/messages.h"

enum {
    FLR_SESSION_MEMBERS = 64,
    FLR_SESSION_PARTS = 256,  /* held, or not at their places everywhere */
    FLR_SESSION_HOLDERS = 16, /* of one part */
    /* of all parts together, so that a membership fits one message */
    FLR_MEMBERSHIP_HOLDERS = 1024,
    FLR_MEMBERSHIP_UNSETTLED = 4096
};

typedef struct flr_epoch {
    uint32_t count;
    uint16_t leader;
} flr_epoch;

/* Above 0: `a` is believed rather than `b`; 0: they are the same. The higher count, or else the older leader. */
int flr_epoch_compare(flr_epoch a, flr_epoch b);

typedef struct flr_membership_member {
    uint16_t member; /* from 1; never given twice by one side of a session */
    uint64_t nonce;  /* its own, by which it knows that it is meant */
    bool ready, away;
    uint32_t seen; /* serial of its last command that is in here */
} flr_membership_member;

typedef struct flr_membership_part {
    uint32_t part;
    bool rest;             /* nobody holds it and it has a place */
    uint16_t frozen;       /* who held it and is away; 0: it may be taken */
    uint32_t number;       /* of the place */
    flr_pose T_world_part; /* the place */
    uint32_t holder_count, unsettled_count;
    uint16_t holders[FLR_SESSION_HOLDERS];
    uint16_t unsettled[FLR_SESSION_MEMBERS]; /* who does not have it at its place yet */
} flr_membership_part;

typedef struct flr_membership {
    flr_epoch epoch;
    uint32_t number; /* counts up with every change, through all epochs */
    bool relay;
    bool changed; /* since flr_membership_publish() */
    uint32_t member_count, part_count;
    flr_membership_member members[FLR_SESSION_MEMBERS]; /* the oldest first */
    flr_membership_part parts[FLR_SESSION_PARTS];       /* in order of numbers */
} flr_membership;

/* Above 0: `a` is newer. */
int flr_membership_compare(const flr_membership *a, const flr_membership *b);
/* NULL: none. */
flr_membership_member *flr_membership_member_find(flr_membership *membership, uint16_t member);
flr_membership_part *flr_membership_part_find(flr_membership *membership, uint32_t part);
bool flr_membership_holds(const flr_membership_part *part, uint16_t member);
/* Does this member still have to bring the part to its place? */
bool flr_membership_owes(const flr_membership_part *part, uint16_t member);
/* 0: nobody. */
uint16_t flr_membership_owner(const flr_membership_part *part);

/* How many parts it may have: each may be owed by every member. */
uint32_t flr_membership_max_parts(const flr_membership *membership);

/* ---- what a leader does; each sets `changed` where it changed something ---- */

/* False: it is full, or has so many parts that it would be with one more member. */
bool flr_membership_add(flr_membership *membership, uint16_t member, uint64_t nonce);
void flr_membership_ready(flr_membership *membership, uint16_t member, bool ready);
/* The member takes a part. False: it is frozen, or too many hold it, or too many parts are held. */
bool flr_membership_hold(flr_membership *membership, uint16_t member, uint32_t part);
/* It lets go. Where nobody is left who holds it, this is the place where it shall be. One that is not in the membership, and for which
 * it has no room, has not been moved then: who let go of it finds that, and tells it again when there is room. */
void flr_membership_release(flr_membership *membership, uint16_t member, uint32_t part,
                            flr_pose T_world_part);
void flr_membership_settle(flr_membership *membership, uint16_t member, uint32_t part,
                           uint32_t number);
/* It does not get to its place, as the leader sees it: this is its place from now on. `number` of the old one. */
void flr_membership_move(flr_membership *membership, uint32_t part, uint32_t number,
                         flr_pose T_world_part);

/* Where a part is, at this controller. False: not known. */
typedef bool flr_membership_where(void *context, uint32_t part, flr_pose *T_world_part);

/* Nobody hears the member: what it held alone is frozen where the leader sees it. */
void flr_membership_away(flr_membership *membership, uint16_t member, flr_membership_where *where,
                         void *context);
/* It has been away for long: what it left may be taken. */
void flr_membership_thaw(flr_membership *membership, uint16_t member);
/* It is there again, with empty hands. */
void flr_membership_back(flr_membership *membership, uint16_t member);
/* It is gone for good: what it left is free again. */
void flr_membership_remove(flr_membership *membership, uint16_t member, flr_membership_where *where,
                           void *context);

/* Gives a changed membership its number. */
void flr_membership_publish(flr_membership *membership);

/* ---- as a message ---- */

/* What the lists of a message point into. */
typedef struct flr_membership_buffers {
    flr_wire_peer_entry members[FLR_SESSION_MEMBERS];
    flr_wire_peer_place parts[FLR_SESSION_PARTS];
    flr_wire_peer_pair holders[FLR_MEMBERSHIP_HOLDERS];
    flr_wire_peer_pair unsettled[FLR_MEMBERSHIP_UNSETTLED];
} flr_membership_buffers;

void flr_membership_write(const flr_membership *membership, uint64_t session,
                          flr_membership_buffers *buffers, flr_msg_peer_membership *message);
/* FLR_BAD_INPUT: it contradicts itself; `membership` is untouched then. */
flr_result flr_membership_read(const flr_msg_peer_membership *message, flr_membership *membership,
                               flr_error *error);

#endif
