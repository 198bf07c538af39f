/* share.h: an engine in a shared session: what its user does is told to the others, what they do is done here.
 *
 *     flr_share_create(&def, &share, &error);
 *     again and again, from the thread that controls the engine:
 *         flr_engine_service(engine), and its events, as always
 *         wake = flr_share_service(share);        when it wants to be called again
 *     flr_share_destroy(share);
 *
 * The session (session/session.h) knows who holds what. Here it meets the engine:
 *
 *   a hand here takes a part       the session is told; others may hold it, too
 *   others hold it                 it is coupled to the instance of each of them (flr_engine_set_coupling)
 *   all have let go of it          *released but not released*: a remote coupling brings it to the place where it was let go, and there it is
 *                                  put, to the last bit. After `patience` its physics is off until it is there
 *   it moves though nobody holds it (reset, undo, placed by hand, falls): the controller that sees it first tells where it is;
 *                                  for parts that move by themselves that is the leader's alone
 *
 * Parts are known to others by their place in the list of parts. So while a session is shared, no part comes or goes.
 *
 * One who joins gets the scene from a member, as files with their hashes (share_scene.c), and makes its own voxels of the same
 * meshes; a hash over all parts tells that it is the same scene.
 *
 * Thread: control. */
#ifndef FLR_COLLAB_SHARE_H
#define FLR_COLLAB_SHARE_H

#include "feeler/histogram.h"
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
    bool relay;         /* who begins: states go through it */
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
    uint64_t told;         /* … in which there was a new frame to tell of */
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

#endif
