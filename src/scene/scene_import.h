/* scene_import.h: a scene from CAD files: their trees, parts, placements, colours; meshes beside the scene file.
 *
 * Thread: any. Not RT safe. */
#ifndef FLR_SCENE_SCENE_IMPORT_H
#define FLR_SCENE_SCENE_IMPORT_H

#include "feeler/assembly.h"
#include "scene/scene.h"

typedef struct flr_scene_import_def {
    flr_env *env;
    const char *const *files; /* [file_count], at least one, of any format that feeler reads */
    size_t file_count;
    const char *name; /* of what has none in its file; NULL: the file's, without its ending */
    const char *out;  /* the scene file; "plan.json" gets its meshes in "plan_parts" beside it */
    const char
        *move; /* patterns, separated by commas: these parts can be picked up; NULL: none given */
    const char *fix; /* patterns: these cannot; NULL: none given */
    flr_axis up;     /* which axis of the files is up; FLR_AXIS_NONE: the likely one of each */
    double voxel;    /* of the scene, metres; 0: none */
    flr_mesh_options options;
    /* Called before a file is read (stage "reading") and before shapes are written; false: stop with
     * FLR_CANCELLED. May be NULL. */
    bool (*progress)(void *context, double done, const char *stage);
    void *context;
} flr_scene_import_def;

/* What became of the files. Plain data. */
typedef struct flr_scene_import_report {
    size_t parts, moving, hidden, groups, shapes;
    flr_axis up;        /* of the first file */
    uint64_t triangles; /* of all shapes, each counted once */
    uint64_t faces_skipped;
    char *notes; /* lines: what was left out of which file; NULL: nothing. free() it */
} flr_scene_import_report;

/* Reads the files, writes their distinct shapes and then the scene file: whole or not at all. Names
 * become unique ("bolt:1", "bolt:2"); a part without one is called after its file. Patterns (* ? [a-z])
 * match the name of a part, of a group around it, or both as a path ("pump/bolt*"). Without `move` and
 * `fix`, every part can be picked up but the largest of several. With `move` alone, the others are fixed; with `fix`
 * alone, the others move. A pattern that matches nothing is FLR_NOT_FOUND. */
flr_result flr_scene_import(const flr_scene_import_def *def, flr_scene_import_report *report,
                            flr_error *error);

/* Where the meshes of a scene are written: "dir/plan_parts" for "dir/plan.json". */
void flr_scene_parts_folder(const char *path, char *folder, size_t size);

/* Whether a file that is not a scene can be opened as one: its ending is one that feeler reads. */
bool flr_scene_can_import(const char *path);

#endif
