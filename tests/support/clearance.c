#include "support/clearance.h"

#include <math.h>

#include "support/test.h"

struct flr_clearance {
    const flr_mesh *mesh;
    flr_box3 region;
    double cell, reach;
    int n[3];
    uint32_t *first;     /* [cells + 1] */
    uint32_t *triangles; /* those that may be within reach of a point of the cell */
};

static double coordinate(flr_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/* the cells a triangle, grown by reach, may touch; false when none */
static bool cells_of(const flr_clearance *c, uint32_t triangle, int low[3], int high[3])
{
    const uint32_t *v = c->mesh->triangles[triangle].v;
    for (int k = 0; k < 3; k++) {
        double a = coordinate(c->mesh->vertices[v[0]], k),
               b = coordinate(c->mesh->vertices[v[1]], k);
        double d = coordinate(c->mesh->vertices[v[2]], k), origin = coordinate(c->region.low, k);
        low[k] = (int)floor((fmin(a, fmin(b, d)) - c->reach - origin) / c->cell);
        high[k] = (int)floor((fmax(a, fmax(b, d)) + c->reach - origin) / c->cell);
        if (low[k] < 0) low[k] = 0;
        if (high[k] >= c->n[k]) high[k] = c->n[k] - 1;
        if (low[k] > high[k]) return false;
    }
    return true;
}

static size_t cell_index(const flr_clearance *c, int x, int y, int z)
{
    return ((size_t)z * (size_t)c->n[1] + (size_t)y) * (size_t)c->n[0] + (size_t)x;
}

/* counts (fill NULL) or enters every triangle into its cells */
static void enter(flr_clearance *c, uint32_t *fill)
{
    int low[3], high[3];
    for (uint32_t i = 0; i < c->mesh->triangle_count; i++) {
        if (!cells_of(c, i, low, high)) continue;
        for (int z = low[2]; z <= high[2]; z++)
            for (int y = low[1]; y <= high[1]; y++)
                for (int x = low[0]; x <= high[0]; x++) {
                    size_t cell = cell_index(c, x, y, z);
                    if (fill)
                        c->triangles[fill[cell]++] = i;
                    else
                        c->first[cell + 1]++;
                }
    }
}

flr_clearance *flr_clearance_create(const flr_mesh *mesh, flr_box3 region, double reach)
{
    flr_clearance *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->mesh = mesh;
    c->region = region;
    c->reach = reach;
    c->cell = reach;
    size_t cells = 1;
    for (int k = 0; k < 3; k++) {
        c->n[k] = (int)ceil((coordinate(region.high, k) - coordinate(region.low, k)) / c->cell) + 1;
        cells *= (size_t)c->n[k];
    }
    c->first = calloc(cells + 1, sizeof *c->first);
    uint32_t *fill = calloc(cells, sizeof *fill);
    assert_true(c->first && fill);
    enter(c, NULL);
    for (size_t i = 0; i < cells; i++) {
        c->first[i + 1] += c->first[i];
        fill[i] = c->first[i];
    }
    c->triangles = malloc((c->first[cells] + 1) * sizeof *c->triangles);
    assert_non_null(c->triangles);
    enter(c, fill);
    free(fill);
    return c;
}

void flr_clearance_destroy(flr_clearance *c)
{
    free(c->first);
    free(c->triangles);
    free(c);
}

/* the squared distance from p to a triangle, by the region of its plane that p lies over */
static double distance2(flr_vec3 p, flr_vec3 a, flr_vec3 b, flr_vec3 c)
{
    flr_vec3 edge[3] = {flr_vec3_sub(b, a), flr_vec3_sub(c, b), flr_vec3_sub(a, c)};
    flr_vec3 from[3] = {flr_vec3_sub(p, a), flr_vec3_sub(p, b), flr_vec3_sub(p, c)};
    flr_vec3 n = flr_vec3_cross(edge[0], flr_vec3_sub(c, a));
    bool inside = true;
    double best = INFINITY;
    for (int k = 0; k < 3; k++) {
        if (flr_vec3_dot(flr_vec3_cross(n, edge[k]), from[k]) >= 0) continue;
        inside = false;
        double t = flr_vec3_dot(from[k], edge[k]) / flr_vec3_dot(edge[k], edge[k]);
        flr_vec3 d = flr_vec3_add_scaled(from[k], -fmin(fmax(t, 0), 1), edge[k]);
        best = fmin(best, flr_vec3_dot(d, d));
    }
    if (!inside) return best;
    double height = flr_vec3_dot(n, from[0]);
    return height * height / flr_vec3_dot(n, n);
}

double flr_clearance_at(const flr_clearance *c, flr_vec3 p)
{
    int at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = (int)floor((coordinate(p, k) - coordinate(c->region.low, k)) / c->cell);
        if (at[k] < 0 || at[k] >= c->n[k]) return c->reach;
    }
    size_t cell = cell_index(c, at[0], at[1], at[2]);
    double best = c->reach * c->reach;
    const flr_vec3 *v = c->mesh->vertices;
    for (uint32_t i = c->first[cell]; i < c->first[cell + 1]; i++) {
        const uint32_t *t = c->mesh->triangles[c->triangles[i]].v;
        best = fmin(best, distance2(p, v[t[0]], v[t[1]], v[t[2]]));
    }
    return sqrt(best);
}

/* every corner, and a grid in every triangle that is larger than the spacing */
flr_vec3 *flr_test_surface_points(const flr_mesh *mesh, double spacing, size_t *count)
{
    size_t n = 0, room = mesh->vertex_count + 1024;
    flr_vec3 *points = malloc(room * sizeof *points);
    assert_non_null(points);
    for (uint32_t i = 0; i < mesh->vertex_count; i++) points[n++] = mesh->vertices[i];
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *v = mesh->triangles[i].v;
        flr_vec3 a = mesh->vertices[v[0]], b = mesh->vertices[v[1]], c = mesh->vertices[v[2]];
        double longest =
            fmax(flr_vec3_distance(a, b), fmax(flr_vec3_distance(b, c), flr_vec3_distance(c, a)));
        int steps = (int)ceil(longest / spacing);
        for (int j = 0; steps > 1 && j <= steps; j++)
            for (int k = 0; k <= steps - j; k++) {
                if (n == room) {
                    room *= 2;
                    points = realloc(points, room * sizeof *points);
                    assert_non_null(points);
                }
                double s = (double)j / steps, t = (double)k / steps;
                points[n++] =
                    flr_vec3_add(flr_vec3_scale(a, 1 - s - t),
                                 flr_vec3_add(flr_vec3_scale(b, s), flr_vec3_scale(c, t)));
            }
    }
    *count = n;
    return points;
}
