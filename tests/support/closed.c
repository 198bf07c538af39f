#include "support/closed.h"

#include "feeler/mesh_check.h"
#include "support/test.h"

/* six times the volume of the tetrahedron from the origin */
static double corner_product(const flr_mesh *mesh, uint32_t triangle)
{
    const uint32_t *v = mesh->triangles[triangle].v;
    return flr_vec3_dot(mesh->vertices[v[0]],
                        flr_vec3_cross(mesh->vertices[v[1]], mesh->vertices[v[2]]));
}

uint32_t flr_test_assert_closed(const flr_mesh *mesh)
{
    flr_error error;
    flr_adjacency *adjacency = NULL;
    assert_ok(flr_adjacency_create(mesh, &adjacency, &error), error);
    if (!flr_adjacency_is_closed(adjacency))
        fail_msg("%u border, %u flipped, %u non-manifold edges of %u", adjacency->border_count,
                 adjacency->flipped_count, adjacency->nonmanifold_count, adjacency->edge_count);

    uint32_t components = adjacency->component_count;
    double *volume = calloc(components, sizeof *volume);
    assert_non_null(volume);
    for (uint32_t i = 0; i < mesh->triangle_count; i++)
        volume[adjacency->triangle_component[i]] += corner_product(mesh, i) / 6;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        uint32_t component = adjacency->triangle_component[i];
        if (volume[component] > 0) continue;
        flr_vec3 p = mesh->vertices[mesh->triangles[i].v[0]];
        fail_msg("component %u of %u at (%g, %g, %g) encloses %g m^3", component, components, p.x,
                 p.y, p.z, volume[component]);
    }
    free(volume);
    flr_adjacency_destroy(adjacency);
    return components;
}

double flr_test_area(const flr_mesh *mesh)
{
    double area = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *v = mesh->triangles[i].v;
        flr_vec3 a = mesh->vertices[v[0]];
        area += flr_vec3_length(flr_vec3_cross(flr_vec3_sub(mesh->vertices[v[1]], a),
                                               flr_vec3_sub(mesh->vertices[v[2]], a)));
    }
    return area / 2;
}

double flr_test_volume(const flr_mesh *mesh)
{
    double volume = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) volume += corner_product(mesh, i) / 6;
    return volume;
}
