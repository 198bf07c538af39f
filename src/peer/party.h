/* party.h: a shared session, as one of its members takes part in it.
 *
 *     flr_party_create(&def, &party, &error);
 *     flr_party_lead(party);                          begins a session, or
 *     flr_party_join(party, address);                 asks a member to be let in
 *     again and again:
 *         while (flr_party_next(party, &event)) …     what has happened
 *         flr_party_hold(), flr_party_release() …     what the user here does
 *         flr_party_show(party, &show);               where hands and held parts are
 *         wake = flr_party_service(party);            sends what is due
 *
 * Every member is joined to every other by a line (peer/lines.h). One of them leads: the first, and when nobody hears it any
 * more, the oldest who is left. The leader keeps the roll (peer/roll.h). A member tells everybody what it does in *claims*,
 * which it repeats until the roll shows that the leader knows; the leader sends its roll to everybody whose claims show that
 * they do not have it. Nothing depends on a single packet.
 *
 * Epochs. Whenever somebody is not heard any more, or another one leads, a new epoch begins. Where the network is parted,
 * each side goes on under a leader of its own, and what members of the other side held stays frozen. When they hear each
 * other again, the side with the lower epoch is let in anew by the leader of the other, with empty hands, and takes over
 * where everything is.
 *
 * Everything goes through the env; nothing waits. Thread: control. Not RT safe. */
#ifndef FLR_PEER_PARTY_H
#define FLR_PEER_PARTY_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/env.h"
#include "feeler/hash.h"
#include "peer/lines.h"
#include "peer/roll.h"

enum { FLR_PARTY_NAME = 64, FLR_PARTY_SHOWN = 64 /* parts that one member shows */ };

typedef struct flr_party flr_party;

typedef struct flr_party_def {
    flr_env *env;      /* borrowed; not NULL */
    flr_address local; /* UDP */
    const char *token; /* as for flr_lines_def; not kept */
    const char *name;  /* of the user; cut after FLR_PARTY_NAME bytes; copied. "": "guest" */
    uint32_t colour;   /* 0xrrggbb; UINT32_MAX: the leader chooses */
    uint8_t role;      /* FLR_WIRE_PEER_HAND, the default, or _WATCHER */
    bool has_scene;    /* one who joins with another scene is refused */
    flr_hash scene;
    bool
        relay; /* of one who leads: states go through it, for members who cannot reach each other */
    double rate; /* states in a second, 20 … 1000; default 100 */
    double band; /* metres: what differs less from what others expect is not sent; default 1e-5 */
    double absence; /* s: what somebody held who is away for longer may be taken; default 10 */
    double forget;  /* s: … and is not expected back; default 600 */
    /* Where a part is here, now. May be NULL: then places are the last that were told. */
    flr_roll_where *where;
    void *context;
    flr_lines_def lines; /* env, local and token are taken from above; defaults as there */
} flr_party_def;

flr_party_def flr_default_party_def(void);

/* Opens the socket; talks to nobody yet. */
flr_result flr_party_create(const flr_party_def *def, flr_party **party, flr_error *error);
/* Says goodbye. NULL allowed. */
void flr_party_destroy(flr_party *party);

/* Begins a session with one member. Once, and not after flr_party_join(). */
void flr_party_lead(flr_party *party);
/* Asks to be let in; FLR_PARTY_IN or FLR_PARTY_REFUSED follows. */
void flr_party_join(flr_party *party, flr_address address);

flr_socket *flr_party_socket(const flr_party *party);
flr_address flr_party_address(const flr_party *party);
flr_lines *flr_party_lines(flr_party *party); /* for its counters */

/* Sends what is due; returns when it wants to be called again at the latest, by flr_clock_ns(). */
int64_t flr_party_service(flr_party *party);

/* ---- what has happened ---- */

typedef enum flr_party_event_kind {
    FLR_PARTY_IN, /* this side is a member, or one again: `scene`; places follow */
    FLR_PARTY_REFUSED, /* it is not, and `sentence` says why; it goes on trying only where it was in before */
    FLR_PARTY_PLACE,  /* `part` has been moved and belongs at `T_world_part` */
    FLR_PARTY_PEOPLE, /* somebody came, went, or is another */
    FLR_PARTY_LEADER, /* `member` leads now */
    FLR_PARTY_PART,   /* the roll says something else about `part`: see flr_party_part() */
    FLR_PARTY_LOST, /* `part` may not be held here: refused, or this side was away; or the roll was full when it was let go, and
                       it has not been moved for the others: flr_party_place() says where they have it */
    FLR_PARTY_STATE,   /* of `member`: `state` */
    FLR_PARTY_MESSAGE, /* from `member`: `message`, one that the party does not need itself */
    FLR_PARTY_NEWS     /* `sentence`, for people */
} flr_party_event_kind;

typedef struct flr_party_event {
    flr_party_event_kind kind;
    uint16_t member;
    uint32_t part;
    flr_pose T_world_part;
    flr_hash scene;
    const flr_msg_peer_state
        *state;                 /* until the next flr_party_ call; never older than one before */
    int64_t sent_ns;            /* of a state: when it was sent, by this side's clock */
    const flr_message *message; /* likewise */
    char sentence[256];
} flr_party_event;

bool flr_party_next(flr_party *party, flr_party_event *event);

/* ---- what the user does ---- */

/* Which scene the session has; said by who leads, before anybody joins. */
void flr_party_set_scene(flr_party *party, flr_hash scene);
/* This side has the scene and simulates it. */
void flr_party_ready(flr_party *party, bool ready);
/* Where a part is from the beginning, said by who leads before it is ready: those who join, or come back, put it there. */
void flr_party_set_place(flr_party *party, uint32_t part, flr_pose T_world_part);
/* Would it be allowed, as far as is known here? No: who only looks, a frozen part, no room. */
bool flr_party_may_hold(const flr_party *party, uint32_t part);
/* The user took a part. Is taken to be allowed until FLR_PARTY_LOST says it is not. */
void flr_party_hold(flr_party *party, uint32_t part);
/* The user let go of it; here it shall be, if nobody else holds it. */
void flr_party_release(flr_party *party, uint32_t part, flr_pose T_world_part);
/* The part is where the roll wants it, to the last bit; `number` as in the roll. */
void flr_party_settle(flr_party *party, uint32_t part, uint32_t number);
/* Who leads: the part does not get to where the roll wants it, and lies here; so shall it everywhere. */
void flr_party_move(flr_party *party, uint32_t part, uint32_t number, flr_pose T_world_part);

/* Hands and held parts, as flr_msg_peer_state has them; copied. Sent at the rate, where it differs from what others expect. */
void flr_party_show(flr_party *party, const flr_wire_peer_hand *hands, uint32_t hand_count,
                    const flr_wire_peer_part *parts, uint32_t part_count,
                    const flr_wire_peer_energy *energies, uint32_t energy_count);

/* A message to one member, or to all (0), in order, for certain while the line stands. FLR_AGAIN: not now. FLR_CLOSED. */
flr_result flr_party_send(flr_party *party, uint16_t member, const flr_message *message);

/* ---- how it stands ---- */

typedef struct flr_party_person {
    uint16_t member;
    char name[FLR_PARTY_NAME + 1];
    uint32_t colour;
    uint8_t role;
    bool self, leader, ready, away;
    bool direct;                /* a line is open */
    uint32_t line;              /* its number: what was under way on another one may be lost */
    double delay;               /* s, one way, to here */
    double loss;                /* share of its packets that did not come */
    double bytes_in, bytes_out; /* per second */
    double packets_in, packets_out;
} flr_party_person;

uint32_t flr_party_count(const flr_party *party);
/* The oldest first. False: no such place. */
bool flr_party_person_at(const flr_party *party, uint32_t index, flr_party_person *person);
/* What is known of a member; delay for what comes from it. False: no such. */
bool flr_party_person_find(const flr_party *party, uint16_t member, flr_party_person *person);

/* False: the roll does not speak of it: nobody holds it, and everybody has it at its place. */
bool flr_party_part(const flr_party *party, uint32_t part, flr_roll_part *out);
/* What this side has said: does it hold the part? */
bool flr_party_claims(const flr_party *party, uint32_t part);
/* Is this side the part's owner, as far as everybody knows? */
bool flr_party_owns(const flr_party *party, uint32_t part);
/* Where a part was put last. False: it was never moved. */
bool flr_party_place(const flr_party *party, uint32_t part, flr_pose *T_world_part);

bool flr_party_is_in(const flr_party *party);
bool flr_party_leads(const flr_party *party);
uint16_t flr_party_self(const flr_party *party); /* 0: not a member */
flr_epoch flr_party_epoch(const flr_party *party);
const flr_roll *flr_party_roll(const flr_party *party);
/* Counts up when the roll is another one, or a line to a member. */
uint32_t flr_party_changes(const flr_party *party);

#endif
