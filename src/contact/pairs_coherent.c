/* pairs by temporal coherence: an engine for every two parts that may come near each other */
#include <stdlib.h>

#include "contact/pairs_internal.h"

#define COHERENT_BYTES     24.0 /* of a point of the shell, all in all */
#define MAX_COHERENT_BYTES 2e9

void flr_pairs_free_coherent(flr_pairs *pairs)
{
    for (uint32_t i = 0; i < pairs->coherent_count; i++)
        flr_coherent_destroy(pairs->coherent[i].engine);
    free(pairs->coherent);
    pairs->coherent = NULL;
    pairs->coherent_count = 0;
}

/* Can the two at these places touch at all? Voxels that are paged are not for queues: what waits may not be there. */
static bool may_touch(const flr_pairs *pairs, const bool *may_move, uint32_t low, uint32_t high)
{
    const pairs_place *a = &pairs->places[low], *b = &pairs->places[high];
    const flr_pairs_shape *s = &a->part.shape, *t = &b->part.shape;
    return a->taken && b->taken && (may_move[low] || may_move[high]) &&
           ((s->shell && t->table) || (t->shell && s->table)) && !(s->table && s->table->paging) &&
           !(t->table && t->table->paging);
}

/* How many pairs there are, and how many points they have together; fills the list where there is one. */
static uint32_t list_pairs(const flr_pairs *pairs, const bool *may_move, pairs_coherent *list,
                           double *points)
{
    uint32_t count = 0;
    *points = 0;
    /* in the order of their keys */
    for (uint32_t high = 1; high < pairs->def.parts; high++)
        for (uint32_t low = 0; low < high; low++) {
            if (!may_touch(pairs, may_move, low, high)) continue;
            const flr_pair pair = flr_pairs_roles(pairs, low, high);
            const pairs_coherent one = {.pair = pair,
                                        .shell = pairs->places[pair.shell].part.shape.shell,
                                        .table = pairs->places[pair.voxmap].part.shape.table};
            *points += one.shell->point_count;
            if (list) list[count] = one;
            count++;
        }
    return count;
}

flr_result flr_pairs_make_coherent(flr_pairs *pairs, const bool *may_move, double tests,
                                   flr_error *error)
{
    double points;
    const uint32_t count = list_pairs(pairs, may_move, NULL, &points);
    if (points * COHERENT_BYTES > MAX_COHERENT_BYTES)
        return flr_fail(error, FLR_TOO_LARGE,
                        "the coherent engine remembers every point of %u pairs of parts, which "
                        "would take %.0f GB; use fewer moving parts or larger voxels",
                        count, points * COHERENT_BYTES * 1e-9);
    flr_pairs_free_coherent(pairs);
    pairs->coherent = calloc((size_t)count + 1, sizeof *pairs->coherent);
    if (!pairs->coherent)
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory for %u coherent pairs", count);
    list_pairs(pairs, may_move, pairs->coherent, &points);
    for (uint32_t i = 0; i < count; i++) {
        pairs_coherent *c = &pairs->coherent[i];
        flr_coherent_def def = flr_default_coherent_def();
        def.shell = c->shell;
        def.voxmap = c->table->voxmap;
        def.table = c->table;
        def.tests_per_frame = tests;
        def.capacity = pairs->def.contacts_of_pair;
        flr_result result = flr_coherent_create(&def, &c->engine, error);
        if (result != FLR_OK) {
            flr_pairs_free_coherent(pairs);
            return result;
        }
        pairs->coherent_count = i + 1;
    }
    return FLR_OK;
}

void flr_pairs_set_tests(flr_pairs *pairs, double tests)
{
    for (uint32_t i = 0; i < pairs->coherent_count; i++)
        flr_coherent_set_tests(pairs->coherent[i].engine, tests);
}

double flr_pairs_calibrate(flr_pairs *pairs, flr_env *env, double seconds)
{
    const pairs_coherent *largest = NULL;
    for (uint32_t i = 0; i < pairs->coherent_count; i++)
        if (!largest || pairs->coherent[i].shell->total > largest->shell->total)
            largest = &pairs->coherent[i];
    if (!largest) return 0;
    const double tests = flr_coherent_calibrate(
        largest->engine, env, place_of(pairs, largest->pair.shell)->part.T_world_part,
        place_of(pairs, largest->pair.voxmap)->part.T_world_part, &pairs->def.params, seconds);
    flr_pairs_set_tests(pairs, tests);
    return tests;
}

void flr_pairs_reset_coherent(flr_pairs *pairs)
{
    for (uint32_t i = 0; i < pairs->coherent_count; i++)
        flr_coherent_reset(pairs->coherent[i].engine);
}

flr_coherent *flr_pairs_coherent_of(const flr_pairs *pairs, flr_pair pair)
{
    const uint64_t key = flr_pair_key(pair);
    uint32_t low = 0, high = pairs->coherent_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (flr_pair_key(pairs->coherent[middle].pair) < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == pairs->coherent_count) return NULL;
    const pairs_coherent *c = &pairs->coherent[low];
    const bool same = c->pair.shell == pair.shell && c->pair.voxmap == pair.voxmap &&
                      c->shell == place_of(pairs, pair.shell)->part.shape.shell &&
                      c->table == place_of(pairs, pair.voxmap)->part.shape.table;
    return same ? c->engine : NULL;
}
