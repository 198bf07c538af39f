/* engine.h: the simulation side of the controller: a scene, its loop, its hands and its workers.
 *
 *     flr_engine_def def = flr_default_engine_def();
 *     def.cache = &cache, def.recordings = folder, def.wake = wake, def.wake_context = server;
 *     flr_engine_create(&def, &engine, &error);
 *     flr_engine_load(engine, "scene.json", &job, &error);      a file, or a scenario's name
 *     flr_engine_start(engine, &error);                         starts the loop in its own thread
 *     repeatedly, at least every 20 ms and whenever wake() was called:
 *         flr_engine_service(engine);
 *         while (flr_engine_next(engine, &event)) …             what has happened
 *         state = flr_engine_view(engine);                      where everything is
 *     flr_engine_destroy(engine);
 *
 * There are three kinds of thread. The *loop* steps the world; it receives commands by value through a ring and publishes its state as a
 * latest value. *Control* is the one thread that calls the functions here; none of them waits for the loop, a disk or a worker. *Workers*
 * read, voxelize, merge and measure; flr_engine_service() takes over their results.
 *
 * Without threads (flr_threadless_engine_def(), and flr_engine_run() instead of flr_engine_start()) everything happens in the calling
 * thread, and jobs run inside flr_engine_service(): with a simulated env the same calls give the same bits.
 *
 * Ids of parts and meshes are never reused within a scene, those of jobs, recordings and devices never within an engine.
 * Names and values are those of protocol/messages.def.
 *
 * Thread: control, unless a function says otherwise. Nothing here is RT safe. */
#ifndef FLR_SIM_ENGINE_H
#define FLR_SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/assembly.h"
#include "feeler/base.h"
#include "feeler/clash.h"
#include "feeler/device.h"
#include "feeler/env.h"
#include "feeler/ids.h"
#include "feeler/loop.h"
#include "feeler/mesh.h"
#include "feeler/pager.h"
#include "feeler/plan.h"
#include "feeler/voxel_file.h"
#include "feeler/world.h"
#include "protocol/messages.h"
#include "realtime/stall.h"
#include "scene/scene.h"
#include "sim/engine_report.h"
#include "sim/engine_state.h"

typedef struct flr_engine flr_engine;

/* ---- creation and running ---- */

/* Fill with flr_default_engine_def(). Texts are copied. */
typedef struct flr_engine_def {
    flr_env *env;     /* default the real one */
    double rate;      /* Hz; default 1000 */
    bool local;       /* devices are served from local models, as in flr_loop_def; default false */
    bool paced;       /* by the clock; default true. false: as fast as it goes, flr_engine_run() */
    uint32_t hands;   /* 1 … 8; default 2 */
    unsigned workers; /* threads for jobs; default 2; 0: jobs are done in flr_engine_service() */
    unsigned threads; /* that one job may use; default 0: one per processor */
    unsigned
        contact_threads; /* that share a contact query of the loop; default 0: none but the loop's own */
    bool
        merge; /* what stays is made one, by a job: worth it from some ten parts on; default true */
    const flr_cache *cache; /* of voxels; NULL: none. Its folder is copied */
    /* bytes: of the voxels of parts of a scene that never move no more than this are in memory, the rest is read from the cache
     * when parts come near (feeler/pager.h); default 0: all of them are. Such parts are not merged with others, have no
     * overlays, no colours of proximity and no geometrical awareness; distances to them are measured by triangles. Without workers,
     * flr_engine_service() reads */
    uint64_t memory;
    const char *recordings; /* folder, made when needed; NULL: there are none */
    const char *scratch;    /* folder for scenarios that are made; NULL: they cannot be loaded */
    const char *folder; /* that names of files begin in, as recordings tell them; NULL: not said */
    flr_mesh_options options; /* of reading meshes */
    flr_axis
        up; /* of CAD files that are loaded in place of a scene; default none: the likely one */
    double voxel;      /* metres: of parts that have none; 0: what fits the part */
    bool voxel_of_all; /* … of all parts of a scene, whatever it says; default false */
    /* How parts touch in every scene, whatever it says: 1 + flr_world_engine; how far before surfaces meet force begins,
     * metres; and of the exact engine the strength, and how deep parts may start in each other, metres. 0 for the engine and the
     * strength, negative for the lengths, the defaults: what the scene says */
    unsigned contact;
    /* leave frames out of recordings, so that a minute takes no more than 10 MB: they can be shown, but not run again. Default false */
    bool small_recordings;
    /* of devices, for all hands, before what a scene says; NULL: as scenes say. Need not outlive the call. */
    const struct flr_engine_mapping *mapping;
    double onset, strength, overlap;
    double tests;     /* of the coherent engine, likewise */
    int priority;     /* of the loop, as in flr_loop_def; default 80 */
    int cpu;          /* default -1 */
    bool lock_memory; /* default true */
    /* Writes a report, in a worker's thread; the engine owns the file. NULL: this engine writes none. */
    flr_result (*report)(const flr_engine_report *report, flr_blob *file, flr_error *error);
    /* Likewise, about a recording. */
    flr_result (*report_recording)(const flr_engine_recording_report *report, flr_blob *file,
                                   flr_error *error);
    /* Control's, which the caller beats: forces fade while it stalls, and what control does is noted in it. NULL: none. Outlives
     * the engine. */
    flr_stall *stall;
    /* Called from any thread but the loop's when flr_engine_service() has something to do: must not
     * call the engine, may not block. NULL: none. */
    void (*wake)(void *context);
    void *wake_context;
} flr_engine_def;

flr_engine_def flr_default_engine_def(void);
/* The same for an engine without threads, such as one on a simulated machine: no workers, one thread in a job, neither priority
 * nor locked memory. */
flr_engine_def flr_threadless_engine_def(flr_env *env);

/* An empty scene, ready for parts. FLR_NO_MEMORY, FLR_BAD_ARGUMENT. On success the caller owns it. */
flr_result flr_engine_create(const flr_engine_def *def, flr_engine **engine, flr_error *error);
/* Ends the loop and the jobs, finishes a recording, frees. NULL allowed. Devices that were given
 * stay the caller's. */
void flr_engine_destroy(flr_engine *engine);

/* The calling thread, and those that it makes, keep off the processor that the loop would like to have
 * for itself. Where there is only one, or the loop has no priority, nothing is changed. Thread: any. */
void flr_engine_keep_off(const flr_engine *engine);

/* The loop in a thread of its own. Refused by a simulated env, and where it runs already. */
flr_result flr_engine_start(flr_engine *engine, flr_error *error);
void flr_engine_stop(flr_engine *engine); /* waits for the frame it is in; forces fade */
/* Frames in the calling thread, for tests and programs without a person. Not while it runs. */
void flr_engine_run(flr_engine *engine, uint64_t frames);

/* What control does from now on, for flr_stall_set_doing(). */
flr_stall_doing flr_engine_doing(flr_engine *engine, const char *doing, const char *what);

/* Takes over what workers made, frees what the loop has let go of, keeps merges and recordings
 * going. Without workers it does one job that waits: of a load the next part of it. */
void flr_engine_service(flr_engine *engine);

/* ---- what has happened ---- */

typedef enum flr_engine_event_kind {
    FLR_ENGINE_EVENT_NEWS,      /* `sentence`: an `event` message, its kind in `news` */
    FLR_ENGINE_EVENT_SCENE,     /* another scene: ask for everything anew */
    FLR_ENGINE_EVENT_PART,      /* `part` is new or changed */
    FLR_ENGINE_EVENT_GROUPS,    /* the groups have changed; parts that did follow */
    FLR_ENGINE_EVENT_PART_GONE, /* `part` is gone */
    FLR_ENGINE_EVENT_JOB,       /* `job` */
    FLR_ENGINE_EVENT_PARAMETER, /* `index` of the parameter that has another value */
    FLR_ENGINE_EVENT_DEVICE,    /* `index` of the device */
    FLR_ENGINE_EVENT_RECORDING, /* `index` of the recording that began or ended */
    FLR_ENGINE_EVENT_CLEARANCE, /* `clearance` answers the request `token`, or `result` and `sentence` */
    FLR_ENGINE_EVENT_CLASHES, /* flr_engine_clashes_of() answers the request `token`, or `result` and `sentence` */
    FLR_ENGINE_EVENT_MEASURE, /* `measure` answers the request `token`, or `result` and `sentence` */
    FLR_ENGINE_EVENT_NOTES,   /* the notes have changed */
    FLR_ENGINE_EVENT_JOINTS,  /* the joints have changed */
    FLR_ENGINE_EVENT_UP,      /* another axis points up; parts, joints and notes follow */
    FLR_ENGINE_EVENT_FILES,   /* flr_engine_changed_files() has changed */
    FLR_ENGINE_EVENT_GAP_MAP, /* flr_engine_gap_map_of() answers the request `token`, or `result` and `sentence` */
    FLR_ENGINE_EVENT_WAY, /* flr_engine_way_of() answers the request `token`, or `result` and `sentence` */
    FLR_ENGINE_EVENT_WAY_PROGRESS, /* `way`: how far the request `token` is; its job is `index` */
    FLR_ENGINE_EVENT_ALLOWED,      /* which pairs are allowed has changed */
    FLR_ENGINE_EVENT_REPLAY,       /* playing began or ended */
    /* More has happened than the engine remembers one by one: ask for parts, parameters, devices, recordings and jobs anew. Ends
     * of jobs, answers and new scenes come all the same; `index`: how many of these were lost for lack of memory */
    FLR_ENGINE_EVENT_RESYNC
} flr_engine_event_kind;

typedef struct flr_engine_job {
    uint32_t job;      /* number, from 1 */
    flr_part_id part;  /* that it is about, or FLR_NO_PART_ID */
    uint8_t kind;      /* FLR_WIRE_JOB_LOAD … */
    uint8_t state;     /* FLR_WIRE_JOB_WAITING, _RUNNING, _ENDED */
    flr_result result; /* when it has ended */
    float fraction;    /* 0 … 1 */
    char name[FLR_ENGINE_NAME_SIZE];
    char sentence[FLR_ERROR_MESSAGE_SIZE];
} flr_engine_job;

typedef struct flr_engine_clearance {
    flr_part_id part, other; /* other FLR_NO_PART_ID: nothing in reach */
    double lower, upper;     /* metres; INFINITY allowed */
    flr_vec3 from, to;       /* world: nearest points; zero when not known */
    bool exact;              /* from triangles */
    bool known;              /* exact, and there is another: then */
    double distance, error;  /* … metres, with a sign, and by how much it may be off */
    uint64_t frame;          /* of the loop: the parts stand as they did after it */
} flr_engine_clearance;

/* A place of a part that is to be measured; metres, world. */
typedef struct flr_engine_pick {
    flr_part_id part;
    uint8_t kind; /* what is meant: FLR_WIRE_MEASURED_ANY, _POINT or _PART */
    flr_vec3 at;
    double reach; /* a corner or an edge so near is meant rather than the face */
} flr_engine_pick;

/* What was picked. */
typedef struct flr_engine_measured {
    flr_part_id part;
    uint8_t kind; /* FLR_WIRE_MEASURED_POINT … */
    bool hollow;
    double size, radius;
    flr_vec3 point, direction;
} flr_engine_measured;

/* One thing, or two and how they lie to each other; as in the message `measure`. */
typedef struct flr_engine_measure {
    flr_engine_measured of[2];
    bool both, has_angle, has_between;
    double distance, angle, between;
    flr_vec3 from, to;
} flr_engine_measure;

/* Plain data; `kind` tells what is filled. */
typedef struct flr_engine_event {
    flr_engine_event_kind kind;
    uint8_t news;   /* FLR_WIRE_EVENT_NOTE … */
    uint64_t frame; /* of the loop; 0 where none is meant */
    flr_part_id part;
    flr_hand_id hand;
    uint32_t index, token;
    flr_result result; /* of a clearance */
    flr_engine_job job;
    flr_engine_clearance clearance;
    flr_engine_measure measure;
    flr_plan_progress way;
    char sentence[FLR_ERROR_MESSAGE_SIZE];
} flr_engine_event;

/* The oldest that was not taken yet. False: no more. Where many wait, FLR_ENGINE_EVENT_RESYNC stands for those that only say
 * that something has changed. */
bool flr_engine_next(flr_engine *engine, flr_engine_event *event);

/* ---- the scene ---- */

typedef struct flr_engine_scene {
    uint32_t scene; /* number; counts up with every load */
    uint32_t parts, meshes, hands;
    flr_box3 bounds;         /* metres, of all parts where they start; empty: no part */
    double voxel;            /* metres: the least that something is touched with; 0: none */
    const char *name, *unit; /* "mm"; valid until the next flr_engine_service() */
    const char *path;        /* of its file; "" */
    flr_scene_camera camera; /* from where one first looks */
} flr_engine_scene;

void flr_engine_get_scene(const flr_engine *engine, flr_engine_scene *scene);

typedef struct flr_engine_part {
    flr_part_id part;
    flr_mesh_id mesh;
    flr_part_kind kind;
    bool ready; /* has voxels, and the loop has it: takes part in contact */
    bool hollow;
    uint32_t colour;       /* 0xrrggbb */
    uint32_t points;       /* of its shell */
    double voxel;          /* metres; 0: none yet */
    double mass;           /* kg; 0: not known yet, as there are no voxels */
    bool weighed;          /* a mass or a density was given; false: it is the apparent one */
    flr_pose T_world_part; /* now */
    flr_pose T_start;      /* where reset puts it */
    bool has_goal;
    bool hidden; /* a viewer does not show it at first */
    flr_part_use use;
    const char *group;        /* the name of the group that it is in, ""; as name */
    flr_pose T_goal;          /* where it should get to: the end of its path in the scene */
    const char *name;         /* valid until the next flr_engine_service() */
    const flr_mesh *geometry; /* likewise; see flr_engine_retain_mesh() */
    const flr_voxmap *voxmap; /* NULL: none; likewise */
    const flr_shell *shell;
} flr_engine_part;

/* The groups that parts are in, as a tree: the name of the one in the place `index` and of the one that it is in (""), valid until
 * the next flr_engine_service(). False: no such place. */
uint32_t flr_engine_groups(const flr_engine *engine);
bool flr_engine_group_at(const flr_engine *engine, uint32_t index, const char **name,
                         const char **in);
/* Puts parts into the group of this name, which is made where the first of them is, unless it is there already. */
flr_result flr_engine_group(flr_engine *engine, const char *name, const flr_part_id *parts,
                            uint32_t count, flr_error *error);
/* Takes a group away; what it holds goes to the group that it was in. FLR_NOT_FOUND. */
flr_result flr_engine_ungroup(flr_engine *engine, const char *name, flr_error *error);
/* The parts of a group move as one from now on, as they are placed now, or each by itself. */
flr_result flr_engine_set_rigid(flr_engine *engine, const char *name, bool rigid, flr_error *error);
bool flr_engine_group_is_rigid(const flr_engine *engine, uint32_t index);

/* Which axis of the opened file points up. Another one turns the whole scene: parts where they are and where they start, joints,
 * notes. Hands let go; FLR_AGAIN while a recording is made or shown. */
flr_axis flr_engine_up(const flr_engine *engine);
flr_result flr_engine_set_up(flr_engine *engine, flr_axis up, flr_error *error);

enum { FLR_ENGINE_NOTE_SIZE = 513 };

typedef struct flr_engine_note {
    uint32_t note;     /* number of a remark at a place; not used again in the scene */
    flr_part_id part;  /* that it moves with, or FLR_NO_PART_ID */
    flr_vec3 position; /* metres: in the part's frame, or the world's */
    char text[FLR_ENGINE_NOTE_SIZE];
} flr_engine_note;

uint32_t flr_engine_notes(const flr_engine *engine);
/* The one in the place `index`, until the next call of the engine; NULL: no such place. */
const flr_engine_note *flr_engine_note_at(const flr_engine *engine, uint32_t index);
/* Changes the note of this number, or makes one (FLR_ENGINE_NONE, filled in); without a text it is taken away. FLR_NOT_FOUND,
 * FLR_BAD_ARGUMENT, FLR_TOO_LARGE. */
flr_result flr_engine_set_note(flr_engine *engine, flr_engine_note *note, flr_error *error);

/* A joint; point and axis are in the frame of side a. */
typedef struct flr_engine_joint {
    flr_joint joint;  /* its sides are numbers of parts, or FLR_JOINT_WORLD */
    const char *name; /* valid until the next call of the engine */
} flr_engine_joint;

uint32_t flr_engine_joints(const flr_engine *engine);
/* The place of the first part of the rigid group around the part at `index`; `index`: there is none. */
uint32_t flr_engine_body_of(const flr_engine *engine, uint32_t index);
/* Marks, by place, all parts that groups and joints connect to the one at `index`, and that one. */
bool flr_engine_linked(const flr_engine *engine, uint32_t index, bool *linked);
/* The one in the place `index`. False: no such place. */
bool flr_engine_joint_at(const flr_engine *engine, uint32_t index, flr_engine_joint *joint);
/* Makes a joint of this name: `given` has numbers of parts, point and axis in the world as parts are now, where the joint is at 0;
 * parts that it connects start from there. Of a joint that is there already, kind, pitch, touch, turn and slide change, which
 * count from where they did. FLR_BAD_ARGUMENT with a sentence for what cannot be, FLR_NOT_FOUND, FLR_UNSUPPORTED, FLR_TOO_LARGE. */
flr_result flr_engine_set_joint(flr_engine *engine, const char *name, const flr_joint *given,
                                flr_error *error);
flr_result flr_engine_remove_joint(flr_engine *engine, const char *name, flr_error *error);

/* The part in the place `index`, 0 … parts - 1, in order of numbers. False: no such place. */
bool flr_engine_part_at(const flr_engine *engine, uint32_t index, flr_engine_part *part);
/* The part that has this index on the wire in the present scene, there or not; UINT32_MAX: none. Likewise for a mesh. */
flr_part_id flr_engine_part_id(const flr_engine *engine, uint32_t index);
flr_mesh_id flr_engine_mesh_id(const flr_engine *engine, uint32_t index);
/* FLR_NOT_FOUND. */
flr_result flr_engine_get_part(const flr_engine *engine, flr_part_id part, flr_engine_part *out,
                               flr_error *error);
/* Does a part that may move stand inside another, as far as that was looked at? A sentence says which and what it means;
 * FLR_ENGINE_EVENT_NEWS tells it when it is found, and when such a part is taken. */
bool flr_engine_overlap(const flr_engine *engine, flr_part_id *part,
                        char sentence[FLR_ERROR_MESSAGE_SIZE]);
/* NULL: no such mesh. Parts of one shape share one. `hash` may be NULL. */
const flr_mesh *flr_engine_mesh(const flr_engine *engine, flr_mesh_id mesh, flr_hash *hash);

/* So that a mesh outlives its part, for somebody who sends it: NULL when there is no such. Let go of
 * it by flr_mesh_asset_release(), from any thread; it may outlive the engine, too. */
typedef struct flr_mesh_asset flr_mesh_asset;
flr_mesh_asset *flr_engine_retain_mesh(flr_engine *engine, flr_mesh_id mesh);
const flr_mesh *flr_mesh_asset_mesh(const flr_mesh_asset *asset); /* thread: any */
void flr_mesh_asset_release(flr_mesh_asset *asset);               /* thread: any; NULL allowed */

/* ---- jobs ---- */

/* Loads a scene file or makes a scenario. When its meshes are read, it takes the place of what is
 * there, with parts that are not ready; they become so as their voxels are made, and the job ends
 * with the last. A part whose voxels cannot be made, or are cancelled, stays as it is. */
flr_result flr_engine_load(flr_engine *engine, const char *path, uint32_t *job, flr_error *error);

/* Whether changes of the files of the scene that is loaded next are noticed; FLR_ENGINE_EVENT_FILES tells. Default false. */
void flr_engine_watch_files(flr_engine *engine, bool watch);
/* How many files have changed since they were read; the sentence, which may be NULL, is valid until the next
 * flr_engine_service(). */
uint32_t flr_engine_changed_files(const flr_engine *engine, const char **sentence);
/* Reads the changed files again; parts of the same names get the new meshes and keep all else. FLR_NOT_FOUND: none has changed. */
flr_result flr_engine_reload_files(flr_engine *engine, flr_error *error);

/* A part to be added. */
typedef struct flr_engine_add_def {
    const char *name; /* copied */
    flr_mesh *mesh;   /* the engine owns it from then on, also on failure; or NULL: */
    const char *file; /* is read by the job; copied; or NULL: */
    /* [vertex_count], [triangle_count], by malloc(): the job makes a mesh of them. The engine owns
     * both from then on, also on failure */
    flr_vec3 *vertices;
    flr_triangle *triangles;
    uint32_t vertex_count, triangle_count;
    double unit;        /* metres per unit of file or vertices; 0: as the file says */
    bool remove_file;   /* when it was read: an upload's */
    flr_part_kind kind; /* default static */
    bool hollow;
    uint32_t colour; /* 0xrrggbb; default FLR_ENGINE_NONE: the engine chooses */
    double voxel;    /* metres; 0: the scene's */
    flr_pose T_world_part;
    /* A part that gets the mesh in place of its own, as in another revision, and keeps all else: name, pose, kind, colour, mass,
     * group, notes, and voxels of the same size. Of the rest, mesh, file, vertices, unit and remove_file count. Until the new voxels
     * are there it stays as it is. Default FLR_NO_PART_ID: a new part */
    flr_part_id replaces;
} flr_engine_add_def;

flr_engine_add_def flr_default_engine_add_def(void);
/* All parts of a file, each a part of the scene, with their groups; `file`, `name` of the file, `unit`, `kind`, `T_world_part` and
 * `remove_file` count. Of kind movable: all but the largest. */
flr_result flr_engine_add_assembly(flr_engine *engine, const flr_engine_add_def *def, uint32_t *job,
                                   flr_error *error);
/* The part has its id (`*part`, may be NULL) at once. It is there when the job has read its
 * mesh, and ready some time after it has made its voxels. */
flr_result flr_engine_add(flr_engine *engine, const flr_engine_add_def *def, flr_part_id *part,
                          uint32_t *job, flr_error *error);
/* Takes a part out; a hand that holds it lets go. */
flr_result flr_engine_remove(flr_engine *engine, flr_part_id part, flr_error *error);
/* How a part may move from now on. One that becomes static stays where it is, also after a reset. */
flr_result flr_engine_set_kind(flr_engine *engine, flr_part_id part, flr_part_kind kind,
                               flr_error *error);
/* Makes a part solid, lets others pass through it, or makes it a zone that none may enter, which is static. FLR_DENIED for a zone
 * of a part that moves with its rigid group. */
flr_result flr_engine_set_use(flr_engine *engine, flr_part_id part, flr_part_use use,
                              flr_error *error);
/* Voxels of another size; until they are there, the old ones serve. */
flr_result flr_engine_voxelize(flr_engine *engine, flr_part_id part, double voxel, uint32_t *job,
                               flr_error *error);
/* The scene as it is now as a file, with meshes beside it (NAME_parts/…). `path` ends in .json and is the job's name; the
 * job fails with FLR_DENIED where it is the name of something else than a scene that was saved so. */
flr_result flr_engine_save(flr_engine *engine, const char *path, uint32_t *job, flr_error *error);
/* The same for a client, who gives a name without folders: beside the scene that was opened, or in def.folder where that is
 * none of the user's files. */
flr_result flr_engine_save_as(flr_engine *engine, const char *name, uint32_t *job,
                              flr_error *error);

/* Asks a job to stop; it ends with FLR_CANCELLED, or was done already. FLR_NOT_FOUND. */
flr_result flr_engine_cancel(flr_engine *engine, uint32_t job, flr_error *error);
uint32_t flr_engine_jobs(const flr_engine *engine); /* waiting or running */
/* The job in place `index` of those. False: no such. */
bool flr_engine_job_at(const flr_engine *engine, uint32_t index, flr_engine_job *job);

/* ---- hands and parts; each counts from the next frame on ---- */

/* Carries out a message of protocol/commands.def; the functions below do the same by name. FLR_UNSUPPORTED: it is none. */
flr_result flr_engine_command(flr_engine *engine, const flr_message *message, flr_error *error);

/* `part` FLR_NO_PART_ID: the one that the hand touches, when the loop gets to it. FLR_NOT_FOUND,
 * FLR_DENIED (static), FLR_AGAIN (the part is not ready, and why; or too much is on its way to the
 * loop). */
flr_result flr_engine_grab(flr_engine *engine, flr_hand_id hand, flr_part_id part,
                           flr_error *error);
flr_result flr_engine_release(flr_engine *engine, flr_hand_id hand, flr_error *error);
/* Who moved the hand is gone: it lets go and is not seen until something moves it again. */
flr_result flr_engine_leave(flr_engine *engine, flr_hand_id hand, flr_error *error);
flr_result flr_engine_place(flr_engine *engine, flr_part_id part, flr_pose T_world_part,
                            flr_error *error);

/* ---- remote couplings: parts that are held by other controllers, too; see flr_world_set_remote_coupling() ---- */

/* Couples a part as `def` says, whose own part is not read; NULL: uncouples. Couplings of a part that goes away are uncoupled. FLR_NOT_FOUND, FLR_DENIED
 * (static), FLR_BAD_ARGUMENT, FLR_AGAIN. */
flr_result flr_engine_set_coupling(flr_engine *engine, uint32_t coupling, flr_part_id part,
                                   const flr_remote_coupling_def *def, flr_error *error);

/* How the other instance was at some moment. */
typedef struct flr_engine_coupling_sample {
    int64_t sent_ns;       /* when, by our own clock (flr_clock_ns of the engine's env) */
    flr_pose T_world_part; /* of the other instance */
    flr_twist twist;       /* about its centre of mass, world's axes */
    double put;            /* joules: flr_engine_coupling_state.put of the other side */
} flr_engine_coupling_sample;

/* The newest counts; one that is older than the last is left out. The loop goes on from it by its
 * twist, at an even pace whatever the jitter, for 30 ms or two samples; then it stands. Never fails
 * but by a bad `remote coupling` or numbers that make no sense (FLR_BAD_ARGUMENT). */
flr_result flr_engine_coupling_input(flr_engine *engine, uint32_t coupling,
                                     const flr_engine_coupling_sample *sample, flr_error *error);

/* Physics of a part on or off. FLR_NOT_FOUND, FLR_AGAIN. */
flr_result flr_engine_set_solid(flr_engine *engine, flr_part_id part, bool solid, flr_error *error);

/* ---- devices ---- */

/* Every hand has a *remote* device of its own, fed by flr_engine_hand_input(); flr_engine_add_device() adds more. */
typedef struct flr_engine_device {
    uint32_t device;
    uint8_t kind; /* FLR_WIRE_DEVICE_PAGE … */
    bool present;
    flr_hand_id hand; /* that it moves, or FLR_NO_HAND_ID */
    double max_force, max_torque;
    char name[FLR_DEVICE_NAME_SIZE];
    char sentence[FLR_ERROR_MESSAGE_SIZE]; /* why it cannot be used */
} flr_engine_device;

/* Borrowed until flr_engine_destroy(); the engine makes its guard. `device` NULL: one that is known
 * and cannot be used, as `sentence` says. `T_world_base`: where its base stands; `scale`: metres in
 * the world for a metre of the device. `number` may be NULL. */
flr_result flr_engine_add_device(flr_engine *engine, flr_device *device, uint8_t kind,
                                 const char *name, const char *sentence, flr_pose T_world_base,
                                 double scale, uint32_t *number, flr_error *error);
uint32_t flr_engine_devices(const flr_engine *engine);
bool flr_engine_device_at(const flr_engine *engine, uint32_t index, flr_engine_device *device);
/* Lets a device move a hand; FLR_ENGINE_NONE: the hand's own remote one. The force of the one before fades first. */
flr_result flr_engine_select(flr_engine *engine, flr_hand_id hand, uint32_t device,
                             flr_error *error);
/* Moves a device's base, as when the view turns. A part that is held is taken anew. */
flr_result flr_engine_place_device(flr_engine *engine, uint32_t device, flr_pose T_world_base,
                                   double scale, flr_error *error);
/* How a device moves a hand, as clients ask for it; kept when the hand gets another device. Mapping: sim/mapping.h. */
#define FLR_MIN_SCALE 1e-3
#define FLR_MAX_SCALE 1e3
typedef struct flr_engine_mapping {
    double
        scale; /* metres in the world for a metre of the device; 0: derived from workspace and scene */
    uint8_t axes; /* FLR_WIRE_AXES_…: the device's axes are the world's, or those of the view */
    uint8_t boundary;      /* FLR_WIRE_BOUNDARY_… */
    int32_t clutch_button; /* 0 to 31; -1: none */
} flr_engine_mapping;

/* Along the axes of the view, at the derived scale, no boundary mode, no clutch button. */
flr_engine_mapping flr_default_engine_mapping(void);
/* "scale=2,axes=view,boundary=bubble,clutch=1" into `mapping`, which has the defaults; the sentence names the key. */
flr_result flr_engine_mapping_parse(const char *text, flr_engine_mapping *mapping,
                                    flr_error *error);
flr_result flr_engine_set_mapping(flr_engine *engine, flr_hand_id hand,
                                  const flr_engine_mapping *mapping, flr_error *error);
/* What was asked for, and the scale in force. A hand that does not exist: defaults. */
void flr_engine_get_mapping(const flr_engine *engine, flr_hand_id hand, flr_engine_mapping *mapping,
                            double *scale);
flr_result flr_engine_hold_clutch(flr_engine *engine, flr_hand_id hand, bool held,
                                  flr_error *error);
/* The axes of the view that a hand's device follows: x to the right, y away from the eye, z up. */
flr_result flr_engine_set_view_axes(flr_engine *engine, flr_hand_id hand, flr_quat axes,
                                    flr_error *error);
/* Where the page or the host has a hand; the newest counts. Button 0 takes and lets go. */
flr_result flr_engine_hand_input(flr_engine *engine, flr_hand_id hand, flr_pose T_world_hand,
                                 uint32_t buttons, flr_error *error);

/* ---- parameters ---- */

typedef struct flr_engine_parameter {
    const char *name, *unit, *words, *doc; /* constants */
    double value, low, high, preset;
} flr_engine_parameter;

uint32_t flr_engine_parameters(const flr_engine *engine);
bool flr_engine_parameter_at(const flr_engine *engine, uint32_t index, flr_engine_parameter *out);
/* FLR_NOT_FOUND (with a guess), FLR_BAD_ARGUMENT (out of range). */
flr_result flr_engine_set(flr_engine *engine, const char *name, double value, flr_error *error);

/* ---- state: engine_state.h ---- */

/* The newest, or the replay's; valid until the next call. Never NULL. Made once for a frame: asking again costs nothing. */
const flr_engine_state *flr_engine_view(flr_engine *engine);
/* Where a part is in its list; FLR_ENGINE_NONE: it is not. */
uint32_t flr_engine_state_find(const flr_engine_state *state, flr_part_id part);

typedef struct flr_engine_health {
    flr_loop_stats loop; /* times in ns */
    bool rate_held;
    char sentence[FLR_ERROR_MESSAGE_SIZE]; /* "1000 Hz held", or why not */
    char rights[FLR_ERROR_MESSAGE_SIZE];
    uint64_t memory; /* bytes of meshes, voxels and worlds */
    double uptime;   /* seconds */
    uint32_t jobs;
} flr_engine_health;

void flr_engine_get_health(flr_engine *engine, flr_engine_health *health);
/* How long the loop's frames took, in ns, for those who compare moments. Thread: any. */
const flr_histogram *flr_engine_compute(const flr_engine *engine);

/* ---- measuring ---- */

/* How far is a part from another or from all (FLR_NO_PART_ID); FLR_ENGINE_EVENT_CLEARANCE with
 * `token` answers. */
flr_result flr_engine_clearance_ask(flr_engine *engine, flr_part_id part, flr_part_id other,
                                    bool exact, uint32_t token, flr_error *error);

/* What is at a place of a part and, with `second`, how it lies to what is at another; a worker finds out, and
 * FLR_ENGINE_EVENT_MEASURE with `token` answers. `second` may be NULL. FLR_NOT_FOUND, FLR_BAD_ARGUMENT. */
flr_result flr_engine_measure_ask(flr_engine *engine, const flr_engine_pick *first,
                                  const flr_engine_pick *second, uint32_t token, flr_error *error);

/* Which parts overlap, touch or are too near, where they stood when it was asked for. */
typedef struct flr_engine_clashes {
    uint32_t scene;
    double clearance, seconds, least_touch, most_touch; /* of touch see flr_clash_list */
    uint32_t overlaps, contacts, near;                  /* pairs, without those that are allowed */
    uint32_t allowed;                                   /* pairs of these states that are allowed */
    uint32_t left_out; /* parts with too many triangles, which were not checked */
    uint32_t pair_count;
    /* [pair_count], FLR_ENGINE_CLASHES at most: first those not allowed, by severity; a and b as on the wire */
    flr_clash_pair *pairs;
    bool *is_allowed; /* [pair_count] */
} flr_engine_clashes;

/* A worker checks all pairs; FLR_ENGINE_EVENT_CLASHES with `token` answers. Pairs of which neither part has moved since the last
 * time are not measured again. FLR_BAD_ARGUMENT, FLR_AGAIN: several are under way. */
flr_result flr_engine_clashes_ask(flr_engine *engine, double clearance, uint32_t token,
                                  flr_error *error);
/* The answer, until the next flr_engine_service(); NULL: there is none. */
const flr_engine_clashes *flr_engine_clashes_of(const flr_engine *engine, uint32_t token);
/* A part's surface in triangles that are small where another part is near. */
typedef struct flr_gap_map {
    flr_part_id part;
    double reach, least;     /* metres; the least distance, below 0: so deep in another part */
    uint32_t triangle_count; /* three corners each */
    float *vertices;         /* [3 × 3 × triangle_count] metres, part's frame */
    float *distances;        /* [3 × triangle_count] metres; `reach`: no other part is so near */
} flr_gap_map;

/* How far the surface of a part is from all others, but those of its rigid group, up to `reach` metres (above 0, at most 1).
 * FLR_ENGINE_EVENT_GAP_MAP answers. */
flr_result flr_engine_gap_map_ask(flr_engine *engine, flr_part_id part, double reach,
                                  uint32_t token, flr_error *error);
/* The answer, until the next flr_engine_service(); NULL: there is none. */
const flr_gap_map *flr_engine_gap_map_of(const flr_engine *engine, uint32_t token);
/* Marks two parts as a fit of the design, or no longer. FLR_NOT_FOUND; FLR_DENIED: a rule of the scene about several parts
 * allows it. */
flr_result flr_engine_allow(flr_engine *engine, flr_part_id part, flr_part_id other, bool allowed,
                            flr_error *error);
uint32_t flr_engine_allow_rules(const flr_engine *engine);
/* A report of the clashes, by the function of the definition; `format` as there. FLR_UNSUPPORTED: there is none. */
flr_result flr_engine_report_clashes(flr_engine *engine, double clearance, uint8_t format,
                                     uint32_t *job, flr_error *error);
/* Likewise about a finished recording, by `report_recording`; `clearance` below 0: none is required. */
flr_result flr_engine_report_recording(flr_engine *engine, uint32_t recording, double clearance,
                                       uint8_t format, uint32_t *job, flr_error *error);
/* The file that a job made, and a word for its name ("clashes"); the newest few are kept. Valid until the next
 * flr_engine_service(). */
bool flr_engine_get_report(const flr_engine *engine, uint32_t job, uint8_t *format,
                           const char **what, flr_blob *file);

typedef struct flr_engine_near_voxel {
    flr_part_id part; /* whose it is */
    float centre[3];  /* metres, that part's frame */
} flr_engine_near_voxel;

/* What is near a held part: looked for by a worker, 20 times a second at most, while somebody wants
 * it. */
typedef struct flr_engine_near {
    uint64_t number; /* counts up; 0: none yet */
    uint64_t frame;
    flr_part_id part;                    /* that is held */
    uint32_t vertices;                   /* of its mesh */
    double greatest;                     /* metres: distances from here on are not told apart */
    const float *distances;              /* [vertices] metres; INFINITY: far; NULL: not wanted */
    const flr_engine_near_voxel *voxels; /* [voxel_count], sorted by part; NULL: not wanted */
    uint32_t voxel_count;
    double voxel; /* metres: size of the largest */
} flr_engine_near;

/* Somebody wants the distances of what is held. The exact engine knows them up to a millimetre, in every frame; beyond that, where
 * it measures coarsely for lack of time, and with other engines, a worker measures the nearest part, 20 times a second at most. */
void flr_engine_want_gaps(flr_engine *engine, bool wanted);

void flr_engine_want_near(flr_engine *engine, bool distances, bool voxels);
/* The newest; valid until the next flr_engine_service(). False: there is none (nothing is held). */
bool flr_engine_get_near(const flr_engine *engine, flr_engine_near *near);

/* ---- recordings ---- */

typedef struct flr_engine_recording {
    uint32_t recording;
    bool finished;
    uint64_t bytes;        /* of the file, when it is finished */
    uint64_t frames, lost; /* in it, and not; 0 where not known: its writer died */
    double seconds;        /* if its writer died: as far as it can be read; 0: not known */
    char name[FLR_ENGINE_NAME_SIZE];
    const char *path; /* of the file; valid until it is renamed */
    bool gone;        /* removed: its number is not used again */
    // the scene that it is of
    char scene[FLR_ENGINE_NAME_SIZE], scene_hash[FLR_HASH_TEXT_SIZE];
    const char *scene_path; /* its file; NULL: not known. Valid as long as the engine */
    uint64_t
        made_in; /* one more than the generation of the scene in which this engine made it; 0: it did not */
    flr_quat turned; /* from how the scene was when it was opened to how it stood then */
} flr_engine_recording;

/* Whether it is of the scene that is loaded now: made in it, or in the same file. */
bool flr_engine_recording_is_here(const flr_engine *engine, const flr_engine_recording *recording);
/* Gives a finished recording and its file another name, or removes both. The names are those of files, without folders. */
flr_result flr_engine_record_rename(flr_engine *engine, uint32_t recording, const char *name,
                                    flr_error *error);
flr_result flr_engine_record_remove(flr_engine *engine, uint32_t recording, flr_error *error);

/* `name` NULL or empty: the time of day. One at a time. */
flr_result flr_engine_record_start(flr_engine *engine, const char *name, uint32_t *recording,
                                   flr_error *error);
flr_result flr_engine_record_stop(flr_engine *engine, flr_error *error);
/* Those in the folder when the engine was made, and those made since. */
uint32_t flr_engine_recordings(const flr_engine *engine);
bool flr_engine_recording_at(const flr_engine *engine, uint32_t index, flr_engine_recording *out);

/* Shows a recording in place of the loop's state; the loop is paused meanwhile. Its file is read by a
 * job. Parts are matched by name. */
flr_result flr_engine_replay(flr_engine *engine, uint32_t recording, uint32_t *job,
                             flr_error *error);
flr_result flr_engine_replay_seek(flr_engine *engine, double seconds, flr_error *error);
flr_result flr_engine_replay_play(flr_engine *engine, bool play, double speed, flr_error *error);
flr_result flr_engine_replay_end(flr_engine *engine, flr_error *error);

typedef struct flr_engine_replay_state {
    bool active, playing;
    uint32_t recording;
    double seconds, length, speed;
} flr_engine_replay_state;

void flr_engine_get_replay(flr_engine *engine, flr_engine_replay_state *state);
#endif
