/* a few contacts that act as many do */
#include "world/tight_reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"
#include "voxel/clones.h"

enum { MOMENTS = 27, TRIES = 4 };
#define LANES ((uint32_t)FLR_TIGHT_LANES)
static const double RIDGE = 1e-12; /* of the trace: moments that depend on each other */

/* ---- memory ---- */

bool flr_tight_points_create(flr_tight_points *p, uint32_t capacity)
{
    *p = (flr_tight_points){.capacity = (capacity + LANES - 1) / LANES * LANES};
    double **columns[] = {&p->away,  &p->depth, &p->limit, &p->stiffness, &p->room, &p->j[0],
                          &p->j[1],  &p->j[2],  &p->j[3],  &p->j[4],      &p->j[5]};
    bool there = (p->arm = flr_prefaulted_calloc(p->capacity, sizeof *p->arm)) != NULL;
    there &= (p->limited = flr_prefaulted_calloc(p->capacity, sizeof *p->limited)) != NULL;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        there &= (*columns[i] = flr_prefaulted_calloc(p->capacity, sizeof **columns[i])) != NULL;
    return there;
}

void flr_tight_points_destroy(flr_tight_points *p)
{
    double *columns[] = {p->away,  p->depth, p->limit, p->stiffness, p->room, p->j[0],
                         p->j[1],  p->j[2],  p->j[3],  p->j[4],      p->j[5]};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) free(columns[i]);
    free(p->arm);
    free(p->limited);
}

/* Contacts beyond the last one, up to a whole number of lanes, weigh nothing. */
static uint32_t fill_lanes(const flr_tight_points *p)
{
    const uint32_t end = (p->count + LANES - 1) / LANES * LANES;
    for (uint32_t i = p->count; i < end; i++) {
        for (int k = 0; k < 6; k++) p->j[k][i] = 0;
        p->away[i] = p->depth[i] = p->stiffness[i] = 0;
        p->limit[i] = INFINITY;
        p->limited[i] = false;
    }
    return end;
}

/* ---- how far a motion leaves them ---- */

FLR_CLONES static double measure(const flr_tight_points *p, uint32_t end, const double x[6],
                                 double dt)
{
    double least[LANES];
    for (uint32_t l = 0; l < LANES; l++) least[l] = INFINITY;
    for (uint32_t i = 0; i < end; i += LANES) {
        double s[LANES];
        for (uint32_t l = 0; l < LANES; l++) s[l] = -p->away[i + l];
        for (int k = 0; k < 6; k++)
            for (uint32_t l = 0; l < LANES; l++) s[l] += x[k] * p->j[k][i + l];
        for (uint32_t l = 0; l < LANES; l++) {
            const double room = p->limit[i + l] - p->depth[i + l] + dt * s[l];
            p->room[i + l] = p->limited[i + l] ? INFINITY : room;
            least[l] = p->room[i + l] < least[l] ? p->room[i + l] : least[l];
        }
    }
    for (uint32_t l = 1; l < LANES; l++) least[0] = fmin(least[0], least[l]);
    return least[0];
}

double flr_tight_points_measure(flr_tight_points *p, flr_twist twist, double dt)
{
    const double x[6] = {twist.angular.x, twist.angular.y, twist.angular.z,
                         twist.linear.x,  twist.linear.y,  twist.linear.z};
    return measure(p, fill_lanes(p), x, dt);
}

/* ---- cells ---- */

/* a box around points, cut into 8 x 8 x 8 cells */
typedef struct reduce_grid {
    flr_vec3 low, scale;
} reduce_grid;

static uint32_t cell_of(double x, double low, double scale)
{
    double at = (x - low) * scale;
    return at >= 7 ? 7 : at > 0 ? (uint32_t)at : 0;
}

/* Which face of a cube a direction leaves through, and which quarter of it. */
static uint32_t part_of(double nx, double ny, double nz)
{
    double x = fabs(nx), y = fabs(ny), z = fabs(nz);
    uint32_t axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    double along = axis == 0 ? nx : axis == 1 ? ny : nz;
    double u = axis == 0 ? ny : nx, v = axis == 2 ? ny : nz;
    return (axis * 2 + (along > 0)) * 4 + (u > 0) * 2u + (v > 0);
}

/* A key: direction, x, y, z; so coarser cells follow from finer ones. */
static uint32_t key_of(const reduce_grid *g, const flr_tight_points *p, uint32_t i)
{
    return part_of(p->j[3][i], p->j[4][i], p->j[5][i]) << 9 |
           cell_of(p->arm[i].x, g->low.x, g->scale.x) << 6 |
           cell_of(p->arm[i].y, g->low.y, g->scale.y) << 3 |
           cell_of(p->arm[i].z, g->low.z, g->scale.z);
}

/* From fine to coarse: the bits of a key that count. Half of the cells of one axis at a time, then quarters of directions. */
static const uint32_t masks[] = {
    31u << 9 | 0777, 31u << 9 | 0776, 31u << 9 | 0766, 31u << 9 | 0666,
    31u << 9 | 0664, 31u << 9 | 0644, 31u << 9 | 0444, 30u << 9 | 0444,
    28u << 9 | 0444, 28u << 9 | 0440, 28u << 9 | 0400, 28u << 9};
enum { MASKS = sizeof masks / sizeof *masks };

/* which points are meant: those with stiffness, or those with less room than `below` */
typedef struct kind {
    bool soft;
    double below;
} kind;

static bool is_of(kind k, const flr_tight_points *p, uint32_t i)
{
    return k.soft ? p->stiffness[i] > 0 : p->room[i] < k.below;
}

static reduce_grid grid_around(const flr_tight_points *p, kind k)
{
    flr_vec3 low = flr_vec3_make(INFINITY, INFINITY, INFINITY), high = flr_vec3_neg(low);
    for (uint32_t i = 0; i < p->count; i++) {
        if (!is_of(k, p, i)) continue;
        const flr_vec3 a = p->arm[i];
        low.x = a.x < low.x ? a.x : low.x, high.x = a.x > high.x ? a.x : high.x;
        low.y = a.y < low.y ? a.y : low.y, high.y = a.y > high.y ? a.y : high.y;
        low.z = a.z < low.z ? a.z : low.z, high.z = a.z > high.z ? a.z : high.z;
    }
    reduce_grid g = {.low = low};
    g.scale.x = high.x > low.x ? 8 / (high.x - low.x) : 0;
    g.scale.y = high.y > low.y ? 8 / (high.y - low.y) : 0;
    g.scale.z = high.z > low.z ? 8 / (high.z - low.z) : 0;
    return g;
}

/* Is a point a better one to be kept than another of its cell? */
static bool is_better(const flr_tight_points *p, uint32_t a, uint32_t b, kind k)
{
    return k.soft ? p->stiffness[a] > p->stiffness[b] : p->room[a] < p->room[b];
}

/* Puts a cell where its key belongs: into one that is there, or as number `*used`. */
static void put(const flr_tight_points *p, kind k, flr_tight_bins *bins, flr_tight_cell cell,
                uint32_t *used)
{
    uint16_t *slot = &bins->slot[cell.key];
    if (*slot == 0) {
        bins->cells[*used] = cell;
        *slot = (uint16_t) ++*used;
        return;
    }
    flr_tight_cell *there = &bins->cells[*slot - 1];
    there->stiffness += cell.stiffness;
    if (is_better(p, cell.best, there->best, k)) there->best = cell.best;
}

static void clear_slots(flr_tight_bins *bins, uint32_t used)
{
    for (uint32_t i = 0; i < used; i++) bins->slot[bins->cells[i].key] = 0;
}

/* One point of each cell, as finely as there is room: bins->cells. */
static uint32_t spread(const flr_tight_points *p, kind k, uint32_t capacity, flr_tight_bins *bins)
{
    const reduce_grid g = grid_around(p, k);
    uint32_t used = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (is_of(k, p, i))
            put(p, k, bins, (flr_tight_cell){key_of(&g, p, i), i, p->stiffness[i]}, &used);
    clear_slots(bins, used);
    for (int level = 1; used > capacity && level < MASKS; level++) {
        const uint32_t before = used;
        used = 0;
        for (uint32_t i = 0; i < before; i++) {
            flr_tight_cell cell = bins->cells[i];
            cell.key &= masks[level];
            put(p, k, bins, cell, &used);
        }
        clear_slots(bins, used);
    }
    return used;
}

/* ---- the sums ---- */

/* What a point of stiffness 1 adds to them: the products of j = (arm x n / size, n) with itself, and depth j. */
static void moments_of(const flr_tight_points *p, uint32_t at, double size, double depth, double *a)
{
    double j[6], deep = p->depth[at] > 0 ? p->depth[at] * depth : 0;
    for (int i = 0; i < 6; i++) j[i] = p->j[i][at] * (i < 3 ? size : 1);
    int to = 0;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k <= i; k++) a[to++] = j[i] * j[k];
    for (int i = 0; i < 6; i++) a[to++] = deep * j[i];
}

/* The same of all points, each times its stiffness. `size` and `depth` are one over these lengths. */
FLR_CLONES static void sum_moments(const flr_tight_points *p, uint32_t end, double size,
                                   double depth, double want[MOMENTS])
{
    double sums[MOMENTS][LANES] = {{0}};
    for (uint32_t i = 0; i < end; i += LANES) {
        double j[6][LANES], wj[LANES];
        for (int k = 0; k < 6; k++)
            for (uint32_t l = 0; l < LANES; l++) j[k][l] = p->j[k][i + l] * (k < 3 ? size : 1);
        int to = 0;
        for (int r = 0; r < 6; r++) {
            for (uint32_t l = 0; l < LANES; l++) wj[l] = p->stiffness[i + l] * j[r][l];
            for (int c = 0; c <= r; c++, to++)
                for (uint32_t l = 0; l < LANES; l++) sums[to][l] += wj[l] * j[c][l];
        }
        for (uint32_t l = 0; l < LANES; l++) {
            const double deep = p->depth[i + l] * depth;
            wj[l] = p->stiffness[i + l] * (deep > 0 ? deep : 0);
        }
        for (int r = 0; r < 6; r++, to++)
            for (uint32_t l = 0; l < LANES; l++) sums[to][l] += wj[l] * j[r][l];
    }
    for (int m = 0; m < MOMENTS; m++) {
        want[m] = 0;
        for (uint32_t l = 0; l < LANES; l++) want[m] += sums[m][l];
    }
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

/* The matrix of all products of moments, weighed, and what the sums lack. */
FLR_CLONES static void sum_products(const double (*a)[MOMENTS + 5], uint32_t count,
                                    const double *weight, double m[MOMENTS][MOMENTS + 5],
                                    double rest[MOMENTS])
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(weight[i] > 0)) continue;
        for (int r = 0; r < MOMENTS; r++) {
            const double wa = weight[i] * a[i][r];
            rest[r] -= wa;
            for (int c = 0; c < MOMENTS + 5; c++) m[r][c] += wa * a[i][c];
        }
    }
}

/* Changes weights as little as possible, each in proportion to itself, so that the sums are the wanted ones; none gets below
 * zero. False: it cannot be done. The columns of `a` beyond the moments are 0. */
static bool weigh(const double (*a)[MOMENTS + 5], uint32_t count, const double want[MOMENTS],
                  double *weight)
{
    for (int pass = 0; pass < TRIES; pass++) {
        double wide[MOMENTS][MOMENTS + 5] = {{0}}, m[MOMENTS][MOMENTS], rest[MOMENTS], trace = 0;
        memcpy(rest, want, sizeof rest);
        sum_products(a, count, weight, wide, rest);
        for (int r = 0; r < MOMENTS; r++) memcpy(m[r], wide[r], sizeof m[r]);
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

uint32_t flr_tight_reduce(const flr_tight_points *p, flr_tight_bins *bins, uint32_t *kept,
                          double *stiffness)
{
    uint32_t soft = 0;
    for (uint32_t i = 0; i < p->count && soft <= FLR_TIGHT_SOFT; i++) {
        if (!(p->stiffness[i] > 0)) continue;
        if (soft < FLR_TIGHT_SOFT) kept[soft] = i, stiffness[soft] = p->stiffness[i];
        soft++;
    }
    if (soft <= FLR_TIGHT_SOFT) return soft;

    const uint32_t used = spread(p, (kind){.soft = true}, FLR_TIGHT_SOFT, bins);
    double size = 0, depth = 0, want[MOMENTS], all[FLR_TIGHT_SOFT][MOMENTS + 5] = {{0}};
    for (uint32_t i = 0; i < used; i++) {
        kept[i] = bins->cells[i].best;
        stiffness[i] = bins->cells[i].stiffness;
        size = fmax(size, flr_vec3_length(p->arm[kept[i]]));
        depth = fmax(depth, p->depth[kept[i]]);
    }
    /* lengths become numbers around 1 */
    size = size > 0 ? 1 / size : 1;
    depth = depth > 0 ? 1 / depth : 1;
    sum_moments(p, fill_lanes(p), size, depth, want);
    for (uint32_t i = 0; i < used; i++) moments_of(p, kept[i], size, depth, all[i]);
    weigh(all, used, want, stiffness);
    return used;
}

uint32_t flr_tight_nearest(const flr_tight_points *p, double below, flr_tight_bins *bins,
                           uint32_t *kept)
{
    const kind near = {.below = below};
    uint32_t found = 0;
    for (uint32_t i = 0; i < p->count && found <= FLR_TIGHT_HARD; i++) {
        if (!is_of(near, p, i)) continue;
        if (found < FLR_TIGHT_HARD) kept[found] = i;
        found++;
    }
    if (found <= FLR_TIGHT_HARD) return found;
    found = spread(p, near, FLR_TIGHT_HARD, bins);
    for (uint32_t i = 0; i < found; i++) kept[i] = bins->cells[i].best;
    return found;
}
