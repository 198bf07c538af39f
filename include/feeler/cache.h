/* feeler/cache.h: what was voxelized once is opened the next time.
 *
 *     flr_cache cache = {.folder = folder};
 *     flr_cache_voxelize(env, &cache, mesh, &def, &voxmap, &shell, &report, &error);
 *
 * A cache is a folder of voxel files (feeler/voxfile.h), each named by a hash of the mesh, of all
 * parameters and of the version of the format. So there is nothing to keep in step: another mesh,
 * parameter or version is another name. A file is read into memory and all its checksums are
 * compared before anything is handed out, so nothing that happens to it later matters. A file that
 * is damaged, cut off or something else is reported, built again and replaced. A cache that cannot
 * be written is no failure either: what was asked for is built and handed out.
 *
 * Several processes may use one folder at once: files appear whole, by a rename, and whoever has
 * one open keeps it when it is replaced or removed. If two build the same, the last one's file
 * stays; both are the same bytes.
 *
 * Thread: any; not RT safe.
 */
#ifndef FEELER_CACHE_H
#define FEELER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/env.h"
#include "feeler/hash.h"
#include "feeler/mesh.h"
#include "feeler/result.h"
#include "feeler/shell.h"
#include "feeler/voxelize.h"
#include "feeler/voxmap.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_CACHE_PATH_SIZE = 4096 };

/* The folder a user's cache lies in: `own` if given (the variable FEELER_CACHE), else feeler in
 * `cache_home` (XDG_CACHE_HOME), else .cache/feeler in `home` (HOME). Each may be NULL or empty;
 * the latter two count only when they are absolute. FLR_NOT_FOUND: none will do. */
FLR_API flr_result flr_cache_folder(const char *own, const char *cache_home, const char *home,
                                    char folder[FLR_CACHE_PATH_SIZE], flr_error *error);

/* Which cache, and how to use it. Plain data. Who stores something removes what a writer left there
 * that was killed more than an hour ago. */
typedef struct flr_cache {
    const char *folder; /* borrowed; need not exist yet. NULL: no cache, everything is built */
    /* nothing is stored: the folder is one that others fill, or that cannot be written */
    bool read_only;
    /* bytes: after storing, the oldest files go until no more than this is left; 0: no limit */
    uint64_t limit;
    /* hand out what was built before it is stored, which takes as long as the disk does; then call
     * flr_cache_store() when it suits */
    bool later;
    /* what does not fit into memory (def->memory_limit) is built slab by slab, straight into its
     * file (flr_voxelize_file()), and mapped from there (feeler/voxfile.h says what that means where
     * the file is changed in place). false: it is refused */
    bool stream;
} flr_cache;

/* What happened. Plain data. */
typedef struct flr_cache_report {
    flr_hash key;
    bool found;                              /* opened, not built */
    bool stored;                             /* built and put into the cache */
    bool streamed;                           /* … slab by slab: it was too large for memory */
    char broken[FLR_ERROR_MESSAGE_SIZE];     /* what was wrong with the file that was there; "" */
    char not_stored[FLR_ERROR_MESSAGE_SIZE]; /* why it was not put into the cache; "" */
    double open_seconds, write_seconds;
    flr_voxelize_report voxelize; /* of the building; when found, the counts alone */
} flr_cache_report;

/* What flr_voxelize() does, by way of the cache: reads the file when it is there and sound, else
 * builds and stores it. FLR_TOO_LARGE where it is there and has more than def->memory_limit bytes,
 * unless cache->stream. `shell` or `voxmap` may be NULL, not both; a file stored without a shell is
 * built again when one is asked for. `report` may be NULL. */
FLR_API flr_result flr_cache_voxelize(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                                      const flr_voxelize_def *def, flr_voxmap **voxmap,
                                      flr_shell **shell, flr_cache_report *report,
                                      flr_error *error);

/* Stores what flr_cache_voxelize() built with `later`, by the same mesh and `def`. `shell` may be
 * NULL. Fails as the disk does; what was built is as good as before. */
FLR_API flr_result flr_cache_store(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                                   const flr_voxelize_def *def, const flr_voxmap *voxmap,
                                   const flr_shell *shell, flr_error *error);

/* Sees to it that the file is there, for those who page (feeler/pager.h), and says where: builds it
 * where it is missing or broken, in memory or, as cache->stream says, slab by slab. The file's
 * upper levels are checked, not all of its checksums. `shell`: with points. Here it is a failure
 * when the file cannot be written, and FLR_BAD_ARGUMENT when there is no folder. `report` may be
 * NULL. */
FLR_API flr_result flr_cache_file(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                                  const flr_voxelize_def *def, bool shell,
                                  char path[FLR_CACHE_PATH_SIZE], flr_cache_report *report,
                                  flr_error *error);

/* The name for a mesh and parameters: equal where the bytes built are. */
FLR_API flr_hash flr_cache_key(const flr_mesh *mesh, const flr_voxelize_def *def);

/* ---- the folder as such ---- */

enum { FLR_CACHE_NAME_SIZE = FLR_HASH_TEXT_SIZE + 7 };

typedef struct flr_cache_entry {
    /* of the file, in the folder: 32 hexadecimal digits and .flrvox, or .flrfit (feeler/fit.h) */
    char name[FLR_CACHE_NAME_SIZE];
    uint64_t size;       /* bytes */
    int64_t modified_ns; /* wall clock, when it was written */
} flr_cache_entry;

/* Makes the folder of a cache where it is missing, for its owner only (mode 0700): voxels show
 * geometry. One of this user that others can read becomes so, too, unless something else than
 * feeler's own files is in it. */
FLR_API flr_result flr_cache_make_folder(flr_env *env, const char *folder, flr_error *error);

/* The files in a cache, oldest first; what has other names is not the cache's and left alone. Free
 * `*entries` with flr_cache_list_free(); it is NULL where there is none. A folder that does not
 * exist is empty. */
FLR_API flr_result flr_cache_list(flr_env *env, const char *folder, flr_cache_entry **entries,
                                  size_t *count, flr_error *error);
FLR_API void flr_cache_list_free(flr_cache_entry *entries); /* NULL allowed */

/* Removes the oldest files until what is left has at most `limit` bytes (0: no limit, as in
 * flr_cache), and the temporary files of writers that were killed (flr_output_sweep()). Links are
 * left alone. Both counts are filled in, also on failure. */
FLR_API flr_result flr_cache_prune(flr_env *env, const char *folder, uint64_t limit,
                                   uint64_t *removed_files, uint64_t *removed_bytes,
                                   flr_error *error);

/* The same, but removes all files. */
FLR_API flr_result flr_cache_clear(flr_env *env, const char *folder, uint64_t *removed_files,
                                   uint64_t *removed_bytes, flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
