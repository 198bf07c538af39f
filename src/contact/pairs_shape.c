/* what a part touches with: the box and the sphere around its points or its voxels */
#include "contact/contact_table.h"
#include "contact/kernel.h"
#include "feeler/pairs.h"

/* Around all points: the least and the largest step in every chunk. */
static flr_box3 points_box(const flr_shell *shell)
{
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < shell->chunk_count; i++) {
        const flr_shell_chunk *c = &shell->chunks[i];
        const uint16_t *steps[3] = {shell->x + c->first, shell->y + c->first, shell->z + c->first};
        double low[3], high[3];
        for (int axis = 0; axis < 3; axis++) {
            uint16_t least = UINT16_MAX, most = 0;
            for (uint32_t k = 0; k < c->padded; k++) {
                uint16_t step = steps[axis][k];
                least = step < least ? step : least;
                most = step > most ? step : most;
            }
            low[axis] = (double)c->corner[axis] + least * (double)shell->step;
            high[axis] = (double)c->corner[axis] + most * (double)shell->step;
        }
        if (!c->padded) continue;
        box = flr_box3_add(box, flr_vec3_make(low[0], low[1], low[2]));
        box = flr_box3_add(box, flr_vec3_make(high[0], high[1], high[2]));
    }
    return box;
}

/* A box of chunks grows so that it holds those of a hyperchunk that have a mark. */
static void add_marks(const flr_flat_field *field, const int32_t hyper[3], int32_t low[3],
                      int32_t high[3])
{
    bool within = true;
    for (int axis = 0; axis < 3; axis++)
        within = within && hyper[axis] * 8 >= low[axis] && hyper[axis] * 8 + 7 <= high[axis];
    if (within) return;
    for (int cell = 0; cell < 512; cell++) {
        const int32_t at[3] = {hyper[0] * 8 + cell % 8, hyper[1] * 8 + cell / 8 % 8,
                               hyper[2] * 8 + cell / 64};
        const uint32_t *entry = flr_table_at(field, at[0], at[1], at[2]);
        if (*entry == (FLR_UNIFORM | FLR_MARK_FREE)) continue;
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
            high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
        }
    }
}

/* Around all chunks that have a mark. */
static flr_box3 marks_box(const flr_contact_table *table)
{
    const flr_flat_field *field = &table->fields[FLR_FIELD_SURFACE];
    const flr_voxmap_info info = flr_voxmap_get_info(table->voxmap);
    int32_t low[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, high[3] = {-1, -1, -1};
    size_t i = 0;
    for (int32_t z = 0; z < field->size[2] / 64; z++)
        for (int32_t y = 0; y < field->size[1] / 64; y++)
            for (int32_t x = 0; x < field->size[0] / 64; x++, i++) {
                /* most of a large grid is free, and need not be looked at chunk by chunk */
                if (field->hypers && field->hypers[i] == (FLR_UNIFORM | FLR_MARK_FREE)) continue;
                add_marks(field, (const int32_t[3]){x, y, z}, low, high);
            }
    if (high[0] < 0) return flr_box3_empty();
    double chunk = 8 * info.voxel;
    return flr_box3_make(
        flr_vec3_add(info.origin, flr_vec3_make(low[0] * chunk, low[1] * chunk, low[2] * chunk)),
        flr_vec3_add(info.origin, flr_vec3_make((high[0] + 1) * chunk, (high[1] + 1) * chunk,
                                                (high[2] + 1) * chunk)));
}

flr_pairs_shape flr_pairs_shape_make(const flr_shell *shell, const flr_contact_table *table)
{
    flr_pairs_shape shape = {.shell = shell && shell->total ? shell : NULL, .table = table};
    shape.box = shape.shell ? points_box(shell) : table ? marks_box(table) : flr_box3_empty();
    shape.middle = flr_box3_centre(shape.box);
    shape.radius = 0.5 * flr_vec3_length(flr_box3_size(shape.box));
    if (shape.shell && (double)shell->radius < shape.radius) {
        shape.middle = flr_vec3_make((double)shell->centre[0], (double)shell->centre[1],
                                     (double)shell->centre[2]);
        shape.radius = (double)shell->radius;
    }
    return shape;
}
