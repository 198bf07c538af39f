/* the device port: what is counted, and that energy does not grow */
#include "feeler/dynamics.h"
#include "support/fixtures.h"

/* A device of 0.1 kg without friction in front of a sampled wall at x < 0; the wrench is held over each sample, the
 * device moves exactly. Returns the most kinetic energy that it ever leaves the wall with, by that at the beginning. */
static double bounce(double stiffness, double rate, bool control, double cap, flr_passivity *p)
{
    flr_passivity_params params = flr_default_passivity_params();
    params.control = control;
    params.damping = cap;
    double x = 0.001, v = -0.05, dt = 1 / rate, mass = 0.1, most = 0;
    *p = (flr_passivity){0};
    for (int i = 0; i < 20 * rate; i++) {
        /* a second wall sends it back */
        double force = x < 0 ? -stiffness * x : x > 0.01 ? -stiffness * (x - 0.01) : 0;
        flr_wrench wall = {.force = {force, 0, 0}};
        flr_pose T = flr_pose_make(flr_vec3_make(x, 0, 0), flr_quat_identity());
        double held = flr_passivity_pass(p, &params, T, wall, dt).force.x;
        x += v * dt + held / mass * dt * dt / 2;
        v += held / mass * dt;
        if (x > 0 && x < 0.01) most = fmax(most, v * v / (0.05 * 0.05));
        if (!(fabs(x) < 1)) return INFINITY;
    }
    return most;
}

static void a_sampled_wall_makes_energy_and_the_controller_takes_it(void **state)
{
    (void)state;
    const double stiffness[] = {500, 2000, 5000}, rates[] = {500, 1000, 4000};
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++) {
            flr_passivity off, on;
            double without = bounce(stiffness[k], rates[r], false, 0, &off);
            /* as much damping as mass and rate bear */
            double with = bounce(stiffness[k], rates[r], true, 0.05 * rates[r], &on);
            print_message("%4g N/m, %4g Hz: energy x %.3g without, %.3g with; deficit %.2e J\n",
                          stiffness[k], rates[r], without, with, on.deficit);
            assert_gt(without, 1.05);
            assert_lt(off.account, 0);
            /* what one sample of the spring can make, k (v dt)^2, comes out before it is seen */
            double ratio = stiffness[k] / (0.1 * rates[r] * rates[r]);
            assert_lt(with, 1 + 2.5 * ratio);
            /* out never more than in, but for one step's worth of the spring */
            assert_le(on.got, on.put + 1e-4);
            assert_lt(on.deficit, 1e-4);
        }
}

/* A damper only takes: it is left alone, to the bit. */
static void what_is_passive_is_not_touched(void **state)
{
    (void)state;
    flr_passivity p = {0};
    flr_passivity_params params = flr_default_passivity_params();
    flr_test_random random = flr_test_random_begin("passive");
    flr_vec3 x = {0}, v = {0}, turn = {0}, w = {0};
    for (int i = 0; i < 5000; i++) {
        flr_wrench drag = {.force = flr_vec3_scale(v, -2), .torque = flr_vec3_scale(w, -0.01)};
        flr_pose T = flr_pose_make(x, flr_quat_from_rotation_vector(turn));
        flr_wrench out = flr_passivity_pass(&p, &params, T, drag, 0.001);
        assert_memory_equal(&out, &drag, sizeof out);
        /* the velocity changes after the wrench was computed, but slowly enough */
        v = flr_vec3_scale(v, 0.999);
        w = flr_vec3_scale(w, 0.999);
        if (i % 100 == 0)
            v = flr_vec3_make(flr_test_random_range(&random, -1, 1), 0, 0.1), w.z = 1,
            p = (flr_passivity){0};
        x = flr_vec3_add_scaled(x, 0.001, v);
        turn = flr_vec3_add_scaled(turn, 0.001, w);
    }
    assert_gt(p.put, 0);
}

static void work_is_counted_exactly(void **state)
{
    (void)state;
    flr_passivity p = {0};
    flr_passivity_params params = flr_default_passivity_params();
    params.control = false;
    params.store = 100;
    flr_wrench push = {.force = {1, 2, 3}, .torque = {0, 0, 0.5}};
    flr_pose T = flr_pose_identity();
    flr_passivity_pass(&p, &params, T, push, 0.001);
    T.p = flr_vec3_make(0.1, 0, -0.2);
    T.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 0.3);
    flr_passivity_pass(&p, &params, T, push, 0.001);
    assert_within(p.account, -(0.1 - 0.6 + 0.15), 1e-12);
    assert_within(p.put, 0.35, 1e-12);

    /* what really went out counts, not what was meant */
    flr_passivity_sent(&p, (flr_wrench){.force = {0, 0, 10}});
    T.p.z += 0.1;
    flr_passivity_pass(&p, &params, T, push, 0.001);
    assert_within(p.got, 1, 1e-12);
    assert_within(p.deficit, 0.65, 1e-12);

    /* only so much is remembered */
    params.store = 0.05;
    T.p.z -= 100;
    flr_passivity_pass(&p, &params, T, push, 0.001);
    assert_within(p.account, 0.05, 0);
}

/* From `now` towards `wanted`, by `most` at most, as a guard does it. */
static flr_vec3 towards(flr_vec3 now, flr_vec3 wanted, double most)
{
    flr_vec3 way = flr_vec3_sub(wanted, now);
    double length = flr_vec3_length(way);
    return length <= most ? wanted : flr_vec3_add_scaled(now, most / length, way);
}

static flr_vec3 any_direction(flr_test_random *random)
{
    return flr_vec3_normalize(flr_vec3_make(flr_test_random_range(random, -1, 1),
                                            flr_test_random_range(random, -1, 1),
                                            flr_test_random_range(random, -1, 1)));
}

/* The worst that can be: a simulation that pushes the device along wherever it goes, or wherever it likes, and a hand that
 * changes its velocity as fast as is promised, at its worst always along the push. What comes out stays within the bound,
 * to the last bit but rounding; without control it does not. */
static double push_along(flr_test_random *random, const flr_passivity_params *params, double rate,
                         double force, bool guard, int how)
{
    flr_passivity p = {0};
    flr_wrench sent = {0};
    double dt = 1 / rate;
    flr_vec3 x = {0}, v = {0}, w = {0};
    flr_quat q = flr_quat_identity();
    for (int i = 0; i < 2000; i++) {
        flr_vec3 along = any_direction(random), about = any_direction(random);
        if (how > 0 && i > 0) along = flr_vec3_normalize(v), about = flr_vec3_normalize(w);
        flr_wrench push = {.force = flr_vec3_scale(along, force),
                           .torque = flr_vec3_scale(about, 0.02 * force)};
        flr_wrench out = flr_passivity_pass(&p, params, flr_pose_make(x, q), push, dt);
        if (guard) {
            sent.force = towards(sent.force, out.force, params->slew);
            sent.torque = towards(sent.torque, out.torque, params->turn_slew);
            flr_passivity_sent(&p, sent);
            out = sent;
        }
        /* the hand gives way to where it is pushed, or goes where it likes, as fast as it can; but it is no faster than
         * 1 m/s and 30 rad/s */
        bool yield = how == 2 || flr_test_random_below(random, 2);
        flr_vec3 pull = yield ? flr_vec3_normalize(out.force) : any_direction(random),
                 spin = yield ? flr_vec3_normalize(out.torque) : any_direction(random);
        if (flr_vec3_length(v) > 1) pull = flr_vec3_scale(flr_vec3_normalize(v), -1);
        if (flr_vec3_length(w) > 30) spin = flr_vec3_scale(flr_vec3_normalize(w), -1);
        v = flr_vec3_add_scaled(v, 0.999 * params->agility * dt, pull);
        w = flr_vec3_add_scaled(w, 0.99 * params->turn_agility * dt, spin);
        x = flr_vec3_add_scaled(x, dt, v);
        q = flr_quat_normalize(
            flr_quat_mul(flr_quat_from_rotation_vector(flr_vec3_scale(w, dt)), q));
    }
    return p.agility <= params->agility && p.turn_agility <= params->turn_agility ? p.deficit : -1;
}

static void the_bound_holds_whatever_pushes(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("bound");
    const double rates[] = {250, 1000, 4000}, forces[] = {0.3, 3, 15};
    double most = 0, without = 0;
    int kept = 0;
    for (int i = 0; i < 270; i++) {
        flr_passivity_params params = flr_default_passivity_params();
        bool guard = i / 9 % 2;
        int how = i / 18 % 3;
        params.bound = i / 54 % 2 ? 0.01 : 0.001;
        double rate = rates[i % 3], force = forces[i / 3 % 3];
        double deficit = push_along(&random, &params, rate, force, guard, how);
        if (deficit >= 0) {
            kept++;
            most = fmax(most, deficit / params.bound);
            if (!(deficit <= params.bound * (1 + 1e-9)))
                print_error("%g Hz, %g N, guard %d, hand %d: %g J of %g\n", rate, force, guard, how,
                            deficit, params.bound);
            assert_le(deficit, params.bound * (1 + 1e-9));
        }
        params.control = false;
        without = fmax(without, push_along(&random, &params, rate, force, guard, how));
    }
    print_message("%d runs: at most %.3f of the bound; %.3g J without control\n", kept, most,
                  without);
    assert_gt(kept, 200);
    assert_gt(most, 0.3); /* or nothing was tried */
    assert_gt(without, 1);
}

static void what_is_not_a_number_gives_zero(void **state)
{
    (void)state;
    flr_passivity_params params = flr_default_passivity_params();
    for (int i = 0; i < 4; i++) {
        flr_passivity p = {0};
        flr_wrench push = {.force = {1, 2, 3}};
        flr_pose T = flr_pose_identity();
        double dt = 0.001;
        assert_within(flr_passivity_pass(&p, &params, T, push, dt).force.y, 2, 0);
        if (i == 0) T.p.x = NAN;
        if (i == 1) T.q.w = 0;
        if (i == 2) push.torque.x = INFINITY;
        if (i == 3) dt = 0;
        flr_wrench out = flr_passivity_pass(&p, &params, T, push, dt);
        assert_within(flr_vec3_length(out.force), 0, 0);
        assert_false(p.begun);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sampled_wall_makes_energy_and_the_controller_takes_it),
        cmocka_unit_test(what_is_passive_is_not_touched),
        cmocka_unit_test(work_is_counted_exactly),
        cmocka_unit_test(the_bound_holds_whatever_pushes),
        cmocka_unit_test(what_is_not_a_number_gives_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
