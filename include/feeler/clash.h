/* feeler/clash.h: which parts of an assembly overlap, touch, or stand too near each other.
 *
 *     flr_clash_def def = flr_default_clash_def();
 *     def.parts = parts, def.part_count = count, def.clearance = 0.001;
 *     flr_clash_find(&def, &list, &error);
 *     for (size_t i = 0; i < list.pair_count; i++) …
 *     flr_clash_list_free(&list);
 *
 * All pairs are checked. Boxes decide which pairs can be nearer than the clearance; those are measured
 * exactly, triangle against triangle (feeler/fit.h). Lengths are metres, places in the world's frame.
 *
 * Thread: any; not RT safe.
 */
#ifndef FEELER_CLASH_H
#define FEELER_CLASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/fit.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum flr_clash_state {
    FLR_CLASH_OK,   /* farther apart than the clearance */
    FLR_CLASH_NEAR, /* apart, but less than the clearance */
    FLR_CLASH_CONTACT, /* nearer than `touch`, or in each other no deeper than that or than facets explain */
    FLR_CLASH_OVERLAP /* deeper in each other */
} flr_clash_state;

/* "ok", "near", "contact", "overlap". RT safe. */
FLR_API const char *flr_clash_state_name(flr_clash_state state);

typedef struct flr_clash_part {
    const flr_fit *fit; /* borrowed; parts of equal shape share one */
    flr_pose T_world_part;
    /* metres: the triangles stand for a curved surface and may stray from it by this much; 0: they are the surface, or nobody
     * knows. See flr_clash_pair.facets */
    double chord;
    bool
        keep_out; /* a zone that no part may enter: only overlaps with it are listed, and none of zones with each other */
} flr_clash_part;

typedef struct flr_clash_def {
    const flr_clash_part *parts; /* [part_count] */
    uint32_t part_count;
    double clearance; /* metres, 0 or more; default 0 */
    /* metres: parts up to this far apart are in contact. Below 0, the default: flr_clash_touch() of its parts, for each pair */
    double touch;
    bool all;         /* list pairs that are OK too, as far as boxes do not rule them out */
    unsigned threads; /* default 0: one per processor. Does not change the result */
    /* May a pair be left out? a < b. Called from one thread. May be NULL. */
    bool (*skip)(void *context, uint32_t a, uint32_t b);
    void *skip_context;
    /* Called now and then with 0 … 1, from the calling thread; false: stop with FLR_CANCELLED. May be NULL. */
    bool (*progress)(void *context, double done);
    void *progress_context;
} flr_clash_def;

FLR_API flr_clash_def flr_default_clash_def(void);

typedef struct flr_clash_pair {
    uint32_t a, b; /* a < b */
    flr_clash_state state;
    double distance; /* least distance of the surfaces; 0 where they meet or one is in the other */
    double error;    /* the distance is off by no more than this */
    double depth; /* of an overlap: how deep the deepest point found is in the other part; else 0 */
    double volume; /* cubic metres, of an overlap: an estimate, to about a tenth; else 0 */
    /* metres, of a contact: the triangles overlap by `depth`, but they reach beyond the curved surfaces that they stand for by
     * this much where they do, so the exact parts may just touch, as a rod in a hole of its own diameter. Never more than
     * the chords of both. Import with a finer chord to decide which. 0: the state is that of the triangles */
    double facets;
    double touch; /* metres: up to which the pair counted as in contact */
    flr_vec3
        point[2]; /* nearest points on a and b; of an overlap the deepest point and its way out */
    flr_vec3 at;  /* the middle of both */
} flr_clash_pair;

typedef struct flr_clash_list {
    flr_clash_pair *pairs; /* [pair_count]: worst state first, then deepest or nearest */
    size_t pair_count;
    uint64_t checked;  /* pairs of parts, all of them but those that were skipped */
    uint64_t measured; /* that boxes did not rule out */
    uint64_t skipped;
    double least_touch,
        most_touch; /* metres: what counts as contact, between the smallest parts and between the largest */
} flr_clash_list;

/* How far another part, as large or larger, may be to count as in contact with this one, in metres: a thousandth of the diagonal
 * of this part's box, at most 1e-5. For a pair, the lesser of both counts. RT safe. */
FLR_API double flr_clash_touch(const flr_fit *part);

/* Checks all pairs. FLR_BAD_ARGUMENT for lengths that are negative or no numbers, FLR_NO_MEMORY, FLR_CANCELLED. On
 * success the caller frees `*list`. */
FLR_API flr_result flr_clash_find(const flr_clash_def *def, flr_clash_list *list, flr_error *error);
FLR_API void flr_clash_list_free(flr_clash_list *list);

#ifdef __cplusplus
}
#endif
#endif
