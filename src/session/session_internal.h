/* session_internal.h: a session, as its own files see it.
 *
 *     session.c         creation, what the user does, queries
 *     session_join.c    members: who is known, letting in, being let in
 *     session_membership.c    commands and claims: how the membership comes about
 *     session_lead.c    leadership: silent members, taking over
 *     session_messages.c    connections and messages: which members are connected to, what is sent when, what came
 *     session_state.c   states: what is shown, dead-band, relay */
#ifndef FLR_SESSION_SESSION_INTERNAL_H
#define FLR_SESSION_SESSION_INTERNAL_H

#include "protocol/codec.h"
#include "session/session.h"

#define FLR_SESSION_MS ((int64_t)1000000)
#define FLR_SESSION_S  ((int64_t)1000000000)
/* A join that has been answered once goes on through interruptions for so many seconds. */
#define FLR_SESSION_JOIN_S 30

enum {
    FLR_SESSION_EVENTS = 1024,
    FLR_SESSION_COMMANDS = 256,
    FLR_SESSION_FRAME = 1 << 16 /* bytes of a message; more do not fit a connection */
};

/* Another member, or this one. */
typedef struct flr_peer {
    uint16_t member;
    uint8_t role;
    uint32_t colour;
    uint64_t nonce;
    char name[FLR_SESSION_NAME + 1];
    flr_address address; /* family 0: not known */
    uint32_t connection, calling;
    int64_t connect_ns; /* not connected to before */
    bool bye;           /* it has left in order */
    /* what its last claim said */
    int64_t claim_ns; /* when it came; 0: none did */
    flr_epoch epoch;
    uint32_t number, heard_ms;
    double delay; /* to the leader */
    int64_t roll_ns, away_ns, unconnected_ns;
    uint64_t state_time; /* of its newest state, by its clock */
} flr_peer;

/* What this side does with a part: it holds it, or has let go of it and the membership does not know that yet. */
typedef struct flr_session_command {
    uint32_t part, serial;
    bool holds;
    flr_pose T_world_part;
} flr_session_command;

typedef struct flr_place {
    uint32_t part, number;
    flr_pose T_world_part;
} flr_place;

/* A connection that stands, and whose it is. */
typedef struct flr_open {
    uint32_t connection;
    uint64_t nonce; /* what the other chose when it started */
    flr_address address;
} flr_open;

typedef enum flr_session_phase {
    FLR_PHASE_NONE,
    FLR_PHASE_JOINING, /* never was in */
    FLR_PHASE_IN,
    FLR_PHASE_SEEKING /* was in; another epoch has won and it asks to be let in again */
} flr_session_phase;

typedef struct flr_shown {
    uint32_t hand_count, part_count, energy_count;
    flr_wire_peer_hand hands[8];
    flr_wire_peer_part parts[FLR_SESSION_SHOWN];
    flr_wire_peer_energy energies[FLR_SESSION_SHOWN];
} flr_shown;

struct flr_session {
    flr_session_def def;
    char name[FLR_SESSION_NAME + 1];
    flr_connections *connections;
    flr_session_phase phase;
    uint64_t session, nonce;
    uint16_t self, top; /* top: the highest number that any member ever had */
    bool ready;
    flr_hash scene;
    bool has_scene;
    /* where it asks to be let in */
    flr_address target;
    flr_address host;   /* that the user named; it may send on to others */
    int64_t began_ns;   /* when that was */
    int64_t sent_on_ns; /* when it was sent on to `target` */
    bool waits;         /* it is not let in yet, and the user knows why */
    uint32_t target_connection;
    int64_t join_ns; /* not asked before */
    int64_t seek_ns; /* since when */
    /* the membership, and the one last reported to the user */
    flr_membership membership, reported;
    uint32_t changes; /* of the membership, and of connections to members */
    uint32_t peer_count;
    flr_peer peers[FLR_SESSION_MEMBERS];
    uint32_t open_count;
    flr_open open[FLR_MAX_CONNECTIONS];
    int64_t ahead_ns;       /* since when somebody speaks of a newer epoch; 0: nobody does */
    int64_t stranger_ns;    /* no membership to who is not in it before */
    int64_t leader_lost_ns; /* since when the leader is not heard; 0: it is */
    /* what this side does */
    uint32_t serial;
    uint32_t command_count, settled_count;
    flr_session_command commands[FLR_SESSION_COMMANDS];
    flr_wire_peer_settled settled[FLR_SESSION_COMMANDS];
    bool claim_now;
    int64_t claim_ns; /* next */
    /* where everything is that has been moved */
    flr_place *places;
    uint32_t place_count, place_capacity;
    /* states */
    flr_shown show, sent;
    bool shown_anew;
    int64_t state_ns, sent_ns;
    /* out */
    flr_session_event events[FLR_SESSION_EVENTS];
    uint32_t event_first, event_count;
    flr_message message; /* that an event points to */
    uint8_t frame[FLR_SESSION_FRAME], decode_buffer[FLR_PROTOCOL_CAPACITY(FLR_SESSION_FRAME)];
    flr_membership_buffers roll_room;
};

/* Copies a name, cut between characters after `most` bytes at most; what is no text becomes '?': no message takes it. */
void flr_session_copy_name(char to[FLR_SESSION_NAME + 1], const char *name, size_t max_size);

int64_t flr_session_now(const flr_session *session);
flr_peer *flr_session_peer(flr_session *session, uint16_t member);
flr_peer *flr_session_peer_of_connection(flr_session *session, uint32_t connection);
void flr_session_tell(flr_session *session, flr_session_event event);
/* What somebody says of its delay, within what can be. */
double flr_session_delay(double seconds);
void flr_session_news(flr_session *session, const char *format, ...) FLR_PRINTF(2, 3);

/* session_join.c */
void flr_session_on_join(flr_session *session, uint32_t connection, const flr_msg_peer_join *join);
void flr_session_on_welcome(flr_session *session, uint32_t connection,
                            const flr_msg_peer_welcome *welcome);
void flr_session_on_refused(flr_session *session, uint32_t connection,
                            const flr_msg_peer_refused *refused);
void flr_session_on_card(flr_session *session, uint32_t connection, const flr_msg_peer_card *card);
/* A member that the membership does not have is not known any more, but for who is about to be put in. */
void flr_session_forget_gone(flr_session *session);
/* The member of this number is the peer that chose this nonce, whatever peer had the number on this side before. */
void flr_session_know_as(flr_session *session, uint16_t member, uint64_t nonce);
/* The member's connection is this one from now on. */
void flr_session_give_connection(flr_session *session, flr_peer *peer, uint32_t connection);
/* Asks to be admitted, where there is a connection; otherwise connects. */
void flr_session_ask(flr_session *session, int64_t now);
/* Who was asked first has sent it on to another, not long ago. */
bool flr_session_is_sent_on(const flr_session *session, int64_t now);
/* Another side of the session has won: ask its leader, or whoever reported it. */
void flr_session_seek(flr_session *session, uint16_t leader, uint32_t connection);

/* session_membership.c */
void flr_session_on_membership(flr_session *session, uint32_t connection,
                               const flr_msg_peer_membership *membership);
void flr_session_on_claim(flr_session *session, uint32_t connection,
                          const flr_msg_peer_claim *claim);
/* After the membership has changed here or another came: completes commands, reports to the user. */
void flr_session_membership_changed(flr_session *session);
/* A command of this side counts at once where it leads itself. */
void flr_session_own_commands(flr_session *session);
bool flr_session_put_place(flr_session *session, uint32_t part, uint32_t number,
                           flr_pose T_world_part);

/* session_lead.c */
void flr_session_on_closed(flr_session *session, const flr_connections_event *closed);
/* Takes over, takes out who is away too long, asks to be let in. */
void flr_session_lead_service(flr_session *session, int64_t now);

/* session_messages.c */
/* Gives connections to members who have none yet. */
void flr_session_bind(flr_session *session);
void flr_session_close_connection(flr_session *session, uint32_t connection, const char *why);
const flr_open *flr_session_open_connection(const flr_session *session, uint32_t connection);
/* Encodes and sends; as a state where it fits one. False: it did not go out. */
bool flr_session_push(flr_session *session, uint32_t connection, const flr_message *message,
                      bool certain);
void flr_session_send_membership(flr_session *session, flr_peer *peer, int64_t now);
void flr_session_messages_service(flr_session *session, int64_t now);

/* session_state.c */
/* True: the event is filled. */
bool flr_session_on_state(flr_session *session, const flr_connections_event *from,
                          flr_session_event *event);
void flr_session_state_service(flr_session *session, int64_t now);

#endif
