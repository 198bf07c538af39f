/* Lesson 11: touching a mesh with a point
 *
 *     11_touch_with_a_point [MESH]      mesh file in mm; without one: a cube of 20 mm
 *
 * A mesh is made ready once; from then on the question "which triangle does this segment hit first" takes
 * less than a microsecond. A proxy uses it: the hand goes into the part, the proxy stays outside, and a
 * spring between them is what the hand feels.
 */
#include <feeler/env.h>
#include <feeler/mesh.h>
#include <feeler/probe.h>
#include <stdio.h>
#include <stdlib.h>

/* eight corners, twelve triangles */
static flr_result make_cube(flr_mesh **mesh, flr_error *error)
{
    static const flr_triangle faces[12] = {{{0, 2, 1}}, {{1, 2, 3}}, {{4, 5, 6}}, {{5, 7, 6}},
                                           {{0, 1, 4}}, {{1, 5, 4}}, {{2, 6, 3}}, {{3, 6, 7}},
                                           {{0, 4, 2}}, {{2, 4, 6}}, {{1, 3, 5}}, {{3, 7, 5}}};
    flr_vec3 corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] =
            flr_vec3_make(i & 1 ? 0.01 : -0.01, i & 2 ? 0.01 : -0.01, i & 4 ? 0.01 : -0.01);
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners;
    def.vertex_count = 8;
    def.triangles = faces;
    def.triangle_count = 12;
    return flr_mesh_create(&def, mesh, error);
}

int main(int argc, char **argv)
{
    flr_error error;
    flr_mesh *mesh = NULL;
    flr_probe_model *model = NULL;
    flr_result result = argc > 1 ? flr_mesh_read(flr_env_real(), argv[1], NULL, &mesh, NULL, &error)
                                 : make_cube(&mesh, &error);

    /* the mesh must live as long as the model */
    flr_probe_def def = flr_default_probe_def();
    def.mesh = mesh;
    if (result == FLR_OK) result = flr_probe_model_create(&def, &model, &error);
    if (result != FLR_OK) {
        fprintf(stderr, "%s\n", error.message);
        flr_mesh_destroy(mesh);
        return 1;
    }

    /* one question: from above, straight down through the middle */
    flr_vec3 middle = flr_box3_centre(mesh->bounds), above = middle;
    double size = flr_probe_model_size(model);
    above.z += size;
    flr_probe_hit hit;
    if (flr_probe_first(model, above, middle, NULL, &hit))
        printf("triangle %u is hit at t = %.4f\n", hit.triangle, hit.t);
    else
        puts("nothing in the way");

    /* a hand comes down, presses in and slides sideways over the edge: a frame each millisecond */
    flr_proxy proxy = flr_proxy_none();
    flr_proxy_params params = flr_default_proxy_params();
    params.static_friction = 0.2;
    params.dynamic_friction = 0.1;
    puts("   hand x, z [mm]    proxy x, z [mm]   force x, z [N]");
    for (int frame = 0; frame <= 1000; frame++) {
        double t = frame / 1000.0;
        flr_vec3 hand = middle;
        hand.x += 0.4 * t * size;
        hand.z += (t < 0.1 ? 0.4 - 2 * t : 0.2) * size;
        flr_proxy_result felt;
        flr_proxy_step(&proxy, model, hand, &params, &felt);
        if (frame % 100 == 0)
            printf("%8.2f %8.2f  %8.2f %8.2f  %8.3f %7.3f\n", hand.x * 1e3, hand.z * 1e3,
                   felt.position.x * 1e3, felt.position.z * 1e3, felt.force.x, felt.force.z);
    }
    flr_probe_model_destroy(model);
    flr_mesh_destroy(mesh);
    return 0;
}
