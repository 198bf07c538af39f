/* meshes made from arrays, taken apart by group, hashed */
#include "feeler/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "mesh/builder.h"

flr_mesh_def flr_default_mesh_def(void) { return (flr_mesh_def){.scale = 1}; }

void flr_mesh_destroy(flr_mesh *mesh)
{
    if (!mesh) return;
    free((void *)mesh->vertices);
    free((void *)mesh->triangles);
    free((void *)mesh->groups);
    free((void *)mesh->names);
    free(mesh);
}

/* ---- creation ---- */

static flr_result check_def(const flr_mesh_def *def, uint32_t triangle_count, flr_error *error)
{
    if (!(def->scale > 0) || !isfinite(def->scale))
        return flr_fail(error, FLR_BAD_ARGUMENT, "mesh scale %g must be a positive number",
                        def->scale);
    if (!flr_weld_distance_ok(def->weld))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "weld distance %g m must be 0 or between 1e-15 m and 1e9 m", def->weld);
    if (!def->triangles && def->vertex_count % 3)
        return flr_fail(error, FLR_BAD_INPUT,
                        "%u vertices without indices are no whole number of triangles",
                        def->vertex_count);
    if (triangle_count == 0) return flr_fail(error, FLR_BAD_INPUT, "the mesh has no triangles");

    uint32_t covered = 0;
    for (uint32_t i = 0; def->groups && i < def->group_count; i++) {
        const flr_mesh_group *group = &def->groups[i];
        if (group->first_triangle != covered || group->triangle_count > triangle_count - covered)
            return flr_fail(error, FLR_BAD_INPUT,
                            "group %u must begin at triangle %u and end by triangle %u", i, covered,
                            triangle_count);
        covered += group->triangle_count;
        if (!def->names || group->name >= def->names_size ||
            !memchr(def->names + group->name, 0, def->names_size - group->name))
            return flr_fail(error, FLR_BAD_INPUT, "group %u has its name outside of the names", i);
        if (!flr_pose_is_valid(group->T_mesh_group))
            return flr_fail(error, FLR_BAD_INPUT, "group %u has no valid pose", i);
    }
    if (def->groups && covered != triangle_count)
        return flr_fail(error, FLR_BAD_INPUT, "the groups hold %u of %u triangles", covered,
                        triangle_count);
    return FLR_OK;
}

/* a vertex that triangle `triangle` names: is it there, and where a vertex may be? */
static flr_result check_vertex(const flr_mesh_def *def, uint32_t triangle, uint32_t vertex,
                               flr_error *error)
{
    if (vertex >= def->vertex_count)
        return flr_fail(error, FLR_BAD_INPUT, "triangle %u names vertex %u, but there are only %u",
                        triangle, vertex, def->vertex_count);
    flr_vec3 p = flr_vec3_scale(def->vertices[vertex], def->scale);
    if (!flr_position_ok(p))
        return flr_fail(error, FLR_BAD_INPUT,
                        "vertex %u at (%g, %g, %g) m is not finite or farther out than %g m",
                        vertex, p.x, p.y, p.z, FLR_MESH_MAX_COORDINATE);
    return FLR_OK;
}

/* triangles [first, end) of the definition; numbers as in flr_builder_indexed(), NULL when vertices
 * come in threes */
static flr_result add_triangles(flr_builder *builder, const flr_mesh_def *def, uint32_t first,
                                uint32_t end, uint32_t *numbers, flr_error *error)
{
    enum { MESH_BATCH = FLR_WELD_BATCH / 3 };
    for (uint32_t t = first; t < end;) {
        uint32_t count = end - t < MESH_BATCH ? end - t : MESH_BATCH;
        flr_vec3 corners[FLR_WELD_BATCH];
        for (uint32_t i = 0; i < 3 * count; i++) {
            uint32_t vertex = numbers ? def->triangles[t + i / 3].v[i % 3] : 3 * t + i;
            flr_result result = check_vertex(def, t + i / 3, vertex, error);
            if (result != FLR_OK) return result;
            if (!numbers) corners[i] = flr_vec3_scale(def->vertices[vertex], def->scale);
        }
        flr_result result = numbers ? flr_builder_indexed(builder, def->vertices, def->scale,
                                                          numbers, def->triangles + t, count)
                                    : flr_builder_soup(builder, corners, count);
        if (result != FLR_OK) return flr_builder_fail(builder, result, NULL, error);
        t += count;
    }
    return FLR_OK;
}

static flr_result build(flr_builder *builder, const flr_mesh_def *def, uint32_t triangle_count,
                        uint32_t *numbers, flr_mesh **mesh, flr_error *error)
{
    size_t vertices = def->triangles ? def->vertex_count : def->vertex_count / 6;
    flr_result result = flr_builder_expect(builder, triangle_count, vertices);
    if (result != FLR_OK) return flr_builder_fail(builder, result, NULL, error);
    if (!def->groups) {
        result = add_triangles(builder, def, 0, triangle_count, numbers, error);
        if (result != FLR_OK) return result;
    }
    for (uint32_t i = 0; def->groups && i < def->group_count; i++) {
        const flr_mesh_group *group = &def->groups[i];
        const char *name = def->names + group->name;
        result = flr_builder_group(builder, name, strlen(name), group->T_mesh_group);
        if (result != FLR_OK) return flr_builder_fail(builder, result, NULL, error);
        builder->groups[builder->group_count - 1].chord = group->chord;
        result = add_triangles(builder, def, group->first_triangle,
                               group->first_triangle + group->triangle_count, numbers, error);
        if (result != FLR_OK) return result;
    }
    result = flr_builder_finish(builder, mesh);
    return result == FLR_OK ? FLR_OK : flr_builder_fail(builder, result, NULL, error);
}

flr_result flr_mesh_create(const flr_mesh_def *def, flr_mesh **mesh, flr_error *error)
{
    FLR_ASSERT(def && mesh);
    uint32_t triangle_count = def->triangles ? def->triangle_count : def->vertex_count / 3;
    flr_result result = check_def(def, triangle_count, error);
    if (result != FLR_OK) return result;

    flr_builder builder;
    flr_builder_begin(&builder, def->weld, SIZE_MAX);
    uint32_t *numbers = NULL;
    if (def->triangles) {
        numbers = calloc(def->vertex_count ? def->vertex_count : 1, sizeof *numbers);
        if (!numbers) return flr_builder_fail(&builder, FLR_NO_MEMORY, NULL, error);
    }
    result = build(&builder, def, triangle_count, numbers, mesh, error);
    flr_builder_free(&builder);
    free(numbers);
    return result;
}

/* ---- groups ---- */

double flr_mesh_facet_chord(const flr_mesh *mesh)
{
    double chord = 0;
    for (uint32_t i = 0; i < mesh->group_count; i++) chord = fmax(chord, mesh->groups[i].chord);
    return chord;
}

const char *flr_mesh_group_name(const flr_mesh *mesh, uint32_t group)
{
    FLR_ASSERT(mesh && group < mesh->group_count);
    return mesh->names + mesh->groups[group].name;
}

flr_result flr_mesh_extract_group(const flr_mesh *mesh, uint32_t group, flr_mesh **part,
                                  flr_error *error)
{
    FLR_ASSERT(mesh && part && group < mesh->group_count);
    const flr_mesh_group *source = &mesh->groups[group];
    const char *name = flr_mesh_group_name(mesh, group);
    if (source->triangle_count == 0)
        return flr_fail(error, FLR_BAD_INPUT, "group %u '%s' has no triangles", group, name);
    // the group's vertices lie close together: look at the stretch from lowest to highest only
    const flr_triangle *triangles = mesh->triangles + source->first_triangle;
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < source->triangle_count; i++)
        for (unsigned corner = 0; corner < 3; corner++) {
            low = triangles[i].v[corner] < low ? triangles[i].v[corner] : low;
            high = triangles[i].v[corner] > high ? triangles[i].v[corner] : high;
        }
    uint32_t vertex_count = high - low + 1;
    flr_vec3 *vertices = malloc(vertex_count * sizeof *vertices);
    flr_triangle *shifted = malloc(source->triangle_count * sizeof *shifted);
    flr_result result = FLR_NO_MEMORY;
    if (vertices && shifted) {
        flr_pose T_mesh_group = source->T_mesh_group, none = flr_pose_identity();
        bool moved = memcmp(&T_mesh_group, &none, sizeof none) != 0;
        for (uint32_t i = 0; i < vertex_count; i++) {
            flr_vec3 v = mesh->vertices[low + i];
            vertices[i] = moved ? flr_pose_apply_inverse(T_mesh_group, v) : v;
        }
        for (uint32_t i = 0; i < source->triangle_count; i++)
            for (unsigned corner = 0; corner < 3; corner++)
                shifted[i].v[corner] = triangles[i].v[corner] - low;

        flr_mesh_group target = {
            .triangle_count = source->triangle_count, .T_mesh_group = none, .chord = source->chord};
        flr_mesh_def def = flr_default_mesh_def();
        def.vertices = vertices;
        def.vertex_count = vertex_count;
        def.triangles = shifted;
        def.triangle_count = source->triangle_count;
        def.groups = &target;
        def.group_count = 1;
        def.names = name;
        def.names_size = (uint32_t)strlen(name) + 1;
        result = flr_mesh_create(&def, part, error);
    } else {
        flr_fail(error, result, "out of memory for a copy of group '%s'", name);
    }
    free(shifted);
    free(vertices);
    return result;
}

/* ---- hash ---- */

double flr_mesh_area(const flr_mesh *mesh)
{
    double area = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *v = mesh->triangles[i].v;
        flr_vec3 p = mesh->vertices[v[0]];
        area += 0.5 * flr_vec3_length(flr_vec3_cross(flr_vec3_sub(mesh->vertices[v[1]], p),
                                                     flr_vec3_sub(mesh->vertices[v[2]], p)));
    }
    return area;
}

flr_hash flr_mesh_hash(const flr_mesh *mesh)
{
    uint32_t counts[2] = {mesh->vertex_count, mesh->triangle_count};
    if (mesh->hash.low || mesh->hash.high) return mesh->hash;
    flr_hasher hasher = flr_hasher_begin();
    flr_hasher_add(&hasher, counts, sizeof counts);
    flr_hasher_add(&hasher, mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices);
    flr_hasher_add(&hasher, mesh->triangles, mesh->triangle_count * sizeof *mesh->triangles);
    return flr_hasher_end(&hasher);
}
