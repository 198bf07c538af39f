/* client_internal.h: what the sources of the client share. Everything below `lock` is guarded by it; who waits, waits for `news`. */
#ifndef FLR_CLIENT_CLIENT_INTERNAL_H
#define FLR_CLIENT_CLIENT_INTERNAL_H

#include <libwebsockets.h>
#include <pthread.h>

#include "feeler/client.h"
#include "protocol/codec.h"

enum {
    FLR_CLIENT_JOBS = 64,           /* of which the end is remembered */
    FLR_CLIENT_MAX_FRAME = 1 << 24, /* bytes of a frame that is taken in */
    FLR_CLIENT_PIECE = 65536 * 3,   /* numbers in a piece of an upload */
    FLR_CLIENT_CONTACTS = 1024
};

#define FLR_CLIENT_WATCH UINT32_MAX /* request number of the watch, which nobody waits for */

/* a frame on its way out; the library wants room before it */
typedef struct flr_client_out {
    struct flr_client_out *next;
    size_t size;
    unsigned char room[LWS_PRE];
    unsigned char bytes[];
} flr_client_out;

typedef struct flr_client_job {
    uint32_t job, part;
    bool ended;
    flr_result result;
    char sentence[FLR_ERROR_MESSAGE_SIZE];
} flr_client_job;

/* a command that waits for its answer */
typedef struct flr_client_request {
    uint32_t number; /* 0: none */
    bool answered;
    flr_result result;
    uint32_t value;
    char sentence[FLR_ERROR_MESSAGE_SIZE];
    flr_msg_clearance clearance;
    const char *parameter; /* whose value is wanted */
    bool found;
    double number_value;
    unsigned char *piece; /* of a recording, [piece_room] */
    size_t piece_size, piece_room;
    uint64_t total;
} flr_client_request;

struct flr_client {
    // fixed
    char *host, *path, *token, *name, *ca_file, *label; /* label: host:port */
    int port;
    bool tls, any_certificate, reconnect;
    double timeout;
    uint32_t state_rate;
    struct lws_context *context;
    pthread_t thread;
    pthread_mutex_t commands; /* one command at a time */

    pthread_mutex_t lock;
    pthread_cond_t news;
    // the connection
    bool closing, welcomed, failed; /* failed: the last attempt, for `why` */
    flr_error why;
    uint32_t connections;
    uint8_t minor;
    struct lws *socket; /* the thread's */
    lws_sorted_usec_list_t again;
    flr_client_out *first, *last;
    unsigned char *in; /* a message that comes in pieces */
    size_t in_size, in_room;
    void *room; /* for decoding */
    size_t room_size;
    // hands that are to be sent, the newest only
    bool hand_waits[FLR_CLIENT_HANDS];
    flr_msg_hand_input hand[FLR_CLIENT_HANDS];
    // the scene
    uint32_t scene, expected;
    bool scene_known;
    flr_client_part *parts;
    size_t part_count, part_room;
    // the newest frame
    flr_client_frame_state frame;
    uint64_t frames, shown; /* how many came; the one that was shown last */
    flr_client_contact contacts[FLR_CLIENT_CONTACTS];
    size_t contact_count;
    // commands and jobs
    flr_client_request request;
    uint32_t next_request;
    flr_client_job jobs[FLR_CLIENT_JOBS];
    size_t job_next;
};

/* link.c. Start connects in the background; what is put is sent in order. With the lock held: */
flr_result flr_client_put(flr_client *client, const flr_message *message, flr_error *error);
flr_result flr_client_start(flr_client *client, flr_error *error);
void flr_client_stop(flr_client *client); /* without the lock */

/* receive.c: with the lock held: takes a frame in. False: nobody can go on with such a peer, `why` is set. */
bool flr_client_take(flr_client *client, const void *bytes, size_t size);
/* The id of the part with this index on the wire; what is known of it, NULL: nothing. */
flr_part_id flr_client_part_id(const flr_client *client, uint32_t index);
flr_client_part *flr_client_part_of(flr_client *client, flr_part_id part);
/* Everything that was under way is over. */
void flr_client_lost(flr_client *client);

#endif
