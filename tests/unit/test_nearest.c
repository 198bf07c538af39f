/* the nearest points of two triangles against plain formulas in four times the precision */
#include "mesh/nearest.h"

#include <math.h>

#include "mesh/triangle.h"
#include "support/test.h"

/* ---- the yardstick: every corner with the other triangle, every side with every side, every side through the other ---- */

typedef struct wide {
    __float128 x, y, z;
} wide;

static wide widen(flr_vec3 v) { return (wide){v.x, v.y, v.z}; }
static wide less(wide a, wide b) { return (wide){a.x - b.x, a.y - b.y, a.z - b.z}; }
static wide more(wide a, __float128 f, wide b)
{
    return (wide){a.x + f * b.x, a.y + f * b.y, a.z + f * b.z};
}
static __float128 dot(wide a, wide b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static wide cross(wide a, wide b)
{
    return (wide){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static __float128 clamp(__float128 x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
static __float128 lesser(__float128 a, __float128 b) { return a < b ? a : b; }

static __float128 point_segment2(wide p, wide a, wide b)
{
    wide d = less(b, a);
    __float128 l = dot(d, d);
    wide q = more(a, l > 0 ? clamp(dot(less(p, a), d) / l) : 0, d);
    return dot(less(p, q), less(p, q));
}

/* The least over all ends, and over the common perpendicular where it meets both. */
static __float128 segments2(wide a, wide b, wide c, wide d)
{
    __float128 best = lesser(lesser(point_segment2(a, c, d), point_segment2(b, c, d)),
                             lesser(point_segment2(c, a, b), point_segment2(d, a, b)));
    wide u = less(b, a), v = less(d, c), n = cross(u, v), w = less(c, a);
    __float128 n2 = dot(n, n);
    if (n2 <= 0) return best;
    __float128 s = dot(cross(w, v), n) / n2, t = dot(cross(w, u), n) / n2;
    if (s < 0 || s > 1 || t < 0 || t > 1) return best;
    wide r = less(more(a, s, u), more(c, t, v));
    return lesser(best, dot(r, r));
}

static bool over(const wide t[3], wide p)
{
    wide n = cross(less(t[1], t[0]), less(t[2], t[0]));
    if (dot(n, n) <= 0) return false;
    for (int i = 0; i < 3; i++)
        if (dot(cross(less(t[(i + 1) % 3], t[i]), less(p, t[i])), n) < 0) return false;
    return true;
}

static __float128 inside2(const wide t[3], const wide o[3])
{
    wide n = cross(less(t[1], t[0]), less(t[2], t[0]));
    __float128 n2 = dot(n, n), best = INFINITY, h[3];
    if (n2 <= 0) return best;
    for (int i = 0; i < 3; i++) {
        h[i] = dot(n, less(o[i], t[0]));
        if (over(t, o[i])) best = lesser(best, h[i] * h[i] / n2);
    }
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3;
        if (h[i] * h[k] >= 0) continue;
        if (over(t, more(o[i], h[i] / (h[i] - h[k]), less(o[k], o[i])))) return 0;
    }
    return best;
}

static double plain(const flr_vec3 a[3], const flr_vec3 b[3])
{
    wide p[3], q[3];
    for (int i = 0; i < 3; i++) p[i] = widen(a[i]), q[i] = widen(b[i]);
    __float128 best = lesser(inside2(p, q), inside2(q, p));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            best = lesser(best, segments2(p[i], p[(i + 1) % 3], q[k], q[(k + 1) % 3]));
    return sqrt((double)best);
}

/* ---- checks ---- */

static double to_triangle(flr_vec3 p, const flr_vec3 t[3])
{
    const flr_vec3 dot_like[3] = {p, p, p};
    return plain(dot_like, t);
}

/* Where a point of this part of the triangle must lie. */
static double to_part(flr_vec3 p, const flr_vec3 t[3], unsigned part)
{
    if (part == FLR_INSIDE) return to_triangle(p, t);
    if (part < FLR_SIDE) return flr_vec3_distance(p, t[part]);
    const flr_vec3 side[3] = {t[part - FLR_SIDE], t[(part + 1) % 3], t[(part + 1) % 3]};
    return to_triangle(p, side);
}

static void check(const flr_vec3 a[3], const flr_vec3 b[3])
{
    double size = 0;
    for (int i = 0; i < 3; i++)
        size = fmax(size, fmax(flr_vec3_length(a[i]), flr_vec3_length(b[i])));
    const double slack = 2e-14 * size;
    flr_nearest n = {.distance2 = INFINITY};
    assert_true(flr_triangles_nearest(a, b, &n));
    const double expected = plain(a, b), found = sqrt(n.distance2);
    if (!(fabs(found - expected) <= slack))
        fail_msg("%.17g, expected %.17g, sizes of %g\n a %.17g %.17g %.17g  %.17g %.17g %.17g  "
                 "%.17g %.17g %.17g\n b %.17g %.17g %.17g  %.17g %.17g %.17g  %.17g %.17g %.17g",
                 found, expected, size, a[0].x, a[0].y, a[0].z, a[1].x, a[1].y, a[1].z, a[2].x,
                 a[2].y, a[2].z, b[0].x, b[0].y, b[0].z, b[1].x, b[1].y, b[1].z, b[2].x, b[2].y,
                 b[2].z);
    /* the points are as far apart, and lie where it says */
    assert_le(fabs(flr_vec3_distance(n.at[0], n.at[1]) - expected), slack);
    assert_le(to_part(n.at[0], a, n.part[0]), slack);
    assert_le(to_part(n.at[1], b, n.part[1]), slack);
    /* nothing below what is known already */
    flr_nearest none = {.distance2 = n.distance2};
    assert_false(flr_triangles_nearest(a, b, &none));
    assert_eq(none.distance2, n.distance2);
}

static flr_vec3 random_point(flr_test_random *random, double reach)
{
    return flr_vec3_make(flr_test_random_range(random, -reach, reach),
                         flr_test_random_range(random, -reach, reach),
                         flr_test_random_range(random, -reach, reach));
}

static void random_triangles(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random_triangles");
    for (int i = 0; i < 1500; i++) {
        flr_vec3 a[3], b[3];
        const double apart = pow(10, flr_test_random_range(&random, -6, 1));
        const flr_vec3 away = random_point(&random, apart);
        for (int k = 0; k < 3; k++) {
            a[k] = random_point(&random, 1);
            b[k] = flr_vec3_add(random_point(&random, 1), away);
        }
        check(a, b);
        /* thin ones, single lines and single points */
        const double thin = pow(10, flr_test_random_range(&random, -18, 0));
        a[2] = flr_vec3_add_scaled(flr_vec3_lerp(a[0], a[1], flr_test_random_range(&random, -1, 2)),
                                   thin, random_point(&random, 1));
        check(a, b);
        check(b, a);
        b[1] = i % 2 ? b[0] : b[2];
        check(a, b);
        if (i % 5 == 0) b[2] = b[0] = b[1];
        check(a, b);
    }
}

/* corners on a coarse lattice: parallel sides, common corners and planes, all the time */
static void lattice_triangles(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("lattice_triangles");
    for (int i = 0; i < 3000; i++) {
        flr_vec3 t[2][3];
        for (int k = 0; k < 6; k++) {
            const double x = flr_test_random_below(&random, 3),
                         y = flr_test_random_below(&random, 3),
                         z = flr_test_random_below(&random, 2 + (unsigned)k % 2);
            t[k / 3][k % 3] = flr_vec3_make(x, y, z);
        }
        check(t[0], t[1]);
        /* almost parallel, almost in a plane */
        const double off = pow(10, flr_test_random_range(&random, -17, -3));
        for (int k = 0; k < 3; k++)
            t[1][k] = flr_vec3_add_scaled(t[1][k], off, random_point(&random, 1));
        check(t[0], t[1]);
    }
}

/* long sides that cross at a tiny angle: the determinant of their directions is lost in rounding */
static void sides_almost_parallel(void **state)
{
    (void)state;
    for (double angle = 1e-3; angle > 1e-13; angle /= 3) {
        const flr_vec3 a[3] = {{-1, 0, 0}, {1, 0, 0}, {0, 0, -1}};
        const flr_vec3 b[3] = {{-1, -angle, 0.001}, {1, angle, 0.001}, {0, 0, 1}};
        check(a, b);
        flr_nearest n = {.distance2 = INFINITY};
        flr_triangles_nearest(a, b, &n);
        assert_lt(fabs(n.at[0].x), 1e-15 / angle + 1e-12);
    }
}

/* What crosses has distance 0, and that is what the crossing test of feeler check says. */
static void crossing_is_zero(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("crossing_is_zero");
    int crossing = 0;
    for (int i = 0; i < 20000; i++) {
        flr_vec3 a[3], b[3];
        for (int k = 0; k < 3; k++)
            a[k] = random_point(&random, 1), b[k] = random_point(&random, 1);
        flr_nearest n = {.distance2 = INFINITY};
        flr_triangles_nearest(a, b, &n);
        const flr_triangles meet = flr_triangles_meet(a, b, 0, NULL);
        if (meet != FLR_TRIANGLES_APART) {
            crossing++;
            assert_eq(n.distance2, 0);
        } else {
            assert_true(n.distance2 < 1e-28 || n.distance2 > 0);
        }
    }
    assert_gt(crossing, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_triangles),
        cmocka_unit_test(lattice_triangles),
        cmocka_unit_test(sides_almost_parallel),
        cmocka_unit_test(crossing_is_zero),
    };
    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
