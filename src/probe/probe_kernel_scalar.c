/* one triangle or box at a time: the version to be read */
#include <math.h>

#include "probe/probe_kernel.h"

/* x y / 32768, rounded: one instruction of the vector units */
static inline int scaled(int16_t x, int16_t y) { return (x * y + 0x4000) >> 15; }

/* fine units to 0 … 255 across the frame; what lies outside counts as at the border */
static inline uint8_t coarse(int32_t fine)
{
    int32_t at = (fine + FLR_PROBE_HALF) >> 3;
    return (uint8_t)(at < 0 ? 0 : at > 255 ? 255 : at);
}

/* Along a direction, does the segment reach into an interval? */
static inline bool overlap(const int16_t direction[3][FLR_PROBE_LANES], int i,
                           const flr_probe_local *local, int from, int to)
{
    int a = 0, b = 0;
    for (int axis = 0; axis < 3; axis++) {
        a += scaled(direction[axis][i], (int16_t)local->a[axis]);
        b += scaled(direction[axis][i], (int16_t)local->b[axis]);
    }
    return (a < b ? a : b) <= to + FLR_PROBE_SLACK && (a < b ? b : a) >= from - FLR_PROBE_SLACK;
}

typedef struct segment {
    const flr_probe_local *local;
    uint8_t sides[6]; /* of its box, as a triangle's, but each the farthest that still meets it */
} segment;

static void prepare(const flr_probe_local *local, segment *s)
{
    s->local = local;
    for (int i = 0; i < 3; i++) {
        /* a fine unit larger for rounding */
        int32_t a = local->a[i], b = local->b[i];
        s->sides[i] = coarse((a < b ? b : a) + 1);
        s->sides[3 + i] = (uint8_t)(255 - coarse((a < b ? a : b) - 1));
    }
}

static uint32_t meet(const uint8_t box[6][FLR_PROBE_LANES], const segment *s)
{
    uint32_t mask = 0;
    for (int i = 0; i < FLR_PROBE_LANES; i++) {
        bool met = true;
        for (int row = 0; row < 6; row++) met &= box[row][i] <= s->sides[row];
        mask |= (uint32_t)met << i;
    }
    return mask;
}

static uint32_t pass(const flr_probe_block *block, const segment *s, uint32_t mask)
{
    uint32_t passed = 0;
    for (; mask; mask &= mask - 1) {
        int i = __builtin_ctz(mask), offset = block->offset[i];
        if (overlap(block->normal, i, s->local, offset, offset) &&
            overlap(block->side, i, s->local, block->side_low[i], block->side_high[i]))
            passed |= 1u << i;
    }
    return passed;
}

static bool any_of(const flr_long4 *lanes) { return (*lanes)[0] | (*lanes)[1] | (*lanes)[2]; }

/* Where a point lies along a direction, fine units. */
static inline float along(const int16_t direction[3][FLR_PROBE_LANES], int i, const flr_int4 *at)
{
    int32_t sum =
        direction[0][i] * (*at)[0] + direction[1][i] * (*at)[1] + direction[2][i] * (*at)[2];
    return (float)sum * (1.0f / 32768);
}

/* Where the segment crosses the plane, at t in truth, the heights of its ends are wrong by `slack` at most, and so is t by
 * slack / |difference of heights|: h_a + e_a = t (h_a + e_a - h_b - e_b) gives t = (h_a + (1 - t) e_a + t e_b) / (h_a - h_b). */
static bool crossed(const flr_probe_block *block, int i, const flr_probe_local *local)
{
    const float slack = FLR_PROBE_SLACK, offset = block->offset[i];
    float high_a = along(block->normal, i, &local->a) - offset,
          high_b = along(block->normal, i, &local->b) - offset, fall = high_a - high_b;
    if (fabsf(fall) <= 2 * slack) return true;
    float t = high_a / fall, blur = slack / fabsf(fall);
    for (int axis = 0; axis < 3; axis++) {
        float from = (float)local->a[axis], way = (float)(local->b[axis] - local->a[axis]);
        float at = from + t * way, around = blur * fabsf(way) + 8;
        /* what crosses outside the frame is found in another */
        int low = block->box[axis][i], high = 255 - block->box[3 + axis][i];
        if (at + around < (float)(8 * low - FLR_PROBE_HALF)) return false;
        if (at - around > (float)(8 * high + 8 - FLR_PROBE_HALF)) return false;
    }
    float from = along(block->side, i, &local->a), way = along(block->side, i, &local->b) - from;
    float at = from + t * way, around = blur * fabsf(way) + slack;
    return at + around >= block->side_low[i] && at - around <= block->side_high[i];
}

uint32_t flr_block_crossed(const flr_probe_block *block, const flr_probe_local *local,
                           uint32_t mask)
{
    uint32_t left = mask;
    for (; mask; mask &= mask - 1) {
        int i = __builtin_ctz(mask);
        if (!crossed(block, i, local)) left &= ~(1u << i);
    }
    return left;
}

#define TARGET
#define GATHER_BLOCKS flr_gather_scalar
#define NEAR_SEGMENT  flr_near_scalar
#include "probe/near.h"

uint32_t flr_node_scalar(const flr_probe_node *node, const flr_probe_span *span)
{
    uint32_t mask = 0;
    for (int i = 0; i < FLR_PROBE_LANES; i++) {
        float m[3], w[3], abs_w[3];
        const float d[3] = {span->middle[0] - node->centre[0][i],
                            span->middle[1] - node->centre[1][i],
                            span->middle[2] - node->centre[2][i]};
        bool apart = false;
        for (int axis = 0; axis < 3 && !apart; axis++) {
            float ux = node->axis[axis][0][i], uy = node->axis[axis][1][i],
                  uz = node->axis[axis][2][i];
            m[axis] = d[0] * ux + d[1] * uy + d[2] * uz;
            w[axis] = span->half[0] * ux + span->half[1] * uy + span->half[2] * uz;
            abs_w[axis] = fabsf(w[axis]);
            apart = fabsf(m[axis]) > abs_w[axis] + node->half[axis][i];
        }
        for (int axis = 0; axis < 3 && !apart; axis++) {
            int u = (axis + 1) % 3, v = (axis + 2) % 3;
            float most = node->half[u][i] * (abs_w[v] + span->slack) +
                         node->half[v][i] * (abs_w[u] + span->slack);
            apart = fabsf(m[u] * w[v] - m[v] * w[u]) > most * FLR_PROBE_ROUND_UP;
        }
        if (!apart) mask |= 1u << i;
    }
    return mask;
}
