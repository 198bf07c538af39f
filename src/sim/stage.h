/* stage.h: a scene made ready to be touched at once, without an engine: its assets, and a world instance of them.
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
 * one size are merged into one merged static scene. With the engine of spheres every part gives a tree, nothing is
 * merged, and parts that move do so by themselves: what is hit moves on.
 *
 * Thread: control. Nothing here is RT safe but what the world offers. */
#ifndef FLR_SIM_STAGE_H
#define FLR_SIM_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/recording.h"
#include "sim/asset.h"
#include "sim/resolution.h"

/* How to make a stage. Fill with flr_default_stage_def(). */
typedef struct flr_stage_def {
    const flr_scene *scene;   /* borrowed during the call */
    flr_mesh_options options; /* of reading */
    const flr_cache *cache;   /* NULL: none */
    /* bytes: of the voxels of parts that stay no more than this are in memory, the rest is paged from the cache's files
     * (feeler/pager.h); such parts are not merged. 0, the default: all of it */
    uint64_t memory;
    bool
        choose_engine; /* nobody has chosen one: the exact one in place of that of `params` where voxels cannot resolve a gap;
                           default false */
    double voxel;      /* metres, of all parts that stay; 0: as the scene says */
    double moving_voxel; /* … of all that move */
    double
        common; /* … of those of which nobody says anything; 0: feeler chooses one (sim/resolution.h) */
    unsigned threads;         /* 0: one per processor */
    unsigned contact_threads; /* that share a contact query; 0 or 1: none */
    uint32_t hands;           /* default 1 */
    double rate;              /* Hz; default 1000 */
    /* gravity is the scene's unless it has one here; the scene's law of contact comes with
     * flr_scene_params(). With the smooth model, points lie on the exact surface */
    flr_world_params params;
    double
        onset; /* metres: where force begins, in place of what `params` say; default -1: not given */
    /* the tool of hand 0, if not as the scene says. Parts can be touched by points (each gets a
     * probe) when some hand has one */
    bool has_tool;
    flr_tool tool;
    /* a recording of a controller, whose world is made as it had it: voxels and kinds of parts are those that were recorded, every
     * part gives voxels and points, nothing is merged, and tools stay as they are. NULL: none */
    const flr_recording *live;
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

/* Owns all of it; read freely. */
typedef struct flr_stage {
    flr_part_list parts; /* in the scene's order */
    struct flr_world_instance *instance;
    struct flr_static_scene *merged; /* NULL: there is none */
    flr_world *world;                /* the instance's */
    double voxel; /* metres: the smallest that something can be touched with; 0: there are none */
    flr_resolution resolution; /* what was chosen where nobody said it; voxel 0: nothing was */
    unsigned
        points_layer; /* free layer that points come from, see flr_shape_split_layer(); 0: the surface */
} flr_stage;

/* On success the caller owns `*stage`. The sentence names the part. */
flr_result flr_stage_create(flr_env *env, const flr_stage_def *def, flr_stage **stage,
                            flr_error *error);
void flr_stage_destroy(flr_stage *stage); /* NULL allowed */

/* What all its pagers did together; zeros where nothing is paged. RT safe. */
flr_pager_stats flr_stage_paging(const flr_stage *stage);

/* May it be picked up? */
static inline bool flr_stage_moves(const flr_stage *stage, uint32_t part)
{
    return stage->parts.list[part].kind != FLR_PART_STATIC;
}

/* The part of that name, or UINT32_MAX; of NULL: the first that moves. */
uint32_t flr_stage_find(const flr_stage *stage, const char *name);

#endif
