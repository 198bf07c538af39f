/* distances between triangles: everything that is in range with everything */
#include "bench/brute.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_CELLS = 96 }; /* along an axis */

struct flr_brute {
    const flr_mesh *mesh;
    flr_vec3 low;
    double cell; /* metres */
    int count[3];
    uint32_t *first;  /* [cells + 1]: where the list of each cell begins */
    uint32_t *lists;  /* triangles */
    uint32_t *looked; /* [triangles]: the look in which each was compared last */
    uint32_t look;
};

/* ---- two triangles ---- */

static double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* Squared distance of two segments p + s d and q + t e. */
static double segments2(flr_vec3 p, flr_vec3 d, flr_vec3 q, flr_vec3 e)
{
    const flr_vec3 r = flr_vec3_sub(p, q);
    const double dd = flr_vec3_length2(d), ee = flr_vec3_length2(e), de = flr_vec3_dot(d, e);
    const double dr = flr_vec3_dot(d, r), er = flr_vec3_dot(e, r), det = dd * ee - de * de;
    double least = INFINITY;
    /* inside of both, and at each of the four ends: the least of these is the distance */
    double s[5], t[5];
    int count = 0;
    if (det > 1e-14 * dd * ee) s[count] = clamp01((de * er - ee * dr) / det), t[count] = 0, count++;
    for (int i = 0; i < 2; i++) s[count] = i, t[count] = 0, count++;
    for (int i = 0; i < count; i++) t[i] = ee > 0 ? clamp01((de * s[i] + er) / ee) : 0;
    for (int i = 0; i < 2; i++)
        t[count] = i, s[count] = dd > 0 ? clamp01((de * i - dr) / dd) : 0, count++;
    for (int i = 0; i < count; i++) {
        const flr_vec3 gap = flr_vec3_sub(flr_vec3_add_scaled(r, s[i], d), flr_vec3_scale(e, t[i]));
        least = fmin(least, flr_vec3_length2(gap));
    }
    return least;
}

/* Squared distance of a point from a triangle: its plane where it is above it, else INFINITY (its edges are other people's). */
static double face2(flr_vec3 p, const flr_vec3 t[3])
{
    const flr_vec3 n = flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0]));
    const double nn = flr_vec3_length2(n);
    if (!(nn > 0)) return INFINITY;
    for (int i = 0; i < 3; i++) {
        const flr_vec3 edge = flr_vec3_sub(t[(i + 1) % 3], t[i]);
        if (flr_vec3_dot(flr_vec3_cross(n, edge), flr_vec3_sub(p, t[i])) < 0) return INFINITY;
    }
    const double h = flr_vec3_dot(n, flr_vec3_sub(p, t[0]));
    return h * h / nn;
}

/* Does a segment go through a triangle? */
static bool pierces(flr_vec3 p, flr_vec3 q, const flr_vec3 t[3])
{
    const flr_vec3 n = flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0]));
    const double a = flr_vec3_dot(n, flr_vec3_sub(p, t[0])),
                 b = flr_vec3_dot(n, flr_vec3_sub(q, t[0]));
    if (!(flr_vec3_length2(n) > 0) || (a > 0) == (b > 0) || a == b) return false;
    const flr_vec3 at = flr_vec3_add_scaled(p, a / (a - b), flr_vec3_sub(q, p));
    return isfinite(face2(at, t));
}

static double triangles2(const flr_vec3 a[3], const flr_vec3 b[3])
{
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        const flr_vec3 from = a[i], along = flr_vec3_sub(a[(i + 1) % 3], a[i]);
        for (int k = 0; k < 3; k++)
            least = fmin(least, segments2(from, along, b[k], flr_vec3_sub(b[(k + 1) % 3], b[k])));
        least = fmin(least, fmin(face2(a[i], b), face2(b[i], a)));
        if (pierces(a[i], a[(i + 1) % 3], b) || pierces(b[i], b[(i + 1) % 3], a)) return 0;
    }
    return least;
}

double flr_brute_triangles(const flr_vec3 a[3], const flr_vec3 b[3])
{
    return sqrt(triangles2(a, b));
}

/* ---- the grid ---- */

static void corners_of(const flr_mesh *mesh, uint32_t triangle, flr_vec3 to[3])
{
    for (int i = 0; i < 3; i++) to[i] = mesh->vertices[mesh->triangles[triangle].v[i]];
}

static flr_box3 box_of(const flr_vec3 t[3])
{
    flr_box3 box = flr_box3_empty();
    for (int i = 0; i < 3; i++) box = flr_box3_add(box, t[i]);
    return box;
}

/* The cells that a box reaches into; false: none. */
static bool cells_of(const flr_brute *g, flr_box3 box, int from[3], int to[3])
{
    const double low[3] = {box.low.x - g->low.x, box.low.y - g->low.y, box.low.z - g->low.z},
                 high[3] = {box.high.x - g->low.x, box.high.y - g->low.y, box.high.z - g->low.z};
    for (int i = 0; i < 3; i++) {
        const double a = floor(low[i] / g->cell), b = floor(high[i] / g->cell);
        if (b < 0 || a >= g->count[i]) return false;
        from[i] = a > 0 ? (int)a : 0;
        to[i] = b < g->count[i] - 1 ? (int)b : g->count[i] - 1;
    }
    return true;
}

static size_t cell_at(const flr_brute *g, int x, int y, int z)
{
    return ((size_t)z * (size_t)g->count[1] + (size_t)y) * (size_t)g->count[0] + (size_t)x;
}

/* Goes through the cells of all triangles: counts them in first[cell + 1], or lists them. */
static void fill(flr_brute *g, bool list)
{
    for (uint32_t k = 0; k < g->mesh->triangle_count; k++) {
        flr_vec3 t[3];
        int from[3], to[3];
        corners_of(g->mesh, k, t);
        if (!cells_of(g, box_of(t), from, to)) continue;
        for (int z = from[2]; z <= to[2]; z++)
            for (int y = from[1]; y <= to[1]; y++)
                for (int x = from[0]; x <= to[0]; x++) {
                    const size_t cell = cell_at(g, x, y, z);
                    if (list)
                        g->lists[g->first[cell]++] = k;
                    else
                        g->first[cell + 1]++;
                }
    }
}

flr_result flr_brute_create(const flr_mesh *mesh, flr_brute **brute, flr_error *error)
{
    flr_brute *g = calloc(1, sizeof *g);
    if (!g) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    const flr_vec3 size = flr_box3_size(mesh->bounds);
    const double longest = fmax(size.x, fmax(size.y, size.z)), sides[3] = {size.x, size.y, size.z};
    g->mesh = mesh;
    g->low = mesh->bounds.low;
    /* about as many cells as triangles lie side by side */
    const double across = fmin(fmax(sqrt(mesh->triangle_count), 4), MAX_CELLS);
    g->cell = longest > 0 ? longest / across : 1;
    for (int i = 0; i < 3; i++) g->count[i] = (int)(sides[i] / g->cell) + 1;
    const size_t cells = cell_at(g, 0, 0, g->count[2]);
    g->first = calloc(cells + 2, sizeof *g->first);
    g->looked = calloc((size_t)mesh->triangle_count + 1, sizeof *g->looked);
    if (g->first) {
        fill(g, false);
        for (size_t i = 0; i < cells; i++) g->first[i + 1] += g->first[i];
        g->lists = calloc((size_t)g->first[cells] + 1, sizeof *g->lists);
    }
    if (!g->first || !g->looked || !g->lists) {
        flr_brute_destroy(g);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    }
    fill(g, true);
    /* listing has moved every beginning to its end */
    for (size_t i = cells; i > 0; i--) g->first[i] = g->first[i - 1];
    g->first[0] = 0;
    *brute = g;
    return FLR_OK;
}

void flr_brute_destroy(flr_brute *g)
{
    if (!g) return;
    free(g->first);
    free(g->lists);
    free(g->looked);
    free(g);
}

/* ---- looking ---- */

static double apart(double a_low, double a_high, double b_low, double b_high)
{
    return fmax(0, fmax(a_low - b_high, b_low - a_high));
}

static double boxes2(flr_box3 a, flr_box3 b)
{
    const double x = apart(a.low.x, a.high.x, b.low.x, b.high.x),
                 y = apart(a.low.y, a.high.y, b.low.y, b.high.y),
                 z = apart(a.low.z, a.high.z, b.low.z, b.high.z);
    return x * x + y * y + z * z;
}

/* The triangles in the cells near one: the least squared distance, if it is below `least2`. A point is three equal corners. */
static double near2(flr_brute *g, const flr_vec3 t[3], double least2)
{
    const flr_box3 box = box_of(t);
    int from[3], to[3];
    if (!cells_of(g, flr_box3_grow(box, sqrt(least2)), from, to)) return least2;
    g->look++;
    for (int z = from[2]; z <= to[2]; z++)
        for (int y = from[1]; y <= to[1]; y++)
            for (int x = from[0]; x <= to[0]; x++) {
                const size_t cell = cell_at(g, x, y, z);
                for (uint32_t i = g->first[cell]; i < g->first[cell + 1]; i++) {
                    const uint32_t k = g->lists[i];
                    flr_vec3 other[3];
                    if (g->looked[k] == g->look) continue;
                    g->looked[k] = g->look;
                    corners_of(g->mesh, k, other);
                    if (boxes2(box, box_of(other)) >= least2) continue;
                    const double d2 = triangles2(t, other);
                    if (d2 < least2) least2 = d2;
                }
            }
    return least2;
}

double flr_brute_distance(flr_brute *g, const flr_mesh *other, flr_pose T, double range)
{
    const double range2 = range * range;
    double least2 = range2;
    for (uint32_t k = 0; k < other->triangle_count && least2 > 0; k++) {
        flr_vec3 t[3];
        corners_of(other, k, t);
        for (int i = 0; i < 3; i++) t[i] = flr_pose_apply(T, t[i]);
        least2 = near2(g, t, least2);
    }
    return least2 < range2 ? sqrt(least2) : INFINITY;
}

double flr_brute_point(flr_brute *g, flr_vec3 point, double range)
{
    const flr_vec3 t[3] = {point, point, point};
    const double range2 = range * range, least2 = near2(g, t, range2);
    return least2 < range2 ? sqrt(least2) : INFINITY;
}

double flr_brute_winding(const flr_brute *g, flr_vec3 point)
{
    double sum = 0;
    for (uint32_t k = 0; k < g->mesh->triangle_count; k++) {
        flr_vec3 t[3];
        double length[3];
        corners_of(g->mesh, k, t);
        for (int i = 0; i < 3; i++)
            t[i] = flr_vec3_sub(t[i], point), length[i] = flr_vec3_length(t[i]);
        const double volume = flr_vec3_dot(t[0], flr_vec3_cross(t[1], t[2]));
        const double scale =
            length[0] * length[1] * length[2] + flr_vec3_dot(t[0], t[1]) * length[2] +
            flr_vec3_dot(t[1], t[2]) * length[0] + flr_vec3_dot(t[2], t[0]) * length[1];
        sum += 2 * atan2(volume, scale);
    }
    return sum / (4 * acos(-1));
}
