/* a user's program: makes a tetrahedron, prints its volume in mm^3 */
#include <feeler/feeler.h>
#include <stdio.h>

int main(void)
{
    const flr_vec3 corners[4] = {{0, 0, 0}, {0.006, 0, 0}, {0, 0.001, 0}, {0, 0, 0.001}};
    const flr_triangle faces[4] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners;
    def.vertex_count = 4;
    def.triangles = faces;
    def.triangle_count = 4;
    flr_mesh *mesh = NULL;
    flr_error error;
    if (flr_mesh_create(&def, &mesh, &error) != FLR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("feeler %s: %u triangles\n", FLR_VERSION, mesh->triangle_count);
    int right = mesh->triangle_count == 4 && mesh->vertex_count == 4;
    flr_mesh_destroy(mesh);
    return right ? 0 : 1;
}
