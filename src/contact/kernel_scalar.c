/* looking up many points: the plain version, and the choice among the others */
#include "contact/kernel.h"

#include <math.h>

#include "voxel/voxmap_format.h"

/* flr_shell_normal() in single precision */
static void unpack(uint32_t packed, float n[3])
{
    float u = (float)(int16_t)(packed & 0xFFFF) / 32767, v = (float)(int16_t)(packed >> 16) / 32767;
    float z = 1 - fabsf(u) - fabsf(v);
    if (z < 0) {
        float fold = (1 - fabsf(v)) * (u < 0 ? -1.0f : 1.0f);
        v = (1 - fabsf(u)) * (v < 0 ? -1.0f : 1.0f);
        u = fold;
    }
    float scale = 1 / sqrtf(u * u + v * v + z * z);
    n[0] = u * scale, n[1] = v * scale, n[2] = z * scale;
}

uint32_t flr_scan_scalar(const flr_scan_job *job, uint16_t hits[32])
{
    const flr_flat_field *f = job->field;
    uint32_t least = job->free;
    for (uint32_t i = 0; i < job->count; i++) {
        if (i % 16 == 0) hits[i / 16] = 0;
        float q[3] = {job->x[i], job->y[i], job->z[i]};
        float n[3] = {0};
        if (job->normal) unpack(job->normal[i], n);
        int32_t v[3];
        bool inside = true, side = false;
        for (int axis = 0; axis < 3; axis++) {
            const float *m = job->matrix[axis];
            float at = m[0] * q[0] + m[1] * q[1] + (m[2] * q[2] + m[3]);
            const float *t = job->turn[axis];
            if (job->normal) at += t[0] * n[0] + t[1] * n[1] + t[2] * n[2];
            float whole = floorf(at), part = at - whole;
            v[axis] = (int32_t)whole + job->base[axis];
            side |= part < job->slack || part > 1 - job->slack;
            inside &= (uint32_t)v[axis] < (uint32_t)f->size[axis];
        }
        if (!inside) continue;
        uint32_t entry =
            f->chunks[(v[2] >> 3) * f->stride[1] + (v[1] >> 3) * f->stride[0] + (v[0] >> 3)];
        uint32_t mark = entry & 255;
        if (!(entry & FLR_UNIFORM)) {
            uint32_t bit = (uint32_t)((v[0] & 7) | (v[1] & 7) << 3 | (v[2] & 7) << 6) * f->bits;
            mark = f->planes[(uint64_t)entry * 16 * f->bits + bit / 32] >> bit % 32 &
                   ((1u << f->bits) - 1);
        }
        if (mark && mark < least) least = mark;
        bool hit = side || (mark && mark <= job->limit);
        hits[i / 16] |= (uint16_t)(hit << i % 16);
    }
    return least;
}
