/* where is the sign of a distance known from the nearest triangle alone?
 *
 * In patches all of whose edges have two triangles that turn alike, through which no other triangle passes, and that
 * have outside on one side and inside on the other. Shells within each other do not have that, nor does the rim of a
 * large hole. It is tried on one triangle of every piece of a patch, by the winding number in front, which is one less
 * than that behind. How much the winding number may change from there to what else is near the patch is known from the
 * border of the mesh; it must stay on its side of one half. */
#include <math.h>

#include "base/parallel.h"
#include "fit/fit_query.h"

enum { SOLID_PIECE = 64 };
static const double NEARLY = 0.1;

typedef struct trial {
    flr_fit *fit;
    const flr_adjacency *adjacency;
    const flr_fit_kernel *kernel;
} trial;

/* 1: outside in front and inside behind; -1: the other way round; 0: neither. 2: no area, no matter. `change`: what the
 * winding number near the patch may differ from that here. */
static int sides_of(const flr_fit *fit, uint32_t triangle, double change)
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
    if (fabs(front) + change < 0.5) return 1;
    return fabs(front + 1) + change < 0.5 ? -1 : 0;
}

/* How much winding numbers differ near a patch, where its triangles tell the side. */
static double change_near(const flr_fit *fit, const flr_fit_patch *patch)
{
    if (flr_fit_border_is_long(fit)) return 0.5 - NEARLY;
    const double x = (double)patch->edge[0], y = (double)patch->edge[1], z = (double)patch->edge[2],
                 longest = sqrt(x * x + y * y + z * z); /* no side is longer */
    return flr_fit_winding_change(fit, patch->centre, (double)patch->radius + 1.01 * longest) +
           1e-9;
}

static bool regular(const flr_adjacency *adjacency, uint32_t triangle)
{
    for (size_t k = 0; k < 3; k++) {
        const uint32_t edge = adjacency->side_edge[3 * (size_t)triangle + k];
        if (edge == FLR_NONE || adjacency->edge_kind[edge] != FLR_EDGE_REGULAR) return false;
    }
    return true;
}

/* Does a segment pass through a triangle, or touch it? */
static bool pierces(flr_vec3 p, flr_vec3 q, const flr_vec3 t[3])
{
    const flr_vec3 point[3] = {p, q, q};
    /* both ends on the same side of its plane, and not so near that rounding decides: the usual case */
    const flr_vec3 n = flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0])),
                   u = flr_vec3_sub(p, t[0]), v = flr_vec3_sub(q, t[0]);
    const double at_p = flr_vec3_dot(n, u), at_q = flr_vec3_dot(n, v),
                 little = 1e-9 * flr_vec3_length(n) * (flr_vec3_length(u) + flr_vec3_length(v));
    if ((at_p > little && at_q > little) || (at_p < -little && at_q < -little)) return false;
    flr_nearest nearest = {.distance2 = INFINITY};
    flr_triangles_nearest(t, point, &nearest);
    return nearest.distance2 == 0;
}

/* Do two triangles meet elsewhere than in corners that they share? */
static bool triangles_meet(const flr_fit *fit, uint32_t first, uint32_t second)
{
    const uint32_t *a = fit->triangles[first].v, *b = fit->triangles[second].v;
    flr_vec3 p[3], q[3];
    int shared = 0, at_a = 0, at_b = 0;
    for (int i = 0; i < 9; i++)
        if (a[i / 3] == b[i % 3]) shared++, at_a = i / 3, at_b = i % 3;
    if (shared > 1) return false;
    flr_fit_triangle(fit, first, p);
    flr_fit_triangle(fit, second, q);
    if (shared == 1)
        return pierces(p[(at_a + 1) % 3], p[(at_a + 2) % 3], q) ||
               pierces(q[(at_b + 1) % 3], q[(at_b + 2) % 3], p);
    flr_nearest nearest = {.distance2 = INFINITY};
    flr_triangles_nearest(p, q, &nearest);
    return nearest.distance2 == 0;
}

/* Do triangles of two patches pass through each other? */
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
            if ((t->kernel->corners(a->corners, masks_b.beyond[g]) >> f & 1) &&
                triangles_meet(fit, first, second))
                return true;
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
    } stack[FLR_FIT_STACK];
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

/* Faces of a patch that hang together by their sides, with the first one that is among `left`. */
static uint32_t joined_with_first(const flr_fit_patch *patch, uint32_t left)
{
    uint32_t joined = left & -left;
    for (uint32_t fresh = joined; fresh;) {
        const uint32_t corners = patch->corners[__builtin_ctz(fresh)];
        fresh &= fresh - 1;
        for (uint32_t k = left & ~joined; k; k &= k - 1)
            if (__builtin_popcount(patch->corners[__builtin_ctz(k)] & corners) > 1)
                joined |= k & -k, fresh |= k & -k;
    }
    return joined;
}

/* Finds the sides of all faces of a patch: of each piece of it that hangs together, by one face. */
static void find_sides_of_patch(const trial *t, const flr_fit_patch *patch)
{
    const flr_fit *fit = t->fit;
    const flr_fit_face *faces = fit->faces + patch->first_face;
    for (uint32_t k = 0; k < patch->faces; k++)
        if (!regular(t->adjacency, faces[k].triangle)) return;
    if (crossed(t, patch)) return;
    const double change = change_near(fit, patch);
    for (uint32_t left = ((uint32_t)1 << patch->faces) - 1; left;) {
        const uint32_t joined = joined_with_first(patch, left);
        int sides = 2;
        left &= ~joined;
        for (uint32_t k = joined; k && sides == 2; k &= k - 1)
            sides = sides_of(fit, faces[__builtin_ctz(k)].triangle, change);
        for (uint32_t k = joined; k; k &= k - 1)
            fit->sides[faces[__builtin_ctz(k)].triangle] = (int8_t)(sides == 2 ? 0 : sides);
    }
}

static flr_result try_patches(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const trial *t = context;
    flr_fit *fit = t->fit;
    for (size_t i = piece * SOLID_PIECE; i < (piece + 1) * SOLID_PIECE && i < fit->counts.patches;
         i++)
        find_sides_of_patch(t, &fit->patches[i]);
    return FLR_OK;
}

/* ---- the border ---- */

/* How often an edge is left over, from its first vertex to its second. */
static int32_t times_left(const flr_triangle *triangles, const flr_adjacency *adjacency,
                          uint32_t edge)
{
    int32_t times = 0;
    if (adjacency->edge_kind[edge] == FLR_EDGE_REGULAR) return 0;
    for (uint32_t i = adjacency->edge_first[edge]; i < adjacency->edge_first[edge + 1]; i++) {
        const uint32_t side = adjacency->edge_sides[i];
        const bool along = triangles[side / 3].v[side % 3] == adjacency->edges[edge].v[0];
        times += along ? 1 : -1;
    }
    return times;
}

uint32_t flr_fit_count_borders(const flr_mesh *mesh, const flr_adjacency *adjacency)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < adjacency->edge_count; i++)
        count += times_left(mesh->triangles, adjacency, i) != 0;
    return count;
}

void flr_fit_fill_borders(flr_fit *fit, const flr_adjacency *adjacency)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < adjacency->edge_count; i++) {
        const int32_t times = times_left(fit->triangles, adjacency, i);
        const uint32_t *v = adjacency->edges[i].v;
        if (times) fit->borders[count++] = (flr_fit_border){v[0], v[1], times};
    }
}

void flr_fit_find_sides(flr_fit *fit, const flr_adjacency *adjacency, unsigned threads)
{
    trial t = {fit, adjacency, flr_fit_choose_kernel(FLR_SIMD_BEST)};
    flr_parallel_for(threads, (fit->counts.patches + SOLID_PIECE - 1) / SOLID_PIECE, try_patches,
                     &t);
    bool solid =
        !adjacency->border_count && !adjacency->flipped_count && !adjacency->nonmanifold_count;
    for (uint32_t i = 1; i < fit->counts.triangles && solid; i++)
        solid = fit->sides[i] == fit->sides[0];
    fit->info.solid = solid && fit->sides[0] != 0;
}
