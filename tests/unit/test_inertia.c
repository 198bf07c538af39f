/* feeler/math.h: the laws that hold in every frame, and closed forms against sampling */
#include "feeler/math.h"
#include "support/test.h"

enum { ROUNDS = 2000 };

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g, apart by %g > %g", a, b, fabs(a - b), tolerance);
}

static void assert_vec_near(flr_vec3 a, flr_vec3 b, double tolerance)
{
    assert_near(flr_vec3_distance(a, b), 0, tolerance);
}

static void assert_inertia_near(flr_inertia a, flr_inertia b, double tolerance)
{
    assert_near(a.mass, b.mass, tolerance);
    assert_vec_near(a.centre, b.centre, tolerance);
    for (int i = 0; i < 3; i++)
        assert_vec_near(flr_mat3_row(a.tensor, i), flr_mat3_row(b.tensor, i), tolerance);
}

static double kinetic_energy(flr_inertia inertia, flr_twist twist)
{
    return flr_wrench_power(flr_inertia_momentum(inertia, twist), twist) / 2;
}

static flr_vec3 random_vec(flr_test_random *random, double size)
{
    double x = flr_test_random_range(random, -size, size);
    double y = flr_test_random_range(random, -size, size);
    return flr_vec3_make(x, y, flr_test_random_range(random, -size, size));
}

static flr_pose random_pose(flr_test_random *random)
{
    flr_vec3 p = random_vec(random, 2);
    return flr_pose_make(p, flr_quat_from_rotation_vector(random_vec(random, 3)));
}

static flr_twist random_twist(flr_test_random *random)
{
    flr_vec3 angular = random_vec(random, 3);
    return flr_twist_make(angular, random_vec(random, 3));
}

static flr_wrench random_wrench(flr_test_random *random)
{
    flr_vec3 torque = random_vec(random, 3);
    return flr_wrench_make(torque, random_vec(random, 3));
}

/* a box somewhere, turned somehow */
static flr_inertia random_inertia(flr_test_random *random)
{
    flr_vec3 size = flr_vec3_add(random_vec(random, 0.9), flr_vec3_make(1, 1, 1));
    flr_inertia box = flr_inertia_box(flr_test_random_range(random, 0.1, 5), size);
    return flr_inertia_transform(random_pose(random), box);
}

static void test_power_in_any_frame(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("power in any frame");
    for (int i = 0; i < ROUNDS; i++) {
        flr_twist twist = random_twist(&random);
        flr_wrench wrench = random_wrench(&random);
        double power = flr_wrench_power(wrench, twist);

        flr_pose T_a_b = random_pose(&random);
        flr_twist twist_a = flr_twist_transform(T_a_b, twist);
        flr_wrench wrench_a = flr_wrench_transform(T_a_b, wrench);
        assert_near(flr_wrench_power(wrench_a, twist_a), power, 1e-11);

        flr_vec3 offset = random_vec(&random, 5);
        assert_near(
            flr_wrench_power(flr_wrench_move(wrench, offset), flr_twist_move(twist, offset)), power,
            1e-11);

        /* there and back */
        flr_twist twist_b = flr_twist_transform(flr_pose_inverse(T_a_b), twist_a);
        assert_vec_near(twist_b.angular, twist.angular, 1e-13);
        assert_vec_near(twist_b.linear, twist.linear, 1e-12);
        flr_wrench wrench_b = flr_wrench_transform(flr_pose_inverse(T_a_b), wrench_a);
        assert_vec_near(wrench_b.torque, wrench.torque, 1e-12);
        assert_vec_near(wrench_b.force, wrench.force, 1e-13);
    }
}

static void test_twist_moves_points(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("twist moves points");
    for (int i = 0; i < ROUNDS; i++) {
        /* the velocity of a point is the same vector, seen from either frame */
        flr_twist twist_b = random_twist(&random);
        flr_vec3 p_b = random_vec(&random, 2);
        flr_pose T_a_b = random_pose(&random);
        flr_vec3 v_a =
            flr_twist_velocity(flr_twist_transform(T_a_b, twist_b), flr_pose_apply(T_a_b, p_b));
        flr_vec3 v_b = flr_twist_velocity(twist_b, p_b);
        assert_vec_near(v_a, flr_pose_apply_vector(T_a_b, v_b), 1e-12);

        /* the power of a force at a point is force times that velocity */
        flr_vec3 force = random_vec(&random, 3);
        double power = flr_wrench_power(flr_wrench_from_force(p_b, force), twist_b);
        assert_near(power, flr_vec3_dot(force, v_b), 1e-12);
    }
    flr_twist two = flr_twist_add(flr_twist_scale(random_twist(&random), 2),
                                  flr_twist_make(flr_vec3_zero(), flr_vec3_make(1, 0, 0)));
    assert_true(flr_vec3_is_finite(two.linear));
    flr_wrench w = flr_wrench_make(flr_vec3_make(1, 2, 3), flr_vec3_make(4, 5, 6));
    flr_wrench sum = flr_wrench_add(w, flr_wrench_scale(w, -1));
    assert_vec_near(sum.torque, flr_vec3_zero(), 0);
    assert_vec_near(sum.force, flr_vec3_zero(), 0);
}

static void test_energy_in_any_frame(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("energy in any frame");
    for (int i = 0; i < ROUNDS; i++) {
        flr_inertia inertia = random_inertia(&random);
        flr_twist twist = random_twist(&random);
        double energy = kinetic_energy(inertia, twist);
        assert_gt(energy, 0);

        flr_pose T_a_b = random_pose(&random);
        flr_inertia inertia_a = flr_inertia_transform(T_a_b, inertia);
        flr_twist twist_a = flr_twist_transform(T_a_b, twist);
        assert_near(kinetic_energy(inertia_a, twist_a) / energy, 1, 1e-11);

        /* momentum goes over as a wrench does */
        flr_wrench one = flr_inertia_momentum(inertia_a, twist_a);
        flr_wrench two = flr_wrench_transform(T_a_b, flr_inertia_momentum(inertia, twist));
        assert_vec_near(one.torque, two.torque, 1e-10);
        assert_vec_near(one.force, two.force, 1e-11);

        /* and the energy is that of König: centre and turning about it */
        flr_vec3 v = flr_twist_velocity(twist, inertia.centre);
        double turning = flr_vec3_dot(twist.angular, flr_mat3_apply(inertia.tensor, twist.angular));
        assert_near(energy, (inertia.mass * flr_vec3_length2(v) + turning) / 2, 1e-10);
    }
}

static void test_sum_of_bodies(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("sum of bodies");
    for (int i = 0; i < ROUNDS; i++) {
        flr_inertia a = random_inertia(&random), b = random_inertia(&random);
        flr_inertia sum = flr_inertia_add(a, b), c = random_inertia(&random);
        flr_twist twist = random_twist(&random);
        assert_near(kinetic_energy(sum, twist), kinetic_energy(a, twist) + kinetic_energy(b, twist),
                    1e-10);
        assert_inertia_near(sum, flr_inertia_add(b, a), 1e-12);
        assert_inertia_near(flr_inertia_add(sum, c), flr_inertia_add(a, flr_inertia_add(b, c)),
                            1e-11);
        assert_true(flr_inertia_is_valid(sum));

        /* a frame change commutes with adding */
        flr_pose T = random_pose(&random);
        assert_inertia_near(
            flr_inertia_transform(T, sum),
            flr_inertia_add(flr_inertia_transform(T, a), flr_inertia_transform(T, b)), 1e-11);
    }
    /* two half boxes are a box */
    flr_inertia half = flr_inertia_box(3, flr_vec3_make(1, 2, 3)), left = half, right = half;
    left.centre.x = -0.5;
    right.centre.x = 0.5;
    assert_inertia_near(flr_inertia_add(left, right), flr_inertia_box(6, flr_vec3_make(2, 2, 3)),
                        1e-14);
    /* nothing and nothing is nothing, at the origin */
    flr_inertia none = flr_inertia_box(0, flr_vec3_make(1, 1, 1));
    none.centre.x = 5;
    assert_vec_near(flr_inertia_add(none, none).centre, flr_vec3_zero(), 0);
    assert_inertia_near(flr_inertia_add(half, none), half, 0);
}

/* the closed forms against a sum over a fine lattice of points */
static void test_solids(void **state)
{
    (void)state;
    enum { N = 60 };
    flr_vec3 size = {0.8, 1.0, 1.2};
    double radius = 0.5, height = 1.2, mass = 2;
    flr_mat3 sums[3];
    double counts[3] = {0};
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < N * N * N; i++) {
        flr_vec3 u = flr_vec3_make(((i % N) + 0.5) / N - 0.5, ((i / N % N) + 0.5) / N - 0.5,
                                   ((i / N / N) + 0.5) / N - 0.5);
        flr_vec3 p[3] = {flr_vec3_make(u.x * size.x, u.y * size.y, u.z * size.z), u,
                         flr_vec3_make(u.x, u.y, u.z * height)};
        bool inside[3] = {true, flr_vec3_length(u) < radius, u.x * u.x + u.y * u.y < 0.25};
        for (int k = 0; k < 3; k++) {
            if (!inside[k]) continue;
            flr_inertia point = {1, p[k], flr_mat3_diagonal(flr_vec3_zero())};
            sums[k] = flr_mat3_add(sums[k], flr_inertia_about(point, flr_vec3_zero()));
            counts[k]++;
        }
    }
    double across = mass * (3 * radius * radius + height * height) / 12;
    flr_inertia exact[3] = {
        flr_inertia_box(mass, size),
        flr_inertia_sphere(mass, radius),
        {mass, flr_vec3_zero(),
         flr_mat3_diagonal(flr_vec3_make(across, across, mass * radius * radius / 2))}};
    for (int k = 0; k < 3; k++) {
        flr_inertia sampled = {mass, flr_vec3_zero(), flr_mat3_scale(sums[k], mass / counts[k])};
        assert_inertia_near(sampled, exact[k], 2e-3 * exact[k].tensor.m[0][0]);
        assert_true(flr_inertia_is_valid(exact[k]));
    }
}

static void test_parallel_axes(void **state)
{
    (void)state;
    flr_inertia ball = flr_inertia_sphere(2, 0.1);
    ball.centre = flr_vec3_make(3, 0, 0);
    flr_mat3 about = flr_inertia_about(ball, flr_vec3_zero());
    assert_near(about.m[0][0], ball.tensor.m[0][0], 1e-15);
    assert_near(about.m[1][1], ball.tensor.m[1][1] + 2 * 9, 1e-14);
    assert_near(about.m[2][2], ball.tensor.m[2][2] + 2 * 9, 1e-14);
}

static void test_principal_axes(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("principal axes");
    for (int i = 0; i < ROUNDS; i++) {
        flr_inertia inertia = random_inertia(&random);
        flr_pose T_body_principal;
        flr_vec3 moments = flr_inertia_principal(inertia, &T_body_principal);
        assert_le(moments.x, moments.y);
        assert_le(moments.y, moments.z);
        assert_true(flr_pose_is_valid(T_body_principal));
        flr_inertia own = flr_inertia_transform(flr_pose_inverse(T_body_principal), inertia);
        flr_inertia diagonal = {inertia.mass, flr_vec3_zero(), flr_mat3_diagonal(moments)};
        assert_inertia_near(own, diagonal, 1e-13);
    }
}

static void test_validity(void **state)
{
    (void)state;
    flr_inertia good = flr_inertia_box(1, flr_vec3_make(1, 2, 3)), bad;
    assert_true(flr_inertia_is_valid(good));
    assert_true(flr_inertia_is_valid(flr_inertia_box(1, flr_vec3_make(1, 1, 0))));  /* plate */
    assert_false(flr_inertia_is_valid(flr_inertia_box(1, flr_vec3_make(1, 0, 0)))); /* wire */
    bad = good, bad.mass = 0;
    assert_false(flr_inertia_is_valid(bad));
    bad = good, bad.mass = NAN;
    assert_false(flr_inertia_is_valid(bad));
    bad = good, bad.mass = INFINITY;
    assert_false(flr_inertia_is_valid(bad));
    bad = good, bad.centre.z = NAN;
    assert_false(flr_inertia_is_valid(bad));
    bad = good, bad.tensor.m[0][1] = INFINITY;
    assert_false(flr_inertia_is_valid(bad));
    bad = good, bad.tensor.m[0][1] += 0.1;
    assert_false(flr_inertia_is_valid(bad)); /* not symmetric */
    bad = good, bad.tensor = flr_mat3_diagonal(flr_vec3_make(1, 1, 2.1));
    assert_false(flr_inertia_is_valid(bad)); /* no body has these moments */
    bad.tensor = flr_mat3_diagonal(flr_vec3_make(1, 1, -1));
    assert_false(flr_inertia_is_valid(bad));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_in_any_frame),
        cmocka_unit_test(test_twist_moves_points),
        cmocka_unit_test(test_energy_in_any_frame),
        cmocka_unit_test(test_sum_of_bodies),
        cmocka_unit_test(test_solids),
        cmocka_unit_test(test_parallel_axes),
        cmocka_unit_test(test_principal_axes),
        cmocka_unit_test(test_validity),
    };
    return cmocka_run_group_tests_name("inertia", tests, NULL, NULL);
}
