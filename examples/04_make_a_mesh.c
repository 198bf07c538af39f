/* 04 make a mesh: from arrays of your own, and what it weighs
 *
 * Makes a ring of steel, compares volume, mass and inertia with the textbook, and writes it to a
 * file if you name one.
 *
 *     build/examples/04_make_a_mesh
 *     build/examples/04_make_a_mesh ring.stl
 */
#include <math.h>
#include <stdio.h>

#include "feeler/mesh.h"
#include "feeler/mesh_check.h"

enum { ROUND = 240, ACROSS = 80 };              /* how finely it is cut */
static const double ring = 0.050, tube = 0.010; /* radii in metres */
static const double density = 7850;             /* steel, kg/m^3 */

static flr_result make_ring(flr_mesh **mesh, flr_error *error)
{
    static flr_vec3 vertices[ROUND * ACROSS];
    static flr_triangle triangles[2 * ROUND * ACROSS];
    for (uint32_t i = 0; i < ROUND; i++)
        for (uint32_t j = 0; j < ACROSS; j++) {
            double a = FLR_TWO_PI * i / ROUND, b = FLR_TWO_PI * j / ACROSS,
                   r = ring + tube * cos(b);
            uint32_t here = i * ACROSS + j, right = i * ACROSS + (j + 1) % ACROSS;
            uint32_t next = (i + 1) % ROUND * ACROSS + j;
            uint32_t across = (i + 1) % ROUND * ACROSS + (j + 1) % ACROSS;
            vertices[here] = flr_vec3_make(r * cos(a), r * sin(a), tube * sin(b));
            /* counter-clockwise seen from outside: that is how feeler knows where outside is */
            triangles[2 * here] = (flr_triangle){{here, next, across}};
            triangles[2 * here + 1] = (flr_triangle){{here, across, right}};
        }

    /* the arrays are copied, so they may go when the call returns */
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices;
    def.vertex_count = ROUND * ACROSS;
    def.triangles = triangles;
    def.triangle_count = 2 * ROUND * ACROSS;
    return flr_mesh_create(&def, mesh, error);
}

int main(int argc, char **argv)
{
    flr_error error;
    flr_mesh *mesh = NULL;
    flr_result result = make_ring(&mesh, &error);

    /* holes, flipped and inverted shells are dealt with by stated rules: see feeler/mesh_check.h */
    flr_mass mass;
    if (result == FLR_OK) result = flr_mass_compute(mesh, NULL, density, &mass, &error);
    if (result == FLR_OK) {
        double volume = FLR_TWO_PI * FLR_PI * ring * tube * tube;
        double about_z = density * volume * (ring * ring + 0.75 * tube * tube);
        printf("                   mesh    textbook\n");
        printf("volume cm^3    %8.4f    %8.4f\n", 1e6 * mass.volume, 1e6 * volume);
        printf("mass kg        %8.5f    %8.5f\n", mass.inertia.mass, density * volume);
        printf("inertia kg cm^2 %7.4f    %8.4f\n", 1e4 * mass.inertia.tensor.m[2][2],
               1e4 * about_z);
        printf("%s\n", mass.closed ? "closed: no hole had to be filled" : "not closed");
    }

    /* the ending chooses the format; the file appears whole or not at all; 0.001: in mm */
    if (result == FLR_OK && argc > 1)
        result = flr_mesh_write(flr_env_real(), argv[1], mesh, 0.001, &error);
    if (result != FLR_OK) fprintf(stderr, "%s\n", error.message);
    flr_mesh_destroy(mesh);
    return result == FLR_OK ? 0 : 1;
}
