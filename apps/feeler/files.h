/* files.h: what commands do with files: which inputs they take, and outputs that are whole or
 * not there. */
#ifndef FLR_FILES_H
#define FLR_FILES_H

#include "command.h"
#include "feeler/base.h"
#include "feeler/mesh.h"
#include "feeler/voxel_file.h"
#include "feeler/world.h"

enum { FLR_PATH_MAX = 4096 };

/* ---- mesh input ---- */

/* How to read a mesh; a member of the values of every command that does. */
typedef struct flr_input {
    double unit;  /* 0: as the format says */
    double weld;  /* metres */
    double chord; /* metres; 0: by the voxel size, else the reader's own choice */
    bool tolerant;
    int64_t helper_seconds; /* 0: the reader's own choice */
    uint64_t helper_memory; /* bytes; 0: the reader's own choice */
} flr_input;

extern const char *const flr_unit_choices[];

/* Words of flr_axis. */
extern const char *const flr_axis_choices[];

/* The options for a table of a struct `values` with a member `flr_input input`. */
#define FLR_INPUT_OPTIONS(values)                                                                  \
    FLR_OPTION(UNIT, offsetof(values, input.unit), "unit", "UNIT",                                 \
               "unit of the coordinates in the file: " FLR_UNIT_NAMES ", or metres as a number; "  \
               "default: what the file says, else mm",                                             \
               .letter = 'u', .choices = flr_unit_choices),                                        \
        FLR_OPTION(SIZE, offsetof(values, input.weld), "weld", "SIZE",                             \
                   "vertices this near become one; default: only equal ones"),                     \
        FLR_OPTION(SIZE, offsetof(values, input.chord), "chord", "SIZE",                           \
                   "STEP, IGES, BREP: how far a triangle may stray from the exact surface; "       \
                   "default: 1/4 of a voxel where its size is known, else 1/1000 of the part"),    \
        FLR_OPTION(INTEGER, offsetof(values, input.helper_seconds), "import-seconds", "N",         \
                   "foreign formats: how long the import helper may take; default 120", .min = 1,  \
                   .max = 86400),                                                                  \
        FLR_OPTION(BYTES, offsetof(values, input.helper_memory), "import-memory", "SIZE",          \
                   "foreign formats: how much memory the import helper may take; default 4GiB")

/* One more, for commands that do not read tolerantly anyway. */
#define FLR_TOLERANT_OPTION(values)                                                                \
    FLR_SWITCH(offsetof(values, input.tolerant), "tolerant",                                       \
               "leave out triangles that cannot be right (NaN, indices out of range, what a cut "  \
               "file lacks) instead of refusing the file")

/* Where a part goes, and the size of voxels; for a table of a struct `values` with poses, pose_unit, path and voxel. */
#define FLR_WAY_OPTIONS(values, poses_help, path_help)                                             \
    FLR_OPTION(PATH, offsetof(values, poses), "poses", "FILE", poses_help),                        \
        FLR_OPTION(UNIT, offsetof(values, pose_unit), "pose-unit", "UNIT",                         \
                   "unit of x, y and z there; default: that of --unit, else mm",                   \
                   .choices = flr_unit_choices),                                                   \
        FLR_OPTION(TEXT, offsetof(values, path), "path", "NAME", path_help),                       \
        FLR_OPTION(SIZE, offsetof(values, voxel), "voxel", "SIZE",                                 \
                   "edge length of a voxel, such as 1mm; default for a scene: its own",            \
                   .min = 1e-9)

/* `voxel`: metres, decides on the chord where none is given; 0: not known. */
flr_mesh_options flr_input_mesh_options(const flr_input *input, double voxel);

/* What a tolerant reader left out: "3 triangles left out; the first: line 12: …"; "" if nothing.
 * Returns `text`. */
enum { FLR_LEFT_OUT_TEXT_SIZE = FLR_ERROR_MESSAGE_SIZE };
const char *flr_left_out_print(const flr_mesh_report *report, char text[FLR_LEFT_OUT_TEXT_SIZE]);

/* The same with the name of the file before it, on stderr. */
void flr_warn_left_out(flr_cli *cli, const char *name, const flr_mesh_report *report);

/* Scene files end in .json. */
bool flr_is_scene(const char *path);

/* Where `path` is a folder that holds scene.json, the sentence of `error` goes on to say so. */
void flr_hint_scene(flr_env *env, const char *path, flr_error *error);

/* ---- the cache ---- */

/* The folder of the cache of voxel files: `given`, or where NULL what the environment says; see flr_cache_folder(). */
flr_result flr_find_cache(const char *given, char folder[FLR_CACHE_PATH_SIZE], flr_error *error);

/* Whether voxels can be paged with so many bytes (--memory; 0: they are not) of FLR_MEMORY_OPTION. */
flr_result flr_check_memory(uint64_t memory, const flr_cache *cache, const flr_world_params *params,
                            flr_error *error);

/* ---- output ---- */

/* Are both names of the same file? false when one does not exist. */
bool flr_same_file(const char *a, const char *b);

/* Ctrl-C and the like wait between hold and release, so that they cannot leave half of an output
 * behind. release() lets a waiting one through. */
void flr_hold_signals(void);
void flr_release_signals(void);

/* From here on Ctrl-C, SIGTERM and the end of the terminal (SIGHUP) ask for an end (unless they were ignored before): work that takes long
 * looks at flr_stop_wanted() now and then and ends in order. A second Ctrl-C ends the process at once while
 * flr_stop_at_once(true) holds; say false while a file may be half written. */
void flr_catch_stop(void);
/* Ctrl-C and the like end the process again, as before flr_catch_stop(). */
void flr_uncatch_stop(void);
bool flr_stop_wanted(void);
void flr_stop_at_once(bool allowed);

/* A folder of outputs that appears whole or not at all. A new one is written beside its place
 * and renamed; one that is there gets file by file, each whole, and is emptied again on failure if
 * it was empty. Parents that begin made are gone again after abandon. Usage: begin, write into
 * `writing`, then exactly one of commit or abandon. */
typedef struct flr_folder {
    char path[FLR_PATH_MAX];    /* as the user calls it, without "/" and "/." at its end */
    char writing[FLR_PATH_MAX]; /* where to write */
    size_t kept;                /* so many bytes of `path` name a folder that was there before */
    enum { FLR_FOLDER_NEW, FLR_FOLDER_EMPTY, FLR_FOLDER_FULL } was;
} flr_folder;

/* May we write there? FLR_DENIED with a sentence when it is no folder, or holds something and
 * `force` is false. begin asks too; ask first where much work comes before writing. */
flr_result flr_folder_check(flr_env *env, const char *path, bool force, flr_error *error);
flr_result flr_folder_begin(flr_env *env, const char *path, bool force, flr_folder *folder,
                            flr_error *error);
flr_result flr_folder_commit(flr_env *env, const flr_folder *folder, flr_error *error);
/* Removes what was written. In the sentence of `error`, which says why, the name that the user
 * gave replaces that of `writing`. */
void flr_folder_abandon(flr_env *env, const flr_folder *folder, flr_error *error);

#endif
