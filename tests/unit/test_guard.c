/* output guard: each promise by itself, then all of them against everything at once
 *
 * FLR_GUARD_STEPS sets the number of steps of the last test (default a million). */
#include "feeler/device.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "support/fail_alloc.h"
#include "support/probe_device.h"

#define MS ((int64_t)1000000)

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

typedef struct subject {
    flr_test_probe probe;
    flr_device *device;
    flr_guard *guard;
    int64_t now;
} subject;

static void open_with(subject *s, const flr_guard_def *given)
{
    flr_error error;
    flr_guard_def def = *given;
    assert_ok(flr_device_open(&flr_test_probe_driver, &s->probe, &s->device, &error), error);
    def.device = s->device;
    assert_ok(flr_guard_create(&def, &s->guard, &error), error);
    s->now = 1000 * MS;
}

static void open_default(subject *s)
{
    flr_guard_def def = flr_default_guard_def();
    flr_test_probe_init(&s->probe);
    open_with(s, &def);
}

static void close_all(subject *s)
{
    flr_guard_destroy(s->guard);
    flr_device_close(s->device);
}

static double force_of(const subject *s) { return flr_vec3_length(s->probe.wrench.force); }
static double torque_of(const subject *s) { return flr_vec3_length(s->probe.wrench.torque); }

/* one good frame a millisecond later */
static flr_guard_output step(subject *s, flr_wrench wrench)
{
    flr_guard_output output;
    flr_guard_input input = {wrench, s->now += MS, true, true, true};
    flr_guard_step(s->guard, &input, &output);
    return output;
}

static flr_wrench push(double newton, double newton_metre)
{
    return flr_wrench_make(flr_vec3_make(0, 0, newton_metre), flr_vec3_make(newton, 0, 0));
}

/* until the ramp is over and the force is there */
static void settle(subject *s, flr_wrench wrench)
{
    for (int i = 0; i < 600; i++) step(s, wrench);
    assert_near(force_of(s), fmin(flr_vec3_length(wrench.force), 15), 1e-9);
}

/* ---- the promises, one by one ---- */

static void limits(void **state)
{
    (void)state;
    subject s;
    open_default(&s);
    assert_near(flr_guard_force_limit(s.guard), 15, 0);
    assert_near(flr_guard_torque_limit(s.guard), 0.5, 0);
    assert_near(flr_guard_torque_step(s.guard), 0.5 / 15, 1e-15);
    flr_guard_output output = {0};
    for (int i = 0; i < 600; i++) output = step(&s, push(1e300, -DBL_MAX));
    assert_near(s.probe.wrench.force.x, 15, 1e-9);
    assert_near(s.probe.wrench.torque.z, -0.5, 1e-9);
    assert_int_equal(output.faults, FLR_FAULT_FORCE_LIMIT | FLR_FAULT_TORQUE_LIMIT);
    flr_guard_stats stats = flr_guard_get_stats(s.guard);
    assert_int_equal(stats.steps, 600);
    assert_int_equal(stats.counts[1], 600);
    assert_int_equal(stats.trips, 0);
    assert_near(stats.max_force, 15, 1e-9);
    close_all(&s);

    // slower frames leave less to fade in: 17 ms at 250 Hz
    flr_guard_def def = flr_default_guard_def();
    def.rate = 250;
    open_with(&s, &def);
    assert_near(flr_guard_force_limit(s.guard), 17.0 / 4, 1e-12);
    close_all(&s);
    def.rate = 1000;
    def.force = 3;
    def.torque_step = 0.001;
    open_with(&s, &def);
    assert_near(flr_guard_force_limit(s.guard), 3, 0);
    assert_near(flr_guard_torque_limit(s.guard), 0.02, 1e-12);
    close_all(&s);
}

static void ramp_and_slew(void **state)
{
    (void)state;
    subject s;
    open_default(&s);
    // half a second to all of it, in equal parts
    for (int i = 1; i <= 500; i++) {
        flr_guard_output output = step(&s, push(10, 0.1));
        assert_near(output.gain, i / 500.0, 1e-9);
        assert_near(force_of(&s), 10 * i / 500.0, 1e-8);
        assert_near(torque_of(&s), 0.1 * i / 500.0, 1e-8);
    }
    // the other way round: 1 N and the matching torque per frame
    flr_guard_output output = step(&s, push(-10, -0.1));
    assert_near(s.probe.wrench.force.x, 9, 1e-9);
    assert_int_equal(output.faults, FLR_FAULT_SLEW);
    for (int i = 0; i < 19; i++) step(&s, push(-10, -0.1));
    assert_near(s.probe.wrench.force.x, -10, 1e-9);
    assert_near(s.probe.wrench.torque.z, -0.1, 1e-9);
    // frames that come faster than they should get no more per time
    flr_guard_input input = {push(10, 0), s.now += MS / 10, true, true, true};
    flr_guard_step(s.guard, &input, NULL);
    assert_near(s.probe.wrench.force.x, -9.9, 1e-9);
    // and one that comes late no more than one
    input.now_ns = s.now += 4 * MS;
    flr_guard_step(s.guard, &input, NULL);
    assert_near(s.probe.wrench.force.x, -8.9, 1e-9);
    close_all(&s);
}

/* frames with this input until the force is gone: how many milliseconds */
static int fade(subject *s, flr_guard_input input, uint32_t fault)
{
    int64_t begin = s->now;
    double before = force_of(s);
    flr_guard_output output = {0};
    while (force_of(s) > 0 || torque_of(s) > 0) {
        input.now_ns = s->now += MS;
        flr_guard_step(s->guard, &input, &output);
        assert_le(before - force_of(s), 1 + 1e-9);
        before = force_of(s);
        assert_le(s->now - begin, 25 * MS);
    }
    assert_int_equal(output.faults & fault, fault);
    assert_near(output.gain, 0, 0);
    return (int)((s->now - begin) / MS);
}

static void losses(void **state)
{
    (void)state;
    subject s;
    flr_guard_def def = flr_default_guard_def();
    flr_test_probe_init(&s.probe);
    s.probe.info.dead_man = 0;
    open_with(&s, &def);
    const flr_wrench wrench = push(15, 0.5);
    const flr_wrench nan = push(NAN, 0), infinite = push(0, INFINITY);
    const struct {
        flr_guard_input input;
        uint32_t fault;
        int ms;
    } cases[] = {
        {{wrench, 0, false, true, true}, FLR_FAULT_INPUT_LOST, 20},
        {{wrench, 0, true, false, true}, FLR_FAULT_DATA_LOST, 20},
        {{wrench, 0, false, false, false}, FLR_FAULT_DEAD_MAN | FLR_FAULT_INPUT_LOST, 15},
        {{wrench, 0, true, true, false}, FLR_FAULT_DEAD_MAN, 15},
        {{nan, 0, true, true, true}, FLR_FAULT_NOT_FINITE, 15},
        {{infinite, 0, true, true, true}, FLR_FAULT_NOT_FINITE, 15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        settle(&s, wrench);
        assert_int_equal(fade(&s, cases[i].input, cases[i].fault), cases[i].ms);
        assert_int_equal(flr_guard_get_stats(s.guard).trips, i + 1);
        // and it comes back by the ramp
        assert_lt(step(&s, wrench).gain, 0.01);
        assert_lt(force_of(&s), 0.05);
    }
    // a device that does not listen
    settle(&s, wrench);
    s.probe.deaf = true;
    step(&s, wrench);
    flr_guard_output output = step(&s, wrench);
    assert_int_equal(output.faults, FLR_FAULT_DEVICE);
    assert_near(flr_vec3_length(output.wrench.force), 14, 1e-9);
    s.probe.deaf = false;
    close_all(&s);
}

static void short_gaps_do_no_harm(void **state)
{
    (void)state;
    subject s;
    open_default(&s);
    settle(&s, push(10, 0));
    // four frames without anything new, a step 4 ms late
    for (int i = 0; i < 4; i++) {
        flr_guard_input input = {push(10, 0), s.now += MS, false, false, true};
        flr_guard_output output;
        flr_guard_step(s.guard, &input, &output);
        assert_int_equal(output.faults, 0);
    }
    step(&s, push(10, 0));
    s.now += 3 * MS;
    assert_int_equal(step(&s, push(10, 0)).faults, 0);
    assert_near(force_of(&s), 10, 0);
    close_all(&s);
}

static void clocks(void **state)
{
    (void)state;
    subject s;
    open_default(&s);
    settle(&s, push(10, 0));
    // standing still for a few frames is nothing; after that every frame counts as one
    flr_guard_input input = {push(10, 0), s.now, true, true, true};
    flr_guard_output output;
    for (int i = 0; i < 4; i++) {
        flr_guard_step(s.guard, &input, &output);
        assert_int_equal(output.faults, 0);
    }
    for (int i = 0; i < 10; i++) {
        flr_guard_step(s.guard, &input, &output);
        assert_int_equal(output.faults, FLR_FAULT_CLOCK);
    }
    assert_near(force_of(&s), 0, 0);
    // back by an hour: once a fault, then it goes on from there
    settle(&s, push(10, 0));
    s.now -= 3600000 * MS;
    assert_int_equal(step(&s, push(10, 0)).faults, FLR_FAULT_CLOCK);
    assert_near(force_of(&s), 9, 1e-9);
    assert_int_equal(step(&s, push(10, 0)).faults & FLR_FAULT_CLOCK, 0);
    // forward by an hour, or by all there is: nobody was there for so long
    settle(&s, push(10, 0));
    s.now += 3600000 * MS;
    assert_int_equal(step(&s, push(10, 0)).faults, FLR_FAULT_STALLED);
    assert_near(force_of(&s), 0, 0);
    settle(&s, push(10, 0));
    s.now = INT64_MIN + 1;
    step(&s, push(10, 0));
    s.now = INT64_MAX - MS;
    assert_int_equal(step(&s, push(10, 0)).faults, FLR_FAULT_STALLED);
    assert_near(force_of(&s), 0, 0);
    close_all(&s);
}

static void watchdog(void **state)
{
    (void)state;
    subject s;
    open_default(&s);
    assert_false(flr_guard_watch(s.guard, s.now)); // nothing to watch yet
    settle(&s, push(15, 0.5));
    int64_t last = s.now;
    double before = 15;
    while (force_of(&s) > 0) {
        s.now += MS;
        bool in_charge = flr_guard_watch(s.guard, s.now);
        assert_int_equal(in_charge, s.now - last > 5 * MS);
        assert_le(before - force_of(&s), 1 + 1e-9);
        before = force_of(&s);
        assert_le(s.now - last, 25 * MS);
    }
    assert_int_equal(s.now - last, 20 * MS);
    // the loop comes back: told what was, begins by the ramp
    flr_guard_output output = step(&s, push(15, 0.5));
    assert_int_equal(output.faults, FLR_FAULT_STALLED);
    assert_lt(step(&s, push(15, 0.5)).gain, 0.01);
    assert_int_equal(flr_guard_get_stats(s.guard).counts[10], 15);
    assert_int_equal(flr_guard_get_stats(s.guard).trips, 1);
    assert_false(flr_guard_watch(s.guard, s.now));

    // a watchdog that comes late itself: smooth as long as it can be, zero in time
    settle(&s, push(15, 0.5));
    assert_true(flr_guard_watch(s.guard, s.now + 15 * MS));
    assert_near(force_of(&s), 10, 1e-9);
    assert_true(flr_guard_watch(s.guard, s.now + 25 * MS));
    assert_near(force_of(&s), 0, 0);
    close_all(&s);
}

/* the clock is set back, or was ahead for one step, and then no step comes any more */
static void watchdog_and_clock(void **state)
{
    (void)state;
    const int64_t jumps[] = {-MS, -30 * MS, -3600000 * MS, INT64_MIN / 2};
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        subject s;
        open_default(&s);
        settle(&s, push(15, 0.5));
        for (int k = 0; k < 20; k++) { // steps come: nothing to do, before and behind a jump
            step(&s, push(15, 0.5));
            assert_false(flr_guard_watch(s.guard, s.now));
            assert_false(flr_guard_watch(s.guard, s.now - 1));
        }
        s.now += jumps[i];
        double before = force_of(&s);
        assert_gt(before, 14);
        for (int k = 0; k < 25; k++) {
            s.now += MS;
            flr_guard_watch(s.guard, s.now);
            assert_le(before - force_of(&s), 1 + 1e-9);
            before = force_of(&s);
        }
        assert_near(force_of(&s), 0, 0);
        close_all(&s);
    }
}

/* ---- a step that hangs in its driver ---- */

static void *step_once(void *context)
{
    step(context, push(15, 0.5));
    return NULL;
}

static void hung_step(void **state)
{
    (void)state;
    subject s;
    open_default(&s);
    settle(&s, push(15, 0.5));
    int64_t begin = s.now;
    s.probe.hang = true;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, step_once, &s), 0);
    while (!s.probe.hanging) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    assert_false(flr_guard_watch(s.guard, begin + 5 * MS));
    assert_true(flr_guard_watch(s.guard, begin + 7 * MS));
    assert_int_equal(s.probe.stops, 1);
    assert_true(flr_guard_watch(s.guard, begin + 8 * MS));
    assert_int_equal(s.probe.stops, 1);
    s.probe.hang = false;
    pthread_join(thread, NULL);
    assert_near(force_of(&s), 0, 0); // what hung was written late, and taken back
    assert_int_equal(flr_guard_get_stats(s.guard).counts[11], 1);
    // it recovers
    settle(&s, push(15, 0.5));
    close_all(&s);
}

/* ---- two threads at once ---- */

static atomic_bool finished;

static void *watch_always(void *context)
{
    subject *s = context;
    // far ahead, so that it takes over whenever it can
    for (int64_t i = 1; !finished; i++) flr_guard_watch(s->guard, INT64_MAX / 4 + i * MS);
    return NULL;
}

static void contested(void **state)
{
    (void)state;
    subject s;
    open_default(&s);
    finished = false;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, watch_always, &s), 0);
    for (int i = 0; i < 20000; i++) step(&s, push(10, 0));
    finished = true;
    pthread_join(thread, NULL);
    assert_le(flr_guard_get_stats(s.guard).max_force, 10);
    settle(&s, push(10, 0));
    close_all(&s);
}

/* ---- what is refused ---- */

static void refused(void **state)
{
    (void)state;
    flr_test_probe probe;
    flr_test_probe_init(&probe);
    flr_device *device;
    flr_error error;
    assert_ok(flr_device_open(&flr_test_probe_driver, &probe, &device, &error), error);
    flr_guard *guard = NULL;
    for (int i = 0; i < 11; i++) {
        flr_guard_def def = flr_default_guard_def();
        def.device = device;
        if (i == 0) def.rate = 49;
        if (i == 1) def.rate = NAN;
        if (i == 2) def.force = -1;
        if (i == 3) def.torque = INFINITY;
        if (i == 4) def.force_step = 1.01;
        if (i == 5) def.force_step = 0;
        if (i == 6) def.torque_step = NAN;
        if (i == 7) def.ramp_ns = -1;
        if (i == 8) def.zero_ns = 26 * MS;
        if (i == 9) def.detect_ns = 25 * MS;
        if (i == 10) def.detect_ns = 1;
        assert_int_equal(flr_guard_create(&def, &guard, &error), FLR_BAD_ARGUMENT);
        assert_non_null(strstr(error.message, "output guard"));
        assert_null(guard);
    }
    flr_guard_def def = flr_default_guard_def();
    def.device = device;
    assert_ok(flr_guard_create(&def, &guard, &error), error);
    flr_guard *second = NULL;
    assert_int_equal(flr_guard_create(&def, &second, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "has a guard already"));
    flr_guard_destroy(guard);
    assert_ok(flr_guard_create(&def, &guard, &error), error);
    flr_guard_destroy(guard);
    flr_device_close(device);
    for (unsigned i = 0; i < FLR_FAULT_COUNT; i++) assert_gt(strlen(flr_fault_name(i)), 3);
}

static flr_result make(void *context, flr_error *error)
{
    flr_device *device = NULL;
    flr_guard *guard = NULL;
    flr_result result = flr_device_open(&flr_test_probe_driver, context, &device, error);
    if (result != FLR_OK) return result;
    flr_guard_def def = flr_default_guard_def();
    def.device = device;
    result = flr_guard_create(&def, &guard, error);
    flr_guard_destroy(guard);
    flr_device_close(device);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    flr_test_probe probe;
    flr_test_probe_init(&probe);
    assert_int_equal(flr_fail_alloc_each(make, &probe), 2);
    assert_int_equal(probe.opens, probe.closes);
}

/* ---- everything at once ---- */

/* What a hand at the device sees: knows the promises, and nothing of how they are kept. */
typedef struct witness {
    double frame_ns, force_limit, torque_limit, torque_step;
    flr_wrench before;
    int64_t elapsed_ns; /* since the write before, by a clock that never jumps back */
    uint64_t writes, nonzero, largest_steps;
} witness;

static bool plain(double x) { return x == 0 || (isfinite(x) && fabs(x) >= DBL_MIN); }

static void see(void *context, int64_t now_ns, const flr_wrench *w)
{
    witness *v = context;
    (void)now_ns;
    const flr_vec3 f = w->force, t = w->torque;
    if (!(plain(f.x) && plain(f.y) && plain(f.z) && plain(t.x) && plain(t.y) && plain(t.z)))
        fail_msg("write %llu: not finite, or denormal", (unsigned long long)v->writes);
    double force = flr_vec3_length(f), torque = flr_vec3_length(t);
    if (force > v->force_limit * (1 + 1e-12) || torque > v->torque_limit * (1 + 1e-12))
        fail_msg("write %llu: %g N, %g N m", (unsigned long long)v->writes, force, torque);
    // one step, or as many as frames would have been if they had come
    double frames = fmax(1, (double)v->elapsed_ns / v->frame_ns) * (1 + 1e-9);
    double step_f = flr_vec3_distance(f, v->before.force);
    double step_t = flr_vec3_distance(t, v->before.torque);
    if (step_f > frames + 1e-9 || step_t > frames * v->torque_step + 1e-9)
        fail_msg("write %llu: changed by %g N, %g N m in %g frames", (unsigned long long)v->writes,
                 step_f, step_t, frames);
    v->largest_steps += step_f > 0.999;
    v->nonzero += force > 0;
    v->before = *w;
    v->elapsed_ns = 0;
    v->writes++;
}

static double nasty_number(flr_test_random *random)
{
    static const double numbers[] = {0,        -0.0,    NAN,      INFINITY, -INFINITY, DBL_MAX,
                                     -DBL_MAX, DBL_MIN, 4.9e-324, -1e-310,  1e-9,      1e-10,
                                     1e154,    -1e200,  15,       -15,      1,         1e-300};
    if (flr_test_random_below(random, 2)) return flr_test_random_range(random, -30, 30);
    return numbers[flr_test_random_below(random, sizeof numbers / sizeof numbers[0])];
}

static flr_wrench nasty_wrench(flr_test_random *random)
{
    double n[6];
    for (int i = 0; i < 6; i++) n[i] = nasty_number(random);
    return flr_wrench_make(flr_vec3_make(n[0], n[1], n[2]), flr_vec3_make(n[3], n[4], n[5]));
}

enum { GOOD, FLIPPING, NASTY, NO_INPUT, NO_DATA, NOT_HELD, DEAF, KILLED, FROZEN, CLOCK, MODES };

typedef struct chaos {
    subject s;
    witness seen;
    flr_test_random random;
    int64_t frame;
    int64_t input_age, data_age, step_age, held_age; /* ns, since the last good one */
    flr_wrench wanted;
    uint64_t steps;
} chaos;

/* time passes; the guard's clock may see something else */
static void pass(chaos *c, int64_t ns, int64_t jump)
{
    c->s.now += ns + jump;
    c->seen.elapsed_ns += ns + jump > 0 ? ns + jump : c->frame;
}

static void chaos_step(chaos *c, int mode, int64_t ns)
{
    bool nasty = mode == NASTY && flr_test_random_below(&c->random, 4) == 0;
    int64_t jump = 0;
    if (mode == CLOCK && flr_test_random_below(&c->random, 8) == 0) {
        static const int64_t jumps[] = {-1, -1000000, -3600000000000, 1000, 12000000, 900000000000};
        jump = jumps[flr_test_random_below(&c->random, 6)] - ns / 2;
    }
    pass(c, ns, jump);
    int64_t counted = ns + jump > 0 ? ns + jump : c->frame;
    flr_guard_input input = {nasty ? nasty_wrench(&c->random) : c->wanted, c->s.now,
                             mode != NO_INPUT, mode != NO_DATA, mode != NOT_HELD};
    c->input_age = input.input_fresh ? 0 : c->input_age + counted;
    c->data_age = input.data_fresh ? 0 : c->data_age + counted;
    c->held_age = input.held ? 0 : c->held_age + counted;
    c->step_age = 0;
    c->s.probe.deaf = mode == DEAF;
    flr_guard_step(c->s.guard, &input, NULL);
    c->steps++;
    if (mode == DEAF) return;
    bool gone = force_of(&c->s) == 0 && torque_of(&c->s) == 0;
    if (!gone && (c->input_age >= 25 * MS || c->data_age >= 25 * MS || c->held_age >= 25 * MS))
        fail_msg("step %llu: %g N, lost for %g, %g, %g ms", (unsigned long long)c->steps,
                 force_of(&c->s), 1e-6 * (double)c->input_age, 1e-6 * (double)c->data_age,
                 1e-6 * (double)c->held_age);
}

/* no steps for a while; killed: only the watchdog still runs */
static void chaos_gap(chaos *c, int mode)
{
    int64_t left = flr_test_random_below(&c->random, 60) * MS + 1;
    while (left > 0) {
        int64_t ns = mode == FROZEN ? left : 1 + flr_test_random_below(&c->random, 2 * MS);
        pass(c, ns, 0);
        c->step_age += ns;
        left -= ns;
        if (mode == KILLED) {
            flr_guard_watch(c->s.guard, c->s.now);
            if (c->step_age >= 25 * MS && (force_of(&c->s) > 0 || torque_of(&c->s) > 0))
                fail_msg("step %llu: %g N, no steps for %g ms", (unsigned long long)c->steps,
                         force_of(&c->s), 1e-6 * (double)c->step_age);
        }
    }
}

/* one guard's life */
static void chaos_life(chaos *c, uint64_t steps)
{
    static const double rates[] = {250, 500, 1000, 1000, 4000, 10000};
    flr_guard_def def = flr_default_guard_def();
    def.rate = rates[flr_test_random_below(&c->random, 6)];
    def.ramp_ns = flr_test_random_below(&c->random, 3) * 10 * MS;
    flr_test_probe_init(&c->s.probe);
    c->s.probe.info.dead_man = 0;
    c->s.probe.info.force = flr_test_random_range(&c->random, 0, 40);
    c->s.probe.on_write = see;
    c->s.probe.context = &c->seen;
    open_with(&c->s, &def);
    c->frame = (int64_t)llround(1e9 / def.rate);
    uint64_t writes = c->seen.writes, nonzero = c->seen.nonzero, large = c->seen.largest_steps;
    c->seen = (witness){.frame_ns = (double)c->frame,
                        .force_limit = flr_guard_force_limit(c->s.guard),
                        .torque_limit = flr_guard_torque_limit(c->s.guard),
                        .torque_step = flr_guard_torque_step(c->s.guard),
                        .writes = writes,
                        .nonzero = nonzero,
                        .largest_steps = large};
    c->input_age = c->data_age = c->held_age = c->step_age = 0;
    for (uint64_t end = c->steps + steps; c->steps < end;) {
        int mode = (int)flr_test_random_below(&c->random, MODES);
        int run = 1 + (int)flr_test_random_below(&c->random, mode == GOOD ? 200 : 60);
        for (int i = 0; i < run; i++) {
            if (i == 0 || mode == FLIPPING)
                c->wanted = push(flr_test_random_range(&c->random, -40, 40),
                                 flr_test_random_range(&c->random, -1, 1));
            // mostly in time, now and then a little early or late
            int64_t ns = c->frame;
            if (flr_test_random_below(&c->random, 16) == 0)
                ns = 1 + (int64_t)flr_test_random_range(&c->random, 0, 3 * (double)c->frame);
            chaos_step(c, mode, ns);
        }
        if (mode == KILLED || mode == FROZEN) chaos_gap(c, mode);
    }
    c->s.probe.deaf = false;
    c->s.probe.on_write = NULL; // the zero at the end comes at once
    close_all(&c->s);
}

static void everything_at_once(void **state)
{
    (void)state;
    const char *text = getenv("FLR_GUARD_STEPS");
    uint64_t total = text ? strtoull(text, NULL, 10) : 1000000;
    static chaos c;
    memset(&c, 0, sizeof c);
    c.random = flr_test_random_begin("guard");
    while (c.steps < total) chaos_life(&c, 20000);
    print_message(
        "%llu steps, %llu writes, %llu of them with a force, %llu changed by a whole step\n",
        (unsigned long long)c.steps, (unsigned long long)c.seen.writes,
        (unsigned long long)c.seen.nonzero, (unsigned long long)c.seen.largest_steps);
    assert_gt(c.seen.nonzero, c.seen.writes / 4); // the promises are not kept by doing nothing
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(ramp_and_slew),
        cmocka_unit_test(losses),
        cmocka_unit_test(short_gaps_do_no_harm),
        cmocka_unit_test(clocks),
        cmocka_unit_test(watchdog),
        cmocka_unit_test(watchdog_and_clock),
        cmocka_unit_test(hung_step),
        cmocka_unit_test(contested),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(everything_at_once),
    };
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
