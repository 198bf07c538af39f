/* a few contacts that act as many do */
#include "world/tight_reduce.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOMENTS = 27, REDUCE_PARTS = 24, TRIES = 4 };
static const double RIDGE = 1e-12; /* of the trace: moments that depend on each other */

/* ---- cells ---- */

/* a box around points, cut into `side`^3 cells; directions into 24 or 6 parts */
typedef struct reduce_grid {
    flr_vec3 low, scale;
    uint32_t side;
    bool coarse; /* six directions only, but two points of each cell, of odd and even numbers */
} reduce_grid;

static uint32_t cell_of(double x, double low, double scale, uint32_t side)
{
    double at = (x - low) * scale * side;
    return at >= side - 1 ? side - 1 : at > 0 ? (uint32_t)at : 0;
}

/* Which face of a cube a direction leaves through, and which quarter of it. */
static uint32_t part_of(flr_vec3 n, bool coarse)
{
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    uint32_t axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    double along = axis == 0 ? n.x : axis == 1 ? n.y : n.z;
    double u = axis == 0 ? n.y : n.x, v = axis == 2 ? n.y : n.z;
    uint32_t face = axis * 2 + (along > 0);
    return coarse ? face : face * 4 + (u > 0) * 2u + (v > 0);
}

static uint32_t key_of(const reduce_grid *g, const flr_tight_point *p, uint32_t number)
{
    uint32_t key = part_of(p->normal, g->coarse);
    if (g->coarse) key = key * 2 + number % 2;
    key = key * g->side + cell_of(p->arm.x, g->low.x, g->scale.x, g->side);
    key = key * g->side + cell_of(p->arm.y, g->low.y, g->scale.y, g->side);
    return key * g->side + cell_of(p->arm.z, g->low.z, g->scale.z, g->side);
}

/* which points are meant: those with stiffness, or those with less room than `below` */
typedef struct kind {
    bool soft;
    double below;
} kind;

static bool is_of(kind k, const flr_tight_point *p)
{
    return k.soft ? p->stiffness > 0 : p->room < k.below;
}

/* A grid around the points of a kind. */
static reduce_grid grid_around(const flr_tight_point *points, uint32_t count, kind k)
{
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < count; i++)
        if (is_of(k, &points[i])) box = flr_box3_add(box, points[i].arm);
    flr_vec3 size = flr_box3_size(box);
    reduce_grid g = {.low = box.low};
    g.scale.x = size.x > 0 ? 1 / size.x : 0;
    g.scale.y = size.y > 0 ? 1 / size.y : 0;
    g.scale.z = size.z > 0 ? 1 / size.z : 0;
    return g;
}

/* Is a point a better one to be kept than another of its cell? */
static bool is_better(const flr_tight_point *a, const flr_tight_point *b, kind k)
{
    return k.soft ? a->stiffness > b->stiffness : a->room < b->room;
}

/* how finely positions and directions are distinguished, from fine to coarse; the last has twelve cells */
static const struct {
    uint32_t side;
    bool coarse;
} levels[] = {{8, false}, {6, false}, {4, false}, {3, false},
              {4, true},  {3, true},  {2, true},  {1, true}};
enum { REDUCE_LEVELS = sizeof levels / sizeof *levels };

/* One point of each cell, as finely as there is room; which cell is whose stays in the bins. */
static uint32_t spread(const flr_tight_point *points, uint32_t count, kind k, uint32_t capacity,
                       flr_tight_bins *bins, reduce_grid *g)
{
    uint32_t used = 0;
    *g = grid_around(points, count, k);
    for (int level = 0; level < REDUCE_LEVELS; level++) {
        g->side = levels[level].side;
        g->coarse = levels[level].coarse;
        memset(bins->slot, 0, sizeof *bins->slot * REDUCE_PARTS * g->side * g->side * g->side);
        used = 0;
        for (uint32_t i = 0; i < count && used <= capacity; i++) {
            if (!is_of(k, &points[i])) continue;
            uint16_t *slot = &bins->slot[key_of(g, &points[i], i)];
            if (*slot == 0) {
                if (used < capacity) bins->kept[used] = i;
                *slot = (uint16_t)++used;
            } else if (is_better(&points[i], &points[bins->kept[*slot - 1]], k)) {
                bins->kept[*slot - 1] = i;
            }
        }
        if (used <= capacity) return used;
    }
    return capacity; /* not reached: the coarsest reduce_grid has 12 cells */
}

/* ---- the sums ---- */

/* What a point of stiffness 1 adds to them: the products of j = (arm x n / size, n) with itself, and depth j. */
static void moments_of(const flr_tight_point *p, double size, double depth, double *a)
{
    flr_vec3 turn = flr_vec3_scale(flr_vec3_cross(p->arm, p->normal), 1 / size);
    const double j[6] = {turn.x, turn.y, turn.z, p->normal.x, p->normal.y, p->normal.z};
    double deep = p->depth > 0 ? p->depth / depth : 0;
    int to = 0;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k <= i; k++) a[to++] = j[i] * j[k];
    for (int i = 0; i < 6; i++) a[to++] = deep * j[i];
}

/* Solves m x = b in place for a symmetric, positive matrix (lower triangle). */
static bool solve(double m[MOMENTS][MOMENTS], double b[MOMENTS])
{
    for (int i = 0; i < MOMENTS; i++)
        for (int k = 0; k <= i; k++) {
            double sum = m[i][k];
            for (int l = 0; l < k; l++) sum -= m[i][l] * m[k][l];
            if (i > k)
                m[i][k] = sum / m[k][k];
            else if (!(sum > 0))
                return false;
            else
                m[i][i] = sqrt(sum);
        }
    for (int i = 0; i < MOMENTS; i++) {
        for (int k = 0; k < i; k++) b[i] -= m[i][k] * b[k];
        b[i] /= m[i][i];
    }
    for (int i = MOMENTS - 1; i >= 0; i--) {
        for (int k = i + 1; k < MOMENTS; k++) b[i] -= m[k][i] * b[k];
        b[i] /= m[i][i];
    }
    return true;
}

/* Changes weights as little as possible, each in proportion to itself, so that the sums are the wanted ones; none gets below
 * zero. False: it cannot be done. */
static bool weigh(const double (*a)[MOMENTS], uint32_t count, const double want[MOMENTS],
                  double *weight)
{
    for (int pass = 0; pass < TRIES; pass++) {
        double m[MOMENTS][MOMENTS] = {{0}}, rest[MOMENTS], trace = 0;
        memcpy(rest, want, sizeof rest);
        for (uint32_t i = 0; i < count; i++) {
            double w = weight[i];
            if (!(w > 0)) continue;
            for (int r = 0; r < MOMENTS; r++) {
                double wa = w * a[i][r];
                rest[r] -= wa;
                for (int c = 0; c <= r; c++) m[r][c] += wa * a[i][c];
            }
        }
        for (int r = 0; r < MOMENTS; r++) trace += m[r][r];
        for (int r = 0; r < MOMENTS; r++) m[r][r] += RIDGE * trace;
        if (!(trace > 0) || !solve(m, rest)) return false;
        bool negative = false;
        for (uint32_t i = 0; i < count; i++) {
            double change = 1;
            for (int r = 0; r < MOMENTS; r++) change += a[i][r] * rest[r];
            negative |= weight[i] > 0 && change < 0;
            weight[i] *= fmax(0, change);
        }
        if (!negative) return true;
    }
    return false;
}

uint32_t flr_tight_reduce(const flr_tight_point *points, uint32_t count, flr_tight_bins *bins,
                          uint32_t *kept, double *stiffness)
{
    uint32_t soft = 0;
    for (uint32_t i = 0; i < count && soft <= FLR_TIGHT_SOFT; i++) {
        if (!(points[i].stiffness > 0)) continue;
        if (soft < FLR_TIGHT_SOFT) kept[soft] = i, stiffness[soft] = points[i].stiffness;
        soft++;
    }
    if (soft <= FLR_TIGHT_SOFT) return soft;

    reduce_grid g;
    uint32_t used = spread(points, count, (kind){.soft = true}, FLR_TIGHT_SOFT, bins, &g);
    double size = 0, depth = 0, want[MOMENTS] = {0}, all[FLR_TIGHT_SOFT][MOMENTS];
    for (uint32_t i = 0; i < used; i++) {
        kept[i] = bins->kept[i];
        stiffness[i] = 0;
        size = fmax(size, flr_vec3_length(points[kept[i]].arm));
    }
    for (uint32_t i = 0; i < count; i++)
        if (points[i].stiffness > 0) depth = fmax(depth, points[i].depth);
    if (!(size > 0)) size = 1;
    if (!(depth > 0)) depth = 1;
    for (uint32_t i = 0; i < count; i++) {
        double a[MOMENTS];
        if (!(points[i].stiffness > 0)) continue;
        stiffness[bins->slot[key_of(&g, &points[i], i)] - 1] += points[i].stiffness;
        moments_of(&points[i], size, depth, a);
        for (int r = 0; r < MOMENTS; r++) want[r] += points[i].stiffness * a[r];
    }
    for (uint32_t i = 0; i < used; i++) moments_of(&points[kept[i]], size, depth, all[i]);
    weigh(all, used, want, stiffness);
    return used;
}

uint32_t flr_tight_nearest(const flr_tight_point *points, uint32_t count, double below,
                           flr_tight_bins *bins, uint32_t *kept)
{
    const kind near = {.below = below};
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found <= FLR_TIGHT_HARD; i++) {
        if (!is_of(near, &points[i])) continue;
        if (found < FLR_TIGHT_HARD) kept[found] = i;
        found++;
    }
    if (found <= FLR_TIGHT_HARD) return found;
    reduce_grid g;
    found = spread(points, count, near, FLR_TIGHT_HARD, bins, &g);
    memcpy(kept, bins->kept, found * sizeof *kept);
    return found;
}
