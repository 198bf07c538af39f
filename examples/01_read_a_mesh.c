/* 01 read a mesh: from a file to triangles in memory
 *
 * Every length in feeler is in metres. Most mesh files do not say their unit; then it is taken to
 * be the millimetre unless you say otherwise.
 *
 *     build/examples/01_read_a_mesh                  (a tetrahedron that is in this file)
 *     build/examples/01_read_a_mesh part.step        (a part of your own)
 */
#include <stdio.h>
#include <string.h>

#include "feeler/mesh.h"

/* an OBJ file: four corners, four triangles that are counter-clockwise seen from outside */
static const char tetrahedron[] = "o tetrahedron\n"
                                  "v 0 0 0\nv 30 0 0\nv 0 20 0\nv 0 0 10\n"
                                  "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

int main(int argc, char **argv)
{
    /* the outside world: clock, files, sockets; lesson 06 has another one */
    flr_env *env = flr_env_real();

    /* options are filled with their defaults first; then change what you need */
    flr_mesh_options options = flr_default_mesh_options();
    options.unit = 0; /* what the file says, else mm; 0.0254 would be inches */

    /* what can fail returns a code and writes one sentence for a person into `error` */
    flr_error error;
    flr_mesh *mesh;
    flr_mesh_report report;
    flr_result result = argc > 1
                            ? flr_mesh_open(env, argv[1], &options, &mesh, &report, &error)
                            : flr_mesh_parse("tetrahedron.obj", (const uint8_t *)tetrahedron,
                                             strlen(tetrahedron), &options, &mesh, &report, &error);
    if (result != FLR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    /* a mesh is plain data that nobody changes: read its fields, from as many threads as you like */
    flr_vec3 size = flr_box3_size(mesh->bounds);
    printf("%s, unit %g m\n", flr_mesh_format_name(report.format), report.unit);
    printf("%u triangles, %u vertices (%llu in the file, before equal ones became one)\n",
           mesh->triangle_count, mesh->vertex_count, (unsigned long long)report.vertices_in_file);
    printf("%.1f x %.1f x %.1f mm\n", 1000 * size.x, 1000 * size.y, 1000 * size.z);

    /* files may name their parts: solids, objects, parts of an assembly */
    for (uint32_t g = 0; g < mesh->group_count; g++)
        printf("group \"%s\": %u triangles\n", flr_mesh_group_name(mesh, g),
               mesh->groups[g].triangle_count);

    flr_mesh_destroy(mesh);
    return 0;
}
