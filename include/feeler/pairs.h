/* feeler/pairs.h: many parts, any of which may move: which of them may touch, and with which force.
 *
 *     flr_contact_table_create(voxmap, &table, &error);     once per voxmap
 *     flr_pairs_shape shape = flr_pairs_shape_make(shell, table);
 *     flr_pairs_def def = flr_default_pairs_def();
 *     def.parts = 20;
 *     flr_pairs_create(&def, &pairs, &error);
 *     flr_pairs_part part = flr_default_pairs_part();
 *     part.shape = shape, part.T_world_part = T, part.moving = true;
 *     flr_pairs_set(pairs, 0, &part);                       any number of parts share a shape
 *     every millisecond:
 *         flr_pairs_update(pairs, T_world_part, 0, &report);
 *         flr_pairs_query(pairs, NULL);
 *         flr_pairs_total(pairs, 0)->wrench …
 *
 * A broad phase sorts the world-aligned boxes of all parts (sweep and prune). Of the pairs that it
 * finds, the list keeps those whose oriented boxes overlap when grown by the force layer and by the
 * caller's range. In each pair one part provides the shell, the other the voxmap; the wrenches on the
 * two are opposite. The choice depends only on the two parts:
 *   1. points must not be farther apart than the voxels are large, or something could slip between;
 *   2. otherwise the part with fewer points provides the shell, because points determine the cost;
 *   3. otherwise the part with the lower index does.
 *
 * Static parts never touch each other. Merge them into one voxmap (feeler/merge.h), the *merged
 * static scene*: then a moving part has a single pair with all of them. When one of its parts starts
 * to move, is removed or is replaced, the merged static scene is dropped at once and its parts are
 * queried by their own voxmaps, so results are correct from the first frame on. The caller builds a
 * new merged static scene in another thread and sets it; the real-time side only swaps pointers.
 *
 * Order and contacts depend only on parts and poses, not on history. What earlier queries found far is
 * skipped until it may have come near, so the bounds of the distance and the number of points tested
 * do depend on it. All memory is allocated when the pairs are created.
 *
 * Thread: one at a time for one flr_pairs; see each function for what is RT safe.
 */
#ifndef FEELER_PAIRS_H
#define FEELER_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/contact.h"
#include "feeler/math.h"
#include "feeler/voxels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_PAIRS_MAX_PARTS = 16384 }; /* parts */
#define FLR_PAIRS_MERGED                                                                           \
    UINT32_MAX /* stands for the merged static scene in place of a part's number */

/* What a part touches with, in its own frame. Plain data, shared by all parts of that shape. */
typedef struct flr_pairs_shape {
    const flr_shell *shell;         /* borrowed; NULL: gives no points */
    const flr_contact_table *table; /* borrowed; NULL: gives no voxels */
    flr_box3 box;    /* metres: around the shell's points, or without a shell the marked voxels */
    flr_vec3 middle; /* of a sphere around the same */
    double radius;   /* metres */
} flr_pairs_shape;

/* Looks at all points. Both may be NULL. Thread: any; not RT safe. */
FLR_API flr_pairs_shape flr_pairs_shape_make(const flr_shell *shell,
                                             const flr_contact_table *table);

typedef struct flr_pairs_part {
    flr_pairs_shape shape;
    flr_pose T_world_part; /* default identity */
    flr_vec3 centre; /* part's frame: torques on it are about this point; default its origin */
    bool moving;     /* default false */
} flr_pairs_part;

FLR_API flr_pairs_part flr_default_pairs_part(void);

typedef struct flr_pairs flr_pairs;

/* Fill with flr_default_pairs_def(). */
typedef struct flr_pairs_def {
    uint32_t parts; /* places for parts, 0 … FLR_PAIRS_MAX_PARTS; must be given */
    /* pairs in the list; default 0: all there can be up to 64 parts, 32 per part beyond */
    uint32_t pairs;
    uint32_t contacts;         /* kept of all pairs together; default 4096 */
    uint32_t contacts_of_pair; /* kept of one pair; default 64 */
    /* as in feeler/contact.h; centre and motion are of the parts and not read */
    flr_contact_params params;
    flr_simd simd; /* default best */
    /* that share the pairs, or where there are few the points of each, as in flr_contact_pair_def;
     * default 1 */
    unsigned threads;
} flr_pairs_def;

FLR_API flr_pairs_def flr_default_pairs_def(void);

/* All places are empty. Fails with FLR_BAD_ARGUMENT (too many parts), FLR_NO_MEMORY,
 * FLR_UNSUPPORTED (instructions that this processor lacks). Not RT safe. */
FLR_API flr_result flr_pairs_create(const flr_pairs_def *def, flr_pairs **pairs, flr_error *error);
FLR_API void flr_pairs_destroy(flr_pairs *pairs); /* NULL allowed; not RT safe */

/* ---- parts; RT safe, each counts from the next update on ---- */

/* Sets the part at `index` (below def.parts); NULL removes it. */
FLR_API void flr_pairs_set(flr_pairs *pairs, uint32_t index, const flr_pairs_part *part);

/* Starts or stops moving. A part that stops stays in the pose of the last update. */
FLR_API void flr_pairs_set_moving(flr_pairs *pairs, uint32_t index, bool moving);

/* Moves a part elsewhere, whether it is moving or not. Drops the merged static scene if the part
 * belongs to it. */
FLR_API void flr_pairs_place(flr_pairs *pairs, uint32_t index, flr_pose T_world_part);

/* Which parts may touch at all: pairs for which it returns false are left out; NULL (the default): none is. Not called for
 * the merged static scene. It must be RT safe. */
FLR_API void flr_pairs_set_filter(flr_pairs *pairs,
                                  bool (*may_touch)(const void *context, uint32_t a, uint32_t b),
                                  const void *context);

FLR_API void flr_pairs_set_params(flr_pairs *pairs, const flr_contact_params *params);

/* Static parts in one voxmap. */
typedef struct flr_pairs_merged {
    flr_pairs_shape shape;   /* without a shell; the table is borrowed as long as it is set */
    flr_pose T_world_voxmap; /* identity when parts were merged in their world's poses */
    const uint32_t *parts;   /* [part_count] that it stands for; read during the call only */
    uint32_t part_count;
} flr_pairs_merged;

/* Replaces the merged static scene; NULL removes it. Returns false, and leaves none, when one of its
 * parts is moving or does not exist. */
FLR_API bool flr_pairs_set_merged(flr_pairs *pairs, const flr_pairs_merged *merged);

/* Is there a merged static scene now? When false, the table of the last one is not used any more from the next
 * update on. */
FLR_API bool flr_pairs_has_merged(const flr_pairs *pairs);

/* Queries pairs by temporal coherence from now on (flr_coherent, feeler/contact.h): those that the
 * parts set so far can form, where one of the two `may_move` [def.parts]. Each gets an engine for
 * `tests` point tests a frame. The results stay the same; they come with a travel limit.
 * Other pairs, with the merged static scene or with paged voxels, are queried as before. Fails with FLR_NO_MEMORY,
 * and with FLR_TOO_LARGE where the engines would take more than 2 GB. Not RT safe. */
FLR_API flr_result flr_pairs_make_coherent(flr_pairs *pairs, const bool *may_move, double tests,
                                           flr_error *error);

/* Another number of tests for all of them; no effect without any. RT safe. */
FLR_API void flr_pairs_set_tests(flr_pairs *pairs, double tests);

/* Measures how many tests this processor makes in so many seconds, on the engine with the most points
 * (flr_coherent_calibrate()), and sets them for all. Returns the number; 0 without engines. Not RT safe. */
FLR_API double flr_pairs_calibrate(flr_pairs *pairs, flr_env *env, double seconds);

/* Forgets where everything was, after a jump back in time. RT safe. */
FLR_API void flr_pairs_reset_coherent(flr_pairs *pairs);

/* ---- every frame; RT safe ---- */

/* Two parts that may touch. */
typedef struct flr_pair {
    uint32_t shell; /* number of the part that gives the points */
    uint32_t
        voxmap; /* of the one that gives the voxels; FLR_PAIRS_MERGED for the merged static scene */
} flr_pair;

typedef struct flr_pairs_report {
    const flr_pair *pairs; /* [count], in a fixed order; until the next update */
    uint32_t count;
    uint32_t entered, left; /* against the update before */
    uint32_t dropped;       /* for which there was no room in the list: they are not asked */
    /* static parts (the merged static scene counts as one) that some moving part cannot feel, since between the
     * two there are no points or no voxels; parts that move and have neither feel nothing anyway */
    uint32_t unfelt;
} flr_pairs_report;

/* `T_world_part` [def.parts]: only those of moving parts are read. A pose that makes no sense (NaN,
 * a quaternion that is not unit, 10^9 m away) takes the part out of all pairs. `range`: metres by
 * which parts may be farther apart than the force layer reaches and still be a pair, for distances
 * that are to be known or for what they move in the frame; below 0 or NaN counts as 0. `report` may
 * be NULL. */
FLR_API void flr_pairs_update(flr_pairs *pairs, const flr_pose *T_world_part, double range,
                              flr_pairs_report *report);

/* The result of a pair, see feeler/contact.h; its wrench acts on `pair.shell`, about its centre. */
typedef struct flr_pair_result {
    flr_pair pair;
    flr_contact_result contact; /* `listed` counts those in flr_pairs_contacts() */
    flr_wrench opposite;        /* on the other part, about its own centre, world's axes */
    uint32_t first;             /* of its contacts in the common list */
    /* with temporal coherence, see flr_pairs_make_coherent(); else 0, false and INFINITY */
    uint32_t waiting;  /* points and chunks in queues, whose turn comes later */
    bool late;         /* more tests than a frame has time for */
    double max_travel; /* metres: no point should move farther until the next query */
} flr_pair_result;

/* What all pairs of a part did to it. */
typedef struct flr_part_total {
    flr_wrench wrench; /* world's axes, about its centre */
    /* m/s, m^2/s: sums as in flr_contact_result, opposite signs on the two parts of a pair */
    flr_vec3 braking, braking_turn;
    uint32_t pairs, contacts, penetrations, near;
    double lower, upper; /* metres: the least of all its pairs; INFINITY when it has none */
} flr_part_total;

/* Queries all pairs of the last update. `motion` [def.parts]: of each part, world's axes, about its
 * centre, for braking; NULL: all at rest. Those of static parts are not read. */
FLR_API void flr_pairs_query(flr_pairs *pairs, const flr_twist *motion);

/* How far the two parts of a pair can go from where they were in the last update to these poses:
 * flr_contact_check_motion(), turning about the centre of the part that gives the shell, which the pairs
 * fill in, as they do the displacement. The pose of a merged static scene is not read. */
FLR_API void flr_pairs_check_motion(flr_pairs *pairs, flr_pair pair, flr_pose T_world_shell,
                                    flr_pose T_world_voxmap, const flr_motion_check_params *params,
                                    flr_motion_check_result *result);

/* One motion to check, as the arguments of flr_pairs_check_motion(). */
typedef struct flr_pair_motion {
    flr_pair pair;
    flr_pose T_world_shell, T_world_voxmap;
} flr_pair_motion;

/* Checks motions of different pairs, shared by the threads: the results are those of one call for each, in any order and with
 * any number of threads. */
FLR_API void flr_pairs_check_motions(flr_pairs *pairs, const flr_pair_motion *motions,
                                     uint32_t count, const flr_motion_check_params *params,
                                     flr_motion_check_result *results);

/* Answers of the last query; valid until the next update. */
FLR_API const flr_pair_result *flr_pairs_results(const flr_pairs *pairs, uint32_t *count);
/* Indices of those of a part, or of FLR_PAIRS_MERGED, in which something touches or is in the layer before contact, rising. */
FLR_API const uint32_t *flr_pairs_touching(const flr_pairs *pairs, uint32_t index, uint32_t *count);
/* Of a part, or of FLR_PAIRS_MERGED. */
FLR_API const flr_part_total *flr_pairs_total(const flr_pairs *pairs, uint32_t index);
/* All contacts, pair by pair; the normal is the direction of the force on `pair.shell`. */
FLR_API const flr_contact *flr_pairs_contacts(const flr_pairs *pairs, uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
