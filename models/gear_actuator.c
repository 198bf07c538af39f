/* gear_actuator.c: the hydraulic actuator that is taken out of the landing gear. */
#include "models/gear.h"

/* all along z here: cap end at z = -0.45, rod end at z = +0.45 */

#define EYE_Z    0.414 /* of both eyes */
#define EYE_R    0.036
#define BARREL_R 0.0395
#define TUBE_R   0.0055 /* hydraulic tubes on the barrel */
#define TUBE_AT  0.0570 /* their distance from the axis */

/* cap, barrel, flange, gland, rod and both fork roots are one turned body */
static void body(flr_kit *kit)
{
    const flr_kit_corner c[] = {{0, -0.352, 0},
                                {0.040, -0.352, 0.004},
                                {0.040, -0.326, 0.004},
                                {0.060, -0.326, 0.003},
                                {0.060, -0.300, 0.003},
                                {0.0445, -0.300, 0.002},
                                {0.0445, -0.272, 0.002},
                                {BARREL_R, -0.266, 0},
                                {BARREL_R, 0.060, 0},
                                {0.0445, 0.066, 0.002},
                                {0.0445, 0.086, 0.002},
                                {0.060, 0.086, 0.002},
                                {0.060, 0.106, 0.002},
                                {0.043, 0.106, 0.004},
                                {0.043, 0.150, 0.003},
                                {0.035, 0.154, 0},
                                {0.035, 0.172, 0.003},
                                {0.030, 0.172, 0},
                                {0.030, 0.178, 0},
                                {0.0220, 0.178, 0},
                                {0.0220, 0.312, 0},
                                {0.033, 0.318, 0},
                                {0.037, 0.330, 0.003},
                                {0.037, 0.352, 0.003},
                                {0, 0.352, 0}};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), c, sizeof c / sizeof *c, flr_kit_sides(kit, 0.1));
}

/* the mounting flange in the middle: a square on its corner, with large bolts in its corners and
 * small ones around the gland */
static void flange(flr_kit *kit)
{
    const double r = 0.020, tip = 0.1 + r * 0.41421356237309515; /* the rounding ends at 0.1 */
    const flr_kit_corner c[] = {{tip, 0, r}, {0, tip, r}, {-tip, 0, r}, {0, -tip, r}};
    flr_kit_outline o = {0};
    flr_outline_corners(kit, &o, c, 4);
    flr_outline_circle(kit, &o, 0, 0, 0.058);
    flr_kit_prism(kit, flr_kit_at(0, 0, 0.088), &o, 0.016);
    flr_kit_bolt_circle(kit, flr_kit_turn_z(flr_kit_at(0, 0, 0.104), 0.125), 0.082, 4, 0.011,
                        0.016);
    flr_kit_bolt_circle(kit, flr_kit_at(0, 0, 0.106), 0.0515, 12, 0.0055, 0);
}

/* two lugs with a gap of 56 mm between them; the pin runs along x here */
static void fork(flr_kit *kit, double end)
{
    for (int side = -1; side <= 1; side += 2) {
        flr_pose at = flr_kit_frame(v3(side * 0.0365, 0, end * EYE_Z), v3(0, 0, end), v3(0, 1, 0));
        flr_kit_lug(kit, at, EYE_R, 0.0145, 0.016, 0.078, 0.056);
        /* grease nipple on the eye */
        flr_pose nipple = flr_kit_shift(at, 0, side * 0.004, 0);
        nipple = flr_kit_shift(flr_kit_turn_y(nipple, side * 0.14), 0, 0, EYE_R - 0.006);
        flr_kit_cylinder(kit, nipple, 0.0026, 0.007);
    }
    /* the bridge between both lugs, behind the slot */
    flr_kit_box(kit, flr_kit_at(0, 0, end * 0.3405), 0.086, 0.040, 0.022, 0.003);
}

/* a steel tube from the cap's port along the barrel into the flange, with its fittings */
static void tube(flr_kit *kit, double turn, double from, double to)
{
    flr_pose ray = flr_kit_turn_z(flr_kit_at(0, 0, 0), turn);
    flr_vec3 way[4];
    way[0] = flr_kit_point(ray, BARREL_R - 0.004, 0, from);
    way[1] = flr_kit_point(ray, TUBE_AT, 0, from);
    way[2] = flr_kit_point(ray, TUBE_AT, 0, to);
    way[3] = flr_kit_point(ray, BARREL_R - 0.004, 0, to);
    flr_kit_pipe(kit, way, 4, TUBE_R, 0, 0.013);
    for (int end = 0; end < 2; end++) {
        flr_pose boss = flr_kit_shift(ray, BARREL_R - 0.004, 0, end ? to : from);
        boss = flr_kit_turn_y(boss, 0.25);
        flr_kit_rounded_cylinder(kit, boss, 0.0125, 0.008, 0.001);
        flr_kit_outline o = {0};
        flr_outline_polygon(&o, 0, 0, 0.0095, 6);
        flr_kit_prism(kit, flr_kit_shift(boss, 0, 0, 0.0075), &o, 0.0065);
    }
}

/* a strap around the barrel that holds the tubes */
static void strap(flr_kit *kit, double z)
{
    flr_kit_tube(kit, flr_kit_at(0, 0, z - 0.0045), BARREL_R + 0.0025, BARREL_R - 0.0005, 0.009);
    for (int i = 0; i < 2; i++) {
        flr_pose ray = flr_kit_turn_z(flr_kit_at(0, 0, z), i ? 0.0625 : 0.1875);
        flr_kit_tube(kit, flr_kit_shift(ray, TUBE_AT, 0, -0.006), TUBE_R + 0.002, TUBE_R - 0.0003,
                     0.012);
        flr_kit_box(kit, flr_kit_shift(ray, BARREL_R + 0.006, 0, 0), 0.011, 0.006, 0.012, 0.001);
    }
    flr_pose ear = flr_kit_turn_z(flr_kit_at(0, 0, z), 0.625);
    flr_kit_box(kit, flr_kit_shift(ear, BARREL_R + 0.008, 0, 0), 0.014, 0.009, 0.014, 0.001);
    flr_pose bolt = flr_kit_turn_x(flr_kit_shift(ear, BARREL_R + 0.010, 0.0045, 0), -0.25);
    flr_kit_bolt(kit, bolt, 0.004, 0.009);
}

/* servo valve block with plugs and two electrical connectors, at -y here */
static void manifold(flr_kit *kit)
{
    flr_pose side = flr_kit_turn_z(flr_kit_at(0, 0, -0.06), -0.25);
    flr_kit_box(kit, flr_kit_shift(side, 0.050, 0, 0.004), 0.026, 0.042, 0.092, 0.003);
    flr_kit_box(kit, flr_kit_shift(side, 0.066, 0, -0.012), 0.018, 0.038, 0.052, 0.002);
    for (int i = 0; i < 4; i++) {
        flr_pose bolt = flr_kit_shift(side, 0.063, i & 1 ? 0.016 : -0.016, i & 2 ? 0.044 : 0.014);
        flr_kit_bolt(kit, flr_kit_turn_y(bolt, 0.25), 0.005, 0);
    }
    for (int i = 0; i < 2; i++) {
        flr_pose plug = flr_kit_shift(side, 0.051, 0.020, i ? 0.030 : -0.030);
        plug = flr_kit_turn_x(plug, -0.25);
        flr_kit_rounded_cylinder(kit, plug, 0.0085, 0.010, 0.001);
    }
    for (int i = 0; i < 2; i++) {
        flr_pose end = flr_kit_shift(side, 0.052, i ? 0.011 : -0.011, -0.042);
        flr_kit_connector(kit, flr_kit_turn_x(end, 0.5), 0.0062);
    }
}

void flr_gear_actuator(flr_kit *kit)
{
    /* local z is the part's x, local x the part's y */
    flr_kit_push(kit, flr_kit_frame(v3(0, 0, 0), v3(1, 0, 0), v3(0, 1, 0)));
    body(kit);
    fork(kit, -1);
    fork(kit, 1);
    flange(kit);
    flr_kit_bolt_circle(kit, flr_kit_turn_x(flr_kit_at(0, 0, -0.326), 0.5), 0.0515, 10, 0.006, 0);
    tube(kit, 0.1875, -0.286, 0.030);
    tube(kit, 0.0625, -0.200, 0.045);
    strap(kit, -0.15);
    strap(kit, -0.02);
    manifold(kit);
    /* rating plate */
    flr_pose plate = flr_kit_turn_z(flr_kit_at(0, 0, -0.085), 0.40);
    flr_kit_box(kit, flr_kit_shift(plate, BARREL_R - 0.0005, 0, 0), 0.004, 0.022, 0.060, 0);
    flr_kit_pop(kit);
}
