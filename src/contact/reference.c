/* the reference: every point, one by one, in double precision, through the tree */
#include "contact/point.h"

static unsigned mark_at(const flr_voxmap *voxmap, flr_field field, flr_vec3 v)
{
    /* written so that a NaN is outside */
    if (!(v.x >= 0 && v.y >= 0 && v.z >= 0 && v.x < 4e9 && v.y < 4e9 && v.z < 4e9))
        return FLR_MARK_FREE;
    return flr_voxmap_mark_at(voxmap, field, (int64_t)v.x, (int64_t)v.y, (int64_t)v.z);
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
    for (uint32_t chunk = 0; chunk < shell->chunk_count; chunk++) {
        const flr_shell_chunk *c = &shell->chunks[chunk];
        uint32_t point = c->first;
        for (int label = 0; label < FLR_LABEL_COUNT; label++)
            for (unsigned i = 0; i < c->count[label]; i++, point++) {
                flr_contact_point p = flr_contact_place(&frame, chunk, point);
                unsigned mark = mark_at(voxmap, flr_contact_field(&frame, (flr_label)label), p.at);
                flr_contact_bound(&frame, mark, &sums);
                flr_contact_add(&frame, p, mark, point, (flr_label)label, &sums, contacts,
                                capacity);
            }
    }
    flr_contact_finish(&frame, &sums, result);
    result->points_tested = shell->total;
}
