/* gaps.h: how far parts are from each other: exact, with a sign and with an error, from their triangles (feeler/fit.h).
 *
 *     flr_gaps_def def = {.env = env, .parts = &parts, .within = 1e-3};
 *     flr_gap gaps[64];
 *     flr_gaps_measure(&def, gaps, 64, &count, &error);       nearest first
 *     printf("%s", flr_gap_print(&gaps[0], text));            "0.096 mm ± 0.001"
 *
 * For workers, commands and whoever has time: a query of two threads takes milliseconds, the first one of a part also
 * builds its exact geometry or reads it from the cache.
 *
 * Thread: any. Nothing here is RT safe. */
#ifndef FLR_SIM_GAPS_H
#define FLR_SIM_GAPS_H

#include "sim/asset.h"

/* Two parts near each other. World's frame, metres. */
typedef struct flr_gap {
    uint32_t a, b; /* places in the list */
    double
        distance; /* negative: they are so deep in each other; 0: surfaces meet; INFINITY: beyond what was asked */
    double error; /* the true distance differs by no more than this */
    flr_vec3 from,
        to; /* nearest points of a and of b; where parts interfere, the deepest one and the way out */
} flr_gap;

/* metres: `within` for whether parts meet at all */
#define FLR_GAP_MEET 1e-6

/* One pair, up to `within` metres. Where a part has more than a million triangles, parts in each other have the distance 0.
 * `gap->a` and `gap->b` stay. Fails as flr_mesh_asset_fit() does. */
flr_result flr_gap_measure(flr_env *env, const flr_cache *cache, flr_mesh_asset *a,
                           flr_pose T_world_a, flr_mesh_asset *b, flr_pose T_world_b, double within,
                           flr_gap *gap, flr_error *error);

/* Which pairs to measure. */
typedef struct flr_gaps_def {
    flr_env *env;
    const flr_cache *cache;     /* NULL: none */
    const flr_part_list *parts; /* where they start */
    double within;              /* metres: pairs that are farther apart are left out */
    uint32_t max_triangles;     /* pairs with a larger part are left out; 0: none is */
    /* called before each pair; false: stop with FLR_CANCELLED. May be NULL */
    bool (*go_on)(void *context);
    void *context;
} flr_gaps_def;

/* All pairs of which at least one part may move; the nearest ones first, `capacity` of them at most. */
flr_result flr_gaps_measure(const flr_gaps_def *def, flr_gap *gaps, uint32_t capacity,
                            uint32_t *count, flr_error *error);

enum { FLR_GAP_TEXT_SIZE = 64 };
/* "0.096 mm ± 0.001", "interference 0.012 mm ± 0.001", "interference at least 0.2 mm" where the error is large, "touching". Returns `text`. */
char *flr_gap_print(double distance, double error, char text[FLR_GAP_TEXT_SIZE]);
#define FLR_GAP_TEXT(distance, error) flr_gap_print(distance, error, (char[FLR_GAP_TEXT_SIZE]){0})

#endif
