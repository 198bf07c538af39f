/* 12 touch a sphere: a hand holds a small block and strokes a ball with it.
 *
 * The ball is static, the block moves in the hand. Every millisecond the world gets the pose of the
 * hand, moves the block as far as the ball allows, and computes the force on the hand. Here a
 * formula moves the hand; with a device, the loop reads its pose (08_embed_the_loop.c).
 *
 *     build/examples/12_touch_a_sphere
 */
#include <math.h>
#include <stdio.h>

#include "feeler/feeler.h"

enum { AROUND = 48, ALONG = 24, FRAMES = 3000 };

static const double voxel = 0.001; /* m */

/* a ball of 25 mm radius: corners in threes, which are welded when the mesh is made */
static flr_vec3 on_ball(uint32_t i, uint32_t j)
{
    double a = FLR_TWO_PI * (i % AROUND) / AROUND, b = FLR_PI * j / ALONG;
    return flr_vec3_make(0.025 * sin(b) * cos(a), 0.025 * sin(b) * sin(a), 0.025 * cos(b));
}

static flr_result make_ball(flr_mesh **mesh, flr_error *error)
{
    static flr_vec3 corners[6 * AROUND * ALONG];
    uint32_t count = 0;
    for (uint32_t i = 0; i < AROUND; i++)
        for (uint32_t j = 0; j < ALONG; j++) {
            const flr_vec3 a = on_ball(i, j), b = on_ball(i, j + 1), c = on_ball(i + 1, j + 1),
                           d = on_ball(i + 1, j);
            const flr_vec3 both[6] = {a, b, c, a, c, d};
            for (int k = 0; k < 6; k++) corners[count++] = both[k];
        }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners, def.vertex_count = count;
    def.weld = 1e-9;
    return flr_mesh_create(&def, mesh, error);
}

/* a block of 10 x 10 x 6 mm */
static flr_result make_block(flr_mesh **mesh, flr_error *error)
{
    flr_vec3 corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] =
            flr_vec3_make(i & 1 ? 0.005 : -0.005, i & 2 ? 0.005 : -0.005, i & 4 ? 0.003 : -0.003);
    const flr_triangle triangles[12] = {{{0, 2, 1}}, {{1, 2, 3}}, {{4, 5, 6}}, {{5, 7, 6}},
                                        {{0, 1, 4}}, {{1, 5, 4}}, {{2, 6, 3}}, {{3, 6, 7}},
                                        {{0, 4, 2}}, {{2, 4, 6}}, {{1, 3, 5}}, {{3, 7, 5}}};
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners, def.vertex_count = 8;
    def.triangles = triangles, def.triangle_count = 12;
    return flr_mesh_create(&def, mesh, error);
}

/* where the hand wants the block: down until it touches, then over the ball in a wide circle */
static flr_pose hand_at(double t)
{
    double down = 0.036 - 0.008 * fmin(1, t), out = 0.010 * fmin(1, fmax(0, t - 1));
    return flr_pose_make(flr_vec3_make(out * cos(3 * t), out * sin(3 * t), down),
                         flr_quat_identity());
}

int main(void)
{
    flr_error error;
    flr_mesh *ball = NULL, *block = NULL;
    flr_part *fixed = NULL, *held = NULL;
    flr_world *world = NULL;
    flr_env *env = flr_env_real();

    /* from meshes to parts that can be touched */
    flr_part_def steel = flr_default_part_def();
    steel.voxelize.voxel = voxel;
    steel.density = 7850; /* kg/m^3: the block has 5 g */
    flr_result result = make_ball(&ball, &error);
    if (result == FLR_OK) result = make_block(&block, &error);
    if (result == FLR_OK) result = flr_part_create(env, ball, &steel, &fixed, &error);
    if (result == FLR_OK) result = flr_part_create(env, block, &steel, &held, &error);

    /* two parts: a static one, and one that a hand may grab */
    if (result == FLR_OK) {
        const flr_world_part parts[2] = {
            flr_part_in_world(fixed, FLR_PART_STATIC, flr_pose_identity()),
            flr_part_in_world(held, FLR_PART_MOVABLE, hand_at(0))};
        flr_world_def def = flr_default_world_def();
        def.parts = parts, def.part_count = 2;
        result = flr_world_create(&def, &world, &error);
    }

    /* three seconds, a millisecond each */
    if (result == FLR_OK) flr_world_grab(world, 0, 1);
    for (int i = 0; result == FLR_OK && i < FRAMES; i++) {
        flr_world_input hand = {.T_world_hand = hand_at(1e-3 * i), .fresh = true};
        flr_world_frame frame;
        flr_world_step(world, &hand, &frame);
        flr_wrench feel = flr_world_wrench(world, 0);
        if (i % 250 == 0)
            printf("%4d ms: block at %5.1f %5.1f %5.1f mm, %3u contacts, the hand feels %.2f N\n",
                   i, 1e3 * flr_world_body(world, 1)->T_world_part.p.x,
                   1e3 * flr_world_body(world, 1)->T_world_part.p.y,
                   1e3 * flr_world_body(world, 1)->T_world_part.p.z, frame.contacts,
                   flr_vec3_length(feel.force));
    }
    if (result != FLR_OK) fprintf(stderr, "%s\n", error.message);
    flr_world_destroy(world);
    flr_part_destroy(held);
    flr_part_destroy(fixed);
    flr_mesh_destroy(block);
    flr_mesh_destroy(ball);
    return result == FLR_OK ? 0 : 1;
}
