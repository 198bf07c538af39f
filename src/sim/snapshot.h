/* snapshot.h: what the loop shows of a frame, raw, as the loop has it.
 *
 * snapshot.c fills one in every frame, in the loop's thread, and publishes it by a latest-value buffer. It names nothing and looks
 * nothing up: parts are indices in the world instance, contacts are as the contact engines list them, and of the parts only those
 * are written that have changed since this very buffer was filled last. view.c makes of it what clients see (flr_engine_state),
 * in control's thread, once for a frame and only when somebody asks.
 *
 * A published snapshot does not change as long as control looks at it. What it points to lives as long: the loop gives it back by
 * a notice, and control frees it only when it has a snapshot that was published after that. */
#ifndef FLR_SIM_SNAPSHOT_H
#define FLR_SIM_SNAPSHOT_H

#include "sim/engine_internal.h"

/* the merged static scene, in place of a part */
enum { FLR_SNAPSHOT_WORDS = (FLR_ENGINE_PARTS + 63) / 64 };
#define FLR_SNAPSHOT_STATIC UINT32_MAX

typedef struct flr_snapshot_hand {
    uint32_t held;    /* part's id, or FLR_ENGINE_NONE */
    uint32_t touched; /* index, or FLR_ENGINE_NONE */
    uint32_t buttons;
    bool present, grips, points; /* grips: T_part_hand is filled; points: proxy is */
    flr_pose T_world_hand, T_part_hand;
    flr_mapping map; /* of its device into the world */
    flr_wrench sent; /* device's axes */
    flr_world_point proxy;
} flr_snapshot_hand;

typedef struct flr_snapshot_coupling {
    uint32_t coupling, part; /* part's id */
    double delay;            /* s */
    flr_remote_coupling is;
} flr_snapshot_coupling;

typedef struct flr_snapshot_contact {
    flr_vec3 point, normal; /* world */
    double depth;           /* metres */
    double stiffness;       /* N/m: its share */
    uint32_t part, other;   /* indices; other may be FLR_SNAPSHOT_STATIC */
} flr_snapshot_contact;

/* Of the exact engine. */
typedef struct flr_snapshot_gap {
    uint32_t part, other; /* indices */
    double distance, lower, upper;
    flr_vec3 from, to;
} flr_snapshot_gap;

typedef struct flr_snapshot {
    uint64_t number;  /* counts up with every snapshot; from 1 */
    uint64_t retired; /* notices by which the loop had given back what snapshots point to */
    uint64_t frame;
    int64_t time_ns; /* since the loop began */
    const flr_world_instance *instance;
    const flr_static_scene *merged; /* as the loop has it; NULL: none */
    bool in_force;                  /* … and contacts are found in it */
    flr_world_frame world;
    uint32_t skipped, undo;
    double compute_last_us;
    bool paused, waiting, recording;
    flr_pager_waits waits;
    uint32_t hand_count, coupling_count, contact_count, gap_count, overlap_count;
    flr_snapshot_hand hands[FLR_ENGINE_HANDS];
    flr_snapshot_coupling couplings[FLR_WORLD_REMOTE_COUPLINGS];
    flr_snapshot_contact contacts[FLR_ENGINE_CONTACTS];
    flr_snapshot_gap gaps[FLR_ENGINE_GAPS]; /* nearest first */
    flr_world_overlap overlaps[FLR_ENGINE_OVERLAPS];
    uint64_t
        hit[FLR_SNAPSHOT_WORDS]; /* a bit per index: touches another part, or the static scene */
    /* [instance->count] by index, as they were when the world had this generation */
    uint64_t serial, generation; /* serial: of the instance */
    flr_world_part_state parts[FLR_ENGINE_PARTS];
} flr_snapshot;

/* Fills frame->state. RT safe. */
void flr_stepper_publish(flr_stepper *stepper, const flr_loop_frame *frame);
/* remote_samples.c: those that are set. RT safe. */
void flr_stepper_copy_couplings(const flr_stepper *stepper, flr_snapshot *snapshot);

/* What pagers did, each once: parts of one shape have the same. RT safe. */
flr_pager_stats flr_world_instance_paging(const flr_world_instance *instance);

/* The newest that was published; NULL: none yet. Valid until it is called again. Control. */
const flr_snapshot *flr_engine_snapshot(flr_engine *engine);

#endif
