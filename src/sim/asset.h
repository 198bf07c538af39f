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
struct flr_mesh_asset {
    atomic_uint users;
    uint32_t number; /* of the mesh */
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
/* Inertia and reach (of the box where the mesh is not closed), worked out once: that looks at every triangle. Density 0: not
 * known. */
flr_body_def flr_mesh_asset_inertia(flr_mesh_asset *asset, double density);

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

flr_result flr_shape_make(const flr_shape_def *def, flr_shape **shape, flr_error *error);
/* From a voxel file, all checksums compared; without a mesh, a table, and what is wanted of a pager. */
flr_result flr_shape_open(flr_env *env, const char *path, bool points, flr_shape **shape,
                          flr_error *error);
flr_voxelize_def flr_shape_how(const flr_shape *shape, bool on_surface);
/* NULL: no memory. */
flr_shape *flr_shape_bare(flr_mesh_asset *mesh, double voxel, bool hollow);
static inline bool flr_shape_is_bare(const flr_shape *shape) { return !shape->table; }
flr_shape *flr_shape_retain(flr_shape *shape);
flr_result flr_shape_tree(flr_shape *shape, const flr_sphere_tree **tree, flr_error *error);
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
    double density;
    flr_pose T_start, T_goal;
    bool has_goal;
    flr_shape *shape;
    bool sent, there;         /* to the loop; taken over by it */
    bool announced;           /* an event about it waits */
    flr_part_overlap overlap; /* when that was looked at last */
} flr_part_entry;

/* Owns its members' shapes. */
typedef struct flr_part_list {
    flr_part_entry *list;
    uint32_t count, room;
} flr_part_list;

bool flr_part_list_add(flr_part_list *members,
                       const flr_part_entry *member); /* takes over; false: no memory */
void flr_part_list_free(flr_part_list *members);
flr_part_entry *flr_part_list_find(const flr_part_list *members, uint32_t part);
/* Is it the first with this shape? For work that is done once for each shape. */
bool flr_part_list_is_first(const flr_part_list *members, uint32_t index);
/* The smallest voxel of all, metres; 0: there are no parts. */
double flr_part_list_voxel(const flr_part_list *members);
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
    bool apart;             /* parts that move share no shape with those that stay */
    /* Before each part, and after it; `voxel` and `options` may be changed. False: stop with FLR_CANCELLED. Both may be NULL. */
    bool (*begin)(void *context, uint32_t part, double *voxel, flr_mesh_options *options);
    void (*end)(void *context, uint32_t part, const flr_mesh_report *report);
    void *context;
} flr_parts_def;

/* Reads all meshes. Parts have the scene's order and bare shapes; their numbers are their places. `parts` is empty; on success
 * the caller frees it. */
flr_result flr_part_list_read(const flr_parts_def *def, flr_part_list *parts, flr_error *error);

#endif
