/* ball.c: a ball in a cradle-like socket (2005, §7 and figure 9a).
 *
 * The worst case of contact: a large area touches at all times. Counts as in Table 1: 2,048 and
 * 2,176 triangles; the radius of 12.5 mm is the one that its point counts fit. The scene stands
 * at 0.35 mm; scene_fine.json is the same at 0.15 mm.
 */
#include "models/kit.h"
#include "models/scenarios.h"

static const double ball_radius = 12.5e-3;
/* Between the ball's surface and the nearest point of the cradle's. Points of the ball are
 * displaced inwards, so that it seats although this is less than a voxel. */
static const double clearance = 0.05e-3;

/* voxels that the ball's points are moved inwards by */
static const double inwards = 0.5;

/* an octahedron whose faces are cut into 16 * 16 triangles, blown up to a sphere */
static void octasphere(flr_kit *kit, double radius)
{
    enum { N = 16 };
    for (int octant = 0; octant < 8; octant++) {
        double sx = octant & 1 ? -1 : 1, sy = octant & 2 ? -1 : 1, sz = octant & 4 ? -1 : 1;
        bool mirrored = sx * sy * sz < 0;
        uint32_t row[N + 1], next[N + 1];
        for (int i = 0; i <= N; i++) {
            /* equal angles along the three borders make triangles of nearly equal size */
            for (int j = 0; j <= N - i; j++) {
                double x = flr_kit_sin(0.25 * i / N), y = flr_kit_sin(0.25 * j / N);
                double z = flr_kit_sin(0.25 * (N - i - j) / N);
                flr_vec3 p = v3_mul(v3_unit(v3(sx * x, sy * y, sz * z)), radius);
                next[j] = flr_kit_vertex(kit, p);
            }
            for (int j = 0; i > 0 && j <= N - i; j++) {
                uint32_t a = row[j], b = next[j], c = row[j + 1];
                flr_kit_triangle(kit, a, mirrored ? c : b, mirrored ? b : c);
                if (j == N - i) break;
                uint32_t d = next[j + 1];
                flr_kit_triangle(kit, c, mirrored ? d : b, mirrored ? b : d);
            }
            for (int j = 0; j <= N - i; j++) row[j] = next[j];
        }
    }
}

/* a bowl on a foot, turned about z: 64 sides and 18 edges make 2,176 triangles */
static void socket(flr_kit *kit)
{
    enum { BALL_SIDES = 64, BANDS = 11 };
    /* the bowl's corners lie outside by as much as its facets cut inwards: half a side around,
     * half a band down */
    const double opening = 80.0 / 360; /* turns from straight down to the rim */
    const double band = opening / BANDS;
    double radius =
        (ball_radius + clearance) / (flr_kit_cos(0.5 / BALL_SIDES) * flr_kit_cos(band / 2));

    flr_kit_outline o = {0};
    for (int i = 0; i <= BANDS; i++) {
        double a = band * i;
        flr_outline_point(&o, radius * flr_kit_sin(a), -radius * flr_kit_cos(a));
    }
    const double mm = 1e-3;
    flr_outline_point(&o, 14.2 * mm, -1.0 * mm); /* lead-in, then the lip */
    flr_outline_point(&o, 16.5 * mm, -1.0 * mm);
    flr_outline_point(&o, 17.2 * mm, -1.7 * mm);
    flr_outline_point(&o, 17.2 * mm, -11.0 * mm); /* the wall, the foot */
    flr_outline_point(&o, 20.5 * mm, -14.5 * mm);
    flr_outline_point(&o, 20.5 * mm, -18.0 * mm);
    flr_outline_point(&o, 0, -18.0 * mm);
    flr_outline_close(&o);
    flr_kit_revolve(kit, flr_kit_at(0, 0, 0), &o, BALL_SIDES);
}

/* the ball comes down into the cradle, then turns once about a tilted axis */
static flr_result add_paths(flr_model *model, flr_error *error)
{
    enum { SEAT = 101, BALL_TURN = 129 };
    flr_timed_pose poses[BALL_TURN];
    for (int i = 0; i < SEAT; i++) {
        double s = (double)i / (SEAT - 1), height = 30e-3 * (1 - s) * (1 - s);
        poses[i] = (flr_timed_pose){0.01 * i, {{0, 0, height}, {1, 0, 0, 0}}};
    }
    flr_result result = flr_model_add_path(model, "seat.txt", "seat", "ball", poses, SEAT, error);
    if (result != FLR_OK) return result;
    for (int i = 0; i < BALL_TURN; i++) {
        double half = 0.5 * i / (BALL_TURN - 1), s = flr_kit_sin(half);
        flr_quat q = {flr_kit_cos(half), 0.6 * s, 0, 0.8 * s};
        poses[i] = (flr_timed_pose){0.01 * i, {{0, 0, 0}, q}};
    }
    return flr_model_add_path(model, "turn.txt", "turn", "ball", poses, BALL_TURN, error);
}

/* the same scene with smaller voxels, as a second file */
static flr_result add_fine_scene(flr_model *model, flr_error *error)
{
    flr_scene scene = model->scene;
    scene.name = "ball, fine";
    scene.voxel = 0.15e-3;
    scene.contact.displace = -inwards * scene.voxel;
    scene.parts = model->parts;
    scene.part_count = model->part_count;
    const flr_scene_path paths[] = {{.name = "seat", .part = "ball", .poses = "seat.txt"},
                                    {.name = "turn", .part = "ball", .poses = "turn.txt"}};
    scene.paths = paths;
    scene.path_count = 2;
    flr_blob text;
    flr_result result = flr_scene_print(&scene, &text, error);
    if (result != FLR_OK) return result;
    result =
        flr_model_add_text(model, "scene_fine.json", (const char *)text.bytes, text.size, error);
    flr_blob_free(&text);
    return result;
}

static flr_result build(const flr_scenario_options *options, flr_model *model, flr_error *error)
{
    flr_kit kit = flr_kit_begin(options->seed);
    socket(&kit);
    flr_scene_part part = flr_default_scene_part();
    part.name = "socket", part.file = "socket.stl", part.colour = 0x8a97a8;
    flr_result result = flr_model_add_kit(model, &kit, &part, error);
    if (result != FLR_OK) return result;

    kit = flr_kit_begin(options->seed);
    octasphere(&kit, ball_radius);
    part = flr_default_scene_part();
    part.name = "ball", part.file = "ball.stl", part.colour = 0xd9772b, part.moving = true;
    result = flr_model_add_kit(model, &kit, &part, error);
    if (result != FLR_OK) return result;

    model->scene.voxel = 0.35e-3;
    /* as in the paper (2005, section 7) contact is at the surface, and points are moved inwards by half a voxel */
    model->scene.contact.force_layer = 0;
    model->scene.contact.displace = -inwards * model->scene.voxel;
    model->scene.camera = (flr_scene_camera){
        .given = true, .eye = {60e-3, -70e-3, 50e-3}, .target = {0, 0, -3e-3}, .up = {0, 0, 1}};
    result = add_paths(model, error);
    return result == FLR_OK ? add_fine_scene(model, error) : result;
}

const flr_scenario flr_scenario_ball = {
    "ball", "a ball in its socket: a large area in contact at all times", 0, build};
