/* kit_systems.c: assemblies that stand about in every aircraft: boxes, bottles, pipes on clamps. */
#include "models/kit.h"

void flr_kit_equipment(flr_kit *kit, flr_pose at, double x, double y, double z)
{
    flr_kit_push(kit, at);
    flr_kit_box(kit, flr_kit_at(0, 0, z / 2 + 0.012), x, y, z, 0.006);
    flr_kit_plate(kit, flr_kit_at(0, 0, z + 0.011), x - 0.02, y - 0.02, 0.005, 0.01, 0, 0, 0);
    int fins = (int)(x / 0.022);
    for (int i = 0; i < fins; i++)
        flr_kit_box(kit, flr_kit_at(x * ((i + 0.5) / fins - 0.5) * 0.8, 0.05 * y, z + 0.024), 0.004,
                    0.7 * y, 0.020, 0.001);
    for (int i = 0; i < 4; i++) {
        double sx = i & 1 ? 1 : -1, sy = i & 2 ? 1 : -1;
        flr_kit_box(kit, flr_kit_at(sx * (x / 2 + 0.014), sy * 0.36 * y, 0.006), 0.04, 0.034, 0.012,
                    0.002);
        flr_kit_bolt(kit, flr_kit_at(sx * (x / 2 + 0.022), sy * 0.36 * y, 0.012), 0.006, 0);
        flr_kit_rivet(kit, flr_kit_at(sx * (x / 2 - 0.018), sy * (y / 2 - 0.018), z + 0.016),
                      0.005);
    }
    int plugs = (int)(x / 0.06);
    for (int i = 0; i < plugs; i++) {
        flr_pose face = flr_kit_frame(v3(x * ((i + 0.5) / plugs - 0.5), -y / 2, 0.5 * z),
                                      v3(0, -1, 0), v3(1, 0, 0));
        flr_kit_connector(kit, face, 0.014);
        flr_vec3 tail[4] = {flr_kit_point(face, 0, 0, 0.035), flr_kit_point(face, 0, 0, 0.075),
                            flr_kit_point(face, 0.02, -0.04, 0.10),
                            flr_kit_point(face, 0.03, -0.12, 0.10)};
        flr_kit_pipe(kit, tail, 4, 0.008, 0, 0.03);
    }
    flr_kit_pop(kit);
}

void flr_kit_bottle(flr_kit *kit, flr_pose at, double r, double length)
{
    flr_kit_push(kit, at);
    const flr_kit_corner c[] = {{0, 0, 0},
                                {0.4 * r, 0, 0.003},
                                {r, 0.5 * r, 0.6 * r},
                                {r, length - 0.5 * r, 0.6 * r},
                                {0.4 * r, length, 0.003},
                                {0, length, 0}};
    flr_pose axis = flr_kit_frame(v3(-length / 2, 0, r + 0.03), v3(1, 0, 0), v3(0, 1, 0));
    flr_kit_lathe(kit, axis, c, 6, flr_kit_sides(kit, r));
    flr_kit_union(kit, flr_kit_shift(axis, 0, 0, length + 0.01), 0.010);
    flr_kit_rounded_cylinder(kit, flr_kit_shift(axis, 0, 0, -0.03), 0.014, 0.04, 0.003);
    for (int side = -1; side <= 1; side += 2) {
        flr_kit_tube(kit, flr_kit_shift(axis, 0, 0, length / 2 + side * 0.25 * length - 0.015),
                     r + 0.004, r - 0.001, 0.030);
        flr_kit_box(kit, flr_kit_at(side * 0.25 * length, 0, 0.02), 0.036, 1.7 * r, 0.045, 0.003);
        for (int s = -1; s <= 1; s += 2) {
            flr_kit_box(kit, flr_kit_at(side * 0.25 * length, s * 1.02 * r, 0.005), 0.036, 0.05,
                        0.010, 0.002);
            flr_kit_bolt(kit, flr_kit_at(side * 0.25 * length, s * (1.02 * r + 0.010), 0.010),
                         0.008, 0);
        }
    }
    flr_kit_pop(kit);
}

void flr_kit_clamped_pipe(flr_kit *kit, const flr_vec3 *way, int count, double r, double bend,
                          double every, flr_vec3 mount, double stand)
{
    flr_kit_pipe(kit, way, count, r, 0.8 * r, bend);
    for (int i = 0; i + 1 < count; i++) {
        flr_vec3 leg = v3_sub(way[i + 1], way[i]);
        double length = v3_length(leg);
        flr_vec3 along = v3_mul(leg, 1 / length);
        double lean = v3_dot(along, mount);
        if (length < 0.25 || lean * lean > 0.5) continue;
        int clamps = (int)(length / every) + 1;
        for (int k = 0; k < clamps; k++) {
            flr_vec3 p = v3_mix(way[i], way[i + 1], (k + 0.5) / clamps);
            flr_kit_clamp(kit, flr_kit_frame(p, v3_mul(mount, -1), along), r, stand);
        }
        /* a union near the middle of a long run */
        if (length > 1.2)
            flr_kit_union(kit, flr_kit_frame(v3_mix(way[i], way[i + 1], 0.47), along, mount), r);
    }
}
