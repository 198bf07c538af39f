/* feeler/voxel_file.h: voxels and points as a file, and the cache of such files.
 *
 *   voxfile  reading and writing voxel files
 *   cache    voxelize once, open the next time
 */
#ifndef FEELER_VOXEL_FILE_H
#define FEELER_VOXEL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/mesh.h"
#include "feeler/voxels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== voxfile ================================================================================ */

/* Voxels and surface points as a file: mapped or read.
 *
 *     flr_voxfile_write(env, "part.flrvox", voxmap, shell, &error);
 *     ...
 *     flr_voxfile_open(env, "part.flrvox", 0, &voxmap, &shell, &error);
 *
 * What lies in the file are the bytes that a voxmap and a shell have in memory, so opening builds
 * nothing and takes milliseconds, whatever the size. Every byte is covered by a checksum. What is
 * checked when:
 *
 *     at once     magic, byte order, version, sizes; the checksums of headers and of the upper
 *                 levels of the directory; that each number there points to where there is
 *                 something. After that no content of the file, not even a forged one, can make a
 *                 query read what is not the voxmap's.
 *     all of it   every checksum and every number: at once in files of up to 64 MiB and where
 *                 FLR_VOXFILE_VERIFY is given, else by flr_voxfile_verify() whenever it suits, from
 *                 a worker, say, while queries run already. Only then is it known that no bit has
 *                 changed. What does more than ask for marks and points (converting, merging) must
 *                 verify first.
 *
 * The checksums find damage, not forgery: a file of malicious origin may hold any voxels.
 *
 * A file that is mapped must not be changed in place: the changes show in the voxels.
 * flr_voxfile_write() and the cache never do that: a file is written under another name and put in
 * place whole, and those who have the old one open keep it. Where a mapped file is cut short, or the
 * disk fails, what is lost reads as zeros and flr_voxfile_verify() fails from then on: call it again
 * before you use what was computed. Where others might change the file, or page faults disturb, use
 * FLR_VOXFILE_LOAD.
 *
 * Thread: any; not RT safe.
 */

enum {
    FLR_VOXFILE_VERIFY = 1, /* all checksums before anything is handed out */
    /* read into memory of its own, on large pages, with all checksums compared on the way: takes as
     * long as reading takes, but lookups are faster afterwards, and nothing that happens to the file
     * matters */
    FLR_VOXFILE_LOAD = 2
};

/* What a section of the file holds. Readers pass over kinds they do not know. */
typedef enum flr_section_kind {
    FLR_SECTION_VOXMAP = 1, /* always there */
    FLR_SECTION_SHELL = 2
} flr_section_kind;

enum { FLR_VOXFILE_SECTIONS = 32 }; /* at most */

typedef struct flr_voxfile_section {
    uint32_t kind; /* flr_section_kind */
    uint32_t zero;
    uint64_t offset, size; /* bytes, from the start of the file */
} flr_voxfile_section;

typedef struct flr_voxfile_info {
    uint32_t version;
    bool verified; /* all checksums were found right since it was opened */
    uint64_t size; /* bytes, of the file */
    uint32_t section_count;
    flr_voxfile_section sections[FLR_VOXFILE_SECTIONS];
} flr_voxfile_info;

/* Writes a voxmap and, unless NULL, its shell. The file appears whole or not at all; one that is
 * there is replaced. Nothing is copied in memory. */
FLR_API flr_result flr_voxfile_write(flr_env *env, const char *path, const flr_voxmap *voxmap,
                                     const flr_shell *shell, flr_error *error);

/* Opens a file. `flags` as above. `shell` may be NULL; `*shell` is NULL where the file has none.
 * The caller owns both; destroy them in any order. Fails with FLR_BAD_INPUT (no such file at all,
 * or damaged), FLR_UNSUPPORTED (of another version of feeler or another kind of machine: build it
 * again), or with what the disk says. */
FLR_API flr_result flr_voxfile_open(flr_env *env, const char *path, unsigned flags,
                                    flr_voxmap **voxmap, flr_shell **shell, flr_error *error);

/* Checks all checksums of the file a voxmap was opened from, on `threads` threads (0: one per
 * processor). FLR_BAD_INPUT where one is wrong, or where a mapped file has become shorter or could
 * not be read since it was opened. Else at once FLR_OK when it was done before, and for a voxmap
 * that is from no file. */
FLR_API flr_result flr_voxfile_verify(const flr_voxmap *voxmap, unsigned threads, flr_error *error);

/* What the file is made of. false: the voxmap is from no file, `info` is untouched. RT safe. */
FLR_API bool flr_voxfile_get_info(const flr_voxmap *voxmap, flr_voxfile_info *info);

/* ==== cache ================================================================================== */

/* What was voxelized once is opened the next time.
 *
 *     flr_cache cache = {.folder = folder};
 *     flr_cache_voxelize(env, &cache, mesh, &def, &voxmap, &shell, &report, &error);
 *
 * A cache is a folder of voxel files (feeler/voxel_file.h), each named by a hash of the mesh, of all
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
     * file (flr_voxelize_file()), and mapped from there (feeler/voxel_file.h says what that means where
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
