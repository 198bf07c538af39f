/* kernel_lanes.h: the loops of a kernel in plain C, written so that compilers turn them into vector instructions; each
 * kernel_*.c compiles them for its own. Every lane does what a single point would: the results have the same bits. */
#ifndef FLR_CONTACT_KERNEL_LANES_H
#define FLR_CONTACT_KERNEL_LANES_H

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
#include <arm_neon.h>
#endif

#include "contact/kernel.h"

#define FLR_LANES static inline __attribute__((always_inline))

/* the place of a point in the local table: the slot of its chunk above the cell in that chunk */
enum { FLR_CELL_BITS = 9, FLR_CELL_MASK = (1 << FLR_CELL_BITS) - 1 };
#define FLR_NEAR_SIDE UINT32_C(0x80000000) /* within the slack of a side of its voxel */

FLR_LANES float flr_lane_larger(float a, float b) { return a > b ? a : b; }

/* a point in single precision, in voxels from the local table's corner, and its normal */
typedef struct flr_lane {
    float at[3], n[3];
    float length; /* of the normal */
} flr_lane;

FLR_LANES flr_lane flr_lane_place(const flr_scan_job *j, uint32_t i, bool with_normal,
                                  bool displaced)
{
    flr_lane p = {0};
    float x = j->x[i], y = j->y[i], z = j->z[i];
    for (int k = 0; k < 3; k++)
        p.at[k] =
            j->matrix[k][0] * x + j->matrix[k][1] * y + (j->matrix[k][2] * z + j->matrix[k][3]);
    if (!with_normal) return p;
    /* flr_shell_unpack() in single precision */
    int32_t packed = (int32_t)j->normal[i];
    float u = (float)((int32_t)((uint32_t)packed << 16) >> 16) * (1.0f / 32767);
    float v = (float)(packed >> 16) * (1.0f / 32767);
    float au = fabsf(u), av = fabsf(v), w = 1 - au - av;
    float fu = u < 0 ? av - 1 : 1 - av, fv = v < 0 ? au - 1 : 1 - au;
    u = w < 0 ? fu : u;
    v = w < 0 ? fv : v;
    p.length = sqrtf(u * u + v * v + w * w);
    for (int k = 0; k < 3; k++) p.n[k] = j->turn[k][0] * u + j->turn[k][1] * v + j->turn[k][2] * w;
    if (!displaced) return p;
    float by = j->displacement / p.length;
    for (int k = 0; k < 3; k++) p.at[k] -= by * p.n[k];
    return p;
}

/* Voxels that a point is below the plane through the middle of its voxel. */
FLR_LANES float flr_lane_depth(const flr_lane *p)
{
    float depth = 0;
    for (int k = 0; k < 3; k++) depth += ((float)(int32_t)p->at[k] + 0.5f - p->at[k]) * p->n[k];
    return depth / p->length;
}

/* Writes the places of points begin … end - 1; displaced ones also have their normals at hand, so their depths, too. */
FLR_LANES void flr_lanes_places(const flr_scan_job *given, bool displaced, uint32_t begin,
                                uint32_t end, uint32_t *restrict places, float *restrict depths)
{
    const flr_scan_job j = *given;
    const float middle = 0.5f - j.slack;
    for (uint32_t i = begin; i < end; i++) {
        flr_lane p = flr_lane_place(&j, i, displaced, displaced);
        int32_t vx = (int32_t)p.at[0], vy = (int32_t)p.at[1], vz = (int32_t)p.at[2];
        float off = flr_lane_larger(
            fabsf(p.at[0] - (float)vx - 0.5f),
            flr_lane_larger(fabsf(p.at[1] - (float)vy - 0.5f), fabsf(p.at[2] - (float)vz - 0.5f)));
        int32_t cell = (vx & 7) | (vy & 7) << 3 | (vz & 7) << 6;
        int32_t slot = vx >> 3 | vy >> 3 << j.order | vz >> 3 << 2 * j.order;
        places[i] = (uint32_t)(slot << FLR_CELL_BITS | cell) | (off > middle ? FLR_NEAR_SIDE : 0);
        if (displaced) depths[i] = flr_lane_depth(&p);
    }
}

/* The depths of 16 points from i on that are not displaced. */
FLR_LANES void flr_lanes_depths(const flr_scan_job *given, uint32_t i, float *restrict depths)
{
    const flr_scan_job j = *given;
    for (uint32_t k = i; k < i + 16; k++) {
        flr_lane p = flr_lane_place(&j, k, true, false);
        depths[k] = flr_lane_depth(&p);
    }
}

/* Looks up the marks of points from … to - 1, one by one. */
FLR_LANES void flr_lanes_marks(const flr_scan_job *j, unsigned shift, uint32_t from, uint32_t to,
                               const uint32_t *restrict places, uint8_t *restrict marks)
{
    const uint32_t *local = j->local, *planes = j->planes;
    const uint32_t slots = (1u << 3 * j->order) - 1, mask = (1u << (1 << shift)) - 1;
    for (uint32_t i = from; i < to; i++) {
        uint32_t place = places[i], slot = place >> FLR_CELL_BITS & slots, entry = local[slot];
        uint32_t bit = (place & FLR_CELL_MASK) << shift;
        /* an entry for a whole chunk is its own word: no branch, since neighbours differ too often to be foreseen */
        bool stored = !(entry & FLR_UNIFORM);
        uint64_t at = stored ? ((uint64_t)entry << (4 + shift)) + bit / 32 : slot;
        const uint32_t *word = (stored ? planes : local) + at;
        marks[i] = (uint8_t)(*word >> (stored ? bit % 32 : 0) & (stored ? mask : 255));
    }
}

/* Where 16 points from i on are between the middles of voxels: those before them, 8 bits an axis, or FLR_UNKNOWN where that is not
 * sure, or where the 8 voxels around are not in the local table, or not in one chunk along x. */
FLR_LANES void flr_lanes_bases(const flr_scan_job *given, bool displaced, uint32_t i,
                               uint32_t *restrict bases)
{
    const flr_scan_job j = *given;
    const int32_t size = (8 << j.order) - 1;
    const float middle = 0.5f - j.slack;
    for (uint32_t k = 0; k < 16; k++) {
        flr_lane p = flr_lane_place(&j, i + k, displaced, displaced);
        float x = p.at[0] - 0.5f, y = p.at[1] - 0.5f, z = p.at[2] - 0.5f;
        int32_t vx = (int32_t)x, vy = (int32_t)y, vz = (int32_t)z;
        float off = flr_lane_larger(
            fabsf(x - (float)vx - 0.5f),
            flr_lane_larger(fabsf(y - (float)vy - 0.5f), fabsf(z - (float)vz - 0.5f)));
        /* below 0 it is farther off than the middle */
        bool unsure = (off > middle) | ((vx & 7) == 7) | (vy >= size) | (vz >= size);
        bases[k] = unsure ? FLR_UNKNOWN : (uint32_t)(vx | vy << 8 | vz << 16);
    }
}

/* The 8 marks around a point, 4 bits each, x fastest. */
FLR_LANES uint32_t flr_lanes_around(const flr_scan_job *j, uint32_t base)
{
    const uint32_t x = base & 255, y = base >> 8 & 255, z = base >> 16;
    uint32_t around = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t cy = y + (i & 1), cz = z + (i >> 1);
        uint32_t slot = x >> 3 | cy >> 3 << j->order | cz >> 3 << 2 * j->order;
        uint32_t entry = j->local[slot];
        bool stored = !(entry & FLR_UNIFORM);
        uint64_t at = stored ? ((uint64_t)entry << 6) + (cz & 7) * 8 + (cy & 7) : slot;
        uint32_t row = (stored ? j->planes : j->local)[at];
        around |= (stored ? row >> 4 * (x & 7) & 255 : (row & 15) * 0x11) << 8 * i;
    }
    return around;
}

/* 16 points, a byte each; true is all ones */
typedef uint8_t flr_bytes __attribute__((vector_size(16)));

#if defined(__SSE2__) /* every x86-64 has it */
/* 16 times true or false to bits. */
FLR_LANES uint32_t flr_lanes_bits(flr_bytes truth)
{
    return (uint32_t)_mm_movemask_epi8((__m128i)truth);
}

/* Bits of 16 places that lie near a side. */
FLR_LANES uint32_t flr_lanes_sides(const uint32_t places[16])
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 16; i += 4)
        bits |= (uint32_t)_mm_movemask_ps(_mm_loadu_ps((const float *)(places + i))) << i;
    return bits;
}
#elif defined(__aarch64__) && !defined(FLR_NO_SIMD)
FLR_LANES uint32_t flr_lanes_bits(flr_bytes truth)
{
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t sum = vandq_u8((uint8x16_t)truth, weight);
    sum = vpaddq_u8(sum, sum);
    sum = vpaddq_u8(sum, sum);
    return vgetq_lane_u16(vreinterpretq_u16_u8(vpaddq_u8(sum, sum)), 0);
}

FLR_LANES uint32_t flr_lanes_sides(const uint32_t places[16])
{
    uint32_t bits = 0;
    const int32x4_t weight = {1, 2, 4, 8};
    for (uint32_t i = 0; i < 16; i += 4) {
        const uint32x4_t near = vcltzq_s32(vreinterpretq_s32_u32(vld1q_u32(places + i)));
        bits |= vaddvq_u32(vandq_u32(near, vreinterpretq_u32_s32(weight))) << i;
    }
    return bits;
}
#else
FLR_LANES uint32_t flr_lanes_bits(flr_bytes truth)
{
    uint64_t half[2];
    memcpy(half, &truth, 16);
    const uint64_t ones = UINT64_C(0x0101010101010101), gather = UINT64_C(0x0102040810204080);
    return (uint32_t)((half[0] & ones) * gather >> 56) | (uint32_t)((half[1] & ones) * gather >> 56)
                                                             << 8;
}

FLR_LANES uint32_t flr_lanes_sides(const uint32_t places[16])
{
    uint32_t any = 0, bits = 0;
    for (uint32_t i = 0; i < 16; i++) any |= places[i];
    if (any & FLR_NEAR_SIDE)
        for (uint32_t i = 0; i < 16; i++) bits |= places[i] >> 31 << i;
    return bits;
}
#endif

/* Bits back to 16 times true or false. */
FLR_LANES flr_bytes flr_lanes_spread(uint32_t bits)
{
    flr_bytes truth;
    for (uint32_t i = 0; i < 16; i++) truth[i] = (uint8_t) - (bits >> i & 1);
    return truth;
}

FLR_LANES uint32_t flr_lanes_count(uint32_t bits)
{
    bits -= bits >> 1 & 0x5555;
    bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
    bits = (bits + (bits >> 4)) & 0x0F0F;
    return (bits + (bits >> 8)) & 31;
}

/* Sorts points whose places and marks are known. */
FLR_LANES void flr_lanes_sort(const flr_scan_job *given, bool displaced, const uint32_t *places,
                              float *depths, flr_scan_hits *restrict hits)
{
    const flr_scan_job j = *given;
    const flr_bytes none = {0}, lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const flr_bytes force = none + (uint8_t)j.force_mark, layer_one = none + (uint8_t)j.layer_one;
    const float shallow = (float)j.force_mark + 4 * j.slack + 1e-4f;
    flr_bytes least = none + 255;
    hits->near_count = hits->deep_count = 0;
    for (uint32_t word = j.from / 16; word < (j.to + 15) / 16; word++) {
        const uint32_t begin = word * 16;
        const uint8_t *marks = hits->marks + begin;
        const uint32_t first = begin < j.from ? j.from - begin : 0,
                       end = begin + 16 > j.to ? j.to - begin : 16;
        const flr_bytes beyond =
            (flr_bytes)(lane < none + (uint8_t)first) | (flr_bytes)(lane >= none + (uint8_t)end);
        uint32_t unsure = flr_lanes_sides(places + begin) & ((1u << end) - (1u << first));
        /* one less, so that free is the largest; an unsure one counts as free */
        flr_bytes below;
        memcpy(&below, marks, 16);
        below = (below - 1) | beyond;
        if (unsure) below |= flr_lanes_spread(unsure);
        flr_bytes less = (flr_bytes)(below < least), touches = (flr_bytes)(below < force);
        least = (less & below) | (~less & least);
        uint32_t touch = flr_lanes_bits(touches), press = touch;
        uint32_t near = flr_lanes_bits((flr_bytes)(below == force));
        if (touch | near) {
            hits->near_count += flr_lanes_count(near);
            hits->deep_count += flr_lanes_count(flr_lanes_bits((flr_bytes)(below < layer_one)));
        }
        if (j.reach) press |= near;
        if (press && j.smooth) {
            uint32_t bases[16];
            flr_lanes_bases(&j, displaced, begin, bases);
            for (uint32_t rest = press; rest; rest &= rest - 1) {
                uint32_t i = (uint32_t)__builtin_ctz(rest);
                bool known = bases[i] != FLR_UNKNOWN;
                uint32_t around = known ? flr_lanes_around(&j, bases[i]) : FLR_UNKNOWN;
                hits->around[begin + i] = around;
                /* the interpolated distance is not below the force layer if no mark is */
                press &= ~((uint32_t)(known && !flr_marks_any(around, j.force_mark - 1)) << i);
            }
        }
        if (touch && j.judged) {
            if (!displaced) flr_lanes_depths(&j, begin, depths);
            for (uint32_t rest = touch; rest; rest &= rest - 1) {
                uint32_t i = (uint32_t)__builtin_ctz(rest);
                bool deep = depths[begin + i] > (float)marks[i] - shallow;
                press &= ~((uint32_t)!deep << i);
            }
        }
        hits->touch[word] = (uint16_t)touch;
        hits->press[word] = (uint16_t)press;
        hits->near[word] = (uint16_t)near;
        hits->unsure[word] = (uint16_t)unsure;
    }
    uint8_t lowest = 255;
    for (uint32_t i = 0; i < 16; i++) lowest = least[i] < lowest ? least[i] : lowest;
    hits->least = lowest == 255 ? UINT32_MAX : lowest;
}

FLR_LANES void flr_lanes_scan_as(const flr_scan_job *job, bool displaced, flr_scan_hits *hits)
{
    _Alignas(64) uint32_t places[FLR_SCAN_POINTS];
    _Alignas(64) float depths[FLR_SCAN_POINTS];
    flr_lanes_places(job, displaced, job->from / 16 * 16, (job->to + 15) / 16 * 16, places, depths);
    if (job->shift == 2)
        flr_lanes_marks(job, 2, job->from, job->to, places, hits->marks);
    else
        flr_lanes_marks(job, job->shift, job->from, job->to, places, hits->marks);
    flr_lanes_sort(job, displaced, places, depths, hits);
}

FLR_LANES void flr_lanes_scan(const flr_scan_job *job, flr_scan_hits *hits)
{
    if (job->displaced)
        flr_lanes_scan_as(job, true, hits);
    else
        flr_lanes_scan_as(job, false, hits);
}

/* ---- judging ---- */

FLR_LANES uint32_t flr_lanes_pick(const flr_pick *given, const uint16_t *bits, uint32_t word,
                                  uint32_t end, flr_batch *restrict b)
{
    const flr_pick p = *given;
    uint32_t to = b->count;
    for (; word < end && !(bits[word] && to > FLR_BATCH_FULL); word++)
        for (uint32_t rest = bits[word]; rest; rest &= rest - 1, to++) {
            uint32_t i = word * 16 + (uint32_t)__builtin_ctz(rest);
            b->x[to] = p.corner[0] + p.step * p.x[i];
            b->y[to] = p.corner[1] + p.step * p.y[i];
            b->z[to] = p.corner[2] + p.step * p.z[i];
            b->normal[to] = p.normal[i];
            b->mark[to] = p.marks[i];
            b->around[to] = p.known ? p.around[i] : FLR_UNKNOWN;
            b->point[to] = p.first + i;
            b->label[to] = (uint8_t)((i >= p.edges) + (i >= p.faces));
        }
    b->count = to;
    return word;
}

FLR_LANES void flr_lanes_keep(flr_batch *restrict b, uint32_t i, flr_contact_point p, double size,
                              flr_contact_share share)
{
    b->at[0][i] = p.at.x, b->at[1][i] = p.at.y, b->at[2][i] = p.at.z;
    b->n[0][i] = p.normal.x, b->n[1][i] = p.normal.y, b->n[2][i] = p.normal.z;
    b->size[i] = size;
    /* sums begin at +0, so that adding a 0 changes no bit */
    b->push[0][i] = size > 0 ? share.push.x : 0;
    b->push[1][i] = size > 0 ? share.push.y : 0;
    b->push[2][i] = size > 0 ? share.push.z : 0;
    b->turn[0][i] = size > 0 ? share.turn.x : 0;
    b->turn[1][i] = size > 0 ? share.turn.y : 0;
    b->turn[2][i] = size > 0 ? share.turn.z : 0;
}

/* whole vectors: what lies in the lanes beyond does not matter */
FLR_LANES uint32_t flr_lanes_rounded(const flr_batch *batch) { return (batch->count + 7) / 8 * 8; }

FLR_LANES void flr_lanes_touch(const flr_contact_frame *given, flr_batch *restrict b)
{
    const flr_contact_frame frame = *given;
    const uint32_t count = flr_lanes_rounded(b);
    for (uint32_t i = 0; i < count; i++) {
        flr_contact_point p = flr_contact_point_at(&frame, b->x[i], b->y[i], b->z[i], b->normal[i]);
        double depth = flr_contact_depth(&frame, p, b->mark[i]);
        flr_lanes_keep(b, i, p, depth, flr_contact_push(&frame, p, depth));
    }
}

FLR_LANES void flr_lanes_place(const flr_contact_frame *given, flr_batch *restrict b)
{
    const flr_contact_frame frame = *given;
    const uint32_t count = flr_lanes_rounded(b);
    for (uint32_t i = 0; i < count; i++) {
        flr_contact_point p = flr_contact_point_at(&frame, b->x[i], b->y[i], b->z[i], b->normal[i]);
        b->at[0][i] = p.at.x, b->at[1][i] = p.at.y, b->at[2][i] = p.at.z;
        b->n[0][i] = p.normal.x, b->n[1][i] = p.normal.y, b->n[2][i] = p.normal.z;
    }
}

FLR_LANES flr_contact_point flr_lanes_point(const flr_batch *b, uint32_t i)
{
    return (flr_contact_point){flr_vec3_make(b->at[0][i], b->at[1][i], b->at[2][i]),
                               flr_vec3_make(b->n[0][i], b->n[1][i], b->n[2][i])};
}

FLR_LANES void flr_lanes_smooth(const flr_contact_frame *given, flr_batch *restrict b)
{
    const flr_contact_frame frame = *given;
    const uint32_t count = flr_lanes_rounded(b);
    for (uint32_t i = 0; i < count; i++) {
        flr_contact_point p = flr_lanes_point(b, i);
        b->size[i] = flr_contact_interpolated(&frame, p.at, b->surface[i]);
    }
    for (uint32_t i = 0; frame.awareness && i < count; i++) {
        flr_contact_point p = flr_lanes_point(b, i);
        b->size[i] *= flr_contact_weight(&frame, p.at, b->field[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        flr_contact_point p = flr_lanes_point(b, i);
        double depth = b->size[i] > 0 ? b->size[i] : 0;
        flr_lanes_keep(b, i, p, depth, flr_contact_push(&frame, p, depth));
    }
}

FLR_LANES void flr_lanes_world(const flr_contact_frame *given, flr_batch *restrict b)
{
    const flr_pose T = given->T_world_voxmap;
    const flr_grid grid = given->voxmap->header->grid;
    const uint32_t count = flr_lanes_rounded(b);
    for (uint32_t i = 0; i < count; i++) {
        flr_contact_point p = flr_lanes_point(b, i);
        flr_vec3 at = flr_pose_apply(T, flr_grid_to_metres(&grid, p.at)),
                 n = flr_quat_rotate(T.q, p.normal);
        b->world[0][i] = at.x, b->world[1][i] = at.y, b->world[2][i] = at.z;
        b->facing[0][i] = n.x, b->facing[1][i] = n.y, b->facing[2][i] = n.z;
    }
}

FLR_LANES void flr_lanes_brake(const flr_contact_frame *given, flr_batch *restrict b)
{
    const flr_contact_frame frame = *given;
    const uint32_t count = flr_lanes_rounded(b);
    for (uint32_t i = 0; i < count; i++) {
        flr_contact_point p = flr_contact_point_at(&frame, b->x[i], b->y[i], b->z[i], b->normal[i]);
        double approach;
        flr_contact_share share = flr_contact_brake(&frame, p, &approach);
        flr_lanes_keep(b, i, p, approach, share);
    }
}

FLR_LANES void flr_lanes_centres(const flr_contact_frame *given, const flr_shell_chunk *chunks,
                                 uint32_t count, double at[3][FLR_SCAN_POINTS])
{
    const flr_contact_frame frame = *given;
    for (uint32_t i = 0; i < count; i++) {
        const float *c = chunks[i].centre;
        flr_vec3 v = flr_contact_voxels(&frame, (double)c[0], (double)c[1], (double)c[2]);
        at[0][i] = v.x, at[1][i] = v.y, at[2][i] = v.z;
    }
}

/* The loops after scanning and picking, compiled for a target. */
#define FLR_LANES_LOOPS(TARGET)                                                                    \
    TARGET static void touch(const flr_contact_frame *frame, flr_batch *batch)                     \
    {                                                                                              \
        flr_lanes_touch(frame, batch);                                                             \
    }                                                                                              \
    TARGET static void brake(const flr_contact_frame *frame, flr_batch *batch)                     \
    {                                                                                              \
        flr_lanes_brake(frame, batch);                                                             \
    }                                                                                              \
    TARGET static void place(const flr_contact_frame *frame, flr_batch *batch)                     \
    {                                                                                              \
        flr_lanes_place(frame, batch);                                                             \
    }                                                                                              \
    TARGET static void smooth(const flr_contact_frame *frame, flr_batch *batch)                    \
    {                                                                                              \
        flr_lanes_smooth(frame, batch);                                                            \
    }                                                                                              \
    TARGET static void world(const flr_contact_frame *frame, flr_batch *batch)                     \
    {                                                                                              \
        flr_lanes_world(frame, batch);                                                             \
    }                                                                                              \
    TARGET static void centres(const flr_contact_frame *frame, const flr_shell_chunk *chunks,      \
                               uint32_t count, double at[3][FLR_SCAN_POINTS])                      \
    {                                                                                              \
        flr_lanes_centres(frame, chunks, count, at);                                               \
    }

#define FLR_LANES_KERNEL(name)                                                                     \
    {                                                                                              \
        name, scan, pick, touch, brake, place, smooth, world, centres                              \
    }

#endif
