/* lengths and quaternions of scene and pose files */
#include "scene/length.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double flr_length_in(double metres, double unit)
{
    // fewer digits do where they multiply to the same length
    double near = metres / unit;
    char text[32];
    snprintf(text, sizeof text, "%.15g", near);
    const double tries[] = {strtod(text, NULL), near, nextafter(near, INFINITY),
                            nextafter(near, -INFINITY)};
    for (int i = 0; i < 4; i++)
        if (tries[i] * unit == metres) return tries[i];
    return near;
}

bool flr_quat_read(flr_quat *q)
{
    double length = sqrt(q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z);
    if (!(fabs(length - 1) <= 1e-3)) return false;
    if (fabs(length - 1) > 1e-15) {
        *q = (flr_quat){q->w / length, q->x / length, q->y / length, q->z / length};
    }
    return true;
}
