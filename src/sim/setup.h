/* setup.h: all that determines a run but the way of the hand: as values, as texts in a recording, as
 * a stage. `feeler run` makes it from its command line, `feeler replay` from a recording; both then
 * do the same.
 *
 * Thread: control. */
#ifndef FLR_SIM_SETUP_H
#define FLR_SIM_SETUP_H

#include "feeler/base.h"
#include "feeler/recording.h"
#include "sim/stage.h"

typedef struct flr_setup {
    const char *scene;          /* its file; borrowed */
    const char *part;           /* what the hand holds; borrowed; NULL: the first that moves */
    flr_mesh_options options;   /* of reading; unit, weld, chord and tolerant are kept */
    double rate;                /* Hz */
    double voxel, moving_voxel; /* metres; 0: as the scene says */
    double common; /* metres: of parts of which nobody says anything; 0: feeler chooses */
    flr_world_params params;
    /* metres: where force begins, which flr_setup_stage() puts into the world's parameters; default -1: as `params` say. Not
     * written: what came of it is */
    double onset;
    double device_force, device_torque; /* limits of the device, N and N m */
    int dead_man;                       /* its button; -1: none */
    flr_tool tool;                      /* of the hand; a point holds no part: then "" */
    /* made while the controller ran: hands took and let go, parameters changed; that is in its notes,
     * see sim/replay.h */
    bool live;
} flr_setup;

/* Defaults of everything; with the law of contact of a scene: set params to flr_scene_params(). */
flr_setup flr_default_setup(void);

/* Makes the stage of a scene that was read from setup->scene. `like` gives what a result does not
 * depend on: cache, threads, progress. */
flr_result flr_setup_stage(flr_env *env, const flr_setup *setup, const flr_scene *scene,
                           const flr_stage_def *like, flr_stage **stage, flr_error *error);

/* ---- texts ---- */

/* Keys and values in turn, then NULL, as flr_recorder_def wants them. Zero it to begin. */
typedef struct flr_texts {
    char **list;
    size_t count; /* without the NULL */
    bool failed;  /* memory ran out, and everything after is ignored */
} flr_texts;

/* Adds a key and its value. */
void flr_texts_add(flr_texts *texts, const char *key, const char *format, ...) FLR_PRINTF(3, 4);
/* FLR_NO_MEMORY where some are missing. */
flr_result flr_texts_end(const flr_texts *texts, flr_error *error);
void flr_texts_free(flr_texts *texts);
/* The value of a key that was added; NULL: none. */
const char *flr_texts_find(const flr_texts *texts, const char *key);

/* Adds the whole setup, and of the scene and its parts the names and hashes of what they are made
 * of: scene, scene.name, scene.unit, scene.hash, part, voxel.least, parts.N.name, .moving, .mesh
 * (hash), .mass or .density where given, and all numbers. */
flr_result flr_setup_write(const flr_setup *setup, const flr_scene *scene, const flr_stage *stage,
                           flr_texts *texts, flr_error *error);

/* The pieces of that, for those who have no stage. The numbers of a setup: */
void flr_setup_write_numbers(const flr_setup *setup, flr_texts *texts);
/* … and back from texts, wherever they are; `text` gives NULL where there is none. `path` is for
 * sentences. The rest of `setup` stays. */
flr_result flr_setup_read_numbers(const char *(*text)(const void *context, const char *key),
                                  const void *context, const char *path, flr_setup *setup,
                                  flr_error *error);
/* parts.N.name and so on. Frames speak of the part by this number, too. */
void flr_setup_write_part(uint32_t number, const flr_part_entry *part, flr_texts *texts);
/* What scene.hash is. */
flr_result flr_setup_hash_scene(const flr_scene *scene, char hash[FLR_HASH_TEXT_SIZE],
                                flr_error *error);

/* Back from a recording, whose texts it borrows. The sentence names the key that is missing or makes
 * no sense. */
flr_result flr_setup_read(const flr_recording *recording, const char *path, flr_setup *setup,
                          flr_error *error);

/* Has anything changed since? `parts` are those of the scene. FLR_BAD_INPUT, with a sentence that names the first part whose mesh is
 * another one, which is missing or new. `*scene_changed`: the scene file says something else than
 * then (where parts stand, voxels, names …), whether it matters or not; false where that was not
 * kept. */
flr_result flr_setup_compare(const flr_recording *recording, const flr_scene *scene,
                             const flr_part_list *parts, bool *scene_changed, flr_error *error);

#endif
