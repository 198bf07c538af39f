/* one point after the other */
#include <math.h>

#include "fit/fit_kernel.h"

static void move(const flr_fit_move *m, const flr_fit_lanes *from, flr_fit_lanes *to)
{
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        const float x = from->x[i], y = from->y[i], z = from->z[i];
        to->x[i] = (m->turn[0][0] * x + m->turn[0][1] * y) + (m->turn[0][2] * z + m->shift[0]);
        to->y[i] = (m->turn[1][0] * x + m->turn[1][1] * y) + (m->turn[1][2] * z + m->shift[1]);
        to->z[i] = (m->turn[2][0] * x + m->turn[2][1] * y) + (m->turn[2][2] * z + m->shift[2]);
    }
}

static void bounds(const flr_fit_lanes *p, float low[3], float high[3])
{
    const float *const all[3] = {p->x, p->y, p->z};
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = all[k][0];
        for (int i = 1; i < FLR_FIT_LANES; i++) {
            low[k] = all[k][i] < low[k] ? all[k][i] : low[k];
            high[k] = all[k][i] > high[k] ? all[k][i] : high[k];
        }
    }
}

static void extents(const flr_fit_move *m, const flr_fit_lanes *p, float low[4], float high[4])
{
    flr_fit_lanes moved;
    move(m, p, &moved);
    bounds(&moved, low, high);
    low[3] = low[2], high[3] = high[2];
}

static float along(const float n[3], const flr_fit_lanes *p, int i, float plus)
{
    return (n[0] * p->x[i] + n[1] * p->y[i]) + (n[2] * p->z[i] + plus);
}

static flr_fit_lanes shifted(const flr_fit_lanes *p, const float shift[3])
{
    flr_fit_lanes moved;
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        moved.x[i] = p->x[i] + shift[0];
        moved.y[i] = p->y[i] + shift[1];
        moved.z[i] = p->z[i] + shift[2];
    }
    return moved;
}

static uint32_t sides(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                      const flr_fit_lanes *points, const float shift[3], float limit,
                      flr_fit_masks *masks)
{
    const flr_fit_lanes p = shifted(points, shift);
    uint32_t kept = 0;
    for (uint32_t f = 0; f < count; f++) {
        const flr_fit_face *face = &faces[f];
        unsigned beyond[FLR_FIT_SIDES] = {0};
        for (int i = 0; i < FLR_FIT_LANES; i++) {
            const float s = along(planes[f].n, &p, i, -planes[f].o),
                        x = along(face->u, &p, i, face->u0), y = along(face->v, &p, i, face->v0),
                        z = (1.0f - x) - y;
            beyond[0] |= (unsigned)(s >= limit) << i;
            beyond[1] |= (unsigned)(s <= -limit) << i;
            beyond[2] |= (unsigned)(x * face->height[0] <= -limit) << i;
            beyond[3] |= (unsigned)(y * face->height[1] <= -limit) << i;
            beyond[4] |= (unsigned)(z * face->height[2] <= -limit) << i;
        }
        const bool plane = beyond[0] == 0xffff || beyond[1] == 0xffff;
        bool all = false;
        for (int k = 0; k < FLR_FIT_SIDES; k++) {
            masks->beyond[f][k] = (uint16_t)(k >= 2 && plane ? 0 : beyond[k]);
            all |= beyond[k] == 0xffff;
        }
        kept |= (uint32_t)!all << f;
    }
    return kept;
}

static uint32_t corners(const uint16_t corners[], const uint16_t beyond[])
{
    uint32_t kept = 0;
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        bool all = false;
        for (int k = 0; k < FLR_FIT_SIDES; k++) all |= !(corners[i] & ~(unsigned)beyond[k]);
        kept |= (uint32_t)!all << i;
    }
    return kept;
}

static uint32_t apart(const flr_fit_patch *patch, const flr_fit_lanes *points, const float shift[3],
                      float limit, bool all)
{
    const flr_fit_lanes p = shifted(points, shift);
    uint32_t found = 0;
    for (int k = 0; k < 3 && (all || !found); k++) {
        const float high = patch->high[k] + limit, low = patch->low[k] - limit;
        bool above = true, below = true;
        for (int i = 0; i < FLR_FIT_LANES; i++) {
            const float at = along(patch->axes[k], &p, i, 0.0f);
            above &= at >= high;
            below &= at <= low;
        }
        found |= ((uint32_t)above | (uint32_t)below << 1) << 2 * k;
    }
    return found;
}

static uint32_t within(const flr_fit_patch *patch, const flr_fit_lanes *points, float limit)
{
    uint32_t kept = 0;
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        bool in = true;
        for (int k = 0; k < 3; k++) {
            const float at = along(patch->axes[k], points, i, 0.0f);
            in &= at <= patch->high[k] + limit && at >= patch->low[k] - limit;
        }
        kept |= (uint32_t)in << i;
    }
    return kept;
}

static float larger(float a, float b) { return a > b ? a : b; }

static uint32_t near(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                     const flr_fit_lanes *p, const float limit2[], float d2[][FLR_FIT_LANES],
                     float best[], int32_t at[])
{
    uint32_t kept = 0;
    for (int i = 0; i < FLR_FIT_LANES; i++) best[i] = limit2[i], at[i] = -1;
    for (uint32_t k = 0; k < count; k++) {
        const flr_fit_face *f = &faces[k];
        bool any = false;
        for (int i = 0; i < FLR_FIT_LANES; i++) {
            const float s = along(planes[k].n, p, i, -planes[k].o), x = along(f->u, p, i, f->u0),
                        y = along(f->v, p, i, f->v0), z = (1.0f - x) - y;
            const float out = larger(larger(-x * f->height[0], -y * f->height[1]),
                                     larger(-z * f->height[2], 0.0f));
            d2[k][i] = s * s + out * out;
            any |= d2[k][i] < limit2[i];
            if (d2[k][i] < best[i]) best[i] = d2[k][i], at[i] = (int32_t)k;
        }
        kept |= (uint32_t)any << k;
    }
    return kept;
}

static void nearer(uint32_t kept, const float d2[][FLR_FIT_LANES], const float limit2[],
                   const int32_t at[], uint16_t masks[])
{
    for (; kept; kept &= kept - 1) {
        const int f = __builtin_ctz(kept);
        unsigned mask = 0;
        for (int i = 0; i < FLR_FIT_LANES; i++)
            mask |= (unsigned)(d2[f][i] < limit2[i] && at[i] != f) << i;
        masks[f] = (uint16_t)mask;
    }
}

static uint32_t unsure(const float *bounds, const float *sure, uint32_t count, float limit,
                       float way, float need, uint32_t *near)
{
    uint32_t below = 0, there = 0;
    for (uint32_t i = 0; i < count; i++) {
        below |= (uint32_t)(bounds[i] < limit) << i;
        there |= (uint32_t)(sure[i] - way >= need) << i;
    }
    *near = below;
    return below & ~there;
}

static float smaller(float a, float b) { return a < b ? a : b; }

static float heights(const float axes[3][3], const float curve[5], const flr_fit_lanes *points,
                     const float shift[3], float side, float off)
{
    const flr_fit_lanes p = shifted(points, shift);
    float least = INFINITY;
    bool flat = true;
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        const float z = along(axes[0], &p, i, 0.0f), x = along(axes[1], &p, i, 0.0f),
                    y = along(axes[2], &p, i, 0.0f);
        const float bent = x * ((curve[0] + curve[2] * x) + curve[3] * y);
        const float h = (z - bent) - y * (curve[1] + curve[4] * y);
        const float gx = (curve[0] + (curve[2] + curve[2]) * x) + curve[3] * y,
                    gy = (curve[1] + (curve[4] + curve[4]) * y) + curve[3] * x,
                    steep2 = gx * gx + gy * gy;
        least = smaller(least, (side * h - off) / sqrtf(1.0f + steep2));
        flat &= steep2 < FLR_FIT_STEEP2;
    }
    return flat ? least : -INFINITY;
}

static float extent(const float n[3], const flr_fit_lanes *points, const float shift[3])
{
    const flr_fit_lanes p = shifted(points, shift);
    float least = INFINITY;
    for (int i = 0; i < FLR_FIT_LANES; i++) least = smaller(least, along(n, &p, i, 0.0f));
    return least;
}

static float over(const flr_fit_plane *planes, uint32_t count, const flr_fit_lanes *points,
                  const float shift[3], float side)
{
    const flr_fit_lanes p = shifted(points, shift);
    float least = INFINITY;
    for (uint32_t f = 0; f < count; f++)
        for (int i = 0; i < FLR_FIT_LANES; i++)
            least = smaller(least, side * along(planes[f].n, &p, i, -planes[f].o));
    return least;
}

static uint32_t boxes(const flr_fit_boxes *b, const float low[3], const float high[3])
{
    uint32_t kept = 0;
    for (int i = 0; i < FLR_FIT_WIDE; i++) {
        bool meet = true;
        for (int k = 0; k < 3; k++) meet &= b->low[k][i] <= high[k] && b->high[k][i] >= low[k];
        kept |= (uint32_t)meet << i;
    }
    return kept;
}

static uint32_t box_distances(const flr_fit_boxes *b, const float point[3], float limit2,
                              float d2[FLR_FIT_WIDE])
{
    uint32_t near = 0;
    for (int i = 0; i < FLR_FIT_WIDE; i++) {
        d2[i] = 0;
        for (int k = 0; k < 3; k++) {
            const float gap = larger(larger(b->low[k][i] - point[k], point[k] - b->high[k][i]), 0);
            d2[i] += gap * gap;
        }
        near |= (uint32_t)(d2[i] < limit2) << i;
    }
    return near;
}

const flr_fit_kernel flr_fit_kernel_scalar = {move,    bounds, extents, sides,  corners,
                                              apart,   within, near,    nearer, unsure,
                                              heights, extent, over,    boxes,  box_distances};

const flr_fit_kernel *flr_fit_choose_kernel(flr_simd simd)
{
    simd = flr_simd_resolve(simd);
#if defined(__x86_64__) && !defined(FLR_NO_SIMD)
    if (simd == FLR_SIMD_AVX512) return &flr_fit_kernel_avx512;
    if (simd == FLR_SIMD_AVX2) return &flr_fit_kernel_avx2;
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
    if (simd == FLR_SIMD_NEON) return &flr_fit_kernel_neon;
#endif
    (void)simd;
    return &flr_fit_kernel_scalar;
}
