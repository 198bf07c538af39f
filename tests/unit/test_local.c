/* local models: planes between two steps, devices served at the full rate while a step takes long */
#include <math.h>
#include <unistd.h>

#include "feeler/loop.h"
#include "support/fixtures.h"
#include "support/probe_device.h"

/* a hand at a height above a part that lies on a floor with its upper side at z = 0 */
static flr_local_model on_floor(double grip_z, double hand_z)
{
    flr_local_model m = {.T_world_handle = flr_pose_identity(),
                         .T_world_grip = flr_pose_identity(),
                         .stiffness = 1000,
                         .turn_stiffness = 2,
                         .force_limit = 10,
                         .torque_limit = 1,
                         .feel = 1,
                         .reach = 0.02,
                         .set = true};
    m.T_world_grip.p.z = grip_z;
    m.T_world_handle.p.z = hand_z;
    flr_local_add(&m, (flr_local_plane){.normal = {0, 0, 1}, .stiffness = 1e6});
    m.wrench.force.z = 1000 * (grip_z - hand_z); /* what the coupling gives there */
    return m;
}

static flr_pose moved(flr_pose pose, double x, double z)
{
    pose.p.x += x;
    pose.p.z += z;
    return pose;
}

static void a_plane_pushes_a_hand_that_presses_on_and_not_one_that_leaves(void **state)
{
    (void)state;
    flr_local_model m = on_floor(0, -0.001);
    assert_within(flr_local_wrench(&m, m.T_world_handle).force.z, 1.0, 1e-9);
    assert_within(flr_local_wrench(&m, moved(m.T_world_handle, 0, -0.001)).force.z, 2.0, 5e-3);
    assert_within(flr_local_wrench(&m, moved(m.T_world_handle, 0, 0.0005)).force.z, 0.5, 5e-3);
    assert_within(flr_local_wrench(&m, moved(m.T_world_handle, 0, 0.002)).force.z, 0, 1e-12);
    /* along the plane nothing changes */
    assert_within(flr_local_wrench(&m, moved(m.T_world_handle, 0.003, 0)).force.z, 1.0, 1e-9);
    assert_within(flr_local_wrench(&m, moved(m.T_world_handle, 0.003, 0)).force.x, 0, 1e-9);
    /* the coupling's limit holds */
    assert_within(flr_local_wrench(&m, moved(m.T_world_handle, 0, -1)).force.z, 10, 1e-9);
}

static void an_edge_turns_the_hand(void **state)
{
    (void)state;
    flr_local_model m = on_floor(0, 0);
    m.count = 0;
    flr_local_add(&m,
                  (flr_local_plane){.point = {0.01, 0, 0}, .normal = {0, 0, 1}, .stiffness = 1e6});
    const flr_wrench w = flr_local_wrench(&m, moved(m.T_world_handle, 0, -0.001));
    assert_gt(w.force.z, 0.1);
    assert_within(w.torque.y, -0.01 * w.force.z, 1e-9);
}

static void many_contacts_become_few_planes_that_push_as_hard(void **state)
{
    (void)state;
    flr_local_model m = on_floor(0, 0);
    m.count = 0;
    for (int i = 0; i < 1000; i++)
        flr_local_add(&m, (flr_local_plane){.point = {1e-4 * (i % 10), 1e-4 * (i / 10 % 10), 0},
                                            .normal = {0, 0, 1},
                                            .depth = 1e-5,
                                            .stiffness = 100});
    assert_eq(m.count, 1);
    assert_within(m.planes[0].stiffness, 1e5, 1e-6);
    assert_within(m.planes[0].depth, 1e-5, 1e-12);
    /* normals to all sides: never more than there is room for, and all of the stiffness */
    flr_test_random random = flr_test_random_begin("planes");
    double sum = 1e5;
    for (int i = 0; i < 1000; i++, sum += 1) {
        const flr_vec3 n = {flr_test_random_range(&random, -1, 1),
                            flr_test_random_range(&random, -1, 1),
                            flr_test_random_range(&random, 0.1, 1)};
        flr_local_add(&m, (flr_local_plane){.normal = flr_vec3_normalize(n), .stiffness = 1});
    }
    double all = 0;
    for (uint32_t i = 0; i < m.count; i++) all += m.planes[i].stiffness;
    assert_le(m.count, FLR_LOCAL_PLANES);
    assert_within(all, sum, 1e-6);
}

static void nonsense_gives_no_force(void **state)
{
    (void)state;
    flr_local_model m = on_floor(0, -0.001);
    flr_pose bad = m.T_world_handle;
    bad.p.z = NAN;
    assert_eq(flr_vec3_length(flr_local_wrench(&m, bad).force), 0);
    m.set = false;
    assert_eq(flr_vec3_length(flr_local_wrench(&m, m.T_world_handle).force), 0);
    const uint32_t before = m.count;
    flr_local_add(&m, (flr_local_plane){.normal = {0, 0, NAN}, .stiffness = 1});
    flr_local_add(&m, (flr_local_plane){.normal = {0, 0, 1}});
    assert_eq(m.count, before);
}

/* ---- in the loop ---- */

typedef struct slow_world {
    flr_test_probe probe;
    flr_device *device;
    flr_loop *loop;
    uint64_t steps;
    bool real; /* a step sleeps */
    uint64_t silent_from;
} slow_world;

static bool slow_step(void *context, flr_loop_frame *frame)
{
    slow_world *w = context;
    w->steps++;
    assert_non_null(frame->models);
    frame->models[0].model = on_floor(0, -0.002);
    frame->models[0].model.T_world_handle.p =
        flr_vec3_add(frame->samples[0].T_base_grip.p, flr_vec3_make(0, 0, -0.002));
    if (w->real) usleep(5000);
    return frame->number < w->silent_from;
}

static void make(slow_world *w, bool paced, unsigned slow)
{
    flr_error error;
    flr_test_probe_init(&w->probe);
    assert_ok(flr_device_open(&flr_test_probe_driver, &w->probe, &w->device, &error), error);
    flr_loop_def def = flr_default_loop_def();
    def.env = flr_env_real();
    def.paced = paced;
    def.local = true;
    def.slow = slow;
    def.devices[0] = w->device;
    def.device_count = 1;
    def.step = slow_step;
    def.context = w;
    def.lock_memory = false;
    def.priority = 0;
    assert_ok(flr_loop_create(&def, &w->loop, &error), error);
}

static void end(slow_world *w)
{
    flr_loop_destroy(w->loop);
    assert_eq(flr_vec3_length(w->probe.wrench.force), 0);
    flr_device_close(w->device);
}

static void steps_of_five_periods_leave_the_device_at_its_rate(void **state)
{
    (void)state;
    slow_world w = {.silent_from = 100};
    make(&w, false, 5);
    flr_loop_run(w.loop, 100);
    flr_loop_stats stats;
    flr_loop_get_stats(w.loop, &stats);
    assert_eq(w.steps, 100);
    assert_eq(stats.served, 500);
    assert_eq(stats.stretched,
              99 * 3); /* ages of 1 to 5 periods: the model is new in two of five */
    assert_within(w.probe.wrench.force.z, 2.0, 0.01);
    assert_non_null(flr_loop_passivity(w.loop, 0));
    /* without answers it fades and stays away */
    flr_loop_run(w.loop, 30);
    assert_eq(flr_vec3_length(w.probe.wrench.force), 0);
    end(&w);
}

static void a_thread_of_its_own_serves_the_device(void **state)
{
    (void)state;
    slow_world w = {.real = true, .silent_from = UINT64_MAX};
    make(&w, true, 1);
    flr_error error;
    assert_ok(flr_loop_start(w.loop, 40, &error), error);
    flr_loop_wait(w.loop);
    flr_loop_stats stats;
    flr_loop_get_stats(w.loop, &stats);
    flr_loop_stop(w.loop);
    /* 40 steps take 200 ms at least, in which an idle machine serves 200 times; a busy one less often */
    assert_eq(w.steps, 40);
    assert_gt(stats.served, 0);
    end(&w);
}

static void slow_steps_by_the_clock_are_refused(void **state)
{
    (void)state;
    flr_error error;
    flr_loop *loop;
    slow_world w = {0};
    flr_loop_def def = flr_default_loop_def();
    def.env = flr_env_real();
    def.step = slow_step;
    def.context = &w;
    def.slow = 2;
    assert_eq(flr_loop_create(&def, &loop, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "free running"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plane_pushes_a_hand_that_presses_on_and_not_one_that_leaves),
        cmocka_unit_test(an_edge_turns_the_hand),
        cmocka_unit_test(many_contacts_become_few_planes_that_push_as_hard),
        cmocka_unit_test(nonsense_gives_no_force),
        cmocka_unit_test(steps_of_five_periods_leave_the_device_at_its_rate),
        cmocka_unit_test(a_thread_of_its_own_serves_the_device),
        cmocka_unit_test(slow_steps_by_the_clock_are_refused),
    };
    return cmocka_run_group_tests_name("local", tests, NULL, NULL);
}
