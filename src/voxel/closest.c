/* the point of a triangle nearest to another point */
#include "voxel/closest.h"

static flr_vec3 closest_on_segment(flr_vec3 p, flr_vec3 a, flr_vec3 b)
{
    flr_vec3 d = flr_vec3_sub(b, a);
    double length2 = flr_vec3_length2(d);
    if (length2 == 0) return a;
    double t = flr_vec3_dot(flr_vec3_sub(p, a), d) / length2;
    return flr_vec3_add_scaled(a, t < 0 ? 0 : t > 1 ? 1 : t, d);
}

flr_vec3 flr_closest_on_triangle(flr_vec3 p, flr_vec3 a, flr_vec3 b, flr_vec3 c)
{
    /* inside the prism over the triangle the answer is the foot on its plane */
    flr_vec3 n = flr_vec3_cross(flr_vec3_sub(b, a), flr_vec3_sub(c, a));
    double n2 = flr_vec3_length2(n);
    if (n2 > 0) {
        flr_vec3 to = flr_vec3_sub(p, a);
        double u = flr_vec3_dot(flr_vec3_cross(flr_vec3_sub(b, a), to), n);
        double v = flr_vec3_dot(flr_vec3_cross(to, flr_vec3_sub(c, a)), n);
        if (u >= 0 && v >= 0 && u + v <= n2)
            return flr_vec3_add_scaled(p, -flr_vec3_dot(to, n) / n2, n);
    }
    /* else it lies on a side */
    const flr_vec3 sides[3] = {closest_on_segment(p, a, b), closest_on_segment(p, b, c),
                               closest_on_segment(p, c, a)};
    flr_vec3 best = sides[0];
    for (int i = 1; i < 3; i++)
        if (flr_vec3_distance(p, sides[i]) < flr_vec3_distance(p, best)) best = sides[i];
    return best;
}
