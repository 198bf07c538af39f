/* feeler/math.h: group laws, exact corner cases, and the answers promised where there is none */
#include "feeler/math.h"

#include <float.h>

#include "support/golden.h"
#include "support/test.h"

enum { ROUNDS = 2000 };
static const double PI = 3.14159265358979323846;

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g, apart by %g > %g", a, b, fabs(a - b), tolerance);
}

static void assert_vec_near(flr_vec3 a, flr_vec3 b, double tolerance)
{
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

static void assert_mat_near(flr_mat3 a, flr_mat3 b, double tolerance)
{
    for (int i = 0; i < 3; i++) assert_vec_near(flr_mat3_row(a, i), flr_mat3_row(b, i), tolerance);
}

/* as orientations: q and -q are the same */
static void assert_quat_near(flr_quat a, flr_quat b, double tolerance)
{
    double sign = flr_quat_dot(a, b) < 0 ? -1 : 1;
    assert_near(a.w, sign * b.w, tolerance);
    assert_near(a.x, sign * b.x, tolerance);
    assert_near(a.y, sign * b.y, tolerance);
    assert_near(a.z, sign * b.z, tolerance);
}

static double trace(flr_mat3 m) { return m.m[0][0] + m.m[1][1] + m.m[2][2]; }

static flr_vec3 random_vec(flr_test_random *random, double size)
{
    double x = flr_test_random_range(random, -size, size);
    double y = flr_test_random_range(random, -size, size);
    return flr_vec3_make(x, y, flr_test_random_range(random, -size, size));
}

static flr_quat random_quat(flr_test_random *random)
{
    flr_vec3 v = random_vec(random, 1);
    return flr_quat_normalize(flr_quat_make(flr_test_random_range(random, -1, 1), v.x, v.y, v.z));
}

static flr_pose random_pose(flr_test_random *random)
{
    flr_vec3 p = random_vec(random, 10);
    return flr_pose_make(p, random_quat(random));
}

static flr_mat3 random_mat(flr_test_random *random, double size)
{
    flr_vec3 x = random_vec(random, size), y = random_vec(random, size);
    return flr_mat3_from_columns(x, y, random_vec(random, size));
}

static void test_vectors(void **state)
{
    (void)state;
    flr_vec3 a = {1, -2, 3}, b = {4, 5, -6};
    assert_vec_near(flr_vec3_add(a, b), flr_vec3_make(5, 3, -3), 0);
    assert_vec_near(flr_vec3_sub(a, b), flr_vec3_make(-3, -7, 9), 0);
    assert_vec_near(flr_vec3_neg(a), flr_vec3_make(-1, 2, -3), 0);
    assert_vec_near(flr_vec3_add_scaled(a, 2, b), flr_vec3_make(9, 8, -9), 0);
    assert_near(flr_vec3_dot(a, b), -24, 0);
    assert_vec_near(flr_vec3_cross(a, b), flr_vec3_make(-3, 18, 13), 0);
    assert_near(flr_vec3_length(flr_vec3_make(2, 3, 6)), 7, 0);
    assert_near(flr_vec3_distance(a, b), sqrt(139), 1e-15 * 12);
    assert_vec_near(flr_vec3_min(a, b), flr_vec3_make(1, -2, -6), 0);
    assert_vec_near(flr_vec3_max(a, b), flr_vec3_make(4, 5, 3), 0);
    assert_vec_near(flr_vec3_lerp(a, b, 0), a, 0);
    assert_vec_near(flr_vec3_lerp(a, b, 1), b, 0);
    assert_true(flr_vec3_is_finite(a));
    assert_false(flr_vec3_is_finite(flr_vec3_make(0, NAN, 0)));
    assert_false(flr_vec3_is_finite(flr_vec3_make(0, 0, -INFINITY)));
    assert_true(flr_vec3_equal(a, a));
    assert_false(flr_vec3_equal(a, b));
}

static void test_normalize(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("normalize");
    for (int i = 0; i < ROUNDS; i++) {
        /* over the whole range of a double, where squares do not fit */
        double size = pow(10, flr_test_random_range(&random, -300, 300));
        flr_vec3 v = random_vec(&random, size), n = flr_vec3_normalize(v);
        assert_near(flr_vec3_length(n), 1, 8e-15);
        flr_vec3 unit = flr_vec3_make(v.x / size, v.y / size, v.z / size);
        assert_near(flr_vec3_length(flr_vec3_cross(n, unit)), 0, 8e-15);
        assert_gt(flr_vec3_dot(n, unit), 0);

        flr_vec3 side = flr_vec3_perpendicular(v);
        assert_near(flr_vec3_length(side), 1, 8e-15);
        assert_near(flr_vec3_dot(side, n), 0, 8e-15);
    }
    /* no direction: zero */
    assert_vec_near(flr_vec3_normalize(flr_vec3_zero()), flr_vec3_zero(), 0);
    assert_vec_near(flr_vec3_normalize(flr_vec3_make(NAN, 1, 0)), flr_vec3_zero(), 0);
    assert_vec_near(flr_vec3_normalize(flr_vec3_make(1, INFINITY, 0)), flr_vec3_zero(), 0);
    assert_vec_near(flr_vec3_perpendicular(flr_vec3_zero()), flr_vec3_make(1, 0, 0), 0);
    for (int axis = 0; axis < 3; axis++) {
        flr_vec3 v = flr_mat3_column(flr_mat3_identity(), axis);
        assert_near(flr_vec3_dot(flr_vec3_perpendicular(v), v), 0, 0);
    }
}

static void test_matrices(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("matrices");
    for (int i = 0; i < ROUNDS; i++) {
        flr_mat3 a = random_mat(&random, 2), b = random_mat(&random, 2);
        flr_vec3 u = random_vec(&random, 2), v = random_vec(&random, 2);
        flr_vec3 one = flr_mat3_apply(flr_mat3_mul(a, b), v);
        assert_vec_near(one, flr_mat3_apply(a, flr_mat3_apply(b, v)), 1e-13);
        assert_near(flr_mat3_det(flr_mat3_mul(a, b)), flr_mat3_det(a) * flr_mat3_det(b), 1e-11);
        assert_near(flr_vec3_dot(u, flr_mat3_apply(a, v)),
                    flr_vec3_dot(flr_mat3_apply(flr_mat3_transpose(a), u), v), 1e-13);
        assert_vec_near(flr_mat3_apply(flr_mat3_skew(u), v), flr_vec3_cross(u, v), 8e-15);
        assert_near(trace(flr_mat3_outer(u, v)), flr_vec3_dot(u, v), 1e-13);
        assert_mat_near(flr_mat3_sub(flr_mat3_add(a, b), b), a, 1e-13);

        flr_mat3 inverse;
        if (fabs(flr_mat3_det(a)) > 1e-2) {
            assert_true(flr_mat3_inverse(a, &inverse));
            assert_mat_near(flr_mat3_mul(a, inverse), flr_mat3_identity(), 1e-11);
        }
    }
}

static void test_matrix_inverse_refuses(void **state)
{
    (void)state;
    flr_mat3 kept = flr_mat3_diagonal(flr_vec3_make(7, 8, 9)), out = kept;
    flr_mat3 singular = {{{1, 2, 3}, {2, 4, 6}, {1, 0, 1}}};
    flr_mat3 rounded = {{{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}, {0.7, 0.8, 0.9}}};
    flr_mat3 broken = flr_mat3_identity();
    broken.m[1][2] = NAN;
    assert_false(flr_mat3_inverse(singular, &out));
    assert_false(flr_mat3_inverse(rounded, &out)); /* determinant 1e-17 by rounding only */
    assert_false(flr_mat3_inverse(broken, &out));
    assert_false(flr_mat3_inverse(flr_mat3_diagonal(flr_vec3_zero()), &out));
    assert_memory_equal(&out, &kept, sizeof out);

    /* badly scaled is not singular */
    flr_mat3 thin = flr_mat3_diagonal(flr_vec3_make(1e-120, 1e-130, 1e-110));
    assert_true(flr_mat3_inverse(thin, &out));
    assert_near(out.m[1][1] / 1e130, 1, 1e-13);
    assert_false(flr_mat3_is_finite(broken));
}

static void test_eigen(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("eigen");
    for (int i = 0; i < ROUNDS; i++) {
        /* built from known values, at times equal ones, at any size */
        double size = pow(10, flr_test_random_range(&random, -150, 150));
        flr_vec3 d = random_vec(&random, 1);
        if (i % 3 == 0) d.y = d.x;
        if (i % 9 == 0) d.z = d.x;
        flr_mat3 r = flr_quat_to_mat3(random_quat(&random));
        flr_mat3 unit = flr_mat3_mul(flr_mat3_mul(r, flr_mat3_diagonal(d)), flr_mat3_transpose(r));
        flr_vec3 values;
        flr_mat3 v;
        flr_mat3_eigen(flr_mat3_scale(unit, size), &values, &v);

        values = flr_vec3_make(values.x / size, values.y / size, values.z / size);
        assert_le(values.x, values.y);
        assert_le(values.y, values.z);
        assert_near(values.x, fmin(d.x, fmin(d.y, d.z)), 8e-15);
        assert_near(values.z, fmax(d.x, fmax(d.y, d.z)), 8e-15);
        assert_near(flr_mat3_det(v), 1, 1e-13);
        assert_mat_near(flr_mat3_mul(flr_mat3_transpose(v), v), flr_mat3_identity(), 1e-13);
        flr_mat3 back =
            flr_mat3_mul(flr_mat3_mul(v, flr_mat3_diagonal(values)), flr_mat3_transpose(v));
        assert_mat_near(back, unit, 1e-13);
    }
    /* the lower triangle is not read; what has no answer gives zeros */
    flr_vec3 values;
    flr_mat3 v, lower = flr_mat3_diagonal(flr_vec3_make(3, 1, 2));
    lower.m[2][0] = 5;
    flr_mat3_eigen(lower, &values, &v);
    assert_vec_near(values, flr_vec3_make(1, 2, 3), 0);
    lower.m[0][1] = INFINITY;
    flr_mat3_eigen(lower, &values, &v);
    assert_vec_near(values, flr_vec3_zero(), 0);
    assert_mat_near(v, flr_mat3_identity(), 0);
}

static void test_quaternion_group(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("quaternion group");
    for (int i = 0; i < ROUNDS; i++) {
        flr_quat a = random_quat(&random), b = random_quat(&random), c = random_quat(&random);
        flr_vec3 v = random_vec(&random, 5);
        assert_quat_near(flr_quat_mul(flr_quat_mul(a, b), c), flr_quat_mul(a, flr_quat_mul(b, c)),
                         8e-15);
        assert_quat_near(flr_quat_mul(a, flr_quat_conjugate(a)), flr_quat_identity(), 8e-15);
        assert_vec_near(flr_quat_rotate(flr_quat_mul(a, b), v),
                        flr_quat_rotate(a, flr_quat_rotate(b, v)), 1e-13);
        assert_vec_near(flr_quat_rotate_inverse(a, flr_quat_rotate(a, v)), v, 1e-13);
        assert_vec_near(flr_quat_rotate(a, v), flr_mat3_apply(flr_quat_to_mat3(a), v), 1e-13);
        assert_near(flr_mat3_det(flr_quat_to_mat3(a)), 1, 1e-13);
    }
    /* a quarter turn about z takes x to y */
    flr_quat turn = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 7), PI / 2);
    assert_vec_near(flr_quat_rotate(turn, flr_vec3_make(1, 0, 0)), flr_vec3_make(0, 1, 0), 8e-15);
}

static void test_quaternion_without_direction(void **state)
{
    (void)state;
    flr_quat one = flr_quat_identity();
    assert_quat_near(flr_quat_normalize(flr_quat_make(0, 0, 0, 0)), one, 0);
    assert_quat_near(flr_quat_normalize(flr_quat_make(NAN, 0, 0, 1)), one, 0);
    assert_quat_near(flr_quat_normalize(flr_quat_make(1, INFINITY, 0, 1)), one, 0);
    assert_quat_near(flr_quat_normalize(flr_quat_make(0, 3e-200, 4e-200, 0)),
                     flr_quat_make(0, 0.6, 0.8, 0), 8e-15);
    assert_quat_near(flr_quat_normalize(flr_quat_make(0, 3e200, 0, 4e200)),
                     flr_quat_make(0, 0.6, 0, 0.8), 8e-15);
    assert_quat_near(flr_quat_from_axis_angle(flr_vec3_zero(), 1), one, 0);
    assert_quat_near(flr_quat_from_axis_angle(flr_vec3_make(1, 0, 0), NAN), one, 0);
    assert_quat_near(flr_quat_from_rotation_vector(flr_vec3_make(NAN, 0, 0)), one, 0);
    assert_vec_near(flr_quat_to_rotation_vector(flr_quat_make(0, 0, 0, 0)), flr_vec3_zero(), 0);
    assert_false(flr_quat_is_finite(flr_quat_make(0, 0, NAN, 0)));
}

static void test_exp_log(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("exp and log");
    for (int i = 0; i < ROUNDS; i++) {
        flr_vec3 axis = flr_vec3_normalize(random_vec(&random, 1));

        /* from 1e-300 to pi: relative precision all the way down */
        double angle = pow(10, flr_test_random_range(&random, -300, 0)) * PI;
        if (i % 2) angle = PI - pow(10, flr_test_random_range(&random, -15, 0));
        flr_vec3 r = flr_vec3_scale(axis, angle);
        flr_vec3 back = flr_quat_to_rotation_vector(flr_quat_from_rotation_vector(r));
        assert_vec_near(flr_vec3_scale(back, 1 / angle), axis, 8e-15);

        /* same as axis and angle; the sign of q does not matter; beyond pi wraps */
        flr_quat q = flr_quat_from_axis_angle(axis, angle);
        assert_quat_near(q, flr_quat_from_rotation_vector(r), 8e-15);
        flr_vec3 negative = flr_quat_to_rotation_vector(flr_quat_make(-q.w, -q.x, -q.y, -q.z));
        assert_vec_near(flr_vec3_scale(negative, 1 / angle), axis, 8e-15);
        flr_quat far = flr_quat_from_rotation_vector(flr_vec3_scale(axis, 2 * PI - angle));
        assert_quat_near(far, flr_quat_conjugate(q), 8e-15);
        assert_near(flr_quat_angle(flr_quat_identity(), q), angle, 8e-15);
    }
}

static void test_quaternion_of_matrix(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("quaternion of matrix");
    for (int i = 0; i < ROUNDS; i++) {
        flr_quat q = random_quat(&random);
        if (i % 4 == 0) { /* half turns and nearly: w is about 0 */
            flr_vec3 axis = flr_vec3_normalize(random_vec(&random, 1));
            double less = i % 8 ? 0 : pow(10, flr_test_random_range(&random, -16, -3));
            q = flr_quat_from_axis_angle(axis, PI - less);
        }
        flr_mat3 m = flr_quat_to_mat3(q);
        double scale = pow(10, flr_test_random_range(&random, -200, 200));
        assert_quat_near(flr_quat_from_mat3(m), q, 8e-15);
        assert_quat_near(flr_quat_from_mat3(flr_mat3_scale(m, scale)), q, 8e-15);
        assert_ge(flr_quat_from_mat3(m).w, 0);

        /* stretched along its own axes: the turn is still found */
        flr_vec3 d = flr_vec3_make(0.5, 1, 3);
        flr_mat3 stretched = flr_mat3_mul(m, flr_mat3_diagonal(d));
        assert_quat_near(flr_quat_from_mat3(stretched), q, 8e-15);

        /* a mirror image: a rotation, and none of a random lot is nearer */
        d.x = -d.x;
        flr_mat3 mirror = flr_mat3_mul(m, flr_mat3_diagonal(d));
        flr_quat best = flr_quat_from_mat3(mirror), other = random_quat(&random);
        assert_near(flr_quat_dot(best, best), 1, 8e-15);
        flr_mat3 t = flr_mat3_transpose(mirror);
        double fit = trace(flr_mat3_mul(t, flr_quat_to_mat3(best)));
        assert_ge(fit, trace(flr_mat3_mul(t, flr_quat_to_mat3(other))) - 1e-13);
    }
    flr_mat3 bad = flr_mat3_identity();
    bad.m[0][0] = NAN;
    assert_quat_near(flr_quat_from_mat3(bad), flr_quat_identity(), 0);
    assert_quat_near(flr_quat_from_mat3(flr_mat3_scale(bad, 0)), flr_quat_identity(), 0);
    assert_quat_near(flr_quat_from_mat3(flr_mat3_diagonal(flr_vec3_zero())), flr_quat_identity(),
                     0);
}

static void test_slerp(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("slerp");
    for (int i = 0; i < ROUNDS; i++) {
        flr_quat a = random_quat(&random), b = random_quat(&random);
        if (i % 3 == 0) { /* near ones too */
            double size = pow(10, flr_test_random_range(&random, -12, 0));
            b = flr_quat_mul(a, flr_quat_from_rotation_vector(random_vec(&random, size)));
        }
        double t = flr_test_random_range(&random, 0, 1), angle = flr_quat_angle(a, b);
        flr_quat s = flr_quat_slerp(a, b, t), n = flr_quat_nlerp(a, b, t);
        assert_near(flr_quat_dot(s, s), 1, 8e-15);
        assert_near(flr_quat_angle(a, s), t * angle, 1e-13);
        assert_near(flr_quat_angle(s, b), (1 - t) * angle, 1e-13);
        assert_near(flr_quat_angle(a, n) + flr_quat_angle(n, b), angle, 1e-13); /* same arc */
        assert_quat_near(flr_quat_slerp(a, b, 0), a, 8e-15);
        assert_quat_near(flr_quat_slerp(a, b, 1), b, 8e-15);
        assert_quat_near(flr_quat_nlerp(a, b, 0.5), flr_quat_slerp(a, b, 0.5), 8e-15);
    }
}

static void test_poses(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("poses");
    for (int i = 0; i < ROUNDS; i++) {
        flr_pose T_a_b = random_pose(&random), T_b_c = random_pose(&random);
        flr_vec3 p_c = random_vec(&random, 10);
        flr_vec3 p_a = flr_pose_apply(flr_pose_mul(T_a_b, T_b_c), p_c);
        assert_vec_near(p_a, flr_pose_apply(T_a_b, flr_pose_apply(T_b_c, p_c)), 1e-13);

        flr_pose one = flr_pose_mul(flr_pose_inverse(T_a_b), T_a_b);
        assert_vec_near(one.p, flr_vec3_zero(), 1e-13);
        assert_quat_near(one.q, flr_quat_identity(), 8e-15);
        assert_vec_near(flr_pose_apply_inverse(T_a_b, flr_pose_apply(T_a_b, p_c)), p_c, 1e-13);

        /* distances are kept, and a vector is the difference of two points */
        flr_vec3 o_a = flr_pose_apply(T_a_b, flr_vec3_zero());
        assert_vec_near(flr_vec3_sub(flr_pose_apply(T_a_b, p_c), o_a),
                        flr_pose_apply_vector(T_a_b, p_c), 1e-13);

        flr_pose half = flr_pose_interpolate(T_a_b, T_b_c, 0.5);
        assert_vec_near(half.p, flr_vec3_scale(flr_vec3_add(T_a_b.p, T_b_c.p), 0.5), 1e-13);
        assert_near(flr_quat_angle(half.q, T_a_b.q), flr_quat_angle(T_b_c.q, half.q), 1e-13);
        assert_true(flr_pose_is_valid(half));
    }
    flr_pose bad = flr_pose_identity();
    assert_true(flr_pose_is_valid(bad));
    bad.q.w = 1.0001;
    assert_false(flr_pose_is_valid(bad));
    bad = flr_pose_identity();
    bad.p.y = INFINITY;
    assert_false(flr_pose_is_valid(bad));
    bad = flr_pose_identity();
    bad.q.z = NAN;
    assert_false(flr_pose_is_valid(bad));
}

static void test_boxes(void **state)
{
    (void)state;
    flr_box3 none = flr_box3_empty();
    assert_true(flr_box3_is_empty(none));
    assert_vec_near(flr_box3_size(none), flr_vec3_zero(), 0);
    assert_vec_near(flr_box3_centre(none), flr_vec3_zero(), 0);
    assert_false(flr_box3_overlap(none, none));
    assert_true(flr_box3_is_empty(flr_box3_transform(flr_pose_identity(), none)));

    /* a point is a box */
    flr_vec3 p = {1, 2, 3};
    flr_box3 box = flr_box3_add(none, p);
    assert_false(flr_box3_is_empty(box));
    assert_true(flr_box3_contains(box, p));
    box = flr_box3_add(box, flr_vec3_make(-1, 4, 2));
    assert_vec_near(flr_box3_size(box), flr_vec3_make(2, 2, 1), 0);
    assert_vec_near(flr_box3_centre(box), flr_vec3_make(0, 3, 2.5), 0);
    assert_true(flr_box3_contains(box, flr_vec3_make(-1, 4, 2)));
    assert_false(flr_box3_contains(box, flr_vec3_make(0, 3, 3.5)));
    assert_false(flr_box3_contains(box, flr_vec3_make(0, NAN, 3)));

    /* touching overlaps, a gap does not */
    flr_box3 beside = flr_box3_make(flr_vec3_make(1, 2, 2), flr_vec3_make(5, 5, 5));
    assert_true(flr_box3_overlap(box, beside));
    beside.low.x = 1.0000001;
    assert_false(flr_box3_overlap(box, beside));
    assert_true(flr_box3_overlap(flr_box3_grow(box, 0.001), beside));
    assert_true(flr_box3_is_empty(flr_box3_grow(box, -0.6)));
    flr_box3 both = flr_box3_union(box, beside);
    assert_vec_near(both.low, box.low, 0);
    assert_vec_near(both.high, beside.high, 0);
}

static void test_box_transform(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("box transform");
    for (int i = 0; i < ROUNDS; i++) {
        flr_pose T_a_b = random_pose(&random);
        flr_box3 box = flr_box3_add(flr_box3_empty(), random_vec(&random, 3));
        box = flr_box3_add(box, random_vec(&random, 3));
        flr_box3 corners = flr_box3_empty();
        for (int c = 0; c < 8; c++) {
            flr_vec3 corner =
                flr_vec3_make(c & 1 ? box.low.x : box.high.x, c & 2 ? box.low.y : box.high.y,
                              c & 4 ? box.low.z : box.high.z);
            corners = flr_box3_add(corners, flr_pose_apply(T_a_b, corner));
        }
        flr_box3 moved = flr_box3_transform(T_a_b, box);
        assert_vec_near(moved.low, corners.low, 1e-13);
        assert_vec_near(moved.high, corners.high, 1e-13);
    }
}

/* ---- sine, cosine, the angle of a point ---- */

static void assert_rounded(double is, long double exact)
{
    const double size = fabs(is), place = nextafter(size, INFINITY) - size;
    if (!(fabsl((long double)is - exact) <= 0.5002L * place))
        fail_msg("%.17g is not %.21Lg, rounded", is, exact);
}

/* numbers of all sizes: half of them up to 8, the others of 2^-30 to 2^19 */
static double any_angle(flr_test_random *random)
{
    if (flr_test_random_below(random, 2)) return flr_test_random_range(random, -8, 8);
    return ldexp(flr_test_random_range(random, -1, 1), (int)flr_test_random_below(random, 50) - 30);
}

static void test_angles_are_rounded(void **state)
{
    (void)state;
    if (LDBL_MANT_DIG < 64) skip(); /* nothing more exact to compare with */
    flr_test_random random = flr_test_random_begin("angles");
    for (int i = 0; i < 10 * ROUNDS; i++) {
        const double a = any_angle(&random), x = any_angle(&random), y = any_angle(&random);
        assert_rounded(flr_sin(a), sinl(a));
        assert_rounded(flr_cos(a), cosl(a));
        assert_rounded(flr_atan2(y, x), atan2l(y, x));
        assert_true(flr_sin(-a) == -flr_sin(a) && flr_cos(-a) == flr_cos(a));
        assert_true(flr_atan2(-y, x) == -flr_atan2(y, x));
        /* small ones, which have a way of their own */
        const double b = ldexp(flr_test_random_range(&random, 0.5, 1),
                               -1 - (int)flr_test_random_below(&random, 30));
        assert_rounded(flr_sin(b), sinl(b));
        assert_rounded(flr_cos(b), cosl(b));
    }
    /* at multiples of pi/2 one of them is almost nothing */
    for (int k = 1; k < 1000; k++) {
        assert_rounded(flr_sin(k * PI), sinl(k * PI));
        assert_rounded(flr_cos((k + 0.5) * PI), cosl((k + 0.5) * PI));
    }
}

static void test_angles_at_the_ends(void **state)
{
    (void)state;
    assert_true(flr_sin(0) == 0 && !signbit(flr_sin(0.0)) && signbit(flr_sin(-0.0)));
    assert_true(flr_cos(0) == 1 && flr_cos(-0.0) == 1);
    assert_true(flr_sin(DBL_TRUE_MIN) == DBL_TRUE_MIN && flr_sin(1e-300) == 1e-300);
    assert_true(isnan(flr_sin(INFINITY)) && isnan(flr_cos(NAN)) && isnan(flr_atan2(NAN, 1)));
    assert_near(flr_sin(1e10), sin(1e10), 1e-15);
    assert_near(flr_cos(-1e300), cos(-1e300), 1e-15);
    assert_true(flr_atan2(0.0, 1) == 0 && signbit(flr_atan2(-0.0, 1)));
    assert_true(flr_atan2(0.0, -1) == PI && flr_atan2(-0.0, -1) == -PI);
    assert_true(flr_atan2(2, 0) == PI / 2 && flr_atan2(-2, -0.0) == -PI / 2);
    assert_true(flr_atan2(INFINITY, -INFINITY) == 3 * (PI / 4));
    /* slim triangles, and numbers near the ends of what a double holds */
    assert_true(flr_atan2(1e-200, 1e200) == 0 && flr_atan2(1e-30, 2) == 5e-31);
    assert_true(flr_atan2(1e-30, -2) == PI && flr_atan2(1, -1e-30) == PI / 2);
    assert_true(flr_atan2(1e308, 1e308) == PI / 4 && flr_atan2(1e-310, 1e-310) == PI / 4);
    assert_true(flr_atan2(DBL_TRUE_MIN, -DBL_TRUE_MIN) == 3 * (PI / 4));
}

/* the same with every C library, compiler and machine */
static void test_angles_have_the_same_bits(void **state)
{
    (void)state;
    flr_hasher hasher = flr_hasher_begin();
    uint64_t seed = 1;
    for (int i = 0; i < 30 * ROUNDS; i++) {
        double in[3];
        for (int k = 0; k < 3; k++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const double unit = ldexp((double)(seed >> 11), -52) - 1; /* -1 ... 1 */
            in[k] = ldexp(unit, (int)(seed >> 5) % 16 - 8);
        }
        const double out[3] = {flr_sin(in[0]), flr_cos(in[0]), flr_atan2(in[1], in[2])};
        flr_hasher_add(&hasher, out, sizeof out);
    }
    assert_true(flr_test_golden_has("math.txt", "angles", flr_hasher_end(&hasher)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_angles_are_rounded),
        cmocka_unit_test(test_angles_at_the_ends),
        cmocka_unit_test(test_angles_have_the_same_bits),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_normalize),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_matrix_inverse_refuses),
        cmocka_unit_test(test_eigen),
        cmocka_unit_test(test_quaternion_group),
        cmocka_unit_test(test_quaternion_without_direction),
        cmocka_unit_test(test_exp_log),
        cmocka_unit_test(test_quaternion_of_matrix),
        cmocka_unit_test(test_slerp),
        cmocka_unit_test(test_poses),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_box_transform),
    };
    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}
