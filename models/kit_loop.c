/* kit_loop.c: closed tubes: rings, links, knots. */
#include "models/kit.h"

void flr_kit_loop(flr_kit *kit, const flr_vec3 *path, const flr_vec3 *up, int count, double r,
                  int sides)
{
    if (kit->result != FLR_OK) return;
    if (count < 3 || sides < 3) {
        flr_kit_fail(kit, FLR_BAD_ARGUMENT, "a closed tube needs three points and three sides");
        return;
    }
    uint32_t first = (uint32_t)kit->vertex_count;
    for (int i = 0; i < count; i++) {
        flr_vec3 before = path[(i + count - 1) % count], after = path[(i + 1) % count];
        flr_vec3 along = v3_unit(v3_sub(after, before));
        flr_vec3 v = v3_unit(v3_sub(up[i], v3_mul(along, v3_dot(up[i], along))));
        flr_vec3 u = v3_cross(v, along);
        for (int k = 0; k < sides; k++) {
            double a = (double)k / sides;
            flr_vec3 out = v3_add(v3_mul(u, flr_kit_cos(a)), v3_mul(v, flr_kit_sin(a)));
            flr_kit_vertex(kit, v3_add(path[i], v3_mul(out, r)));
        }
    }
    for (int i = 0; i < count; i++) {
        uint32_t here = first + (uint32_t)(i * sides);
        uint32_t next = first + (uint32_t)((i + 1) % count * sides);
        for (int k = 0; k < sides; k++) {
            uint32_t a = (uint32_t)k, b = (uint32_t)((k + 1) % sides);
            flr_kit_quad(kit, here + a, here + b, next + b, next + a);
        }
    }
}

void flr_kit_knot(flr_kit *kit, int p, int q, double r_ring, double r_wind, double r, int steps,
                  int sides)
{
    enum { LOOP_CAPACITY = 1024 };
    flr_vec3 path[LOOP_CAPACITY], up[LOOP_CAPACITY];
    if (steps > LOOP_CAPACITY) {
        flr_kit_fail(kit, FLR_TOO_LARGE, "a knot has too many steps");
        return;
    }
    for (int i = 0; i < steps; i++) {
        double t = (double)i / steps, ring = flr_kit_cos(p * t), wind = flr_kit_cos(q * t);
        double ring_y = flr_kit_sin(p * t), height = flr_kit_sin(q * t);
        double radius = r_ring + r_wind * wind;
        path[i] = v3(radius * ring, radius * ring_y, r_wind * height);
        /* away from the ring that it winds about: never along the tube */
        up[i] = v3(wind * ring, wind * ring_y, height);
    }
    flr_kit_loop(kit, path, up, steps, r, sides);
}
