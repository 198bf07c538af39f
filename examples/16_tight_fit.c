/* 16 tight fit: a peg with 0.05 mm of play is drawn out of its hole.
 *
 * The square peg of 10 mm stands in a square hole of 10.1 mm. No voxel is that small: the exact
 * engine measures the triangles themselves. The hand aims 0.3 mm to the side, so the peg slides along
 * a wall all the way. The world tells the clearance of every step, with its error and its place.
 *
 *     build/examples/16_tight_fit
 *     build/examples/16_tight_fit 0.02        (0.02 mm of play)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "feeler/feeler.h"

static const double peg = 0.005, outer = 0.012, deep = 0.015,
                    high = 0.025; /* m: half widths, heights */

/* boxes from corner to corner as one mesh; the block is five of them */
static flr_result make_boxes(const flr_vec3 (*boxes)[2], uint32_t count, flr_mesh **mesh,
                             flr_error *error)
{
    static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                          {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                          {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    flr_vec3 vertices[8 * 5];
    flr_triangle triangles[12 * 5];
    for (uint32_t b = 0; b < count; b++)
        for (uint32_t i = 0; i < 12; i++) {
            const flr_vec3 low = boxes[b][0], top = boxes[b][1];
            if (i < 8)
                vertices[8 * b + i] = flr_vec3_make(i & 1 ? top.x : low.x, i & 2 ? top.y : low.y,
                                                    i & 4 ? top.z : low.z);
            for (int k = 0; k < 3; k++) triangles[12 * b + i].v[k] = 8 * b + faces[i][k];
        }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = 8 * count;
    def.triangles = triangles, def.triangle_count = 12 * count;
    def.weld = 0; /* the boxes stay by themselves */
    return flr_mesh_create(&def, mesh, error);
}

static flr_result make_meshes(double play, flr_mesh *meshes[2], flr_error *error)
{
    const double w = peg + play, o = outer, d = deep;
    const flr_vec3 block[5][2] = {{{-o, -o, -d - 0.004}, {o, o, -d}}, /* bottom, then four walls */
                                  {{-o, -o, -d}, {-w, o, 0}},
                                  {{w, -o, -d}, {o, o, 0}},
                                  {{-w, -o, -d}, {w, -w, 0}},
                                  {{-w, w, -d}, {w, o, 0}}};
    const flr_vec3 stick[1][2] = {{{-peg, -peg, play - d}, {peg, peg, play - d + high}}};
    flr_result result = make_boxes(block, 5, &meshes[0], error);
    return result == FLR_OK ? make_boxes(stick, 1, &meshes[1], error) : result;
}

/* The nearest pair of the last step; false: nothing is within a millimetre. */
static bool find_gap(const flr_world *world, flr_world_gap *nearest)
{
    uint32_t count;
    const flr_world_gap *gaps = flr_world_gaps(world, &count);
    nearest->distance = INFINITY;
    for (uint32_t i = 0; i < count; i++)
        if (gaps[i].distance < nearest->distance) *nearest = gaps[i];
    return isfinite(nearest->distance);
}

static void draw_out(flr_world *world, double play)
{
    double least = INFINITY;
    for (int i = 0; i < 2400; i++) {
        /* up at 10 mm/s, 0.3 mm to the side */
        flr_pose hand = flr_pose_identity();
        hand.p = flr_vec3_make(3e-4 * fmin(1, i / 200.0), 0, 1e-5 * i);
        flr_world_input input = {.T_world_hand = hand, .fresh = true};
        flr_world_frame frame;
        flr_world_gap gap = {0};
        flr_world_step(world, &input, &frame);
        bool near = find_gap(world, &gap);
        if (near) least = fmin(least, gap.lower);
        if (i % 300) continue;
        printf("%4d ms: up %5.2f mm, %.2f N, ", i, 1e3 * flr_world_body(world, 1)->T_world_part.p.z,
               flr_vec3_length(flr_world_wrench(world, 0).force));
        if (near)
            printf("%.4f mm apart at z = %.1f mm\n", 1e3 * gap.distance, 1e3 * gap.point_b.z);
        else
            printf("nothing near\n");
    }
    printf("the peg is out; it never came nearer than %.4f mm, and had %.3f mm of play\n",
           1e3 * least, 1e3 * play);
}

int main(int argc, char **argv)
{
    const double play = 1e-3 * (argc > 1 ? strtod(argv[1], NULL) : 0.05);
    flr_error error;
    flr_mesh *meshes[2] = {NULL, NULL};
    flr_fit *fits[2] = {NULL, NULL};
    flr_world *world = NULL;
    flr_world_def def = flr_default_world_def();
    def.params.engine = FLR_ENGINE_EXACT;
    flr_world_part parts[2] = {flr_default_world_part(), flr_default_world_part()};
    flr_result result = make_meshes(play, meshes, &error);
    for (int i = 0; result == FLR_OK && i < 2; i++) {
        result = flr_fit_build(meshes[i], NULL, &fits[i], &error);
        if (result == FLR_OK)
            result = flr_body_def_from_mesh(meshes[i], 2700, &parts[i].body, &error);
        parts[i].fit = fits[i];
        parts[i].body.mass = flr_world_felt_mass(&def.params); /* so that it follows a hand */
    }
    parts[1].kind = FLR_PART_MOVABLE;
    def.parts = parts, def.part_count = 2;
    if (result == FLR_OK) result = flr_world_create(&def, &world, &error);
    if (result == FLR_OK) {
        flr_world_grab(world, 0, 1);
        draw_out(world, play);
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    flr_world_destroy(world);
    for (int i = 0; i < 2; i++) flr_fit_destroy(fits[i]), flr_mesh_destroy(meshes[i]);
    return result == FLR_OK ? 0 : 1;
}
