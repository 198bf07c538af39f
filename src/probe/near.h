/* near.h: gathering what a segment may hit, for one instruction set.
 *
 * Each kernel_*.c includes this once, after it has said
 *
 *     TARGET     before a function: for which instruction set
 *     segment    a segment made ready for boxes and planes; its field `local` is what it was made from
 *     prepare()  makes it from a flr_probe_local
 *     meet()     which of 16 boxes it meets: bit i for box i
 *     pass()     which of some triangles of a block it may pass, by plane and side
 *     any_of()   is any of three lanes set? Of a lane all bits are set, or none
 *     GATHER_BLOCKS, NEAR_SEGMENT
 *                the names of the two functions that it defines
 */
#include <string.h>

#include "probe/probe_kernel.h"

/* Adds those of a block whose boxes are met. Apart from the loop over boxes: most have none. */
TARGET static __attribute__((noinline)) uint32_t add(const flr_probe_block *block, const segment *s,
                                                     uint32_t mask, uint32_t *list, uint32_t found)
{
    mask = pass(block, s, mask);
    if (mask & (mask - 1)) mask = flr_block_crossed(block, s->local, mask);
    if (mask && found > FLR_PROBE_CAPACITY - FLR_PROBE_LANES) return FLR_PROBE_NONE;
    for (; mask; mask &= mask - 1) list[found++] = block->triangle[__builtin_ctz(mask)];
    return found;
}

TARGET static __attribute__((noinline)) uint32_t gather_paged(const flr_probe_block *blocks,
                                                              uint32_t count, const segment *s,
                                                              uint32_t *list, uint32_t found)
{
    const flr_probe_block *own = blocks + flr_probe_heads(count);
    for (uint32_t first = 0; first < count; first += FLR_PROBE_LANES) {
        uint32_t mask = meet(flr_probe_page_at(blocks, first / FLR_PROBE_LANES)->box, s);
        /* a segment through the whole cell meets even the boxes that are not there */
        if (count - first < FLR_PROBE_LANES) mask &= (1u << (count - first)) - 1;
        for (; mask; mask &= mask - 1) {
            const flr_probe_block *block = &own[first + (uint32_t)__builtin_ctz(mask)];
            uint32_t met = meet(block->box, s);
            if (met) found = add(block, s, met, list, found);
            if (found == FLR_PROBE_NONE) return found;
        }
    }
    return found;
}

TARGET static inline uint32_t gather(const flr_probe_block *blocks, uint32_t count,
                                     const flr_probe_local *local, uint32_t *list, uint32_t found)
{
    segment s;
    prepare(local, &s);
    if (count > FLR_PROBE_DIRECT) return gather_paged(blocks, count, &s, list, found);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t met = meet(blocks[i].box, &s);
        if (!met) continue;
        found = add(&blocks[i], &s, met, list, found);
        if (found == FLR_PROBE_NONE) break;
    }
    return found;
}

TARGET static inline uint32_t key_of(flr_int4 cell)
{
    return (uint32_t)(cell[0] | cell[1] << 10 | cell[2] << 20);
}

/* The triangles of a cell. */
TARGET static inline uint32_t gather_cell(const flr_probe_model *model, const flr_probe_slot *slot,
                                          flr_int4 cell, flr_int4 a, flr_int4 b, uint32_t *list,
                                          uint32_t found)
{
    if (slot->key == FLR_PROBE_FREE) return found;
    if (slot->count == FLR_PROBE_WOODED) return FLR_PROBE_NONE;
    flr_int4 middle = (cell << FLR_PROBE_BITS) + FLR_PROBE_HALF;
    flr_probe_local local = {a - middle, b - middle};
    return gather(&model->blocks[slot->first], slot->count, &local, list, found);
}

/* The ends are in two cells next to each other: these, and all between them, at most eight. What they hold is asked for
 * before any is waited for. */
TARGET static __attribute__((noinline)) uint32_t gather_next(const flr_probe_model *model,
                                                             flr_int4 a, flr_int4 b, uint32_t *list)
{
    const flr_int4 from = a >> FLR_PROBE_BITS, step = (b >> FLR_PROBE_BITS) - from;
    flr_int4 cells[8];
    const flr_probe_slot *slots[8];
    uint32_t count = 1, found = 0;
    cells[0] = from;
    for (int axis = 0; axis < 3; axis++) {
        if (step[axis] < -1 || step[axis] > 1) return FLR_PROBE_NONE;
        if (step[axis] == 0) continue;
        for (uint32_t i = 0; i < count; i++) {
            cells[count + i] = cells[i];
            cells[count + i][axis] += step[axis];
        }
        count *= 2;
    }
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&model->slots[flr_probe_hash(key_of(cells[i]), model->shift)]);
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = flr_probe_find(model->slots, model->mask, model->shift, key_of(cells[i]));
        if (slots[i]->key != FLR_PROBE_FREE && slots[i]->count != FLR_PROBE_WOODED)
            __builtin_prefetch(&model->blocks[slots[i]->first]);
    }
    for (uint32_t i = 0; i < count && found != FLR_PROBE_NONE; i++)
        found = gather_cell(model, slots[i], cells[i], a, b, list, found);
    return found;
}

/* See flr_near_scalar() in kernel.h. */
TARGET static inline uint32_t near(const flr_probe_model *model, const flr_vec3 *from,
                                   const flr_vec3 *to, uint32_t *list)
{
    /* both ends in fine units from the corner of the first cell */
    const flr_double4 low = {model->low.x, model->low.y, model->low.z, 0};
    flr_double4 a = {from->x, from->y, from->z, 0}, b = {to->x, to->y, to->z, 0}, border;
    memcpy(&border, model->border, sizeof border);
    a = (a - low) * model->per_fine, b = (b - low) * model->per_fine;
    /* what is not a number is in no relation to anything */
    flr_long4 outside = ~((a >= 0) & (b >= 0) & (a < border) & (b < border));
    if (any_of(&outside)) {
        flr_long4 beside = ((a < 0) & (b < 0)) | ((a >= border) & (b >= border));
        return any_of(&beside) ? 0 : FLR_PROBE_NONE;
    }
    flr_int4 fine_a = __builtin_convertvector(a, flr_int4),
             fine_b = __builtin_convertvector(b, flr_int4);
    flr_int4 cell = fine_a >> FLR_PROBE_BITS, differ = cell ^ fine_b >> FLR_PROBE_BITS;
    if (differ[0] | differ[1] | differ[2]) return gather_next(model, fine_a, fine_b, list);
    const flr_probe_slot *slot =
        flr_probe_find(model->slots, model->mask, model->shift, key_of(cell));
    return gather_cell(model, slot, cell, fine_a, fine_b, list, 0);
}

TARGET uint32_t GATHER_BLOCKS(const flr_probe_block *blocks, uint32_t count,
                              const flr_probe_local *local, uint32_t *list)
{
    return gather(blocks, count, local, list, 0);
}

TARGET uint32_t NEAR_SEGMENT(const flr_probe_model *model, const flr_vec3 *a, const flr_vec3 *b,
                             uint32_t *list)
{
    return near(model, a, b, list);
}
