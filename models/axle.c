/* axle.c: a rear axle on a bench with its loose parts around it (Kim 2004, appendix C and
 * figure 4.2).
 *
 * Eight parts with the thesis's triangle counts (one less where the count was odd: a closed
 * surface has an even number), about its voxel counts at 0.6096 cm (0.02 ft), and its starting
 * positions in feet. The original parts are not public; these are analogues.
 */
#include "models/kit.h"
#include "models/scenarios.h"

static const double foot = 0.3048;

static const flr_vec3 axis_z = {0, 0, 1};

/* a toothed ring, or with bore 0 a splined shaft */
static void gear_outline(const flr_kit *kit, flr_kit_outline *o, double r_root, double r_tip,
                         int teeth, double bore)
{
    flr_outline_clear(o);
    for (int i = 0; i < teeth; i++) {
        const double part[4] = {0.0, 0.3, 0.42, 0.58}; /* of a pitch: root, flank, tip, flank */
        const double radius[4] = {r_root, r_root, r_tip, r_tip};
        for (int k = 0; k < 4; k++) {
            double a = (i + part[k]) / teeth;
            flr_outline_point(o, radius[k] * flr_kit_cos(a), radius[k] * flr_kit_sin(a));
        }
    }
    flr_outline_close(o);
    if (bore > 0) flr_outline_circle(kit, o, 0, 0, bore);
}

/* ---- the base: bench, stands, axle beam with its open banjo ---- */

static void bench(flr_kit *kit)
{
    /* the top is a fixture plate full of holes; its upper side is z = 0 */
    flr_kit_push(kit, flr_kit_at(0.3, -0.05, 0));
    flr_kit_plate(kit, flr_kit_at(0, 0, -0.022), 1.36, 0.86, 0.022, 0.03, 12, 7, 0.011);
    flr_kit_outline o;
    for (int side = -1; side <= 1; side += 2) {
        /* rails along x and y below the top */
        const flr_vec3 rail[2] = {{-0.64, side * 0.36, -0.05}, {0.64, side * 0.36, -0.05}};
        const flr_vec3 cross[2] = {{side * 0.6, -0.33, -0.05}, {side * 0.6, 0.33, -0.05}};
        flr_outline_clear(&o);
        flr_outline_beam_c(kit, &o, 0.03, 0.056, 0.005);
        flr_kit_sweep(kit, rail, 2, axis_z, &o, NULL);
        flr_kit_sweep(kit, cross, 2, axis_z, &o, NULL);
        for (int end = -1; end <= 1; end += 2) {
            flr_pose leg = flr_kit_at(end * 0.61, side * 0.35, -0.42);
            flr_kit_box(kit, flr_kit_shift(leg, 0, 0, 0.2), 0.045, 0.045, 0.4, 0.004);
            flr_kit_rounded_cylinder(kit, flr_kit_shift(leg, 0, 0, -0.035), 0.035, 0.02, 0.005);
            flr_kit_cylinder(kit, flr_kit_shift(leg, 0, 0, -0.03), 0.008, 0.04);
        }
    }
    flr_kit_pop(kit);
}

/* a V-block on a foot that carries the beam */
static void stand(flr_kit *kit, double x, double y, double beam_z, double r)
{
    double top = beam_z - 0.3 * r, notch = beam_z - 1.42 * r;
    const flr_kit_corner c[] = {{-0.06, 0.012, 0},   {0.06, 0.012, 0},  {0.045, top, 0.006},
                                {0.036, top, 0},     {0, notch, 0.004}, {-0.036, top, 0},
                                {-0.045, top, 0.006}};
    flr_kit_outline o = {0};
    flr_outline_corners(kit, &o, c, 7);
    /* the outline stands in y, z and is extruded along x */
    flr_pose upright = flr_kit_frame(v3(x - 0.02, y, 0), v3(1, 0, 0), v3(0, 1, 0));
    flr_kit_prism(kit, upright, &o, 0.04);
    flr_kit_plate(kit, flr_kit_at(x, y, 0), 0.12, 0.16, 0.012, 0.01, 0, 0, 0);
    for (int k = 0; k < 4; k++) {
        double dx = k & 1 ? 0.045 : -0.045, dy = k & 2 ? 0.065 : -0.065;
        flr_kit_bolt(kit, flr_kit_at(x + dx, y + dy, 0.012), 0.01, 0);
    }
}

/* one half of the beam, from the banjo outwards; `side` is +1 or -1 along x */
static void half_beam(flr_kit *kit, double side, double r)
{
    flr_pose out = flr_kit_frame(v3(0, 0, 0), v3(side, 0, 0), v3(0, 0, 1));
    /* the tube flares into the banjo; a brake flange near the end; a machined spindle */
    const flr_kit_corner c[] = {{0, 0.10, 0},     {0.075, 0.10, 0},     {0.07, 0.13, 0.02},
                                {r, 0.19, 0.03},  {r, 0.50, 0},         {0.075, 0.505, 0.003},
                                {0.075, 0.52, 0}, {0.034, 0.525, 0},    {0.034, 0.58, 0.002},
                                {0.024, 0.59, 0}, {0.024, 0.64, 0.002}, {0, 0.64, 0}};
    flr_kit_lathe(kit, out, c, 12, 48);
    flr_kit_bolt_circle(kit, flr_kit_shift(out, 0, 0, 0.519), 0.06, 8, 0.008, 0.02);

    /* spring pad with its U-bolts */
    flr_kit_plate(kit, flr_kit_at(side * 0.38, 0, r - 0.004), 0.13, 0.09, 0.014, 0.01, 0, 0, 0);
    for (int k = -1; k <= 1; k += 2) {
        double x = side * 0.38 + k * 0.05, leg = r + 0.007;
        const flr_vec3 way[4] = {
            {x, -leg, 0.085}, {x, -leg, -leg}, {x, leg, -leg}, {x, leg, 0.085}};
        flr_kit_pipe(kit, way, 4, 0.006, 0, leg * 0.98);
        for (int s = -1; s <= 1; s += 2)
            flr_kit_bolt(kit, flr_kit_at(x, s * leg, r + 0.012), 0.012, 0);
    }
    /* shock absorber lug and brake line bracket */
    flr_kit_lug(kit, flr_kit_turn_z(flr_kit_at(side * 0.27, 0.075, -0.02), 0.25), 0.022, 0.008,
                0.014, 0.03, 0.05);
    flr_kit_clamp(kit, flr_kit_at(side * 0.22, -0.01, r + 0.026), 0.004, 0.02);
}

static void axle_beam(flr_kit *kit, double r)
{
    for (int side = -1; side <= 1; side += 2) half_beam(kit, side, r);

    /* the banjo: a thick ring about y, open to the front, with a rim of bolts */
    const flr_kit_corner c[] = {
        {0.088, -0.06, 0.004}, {0.138, -0.06, 0.003}, {0.138, -0.042, 0},  {0.118, -0.03, 0.006},
        {0.118, 0.045, 0.02},  {0.06, 0.085, 0.02},   {0, 0.092, 0},       {0, 0.08, 0},
        {0.055, 0.073, 0.015}, {0.1, 0.04, 0.012},    {0.1, -0.03, 0.006}, {0.088, -0.036, 0.002}};
    flr_pose back = flr_kit_frame(v3(0, 0, 0), v3(0, 1, 0), v3(1, 0, 0));
    flr_kit_lathe(kit, back, c, 12, 72);
    flr_pose rim = flr_kit_turn_x(flr_kit_shift(back, 0, 0, -0.06), 0.5);
    flr_kit_bolt_circle(kit, rim, 0.126, 10, 0.01, 0.02);

    /* bearing saddles inside, ribs outside, the filler plug */
    for (int side = -1; side <= 1; side += 2) {
        flr_kit_tube(kit, flr_kit_frame(v3(side * 0.062, 0, 0), v3(side, 0, 0), v3(0, 0, 1)), 0.05,
                     0.035, 0.045);
        for (int k = -1; k <= 1; k += 2)
            flr_kit_box(kit, flr_kit_at(side * 0.135, 0.02, k * 0.055), 0.1, 0.012, 0.03, 0.003);
    }
    flr_kit_bolt(kit, flr_kit_frame(v3(0.03, 0.082, 0.03), v3(0.2, 1, 0.2), v3(1, 0, 0)), 0.016, 0);

    /* the brake line along the beam, looping over the banjo */
    const flr_vec3 line[8] = {{-0.49, -0.01, 0.07}, {-0.16, -0.01, 0.071}, {-0.13, 0.0, 0.13},
                              {-0.05, 0.0, 0.15},   {0.05, 0.0, 0.15},     {0.13, 0.0, 0.13},
                              {0.16, -0.01, 0.071}, {0.49, -0.01, 0.07}};
    flr_kit_pipe(kit, line, 8, 0.004, 0.0025, 0.02);
    flr_kit_union(kit, flr_kit_frame(v3(-0.01, 0, 0.15), v3(1, 0, 0), axis_z), 0.0045);
}

static void axle_base(flr_kit *kit)
{
    const double r = 0.045, y = -0.1, z = 0.17;
    bench(kit);
    stand(kit, 0.3 - 0.44, y, z, r);
    stand(kit, 0.3 + 0.44, y, z, r);
    flr_kit_push(kit, flr_kit_at(0.3, y, z));
    axle_beam(kit, r);
    flr_kit_pop(kit);
}

/* ---- the loose parts, each around its own origin ---- */

static void driveline(flr_kit *kit)
{
    flr_pose along = flr_kit_frame(v3(-0.15, 0, 0), v3(1, 0, 0), axis_z);
    flr_kit_outline o;
    const flr_kit_corner c[] = {{0, 0.07, 0},      {0.013, 0.07, 0}, {0.0135, 0.22, 0},
                                {0.019, 0.225, 0}, {0.019, 0.26, 0}, {0.033, 0.265, 0},
                                {0.033, 0.275, 0}, {0, 0.275, 0}};
    flr_kit_lathe(kit, along, c, 8, 24);
    gear_outline(kit, &o, 0.0115, 0.0145, 14, 0);
    flr_kit_prism(kit, along, &o, 0.08);
    /* the yoke */
    for (int side = -1; side <= 1; side += 2) {
        flr_pose eye = flr_kit_frame(v3(0.155, side * 0.026, 0), v3(1, 0, 0), axis_z);
        flr_kit_lug(kit, eye, 0.017, 0.009, 0.01, 0.032, 0.03);
    }
}

static void ring_cap(flr_kit *kit)
{
    /* a bearing cap: half a ring with two bolted ears */
    flr_kit_outline o = {0};
    flr_outline_arc(&o, 0, 0, 0.038, 0.5, 0, 24);
    flr_outline_point(&o, 0.078, 0);
    flr_outline_point(&o, 0.078, 0.022);
    flr_outline_arc(&o, 0, 0, 0.059, 0.07, 0.43, 24);
    flr_outline_point(&o, -0.078, 0.022);
    flr_outline_point(&o, -0.078, 0);
    flr_outline_close(&o);
    flr_pose upright = flr_kit_frame(v3(0, 0.025, -0.02), v3(0, -1, 0), v3(1, 0, 0));
    flr_kit_prism(kit, upright, &o, 0.048);
    for (int side = -1; side <= 1; side += 2) {
        flr_kit_bolt(kit, flr_kit_at(side * 0.068, 0.001, 0.002), 0.012, 0);
        flr_kit_cylinder(kit, flr_kit_at(side * 0.068, 0.001, -0.05), 0.006, 0.045);
    }
    flr_kit_rounded_cylinder(kit, flr_kit_at(0, 0.001, 0.034), 0.012, 0.012, 0.003);
}

static void ring(flr_kit *kit)
{
    flr_kit_outline o;
    gear_outline(kit, &o, 0.068, 0.076, 38, 0.05);
    flr_pose face = flr_kit_frame(v3(0, 0.013, 0), v3(0, -1, 0), v3(1, 0, 0));
    const flr_vec3 path[3] = {{0, 0, 0}, {0, 0, 0.014}, {0, 0, 0.026}};
    const double taper[3] = {1, 1, 0.93};
    flr_kit_push(kit, face);
    flr_kit_sweep(kit, path, 3, v3(0, 1, 0), &o, taper);
    flr_kit_pop(kit);
}

static void housing_holder(flr_kit *kit)
{
    /* a square flange with a bore, a collar, ribs and four corner lugs */
    flr_kit_outline o = {0};
    flr_outline_rect(kit, &o, 0, 0, 0.22, 0.22, 0.03);
    flr_outline_circle(kit, &o, 0, 0, 0.057);
    for (int k = 0; k < 4; k++)
        flr_outline_circle(kit, &o, k & 1 ? 0.088 : -0.088, k & 2 ? 0.088 : -0.088, 0.008);
    flr_kit_prism(kit, flr_kit_at(0, 0, -0.024), &o, 0.028);
    flr_kit_tube(kit, flr_kit_at(0, 0, -0.02), 0.084, 0.058, 0.066);
    for (int k = 0; k < 4; k++) {
        flr_pose out = flr_kit_turn_z(flr_kit_at(0, 0, 0.002), 0.25 * k);
        const flr_kit_corner c[] = {{0.08, 0, 0}, {0.108, 0, 0}, {0.08, 0.036, 0}};
        flr_pose rib = flr_kit_turn_x(flr_kit_shift(out, 0, 0.006, 0), 0.25);
        flr_kit_extrude(kit, rib, c, 3, 0.012);
    }
    flr_kit_bolt_circle(kit, flr_kit_turn_z(flr_kit_at(0, 0, 0.004), 0.0625), 0.096, 4, 0.01, 0);
}

static void driveline_housing(flr_kit *kit)
{
    /* a hollow cone with a round flange, a nose, ribs and bolts */
    const flr_kit_corner c[] = {
        {0.095, -0.11, 0},    {0.142, -0.11, 0}, {0.142, -0.086, 0},   {0.117, -0.08, 0.006},
        {0.066, 0.07, 0.01},  {0.066, 0.10, 0},  {0.052, 0.104, 0},    {0.052, 0.13, 0.002},
        {0.026, 0.13, 0.002}, {0.026, 0.075, 0}, {0.044, 0.06, 0.008}, {0.095, -0.088, 0.006}};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), c, 12, 44);
    flr_kit_bolt_circle(kit, flr_kit_at(0, 0, -0.086), 0.13, 8, 0.01, 0.02);
    for (int k = 0; k < 6; k++) {
        flr_pose out = flr_kit_turn_z(flr_kit_at(0, 0, 0), k / 6.0);
        const flr_kit_corner r[] = {
            {0.108, -0.092, 0}, {0.136, -0.092, 0}, {0.078, 0.085, 0}, {0.062, 0.085, 0}};
        flr_kit_extrude(kit, flr_kit_turn_x(flr_kit_shift(out, 0, 0.006, 0), 0.25), r, 4, 0.012);
    }
    flr_kit_bolt(kit, flr_kit_frame(v3(0.1, 0.025, -0.03), v3(1, 0.25, 0.33), axis_z), 0.014, 0);
}

/* a hub cap, open to below, with studs; the left one has a filler boss instead of a rib */
static void hub_cap(flr_kit *kit, bool left)
{
    const flr_kit_corner c[] = {
        {0.121, -0.06, 0.002}, {0.15, -0.06, 0.003}, {0.15, -0.046, 0.003}, {0.142, -0.04, 0.003},
        {0.142, 0.022, 0.012}, {0.062, 0.03, 0.006}, {0.052, 0.062, 0.006}, {0.03, 0.062, 0.002},
        {0.03, -0.02, 0.002},  {0.05, -0.02, 0.003}, {0.052, 0.0, 0.006},   {0.121, -0.002, 0.01}};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), c, 12, 60);
    for (int k = 0; k < 5; k++) {
        flr_pose at = flr_kit_turn_z(flr_kit_at(0, 0, 0.024), k / 5.0);
        flr_kit_rounded_cylinder(kit, flr_kit_shift(at, 0.09, 0, 0), 0.0075, 0.04, 0.001);
        flr_kit_bolt(kit, flr_kit_shift(at, 0.09, 0, 0.004), 0.014, 0);
    }
    int ribs = left ? 9 : 10;
    for (int k = 0; k < ribs; k++) {
        flr_pose out = flr_kit_turn_z(flr_kit_at(0, 0, 0), (k + 0.5) / 10.0);
        const flr_kit_corner r[] = {{0.053, -0.018, 0},
                                    {0.112, -0.012, 0},
                                    {0.132, -0.03, 0},
                                    {0.132, 0.012, 0},
                                    {0.05, 0.018, 0}};
        flr_kit_extrude(kit, flr_kit_turn_x(flr_kit_shift(out, 0, 0.004, 0), 0.25), r, 5, 0.008);
    }
    if (left)
        flr_kit_bolt(kit, flr_kit_frame(v3(-0.05, -0.141, 0), v3(-0.35, -1, 0), axis_z), 0.016, 0);
}

static void right_cap(flr_kit *kit) { hub_cap(kit, false); }
static void left_cap(flr_kit *kit) { hub_cap(kit, true); }

/* ---- the scene ---- */

typedef struct axle_part {
    const char *name, *file;
    void (*shape)(flr_kit *kit);
    size_t triangles;
    flr_vec3 position; /* feet, as in figure 4.2 */
    double chord;      /* metres: how far polygons may stray from circles */
    uint32_t colour;
} axle_part;

static const axle_part axle_parts[] = {
    {"axle base", "axle_base.stl", axle_base, 26364, {0, 1, 2.5}, 0.9e-3, 0x7d8a99},
    {"driveline", "driveline.stl", driveline, 1418, {-0.434, 0, 3.6}, 0.8e-3, 0xc8553d},
    {"ring cap", "ring_cap.stl", ring_cap, 6836, {0, 0, 3}, 0.2e-3, 0x4f86a8},
    {"ring", "ring.stl", ring, 2168, {0.7, 0, 3}, 0.2e-3, 0xd9a441},
    {"housing holder",
     "housing_holder.stl",
     housing_holder,
     4350,
     {2.034, -0.2, 3.2},
     0.4e-3,
     0x6a994e},
    {"driveline housing",
     "driveline_housing.stl",
     driveline_housing,
     4796,
     {2.413, 1.437, 3.4},
     1.2e-3,
     0x9c6fa5},
    {"right cap", "right_cap.stl", right_cap, 6304, {1.3, 1.5, 3.2}, 0.6e-3, 0xb0835a},
    {"left cap", "left_cap.stl", left_cap, 6324, {0.1, 1.5, 3.2}, 0.6e-3, 0xb0a35a},
};

static flr_result build(const flr_scenario_options *options, flr_model *model, flr_error *error)
{
    model->scene.unit = foot;
    model->scene.voxel = 0.02 * foot;
    for (size_t i = 0; i < sizeof axle_parts / sizeof axle_parts[0]; i++) {
        const axle_part *recipe = &axle_parts[i];
        flr_kit kit = flr_kit_begin(options->seed);
        kit.chord = recipe->chord;
        recipe->shape(&kit);
        flr_kit_refine_to(&kit, recipe->triangles);
        flr_scene_part part = flr_default_scene_part();
        part.name = recipe->name;
        part.file = recipe->file;
        part.T_world_part.p = v3_mul(recipe->position, foot);
        part.colour = recipe->colour;
        part.moving = i > 0;
        flr_result result = flr_model_add_kit(model, &kit, &part, error);
        if (result != FLR_OK) return result;
    }
    model->scene.camera = (flr_scene_camera){
        .given = true, .eye = {2.2, -1.9, 2.0}, .target = {0.3, 0.3, 0.85}, .up = {0, 0, 1}};
    return FLR_OK;
}

const flr_scenario flr_scenario_axle = {
    "axle", "a rear axle on a bench with seven loose parts, to be put together", 0, build};
