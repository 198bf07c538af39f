/* how near each vertex of a mesh is, group by group */
#include <math.h>
#include <stdlib.h>

#include "contact/least.h"
#include "feeler/distance.h"

enum { GROUP = 64 };

/* vertices that lie together */
typedef struct group {
    flr_vec3 centre; /* metres, mesh's frame */
    double radius;
} group;

struct flr_proximity {
    flr_vec3 *vertices; /* [count], by place; metres, mesh's frame */
    uint32_t *numbers;  /* [count], in the mesh */
    uint32_t *places;   /* [count]: where in `vertices` a vertex of the mesh is */
    group *groups;      /* [(count + GROUP - 1) / GROUP] */
    float *distances;   /* [count], by number */
    uint32_t count;
    uint32_t next; /* group to look at */
};

/* ---- making ---- */

/* bits 0 … 9 to every third */
static uint32_t spread(uint32_t x)
{
    x = (x | x << 16) & 0x030000FF;
    x = (x | x << 8) & 0x0300F00F;
    x = (x | x << 4) & 0x030C30C3;
    return (x | x << 2) & 0x09249249;
}

static uint32_t along_curve(const flr_mesh *mesh, flr_vec3 p, double scale)
{
    const flr_vec3 at = flr_vec3_scale(flr_vec3_sub(p, mesh->bounds.low), scale);
    return spread((uint32_t)fmin(at.x, 1023)) | spread((uint32_t)fmin(at.y, 1023)) << 1 |
           spread((uint32_t)fmin(at.z, 1023)) << 2;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool fill(flr_proximity *p, const flr_mesh *mesh)
{
    const size_t count = mesh->vertex_count, groups = (count + GROUP - 1) / GROUP;
    const flr_vec3 size = flr_box3_size(mesh->bounds);
    const double widest = fmax(size.x, fmax(size.y, size.z)),
                 scale = widest > 0 ? 1024 / widest : 0;
    uint64_t *keys = malloc(count * sizeof *keys); /* place on the curve, then number */
    p->vertices = malloc(count * sizeof *p->vertices);
    p->numbers = malloc(count * sizeof *p->numbers);
    p->places = malloc(count * sizeof *p->places);
    p->groups = malloc(groups * sizeof *p->groups);
    p->distances = malloc(count * sizeof *p->distances);
    const bool ok = keys && p->vertices && p->numbers && p->places && p->groups && p->distances;
    p->count = mesh->vertex_count;
    for (uint32_t i = 0; ok && i < count; i++)
        keys[i] = (uint64_t)along_curve(mesh, mesh->vertices[i], scale) << 32 | i;
    if (ok) qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; ok && i < count; i++) {
        p->numbers[i] = (uint32_t)keys[i];
        p->places[p->numbers[i]] = i;
        p->vertices[i] = mesh->vertices[p->numbers[i]];
        p->distances[i] = INFINITY;
    }
    for (size_t g = 0; ok && g < groups; g++) {
        flr_box3 box = flr_box3_empty();
        for (size_t i = g * GROUP; i < count && i < (g + 1) * GROUP; i++)
            box = flr_box3_add(box, p->vertices[i]);
        p->groups[g] =
            (group){flr_box3_centre(box), 0.5 * flr_vec3_length(flr_box3_size(box)) * (1 + 1e-12)};
    }
    free(keys);
    return ok;
}

flr_result flr_proximity_create(const flr_mesh *mesh, flr_proximity **proximity, flr_error *error)
{
    flr_proximity *made = calloc(1, sizeof *made);
    if (!made || !fill(made, mesh)) {
        flr_proximity_destroy(made);
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the distances of %u vertices",
                        mesh->vertex_count);
    }
    *proximity = made;
    return FLR_OK;
}

void flr_proximity_destroy(flr_proximity *p)
{
    if (!p) return;
    free(p->vertices);
    free(p->numbers);
    free(p->places);
    free(p->groups);
    free(p->distances);
    free(p);
}

const float *flr_proximity_distances(const flr_proximity *p) { return p->distances; }

/* ---- asking ---- */

/* What the mark of a voxel stands for, metres. */
static float by_mark(const flr_voxmap_header *h, unsigned mark)
{
    if (mark == FLR_MARK_FREE) return INFINITY;
    if (mark == FLR_MARK_INTERIOR) return h->offset ? 0 : (float)-h->grid.voxel;
    return (float)((mark - FLR_MARK_SURFACE + h->offset) * h->grid.voxel);
}

static void look_at_group(flr_proximity *p, uint32_t g, flr_pose T_voxmap_mesh,
                          const flr_voxmap *voxmap)
{
    const flr_voxmap_header *h = voxmap->header;
    const double least =
        flr_least_by_chunks(voxmap, flr_pose_apply(T_voxmap_mesh, p->groups[g].centre));
    /* beyond the field with all its vertices: both are chessboard distances, and so are the marks */
    if (least - p->groups[g].radius > (h->range + 2.0) * h->grid.voxel) return;
    for (uint32_t i = g * GROUP; i < p->count && i < (g + 1) * GROUP; i++) {
        const float found =
            by_mark(h, flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE,
                                       flr_pose_apply(T_voxmap_mesh, p->vertices[i])));
        float *distance = &p->distances[p->numbers[i]];
        if (found < *distance) *distance = found;
    }
}

uint32_t flr_proximity_update(flr_proximity *p, flr_pose T_world_mesh,
                              const flr_proximity_obstacle *obstacles, size_t count,
                              uint32_t max_vertices)
{
    const uint32_t groups = (p->count + GROUP - 1) / GROUP;
    uint32_t todo = max_vertices ? (max_vertices + GROUP - 1) / GROUP : groups;
    if (!flr_pose_is_valid(T_world_mesh)) return p->next * GROUP;
    if (todo > groups) todo = groups;
    for (; todo > 0; todo--) {
        const uint32_t g = p->next;
        for (uint32_t i = g * GROUP; i < p->count && i < (g + 1) * GROUP; i++)
            p->distances[p->numbers[i]] = INFINITY;
        for (size_t k = 0; k < count; k++)
            if (flr_pose_is_valid(obstacles[k].T_world_voxmap))
                look_at_group(
                    p, g, flr_pose_mul(flr_pose_inverse(obstacles[k].T_world_voxmap), T_world_mesh),
                    obstacles[k].voxmap);
        p->next = (g + 1) % groups;
    }
    return p->next * GROUP;
}

void flr_proximity_exact(const flr_proximity *p, flr_pose T_world_mesh, const flr_exact *exact,
                         flr_pose T_world_exact, uint32_t first, uint32_t count,
                         double max_distance, uint32_t max_tests, double *distances)
{
    const flr_pose T = flr_pose_mul(flr_pose_inverse(T_world_exact), T_world_mesh);
    const bool valid = flr_pose_is_valid(T_world_mesh) && flr_pose_is_valid(T_world_exact);
    for (uint32_t i = 0; i < count; i++) {
        distances[i] = INFINITY;
        if (!valid || first + i >= p->count || isinf(p->distances[first + i])) continue;
        const flr_exact_result r = flr_exact_distance(
            exact, flr_pose_apply(T, p->vertices[p->places[first + i]]), max_distance, max_tests);
        if (r.found && r.complete) distances[i] = r.distance;
        if (!r.complete) distances[i] = r.least;
    }
}
