/* loops over all contacts of a body, 16 at a time. Each function that has clones is a single loop over the lanes, which
 * compilers turn into vectors; nested in a loop over all contacts, they would unroll it instead. */
#include "world/tight_kernel.h"

#include <math.h>
#include <string.h>

#include "voxel/clones.h"

enum { N = FLR_TIGHT_LANES };
#define RETURN  0.1f  /* of what a sample is too deep, it may come back in a step … */
#define RETURNS 2e-7f /* metres: … and no more than this */

typedef flr_tight_lanes lanes;

static inline void load(lanes to, const float *column, size_t at)
{
    memcpy(to, column + at, sizeof(lanes));
}

static inline void store(float *column, size_t at, const lanes from)
{
    memcpy(column + at, from, sizeof(lanes));
}

/* ---- samples become contacts ---- */

/* `x`: arm, normal, gap, area; `to`: arm, J, depth, limit, weight */
FLR_CLONES static void place(const lanes x[8], const flr_tight_law *law, lanes to[12], lanes sums)
{
    const flr_tight_law f = *law;
    for (int l = 0; l < N; l++) {
        float arm[3], n[3];
        for (int k = 0; k < 3; k++) {
            const float *r = f.world_a + 3 * k;
            arm[k] = r[0] * x[0][l] + r[1] * x[1][l] + r[2] * x[2][l];
            n[k] = r[0] * x[3][l] + r[1] * x[4][l] + r[2] * x[5][l];
        }
        const float turn[3] = {arm[1] * n[2] - arm[2] * n[1], arm[2] * n[0] - arm[0] * n[2],
                               arm[0] * n[1] - arm[1] * n[0]};
        float away = 0;
        for (int k = 0; k < 3; k++) away += f.twist[k] * turn[k] + f.twist[k + 3] * n[k];
        const float gap = x[6][l], coming = away < 0 ? -away : 0, deep = f.onset - gap + coming;
        const float weight = x[7][l] * (deep > 0 ? deep : 0);
        /* beyond its limit, a sample comes back by a share of that */
        const float lacks = f.floor - gap, share = RETURN * (lacks > 0 ? lacks : 0);
        const float back = gap + (share < RETURNS ? share : RETURNS);
        for (int k = 0; k < 3; k++) to[k][l] = arm[k], to[k + 3][l] = turn[k], to[k + 6][l] = n[k];
        to[9][l] = f.onset - gap;
        to[10][l] = f.onset - (lacks > 0 ? back : f.floor);
        to[11][l] = weight;
        sums[l] += weight;
    }
}

void flr_tight_kernel_place(const flr_tight_points *p, uint32_t first, uint32_t end,
                            const flr_tight_law *law, lanes sums)
{
    for (size_t i = first; i < end; i += N) {
        lanes x[8], to[12];
        for (int k = 0; k < 3; k++) load(x[k], p->arm[k], i), load(x[k + 3], p->j[k + 3], i);
        load(x[6], p->depth, i), load(x[7], p->stiffness, i);
        place(x, law, to, sums);
        for (int k = 0; k < 3; k++) store(p->arm[k], i, to[k]);
        for (int k = 0; k < 6; k++) store(p->j[k], i, to[k + 3]);
        store(p->depth, i, to[9]), store(p->limit, i, to[10]), store(p->stiffness, i, to[11]);
    }
}

/* ---- motions ---- */

static float least_of(const lanes x)
{
    float least = x[0];
    for (int l = 1; l < N; l++) least = x[l] < least ? x[l] : least;
    return least;
}

/* `x`: J, away, limit, depth */
FLR_CLONES static void measure(const lanes x[9], const float s[6], float dt, lanes room,
                               lanes least)
{
    for (int l = 0; l < N; l++) {
        const float gain = s[0] * x[0][l] + s[1] * x[1][l] + s[2] * x[2][l] + s[3] * x[3][l] +
                           s[4] * x[4][l] + s[5] * x[5][l] - dt * x[6][l];
        const float r = x[7][l] - x[8][l] + gain;
        room[l] = r;
        least[l] = r < least[l] ? r : least[l];
    }
}

float flr_tight_kernel_measure(const flr_tight_points *p, uint32_t end, const float shift[6],
                               float dt)
{
    lanes least;
    for (int l = 0; l < N; l++) least[l] = INFINITY;
    for (size_t i = 0; i < end; i += N) {
        lanes x[9], room;
        for (int k = 0; k < 6; k++) load(x[k], p->j[k], i);
        load(x[6], p->away, i), load(x[7], p->limit, i), load(x[8], p->depth, i);
        measure(x, shift, dt, room, least);
        store(p->room, i, room);
    }
    return least_of(least);
}

FLR_CLONES static void approach(const lanes x[6], const float s[6], lanes least)
{
    for (int l = 0; l < N; l++) {
        const float speed = s[0] * x[0][l] + s[1] * x[1][l] + s[2] * x[2][l] + s[3] * x[3][l] +
                            s[4] * x[4][l] + s[5] * x[5][l];
        least[l] = speed < least[l] ? speed : least[l];
    }
}

float flr_tight_kernel_least(const flr_tight_points *p, uint32_t end, const float twist[6])
{
    lanes least = {0};
    for (size_t i = 0; i < end; i += N) {
        lanes x[6];
        for (int k = 0; k < 6; k++) load(x[k], p->j[k], i);
        approach(x, twist, least);
    }
    return least_of(least);
}

/* ---- places and directions ---- */

/* 1 for each lane of a kind, else 0; false: there is none. */
static inline bool find_kind(const flr_tight_points *p, size_t at, flr_tight_kind kind, lanes is)
{
    lanes x;
    load(x, kind.soft ? p->stiffness : p->room, at);
    const float sign = kind.soft ? -1 : 1, below = kind.soft ? 0 : kind.below;
    float any = 0;
    for (int l = 0; l < N; l++) is[l] = sign * x[l] < below ? 1 : 0;
    for (int l = 0; l < N; l++) any += is[l];
    return any > 0;
}

FLR_CLONES static void widen(const lanes x, const lanes is, lanes low, lanes high)
{
    for (int l = 0; l < N; l++) {
        const float a = is[l] > 0 ? x[l] : INFINITY, b = is[l] > 0 ? x[l] : -INFINITY;
        low[l] = a < low[l] ? a : low[l];
        high[l] = b > high[l] ? b : high[l];
    }
}

void flr_tight_kernel_box(const flr_tight_points *p, uint32_t end, flr_tight_kind kind,
                          float low[3], float high[3])
{
    lanes least[3], most[3], is, x;
    for (int axis = 0; axis < 3; axis++)
        for (int l = 0; l < N; l++) least[axis][l] = INFINITY, most[axis][l] = -INFINITY;
    for (size_t i = 0; i < end; i += N) {
        if (!find_kind(p, i, kind, is)) continue;
        for (int axis = 0; axis < 3; axis++) {
            load(x, p->arm[axis], i);
            widen(x, is, least[axis], most[axis]);
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = least_of(least[axis]);
        for (int l = 0; l < N; l++) most[axis][l] = -most[axis][l];
        high[axis] = -least_of(most[axis]);
    }
}

/* `x`: arm, normal */
FLR_CLONES static void find_keys(const lanes x[6], const float low[3], const float scale[3],
                                 int32_t keys[N])
{
    for (int l = 0; l < N; l++) {
        const float nx = x[3][l], ny = x[4][l], nz = x[5][l];
        const float sx = fabsf(nx), sy = fabsf(ny), sz = fabsf(nz);
        const int by_x = (sx >= sy) & (sx >= sz), by_y = (sy >= sz) & !by_x;
        const int axis = by_x ? 0 : by_y ? 1 : 2;
        const float along = by_x ? nx : by_y ? ny : nz, u = by_x ? ny : nx;
        const float v = by_x | by_y ? nz : ny;
        int key = axis * 8 + (along > 0 ? 4 : 0) + (u > 0 ? 2 : 0) + (v > 0 ? 1 : 0);
        for (int a = 0; a < 3; a++) {
            const float at = (x[a][l] - low[a]) * scale[a], in = at > 0 ? at : 0;
            key = key * 8 + (int)(in < 7 ? in : 7);
        }
        keys[l] = key;
    }
}

void flr_tight_kernel_keys(const flr_tight_points *p, uint32_t end, flr_tight_kind kind,
                           const float low[3], const float scale[3])
{
    for (size_t i = 0; i < end; i += N) {
        lanes x[6], is;
        int32_t keys[N];
        if (!find_kind(p, i, kind, is)) continue;
        for (int k = 0; k < 3; k++) load(x[k], p->arm[k], i), load(x[k + 3], p->j[k + 3], i);
        find_keys(x, low, scale, keys);
        memcpy(p->keys + i, keys, sizeof keys);
    }
}

/* ---- sums ---- */

/* contacts at a time: more than compilers unroll */
enum { MOMENT_BLOCK = 32 };

/* `x`: J, depth, stiffness */
FLR_CLONES static void add_moments(double x[8][MOMENT_BLOCK],
                                   double sums[FLR_TIGHT_MOMENTS][MOMENT_BLOCK])
{
    int to = 0;
    for (int r = 0; r < 6; r++) {
        double wj[MOMENT_BLOCK];
        for (int l = 0; l < MOMENT_BLOCK; l++) wj[l] = x[7][l] * x[r][l];
        for (int c = 0; c <= r; c++, to++)
            for (int l = 0; l < MOMENT_BLOCK; l++) sums[to][l] += wj[l] * x[c][l];
    }
    for (int l = 0; l < MOMENT_BLOCK; l++) x[7][l] *= x[6][l];
    for (int r = 0; r < 6; r++, to++)
        for (int l = 0; l < MOMENT_BLOCK; l++) sums[to][l] += x[7][l] * x[r][l];
}

/* Takes 16 contacts into a block, beginning with one of its halves. */
FLR_CLONES static void take_half(const lanes x[8], float size, float depth, double *to)
{
    for (int l = 0; l < N; l++) {
        for (int k = 0; k < 3; k++) to[k * MOMENT_BLOCK + l] = (double)(size * x[k][l]);
        for (int k = 3; k < 6; k++) to[k * MOMENT_BLOCK + l] = (double)x[k][l];
        to[6 * MOMENT_BLOCK + l] = (double)(depth * (x[6][l] > 0 ? x[6][l] : 0));
        to[7 * MOMENT_BLOCK + l] = (double)x[7][l];
    }
}

void flr_tight_kernel_moments(const flr_tight_points *p, uint32_t end, float size, float depth,
                              double sums[FLR_TIGHT_MOMENTS])
{
    double all[FLR_TIGHT_MOMENTS][MOMENT_BLOCK] = {{0}}, block[8][MOMENT_BLOCK] = {{0}};
    int filled = 0;
    for (size_t i = 0; i < end; i += N) {
        lanes x[8], is;
        if (!find_kind(p, i, (flr_tight_kind){.soft = true}, is)) continue;
        for (int k = 0; k < 6; k++) load(x[k], p->j[k], i);
        load(x[6], p->depth, i), load(x[7], p->stiffness, i);
        take_half(x, size, depth, &block[0][filled]);
        filled += N;
        if (filled < MOMENT_BLOCK) continue;
        add_moments(block, all);
        filled = 0;
    }
    for (int l = filled; l < MOMENT_BLOCK; l++) block[7][l] = 0;
    add_moments(block, all);
    for (int m = 0; m < FLR_TIGHT_MOMENTS; m++) {
        sums[m] = 0;
        for (int l = 0; l < MOMENT_BLOCK; l++) sums[m] += all[m][l];
    }
}
