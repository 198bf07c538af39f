/* engine_state.h: what clients of an engine see of a frame; flr_engine_view() makes it. */
#ifndef FLR_SIM_ENGINE_STATE_H
#define FLR_SIM_ENGINE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/ids.h"
#include "feeler/pager.h"
#include "feeler/world.h"

#define FLR_ENGINE_NONE UINT32_MAX /* no device; on the wire: no part, no hand */

enum {
    FLR_ENGINE_HANDS = FLR_WORLD_HANDS,
    FLR_ENGINE_PARTS = FLR_WORLD_PARTS, /* in a scene */
    FLR_ENGINE_CONTACTS = 256,          /* in a state */
    FLR_ENGINE_GAPS = 32,               /* in a state */
    FLR_ENGINE_OVERLAPS = 64,           /* in a state */
    FLR_ENGINE_CLASHES = 2048,          /* in an answer */
    FLR_ENGINE_NAME_SIZE = 257,
    FLR_ENGINE_UNDO = 64 /* steps that can be taken back */
};

typedef struct flr_engine_part_state {
    flr_part_id part;
    uint32_t look; /* FLR_WIRE_LOOK_PLAIN … */
    flr_pose T_world_part;
    flr_twist twist; /* about the centre of mass, world's axes */
    bool moves;      /* some hand or remote coupling holds it, or it moves by itself */
    bool solid;
} flr_engine_part_state;

/* A remote coupling, in the order of their numbers; as in flr_remote_coupling, which says more. */
typedef struct flr_engine_coupling_state {
    uint32_t coupling;
    flr_part_id part;
    double stretch, angle; /* metres: of any point; rad */
    double delay;          /* s: how old what is known of the other instance is, smoothed */
    double stiffness;      /* N/m */
    double force;          /* N: the remote coupling's, on the part */
    double put, got, taken, account, damping, gain;
    bool begun, diverged, settled;
} flr_engine_coupling_state;

typedef struct flr_engine_hand_state {
    flr_part_id held, touched; /* or FLR_NO_PART_ID */
    uint32_t bits;             /* FLR_WIRE_HAND_PRESENT … */
    uint32_t buttons, faults;
    flr_pose T_world_hand, T_world_ghost;
    flr_pose T_part_hand; /* where it holds the part; the identity when it holds none */
    flr_wrench wrench;    /* given: world's axes, about the hand's origin */
} flr_engine_hand_state;

/* The workspace of the device that moves a hand, in the world. */
typedef struct flr_engine_workspace {
    flr_hand_id hand;
    flr_pose T_world_workspace; /* of its middle */
    flr_vec3 half;              /* metres in the world: half its size; zero: it has no limit */
    double scale;
    bool clutched, outside; /* the clutch is held; the hand goes on by itself beyond the boundary */
} flr_engine_workspace;

typedef struct flr_engine_contact {
    flr_vec3 point, force;   /* world: metres, newtons on `part` */
    double depth;            /* metres */
    flr_part_id part, other; /* other FLR_NO_PART_ID: not known */
} flr_engine_contact;

/* How far a part that is held or moves is from another, by their triangles; world's frame, metres. */
typedef struct flr_engine_gap {
    flr_part_id part, other;
    double distance; /* negative: they are so deep in each other */
    double error;    /* the true distance differs by no more than this */
    flr_vec3 from,
        to; /* nearest points of part and other; of parts in each other the deepest and its way out */
} flr_engine_gap;

/* Two parts that were in each other when they were put where they stand; world's frame, metres. */
typedef struct flr_engine_overlap_state {
    flr_part_id part, other;
    double depth;     /* 0: surfaces met, or it is not known */
    double tolerated; /* exact engine: how deep they may be now; 0: they have come free */
    flr_vec3 point;
} flr_engine_overlap_state;

/* The point of a hand that touches with one; world's frame. */
typedef struct flr_engine_proxy {
    flr_hand_id hand;
    flr_part_id part; /* that it touches, or FLR_NO_PART_ID */
    flr_vec3 point;   /* metres */
    flr_vec3 normal;  /* unit, away from the surface; zero: it touches nothing */
    flr_vec3 force;   /* newtons, on the hand */
    double depth;     /* metres: how far the hand is below the surface */
    bool sticking;
} flr_engine_proxy;

typedef struct flr_engine_state {
    uint64_t frame;
    int64_t time_ns; /* since the loop began */
    uint64_t points_tested;
    uint32_t scene;
    uint32_t contact_count; /* all of them */
    double lower, upper, deepest;
    uint32_t limited, stopped, faults;
    uint32_t queued, late; /* coherent engine: see flr_world_frame */
    double max_travel;
    uint32_t skipped; /* periods without a frame, so far */
    double compute_last_us;
    double energy;
    flr_hash hash; /* of all that has happened in the world */
    bool paused, recording, replaying;
    bool waiting;           /* for voxels from the disk: nothing moves, hands feel nothing */
    flr_pager_waits waits;  /* … so far */
    flr_pager_stats paging; /* of all parts whose voxels are paged; `slots` 0: there are none */
    bool merged;            /* static parts are one at present */
    uint32_t undo;          /* steps that can be taken back */
    uint32_t hand_count, part_count, contacts_given, proxy_count, coupling_count;
    uint32_t gap_count, overlap_count, workspace_count;
    flr_engine_hand_state hands[FLR_ENGINE_HANDS];
    flr_engine_proxy proxies[FLR_ENGINE_HANDS]; /* [proxy_count]: of hands whose tool is a point */
    flr_engine_coupling_state couplings[FLR_WORLD_REMOTE_COUPLINGS]; /* [coupling_count] */
    flr_engine_contact contacts[FLR_ENGINE_CONTACTS];
    flr_engine_gap
        gaps[FLR_ENGINE_GAPS]; /* [gap_count], nearest first: see flr_engine_want_gaps() */
    flr_engine_overlap_state overlaps[FLR_ENGINE_OVERLAPS]; /* [overlap_count] */
    flr_engine_workspace
        workspaces[FLR_ENGINE_HANDS]; /* [workspace_count]: of hands that a device moves */
    /* [part_count]: those that may move, and static ones that something has touched */
    flr_engine_part_state parts[FLR_ENGINE_PARTS];
} flr_engine_state;

#endif
