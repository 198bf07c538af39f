/* feeler/import.h: meshes from foreign formats, read by a helper process.
 *
 * Readers of foreign formats are large and crash on damaged files. So they do not live in this
 * library but in a separate program, feeler-import, which runs with little memory, a time limit,
 * no network and no right to write or to start anything. It hands its result over as a checked
 * binary stream. If the helper crashes, hangs, eats memory or lies, the caller gets one sentence
 * and goes on.
 *
 *   STEP, IGES, BREP                              OpenCASCADE: part names and placements are kept
 *   glTF/GLB, 3DS, DAE, AC3D, 3MF, FBX, OFF, X3D… assimp: nodes become groups
 *
 * docs/import.md has the whole table and what is known about units. flr_mesh_open() of
 * feeler/mesh_io.h reads own and foreign formats alike; most programs need nothing else.
 *
 * The helper is a real process whatever the `env`: its time limit runs on the real clock, and the
 * file must lie on a real disk.
 *
 * Thread: any; several imports may run at once. Nothing here is RT safe.
 */
#ifndef FEELER_IMPORT_H
#define FEELER_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/env.h"
#include "feeler/mesh.h"
#include "feeler/mesh_io.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_IMPORT_PATH_SIZE = 4096, FLR_IMPORT_TEXT_SIZE = 512 };

/* What the helper said besides the mesh. Plain data; all texts are UTF-8 without control
 * characters. */
typedef struct flr_import_info {
    char format[64];                    /* as the helper calls it: "STEP", "glTF" */
    uint32_t warnings;                  /* how many the helper had */
    char warning[FLR_IMPORT_TEXT_SIZE]; /* the first one; "" if none */
} flr_import_info;

/* True when the ending of `path` is one that only the helper reads (step, glb, …). Looks at the
 * name alone; `path` is not NULL. RT safe. */
FLR_API bool flr_import_knows(const char *path);

/* Reads `path` through the helper. `options` NULL: defaults; `report` and `info` may be NULL and
 * are filled as far as known on failure too. On success the caller owns `*mesh`.
 *
 *   FLR_NOT_FOUND    no such file
 *   FLR_UNSUPPORTED  the helper is not installed, or does not know the format
 *   FLR_BAD_INPUT    the helper read the file and found it wrong
 *   FLR_CRASHED      the helper died or broke the rules of the stream
 *   FLR_TIMEOUT      it took longer than options->helper_seconds and was stopped
 *   FLR_NO_MEMORY    it needed more than options->helper_memory, or memory is short here
 *   FLR_TOO_LARGE    the file is larger than options->size_limit
 */
FLR_API flr_result flr_import_read(flr_env *env, const char *path, const flr_mesh_options *options,
                                   flr_mesh **mesh, flr_mesh_report *report, flr_import_info *info,
                                   flr_error *error);

/* Where the helper is: `helper` if not NULL; else beside the running program, in libexec/feeler
 * of the tree that holds the program or this library (links followed), where it was built to be
 * installed, /usr or /usr/local. FLR_UNSUPPORTED and a sentence that names the places when it is
 * nowhere. */
FLR_API flr_result flr_import_find(const char *helper, char path[FLR_IMPORT_PATH_SIZE],
                                   flr_error *error);

/* What `feeler doctor` tells about the helper. Plain data. */
typedef struct flr_import_state {
    char path[FLR_IMPORT_PATH_SIZE];     /* "" when not found */
    bool starts;                         /* ran and answered; else the fields below are "" */
    double start_seconds;                /* from start to the end of the answer */
    char versions[FLR_IMPORT_TEXT_SIZE]; /* "feeler-import 0.1.0, assimp 5.2, OpenCASCADE 7.6" */
    char formats[1024];                  /* endings, separated by spaces */
    char sandbox[FLR_IMPORT_TEXT_SIZE];  /* what confines it: "rlimits, no-new-privileges, …" */
    char missing[FLR_IMPORT_TEXT_SIZE];  /* what this machine does not offer; "" if nothing */
} flr_import_state;

/* Finds the helper, starts it once inside its sandbox and asks what it is; takes at most ten
 * seconds. `helper` as in flr_import_find(). `state` is filled as far as known, on failure too. */
FLR_API flr_result flr_import_probe(flr_env *env, const char *helper, flr_import_state *state,
                                    flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
