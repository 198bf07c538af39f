/* scene.h: the scene file: which parts there are, where they stand, which of them move.
 *
 * A scene is a JSON file; docs/scene.md shows it by example and docs/scene.schema.json is its
 * published schema. In memory it is an flr_scene: plain data, SI units, all lengths in metres.
 *
 * To write one, fill it on the stack with texts and arrays of your own:
 *
 *     flr_scene_part parts[2] = {flr_default_scene_part(), flr_default_scene_part()};
 *     parts[0].name = "socket", parts[0].file = "socket.stl";
 *     parts[1].name = "ball", parts[1].file = "ball.stl", parts[1].moving = true;
 *     flr_scene scene = flr_default_scene();
 *     scene.name = "ball", scene.unit = 0.001, scene.voxel = 0.35e-3;
 *     scene.parts = parts, scene.part_count = 2;
 *     flr_scene_write(env, "scene.json", &scene, &error);
 *
 * What a reading function returns owns itself and is freed with flr_scene_destroy().
 *
 * Thread: any; a scene may be shared by all threads while nobody changes it. Not RT safe.
 */
#ifndef FLR_SCENE_SCENE_H
#define FLR_SCENE_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/contact.h"
#include "feeler/env.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/world.h"

enum {
    FLR_SCENE_FORMAT = 1,          /* the "feeler" key of files written here */
    FLR_SCENE_MAX_BYTES = 1 << 25, /* of a scene file; larger ones are refused */
    /* bytes that reading one may take: so many times its size and so many beside, but never more than the maximum */
    FLR_SCENE_MEMORY_FACTOR = 48,
    FLR_SCENE_MEMORY_BESIDE = 1 << 16,
    FLR_SCENE_MAX_MEMORY = 1 << 28,
    FLR_SCENE_MAX_JOINTS = 4096,
    FLR_SCENE_MAX_NOTES = 1000
};

#define FLR_SCENE_NO_COLOUR UINT32_MAX

/* What a part is to the others. */
typedef enum flr_part_use {
    FLR_PART_USE_SOLID,   /* touches them */
    FLR_PART_USE_PASS,    /* they pass through it; it is seen and measured all the same */
    FLR_PART_USE_KEEP_OUT /* a zone that none of them may enter: touches like a part, never moves */
} flr_part_use;

/* One part: a mesh in a place. */
typedef struct flr_scene_part {
    const char *name;      /* unique in the scene, not empty */
    const char *file;      /* mesh file, relative to the folder of the scene file, or absolute */
    const char *group;     /* only this group of the mesh file, in its own frame; NULL: all */
    double unit;           /* metres per unit of the mesh file; 0: as flr_mesh_options.unit */
    flr_pose T_world_part; /* at the start; default identity */
    bool moving;           /* may be picked up; default false: part of the static scene */
    bool hollow;           /* the inside is free space too; default false */
    bool hidden;           /* not shown at first; touches all the same; default false */
    flr_part_use use;      /* default solid */
    const char *in;        /* the group that it is in; NULL: none */
    uint32_t colour;       /* 0xRRGGBB or FLR_SCENE_NO_COLOUR (default: the viewer chooses) */
    double voxel;          /* metres; 0: the scene's */
    double
        chord; /* metres: its triangles may stray by this from the exact surface; 0: as the mesh says */
    double density; /* kg/m^3; 0: not given; at most one of density and mass is given */
    double mass;    /* kg; 0: not given */
    /* what acts on it, NULL: nothing; a spring rests at T_world_part. A part with a wrench or a spring moves by itself */
    const flr_world_constraint *constraint;
    unsigned line, column; /* where it stands in the file it was read from, from 1; else 0 */
} flr_scene_part;

/* A group of parts: a node of an assembly's tree. */
typedef struct flr_scene_group {
    const char *name; /* unique among the groups, not empty */
    const char *in; /* the group that it is in; NULL: none; never itself, in any number of steps */
    bool
        rigid; /* its parts move as one, also those of groups in it; default false. Where one of them is moving, all are */
    unsigned line, column; /* as above */
} flr_scene_group;

/* What ties two parts, or a part to the world; see feeler/joint.h. */
typedef struct flr_scene_joint {
    const char *name; /* unique among the joints, not empty */
    const char *a;    /* a part, or a rigid group; NULL: the world */
    const char *b;    /* likewise, but not the world */
    /* metres, radians; the reader fills in `a` and `b`, the indices of the parts (of a group, its first), and leaves its name NULL */
    flr_joint joint;
    unsigned line, column; /* as above */
} flr_scene_joint;

/* A prepared motion of a moving part, in a pose file (see scene/pose_file.h). */
typedef struct flr_scene_path {
    const char *name;      /* unique among the paths, not empty */
    const char *part;      /* the name of a moving part */
    const char *poses;     /* pose file, relative to the folder of the scene file, or absolute;
                              lengths in the scene's unit */
    unsigned line, column; /* as above */
} flr_scene_path;

/* A hand, by its number. */
typedef struct flr_scene_hand {
    flr_tool tool;     /* default grip */
    bool placed;       /* has a position */
    flr_vec3 position; /* metres, world: where a simulated hand, or one of the page, begins */
    bool firm;         /* keeps the direction of what it takes; default false */
    // how a device moves it; the numbers are those of the messages (axes, boundary)
    double
        scale; /* metres in the world for a metre of the device; default 0: from workspace and scene */
    int axes;     /* default 1: those of the view */
    int boundary; /* default 0: none */
    int clutch;   /* the button, 0 to 31; default -1: none */
    bool mapped;  /* one of these was given */
} flr_scene_hand;

/* Two parts that may be in each other, or near: a fit of the design. `feeler clash` and the page do not report them. */
typedef struct flr_scene_allow {
    const char *a, *b; /* names of parts or groups, not empty; with * ? and [a-z] as in a shell */
} flr_scene_allow;

/* A remark at a place. */
typedef struct flr_scene_note {
    const char *text;  /* not empty, no control characters */
    const char *part;  /* that it moves with; NULL: none */
    flr_vec3 position; /* metres: in the part's frame, or the world's */
} flr_scene_note;

/* "grip", "point", NULL: in the order of flr_tool. */
extern const char *const flr_scene_tools[];
/* words for axes and boundary of a hand */
extern const char *const flr_scene_axes[], *const flr_scene_boundaries[];
/* "fixed", "revolute" and so on, NULL: in the order of flr_joint_kind. */
extern const char *const flr_scene_joints[];
/* Names of the bits FLR_LOCK_TURN_X … FLR_LOCK_Z, NULL-ended. */
extern const char *const flr_scene_locks[];
/* Words of flr_part_use. */
extern const char *const flr_scene_uses[];

/* From where a picture or the viewer first looks. */
typedef struct flr_scene_camera {
    bool given;      /* default false: chosen so that everything is in view */
    flr_vec3 eye;    /* metres, world */
    flr_vec3 target; /* metres, world; not the eye */
    flr_vec3 up;     /* default 0 0 1; any length but 0 */
} flr_scene_camera;

/* How parts touch each other, unless a command line says otherwise. See feeler/contact.h. */
typedef struct flr_scene_contact {
    unsigned force_layer;  /* 0 … 252; default 2 */
    double displace;       /* metres: points are moved outward by this; default 0 */
    flr_force_model model; /* default tangent */
    double stiffness;      /* N/m, of one contact, 1e-3 … 1e9; default 1000 */
    double friction;       /* coefficient, 0 … 10; default 0 */
    bool awareness;        /* geometrical awareness; default false */
    /* bits of a voxel's mark: 2, with the force layer built in, 4 (default) or 8, with distances up to `range` voxels, 1 … 253,
     * default 8 */
    unsigned marks, range;
    flr_probe_method probe;  /* how points find triangles; default best */
    flr_world_engine engine; /* default shell; what follows is that of others than shells */
    bool engine_given;       /* the scene says it; default false: feeler may take a better one */
    double restitution;      /* spheres: 0 … 1; default 0 */
    double tests;            /* coherent: point tests of a frame; default 20000 */
    /* metres, 0 … 1: force begins this far before surfaces meet; with voxels, in the nearest layer that is no nearer, in
     * place of force_layer; default -1: not given, 5e-6 with the exact engine */
    double onset;
    double strength; /* exact: of the device's largest force, 0.01 … 100; default 1 */
    double overlap;  /* exact: metres, tolerated at the start, 0 … 1; default 2e-3 */
} flr_scene_contact;

/* Does the scene choose how contact is found? By naming an engine, or a law that only voxels have. */
bool flr_scene_chooses_engine(const flr_scene_contact *contact);

/* "tangent", "smooth", NULL: in the order of flr_force_model. */
extern const char *const flr_scene_models[];
/* "best", "grid", "tree", "hybrid", NULL: in the order of flr_probe_method. */
extern const char *const flr_scene_probes[];
/* "step", "local", NULL: whether devices get forces once a step, or from local models. */
extern const char *const flr_scene_haptics[];
/* "shell", "spheres", "exact", "coherent", NULL: in the order of flr_world_engine. */
extern const char *const flr_scene_engines[];

/* Which devices a controller looks for. */
typedef enum flr_scene_devices {
    FLR_SCENE_DEVICES_ANY,
    FLR_SCENE_DEVICES_NONE, /* the page's hand: mouse, keyboard */
    FLR_SCENE_DEVICES_FORCE /* hand 0 gets one that gives forces */
} flr_scene_devices;

/* "any", "none", "force", NULL: in the order of flr_scene_devices. */
extern const char *const flr_scene_device_kinds[];

typedef struct flr_scene {
    const char *path;        /* the file it was read from, NULL for none; not written */
    const char *name;        /* not empty */
    const char *description; /* NULL: none */
    double unit;             /* metres per unit of lengths in the file; default 1 */
    double voxel;            /* metres; edge length of a voxel; 0: not given */
    flr_vec3 gravity;        /* m/s^2; default 0: parts float, as a hand would hold them */
    flr_scene_contact contact;
    bool
        local_haptics; /* devices are served from local models: flr_loop_def.local; default false */
    flr_scene_devices devices; /* for hands, where a controller begins; default any */
    bool barrier; /* a shared session sends a state after each frame, as --barrier; default false */
    const flr_scene_part *parts; /* [part_count], at least one */
    size_t part_count;
    const flr_scene_group *groups; /* [group_count], in any order, NULL when none */
    size_t group_count;
    const flr_scene_joint *joints; /* [joint_count], NULL when none */
    size_t joint_count;            /* at most FLR_SCENE_MAX_JOINTS */
    const flr_scene_path *paths;   /* [path_count], NULL when none */
    size_t path_count;
    const flr_scene_hand *hands; /* [hand_count], NULL when none: then all take parts */
    size_t hand_count;           /* at most FLR_WORLD_HANDS */
    flr_scene_camera camera;
    const flr_scene_allow *allow; /* [allow_count], NULL when none */
    size_t allow_count;
    const flr_scene_note *notes; /* [note_count], NULL when none */
    size_t note_count;           /* at most FLR_SCENE_MAX_NOTES */
} flr_scene;

/* All fields at their defaults; names, files and parts are still to be filled in. */
flr_scene flr_default_scene(void);
flr_scene_part flr_default_scene_part(void);
/* Does something besides hands and gravity push it? Then it moves by itself. */
bool flr_scene_part_is_driven(const flr_scene_part *part);
/* The same of a part of a scene, where springs of its joints count, too. */
bool flr_scene_is_driven(const flr_scene *scene, size_t part);
flr_scene_joint flr_default_scene_joint(void);
flr_scene_contact flr_default_scene_contact(void);

/* The tool of a hand, by its number: of those that the scene does not name, that of the last one. */
flr_tool flr_scene_tool(const flr_scene *scene, uint32_t hand);
const flr_scene_hand *flr_scene_mapped_hand(const flr_scene *scene, uint32_t hand);
bool flr_scene_firm(const flr_scene *scene, uint32_t hand); /* likewise */

/* Reads a scene file. Every sentence begins with "FILE:LINE:COLUMN:" and, where the JSON is
 * well-formed, names the field ("parts[2].voxel"). Mesh and pose files are not opened, nor
 * looked for. A file name in a scene may be absolute or lead out of its folder by "..": a
 * scene is trusted as far as its user may read. On success the caller owns `*scene`. */
flr_result flr_scene_read(flr_env *env, const char *path, flr_scene **scene, flr_error *error);

/* The same from memory; `name` stands for the file in messages and becomes scene->path. */
flr_result flr_scene_parse(const char *name, const void *bytes, size_t size, flr_scene **scene,
                           flr_error *error);

/* A scene that owns its texts and arrays, from one that borrows them. It has no path. Fails as
 * flr_scene_print() does. */
flr_result flr_scene_copy(const flr_scene *scene, flr_scene **copy, flr_error *error);

/* Frees what read, parse or copy returned; NULL allowed. */
void flr_scene_destroy(flr_scene *scene);

/* Writes a scene: whole or not at all, always the same bytes for the same scene. A scene that
 * flr_scene_read() would not accept is refused with FLR_BAD_ARGUMENT and the reader's sentence. */
flr_result flr_scene_write(flr_env *env, const char *path, const flr_scene *scene,
                           flr_error *error);

/* The text that flr_scene_write() writes; free with flr_blob_free(). */
flr_result flr_scene_print(const flr_scene *scene, flr_blob *text, flr_error *error);

/* Where a file named in the scene is: `file` itself when absolute or when the scene has no path,
 * else beside the scene file. free() it. NULL when memory is short. */
char *flr_scene_file(const flr_scene *scene, const char *file);

/* The groups as indices: of_group[i] is the group that group i is in, of_part[k] that of part k;
 * SIZE_MAX: none. Arrays of group_count and part_count; either may be NULL. False when memory is
 * short. The scene is one that flr_scene_read() accepts. */
bool flr_scene_resolve_groups(const flr_scene *scene, size_t *of_group, size_t *of_part);

/* Which rigid group each part is in: of_part[k] is the index of the outermost one around part k, or FLR_NO_PART. Array of
 * part_count. False when memory is short. */
bool flr_scene_rigid(const flr_scene *scene, uint32_t *of_part);

/* The edge length of the part's voxels: its own, else the scene's; metres, 0: not given. */
double flr_scene_part_voxel(const flr_scene *scene, size_t part);

/* Are the meshes of two parts the same piece of the same file, read in the same way? Then one needs to be read only. */
bool flr_scene_same_mesh(const flr_scene *scene, size_t a, size_t b);

/* Opens the meshes of a scene's parts. A file is kept until the next one is wanted, so that parts
 * which are groups of one file open it once:
 *
 *     flr_scene_loader loader = flr_scene_loader_begin(env, scene, &options);
 *     for (size_t i = 0; i < scene->part_count; i++)
 *         result = flr_scene_loader_load(&loader, i, &meshes[i], NULL, &error);
 *     flr_scene_loader_end(&loader);
 */
typedef struct flr_scene_loader {
    flr_env *env;             /* borrowed */
    const flr_scene *scene;   /* borrowed */
    flr_mesh_options options; /* may be changed between parts */
    flr_mesh *mesh;           /* what was opened last, for a part with a group; else NULL */
    char *file;
    double unit, chord; /* as it was opened */
    flr_mesh_report report;
} flr_scene_loader;

/* `options` NULL: defaults; its unit is replaced by a part's where that has one, and a chord of 0
 * by what suits the part's voxels. */
flr_scene_loader flr_scene_loader_begin(flr_env *env, const flr_scene *scene,
                                        const flr_mesh_options *options);

/* The mesh of a part, or of its group where one is named. `report`, of the whole file, may be
 * NULL. A sentence names the part and its place in the scene file. On success the caller owns
 * `*mesh`. */
flr_result flr_scene_loader_load(flr_scene_loader *loader, size_t part, flr_mesh **mesh,
                                 flr_mesh_report *report, flr_error *error);
void flr_scene_loader_end(flr_scene_loader *loader);

/* The same for one part alone. */
flr_result flr_scene_load_part(flr_env *env, const flr_scene *scene, size_t part,
                               const flr_mesh_options *options, flr_mesh **mesh,
                               flr_mesh_report *report, flr_error *error);

#endif
