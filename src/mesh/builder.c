/* a mesh in the making */
#include "mesh/builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void flr_builder_begin(flr_builder *builder, double weld, size_t memory_limit)
{
    memset(builder, 0, sizeof *builder);
    builder->weld.distance = weld;
    builder->budget.limit = memory_limit;
}

void flr_builder_free(flr_builder *builder)
{
    flr_weld_free_table(&builder->weld, &builder->budget);
    free(builder->weld.vertices);
    free(builder->triangles);
    free(builder->groups);
    free(builder->names);
    flr_builder_begin(builder, 0, 0);
}

static flr_result grow_triangles(flr_builder *builder, size_t more)
{
    size_t need = builder->triangle_count + more;
    if (need > FLR_MESH_MAX_COUNT) return FLR_TOO_LARGE;
    flr_result result;
    builder->triangles =
        flr_budget_grow(&builder->budget, builder->triangles, &builder->triangle_capacity, need,
                        sizeof *builder->triangles, &result);
    return result;
}

flr_result flr_builder_expect(flr_builder *builder, size_t triangles, size_t vertices)
{
    flr_result result = grow_triangles(builder, triangles);
    if (result != FLR_OK) return result;
    return flr_weld_reserve(&builder->weld, &builder->budget, vertices);
}

/* ---- groups ---- */

static flr_result add_group(flr_builder *builder, const char *name, size_t length,
                            flr_mesh_group group)
{
    flr_result result;
    builder->groups = flr_budget_grow(&builder->budget, builder->groups, &builder->group_capacity,
                                      builder->group_count + 1, sizeof group, &result);
    if (result != FLR_OK) return result;
    builder->names = flr_budget_grow(&builder->budget, builder->names, &builder->names_capacity,
                                     builder->names_size + length + 1, 1, &result);
    if (result != FLR_OK) return result;
    if (builder->names_size + length + 1 > UINT32_MAX) return FLR_TOO_LARGE;

    group.name = (uint32_t)builder->names_size;
    char *to = builder->names + builder->names_size;
    if (length) memcpy(to, name, length);
    flr_text_clean(to, length);
    to[length] = 0;
    builder->names_size += length + 1;
    builder->groups[builder->group_count++] = group;
    return FLR_OK;
}

/* the group that is open so far ends at the last triangle */
static void close_group(flr_builder *builder)
{
    if (!builder->group_count) return;
    flr_mesh_group *last = &builder->groups[builder->group_count - 1];
    last->triangle_count = (uint32_t)builder->triangle_count - last->first_triangle;
}

flr_result flr_builder_group(flr_builder *builder, const char *name, size_t length, flr_pose pose)
{
    flr_mesh_group group = {.T_mesh_group = flr_pose_identity()};
    // triangles before the first group are in one without a name
    if (!builder->group_count && builder->triangle_count) {
        flr_result result = add_group(builder, "", 0, group);
        if (result != FLR_OK) return result;
    }
    close_group(builder);
    group.first_triangle = (uint32_t)builder->triangle_count;
    group.T_mesh_group = pose;
    return add_group(builder, name, length, group);
}

/* ---- triangles ---- */

flr_result flr_builder_soup(flr_builder *builder, const flr_vec3 *corners, size_t count)
{
    if (count == 0) return FLR_OK;
    flr_result result = grow_triangles(builder, count);
    if (result != FLR_OK) return result;
    result = flr_weld_reserve(&builder->weld, &builder->budget, 3 * count);
    if (result != FLR_OK) return result;
    flr_weld_add(&builder->weld, corners, 3 * count,
                 (uint32_t *)&builder->triangles[builder->triangle_count]);
    builder->triangle_count += count;
    return FLR_OK;
}

flr_result flr_builder_indexed(flr_builder *builder, const flr_vec3 *positions, double scale,
                               uint32_t *numbers, const flr_triangle *triangles, size_t count)
{
    // the positions that are new, in the order of first use, each once
    const uint32_t waits = UINT32_MAX;
    uint32_t indices[FLR_WELD_BATCH], found[FLR_WELD_BATCH];
    flr_vec3 fresh[FLR_WELD_BATCH];
    size_t fresh_count = 0;
    flr_result result = grow_triangles(builder, count);
    if (result != FLR_OK) return result;
    result = flr_weld_reserve(&builder->weld, &builder->budget, 3 * count);
    if (result != FLR_OK) return result;
    for (size_t i = 0; i < 3 * count; i++) {
        uint32_t index = triangles[i / 3].v[i % 3];
        if (numbers[index]) continue;
        numbers[index] = waits;
        indices[fresh_count] = index;
        fresh[fresh_count++] = flr_vec3_scale(positions[index], scale);
    }
    flr_weld_add(&builder->weld, fresh, fresh_count, found);
    for (size_t i = 0; i < fresh_count; i++) numbers[indices[i]] = found[i] + 1;

    for (size_t i = 0; i < count; i++) {
        const uint32_t *v = triangles[i].v;
        builder->triangles[builder->triangle_count++] =
            (flr_triangle){{numbers[v[0]] - 1, numbers[v[1]] - 1, numbers[v[2]] - 1}};
    }
    return FLR_OK;
}

/* ---- the end ---- */

/* gives back what is not used; a shrinking realloc that fails leaves the block as it was */
static void *shrink(void *array, size_t bytes)
{
    void *smaller = realloc(array, bytes);
    return smaller ? smaller : array;
}

flr_result flr_builder_finish(flr_builder *builder, flr_mesh **mesh)
{
    if (builder->weld.count > FLR_MESH_MAX_COUNT) return FLR_TOO_LARGE;
    if (!builder->group_count) {
        flr_result result =
            add_group(builder, "", 0, (flr_mesh_group){.T_mesh_group = flr_pose_identity()});
        if (result != FLR_OK) return result;
    }
    close_group(builder);
    flr_mesh *made = malloc(sizeof *made);
    if (!made) return FLR_NO_MEMORY;

    flr_weld_free_table(&builder->weld, &builder->budget);
    const flr_vec3 *v = shrink(builder->weld.vertices, builder->weld.count * sizeof *v);
    flr_box3 bounds = flr_box3_empty();
    for (size_t i = 0; i < builder->weld.count; i++) bounds = flr_box3_add(bounds, v[i]);
    *made = (flr_mesh){
        .vertices = v,
        .triangles =
            shrink(builder->triangles, builder->triangle_count * sizeof *builder->triangles),
        .groups = shrink(builder->groups, builder->group_count * sizeof *builder->groups),
        .names = shrink(builder->names, builder->names_size),
        .vertex_count = (uint32_t)builder->weld.count,
        .triangle_count = (uint32_t)builder->triangle_count,
        .group_count = (uint32_t)builder->group_count,
        .names_size = (uint32_t)builder->names_size,
        .bounds = bounds,
    };
    made->hash = flr_mesh_hash(made);
    flr_builder_begin(builder, 0, 0);
    *mesh = made;
    return FLR_OK;
}

flr_result flr_builder_fail(const flr_builder *builder, flr_result result, const char *name,
                            flr_error *error)
{
    const char *colon = name ? ": " : "";
    if (!name) name = "";
    size_t triangles = builder->triangle_count;
    if (result == FLR_NO_MEMORY)
        return flr_fail(error, result,
                        "%s%sout of memory after %zu triangles; close other programs or split the "
                        "mesh",
                        name, colon, triangles);
    if (triangles + FLR_WELD_BATCH > FLR_MESH_MAX_COUNT ||
        builder->weld.count + FLR_WELD_BATCH > FLR_MESH_MAX_COUNT)
        return flr_fail(error, result,
                        "%s%smore than %u triangles or vertices; split the mesh into parts", name,
                        colon, FLR_MESH_MAX_COUNT);
    return flr_fail(error, result,
                    "%s%swould take more than %zu MB of memory, too much for a file of its size; "
                    "split its polygons into triangles or write it as binary STL",
                    name, colon, builder->budget.limit >> 20);
}
