/* normal.h: the unit normal behind a packed one, for loops over many: without branches and without a call. */
#ifndef FLR_VOXEL_NORMAL_H
#define FLR_VOXEL_NORMAL_H

#include <stdint.h>

#include "feeler/math.h"

/* flr_shell_normal() */
static inline flr_vec3 flr_shell_unpack(uint32_t packed)
{
    double u = ((int32_t)(packed << 16) >> 16) / 32767.0, v = ((int32_t)packed >> 16) / 32767.0;
    double z = 1 - fabs(u) - fabs(v);
    /* the lower half is folded over the edges of the square */
    double fu = (1 - fabs(v)) * (u < 0 ? -1 : 1), fv = (1 - fabs(u)) * (v < 0 ? -1 : 1);
    u = z < 0 ? fu : u;
    v = z < 0 ? fv : v;
    /* never near zero: |u| + |v| + |z| = 1 */
    return flr_vec3_scale(flr_vec3_make(u, v, z), 1 / sqrt(u * u + v * v + z * z));
}

#endif
