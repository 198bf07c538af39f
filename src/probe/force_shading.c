/* normals of corners, for force shading */
#include <stdlib.h>

#include "feeler/mesh_check.h"
#include "probe/model.h"

/* Twice the area, as a vector. */
static flr_vec3 area_of(const flr_mesh *mesh, uint32_t triangle)
{
    flr_vec3 v[3];
    flr_probe_corners(mesh, triangle, v);
    return flr_vec3_cross(flr_vec3_sub(v[1], v[0]), flr_vec3_sub(v[2], v[0]));
}

/* At each corner the sum of the areas around it, of those that are turned by less than the crease. */
flr_result flr_probe_make_shading(flr_probe_model *model, double crease, flr_error *error)
{
    const flr_mesh *mesh = model->mesh;
    flr_adjacency *adjacency;
    flr_result result = flr_adjacency_create(mesh, &adjacency, error);
    if (result != FLR_OK) return result;
    float *normals = malloc(9 * (size_t)mesh->triangle_count * sizeof *normals);
    if (!normals) {
        flr_adjacency_destroy(adjacency);
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the normals of %u triangles",
                        mesh->triangle_count);
    }
    double least = flr_cos(crease < 3.14 ? crease : 3.14);
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        flr_vec3 own = flr_vec3_normalize(area_of(mesh, t));
        for (int c = 0; c < 3; c++) {
            uint32_t v = mesh->triangles[t].v[c];
            flr_vec3 sum = flr_vec3_zero();
            for (uint32_t i = adjacency->vertex_first[v]; i < adjacency->vertex_first[v + 1]; i++) {
                flr_vec3 area = area_of(mesh, adjacency->vertex_triangles[i]);
                if (flr_vec3_dot(flr_vec3_normalize(area), own) >= least)
                    sum = flr_vec3_add(sum, area);
            }
            sum = flr_vec3_normalize(sum);
            float *to = normals + 9 * (size_t)t + 3 * c;
            to[0] = (float)sum.x, to[1] = (float)sum.y, to[2] = (float)sum.z;
        }
    }
    flr_adjacency_destroy(adjacency);
    model->corner_normals = normals;
    return FLR_OK;
}
