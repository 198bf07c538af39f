/* feeler/voxfile.h: voxels and surface points as a file: mapped or read.
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
#ifndef FEELER_VOXFILE_H
#define FEELER_VOXFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/env.h"
#include "feeler/result.h"
#include "feeler/shell.h"
#include "feeler/voxmap.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
