/* where is the sign of a distance known from the nearest triangle alone?
 *
 * In patches all of whose edges have two triangles that turn alike, through which no other triangle passes, and that
 * have outside on one side and inside on the other. Shells within each other do not have that, nor does the rim of a
 * large hole. It is tried on one triangle of every patch, by the winding number in front, which is one less than that
 * behind: it must be nearly a whole number, or a hole is so near that the winding number itself must be asked. */
#include <math.h>

#include "base/parallel.h"
#include "fit/fit_query.h"

enum { SOLID_PIECE = 64, FIT_SOLID_STACK = (FLR_FIT_WIDE - 1) * FLR_FIT_LEVELS + 1 };
static const double NEARLY = 0.1;

typedef struct trial {
    flr_fit *fit;
    const flr_adjacency *adjacency;
    const flr_fit_kernel *kernel;
} trial;

/* 1: outside in front and inside behind; -1: the other way round; 0: neither. 2: no area, no matter. */
static int sides_of(const flr_fit *fit, uint32_t triangle)
{
    flr_vec3 t[3];
    flr_fit_triangle(fit, triangle, t);
    const flr_vec3 u = flr_vec3_sub(t[1], t[0]), v = flr_vec3_sub(t[2], t[0]),
                   n = flr_vec3_cross(u, v);
    const double longest = sqrt(fmax(flr_vec3_length2(u), flr_vec3_length2(v))),
                 height = flr_vec3_length(n) / longest;
    const double step = 1e-3 * height;
    if (!(step > flr_fit_rounding(flr_fit_extent(fit)))) return 2;
    const flr_vec3 middle = flr_vec3_scale(flr_vec3_add(t[0], flr_vec3_add(t[1], t[2])), 1.0 / 3),
                   unit = flr_vec3_normalize(n);
    const double front = flr_fit_winding(fit, flr_vec3_add_scaled(middle, step, unit));
    if (fabs(front) < NEARLY) return 1;
    return fabs(front + 1) < NEARLY ? -1 : 0;
}

static bool regular(const flr_adjacency *adjacency, uint32_t triangle)
{
    for (size_t k = 0; k < 3; k++) {
        const uint32_t edge = adjacency->side_edge[3 * (size_t)triangle + k];
        if (edge == FLR_NONE || adjacency->edge_kind[edge] != FLR_EDGE_REGULAR) return false;
    }
    return true;
}

static bool share_a_vertex(const flr_triangle *a, const flr_triangle *b)
{
    for (int i = 0; i < 9; i++)
        if (a->v[i / 3] == b->v[i % 3]) return true;
    return false;
}

/* Do triangles of two patches pass through each other? Neighbours that share a vertex do not count. */
static bool cross(const trial *t, const flr_fit_patch *a, const flr_fit_patch *b)
{
    const flr_fit *fit = t->fit;
    const flr_vec3 d = flr_vec3_sub(b->centre, a->centre);
    const double size = (double)a->radius + (double)b->radius;
    if (flr_vec3_length(d) > size * (1 + 1e-5)) return false;
    const float limit = (float)(FLR_FIT_SINGLE * 2 * size);
    const float there[3] = {(float)d.x, (float)d.y, (float)d.z},
                back[3] = {(float)-d.x, (float)-d.y, (float)-d.z};
    flr_fit_masks masks_a, masks_b;
    const uint32_t kept_a =
        t->kernel->sides(fit->planes + a->first_face, fit->faces + a->first_face, a->faces,
                         &b->lanes, there, limit, &masks_a);
    if (!kept_a) return false;
    const uint32_t kept_b =
        t->kernel->sides(fit->planes + b->first_face, fit->faces + b->first_face, b->faces,
                         &a->lanes, back, limit, &masks_b);
    for (uint32_t i = kept_a; i; i &= i - 1) {
        const int f = __builtin_ctz(i);
        const uint32_t first = fit->faces[a->first_face + (uint32_t)f].triangle;
        uint32_t left = kept_b & t->kernel->corners(b->corners, masks_a.beyond[f]);
        for (; left; left &= left - 1) {
            const int g = __builtin_ctz(left);
            const uint32_t second = fit->faces[b->first_face + (uint32_t)g].triangle;
            if (!(t->kernel->corners(a->corners, masks_b.beyond[g]) >> f & 1) ||
                share_a_vertex(&fit->triangles[first], &fit->triangles[second]))
                continue;
            flr_vec3 p[3], q[3];
            flr_nearest nearest = {.distance2 = INFINITY};
            flr_fit_triangle(fit, first, p);
            flr_fit_triangle(fit, second, q);
            flr_triangles_nearest(p, q, &nearest);
            if (nearest.distance2 == 0) return true;
        }
    }
    return false;
}

/* Does anything pass through a patch? */
static bool crossed(const trial *t, const flr_fit_patch *patch)
{
    const flr_fit *fit = t->fit;
    const size_t own = (size_t)(patch - fit->patches);
    const flr_fit_boxes *box = &fit->level[0][own / FLR_FIT_WIDE];
    float low[3], high[3];
    for (int k = 0; k < 3; k++)
        low[k] = box->low[k][own % FLR_FIT_WIDE], high[k] = box->high[k][own % FLR_FIT_WIDE];
    struct {
        uint32_t level, entry;
    } stack[FIT_SOLID_STACK];
    unsigned depth = 1;
    stack[0].level = fit->levels - 1, stack[0].entry = 0;
    while (depth) {
        const uint32_t level = stack[--depth].level, entry = stack[depth].entry;
        uint32_t kept = t->kernel->boxes(&fit->level[level][entry], low, high);
        for (; kept; kept &= kept - 1) {
            const uint32_t next = entry * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(kept);
            if (level > 0)
                stack[depth].level = level - 1, stack[depth++].entry = next;
            else if (next != own && cross(t, patch, &fit->patches[next]))
                return true;
        }
    }
    return false;
}

static int sides_of_patch(const trial *t, const flr_fit_patch *patch)
{
    const flr_fit *fit = t->fit;
    const flr_fit_face *faces = fit->faces + patch->first_face;
    for (uint32_t k = 0; k < patch->faces; k++)
        if (!regular(t->adjacency, faces[k].triangle)) return 0;
    if (crossed(t, patch)) return 0;
    for (uint32_t k = 0; k < patch->faces; k++) {
        const int sides = sides_of(fit, faces[k].triangle);
        if (sides != 2) return sides;
    }
    return 0;
}

static flr_result try_patches(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const trial *t = context;
    flr_fit *fit = t->fit;
    for (size_t i = piece * SOLID_PIECE; i < (piece + 1) * SOLID_PIECE && i < fit->counts.patches;
         i++) {
        const flr_fit_patch *patch = &fit->patches[i];
        const int sides = sides_of_patch(t, patch);
        for (uint32_t k = 0; k < patch->faces; k++)
            fit->sides[fit->faces[patch->first_face + k].triangle] = (int8_t)sides;
    }
    return FLR_OK;
}

void flr_fit_find_sides(flr_fit *fit, const flr_adjacency *adjacency, unsigned threads)
{
    trial t = {fit, adjacency, flr_fit_choose_kernel(FLR_SIMD_BEST)};
    flr_parallel_for(threads, (fit->counts.patches + SOLID_PIECE - 1) / SOLID_PIECE, try_patches,
                     &t);
    fit->closed =
        !adjacency->border_count && !adjacency->flipped_count && !adjacency->nonmanifold_count;
    bool solid = fit->closed;
    for (uint32_t i = 1; i < fit->counts.triangles && solid; i++)
        solid = fit->sides[i] == fit->sides[0];
    fit->info.solid = solid && fit->sides[0] != 0;
}
