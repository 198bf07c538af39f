/* engine_internal.h: the engine, as its own files see it.
 *
 *     asset.c           meshes and shapes: shared, counted, immutable
 *     world_instance.c  a world with its parts, and the merged static scene: what control hands to the loop
 *     stepper.c         what happens in a frame; stepper_commands.c: what commands do before it; recording_tap.c: what of
 *                       it is recorded; remote_samples.c: parts that other controllers hold, too; snapshot.c: what is
 *                       shown of it, raw. Only these run in the loop's thread
 *     view.c            what clients see, made of a snapshot
 *     jobs.c            workers and their queues (jobs.h)
 *     engine.c          creating, servicing, state; events.c: what has happened; health.c: how the loop does
 *     scene_parts.c     the list of parts, parameters; commands.c: commands to the loop
 *     build_job.c       what jobs that build parts have in common
 *     load.c            a scene; part.c: a part that is added, or gets other voxels; save.c: the scene as a file
 *     hand_devices.c    devices and which hand they move
 *     static_scene.c    the merging of static parts, at once or in the background
 *     pick_job.c        corners, edges and faces that somebody points at, and how they lie to each other
 *     review.c          pairs that are allowed; clash_job.c: which parts clash, and reports of it
 *     measure.c         clearance, and what is near; part_overlap.c: parts inside others; overlay_job.c: overlays
 *     recordings.c      recordings; journal.c: what was done to the world, as texts in them; playback.c: showing
 *                       them; replay.c: running them again
 *     stage.c           a scene made ready without an engine; run.c: a hand moves a part of it; setup.c: what that was */
#ifndef FLR_SIM_ENGINE_INTERNAL_H
#define FLR_SIM_ENGINE_INTERNAL_H

#include "feeler/base.h"
#include "feeler/hand.h"
#include "feeler/merge.h"
#include "feeler/pager.h"
#include "feeler/recording.h"
#include "sim/asset.h"
#include "sim/commands.h"
#include "sim/jobs.h"
#include "sim/mapping.h"
#include "sim/parameters.h"
#include "sim/sources.h"

/* The id of the part with this index of a scene; FLR_ENGINE_NONE: none. */
static inline flr_part_id flr_part_id_of(uint32_t scene, uint32_t index)
{
    flr_part_id id = {index, index == FLR_ENGINE_NONE ? 0 : scene};
    return id;
}

/* ---- what the loop works with ---- */

/* A world and whose it is. Made by a worker, given to the loop, freed by control. */
struct flr_world_instance {
    uint32_t scene;
    uint32_t count;
    uint32_t *ids;        /* [count] rising */
    flr_part_kind *kinds; /* [count] */
    flr_pose *starts;     /* [count] */
    flr_shape **shapes;   /* [count] used */
    uint32_t *before;     /* [count]: index in the world instance before; filled by the loop */
    flr_world *world;     /* NULL: there are no parts */
    flr_quat turned;      /* from how the scene was when it was opened */
};

typedef struct flr_world_instance_def {
    const flr_part_list *parts; /* shapes are used on; all else is copied */
    uint32_t scene, hands;
    double rate; /* Hz */
    const flr_world_params *params;
    unsigned threads; /* that share a contact query; 0 or 1: none */
    bool probes;      /* points can touch the parts */
    double voxel; /* metres: the smallest that something is touched with; 0: the smallest of all */
    flr_env *env;
    const flr_cache *cache; /* of exact geometry; NULL: none */
    flr_quat turned;        /* as in the world instance */
} flr_world_instance_def;

/* With sphere trees or exact geometry where the parameters say so. A sentence names the part. */
flr_result flr_world_instance_make(const flr_world_instance_def *def, flr_world_instance **instance,
                                   flr_error *error);
void flr_world_instance_free(flr_world_instance *instance);
/* Has a worker free them: giving gigabytes back takes longer than control has. Either may be NULL; members are empty then. */
void flr_engine_discard(flr_engine *engine, flr_world_instance *instance, flr_part_list *members);
/* What the definition says about contact takes precedence over a scene. */
void flr_engine_choose_contact(const flr_engine_def *def, flr_world_params *params);
/* The index of a part; UINT32_MAX: none. RT safe. */
uint32_t flr_world_instance_find(const flr_world_instance *instance, uint32_t part);

/* A joint as it is when parts are at the T_start of `now`, not at that of `start`. False: one of its parts is gone. The texts of
 * `*to` are those of `joint` and `now`. */
bool flr_joint_moved(const flr_joint_entry *joint, const flr_part_list *start,
                     const flr_part_list *now, flr_scene_joint *to);

/* What stays, as one. */
struct flr_static_scene {
    atomic_uint users; /* the loop, and the worker that makes the next from it */
    flr_voxmap *voxmap;
    flr_contact_table *table;
    flr_pairs_shape touch;
    uint32_t count;
    uint32_t *ids;      /* [count] */
    flr_pose *poses;    /* [count] as they were merged */
    flr_shape **shapes; /* [count] used */
};

/* Without voxels yet, and room for so many parts. NULL: no memory. */
flr_static_scene *flr_static_scene_bare(uint32_t room);
/* The shape is used. */
void flr_static_scene_add(flr_static_scene *merged, uint32_t part, flr_shape *shape,
                          flr_pose T_world_part);
/* Makes its voxels at once, of parts in `parts`, whose names are for sentences. `go_on` is
 * called before each, false stops with FLR_CANCELLED; may be NULL. */
flr_result flr_static_scene_merge(flr_static_scene *merged, const flr_part_list *parts,
                                  unsigned threads, bool (*go_on)(void *context, uint32_t part),
                                  void *context, flr_error *error);
/* Puts it into a world in which the indices of parts are their ids. */
void flr_static_scene_set(const flr_static_scene *merged, flr_world *world);
flr_static_scene *flr_static_scene_retain(flr_static_scene *merged);
void flr_static_scene_release(flr_static_scene *merged);

/* A recorder and which parts it is about. */
struct flr_recording_tap {
    flr_recorder *recorder;
    uint32_t all;           /* parts when it began */
    uint32_t *numbers;      /* [all] their ids, rising; frames name them by index in here */
    uint64_t frames;        /* pushed so far, lost ones included; the loop's */
    int64_t last_ns;        /* of the last of them, from the first on; the loop's */
    uint32_t count;         /* of those that may move */
    uint32_t *ids;          /* [count] */
    uint32_t *indices;      /* [count] in the loop's world instance; the loop's */
    flr_record_part *parts; /* [count]; the loop's */
    uint32_t scene;
    flr_ring *entries; /* flr_journal_entry: from the loop to the writer */
    uint32_t
        stride; /* frames of the loop for one in the file, and none while nothing moves; 0: all of them */
    uint32_t since;                  /* the last one in the file; the loop's */
    uint32_t held[FLR_ENGINE_HANDS]; /* in the last one; the loop's */
    uint8_t *
        state; /* [state_room]: of the world when it began, filled before the first journal entry */
    size_t state_room, state_size;
};

/* ---- to the loop and back ---- */

typedef enum flr_notice_kind {
    FLR_NOTICE_INSTANCE,     /* let go of `what.instance` */
    FLR_NOTICE_STATIC_SCENE, /* … of `what.merged static scene`; refused: it was not taken */
    FLR_NOTICE_TAPE,         /* … of `what.tap` */
    FLR_NOTICE_GRABBED,      /* hand, part */
    FLR_NOTICE_RELEASED,     /* hand, part */
    FLR_NOTICE_FAULT,        /* faults: the bits that are new */
    FLR_NOTICE_PLACED,       /* parts were put somewhere else */
    FLR_NOTICE_UNDONE,       /* partly: there was nothing more to be undone; else nothing at all */
    FLR_NOTICE_WAITING /* paused, because voxels did not come from the disk; there: now they have */
} flr_notice_kind;

typedef struct flr_notice {
    flr_notice_kind kind;
    uint32_t hand, part, faults;
    uint64_t frame;
    bool refused, partly, there;
    union {
        flr_world_instance *instance;
        flr_static_scene *merged;
        flr_recording_tap *tap;
    } what;
} flr_notice;

/* Does it give back what snapshots point to? */
static inline bool flr_notice_retires(const flr_notice *notice)
{
    return notice->kind == FLR_NOTICE_INSTANCE || notice->kind == FLR_NOTICE_STATIC_SCENE;
}

/* ---- the loop's own ---- */

typedef struct flr_undo_entry {
    uint32_t part;
    flr_pose T_world_part;
} flr_undo_entry;

enum { FLR_UNDO_ENTRIES = 16384 };

/* What was where: steps of entries, in rings; numbers count up for ever. */
typedef struct flr_undo {
    flr_undo_entry entries[FLR_UNDO_ENTRIES];
    uint64_t first[FLR_ENGINE_UNDO]; /* of each step, the entry it begins with */
    uint64_t step_count;             /* ever */
    uint32_t steps;                  /* that are left */
    uint64_t next;                   /* entry */
} flr_undo;

/* How the poses of a device become poses of a hand. */
typedef enum flr_hand_frame {
    FLR_HAND_FRAME_BASE,    /* by its mapping */
    FLR_HAND_FRAME_WORLD,   /* they are poses in the world, to the bit */
    FLR_HAND_FRAME_RELATIVE /* by its mapping, and its first pose is T_start */
} flr_hand_frame;

typedef struct flr_stepper_hand {
    flr_hand_frame base;
    flr_mapping map;
    flr_pose T_start;           /* of a relative one: where the hand begins */
    int64_t sampled_ns;         /* time of the last sample */
    uint64_t seen, seen_before; /* number of the last sample; of that before this frame */
    flr_pose T_world_hand;
    uint32_t buttons;
    uint32_t grab_button;
    uint32_t touched; /* index in the world instance */
    uint32_t held;    /* part, as reported to control */
    bool present, by_button, anew;
    bool
        firm; /* its device gives no torque, or the scene says so: keeps the direction of what it holds */
} flr_stepper_hand;

/* A sample on its way to the loop. */
typedef struct flr_coupled_news {
    uint32_t generation; /* of the remote coupling: counts up whenever it is set to another part */
    flr_engine_coupling_sample sample;
} flr_coupled_news;

/* A remote coupling, as the loop follows it. */
typedef struct flr_stepper_coupling {
    flr_latest *news; /* flr_coupled_news: from control; made with the engine */
    bool set, begun;
    uint32_t part, generation;
    uint64_t seen; /* number of the last sample */
    flr_engine_coupling_sample newest;
    double delay, interval; /* s: age of samples when they come, time between them; smoothed */
    flr_pose T_world_part;  /* where the other instance was taken to be in the last frame */
    flr_motion left;        /* of the jump that the newest sample made, about the centre of mass */
    double fade;            /* s: in which it goes */
    int64_t came_ns;        /* when the newest came */
} flr_stepper_coupling;

typedef struct flr_stepper {
    flr_env *env;
    uint32_t hand_count;
    flr_world_instance *instance;
    flr_static_scene *merged; /* set in the world, or dropped from it; NULL: none */
    flr_recording_tap *tap;
    flr_world_params params;
    double reach;
    bool paced, paused, begun;
    int64_t first_ns;
    int64_t tape_ns;
    uint32_t skipped, faults;
    double last_us; /* the frame before took */
    flr_stepper_hand hands[FLR_ENGINE_HANDS];
    uint32_t coupling_end; /* no remote coupling from here on is set */
    flr_stepper_coupling couplings[FLR_WORLD_REMOTE_COUPLINGS];
    uint32_t scratch[FLR_ENGINE_PARTS];
    flr_world_frame frame; /* the last */
    flr_pager_waits waits; /* for voxels from the disk */
    bool given_up;         /* paused because they did not come */
    flr_undo undo;
    flr_ring *notices;                 /* flr_notice: to control */
    atomic_uint_fast32_t notices_lost; /* news that had no room, ever; control reads it */
    uint64_t retired;                  /* notices that gave back what snapshots point to, ever */
    // snapshots
    uint64_t published, serial;                   /* of the last snapshot; of the instance in it */
    const flr_world_instance *published_instance; /* … which is this */
    uint64_t parts_copied;                        /* into snapshots, ever */
    // a run without an engine, in place of waiting for voxels: called after every step of the world, which may have found voxels
    // missing; NULL: none
    void (*stepped)(void *run, flr_loop_frame *frame, const flr_world_input *inputs, int64_t began);
    void *run;
    const flr_world_input
        *said; /* what hand 0 got before, from a recording; NULL: the loop says it */
} flr_stepper;

/* The loop's side of a recording; all may be called without one. */
void flr_recording_tap_begin(flr_stepper *stepper);   /* stepper->recording tap is another one */
void flr_recording_tap_rebuild(flr_stepper *stepper); /* stepper->world instance is another one */
/* It is about to be done, or was. Parts as flr_recording_tap_part() gives them. */
void flr_recording_tap_entry(flr_stepper *stepper, flr_journal_entry entry);
/* What the recording calls the part at this index of the world instance. */
uint32_t flr_recording_tap_part(const flr_stepper *stepper, uint32_t index);
void flr_recording_tap_frame(flr_stepper *stepper, const flr_loop_frame *frame,
                             const flr_world_input *inputs, int64_t began);

bool flr_stepper_step(void *stepper, flr_loop_frame *frame);

/* remote_samples.c: RT safe. An order; another world instance, whose world has adopted the remote couplings of parts that are still there; a frame
 * that begins now. */
void flr_stepper_couple(flr_stepper *stepper, const flr_loop_couple *command);
void flr_stepper_keep_couplings(flr_stepper *stepper);
void flr_stepper_follow(flr_stepper *stepper, int64_t now);
/* Not RT safe: room for samples; false: no memory. */
bool flr_stepper_make_couplings(flr_stepper *stepper);
void flr_stepper_free_couplings(flr_stepper *stepper);

/* stepper_commands.c: RT safe. Applies one command (flr_sim_command) before the frame; and what a hand's button does likewise:
 * grabbing the part at this index of the world instance, with the hand at a pose or where it was seen last (false: it cannot
 * be), releasing what the hand holds. Notices go to control. */
void flr_stepper_take(void *stepper, const void *order);
bool flr_stepper_grab(flr_stepper *stepper, uint32_t hand, uint32_t index,
                      const flr_pose *T_world_hand, bool by_button);
void flr_stepper_release(flr_stepper *stepper, uint32_t hand);
/* stepper.c: the index of the part that a hand at this point would take; FLR_ENGINE_NONE: none. */
uint32_t flr_stepper_find_touched(const flr_stepper *stepper, flr_vec3 point);
void flr_stepper_notify(flr_stepper *stepper, flr_notice notice);

/* ---- the engine ---- */

/* A distance as a worker measured it, and where both parts were then. */
typedef struct flr_gap_end {
    flr_pose T_world_part;
    flr_box3 bounds; /* of its mesh */
} flr_gap_end;

typedef struct flr_gap_found {
    flr_engine_gap gap;
    flr_gap_end ends[2]; /* of part and other */
} flr_gap_found;

typedef struct flr_pointer { /* a device as control knows it */
    flr_engine_device info;
    flr_device *device; /* NULL: cannot be used */
    flr_remote *remote; /* its own ones */
    flr_pose T_world_base;
    double scale;
} flr_pointer;

enum {
    FLR_ENGINE_EVENTS = 1024, /* more only where they cannot be asked for again */
    FLR_ENGINE_POINTERS = 64,
    FLR_ENGINE_PULSES = 5,
    FLR_ENGINE_JOBS = 256,   /* that may wait; new parts are counted as parts */
    FLR_ENGINE_OVERLAYS = 64 /* that may wait */
};

/* What the loop had counted at some moment. */
typedef struct flr_loop_count {
    int64_t time_ns;
    uint64_t frames, skipped;
    flr_histogram compute;
} flr_loop_count;

typedef struct flr_replay flr_replay;
typedef struct flr_taping flr_taping;

/* What clients see, and of which snapshot it was made. */
typedef struct flr_view {
    flr_engine_state state;
    uint64_t number;  /* of the snapshot; 0: none */
    uint64_t derived; /* times that a view was made of one */
    bool overlaid;    /* a replay is shown over it */
    flr_quat turned;  /* of its parts, as in the world instance */
    uint64_t serial;  /* of the world instance that `shown` is about */
    uint32_t shown_count;
    uint32_t
        shown_ids[FLR_ENGINE_PARTS]; /* [shown_count]: static parts that something has touched */
    bool shown[FLR_ENGINE_PARTS];    /* by index: is it one of these? */
} flr_view;

struct flr_engine {
    flr_engine_def def;
    flr_sources sources;
    flr_cache cache;
    flr_asset_how how;         /* of the scene's meshes */
    flr_scene_devices devices; /* what the scene says, to be saved with it */
    bool barrier;
    char *texts[4]; /* cache folder, recordings, scratch, folder */
    int64_t began_ns;
    int cpu; /* the loop's, which others keep off; -1: none */
    flr_loop *loop;
    flr_stepper *stepper;
    flr_jobs *jobs;
    flr_view *view;
    const flr_engine_state *state; /* the view's: as it was last asked for */
    flr_parameters tuning, preset;
    /* of the tuning, what needs other points or trees: as the loop has it, until they are there */
    flr_force_model model;
    flr_world_engine kind;
    flr_loop_count *pulses; /* [FLR_ENGINE_PULSES]: a ring, a second apart */
    uint64_t pulse_count;

    // events: a ring of control's own
    flr_engine_event
        *events; /* [event_capacity + 1]; the last one is filled with what is left out */
    uint32_t event_first, event_count, event_capacity;
    bool resync;           /* FLR_ENGINE_EVENT_RESYNC waits in it */
    uint32_t events_lost;  /* for lack of memory */
    uint64_t news_lost;    /* … and news, because there were too many */
    uint32_t notices_lost; /* of stepper->notices_lost, how many control knows of */
    flr_notice
        notice; /* the next one, where it has to wait: a snapshot may point to what it gives back */
    bool notice_waits;
    uint64_t retired; /* of stepper->retired, how many were taken */

    // orders that had no room on their way to the loop and must not be left out; the newest of each kind and hand
    flr_sim_command late[FLR_COMMANDS_LATE];
    uint32_t late_count;

    // the scene
    uint32_t scene, next_part, next_mesh, next_job;
    char name[FLR_ENGINE_NAME_SIZE], unit[16], path[FLR_CACHE_PATH_SIZE];
    char file_hash[FLR_HASH_TEXT_SIZE]; /* of the scene that was read from `path` */
    bool altered;                       /* parts have come or gone since */
    double unit_metres, voxel;
    flr_scene_camera camera;
    flr_part_list members;
    flr_group_list groups; /* the tree that members are in */
    flr_axis up;           /* which axis of what was opened */
    flr_quat turned;       /* since then, by flr_engine_set_up() */
    flr_tool tools[FLR_ENGINE_HANDS];
    bool firm[FLR_ENGINE_HANDS]; /* by the scene */
    bool probes;                 /* some hand has, or had, a point */
    bool dirty;                  /* the loop's world instance is not what the members are */
    bool rebuilding;             /* a worker makes one, or it is on its way to the loop */
    bool shaping;                /* a worker makes points for another model of force */
    bool unstored;               /* voxels could not be put into the cache */
    uint32_t loading;            /* job that makes the voxels of the scene; 0: none */
    int64_t rebuilt_ns;          /* when the last world was begun */
    size_t state_size;           /* bytes: of the state of the world that was sent last */

    // merged static scene
    flr_static_scene *merged; /* the one given to the loop last, used; NULL: none */
    bool merging;
    int64_t merged_ns;       /* when that was looked at last */
    int64_t settled_ns;      /* since when what stays has stayed */
    flr_hash settled;        /* what that is */
    struct flr_merging *mix; /* the merge and its parts; a worker's while merging */

    // devices
    flr_pointer pointers[FLR_ENGINE_POINTERS];
    uint32_t pointer_count;
    uint32_t selected[FLR_ENGINE_HANDS]; /* device of each hand */
    flr_guard_stats guards[FLR_ENGINE_HANDS];

    // how devices reach into the scene, by hand: device_mapping.c
    flr_engine_mapping mappings[FLR_ENGINE_HANDS]; /* as asked for */
    flr_quat view_axes[FLR_ENGINE_HANDS];
    bool clutches[FLR_ENGINE_HANDS];

    // remote couplings
    uint32_t coupled_parts[FLR_WORLD_REMOTE_COUPLINGS]; /* FLR_ENGINE_NONE: not set */
    uint32_t coupling_generations[FLR_WORLD_REMOTE_COUPLINGS];

    // near
    bool want_distances, want_voxels, looking;
    int64_t looked_ns;
    struct flr_look *look; /* the newest; NULL: none */
    uint64_t look_number;

    // exact distance of what is held, where a worker measures it
    struct {
        bool wanted, measuring, known;
        int64_t measured_ns;
        flr_gap_found nearest; /* known: the newest */
    } gaps;

    struct flr_review *review; /* review.h: pairs that are allowed, clashes, reports */

    uint32_t overlays; /* jobs that gather some */

    // what stands inside others
    struct {
        bool suspected; /* parts came or changed place: they are to be looked at */
        bool looking;   /* a worker does */
        int64_t due_ns; /* not before */
    } overlaps;

    // recordings
    flr_engine_recording *recordings; /* grows with each: entries are small, and own their path */
    uint32_t recording_count, recording_room;
    flr_taping *taping; /* NULL: none */
    flr_replay *replay; /* NULL: none */
};

/* A pose that a scene file may hold, too: not farther out than FLR_MESH_MAX_COORDINATE. */
bool flr_engine_is_pose(flr_pose pose);
/* The world of these parts in this engine. */
flr_world_instance_def flr_engine_instance_def(const flr_engine *engine, const flr_part_list *parts,
                                               const flr_world_params *params, bool probes);
/* up_axis.c: from one orientation to another. */
flr_quat flr_turn_between(flr_quat from, flr_quat to); /* RT safe */
void flr_view_turn(
    flr_engine *engine); /* view.c: parts in the view, until the loop has turned its own */
/* Something comes that was turned by this: the first of a scene says which axis points up. */
void flr_engine_take_up(flr_engine *engine, flr_quat turn);
/* joint_edit.c: a part goes; another one of its rigid group gets its joints. */
void flr_engine_leave_joints(flr_engine *engine, const flr_part_entry *gone);
/* part.c: all parts where they are now, and their joints as they are; shapes are used. Where memory is short, some are missing. */
void flr_engine_look_around(flr_engine *engine, flr_part_list *around);
/* gap_job.c: measures what is held, now and then; puts what was found into a state that knows no gap. */
void flr_engine_keep_gaps(flr_engine *engine);
void flr_engine_show_gaps(const flr_engine *engine, flr_engine_state *to);
/* part_overlap.c: what stands inside others, where the loop's engine does not list it. */
void flr_engine_show_overlaps(const flr_engine *engine, flr_engine_state *to);

/* events.c */
bool flr_engine_make_events(flr_engine *engine); /* false: no memory */
flr_engine_event *flr_engine_tell(flr_engine *engine, flr_engine_event_kind kind);
/* A part is new or has changed: once, however often it has changed since the last event was fetched. */
void flr_engine_tell_part(flr_engine *engine, flr_part_entry *member);
/* Once, however often it has changed since the last one was fetched. */
void flr_engine_tell_change(flr_engine *engine, uint32_t index);

/* paging.c: voxels did not come within the time given, or are `there` now; what a part that is paged takes of memory; reading
 * without workers. */
void flr_engine_tell_waiting(flr_engine *engine, bool there);
void flr_engine_tell_paged(flr_engine *engine, const char *name, const flr_shape *shape);
void flr_engine_page(flr_engine *engine);
flr_result flr_engine_send(flr_engine *engine, const flr_sim_command *command, flr_error *error);
/* The same for a command that the loop gets later where there is no room for it now: one whose row says so (commands.def). */
void flr_engine_send_surely(flr_engine *engine, const flr_sim_command *command);
/* view.c: the newest of the loop, in engine->state; false: there is none yet. */
bool flr_engine_refresh(flr_engine *engine);
/* FLR_NOT_FOUND, FLR_DENIED: it is static and cannot be `what`; FLR_AGAIN: the loop does not have it yet. */
flr_result flr_engine_check_movable(const flr_engine *engine, uint32_t part, const char *what,
                                    flr_error *error);
void flr_engine_send_tuning(flr_engine *engine);
void flr_engine_send_tools(flr_engine *engine);
void flr_engine_tell_parameter(flr_engine *engine, const char *name);
void flr_engine_rebuild(flr_engine *engine);     /* scene_parts.c: posts a job when there is need */
void flr_engine_keep_merged(flr_engine *engine); /* static_scene.c: likewise */
void flr_engine_free_merged(flr_engine *engine);
void flr_engine_keep_looking(flr_engine *engine); /* measure.c */
void flr_engine_free_look(flr_engine *engine);
void flr_engine_keep_overlaps(flr_engine *engine); /* overlap.c */
/* Parts came or were put somewhere; some were let go of; one was taken, whose pose in another is passed. */
void flr_engine_suspect_overlaps(flr_engine *engine);
void flr_engine_settle_overlaps(flr_engine *engine);
void flr_engine_tell_overlap(flr_engine *engine, uint32_t part);
void flr_engine_keep_taping(flr_engine *engine); /* recordings.c */
void flr_engine_keep_shapes(flr_engine *engine); /* part.c: likewise */
void flr_engine_feel_pulse(flr_engine *engine);  /* health.c */
void flr_engine_tape_back(flr_engine *engine, flr_recording_tap *tap);
flr_result flr_engine_list_recordings(flr_engine *engine, flr_error *error);
void flr_engine_free_recordings(flr_engine *engine);
bool flr_engine_show_replay(flr_engine *engine, flr_engine_state *state); /* replay.c */
void flr_engine_free_replay(flr_engine *engine);
flr_result flr_engine_open_devices(flr_engine *engine, flr_loop_def *loop, flr_error *error);
void flr_engine_close_devices(flr_engine *engine);
void flr_engine_send_base(flr_engine *engine, uint32_t hand);
/* device_mapping.c: of the device that moves a hand now. */
flr_mapping_def flr_engine_mapping_def(const flr_engine *engine, uint32_t hand);
/* By index of the present scene, and by id; FLR_NOT_FOUND. */
flr_result flr_engine_find(const flr_engine *engine, uint32_t part, flr_part_entry **member,
                           flr_error *error);
flr_result flr_engine_find_id(const flr_engine *engine, flr_part_id part, flr_part_entry **member,
                              flr_error *error);
/* FLR_NOT_FOUND: an id of a scene that is gone. FLR_NO_PART_ID passes. */
flr_result flr_engine_check_id(const flr_engine *engine, flr_part_id part, flr_error *error);
/* What the first hand that holds a part holds. */
flr_part_id flr_engine_held_part(const flr_engine_state *state);

#endif
