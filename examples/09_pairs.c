/* 09 pairs: many parts that touch each other
 *
 * A dozen bricks of one shape fall onto a floor and become a stack. All of them share one shell and
 * one voxmap; the broad phase finds who may touch whom; every pair pushes both of its parts.
 *
 *     build/examples/09_pairs
 *     build/examples/09_pairs 20          (twenty bricks, 24 at most)
 */
#include <stdio.h>
#include <stdlib.h>

#include "feeler/distance.h"
#include "feeler/pairs.h"
#include "feeler/voxels.h"

enum { MAX_PARTS = 24 };
static const double step = 0.001, mass = 0.02; /* s, kg */

/* a shape that touches: voxmap, shell, and the table of the voxmap */
typedef struct solid {
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_contact_table *table;
} solid;

/* a box about its middle, metres */
static flr_result make_box(double x, double y, double z, solid *made, flr_error *error)
{
    flr_vec3 corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] =
            flr_vec3_make(i & 1 ? x / 2 : -x / 2, i & 2 ? y / 2 : -y / 2, i & 4 ? z / 2 : -z / 2);
    const flr_triangle triangles[12] = {{{0, 2, 1}}, {{1, 2, 3}}, {{4, 5, 6}}, {{5, 7, 6}},
                                        {{0, 1, 4}}, {{1, 5, 4}}, {{2, 6, 3}}, {{3, 6, 7}},
                                        {{0, 4, 2}}, {{2, 4, 6}}, {{1, 3, 5}}, {{3, 7, 5}}};
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners, def.vertex_count = 8;
    def.triangles = triangles, def.triangle_count = 12;
    flr_mesh *mesh;
    flr_result result = flr_mesh_create(&def, &mesh, error);
    if (result != FLR_OK) return result;
    flr_voxelize_def voxels = flr_default_voxelize_def();
    voxels.voxel = 0.001;
    result = flr_voxelize(flr_env_real(), mesh, &voxels, &made->voxmap, &made->shell, NULL, error);
    flr_mesh_destroy(mesh);
    if (result != FLR_OK) return result;
    return flr_contact_table_create(made->voxmap, &made->table, error);
}

static void free_solid(solid *s)
{
    flr_contact_table_destroy(s->table);
    flr_voxmap_destroy(s->voxmap);
    flr_shell_destroy(s->shell);
}

/* one part in its place; the same shape may stand in many places */
static flr_pose place(flr_pairs *pairs, uint32_t index, const solid *s, double z, bool moving)
{
    flr_pairs_part part = flr_default_pairs_part();
    part.shape = flr_pairs_shape_make(s->shell, s->table);
    part.T_world_part.p.z = z;
    part.moving = moving;
    flr_pairs_set(pairs, index, &part);
    return part.T_world_part;
}

int main(int argc, char **argv)
{
    uint32_t bricks = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 12;
    if (bricks < 1 || bricks > MAX_PARTS) bricks = 12;
    flr_error error;
    solid brick = {0}, floor = {0};
    flr_pairs *pairs = NULL;
    flr_pairs_def def = flr_default_pairs_def();
    def.parts = bricks + 1;
    flr_result result = make_box(0.040, 0.020, 0.010, &brick, &error);
    if (result == FLR_OK) result = make_box(0.100, 0.100, 0.010, &floor, &error);
    if (result == FLR_OK) result = flr_pairs_create(&def, &pairs, &error);

    if (result == FLR_OK) {
        static flr_pose T[MAX_PARTS + 1];
        static double speed[MAX_PARTS + 1];
        T[0] = place(pairs, 0, &floor, -0.005, false);
        for (uint32_t i = 1; i <= bricks; i++) T[i] = place(pairs, i, &brick, 0.025 * i, true);

        puts("   time   pairs  contacts  lowest  highest brick");
        for (int frame = 0; frame <= 1500; frame++) {
            /* who may touch whom, then the forces */
            flr_pairs_report report;
            flr_pairs_update(pairs, T, 0, &report);
            flr_pairs_query(pairs, NULL);
            uint32_t contacts = 0;
            for (uint32_t i = 1; i <= bricks; i++) {
                const flr_part_total *total = flr_pairs_total(pairs, i);
                /* up and down only; what touches is slowed down */
                speed[i] += step * (total->wrench.force.z / mass - 9.81);
                if (total->contacts) speed[i] *= 0.9;
                T[i].p.z += step * speed[i];
                contacts += total->contacts;
            }
            if (frame % 150 == 0)
                printf("%4d ms  %6u  %8u  %4.1f mm  %5.1f mm\n", frame, report.count, contacts,
                       1000 * T[1].p.z, 1000 * T[bricks].p.z);
        }
        /* what holds them up: contacts that push alike, as one */
        uint32_t listed;
        const flr_contact *contacts = flr_pairs_contacts(pairs, &listed);
        flr_contact_normal normals[8];
        uint32_t count = flr_query_normals(contacts, listed, 0.3, normals, 8);
        for (uint32_t i = 0; i < count; i++)
            printf(
                "%4u of the contacts listed push along %5.2f %5.2f %5.2f, %.3f mm deep at most\n",
                normals[i].contacts, normals[i].normal.x, normals[i].normal.y, normals[i].normal.z,
                1000 * normals[i].depth);
    }
    if (result != FLR_OK) fprintf(stderr, "%s\n", error.message);
    flr_pairs_destroy(pairs);
    free_solid(&brick);
    free_solid(&floor);
    return result == FLR_OK ? 0 : 1;
}
