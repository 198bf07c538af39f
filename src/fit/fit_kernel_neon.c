/* sixteen points in four registers */
#include <math.h>

#include "fit/fit_kernel.h"

#if defined(__aarch64__) && !defined(FLR_NO_SIMD)
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))
#define ALL    vdupq_n_f32
#define MUL    vmulq_f32
#define ADD    vaddq_f32
#define SUB    vsubq_f32

enum { FIT_NEON_PARTS = FLR_FIT_LANES / 4 };

typedef struct four {
    float32x4_t x, y, z;
} four;

INLINE four load(const flr_fit_lanes *p, int part)
{
    return (four){vld1q_f32(p->x + 4 * part), vld1q_f32(p->y + 4 * part),
                  vld1q_f32(p->z + 4 * part)};
}

/* points, moved */
INLINE four shifted(const flr_fit_lanes *p, int part, const float shift[3])
{
    const four f = load(p, part);
    return (four){ADD(f.x, ALL(shift[0])), ADD(f.y, ALL(shift[1])), ADD(f.z, ALL(shift[2]))};
}

/* (n0 x + n1 y) + (n2 z + plus) */
INLINE float32x4_t along(const float n[3], four p, float plus)
{
    return ADD(ADD(vmulq_n_f32(p.x, n[0]), vmulq_n_f32(p.y, n[1])),
               ADD(vmulq_n_f32(p.z, n[2]), ALL(plus)));
}

/* 16 truths, a byte each */
INLINE uint8x16_t bytes_of(const uint32x4_t truth[FIT_NEON_PARTS])
{
    const uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_u32(truth[0]),
                                      vreinterpretq_u16_u32(truth[1])),
                     high = vuzp1q_u16(vreinterpretq_u16_u32(truth[2]),
                                       vreinterpretq_u16_u32(truth[3]));
    return vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
}

INLINE uint8x16_t weighed(uint8x16_t truth)
{
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    return vandq_u8(truth, weight);
}

INLINE uint32_t bits_of(uint8x16_t truth)
{
    uint8x16_t sum = weighed(truth);
    sum = vpaddq_u8(sum, sum);
    sum = vpaddq_u8(sum, sum);
    return vgetq_lane_u16(vreinterpretq_u16_u8(vpaddq_u8(sum, sum)), 0);
}

static void move(const flr_fit_move *m, const flr_fit_lanes *from, flr_fit_lanes *to)
{
    for (int i = 0; i < FIT_NEON_PARTS; i++) {
        const four p = load(from, i);
        vst1q_f32(to->x + 4 * i, along(m->turn[0], p, m->shift[0]));
        vst1q_f32(to->y + 4 * i, along(m->turn[1], p, m->shift[1]));
        vst1q_f32(to->z + 4 * i, along(m->turn[2], p, m->shift[2]));
    }
}

INLINE float least(const float *p)
{
    return vminvq_f32(vminq_f32(vminq_f32(vld1q_f32(p), vld1q_f32(p + 4)),
                                vminq_f32(vld1q_f32(p + 8), vld1q_f32(p + 12))));
}

INLINE float largest(const float *p)
{
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(vld1q_f32(p), vld1q_f32(p + 4)),
                                vmaxq_f32(vld1q_f32(p + 8), vld1q_f32(p + 12))));
}

static void bounds(const flr_fit_lanes *p, float low[3], float high[3])
{
    low[0] = least(p->x), low[1] = least(p->y), low[2] = least(p->z);
    high[0] = largest(p->x), high[1] = largest(p->y), high[2] = largest(p->z);
}

static void extents(const flr_fit_move *m, const flr_fit_lanes *p, float low[4], float high[4])
{
    for (int k = 0; k < 3; k++) {
        float32x4_t at[FIT_NEON_PARTS];
        for (int i = 0; i < FIT_NEON_PARTS; i++) at[i] = along(m->turn[k], load(p, i), m->shift[k]);
        low[k] = vminvq_f32(vminq_f32(vminq_f32(at[0], at[1]), vminq_f32(at[2], at[3])));
        high[k] = vmaxvq_f32(vmaxq_f32(vmaxq_f32(at[0], at[1]), vmaxq_f32(at[2], at[3])));
    }
    low[3] = low[2], high[3] = high[2];
}

/* Where points are above a face and beyond its sides: s, and x, y, z of along() its sides' directions */
typedef struct over_face {
    float32x4_t s, x, y, z;
} over_face;

INLINE over_face over_of(const flr_fit_plane *plane, const flr_fit_face *face, four p)
{
    over_face o = {along(plane->n, p, -plane->o), along(face->u, p, face->u0),
                   along(face->v, p, face->v0), ALL(0)};
    o.z = SUB(SUB(ALL(1.0f), o.x), o.y);
    return o;
}

static uint32_t sides(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                      const flr_fit_lanes *points, const float shift[3], float limit,
                      flr_fit_masks *masks)
{
    const float32x4_t above = ALL(limit), under = ALL(-limit);
    four p[FIT_NEON_PARTS];
    for (int i = 0; i < FIT_NEON_PARTS; i++) p[i] = shifted(points, i, shift);
    uint32_t kept = 0;
    for (uint32_t f = 0; f < count; f++) {
        const flr_fit_face *face = &faces[f];
        uint32x4_t beyond[FLR_FIT_SIDES][FIT_NEON_PARTS];
        for (int i = 0; i < FIT_NEON_PARTS; i++) {
            const over_face o = over_of(&planes[f], face, p[i]);
            beyond[0][i] = vcgeq_f32(o.s, above);
            beyond[1][i] = vcleq_f32(o.s, under);
            beyond[2][i] = vcleq_f32(vmulq_n_f32(o.x, face->height[0]), under);
            beyond[3][i] = vcleq_f32(vmulq_n_f32(o.y, face->height[1]), under);
            beyond[4][i] = vcleq_f32(vmulq_n_f32(o.z, face->height[2]), under);
        }
        uint8x16_t w[FLR_FIT_SIDES];
        for (int k = 0; k < FLR_FIT_SIDES; k++) w[k] = weighed(bytes_of(beyond[k]));
        const uint8x16_t first = vpaddq_u8(vpaddq_u8(w[0], w[1]), vpaddq_u8(w[2], w[3])),
                         last = vpaddq_u8(w[4], w[4]);
        /* words 0 … 4: a mask each */
        const uint8x16_t sum = vpaddq_u8(first, vpaddq_u8(last, last));
        uint16x8_t word = vreinterpretq_u16_u8(sum);
        const uint16x8_t full = vceqq_u16(word, vdupq_n_u16(0xffff));
        /* where all points are on one side of the plane, the other masks are not needed */
        if (vgetq_lane_u32(vreinterpretq_u32_u16(full), 0)) {
            const uint16x8_t plane = {0xffff, 0xffff, 0, 0, 0, 0, 0, 0};
            word = vandq_u16(word, plane);
        }
        uint16_t all[8];
        vst1q_u16(all, word);
        for (int k = 0; k < FLR_FIT_SIDES; k++) masks->beyond[f][k] = all[k];
        const uint16x8_t asked = {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0, 0, 0};
        kept |= (uint32_t)(vmaxvq_u16(vandq_u16(full, asked)) == 0) << f;
    }
    return kept;
}

static uint32_t corners(const uint16_t corners[], const uint16_t beyond[])
{
    const uint16x8_t low = vld1q_u16(corners), high = vld1q_u16(corners + 8);
    uint16x8_t gone[2] = {vdupq_n_u16(0), vdupq_n_u16(0)};
    for (int k = 0; k < FLR_FIT_SIDES; k++) {
        const uint16x8_t mask = vdupq_n_u16(beyond[k]);
        gone[0] = vorrq_u16(gone[0], vceqzq_u16(vbicq_u16(low, mask)));
        gone[1] = vorrq_u16(gone[1], vceqzq_u16(vbicq_u16(high, mask)));
    }
    return 0xffff &
           ~bits_of(vuzp1q_u8(vreinterpretq_u8_u16(gone[0]), vreinterpretq_u8_u16(gone[1])));
}

static uint32_t apart(const flr_fit_patch *patch, const flr_fit_lanes *points, const float shift[3],
                      float limit, bool all)
{
    four p[FIT_NEON_PARTS];
    for (int i = 0; i < FIT_NEON_PARTS; i++) p[i] = shifted(points, i, shift);
    uint32_t found = 0;
    for (int k = 0; k < 3 && (all || !found); k++) {
        float32x4_t at[FIT_NEON_PARTS];
        for (int i = 0; i < FIT_NEON_PARTS; i++) at[i] = along(patch->axes[k], p[i], 0.0f);
        const float low = vminvq_f32(vminq_f32(vminq_f32(at[0], at[1]), vminq_f32(at[2], at[3]))),
                    high = vmaxvq_f32(vmaxq_f32(vmaxq_f32(at[0], at[1]), vmaxq_f32(at[2], at[3])));
        found |= ((uint32_t)(low >= patch->high[k] + limit) |
                  (uint32_t)(high <= patch->low[k] - limit) << 1)
                 << 2 * k;
    }
    return found;
}

static uint32_t within(const flr_fit_patch *patch, const flr_fit_lanes *points, float limit)
{
    uint32x4_t in[FIT_NEON_PARTS];
    for (int i = 0; i < FIT_NEON_PARTS; i++) {
        const four p = load(points, i);
        in[i] = vdupq_n_u32(UINT32_MAX);
        for (int k = 0; k < 3; k++) {
            const float32x4_t at = along(patch->axes[k], p, 0.0f);
            in[i] = vandq_u32(in[i], vandq_u32(vcleq_f32(at, ALL(patch->high[k] + limit)),
                                               vcgeq_f32(at, ALL(patch->low[k] - limit))));
        }
    }
    return bits_of(bytes_of(in));
}

static uint32_t near(const flr_fit_plane *planes, const flr_fit_face *faces, uint32_t count,
                     const flr_fit_lanes *p, const float limit2[], float d2[][FLR_FIT_LANES],
                     float best[], int32_t at[])
{
    const float32x4_t zero = ALL(0);
    four from[FIT_NEON_PARTS];
    float32x4_t limit[FIT_NEON_PARTS], nearest[FIT_NEON_PARTS];
    uint32x4_t which[FIT_NEON_PARTS];
    for (int i = 0; i < FIT_NEON_PARTS; i++) {
        from[i] = load(p, i);
        nearest[i] = limit[i] = vld1q_f32(limit2 + 4 * i);
        which[i] = vdupq_n_u32(UINT32_MAX);
    }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < count; k++) {
        const flr_fit_face *f = &faces[k];
        uint32x4_t any = vdupq_n_u32(0);
        for (int i = 0; i < FIT_NEON_PARTS; i++) {
            const over_face o = over_of(&planes[k], f, from[i]);
            const float32x4_t out =
                vmaxq_f32(vmaxq_f32(vmulq_n_f32(vnegq_f32(o.x), f->height[0]),
                                    vmulq_n_f32(vnegq_f32(o.y), f->height[1])),
                          vmaxq_f32(vmulq_n_f32(vnegq_f32(o.z), f->height[2]), zero));
            const float32x4_t all = ADD(MUL(o.s, o.s), MUL(out, out));
            const uint32x4_t less = vcltq_f32(all, nearest[i]);
            any = vorrq_u32(any, vcltq_f32(all, limit[i]));
            nearest[i] = vbslq_f32(less, all, nearest[i]);
            which[i] = vbslq_u32(less, vdupq_n_u32(k), which[i]);
            vst1q_f32(d2[k] + 4 * i, all);
        }
        kept |= (uint32_t)(vmaxvq_u32(any) != 0) << k;
    }
    for (int i = 0; i < FIT_NEON_PARTS; i++) {
        vst1q_f32(best + 4 * i, nearest[i]);
        vst1q_s32(at + 4 * i, vreinterpretq_s32_u32(which[i]));
    }
    return kept;
}

static void nearer(uint32_t kept, const float d2[][FLR_FIT_LANES], const float limit2[],
                   const int32_t at[], uint16_t masks[])
{
    for (; kept; kept &= kept - 1) {
        const int f = __builtin_ctz(kept);
        uint32x4_t less[FIT_NEON_PARTS];
        for (int i = 0; i < FIT_NEON_PARTS; i++)
            less[i] = vbicq_u32(vcltq_f32(vld1q_f32(d2[f] + 4 * i), vld1q_f32(limit2 + 4 * i)),
                                vceqq_s32(vld1q_s32(at + 4 * i), vdupq_n_s32(f)));
        masks[f] = (uint16_t)bits_of(bytes_of(less));
    }
}

static uint32_t unsure(const float *bounds, const float *sure, uint32_t count, float limit,
                       float way, float need, uint32_t *near)
{
    uint32x4_t below[FIT_NEON_PARTS], there[FIT_NEON_PARTS];
    float b[FLR_FIT_LANES], s[FLR_FIT_LANES];
    if (count < FLR_FIT_LANES) {
        for (uint32_t i = 0; i < FLR_FIT_LANES; i++)
            b[i] = i < count ? bounds[i] : INFINITY, s[i] = i < count ? sure[i] : 0;
        bounds = b, sure = s;
    }
    for (int k = 0; k < FIT_NEON_PARTS; k++) {
        below[k] = vcltq_f32(vld1q_f32(bounds + 4 * k), ALL(limit));
        there[k] = vcgeq_f32(SUB(vld1q_f32(sure + 4 * k), ALL(way)), ALL(need));
    }
    *near = bits_of(bytes_of(below)) & (uint32_t)((1u << count) - 1);
    return *near & ~bits_of(bytes_of(there));
}

static float heights(const float axes[3][3], const float curve[5], const flr_fit_lanes *points,
                     const float shift[3], float side, float off)
{
    float32x4_t lowest = ALL(INFINITY), steepest = ALL(0);
    for (int i = 0; i < FIT_NEON_PARTS; i++) {
        const four p = shifted(points, i, shift);
        const float32x4_t up = along(axes[0], p, 0.0f), u = along(axes[1], p, 0.0f),
                          v = along(axes[2], p, 0.0f);
        const float32x4_t bent =
            MUL(u, ADD(ADD(ALL(curve[0]), vmulq_n_f32(u, curve[2])), vmulq_n_f32(v, curve[3])));
        const float32x4_t h =
            SUB(SUB(up, bent), MUL(v, ADD(ALL(curve[1]), vmulq_n_f32(v, curve[4]))));
        const float32x4_t gx = ADD(ADD(ALL(curve[0]), vmulq_n_f32(u, curve[2] + curve[2])),
                                   vmulq_n_f32(v, curve[3])),
                          gy = ADD(ADD(ALL(curve[1]), vmulq_n_f32(v, curve[4] + curve[4])),
                                   vmulq_n_f32(u, curve[3])),
                          steep2 = ADD(MUL(gx, gx), MUL(gy, gy));
        const float32x4_t over = SUB(vmulq_n_f32(h, side), ALL(off));
        lowest = vminq_f32(lowest, vdivq_f32(over, vsqrtq_f32(ADD(ALL(1.0f), steep2))));
        steepest = vmaxq_f32(steepest, steep2);
    }
    return vmaxvq_f32(steepest) < FLR_FIT_STEEP2 ? vminvq_f32(lowest) : -INFINITY;
}

static float extent(const float n[3], const flr_fit_lanes *points, const float shift[3])
{
    float32x4_t lowest = ALL(INFINITY);
    for (int i = 0; i < FIT_NEON_PARTS; i++)
        lowest = vminq_f32(lowest, along(n, shifted(points, i, shift), 0.0f));
    return vminvq_f32(lowest);
}

static float over(const flr_fit_plane *planes, uint32_t count, const flr_fit_lanes *points,
                  const float shift[3], float side)
{
    float32x4_t lowest = ALL(INFINITY);
    four p[FIT_NEON_PARTS];
    for (int i = 0; i < FIT_NEON_PARTS; i++) p[i] = shifted(points, i, shift);
    for (uint32_t f = 0; f < count; f++)
        for (int i = 0; i < FIT_NEON_PARTS; i++)
            lowest = vminq_f32(lowest, vmulq_n_f32(along(planes[f].n, p[i], -planes[f].o), side));
    return vminvq_f32(lowest);
}

static uint32_t boxes(const flr_fit_boxes *b, const float low[3], const float high[3])
{
    uint32x4_t meet[FIT_NEON_PARTS] = {vdupq_n_u32(UINT32_MAX), vdupq_n_u32(UINT32_MAX),
                                       vdupq_n_u32(0), vdupq_n_u32(0)};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < FLR_FIT_WIDE / 4; i++)
            meet[i] = vandq_u32(meet[i],
                                vandq_u32(vcleq_f32(vld1q_f32(b->low[k] + 4 * i), ALL(high[k])),
                                          vcgeq_f32(vld1q_f32(b->high[k] + 4 * i), ALL(low[k]))));
    return bits_of(bytes_of(meet));
}

static uint32_t box_distances(const flr_fit_boxes *b, const float point[3], float limit2,
                              float d2[FLR_FIT_WIDE])
{
    uint32x4_t near[FIT_NEON_PARTS] = {vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0),
                                       vdupq_n_u32(0)};
    for (int i = 0; i < FLR_FIT_WIDE / 4; i++) {
        float32x4_t sum = ALL(0.0f);
        for (int k = 0; k < 3; k++) {
            const float32x4_t at = ALL(point[k]), below = SUB(vld1q_f32(b->low[k] + 4 * i), at),
                              above = SUB(at, vld1q_f32(b->high[k] + 4 * i)),
                              gap = vmaxq_f32(vmaxq_f32(below, above), ALL(0.0f));
            sum = ADD(sum, MUL(gap, gap));
        }
        vst1q_f32(d2 + 4 * i, sum);
        near[i] = vcltq_f32(sum, ALL(limit2));
    }
    return bits_of(bytes_of(near));
}

const flr_fit_kernel flr_fit_kernel_neon = {move,    bounds, extents, sides,  corners,
                                            apart,   within, near,    nearer, unsure,
                                            heights, extent, over,    boxes,  box_distances};
#endif
