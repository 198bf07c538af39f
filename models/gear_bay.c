/* gear_bay.c: the bay the landing gear hangs in: stiffened walls, ribs, equipment. */
#include "models/gear.h"

#define GEAR_BAY_SKIN 0.003

/* ---- stiffened walls ----
 * In a wall's frame x runs along the stringers, y along the frames, z into the bay. */

/* a frame: web with flanged lightening holes, caps on both edges, along y at x */
static void frame(flr_kit *kit, double x, double length, double depth)
{
    int holes = (int)(length / 0.15);
    double step = length / holes, r = 0.26 * depth;
    flr_kit_outline o;
    flr_outline_clear(&o);
    flr_outline_rect(kit, &o, 0, (depth - 0.001) / 2, length, depth + 0.001, 0); /* into the skin */
    for (int i = 0; i < holes; i++)
        flr_outline_circle(kit, &o, -length / 2 + (i + 0.5) * step, 0.52 * depth, r);
    /* outline x along the wall's y, outline y along its z */
    flr_pose at = flr_kit_frame(v3(x - 0.0012, 0, 0), v3(1, 0, 0), v3(0, 1, 0));
    flr_kit_prism(kit, at, &o, 0.0024);
    for (int i = 0; i < holes; i++) {
        const flr_kit_corner c[] = {{r - 0.002, -0.001, 0},
                                    {r + 0.006, -0.001, 0.001},
                                    {r + 0.003, 0.007, 0},
                                    {r - 0.002, 0.009, 0}};
        flr_pose hole = flr_kit_shift(at, -length / 2 + (i + 0.5) * step, 0.52 * depth, 0.0012);
        flr_kit_lathe(kit, hole, c, 4, flr_kit_sides(kit, r));
    }
    /* caps: an angle on the skin, a T inside */
    flr_vec3 path[2] = {{x, -length / 2 + 0.001, -0.0004}, {x, length / 2 - 0.001, -0.0004}};
    flr_outline_clear(&o);
    flr_outline_beam_l(kit, &o, 0.028, 0.024, 0.003);
    flr_kit_sweep(kit, path, 2, v3(0, 0, 1), &o, NULL);
    path[0].z = path[1].z = depth + 0.002;
    flr_outline_clear(&o);
    flr_outline_beam_t(kit, &o, 0.05, 0.022, 0.003);
    flr_kit_sweep(kit, path, 2, v3(0, 0, -1), &o, NULL);
    int rivets = (int)(length / 0.045);
    flr_kit_rivet_row(kit, v3(x - 0.016, -length / 2 + 0.03, depth + 0.002),
                      v3(x - 0.016, length / 2 - 0.03, depth + 0.002), v3(0, 0, 1), rivets, 0.005);
    flr_kit_rivet_row(kit, v3(x + 0.016, -length / 2 + 0.03, depth + 0.002),
                      v3(x + 0.016, length / 2 - 0.03, depth + 0.002), v3(0, 0, 1), rivets, 0.005);
}

static void stringer(flr_kit *kit, double y, double length, int kind)
{
    flr_vec3 path[2] = {{-length / 2 + 0.002, y, -0.0005}, {length / 2 - 0.002, y, -0.0005}};
    flr_kit_outline o = {0};
    if (kind == 0)
        flr_outline_beam_z(kit, &o, 0.020, 0.034, 0.0025);
    else
        flr_outline_beam_hat(kit, &o, 0.034, 0.030, 0.020, 0.0022);
    flr_kit_sweep(kit, path, 2, v3(0, 0, 1), &o, NULL);
    int rivets = (int)(length / 0.05);
    double off = kind == 0 ? -0.012 : 0.027;
    flr_kit_rivet_row(kit, v3(-length / 2 + 0.02, y + off, 0.002),
                      v3(length / 2 - 0.02, y + off, 0.002), v3(0, 0, 1), rivets, 0.0045);
    if (kind != 0)
        flr_kit_rivet_row(kit, v3(-length / 2 + 0.02, y - off, 0.002),
                          v3(length / 2 - 0.02, y - off, 0.002), v3(0, 0, 1), rivets, 0.0045);
}

/* the clip where a stringer passes a frame */
static void clip(flr_kit *kit, double x, double y)
{
    flr_vec3 path[2] = {{x + 0.002, y + 0.004, 0.036}, {x + 0.002, y + 0.004, 0.076}};
    flr_kit_outline o = {0};
    flr_outline_beam_l(kit, &o, 0.022, 0.022, 0.002);
    flr_kit_sweep(kit, path, 2, v3(0, 1, 0), &o, NULL);
    for (int i = 0; i < 2; i++) {
        flr_pose at = flr_kit_at(x + 0.014, y + 0.0065, 0.047 + 0.018 * i);
        flr_kit_rivet(kit, flr_kit_turn_x(at, -0.25), 0.004);
    }
}

static void wall(flr_kit *kit, flr_pose at, double width, double height, int stringers, int frames,
                 double depth, int kind)
{
    flr_kit_push(kit, at);
    flr_kit_box(kit, flr_kit_at(0, 0, -GEAR_BAY_SKIN / 2), width, height, GEAR_BAY_SKIN, 0);
    for (int i = 0; i < stringers; i++)
        stringer(kit, height * ((i + 0.5) / stringers - 0.5), width, kind);
    for (int i = 0; i < frames; i++) {
        double x = width * ((i + 0.5) / frames - 0.5);
        frame(kit, x, height - 0.004, depth);
        for (int k = 0; k < stringers; k++) clip(kit, x, height * ((k + 0.5) / stringers - 0.5));
    }
    flr_kit_pop(kit);
}

/* ---- the ribs that carry the trunnion ---- */

static void main_rib(flr_kit *kit, double x)
{
    flr_kit_outline o;
    const flr_kit_corner c[] = {{-0.90, 4.70, 0.02}, {-0.90, 4.05, 0.05}, {-0.26, 3.78, 0.08},
                                {0.26, 3.78, 0.08},  {0.90, 4.25, 0.05},  {0.90, 4.70, 0.02}};
    flr_outline_clear(&o);
    flr_outline_corners(kit, &o, c, 6);
    flr_outline_circle(kit, &o, 0, 3.98, 0.115);
    const double holes[][3] = {{-0.70, 4.45, 0.13}, {-0.36, 4.38, 0.15}, {0, 4.42, 0.15},
                               {0.36, 4.42, 0.15},  {0.70, 4.48, 0.11},  {-0.52, 4.12, 0.07},
                               {0.46, 4.13, 0.07}};
    for (int i = 0; i < 7; i++) flr_outline_circle(kit, &o, holes[i][0], holes[i][1], holes[i][2]);
    flr_pose at = flr_kit_frame(v3(x - 0.010, 0, 0), v3(1, 0, 0), v3(0, 1, 0));
    flr_kit_prism(kit, at, &o, 0.020);
    for (int i = 0; i < 7; i++) {
        double r = holes[i][2];
        const flr_kit_corner l[] = {{r - 0.004, -0.006, 0.002},
                                    {r + 0.012, -0.006, 0.002},
                                    {r + 0.012, 0.026, 0.003},
                                    {r - 0.004, 0.026, 0.003}};
        flr_kit_lathe(kit, flr_kit_shift(at, holes[i][0], holes[i][1], 0), l, 4,
                      flr_kit_sides(kit, r));
    }
    /* bearing housing with cap and bolts, edge flanges, rows of bolts to the roof */
    flr_pose bearing = flr_kit_frame(v3(x - 0.045, 0, 3.98), v3(1, 0, 0), v3(0, 1, 0));
    flr_kit_flange(kit, bearing, 0.170, 0.072, 0.090, 16, 0.014);
    flr_vec3 lower[4] = {{x, -0.895, 4.06}, {x, -0.25, 3.785}, {x, 0.25, 3.785}, {x, 0.895, 4.255}};
    flr_outline_clear(&o);
    flr_outline_beam_t(kit, &o, 0.11, 0.03, 0.008);
    flr_kit_sweep(kit, lower, 4, v3(0, 0, 1), &o, NULL);
    for (int i = 0; i < 16; i++) {
        double y = -0.84 + 0.112 * i;
        flr_kit_bracket(kit, flr_kit_turn_y(flr_kit_at(x + 0.010, y, 4.700), 0.25), 0.06, 0.05,
                        0.004, 0.006);
    }
}

/* ---- equipment ---- */

static void fittings(flr_kit *kit, flr_pose keel, flr_pose roof)
{
    /* on the caps of the keel's frames */
    const double d = 0.124;
    const double boxes[][5] = {{-1.45, 0.85, 0.34, 0.26, 0.13}, {-0.95, -0.75, 0.26, 0.22, 0.10},
                               {0.75, 0.80, 0.38, 0.24, 0.14},  {1.45, -0.55, 0.30, 0.30, 0.12},
                               {1.45, 0.55, 0.22, 0.18, 0.10},  {-1.60, -0.95, 0.30, 0.20, 0.10}};
    for (int i = 0; i < 6; i++) {
        double jitter = flr_kit_random(kit, -0.04, 0.04);
        flr_kit_equipment(kit, flr_kit_shift(keel, boxes[i][0] + jitter, boxes[i][1], d),
                          boxes[i][2], boxes[i][3], boxes[i][4]);
    }
    flr_kit_bottle(kit, flr_kit_shift(keel, 0.80, -0.70, d), 0.085, 0.55);
    flr_kit_bottle(kit, flr_kit_shift(keel, -0.55, 0.55, d), 0.070, 0.48);
    flr_kit_bottle(kit, flr_kit_shift(keel, 0.55, 0.25, d), 0.060, 0.40);
    /* on the roof, between the ribs and the bulkheads */
    const double up = 0.154;
    flr_kit_equipment(kit, flr_kit_shift(roof, -1.50, 0.45, up), 0.42, 0.34, 0.14);
    flr_kit_equipment(kit, flr_kit_shift(roof, 1.55, -0.45, up), 0.36, 0.30, 0.16);
    flr_kit_bottle(kit, flr_kit_shift(roof, -1.45, -0.40, up), 0.11, 0.62);
    flr_kit_bottle(kit, flr_kit_shift(roof, 0.45, 0.60, up), 0.075, 0.50);
}

/* the open side: an edge beam with door hinges and their rods */
static void doors(flr_kit *kit)
{
    flr_kit_outline o;
    flr_outline_clear(&o);
    flr_outline_beam_c(kit, &o, 0.07, 0.16, 0.004);
    flr_vec3 path[2] = {{-2.03, 0.876, 4.56}, {2.03, 0.876, 4.56}};
    flr_kit_sweep(kit, path, 2, v3(0, 0, 1), &o, NULL);
    for (int i = 0; i < 5; i++) {
        double x = -1.7 + 0.85 * i;
        flr_pose hinge = flr_kit_turn_x(flr_kit_turn_z(flr_kit_at(x, 0.86, 4.37), 0.25), 0.5);
        flr_kit_clevis(kit, hinge, 0.030, 0.012, 0.012, 0.028, 0.10, 0.07);
        flr_kit_pin(kit, hinge, 0.0115, 0.075);
        /* goose-neck arm of a door that is not there */
        flr_vec3 arm[4] = {{x, 0.86, 4.37}, {x, 0.80, 4.22}, {x, 0.89, 4.02}, {x, 0.90, 3.80}};
        flr_outline_clear(&o);
        flr_outline_rect(kit, &o, 0, 0, 0.024, 0.05, 0.004);
        flr_vec3 route[64];
        int n = flr_kit_route(kit, arm, 4, 0.10, route, 64);
        flr_kit_sweep(kit, route, n, v3(0, 1, 0), &o, NULL);
    }
}

void flr_gear_bay(flr_kit *kit)
{
    const double x = FLR_GEAR_LENGTH / 2, y = FLR_GEAR_WIDTH / 2, top = FLR_GEAR_HEIGHT;
    const double keel_low = 2.0, bulkhead_low = 2.86, e = 0.004;
    /* walls: the skin's outer face on the bay's box, a hair inside at the corners */
    flr_pose keel = flr_kit_frame(v3(0, -y + GEAR_BAY_SKIN, (keel_low + top - e) / 2), v3(0, 1, 0),
                                  v3(-1, 0, 0));
    wall(kit, keel, 2 * x - 2 * e, top - e - keel_low, 12, 9, 0.12, 0);
    flr_pose aft = flr_kit_frame(v3(-x + GEAR_BAY_SKIN, 0, (bulkhead_low + top - e) / 2),
                                 v3(1, 0, 0), v3(0, 1, 0));
    wall(kit, aft, 2 * y - 2 * e, top - e - bulkhead_low, 9, 5, 0.10, 1);
    flr_pose fore = flr_kit_frame(v3(x - GEAR_BAY_SKIN, 0, (bulkhead_low + top - e) / 2),
                                  v3(-1, 0, 0), v3(0, -1, 0));
    wall(kit, fore, 2 * y - 2 * e, top - e - bulkhead_low, 9, 5, 0.10, 1);
    flr_pose roof = flr_kit_frame(v3(0, 0, top - GEAR_BAY_SKIN), v3(0, 0, -1), v3(1, 0, 0));
    wall(kit, roof, 2 * x, 2 * y, 8, 9, 0.15, 0);
    main_rib(kit, -0.95);
    main_rib(kit, 0.95);
    fittings(kit, keel, roof);
    doors(kit);
    /* where braces and the retraction actuator end */
    flr_pose drag = flr_kit_frame(v3(-1.92, 0, 3.58), v3(1, 0, 0), v3(0, 0, 1));
    flr_kit_clevis(kit, drag, 0.062, 0.030, 0.030, 0.13, 0.10, 0.24);
    flr_pose side = flr_kit_frame(v3(0, -0.78, 3.86), v3(0, 1, 0), v3(0, 0, 1));
    flr_kit_clevis(kit, side, 0.056, 0.026, 0.026, 0.12, 0.12, 0.20);
    flr_pose pull = flr_kit_frame(v3(1.42, 0.02, 4.32), v3(0, 0, -1), v3(1, 0, 0));
    flr_kit_clevis(kit, pull, 0.072, 0.030, 0.030, 0.075, 0.30, 0.30);
}
