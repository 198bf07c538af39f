/* aircraft_structure.c: a fuselage section: skin, frames, stringers, floor. */
#include "models/aircraft.h"

#define R                         FLR_AIRCRAFT_RADIUS
#define AIRCRAFT_STRUCTURE_HALF   (FLR_AIRCRAFT_LENGTH / 2)
#define DEPTH                     0.105 /* of a frame */
#define AIRCRAFT_STRUCTURE_SKIN   0.002
#define AIRCRAFT_STRUCTURE_FRAMES 12

/* angles about the fuselage's axis in turns: 0 left, 0.25 up, 0.75 down */
static flr_vec3 on_circle(double x, double r, double turn)
{
    return v3(x, r * flr_kit_cos(turn), R + r * flr_kit_sin(turn));
}

static double frame_x(int i)
{
    return -AIRCRAFT_STRUCTURE_HALF + 0.25 +
           (FLR_AIRCRAFT_LENGTH - 0.5) * i / (AIRCRAFT_STRUCTURE_FRAMES - 1);
}

/* ---- the barrel ---- */

/* two skin panels with a lap joint, open from 0.10 to 0.40 at the top */
static void skin(flr_kit *kit)
{
    const double from[2] = {0.40, 0.748}, to[2] = {0.752, 1.10};
    flr_pose along = flr_kit_frame(v3(-AIRCRAFT_STRUCTURE_HALF, 0, R), v3(1, 0, 0), v3(0, 1, 0));
    for (int panel = 0; panel < 2; panel++) {
        double r = R - panel * AIRCRAFT_STRUCTURE_SKIN;
        flr_kit_outline o = {0};
        flr_outline_arc(&o, 0, 0, r, from[panel], to[panel], 44);
        flr_outline_arc(&o, 0, 0, r - AIRCRAFT_STRUCTURE_SKIN, to[panel], from[panel], 44);
        flr_outline_close(&o);
        flr_kit_prism(kit, along, &o, FLR_AIRCRAFT_LENGTH);
    }
}

/* a ring frame of C section, its web at x, with shear clips on the stringers */
static void ring_frame(flr_kit *kit, double x)
{
    const double outer = R - 2 * AIRCRAFT_STRUCTURE_SKIN - 0.031, inner = outer - DEPTH, t = 0.003,
                 w = 0.032;
    const flr_kit_corner c[] = {{inner, 0, 0},         {inner, w, 0},         {inner + t, w, 0},
                                {inner + t, t, 0.003}, {outer - t, t, 0.003}, {outer - t, w, 0},
                                {outer, w, 0},         {outer, 0, 0}};
    flr_kit_lathe(kit, flr_kit_frame(v3(x, 0, R), v3(1, 0, 0), v3(0, 1, 0)), c, 8, 96);
}

static double stringer_turn(int i) { return 0.405 + 0.0235 * i; }
enum { STRINGERS = 30 };

static void stringers(flr_kit *kit)
{
    flr_kit_outline o;
    for (int i = 0; i < STRINGERS; i++) {
        double turn = stringer_turn(i), r = R - 1.5 * AIRCRAFT_STRUCTURE_SKIN;
        flr_vec3 path[2] = {on_circle(-AIRCRAFT_STRUCTURE_HALF + 0.01, r, turn),
                            on_circle(AIRCRAFT_STRUCTURE_HALF - 0.01, r, turn)};
        flr_vec3 in = v3(0, -flr_kit_cos(turn), -flr_kit_sin(turn));
        flr_outline_clear(&o);
        flr_outline_beam_hat(kit, &o, 0.030, 0.032, 0.018, 0.002);
        flr_kit_sweep(kit, path, 2, in, &o, NULL);
        /* clips at the frames */
        for (int k = 0; k < AIRCRAFT_STRUCTURE_FRAMES; k++) {
            flr_pose at =
                flr_kit_frame(on_circle(frame_x(k) - 0.003, R - 0.060, turn), in, v3(1, 0, 0));
            flr_kit_box(kit, at, 0.0025, 0.036, 0.075, 0);
            flr_kit_rivet(kit, flr_kit_turn_y(flr_kit_shift(at, -0.00125, 0.010, 0.02), -0.25),
                          0.005);
            flr_kit_rivet(kit, flr_kit_turn_y(flr_kit_shift(at, -0.00125, -0.010, 0.02), -0.25),
                          0.005);
        }
    }
}

/* ---- the floor ---- */

/* a floor beam across: web with lightening holes, two caps, end brackets */
static void floor_beam(flr_kit *kit, double x)
{
    const double top = FLR_AIRCRAFT_FLOOR - 0.030, depth = 0.18, half = 1.345;
    flr_kit_outline o;
    flr_outline_clear(&o);
    flr_outline_rect(kit, &o, 0, top - depth / 2, 2 * half, depth, 0);
    for (int i = 0; i < 13; i++)
        flr_outline_circle(kit, &o, -1.2 + 0.2 * i, top - depth / 2, 0.052);
    flr_pose web = flr_kit_frame(v3(x - 0.0015, 0, 0), v3(1, 0, 0), v3(0, 1, 0));
    flr_kit_prism(kit, web, &o, 0.003);
    for (int i = 0; i < 13; i++) {
        const flr_kit_corner c[] = {
            {0.050, 0, 0}, {0.060, 0, 0}, {0.056, 0.008, 0}, {0.050, 0.010, 0}};
        flr_kit_lathe(kit, flr_kit_shift(web, -1.2 + 0.2 * i, top - depth / 2, 0.0015), c, 4,
                      flr_kit_sides(kit, 0.052));
    }
    for (int edge = 0; edge < 2; edge++) {
        double z = edge ? top - depth : top;
        flr_vec3 path[2] = {{x, -half, z}, {x, half, z}};
        flr_outline_clear(&o);
        flr_outline_beam_t(kit, &o, 0.06, 0.025, 0.004);
        flr_kit_sweep(kit, path, 2, v3(0, 0, edge ? 1 : -1), &o, NULL);
    }
    for (int side = -1; side <= 1; side += 2) {
        flr_pose end =
            flr_kit_frame(v3(x + 0.003, side * 1.30, top - 0.09), v3(1, 0, 0), v3(0, 1, 0));
        flr_kit_plate(kit, end, 0.16, 0.16, 0.004, 0.02, 0, 0, 0);
        for (int i = 0; i < 4; i++)
            flr_kit_bolt(kit, flr_kit_shift(end, i & 1 ? 0.05 : -0.05, i & 2 ? 0.05 : -0.05, 0.004),
                         0.008, 0);
    }
}

/* a stanchion: tube with forked ends between floor beam and frame */
static void stanchion(flr_kit *kit, double x, double y)
{
    double top = FLR_AIRCRAFT_FLOOR - 0.21, r = R - 0.15, low = R - sqrt(r * r - y * y);
    flr_vec3 path[2] = {{x + 0.03, y, low + 0.03}, {x + 0.03, y, top - 0.03}};
    flr_kit_pipe(kit, path, 2, 0.018, 0, 0);
    for (int end = 0; end < 2; end++) {
        flr_pose eye =
            flr_kit_frame(v3(x + 0.03, y, end ? top : low), v3(0, 0, end ? 1 : -1), v3(0, 1, 0));
        flr_kit_lug(kit, eye, 0.024, 0.009, 0.020, 0.06, 0.034);
        flr_kit_pin(kit, eye, 0.0085, 0.045);
        flr_kit_box(kit, flr_kit_shift(eye, 0, -0.018, 0.01), 0.05, 0.008, 0.07, 0.002);
        flr_kit_box(kit, flr_kit_shift(eye, 0, 0.018, 0.01), 0.05, 0.008, 0.07, 0.002);
    }
}

/* seat tracks, and some of the panels: the others are taken up to get at what is below */
static void floor_panels(flr_kit *kit)
{
    const double y[5] = {-1.25, -0.62, 0, 0.62, 1.25}, top = FLR_AIRCRAFT_FLOOR;
    flr_kit_outline o;
    for (int i = 0; i < 5; i++) {
        flr_vec3 path[2] = {{-AIRCRAFT_STRUCTURE_HALF + 0.02, y[i], top - 0.015},
                            {AIRCRAFT_STRUCTURE_HALF - 0.02, y[i], top - 0.015}};
        flr_outline_clear(&o);
        flr_outline_beam_i(kit, &o, 0.05, 0.036, 0.004);
        flr_kit_sweep(kit, path, 2, v3(0, 0, 1), &o, NULL);
    }
    for (int row = 0; row < 6; row++)
        for (int i = 0; i < 4; i++) {
            if ((row + 2 * i) % 5 < 3 || row == 3) continue;
            double x = -AIRCRAFT_STRUCTURE_HALF + 0.5 + row, middle = (y[i] + y[i + 1]) / 2;
            flr_kit_plate(kit, flr_kit_at(x, middle, top - 0.0075), 0.96, 0.56, 0.010, 0.02, 0, 0,
                          0);
            for (int k = 0; k < 10; k++)
                for (int side = -1; side <= 1; side += 2)
                    flr_kit_rivet(
                        kit, flr_kit_at(x - 0.45 + 0.1 * k, middle + side * 0.262, top + 0.0025),
                        0.006);
        }
}

/* a bearer across the bilge that carries racks, tanks and pipes */
static void bearer(flr_kit *kit, double x)
{
    flr_vec3 path[2] = {{x, -0.86, 0.370}, {x, 0.86, 0.370}};
    flr_kit_outline o = {0};
    flr_outline_beam_i(kit, &o, 0.05, 0.08, 0.004);
    flr_kit_sweep(kit, path, 2, v3(0, 0, 1), &o, NULL);
    for (int side = -1; side <= 1; side += 2)
        flr_kit_bracket(kit, flr_kit_at(x + 0.002, side * 0.80, 0.330), 0.08, 0.05, 0.004, 0.008);
}

void flr_aircraft_structure(flr_kit *kit)
{
    skin(kit);
    stringers(kit);
    for (int i = 0; i < AIRCRAFT_STRUCTURE_FRAMES; i++) {
        ring_frame(kit, frame_x(i));
        floor_beam(kit, frame_x(i) - 0.02);
        bearer(kit, frame_x(i) - 0.03);
        for (int k = 0; k < 4; k++) stanchion(kit, frame_x(i), -0.93 + 0.62 * k);
    }
    floor_panels(kit);
}
