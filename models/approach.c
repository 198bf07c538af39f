/* approach.c: two concave objects on random straight ways towards each other (sphere trees, 2008,
 * section 4 and figures 3 to 6).
 *
 * A knot stands still at the origin. A bracket comes from a random direction on a sphere, in a
 * random orientation and at constant speed, to a distance at which the two surely touch. Nothing
 * pushes back along the prepared ways: they end in deep overlap, as in the paper's first figures.
 *
 * The scenario `pair` lets the same two move: the knot lies in a tray, the bracket is in the hand and
 * pushes it about, and the engine of sphere trees answers. */
#include <stdio.h>

#include "models/kit.h"
#include "models/scenarios.h"

static const double mm = 1e-3;

enum { APPROACH_WAYS = 8, WAYS_MAX = 1000, APPROACH_POSES = 201 };

static const double start_distance = 0.2, end_distance = 0.02; /* metres, between the origins */

static void knot(flr_kit *kit) { flr_kit_knot(kit, 2, 3, 36 * mm, 17 * mm, 9 * mm, 240, 24); }

/* a strong angle bracket with a window, ribs and an open fork, around its origin */
static void bracket(flr_kit *kit)
{
    flr_kit_outline o;
    flr_kit_push(kit, flr_kit_at(-22 * mm, 0, -22 * mm));
    flr_outline_clear(&o);
    const flr_kit_corner fork[] = {{0, -26 * mm, 0},
                                   {62 * mm, -26 * mm, 6 * mm},
                                   {62 * mm, -10 * mm, 4 * mm},
                                   {34 * mm, -10 * mm, 9 * mm},
                                   {34 * mm, 10 * mm, 9 * mm},
                                   {62 * mm, 10 * mm, 4 * mm},
                                   {62 * mm, 26 * mm, 6 * mm},
                                   {0, 26 * mm, 0}};
    flr_outline_corners(kit, &o, fork, 8);
    flr_outline_circle(kit, &o, 18 * mm, 0, 6 * mm);
    flr_kit_prism(kit, flr_kit_at(0, 0, -4 * mm), &o, 8 * mm);

    /* the upright leg with its window: the outline's x is up */
    flr_outline_clear(&o);
    flr_outline_rect(kit, &o, 28 * mm, 0, 64 * mm, 52 * mm, 6 * mm);
    flr_outline_rect(kit, &o, 34 * mm, 0, 30 * mm, 28 * mm, 5 * mm);
    flr_kit_prism(kit, flr_kit_frame(v3(-4 * mm, 0, 0), v3(1, 0, 0), v3(0, 0, 1)), &o, 8 * mm);

    /* ribs to both sides of the window */
    const flr_kit_corner rib[] = {{2 * mm, 2 * mm, 0}, {38 * mm, 2 * mm, 0}, {2 * mm, 38 * mm, 0}};
    flr_outline_clear(&o);
    flr_outline_corners(kit, &o, rib, 3);
    for (int side = -1; side <= 1; side += 2)
        flr_kit_prism(kit, flr_kit_turn_x(flr_kit_at(0, (side * 20 + 2.5) * mm, 0), 0.25), &o,
                      5 * mm);
    flr_kit_tube(kit, flr_kit_at(18 * mm, 0, -8 * mm), 11 * mm, 5.5 * mm, 16 * mm);
    flr_kit_pop(kit);
}

/* a unit vector with all directions equally likely */
static flr_vec3 random_direction(flr_kit *dice)
{
    for (;;) {
        /* one after the other: C leaves the order of evaluation of arguments to the compiler */
        double x = flr_kit_random(dice, -1, 1);
        double y = flr_kit_random(dice, -1, 1);
        double z = flr_kit_random(dice, -1, 1);
        flr_vec3 v = v3(x, y, z);
        double length = v3_length(v);
        if (length <= 1 && length > 0.1) return v3_mul(v, 1 / length);
    }
}

static flr_result add_way(flr_model *model, flr_kit *dice, unsigned index, flr_error *error)
{
    flr_vec3 from = random_direction(dice), axis = random_direction(dice);
    double half = flr_kit_random(dice, 0, 0.5), s = flr_kit_sin(half);
    flr_quat q = {flr_kit_cos(half), axis.x * s, axis.y * s, axis.z * s};
    flr_timed_pose poses[APPROACH_POSES];
    for (int i = 0; i < APPROACH_POSES; i++) {
        double t = (double)i / (APPROACH_POSES - 1);
        double distance = start_distance + (end_distance - start_distance) * t;
        poses[i] = (flr_timed_pose){t, {v3_mul(from, distance), q}};
    }
    char name[FLR_MODEL_NAME_SIZE], file[FLR_MODEL_NAME_SIZE];
    snprintf(name, sizeof name, "approach %03u", index);
    snprintf(file, sizeof file, "approach_%03u.txt", index);
    return flr_model_add_path(model, file, name, "bracket", poses, APPROACH_POSES, error);
}

static flr_result add_knot(flr_model *model, uint64_t seed, const flr_scene_part *like,
                           flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    knot(&kit);
    flr_scene_part part = *like;
    part.name = "knot", part.file = "knot.stl", part.colour = 0x4f86a8;
    return flr_model_add_kit(model, &kit, &part, error);
}

static flr_result add_bracket(flr_model *model, uint64_t seed, flr_pose T, flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    kit.chord = 0.05 * mm;
    bracket(&kit);
    flr_kit_refine_to(&kit, 6000);
    flr_scene_part part = flr_default_scene_part();
    part.name = "bracket", part.file = "bracket.stl", part.colour = 0xd9772b;
    part.moving = true, part.density = 2700;
    part.T_world_part = T;
    return flr_model_add_kit(model, &kit, &part, error);
}

static flr_result build(const flr_scenario_options *options, flr_model *model, flr_error *error)
{
    uint32_t ways = options->number ? options->number : APPROACH_WAYS;
    model->scene.voxel = 1 * mm;

    flr_scene_part like = flr_default_scene_part();
    flr_result result = add_knot(model, options->seed, &like, error);
    if (result == FLR_OK)
        result = add_bracket(model, options->seed, flr_kit_at(0.11, -0.05, 0.03), error);

    flr_kit dice = flr_kit_begin(options->seed);
    for (uint32_t i = 0; i < ways && result == FLR_OK; i++)
        result = add_way(model, &dice, i, error);
    flr_kit_free(&dice);
    return result;
}

const flr_scenario flr_scenario_approach = {
    "approach", "a bracket and a knot on random straight ways towards each other", WAYS_MAX, build};

/* ---- pair ---- */

/* a tray with a rim, a ramp at one end and two posts to get stuck between */
static void tray(flr_kit *kit)
{
    flr_kit_plate(kit, flr_kit_at(0, 0, -10 * mm), 392 * mm, 252 * mm, 10 * mm, 13 * mm, 0, 0, 0);
    flr_kit_outline o = {0};
    flr_outline_rect(kit, &o, 0, 0, 400 * mm, 260 * mm, 20 * mm);
    flr_outline_rect(kit, &o, 0, 0, 384 * mm, 244 * mm, 13 * mm);
    flr_kit_prism(kit, flr_kit_at(0, 0, -11 * mm), &o, 36 * mm);
    for (int side = -1; side <= 1; side += 2)
        flr_kit_rounded_cylinder(kit, flr_kit_at(-110 * mm, side * 58 * mm, -2 * mm), 9 * mm,
                                 52 * mm, 3 * mm);
}

/* down to the knot, against it, along the tray, and back */
static flr_result add_push(flr_model *model, flr_pose start, flr_error *error)
{
    static const double way[][4] = {/* s, then mm from where the bracket stands */
                                    {0, 0, 0, 0},        {0.8, 0, 0, -42},    {1.8, -80, 0, -42},
                                    {3.2, -205, 4, -42}, {3.8, -205, 4, -42}, {4.6, -120, 0, -20},
                                    {5.6, 0, 0, 0}};
    enum { APPROACH_CORNERS = sizeof way / sizeof *way };
    flr_timed_pose poses[APPROACH_CORNERS];
    for (int i = 0; i < APPROACH_CORNERS; i++) {
        poses[i] = (flr_timed_pose){way[i][0], start};
        poses[i].T_world_part.p =
            v3_add(start.p, v3(way[i][1] * mm, way[i][2] * mm, way[i][3] * mm));
    }
    return flr_model_add_path(model, "push.txt", "push", "bracket", poses, APPROACH_CORNERS, error);
}

static flr_result build_pair(const flr_scenario_options *options, flr_model *model,
                             flr_error *error)
{
    model->scene.voxel = 2 * mm;
    model->scene.gravity = v3(0, 0, -9.81);
    model->scene.contact.engine = FLR_ENGINE_SPHERES;
    model->scene.contact.friction = 0.2;
    model->scene.contact.restitution = 0.2;
    model->scene.camera = (flr_scene_camera){
        .given = true, .eye = {0.28, -0.5, 0.4}, .target = {0.01, 0, 0.02}, .up = {0, 0, 1}};
    flr_pose start = flr_kit_at(0.135, 0, 0.082);
    flr_kit kit = flr_kit_begin(options->seed);
    tray(&kit);
    flr_scene_part part = flr_default_scene_part();
    part.name = "tray", part.file = "tray.stl", part.colour = 0x9aa5b1;
    flr_result result = flr_model_add_kit(model, &kit, &part, error);
    /* the bracket is first of those that move: it is what a hand takes */
    if (result == FLR_OK) result = add_bracket(model, options->seed, start, error);
    part = flr_default_scene_part();
    part.moving = true, part.density = 2700;
    part.T_world_part = flr_kit_at(0.01, 0, 0.03);
    if (result == FLR_OK) result = add_knot(model, options->seed, &part, error);
    return result == FLR_OK ? add_push(model, start, error) : result;
}

const flr_scenario flr_scenario_pair = {
    "pair", "a bracket in the hand pushes a knot about in a tray: both move", 0, build_pair};
