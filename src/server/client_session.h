/* client_session.h: the inside of hub and session, for their sources alone; server/hub.h is what others read */
#ifndef FLR_SERVER_CLIENT_SESSION_H
#define FLR_SERVER_CLIENT_SESSION_H

#include "protocol/codec.h"
#include "server/hub.h"
#include "server/upload.h"
#include "sim/overlay.h"

enum {
    FLR_CLIENT_SESSION_TRANSFERS = 8192, /* meshes that a client may wait for */
    FLR_CLIENT_SESSION_UPLOADS = 4,
    FLR_CLIENT_SESSION_NEAR_PARTS = 64, /* whose voxels were shown last */
    FLR_HUB_QUESTIONS = 256,            /* questions that workers are at */
    FLR_HUB_GUEST_HANDS = 512,          /* as the table of messages has it */
    FLR_HUB_GUEST_PARTS = 8192,
    FLR_HUB_GUEST_INSTANCES = 64
};

/* a frame that waits to be sent */
typedef struct flr_queued_frame {
    struct flr_queued_frame *next;
    size_t size;
    uint8_t bytes[];
} flr_queued_frame;

/* a mesh that is asked for, or being sent; or an overlay */
typedef struct flr_transfer {
    uint32_t request, max_triangles;
    flr_mesh_id mesh;
    uint32_t chunk;              /* next to be sent; of an overlay: position */
    bool begun;                  /* the message `mesh`, or a piece of the overlay, was sent */
    const flr_level *level;      /* NULL: not known to be there yet */
    flr_overlay_request *wanted; /* owned; NULL: it is a mesh */
    const flr_overlay *overlay;  /* the request's; NULL: not known to be there yet */
} flr_transfer;

struct flr_client_session {
    flr_hub *hub;
    flr_client_session *next; /* in the hub */
    uint32_t number;
    char from[64];
    bool local; /* it may name files of this machine */
    int64_t opened;
    enum { FLR_CLIENT_SESSION_NEW, FLR_CLIENT_SESSION_TALKING, FLR_CLIENT_SESSION_ENDING } state;
    uint8_t minor, role;
    uint32_t abilities, wants;

    /* what waits for it */
    flr_queued_frame *first, *last;
    size_t queued; /* bytes */
    flr_transfer *transfers;
    uint32_t transfer_count, transfer_capacity;

    /* which parts it knows of; one that reads too slowly to be sent every change gets the difference when its queue is empty */
    uint32_t *known; /* [known_count]: parts, rising */
    uint32_t known_count, known_capacity;
    uint32_t known_scene; /* the one sent last */
    bool known_lost; /* no memory for the list: the whole scene is sent in place of a difference */
    bool behind;     /* changes were left out: it needs the difference */

    /* state frames */
    int64_t period, due;         /* ns; period 0: only when asked */
    bool guests_due;             /* hands of others come after it */
    bool guests_shown;           /* … and there were some */
    bool shown;                  /* a state has been sent */
    uint64_t frame;              /* of the one sent last */
    uint32_t scene;              /* … to which it belonged */
    flr_engine_part_state *sent; /* [sent_count]: parts as the client knows them */
    uint32_t sent_count, sent_capacity;

    /* what is near */
    uint64_t near_number; /* of the one that is sent, or was */
    uint64_t voxels_number;
    uint32_t near_vertex;        /* next to be sent; UINT32_MAX: all sent */
    const flr_level *near_level; /* numbering of the vertices */
    flr_mesh_id near_mesh;
    flr_part_id near_parts[FLR_CLIENT_SESSION_NEAR_PARTS];
    uint32_t near_part_count;

    /* its manners */
    uint32_t malformed;
    int64_t second;       /* when the present one began */
    uint32_t this_second; /* messages in it */
    uint32_t hands;       /* bits: those that it moved or let take something */
    flr_upload *uploads[FLR_CLIENT_SESSION_UPLOADS];
};

typedef struct flr_question {
    uint32_t token, session, request; /* token 0: free */
    uint16_t command;                 /* its id */
} flr_question;

/* an upload that a job reads */
typedef struct flr_hub_upload {
    uint32_t job;
    uint64_t bytes;
} flr_hub_upload;

struct flr_hub {
    flr_hub_def def;
    flr_levels *levels;
    flr_client_session *sessions;
    uint32_t session_count, next_number, next_upload, next_token;
    uint8_t *scratch; /* [scratch_size]: encoding */
    size_t scratch_size;
    uint8_t *decode_buffer; /* [decode_size] */
    size_t decode_size;
    uint64_t upload_bytes;   /* of uploads under way, and of those that no worker has read yet */
    flr_hub_upload *uploads; /* [upload_count]: the latter */
    uint32_t upload_count, upload_capacity;
    flr_question questions[FLR_HUB_QUESTIONS];
    flr_msg_replay wanted; /* what to do with a replay when it has been read */
    bool wanting, replaying;
    int64_t replay_at; /* when clients last received it */
    int64_t began, health_at;
    flr_share *share;                     /* NULL: none */
    uint16_t people[FLR_SESSION_MEMBERS]; /* that clients know of */
    uint32_t people_count, people_changes;
    int64_t people_at; /* when they were */
    flr_wire_guest_hand guest_hands[FLR_HUB_GUEST_HANDS];
    flr_wire_guest_part guest_parts[FLR_HUB_GUEST_PARTS];
    flr_wire_guest_instance guest_instances[FLR_HUB_GUEST_INSTANCES];
    int64_t news_at;          /* when the present second of news began */
    uint32_t news;            /* sent in it */
    uint32_t news_left_out;   /* … and left out */
    flr_engine_health health; /* as of health_at */
    flr_engine_event event;
    flr_wire_part_state parts[FLR_ENGINE_PARTS]; /* of the state that is being encoded */
    flr_wire_contact contacts[FLR_ENGINE_CONTACTS];
    float distances[65536]; /* of vertices, or coordinates of voxels */
};

/* ---- session.c ---- */

flr_client_session *flr_client_session_find(const flr_hub *hub, uint32_t number); /* NULL: gone */
/* Puts a message into the queue. Where it cannot be had or kept, the session ends. */
void flr_client_session_send(flr_client_session *session, const flr_message *message);
/* The same for a frame that is encoded; size 0: nothing. */
void flr_client_session_queue(flr_client_session *session, const void *bytes, size_t size);
/* The oldest frame of the queue. False: none. */
bool flr_client_session_take(flr_client_session *session, void *bytes, size_t capacity,
                             size_t *size);
void flr_client_session_done(flr_client_session *session, uint32_t request, uint32_t value);
void flr_client_session_fail(flr_client_session *session, const flr_message *command,
                             const flr_error *error);
/* done or fail, by `result` */
void flr_client_session_answer(flr_client_session *session, const flr_message *command,
                               flr_result result, uint32_t value, const flr_error *error);

/* ---- client_commands.c ---- */
void flr_client_session_command(flr_client_session *session, const flr_message *message,
                                int64_t now);

/* ---- client_uploads.c ---- */
/* Carries out upload, upload_bytes, upload_triangles or upload_end, and answers. */
void flr_client_session_upload(flr_client_session *session, const flr_message *message);

/* ---- client_scene.c ---- */
void flr_client_session_send_scene(flr_client_session *session);
void flr_client_session_send_part(flr_client_session *session, const flr_engine_part *part);
void flr_client_session_send_gone(flr_client_session *session, uint32_t part);
void flr_client_session_send_groups(flr_client_session *session); /* all of them */
void flr_client_session_send_notes(flr_client_session *session);  /* likewise */
void flr_client_session_send_joints(flr_client_session *session); /* likewise */
void flr_client_session_send_up(flr_client_session *session);
void flr_client_session_send_files(flr_client_session *session); /* that have changed */
/* Is the queue too long for changes that flr_client_session_resync() can send later? Then it is behind from now on. */
bool flr_client_session_fell_behind(flr_client_session *session);
/* Sends what it needs to know everything as it is now. */
void flr_client_session_resync(flr_client_session *session);
void flr_client_session_send_job(flr_client_session *session, const flr_engine_job *job);
void flr_client_session_send_parameter(flr_client_session *session, uint32_t request,
                                       uint32_t index);
void flr_client_session_send_device(flr_client_session *session, uint32_t request, uint32_t index);
void flr_client_session_send_recording(flr_client_session *session, uint32_t request,
                                       uint32_t index);
void flr_client_session_send_health(flr_client_session *session, uint32_t request, int64_t now);
/* An upload counts until its job has ended; where there is no memory to remember it, it does not. */
void flr_hub_count_upload(flr_hub *hub, uint32_t job, uint64_t bytes);
const flr_engine_health *flr_hub_health(flr_hub *hub, int64_t now);

/* Where a replay is, to all who want to know, or to one. */
void flr_hub_tell_replay(flr_hub *hub);
void flr_client_session_send_replay(flr_client_session *session);
flr_wire_timing flr_timing_of(const flr_percentiles *times); /* of ns */

/* ---- client_share.c ---- */
int64_t flr_hub_pump_share(flr_hub *hub, int64_t now);
/* May this command be carried out while the session is shared? FLR_DENIED, and the sentence says why. */
flr_result flr_hub_check_share(const flr_hub *hub, uint16_t id, flr_error *error);
/* Bytes; 0: nothing was written. */
size_t flr_client_session_guests(flr_client_session *session, void *bytes, size_t capacity);

/* ---- client_stream.c: what is made when there is room to send it ---- */
/* The functions that write return bytes; 0: nothing was written. */
size_t flr_client_session_state(flr_client_session *session, uint32_t request, bool whole,
                                int64_t now, void *bytes, size_t capacity);
bool flr_client_session_state_due(const flr_client_session *session, int64_t now);
size_t flr_client_session_near(flr_client_session *session, void *bytes, size_t capacity);
bool flr_client_session_near_due(flr_client_session *session);
size_t flr_client_session_mesh(flr_client_session *session, void *bytes, size_t capacity);
bool flr_client_session_mesh_due(flr_client_session *session);
/* False: too much is asked for already. A request is the session's from then on, also on failure. */
bool flr_client_session_ask_mesh(flr_client_session *session, uint32_t request, flr_mesh_id mesh,
                                 uint32_t max_triangles);
bool flr_client_session_can_ask_overlay(const flr_client_session *session);
bool flr_client_session_ask_overlay(flr_client_session *session, uint32_t request,
                                    flr_overlay_request *wanted);
void flr_client_session_forget_meshes(flr_client_session *session);
size_t flr_client_session_encode(const flr_client_session *session, const flr_message *message,
                                 void *bytes, size_t capacity);

#endif
