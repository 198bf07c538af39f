/* models.h: the procedural scenarios, as code.
 *
 * A scenario is a named recipe (`ball`, `gear`, `aircraft`, ...). Building it gives a model in
 * memory: meshes in metres, recorded paths, other texts, and the scene that places the meshes.
 * Writing a model gives a folder that `feeler serve` and the benchmarks open:
 *
 *     scene.json       the parts, their poses and colours
 *     NAME.stl         one per mesh, binary, in millimetres
 *     NAME.txt         paths (`t x y z qw qx qy qz` per line) and other texts
 *
 * The same options give the same bytes with every compiler.
 *
 * Thread: any. Nothing here is RT safe.
 */
#ifndef FLR_MODELS_MODELS_H
#define FLR_MODELS_MODELS_H

#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/mesh.h"
#include "scene/pose_file.h"
#include "scene/scene.h"

struct flr_kit; /* models/kit.h */

/* What a user may choose. Fill with flr_default_scenario_options(). */
typedef struct flr_scenario_options {
    uint64_t seed;   /* of what is left to chance; default 1 */
    uint32_t number; /* how many parts, where a scenario may have any number; default 0: its own */
} flr_scenario_options;

flr_scenario_options flr_default_scenario_options(void);

enum { FLR_MODEL_NAME_SIZE = 48 };

typedef struct flr_model_mesh {
    char file[FLR_MODEL_NAME_SIZE]; /* "gear.stl" */
    flr_mesh *mesh;                 /* metres, owned */
} flr_model_mesh;

/* A prepared motion of a moving part. */
typedef struct flr_model_path {
    char file[FLR_MODEL_NAME_SIZE]; /* "gear_removal.txt" */
    char name[FLR_MODEL_NAME_SIZE]; /* "removal" */
    char part[FLR_MODEL_NAME_SIZE]; /* the scene's name of the part that moves */
    flr_timed_pose *poses;          /* [count], owned */
    size_t count;
} flr_model_path;

typedef struct flr_model_text {
    char file[FLR_MODEL_NAME_SIZE];
    char *bytes; /* [size], owned */
    size_t size;
} flr_model_text;

/* A built scenario. Zero-initialise, build, free. */
typedef struct flr_model {
    flr_model_mesh *meshes;
    size_t mesh_count;
    flr_model_path *paths;
    size_t path_count;
    flr_model_text *texts;
    size_t text_count;
    flr_scene_part *parts; /* [part_count]; names and files owned; files are those of meshes */
    size_t part_count;
    flr_scene scene; /* all but its parts and paths, which are filled in when it is written; its
                        texts are constants */
} flr_model;

typedef struct flr_scenario {
    const char *name;    /* "gear" */
    const char *summary; /* one line for a list */
    uint32_t most;       /* the largest flr_scenario_options.number; 0: takes none */
    /* Fills a model that is empty but for the scene's name, description and unit (mm). On failure
     * it may be left half filled: the caller frees it. */
    flr_result (*build)(const flr_scenario_options *options, flr_model *model, flr_error *error);
} flr_scenario;

/* All scenarios in the order of a list; by name, NULL when there is none. */
size_t flr_scenario_count(void);
const flr_scenario *flr_scenario_at(size_t index);
const flr_scenario *flr_scenario_find(const char *name);

/* Builds in memory. `options` NULL: defaults. FLR_BAD_ARGUMENT: a number that this scenario does
 * not take. On success the caller frees `*model`, on failure
 * it is empty. */
flr_result flr_scenario_build(const flr_scenario *scenario, const flr_scenario_options *options,
                              flr_model *model, flr_error *error);

void flr_model_free(flr_model *model); /* NULL allowed; leaves an empty model */

/* Writes all files of the model into `folder`, which is made when missing. Each file appears
 * whole or not at all, scene.json last. */
flr_result flr_model_write(flr_env *env, const flr_model *model, const char *folder,
                           flr_error *error);

/* Build, write, free. */
flr_result flr_scenario_make(flr_env *env, const flr_scenario *scenario,
                             const flr_scenario_options *options, const char *folder,
                             flr_error *error);

/* ---- for the recipes ---- */

/* Each takes over (the mesh, freed on failure) or copies what it is given. */
flr_result flr_model_add_mesh(flr_model *model, const char *file, flr_mesh *mesh, flr_error *error);
flr_result flr_model_add_part(flr_model *model, const flr_scene_part *part, flr_error *error);
/* Finishes the kit (freed whatever the result), adds its mesh under the part's file name, and
 * the part. */
flr_result flr_model_add_kit(flr_model *model, struct flr_kit *kit, const flr_scene_part *part,
                             flr_error *error);
flr_result flr_model_add_path(flr_model *model, const char *file, const char *name,
                              const char *part, const flr_timed_pose *poses, size_t count,
                              flr_error *error);
flr_result flr_model_add_text(flr_model *model, const char *file, const char *bytes, size_t size,
                              flr_error *error);

/* The mesh of that file, NULL when there is none. */
const flr_mesh *flr_model_find_mesh(const flr_model *model, const char *file);

#endif
