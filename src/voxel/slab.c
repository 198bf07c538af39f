/* a build larger than memory, slab by slab */
#include "voxel/slab.h"

#include <stdlib.h>

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory to build voxels slab by slab");
}

/* masks of a hyperchunk: of the layers, then those of what is outside */
static size_t layer_masks(const flr_build_hyper *hyper)
{
    size_t count = 0;
    for (int layer = 0; layer < FLR_LAYER_COUNT; layer++)
        count += flr_mask_count(&hyper->used[layer]);
    return count;
}

static size_t all_masks(const flr_build_hyper *hyper)
{
    return layer_masks(hyper) + flr_mask_count(&hyper->used[FLR_LAYER_SURFACE]);
}

flr_result flr_slabs_begin(flr_env *env, const char *path, flr_build *build, unsigned halo,
                           flr_slabs *slabs, flr_error *error)
{
    *slabs = (flr_slabs){.build = build, .halo = halo};
    slabs->places = calloc(build->hyper_count + (size_t)1, sizeof *slabs->places);
    slabs->held = malloc((build->hyper_count + (size_t)1) * sizeof *slabs->held);
    if (!slabs->places || !slabs->held) return no_memory(error);
    for (uint32_t i = 0; i < build->hyper_count; i++) build->hypers[i].away = true;
    return flr_output_begin_with(env, path, FLR_OPEN_PRIVATE | FLR_OPEN_NO_LINK, &slabs->file,
                                 error);
}

/* the masks of those that are in memory belong to us, not to the build */
static void forget_masks(flr_slabs *slabs)
{
    for (uint32_t i = 0; i < slabs->held_count; i++) {
        flr_build_hyper *hyper = &slabs->build->hypers[slabs->held[i]];
        for (int layer = 0; layer < FLR_LAYER_COUNT; layer++) hyper->masks[layer] = NULL;
        hyper->outside = NULL;
        hyper->away = true;
    }
    free(slabs->masks);
    slabs->masks = NULL;
    slabs->held_count = 0;
    slabs->inside = NULL;
}

void flr_slabs_end(flr_slabs *slabs)
{
    forget_masks(slabs);
    flr_output_abandon(slabs->file);
    free(slabs->places);
    free(slabs->list);
    free(slabs->held);
    *slabs = (flr_slabs){0};
}

flr_result flr_slabs_take(flr_slabs *slabs, uint32_t count, flr_error *error)
{
    flr_result result = FLR_OK;
    for (; count > 0 && result == FLR_OK; count--) {
        flr_build_hyper *hyper = &slabs->build->hypers[slabs->stored];
        uint64_t place = slabs->places[slabs->stored];
        size_t size = all_masks(hyper) * sizeof(flr_mask);
        flr_build_note_inside(hyper);
        result = flr_output_put(slabs->file, place, hyper->masks[0], size, error);
        free(hyper->masks[0]);
        for (int layer = 0; layer < FLR_LAYER_COUNT; layer++) hyper->masks[layer] = NULL;
        hyper->outside = NULL;
        slabs->places[++slabs->stored] = place + size;
    }
    return result;
}

/* ---- cutting ---- */

static size_t root_count(const flr_build *build)
{
    return (size_t)build->roots[0] * build->roots[1] * build->roots[2];
}

static uint32_t hypers_in(const flr_build *build, size_t root)
{
    uint32_t node = build->root[root];
    return node < FLR_ROOT_OUTSIDE ? flr_mask_count(&build->nodes[node].used) : 0;
}

/* Does the slab have a root cell within the halo around this hyperchunk? */
static bool is_near(const flr_slabs *slabs, const flr_slab *slab, const flr_build_hyper *hyper)
{
    const flr_build *build = slabs->build;
    int64_t far = slabs->halo;
    for (int n = 0; n < 27; n++) {
        int64_t x = (int64_t)hyper->at[0] + (n % 3 - 1) * far,
                y = (int64_t)hyper->at[1] + (n / 3 % 3 - 1) * far,
                z = (int64_t)hyper->at[2] + (n / 9 - 1) * far;
        /* fields are planned in all of a root cell, also where it reaches beyond the grid */
        if (x < 0 || y < 0 || z < 0 || x >> 3 >= build->roots[0] || y >> 3 >= build->roots[1] ||
            z >> 3 >= build->roots[2])
            continue;
        size_t root = (size_t)(x >> 3) +
                      build->roots[0] * ((size_t)(y >> 3) + build->roots[1] * (size_t)(z >> 3));
        if (root - slab->first_root < slab->root_count) return true;
    }
    return false;
}

/* Lists what a slab needs in memory; returns the bytes of its masks. */
static uint64_t list_needed(flr_slabs *slabs, const flr_slab *slab)
{
    const flr_build *build = slabs->build;
    size_t around = 1 + build->roots[0] * (1 + (size_t)build->roots[1]), roots = root_count(build);
    size_t from = slab->first_root > around ? slab->first_root - around : 0;
    size_t to = slab->first_root + slab->root_count + around;
    uint64_t bytes = 0;
    slabs->held_count = 0;
    for (size_t root = from; root < to && root < roots; root++) {
        uint32_t node = build->root[root], count = hypers_in(build, root);
        bool own = root - slab->first_root < slab->root_count;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t i = build->nodes[node].first + k;
            if (!own && !is_near(slabs, slab, &build->hypers[i])) continue;
            slabs->held[slabs->held_count++] = i;
            bytes += slabs->places[i + 1] - slabs->places[i];
        }
    }
    return bytes;
}

/* Slabs of up to so many bytes of their own. */
static void cut(flr_slabs *slabs, uint64_t bytes)
{
    const flr_build *build = slabs->build;
    uint32_t hyper = 0;
    slabs->count = 0;
    slabs->largest = 0;
    for (size_t root = 0; root < root_count(build); root++) {
        uint32_t more = hypers_in(build, root);
        flr_slab *last = slabs->count ? &slabs->list[slabs->count - 1] : NULL;
        if (!last || (last->hyper_count > 0 &&
                      slabs->places[hyper + more] - slabs->places[last->first_hyper] > bytes)) {
            last = &slabs->list[slabs->count++];
            *last = (flr_slab){.first_root = root, .first_hyper = hyper};
        }
        last->root_count++;
        last->hyper_count += more;
        hyper += more;
    }
    for (size_t i = 0; i < slabs->count; i++) {
        uint64_t all = list_needed(slabs, &slabs->list[i]);
        if (all > slabs->largest) slabs->largest = all;
    }
    slabs->held_count = 0;
}

flr_result flr_slabs_cut(flr_slabs *slabs, uint64_t bytes, flr_error *error)
{
    size_t roots = root_count(slabs->build);
    if (!slabs->list) slabs->list = malloc(roots * sizeof *slabs->list);
    if (!slabs->list) return no_memory(error);
    /* how much a halo adds depends on the shape of the slabs */
    uint64_t own = bytes;
    do {
        cut(slabs, own);
        own = own / 4 * 3;
    } while (slabs->largest > bytes && own > 0 && slabs->count < roots);
    return FLR_OK;
}

/* ---- in and out ---- */

static void place_masks(flr_build_hyper *hyper, flr_mask *next)
{
    for (int layer = 0; layer < FLR_LAYER_COUNT; layer++) {
        hyper->masks[layer] = next;
        next += flr_mask_count(&hyper->used[layer]);
    }
    hyper->outside = next;
}

flr_result flr_slabs_enter(flr_slabs *slabs, const flr_slab *slab, flr_error *error)
{
    flr_build *build = slabs->build;
    uint64_t bytes = list_needed(slabs, slab);
    slabs->masks = aligned_alloc(64, (size_t)bytes + sizeof(flr_mask));
    if (!slabs->masks) {
        slabs->held_count = 0;
        return no_memory(error);
    }
    flr_mask *next = slabs->masks;
    flr_result result = FLR_OK;
    for (uint32_t i = 0, end; i < slabs->held_count && result == FLR_OK; i = end) {
        /* those that follow one another come in one piece */
        uint32_t first = slabs->held[i];
        for (end = i; end < slabs->held_count && slabs->held[end] == first + (end - i); end++)
            place_masks(&build->hypers[slabs->held[end]],
                        next + (slabs->places[slabs->held[end]] - slabs->places[first]) /
                                   sizeof(flr_mask));
        size_t size = (size_t)(slabs->places[first + (end - i)] - slabs->places[first]);
        result = flr_output_get(slabs->file, slabs->places[first], next, size, error);
        next += size / sizeof(flr_mask);
    }
    slabs->inside = slab;
    if (result != FLR_OK) {
        forget_masks(slabs);
        return result;
    }
    for (uint32_t i = 0; i < slab->hyper_count; i++)
        build->hypers[slab->first_hyper + i].away = false;
    return FLR_OK;
}

flr_result flr_slabs_leave(flr_slabs *slabs, flr_error *error)
{
    const flr_slab *slab = slabs->inside;
    flr_result result = FLR_OK;
    for (uint32_t i = 0; slab && i < slab->hyper_count && result == FLR_OK; i++) {
        flr_build_hyper *hyper = &slabs->build->hypers[slab->first_hyper + i];
        if (!hyper->changed) continue;
        hyper->changed = false;
        flr_build_note_inside(hyper);
        result = flr_output_put(
            slabs->file,
            slabs->places[slab->first_hyper + i] + layer_masks(hyper) * sizeof(flr_mask),
            hyper->outside, flr_mask_count(&hyper->used[FLR_LAYER_SURFACE]) * sizeof(flr_mask),
            error);
    }
    forget_masks(slabs);
    return result;
}

/* ---- filling ---- */

static bool has_queued(const flr_slabs *slabs, const flr_slab *slab)
{
    for (uint32_t i = 0; i < slab->hyper_count; i++)
        if (slabs->build->hypers[slab->first_hyper + i].queued) return true;
    return false;
}

flr_result flr_slabs_fill(flr_slabs *slabs, flr_error *error)
{
    /* all that is empty, and which of the rest must be looked at */
    flr_result result = flr_build_fill(slabs->build, error);
    bool any = true;
    for (unsigned sweep = 0; any && result == FLR_OK; sweep++) {
        any = false;
        for (size_t i = 0; i < slabs->count && result == FLR_OK; i++) {
            const flr_slab *slab = &slabs->list[sweep % 2 ? slabs->count - 1 - i : i];
            if (!has_queued(slabs, slab)) continue;
            any = true;
            result = flr_slabs_enter(slabs, slab, error);
            if (result == FLR_OK)
                result =
                    flr_build_fill_some(slabs->build, slab->first_hyper, slab->hyper_count, error);
            flr_result left = flr_slabs_leave(slabs, result == FLR_OK ? error : NULL);
            if (result == FLR_OK) result = left;
        }
    }
    return result;
}
