/* circles and cylinders in a mesh */
#include <math.h>
#include <stdlib.h>

#include "math/jacobi.h"
#include "mesh/surface_internal.h"

enum { MAX_TRIES = 24, MIN_PLACES = 4 };

static const double fit_share = 1e-3;   /* of the radius: how far a vertex may be off */
static const double smooth_cos = 0.766; /* 40 degrees between strips */
static const double flat_cos = 1 - 1e-6;

/* ---- a circle ---- */

static void make_axes(flr_vec3 axis, flr_vec3 *u, flr_vec3 *v)
{
    flr_vec3 least = fabs(axis.x) < 0.6 ? flr_vec3_make(1, 0, 0) : flr_vec3_make(0, 1, 0);
    *u = flr_vec3_cross(axis, least);
    *u = flr_vec3_scale(*u, 1 / flr_vec3_length(*u));
    *v = flr_vec3_cross(axis, *u);
}

/* Least squares in x² + y² + ax + by + c, about the mean of the points (Kåsa). */
bool flr_surface_fit_circle(const flr_vec3 *points, uint32_t count, flr_vec3 axis,
                            flr_surface_circle *circle)
{
    flr_vec3 u, v, mean = flr_vec3_zero();
    make_axes(axis, &u, &v);
    for (uint32_t i = 0; i < count; i++) mean = flr_vec3_add_scaled(mean, 1.0 / count, points[i]);
    double xx = 0, xy = 0, yy = 0, xz = 0, yz = 0, zz = 0;
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 d = flr_vec3_sub(points[i], mean);
        double x = flr_vec3_dot(d, u), y = flr_vec3_dot(d, v), z = x * x + y * y;
        xx += x * x, xy += x * y, yy += y * y, xz += x * z, yz += y * z, zz += z;
    }
    double det = xx * yy - xy * xy;
    if (!(det > 1e-12 * zz * zz)) return false;
    double a = (xz * yy - yz * xy) / (2 * det), b = (yz * xx - xz * xy) / (2 * det);
    circle->axis = axis;
    circle->centre = flr_vec3_add(mean, flr_vec3_add(flr_vec3_scale(u, a), flr_vec3_scale(v, b)));
    circle->radius = sqrt(a * a + b * b + zz / count);
    circle->error = 0;
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 d = flr_vec3_sub(points[i], circle->centre);
        double away = hypot(flr_vec3_dot(d, u), flr_vec3_dot(d, v));
        circle->error = fmax(circle->error, fabs(away - circle->radius));
    }
    return isfinite(circle->radius);
}

/* ---- a cylinder ---- */

/* The corners of triangles, one after another; NULL: no memory. */
static flr_vec3 *corners_of(const flr_mesh *mesh, const uint32_t *triangles, uint32_t count)
{
    flr_vec3 *points = malloc(3 * (size_t)count * sizeof *points);
    for (uint32_t i = 0; points && i < count; i++)
        for (int k = 0; k < 3; k++)
            points[3 * (size_t)i + (size_t)k] = mesh->vertices[mesh->triangles[triangles[i]].v[k]];
    return points;
}

static flr_vec3 away_from_axis(const flr_surface_circle *c, flr_vec3 p)
{
    flr_vec3 d = flr_vec3_sub(p, c->centre);
    return flr_vec3_add_scaled(d, -flr_vec3_dot(d, c->axis), c->axis);
}

typedef struct cylinder_test {
    const flr_surface_walk *walk;
    const flr_surface_circle *circle;
    double limit;
} cylinder_test;

static bool is_on_cylinder(void *context, uint32_t from, uint32_t to)
{
    const cylinder_test *t = context;
    const flr_mesh *mesh = t->walk->mesh;
    for (int k = 0; k < 3; k++) {
        flr_vec3 away = away_from_axis(t->circle, mesh->vertices[mesh->triangles[to].v[k]]);
        if (fabs(flr_vec3_length(away) - t->circle->radius) > t->limit) return false;
    }
    flr_vec3 one = flr_surface_normal(mesh, from), other = flr_surface_normal(mesh, to);
    if (flr_vec3_length2(other) == 0 || flr_vec3_length2(one) == 0) return true;
    return flr_vec3_dot(one, other) > smooth_cos &&
           fabs(flr_vec3_dot(other, t->circle->axis)) < 0.2;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* How many different places around the axis the points have, 4 at most; 0: no memory. */
static int places_around(const flr_surface_circle *c, const flr_vec3 *points, uint32_t count)
{
    flr_vec3 u, v;
    make_axes(c->axis, &u, &v);
    double *angles = malloc(count * sizeof *angles);
    if (!angles) return 0;
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 d = flr_vec3_sub(points[i], c->centre);
        angles[i] = atan2(flr_vec3_dot(d, v), flr_vec3_dot(d, u));
    }
    qsort(angles, count, sizeof *angles, compare_numbers);
    int places = 1;
    for (uint32_t i = 1; i < count && places < MIN_PLACES; i++)
        places += angles[i] - angles[i - 1] > 1e-3;
    free(angles);
    return places;
}

/* The axis that all normals are most nearly across. */
static flr_vec3 axis_of_normals(const flr_mesh *mesh, const uint32_t *triangles, uint32_t count,
                                flr_vec3 like)
{
    double a[FLR_JACOBI_MAX][FLR_JACOBI_MAX] = {{0}}, v[FLR_JACOBI_MAX][FLR_JACOBI_MAX];
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 n = flr_surface_normal(mesh, triangles[i]);
        const double of[3] = {n.x, n.y, n.z};
        double weight = flr_surface_area(mesh, &triangles[i], 1);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) a[r][c] += weight * of[r] * of[c];
    }
    flr_jacobi(3, a, v);
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (a[k][k] < a[least][least]) least = k;
    flr_vec3 axis = {v[0][least], v[1][least], v[2][least]};
    return flr_vec3_dot(axis, like) < 0 ? flr_vec3_neg(axis) : axis;
}

typedef struct cylinder_try {
    flr_surface_circle circle;
    uint32_t count;
    double area;
} cylinder_try;

/* The cylinder through a flat strip and the triangle beside it; `count` 0: there is none. */
static flr_result try_cylinder(flr_surface_walk *w, uint32_t beside, cylinder_try *found,
                               flr_error *error)
{
    const flr_mesh *mesh = w->mesh;
    *found = (cylinder_try){.count = 0};
    flr_vec3 axis =
        flr_vec3_cross(flr_surface_normal(mesh, w->seed), flr_surface_normal(mesh, beside));
    axis = flr_vec3_scale(axis, 1 / flr_vec3_length(axis));
    w->list[w->count] = beside; /* there is room: it is none of them */
    flr_vec3 *points = corners_of(mesh, w->list, w->count + 1);
    if (!points) return flr_fail(error, FLR_NO_MEMORY, "no memory to measure");
    flr_surface_circle circle;
    bool ok = flr_surface_fit_circle(points, 3 * (w->count + 1), axis, &circle) &&
              circle.error <= fit_share * circle.radius + w->tiny;
    free(points);
    if (!ok) return FLR_OK;
    cylinder_test test = {w, &circle, fit_share * circle.radius + w->tiny};
    uint32_t count = flr_surface_flood(w, w->seed, is_on_cylinder, &test, w->other);
    points = corners_of(mesh, w->other, count);
    int places = points ? places_around(&circle, points, 3 * count) : 0;
    if (places == 0) {
        free(points);
        return flr_fail(error, FLR_NO_MEMORY, "no memory to measure");
    }
    if (places >= MIN_PLACES) {
        /* all of it says more exactly where the axis is */
        flr_surface_circle finer;
        flr_vec3 mean = axis_of_normals(mesh, w->other, count, axis);
        if (flr_surface_fit_circle(points, 3 * count, mean, &finer) && finer.error <= test.limit)
            circle = finer;
        *found = (cylinder_try){circle, count, flr_surface_area(mesh, w->other, count)};
    }
    free(points);
    return FLR_OK;
}

flr_result flr_surface_find_cylinder(flr_surface_walk *w, flr_surface *surface, bool *found,
                                     flr_error *error)
{
    flr_vec3 normal = flr_surface_normal(w->mesh, w->seed);
    cylinder_try best = {.count = 0};
    uint32_t *kept = NULL, tries = 0;
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < w->count && tries < MAX_TRIES && result == FLR_OK; i++)
        for (uint32_t k = 0; k < 3 && tries < MAX_TRIES && result == FLR_OK; k++) {
            uint32_t opposite = flr_adjacency_opposite(w->adjacency, 3 * w->list[i] + k);
            if (opposite == FLR_NONE) continue;
            double cosine = flr_vec3_dot(normal, flr_surface_normal(w->mesh, opposite / 3));
            if (!(cosine > smooth_cos && cosine < flat_cos)) continue;
            cylinder_try one;
            tries++;
            result = try_cylinder(w, opposite / 3, &one, error);
            if (result != FLR_OK || one.area <= best.area) continue;
            uint32_t *more = realloc(kept, one.count * sizeof *kept);
            if (!more) {
                result = flr_fail(error, FLR_NO_MEMORY, "no memory to measure");
                continue;
            }
            kept = more;
            for (uint32_t n = 0; n < one.count; n++) kept[n] = w->other[n];
            best = one;
        }
    *found = result == FLR_OK && best.count > 0;
    if (*found) {
        flr_vec3 along = flr_vec3_sub(w->at, best.circle.centre);
        surface->kind = FLR_SURFACE_CYLINDER;
        surface->direction = best.circle.axis;
        surface->point = flr_vec3_add_scaled(
            best.circle.centre, flr_vec3_dot(along, best.circle.axis), best.circle.axis);
        surface->radius = best.circle.radius;
        surface->size = best.area;
        surface->hollow = flr_vec3_dot(normal, away_from_axis(&best.circle, w->at)) < 0;
        for (uint32_t n = 0; n < best.count; n++) w->list[n] = kept[n];
        w->count = best.count;
    }
    free(kept);
    return result;
}
