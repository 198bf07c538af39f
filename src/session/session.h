/* session.h: one member's view of a shared session.
 *
 *     flr_session_create(&def, &session, &error);
 *     flr_session_lead(session);                          opens a session, or
 *     flr_session_join(session, address);                 asks a member for admission
 *     repeatedly:
 *         while (flr_session_next(session, &event)) …     what has happened
 *         flr_session_hold(), flr_session_release() …     what the user here does
 *         flr_session_show(session, &show);               where hands and held parts are
 *         wake = flr_session_service(session);            sends what is due
 *
 * Every member has a connection to every other (net/connections.h). One member leads: at first the host; when it falls silent, the oldest
 * remaining member. The leader keeps the membership (session/membership.h). A member announces what it does in *claims* and repeats them
 * until the membership shows that the leader has them. The leader sends the membership to every member whose claims show that it lacks it.
 * No single packet matters.
 *
 * Epochs. A new epoch begins whenever a member falls silent or the leader changes. When the network splits, each side continues under its
 * own leader, and parts held on the other side stay frozen. When the sides hear each other again, the leader of the side with the higher
 * epoch admits the members of the other anew, with empty hands, and they take over its poses.
 *
 * All input and output goes through the env; nothing blocks. Thread: control. Not RT safe. */
#ifndef FLR_SESSION_SESSION_H
#define FLR_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "net/connections.h"
#include "session/membership.h"

enum { FLR_SESSION_NAME = 64, FLR_SESSION_SHOWN = 64 /* parts that one member shows */ };

typedef struct flr_session flr_session;

typedef struct flr_session_def {
    flr_env *env;      /* borrowed; not NULL */
    flr_address local; /* UDP */
    const char *token; /* as for flr_connections_def; not kept */
    const char *name;  /* of the user; cut after FLR_SESSION_NAME bytes; copied. "": "guest" */
    uint32_t colour;   /* 0xrrggbb; UINT32_MAX: the leader chooses */
    uint8_t role;      /* FLR_WIRE_PEER_HAND, the default, or _WATCHER */
    bool has_scene;    /* a guest with another scene is refused */
    flr_hash scene;
    bool relay;  /* of the leader: states go through it, for members that cannot reach each other */
    double rate; /* states in a second, 20 … 1000; default 100 */
    double band; /* metres: what differs less from what others expect is not sent; default 1e-5 */
    double absence; /* s: what somebody held who is away for longer may be taken; default 10 */
    double forget;  /* s: … and is not expected back; default 600 */
    /* Where a part is here, now. May be NULL: then poses are the last ones received. */
    flr_membership_where *where;
    void *context;
    flr_connections_def
        connections; /* env, local and token are taken from above; defaults as there */
} flr_session_def;

flr_session_def flr_default_session_def(void);

/* Opens the socket; talks to nobody yet. */
flr_result flr_session_create(const flr_session_def *def, flr_session **session, flr_error *error);
/* Says goodbye. NULL allowed. */
void flr_session_destroy(flr_session *session);

/* Begins a session with one member. Once, and not after flr_session_join(). */
void flr_session_lead(flr_session *session);
/* Asks to be let in; FLR_SESSION_IN or FLR_SESSION_REFUSED follows. */
void flr_session_join(flr_session *session, flr_address address);

flr_socket *flr_session_socket(const flr_session *session);
flr_address flr_session_address(const flr_session *session);
flr_connections *flr_session_connections(flr_session *session); /* for its counters */

/* Sends what is due; returns when it wants to be called again at the latest, by flr_clock_ns(). */
int64_t flr_session_service(flr_session *session);

/* ---- what has happened ---- */

typedef enum flr_session_event_kind {
    FLR_SESSION_IN, /* this side is a member, or one again: `scene`; places follow */
    FLR_SESSION_REFUSED, /* it is not, and `sentence` says why; it goes on trying only where it was in before */
    FLR_SESSION_PLACE,  /* `part` has been moved and belongs at `T_world_part` */
    FLR_SESSION_PEOPLE, /* somebody came, went, or is another */
    FLR_SESSION_LEADER, /* `member` leads now */
    FLR_SESSION_PART, /* the membership says something else about `part`: see flr_session_part() */
    FLR_SESSION_LOST, /* `part` may not be held here: refused, or this side was away; or the membership was full when it was let go, and
                       it has not been moved for the others: flr_session_place() says where they have it */
    FLR_SESSION_STATE,   /* of `member`: `state` */
    FLR_SESSION_MESSAGE, /* from `member`: `message`, one that the session does not need itself */
    FLR_SESSION_NEWS     /* `sentence`, for people */
} flr_session_event_kind;

typedef struct flr_session_event {
    flr_session_event_kind kind;
    uint16_t member;
    uint32_t part;
    flr_pose T_world_part;
    flr_hash scene;
    const flr_msg_peer_state
        *state;                 /* until the next flr_session_ call; never older than one before */
    int64_t sent_ns;            /* of a state: when it was sent, by this side's clock */
    const flr_message *message; /* likewise */
    char sentence[256];
} flr_session_event;

bool flr_session_next(flr_session *session, flr_session_event *event);

/* ---- what the user does ---- */

/* Which scene the session has; said by who leads, before anybody joins. */
void flr_session_set_scene(flr_session *session, flr_hash scene);
/* This side has the scene and simulates it. */
void flr_session_ready(flr_session *session, bool ready);
/* Where a part is from the beginning, said by who leads before it is ready: those who join, or come back, put it there. */
void flr_session_set_place(flr_session *session, uint32_t part, flr_pose T_world_part);
/* Would it be allowed, as far as is known here? No: who only looks, a frozen part, no room. */
bool flr_session_may_hold(const flr_session *session, uint32_t part);
/* The user took a part. Is taken to be allowed until FLR_SESSION_LOST says it is not. */
void flr_session_hold(flr_session *session, uint32_t part);
/* The user let go of it; here it shall be, if nobody else holds it. */
void flr_session_release(flr_session *session, uint32_t part, flr_pose T_world_part);
/* The part is where the membership wants it, to the last bit; `number` as in the membership. */
void flr_session_settle(flr_session *session, uint32_t part, uint32_t number);
/* Who leads: the part does not get to where the membership wants it, and lies here; so shall it everywhere. */
void flr_session_move(flr_session *session, uint32_t part, uint32_t number, flr_pose T_world_part);

/* Hands and held parts, as flr_msg_peer_state has them; copied. Sent at the rate, where it differs from what others expect. */
void flr_session_show(flr_session *session, const flr_wire_peer_hand *hands, uint32_t hand_count,
                      const flr_wire_peer_part *parts, uint32_t part_count,
                      const flr_wire_peer_energy *energies, uint32_t energy_count);

/* A message to one member, or to all (0), in order, for certain while the connection stands. FLR_AGAIN: not now. FLR_CLOSED. */
flr_result flr_session_send(flr_session *session, uint16_t member, const flr_message *message);

/* ---- how it stands ---- */

typedef struct flr_session_person {
    uint16_t member;
    char name[FLR_SESSION_NAME + 1];
    uint32_t colour;
    uint8_t role;
    bool self, leader, ready, away;
    bool direct;                /* a connection is open */
    uint32_t connection;        /* its number: what was under way on another one may be lost */
    double delay;               /* s, one way, to here */
    double loss;                /* share of its packets that did not come */
    double bytes_in, bytes_out; /* per second */
    double packets_in, packets_out;
} flr_session_person;

uint32_t flr_session_count(const flr_session *session);
/* The oldest first. False: no such place. */
bool flr_session_person_at(const flr_session *session, uint32_t index, flr_session_person *person);
/* What is known of a member; delay for what comes from it. False: no such. */
bool flr_session_person_find(const flr_session *session, uint16_t member,
                             flr_session_person *person);

/* False: the membership does not speak of it: nobody holds it, and everybody has it at its place. */
bool flr_session_part(const flr_session *session, uint32_t part, flr_membership_part *out);
/* What this side has said: does it hold the part? */
bool flr_session_claims(const flr_session *session, uint32_t part);
/* Is this side the part's owner, as far as everybody knows? */
bool flr_session_owns(const flr_session *session, uint32_t part);
/* Where a part was put last. False: it was never moved. */
bool flr_session_place(const flr_session *session, uint32_t part, flr_pose *T_world_part);

bool flr_session_is_in(const flr_session *session);
bool flr_session_hosts(const flr_session *session);
uint16_t flr_session_self(const flr_session *session); /* 0: not a member */
flr_epoch flr_session_epoch(const flr_session *session);
const flr_membership *flr_session_membership(const flr_session *session);
/* Counts up when the membership is another one, or a connection to a member. */
uint32_t flr_session_changes(const flr_session *session);

#endif
