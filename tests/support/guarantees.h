/* guarantees.h: does a mesh keep what feeler/mesh.h promises? For tests and fuzz targets. */
#ifndef FLR_TEST_GUARANTEES_H
#define FLR_TEST_GUARANTEES_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/mesh.h"

static inline int flr_compare_positions(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(flr_vec3));
}

/* NULL when all vertices differ, else what is wrong. */
static inline const char *flr_find_equal_vertices(const flr_mesh *mesh)
{
    size_t count = mesh->vertex_count;
    flr_vec3 *sorted = malloc(count * sizeof *sorted);
    if (!sorted) return NULL;
    memcpy(sorted, mesh->vertices, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, flr_compare_positions);
    bool equal = false;
    for (size_t i = 1; i < count; i++)
        equal |= flr_compare_positions(&sorted[i - 1], &sorted[i]) == 0;
    free(sorted);
    return equal ? "two vertices are equal" : NULL;
}

/* NULL when all promises are kept, else the first that is not. */
static inline const char *flr_broken_guarantee(const flr_mesh *mesh)
{
    if (mesh->triangle_count == 0) return "no triangle";

    // numbered in the order of first use, so each is used, and below the count
    uint32_t used = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (unsigned i = 0; i < 3; i++) {
            uint32_t v = mesh->triangles[t].v[i];
            if (v > used) return "vertices are not in the order of first use";
            if (v == used) used++;
        }
    if (used != mesh->vertex_count) return "a vertex is not used, or an index is out of range";

    flr_box3 bounds = flr_box3_empty();
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        const double *p = &mesh->vertices[i].x;
        for (unsigned k = 0; k < 3; k++) {
            if (!(fabs(p[k]) <= FLR_MESH_MAX_COORDINATE)) return "a coordinate is out of range";
            if (p[k] == 0 && signbit(p[k])) return "a coordinate is -0";
        }
        bounds = flr_box3_add(bounds, mesh->vertices[i]);
    }
    if (!flr_vec3_equal(bounds.low, mesh->bounds.low) ||
        !flr_vec3_equal(bounds.high, mesh->bounds.high))
        return "the bounds are wrong";

    uint32_t covered = 0;
    for (uint32_t g = 0; g < mesh->group_count; g++) {
        const flr_mesh_group *group = &mesh->groups[g];
        if (group->first_triangle != covered) return "a group does not follow the last one";
        covered += group->triangle_count;
        if (group->name >= mesh->names_size) return "a name lies outside of the names";
        if (!flr_pose_is_valid(group->T_mesh_group)) return "a group's pose is not valid";
    }
    if (covered != mesh->triangle_count) return "the groups do not cover the triangles";
    if (mesh->names[mesh->names_size - 1] != 0) return "the names do not end with a zero";
    return flr_find_equal_vertices(mesh);
}

#endif
