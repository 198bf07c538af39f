/* contact where the question makes little sense: the answer is defined all the same, by both engines */
#include <float.h>
#include <math.h>

#include "support/fixtures.h"

#ifdef FLR_SANITIZED
enum { POSES = 1200 };
#else
enum { POSES = 10000 };
#endif

typedef struct both {
    flr_test_part moving, fixed;
    flr_contact_pair *pair;
    flr_contact_params params;
} both;

static flr_contact_pair *make_pair(const flr_shell *shell, const flr_voxmap *voxmap)
{
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = shell;
    def.voxmap = voxmap;
    flr_contact_pair *pair;
    flr_error error;
    assert_ok(flr_contact_pair_create(&def, &pair, &error), error);
    return pair;
}

static void begin(both *b, flr_test_solid moving, double scale)
{
    flr_test_part_make(&b->moving, moving, scale, 0.001, true);
    flr_test_part_make(&b->fixed, FLR_TEST_BOX, 1, 0.001, true);
    b->pair = make_pair(b->moving.shell, b->fixed.voxmap);
    b->params = flr_default_contact_params();
}

static void end(both *b)
{
    flr_contact_pair_destroy(b->pair);
    flr_test_part_free(&b->moving);
    flr_test_part_free(&b->fixed);
}

/* Asks both engines, which must agree in all but the bounds and the number of lookups, whatever the force model. */
static flr_contact_result ask(both *b, flr_pose T_world_shell, flr_pose T_world_voxmap)
{
    flr_contact_result fast, plain, told = {0};
    flr_contact_params params = b->params;
    for (int i = 0; i < 2; i++) {
        params.model = i ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
        memset(&fast, 0xAA, sizeof fast); /* every field must be written */
        flr_contact_query(b->pair, T_world_shell, T_world_voxmap, &params, &fast);
        flr_contact_reference(b->moving.shell, b->fixed.voxmap, T_world_shell, T_world_voxmap,
                              &params, NULL, 0, &plain);
        assert_int_equal(fast.contacts, plain.contacts);
        assert_int_equal(fast.penetrations, plain.penetrations);
        assert_int_equal(fast.near, plain.near);
        assert_true(flr_vec3_equal(fast.wrench.force, plain.wrench.force));
        assert_true(flr_vec3_equal(fast.wrench.torque, plain.wrench.torque));
        if (params.model == b->params.model) told = fast;
    }
    return told;
}

static void assert_nothing(flr_contact_result r)
{
    assert_int_equal(r.contacts + r.penetrations + r.near + r.listed, 0);
    assert_true(flr_vec3_equal(r.wrench.force, flr_vec3_zero()));
    assert_true(flr_vec3_equal(r.wrench.torque, flr_vec3_zero()));
    assert_true(flr_vec3_equal(r.braking, flr_vec3_zero()));
    assert_true(flr_vec3_equal(r.braking_turn, flr_vec3_zero()));
    assert_true(r.far);
    assert_gt(r.lower, 0);
    assert_true(isinf(r.upper));
}

static void poses_that_are_none(void **state)
{
    (void)state;
    both b;
    begin(&b, FLR_TEST_SPHERE, 1);
    const flr_pose here = flr_pose_identity();
    assert_gt(ask(&b, here, here).contacts, 0);
    const double bad[] = {NAN, -NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 1e300, 1e200, 1e19};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int field = 0; field < 7; field++) {
            flr_pose T = here;
            double *fields[7] = {&T.p.x, &T.p.y, &T.p.z, &T.q.w, &T.q.x, &T.q.y, &T.q.z};
            *fields[field] = bad[i];
            assert_nothing(ask(&b, T, here));
            assert_nothing(ask(&b, here, T));
            assert_nothing(ask(&b, T, T));
        }
    end(&b);
}

static void quaternions_that_are_not_unit(void **state)
{
    (void)state;
    both b;
    begin(&b, FLR_TEST_TORUS, 1);
    flr_test_random random = flr_test_random_begin("quaternions_that_are_not_unit");
    const flr_pose here = flr_pose_identity();
    const double refused[] = {0, 1e-300, 0.5, 0.99, 1.01, 2, -2, 1e150};
    for (int i = 0; i < 50; i++) {
        flr_pose T = flr_test_random_pose(&random, 0.01), scaled = T;
        flr_contact_result right = ask(&b, T, here);
        /* what rounding in a long simulation leaves is taken for the unit quaternion it was */
        double n = flr_test_random_range(&random, 0.9995, 1.0005);
        scaled.q = (flr_quat){n * T.q.w, n * T.q.x, n * T.q.y, n * T.q.z};
        flr_contact_result near = ask(&b, scaled, here);
        assert_le(abs((int)near.contacts - (int)right.contacts), 1);
        assert_lt(flr_vec3_length(flr_vec3_sub(near.wrench.force, right.wrench.force)),
                  1e-6 + 0.02 * flr_vec3_length(right.wrench.force));
        /* a pose is what it is by either sign of its quaternion */
        scaled.q = (flr_quat){-T.q.w, -T.q.x, -T.q.y, -T.q.z};
        assert_int_equal(ask(&b, scaled, here).contacts, right.contacts);
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
            n = refused[k];
            scaled.q = (flr_quat){n * T.q.w, n * T.q.x, n * T.q.y, n * T.q.z};
            assert_nothing(ask(&b, scaled, here));
            assert_nothing(ask(&b, here, scaled));
        }
    }
    end(&b);
}

static void very_far_away(void **state)
{
    (void)state;
    both b;
    begin(&b, FLR_TEST_SPHERE, 1);
    flr_test_random random = flr_test_random_begin("very_far_away");
    const flr_pose here = flr_pose_identity();
    for (double far = 0.1; far < 1e12; far *= 3)
        for (int i = 0; i < 6; i++) {
            flr_pose T = flr_test_random_pose(&random, 0);
            double sign = i % 2 ? -1 : 1;
            T.p = flr_vec3_make(i / 2 == 0 ? sign * far : 0, i / 2 == 1 ? sign * far : 0,
                                i / 2 == 2 ? sign * far : 0);
            flr_contact_result r = ask(&b, T, here);
            assert_nothing(r);
            assert_true(far >= 1e9 || r.lower <= far); /* from 10^9 m on nothing is reported */
            assert_nothing(ask(&b, here, T));
        }
    /* both of them far away and together: what doubles can still tell there (0.1 um at 10^8 m) */
    flr_pose there = {.p = flr_vec3_make(1e8, -1e8, 1e8), .q = here.q};
    flr_contact_result together = ask(&b, there, there), home = ask(&b, here, here);
    assert_le(abs((int)together.contacts - (int)home.contacts), (int)home.contacts / 20);
    end(&b);
}

static void shells_without_points(void **state)
{
    (void)state;
    both b;
    begin(&b, FLR_TEST_SPHERE, 1);
    const flr_shell empty = {.voxel = 0.001};
    flr_contact_pair *pair = make_pair(&empty, b.fixed.voxmap);
    flr_contact_result r;
    flr_contact_query(pair, flr_pose_identity(), flr_pose_identity(), &b.params, &r);
    assert_nothing(r);
    assert_int_equal(r.points_tested, 0);
    flr_contact_reference(&empty, b.fixed.voxmap, flr_pose_identity(), flr_pose_identity(),
                          &b.params, NULL, 0, &r);
    assert_nothing(r);
    flr_contact_pair_destroy(pair);
    end(&b);
}

/* Wholly inside, every point is at the deepest layer and reported as such; the pushes cancel out. */
static void a_part_inside_a_part(void **state)
{
    (void)state;
    both b;
    begin(&b, FLR_TEST_SPHERE, 0.3);
    for (int i = 0; i < 4; i++) {
        b.params.awareness = i & 1;
        b.params.model = i & 2 ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
        flr_contact_result r = ask(&b, flr_pose_identity(), flr_pose_identity());
        assert_int_equal(r.contacts, b.moving.shell->total);
        assert_int_equal(r.penetrations, b.moving.shell->total);
        assert_eq(r.lower, 0);
        assert_lt(r.upper, 0.001);
        double one = b.params.stiffness * 0.001 * 4; /* of one point at that depth */
        assert_lt(flr_vec3_length(r.wrench.force), one);
    }
    end(&b);
    /* the other way round only surfaces count: a shell around a voxmap, with room between, does not touch it */
    begin(&b, FLR_TEST_SPHERE, 4);
    flr_contact_result r = ask(&b, flr_pose_identity(), flr_pose_identity());
    assert_int_equal(r.contacts + r.penetrations + r.near, 0);
    assert_gt(r.lower, 0.001);
    assert_lt(r.lower, 0.03);
    end(&b);
}

static void force_layers_and_penetrations(void **state)
{
    (void)state;
    both b;
    begin(&b, FLR_TEST_BOX, 1);
    b.params.awareness = false;
    /* what may be a penetration does not depend on where force begins */
    for (double z = 0.010; z < 0.016; z += 0.00037) {
        flr_pose T = {.p = flr_vec3_make(0.0001, 0.0002, z), .q = flr_pose_identity().q};
        b.params.force_layer = 2;
        uint32_t wanted = ask(&b, T, flr_pose_identity()).penetrations;
        for (unsigned layer = 0; layer < 8; layer++) {
            b.params.force_layer = layer;
            assert_int_equal(ask(&b, T, flr_pose_identity()).penetrations, wanted);
        }
        /* deeper than there are layers is the deepest there is */
        b.params.force_layer = UINT32_MAX;
        assert_int_equal(ask(&b, T, flr_pose_identity()).penetrations, wanted);
    }
    end(&b);
}

static void displacements_of_any_size(void **state)
{
    (void)state;
    both b;
    begin(&b, FLR_TEST_SPHERE, 1);
    const flr_pose here = flr_pose_identity();
    const double sizes[] = {1e-12, 0.001, -0.001, 0.01, -0.01, 0.1, -0.1, 1, -1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        b.params.displacement = sizes[i];
        flr_contact_result r = ask(&b, here, here);
        assert_ge(r.lower, 0);
        assert_ge(r.upper, r.lower);
        if (fabs(sizes[i]) >= 0.1) assert_int_equal(r.contacts, 0);
    }
    const double none[] = {NAN, INFINITY, -INFINITY, 1e9, -1e30};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        b.params.displacement = none[i];
        assert_nothing(ask(&b, here, here));
    }
    end(&b);
}

/* Far-apart points in small voxels: single precision must not lose a contact that double precision finds. */
static void coarse_points_in_fine_voxels(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("coarse_points_in_fine_voxels");
    both b;
    flr_test_part_make(&b.moving, FLR_TEST_BOX, 10, 0.02, true);
    flr_test_part_make(&b.fixed, FLR_TEST_BOX, 1, 0.0001, true);
    b.params = flr_default_contact_params();
    b.params.awareness = false;
    for (int simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++) {
        flr_contact_pair_def def = flr_default_contact_pair_def();
        def.shell = b.moving.shell;
        def.voxmap = b.fixed.voxmap;
        def.simd = (flr_simd)simd;
        if (flr_contact_pair_create(&def, &b.pair, NULL) != FLR_OK) continue;
        uint64_t touching = 0;
        for (int i = 0; i < POSES; i++) {
            /* some point of the shell to some place near the surface of the box, next to a side of a voxel */
            flr_voxmap_info info = flr_voxmap_get_info(b.fixed.voxmap);
            double side = floor((flr_test_random_range(&random, 0.0060, 0.0065) - info.origin.z) /
                                info.voxel) +
                          flr_test_random_range(&random, -2e-4, 2e-4);
            flr_pose T = flr_test_random_pose(&random, 0);
            uint32_t chunk = flr_test_random_below(&random, b.moving.shell->chunk_count),
                     first = b.moving.shell->chunks[chunk].first;
            flr_vec3 p = flr_shell_point(b.moving.shell, chunk, first, 0);
            T.p = flr_vec3_sub(flr_vec3_make(flr_test_random_range(&random, -0.013, 0.013),
                                             flr_test_random_range(&random, -0.011, 0.011),
                                             info.origin.z + side * info.voxel),
                               flr_quat_rotate(T.q, p));
            touching += ask(&b, T, flr_pose_identity()).contacts > 0;
        }
        assert_gt(touching, POSES / 4);
        flr_contact_pair_destroy(b.pair);
    }
    flr_test_part_free(&b.moving);
    flr_test_part_free(&b.fixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_that_are_none),
        cmocka_unit_test(quaternions_that_are_not_unit),
        cmocka_unit_test(very_far_away),
        cmocka_unit_test(shells_without_points),
        cmocka_unit_test(a_part_inside_a_part),
        cmocka_unit_test(force_layers_and_penetrations),
        cmocka_unit_test(displacements_of_any_size),
        cmocka_unit_test(coarse_points_in_fine_voxels),
    };
    return cmocka_run_group_tests_name("contact_nasty", tests, NULL, NULL);
}
