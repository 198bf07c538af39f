/* impulses: momentum stays, energy never grows, parts come to rest */
#include "feeler/spheres.h"

#include <math.h>

#include "feeler/dynamics.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/quiet.h"

/* What touches are between the two, resolved. */
static flr_impulse_result resolve_two(flr_impulse *impulse, const flr_voxel_pair *pairs,
                                      uint32_t count, flr_impulse_body bodies[2],
                                      const flr_impulse_params *params)
{
    flr_impulse_result result;
    flr_impulse_clear(impulse);
    assert_int_equal(flr_impulse_add(impulse, pairs, count, 0, 1), count);
    flr_impulse_solve(impulse, bodies, 2, params, &result);
    return result;
}

/* ---- collisions of any two bodies ---- */

static flr_vec3 any_vector(flr_test_random *random, double size)
{
    double x = flr_test_random_range(random, -size, size);
    double y = flr_test_random_range(random, -size, size);
    double z = flr_test_random_range(random, -size, size);
    return flr_vec3_make(x, y, z);
}

static flr_body any_body(flr_test_random *random)
{
    flr_body_def def = flr_default_body_def();
    double x = flr_test_random_range(random, 0.01, 0.2),
           y = flr_test_random_range(random, 0.01, 0.2),
           z = flr_test_random_range(random, 0.01, 0.2);
    def.inertia =
        flr_inertia_box(exp(flr_test_random_range(random, -4, 4)), flr_vec3_make(x, y, z));
    def.inertia.centre = any_vector(random, 0.02);
    def.T_world_part = flr_test_random_pose(random, 0.1);
    def.twist = flr_twist_make(any_vector(random, 10), any_vector(random, 2));
    flr_body body;
    flr_error error;
    assert_ok(flr_body_make(&def, &body, &error), error);
    return body;
}

/* Momentum of both, about the world's origin. */
static flr_wrench momentum_of(const flr_body *a, const flr_body *b)
{
    flr_wrench sum = flr_wrench_move(flr_body_momentum(a), flr_vec3_neg(flr_body_centre(a)));
    return flr_wrench_add(sum,
                          flr_wrench_move(flr_body_momentum(b), flr_vec3_neg(flr_body_centre(b))));
}

static uint32_t any_pairs(flr_test_random *random, flr_voxel_pair *pairs, uint32_t most)
{
    uint32_t count = 1 + flr_test_random_below(random, most);
    flr_vec3 place = any_vector(random, 0.1), way = flr_vec3_normalize(any_vector(random, 1));
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 at = flr_vec3_add(place, any_vector(random, 0.05));
        flr_vec3 n = flr_vec3_normalize(flr_vec3_add(way, any_vector(random, i % 3 ? 0.3 : 3)));
        pairs[i] = (flr_voxel_pair){.centre_a = at,
                                    .centre_b = flr_vec3_add_scaled(at, -0.001, n),
                                    .normal = n,
                                    .depth = flr_test_random_range(random, 0, 0.002)};
    }
    return count;
}

static void energy_never_grows(void **state)
{
    (void)state;
    enum { PAIRS = 40 };
    const char *text = getenv("FLR_IMPULSE_COLLISIONS");
    unsigned rounds = text ? (unsigned)atoi(text) : 3000, hit = 0;
    flr_test_random random = flr_test_random_begin("energy");
    flr_impulse *impulse;
    flr_error error;
    assert_ok(flr_impulse_create(PAIRS, &impulse, &error), error);
    double worst = 0;
    for (unsigned round = 0; round < rounds; round++) {
        flr_body a = any_body(&random), b = any_body(&random);
        flr_voxel_pair pairs[PAIRS];
        uint32_t count = any_pairs(&random, pairs, PAIRS);
        flr_impulse_params params = flr_default_impulse_params();
        params.restitution = flr_test_random_range(&random, 0, 1);
        if (round % 4 == 0) params.restitution = 1;
        if (round % 3 == 0) params.friction = flr_test_random_range(&random, 0, 1.5);
        flr_impulse_body both[2] = {flr_impulse_body_make(a.inertia, a.T_world_part, a.twist),
                                    flr_impulse_body_make(b.inertia, b.T_world_part, b.twist)};
        bool wall = round % 5 == 0;
        if (wall) both[1] = flr_impulse_body_fixed(), b.twist = both[1].twist;
        double before = flr_body_energy(&a) + flr_body_energy(&b);
        flr_wrench was = momentum_of(&a, &b);
        flr_impulse_result result = resolve_two(impulse, pairs, count, both, &params);
        a.twist = both[0].twist, b.twist = both[1].twist;
        double after = flr_body_energy(&a) + flr_body_energy(&b);
        worst = fmax(worst, after / before - 1);
        if (after > before * (1 + 1e-9)) fail_msg("energy grows from %g to %g", before, after);
        hit += result.impulses > 0;
        if (wall) {
            assert_true(flr_vec3_equal(b.twist.linear, flr_vec3_zero()));
            continue;
        }
        flr_wrench is = momentum_of(&a, &b);
        double scale = flr_vec3_length(flr_body_momentum(&a).force) +
                       flr_vec3_length(flr_body_momentum(&b).force) +
                       flr_vec3_length(both[0].given.force) + 1;
        assert_lt(flr_vec3_length(flr_vec3_sub(is.force, was.force)), 1e-9 * scale);
        assert_lt(flr_vec3_length(flr_vec3_sub(is.torque, was.torque)), 1e-9 * scale);
        /* when it came to an end, nothing approaches any more */
        for (uint32_t i = 0; i < count && result.impulses < params.limit; i++) {
            flr_vec3 at = flr_vec3_lerp(pairs[i].centre_a, pairs[i].centre_b, 0.5);
            flr_vec3 v = flr_vec3_sub(flr_body_velocity(&a, at), flr_body_velocity(&b, at));
            assert_gt(flr_vec3_dot(v, pairs[i].normal), -1.01e-5);
        }
    }
    print_message("%u collisions, %u with impulses; energy grew by %.2g of itself at most\n",
                  rounds, hit, worst);
    assert_gt(hit, rounds / 2);
    flr_impulse_destroy(impulse);
}

/* Two equal balls, head on: they exchange their velocities, or go on together. */
static void two_balls(void **state)
{
    (void)state;
    flr_impulse *impulse;
    flr_error error;
    assert_ok(flr_impulse_create(4, &impulse, &error), error);
    for (int bounce = 0; bounce < 2; bounce++) {
        flr_inertia ball = flr_inertia_sphere(2, 0.1);
        flr_pose left = flr_pose_make(flr_vec3_make(-0.1, 0, 0), flr_quat_identity()),
                 right = flr_pose_make(flr_vec3_make(0.1, 0, 0), flr_quat_identity());
        flr_twist fast = flr_twist_make(flr_vec3_zero(), flr_vec3_make(3, 0, 0)),
                  slow = flr_twist_make(flr_vec3_zero(), flr_vec3_make(-1, 0, 0));
        flr_impulse_body balls[2] = {flr_impulse_body_make(ball, left, fast),
                                     flr_impulse_body_make(ball, right, slow)};
        const flr_impulse_body *a = &balls[0], *b = &balls[1];
        flr_voxel_pair pair = {.centre_a = {-1e-4, 0, 0},
                               .centre_b = {1e-4, 0, 0},
                               .normal = {-1, 0, 0},
                               .depth = 5e-4};
        flr_impulse_params params = flr_default_impulse_params();
        params.restitution = bounce, params.recover = 1;
        flr_impulse_result result = resolve_two(impulse, &pair, 1, balls, &params);
        assert_int_equal(result.impulses, 1);
        assert_lt(fabs(a->twist.linear.x - (bounce ? -1 : 1)), 1e-12);
        assert_lt(fabs(b->twist.linear.x - (bounce ? 3 : 1)), 1e-12);
        assert_lt(fabs(a->given.force.x + b->given.force.x), 1e-12);
        /* what bounces parts by itself; else the shift takes out what is deeper than the slop */
        double shift = b->shift.linear.x - a->shift.linear.x;
        assert_lt(fabs(shift - (bounce ? 0 : 4e-4)), 1e-6);
        assert_eq(result.deepest, 5e-4);
        assert_eq(result.left, 0);
    }
    /* what makes no sense is not looked at */
    flr_impulse_body still[2] = {flr_impulse_body_fixed(), flr_impulse_body_fixed()};
    flr_voxel_pair wrong = {.normal = {NAN, 0, 0}, .depth = NAN};
    flr_impulse_params params = flr_default_impulse_params();
    flr_impulse_result result = resolve_two(impulse, &wrong, 1, still, &params);
    assert_eq(result.impulses, 0);
    assert_eq(result.shifts, 0);
    flr_impulse_destroy(impulse);
}

/* ---- parts that fall ---- */

typedef struct falling {
    flr_test_part part[2]; /* moving, fixed */
    flr_sphere_tree *trees[2];
    flr_spheres *spheres;
    flr_impulse *impulse;
    flr_body body;
    flr_pose T_world_fixed[2]; /* where the fixed part stands, once or twice */
    int fixed;
} falling;

static void make_falling(falling *f, flr_test_solid moving, flr_test_solid fixed)
{
    *f = (falling){.fixed = 1, .T_world_fixed = {flr_pose_identity(), flr_pose_identity()}};
    flr_error error;
    flr_test_solid solids[2] = {moving, fixed};
    for (int i = 0; i < 2; i++) {
        flr_test_part_make(&f->part[i], solids[i], i ? 2 : 1, 0.001, false);
        flr_sphere_tree_def def = flr_default_sphere_tree_def();
        def.voxmap = f->part[i].voxmap, def.shell = f->part[i].shell;
        assert_ok(flr_sphere_tree_create(&def, &f->trees[i], &error), error);
    }
    flr_spheres_def room = flr_default_spheres_def();
    assert_ok(flr_spheres_create(&room, &f->spheres, &error), error);
    assert_ok(flr_impulse_create(room.listed, &f->impulse, &error), error);
    flr_body_def def;
    assert_ok(flr_body_def_from_mesh(flr_test_shape_mesh(&f->part[0].shape), 2700, &def, &error),
              error);
    assert_ok(flr_body_make(&def, &f->body, &error), error);
}

static void free_falling(falling *f)
{
    for (int i = 0; i < 2; i++) {
        flr_sphere_tree_destroy(f->trees[i]);
        flr_test_part_free(&f->part[i]);
    }
    flr_spheres_destroy(f->spheres);
    flr_impulse_destroy(f->impulse);
}

/* One frame under gravity; returns how many pairs there were. */
static uint32_t fall(falling *f, double restitution)
{
    const double dt = 1e-3;
    flr_body *body = &f->body;
    body->twist.linear.z -= 9.81 * dt;
    flr_impulse_params params = flr_default_impulse_params();
    params.restitution = restitution;
    params.slop = 0.0005;
    params.friction = 0.3;
    flr_impulse_body bodies[3] = {
        flr_impulse_body_make(body->inertia, body->T_world_part, body->twist)};
    uint32_t pairs = 0;
    flr_impulse_clear(f->impulse);
    for (int i = 0; i < f->fixed; i++) {
        flr_spheres_side a = {f->trees[0], body->T_world_part, body->twist, flr_body_centre(body)},
                         b = {.tree = f->trees[1], .T_world_part = f->T_world_fixed[i]};
        flr_spheres_params ask = flr_default_spheres_params();
        flr_spheres_result found;
        flr_spheres_query(f->spheres, &a, &b, &ask, &found);
        bodies[1 + i] = flr_impulse_body_fixed();
        flr_impulse_add(f->impulse, flr_spheres_list(f->spheres), found.listed, 0, 1 + (uint32_t)i);
        pairs += found.pairs;
    }
    flr_impulse_result result;
    flr_impulse_solve(f->impulse, bodies, 1 + (uint32_t)f->fixed, &params, &result);
    body->twist = bodies[0].twist;
    flr_motion motion = {bodies[0].shift.angular, bodies[0].shift.linear};
    flr_twist twist = body->twist;
    flr_body_move(body, flr_body_drift(body, dt), 1);
    flr_body shifted = *body;
    shifted.T_world_part = flr_motion_apply(body, motion, 1);
    *body = shifted;
    body->twist = twist;
    return pairs;
}

static double speed_of(const flr_body *body)
{
    return flr_vec3_length(body->twist.linear) + body->reach * flr_vec3_length(body->twist.angular);
}

/* Falls for some time; then, for as long, it is seen how far it goes. */
static void comes_to_rest(falling *f, unsigned frames, double restitution, double most)
{
    uint32_t pairs = 0;
    for (unsigned i = 0; i < frames; i++) pairs = fall(f, restitution);
    flr_pose rest = f->body.T_world_part;
    assert_gt(pairs, 0);
    double fastest = 0, farthest = 0;
    for (unsigned i = 0; i < 200; i++) {
        fall(f, restitution);
        fastest = fmax(fastest, speed_of(&f->body));
        farthest = fmax(farthest, flr_vec3_length(flr_vec3_sub(f->body.T_world_part.p, rest.p)));
    }
    print_message("at rest within %.3g mm, %.3g m/s, z %.2f mm\n", 1e3 * farthest, fastest,
                  1e3 * f->body.T_world_part.p.z);
    assert_le(farthest, most);
    assert_eq(fastest, 0);
}

static void a_part_that_falls_on_another_rests(void **state)
{
    (void)state;
    for (int bounce = 0; bounce < 2; bounce++) {
        falling f;
        make_falling(&f, FLR_TEST_BOX, FLR_TEST_BOX);
        f.body.T_world_part =
            flr_pose_make(flr_vec3_make(0.002, 0.003, 0.025),
                          flr_quat_from_axis_angle(flr_vec3_make(1, 0.5, 0), bounce ? 0.05 : 0));
        comes_to_rest(&f, 300, 0.4 * bounce, 0);
        /* on it, not in it: half of 24 mm and of 12 mm, less the overlap of surface voxels */
        assert_gt(f.body.T_world_part.p.z, 0.0165);
        assert_lt(f.body.T_world_part.p.z, 0.0195);
        free_falling(&f);
    }
}

static void a_part_in_a_wedge_rests(void **state)
{
    (void)state;
    falling f;
    make_falling(&f, FLR_TEST_SPHERE, FLR_TEST_BOX);
    /* two boxes lean against each other and leave a groove of 90 degrees between them */
    f.fixed = 2;
    for (int i = 0; i < 2; i++) {
        double lean = i ? 0.7853981634 : -0.7853981634;
        flr_quat q = flr_quat_from_axis_angle(flr_vec3_make(1, 0, 0), lean);
        f.T_world_fixed[i] = flr_pose_make(flr_quat_rotate(q, flr_vec3_make(0, 0, -0.03)), q);
        f.T_world_fixed[i].p.z += 0.01;
    }
    f.body.T_world_part.p = flr_vec3_make(0, 0.001, 0.02);
    comes_to_rest(&f, 400, 0.2, 0);
    free_falling(&f);
}

/* ---- real time ---- */

static uint64_t resolve(void *context)
{
    falling *f = context;
    uint64_t pairs = 0;
    f->body.T_world_part.p = flr_vec3_make(0, 0, 0.0175);
    for (int i = 0; i < 10; i++) pairs += fall(f, 0.3);
    return pairs;
}

static void resolving_is_quiet(void **state)
{
    (void)state;
    falling f;
    make_falling(&f, FLR_TEST_BOX, FLR_TEST_BOX);
    flr_test_quiet(resolve, &f, NULL);
    free_falling(&f);
}

static flr_result make_one(void *context, flr_error *error)
{
    (void)context;
    flr_impulse *impulse;
    flr_result result = flr_impulse_create(100, &impulse, error);
    if (result == FLR_OK) flr_impulse_destroy(impulse);
    return result;
}

static void lack_of_memory_is_told(void **state)
{
    (void)state;
    flr_fail_alloc_each(make_one, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_never_grows),
        cmocka_unit_test(two_balls),
        cmocka_unit_test(a_part_that_falls_on_another_rests),
        cmocka_unit_test(a_part_in_a_wedge_rests),
        cmocka_unit_test(resolving_is_quiet),
        cmocka_unit_test(lack_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("impulse", tests, NULL, NULL);
}
