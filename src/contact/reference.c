/* the reference: every point, one by one, in double precision, through the tree */
#include "contact/point.h"

static unsigned mark_at(const flr_voxmap *voxmap, flr_field field, flr_vec3 v)
{
    /* written so that a NaN is outside */
    if (!(v.x >= 0 && v.y >= 0 && v.z >= 0 && v.x < 4e9 && v.y < 4e9 && v.z < 4e9))
        return FLR_MARK_FREE;
    return flr_voxmap_mark_at(voxmap, field, (int64_t)v.x, (int64_t)v.y, (int64_t)v.z);
}

/* The marks around a point whose own voxel has this mark, where the law needs them. */
static flr_contact_stencil look_around(const flr_contact_frame *frame, flr_field field, flr_vec3 v,
                                       unsigned mark)
{
    flr_contact_stencil around = {0};
    if (!flr_contact_needs_stencil(frame, mark)) return around;
    int64_t x = flr_contact_stencil_base(v.x), y = flr_contact_stencil_base(v.y),
            z = flr_contact_stencil_base(v.z);
    for (int i = 0; i < 8; i++) {
        int64_t cx = x + (i & 1), cy = y + (i >> 1 & 1), cz = z + (i >> 2);
        around.surface |= (uint64_t)flr_voxmap_mark_at(frame->voxmap, FLR_FIELD_SURFACE, cx, cy, cz)
                          << 8 * i;
        around.field |= (uint64_t)flr_voxmap_mark_at(frame->voxmap, field, cx, cy, cz) << 8 * i;
    }
    return around;
}

/* The points of a chunk, in their order. */
static void add_chunk(const flr_contact_frame *frame, uint32_t chunk, flr_contact_sums *sums,
                      flr_contact *contacts, uint32_t capacity)
{
    const flr_shell_chunk *c = &frame->shell->chunks[chunk];
    uint32_t point = c->first;
    for (int label = 0; label < FLR_LABEL_COUNT; label++)
        for (unsigned i = 0; i < c->count[label]; i++, point++) {
            flr_contact_point p = flr_contact_place(frame, chunk, point);
            flr_field field = flr_contact_field(frame, (flr_label)label);
            unsigned mark = mark_at(frame->voxmap, field, p.at);
            flr_contact_stencil around = look_around(frame, field, p.at, mark);
            flr_contact_bound(frame, mark, sums);
            flr_contact_add(frame, p, mark, &around, point, (flr_label)label, sums, contacts,
                            capacity);
        }
}

void flr_contact_reference(const flr_shell *shell, const flr_voxmap *voxmap, flr_pose T_world_shell,
                           flr_pose T_world_voxmap, const flr_contact_params *params,
                           flr_contact *contacts, uint32_t capacity, flr_contact_result *result)
{
    flr_contact_frame frame;
    if (!flr_contact_begin(&frame, shell, voxmap, T_world_shell, T_world_voxmap, params)) {
        *result = flr_contact_nothing();
        return;
    }
    flr_contact_sums sums = flr_contact_no_sums();
    for (uint32_t i = 0; i < shell->hyper_count; i++) {
        const flr_shell_hyper *hyper = &shell->hypers[i];
        flr_contact_sums part = flr_contact_no_sums();
        part.listed = sums.listed;
        for (uint32_t k = 0; k < hyper->chunk_count; k++)
            add_chunk(&frame, hyper->first_chunk + k, &part, contacts, capacity);
        flr_contact_merge(&sums, &part);
        sums.listed = part.listed;
    }
    flr_contact_finish(&frame, &sums, result);
    result->points_tested = shell->total;
}
