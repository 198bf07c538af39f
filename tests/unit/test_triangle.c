/* src/mesh/triangle.c against long-double references and brute-force sampling */
#include "mesh/triangle.h"

#include <math.h>

#include "support/test.h"

typedef struct pair {
    flr_vec3 a[3], b[3];
} pair;

/* ---- the distance of two triangles, the plain way ---- */

static double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* squared distance between the segments p + s u and q + t v, s and t in 0..1 */
static double segments_distance2(flr_vec3 p, flr_vec3 u, flr_vec3 q, flr_vec3 v)
{
    const flr_vec3 r = flr_vec3_sub(p, q);
    const double uu = flr_vec3_dot(u, u), vv = flr_vec3_dot(v, v), uv = flr_vec3_dot(u, v);
    const double ur = flr_vec3_dot(u, r), vr = flr_vec3_dot(v, r);
    /* the best s on the whole lines, clamped; then the best t for it; then s again */
    const double det = uu * vv - uv * uv;
    double s = det > 0 ? clamp01((uv * vr - vv * ur) / det) : 0;
    double t = vv > 0 ? clamp01((uv * s + vr) / vv) : 0;
    s = uu > 0 ? clamp01((uv * t - ur) / uu) : 0;
    t = vv > 0 ? clamp01((uv * s + vr) / vv) : 0;
    return flr_vec3_length2(flr_vec3_add_scaled(flr_vec3_add_scaled(r, s, u), -t, v));
}

/* is a point of the triangle's plane inside it? */
static bool within(const flr_vec3 t[3], flr_vec3 normal, flr_vec3 p)
{
    for (int i = 0; i < 3; i++) {
        const flr_vec3 side = flr_vec3_sub(t[(i + 1) % 3], t[i]);
        if (flr_vec3_dot(normal, flr_vec3_cross(side, flr_vec3_sub(p, t[i]))) < 0) return false;
    }
    return true;
}

/* squared distance from the inside of `face` to the corners and sides of `other`; what lies beside
 * it is nearer to one of its sides */
static double face_distance2(const flr_vec3 face[3], const flr_vec3 other[3])
{
    const flr_vec3 normal = flr_vec3_normalize(
        flr_vec3_cross(flr_vec3_sub(face[1], face[0]), flr_vec3_sub(face[2], face[0])));
    if (flr_vec3_length2(normal) == 0) return INFINITY;
    double best = INFINITY, distance[3];
    for (int i = 0; i < 3; i++) {
        distance[i] = flr_vec3_dot(normal, flr_vec3_sub(other[i], face[0]));
        const flr_vec3 foot = flr_vec3_add_scaled(other[i], -distance[i], normal);
        if (distance[i] * distance[i] < best && within(face, normal, foot))
            best = distance[i] * distance[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (!(distance[i] * distance[j] < 0)) continue;
        const double t = distance[i] / (distance[i] - distance[j]);
        if (within(face, normal, flr_vec3_lerp(other[i], other[j], t))) return 0;
    }
    return best;
}

static double distance_of(const flr_vec3 a[3], const flr_vec3 b[3])
{
    double best = fmin(face_distance2(a, b), face_distance2(b, a));
    for (int i = 0; i < 3; i++) {
        const flr_vec3 u = flr_vec3_sub(a[(i + 1) % 3], a[i]);
        for (int j = 0; j < 3; j++)
            best =
                fmin(best, segments_distance2(a[i], u, b[j], flr_vec3_sub(b[(j + 1) % 3], b[j])));
    }
    return sqrt(best);
}

/* As flr_triangles_meet(), and TOUCH where there is no distance but what the tolerance or rounding leave of it. */
enum { TOUCH = -1 };

static int relate(const flr_vec3 a[3], const flr_vec3 b[3], double tolerance)
{
    const int meet = (int)flr_triangles_meet(a, b, tolerance, NULL);
    double size = 0;
    for (int i = 0; i < 3; i++)
        size = fmax(size, fmax(flr_vec3_distance(a[i], a[(i + 1) % 3]),
                               flr_vec3_distance(b[i], b[(i + 1) % 3])));
    if (meet != FLR_TRIANGLES_APART) return meet;
    return distance_of(a, b) > fmax(tolerance, 1e-14 * size) ? meet : TOUCH;
}

static flr_vec3 random_point(flr_test_random *random, double size)
{
    const double x = flr_test_random_range(random, -size, size);
    const double y = flr_test_random_range(random, -size, size);
    const double z = flr_test_random_range(random, -size, size);
    return flr_vec3_make(x, y, z);
}

static flr_vec3 inside(const flr_vec3 t[3], double u, double v)
{
    const flr_vec3 p = flr_vec3_add_scaled(t[0], u, flr_vec3_sub(t[1], t[0]));
    return flr_vec3_add_scaled(p, v, flr_vec3_sub(t[2], t[0]));
}

/* the sign of the volume of a, b, c, d, in long double; 0 where that cannot tell */
static int orientation(flr_vec3 a, flr_vec3 b, flr_vec3 c, flr_vec3 d)
{
    const long double u[3] = {(long double)b.x - a.x, (long double)b.y - a.y,
                              (long double)b.z - a.z};
    const long double v[3] = {(long double)c.x - a.x, (long double)c.y - a.y,
                              (long double)c.z - a.z};
    const long double w[3] = {(long double)d.x - a.x, (long double)d.y - a.y,
                              (long double)d.z - a.z};
    const long double det = u[0] * (v[1] * w[2] - v[2] * w[1]) -
                            u[1] * (v[0] * w[2] - v[2] * w[0]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
    return det > 1e-15L ? 1 : det < -1e-15L ? -1 : 0;
}

/* does the segment p q pass through the inside of t? 1 yes, 0 no, -1 too close to tell */
static int pierces(flr_vec3 p, flr_vec3 q, const flr_vec3 t[3])
{
    const int above = orientation(t[0], t[1], t[2], p), below = orientation(t[0], t[1], t[2], q);
    if (above == 0 || below == 0) return -1;
    if (above == below) return 0;
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        const int side = orientation(p, q, t[i], t[(i + 1) % 3]);
        if (side == 0) return -1;
        sum += side;
    }
    return sum == 3 || sum == -3;
}

/* triangles in general position cross when a side of one passes through the other */
static int crossing_reference(const pair *t)
{
    int answer = 0;
    for (int i = 0; i < 3; i++) {
        const int first = pierces(t->a[i], t->a[(i + 1) % 3], t->b);
        const int second = pierces(t->b[i], t->b[(i + 1) % 3], t->a);
        if (first < 0 || second < 0) return -1;
        answer |= first | second;
    }
    return answer;
}

static void random_triangles_agree_with_the_reference(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random triangles");
    int crossed = 0, apart = 0;
    for (int round = 0; round < 200000; round++) {
        pair t;
        /* every fifth is long and thin */
        for (int i = 0; i < 3; i++)
            t.a[i] = random_point(&random, 1), t.b[i] = random_point(&random, 1);
        if (round % 5 == 0) t.a[2] = flr_vec3_lerp(t.a[0], t.a[1], 0.3), t.a[2].z += 1e-3;
        const int expected = crossing_reference(&t);
        if (expected < 0) continue;
        flr_vec3 where = {0, 0, 0};
        const flr_triangles got = flr_triangles_meet(t.a, t.b, 0, &where);
        assert_int_equal(got == FLR_TRIANGLES_CROSS, expected);
        assert_int_equal(flr_triangles_meet(t.b, t.a, 0, NULL), got);
        expected ? crossed++ : apart++;
        if (!expected) {
            assert_gt(distance_of(t.a, t.b), 0);
            continue;
        }
        assert_lt(distance_of(t.a, t.b), 1e-12);
        const flr_vec3 point[3] = {where, where, where};
        assert_lt(distance_of(point, t.a), 1e-9);
        assert_lt(distance_of(point, t.b), 1e-9);
    }
    assert_gt(crossed, 10000);
    assert_gt(apart, 10000);
}

static void the_distance_is_the_least_of_all_samples(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("distance");
    for (int round = 0; round < 400; round++) {
        pair t;
        for (int i = 0; i < 3; i++) {
            t.a[i] = random_point(&random, 1);
            t.b[i] = flr_vec3_add(random_point(&random, 1), flr_vec3_make(0.5, 0.8, 0.3));
        }
        if (round % 4 == 1) t.a[1] = t.a[0];          /* a segment */
        if (round % 4 == 2) t.a[1] = t.a[2] = t.a[0]; /* a point */
        if (round % 8 == 3) t.b[1] = t.b[2], t.a[1] = t.a[2];
        enum { N = 24 };
        double best = INFINITY;
        for (int i = 0; i <= N; i++)
            for (int j = 0; i + j <= N; j++)
                for (int k = 0; k <= N; k++)
                    for (int l = 0; k + l <= N; l++)
                        best = fmin(best,
                                    flr_vec3_distance(inside(t.a, i / (double)N, j / (double)N),
                                                      inside(t.b, k / (double)N, l / (double)N)));
        const double got = distance_of(t.a, t.b);
        assert_le(got, best + 1e-12);
        assert_ge(got, best - 2 * 3.5 / N); /* samples are at most this far from any point */
        assert_lt(fabs(got - distance_of(t.b, t.a)), 1e-12);
    }
}

/* pairs that share corners, in a random frame far from the origin, as meshes have them */
static void neighbours_are_no_crossings(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("neighbours");
    for (int round = 0; round < 20000; round++) {
        const double far = round % 3 == 0 ? 1000 : 1;
        flr_vec3 v[5];
        for (int i = 0; i < 5; i++) v[i] = random_point(&random, far);
        /* a shared side: never a crossing, whatever the fold */
        const flr_vec3 a[3] = {v[0], v[1], v[2]}, b[3] = {v[1], v[0], v[3]};
        assert_int_equal(flr_triangles_meet(a, b, 0, NULL), FLR_TRIANGLES_APART);
        assert_int_equal(relate(a, b, 0), TOUCH);
        /* laid flat, on both sides of the shared one: no overlap; folded over: overlap */
        const flr_vec3 middle = flr_vec3_lerp(v[0], v[1], 0.5);
        const flr_vec3 across = flr_vec3_sub(flr_vec3_scale(middle, 2), v[2]);
        const flr_vec3 half = flr_vec3_lerp(middle, v[2], 0.5);
        const flr_vec3 flat[3] = {v[1], v[0], across}, folded[3] = {v[1], v[0], half};
        assert_int_equal(flr_triangles_meet(a, flat, 1e-9 * far, NULL), FLR_TRIANGLES_APART);
        const double area =
            flr_vec3_length(flr_vec3_cross(flr_vec3_sub(v[1], v[0]), flr_vec3_sub(v[2], v[0])));
        if (area > 0.01 * far * far)
            assert_int_equal(flr_triangles_meet(a, folded, 1e-9 * far, NULL),
                             FLR_TRIANGLES_OVERLAP);
        /* a shared corner: crosses exactly when a far side passes through the other */
        const flr_vec3 c[3] = {v[0], v[3], v[4]};
        const int first = pierces(v[3], v[4], a), second = pierces(v[1], v[2], c);
        if (first < 0 || second < 0 || area < 0.01 * far * far) continue;
        assert_int_equal(flr_triangles_meet(a, c, 0, NULL) == FLR_TRIANGLES_CROSS, first || second);
    }
}

static void coplanar_triangles_overlap_by_area(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("coplanar");
    int overlaps = 0, apart = 0;
    for (int round = 0; round < 20000; round++) {
        double p[6][2];
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 2; k++) p[i][k] = flr_test_random_range(&random, 0, 1);
        /* reference in the plane: some grid point is well inside both */
        bool inside_both = false;
        for (int i = 1; i < 40 && !inside_both; i++)
            for (int j = 1; j < 40 && !inside_both; j++) {
                bool in = true;
                for (int t = 0; t < 2; t++) {
                    int sum = 0;
                    for (int k = 0; k < 3; k++) {
                        const double *q = p[3 * t + k], *r = p[3 * t + (k + 1) % 3];
                        const double side =
                            (r[0] - q[0]) * (j / 40.0 - q[1]) - (r[1] - q[1]) * (i / 40.0 - q[0]);
                        sum += side > 0.01 ? 1 : side < -0.01 ? -1 : 0;
                    }
                    in = in && (sum == 3 || sum == -3);
                }
                inside_both = in;
            }
        /* a random plane in space */
        const flr_vec3 o = random_point(&random, 10);
        const flr_vec3 u = flr_vec3_normalize(random_point(&random, 1));
        const flr_vec3 v = flr_vec3_perpendicular(u);
        pair t;
        for (int i = 0; i < 6; i++)
            (i < 3 ? t.a : t.b)[i % 3] =
                flr_vec3_add_scaled(flr_vec3_add_scaled(o, p[i][0], u), p[i][1], v);
        const flr_triangles got = flr_triangles_meet(t.a, t.b, 1e-12, NULL);
        const double distance = distance_of(t.a, t.b);
        if (inside_both) assert_int_equal(got, FLR_TRIANGLES_OVERLAP), overlaps++;
        if (distance > 1e-9) assert_int_equal(got, FLR_TRIANGLES_APART), apart++;
        assert_int_not_equal(got, FLR_TRIANGLES_CROSS);
    }
    assert_gt(overlaps, 1000);
    assert_gt(apart, 1000);
}

static void touching_is_neither(void **state)
{
    (void)state;
    const flr_vec3 base[3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};
    const struct {
        flr_vec3 t[3];
        int expected;
    } cases[] = {
        {{{1, 1, 0}, {1, 1, 1}, {2, 1, 1}}, TOUCH},                  /* a corner on the face */
        {{{1, 1, 0}, {2, 1, 0}, {2, 1, 1}}, TOUCH},                  /* a side on the face */
        {{{2, 0, 0}, {2, -1, 1}, {2, -1, -1}}, TOUCH},               /* a corner on a side */
        {{{2, -1, -1}, {2, 3, 1}, {2, -3, 1}}, FLR_TRIANGLES_CROSS}, /* through a side */
        {{{0, 0, 0}, {-1, 0, 0}, {0, -1, 0}}, TOUCH},                /* flat, corner to corner */
        {{{4, 0, 0}, {0, 0, 0}, {2, -3, 0}}, TOUCH},                 /* flat, side to side */
        {{{1, 1, 0}, {9, 1, 0}, {1, 9, 0}}, FLR_TRIANGLES_OVERLAP},  /* flat, in part */
        {{{1, 1, 0}, {2, 1, 0}, {1, 2, 0}}, FLR_TRIANGLES_OVERLAP},  /* flat, one in the other */
        {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}, FLR_TRIANGLES_OVERLAP},  /* the same */
        {{{0, 0, 1}, {4, 0, 1}, {0, 4, 1}}, FLR_TRIANGLES_APART},    /* parallel */
        {{{1, 1, -1}, {1, 1, 1}, {2, 1, 1}}, FLR_TRIANGLES_CROSS},   /* through the face */
        {{{1, 1, -1}, {1, 1, 1}, {1, 1, 3}}, TOUCH},                 /* a segment through it */
        {{{1, 1, 0}, {1, 1, 0}, {1, 1, 0}}, TOUCH},                  /* a point on it */
        {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, FLR_TRIANGLES_APART},    /* a point above it */
        {{{5, 5, -1}, {5, 5, 1}, {6, 5, 1}}, FLR_TRIANGLES_APART},   /* through the plane beside */
        {{{3, 3, -1}, {3, 3, 1}, {3.1, 9, 0}}, FLR_TRIANGLES_APART}, /* through the plane beyond */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int turn = 0; turn < 6; turn++) {
            flr_vec3 a[3], b[3];
            for (int k = 0; k < 3; k++) {
                a[k] = base[turn < 3 ? (turn + k) % 3 : (turn + 3 - k) % 3];
                b[k] = cases[i].t[(turn + k) % 3];
            }
            assert_int_equal(relate(a, b, 0), cases[i].expected);
            assert_int_equal(relate(b, a, 0), cases[i].expected);
        }
}

static void a_tolerance_forgives_small_overlaps(void **state)
{
    (void)state;
    const flr_vec3 base[3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};
    for (double depth = 1e-7; depth < 0.1; depth *= 10) {
        const flr_vec3 through[3] = {{1, 1, -depth}, {2, 1, 1}, {1, 2, 1}};
        const flr_vec3 flat[3] = {{1, depth, 0}, {3, depth, 0}, {2, -1, 0}};
        assert_int_equal(flr_triangles_meet(base, through, depth / 2, NULL), FLR_TRIANGLES_CROSS);
        assert_int_equal(flr_triangles_meet(base, through, depth * 2, NULL), FLR_TRIANGLES_APART);
        assert_int_equal(flr_triangles_meet(base, flat, depth / 4, NULL), FLR_TRIANGLES_OVERLAP);
        assert_int_equal(flr_triangles_meet(base, flat, depth * 2, NULL), FLR_TRIANGLES_APART);
        assert_int_equal(relate(base, flat, depth * 2), TOUCH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_triangles_agree_with_the_reference),
        cmocka_unit_test(the_distance_is_the_least_of_all_samples),
        cmocka_unit_test(neighbours_are_no_crossings),
        cmocka_unit_test(coplanar_triangles_overlap_by_area),
        cmocka_unit_test(touching_is_neither),
        cmocka_unit_test(a_tolerance_forgives_small_overlaps),
    };
    return cmocka_run_group_tests_name("triangle", tests, NULL, NULL);
}
