/* share.h: couples an engine to a shared session: sends what its user does to the others and applies what they do.
 *
 *     flr_share_create(&def, &share, &error);
 *     repeatedly, from the thread that controls the engine:
 *         flr_engine_service(engine), and its events, as always
 *         wake = flr_share_service(share);        when to call it again
 *     flr_share_destroy(share);
 *
 * The session (session/session.h) knows who holds what. This layer applies it to the engine:
 *
 *   a hand here grabs a part        the session announces it; others may hold the part, too
 *   others hold it                  the part here is coupled to the instance of each of them (flr_engine_set_coupling)
 *   all have released it            *released but not settled*: a remote coupling pulls it to the pose of the release and places it there
 *                                   exactly. After `patience` its physics is off until it arrives
 *   it moves though nobody holds it (reset, undo, placed, falling): the first controller to notice sends its pose; for free parts only
 *                                   the leader does
 *
 * Others know a part by its index in the list of parts, so parts cannot be added or removed while a session is shared.
 *
 * A guest downloads the scene from a member as files with their hashes (share_scene.c), voxelizes the meshes itself, and joins once the
 * hash over all parts matches.
 *
 * Thread: control. */
#ifndef FLR_COLLAB_SHARE_H
#define FLR_COLLAB_SHARE_H

#include "feeler/base.h"
#include "session/session.h"
#include "sim/engine.h"

typedef struct flr_share flr_share;

typedef struct flr_share_def {
    flr_engine *engine; /* borrowed */
    flr_env *env;       /* the engine's */
    flr_address local;  /* UDP */
    const char *token;
    const char *name; /* of the user */
    uint32_t colour;  /* 0xrrggbb; UINT32_MAX: chosen */
    bool watcher;     /* looks only */
    bool join;        /* joins the one at `host`; false: begins a session with the engine's scene */
    flr_address host;
    bool relay;         /* the host: states go through it */
    double rate;        /* states in a second; default 100 */
    double patience;    /* s; default 10 */
    bool barrier;       /* states are sent in step with frames, not by the clock; default false */
    const char *folder; /* for scenes on their way; made where needed. NULL: scenes do not travel */
    uint64_t scene_limit; /* bytes of all files of a scene that comes; default 2 GiB */
} flr_share_def;

flr_share_def flr_default_share_def(void);

flr_result flr_share_create(const flr_share_def *def, flr_share **share, flr_error *error);
void flr_share_destroy(flr_share *share); /* says goodbye; NULL allowed */

int64_t flr_share_service(flr_share *share);
/* To be called with every event of the engine. */
void flr_share_event(flr_share *share, const flr_engine_event *event);
/* After an undo, a reset or a place: tells that this part (FLR_NO_PART_ID: every part) which somebody else holds stays. */
void flr_share_tell_held(flr_share *share, flr_part_id part);

/* For flr_env_wait(). */
flr_socket *flr_share_socket(const flr_share *share);
flr_address flr_share_address(const flr_share *share);
flr_session *flr_share_session(flr_share *share);

/* Is this side a member that has the scene? */
bool flr_share_ready(const flr_share *share);
/* It will never be one: `sentence` says why. */
bool flr_share_failed(const flr_share *share, const char **sentence);

/* The scene is on its way here: so many bytes of so many. False: it is not. */
bool flr_share_progress(const flr_share *share, uint64_t *done, uint64_t *total);

/* A hand of somebody else. */
typedef struct flr_share_hand {
    uint16_t member;
    uint32_t hand;    /* index at its controller */
    flr_part_id held; /* of the engine, or FLR_NO_PART_ID */
    flr_pose T_world_hand;
} flr_share_hand;

/* False: no such place. */
bool flr_share_hand_at(const flr_share *share, uint32_t index, flr_share_hand *hand);
/* Counts up when people, their hands' owners or connections are others. */
uint32_t flr_share_changes(const flr_share *share);

/* What has come and gone since it was made. */
typedef struct flr_share_stats {
    uint64_t rounds;       /* of flr_share_service() */
    uint64_t sent;         /* … with a new frame to send */
    uint64_t heard;        /* states of others */
    flr_histogram arrival; /* ns: how old they were by then; a clock that is wrong may make it 0 */
} flr_share_stats;

const flr_share_stats *flr_share_get_stats(const flr_share *share);

/* How parts stand, for people: held by others, diverged, frozen, being brought home, physics off. */
typedef struct flr_share_part {
    flr_part_id part; /* of the engine */
    uint16_t holders[FLR_SESSION_HOLDERS];
    uint32_t holder_count;
    bool diverged, frozen, homing, ghost;
} flr_share_part;

bool flr_share_part_at(const flr_share *share, uint32_t index, flr_share_part *part);

/* Where a part is at another who holds it, while that instance and the one here have diverged. */
typedef struct flr_share_instance {
    flr_part_id part; /* of the engine */
    uint16_t member;
    flr_pose T_world_part;
} flr_share_instance;

/* Lists them; returns how many there are, at most `capacity`. */
uint32_t flr_share_instances(const flr_share *share, flr_share_instance *instances,
                             uint32_t capacity);

#endif
