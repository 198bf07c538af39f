/* bay.c: an equipment bay with a pump to get out: what `feeler demo` shows.
 *
 * The pump stands between two rails with lips and is longer than the gate between the risers in
 * front is wide: up over the lips, a quarter turn, and out. Few triangles, so that it shows at once
 * on any machine. The front is towards -y. */
#include "models/kit.h"
#include "models/scenarios.h"

static const double mm = 1e-3;

/* ---- the bay ---- */

static const flr_vec3 axis_x = {1, 0, 0}, axis_y = {0, 1, 0}, axis_z = {0, 0, 1};

/* floor, side walls with lightening holes, a back wall with stiffeners, posts */
static void walls(flr_kit *kit)
{
    flr_kit_plate(kit, flr_kit_at(0, 0, -6 * mm), 0.66, 0.44, 6 * mm, 4 * mm, 0, 0, 0);
    flr_pose back = flr_kit_frame(v3(0, 0.214, 0.17), v3(0, 1, 0), axis_x);
    flr_kit_plate(kit, back, 0.66, 0.34, 5 * mm, 4 * mm, 0, 0, 0);
    for (int side = -1; side <= 1; side += 2) {
        flr_pose wall = flr_kit_frame(v3(side * 0.324, 0, 0.17), v3(side, 0, 0), axis_y);
        flr_kit_plate(kit, wall, 0.43, 0.34, 5 * mm, 4 * mm, 3, 2, 36 * mm);
        flr_kit_box(kit, flr_kit_at(side * 0.318, -0.208, 0.172), 18 * mm, 18 * mm, 0.344, 2 * mm);
    }
    flr_kit_outline o;
    for (int k = -1; k <= 1; k++) {
        const flr_vec3 way[2] = {{k * 0.2, 0.214, 0.004}, {k * 0.2, 0.214, 0.336}};
        flr_outline_clear(&o);
        flr_outline_beam_l(kit, &o, 16 * mm, 16 * mm, 3 * mm);
        flr_kit_sweep(kit, way, 2, v3(0, -1, 0), &o, NULL);
    }
    /* a sill in front that keeps things in */
    flr_kit_box(kit, flr_kit_at(0, -0.208, 0.022), 0.618, 10 * mm, 0.044, 2 * mm);
}

/* two rails with a lip in front and behind, in which the pump's foot stands */
static void rails(flr_kit *kit, double y)
{
    for (int side = -1; side <= 1; side += 2) {
        double x = side * 0.045;
        flr_kit_box(kit, flr_kit_at(x, y, 12 * mm), 24 * mm, 0.154, 24 * mm, 2 * mm);
        for (int end = -1; end <= 1; end += 2)
            flr_kit_box(kit, flr_kit_at(x, y + end * 0.0705, 28 * mm), 24 * mm, 13 * mm, 24 * mm,
                        2 * mm);
        flr_kit_bolt(kit, flr_kit_at(x + side * 20 * mm, y, 0), 8 * mm, 0);
    }
}

/* the gate: two risers in front with clamps on the sill, and a cross pipe over them */
static void pipes(flr_kit *kit)
{
    for (int side = -1; side <= 1; side += 2) {
        const flr_vec3 riser[3] = {{side * 0.088, -0.17, 0.002},
                                   {side * 0.088, -0.17, 0.285},
                                   {side * 0.322, -0.17, 0.285}};
        flr_kit_pipe(kit, riser, 3, 11 * mm, 0, 30 * mm);
        flr_kit_union(kit, flr_kit_at(side * 0.088, -0.17, 0.205), 11.5 * mm);
        flr_kit_flange(kit, flr_kit_at(side * 0.088, -0.17, 0), 24 * mm, 0, 6 * mm, 4, 5 * mm);
    }
    const flr_vec3 bundle[4] = {
        {-0.32, 0.186, 0.29}, {-0.1, 0.186, 0.275}, {0.12, 0.186, 0.285}, {0.32, 0.186, 0.27}};
    flr_kit_bundle(kit, bundle, 4, 3, 5 * mm, 8 * mm, 0.06);
}

static void bay(flr_kit *kit)
{
    walls(kit);
    rails(kit, 0.07);
    pipes(kit);
    /* neighbours: a bottle on the left, a box on the right */
    flr_kit_bottle(kit, flr_kit_turn_z(flr_kit_at(-0.235, 0.03, 0), 0.25), 48 * mm, 0.24);
    flr_kit_equipment(kit, flr_kit_at(0.235, 0.075, 0), 0.13, 0.17, 0.15);
}

/* ---- the pump, around the middle of its shaft ---- */

static void pump(flr_kit *kit)
{
    flr_pose along = flr_kit_frame(v3(-0.1, 0, 0), axis_x, axis_z);
    /* housing, neck and motor, turned about the shaft */
    const flr_kit_corner c[] = {{0, 0, 0},
                                {0.016, 0, 2 * mm},
                                {0.016, 0.012, 0},
                                {0.04, 0.014, 3 * mm},
                                {0.04, 0.066, 3 * mm},
                                {0.03, 0.074, 2 * mm},
                                {0.03, 0.084, 0},
                                {0.037, 0.086, 1 * mm},
                                {0.037, 0.19, 5 * mm},
                                {0.026, 0.2, 2 * mm},
                                {0, 0.2, 0}};
    flr_kit_lathe(kit, along, c, 11, 32);
    flr_kit_flange(kit, flr_kit_shift(along, 0, 0, 0.068), 43 * mm, 0, 7 * mm, 6, 5 * mm);
    /* cooling fins around the motor */
    for (int k = 0; k < 12; k++) {
        double turn = (k + 0.5) / 12;
        flr_pose out = flr_kit_turn_x(flr_kit_at(0.045, 0, 0), turn);
        flr_kit_box(kit, flr_kit_shift(out, 0, 0, 38 * mm), 70 * mm, 2.5 * mm, 8 * mm, 0);
    }
    /* ports, terminal box with its connector, foot */
    flr_kit_tube(kit, flr_kit_at(-0.06, 0, 30 * mm), 13 * mm, 8 * mm, 34 * mm);
    flr_kit_flange(kit, flr_kit_at(-0.06, 0, 60 * mm), 20 * mm, 8 * mm, 5 * mm, 4, 4 * mm);
    flr_kit_box(kit, flr_kit_at(0.04, 0, 52 * mm), 52 * mm, 40 * mm, 26 * mm, 2 * mm);
    flr_kit_connector(kit, flr_kit_frame(v3(0.066, 0, 52 * mm), axis_x, axis_z), 7 * mm);
    for (int k = -1; k <= 1; k += 2)
        flr_kit_box(kit, flr_kit_at(k * 0.05, 0, -42 * mm), 12 * mm, 60 * mm, 28 * mm, 2 * mm);
    flr_kit_plate(kit, flr_kit_at(0, 0, -60 * mm), 0.15, 0.112, 8 * mm, 8 * mm, 2, 2, 5 * mm);
}

/* ---- the way out ---- */

/* seconds from the station before; the pump's middle; yaw in turns */
typedef struct bay_station {
    double seconds, x, y, z, yaw;
} bay_station;

static const bay_station removal[] = {
    {0, 0, 0.07, 0.090, 0},         /* on its rails */
    {1.0, 0, 0.07, 0.130, 0},       /* over the lips */
    {1.0, 0, 0.02, 0.136, 0},       /* forward, to where there is room to turn */
    {2.0, 0, 0.02, 0.136, 0.25},    /* across */
    {2.5, 0, -0.38, 0.136, 0.25},   /* through the gate */
    {1.0, 0.05, -0.45, 0.10, 0.25}, /* free */
};
enum { HZ = 50, PATH_CAPACITY = 512 };

static flr_result add_removal(flr_model *model, flr_error *error)
{
    flr_timed_pose poses[PATH_CAPACITY];
    size_t count = 0;
    double start = 0;
    for (size_t i = 0; i < sizeof removal / sizeof *removal; i++) {
        const bay_station *b = &removal[i], *a = i ? b - 1 : b;
        int steps = i ? (int)(b->seconds * HZ + 0.5) : 1;
        for (int k = 1; k <= steps; k++) {
            /* at rest at both ends */
            double t = (double)k / steps, s = t * t * (3 - 2 * t);
            flr_pose pose = flr_kit_at(a->x + (b->x - a->x) * s, a->y + (b->y - a->y) * s,
                                       a->z + (b->z - a->z) * s);
            poses[count++] = (flr_timed_pose){i ? start + (double)k / HZ : 0,
                                              flr_kit_turn_z(pose, a->yaw + (b->yaw - a->yaw) * s)};
        }
        if (i) start += (double)steps / HZ;
    }
    return flr_model_add_path(model, "bay_removal.txt", "removal", "pump", poses, count, error);
}

static flr_result build(const flr_scenario_options *options, flr_model *model, flr_error *error)
{
    flr_kit kit = flr_kit_begin(options->seed);
    kit.chord = 0.8 * mm;
    bay(&kit);
    flr_scene_part part = flr_default_scene_part();
    part.name = "bay", part.file = "bay.stl", part.colour = 0x9aa7b4;
    flr_result result = flr_model_add_kit(model, &kit, &part, error);
    if (result != FLR_OK) return result;

    kit = flr_kit_begin(options->seed);
    kit.chord = 0.6 * mm;
    pump(&kit);
    part = flr_default_scene_part();
    part.name = "pump", part.file = "pump.stl", part.colour = 0x2e86c1;
    part.moving = true;
    part.T_world_part = flr_kit_at(removal[0].x, removal[0].y, removal[0].z);
    result = flr_model_add_kit(model, &kit, &part, error);
    if (result == FLR_OK) result = add_removal(model, error);

    model->scene.voxel = 1.5 * mm;
    model->scene.camera = (flr_scene_camera){
        .given = true, .eye = {0.42, -0.86, 0.62}, .target = {0.0, 0.0, 0.13}, .up = {0, 0, 1}};
    return result;
}

const flr_scenario flr_scenario_bay = {
    "bay", "a pump to be taken out of an equipment bay: the demonstration", 0, build};
