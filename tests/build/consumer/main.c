/* a user's program: makes a tetrahedron; opens the mesh file that is named, if one is */
#include <feeler/feeler.h>
#include <stdio.h>

static int open_file(const char *path)
{
    flr_mesh *mesh = NULL;
    flr_error error;
    if (flr_mesh_open(flr_env_real(), path, NULL, &mesh, NULL, &error) != FLR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%s: %u triangles\n", path, mesh->triangle_count);
    flr_mesh_destroy(mesh);
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1) return open_file(arguments[1]);
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
