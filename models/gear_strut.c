/* gear_strut.c: bogie beam, shock strut with torsion links, braces. */
#include "models/gear.h"

#define PIVOT_Z    0.80 /* of the bogie's pivot pin */
#define GLAND_Z    1.74
#define CYLINDER_R 0.165
#define TRUNNION_Z 3.98

/* a turned body along x instead of z */
static flr_pose along_x(double x, double y, double z)
{
    return flr_kit_frame(v3(x, y, z), v3(1, 0, 0), v3(0, 1, 0));
}

static flr_pose along_y(double x, double y, double z)
{
    return flr_kit_frame(v3(x, y, z), v3(0, 1, 0), v3(1, 0, 0));
}

/* ---- bogie ---- */

static void axle(flr_kit *kit, double x)
{
    const double z = FLR_GEAR_AXLE_HEIGHT;
    const flr_kit_corner c[] = {{0.060, -0.900, 0.003}, {0.084, -0.900, 0.003},
                                {0.084, -0.400, 0.004}, {0.098, -0.390, 0.004},
                                {0.098, -0.200, 0.004}, {0.098, 0.200, 0.004},
                                {0.098, 0.390, 0.004},  {0.084, 0.400, 0.004},
                                {0.084, 0.900, 0.003},  {0.060, 0.900, 0.003}};
    flr_kit_lathe(kit, along_y(x, 0, z), c, sizeof c / sizeof *c, flr_kit_sides(kit, 0.098));
    /* the boss of the beam and its clamping flanges */
    const flr_kit_corner boss[] = {{0.097, -0.170, 0.003}, {0.150, -0.170, 0.006},
                                   {0.150, -0.140, 0.006}, {0.138, -0.125, 0.006},
                                   {0.138, 0.125, 0.006},  {0.150, 0.140, 0.006},
                                   {0.150, 0.170, 0.006},  {0.097, 0.170, 0.003}};
    flr_kit_lathe(kit, along_y(x, 0, z), boss, sizeof boss / sizeof *boss,
                  flr_kit_sides(kit, 0.15));
    for (int side = -1; side <= 1; side += 2) {
        flr_pose out = flr_kit_frame(v3(x, side * 0.170, z), v3(0, side, 0), v3(1, 0, 0));
        flr_kit_bolt_circle(kit, out, 0.125, 10, 0.012, 0);
        /* brake flange */
        flr_kit_flange(kit, flr_kit_shift(out, 0, 0, 0.232), 0.135, 0.095, 0.018, 12, 0.010);
        flr_pose wheel = flr_kit_at(x, side * FLR_GEAR_TRACK / 2, z);
        if (side < 0) wheel = flr_kit_turn_z(wheel, 0.5);
        flr_gear_wheel(kit, wheel);
        flr_gear_brake(kit, wheel);
    }
}

static void pivot(flr_kit *kit)
{
    for (int side = -1; side <= 1; side += 2) {
        flr_pose cheek = flr_kit_at(0, side * 0.155, PIVOT_Z);
        flr_kit_lug(kit, cheek, 0.105, 0.050, 0.050, 0.16, 0.36);
        flr_pose cap = flr_kit_frame(v3(0, side * 0.18, PIVOT_Z), v3(0, side, 0), v3(1, 0, 0));
        flr_kit_flange(kit, cap, 0.075, 0, 0.014, 8, 0.008);
    }
    flr_kit_pin(kit, flr_kit_at(0, 0, PIVOT_Z), 0.048, 0.372);
    /* the strut's foot between the cheeks */
    flr_kit_outline o = {0};
    flr_outline_circle(kit, &o, 0, 0, 0.098);
    flr_outline_circle(kit, &o, 0, 0, 0.050);
    flr_kit_prism(kit, along_y(0, -0.122, PIVOT_Z), &o, 0.244);
}

void flr_gear_bogie(flr_kit *kit)
{
    const double z = FLR_GEAR_AXLE_HEIGHT, end = FLR_GEAR_AXLE_STEP;
    const flr_kit_corner c[] = {
        {0, -end - 0.054, 0},      {0.095, -end - 0.054, 0}, {0.112, -end + 0.13, 0.02},
        {0.104, -end + 0.25, 0.1}, {0.122, -0.35, 0.2},      {0.140, -0.15, 0.05},
        {0.140, 0.15, 0.05},       {0.122, 0.35, 0.2},       {0.104, end - 0.25, 0.1},
        {0.112, end - 0.13, 0.02}, {0.095, end + 0.054, 0},  {0, end + 0.054, 0}};
    flr_kit_lathe(kit, along_x(0, 0, z), c, sizeof c / sizeof *c, flr_kit_sides(kit, 0.14));
    for (int i = -1; i <= 1; i++) axle(kit, i * end);
    pivot(kit);
    for (int side = -1; side <= 1; side += 2) {
        /* end covers with towing eyes, jacking pads below */
        flr_pose cover = flr_kit_frame(v3(side * (end + 0.05), 0, z), v3(side, 0, 0), v3(0, 1, 0));
        flr_kit_flange(kit, flr_kit_shift(cover, 0, 0, 0.06), 0.125, 0, 0.020, 12, 0.010);
        flr_kit_rounded_cylinder(kit, cover, 0.105, 0.07, 0.004);
        flr_kit_lug(kit, flr_kit_shift(cover, 0, 0, 0.155), 0.038, 0.018, 0.026, 0.076, 0.090);
        flr_kit_cone(kit, flr_kit_turn_x(flr_kit_at(side * end, 0, z - 0.135), 0.5), 0.070, 0.045,
                     0.050);
        /* brake equalizer rods run under the beam, from lug to lug */
        for (int wall = -1; wall <= 1; wall += 2) {
            double y = wall * 0.24;
            flr_vec3 from = v3(side * 0.16, y, z - 0.20), to = v3(side * (end - 0.16), y, z - 0.20);
            flr_vec3 rod[2] = {from, to};
            flr_kit_pipe(kit, rod, 2, 0.019, 0, 0);
            for (int k = 0; k < 2; k++) {
                flr_vec3 tip = k ? to : from, back = k ? from : to;
                flr_pose eye = flr_kit_frame(tip, v3_sub(tip, back), v3(0, 0, 1));
                flr_kit_lug(kit, eye, 0.034, 0.015, 0.026, 0.07, 0.040);
                flr_kit_pin(kit, flr_kit_at(tip.x, tip.y, tip.z), 0.0142, 0.074);
                flr_kit_rounded_cylinder(kit, flr_kit_shift(eye, 0, 0, -0.115), 0.027, 0.05, 0.003);
                /* the bracket it hangs on */
                flr_pose arm = flr_kit_at(tip.x, tip.y, tip.z);
                for (int s = -1; s <= 1; s += 2)
                    flr_kit_lug(kit, flr_kit_turn_x(flr_kit_shift(arm, 0, s * 0.027, 0), 0.5),
                                0.032, 0.015, 0.014, 0.15, 0.07);
            }
        }
    }
}

/* ---- strut ---- */

static void shock_strut(flr_kit *kit)
{
    /* piston: bright tube with a fork root below */
    const flr_kit_corner piston[] = {{0, PIVOT_Z + 0.05, 0},         {0.090, PIVOT_Z + 0.05, 0.02},
                                     {0.128, PIVOT_Z + 0.14, 0.03},  {0.128, PIVOT_Z + 0.24, 0.01},
                                     {0.115, PIVOT_Z + 0.26, 0.004}, {0.115, GLAND_Z + 0.1, 0},
                                     {0, GLAND_Z + 0.1, 0}};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), piston, sizeof piston / sizeof *piston,
                  flr_kit_sides(kit, 0.128));
    /* outer cylinder with collars for everything that is hinged to it */
    const flr_kit_corner outer[] = {{0, GLAND_Z, 0},
                                    {0.150, GLAND_Z, 0.004},
                                    {0.186, GLAND_Z + 0.02, 0.006},
                                    {0.186, 1.83, 0.006},
                                    {CYLINDER_R, 1.85, 0.004},
                                    {CYLINDER_R, 1.92, 0.02},
                                    {0.205, 1.96, 0.02},
                                    {0.205, 2.10, 0.02},
                                    {CYLINDER_R, 2.14, 0.02},
                                    {CYLINDER_R, 2.84, 0.02},
                                    {0.195, 2.88, 0.02},
                                    {0.195, 3.02, 0.02},
                                    {CYLINDER_R, 3.06, 0.02},
                                    {CYLINDER_R, 3.62, 0.04},
                                    {0.205, 3.74, 0.05},
                                    {0.205, 4.10, 0.03},
                                    {0.14, 4.16, 0.03},
                                    {0.13, 4.22, 0.01},
                                    {0, 4.22, 0}};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), outer, sizeof outer / sizeof *outer,
                  flr_kit_sides(kit, 0.205));
    flr_kit_bolt_circle(kit, flr_kit_at(0, 0, 1.830), 0.176, 24, 0.010, 0);
    flr_kit_bolt_circle(kit, flr_kit_at(0, 0, 4.22), 0.095, 12, 0.012, 0);
    /* charging valve on top, bands with rivets around the cylinder */
    flr_kit_union(kit, flr_kit_at(0, 0, 4.25), 0.018);
    for (int i = 0; i < 6; i++) {
        double z = 2.2 + 0.11 * i;
        flr_kit_torus(kit, flr_kit_at(0, 0, z), CYLINDER_R, 0.006);
    }
    /* trunnion: a cross tube along x with journals */
    const flr_kit_corner cross[] = {
        {0, -0.98, 0},        {0.070, -0.98, 0.004}, {0.070, -0.82, 0.004}, {0.105, -0.80, 0.008},
        {0.130, -0.22, 0.05}, {0.130, 0.22, 0.05},   {0.105, 0.80, 0.008},  {0.070, 0.82, 0.004},
        {0.070, 0.98, 0.004}, {0, 0.98, 0}};
    flr_kit_lathe(kit, along_x(0, 0, TRUNNION_Z), cross, sizeof cross / sizeof *cross,
                  flr_kit_sides(kit, 0.13));
    /* struts from the trunnion's ends to the cylinder's middle collar */
    for (int side = -1; side <= 1; side += 2) {
        flr_vec3 leg[2] = {{side * 0.14, 0, 2.97}, {side * 0.74, 0, TRUNNION_Z - 0.05}};
        flr_kit_pipe(kit, leg, 2, 0.055, 0, 0);
        flr_kit_flange(kit,
                       flr_kit_frame(v3(side * 0.90, 0, TRUNNION_Z), v3(side, 0, 0), v3(0, 1, 0)),
                       0.16, 0.068, 0.03, 12, 0.014);
    }
}

/* a torsion link: an A-shaped forging between two hinges */
static void link(flr_kit *kit, flr_vec3 wide, flr_vec3 narrow)
{
    double length = v3_length(v3_sub(narrow, wide));
    flr_vec3 x = v3_unit(v3_sub(narrow, wide)), n = v3_unit(v3_cross(x, v3(0, 1, 0)));
    flr_pose at = flr_kit_shift(flr_kit_frame(wide, n, x), 0, 0, -0.028);
    const flr_kit_corner c[] = {{-0.055, -0.17, 0.03},        {0.06, -0.17, 0.03},
                                {length + 0.05, -0.05, 0.04}, {length + 0.05, 0.05, 0.04},
                                {0.06, 0.17, 0.03},           {-0.055, 0.17, 0.03}};
    const flr_kit_corner hole[] = {{0.09, -0.105, 0.02},
                                   {length * 0.62, -0.038, 0.02},
                                   {length * 0.62, 0.038, 0.02},
                                   {0.09, 0.105, 0.02}};
    flr_kit_outline o = {0};
    flr_outline_corners(kit, &o, c, 6);
    flr_outline_corners(kit, &o, hole, 4);
    flr_outline_circle(kit, &o, length * 0.78, 0, 0.018);
    flr_kit_prism(kit, at, &o, 0.056);
    /* hinge barrels at both ends, along the hinge axis */
    for (int end = 0; end < 2; end++) {
        flr_vec3 p = end ? narrow : wide;
        double half = end ? 0.060 : 0.180;
        flr_kit_tube(kit, along_y(p.x, p.y - half, p.z), 0.052, 0.024, 2 * half);
        flr_kit_pin(kit, flr_kit_at(p.x, p.y, p.z), 0.0235, 2 * half + 0.09);
    }
}

static void torsion_links(flr_kit *kit)
{
    flr_vec3 lower = v3(0.245, 0, 1.02), upper = v3(0.285, 0, 2.03), knee = v3(0.86, 0, 1.50);
    link(kit, lower, knee);
    link(kit, upper, v3(knee.x, 0.0, knee.z + 0.001));
    /* the hinge lugs on piston and cylinder */
    for (int side = -1; side <= 1; side += 2) {
        flr_pose low = flr_kit_frame(v3(lower.x, side * 0.20, lower.z), v3(1, 0, 0), v3(0, 0, 1));
        flr_kit_lug(kit, low, 0.055, 0.024, 0.03, 0.24, 0.14);
        flr_pose high = flr_kit_frame(v3(upper.x, side * 0.20, upper.z), v3(1, 0, 0), v3(0, 0, 1));
        flr_kit_lug(kit, high, 0.055, 0.024, 0.03, 0.25, 0.14);
    }
    /* lock, spring and damper at the knee */
    flr_kit_rounded_cylinder(kit, along_y(knee.x, 0.105, knee.z), 0.060, 0.10, 0.01);
    flr_kit_spring(kit, flr_kit_at(knee.x - 0.12, 0.12, knee.z - 0.16), 0.022, 0.004, 0.32, 12);
}

void flr_gear_strut(flr_kit *kit)
{
    shock_strut(kit);
    torsion_links(kit);
}

/* ---- braces ---- */

/* a forged brace of I section with forked eyes at both ends; what the first holds on to is a
 * tongue, what the second holds on to is another brace's or the bay's */
static void brace(flr_kit *kit, flr_vec3 from, flr_vec3 to, double height, double r_pin)
{
    flr_vec3 along = v3_unit(v3_sub(to, from)), side = v3_unit(v3_cross(v3(0, 0, 1), along));
    flr_vec3 up = v3_cross(along, side);
    flr_kit_outline o = {0};
    flr_outline_beam_i(kit, &o, 0.8 * height, height, 0.14 * height);
    flr_vec3 path[2] = {v3_add(from, v3_mul(along, 1.6 * height)),
                        v3_sub(to, v3_mul(along, 1.6 * height))};
    flr_kit_sweep(kit, path, 2, up, &o, NULL);
    for (int end = 0; end < 2; end++) {
        flr_vec3 out = end ? along : v3_mul(along, -1);
        flr_pose eye = flr_kit_frame(end ? to : from, out, up);
        for (int s = -1; s <= 1; s += 2)
            flr_kit_lug(kit, flr_kit_shift(eye, 0, s * 0.27 * height, 0), 2.1 * r_pin, r_pin,
                        0.22 * height, 1.75 * height, height);
        flr_kit_pin(kit, eye, 0.97 * r_pin, 0.9 * height);
        if (end == 0)
            flr_kit_lug(kit, flr_kit_turn_x(eye, 0.5), 2.0 * r_pin, r_pin, 0.26 * height,
                        1.2 * height, 1.1 * height);
    }
}

void flr_gear_braces(flr_kit *kit)
{
    /* drag brace, in two folding parts, to the aft bulkhead; jury strut above its knee */
    flr_vec3 foot = v3(-0.26, 0, 2.05), knee = v3(-1.08, 0, 2.82), top = v3(-1.92, 0, 3.58);
    brace(kit, foot, knee, 0.12, 0.030);
    brace(kit, knee, top, 0.12, 0.030);
    brace(kit, v3(knee.x, 0.10, knee.z), v3(-0.30, 0.10, 3.45), 0.06, 0.016);
    /* side brace to the keel */
    flr_vec3 s_foot = v3(0, -0.26, 2.08), s_knee = v3(0, -0.53, 2.98), s_top = v3(0, -0.78, 3.86);
    brace(kit, s_foot, s_knee, 0.11, 0.026);
    brace(kit, s_knee, s_top, 0.11, 0.026);
    /* downlock springs beside the knee */
    for (int side = -1; side <= 1; side += 2) {
        flr_vec3 from = v3(side * 0.10, -0.50, 2.80), to = v3(side * 0.10, -0.58, 3.22);
        flr_kit_spring(kit, flr_kit_towards(from, to), 0.024, 0.0042, v3_length(v3_sub(to, from)),
                       16);
    }
    /* retraction actuator: barrel, rod, eyes, from the cylinder's middle up to the roof */
    flr_vec3 low = v3(0.24, 0.02, 2.96), high = v3(1.42, 0.02, 4.32);
    flr_vec3 u = v3_unit(v3_sub(high, low));
    double length = v3_length(v3_sub(high, low));
    flr_pose axis = flr_kit_frame(low, u, v3(0, 1, 0));
    const flr_kit_corner c[] = {{0, 0.05, 0},
                                {0.036, 0.05, 0.002},
                                {0.036, 0.50, 0},
                                {0.060, 0.50, 0.003},
                                {0.060, 0.56, 0.003},
                                {0.085, 0.56, 0.003},
                                {0.085, 0.60, 0.003},
                                {0.074, 0.60, 0.002},
                                {0.074, length - 0.22, 0.002},
                                {0.088, length - 0.22, 0.003},
                                {0.088, length - 0.16, 0.003},
                                {0.060, length - 0.12, 0.01},
                                {0, length - 0.12, 0}};
    flr_kit_lathe(kit, axis, c, sizeof c / sizeof *c, flr_kit_sides(kit, 0.088));
    flr_kit_bolt_circle(kit, flr_kit_shift(axis, 0, 0, 0.60), 0.0795, 10, 0.006, 0.04);
    flr_kit_lug(kit, flr_kit_turn_x(axis, 0.5), 0.06, 0.028, 0.06, 0.10, 0.07);
    flr_kit_lug(kit, flr_kit_shift(axis, 0, 0, length), 0.07, 0.030, 0.06, 0.15, 0.10);
    flr_kit_pin(kit, flr_kit_shift(axis, 0, 0, length), 0.029, 0.16);
    flr_kit_pin(kit, axis, 0.027, 0.16);
}
