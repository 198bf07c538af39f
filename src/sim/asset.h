/* asset.h: what a scene is made of: meshes, voxels, surface points, tables, inertia; and the list of its parts. The engine, a
 * headless run, a replay, feeler contacts and feeler sweep all take them from here.
 *
 *     flr_part_list_read(&def, &parts, &error);            meshes are read; equal ones are one asset
 *     flr_shape_make(&how, &shape, &error);                voxels and points of one of them, by way of the cache
 *     …
 *     flr_part_list_free(&parts);
 *
 * Assets are immutable once they are shared, and counted: workers and senders outlive parts. Whoever is last frees them.
 *
 * Thread: any, each list one at a time. Nothing here is RT safe. */
#ifndef FLR_SIM_ASSET_H
#define FLR_SIM_ASSET_H

#include <pthread.h>
#include <stdatomic.h>

#include "feeler/distance.h"
#include "feeler/fit.h"
#include "feeler/pager.h"
#include "feeler/voxels.h"
#include "scene/scene.h"
#include "sim/engine.h"

/* ---- meshes ---- */

/* A mesh that parts share. */
/* How the voxels of a mesh are marked, as in flr_voxelize_def, and how points find its triangles. Bits 0: the default. */
typedef struct flr_asset_how {
    unsigned bits, range, offset;
    flr_probe_method probe;
} flr_asset_how;

struct flr_mesh_asset {
    atomic_uint users;
    flr_asset_how how; /* set before it is used */
    uint32_t number;   /* of the mesh */
    flr_hash hash;
    flr_mesh *mesh;
    pthread_mutex_t lock;  /* of what follows: made by whoever needs it first */
    flr_gauge_part *gauge; /* NULL: not yet */
    flr_probe_model *probe;
    flr_fit *fit;
    bool weighed;
    double density; /* … with which */
    flr_body_def inertia;
};

/* Takes the mesh over, also on failure. */
flr_result flr_mesh_asset_make(flr_mesh *mesh, uint32_t number, flr_mesh_asset **asset,
                               flr_error *error);
flr_mesh_asset *flr_mesh_asset_retain(flr_mesh_asset *asset);
flr_result flr_mesh_asset_gauge(flr_mesh_asset *asset, const flr_gauge_part **gauge,
                                flr_error *error);
flr_result flr_mesh_asset_probe(flr_mesh_asset *asset, const flr_probe_model **probe,
                                flr_error *error);
/* Exact contact geometry, by way of the cache; `cache` NULL: none. The first call builds it, and others wait for that. */
flr_result flr_mesh_asset_fit(flr_mesh_asset *asset, flr_env *env, const flr_cache *cache,
                              const flr_fit **fit, flr_error *error);
/* The same with progress, 0 … 1, while it is built; false: stop with FLR_CANCELLED. */
flr_result flr_mesh_asset_fit_shown(flr_mesh_asset *asset, flr_env *env, const flr_cache *cache,
                                    bool (*progress)(void *context, double done), void *context,
                                    const flr_fit **fit, flr_error *error);
/* Inertia and reach (of the box where the mesh has no volume), computed once: that looks at every triangle. Density 0: not
 * known, then that of water. */
flr_body_def flr_mesh_asset_inertia(flr_mesh_asset *asset, double density);

/* The scene's marks and method. 2 bits hold one layer: that in which force begins. */
flr_asset_how flr_asset_how_of(const flr_scene_contact *contact);

/* ---- shapes ---- */

/* Voxels and points of a mesh; a *bare* one does not have them yet: it can be looked at, not touched. */
typedef struct flr_shape {
    atomic_uint users;
    flr_mesh_asset *mesh; /* NULL: it was opened from a voxel file */
    double voxel;         /* metres; of a bare one: that it shall have */
    bool hollow;
    bool fresh;              /* built, not found in the cache */
    flr_cache_report report; /* what the cache had to say */
    flr_voxmap *voxmap;      /* NULL: bare, or no voxels were asked for; likewise the table */
    flr_shell *shell;        /* NULL: bare, or no points were asked for */
    flr_contact_table *table;
    /* NULL: all voxels are in memory. Else only the loop can look at them: there is no voxmap and no shell, and the table is
     * the pager's */
    flr_pager *pager;
    flr_pairs_shape touch;
    flr_sphere_tree *tree; /* NULL: not yet; guarded by the mesh's lock */
    size_t bytes;
} flr_shape;

typedef struct flr_shape_def {
    flr_env *env;
    const flr_cache *cache; /* NULL: none */
    flr_mesh_asset *mesh;   /* used, not taken over */
    double voxel;
    bool hollow, on_surface;
    bool no_voxels, no_points; /* one of them is not wanted */
    unsigned
        layer; /* points come from the free voxels of this layer (flr_shape_split_layer); 0: from the surface */
    unsigned threads;
    /* bytes: what is larger is paged from the cache's files; then there are no points. 0: nothing is */
    uint64_t memory;
    bool features; /* … a pager's, as in flr_pager_def */
    bool reads;    /* … and it has a thread that reads */
    uint64_t
        most; /* bytes that building and table may take, else FLR_TOO_LARGE; 0: what there is */
    bool (*progress)(void *context, double done, const char *stage); /* false: stop; may be NULL */
    void *context;
} flr_shape_def;

/* Divides a force layer between the two parts that touch: voxels hold force layers up to 7; where more is asked for, the points
 * come from a free layer of their own part (McNeely et al. 2005, section 3.2). FLR_BAD_ARGUMENT: beyond both. */
enum { FLR_SHAPE_FORCE_LAYER = FLR_RANGE_DEFAULT - 1 };
flr_result flr_shape_split_layer(unsigned asked, unsigned *force_layer, unsigned *points_layer,
                                 flr_error *error);

flr_result flr_shape_make(const flr_shape_def *def, flr_shape **shape, flr_error *error);
/* From a voxel file, all checksums compared; without a mesh, a table, and what is wanted of a pager. */
flr_result flr_shape_open(flr_env *env, const char *path, bool points, flr_shape **shape,
                          flr_error *error);
flr_voxelize_def flr_shape_how(const flr_shape *shape, bool on_surface);
/* NULL: no memory. */
flr_shape *flr_shape_bare(flr_mesh_asset *mesh, double voxel, bool hollow);
static inline bool flr_shape_is_bare(const flr_shape *shape) { return !shape->table; }
flr_shape *flr_shape_retain(flr_shape *shape);
/* `view` is that of the first call. */
flr_result flr_shape_tree(flr_shape *shape, flr_sphere_view view, const flr_sphere_tree **tree,
                          flr_error *error);
/* Voxels and points of a shape that is paged, for jobs: mapped from its file, not in memory. The caller destroys both. */
flr_result flr_shape_map(flr_env *env, const flr_shape *shape, flr_voxmap **voxmap,
                         flr_shell **shell, flr_error *error);
void flr_shape_release(flr_shape *shape); /* NULL allowed; thread: any */

/* ---- parts ---- */

/* What a part stands in. */
typedef struct flr_part_overlap {
    bool there;
    uint32_t other; /* the one that it is deepest in */
    double depth;   /* metres, of the deepest point that was measured; 0: not known */
    flr_vec3 point; /* world: that one */
} flr_part_overlap;

typedef struct flr_part_entry {
    uint32_t part;
    char name[FLR_ENGINE_NAME_SIZE];
    flr_part_kind kind;
    uint32_t colour;
    double density,
        mass; /* kg/m^3, kg: as given, at most one of them; both 0: the apparent mass counts */
    flr_world_constraint constraint; /* what acts on it */
    flr_pose T_start, T_goal;
    bool has_goal;
    bool hidden; /* at first, in a viewer */
    flr_part_use use;
    double chord; /* metres: how far its triangles may stray from its exact surface; 0: not known */
    uint32_t group; /* that it is in: a place in a flr_group_list; FLR_ENGINE_NONE: none */
    uint32_t
        rigid; /* parts with the same number move as one: the outermost rigid group, plus 1; 0: by itself */
    flr_shape *shape;
    bool sent, there;         /* to the loop; taken over by it */
    bool announced;           /* an event about it waits */
    flr_part_overlap overlap; /* when that was looked at last */
} flr_part_entry;

/* kg: with this mass a hand's spring moves a part briskly, whatever it weighs (McNeely et al. 1999, section 5). `voxel`: the
 * smallest that something is touched with, metres. */
double flr_apparent_mass(const flr_world_params *params, double voxel);
/* kg: the mass that counts for a part: the given one, the one of its density, else the apparent one. */
double flr_part_mass(const flr_part_entry *part, const flr_world_params *params, double voxel);

/* A joint between parts, which are named by their numbers; its own name is in `text`. */
typedef struct flr_joint_entry {
    char text[FLR_ENGINE_NAME_SIZE];
    flr_joint joint;
} flr_joint_entry;

/* Owns its members' shapes, and its joints. */
typedef struct flr_part_list {
    flr_part_entry *list;
    uint32_t count, room;
    flr_joint_entry
        *joints; /* [joint_count]; those of parts that are not in the list do not count */
    uint32_t joint_count;
} flr_part_list;

/* Adds joints of parts whose numbers are greater by `first` here, and which were placed as T_world_file says. False: no
 * memory. */
bool flr_part_list_add_joints(flr_part_list *members, const flr_joint_entry *joints, uint32_t count,
                              uint32_t first, flr_pose T_world_file);
/* Do two parts not touch each other whatever they do: because they are in the same rigid group, because a joint without `touch`
 * connects them, or because one of them lets the other pass? `joints`: those of the list count. */
bool flr_part_list_are_tied(const flr_part_list *joints, const flr_part_entry *a,
                            const flr_part_entry *b);
/* Does a joint tie the part to another one? */
bool flr_part_list_is_jointed(const flr_part_list *members, uint32_t part);

bool flr_part_list_add(flr_part_list *members,
                       const flr_part_entry *member); /* takes over; false: no memory */
void flr_part_list_free(flr_part_list *members);
flr_part_entry *flr_part_list_find(const flr_part_list *members, uint32_t part);
/* Is it the first with this shape? For work that is done once for each shape. */
bool flr_part_list_is_first(const flr_part_list *members, uint32_t index);
/* The smallest voxel of all, metres; 0: there are no parts. */
double flr_part_list_voxel(const flr_part_list *members);
/* The largest one. */
double flr_part_list_coarsest_voxel(const flr_part_list *members);
/* All parts of this shape get another. */
void flr_part_list_replace(flr_part_list *members, const flr_shape *old, flr_shape *shape);

/* How the parts of a scene are read. */
typedef struct flr_parts_def {
    flr_env *env;
    const flr_scene *scene;          /* borrowed during the call */
    const flr_mesh_options *options; /* NULL: defaults */
    double voxel, moving_voxel;      /* metres: in place of the scene's; 0: as the scene says */
    double common;                   /* … of those of which it says nothing */
    /* filled where parts have none of these: what feeler chose for them (sim/resolution.h), and why. NULL: each gets what
     * fits it alone */
    struct flr_resolution *chosen;
    const flr_cache *cache; /* of exact geometry, for that; NULL: none */
    uint32_t first_mesh;    /* number of the first mesh; default 0 */
    bool apart;             /* parts that move share no shape with those that stay */
    /* Before each part, and after it; `voxel` and `options` may be changed. False: stop with FLR_CANCELLED. Both may be NULL. */
    bool (*begin)(void *context, uint32_t part, double *voxel, flr_mesh_options *options);
    void (*end)(void *context, uint32_t part, const flr_mesh_report *report);
    void *context;
} flr_parts_def;

/* ---- groups: the tree that parts are in ---- */

typedef struct flr_group_entry {
    char name[FLR_ENGINE_NAME_SIZE]; /* unique among the groups */
    uint32_t in;                     /* a place in the list; FLR_ENGINE_NONE: none */
    bool rigid;                      /* its parts move as one */
} flr_group_entry;

typedef struct flr_group_list {
    flr_group_entry *list;
    uint32_t count, room;
} flr_group_list;

/* A group of this name, made where it is not there; its place. FLR_ENGINE_NONE: no memory. */
uint32_t flr_group_list_make(flr_group_list *groups, const char *name, uint32_t in);
/* Its place; FLR_ENGINE_NONE: there is none. */
uint32_t flr_group_list_find(const flr_group_list *groups, const char *name);
/* The groups of a scene, in its order, for an empty list; of_part: [part_count], the place of each part's group. False: no memory. */
bool flr_group_list_read(const flr_scene *scene, flr_group_list *groups, uint32_t *of_part);
void flr_group_list_free(flr_group_list *groups);
/* Gives each part the number of its rigid group. Where one of such a group moves, all do. */
void flr_group_list_set_rigid(const flr_group_list *groups, flr_part_list *parts);

/* Reads all meshes. Parts have the scene's order and bare shapes; their numbers are their places. `parts` is empty; on success
 * the caller frees it. */
flr_result flr_part_list_read(const flr_parts_def *def, flr_part_list *parts, flr_error *error);

#endif
