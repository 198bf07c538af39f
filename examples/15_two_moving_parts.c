/* 15 two moving parts: a bar in the hand knocks a block off a table.
 *
 * Both parts move, so both are sphere trees: voxels against voxels, at any rotation. What they do to
 * each other are impulses; the hand feels them through its spring. The block rests on the table until
 * the bar comes, is pushed, tips over the edge and falls.
 *
 *     build/examples/15_two_moving_parts
 *     build/examples/15_two_moving_parts 0.8        (how far things bounce, 0 to 1)
 */
#include <stdio.h>
#include <stdlib.h>

#include "feeler/feeler.h"

enum { TABLE, BAR, BLOCK, PARTS };
static const double voxel = 0.001; /* m */

/* all that the world wants to know of a part */
typedef struct thing {
    flr_mesh *mesh;
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_contact_table *table;
    flr_sphere_tree *tree;
} thing;

static flr_result make_box(flr_vec3 size, flr_mesh **mesh, flr_error *error)
{
    static const flr_triangle faces[12] = {{{0, 2, 1}}, {{1, 2, 3}}, {{4, 5, 6}}, {{5, 7, 6}},
                                           {{0, 1, 4}}, {{1, 5, 4}}, {{2, 6, 3}}, {{3, 6, 7}},
                                           {{0, 4, 2}}, {{2, 4, 6}}, {{1, 3, 5}}, {{3, 7, 5}}};
    flr_vec3 corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] = flr_vec3_make(size.x * (i & 1 ? 0.5 : -0.5), size.y * (i & 2 ? 0.5 : -0.5),
                                   size.z * (i & 4 ? 0.5 : -0.5));
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners, def.vertex_count = 8;
    def.triangles = faces, def.triangle_count = 12;
    return flr_mesh_create(&def, mesh, error);
}

/* Voxels and points tell who is near whom, the tree who touches whom. */
static flr_result make_thing(flr_vec3 size, thing *t, flr_error *error)
{
    flr_voxelize_def voxels = flr_default_voxelize_def();
    voxels.voxel = voxel;
    flr_result result = make_box(size, &t->mesh, error);
    if (result == FLR_OK)
        result = flr_voxelize(flr_env_real(), t->mesh, &voxels, &t->voxmap, &t->shell, NULL, error);
    if (result == FLR_OK) result = flr_contact_table_create(t->voxmap, &t->table, error);
    flr_sphere_tree_def tree = flr_default_sphere_tree_def();
    tree.voxmap = t->voxmap, tree.shell = t->shell;
    return result == FLR_OK ? flr_sphere_tree_create(&tree, &t->tree, error) : result;
}

static void free_thing(thing *t)
{
    flr_sphere_tree_destroy(t->tree);
    flr_contact_table_destroy(t->table);
    flr_shell_destroy(t->shell);
    flr_voxmap_destroy(t->voxmap);
    flr_mesh_destroy(t->mesh);
}

static flr_result make_world(const thing *things, double bounce, flr_world **world,
                             flr_error *error)
{
    static const flr_vec3 places[PARTS] = {{0, 0, -0.0055}, {-0.06, 0, 0.02}, {0, 0, 0.0165}};
    flr_world_part parts[PARTS];
    for (int i = 0; i < PARTS; i++) {
        parts[i] = flr_default_world_part();
        parts[i].shape = flr_pairs_shape_make(things[i].shell, things[i].table);
        parts[i].tree = things[i].tree;
        parts[i].kind = i == TABLE ? FLR_PART_STATIC : FLR_PART_FREE;
        flr_result result = flr_body_def_from_mesh(things[i].mesh, 2700, &parts[i].body, error);
        if (result != FLR_OK) return result;
        parts[i].body.mass = i == TABLE ? 0 : 0.03; /* kg: light enough for the hand's spring */
        parts[i].body.T_world_part.p = places[i];
    }
    flr_world_def def = flr_default_world_def();
    def.parts = parts, def.part_count = PARTS;
    def.params.engine = FLR_ENGINE_SPHERES;
    def.params.step.gravity = flr_vec3_make(0, 0, -9.81);
    def.params.friction = 0.3;
    def.params.restitution = bounce;
    return flr_world_create(&def, world, error);
}

int main(int argc, char **argv)
{
    double bounce = argc > 1 ? strtod(argv[1], NULL) : 0.2;
    const flr_vec3 sizes[PARTS] = {{0.08, 0.06, 0.01}, {0.05, 0.01, 0.01}, {0.02, 0.02, 0.03}};
    thing things[PARTS] = {{0}};
    flr_world *world = NULL;
    flr_error error;
    flr_result result = FLR_OK;
    for (int i = 0; i < PARTS && result == FLR_OK; i++)
        result = make_thing(sizes[i], &things[i], &error);
    if (result == FLR_OK) result = make_world(things, bounce, &world, &error);
    if (result == FLR_OK) flr_world_grab(world, 0, BAR);

    /* half a second in which the block comes to rest, then along the table at 50 mm/s */
    for (int i = 0; result == FLR_OK && i < 2600; i++) {
        flr_world_input input = {.T_world_hand = flr_pose_identity(), .fresh = true};
        if (i > 500) input.T_world_hand.p.x = 5e-5 * (i - 500);
        flr_world_frame frame;
        flr_world_step(world, &input, &frame);
        if (i % 200) continue;
        const flr_body *block = flr_world_body(world, BLOCK);
        printf("%4d ms: block at %6.1f %6.1f mm, %5.3f m/s; %4u pairs of voxels touch; %.2f N\n", i,
               1e3 * block->T_world_part.p.x, 1e3 * block->T_world_part.p.z,
               flr_vec3_length(block->twist.linear), frame.contacts,
               flr_vec3_length(flr_world_wrench(world, 0).force));
    }
    if (result == FLR_OK)
        printf("the block is %s\n", flr_world_body(world, BLOCK)->T_world_part.p.z < -0.05
                                        ? "off the table"
                                        : "still on the table");
    else
        fprintf(stderr, "%s\n", error.message);
    flr_world_destroy(world);
    for (int i = 0; i < PARTS; i++) free_thing(&things[i]);
    return result == FLR_OK ? 0 : 1;
}
