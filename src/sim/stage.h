/* stage.h: a scene made ready to be touched: meshes read, voxelized and put into a world.
 *
 *     flr_stage_def def = flr_default_stage_def();
 *     def.scene = scene;
 *     flr_stage_create(env, &def, &stage, &error);
 *     flr_world_grab(stage->world, 0, 1);
 *     …
 *     flr_stage_destroy(stage);
 *
 * The parts of the world are those of the scene, in its order, and the first hands have the scene's
 * tools. Where a hand touches with a point, every part gets a probe; where moreover nothing moves,
 * there are no voxels. Parts that move give points; parts that
 * stay give voxels; where several parts may move, those give both. Several static parts with voxels of
 * one size are merged into one ground. With the engine of spheres every part gives a tree, nothing is
 * merged, and parts that move do so by themselves: what is hit moves on.
 *
 * Thread: control. Nothing here is RT safe but what the world offers. */
#ifndef FLR_SIM_STAGE_H
#define FLR_SIM_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/cache.h"
#include "feeler/env.h"
#include "feeler/mesh.h"
#include "feeler/mesh_io.h"
#include "feeler/pager.h"
#include "feeler/result.h"
#include "feeler/voxelize.h"
#include "feeler/world.h"
#include "scene/scene.h"

/* How to make a stage. Fill with flr_default_stage_def(). */
typedef struct flr_stage_def {
    const flr_scene *scene;   /* borrowed during the call */
    flr_mesh_options options; /* of reading */
    const flr_cache *cache;   /* NULL: none */
    /* bytes: of the voxels of parts that stay no more than this are in memory, the rest is paged from the cache's files
     * (feeler/pager.h); such parts are not merged. 0, the default: all of it */
    uint64_t memory;
    double voxel;        /* metres, of all parts that stay; 0: as the scene says */
    double moving_voxel; /* … of all that move */
    unsigned threads;    /* 0: one per processor */
    bool free;           /* parts that move do so by themselves; default: if there is gravity */
    uint32_t hands;      /* default 1 */
    double dt;           /* s; default 0.001 */
    /* gravity is the scene's unless it has one here; the scene's law of contact comes with
     * flr_scene_params(). With the smooth model, points lie on the exact surface */
    flr_world_params params;
    flr_simd simd;
    /* the tool of hand 0, if not as the scene says. Parts can be touched by points (each gets a
     * probe) when some hand has one, or with `probes`: then tools may change later */
    bool has_tool, probes;
    flr_tool tool;
    /* Called before each part with its number and what is done, and while voxels are made, with how much of that is done,
     * 0 to 1; false: stop with FLR_CANCELLED. May be NULL. */
    bool (*progress)(void *context, size_t part, double done, const char *what);
    /* Called with a sentence about what hinders nothing but should be known: a file of the cache was damaged, or voxels could
     * not be stored and have to be made again the next time. May be NULL. */
    void (*warn)(void *context, const char *sentence);
    void *context; /* of both */
} flr_stage_def;

flr_stage_def flr_default_stage_def(void);

/* The defaults of a world, with the scene's "contact" in them. */
flr_world_params flr_scene_params(const flr_scene *scene);

/* A point touches as parts do: with the stiffness of a contact and the friction of `params`. */
void flr_point_touch(flr_world_params *params);

/* Inertia and reach of a mesh (of its box where it is not closed): looks at every triangle. Density 0: not known. */
flr_body_def flr_stage_inertia(const flr_mesh *mesh, double density);
/* A part with that inertia as a body that follows a hand briskly: the mass is such that the hand's spring can move it.
 * `voxel`: metres, the smallest that something can be touched with. */
flr_body_def flr_stage_body(const flr_body_def *inertia, double voxel,
                            const flr_coupling_def *coupling, flr_pose T_world_part);

typedef struct flr_stage_part {
    char *name;
    flr_mesh *mesh;     /* metres, part's frame */
    flr_voxmap *voxmap; /* NULL: merged into the ground, or not needed */
    flr_shell *shell;   /* NULL: gives no points */
    flr_contact_table *table;
    flr_pager *pager;       /* NULL: not paged; else it has the table */
    flr_sphere_tree *tree;  /* NULL: the engine is not that of spheres */
    flr_probe_model *probe; /* NULL: no point touches it */
    bool moving;            /* may be picked up */
    double voxel;           /* metres */
    flr_pose T_start;       /* world, as the scene has it */
} flr_stage_part;

/* Owns all of it; read freely. */
typedef struct flr_stage {
    flr_stage_part *parts;
    uint32_t part_count;
    flr_voxmap *ground; /* NULL: there is none */
    flr_contact_table *ground_table;
    flr_world *world;
    double voxel; /* metres: the smallest that something can be touched with; 0: there are none */
} flr_stage;

/* On success the caller owns `*stage`. The sentence names the part. */
flr_result flr_stage_create(flr_env *env, const flr_stage_def *def, flr_stage **stage,
                            flr_error *error);
void flr_stage_destroy(flr_stage *stage); /* NULL allowed */

/* Voxels that are paged: makes the cache's file of a mesh's voxels where it is missing or damaged, slab by slab where it does not fit into
 * memory, and opens it where it is larger than `memory` bytes. Else `*pager` is NULL. `features`: as in flr_pager_def. `report` may be NULL. */
flr_result flr_stage_page(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                          const flr_voxelize_def *how, uint64_t memory, bool features,
                          flr_pager **pager, flr_cache_report *report, flr_error *error);

/* What all its pagers did together; zeros where nothing is paged. RT safe. */
flr_pager_stats flr_stage_paging(const flr_stage *stage);

/* The part of that name, or UINT32_MAX; of NULL: the first that moves. */
uint32_t flr_stage_find(const flr_stage *stage, const char *name);

#endif
