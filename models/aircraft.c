/* aircraft.c: the aircraft scenario: a teapot among beams, tubes and wires.
 *
 * After McNeely, Puterbaugh and Troy (1999), section 6.3: "simulated aircraft geometry, with
 * beams, tubes, wires, etc.", 593,409 polygons voxelized at 5 mm, and "a small teapot (75 mm from
 * spout to handle), logically representing a small tool or part". */
#include "models/aircraft.h"

#include "models/scenarios.h"

/* closed components have an even number of triangles: one less than the paper's */
enum { AIRCRAFT_TRIANGLES = 593408, TEAPOT_TRIANGLES = 8400 };

/* ---- the teapot: on z = 0 around the z axis, spout towards +x; 75 mm from spout to handle ---- */

/* body and lid are one turned shape; millimetres */
static void pot(flr_kit *kit)
{
    const flr_kit_corner mm[] = {
        {0, 0, 0},       {13.0, 0, 0.8},    {14.5, 1.6, 0.8},  {20.5, 5.5, 6},    {22.0, 13.0, 9},
        {16.8, 23.6, 8}, {15.6, 25.6, 0.6}, {14.6, 25.6, 0.4}, {14.2, 26.2, 0.4}, {9.0, 28.8, 8},
        {2.2, 30.0, 2},  {2.0, 31.6, 0.8},  {3.6, 33.6, 1.4},  {2.8, 35.6, 1.6},  {0, 36.2, 0}};
    enum { N = sizeof mm / sizeof *mm };
    flr_kit_corner c[N];
    for (int i = 0; i < N; i++)
        c[i] = (flr_kit_corner){mm[i].x * 1e-3, mm[i].y * 1e-3, mm[i].r * 1e-3};
    flr_kit_lathe(kit, flr_kit_at(0, 0, 0), c, N, 56);
}

/* a smooth curve through four control points, as Bezier draws it */
static flr_vec3 curve(const flr_vec3 p[4], double t)
{
    double s = 1 - t, a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
    return v3_add(v3_add(v3_mul(p[0], a), v3_mul(p[1], b)),
                  v3_add(v3_mul(p[2], c), v3_mul(p[3], d)));
}

static void spout_and_handle(flr_kit *kit)
{
    enum { AIRCRAFT_STEPS = 28 };
    flr_vec3 path[AIRCRAFT_STEPS + 1];
    double scale[AIRCRAFT_STEPS + 1];
    flr_kit_outline o;
    /* the spout tapers and opens upwards: a thick lip around a bore that ends inside */
    const flr_vec3 spout[4] = {
        {0.0140, 0, 0.0090}, {0.0340, 0, 0.0070}, {0.0300, 0, 0.0200}, {0.0378, 0, 0.0266}};
    for (int i = 0; i <= AIRCRAFT_STEPS; i++) {
        double t = (double)i / AIRCRAFT_STEPS;
        path[i] = curve(spout, t);
        scale[i] = 1.85 - 1.25 * t + 0.40 * t * t;
    }
    flr_outline_clear(&o);
    flr_outline_circle(kit, &o, 0, 0, 0.0029);
    flr_kit_sweep(kit, path, AIRCRAFT_STEPS + 1, v3(0, 1, 0), &o, scale);
    /* the handle: an ear of oval section, both ends in the body */
    const flr_vec3 handle[4] = {
        {-0.0150, 0, 0.0228}, {-0.0402, 0, 0.0290}, {-0.0394, 0, 0.0030}, {-0.0190, 0, 0.0068}};
    for (int i = 0; i <= AIRCRAFT_STEPS; i++) path[i] = curve(handle, (double)i / AIRCRAFT_STEPS);
    flr_outline_clear(&o);
    for (int i = 0; i < 16; i++)
        flr_outline_point(&o, 0.0024 * flr_kit_cos(i / 16.0), 0.0017 * flr_kit_sin(i / 16.0));
    flr_outline_close(&o);
    flr_kit_sweep(kit, path, AIRCRAFT_STEPS + 1, v3(0, 0, 1), &o, NULL);
}

/* ---- the scenario ---- */

static flr_result add_aircraft(uint64_t seed, flr_model *model, flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    kit.chord = 0.001;
    kit.wire_step = 0.1;
    flr_aircraft_structure(&kit);
    flr_aircraft_systems(&kit);
    flr_kit_refine_to(&kit, AIRCRAFT_TRIANGLES);
    flr_scene_part part = flr_default_scene_part();
    part.name = "aircraft", part.file = "aircraft.stl", part.colour = 0xb9c4b0;
    return flr_model_add_kit(model, &kit, &part, error);
}

static flr_result add_teapot(uint64_t seed, flr_model *model, flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    kit.chord = 0.00003;
    kit.least_sides = 16;
    pot(&kit);
    spout_and_handle(&kit);
    flr_kit_refine_to(&kit, TEAPOT_TRIANGLES);
    flr_scene_part part = flr_default_scene_part();
    part.name = "teapot", part.file = "teapot.stl", part.colour = 0xd65a31, part.moving = true;
    part.T_world_part = flr_kit_at(0.25, 0.02, 0.58);
    return flr_model_add_kit(model, &kit, &part, error);
}

static flr_result build(const flr_scenario_options *options, flr_model *model, flr_error *error)
{
    flr_result result = add_aircraft(options->seed, model, error);
    if (result == FLR_OK) result = add_teapot(options->seed, model, error);
    model->scene.voxel = 0.005;
    model->scene.camera.given = true;
    model->scene.camera.eye = v3(3.4, -0.805, 1.425);
    model->scene.camera.target = v3(0.25, 0.02, 0.60);
    return result;
}

const flr_scenario flr_scenario_aircraft = {
    "aircraft", "a teapot among the beams, tubes and wires of an aircraft's equipment bay", 0,
    build};
