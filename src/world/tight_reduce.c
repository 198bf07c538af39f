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
    double **columns[] = {&p->away, &p->depth,  &p->limit,  &p->stiffness, &p->room,
                          &p->j[0], &p->j[1],   &p->j[2],   &p->j[3],      &p->j[4],
                          &p->j[5], &p->arm[0], &p->arm[1], &p->arm[2]};
    bool there = (p->keys = flr_prefaulted_calloc(p->capacity, sizeof *p->keys)) != NULL;
    there &= (p->limited = flr_prefaulted_calloc(p->capacity, sizeof *p->limited)) != NULL;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        there &= (*columns[i] = flr_prefaulted_calloc(p->capacity, sizeof **columns[i])) != NULL;
    return there;
}

void flr_tight_points_destroy(flr_tight_points *p)
{
    double *columns[] = {p->away, p->depth,  p->limit,  p->stiffness, p->room,
                         p->j[0], p->j[1],   p->j[2],   p->j[3],      p->j[4],
                         p->j[5], p->arm[0], p->arm[1], p->arm[2]};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) free(columns[i]);
    free(p->keys);
    free(p->limited);
}

/* Contacts beyond the last one, up to a whole number of lanes, weigh nothing. */
static uint32_t fill_lanes(const flr_tight_points *p)
{
    const uint32_t end = (p->count + LANES - 1) / LANES * LANES;
    for (uint32_t i = p->count; i < end; i++) {
        for (int k = 0; k < 6; k++) p->j[k][i] = 0;
        for (int k = 0; k < 3; k++) p->arm[k][i] = 0;
        p->away[i] = p->depth[i] = p->stiffness[i] = 0;
        p->room[i] = INFINITY;
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

/* which points are meant: those with stiffness, or those with less room than `below` */
typedef struct kind {
    bool soft;
    double below;
} kind;

static bool is_of(kind k, const flr_tight_points *p, uint32_t i)
{
    return k.soft ? p->stiffness[i] > 0 : p->room[i] < k.below;
}

/* A box around the points of a kind. */
FLR_CLONES static void find_box(const flr_tight_points *p, uint32_t end, kind k, double low[3],
                                double high[3])
{
    double least[3][LANES], most[3][LANES];
    for (int axis = 0; axis < 3; axis++)
        for (uint32_t l = 0; l < LANES; l++) least[axis][l] = INFINITY, most[axis][l] = -INFINITY;
    const double *value = k.soft ? p->stiffness : p->room;
    const double sign = k.soft ? -1 : 1, below = k.soft ? 0 : k.below;
    for (uint32_t i = 0; i < end; i += LANES)
        for (int axis = 0; axis < 3; axis++)
            for (uint32_t l = 0; l < LANES; l++) {
                const double x = p->arm[axis][i + l];
                const bool is = sign * value[i + l] < below;
                const double a = is ? x : INFINITY, b = is ? x : -INFINITY;
                least[axis][l] = a < least[axis][l] ? a : least[axis][l];
                most[axis][l] = b > most[axis][l] ? b : most[axis][l];
            }
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = INFINITY, high[axis] = -INFINITY;
        for (uint32_t l = 0; l < LANES; l++) {
            low[axis] = fmin(low[axis], least[axis][l]);
            high[axis] = fmax(high[axis], most[axis][l]);
        }
    }
}

/* The key of each point: 24 directions (the face of a cube that they leave through, and which quarter of it), and which of
 * 8 x 8 x 8 cells of a box. Direction, x, y, z: so coarser cells follow from finer ones. Cells of points that are not in the
 * box are those at its sides. */
FLR_CLONES static void find_keys(const flr_tight_points *p, uint32_t end, const double low[3],
                                 const double scale[3])
{
    for (uint32_t i = 0; i < end; i += LANES) {
        int32_t key[LANES];
        for (uint32_t l = 0; l < LANES; l++) {
            const double nx = p->j[3][i + l], ny = p->j[4][i + l], nz = p->j[5][i + l];
            const double x = fabs(nx), y = fabs(ny), z = fabs(nz);
            const int32_t by_x = (x >= y) & (x >= z), by_y = (y >= z) & ~by_x;
            const int32_t axis = by_x ? 0 : by_y ? 1 : 2;
            const double along = by_x ? nx : by_y ? ny : nz, u = by_x ? ny : nx;
            const double v = by_x | by_y ? nz : ny;
            key[l] = (axis * 2 + (along > 0 ? 1 : 0)) * 4 + (u > 0 ? 2 : 0) + (v > 0 ? 1 : 0);
        }
        for (int a = 0; a < 3; a++)
            for (uint32_t l = 0; l < LANES; l++) {
                const double at = (p->arm[a][i + l] - low[a]) * scale[a];
                const double in = at > 0 ? at : 0;
                key[l] = key[l] * 8 + (int32_t)(in < 7 ? in : 7);
            }
        for (uint32_t l = 0; l < LANES; l++) p->keys[i + l] = (uint32_t)key[l];
    }
}

/* From fine to coarse: the bits of a key that count. Half of the cells of one axis at a time, then quarters of directions. */
static const uint32_t masks[] = {31u << 9 | 0777, 31u << 9 | 0776, 31u << 9 | 0766, 31u << 9 | 0666,
                                 31u << 9 | 0664, 31u << 9 | 0644, 31u << 9 | 0444, 30u << 9 | 0444,
                                 28u << 9 | 0444, 28u << 9 | 0440, 28u << 9 | 0400, 28u << 9};
enum { MASKS = sizeof masks / sizeof *masks };

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
        *slot = (uint16_t)++ * used;
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
    const uint32_t end = fill_lanes(p);
    double low[3], high[3], scale[3];
    uint32_t used = 0;
    find_box(p, end, k, low, high);
    for (int a = 0; a < 3; a++) scale[a] = high[a] > low[a] ? 8 / (high[a] - low[a]) : 0;
    find_keys(p, end, low, scale);
    for (uint32_t i = 0; i < p->count; i++)
        if (is_of(k, p, i))
            put(p, k, bins, (flr_tight_cell){p->keys[i], i, p->stiffness[i]}, &used);
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
        size = fmax(size, flr_vec3_length(flr_tight_points_arm(p, kept[i])));
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
