/* roll.h: who is in a shared session and who holds what, as its leader puts it in order.
 *
 * The leader changes the roll; everybody else takes over the newest that comes. It is a state, not a list of deeds: a
 * roll that got lost does no harm, the next one says it all. What is in order is told by epoch and number.
 *
 * A part is in the roll while somebody holds it, while not everybody has it at its place, or while it is frozen. Its
 * holders stand in the order in which they took it; the first is its owner. Within an epoch an owner gives a part up only by
 * its own deed, so there are never two.
 *
 * Plain data. Thread: one at a time. */
#ifndef FLR_PEER_ROLL_H
#define FLR_PEER_ROLL_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/math.h"
#include "feeler/result.h"
#include "protocol/messages.h"

enum {
    FLR_PARTY_MEMBERS = 32,
    FLR_PARTY_PARTS = 256,  /* held, or not at their places everywhere */
    FLR_PARTY_HOLDERS = 16, /* of one part */
    /* of all parts together, so that a roll fits one message */
    FLR_ROLL_HOLDERS = 1024,
    FLR_ROLL_UNSETTLED = 4096
};

typedef struct flr_epoch {
    uint32_t count;
    uint16_t leader;
} flr_epoch;

/* Above 0: `a` is believed rather than `b`; 0: they are the same. The higher count, or else the older leader. */
int flr_epoch_compare(flr_epoch a, flr_epoch b);

typedef struct flr_roll_member {
    uint16_t member; /* from 1; never given twice by one side of a session */
    uint64_t nonce;  /* its own, by which it knows that it is meant */
    bool ready, away;
    uint32_t seen; /* serial of its last deed that is in here */
} flr_roll_member;

typedef struct flr_roll_part {
    uint32_t part;
    bool rest;             /* nobody holds it and it has a place */
    uint16_t frozen;       /* who held it and is away; 0: it may be taken */
    uint32_t number;       /* of the place */
    flr_pose T_world_part; /* the place */
    uint32_t holder_count, unsettled_count;
    uint16_t holders[FLR_PARTY_HOLDERS];
    uint16_t unsettled[FLR_PARTY_MEMBERS]; /* who does not have it at its place yet */
} flr_roll_part;

typedef struct flr_roll {
    flr_epoch epoch;
    uint32_t number; /* counts up with every change, through all epochs */
    bool relay;
    bool changed; /* since flr_roll_publish() */
    uint32_t member_count, part_count;
    flr_roll_member members[FLR_PARTY_MEMBERS]; /* the oldest first */
    flr_roll_part parts[FLR_PARTY_PARTS];       /* in order of numbers */
} flr_roll;

/* Above 0: `a` is newer. */
int flr_roll_compare(const flr_roll *a, const flr_roll *b);
/* NULL: none. */
flr_roll_member *flr_roll_member_find(flr_roll *roll, uint16_t member);
flr_roll_part *flr_roll_part_find(flr_roll *roll, uint32_t part);
bool flr_roll_holds(const flr_roll_part *part, uint16_t member);
/* Does this member still have to bring the part to its place? */
bool flr_roll_owes(const flr_roll_part *part, uint16_t member);
/* 0: nobody. */
uint16_t flr_roll_owner(const flr_roll_part *part);

/* How many parts it may have: each may be owed by every member. */
uint32_t flr_roll_most(const flr_roll *roll);

/* ---- what a leader does; each sets `changed` where it changed something ---- */

/* False: it is full, or has so many parts that it would be with one more member. */
bool flr_roll_add(flr_roll *roll, uint16_t member, uint64_t nonce);
void flr_roll_ready(flr_roll *roll, uint16_t member, bool ready);
/* The member takes a part. False: it is frozen, or too many hold it, or too many parts are held. */
bool flr_roll_hold(flr_roll *roll, uint16_t member, uint32_t part);
/* It lets go. Where nobody is left who holds it, this is the place where it shall be. One that is not in the roll, and for which
 * it has no room, has not been moved then: who let go of it finds that, and tells it again when there is room. */
void flr_roll_release(flr_roll *roll, uint16_t member, uint32_t part, flr_pose T_world_part);
void flr_roll_settle(flr_roll *roll, uint16_t member, uint32_t part, uint32_t number);
/* It does not get to its place, as the leader sees it: this is its place from now on. `number` of the old one. */
void flr_roll_move(flr_roll *roll, uint32_t part, uint32_t number, flr_pose T_world_part);

/* Where a part is, at this controller. False: not known. */
typedef bool flr_roll_where(void *context, uint32_t part, flr_pose *T_world_part);

/* Nobody hears the member: what it held alone is frozen where the leader sees it. */
void flr_roll_away(flr_roll *roll, uint16_t member, flr_roll_where *where, void *context);
/* It has been away for long: what it left may be taken. */
void flr_roll_thaw(flr_roll *roll, uint16_t member);
/* It is there again, with empty hands. */
void flr_roll_back(flr_roll *roll, uint16_t member);
/* It is gone for good: what it left is free again. */
void flr_roll_remove(flr_roll *roll, uint16_t member, flr_roll_where *where, void *context);

/* Gives a changed roll its number. */
void flr_roll_publish(flr_roll *roll);

/* ---- as a message ---- */

/* What the lists of a message point into. */
typedef struct flr_roll_room {
    flr_wire_peer_entry members[FLR_PARTY_MEMBERS];
    flr_wire_peer_place parts[FLR_PARTY_PARTS];
    flr_wire_peer_pair holders[FLR_ROLL_HOLDERS];
    flr_wire_peer_pair unsettled[FLR_ROLL_UNSETTLED];
} flr_roll_room;

void flr_roll_write(const flr_roll *roll, uint64_t session, flr_roll_room *room,
                    flr_msg_peer_roll *message);
/* FLR_BAD_INPUT: it contradicts itself; `roll` is untouched then. */
flr_result flr_roll_read(const flr_msg_peer_roll *message, flr_roll *roll, flr_error *error);

#endif
