/* a set of chunks: a hash table of hyperchunks with a mask each */
#include "voxel/chunks.h"

#include <math.h>
#include <stdlib.h>

#include "feeler/env.h"
#include "voxel/overlap.h"

/* keys have room for coordinates below zero, one hyperchunk beside the first */
enum { AXIS_BITS = 21, OFFSET = 1 << 10 };

static uint64_t key_of(int64_t x, int64_t y, int64_t z)
{
    return (uint64_t)(x + OFFSET) | (uint64_t)(y + OFFSET) << AXIS_BITS |
           (uint64_t)(z + OFFSET) << 2 * AXIS_BITS;
}

flr_chunks flr_chunks_make(size_t most)
{
    flr_chunks chunks = {.most = most};
    flr_random_bytes(flr_env_real(), &chunks.seed, sizeof chunks.seed);
    chunks.seed |= 1;
    return chunks;
}

void flr_chunks_free(flr_chunks *chunks)
{
    free(chunks->slots);
    *chunks = (flr_chunks){.seed = chunks->seed, .most = chunks->most};
}

static flr_chunks_slot *place_of(const flr_chunks *chunks, uint64_t key)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(key ^ chunks->seed) * (chunks->seed ^ 0x9E3779B97F4A7C15u);
    uint64_t mixed = ((uint64_t)product ^ (uint64_t)(product >> 64)) * 0xE7037ED1A0B428DBu;
    size_t last = ((size_t)1 << chunks->bits) - 1, at = (size_t)(mixed >> (64 - chunks->bits));
    while (chunks->slots[at].key && chunks->slots[at].key != key) at = (at + 1) & last;
    return &chunks->slots[at];
}

static bool enlarge(flr_chunks *chunks)
{
    flr_chunks larger = *chunks;
    larger.bits = chunks->bits ? chunks->bits + 1 : 6;
    size_t places = (size_t)1 << larger.bits;
    larger.slots = aligned_alloc(64, places * sizeof *larger.slots);
    if (!larger.slots) return false;
    memset(larger.slots, 0, places * sizeof *larger.slots);
    for (size_t i = 0; chunks->bits && i < (size_t)1 << chunks->bits; i++)
        if (chunks->slots[i].key) *place_of(&larger, chunks->slots[i].key) = chunks->slots[i];
    free(chunks->slots);
    larger.last = NULL;
    *chunks = larger;
    return true;
}

/* The mask of a hyperchunk, empty if it is new; NULL: see flr_chunks_add(). */
static flr_mask *mask_of(flr_chunks *chunks, uint64_t key)
{
    if (chunks->last && chunks->last->key == key) return &chunks->last->mask;
    if (3 * (chunks->hypers + 1) > ((size_t)2 << chunks->bits) || !chunks->bits)
        if (!enlarge(chunks)) return NULL;
    flr_chunks_slot *slot = place_of(chunks, key);
    if (!slot->key) {
        if (chunks->most && chunks->hypers == chunks->most) {
            chunks->full = true;
            return NULL;
        }
        slot->key = key;
        chunks->hypers++;
    }
    chunks->last = slot;
    return &slot->mask;
}

bool flr_chunks_add(flr_chunks *chunks, uint32_t x, uint32_t y, uint32_t z)
{
    flr_mask *mask = mask_of(chunks, key_of(x >> 3, y >> 3, z >> 3));
    if (mask) flr_mask_set(mask, flr_cell(x & 7, y & 7, z & 7));
    return mask != NULL;
}

/* ---- triangles ---- */

/* Those of a cube of `side` chunks that the triangle touches, eighth by eighth: a long one costs by its length, not by its
 * box. */
static bool add_cube(flr_chunks *chunks, const flr_overlap *t, int32_t x, int32_t y, int32_t z,
                     int32_t side)
{
    const int32_t at[3] = {x, y, z};
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] > t->high[axis] || at[axis] + side - 1 < t->low[axis]) return true;
    if (side == 1)
        return !flr_overlap_voxel(t, x, y, z) ||
               flr_chunks_add(chunks, (uint32_t)x, (uint32_t)y, (uint32_t)z);
    if (!flr_overlap_block(t, x, y, z, side)) return true;
    int32_t half = side / 2;
    for (int i = 0; i < 8; i++)
        if (!add_cube(chunks, t, x + (i & 1 ? half : 0), y + (i & 2 ? half : 0),
                      z + (i & 4 ? half : 0), half))
            return false;
    return true;
}

/* The few of a small triangle's box, each by the exact test. */
static bool add_box(flr_chunks *chunks, const flr_overlap *t)
{
    for (int32_t z = t->low[2]; z <= t->high[2]; z++)
        for (int32_t y = t->low[1]; y <= t->high[1]; y++)
            for (int32_t x = t->low[0]; x <= t->high[0]; x++)
                if (flr_overlap_voxel(t, x, y, z) &&
                    !flr_chunks_add(chunks, (uint32_t)x, (uint32_t)y, (uint32_t)z))
                    return false;
    return true;
}

bool flr_chunks_add_triangle(flr_chunks *chunks, flr_vec3 a, flr_vec3 b, flr_vec3 c)
{
    /* most triangles of a fine mesh lie in one chunk */
    double x = floor(a.x), y = floor(a.y), z = floor(a.z);
    bool one = a.x > x && a.y > y && a.z > z && floor(b.x) == x && floor(c.x) == x &&
               floor(b.y) == y && floor(c.y) == y && floor(b.z) == z && floor(c.z) == z &&
               b.x > x && c.x > x && b.y > y && c.y > y && b.z > z && c.z > z;
    if (one) return flr_chunks_add(chunks, (uint32_t)x, (uint32_t)y, (uint32_t)z);
    flr_overlap t = flr_overlap_prepare(a, b, c);
    int32_t side = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (t.low[axis] < 0) t.low[axis] = 0;
        while (side <= t.high[axis] - t.low[axis]) side *= 2;
    }
    if (side <= 2) return add_box(chunks, &t);
    return add_cube(chunks, &t, t.low[0], t.low[1], t.low[2], side);
}

/* ---- growing ---- */

static bool merge_mask(flr_chunks *chunks, uint64_t key, const flr_mask *add)
{
    if (flr_mask_is_empty(add)) return true;
    flr_mask *mask = mask_of(chunks, key);
    for (int i = 0; mask && i < 8; i++) mask->z[i] |= add->z[i];
    return mask != NULL;
}

bool flr_chunks_unite(flr_chunks *chunks, const flr_chunks *other)
{
    for (size_t i = 0; other->bits && i < (size_t)1 << other->bits; i++)
        if (other->slots[i].key && !merge_mask(chunks, other->slots[i].key, &other->slots[i].mask))
            return false;
    return true;
}

/* One ring along one axis: what stays in the hyperchunk, and what comes to its two neighbours. */
static void spread(const flr_mask *mask, int axis, flr_mask *own, flr_mask *up, flr_mask *down)
{
    for (int i = 0; i < 8; i++) {
        uint64_t m = mask->z[i];
        if (axis == 0) {
            own->z[i] = m | (m << 1 & 0xFEFEFEFEFEFEFEFEu) | (m >> 1 & 0x7F7F7F7F7F7F7F7Fu);
            up->z[i] = m >> 7 & 0x0101010101010101u;
            down->z[i] = m << 7 & 0x8080808080808080u;
        } else if (axis == 1) {
            own->z[i] = m | m << 8 | m >> 8;
            up->z[i] = m >> 56;
            down->z[i] = m << 56;
        } else {
            own->z[i] = m | (i > 0 ? mask->z[i - 1] : 0) | (i < 7 ? mask->z[i + 1] : 0);
            up->z[i] = i == 0 ? mask->z[7] : 0;
            down->z[i] = i == 7 ? mask->z[0] : 0;
        }
    }
}

static bool grow_along(flr_chunks *chunks, int axis)
{
    flr_chunks grown = {.seed = chunks->seed, .most = chunks->most};
    uint64_t step = UINT64_C(1) << axis * AXIS_BITS;
    bool ok = true;
    for (size_t i = 0; ok && chunks->bits && i < (size_t)1 << chunks->bits; i++) {
        const flr_chunks_slot *slot = &chunks->slots[i];
        flr_mask own, up, down;
        if (!slot->key) continue;
        spread(&slot->mask, axis, &own, &up, &down);
        ok = merge_mask(&grown, slot->key, &own) && merge_mask(&grown, slot->key + step, &up) &&
             merge_mask(&grown, slot->key - step, &down);
    }
    free(chunks->slots);
    *chunks = grown;
    return ok;
}

bool flr_chunks_grow(flr_chunks *chunks, unsigned rings)
{
    for (unsigned i = 0; i < rings; i++)
        for (int axis = 0; axis < 3; axis++)
            if (!grow_along(chunks, axis)) return false;
    return true;
}

uint64_t flr_chunks_count(const flr_chunks *chunks)
{
    uint64_t count = 0;
    for (size_t i = 0; chunks->bits && i < (size_t)1 << chunks->bits; i++)
        count += flr_mask_count(&chunks->slots[i].mask);
    return count;
}

bool flr_chunks_above(const flr_chunks *chunks, flr_chunks *above)
{
    *above = (flr_chunks){.seed = chunks->seed, .most = chunks->most};
    for (size_t i = 0; chunks->bits && i < (size_t)1 << chunks->bits; i++) {
        uint64_t key = chunks->slots[i].key, low = (1u << AXIS_BITS) - 1;
        if (key && !flr_chunks_add(above, (uint32_t)(key & low), (uint32_t)(key >> AXIS_BITS & low),
                                   (uint32_t)(key >> 2 * AXIS_BITS)))
            return false;
    }
    return true;
}
