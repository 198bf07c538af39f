/* aircraft_systems.c: what fills the fuselage section: racks, ducts, pipes, wires. */
#include "models/aircraft.h"

#define AIRCRAFT_SYSTEMS_HALF (FLR_AIRCRAFT_LENGTH / 2)

/* ---- racks ---- */

/* a rack of L sections with shelves of boxes, x by y, its foot at z = 0 */
static void rack(flr_kit *kit, flr_pose at, double x, double y, double height, int shelves,
                 int boxes)
{
    flr_kit_outline o;
    flr_kit_push(kit, at);
    for (int i = 0; i < 4; i++) {
        double sx = i & 1 ? 1 : -1, sy = i & 2 ? 1 : -1;
        flr_vec3 post[2] = {{sx * x / 2, sy * y / 2, 0}, {sx * x / 2, sy * y / 2, height}};
        flr_outline_clear(&o);
        flr_outline_beam_l(kit, &o, 0.03, 0.03, 0.003);
        /* legs of the angle inwards */
        flr_pose foot = flr_kit_turn_z(flr_kit_at(post[0].x, post[0].y, 0),
                                       sx < 0 ? (sy < 0 ? 0 : 0.75) : (sy < 0 ? 0.25 : 0.5));
        flr_kit_prism(kit, foot, &o, height);
        flr_kit_plate(kit, flr_kit_at(sx * (x / 2 - 0.02), sy * (y / 2 - 0.02), -0.004), 0.08, 0.08,
                      0.006, 0.01, 0, 0, 0);
    }
    for (int s = 0; s < shelves; s++) {
        double z = 0.04 + s * (height - 0.04) / shelves, room = (height - 0.04) / shelves - 0.05;
        flr_kit_plate(kit, flr_kit_at(0, 0, z), x - 0.008, y - 0.008, 0.003, 0.01, 6, 2, 0.022);
        for (int b = 0; b < boxes; b++) {
            double width = (x - 0.08) / boxes, tall = room * flr_kit_random(kit, 0.55, 0.9);
            flr_kit_equipment(kit, flr_kit_at((b + 0.5 - boxes / 2.0) * width, 0.03, z + 0.004),
                              0.8 * width, 0.72 * y, tall);
        }
    }
    for (int side = -1; side <= 1; side += 2) { /* diagonal braces */
        flr_vec3 brace[2] = {{side * x / 2, -y / 2 + 0.01, 0.03},
                             {side * x / 2, y / 2 - 0.01, height - 0.03}};
        flr_outline_clear(&o);
        flr_outline_rect(kit, &o, 0, 0, 0.004, 0.025, 0);
        flr_kit_sweep(kit, brace, 2, v3(0, -1, 1), &o, NULL);
    }
    flr_kit_pop(kit);
}

/* ---- ducts ---- */

/* a sheet duct with beads and clamped couplings about every 0.8 m */
static void duct(flr_kit *kit, const flr_vec3 *way, int count, double r, double bend)
{
    flr_vec3 path[512];
    int n = flr_kit_route(kit, way, count, bend, path, 512);
    flr_kit_pipe(kit, way, count, r, r - 0.003, bend);
    double s = 0, next = 0.4;
    for (int i = 1; i < n; i++) {
        double length = v3_length(v3_sub(path[i], path[i - 1]));
        flr_vec3 along = v3_sub(path[i], path[i - 1]);
        for (; next <= s + length; next += 0.8) {
            flr_pose at = flr_kit_frame(v3_mix(path[i - 1], path[i], (next - s) / length), along,
                                        v3(0, 0, 1));
            flr_kit_tube(kit, flr_kit_shift(at, 0, 0, -0.02), r + 0.005, r - 0.001, 0.04);
            flr_kit_torus(kit, flr_kit_shift(at, 0, 0, 0.045), r, 0.004);
            flr_kit_torus(kit, flr_kit_shift(at, 0, 0, -0.045), r, 0.004);
            flr_pose latch = flr_kit_shift(at, r + 0.009, 0, 0);
            flr_kit_box(kit, latch, 0.012, 0.030, 0.022, 0.002);
            flr_kit_bolt(kit, flr_kit_turn_x(flr_kit_shift(latch, 0, 0.015, 0), -0.25), 0.006,
                         0.03);
        }
        s += length;
    }
}

static void ducts(flr_kit *kit)
{
    /* two mains below the floor with risers to the side wall, one under the crown */
    for (int side = -1; side <= 1; side += 2) {
        flr_vec3 main[5] = {{-AIRCRAFT_SYSTEMS_HALF + 0.05, side * 0.78, 1.24},
                            {-1.0, side * 0.78, 1.24},
                            {-0.6, side * 0.62, 1.16},
                            {1.2, side * 0.62, 1.16},
                            {AIRCRAFT_SYSTEMS_HALF - 0.05, side * 0.62, 1.16}};
        duct(kit, main, 5, 0.095, 0.30);
        for (int k = 0; k < 5; k++) {
            double x = -2.2 + 1.06 * k, y = k < 2 ? 0.78 : 0.62, z = k < 2 ? 1.24 : 1.16;
            flr_vec3 riser[4] = {{x, side * y, z},
                                 {x, side * 1.16, z + 0.02},
                                 {x, side * 1.26, 1.72},
                                 {x, side * 1.10, 2.20}};
            duct(kit, riser, 4, 0.042, 0.14);
            flr_kit_cone(
                kit, flr_kit_frame(v3(x, side * 1.10, 2.20), v3(0, -side * 0.3, 1), v3(1, 0, 0)),
                0.044, 0.085, 0.09);
        }
    }
    flr_vec3 crown[3] = {{-AIRCRAFT_SYSTEMS_HALF + 0.05, 0.10, 2.62},
                         {0.6, 0.10, 2.62},
                         {AIRCRAFT_SYSTEMS_HALF - 0.05, -0.22, 2.58}};
    duct(kit, crown, 3, 0.11, 0.8);
}

/* ---- pipes ---- */

static void pipes(flr_kit *kit)
{
    const flr_vec3 down = v3(0, 0, -1), up = v3(0, 0, 1);
    /* hydraulic lines in two bands, each with its own steps */
    for (int i = 0; i < 9; i++) {
        double r = 0.006 + 0.0025 * (i % 4), y = -0.30 + 0.055 * i, z = 0.44,
               step = -1.8 + 0.38 * i;
        double jump = flr_kit_random(kit, 0.05, 0.12);
        flr_vec3 way[6] = {{-AIRCRAFT_SYSTEMS_HALF + 0.1, y, z},
                           {step, y, z},
                           {step + 0.15, y + (i & 1 ? 0.05 : -0.05), z + jump},
                           {step + 0.7, y + (i & 1 ? 0.05 : -0.05), z + jump},
                           {step + 0.85, y, z},
                           {AIRCRAFT_SYSTEMS_HALF - 0.1, y, z}};
        flr_kit_clamped_pipe(kit, way, 6, r, 0.06, 1.0, down, 0.05);
    }
    for (int i = 0; i < 8; i++) {
        double r = 0.005 + 0.002 * (i % 3), y = -0.50 + 0.14 * i, turn = -2.3 + 0.62 * i;
        double side = i & 1 ? 1 : -1;
        flr_vec3 way[5] = {{-AIRCRAFT_SYSTEMS_HALF + 0.1, y, 1.36},
                           {turn, y, 1.36},
                           {turn, side * 1.05, 1.33},
                           {turn, side * 1.18, 1.00},
                           {turn + 0.25, side * 1.10, 0.62}};
        flr_kit_clamped_pipe(kit, way, 5, r, 0.07, 1.0, up, 0.045);
    }
    /* control cables over pulleys, straight as strings */
    for (int i = 0; i < 6; i++) {
        double y = -0.14 + 0.056 * i;
        flr_vec3 cable[2] = {{-AIRCRAFT_SYSTEMS_HALF + 0.02, y, 1.30},
                             {AIRCRAFT_SYSTEMS_HALF - 0.02, y, 1.30}};
        flr_kit_pipe(kit, cable, 2, 0.0025, 0, 0);
        for (int k = 0; k < 5; k++) {
            flr_pose wheel =
                flr_kit_frame(v3(-2.3 + 1.15 * k, y - 0.008, 1.262), v3(0, 1, 0), v3(1, 0, 0));
            const flr_kit_corner c[] = {{0.006, 0, 0},
                                        {0.042, 0, 0.001},
                                        {0.036, 0.008, 0.002},
                                        {0.042, 0.016, 0.001},
                                        {0.006, 0.016, 0}};
            flr_kit_lathe(kit, wheel, c, 5, flr_kit_sides(kit, 0.042));
        }
    }
    for (int k = 0; k < 5; k++) { /* what carries the pulleys */
        for (int side = -1; side <= 1; side += 2)
            flr_kit_plate(
                kit,
                flr_kit_frame(v3(-2.3 + 1.15 * k, side * 0.19, 1.30), v3(0, side, 0), v3(1, 0, 0)),
                0.12, 0.24, 0.004, 0.02, 1, 2, 0.03);
        flr_vec3 pin[2] = {{-2.3 + 1.15 * k, -0.21, 1.262}, {-2.3 + 1.15 * k, 0.21, 1.262}};
        flr_kit_pipe(kit, pin, 2, 0.006, 0, 0);
    }
}

/* ---- wires ---- */

static void wires(flr_kit *kit)
{
    /* along the side walls, sagging between the frames */
    for (int side = -1; side <= 1; side += 2)
        for (int i = 0; i < 5; i++) {
            double turn = side > 0 ? 0.905 + 0.034 * i : 0.595 - 0.034 * i;
            double y = 1.315 * flr_kit_cos(turn), z = 1.5 + 1.315 * flr_kit_sin(turn);
            flr_vec3 way[13], in = v3(0, -flr_kit_cos(turn), -flr_kit_sin(turn));
            for (int k = 0; k < 13; k++)
                way[k] = v3(-AIRCRAFT_SYSTEMS_HALF + 0.06 + 5.88 * k / 12, y, z);
            int count = i % 3 == 0 ? 7 : 4;
            flr_kit_bundle(kit, way, 13, count, 0.0026, flr_kit_random(kit, 0.01, 0.035), 0.5);
            for (int k = 1; k < 12; k += 2)
                flr_kit_clamp(kit, flr_kit_frame(way[k], in, v3(1, 0, 0)),
                              count > 4 ? 0.009 : 0.008, 0.035);
        }
    /* in trays under the floor */
    for (int side = -1; side <= 1; side += 2) {
        flr_vec3 tray[2] = {{-AIRCRAFT_SYSTEMS_HALF + 0.1, side * 0.32, 1.10},
                            {AIRCRAFT_SYSTEMS_HALF - 0.1, side * 0.32, 1.10}};
        flr_kit_outline o = {0};
        flr_outline_beam_c(kit, &o, 0.04, 0.14, 0.002);
        flr_kit_sweep(kit, tray, 2, v3(0, 1, 0), &o, NULL);
        for (int i = 0; i < 3; i++) {
            flr_vec3 way[9];
            for (int k = 0; k < 9; k++)
                way[k] = v3(-AIRCRAFT_SYSTEMS_HALF + 0.12 + 5.76 * k / 8,
                            side * 0.32 - 0.04 + 0.04 * i, 1.085);
            flr_kit_bundle(kit, way, 9, 4, 0.003, 0.004, 0.6);
        }
        for (int k = 0; k < 10; k++) { /* hangers */
            flr_vec3 rod[2] = {{-2.7 + 0.6 * k, side * 0.255, 1.09},
                               {-2.7 + 0.6 * k, side * 0.255, 1.42}};
            flr_kit_pipe(kit, rod, 2, 0.005, 0, 0);
            flr_vec3 other[2] = {{-2.7 + 0.6 * k, side * 0.385, 1.09},
                                 {-2.7 + 0.6 * k, side * 0.385, 1.42}};
            flr_kit_pipe(kit, other, 2, 0.005, 0, 0);
        }
    }
    /* loose looms from the trays to the racks, hanging through */
    for (int i = 0; i < 10; i++) {
        double x = -2.5 + 0.55 * i, side = i & 1 ? 1 : -1;
        flr_vec3 loom[4] = {{x, side * 0.32, 1.09},
                            {x + 0.10, side * 0.45, 0.96},
                            {x + 0.18, side * 0.62, 0.98},
                            {x + 0.22, side * 0.70, 0.84}};
        flr_vec3 path[128];
        int n = flr_kit_route(kit, loom, 4, 0.08, path, 128);
        flr_kit_bundle(kit, path, n, 4, 0.003, 0, 0.12);
    }
    /* under the crown */
    for (int i = 0; i < 4; i++) {
        flr_vec3 way[13];
        for (int k = 0; k < 13; k++)
            way[k] = v3(-AIRCRAFT_SYSTEMS_HALF + 0.06 + 5.88 * k / 12, -0.45 + 0.30 * i,
                        2.72 - 0.03 * (i == 0 || i == 3));
        flr_kit_bundle(kit, way, 13, 4, 0.003, 0.03, 0.3);
    }
}

void flr_aircraft_systems(flr_kit *kit)
{
    /* racks on both sides of the keel, tanks between them */
    rack(kit, flr_kit_at(-2.1, 0.72, 0.42), 0.9, 0.40, 0.50, 1, 3);
    rack(kit, flr_kit_turn_z(flr_kit_at(-2.0, -0.72, 0.42), 0.5), 1.0, 0.40, 0.50, 1, 4);
    rack(kit, flr_kit_at(-0.55, 0.72, 0.42), 1.1, 0.40, 0.52, 1, 4);
    rack(kit, flr_kit_turn_z(flr_kit_at(0.9, -0.72, 0.42), 0.5), 1.0, 0.40, 0.50, 1, 3);
    rack(kit, flr_kit_at(2.2, 0.72, 0.42), 0.8, 0.40, 0.50, 1, 2);
    flr_kit_bottle(kit, flr_kit_at(-0.55, -0.74, 0.412), 0.17, 0.80);
    flr_kit_bottle(kit, flr_kit_at(0.95, 0.74, 0.412), 0.15, 0.75);
    flr_kit_bottle(kit, flr_kit_at(2.25, -0.72, 0.412), 0.16, 0.85);
    ducts(kit);
    pipes(kit);
    wires(kit);
}
