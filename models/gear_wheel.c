/* gear_wheel.c: wheel, tyre and brake of the landing gear.
 *
 * Everything here turns about a local z axis that shows to the wheel's outside. */
#include "models/gear.h"

#define GEAR_WHEEL_HALF (FLR_GEAR_TYRE_WIDTH / 2 - 0.005) /* of the tyre, at its widest */
#define SEAT_R          0.285                             /* where the tyre sits on the rim */
#define WEB_R           0.262                             /* of the disc with the openings */
#define HUB_TOP         0.245 /* the cap's end, from the tyre's middle */

/* from one shoulder over the tread with its grooves to the other */
static void tyre(flr_kit *kit)
{
    const double r = FLR_GEAR_TYRE_RADIUS, groove = 0.011, deep = 0.012;
    flr_kit_corner c[48];
    int n = 0;
    c[n++] = (flr_kit_corner){SEAT_R, -0.143, 0.006};
    c[n++] = (flr_kit_corner){SEAT_R + 0.03, -0.165, 0.012};
    c[n++] = (flr_kit_corner){0.40, -GEAR_WHEEL_HALF, 0.10};
    c[n++] = (flr_kit_corner){0.53, -GEAR_WHEEL_HALF, 0.07};
    c[n++] = (flr_kit_corner){0.608, -0.172, 0.035};
    c[n++] = (flr_kit_corner){r, -0.134, 0.018};
    for (int i = 0; i < 5; i++) {
        double y = -0.11 + 0.055 * i;
        c[n++] = (flr_kit_corner){r, y - groove / 2, 0};
        c[n++] = (flr_kit_corner){r - deep, y - groove / 2 + 0.002, 0.002};
        c[n++] = (flr_kit_corner){r - deep, y + groove / 2 - 0.002, 0.002};
        c[n++] = (flr_kit_corner){r, y + groove / 2, 0};
    }
    for (int i = 5; i >= 0; i--) c[n++] = (flr_kit_corner){c[i].x, -c[i].y, c[i].r};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), c, n, flr_kit_sides(kit, r) + 32);
    /* raised ribs and a lettering band on the outer wall */
    for (int i = 0; i < 3; i++)
        flr_kit_torus(kit, flr_kit_at(0, 0, GEAR_WHEEL_HALF - 0.006 - 0.0005 * i * i),
                      0.43 + 0.035 * i, 0.0035);
}

/* both halves of the rim as one turned ring */
static void rim(flr_kit *kit)
{
    const flr_kit_corner c[] = {
        {0.262, -0.128, 0.004},          {0.268, -0.174, 0.004},         {0.300, -0.186, 0.006},
        {0.318, -0.181, 0.006},          {0.316, -0.168, 0.004},         {0.296, -0.156, 0.004},
        {SEAT_R + 0.002, -0.138, 0.004}, {SEAT_R + 0.002, 0.138, 0.004}, {0.296, 0.156, 0.004},
        {0.316, 0.168, 0.004},           {0.318, 0.181, 0.006},          {0.300, 0.186, 0.006},
        {0.268, 0.174, 0.004},           {0.262, 0.128, 0.004}};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), c, sizeof c / sizeof *c, flr_kit_sides(kit, 0.32));
}

/* the disc with round openings, its ribs, the tie bolts, heat plugs and the valve */
static void web(flr_kit *kit)
{
    flr_kit_outline o = {0};
    flr_outline_circle(kit, &o, 0, 0, WEB_R + 0.004);
    for (int i = 0; i < 9; i++) {
        double a = i / 9.0;
        flr_outline_circle(kit, &o, 0.178 * flr_kit_cos(a), 0.178 * flr_kit_sin(a), 0.036);
    }
    flr_kit_prism(kit, flr_kit_at(0, 0, 0.085), &o, 0.026);
    for (int i = 0; i < 9; i++) {
        flr_pose ray = flr_kit_turn_z(flr_kit_at(0, 0, 0), i / 9.0);
        /* the raised edge of an opening */
        const flr_kit_corner lip[] = {
            {0.0345, 0.105, 0}, {0.044, 0.105, 0}, {0.042, 0.117, 0.002}, {0.0345, 0.119, 0.001}};
        flr_kit_lathe(kit, flr_kit_shift(ray, 0.178, 0, 0), lip, 4, flr_kit_sides(kit, 0.044));
        /* a rib between two openings */
        flr_pose between = flr_kit_turn_z(flr_kit_at(0, 0, 0), (i + 0.5) / 9);
        flr_kit_box(kit, flr_kit_shift(between, 0.178, 0, 0.117), 0.15, 0.014, 0.020, 0.003);
    }
    flr_kit_bolt_circle(kit, flr_kit_at(0, 0, 0.111), 0.236, 18, 0.016, 0.026);
    for (int i = 0; i < 3; i++) {
        flr_pose plug = flr_kit_turn_z(flr_kit_at(0, 0, 0.111), i / 3.0 + 0.05);
        plug = flr_kit_shift(plug, 0.130, 0, 0);
        flr_kit_rounded_cylinder(kit, plug, 0.010, 0.010, 0.002);
    }
    flr_pose valve = flr_kit_turn_z(flr_kit_at(0, 0, 0.105), 0.02);
    valve = flr_kit_turn_y(flr_kit_shift(valve, 0.215, 0, 0), -0.08);
    flr_kit_rounded_cylinder(kit, valve, 0.007, 0.045, 0.001);
    flr_kit_rounded_cylinder(kit, flr_kit_shift(valve, 0, 0, 0.030), 0.009, 0.022, 0.002);
}

/* hub with bearing cap; the cap's end is the widest place of the whole gear */
static void hub(flr_kit *kit)
{
    const flr_kit_corner c[] = {{0.086, -0.120, 0.003}, {0.118, -0.120, 0.004},
                                {0.118, 0.060, 0.010},  {0.145, 0.085, 0.006},
                                {0.145, 0.112, 0.006},  {0.112, 0.125, 0.008},
                                {0.108, 0.190, 0.004},  {0.086, 0.190, 0.002}};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), c, sizeof c / sizeof *c, flr_kit_sides(kit, 0.145));
    const flr_kit_corner cap[] = {{0, 0.180, 0},           {0.104, 0.180, 0},
                                  {0.104, 0.203, 0.003},   {0.078, 0.203, 0.003},
                                  {0.070, 0.236, 0.010},   {0.034, 0.240, 0.003},
                                  {0.034, HUB_TOP, 0.001}, {0, HUB_TOP, 0}};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), cap, sizeof cap / sizeof *cap,
                  flr_kit_sides(kit, 0.104));
    flr_kit_bolt_circle(kit, flr_kit_at(0, 0, 0.203), 0.091, 10, 0.008, 0);
    flr_kit_bolt_circle(kit, flr_kit_at(0, 0, 0.112), 0.130, 12, 0.010, 0);
    /* the tyre pressure sensor's housing and its wire */
    flr_kit_box(kit, flr_kit_at(0.045, 0, 0.226), 0.026, 0.030, 0.016, 0.003);
}

void flr_gear_wheel(flr_kit *kit, flr_pose at)
{
    flr_kit_push(kit, at);
    flr_kit_push(kit, flr_kit_frame(v3(0, 0, 0), v3(0, 1, 0), v3(1, 0, 0)));
    tyre(kit);
    rim(kit);
    web(kit);
    hub(kit);
    flr_kit_pop(kit);
    flr_kit_pop(kit);
}

/* a carbon disc: rotors have slots outside, stators inside */
static void disc(flr_kit *kit, double z, bool rotor)
{
    double r_outer = rotor ? 0.246 : 0.228, r_inner = rotor ? 0.140 : 0.126;
    int keys = 9, steps = 8;
    flr_kit_outline o = {0};
    for (int i = 0; i < keys; i++)
        for (int k = 0; k <= steps; k++) {
            double a = (i + 0.10 + 0.80 * k / steps) / keys;
            if (rotor && k == 0) {
                double b = (i + 0.02) / keys;
                flr_outline_point(&o, (r_outer - 0.018) * flr_kit_cos(b),
                                  (r_outer - 0.018) * flr_kit_sin(b));
                b = (i + 0.09) / keys;
                flr_outline_point(&o, (r_outer - 0.018) * flr_kit_cos(b),
                                  (r_outer - 0.018) * flr_kit_sin(b));
            }
            flr_outline_point(&o, r_outer * flr_kit_cos(a), r_outer * flr_kit_sin(a));
        }
    flr_outline_close(&o);
    flr_outline_circle(kit, &o, 0, 0, r_inner);
    flr_kit_prism(kit, flr_kit_at(0, 0, z), &o, 0.015);
}

/* one hydraulic piston housing on the carrier */
static void piston(flr_kit *kit, flr_pose ray)
{
    const flr_kit_corner c[] = {{0, 0, 0},          {0.033, 0, 0},          {0.033, -0.020, 0.003},
                                {0.028, -0.024, 0}, {0.028, -0.046, 0.006}, {0, -0.046, 0}};
    flr_kit_lathe(kit, flr_kit_shift(ray, 0.165, 0, -0.232), c, sizeof c / sizeof *c,
                  flr_kit_sides(kit, 0.033));
    flr_kit_bolt(kit, flr_kit_turn_x(flr_kit_shift(ray, 0.205, 0, -0.238), 0.5), 0.006, 0);
}

void flr_gear_brake(flr_kit *kit, flr_pose at)
{
    flr_kit_push(kit, at);
    flr_kit_push(kit, flr_kit_frame(v3(0, 0, 0), v3(0, 1, 0), v3(1, 0, 0)));
    for (int i = 0; i < 9; i++) disc(kit, -0.175 + 0.018 * i, i & 1);
    /* torque tube through the discs, with its keys */
    flr_kit_tube(kit, flr_kit_at(0, 0, -0.22), 0.124, 0.088, 0.215);
    for (int i = 0; i < 9; i++) {
        flr_pose ray = flr_kit_turn_z(flr_kit_at(0, 0, 0), i / 9.0);
        flr_kit_box(kit, flr_kit_shift(ray, 0.126, 0, -0.105), 0.016, 0.022, 0.17, 0.002);
        /* drive keys of the wheel */
        flr_pose key = flr_kit_turn_z(flr_kit_at(0, 0, 0), (i + 0.055) / 9.0);
        flr_kit_box(kit, flr_kit_shift(key, 0.250, 0, -0.10), 0.026, 0.014, 0.19, 0.002);
    }
    /* the carrier and its pistons */
    const flr_kit_corner c[] = {{0.090, -0.240, 0.004}, {0.212, -0.240, 0.006},
                                {0.222, -0.228, 0.003}, {0.222, -0.205, 0.004},
                                {0.130, -0.196, 0.004}, {0.090, -0.196, 0.002}};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), c, sizeof c / sizeof *c, flr_kit_sides(kit, 0.222));
    for (int i = 0; i < 8; i++) piston(kit, flr_kit_turn_z(flr_kit_at(0, 0, 0), i / 8.0));
    flr_kit_bolt_circle(kit, flr_kit_turn_x(flr_kit_at(0, 0, -0.240), 0.5), 0.108, 12, 0.010, 0);
    /* a feed ring that joins the pistons, and wear pins */
    flr_kit_torus(kit, flr_kit_at(0, 0, -0.262), 0.128, 0.006);
    for (int i = 0; i < 2; i++) {
        flr_pose pin = flr_kit_turn_z(flr_kit_at(0, 0, -0.24), 0.06 + 0.5 * i);
        pin = flr_kit_turn_x(flr_kit_shift(pin, 0.190, 0, 0), 0.5);
        flr_kit_spring(kit, pin, 0.009, 0.0015, 0.030, 6);
        flr_kit_cylinder(kit, pin, 0.004, 0.040);
    }
    flr_kit_pop(kit);
    flr_kit_pop(kit);
}
