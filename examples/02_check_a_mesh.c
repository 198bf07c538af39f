/* 02 check a mesh: what is wrong with it, and does it matter?
 *
 * feeler takes meshes as they come. Most faults do no harm to voxels; a hole wider than a voxel
 * does, because the inside then leaks out. So the answer depends on the voxel size.
 *
 *     build/examples/02_check_a_mesh                  (a box whose lid is not quite closed)
 *     build/examples/02_check_a_mesh part.stl 0.5     (voxels of 0.5 mm)
 */
#include <stdio.h>
#include <stdlib.h>

#include "feeler/mesh.h"
#include "feeler/mesh_check.h"

/* 40 x 30 x 20 mm; its lid ends 0.4 mm before the far side */
static flr_result make_box(flr_mesh **mesh, flr_error *error)
{
    static const flr_vec3 corners[] = {
        {0, 0, 0},   {40, 0, 0},   {40, 30, 0}, {0, 30, 0},     {0, 0, 20},
        {40, 0, 20}, {40, 30, 20}, {0, 30, 20}, {40, 29.6, 20}, {0, 29.6, 20},
    };
    static const flr_triangle triangles[] = {
        {{0, 2, 1}}, {{0, 3, 2}}, {{0, 1, 5}}, {{0, 5, 4}}, {{2, 3, 7}},
        {{2, 7, 6}}, {{1, 2, 6}}, {{1, 6, 8}}, {{1, 8, 5}}, {{3, 0, 4}},
        {{3, 4, 9}}, {{3, 9, 7}}, {{4, 5, 8}}, {{4, 8, 9}}, /* the lid */
    };
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners;
    def.vertex_count = sizeof corners / sizeof *corners;
    def.triangles = triangles;
    def.triangle_count = sizeof triangles / sizeof *triangles;
    def.scale = 0.001;
    return flr_mesh_create(&def, mesh, error);
}

/* the same mesh, looked at for one voxel size */
static flr_result check(const flr_mesh *mesh, const flr_mesh_report *read, double voxel,
                        flr_error *error)
{
    static flr_check_report report; /* a few kilobytes: too much for a small stack */
    flr_check_options options = flr_default_check_options();
    options.voxel = voxel;
    flr_result result = flr_check_mesh(mesh, read, &options, &report, error);
    if (result != FLR_OK) return result;

    printf("\nvoxels of %g mm: %s\n", 1000 * voxel,
           flr_check_worst(&report) == FLR_CHECK_SERIOUS ? "they will not come out right" : "fine");
    for (uint32_t i = 0; i < report.finding_count; i++) {
        const flr_check_finding *finding = &report.findings[i];
        printf("  %s: %s %s\n", flr_check_severity_name(finding->severity), finding->sentence,
               finding->effect);
    }
    return FLR_OK;
}

int main(int argc, char **argv)
{
    flr_error error;
    flr_mesh *mesh = NULL;
    flr_mesh_report read = {0};

    /* tolerant: what makes no sense is left out and counted, so that it can be reported */
    flr_mesh_options options = flr_default_mesh_options();
    options.tolerant = true;
    flr_result result = argc > 1
                            ? flr_mesh_open(flr_env_real(), argv[1], &options, &mesh, &read, &error)
                            : make_box(&mesh, &error);
    if (result == FLR_OK) {
        const flr_mesh_report *seen = argc > 1 ? &read : NULL; /* there was no reader otherwise */
        double voxel = argc > 2 ? strtod(argv[2], NULL) / 1000 : 0.00025;
        result = check(mesh, seen, voxel, &error);
        if (result == FLR_OK && argc < 3) result = check(mesh, seen, 4 * voxel, &error);
    }
    if (result != FLR_OK) fprintf(stderr, "%s\n", error.message);
    flr_mesh_destroy(mesh);
    return result == FLR_OK ? 0 : 1;
}
