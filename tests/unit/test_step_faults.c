/* a step gets anything: what is not a number never gets into a body; no allocation; the same bits again */
#include "feeler/base.h"
#include "feeler/dynamics.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/golden.h"

static double nasty(flr_test_random *random)
{
    const double values[] = {NAN,   INFINITY, -INFINITY, 1e300, -1e300, 1e30, 1e-310, -1e-310,
                             1e100, 0.0,      -0.0,      -1,    1e9,    1e-9, 5e-324, 1};
    return values[flr_test_random_below(random, sizeof values / sizeof *values)];
}

/* Overwrites one double of a thing. */
static void spoil(flr_test_random *random, void *thing, size_t size)
{
    double value = nasty(random);
    size_t at = flr_test_random_below(random, (uint32_t)(size / sizeof value)) * sizeof value;
    memcpy((char *)thing + at, &value, sizeof value);
}

static bool body_is_finite(const flr_body *body)
{
    return flr_pose_is_valid(body->T_world_part) && flr_vec3_is_finite(body->twist.angular) &&
           flr_vec3_is_finite(body->twist.linear);
}

static flr_coupling_def soft(void)
{
    flr_coupling_def def = flr_default_coupling_def();
    def.stretch = 0.01;
    return def;
}

/* A plate in a wedge, held: everything takes part. */
static void begin(flr_test_rig *rig)
{
    flr_test_rig_begin(rig, 0.05, flr_vec3_make(0.04, 0.01, 0.03));
    flr_test_rig_plane(rig, flr_vec3_make(0.1, 1, 0.3), 0);
    flr_test_rig_plane(rig, flr_vec3_make(0, -1, 0.2), 0);
    rig->body.T_world_part.p.z = 0.03;
    rig->limit = 0.0005;
    rig->layer = 0.001;
    rig->friction = 0.2;
    rig->params.gravity.z = -9.81;
    flr_coupling_def def = soft();
    flr_test_rig_grab(rig, &def, flr_vec3_make(0.01, 0, 0.04));
}

static void nothing_that_is_not_a_number_gets_in(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("faults");
    flr_test_rig rig;
    begin(&rig);
    unsigned seen = 0;
    for (int i = 0; i < 8000; i++) {
        if (i % 200 == 0) {
            flr_test_rig_end(&rig);
            begin(&rig);
            rig.params.integrator = (flr_integrator)(i / 200 % FLR_INTEGRATOR_COUNT);
        }
        flr_test_rig_query(&rig);
        flr_test_rig was = rig;
        flr_touches touches = {.list = rig.list,
                               .result = &rig.contact,
                               .asked = &rig.asked,
                               .centre = flr_body_centre(&rig.body),
                               .limit = rig.limit,
                               .friction = rig.friction};
        flr_wrench push = {0};
        switch (flr_test_random_below(&random, 12)) {
        case 0:
            if (rig.contact.listed) spoil(&random, rig.list, 7 * sizeof(double));
            break;
        case 1:
            spoil(&random, &rig.contact.wrench, 12 * sizeof(double));
            if (rig.contact.listed) rig.contact.listed--;
            break;
        case 2:
            spoil(&random, &touches.centre, sizeof touches.centre + sizeof touches.other + 16);
            break;
        case 3:
            spoil(&random, &rig.handle, sizeof rig.handle);
            break;
        case 4:
            spoil(&random, &rig.coupling, sizeof rig.coupling);
            break;
        case 5:
            spoil(&random, &push, sizeof push);
            break;
        case 6:
            spoil(&random, &rig.params.dt, sizeof(double));
            break;
        case 7:
            spoil(&random, &rig.params.gravity, 5 * sizeof(double));
            break;
        case 8:
            rig.asked.stiffness = nasty(&random);
            break;
        case 9:
            spoil(&random, &rig.body.T_world_part, sizeof(flr_pose) + sizeof(flr_twist));
            break;
        default:
            break;
        }
        flr_body before = rig.body;
        flr_step_begin(rig.step, &rig.body, &rig.params);
        flr_step_touch(rig.step, &touches);
        flr_step_pull(rig.step, &rig.coupling, &rig.handle);
        flr_step_push(rig.step, push);
        flr_step_solve(rig.step, &rig.result);
        flr_step_move(&rig.result, rig.result.fraction, &rig.body);
        seen |= rig.result.faults;
        if (rig.result.faults & (FLR_STEP_FAULT_BODY | FLR_STEP_FAULT_PARAMS)) {
            assert_memory_equal(&rig.body.T_world_part, &before.T_world_part, sizeof(flr_pose));
            assert_within(flr_vec3_length(rig.body.twist.linear), 0, 0);
        } else {
            assert_true(body_is_finite(&rig.body));
            assert_true(flr_vec3_is_finite(rig.result.contact.force));
        }
        /* go on from the sound state, with the body where it is when that is sane */
        flr_body is = rig.body;
        rig = was;
        if (body_is_finite(&is) && flr_vec3_length(is.T_world_part.p) < 0.2 &&
            flr_vec3_length(is.twist.linear) < 10)
            rig.body = is;
    }
    assert_int_equal(seen & ~(unsigned)(FLR_STEP_FAULT_FULL | FLR_STEP_FAULT_SOLVE),
                     FLR_STEP_FAULT_BODY | FLR_STEP_FAULT_TOUCH | FLR_STEP_FAULT_HANDLE |
                         FLR_STEP_FAULT_PUSH | FLR_STEP_FAULT_PARAMS);
    flr_test_rig_end(&rig);
}

static void too_much_is_reported(void **state)
{
    (void)state;
    flr_step *step;
    flr_error error;
    assert_int_equal(flr_step_create((1u << 20) + 1, &step, &error), FLR_TOO_LARGE);
    assert_ok(flr_step_create(2, &step, &error), error);
    flr_test_rig rig;
    begin(&rig);
    rig.body.T_world_part.p.z = 0.01;
    flr_test_rig_query(&rig);
    assert_gt(rig.contact.listed, 2);
    flr_touches touches = {.list = rig.list,
                           .result = &rig.contact,
                           .asked = &rig.asked,
                           .centre = flr_body_centre(&rig.body),
                           .limit = INFINITY};
    flr_step_begin(step, &rig.body, &rig.params);
    flr_step_touch(step, &touches);
    flr_step_solve(step, &rig.result);
    assert_int_equal(rig.result.faults, FLR_STEP_FAULT_FULL);
    flr_step_begin(step, &rig.body, &rig.params);
    for (int i = 0; i < FLR_STEP_PULLS + 1; i++) flr_step_pull(step, &rig.coupling, &rig.handle);
    flr_step_solve(step, &rig.result);
    assert_int_equal(rig.result.faults, FLR_STEP_FAULT_FULL);
    flr_step_destroy(step);
    flr_step_destroy(NULL);
    flr_test_rig_end(&rig);
}

/* Drags, presses, lets go; returns a hash over all states. */
static flr_hash run(flr_integrator integrator, int steps)
{
    flr_test_rig rig;
    begin(&rig);
    rig.params.integrator = integrator;
    rig.params.travel = 0.0005;
    flr_hasher hasher = flr_hasher_begin();
    for (int i = 0; i < steps; i++) {
        /* a path of plain arithmetic */
        double t = (i % 1000) * 0.001, wave = t * (1 - t) * 4;
        rig.handle.T_world_handle.p = flr_vec3_make(0.01 * wave, 0.005 * t, 0.04 - 0.03 * wave);
        rig.handle.T_world_handle.q =
            flr_quat_normalize(flr_quat_make(1, 0.3 * wave, 0.2 * t, -0.1 * wave));
        flr_test_rig_step(&rig);
        flr_hasher_add(&hasher, &rig.body.T_world_part, sizeof(flr_pose));
        flr_hasher_add(&hasher, &rig.body.twist, sizeof(flr_twist));
        flr_hasher_add(&hasher, &rig.felt, sizeof(flr_wrench));
    }
    flr_test_rig_end(&rig);
    return flr_hasher_end(&hasher);
}

static void the_same_bits_everywhere(void **state)
{
    (void)state;
    static const char *const names[FLR_INTEGRATOR_COUNT] = {"implicit", "explicit", "quasi-static"};
    bool all = true;
    for (int k = 0; k < FLR_INTEGRATOR_COUNT; k++) {
        flr_hash hash = run((flr_integrator)k, 2000);
        assert_true(flr_hash_equal(hash, run((flr_integrator)k, 2000)));
        all = flr_test_golden_has("motion.txt", names[k], hash) && all;
    }
    assert_true(all);
}

static void a_step_does_not_allocate(void **state)
{
    (void)state;
    for (int k = 0; k < FLR_INTEGRATOR_COUNT; k++) {
        flr_test_rig rig;
        begin(&rig);
        rig.params.integrator = (flr_integrator)k;
        flr_fail_alloc_at(0);
        flr_test_rig_drag(&rig, flr_vec3_make(0, 0, 0), 500);
        assert_int_equal(flr_fail_alloc_asked(), 0);
        flr_test_rig_end(&rig);
    }
}

static flr_result make_step(void *context, flr_error *error)
{
    (void)context;
    flr_step *step;
    flr_result result = flr_step_create(100, &step, error);
    if (result == FLR_OK) flr_step_destroy(step);
    return result;
}

static void no_memory_is_survived(void **state)
{
    (void)state;
    assert_gt(flr_fail_alloc_each(make_step, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_that_is_not_a_number_gets_in),
        cmocka_unit_test(too_much_is_reported),
        cmocka_unit_test(the_same_bits_everywhere),
        cmocka_unit_test(a_step_does_not_allocate),
        cmocka_unit_test(no_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
