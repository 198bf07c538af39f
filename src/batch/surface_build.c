/* sorting the triangles of a mesh into leaves and a tree of oriented boxes */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch/batch_surface.h"
#include "feeler/mesh_check.h"
#include "math/jacobi.h"

typedef struct surface_builder {
    flr_batch_surface *surface;
    flr_vec3 *middle; /* [triangles] */
    uint32_t *order;  /* [triangles]: a run of 16 is a leaf */
} surface_builder;

static flr_vec3 corner(const flr_mesh *mesh, uint32_t triangle, int k)
{
    return mesh->vertices[mesh->triangles[triangle].v[k]];
}

static double coordinate(flr_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/* ---- order ---- */

/* Before `split` come triangles whose middles are no farther along the axis than those behind it (quickselect). */
static void select_along(const surface_builder *b, int axis, uint32_t first, uint32_t end,
                         uint32_t split)
{
    uint32_t *order = b->order;
    while (end - first > 1) {
        const double pivot = coordinate(b->middle[order[first + (end - first) / 2]], axis);
        uint32_t i = first, k = end - 1;
        for (;;) {
            while (coordinate(b->middle[order[i]], axis) < pivot) i++;
            while (coordinate(b->middle[order[k]], axis) > pivot) k--;
            if (i >= k) break;
            const uint32_t swap = order[i];
            order[i++] = order[k];
            order[k--] = swap;
        }
        const uint32_t cut = k + 1;
        if (split < cut) {
            if (cut == end) return;
            end = cut;
        } else {
            first = cut;
        }
    }
}

/* Halves whole leaves, so that 16 leaves in a row are a subtree; recursion is as deep as the logarithm of their number. */
static void sort_leaves(const surface_builder *b, uint32_t first, uint32_t end)
{
    const uint32_t leaves = (end - first + FLR_SURFACE_LANES - 1) / FLR_SURFACE_LANES;
    if (leaves <= 1) return;
    uint32_t half = 1;
    while (2 * half < leaves) half *= 2;
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = first; i < end; i++) box = flr_box3_add(box, b->middle[b->order[i]]);
    const flr_vec3 size = flr_vec3_sub(box.high, box.low);
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const uint32_t split = first + half * FLR_SURFACE_LANES;
    select_along(b, axis, first, end, split);
    sort_leaves(b, first, split);
    sort_leaves(b, split, end);
}

/* ---- boxes ---- */

/* The axes in which the corners of triangles first … end - 1 spread most and least. */
static void find_axes(const surface_builder *b, uint32_t first, uint32_t end, flr_vec3 axes[3])
{
    const flr_mesh *mesh = b->surface->mesh;
    flr_vec3 mean = {0, 0, 0};
    for (uint32_t i = first; i < end; i++) mean = flr_vec3_add(mean, b->middle[b->order[i]]);
    mean = flr_vec3_scale(mean, 1.0 / (end - first));
    double spread[FLR_JACOBI_MAX][FLR_JACOBI_MAX] = {{0}}, turn[FLR_JACOBI_MAX][FLR_JACOBI_MAX];
    for (uint32_t i = first; i < end; i++)
        for (int k = 0; k < 3; k++) {
            const flr_vec3 v = flr_vec3_sub(corner(mesh, b->order[i], k), mean);
            const double at[3] = {v.x, v.y, v.z};
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) spread[r][c] += at[r] * at[c];
        }
    flr_jacobi(3, spread, turn);
    for (int k = 0; k < 3; k++) axes[k] = flr_vec3_make(turn[0][k], turn[1][k], turn[2][k]);
}

/* the box of triangles first … end - 1, as one child; rounding makes it larger, never smaller */
static void make_box(const surface_builder *b, uint32_t first, uint32_t end, flr_surface_node *node,
                     uint32_t child)
{
    const flr_batch_surface *s = b->surface;
    flr_vec3 axes[3];
    find_axes(b, first, end, axes);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = first; i < end; i++)
        for (int k = 0; k < 3; k++) {
            const flr_vec3 v = flr_vec3_sub(corner(s->mesh, b->order[i], k), s->centre);
            for (int a = 0; a < 3; a++) {
                const double along = flr_vec3_dot(axes[a], v);
                low[a] = fmin(low[a], along);
                high[a] = fmax(high[a], along);
            }
        }
    flr_vec3 centre = {0, 0, 0};
    for (int a = 0; a < 3; a++) {
        centre = flr_vec3_add_scaled(centre, 0.5 * (low[a] + high[a]), axes[a]);
        node->half[a][child] = (float)(0.5 * (high[a] - low[a]) * (1 + 1e-6) + 1e-6 * s->size);
        node->axis[a][0][child] = (float)axes[a].x;
        node->axis[a][1][child] = (float)axes[a].y;
        node->axis[a][2][child] = (float)axes[a].z;
    }
    node->centre[0][child] = (float)centre.x;
    node->centre[1][child] = (float)centre.y;
    node->centre[2][child] = (float)centre.z;
}

static void make_nodes(const surface_builder *b)
{
    flr_batch_surface *s = b->surface;
    const uint32_t all = s->mesh->triangle_count;
    uint64_t span = FLR_SURFACE_LANES; /* triangles of a child */
    for (uint32_t level = s->level_count; level-- > 0; span *= FLR_SURFACE_LANES) {
        const uint32_t count = (uint32_t)((all - 1) / (span * FLR_SURFACE_LANES)) + 1;
        for (uint32_t n = 0; n < count; n++) {
            flr_surface_node *node = &s->nodes[s->level_first[level] + n];
            memset(node, 0, sizeof *node);
            node->first = (level + 1 < s->level_count ? s->level_first[level + 1] : 0) +
                          n * FLR_SURFACE_LANES;
            for (uint32_t c = 0; c < FLR_SURFACE_LANES; c++) {
                const uint64_t first = ((uint64_t)n * FLR_SURFACE_LANES + c) * span;
                const uint64_t end = first + span < all ? first + span : all;
                if (first < all)
                    make_box(b, (uint32_t)first, (uint32_t)end, node, c);
                else /* a box that is far from everything */
                    for (int a = 0; a < 3; a++) node->half[a][c] = -1e18f, node->axis[a][a][c] = 1;
            }
        }
    }
}

/* ---- leaves ---- */

static void put(float to[3][FLR_SURFACE_LANES], int lane, flr_vec3 v)
{
    to[0][lane] = (float)v.x;
    to[1][lane] = (float)v.y;
    to[2][lane] = (float)v.z;
}

/* Any unit vector across a unit vector. */
static flr_vec3 across(flr_vec3 v)
{
    const flr_vec3 other = fabs(v.x) < 0.7 ? flr_vec3_make(1, 0, 0) : flr_vec3_make(0, 1, 0);
    return flr_vec3_normalize(flr_vec3_cross(v, other));
}

/* A unit vector across the unit vector x, and across another vector. Where that points nearly along x, rounding decides where their
 * product points: what is left of it across x is as good as any. */
static flr_vec3 square_to(flr_vec3 x, flr_vec3 other)
{
    flr_vec3 cross = flr_vec3_cross(x, other);
    for (int k = 0; k < 2; k++) {
        if (!(flr_vec3_length2(cross) > 0)) return across(x);
        cross = flr_vec3_normalize(cross);
        cross = flr_vec3_add_scaled(cross, -flr_vec3_dot(x, cross), x);
        // little is left where it pointed along x, and that is rounding again
        if (flr_vec3_length2(cross) < 1e-4) return across(x);
    }
    return flr_vec3_normalize(cross);
}

/* A side of a triangle in its own axes: its way and length. */
static void put_side(flr_surface_leaf *leaf, int lane, int side, double x, double y)
{
    const double length = sqrt(x * x + y * y);
    leaf->way[side][0][lane] = length > 0 ? (float)(x / length) : 1;
    leaf->way[side][1][lane] = length > 0 ? (float)(y / length) : 0;
    leaf->length[side][lane] = (float)length;
}

static void make_lane(const flr_mesh *mesh, flr_surface_leaf *leaf, int lane, uint32_t triangle,
                      flr_vec3 centre)
{
    flr_vec3 at[3];
    double most2 = -1;
    int first = 0;
    for (int k = 0; k < 3; k++) at[k] = flr_vec3_sub(corner(mesh, triangle, k), centre);
    for (int k = 0; k < 3; k++) {
        const double length2 = flr_vec3_length2(flr_vec3_sub(at[(k + 1) % 3], at[k]));
        if (length2 > most2) most2 = length2, first = k;
        leaf->radius = fmaxf(leaf->radius, (float)flr_vec3_length(at[k]));
    }
    const flr_vec3 from = at[first], base = flr_vec3_sub(at[(first + 1) % 3], from),
                   other = flr_vec3_sub(at[(first + 2) % 3], from),
                   x = most2 > 0 ? flr_vec3_normalize(base) : flr_vec3_make(1, 0, 0);
    const flr_vec3 normal = square_to(x, other), y = flr_vec3_cross(normal, x);
    const flr_vec3 axes[3] = {x, y, normal};
    for (int k = 0; k < 3; k++) {
        put(leaf->axis[k], lane, axes[k]);
        leaf->origin[k][lane] = (float)flr_vec3_dot(axes[k], from);
    }
    const double length = sqrt(most2), along = flr_vec3_dot(x, other),
                 over = flr_vec3_dot(y, other);
    leaf->triangle[lane] = triangle;
    leaf->base[lane] = (float)length;
    put_side(leaf, lane, 0, along, over);
    put_side(leaf, lane, 1, along - length, over);
}

static void make_leaf(const surface_builder *b, uint32_t number)
{
    flr_batch_surface *s = b->surface;
    const uint32_t first = number * FLR_SURFACE_LANES;
    const uint32_t left = s->mesh->triangle_count - first;
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = first; i < first + FLR_SURFACE_LANES && i < s->mesh->triangle_count; i++)
        for (int k = 0; k < 3; k++) box = flr_box3_add(box, corner(s->mesh, b->order[i], k));
    /* the centre is a float away from the surface's, so that both sides of the query mean the same */
    const flr_vec3 middle =
        flr_vec3_sub(flr_vec3_scale(flr_vec3_add(box.low, box.high), 0.5), s->centre);
    flr_surface_leaf *leaf = &s->leaves[number];
    memset(leaf, 0, sizeof *leaf);
    leaf->centre[0] = (float)middle.x;
    leaf->centre[1] = (float)middle.y;
    leaf->centre[2] = (float)middle.z;
    const flr_vec3 centre =
        flr_vec3_add(s->centre, flr_vec3_make((double)leaf->centre[0], (double)leaf->centre[1],
                                              (double)leaf->centre[2]));
    s->leaf_centres[number] = centre;
    for (uint32_t lane = 0; lane < FLR_SURFACE_LANES; lane++)
        make_lane(s->mesh, leaf, (int)lane, b->order[first + (lane < left ? lane : 0)], centre);
}

/* ---- signs ---- */

static double angle_at(const flr_mesh *mesh, uint32_t t, int k)
{
    const flr_vec3 a = flr_vec3_sub(corner(mesh, t, (k + 1) % 3), corner(mesh, t, k)),
                   b = flr_vec3_sub(corner(mesh, t, (k + 2) % 3), corner(mesh, t, k));
    return atan2(flr_vec3_length(flr_vec3_cross(a, b)), flr_vec3_dot(a, b));
}

static flr_vec3 unit_normal(const flr_mesh *mesh, uint32_t t)
{
    const flr_vec3 a = corner(mesh, t, 0);
    return flr_vec3_normalize(
        flr_vec3_cross(flr_vec3_sub(corner(mesh, t, 1), a), flr_vec3_sub(corner(mesh, t, 2), a)));
}

/* 1 or -1: the inside lies behind all triangles or before all; 0: neither. Asked once for each connected shell. */
static int find_outward(const flr_batch_surface *s, const flr_adjacency *adjacency)
{
    int outward = 0;
    uint32_t *largest = malloc(adjacency->component_count * sizeof *largest);
    double *area = calloc(adjacency->component_count, sizeof *area);
    for (uint32_t t = 0; largest && area && t < s->mesh->triangle_count; t++) {
        const uint32_t c = adjacency->triangle_component[t];
        const flr_vec3 a = corner(s->mesh, t, 0);
        const double size = flr_vec3_length(flr_vec3_cross(flr_vec3_sub(corner(s->mesh, t, 1), a),
                                                           flr_vec3_sub(corner(s->mesh, t, 2), a)));
        if (size > area[c]) area[c] = size, largest[c] = t;
    }
    for (uint32_t c = 0; largest && area && c < adjacency->component_count; c++) {
        if (!(area[c] > 0)) goto none;
        const uint32_t t = largest[c];
        const flr_vec3 middle =
            flr_vec3_scale(flr_vec3_add(flr_vec3_add(corner(s->mesh, t, 0), corner(s->mesh, t, 1)),
                                        corner(s->mesh, t, 2)),
                           1.0 / 3);
        const flr_vec3 step = flr_vec3_scale(unit_normal(s->mesh, t), 1e-4 * sqrt(area[c]));
        const bool before = flr_fit_inside(s->fit, flr_vec3_add(middle, step)),
                   behind = flr_fit_inside(s->fit, flr_vec3_sub(middle, step));
        const int way = behind && !before ? 1 : before && !behind ? -1 : 0;
        if (way == 0 || (outward != 0 && way != outward)) goto none;
        outward = way;
    }
    free(largest);
    free(area);
    return outward;
none:
    free(largest);
    free(area);
    return 0;
}

/* Normals of corners and sides, weighed so that the sign of a distance follows from them (Baerentzen and Aanaes 2005). */
static flr_result make_normals(flr_batch_surface *s, flr_error *error)
{
    const flr_mesh *mesh = s->mesh;
    if (!flr_fit_get_info(s->fit).solid) return FLR_OK;
    flr_adjacency *adjacency = NULL;
    flr_result result = flr_adjacency_create(mesh, &adjacency, error);
    if (result != FLR_OK) return result;
    const int outward = flr_adjacency_is_closed(adjacency) ? find_outward(s, adjacency) : 0;
    if (outward) {
        s->corner_normals = calloc(mesh->vertex_count, sizeof *s->corner_normals);
        s->side_normals = calloc(3 * (size_t)mesh->triangle_count, sizeof *s->side_normals);
        if (!s->corner_normals || !s->side_normals)
            result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for the surface");
    }
    for (uint32_t t = 0; outward && result == FLR_OK && t < mesh->triangle_count; t++) {
        const flr_vec3 n = unit_normal(mesh, t);
        for (int k = 0; k < 3; k++) {
            flr_vec3 *sum = &s->corner_normals[mesh->triangles[t].v[k]];
            *sum = flr_vec3_add_scaled(*sum, angle_at(mesh, t, k), n);
            const uint32_t side = 3 * t + (uint32_t)k,
                           other = flr_adjacency_opposite(adjacency, side);
            s->side_normals[side] = flr_vec3_add(s->side_normals[side], n);
            if (other != FLR_NONE) s->side_normals[other] = flr_vec3_add(s->side_normals[other], n);
        }
    }
    s->outward = outward;
    flr_adjacency_destroy(adjacency);
    return result;
}

/* ---- all of it ---- */

static bool allocate(surface_builder *b)
{
    flr_batch_surface *s = b->surface;
    const uint32_t all = s->mesh->triangle_count;
    s->leaf_count = (all - 1) / FLR_SURFACE_LANES + 1;
    uint32_t counts[FLR_SURFACE_DEPTH], levels = 0, nodes = 0;
    for (uint32_t count = s->leaf_count; levels == 0 || count > 1;) {
        count = (count - 1) / FLR_SURFACE_LANES + 1;
        counts[levels++] = count;
    }
    for (uint32_t level = 0; level < levels; level++) {
        s->level_first[level] = nodes;
        nodes += counts[levels - 1 - level];
    }
    s->level_count = levels;
    s->nodes = aligned_alloc(64, nodes * sizeof *s->nodes);
    s->leaves = aligned_alloc(64, s->leaf_count * sizeof *s->leaves);
    s->leaf_centres = malloc(s->leaf_count * sizeof *s->leaf_centres);
    b->middle = malloc(all * sizeof *b->middle);
    b->order = malloc(all * sizeof *b->order);
    return s->nodes && s->leaves && s->leaf_centres && b->middle && b->order;
}

flr_result flr_batch_surface_build(const flr_mesh *mesh, const flr_fit *fit,
                                   flr_batch_surface **surface, flr_error *error)
{
    FLR_ASSERT(mesh && fit && surface);
    flr_batch_surface *s = calloc(1, sizeof *s);
    surface_builder b = {.surface = s};
    flr_result result = FLR_OK;
    if (s) {
        s->mesh = mesh, s->fit = fit;
        s->centre = flr_vec3_scale(flr_vec3_add(mesh->bounds.low, mesh->bounds.high), 0.5);
        s->size = flr_vec3_distance(mesh->bounds.low, mesh->bounds.high);
    }
    if (!s || !allocate(&b)) {
        result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for the surface");
    } else {
        for (uint32_t i = 0; i < mesh->triangle_count; i++) {
            b.order[i] = i;
            b.middle[i] =
                flr_vec3_scale(flr_vec3_add(flr_vec3_add(corner(mesh, i, 0), corner(mesh, i, 1)),
                                            corner(mesh, i, 2)),
                               1.0 / 3);
        }
        sort_leaves(&b, 0, mesh->triangle_count);
        make_nodes(&b);
        for (uint32_t i = 0; i < s->leaf_count; i++) make_leaf(&b, i);
        result = make_normals(s, error);
    }
    free(b.middle);
    free(b.order);
    if (result == FLR_OK)
        *surface = s;
    else
        flr_batch_surface_destroy(s);
    return result;
}

void flr_batch_surface_destroy(flr_batch_surface *surface)
{
    if (!surface) return;
    free(surface->nodes);
    free(surface->leaves);
    free(surface->leaf_centres);
    free(surface->corner_normals);
    free(surface->side_normals);
    free(surface);
}
