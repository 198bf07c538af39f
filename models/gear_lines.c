/* gear_lines.c: hydraulic pipes, hoses and wires of the landing gear, and its corridor. */
#include "models/gear.h"

/* ---- bay ---- */

/* supply and return lines along the keel, each down to the strut or along the roof */
static void keel_lines(flr_kit *kit)
{
    const flr_vec3 wall = v3(0, -1, 0), up = v3(0, 0, 1);
    for (int i = 0; i < 9; i++) {
        double r = 0.006 + 0.002 * (i % 4), z = 2.16 + 0.055 * i, y = -0.77;
        double turn = -1.5 + 0.33 * i + flr_kit_random(kit, -0.03, 0.03);
        flr_vec3 way[5] = {{-2.0, y, z},
                           {turn, y, z},
                           {turn, y, 4.40 - 0.02 * i},
                           {turn + 0.3, -0.60, 4.45},
                           {turn + 0.3, 0.70, 4.45 + 0.004 * i}};
        flr_kit_clamped_pipe(kit, way, 3, r, 0.06, 0.42, wall, 0.045);
        flr_vec3 over[3] = {way[2], way[3], way[4]};
        flr_kit_clamped_pipe(kit, over, 3, r, 0.08, 0.40, up, 0.06);
        flr_vec3 fore[2] = {{turn + 0.12, y + 0.05, z}, {2.0, y + 0.05, z}};
        flr_kit_clamped_pipe(kit, fore, 2, r, 0, 0.45, wall, 0.09);
    }
    /* the plates they go through at both ends of the keel */
    for (int side = -1; side <= 1; side += 2) {
        flr_pose plate = flr_kit_frame(v3(side * 1.965, -0.78, 2.36), v3(side, 0, 0), v3(0, 1, 0));
        flr_kit_plate(kit, plate, 0.33, 0.62, 0.006, 0.02, 0, 0, 0);
        for (int i = 0; i < 9; i++) {
            flr_vec3 p = v3(side * 1.965, side < 0 ? -0.77 : -0.72, 2.16 + 0.055 * i);
            flr_kit_union(kit, flr_kit_frame(p, v3(side, 0, 0), v3(0, 1, 0)),
                          0.006 + 0.002 * (i % 4));
        }
    }
    for (int i = 0; i < 6; i++) {
        double z = 2.78 + 0.16 * i, sag = 0.012 + 0.01 * flr_kit_random(kit, 0, 1);
        flr_vec3 way[8];
        for (int k = 0; k < 8; k++) way[k] = v3(-1.98 + 3.96 * k / 7, -0.80 + 0.008 * (i & 1), z);
        flr_kit_bundle(kit, way, 8, 7 + 6 * (i & 1), 0.0022, sag, 0.16);
        for (int k = 1; k < 7; k++)
            flr_kit_clamp(kit, flr_kit_frame(way[k], v3(0, 1, 0), v3(1, 0, 0)),
                          0.010 + 0.004 * (i & 1), 0.03);
    }
}

/* lines on both bulkheads and under the roof */
static void bulkhead_lines(flr_kit *kit)
{
    for (int side = -1; side <= 1; side += 2) {
        flr_vec3 wall = v3(side, 0, 0);
        for (int i = 0; i < 6; i++) {
            double x = side * 1.90, z = 2.85 + 0.05 * i, y = -0.45 + 0.21 * i;
            double r = 0.005 + 0.0015 * (i % 3);
            flr_vec3 way[4] = {{x, -0.72, z}, {x, y, z}, {x, y, 4.38}, {x - side * 0.5, y, 4.50}};
            flr_kit_clamped_pipe(kit, way, 4, r, 0.05, 0.4, wall, 0.04);
        }
        flr_vec3 way[6];
        for (int k = 0; k < 6; k++) way[k] = v3(side * 1.91, -0.75 + 0.31 * k, 3.45);
        flr_kit_bundle(kit, way, 6, 19, 0.002, 0.02, 0.14);
    }
    for (int i = 0; i < 5; i++) {
        flr_vec3 way[7];
        for (int k = 0; k < 7; k++) way[k] = v3(-1.9 + 3.8 * k / 6, -0.55 + 0.30 * i, 4.60);
        flr_kit_bundle(kit, way, 7, i & 1 ? 19 : 7, 0.0024, 0.025, 0.18);
        for (int k = 1; k < 6; k++)
            flr_kit_clamp(kit, flr_kit_frame(way[k], v3(0, 0, -1), v3(1, 0, 0)),
                          i & 1 ? 0.013 : 0.008, 0.04);
    }
    /* bleed air duct with beads and couplings, across the roof */
    flr_vec3 duct[4] = {
        {-1.95, 0.68, 4.20}, {-1.30, 0.68, 4.20}, {-1.15, 0.62, 4.36}, {1.95, 0.62, 4.36}};
    flr_kit_pipe(kit, duct, 4, 0.060, 0.057, 0.25);
    for (int i = 0; i < 7; i++) {
        flr_pose at = flr_kit_frame(v3(-0.8 + 0.42 * i, 0.62, 4.36), v3(1, 0, 0), v3(0, 1, 0));
        flr_kit_tube(kit, flr_kit_shift(at, 0, 0, -0.012), 0.068, 0.059, 0.024);
        flr_kit_bolt(kit, flr_kit_turn_x(flr_kit_shift(at, 0, 0.072, 0), 0.25), 0.006, 0.01);
    }
}

/* ---- on the leg ---- */

static void strut_lines(flr_kit *kit)
{
    /* rigid pipes down the cylinder, on its forward left and on its right side */
    for (int i = 0; i < 8; i++) {
        double turn = i < 4 ? 0.085 + 0.025 * i : 0.56 + 0.030 * (i - 4);
        double c = flr_kit_cos(turn), s = flr_kit_sin(turn), r = 0.006 + 0.0015 * (i % 3),
               at = 0.232;
        flr_vec3 out = v3(c, s, 0);
        flr_vec3 way[4] = {{at * c, at * s, 3.60},
                           {at * c, at * s, 1.90},
                           {(at - 0.02) * c, (at - 0.02) * s, 1.80},
                           {(at - 0.02) * c, (at - 0.02) * s, 1.70}};
        flr_kit_clamped_pipe(kit, way, 2, r, 0, 0.28, v3_mul(out, -1), 0.065);
        flr_kit_union(kit, flr_kit_frame(way[1], v3(0, 0, 1), out), r);
        /* a hose loops down to the bogie on the side away from the actuator */
        double side = i < 4 ? 1 : -1, x = 0.20 + 0.055 * (i % 4);
        flr_vec3 hose[5] = {way[1], v3(at * c, at * s, 1.66),
                            v3(x + 0.22, side * (i < 4 ? 0.30 : 0.34), 1.42 - 0.02 * i),
                            v3(x + 0.16, side * (i < 4 ? 0.24 : 0.28), 1.05),
                            v3(x, side * 0.09, 0.80)};
        flr_kit_pipe(kit, hose, 5, 0.010, 0, 0.14);
        flr_kit_union(kit, flr_kit_towards(hose[4], hose[3]), 0.008);
    }
    /* wire bundles down the cylinder's back */
    for (int i = 0; i < 2; i++) {
        double turn = 0.70 + 0.05 * i, c = flr_kit_cos(turn), s = flr_kit_sin(turn);
        flr_vec3 way[7];
        for (int k = 0; k < 7; k++) way[k] = v3(0.215 * c, 0.215 * s, 3.65 - 0.29 * k);
        flr_kit_bundle(kit, way, 7, 12, 0.0022, 0, 0.12);
        for (int k = 1; k < 6; k++)
            flr_kit_clamp(kit, flr_kit_frame(way[k], v3(c, s, 0), v3(0, 0, 1)), 0.011, 0.05);
        /* free loop to the bogie, on the right side */
        flr_vec3 loop[6] = {way[6],
                            v3(-0.10, -0.34, 1.72),
                            v3(-0.22 - 0.05 * i, -0.36, 1.45),
                            v3(-0.20, -0.30, 1.15),
                            v3(-0.16, -0.22, 0.95),
                            v3(-0.14, -0.12, 0.83)};
        flr_vec3 round[256];
        int n = flr_kit_route(kit, loop, 6, 0.15, round, 256);
        flr_kit_bundle(kit, round, n, 7, 0.0024, 0, 0.1);
    }
}

/* brake lines and sensor wires along the top of the bogie beam and out to each brake */
static void bogie_lines(flr_kit *kit)
{
    const double z = FLR_GEAR_AXLE_HEIGHT, end = FLR_GEAR_AXLE_STEP;
    for (int side = -1; side <= 1; side += 2)
        for (int i = 0; i < 3; i++) {
            double x = (i - 1) * end + 0.045, y = side * (0.035 + 0.022 * i), r = 0.006;
            double from = i == 2 ? 0.20 : i == 1 ? 0.16 : -0.18;
            double over = z + 0.175 + 0.008 * i;
            flr_vec3 run[3] = {{from, y, over}, {x, y, over}, {x, side * 0.20, over - 0.01}};
            if (i != 1)
                flr_kit_clamped_pipe(kit, run, 3, r, 0.03, 0.24, v3(0, 0, -1), over - z - 0.085);
            flr_vec3 out[4] = {{x, side * 0.20, over - 0.01},
                               {x, side * 0.33, over - 0.02},
                               {x, side * 0.40, z + 0.13},
                               {x - 0.02, side * 0.43, z + 0.128}};
            flr_kit_pipe(kit, out, 4, r, 0, 0.03);
            flr_kit_union(kit, flr_kit_towards(out[0], out[1]), r);
        }
    /* a flat harness on the beam's left flank below the actuator and on its right flank */
    for (int side = -1; side <= 1; side += 2) {
        flr_vec3 way[8];
        for (int k = 0; k < 8; k++) {
            double x = -1.30 + 2.6 * k / 7;
            way[k] = v3(x, side * 0.135, z - 0.06);
        }
        flr_kit_bundle(kit, way, 8, 7, 0.0025, 0.008, 0.12);
        for (int k = 1; k < 7; k++)
            flr_kit_clamp(kit, flr_kit_frame(way[k], v3(0, side, 0), v3(1, 0, 0)), 0.008, 0.03);
    }
}

void flr_gear_lines(flr_kit *kit)
{
    keel_lines(kit);
    bulkhead_lines(kit);
    strut_lines(kit);
    bogie_lines(kit);
}
