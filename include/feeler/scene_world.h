/* feeler/scene_world.h: a scene file as parts and as a world, without page and device.
 *
 *     flr_scene_world_def def = flr_default_scene_world_def();
 *     flr_scene_world_open(env, "scene.json", &def, &scene, &error);
 *     flr_world *world = flr_scene_world_get(scene);
 *     flr_world_grab(world, 0, flr_scene_world_find(scene, "ball"));
 *     flr_world_step(world, &input, &frame);
 *
 * Scenes are read with jansson, so this is not in libfeeler but in libfeeler-scene, which holds all of libfeeler as well:
 * link it in place of libfeeler. CAD assemblies, URDF and MJCF files become scenes by flr_scene_world_import().
 *
 * Thread: one at a time per scene. Nothing here is RT safe.
 */
#ifndef FEELER_SCENE_WORLD_H
#define FEELER_SCENE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/fit.h"
#include "feeler/joint.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A scene that was opened: its parts, and a world of them. */
typedef struct flr_scene_world flr_scene_world;

/* How to open. Fill with flr_default_scene_world_def(). */
typedef struct flr_scene_world_def {
    flr_mesh_options options; /* of reading meshes */
    bool parts_only;   /* no world is made: neither voxels nor exact geometry; default false */
    double voxel;      /* metres, of all parts; default 0: as the scene says, or feeler chooses */
    bool engine_given; /* `engine` in place of the scene's; default false */
    flr_world_engine engine;
    uint32_t hands;    /* default 1 */
    double rate;       /* Hz; default 1000 */
    unsigned threads;  /* that build; default 0: one per processor */
    const char *cache; /* folder of voxels and exact geometry; default NULL: none */
    /* called now and then with 0 … 1; false: stop with FLR_CANCELLED. May be NULL */
    bool (*progress)(void *context, double done);
    void *progress_context;
} flr_scene_world_def;

FLR_API flr_scene_world_def flr_default_scene_world_def(void);

/* Opens a scene file. `def` NULL: defaults. The sentence of a failure names file, line or part. On success the caller owns
 * `*scene`. */
FLR_API flr_result flr_scene_world_open(flr_env *env, const char *path,
                                        const flr_scene_world_def *def, flr_scene_world **scene,
                                        flr_error *error);
FLR_API void flr_scene_world_destroy(flr_scene_world *scene); /* NULL allowed */

/* Makes a scene file of a CAD assembly, a mesh, a URDF or an MJCF file; the meshes lie beside it. `options` NULL: defaults. */
FLR_API flr_result flr_scene_world_import(flr_env *env, const char *path, const char *out,
                                          const flr_mesh_options *options, flr_error *error);

/* The world; NULL where only parts were wanted. It lives as long as the scene. */
FLR_API flr_world *flr_scene_world_get(flr_scene_world *scene);

/* A part. Texts and mesh live as long as the scene. */
typedef struct flr_scene_world_part {
    const char *name;
    const char *group; /* that it is in; "": none */
    flr_part_kind kind;
    flr_pose T_world_part; /* at the start */
    const flr_mesh *mesh;
    double
        chord; /* metres: how far its triangles may stray from its exact surface, see flr_clash_part; 0: not known */
    bool keep_out;  /* a zone that no part may enter, see flr_clash_part */
    bool passes;    /* all others pass through it: it is in nobody's way */
    uint32_t rigid; /* parts with the same number, above 0, move as one */
} flr_scene_world_part;

FLR_API uint32_t flr_scene_world_part_count(const flr_scene_world *scene);
/* `part` is below the count. Its index is that of the world's part. */
FLR_API flr_scene_world_part flr_scene_world_part_at(const flr_scene_world *scene, uint32_t part);
/* The part of that name; FLR_NO_PART: none. */
FLR_API uint32_t flr_scene_world_find(const flr_scene_world *scene, const char *name);

/* The exact geometry of a part's mesh, built when it is asked for first; equal meshes share one. Lives as long as the scene. */
FLR_API flr_result flr_scene_world_fit(flr_scene_world *scene, uint32_t part, const flr_fit **fit,
                                       flr_error *error);

/* May two parts be in each other, by the scene's "allow", or because a joint ties them? */
FLR_API bool flr_scene_world_allows(const flr_scene_world *scene, uint32_t a, uint32_t b);

/* The joints, in the world's order. */
FLR_API uint32_t flr_scene_world_joint_count(const flr_scene_world *scene);
FLR_API const char *flr_scene_world_joint_name(const flr_scene_world *scene, uint32_t joint);

#ifdef __cplusplus
}
#endif
#endif
