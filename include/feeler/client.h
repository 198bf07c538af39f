/* feeler/client.h: a host application uses a controller (`feeler serve`) as its sense of touch.
 *
 * The host keeps its own graphics and its own files; it gives triangles, says where the hand is,
 * and reads each frame where the parts went, stopped by contact:
 *
 *     flr_client_def def = flr_default_client_def();
 *     def.address = "127.0.0.1:7878";
 *     flr_client_connect(&def, &client, &error);
 *     flr_client_add_mesh(client, &mesh, 0, &part, &error);   // returns when its voxels are made
 *     flr_client_grab_at(client, flr_hand(0), part, T_world_hand, &error);
 *     each frame:
 *         flr_client_hand(client, flr_hand(0), T_world_hand, buttons);
 *         if (flr_client_frame(client, &frame)) flr_client_pose(client, part, &T_world_part);
 *     flr_client_release(client, flr_hand(0), &error);
 *     flr_client_close(client);
 *
 * This is a library of its own, libfeeler-client (pkg-config feeler-client, CMake feeler::client),
 * which needs libwebsockets. examples/14_host_application.c is a whole host; docs/client.md tells
 * more.
 *
 * Connection: a thread of the client's own serves it. Where it breaks, commands fail with
 * FLR_CLOSED, poses stay as they were, and the thread connects again, four times a second, until it
 * is closed. Afterwards the scene may be another: flr_client_frame() tells by `scene`, and parts are
 * to be looked up anew. An id of the old scene names no part: commands fail with FLR_NOT_FOUND.
 *
 * Units: metres, newtons; poses as everywhere.
 *
 * Thread: connect, close and all that takes an flr_error (a command, which waits for its answer):
 * one thread at a time. flr_client_hand(), frame(), pose(), contacts(), part(), find(),
 * connected(): any thread; they never wait for the network. Nothing here is RT safe.
 */
#ifndef FEELER_CLIENT_H
#define FEELER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/ids.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_CLIENT_HANDS = 8, FLR_CLIENT_NAME_SIZE = 128 };

/* ---- connecting ---- */

/* Fill with flr_default_client_def(). Texts need not outlive flr_client_connect(). */
typedef struct flr_client_def {
    const char
        *address; /* "host:port", "ws://host:port", "wss://host:port"; default 127.0.0.1:7878 */
    const char *token;    /* as the controller printed it; NULL: none, which does on loopback */
    const char *name;     /* of your program, for people; default "host" */
    const char *ca_file;  /* PEM: who may vouch for a wss:// controller; NULL: the system's */
    bool any_certificate; /* with wss://: take one that nobody vouches for; default false */
    bool reconnect;       /* after a loss; default true */
    double timeout;       /* seconds to wait for the connection and for an answer; default 10 */
    uint32_t state_rate;  /* frames per second that are sent at most; default 60 */
} flr_client_def;

FLR_API flr_client_def flr_default_client_def(void);

typedef struct flr_client flr_client;

/* Connects, and returns when the scene is known. FLR_TIMEOUT, FLR_CLOSED: nobody answers there;
 * FLR_DENIED: the token is wrong. On success the caller owns `*client`. */
FLR_API flr_result flr_client_connect(const flr_client_def *def, flr_client **client,
                                      flr_error *error);
FLR_API void flr_client_close(flr_client *client); /* NULL allowed */

/* Whether commands would get through now; how often it has connected, 1 at first. */
FLR_API bool flr_client_connected(flr_client *client);
FLR_API uint32_t flr_client_connections(flr_client *client);

/* ---- parts ---- */

typedef enum flr_client_kind {
    FLR_CLIENT_STATIC,  /* never moves */
    FLR_CLIENT_MOVABLE, /* moves while a hand holds it */
    FLR_CLIENT_FREE     /* moves by itself, too */
} flr_client_kind;

typedef struct flr_client_part {
    flr_part_id part;
    flr_client_kind kind;
    bool ready;     /* has voxels and takes part in contact */
    bool colliding; /* touches another part */
    bool held;      /* by a hand */
    double voxel;   /* metres */
    flr_pose T_world_part;
    char name[FLR_CLIENT_NAME_SIZE];
} flr_client_part;

/* How many there are; the one at a place of the list (false: there is none); the one of that name, or
 * FLR_NO_PART_ID. */
FLR_API size_t flr_client_part_count(flr_client *client);
FLR_API bool flr_client_part_at(flr_client *client, size_t index, flr_client_part *part);
FLR_API flr_part_id flr_client_find(flr_client *client, const char *name);

/* Triangles of a part, borrowed for the call. */
typedef struct flr_client_mesh {
    const char *name;
    const float *vertices; /* [3 * vertex_count]: x y z */
    uint32_t vertex_count;
    const uint32_t *indices; /* [3 * triangle_count] */
    uint32_t triangle_count;
    double unit; /* metres in one unit of the vertices; 0: 1 */
    flr_client_kind kind;
    uint32_t colour; /* 0x00rrggbb */
    double voxel;    /* metres; 0: the scene's */
    flr_pose T_world_part;
} flr_client_mesh;

/* Gives a part; returns when its voxels are made and it can be touched, which `seconds` bounds (0:
 * a minute). `part` gets its id; may be NULL. */
FLR_API flr_result flr_client_add_mesh(flr_client *client, const flr_client_mesh *mesh,
                                       double seconds, flr_part_id *part, flr_error *error);
FLR_API flr_result flr_client_remove(flr_client *client, flr_part_id part, flr_error *error);

/* ---- hands ---- */

/* A hand takes a part (FLR_NO_PART_ID: the one it touches), lets go. */
FLR_API flr_result flr_client_grab(flr_client *client, flr_hand_id hand, flr_part_id part,
                                   flr_error *error);
/* The same with the hand at a pose: it is there at once, and takes the part there, without waiting for flr_client_hand() to arrive.
 * FLR_UNSUPPORTED: the controller speaks an older protocol. */
FLR_API flr_result flr_client_grab_at(flr_client *client, flr_hand_id hand, flr_part_id part,
                                      flr_pose T_world_hand, flr_error *error);
FLR_API flr_result flr_client_release(flr_client *client, flr_hand_id hand, flr_error *error);
/* Where the hand is. The newest counts; sent as soon as the connection takes it. False: no such
 * hand, or no pose. */
FLR_API bool flr_client_hand(flr_client *client, flr_hand_id hand, flr_pose T_world_hand,
                             uint32_t buttons);
/* Puts a part somewhere, at rest; everything back to the start; back before the last grab, place or
 * reset. */
FLR_API flr_result flr_client_place(flr_client *client, flr_part_id part, flr_pose T_world_part,
                                    flr_error *error);
FLR_API flr_result flr_client_reset(flr_client *client, flr_error *error);
FLR_API flr_result flr_client_undo(flr_client *client, uint32_t steps, flr_error *error);

/* ---- each frame ---- */

typedef struct flr_client_hand_state {
    flr_part_id held, touched; /* or FLR_NO_PART_ID */
    uint32_t buttons;
    flr_pose T_world_hand;
    flr_pose T_world_ghost; /* where the held part would be if nothing were in its way */
    flr_wrench wrench;      /* on the hand: world's axes, about the hand's origin */
} flr_client_hand_state;

typedef struct flr_client_frame_state {
    uint64_t frame;     /* of the controller's loop */
    uint32_t scene;     /* counts up when another scene is there */
    uint32_t contacts;  /* how many points touch */
    double lower;       /* metres: nothing is nearer than this; may be infinite */
    double upper;       /* metres: something is as near as this */
    double compute_p99; /* microseconds of a frame of the loop */
    bool rate_held;     /* the loop keeps its rate */
    bool recording;
    uint32_t hand_count;
    flr_client_hand_state hands[FLR_CLIENT_HANDS];
} flr_client_frame_state;

/* The newest frame. True: newer than at the last call. `frame` is filled either way, zero before
 * the first. */
FLR_API bool flr_client_frame(flr_client *client, flr_client_frame_state *frame);

/* Where a part is by the newest frame. False: there is no such part, `T_world_part` is untouched.
 */
FLR_API bool flr_client_pose(flr_client *client, flr_part_id part, flr_pose *T_world_part);

typedef struct flr_client_contact {
    flr_vec3 point;          /* metres, world */
    flr_vec3 force;          /* newtons, on the part */
    double depth;            /* metres */
    flr_part_id part, other; /* whose point it is, what it touches */
} flr_client_contact;

/* Contacts of the newest frame into `list` [capacity]; how many were put there. A frame lists at
 * most 1024. */
FLR_API size_t flr_client_contacts(flr_client *client, flr_client_contact *list, size_t capacity);

/* ---- parameters, clearance, recordings ---- */

/* A parameter by name, such as "stiffness" or "force_layer": docs/serve.md lists them. */
FLR_API flr_result flr_client_get(flr_client *client, const char *name, double *value,
                                  flr_error *error);
FLR_API flr_result flr_client_set(flr_client *client, const char *name, double value,
                                  flr_error *error);

typedef struct flr_client_clearance {
    flr_part_id other;   /* the nearest part, or FLR_NO_PART_ID: none in reach */
    double lower, upper; /* metres; lower is infinite when none is in reach */
    flr_vec3 from, to;   /* nearest points, world */
} flr_client_clearance;

/* How far a part is from another one, or (FLR_NO_PART_ID) from all. `exact`: by triangles, slower.
 */
FLR_API flr_result flr_client_get_clearance(flr_client *client, flr_part_id part, flr_part_id other,
                                            bool exact, flr_client_clearance *clearance,
                                            flr_error *error);

/* Begins and ends a recording (`name` NULL: the time of day), and writes one to a file (MCAP) here.
 */
FLR_API flr_result flr_client_record_start(flr_client *client, const char *name,
                                           uint32_t *recording, flr_error *error);
FLR_API flr_result flr_client_record_stop(flr_client *client, flr_error *error);
FLR_API flr_result flr_client_record_fetch(flr_client *client, uint32_t recording, const char *path,
                                           flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
