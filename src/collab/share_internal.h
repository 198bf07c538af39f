/* share_internal.h: a shared engine, as its own files see it.
 *
 *     share.c         parts and hands
 *     share_couplings.c    remote couplings
 *     share_scene.c   the scene on its way
 *     share_params.c  parameters */
#ifndef FLR_COLLAB_SHARE_INTERNAL_H
#define FLR_COLLAB_SHARE_INTERNAL_H

#include "collab/share.h"
#include "sim/jobs.h"

typedef struct flr_shared_part {
    flr_part_id id; /* the engine's */
    flr_part_kind kind;
    double voxel;
    flr_pose known; /* where all agree that it is */
    flr_pose
        seen; /* where it is here; while this side stands still, the pose that another side sent */
    int64_t place_ns;  /* when that was ordered last */
    bool placing;      /* it is on its way there by an order to the loop */
    bool lost;         /* it may not be held: until the hand has let go */
    bool kept;         /* it moves by itself, and this side tells where */
    int64_t still_ns;  /* since when it does not move */
    int64_t homing_ns; /* since when it is brought home; 0: it is not */
    int64_t moved_ns;  /* … or when this side, which leads, has last given it another place */
    bool ghost;        /* physics are off */
    bool diverged;
    uint32_t leader; /* first part of its rigid group; itself: it is in none */
    uint32_t
        island; /* first part of those that joints and rigid groups connect to it; itself: none does */
    bool linked;  /* its island has other parts, whose places round its own */
    bool carried; /* it moves because another part of its island is held … */
    bool ours;    /* … by this side, which tells the others where it lies afterwards */
    bool odd;     /* somebody's voxels are of another size, and it was said */
} flr_shared_part;

typedef struct flr_shared_coupling {
    bool used, rest, mutual;
    uint32_t part;   /* place in the list */
    uint16_t member; /* 0: a rest */
    uint32_t number; /* of the rest, and where it is */
    flr_pose T_world_rest;
    flr_pose T_world_part; /* of the instance there, as last heard */
    bool diverged;
    double put; /* last heard */
} flr_shared_coupling;

typedef enum flr_share_phase {
    FLR_SHARE_NONE,    /* not a member, or the engine has no scene yet */
    FLR_SHARE_SAVING,  /* so that it can be sent */
    FLR_SHARE_LISTING, /* which files are there */
    FLR_SHARE_FETCHING,
    FLR_SHARE_LOADING,
    FLR_SHARE_READY,
    FLR_SHARE_FAILED
} flr_share_phase;

typedef struct flr_share_file {
    char name[257]; /* beside the scene */
    uint64_t size;
    flr_hash hash;
} flr_share_file;

typedef struct flr_share_listing flr_share_listing;

/* A member who has got all parameters. */
typedef struct flr_share_informed {
    uint16_t member;
    uint32_t connection;
} flr_share_informed;

/* A parameter of the engine. */
typedef struct flr_shared_param {
    double known;     /* as last sent or received */
    uint32_t pending; /* times it was sent to the leader and has not come back */
} flr_shared_param;

enum { FLR_SHARE_PARAMS = 64, FLR_SHARE_FILES = 4097, FLR_SHARE_HANDS = 8 * FLR_SESSION_MEMBERS };

struct flr_share {
    flr_share_def def;
    flr_session *session;
    char *folder;
    /* the scene */
    flr_hash scene; /* that the session has */
    flr_share_phase phase;
    bool can_send; /* the files are there */
    uint32_t job;
    flr_share_listing *listing; /* a worker makes the list of files; NULL: none does */
    flr_share_file *files;
    uint32_t file_count,
        file_at;     /* file_at: those before it are whole, also where it is begun anew */
    uint16_t source; /* member that sends */
    uint32_t nones;  /* times that somebody who was asked had no files */
    uint64_t got;    /* of file_at */
    uint32_t ask_file, ask_count; /* what is asked for next; pieces that are under way */
    uint64_t ask_offset;
    int64_t scene_ns;       /* since when nothing has come */
    int64_t alone_since_ns; /* since when nobody is heard who has it; 0: somebody is */
    bool was_in;
    flr_output *output;
    flr_hasher hasher;
    char sentence[FLR_ERROR_MESSAGE_SIZE];
    /* parts and remote couplings */
    flr_shared_part *parts;
    uint32_t part_count;
    flr_shared_coupling couplings[FLR_WORLD_REMOTE_COUPLINGS];
    flr_share_hand hands[FLR_SHARE_HANDS];
    uint32_t hand_count;
    uint64_t shown_frame;
    uint32_t changes;
    flr_share_stats stats;
    /* parameters */
    flr_shared_param params[FLR_SHARE_PARAMS];
    bool params_new;        /* some have been set here */
    uint16_t params_leader; /* to whom they were sent */
    uint32_t params_connection;
    flr_share_informed informed[FLR_SESSION_MEMBERS]; /* from who leads */
    uint32_t informed_count;
    uint32_t params_changes; /* of the session, when all who are in it had got them… */
    bool params_owed;        /* … but for some */
};

int64_t flr_share_now(const flr_share *share);
/* The engine has the scene: parts are known from now on. */
void flr_share_take_parts(flr_share *share);

/* share_couplings.c */
/* Couplings of a part as the membership wants them; what does not get through to the loop is tried when it is called again. */
void flr_share_match(flr_share *share, uint32_t part);
/* FLR_WORLD_REMOTE_COUPLINGS: none. `member` 0: that of its rest. */
uint32_t flr_share_find_coupling(const flr_share *share, uint32_t part, uint16_t member);
/* Reports when instances of a part are kept apart by something between them, and when no coupling is any more. */
void flr_share_tell_diverged(flr_share *share, uint32_t part);
/* Physics on or off. */
void flr_share_set_solid(flr_share *share, flr_shared_part *part, bool solid);

/* share_params.c */
void flr_share_params_begin(flr_share *share);
void flr_share_params_service(flr_share *share);
/* True: the message was about a parameter. */
bool flr_share_params_message(flr_share *share, uint16_t member, const flr_message *message);

/* share_scene.c */
void flr_share_scene_service(flr_share *share);
/* True: the message was about the scene. */
bool flr_share_scene_message(flr_share *share, uint16_t member, const flr_message *message);
void flr_share_scene_job(flr_share *share, const flr_engine_job *job);
void flr_share_scene_in(flr_share *share);
void flr_share_scene_free(flr_share *share);

#endif
