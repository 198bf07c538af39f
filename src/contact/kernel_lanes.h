/* kernel_lanes.h: the loops of a kernel in plain C, written so that compilers turn them into vector instructions; each
 * kernel_*.c compiles them for its own. Every lane does what a single point would: the results have the same bits. */
#ifndef FLR_CONTACT_KERNEL_LANES_H
#define FLR_CONTACT_KERNEL_LANES_H

#include "contact/kernel.h"

#define FLR_LANES static inline __attribute__((always_inline))

/* the place of a point in the local table: the slot of its chunk above the cell in that chunk */
enum { FLR_CELL_BITS = 9, FLR_CELL_MASK = (1 << FLR_CELL_BITS) - 1 };
#define FLR_SIDE UINT32_C(0x80000000) /* within the slack of a side of its voxel */

FLR_LANES float flr_lane_larger(float a, float b) { return a > b ? a : b; }

/* Writes the places of points begin … end - 1. */
FLR_LANES void flr_lanes_places(const flr_scan_job *given, bool displaced, uint32_t begin,
                                uint32_t end, uint32_t *restrict places)
{
    const flr_scan_job j = *given;
    const float middle = 0.5f - j.slack;
    for (uint32_t i = begin; i < end; i++) {
        float x = j.x[i], y = j.y[i], z = j.z[i], at[3];
        for (int k = 0; k < 3; k++)
            at[k] = j.matrix[k][0] * x + j.matrix[k][1] * y + (j.matrix[k][2] * z + j.matrix[k][3]);
        if (displaced) {
            /* flr_shell_unpack() in single precision */
            int32_t packed = (int32_t)j.normal[i];
            float u = (float)((int32_t)((uint32_t)packed << 16) >> 16) * (1.0f / 32767);
            float v = (float)(packed >> 16) * (1.0f / 32767);
            float au = fabsf(u), av = fabsf(v), w = 1 - au - av;
            float fu = u < 0 ? av - 1 : 1 - av, fv = v < 0 ? au - 1 : 1 - au;
            u = w < 0 ? fu : u;
            v = w < 0 ? fv : v;
            float scale = 1 / sqrtf(u * u + v * v + w * w);
            u *= scale, v *= scale, w *= scale;
            for (int k = 0; k < 3; k++)
                at[k] += j.turn[k][0] * u + j.turn[k][1] * v + j.turn[k][2] * w;
        }
        int32_t vx = (int32_t)at[0], vy = (int32_t)at[1], vz = (int32_t)at[2];
        float off = flr_lane_larger(
            fabsf(at[0] - (float)vx - 0.5f),
            flr_lane_larger(fabsf(at[1] - (float)vy - 0.5f), fabsf(at[2] - (float)vz - 0.5f)));
        int32_t cell = (vx & 7) | (vy & 7) << 3 | (vz & 7) << 6;
        int32_t slot = vx >> 3 | vy >> 3 << j.order | vz >> 3 << 2 * j.order;
        places[i] = (uint32_t)(slot << FLR_CELL_BITS | cell) | (off > middle ? FLR_SIDE : 0);
    }
}

/* Looks up points whose places are known, one by one. */
FLR_LANES unsigned flr_lanes_look_up(const flr_scan_job *given, const uint32_t *places,
                                     flr_scan_hits *restrict hits)
{
    const flr_scan_job j = *given;
    const uint32_t slots = (1u << 3 * j.order) - 1, mark_mask = (1u << (1 << j.shift)) - 1;
    uint32_t least = UINT32_MAX; /* of mark - 1, so that free is the largest */
    for (uint32_t word = j.from / 16; word < (j.to + 15) / 16; word++) {
        uint32_t touch = 0, near = 0, unsure = 0;
        uint32_t first = word * 16 < j.from ? j.from - word * 16 : 0,
                 last = word * 16 + 16 > j.to ? j.to - word * 16 : 16;
        for (uint32_t i = first; i < last; i++) {
            uint32_t place = places[word * 16 + i], cell = place & FLR_CELL_MASK;
            uint32_t entry = j.local[place >> FLR_CELL_BITS & slots], mark = entry & 255;
            if (!(entry & FLR_UNIFORM)) {
                uint32_t bit = cell << j.shift;
                mark =
                    j.planes[((uint64_t)entry << (4 + j.shift)) + bit / 32] >> bit % 32 & mark_mask;
            }
            uint32_t below = mark - 1, side = place >> 31;
            hits->marks[word * 16 + i] = (uint8_t)mark;
            least = below < least ? below : least;
            touch |= (uint32_t)(below < j.force_mark) << i;
            near |= (uint32_t)(below == j.force_mark) << i;
            unsure |= side << i;
        }
        hits->touch[word] = (uint16_t)(touch & ~unsure);
        hits->near[word] = (uint16_t)(near & ~unsure);
        hits->unsure[word] = (uint16_t)unsure;
    }
    return least + 1;
}

FLR_LANES unsigned flr_lanes_scan(const flr_scan_job *job, flr_scan_hits *hits)
{
    _Alignas(64) uint32_t places[FLR_SCAN_POINTS];
    uint32_t begin = job->from / 16 * 16, end = (job->to + 15) / 16 * 16;
    if (job->normal)
        flr_lanes_places(job, true, begin, end, places);
    else
        flr_lanes_places(job, false, begin, end, places);
    return flr_lanes_look_up(job, places, hits);
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

#endif
