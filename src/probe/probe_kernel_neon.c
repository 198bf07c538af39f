/* 16 triangles, or 4 boxes, at a time */
#include "probe/probe_kernel.h"

#if defined(__aarch64__) && !defined(FLR_NO_SIMD)
#include <arm_neon.h>

#define TARGET

typedef struct segment {
    const flr_probe_local *local;
    uint8x16_t sides[6]; /* of its box: each the farthest that still meets it, 16 times */
    int16x8_t words;     /* both ends */
} segment;

static inline void prepare(const flr_probe_local *local, segment *s)
{
    const int32x4_t a = vld1q_s32((const int32_t *)&local->a),
                    b = vld1q_s32((const int32_t *)&local->b);
    /* the segment's box, a fine unit larger for rounding; narrowing cuts to 0 … 255 */
    const int32x4_t low =
        vshrq_n_s32(vaddq_s32(vminq_s32(a, b), vdupq_n_s32(FLR_PROBE_HALF - 1)), 3);
    const int32x4_t high =
        vshrq_n_s32(vaddq_s32(vmaxq_s32(a, b), vdupq_n_s32(FLR_PROBE_HALF + 1)), 3);
    const uint8x8_t sides = vqmovun_s16(vcombine_s16(vqmovn_s32(high), vqmovn_s32(low)));
    const uint8x8_t flipped = vmvn_u8(sides);
    s->sides[0] = vdupq_lane_u8(sides, 0);
    s->sides[1] = vdupq_lane_u8(sides, 1);
    s->sides[2] = vdupq_lane_u8(sides, 2);
    s->sides[3] = vdupq_lane_u8(flipped, 4);
    s->sides[4] = vdupq_lane_u8(flipped, 5);
    s->sides[5] = vdupq_lane_u8(flipped, 6);
    s->words = vcombine_s16(vqmovn_s32(a), vqmovn_s32(b));
    s->local = local;
}

/* 16 truths to bits */
static inline uint32_t bits_of(uint8x16_t truth)
{
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t sum = vandq_u8(truth, weight);
    sum = vpaddq_u8(sum, sum);
    sum = vpaddq_u8(sum, sum);
    return vgetq_lane_u16(vreinterpretq_u16_u8(vpaddq_u8(sum, sum)), 0);
}

static inline uint32_t meet(const uint8_t box[6][FLR_PROBE_LANES], const segment *s)
{
    uint8x16_t met = vcleq_u8(vld1q_u8(box[0]), s->sides[0]);
    for (int k = 1; k < 6; k++) met = vandq_u8(met, vcleq_u8(vld1q_u8(box[k]), s->sides[k]));
    return vmaxvq_u8(met) ? bits_of(met) : 0;
}

/* where an end lies along eight directions */
#define ALONG(direction, i, first)                                                                 \
    vaddq_s16(                                                                                     \
        vaddq_s16(vqrdmulhq_laneq_s16(vld1q_s16((direction)[0] + (i)), s->words, first),           \
                  vqrdmulhq_laneq_s16(vld1q_s16((direction)[1] + (i)), s->words, (first) + 1)),    \
        vqrdmulhq_laneq_s16(vld1q_s16((direction)[2] + (i)), s->words, (first) + 2))

/* Of eight lanes, those whose interval the segment does not reach: all ones. */
static inline uint16x8_t apart(int16x8_t a, int16x8_t b, int16x8_t from, int16x8_t to)
{
    const int16x8_t slack = vdupq_n_s16(FLR_PROBE_SLACK);
    return vorrq_u16(vcgtq_s16(vminq_s16(a, b), vaddq_s16(to, slack)),
                     vcgtq_s16(vsubq_s16(from, slack), vmaxq_s16(a, b)));
}

static inline uint32_t pass(const flr_probe_block *block, const segment *s, uint32_t mask)
{
    uint16x8_t gone[2];
    for (int k = 0; k < 2; k++) {
        const int i = 8 * k;
        const int16x8_t offset = vld1q_s16(block->offset + i);
        gone[k] =
            vorrq_u16(apart(ALONG(block->normal, i, 0), ALONG(block->normal, i, 4), offset, offset),
                      apart(ALONG(block->side, i, 0), ALONG(block->side, i, 4),
                            vld1q_s16(block->side_low + i), vld1q_s16(block->side_high + i)));
    }
    return mask & ~bits_of(vuzp1q_u8(vreinterpretq_u8_u16(gone[0]), vreinterpretq_u8_u16(gone[1])));
}

static inline bool any_of(const flr_long4 *lanes)
{
    return ((*lanes)[0] | (*lanes)[1] | (*lanes)[2]) != 0;
}

#define GATHER_BLOCKS flr_gather_neon
#define NEAR_SEGMENT  flr_near_neon
#include "probe/near.h"

/* The order of operations is that of the scalar version, so that both round alike. */
#define ROW(vector, number)                                                                        \
    vaddq_f32(vaddq_f32(vmulq_f32(AXIS(number, 0), (vector)[0]),                                   \
                        vmulq_f32(AXIS(number, 1), (vector)[1])),                                  \
              vmulq_f32(AXIS(number, 2), (vector)[2]))
#define AXIS(number, part) vld1q_f32(&node->axis[number][part][i])
#define HALF(axis)         vld1q_f32(&node->half[axis][i])
#define CROSS(u, v)                                                                                \
    vcgtq_f32(vabdq_f32(vmulq_f32(m[u], w[v]), vmulq_f32(m[v], w[u])),                             \
              vmulq_n_f32(vaddq_f32(vmulq_f32(HALF(u), vaddq_f32(vabsq_f32(w[v]), slack)),         \
                                    vmulq_f32(HALF(v), vaddq_f32(vabsq_f32(w[u]), slack))),        \
                          FLR_PROBE_ROUND_UP))

uint32_t flr_node_neon(const flr_probe_node *node, const flr_probe_span *span)
{
    const float32x4_t slack = vdupq_n_f32(span->slack);
    const uint32x4_t weight = {1, 2, 4, 8};
    float32x4_t h[3];
    for (int k = 0; k < 3; k++) h[k] = vdupq_n_f32(span->half[k]);
    uint32_t mask = 0;
    for (int i = 0; i < FLR_PROBE_LANES; i += 4) {
        float32x4_t d[3], m[3], w[3];
        uint32x4_t apart = vdupq_n_u32(0);
        for (int k = 0; k < 3; k++)
            d[k] = vsubq_f32(vdupq_n_f32(span->middle[k]), vld1q_f32(&node->centre[k][i]));
        for (int k = 0; k < 3; k++) {
            m[k] = ROW(d, k);
            w[k] = ROW(h, k);
            apart =
                vorrq_u32(apart, vcgtq_f32(vabsq_f32(m[k]), vaddq_f32(vabsq_f32(w[k]), HALF(k))));
        }
        if (vminvq_u32(apart)) continue;
        apart = vorrq_u32(apart, CROSS(1, 2));
        apart = vorrq_u32(apart, CROSS(2, 0));
        apart = vorrq_u32(apart, CROSS(0, 1));
        mask |= vaddvq_u32(vbicq_u32(weight, apart)) << i;
    }
    return mask;
}
#endif
