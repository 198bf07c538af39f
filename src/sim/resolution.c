/* the voxel size for parts of which nobody has said one */
#include "sim/resolution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "feeler/base.h"
#include "sim/gaps.h"

#define FINE          200.0 /* voxels across the smallest part that moves */
#define MOVING_VOXELS 5e5   /* surface voxels of a part that moves: a frame has no time for more */
#define ALL_VOXELS    1e7   /* … of all parts together: so that they are there in some seconds */
#define VOXEL_BYTES                                                                                \
    64.0 /* of memory, for one of them, with its neighbours and its points; measured 20 to 50 */
#define PER_GAP   3.0 /* voxels across a gap: force begins two before surfaces meet */
#define GAP_RANGE 4.0 /* gaps are looked for up to so many voxels */
#define FIT_DEPTH                                                                                  \
    2e-3 /* metres: parts that are no deeper in each other fit by design; what the exact engine tolerates, too */

enum {
    RESOLUTION_GAPS = 256, /* that are looked at, the deepest overlap first */
    RESOLUTION_MAX_TRIANGLES = 300000,
    EXACT_TRIANGLES = 1000000 /* of all parts: the exact engine is ready in some seconds */
};

/* What decides, and how it is said. */
typedef struct bound {
    double voxel;
    const char *part; /* that it is about; NULL: all */
} bound;

static double extent_of(const flr_mesh *mesh)
{
    flr_vec3 size = flr_box3_size(mesh->bounds);
    return fmax(size.x, fmax(size.y, size.z));
}

/* 1/200 of the smallest part that moves; where nothing moves, of the smallest. */
static bound fine_enough(const flr_part_list *list, const bool *wanted)
{
    bound found = {INFINITY, NULL};
    bool moving = false;
    for (uint32_t i = 0; i < list->count; i++)
        moving |= wanted[i] && list->list[i].kind != FLR_PART_STATIC;
    for (uint32_t i = 0; i < list->count; i++) {
        const flr_part_entry *m = &list->list[i];
        const double extent = extent_of(m->shape->mesh->mesh);
        if (!wanted[i] || (moving && m->kind == FLR_PART_STATIC) || !(extent > 0)) continue;
        if (extent / FINE < found.voxel) found = (bound){extent / FINE, m->name};
    }
    return found;
}

/* Not finer than time and memory allow. */
static bound coarse_enough(const flr_part_list *list, const bool *wanted, uint64_t memory)
{
    bound found = {0, NULL};
    double all = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const flr_part_entry *m = &list->list[i];
        if (!wanted[i]) continue;
        const double area = flr_mesh_area(m->shape->mesh->mesh), voxel = sqrt(area / MOVING_VOXELS);
        all += area;
        if (m->kind != FLR_PART_STATIC && voxel > found.voxel) found = (bound){voxel, m->name};
    }
    const double fits = fmin(ALL_VOXELS, (double)(memory / 4) / VOXEL_BYTES);
    const double together = sqrt(all / fmax(fits, 1));
    return together > found.voxel ? (bound){together, NULL} : found;
}

/* Down to two digits, so that feeler reports the size it uses. */
static double round_down(double voxel)
{
    const double unit = pow(10, floor(log10(voxel)) - 1);
    return floor(voxel / unit * (1 + 1e-9)) * unit;
}

/* The least gap. Parts that are deeper in each other than any fit by design clash: that is for the designer to mend, and says
 * nothing about how finely the other gaps must be known. */
static bool find_gap(flr_env *env, const flr_cache *cache, const flr_part_list *list, double within,
                     flr_gap *gap)
{
    flr_gap gaps[RESOLUTION_GAPS];
    flr_gaps_def def = {.env = env,
                        .cache = cache,
                        .parts = list,
                        .within = within,
                        .max_triangles = RESOLUTION_MAX_TRIANGLES};
    uint32_t count = 0, i = 0;
    /* without memory for it, the gap is not known */
    if (flr_gaps_measure(&def, gaps, RESOLUTION_GAPS, &count, NULL) != FLR_OK) return false;
    while (i < count && gaps[i].distance < -FIT_DEPTH) i++;
    if (i == count) return false;
    *gap = gaps[i];
    return true;
}

static void tell(flr_resolution *r, const flr_part_list *list, const flr_gap *gap, bound fine,
                 bound coarse, bool by_gap)
{
    char voxel[FLR_SIZE_TEXT_SIZE], apart[FLR_GAP_TEXT_SIZE] = "", between[200] = "";
    flr_size_print(r->voxel, voxel);
    if (isfinite(r->gap)) {
        flr_gap_print(r->gap, gap->error, apart);
        snprintf(between, sizeof between, "%.70s and %.70s", list->list[gap->a].name,
                 list->list[gap->b].name);
    }
    if (r->too_coarse)
        snprintf(r->sentence, sizeof r->sentence,
                 "feeler chose voxels of %s, which cannot resolve the gap between %s (%s); choose "
                 "the exact "
                 "engine, which needs no voxels",
                 voxel, between, apart);
    else if (by_gap)
        snprintf(r->sentence, sizeof r->sentence,
                 "feeler chose voxels of %s: a third of the gap between %s (%s)", voxel, between,
                 apart);
    else if (fine.voxel >= coarse.voxel)
        snprintf(r->sentence, sizeof r->sentence, "feeler chose voxels of %s: 1/200 of %.80s",
                 voxel, fine.part ? fine.part : "the smallest part");
    else if (coarse.part)
        snprintf(
            r->sentence, sizeof r->sentence,
            "feeler chose voxels of %s: %.80s then has half a million surface voxels, as many as a "
            "frame has time for",
            voxel, coarse.part);
    else
        snprintf(r->sentence, sizeof r->sentence,
                 "feeler chose voxels of %s: as many as time and memory allow", voxel);
}

flr_resolution flr_resolution_choose(flr_env *env, const flr_cache *cache,
                                     const flr_part_list *list, const bool *wanted, uint64_t memory)
{
    flr_resolution r = {.gap = INFINITY};
    const bound fine = fine_enough(list, wanted), coarse = coarse_enough(list, wanted, memory);
    double voxel = fmax(isfinite(fine.voxel) ? fine.voxel : 0, coarse.voxel);
    if (!(voxel > 0)) return r; /* all parts are points */
    flr_gap gap = {0};
    if (find_gap(env, cache, list, GAP_RANGE * voxel, &gap)) r.gap = gap.distance;
    // parts that touch, or are in each other by design, have no gap that voxels could resolve
    const bool nominal = r.gap <= 0;
    const bool tight = r.gap > 0 && r.gap < PER_GAP * voxel;
    const bool by_gap = tight && r.gap / PER_GAP >= coarse.voxel;
    if (tight) voxel = fmax(r.gap / PER_GAP, coarse.voxel);
    r.too_coarse = nominal || (tight && !by_gap);
    uint64_t triangles = 0;
    for (uint32_t i = 0; i < list->count; i++)
        triangles += list->list[i].shape->mesh->mesh->triangle_count;
    r.exact = r.too_coarse && triangles <= EXACT_TRIANGLES;
    r.voxel = round_down(voxel);
    tell(&r, list, &gap, fine, coarse, by_gap);
    return r;
}

void flr_resolution_take_exact(flr_resolution *r)
{
    char voxel[FLR_SIZE_TEXT_SIZE], why[sizeof r->sentence];
    /* the sentence so far: "feeler chose voxels of 1 mm, which cannot resolve the gap between … (…); choose …" */
    const char *gap = strstr(r->sentence, "cannot resolve"), *end = strrchr(r->sentence, ';');
    const int length = gap && end > gap ? (int)(end - gap) : 0;
    flr_size_print(r->voxel, voxel);
    snprintf(why, sizeof why,
             "feeler chose the exact engine: voxels of %s, as small as time and "
             "memory allow, %.*s",
             voxel, length, gap ? gap : "");
    snprintf(r->sentence, sizeof r->sentence, "%s", why);
    r->voxel = 0;
}
