/* falling.c: up to a hundred parts of twenty concave shapes fall into a tray (Kim 2004, figure
 * 3.10: how the number of moving parts tells on the update rate). */
#include <stdio.h>

#include "models/kit.h"
#include "models/scenarios.h"

static const double mm = 1e-3;

/* an outline from corners in millimetres, extruded symmetrically about z = 0 */
static void slab(flr_kit *kit, const flr_kit_corner *corners, int count, double height)
{
    flr_kit_corner scaled[32];
    for (int i = 0; i < count; i++)
        scaled[i] = (flr_kit_corner){corners[i].x * mm, corners[i].y * mm, corners[i].r * mm};
    flr_kit_extrude(kit, flr_kit_at(0, 0, -height * mm / 2), scaled, count, height * mm);
}

/* the same, turned about z: x is the radius */
static void turned(flr_kit *kit, const flr_kit_corner *corners, int count, int sides)
{
    flr_kit_corner scaled[32];
    for (int i = 0; i < count; i++)
        scaled[i] = (flr_kit_corner){corners[i].x * mm, corners[i].y * mm, corners[i].r * mm};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), scaled, count, sides);
}

/* a round rod along points in millimetres */
static void rod(flr_kit *kit, const flr_vec3 *way, int count, double r, double bend)
{
    flr_vec3 scaled[16];
    for (int i = 0; i < count; i++) scaled[i] = v3_mul(way[i], mm);
    flr_kit_pipe(kit, scaled, count, r * mm, 0, bend * mm);
}

/* ---- the parts ---- */

static void bracket(flr_kit *kit)
{
    flr_kit_bracket(kit, flr_kit_at(-20 * mm, 0, -20 * mm), 36 * mm, 44 * mm, 5 * mm, 6 * mm);
}

static void c_clamp(flr_kit *kit)
{
    const flr_kit_corner c[] = {{22, 26, 4},  {-22, 26, 8},  {-22, -26, 8}, {22, -26, 4},
                                {22, -16, 2}, {-10, -16, 5}, {-10, 16, 5},  {22, 16, 2}};
    slab(kit, c, 8, 12);
    flr_pose down = flr_kit_frame(v3(15 * mm, 32 * mm, 0), v3(0, -1, 0), v3(1, 0, 0));
    flr_kit_rounded_cylinder(kit, down, 4 * mm, 38 * mm, 1 * mm);
    flr_kit_rounded_cylinder(kit, flr_kit_shift(down, 0, 0, 36 * mm), 7 * mm, 4 * mm, 1 * mm);
    const flr_vec3 bar[2] = {{15, 30, -14}, {15, 30, 14}};
    rod(kit, bar, 2, 1.8, 0);
}

static void ring(flr_kit *kit) { flr_kit_torus(kit, flr_kit_at(0, 0, 0), 23 * mm, 7 * mm); }

static void jack(flr_kit *kit)
{
    for (int k = 0; k < 3; k++) {
        flr_vec3 axis = v3(k == 0, k == 1, k == 2);
        flr_pose from = flr_kit_towards(v3_mul(axis, -26 * mm), v3(0, 0, 0));
        flr_kit_cylinder(kit, from, 4 * mm, 52 * mm);
        for (int side = -1; side <= 1; side += 2) {
            flr_vec3 tip = v3_mul(axis, side * 26 * mm);
            flr_kit_sphere(kit, flr_kit_at(tip.x, tip.y, tip.z), 7 * mm);
        }
    }
}

static void tee(flr_kit *kit)
{
    const flr_vec3 run[2] = {{-28 * mm, 0, 0}, {28 * mm, 0, 0}};
    const flr_vec3 branch[2] = {{0, 6 * mm, 0}, {0, 28 * mm, 0}};
    flr_kit_pipe(kit, run, 2, 10 * mm, 7 * mm, 0);
    flr_kit_pipe(kit, branch, 2, 10 * mm, 7 * mm, 0);
    for (int side = -1; side <= 1; side += 2)
        flr_kit_tube(kit, flr_kit_frame(v3(side * 22 * mm, 0, 0), v3(side, 0, 0), v3(0, 0, 1)),
                     13 * mm, 9.5 * mm, 8 * mm);
    flr_kit_tube(kit, flr_kit_frame(v3(0, 22 * mm, 0), v3(0, 1, 0), v3(0, 0, 1)), 13 * mm, 9.5 * mm,
                 8 * mm);
}

static void gear(flr_kit *kit)
{
    flr_kit_outline o = {0};
    for (int i = 0; i < 16; i++) {
        const double at[4] = {0, 0.38, 0.5, 0.88}, radius[4] = {22, 22, 28, 28};
        for (int k = 0; k < 4; k++) {
            double a = (i + at[k]) / 16;
            flr_outline_point(&o, radius[k] * mm * flr_kit_cos(a), radius[k] * mm * flr_kit_sin(a));
        }
    }
    flr_outline_close(&o);
    flr_outline_circle(kit, &o, 0, 0, 7 * mm);
    for (int i = 0; i < 5; i++)
        flr_outline_circle(kit, &o, 14 * mm * flr_kit_cos(i / 5.0), 14 * mm * flr_kit_sin(i / 5.0),
                           4 * mm);
    flr_kit_prism(kit, flr_kit_at(0, 0, -5 * mm), &o, 10 * mm);
}

static void knob(flr_kit *kit)
{
    flr_kit_outline o = {0};
    for (int i = 0; i < 5; i++)
        flr_outline_arc(&o, 18 * mm * flr_kit_cos(i / 5.0), 18 * mm * flr_kit_sin(i / 5.0), 9 * mm,
                        i / 5.0 - 0.27, i / 5.0 + 0.27, 12);
    flr_outline_close(&o);
    flr_kit_prism(kit, flr_kit_at(0, 0, 0), &o, 12 * mm);
    flr_kit_rounded_cylinder(kit, flr_kit_at(0, 0, -22 * mm), 5 * mm, 24 * mm, 1 * mm);
}

static void nut(flr_kit *kit)
{
    flr_kit_outline o = {0};
    flr_outline_polygon(&o, 0, 0, 24 * mm, 6);
    flr_outline_circle(kit, &o, 0, 0, 13 * mm);
    flr_kit_prism(kit, flr_kit_at(0, 0, -10 * mm), &o, 20 * mm);
}

static void link(flr_kit *kit)
{
    enum { FALLING_STEPS = 48 };
    flr_vec3 path[FALLING_STEPS], up[FALLING_STEPS];
    for (int i = 0; i < FALLING_STEPS; i++) {
        double a = (double)i / FALLING_STEPS, c = flr_kit_cos(a), s = flr_kit_sin(a);
        path[i] = v3((13 * c + (c > 0 ? 14 : c < 0 ? -14 : 0)) * mm, 13 * s * mm, 0);
        up[i] = v3(0, 0, 1);
    }
    flr_kit_loop(kit, path, up, FALLING_STEPS, 5 * mm, 16);
}

static void shackle(flr_kit *kit)
{
    const flr_vec3 way[4] = {{-15, 0, -20}, {-15, 0, 24}, {15, 0, 24}, {15, 0, -20}};
    rod(kit, way, 4, 5, 14.5);
    for (int side = -1; side <= 1; side += 2)
        flr_kit_tube(kit,
                     flr_kit_frame(v3((side * 15 - 5) * mm, 0, -22 * mm), v3(1, 0, 0), v3(0, 0, 1)),
                     9 * mm, 4.5 * mm, 10 * mm);
    const flr_vec3 pin[2] = {{-24, 0, -22}, {24, 0, -22}};
    rod(kit, pin, 2, 4, 0);
}

static void horseshoe(flr_kit *kit)
{
    flr_kit_outline o = {0};
    flr_outline_arc(&o, 0, 0, 28 * mm, -0.16, 0.66, 40);
    flr_outline_arc(&o, 0, 0, 17 * mm, 0.64, -0.14, 32);
    flr_outline_close(&o);
    flr_kit_prism(kit, flr_kit_at(0, -4 * mm, -4 * mm), &o, 8 * mm);
}

static void cup(flr_kit *kit)
{
    const flr_kit_corner c[] = {{0, -22, 0}, {16, -22, 3},   {20, 22, 1},
                                {17, 22, 1}, {13.5, -19, 2}, {0, -19, 0}};
    turned(kit, c, 6, 40);
    const flr_vec3 handle[4] = {{16, 0, 12}, {30, 0, 12}, {30, 0, -10}, {15, 0, -10}};
    rod(kit, handle, 4, 3, 9);
}

static void funnel(flr_kit *kit)
{
    const flr_kit_corner c[] = {{27, 22, 0}, {29, 22, 0},   {29, 20, 0},  {7, -2, 2},
                                {5, -28, 0}, {3.2, -28, 0}, {4.8, -1, 2}, {26.4, 20.5, 0}};
    turned(kit, c, 8, 40);
}

/* a spring with open ends, on which others catch */
static void spring(flr_kit *kit)
{
    enum { FALLING_STEPS = 120 };
    flr_vec3 path[FALLING_STEPS + 1];
    for (int i = 0; i <= FALLING_STEPS; i++) {
        double t = (double)i / FALLING_STEPS, a = 4.75 * t;
        path[i] = v3(14 * mm * flr_kit_cos(a), 14 * mm * flr_kit_sin(a), (46 * t - 23) * mm);
    }
    flr_kit_outline o = {0};
    flr_outline_circle(kit, &o, 0, 0, 3 * mm);
    flr_kit_sweep(kit, path, FALLING_STEPS + 1, v3(0, 0, 1), &o, NULL);
}

static void crank(flr_kit *kit)
{
    const flr_vec3 way[6] = {{-30, 0, 0}, {-11, 0, 0}, {-11, 22, 0},
                             {11, 22, 0}, {11, 0, 0},  {30, 0, 0}};
    rod(kit, way, 6, 5, 5.5);
    for (int side = -1; side <= 1; side += 2)
        flr_kit_cylinder(kit, flr_kit_frame(v3(side * 22 * mm, 0, 0), v3(side, 0, 0), v3(0, 0, 1)),
                         9 * mm, 6 * mm);
}

static void hook(flr_kit *kit)
{
    enum { FALLING_STEPS = 40 };
    flr_vec3 path[FALLING_STEPS + 1];
    double scale[FALLING_STEPS + 1];
    for (int i = 0; i <= FALLING_STEPS; i++) {
        double t = (double)i / FALLING_STEPS, a = 0.25 - 0.72 * t;
        path[i] = v3(17 * mm * flr_kit_cos(a), 0, (17 * flr_kit_sin(a) - 8) * mm);
        scale[i] = 1 + 0.5 * t - 1.1 * t * t * t;
    }
    flr_kit_outline o = {0};
    flr_outline_circle(kit, &o, 0, 0, 5 * mm);
    flr_kit_sweep(kit, path, FALLING_STEPS + 1, v3(0, 1, 0), &o, scale);
    const flr_vec3 shank[2] = {{0, 0, 8}, {0, 0, 24}};
    rod(kit, shank, 2, 5, 0);
    flr_kit_torus(kit, flr_kit_turn_x(flr_kit_at(0, 0, 27 * mm), 0.25), 6 * mm, 2.5 * mm);
}

static void wing_nut(flr_kit *kit)
{
    flr_kit_tube(kit, flr_kit_at(0, 0, -10 * mm), 10 * mm, 5 * mm, 18 * mm);
    for (int side = -1; side <= 1; side += 2) {
        const flr_kit_corner c[] = {{side * 8.0, -6, 0},  {side * 14.0, -6, 3},
                                    {side * 30.0, 12, 5}, {side * 26.0, 20, 5},
                                    {side * 18.0, 16, 4}, {side * 8.0, 5, 0}};
        flr_kit_push(kit, flr_kit_turn_x(flr_kit_at(0, 0, 0), 0.25));
        slab(kit, c, 6, 6);
        flr_kit_pop(kit);
    }
}

static void knot(flr_kit *kit) { flr_kit_knot(kit, 2, 3, 17 * mm, 8 * mm, 4 * mm, 120, 12); }

static void beam(flr_kit *kit)
{
    const flr_vec3 path[2] = {{-27 * mm, 0, 0}, {27 * mm, 0, 0}};
    flr_kit_outline o = {0};
    flr_outline_beam_i(kit, &o, 30 * mm, 36 * mm, 4 * mm);
    flr_kit_sweep(kit, path, 2, v3(0, 0, 1), &o, NULL);
}

static void elbow(flr_kit *kit)
{
    const flr_vec3 way[3] = {
        {-20 * mm, 0, 22 * mm}, {-20 * mm, 0, -16 * mm}, {22 * mm, 0, -16 * mm}};
    flr_kit_pipe(kit, way, 3, 9 * mm, 6.5 * mm, 22 * mm);
    flr_kit_tube(kit, flr_kit_at(-20 * mm, 0, 17 * mm), 15 * mm, 8.5 * mm, 5 * mm);
    flr_kit_tube(kit, flr_kit_frame(v3(17 * mm, 0, -16 * mm), v3(1, 0, 0), v3(0, 0, 1)), 15 * mm,
                 8.5 * mm, 5 * mm);
}

static void tray(flr_kit *kit)
{
    flr_kit_outline o;
    flr_kit_plate(kit, flr_kit_at(0, 0, -9 * mm), 312 * mm, 312 * mm, 9 * mm, 13 * mm, 0, 0, 0);
    flr_outline_clear(&o);
    flr_outline_rect(kit, &o, 0, 0, 320 * mm, 320 * mm, 16 * mm);
    flr_outline_rect(kit, &o, 0, 0, 304 * mm, 304 * mm, 10 * mm);
    flr_kit_prism(kit, flr_kit_at(0, 0, -10 * mm), &o, 80 * mm);
    /* two grips, and a divider with a window for parts to catch on */
    for (int side = -1; side <= 1; side += 2) {
        double x = side * 160 * mm, out = side * 185 * mm;
        const flr_vec3 grip[4] = {{x, -50 * mm, 45 * mm},
                                  {out, -50 * mm, 45 * mm},
                                  {out, 50 * mm, 45 * mm},
                                  {x, 50 * mm, 45 * mm}};
        flr_kit_pipe(kit, grip, 4, 5 * mm, 0, 12 * mm);
    }
    flr_outline_clear(&o);
    const flr_kit_corner wall[] = {{-153 * mm, -1 * mm, 0}, {153 * mm, -1 * mm, 0},
                                   {153 * mm, 30 * mm, 0},  {60 * mm, 30 * mm, 0},
                                   {45 * mm, 14 * mm, 0},   {-45 * mm, 14 * mm, 0},
                                   {-60 * mm, 30 * mm, 0},  {-153 * mm, 30 * mm, 0}};
    flr_outline_corners(kit, &o, wall, 8);
    flr_kit_prism(kit, flr_kit_turn_x(flr_kit_at(0, 3 * mm, 0), 0.25), &o, 6 * mm);
}

/* ---- the scene ---- */

typedef struct falling_part {
    const char *name;
    void (*shape)(flr_kit *kit);
    uint32_t colour;
} falling_part;

static const falling_part falling_parts[] = {
    {"bracket", bracket, 0x4f86a8},
    {"c_clamp", c_clamp, 0xc8553d},
    {"ring", ring, 0xd9a441},
    {"jack", jack, 0x6a994e},
    {"tee", tee, 0x9c6fa5},
    {"gear", gear, 0xb0835a},
    {"knob", knob, 0x3d5a80},
    {"nut", nut, 0x8a97a8},
    {"link", link, 0xe07a5f},
    {"shackle", shackle, 0x81b29a},
    {"horseshoe", horseshoe, 0x5f797b},
    {"cup", cup, 0xf2cc8f},
    {"funnel", funnel, 0x7ca5b8},
    {"spring", spring, 0x577590},
    {"crank", crank, 0xbc6c25},
    {"hook", hook, 0xa44a3f},
    {"wing_nut", wing_nut, 0xcdb34a},
    {"knot", knot, 0xd1495b},
    {"beam", beam, 0x66785f},
    {"elbow", elbow, 0x8d6a9f},
};
enum {
    FALLING_SHAPES = sizeof falling_parts / sizeof falling_parts[0],
    FALLING_PARTS = 100 /* at most; from FALLING_SHAPES on, shapes come again */
};

/* moves what is in the kit so that the middle of its box is the origin */
static void centre(flr_kit *kit)
{
    flr_box3 box = flr_kit_bounds(kit);
    flr_vec3 middle = v3_mix(box.low, box.high, 0.5);
    for (size_t i = 0; i < kit->vertex_count; i++)
        kit->vertices[i] = v3_sub(kit->vertices[i], middle);
}

/* a random rotation: a random direction in four dimensions */
static flr_quat random_turn(flr_kit *dice)
{
    for (;;) {
        /* one after the other: C leaves the order of evaluation in a list to the compiler */
        flr_quat q;
        q.w = flr_kit_random(dice, -1, 1);
        q.x = flr_kit_random(dice, -1, 1);
        q.y = flr_kit_random(dice, -1, 1);
        q.z = flr_kit_random(dice, -1, 1);
        double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
        if (length > 1 || length < 0.1) continue;
        return (flr_quat){q.w / length, q.x / length, q.y / length, q.z / length};
    }
}

/* floors of nine places each above the tray, far enough apart for any rotation */
static flr_pose drop_place(flr_kit *dice, size_t i)
{
    const double spacing = 92 * mm, lowest = 110 * mm;
    double column = (double)(i % 9 % 3) - 1, row = (double)(i % 9 / 3) - 1,
           floor_index = (double)(i / 9);
    double dx = flr_kit_random(dice, -4 * mm, 4 * mm);
    double dy = flr_kit_random(dice, -4 * mm, 4 * mm);
    flr_pose pose =
        flr_kit_at(column * spacing + dx, row * spacing + dy, lowest + floor_index * spacing);
    pose.q = random_turn(dice);
    return pose;
}

static flr_result build(const flr_scenario_options *options, flr_model *model, flr_error *error)
{
    size_t count = options->number ? options->number : FALLING_SHAPES;
    model->scene.voxel = 1 * mm;
    model->scene.gravity = v3(0, 0, -9.81);

    flr_kit kit = flr_kit_begin(options->seed), dice = flr_kit_begin(options->seed);
    tray(&kit);
    flr_scene_part part = flr_default_scene_part();
    part.name = "tray", part.file = "tray.stl", part.colour = 0x9aa5b1;
    flr_result result = flr_model_add_kit(model, &kit, &part, error);
    for (size_t i = 0; i < count && result == FLR_OK; i++) {
        const falling_part *shape = &falling_parts[i % FALLING_SHAPES];
        char file[FLR_MODEL_NAME_SIZE], name[FLR_MODEL_NAME_SIZE];
        snprintf(file, sizeof file, "%s.stl", shape->name);
        snprintf(name, sizeof name, "%s_%zu", shape->name, i / FALLING_SHAPES + 1);
        part = flr_default_scene_part();
        part.name = i < FALLING_SHAPES ? shape->name : name, part.file = file;
        part.colour = shape->colour;
        part.moving = true, part.density = 2700;
        part.T_world_part = drop_place(&dice, i);
        if (i >= FALLING_SHAPES) {
            result = flr_model_add_part(model, &part, error);
            continue;
        }
        kit = flr_kit_begin(options->seed);
        shape->shape(&kit);
        centre(&kit);
        result = flr_model_add_kit(model, &kit, &part, error);
    }
    flr_kit_free(&dice);
    return result;
}

const flr_scenario flr_scenario_falling = {
    "falling", "twenty concave parts, or up to a hundred, that fall into a tray", FALLING_PARTS,
    build};
