/* feeler/pager.h: voxels larger than memory: read from their file before they are needed.
 *
 *     flr_pager_def def = flr_default_pager_def();
 *     def.env = flr_env_real(), def.path = "gear.flrvox", def.budget = (uint64_t)1 << 30;
 *     flr_pager_open(&def, &pager, &error);
 *     part.shape = flr_pairs_shape_make(NULL, flr_pager_table(pager));   a static part of a world
 *     flr_pager_start(pager, &error);                                    a thread that reads
 *     ... flr_world_step() as always ...
 *     flr_pager_close(pager);                                            after the world
 *
 * The voxel file (feeler/voxel_file.h) is the backing store. Its directory, in place of a table of
 * all chunks, and the distances from chunk to chunk are always in memory; of the marks themselves,
 * blocks of 64 KiB, as many as the budget allows. Each step of the world says where its moving parts
 * are and how they move; a thread of the pager's own reads what they can reach within the horizon,
 * the nearest first, compares its checksum and puts it in place, and lets go of what is farthest
 * and has been out of reach longest.
 *
 * A step looks at nothing that is not there. Where something is missing it does not happen:
 * flr_world_frame.missing says so, nothing moves, hands feel nothing, and the next step tries again.
 * So what is felt is the same, to the bit, as with all of it in memory, or it is nothing.
 *
 * Trouble of the disk is tried again until it passes; a file that is damaged or was cut short stays
 * so, and flr_pager_trouble() says it.
 *
 * Thread: control, where a function does not say otherwise. What the step does is RT safe.
 */
#ifndef FEELER_PAGER_H
#define FEELER_PAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/contact.h"
#include "feeler/env.h"
#include "feeler/voxels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_pager flr_pager;

enum { FLR_PAGER_BLOCK = 65536 }; /* bytes */

typedef struct flr_pager_def {
    flr_env *env;     /* not NULL */
    const char *path; /* of the voxel file; copied */
    uint64_t budget;  /* bytes for blocks in memory, 1 MiB … 8 GiB less a block; default 1 GiB */
    double horizon;   /* seconds ahead that motion is followed; default 0.25 */
    double margin;    /* metres around parts that is read in any case; default 0.02 */
    /* reads under way at once, 1 … FLR_MAX_READS; default 16; 1, or where the system has no io_uring:
     * one after the other */
    uint32_t depth;
    /* the fields of edges and vertices, too, for flr_contact_params.awareness; default false: of the
     * surface alone, which is all that is looked at without it, in a third of the memory */
    bool features;
} flr_pager_def;

FLR_API flr_pager_def flr_default_pager_def(void);

/* Opens the file and takes all memory. FLR_BAD_INPUT (damaged), FLR_UNSUPPORTED, FLR_TOO_LARGE,
 * FLR_BAD_ARGUMENT, FLR_NO_MEMORY, or what the disk says. On success the caller owns `*pager`. */
FLR_API flr_result flr_pager_open(const flr_pager_def *def, flr_pager **pager, flr_error *error);
/* Ends its thread and frees; the world that uses its table must be gone. NULL allowed. */
FLR_API void flr_pager_close(flr_pager *pager);

/* Borrowed as long as the pager is open. The voxmap tells what it is (flr_voxmap_get_info()); its
 * marks can be asked for through the table of a world only. */
FLR_API const flr_voxmap *flr_pager_voxmap(const flr_pager *pager);
FLR_API const flr_contact_table *flr_pager_table(const flr_pager *pager);
FLR_API const char *flr_pager_path(const flr_pager *pager);

/* What a place is, as far as the directory tells, which is in memory and has chunks (8x8x8 voxels)
 * without a surface near: FLR_PAGER_UNKNOWN where the file would have to be read. */
typedef enum flr_pager_place {
    FLR_PAGER_FREE,
    FLR_PAGER_INSIDE, /* of what is solid, a voxel or more below its surface */
    FLR_PAGER_UNKNOWN
} flr_pager_place;

/* `at`: metres, voxmap's frame. Thread: any; RT safe. */
FLR_API flr_pager_place flr_pager_look(const flr_pager *pager, flr_vec3 at);

/* Reads in a thread of its own until the pager is closed. Not with a simulated env. */
FLR_API flr_result flr_pager_start(flr_pager *pager, flr_error *error);

/* Reads what is wanted now, up to `blocks` of them (0: all), in the calling thread, between steps;
 * for those who have no thread. Returns how many it read. Not after flr_pager_start(). */
FLR_API uint32_t flr_pager_service(flr_pager *pager, uint32_t blocks);

/* Asks for what is wanted now and takes what has come, waiting for nothing where reads are under way
 * at once. Otherwise as flr_pager_service(). Returns how many blocks are new. */
FLR_API uint32_t flr_pager_poll(flr_pager *pager);

/* What is wrong at present: FLR_OK when nothing is. FLR_BAD_INPUT: with the file itself, so that it does
 * not pass by waiting. Thread: any. */
FLR_API flr_result flr_pager_trouble(flr_pager *pager, flr_error *error);

typedef struct flr_pager_stats {
    uint64_t steps;       /* that asked */
    uint64_t suspended;   /* … of which something was missing */
    uint64_t needed;      /* blocks that came within reach of a step … */
    uint64_t hits;        /* … of which so many were there already */
    uint64_t blocks_read; /* and found right */
    uint64_t bytes_read;
    uint64_t evicted;   /* blocks */
    uint64_t failures;  /* reads that failed, came short or were wrong */
    uint64_t refused;   /* blocks that were wanted and did not fit the budget, in the last pass */
    uint32_t resident;  /* blocks in memory */
    uint32_t slots;     /* … at most */
    uint64_t blocks;    /* of marks, in the file */
    uint64_t reach;     /* blocks that a step can look at where parts are now */
    uint64_t bytes;     /* of memory: slots, directory, what tells where blocks are … */
    uint64_t directory; /* … without the slots: always in memory, beside the budget */
    int64_t slowest_ns; /* the slowest read */
    bool at_once;       /* reads are, with io_uring; else one after the other */
} flr_pager_stats;

/* Thread: any; RT safe. */
FLR_API flr_pager_stats flr_pager_get_stats(const flr_pager *pager);
/* Several pagers together: adds one to others; `to` begins with zeros. RT safe. */
FLR_API void flr_pager_stats_add(flr_pager_stats *to, const flr_pager_stats *one);
/* The least budget, bytes in whole MiB, with which steps can happen where parts are now. RT safe. */
FLR_API uint64_t flr_pager_least(const flr_pager_stats *stats);
/* Of blocks that came within reach of a step, the share that was there already; 1: none came. */
FLR_API double flr_pager_hit_rate(const flr_pager_stats *stats);

/* How often and how long steps could not happen because voxels were missing. Begins with zeros. */
typedef struct flr_pager_waits {
    uint64_t steps;   /* that did not happen */
    uint64_t count;   /* of stretches of them */
    double longest;   /* s */
    double total;     /* s */
    double ended;     /* s: the stretch that ended with the last step; 0: none did */
    bool waiting;     /* just now */
    int64_t since_ns; /* … since then */
    int64_t last_ns;  /* the last step */
} flr_pager_waits;

/* Notes a step at the time `now_ns`: `missing` as in flr_world_frame. Returns for how many seconds it
 * has been waiting. Thread: one per object; RT safe. */
FLR_API double flr_pager_waits_note(flr_pager_waits *waits, bool missing, int64_t now_ns);

#ifdef __cplusplus
}
#endif
#endif
