/* a few contacts that act as many do */
#include "world/tight_reduce.h"

#include <math.h>
#include <string.h>

#include "voxel/clones.h"
#include "world/tight_kernel.h"

enum { MOMENTS = FLR_TIGHT_MOMENTS, ROW_WIDTH = 32, DOUBLES = 8, TRIES = 4 };
static const double RIDGE = 1e-12; /* of the trace: moments that depend on each other */

/* ---- cells ---- */

typedef flr_tight_kind kind;

static bool is_of(kind k, const flr_tight_points *p, uint32_t i)
{
    return k.soft ? p->stiffness[i] > 0 : p->room[i] < k.below;
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
    const uint32_t end = flr_tight_points_pad(p);
    float low[3], high[3], scale[3];
    uint32_t used = 0;
    flr_tight_kernel_box(p, end, k, low, high);
    for (int a = 0; a < 3; a++) scale[a] = high[a] > low[a] ? 8 / (high[a] - low[a]) : 0;
    flr_tight_kernel_keys(p, end, k, low, scale);
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
static void moments_of(const flr_tight_points *p, uint32_t at, float size, float depth, double *a)
{
    double j[6];
    const double deep = (double)(depth * (p->depth[at] > 0 ? p->depth[at] : 0));
    for (int i = 0; i < 6; i++) j[i] = (double)(p->j[i][at] * (i < 3 ? size : 1));
    int to = 0;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k <= i; k++) a[to++] = j[i] * j[k];
    for (int i = 0; i < 6; i++) a[to++] = deep * j[i];
}

/* rows of a matrix of moments, in whole lanes; the columns beyond the moments are 0 */
typedef double wide_row[ROW_WIDTH];

/* Solves m x = b in place for a symmetric, positive matrix, of which the upper triangle counts: m = U^T U. */
FLR_CLONES static bool solve(wide_row m[MOMENTS], wide_row b)
{
    for (int k = 0; k < MOMENTS; k++) {
        if (!(m[k][k] > 0)) return false;
        const double scale = 1 / sqrt(m[k][k]);
        for (int c = 0; c < ROW_WIDTH; c++) m[k][c] *= scale;
        for (int r = k + 1; r < MOMENTS; r++) {
            const double factor = m[k][r];
            for (int c = r & ~(DOUBLES - 1); c < ROW_WIDTH; c++) m[r][c] -= factor * m[k][c];
        }
        /* U^T y = b, on the way */
        const double y = b[k] * scale;
        for (int c = 0; c < ROW_WIDTH; c++) b[c] -= c > k ? y * m[k][c] : 0;
        b[k] = y;
    }
    for (int k = MOMENTS - 1; k >= 0; k--) {
        double sum = b[k];
        for (int c = k + 1; c < MOMENTS; c++) sum -= m[k][c] * b[c];
        b[k] = sum / m[k][k];
    }
    return true;
}

/* The matrix of all products of moments, weighed (its upper triangle), and what the sums lack. */
FLR_CLONES static void sum_products(const wide_row *a, uint32_t count, const double *weight,
                                    wide_row m[MOMENTS], wide_row rest)
{
    for (int r = 0; r < MOMENTS; r++) {
        wide_row sums = {0};
        for (uint32_t i = 0; i < count; i++) {
            const double wa = weight[i] * a[i][r];
            for (int c = 0; c < ROW_WIDTH; c++) sums[c] += wa * a[i][c];
        }
        memcpy(m[r], sums, sizeof sums);
    }
    for (uint32_t i = 0; i < count; i++)
        for (int c = 0; c < ROW_WIDTH; c++) rest[c] -= weight[i] * a[i][c];
}

/* For each row, one plus its product with another. */
FLR_CLONES static void find_changes(const wide_row *a, const wide_row by,
                                    double change[FLR_TIGHT_SOFT])
{
    double turned[MOMENTS][FLR_TIGHT_SOFT];
    for (int i = 0; i < FLR_TIGHT_SOFT; i++) {
        for (int r = 0; r < MOMENTS; r++) turned[r][i] = a[i][r];
        change[i] = 1;
    }
    for (int r = 0; r < MOMENTS; r++)
        for (int i = 0; i < FLR_TIGHT_SOFT; i++) change[i] += turned[r][i] * by[r];
}

/* Changes weights as little as possible, each in proportion to itself, so that the sums are the wanted ones; none gets below
 * zero. False: it cannot be done. */
static bool weigh(const wide_row *a, uint32_t count, const double want[MOMENTS], double *weight)
{
    for (int pass = 0; pass < TRIES; pass++) {
        wide_row m[MOMENTS], rest = {0};
        double trace = 0, change[FLR_TIGHT_SOFT];
        memcpy(rest, want, MOMENTS * sizeof *rest);
        sum_products(a, count, weight, m, rest);
        for (int r = 0; r < MOMENTS; r++) trace += m[r][r];
        for (int r = 0; r < MOMENTS; r++) m[r][r] += RIDGE * trace;
        if (!(trace > 0) || !solve(m, rest)) return false;
        find_changes(a, rest, change);
        bool negative = false;
        for (uint32_t i = 0; i < count; i++) {
            negative |= weight[i] > 0 && change[i] < 0;
            weight[i] *= fmax(0, change[i]);
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
    double size = 0, depth = 0, want[MOMENTS];
    wide_row all[FLR_TIGHT_SOFT] = {{0}};
    for (uint32_t i = 0; i < used; i++) {
        kept[i] = bins->cells[i].best;
        stiffness[i] = bins->cells[i].stiffness;
        size = fmax(size, flr_vec3_length(flr_tight_points_arm(p, kept[i])));
        depth = fmax(depth, p->depth[kept[i]]);
    }
    /* lengths become numbers around 1 */
    size = size > 0 ? 1 / size : 1;
    depth = depth > 0 ? 1 / depth : 1;
    flr_tight_kernel_moments(p, flr_tight_points_pad(p), (float)size, (float)depth, want);
    for (uint32_t i = 0; i < used; i++) moments_of(p, kept[i], (float)size, (float)depth, all[i]);
    weigh(all, used, want, stiffness);
    return used;
}

uint32_t flr_tight_nearest(const flr_tight_points *p, double below, flr_tight_bins *bins,
                           uint32_t *kept)
{
    const kind near = {.below = (float)below};
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
