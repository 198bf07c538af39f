/* the fast engine against the reference */
#include "feeler/contact.h"

#include "feeler/voxels.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

typedef struct part {
    flr_test_shape shape;
    flr_voxmap *voxmap;
    flr_shell *shell;
} part;

static void make_part(part *p, int kind, double voxel, bool features)
{
    *p = (part){0};
    if (kind == 0) flr_test_shape_sphere(&p->shape, 0.02, 32, 16);
    if (kind == 1) flr_test_shape_box(&p->shape, flr_vec3_make(0.05, 0.04, 0.02), 3);
    if (kind == 2) flr_test_shape_torus(&p->shape, 0.03, 0.012, 48, 24);
    if (kind == 3) flr_test_shape_cylinder(&p->shape, 0.008, 0.07, 24, 4);
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.features = features;
    flr_error error;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&p->shape), &def, &p->voxmap,
                           &p->shell, NULL, &error),
              error);
}

static void free_part(part *p)
{
    flr_voxmap_destroy(p->voxmap);
    flr_shell_destroy(p->shell);
    flr_test_shape_free(&p->shape);
}

static flr_pose random_pose(flr_test_random *random, double reach)
{
    flr_pose T;
    T.p = flr_vec3_make(flr_test_random_range(random, -reach, reach),
                        flr_test_random_range(random, -reach, reach),
                        flr_test_random_range(random, -reach, reach));
    T.q = flr_quat_normalize(
        (flr_quat){flr_test_random_range(random, -1, 1), flr_test_random_range(random, -1, 1),
                   flr_test_random_range(random, -1, 1), flr_test_random_range(random, -1, 1)});
    return T;
}

static void fast_equals_reference(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("fast_equals_reference");
    uint64_t touching = 0, poses = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            part moving, fixed;
            make_part(&moving, a, 0.0013, b != 1);
            make_part(&fixed, b, 0.001, a != 2);
            for (flr_simd simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++) {
                flr_contact_pair_def def = flr_default_contact_pair_def();
                def.shell = moving.shell;
                def.voxmap = fixed.voxmap;
                def.simd = simd;
                def.threads = (unsigned)(a + b) % 4 + 1;
                flr_contact_pair *pair;
                flr_error error;
                flr_result made = flr_contact_pair_create(&def, &pair, &error);
                if (made == FLR_UNSUPPORTED) continue;
                assert_ok(made, error);
                for (int i = 0; i < 60; i++) {
                    flr_contact_params params = flr_default_contact_params();
                    params.force_layer = flr_test_random_below(&random, 5);
                    params.awareness = i % 3 != 0;
                    params.model = i / 3 % 2 ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
                    params.cull = i % 4 != 0;
                    params.displacement =
                        i % 5 == 0 ? flr_test_random_range(&random, -0.001, 0.001) : 0;
                    params.motion.linear = flr_vec3_make(0.1, -0.2, 0.3);
                    flr_pose T_world_voxmap = random_pose(&random, 1),
                             T_voxmap_shell = random_pose(&random, 0.05);
                    flr_pose T_world_shell = flr_pose_mul(T_world_voxmap, T_voxmap_shell);
                    flr_contact_result fast, plain;
                    flr_contact contacts[1024];
                    flr_contact_query(pair, T_world_shell, T_world_voxmap, &params, &fast);
                    flr_contact_reference(moving.shell, fixed.voxmap, T_world_shell, T_world_voxmap,
                                          &params, contacts, 1024, &plain);
                    poses++;
                    touching += plain.contacts > 0;
                    assert_int_equal(fast.contacts, plain.contacts);
                    assert_int_equal(fast.near, plain.near);
                    assert_int_equal(fast.penetrations, plain.penetrations);
                    /* the same points in the same order: the same bits */
                    assert_true(flr_vec3_equal(fast.wrench.force, plain.wrench.force));
                    assert_true(flr_vec3_equal(fast.wrench.torque, plain.wrench.torque));
                    assert_true(flr_vec3_equal(fast.braking, plain.braking));
                    for (uint32_t k = 0; k < plain.listed; k++) {
                        const flr_contact *other = &flr_contact_list(pair)[k];
                        assert_int_equal(contacts[k].index, other->index);
                        assert_eq(contacts[k].depth, other->depth);
                        assert_true(flr_vec3_equal(contacts[k].point, other->point));
                    }
                    /* chunk distances may tell more than marks do, but never something else */
                    assert_le(fast.lower, plain.upper);
                    assert_le(plain.lower, fast.upper);
                }
                flr_contact_pair_destroy(pair);
            }
            free_part(&moving);
            free_part(&fixed);
        }
    print_message("%llu poses, %llu in contact\n", (unsigned long long)poses,
                  (unsigned long long)touching);
    assert_gt(touching, poses / 5);
}

/* Everything that a query tells, to the bit. */
static void assert_same(const flr_contact_result *a, const flr_contact_result *b)
{
    assert_int_equal(a->contacts, b->contacts);
    assert_int_equal(a->penetrations, b->penetrations);
    assert_int_equal(a->near, b->near);
    assert_int_equal(a->listed, b->listed);
    assert_memory_equal(&a->wrench, &b->wrench, sizeof a->wrench);
    assert_memory_equal(&a->braking, &b->braking, sizeof a->braking);
    assert_memory_equal(&a->braking_turn, &b->braking_turn, sizeof a->braking_turn);
}

/* Many hyperchunks, a list that is often too short: each instruction set with one to four threads, against the reference;
 * bounds and lookups against one thread. */
static void threads_change_nothing(void **state)
{
    (void)state;
    enum { POSES = 12, CAPACITY = 40 };
    flr_test_random random = flr_test_random_begin("threads_change_nothing");
    part moving, fixed;
    make_part(&moving, 2, 0.0004, true);
    make_part(&fixed, 1, 0.001, true);
    assert_gt(moving.shell->hyper_count, 8);
    flr_contact_pair *pairs[FLR_SIMD_NEON + 1][5] = {{NULL}};
    for (flr_simd simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            flr_contact_pair_def def = flr_default_contact_pair_def();
            def.shell = moving.shell;
            def.voxmap = fixed.voxmap;
            def.simd = simd;
            def.threads = threads;
            def.capacity = CAPACITY;
            flr_error error;
            flr_result made = flr_contact_pair_create(&def, &pairs[simd][threads], &error);
            if (made != FLR_UNSUPPORTED) assert_ok(made, error);
        }
    uint64_t touching = 0, full = 0;
    for (int i = 0; i < POSES; i++) {
        flr_contact_params params = flr_default_contact_params();
        params.force_layer = flr_test_random_below(&random, 4);
        params.awareness = i % 3 != 0;
        params.model = i % 5 == 4 ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
        params.cull = i % 4 != 0;
        params.displacement = i % 2 ? flr_test_random_range(&random, -0.0005, 0.0005) : 0;
        if (i % 3) params.motion.linear = flr_vec3_make(0.1, -0.2, 0.3);
        if (i % 3) params.motion.angular = flr_vec3_make(-1, 2, 0.5);
        flr_pose T_world_voxmap = random_pose(&random, 1),
                 T_world_shell = flr_pose_mul(T_world_voxmap, random_pose(&random, 0.03));
        flr_contact_result plain, one, other;
        flr_contact contacts[CAPACITY];
        flr_contact_reference(moving.shell, fixed.voxmap, T_world_shell, T_world_voxmap, &params,
                              contacts, CAPACITY, &plain);
        flr_contact_query(pairs[FLR_SIMD_SCALAR][1], T_world_shell, T_world_voxmap, &params, &one);
        touching += plain.contacts > 0;
        full += plain.contacts > CAPACITY;
        for (flr_simd simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++)
            for (unsigned threads = 1; threads <= 4; threads++) {
                flr_contact_pair *pair = pairs[simd][threads];
                if (!pair) continue;
                flr_contact_query(pair, T_world_shell, T_world_voxmap, &params, &other);
                assert_same(&other, &plain);
                assert_eq(other.lower, one.lower);
                assert_eq(other.upper, one.upper);
                assert_int_equal(other.points_tested, one.points_tested);
                for (uint32_t k = 0; k < plain.listed; k++) {
                    const flr_contact *c = &flr_contact_list(pair)[k];
                    assert_int_equal(c->index, contacts[k].index);
                    assert_int_equal(c->label, contacts[k].label);
                    assert_int_equal(c->mark, contacts[k].mark);
                    assert_memory_equal(&c->point, &contacts[k].point, sizeof c->point);
                    assert_memory_equal(&c->normal, &contacts[k].normal, sizeof c->normal);
                    assert_eq(c->depth, contacts[k].depth);
                }
            }
    }
    print_message("%d poses, %llu in contact, %llu with more than fits the list\n", POSES,
                  (unsigned long long)touching, (unsigned long long)full);
    assert_gt(full, 2);
    for (flr_simd simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++)
        for (unsigned threads = 1; threads <= 4; threads++)
            flr_contact_pair_destroy(pairs[simd][threads]);
    free_part(&moving);
    free_part(&fixed);
}

/* A pair that lies idle lets its helpers sleep, and they wake up again; one that was never asked ends at once. */
static void helpers_sleep_and_wake(void **state)
{
    (void)state;
    part moving, fixed;
    make_part(&moving, 0, 0.001, false);
    make_part(&fixed, 1, 0.001, false);
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = moving.shell;
    def.voxmap = fixed.voxmap;
    def.threads = 3;
    for (int round = 0; round < 3; round++) {
        flr_contact_pair *pair;
        flr_error error;
        assert_ok(flr_contact_pair_create(&def, &pair, &error), error);
        flr_contact_params params = flr_default_contact_params();
        flr_contact_result r;
        for (int i = 0; i < round * 2; i++) {
            flr_sleep_until(flr_env_real(), flr_clock_ns(flr_env_real()) + 3000000);
            flr_contact_query(pair, flr_pose_identity(), flr_pose_identity(), &params, &r);
            assert_gt(r.contacts, 0);
        }
        flr_contact_pair_destroy(pair);
    }
    free_part(&moving);
    free_part(&fixed);
}

static flr_result create_helped(void *context, flr_error *error)
{
    const part *parts = context;
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = parts[0].shell;
    def.voxmap = parts[1].voxmap;
    def.threads = 2;
    flr_contact_pair *pair;
    flr_result result = flr_contact_pair_create(&def, &pair, error);
    if (result == FLR_OK) flr_contact_pair_destroy(pair);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    part parts[2];
    make_part(&parts[0], 0, 0.002, false);
    make_part(&parts[1], 1, 0.002, false);
    assert_gt(flr_fail_alloc_each(create_helped, parts), 4);
    free_part(&parts[0]);
    free_part(&parts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_equals_reference),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(helpers_sleep_and_wake),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("contact", tests, NULL, NULL);
}
