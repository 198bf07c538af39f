/* 13 peg in hole: a hand that aims badly lets a peg find its hole.
 *
 * A square peg of 10 mm and a square hole of 13.4 mm in a block. The hand comes 1 mm off the middle
 * and tilted by 2 degrees; the peg touches the rim, turns upright, slides in and stops at the
 * bottom. All of that is contact: nobody tells the peg where the hole is. Surfaces stay apart by a
 * little over two voxels, 0.9 mm here, which is why the hole must be so wide.
 *
 *     build/examples/13_peg_in_hole
 *     build/examples/13_peg_in_hole 5         (tilted by 5 degrees)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "feeler/feeler.h"

static const double voxel = 0.0004;                            /* m */
static const double wall = 0.0067, outer = 0.015, deep = 0.02; /* m: half widths, depth */
static const double peg = 0.005, high = 0.03;                  /* m: half width, height */

/* boxes from corner to corner as one mesh; the block is five of them, which may overlap */
static flr_result make_boxes(const flr_vec3 (*boxes)[2], uint32_t count, flr_mesh **mesh,
                             flr_error *error)
{
    static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                          {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                          {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    flr_vec3 vertices[8 * 5];
    flr_triangle triangles[12 * 5];
    for (uint32_t b = 0; b < count; b++) {
        const flr_vec3 low = boxes[b][0], top = boxes[b][1];
        for (uint32_t i = 0; i < 8; i++)
            vertices[8 * b + i] =
                flr_vec3_make(i & 1 ? top.x : low.x, i & 2 ? top.y : low.y, i & 4 ? top.z : low.z);
        for (uint32_t i = 0; i < 12; i++)
            for (int k = 0; k < 3; k++) triangles[12 * b + i].v[k] = 8 * b + faces[i][k];
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = 8 * count;
    def.triangles = triangles, def.triangle_count = 12 * count;
    def.weld = 0; /* the boxes stay by themselves */
    return flr_mesh_create(&def, mesh, error);
}

static flr_result make_block(flr_mesh **mesh, flr_error *error)
{
    const double w = wall, o = outer, d = deep;
    const flr_vec3 boxes[5][2] = {{{-o, -o, -d - 0.004}, {o, o, -d}}, /* bottom, then four walls */
                                  {{-o, -o, -d}, {-w, o, 0}},
                                  {{w, -o, -d}, {o, o, 0}},
                                  {{-w, -o, -d}, {w, -w, 0}},
                                  {{-w, w, -d}, {w, o, 0}}};
    return make_boxes(boxes, 5, mesh, error);
}

int main(int argc, char **argv)
{
    double tilt = (argc > 1 ? strtod(argv[1], NULL) : 2) * FLR_DEGREE;
    flr_error error;
    flr_mesh *block = NULL, *stick = NULL;
    flr_part *fixed = NULL, *held = NULL;
    flr_world *world = NULL;
    flr_part_def aluminium = flr_default_part_def();
    aluminium.voxelize.voxel = voxel;
    aluminium.density = 2700; /* kg/m^3 */
    flr_env *env = flr_env_real();
    const flr_vec3 one[1][2] = {{{-peg, -peg, -high / 2}, {peg, peg, high / 2}}};
    flr_result result = make_block(&block, &error);
    if (result == FLR_OK) result = make_boxes(one, 1, &stick, &error);
    if (result == FLR_OK) result = flr_part_create(env, block, &aluminium, &fixed, &error);
    if (result == FLR_OK) result = flr_part_create(env, stick, &aluminium, &held, &error);

    /* the block is static, the hand grabs the peg by its middle */
    flr_pose hand = flr_pose_make(flr_vec3_make(0.001, 0, 0.02),
                                  flr_quat_from_axis_angle(flr_vec3_make(0, 1, 0), tilt));
    if (result == FLR_OK) {
        const flr_world_part parts[2] = {
            flr_part_in_world(fixed, FLR_PART_STATIC, flr_pose_identity()),
            flr_part_in_world(held, FLR_PART_MOVABLE, hand)};
        flr_world_def def = flr_default_world_def();
        def.parts = parts, def.part_count = 2;
        result = flr_world_create(&def, &world, &error);
    }
    if (result == FLR_OK) flr_world_grab(world, 0, 1);

    /* down at 10 mm/s, a millimetre farther than the bottom */
    double strongest = 0, lowest = 0;
    for (int i = 0; result == FLR_OK && i < 4000; i++) {
        hand.p.z = fmax(0.02 - 1e-5 * i, high / 2 - deep - 0.001);
        flr_world_input input = {.T_world_hand = hand, .fresh = true};
        flr_world_frame frame;
        flr_world_step(world, &input, &frame);
        double force = flr_vec3_length(flr_world_wrench(world, 0).force);
        const flr_body *body = flr_world_body(world, 1);
        flr_vec3 up = flr_quat_rotate(body->T_world_part.q, flr_vec3_make(0, 0, 1));
        lowest = body->T_world_part.p.z - high / 2;
        strongest = fmax(strongest, force);
        if (i % 400 == 0)
            printf("%4d ms: tip at %6.2f mm, %4.2f degrees from upright, %3u contacts, %.2f N\n", i,
                   1e3 * lowest, acos(fmin(1, up.z)) / FLR_DEGREE, frame.contacts, force);
    }
    if (result == FLR_OK)
        printf("the peg is %s: %.2f mm above the bottom; at most %.2f N on the way\n",
               lowest < 0.002 - deep ? "in" : "not in", 1e3 * (lowest + deep), strongest);
    else
        fprintf(stderr, "%s\n", error.message);
    flr_world_destroy(world);
    flr_part_destroy(held);
    flr_part_destroy(fixed);
    flr_mesh_destroy(stick);
    flr_mesh_destroy(block);
    return result == FLR_OK ? 0 : 1;
}
