/* exact distances between parts, with a sign */
#include "sim/gaps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

/* The exact geometry of a part takes some 200 bytes for a triangle */
enum { GAP_MAX_TRIANGLES = 1000000 };

/* Of very large parts: without a sign, but with less memory. */
static flr_result measure_large(flr_mesh_asset *a, flr_pose T_world_a, flr_mesh_asset *b,
                                flr_pose T_world_b, double within, flr_gap *gap, flr_error *error)
{
    const flr_gauge_part *one, *other;
    flr_result result = flr_mesh_asset_gauge(a, &one, error);
    if (result == FLR_OK) result = flr_mesh_asset_gauge(b, &other, error);
    if (result != FLR_OK) return result;
    flr_gauge_params params = flr_default_gauge_params();
    flr_gauge_result r;
    params.max_distance = within;
    flr_gauge_distance(one, other, T_world_a, T_world_b, &params, NULL, &r);
    if (!r.found) return FLR_OK;
    gap->distance = r.upper;
    gap->error = r.upper - r.lower;
    gap->from = r.a.point;
    gap->to = r.b.point;
    return FLR_OK;
}

flr_result flr_gap_measure(flr_env *env, const flr_cache *cache, flr_mesh_asset *a,
                           flr_pose T_world_a, flr_mesh_asset *b, flr_pose T_world_b, double within,
                           flr_gap *gap, flr_error *error)
{
    const flr_fit *fits[2] = {NULL, NULL};
    flr_fit_pair *pair = NULL;
    gap->distance = INFINITY;
    gap->error = 0;
    if (a->mesh->triangle_count > GAP_MAX_TRIANGLES || b->mesh->triangle_count > GAP_MAX_TRIANGLES)
        return measure_large(a, T_world_a, b, T_world_b, within, gap, error);
    flr_result result = flr_mesh_asset_fit(a, env, cache, &fits[0], error);
    if (result == FLR_OK) result = flr_mesh_asset_fit(b, env, cache, &fits[1], error);
    if (result == FLR_OK) result = flr_fit_pair_create(fits[0], fits[1], &pair, error);
    if (result != FLR_OK) return result;
    flr_fit_params params = flr_default_fit_params();
    flr_fit_result r;
    params.reach = -1; /* no samples */
    params.max_distance = within;
    flr_fit_pair_query(pair, flr_pose_mul(flr_pose_inverse(T_world_a), T_world_b), &params, NULL, 0,
                       &r);
    flr_fit_pair_destroy(pair);
    if (!r.found) return FLR_OK;
    gap->distance = r.distance;
    gap->error = fmax(r.upper - r.distance, r.distance - r.lower);
    gap->from = flr_pose_apply(T_world_a, r.point[0]);
    gap->to = flr_pose_apply(T_world_a, r.point[1]);
    return FLR_OK;
}

/* ---- which pairs ---- */

typedef struct gap_box {
    flr_box3 box;
    uint32_t part;
} gap_box;

/* two parts whose boxes are near each other */
typedef struct gap_pair {
    uint32_t a, b; /* a < b */
} gap_pair;

typedef struct gap_pairs {
    gap_pair *list;
    size_t count, room;
} gap_pairs;

static int by_low_x(const void *a, const void *b)
{
    const double x = ((const gap_box *)a)->box.low.x, y = ((const gap_box *)b)->box.low.x;
    return (x > y) - (x < y);
}

static int by_parts(const void *a, const void *b)
{
    const gap_pair *x = a, *y = b;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static bool is_wanted(const flr_gaps_def *def, const flr_part_entry *a, const flr_part_entry *b)
{
    const flr_mesh *one = a->shape->mesh->mesh, *other = b->shape->mesh->mesh;
    if (a->kind == FLR_PART_STATIC && b->kind == FLR_PART_STATIC) return false;
    if (def->max_triangles &&
        (one->triangle_count > def->max_triangles || other->triangle_count > def->max_triangles))
        return false;
    return !flr_part_list_are_tied(def->parts, a, b);
}

/* Sweeps the boxes along x. False: no memory. */
static bool find_pairs(const flr_gaps_def *def, gap_pairs *pairs)
{
    const flr_part_list *parts = def->parts;
    gap_box *boxes = calloc((size_t)parts->count + 1, sizeof *boxes);
    if (!boxes) return false;
    for (uint32_t i = 0; i < parts->count; i++)
        boxes[i] =
            (gap_box){flr_box3_grow(flr_box3_transform(parts->list[i].T_start,
                                                       parts->list[i].shape->mesh->mesh->bounds),
                                    def->within / 2),
                      i};
    qsort(boxes, parts->count, sizeof *boxes, by_low_x);
    bool ok = true;
    for (uint32_t i = 0; i < parts->count && ok; i++)
        for (uint32_t k = i + 1; k < parts->count && ok; k++) {
            if (boxes[k].box.low.x > boxes[i].box.high.x) break;
            if (!flr_box3_overlap(boxes[i].box, boxes[k].box)) continue;
            const uint32_t one = boxes[i].part, other = boxes[k].part;
            if (!is_wanted(def, &parts->list[one], &parts->list[other])) continue;
            ok = FLR_GROW(pairs->list, pairs->count, pairs->room, 256);
            if (ok)
                pairs->list[pairs->count++] =
                    (gap_pair){one < other ? one : other, one < other ? other : one};
        }
    free(boxes);
    // of gaps of equal size the pair with the lower numbers comes first
    if (pairs->count) qsort(pairs->list, pairs->count, sizeof *pairs->list, by_parts);
    return ok;
}

/* ---- all ---- */

/* Puts a gap where it belongs; the farthest goes where there is no room. */
static void insert(flr_gap *gaps, uint32_t capacity, uint32_t *count, const flr_gap *gap)
{
    if (*count == capacity && (capacity == 0 || gaps[capacity - 1].distance <= gap->distance))
        return;
    uint32_t at = *count < capacity ? (*count)++ : capacity - 1;
    for (; at > 0 && gaps[at - 1].distance > gap->distance; at--) gaps[at] = gaps[at - 1];
    gaps[at] = *gap;
}

flr_result flr_gaps_measure(const flr_gaps_def *def, flr_gap *gaps, uint32_t capacity,
                            uint32_t *count, flr_error *error)
{
    const flr_part_list *parts = def->parts;
    gap_pairs pairs = {0};
    flr_result result = FLR_OK;
    *count = 0;
    if (!find_pairs(def, &pairs))
        result =
            flr_fail(error, FLR_NO_MEMORY, "no memory for the gaps between %u parts", parts->count);
    for (size_t i = 0; i < pairs.count && result == FLR_OK; i++) {
        const flr_part_entry *one = &parts->list[pairs.list[i].a],
                             *other = &parts->list[pairs.list[i].b];
        flr_gap gap = {.a = pairs.list[i].a, .b = pairs.list[i].b};
        if (def->go_on && !def->go_on(def->context)) {
            result = flr_fail(error, FLR_CANCELLED, "stopped");
            break;
        }
        result = flr_gap_measure(def->env, def->cache, one->shape->mesh, one->T_start,
                                 other->shape->mesh, other->T_start, def->within, &gap, error);
        if (result == FLR_OK && gap.distance <= def->within) insert(gaps, capacity, count, &gap);
    }
    free(pairs.list);
    return result;
}

char *flr_gap_print(double distance, double error, char text[FLR_GAP_TEXT_SIZE])
{
    /* micrometres; the digits themselves are off by half of one */
    const int digits = 3;
    const double rounded = 1e-3 * ceil(1e6 * error + 0.5 - 1e-6);
    if (distance > 0)
        snprintf(text, FLR_GAP_TEXT_SIZE, "%.*f mm ± %.*f", digits, 1e3 * distance, digits,
                 rounded);
    else if (distance <= 0 && distance > -5e-7 && error > 2e-6) /* no sample is deep inside */
        snprintf(text, FLR_GAP_TEXT_SIZE, "surfaces coincide, overlap up to %.*f mm", digits,
                 1e3 * (error - distance));
    else if (distance < 0 &&
             error > fmax(2e-6, -0.1 * distance)) /* between samples it may be deeper */
        snprintf(text, FLR_GAP_TEXT_SIZE, "interference at least %.*f mm", digits, -1e3 * distance);
    else if (distance < 0)
        snprintf(text, FLR_GAP_TEXT_SIZE, "interference %.*f mm ± %.*f", digits, -1e3 * distance,
                 digits, rounded);
    else
        snprintf(text, FLR_GAP_TEXT_SIZE, "touching");
    return text;
}
