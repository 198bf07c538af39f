/* builder.h: a mesh in the making. All readers and flr_mesh_create() end here.
 *
 * Private to src/mesh. Positions are metres, finite and in range: the caller has checked. Every
 * function but begin and free may answer FLR_NO_MEMORY or FLR_TOO_LARGE; the caller makes the
 * sentence (flr_builder_fail) and calls flr_builder_free(). */
#ifndef FLR_MESH_BUILDER_H
#define FLR_MESH_BUILDER_H

#include <math.h>
#include <stdbool.h>

#include "feeler/mesh.h"
#include "mesh/weld.h"

typedef struct flr_builder {
    flr_budget budget;
    flr_weld weld;
    flr_triangle *triangles;
    size_t triangle_count, triangle_capacity;
    flr_mesh_group *groups;
    size_t group_count, group_capacity;
    char *names;
    size_t names_size, names_capacity;
} flr_builder;

/* May a vertex lie here? */
static inline bool flr_position_ok(flr_vec3 p)
{
    return fabs(p.x) <= FLR_MESH_MAX_COORDINATE && fabs(p.y) <= FLR_MESH_MAX_COORDINATE &&
           fabs(p.z) <= FLR_MESH_MAX_COORDINATE;
}

/* `weld` in metres, `memory_limit` in bytes. */
void flr_builder_begin(flr_builder *builder, double weld, size_t memory_limit);
void flr_builder_free(flr_builder *builder);

/* What will probably come: spares copying, nothing else. */
flr_result flr_builder_expect(flr_builder *builder, size_t triangles, size_t vertices);

/* How many groups there will be at most, with names of so many bytes: spares copying, nothing else. */
void flr_builder_expect_groups(flr_builder *builder, size_t groups, size_t names);

/* From here on, triangles belong to a group of this name (bytes from a file: made valid UTF-8). */
flr_result flr_builder_group(flr_builder *builder, const char *name, size_t length, flr_pose pose);

/* Triangles as `3 * count` corners, at most FLR_WELD_BATCH of these at once. */
flr_result flr_builder_soup(flr_builder *builder, const flr_vec3 *corners, size_t count);

/* Triangles as indices into `positions` (times `scale`), at most FLR_WELD_BATCH / 3 at once.
 * numbers[index] is 0, or the welded vertex + 1 once a triangle has used it. */
flr_result flr_builder_indexed(flr_builder *builder, const flr_vec3 *positions, double scale,
                               uint32_t *numbers, const flr_triangle *triangles, size_t count);

/* Hands over the mesh; the builder must have a triangle, and is empty afterwards. */
flr_result flr_builder_finish(flr_builder *builder, flr_mesh **mesh);

/* The sentence for a result of the above; `name` is a file or NULL. Returns `result`. */
flr_result flr_builder_fail(const flr_builder *builder, flr_result result, const char *name,
                            flr_error *error);

#endif
