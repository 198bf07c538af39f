/* the loops over many points with NEON: 16 at a time, four to a register, looked up in the local table by a permutation
 * where that has eight entries, and one by one in the planes */
#include "contact/kernel.h"

#if defined(__aarch64__) && !defined(FLR_NO_SIMD)
#include <arm_neon.h>

#include "contact/kernel_lanes.h"

#define INLINE static inline __attribute__((always_inline))

typedef struct four {
    float32x4_t x, y, z;
} four;

/* the rows of the job's matrices */
typedef struct rows {
    float32x4_t at[3], turn[3];
} rows;

INLINE rows load_rows(const flr_scan_job *job)
{
    rows r;
    for (int k = 0; k < 3; k++) {
        const float *t = job->turn[k];
        r.at[k] = vld1q_f32(job->matrix[k]);
        r.turn[k] = (float32x4_t){t[0], t[1], t[2], 0};
    }
    return r;
}

/* Scanning only sorts out, within margins: here sums may round as they like. */
INLINE float32x4_t row(float32x4_t m, four p)
{
    const float32x4_t sum = vfmaq_laneq_f32(vdupq_laneq_f32(m, 3), p.x, m, 0);
    return vfmaq_laneq_f32(vfmaq_laneq_f32(sum, p.y, m, 1), p.z, m, 2);
}

INLINE float32x4_t turned(float32x4_t t, four n)
{
    const float32x4_t sum = vfmaq_laneq_f32(vmulq_laneq_f32(n.x, t, 0), n.y, t, 1);
    return vfmaq_laneq_f32(sum, n.z, t, 2);
}

/* flr_shell_unpack() in single precision and in the voxmap's axes: normals of four points, not yet of unit length, and
 * what makes them so, to 15 bits. */
INLINE four normals(const rows *r, const uint32_t *from, float32x4_t *scale)
{
    const float32x4_t whole = vdupq_n_f32(32767);
    const uint32x4_t size = vdupq_n_u32(0x7FFFFFFF);
    const int32x4_t packed = vreinterpretq_s32_u32(vld1q_u32(from));
    float32x4_t u = vcvtq_f32_s32(vshrq_n_s32(vshlq_n_s32(packed, 16), 16));
    float32x4_t v = vcvtq_f32_s32(vshrq_n_s32(packed, 16));
    const float32x4_t fu = vsubq_f32(whole, vabsq_f32(v)), w = vsubq_f32(fu, vabsq_f32(u)),
                      fv = vaddq_f32(w, vabsq_f32(v));
    /* the lower half is folded over the edges of the square: sign of the one, size of the other */
    const uint32x4_t folded = vandq_u32(vcltzq_f32(w), size);
    u = vbslq_f32(folded, fu, u);
    v = vbslq_f32(folded, fv, v);
    const float32x4_t length2 = vfmaq_f32(vfmaq_f32(vmulq_f32(w, w), v, v), u, u);
    const float32x4_t about = vrsqrteq_f32(length2);
    *scale = vmulq_f32(about, vrsqrtsq_f32(vmulq_f32(length2, about), about));
    const four n = {u, v, w};
    return (four){turned(r->turn[0], n), turned(r->turn[1], n), turned(r->turn[2], n)};
}

/* 16 steps along one axis */
typedef struct steps {
    uint16x8_t low, high;
} steps;

INLINE steps load_steps(const uint16_t *from)
{
    return (steps){vld1q_u16(from), vld1q_u16(from + 8)};
}

INLINE float32x4_t part(steps s, int k)
{
    const uint16x8_t half = k < 2 ? s.low : s.high;
    return vcvtq_f32_u32(k & 1 ? vmovl_high_u16(half) : vmovl_u16(vget_low_u16(half)));
}

INLINE four move_in(const rows *r, four p)
{
    return (four){row(r->at[0], p), row(r->at[1], p), row(r->at[2], p)};
}

/* Moves four points against their normals. */
INLINE four displace(four at, four n, float32x4_t scale, float displacement)
{
    const float32x4_t far = vmulq_n_f32(scale, displacement);
    return (four){vfmsq_f32(at.x, far, n.x), vfmsq_f32(at.y, far, n.y), vfmsq_f32(at.z, far, n.z)};
}

/* the distance to the nearest side of a voxel */
INLINE float32x4_t to_side(float32x4_t at) { return vabdq_f32(at, vrndnq_f32(at)); }

INLINE uint32x4_t voxel(float32x4_t at) { return vreinterpretq_u32_s32(vcvtq_s32_f32(at)); }

INLINE uint32x4_t gather(const uint32_t *from, uint32x4_t at)
{
    uint32x4_t found = vdupq_n_u32(from[vgetq_lane_u32(at, 0)]);
    found = vld1q_lane_u32(from + vgetq_lane_u32(at, 1), found, 1);
    found = vld1q_lane_u32(from + vgetq_lane_u32(at, 2), found, 2);
    return vld1q_lane_u32(from + vgetq_lane_u32(at, 3), found, 3);
}

/* The entries of the chunks of voxels in the local table, of which `held` has eight; order 0: as the job says. */
INLINE uint32x4_t entries(const flr_scan_job *job, unsigned order, uint8x16x2_t held, uint32x4_t vx,
                          uint32x4_t vy, uint32x4_t vz)
{
    if (order == 1) {
        uint32x4_t slot = vsliq_n_u32(vshrq_n_u32(vy, 3), vshrq_n_u32(vz, 3), 1);
        slot = vsliq_n_u32(vshrq_n_u32(vx, 3), slot, 1);
        slot = vandq_u32(slot, vdupq_n_u32(7));
        /* the four bytes of each */
        slot = vmlaq_u32(vdupq_n_u32(0x03020100), slot, vdupq_n_u32(0x04040404));
        return vreinterpretq_u32_u8(vqtbl2q_u8(held, vreinterpretq_u8_u32(slot)));
    }
    const int by = (int)job->order;
    const uint32x4_t all = vdupq_n_u32((1u << 3 * by) - 1);
    uint32x4_t slot = vshlq_u32(vshrq_n_u32(vz, 3), vdupq_n_s32(by));
    slot = vshlq_u32(vorrq_u32(slot, vshrq_n_u32(vy, 3)), vdupq_n_s32(by));
    slot = vorrq_u32(slot, vshrq_n_u32(vx, 3));
    return gather(job->local, vandq_u32(slot, all));
}

/* The marks of four voxels in the planes; only of those lanes that are stored. */
INLINE uint32x4_t stored_marks(const flr_scan_job *job, bool plain, uint32x4_t stored,
                               uint32x4_t entry, uint32x4_t vx, uint32x4_t vy, uint32x4_t vz)
{
    if (plain) { /* a word is a row of 8 marks along x */
        const uint32x4_t at = vsliq_n_u32(vsliq_n_u32(vy, vz, 3), entry, 6);
        const uint32x4_t word = gather(job->planes, vandq_u32(at, stored));
        const uint32x4_t before = vshlq_n_u32(vbicq_u32(vdupq_n_u32(7), vx), 2);
        return vshrq_n_u32(vshlq_u32(word, vreinterpretq_s32_u32(before)), 28);
    }
    const uint32x4_t seven = vdupq_n_u32(7);
    uint32x4_t cell = vsliq_n_u32(vandq_u32(vy, seven), vandq_u32(vz, seven), 3);
    cell = vsliq_n_u32(vx, cell, 3);
    const uint32x4_t bit = vshlq_u32(cell, vdupq_n_s32((int)job->shift));
    const uint32x4_t at =
        vaddq_u32(vshlq_u32(entry, vdupq_n_s32(4 + (int)job->shift)), vshrq_n_u32(bit, 5));
    const uint32x4_t word = gather(job->planes, vandq_u32(at, stored));
    const int32x4_t in = vreinterpretq_s32_u32(vandq_u32(bit, vdupq_n_u32(31)));
    return vandq_u32(vshlq_u32(word, vnegq_s32(in)), vdupq_n_u32((1u << (1 << job->shift)) - 1));
}

/* the lowest bytes of 16 */
INLINE uint8x16_t low_bytes(const uint32x4_t v[4])
{
    const uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_u32(v[0]), vreinterpretq_u16_u32(v[1])),
                     high = vuzp1q_u16(vreinterpretq_u16_u32(v[2]), vreinterpretq_u16_u32(v[3]));
    return vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
}

INLINE uint32_t bits_of(uint8x16_t truth) { return flr_lanes_bits((flr_bytes)truth); }

/* The marks of 16 points from i on, and which of them are near a side of their voxels. */
INLINE uint8x16_t find_marks(const flr_scan_job *job, const rows *r, unsigned order, bool plain,
                             bool displaced, uint8x16x2_t held, uint32_t i, uint8x16_t *side)
{
    const steps x = load_steps(job->x + i), y = load_steps(job->y + i), z = load_steps(job->z + i);
    const float32x4_t slack = vdupq_n_f32(job->slack);
    uint32x4_t marks[4], near[4];
    for (int k = 0; k < 4; k++) {
        four at = move_in(r, (four){part(x, k), part(y, k), part(z, k)});
        if (displaced) {
            float32x4_t scale;
            const four n = normals(r, job->normal + i + 4 * k, &scale);
            at = displace(at, n, scale, job->displacement);
        }
        const uint32x4_t vx = voxel(at.x), vy = voxel(at.y), vz = voxel(at.z);
        near[k] =
            vcltq_f32(vminq_f32(to_side(at.x), vminq_f32(to_side(at.y), to_side(at.z))), slack);
        const uint32x4_t entry = entries(job, order, held, vx, vy, vz);
        const uint32x4_t stored = vcltq_u32(entry, vdupq_n_u32(FLR_UNIFORM));
        marks[k] = entry;
        if (vmaxvq_u32(stored))
            marks[k] =
                vbslq_u32(stored, stored_marks(job, plain, stored, entry, vx, vy, vz), entry);
    }
    *side = low_bytes(near);
    return low_bytes(marks);
}

/* Of 16 points that touch: those whose depths may be positive. Not in line: the loop below would lose its registers. */
static __attribute__((noinline)) uint32_t may_press(const flr_scan_job *job, uint32_t i,
                                                    const uint8_t marks[16])
{
    const steps x = load_steps(job->x + i), y = load_steps(job->y + i), z = load_steps(job->z + i);
    const rows r = load_rows(job);
    const float32x4_t half = vdupq_n_f32(0.5f),
                      shallow = vdupq_n_f32((float)job->force_mark + 4 * job->slack + 1e-4f);
    uint32x4_t deep[4];
    for (int k = 0; k < 4; k++) {
        four at = move_in(&r, (four){part(x, k), part(y, k), part(z, k)});
        float32x4_t scale;
        const four n = normals(&r, job->normal + i + 4 * k, &scale);
        if (job->displaced) at = displace(at, n, scale, job->displacement);
        /* times how far a point is above the middle of its voxel */
        float32x4_t above = vmulq_f32(vsubq_f32(vsubq_f32(at.x, vrndmq_f32(at.x)), half), n.x);
        above = vfmaq_f32(above, vsubq_f32(vsubq_f32(at.y, vrndmq_f32(at.y)), half), n.y);
        above = vfmaq_f32(above, vsubq_f32(vsubq_f32(at.z, vrndmq_f32(at.z)), half), n.z);
        uint32_t four_marks;
        memcpy(&four_marks, marks + 4 * k, 4);
        const uint16x8_t wide = vmovl_u8(vcreate_u8(four_marks));
        const float32x4_t mark = vcvtq_f32_u32(vmovl_u16(vget_low_u16(wide)));
        deep[k] = vcltq_f32(vmulq_f32(above, scale), vsubq_f32(shallow, mark));
    }
    return bits_of(low_bytes(deep));
}

/* The smooth law: of 16 points, those that may be below the force layer. */
static __attribute__((noinline)) uint32_t may_press_smoothly(const flr_scan_job *job, uint32_t i,
                                                             uint32_t press, uint32_t *around)
{
    uint32_t bases[16];
    if (job->displaced)
        flr_lanes_bases(job, true, i, bases);
    else
        flr_lanes_bases(job, false, i, bases);
    for (uint32_t rest = press; rest; rest &= rest - 1) {
        const uint32_t k = (uint32_t)__builtin_ctz(rest);
        const bool known = bases[k] != FLR_UNKNOWN;
        around[k] = known ? flr_lanes_around(job, bases[k]) : FLR_UNKNOWN;
        press &= ~((uint32_t)(known && !flr_marks_any(around[k], job->force_mark - 1)) << k);
    }
    return press;
}

/* 16 truths for the points from …to that are wanted of those from i on */
INLINE uint8x16_t wanted_of(const flr_scan_job *job, uint32_t i)
{
    if (job->from <= i && i + 16 <= job->to) return vdupq_n_u8(255);
    const uint8x16_t lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint8_t first = (uint8_t)(i < job->from ? job->from - i : 0),
                  end = (uint8_t)(i + 16 > job->to ? job->to - i : 16);
    return vandq_u8(vcgeq_u8(lane, vdupq_n_u8(first)), vcltq_u8(lane, vdupq_n_u8(end)));
}

/* `order`, `plain` and `displaced` are known when this is compiled. Plain: marks of 4 bits; else order is 0. */
INLINE void scan_as(const flr_scan_job *given, unsigned order, bool plain, bool displaced,
                    flr_scan_hits *restrict hits)
{
    const flr_scan_job j = *given;
    const rows r = load_rows(given);
    const uint8x16_t force = vdupq_n_u8((uint8_t)j.force_mark),
                     layer_one = vdupq_n_u8((uint8_t)j.layer_one), one = vdupq_n_u8(1);
    uint8x16x2_t held = {{one, one}};
    if (order == 1) {
        held.val[0] = vreinterpretq_u8_u32(vld1q_u32(j.local));
        held.val[1] = vreinterpretq_u8_u32(vld1q_u32(j.local + 4));
    }
    uint8x16_t least = vdupq_n_u8(255);
    uint32_t near_count = 0, deep_count = 0;
    for (uint32_t word = j.from / 16; word < (j.to + 15) / 16; word++) {
        const uint32_t i = word * 16;
        const uint8x16_t wanted = wanted_of(&j, i);
        uint8x16_t side;
        const uint8x16_t marks = find_marks(&j, &r, order, plain, displaced, held, i, &side);
        side = vandq_u8(side, wanted);
        /* one less, so that free is the largest; an unsure one counts as free */
        const uint8x16_t below = vorrq_u8(vorrq_u8(vsubq_u8(marks, one), vmvnq_u8(wanted)), side);
        least = vminq_u8(least, below);
        uint32_t touch = 0, near = 0, press = 0;
        if (vminvq_u8(below) <= j.force_mark) {
            touch = bits_of(vcltq_u8(below, force));
            near = bits_of(vceqq_u8(below, force));
            near_count += flr_lanes_count(near);
            deep_count += flr_lanes_count(bits_of(vcltq_u8(below, layer_one)));
            press = touch | (j.reach ? near : 0);
            vst1q_u8(hits->marks + i, marks);
            if (press && j.smooth) press = may_press_smoothly(given, i, press, hits->around + i);
            if (touch && j.judged) press &= may_press(given, i, hits->marks + i) | ~touch;
        }
        hits->touch[word] = (uint16_t)touch;
        hits->press[word] = (uint16_t)press;
        hits->near[word] = (uint16_t)near;
        hits->unsure[word] = (uint16_t)(vmaxvq_u8(side) ? bits_of(side) : 0);
    }
    const uint8_t lowest = vminvq_u8(least);
    hits->least = lowest == 255 ? UINT32_MAX : lowest;
    hits->near_count = near_count;
    hits->deep_count = deep_count;
}

static void scan(const flr_scan_job *job, flr_scan_hits *hits)
{
    if (job->shift == 2 && job->order == 1 && job->displaced)
        scan_as(job, 1, true, true, hits);
    else if (job->shift == 2 && job->order == 1)
        scan_as(job, 1, true, false, hits);
    else if (job->shift == 2 && !job->displaced)
        scan_as(job, 0, true, false, hits);
    else
        scan_as(job, 0, false, job->displaced, hits);
}

static uint32_t pick(const flr_pick *from, const uint16_t *bits, uint32_t word, uint32_t end,
                     flr_batch *batch)
{
    return flr_lanes_pick(from, bits, word, end, batch);
}

FLR_LANES_LOOPS()

const flr_kernel flr_kernel_neon = FLR_LANES_KERNEL("NEON");
#else
const flr_kernel flr_kernel_neon = {.name = "NEON"};
#endif
