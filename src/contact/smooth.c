/* the smooth law for a batch of points */
#include <string.h>

#include "contact/contact_engine.h"

#define SMOOTH_EACH UINT64_C(0x0101010101010101)

typedef uint8_t eight __attribute__((vector_size(8)));

/* Is one of 8 marks nearer than the force layer, or inside? Else the interpolated distance is not below it. */
static inline bool any_below(uint64_t marks, uint32_t force_mark)
{
    const eight none = {0};
    eight each;
    memcpy(&each, &marks, 8);
    each = (eight)(each - 1 < none + (uint8_t)(force_mark - 1)); /* free, 0, becomes the most */
    memcpy(&marks, &each, 8);
    return marks;
}

void flr_smooth_judge(const flr_query *q, flr_batch *b, flr_contact_sums *sums)
{
    const flr_contact_frame *frame = &q->frame;
    const flr_flat_field *surface = &q->fields[FLR_FIELD_SURFACE];
    q->kernel->place(frame, b);
    for (uint32_t i = 0; i < b->count; i++) {
        flr_field field = flr_contact_field(frame, (flr_label)b->label[i]);
        b->field[i] = FLR_MARK_INTERIOR * SMOOTH_EACH; /* everything counts */
        if (b->around[i] != FLR_UNKNOWN) {
            b->surface[i] = flr_table_spread(b->around[i]); /* so its own field is the surface */
            continue;
        }
        int32_t x = flr_contact_stencil_base(b->at[0][i]),
                y = flr_contact_stencil_base(b->at[1][i]),
                z = flr_contact_stencil_base(b->at[2][i]);
        b->surface[i] = flr_table_stencil(surface, x, y, z);
        if (field != FLR_FIELD_SURFACE && any_below(b->surface[i], frame->force_mark))
            b->field[i] = flr_table_stencil(&q->fields[field], x, y, z);
    }
    q->kernel->smooth(frame, b);
    for (uint32_t i = 0; i < b->count; i++) {
        /* 0 where it does not press, which changes no bit */
        sums->depth += b->size[i];
        sums->depth2 += b->size[i] * b->size[i];
    }
}
