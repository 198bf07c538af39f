/* loop: grid, overruns, stalls, kills and clock jumps on a simulated machine; threads on the real one */
#include "feeler/loop.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "feeler/hand.h"
#include "feeler/sim.h"
#include "support/fail_alloc.h"
#include "support/probe_device.h"

#define MS FLR_SIM_MS

typedef struct world {
    flr_sim *sim;
    flr_env *env;
    flr_test_probe probe;
    flr_device *device;
    flr_loop *loop;
    // what the step does
    double newton;
    int64_t takes_ns;    /* of virtual time, every frame */
    uint64_t stall_at;   /* in this frame… */
    int64_t stall_ns;    /* …so much more */
    uint64_t invalid_at; /* from this frame on it has no answer */
    uint64_t end_at;
    // what it saw
    uint64_t steps, last_number, skipped;
    int64_t first_ns, last_ns;
    uint32_t commands[64];
    size_t command_count;
} world;

typedef struct shown {
    uint64_t number;
    double x;
} shown;

static bool step(void *context, flr_loop_frame *frame)
{
    world *w = context;
    if (w->steps++ == 0) w->first_ns = frame->time_ns;
    assert_ge(frame->time_ns, w->last_ns);
    w->last_ns = frame->time_ns;
    w->last_number = frame->number;
    w->skipped += frame->skipped;
    if (frame->device_count) {
        assert_eq(frame->wrenches[0].force.x, 0);
        frame->wrenches[0].force.x = w->newton;
    }
    if (frame->state) *(shown *)frame->state = (shown){frame->number, (double)frame->number / 2};
    frame->notes[0] = 1000 + frame->number;
    int64_t takes = w->takes_ns + (frame->number == w->stall_at ? w->stall_ns : 0);
    if (takes && w->sim) flr_sim_advance(w->sim, takes);
    if (frame->number == w->end_at) flr_loop_end(w->loop);
    return frame->number < w->invalid_at;
}

static void command(void *context, const void *bytes)
{
    world *w = context;
    memcpy(&w->commands[w->command_count++ % 64], bytes, sizeof w->commands[0]);
}

static world fresh(void)
{
    world w;
    memset(&w, 0, sizeof w);
    w.stall_at = w.invalid_at = w.end_at = UINT64_MAX;
    w.newton = 10;
    return w;
}

static void make_simulated(world *w)
{
    flr_sim_def def = flr_default_sim_def();
    w->sim = flr_sim_create(&def);
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    w->env = flr_sim_node(w->sim, address);
    flr_sim_advance(w->sim, 100 * MS);
}

static void make_loop(world *w, double rate, bool paced)
{
    flr_error error;
    flr_test_probe_init(&w->probe);
    w->probe.info.dead_man = 0;
    w->probe.buttons = 1;
    assert_ok(flr_device_open(&flr_test_probe_driver, &w->probe, &w->device, &error), error);
    flr_loop_def def = flr_default_loop_def();
    def.env = w->env;
    def.rate = rate;
    def.paced = paced;
    def.devices[0] = w->device;
    def.device_count = 1;
    def.step = step;
    def.command = command;
    def.command_size = sizeof(uint32_t);
    def.command_capacity = 64;
    def.state_size = sizeof(shown);
    def.context = w;
    def.lock_memory = false;
    assert_ok(flr_loop_create(&def, &w->loop, &error), error);
}

static void end_all(world *w)
{
    flr_loop_destroy(w->loop);
    assert_eq(flr_vec3_length(w->probe.wrench.force), 0);
    flr_device_close(w->device);
    flr_sim_destroy(w->sim);
}

static double force_of(const world *w) { return flr_vec3_length(w->probe.wrench.force); }

static flr_loop_stats stats_of(world *w)
{
    flr_loop_stats stats;
    flr_loop_get_stats(w->loop, &stats);
    return stats;
}

/* ---- on a simulated machine ---- */

/* the force of the one before is gone, step by step, before another takes its place */
static void devices_are_exchanged(void **state)
{
    (void)state;
    world w = fresh();
    flr_test_probe other;
    flr_device *device;
    flr_error error;
    make_simulated(&w);
    make_loop(&w, 1000, true);
    flr_test_probe_init(&other);
    assert_ok(flr_device_open(&flr_test_probe_driver, &other, &device, &error), error);
    flr_loop_run(w.loop, 1000);
    assert_gt(force_of(&w), 9);
    assert_ok(flr_loop_exchange(w.loop, 0, device, &error), error);
    assert_int_equal(flr_loop_exchange(w.loop, 0, device, &error), FLR_AGAIN);
    double last = force_of(&w);
    int frames = 0;
    while (flr_loop_exchanging(w.loop, 0)) {
        assert_le(++frames, 25);
        flr_loop_run(w.loop, 1);
        assert_ge(force_of(&w), last - 1 - 1e-9);
        assert_le(force_of(&w), last);
        last = force_of(&w);
    }
    assert_gt(frames, 5);
    assert_eq(last, 0);
    uint64_t writes = w.probe.writes;
    flr_loop_run(w.loop, 1000);
    assert_int_equal(w.probe.writes, writes);
    assert_gt(flr_vec3_length(other.wrench.force), 9);
    assert_int_equal(stats_of(&w).faulty, 0);
    flr_device_close(w.device); /* has no guard any more */
    w.device = device;
    end_all(&w);
}

static void keeps_the_grid(void **state)
{
    (void)state;
    static const double rates[] = {250, 1000, 3000, 10000};
    for (size_t i = 0; i < 4; i++) {
        world w = fresh();
        make_simulated(&w);
        make_loop(&w, rates[i], true);
        w.takes_ns = 50000;
        int64_t period = llround(1e9 / rates[i]), begin = flr_clock_ns(w.env);
        flr_loop_run(w.loop, 1001);
        assert_int_equal(w.steps, 1001);
        assert_int_equal(w.first_ns, begin);
        assert_int_equal(w.last_ns, begin + 1000 * period);
        flr_loop_stats stats = stats_of(&w);
        assert_int_equal(stats.frames, 1001);
        assert_int_equal(stats.overruns + stats.skipped + stats.faulty + stats.late_input, 0);
        assert_ge(stats.compute.p50, 50000);
        assert_le(stats.compute.p50, 50000 * 33 / 32);
        assert_int_equal(stats.compute.max, 50000);
        assert_int_equal(stats.wakeup.count, 1000); // the first frame begins at once
        assert_int_equal(stats.wakeup.max, 0);
        end_all(&w);
    }
}

static void overruns_do_not_shift_it(void **state)
{
    (void)state;
    world w = fresh();
    make_simulated(&w);
    make_loop(&w, 1000, true);
    int64_t begin = flr_clock_ns(w.env);
    // half a period too long: the next frame follows at once and is on time itself
    w.stall_at = 10;
    w.stall_ns = 1500000;
    flr_loop_run(w.loop, 20);
    assert_int_equal(w.last_ns, begin + 19 * MS);
    flr_loop_stats stats = stats_of(&w);
    assert_int_equal(stats.overruns, 1);
    assert_int_equal(stats.skipped, 0);
    assert_int_equal(stats.worst.number, 10);
    assert_int_equal(stats.worst.step_ns, 1500000);
    assert_int_equal(stats.worst.notes[0], 1010);
    assert_int_equal(stats.worst.time_ns, begin + 10 * MS);

    // 3.2 periods: two are left out, the grid stays
    w.stall_at = 30;
    w.stall_ns = 3200000;
    flr_loop_run(w.loop, 20);
    stats = stats_of(&w);
    assert_int_equal(stats.skipped, 2);
    assert_int_equal(w.skipped, 2);
    assert_int_equal(w.last_ns, begin + 41 * MS);
    assert_int_equal(w.last_number, 39);
    assert_int_equal(stats.worst.number, 30);
    assert_int_equal(stats.faulty, 0); // too short for the guard to mind

    // a pause between two runs is nobody's fault
    flr_sim_advance(w.sim, 5 * MS + 300000);
    const flr_loop_stats before = stats;
    flr_loop_run(w.loop, 20);
    stats = stats_of(&w);
    assert_int_equal(stats.frames - before.frames, 20);
    assert_int_equal(stats.skipped, before.skipped);
    assert_int_equal(stats.overruns, before.overruns);
    assert_int_equal(w.last_ns % MS, begin % MS);
    end_all(&w);
}

static void slow_every_time(void **state)
{
    (void)state;
    world w = fresh();
    make_simulated(&w);
    make_loop(&w, 1000, true);
    w.takes_ns = 1300000; // does not hold 1000 Hz: says so, and goes on
    flr_loop_run(w.loop, 100);
    flr_loop_stats stats = stats_of(&w);
    assert_int_equal(stats.overruns, 100);
    assert_ge(stats.skipped, 28);
    assert_le(stats.skipped, 31);
    end_all(&w);
}

static void free_running(void **state)
{
    (void)state;
    world w = fresh();
    make_simulated(&w);
    make_loop(&w, 1000, false);
    int64_t begin = flr_clock_ns(w.env);
    flr_loop_run(w.loop, 1000);
    assert_int_equal(flr_clock_ns(w.env), begin); // nothing waited
    assert_int_equal(w.first_ns, 0);
    assert_int_equal(w.last_ns, 999 * MS);
    assert_eq(force_of(&w), 10);
    flr_loop_stats stats = stats_of(&w);
    assert_int_equal(stats.wakeup.count, 0);
    assert_int_equal(stats.faulty, 0);
    assert_false(flr_loop_watch(w.loop));
    // stopping fades instead of cutting
    w.probe.writes = 0;
    flr_loop_stop(w.loop);
    assert_gt(w.probe.writes, 10);
    assert_eq(force_of(&w), 0);
    end_all(&w);
}

/* frames stop: somebody still calls the watchdog */
static void killed_thread(void **state)
{
    (void)state;
    world w = fresh();
    make_simulated(&w);
    make_loop(&w, 1000, true);
    flr_loop_run(w.loop, 1000);
    assert_eq(force_of(&w), 10);
    int64_t lost = w.probe.time_ns;
    double before = 10;
    for (int i = 0; i < 40; i++) {
        flr_sim_advance(w.sim, MS);
        flr_loop_watch(w.loop);
        assert_le(before - force_of(&w), 1 + 1e-9);
        before = force_of(&w);
        if (flr_clock_ns(w.env) - lost >= 25 * MS) assert_eq(force_of(&w), 0);
    }
    // and comes back: ramped
    flr_loop_run(w.loop, 2);
    assert_lt(force_of(&w), 0.1);
    flr_loop_run(w.loop, 600);
    assert_eq(force_of(&w), 10);
    assert_int_equal(flr_guard_get_stats(flr_loop_guard(w.loop, 0)).trips, 1);
    end_all(&w);
}

/* a step that takes 40 ms, without a watchdog: zero in the first frame after it */
static void stalled_step(void **state)
{
    (void)state;
    world w = fresh();
    make_simulated(&w);
    make_loop(&w, 1000, true);
    w.stall_at = 1000;
    w.stall_ns = 40 * MS;
    flr_loop_run(w.loop, 1000);
    assert_eq(force_of(&w), 10);
    flr_loop_run(w.loop, 1);
    assert_eq(force_of(&w), 0);
    flr_loop_stats stats = stats_of(&w);
    assert_true(stats.worst.faults & FLR_FAULT_STALLED);
    assert_int_equal(stats.faulty, 1);
    end_all(&w);
}

static void lost_input_and_data(void **state)
{
    (void)state;
    for (int what = 0; what < 4; what++) {
        world w = fresh();
        make_simulated(&w);
        make_loop(&w, 1000, true);
        flr_loop_run(w.loop, 1000);
        assert_eq(force_of(&w), 10);
        if (what == 0) w.probe.silent = true;
        if (what == 1) w.invalid_at = 1000;
        if (what == 2) flr_loop_pause(w.loop, true);
        if (what == 3) w.probe.buttons = 0;
        uint64_t steps = w.steps;
        flr_loop_run(w.loop, 25);
        assert_eq(force_of(&w), 0);
        assert_int_equal(w.steps, steps + (what == 2 ? 0 : 25));
        flr_loop_stats stats = stats_of(&w);
        assert_int_equal(stats.late_input, what == 0 ? 25 : 0);
        assert_int_equal(stats.failed_steps, what == 1 ? 25 : 0);
        assert_ge(stats.faulty, 19);
        w.probe.silent = false;
        w.invalid_at = UINT64_MAX;
        w.probe.buttons = 1;
        flr_loop_pause(w.loop, false);
        flr_loop_run(w.loop, 600);
        assert_eq(force_of(&w), 10);
        end_all(&w);
    }
}

static void clock_jumps(void **state)
{
    (void)state;
    world w = fresh();
    make_simulated(&w);
    make_loop(&w, 1000, true);
    flr_loop_run(w.loop, 1000);
    // an hour ahead at once: frames go on at the new time, the force begins anew
    flr_sim_set_clock(w.env, 3600 * FLR_SIM_S);
    flr_loop_run(w.loop, 1);
    assert_eq(force_of(&w), 0);
    assert_gt(w.last_ns, 3600 * FLR_SIM_S);
    flr_loop_run(w.loop, 600);
    assert_eq(force_of(&w), 10);
    assert_int_equal(w.steps, 1601);
    end_all(&w);
}

static void commands_and_state(void **state)
{
    (void)state;
    world w = fresh();
    make_simulated(&w);
    make_loop(&w, 1000, true);
    shown s = {77, 77};
    assert_int_equal(flr_loop_view(w.loop, &s), 0);
    for (uint32_t i = 0; i < 64; i++) assert_true(flr_loop_send(w.loop, &i));
    uint32_t more = 99;
    assert_false(flr_loop_send(w.loop, &more));
    // so many in a frame and no more
    flr_loop_run(w.loop, 1);
    assert_int_equal(w.command_count, 32);
    flr_loop_run(w.loop, 4);
    assert_int_equal(w.command_count, 64);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(w.commands[i], i);
    assert_int_equal(stats_of(&w).commands, 64);
    assert_int_equal(stats_of(&w).dropped, 1);
    assert_int_equal(flr_loop_view(w.loop, &s), 5);
    assert_int_equal(s.number, 4);
    assert_eq(s.x, 2);
    // the step can end it
    w.end_at = 10;
    flr_loop_run(w.loop, 0);
    assert_int_equal(w.last_number, 10);
    end_all(&w);
}

static void refused(void **state)
{
    (void)state;
    world w = fresh();
    make_simulated(&w);
    flr_test_probe_init(&w.probe);
    w.probe.info.hardware = true;
    flr_error error;
    assert_ok(flr_device_open(&flr_test_probe_driver, &w.probe, &w.device, &error), error);
    for (int i = 0; i < 7; i++) {
        flr_loop_def def = flr_default_loop_def();
        def.env = w.env;
        def.step = step;
        if (i == 0) def.rate = 249;
        if (i == 1) def.rate = 10001;
        if (i == 2) def.rate = NAN;
        if (i == 3) def.priority = 99;
        if (i == 4) def.devices[0] = w.device, def.device_count = 1, def.paced = false;
        if (i == 5) def.device_count = 9;
        if (i == 6) def.devices[0] = def.devices[1] = w.device, def.device_count = 2; // held twice
        flr_loop *loop = NULL;
        assert_int_equal(flr_loop_create(&def, &loop, &error), FLR_BAD_ARGUMENT);
        assert_null(loop);
        assert_gt(strlen(error.message), 20);
    }
    flr_device_close(w.device);
    // no threads on a simulated machine
    make_loop(&w, 1000, true);
    assert_int_equal(flr_loop_start(w.loop, 0, &error), FLR_UNSUPPORTED);
    end_all(&w);
}

static flr_result make(void *context, flr_error *error)
{
    world *w = context;
    flr_loop_def def = flr_default_loop_def();
    def.env = w->env;
    def.step = step;
    def.command = command;
    def.command_size = 4;
    def.state_size = 16;
    def.devices[0] = w->device;
    def.device_count = 1;
    flr_loop *loop = NULL;
    flr_result result = flr_loop_create(&def, &loop, error);
    flr_loop_destroy(loop);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    world w = fresh();
    make_simulated(&w);
    flr_test_probe_init(&w.probe);
    flr_error error;
    assert_ok(flr_device_open(&flr_test_probe_driver, &w.probe, &w.device, &error), error);
    assert_ge(flr_fail_alloc_each(make, &w), 8);
    flr_device_close(w.device);
    flr_sim_destroy(w.sim);
}

/* ---- on the real machine ---- */

static void nap(int ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL); }

static void threads(void **state)
{
    (void)state;
    world w = fresh();
    w.env = flr_env_real();
    make_loop(&w, 1000, true);
    flr_error error;
    assert_string_equal(flr_loop_privileges(w.loop)->sentence, "");
    assert_ok(flr_loop_start(w.loop, 0, &error), error);
    assert_true(flr_loop_is_running(w.loop));
    print_message("%s\n", flr_loop_privileges(w.loop)->sentence);
    assert_non_null(strstr(flr_loop_privileges(w.loop)->sentence, "the loop runs"));
    // control sends and looks while it runs
    shown s = {0, 0};
    uint32_t sent = 0;
    for (int i = 0; i < 300000 && s.number < 100; i++) {
        flr_loop_view(w.loop, &s);
        assert_eq(s.x, (double)s.number / 2);
        sent += flr_loop_send(w.loop, &(uint32_t){7});
        stats_of(&w);
        nap(1);
    }
    assert_ge(s.number, 100);
    flr_loop_stop(w.loop);
    assert_false(flr_loop_is_running(w.loop));
    assert_eq(force_of(&w), 0);
    flr_loop_stats stats = stats_of(&w);
    print_message(
        "%llu frames, wake-up p50 %.1f us, p99 %.1f us, compute p50 %.1f us, overruns %llu, "
        "skipped %llu\n",
        (unsigned long long)stats.frames, 1e-3 * (double)stats.wakeup.p50,
        1e-3 * (double)stats.wakeup.p99, 1e-3 * (double)stats.compute.p50,
        (unsigned long long)stats.overruns, (unsigned long long)stats.skipped);
    assert_le(stats.commands, sent);
    assert_ge(stats.commands + 64, sent);
    assert_int_equal(stats.frames, w.steps);

    // again, for a number of frames
    uint64_t before = w.last_number;
    assert_ok(flr_loop_start(w.loop, 20, &error), error);
    flr_loop_wait(w.loop);
    assert_false(flr_loop_is_running(w.loop));
    assert_int_equal(w.last_number, before + 20);
    end_all(&w);
}

static atomic_bool hang;

static bool hanging_step(void *context, flr_loop_frame *frame)
{
    (void)context;
    frame->wrenches[0].force.x = 10;
    while (hang) nap(1);
    return true;
}

/* the step hangs: the watchdog's thread brings the force to zero, the loop recovers */
static void watchdog_thread(void **state)
{
    (void)state;
    flr_test_probe probe;
    flr_test_probe_init(&probe);
    flr_device *device;
    flr_error error;
    assert_ok(flr_device_open(&flr_test_probe_driver, &probe, &device, &error), error);
    flr_loop_def def = flr_default_loop_def();
    def.env = flr_env_real();
    def.devices[0] = device;
    def.device_count = 1;
    def.step = hanging_step;
    def.guard.ramp_ns = 0;
    def.lock_memory = false;
    flr_loop *loop;
    assert_ok(flr_loop_create(&def, &loop, &error), error);
    assert_ok(flr_loop_start(loop, 0, &error), error);
    nap(100);
    hang = true;
    // the machine may stall as it likes: wait for what must come, not for how long
    uint64_t taken = 0;
    for (int i = 0; i < 300000 && taken < 10; i++) {
        nap(1);
        taken = flr_guard_get_stats(flr_loop_guard(loop, 0)).counts[10];
    }
    nap(60);
    assert_ge(taken, 1);
    flr_loop_end(loop);
    hang = false;
    flr_loop_stop(loop);
    assert_eq(flr_vec3_length(probe.wrench.force), 0);
    flr_loop_destroy(loop);
    flr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_exchanged),
        cmocka_unit_test(keeps_the_grid),
        cmocka_unit_test(overruns_do_not_shift_it),
        cmocka_unit_test(slow_every_time),
        cmocka_unit_test(free_running),
        cmocka_unit_test(killed_thread),
        cmocka_unit_test(stalled_step),
        cmocka_unit_test(lost_input_and_data),
        cmocka_unit_test(clock_jumps),
        cmocka_unit_test(commands_and_state),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(threads),
        cmocka_unit_test(watchdog_thread),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
