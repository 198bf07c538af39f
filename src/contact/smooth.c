/* the smooth law for a batch of points */
#include "contact/engine.h"

#define EACH UINT64_C(0x0101010101010101)

/* The marks around a voxel's corner. False: none is nearer than the force layer, or inside, so that the interpolated distance is
 * not below it. */
static inline bool look(const flr_contact_frame *frame, const flr_flat_field *f, int32_t x,
                        int32_t y, int32_t z, uint8_t marks[8])
{
    const unsigned below = frame->force_mark - 1;
    unsigned any = 0;
    if (f->bits == 4) {
        uint32_t packed = flr_table_packed(f, x, y, z);
        /* a byte for each, less 1 where 0 becomes 15; the highest bit of each is set where that is not below */
        uint64_t bytes = (packed & 0x0F0F0F0F) | (uint64_t)(packed >> 4 & 0x0F0F0F0F) << 32;
        uint64_t less = ((bytes | 16 * EACH) - EACH) & 15 * EACH;
        if (((less + (128 - below) * EACH) & 128 * EACH) == 128 * EACH) return false;
        for (unsigned i = 0; i < 8; i++) marks[i] = packed >> 4 * i & 15;
        return true;
    }
    flr_table_stencil(f, x, y, z, marks);
    for (int i = 0; i < 8; i++) any |= (uint8_t)(marks[i] - 1) < below;
    return any;
}

static inline double depth_of(const flr_contact_frame *frame, const flr_flat_field *fields,
                              flr_vec3 at, flr_label label)
{
    uint8_t marks[8];
    int32_t x = flr_contact_stencil_base(at.x), y = flr_contact_stencil_base(at.y),
            z = flr_contact_stencil_base(at.z);
    if (!look(frame, &fields[FLR_FIELD_SURFACE], x, y, z, marks)) return 0;
    double depth = flr_contact_interpolated(frame, at, marks);
    flr_field field = flr_contact_field(frame, label);
    if (!(depth > 0) || field == FLR_FIELD_SURFACE) return depth;
    flr_table_stencil(&fields[field], x, y, z, marks);
    return depth * flr_contact_weight(frame, at, marks);
}

void flr_smooth_judge(const flr_contact_frame *frame, const flr_flat_field *fields, flr_batch *b,
                      flr_contact_sums *sums)
{
    for (uint32_t i = 0; i < b->count; i++) {
        flr_contact_point p = {flr_vec3_make(b->at[0][i], b->at[1][i], b->at[2][i]),
                               flr_vec3_make(b->n[0][i], b->n[1][i], b->n[2][i])};
        double depth = depth_of(frame, fields, p.at, (flr_label)b->label[i]);
        flr_contact_share share = {flr_vec3_zero(), flr_vec3_zero()};
        if (depth > 0) {
            share = flr_contact_push(frame, p, depth);
            sums->depth += depth;
            sums->depth2 += depth * depth;
        }
        b->size[i] = depth;
        b->push[0][i] = share.push.x, b->push[1][i] = share.push.y, b->push[2][i] = share.push.z;
        b->turn[0][i] = share.turn.x, b->turn[1][i] = share.turn.y, b->turn[2][i] = share.turn.z;
    }
}
