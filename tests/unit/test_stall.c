/* a control thread that stalls: it is noticed, forces fade first; one that only seems to is left alone */
#include "realtime/stall.h"

#include <math.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "feeler/sim.h"
#include "support/probe_device.h"

#define MS FLR_SIM_MS

typedef struct seen {
    int count;
    flr_stall_report report;
} seen;

static void note(void *context, const flr_stall_report *report)
{
    seen *s = context;
    s->count++;
    s->report = *report;
}

/* ---- on a simulated machine ---- */

typedef struct desk {
    flr_sim *sim;
    flr_env *env;
    flr_stall *stall;
    seen seen;
} desk;

static void begin(desk *d)
{
    flr_error error;
    memset(d, 0, sizeof *d);
    flr_sim_def sim = flr_default_sim_def();
    d->sim = flr_sim_create(&sim);
    d->env = flr_sim_node(d->sim, (flr_address){.family = 4, .ip = {10, 0, 0, 1}});
    flr_stall_def def = flr_default_stall_def();
    def.env = d->env;
    def.stalled = note;
    def.context = &d->seen;
    assert_ok(flr_stall_create(&def, &d->stall, &error), error);
    assert_int_equal(flr_stall_start(d->stall, &error), FLR_UNSUPPORTED);
}

static void end(desk *d)
{
    flr_stall_destroy(d->stall);
    flr_sim_destroy(d->sim);
}

static void one_that_waits_for_a_processor_does_not_stall(void **state)
{
    (void)state;
    desk d;
    begin(&d);
    flr_stall_beat(d.stall);
    assert_false(flr_stall_look_at(d.stall, 'R', 7));
    /* ready, and never run */
    for (int i = 0; i < 1000; i++) assert_false(flr_stall_look_at(d.stall, 'R', 7));
    assert_int_equal(d.seen.count, 0);
    /* it runs, and still does not come round */
    int looks = 0;
    while (looks < 100 && !flr_stall_look_at(d.stall, 'R', 8 + (uint64_t)looks)) looks++;
    assert_int_equal(looks, 20);
    for (int i = 0; i < 3; i++) flr_stall_look_at(d.stall, 'R', 200 + (uint64_t)i);
    assert_int_equal(d.seen.count, 1);
    end(&d);
    /* it sleeps, and what it slept for does not come */
    begin(&d);
    flr_stall_beat(d.stall);
    assert_false(flr_stall_look_at(d.stall, 'S', 7));
    for (looks = 0; looks < 100 && !flr_stall_look_at(d.stall, 'S', 7);) looks++;
    assert_int_equal(looks, 20);
    end(&d);
}

static void two_seconds_are_a_stall(void **state)
{
    (void)state;
    desk d;
    begin(&d);
    for (int i = 0; i < 100; i++) assert_false(flr_stall_look(d.stall)); /* nothing began yet */
    flr_stall_beat(d.stall);
    flr_stall_doing before = flr_stall_set_doing(d.stall, "carrying out", "load");
    assert_string_equal(before.doing, "");
    assert_false(flr_stall_look(d.stall)); /* sees the beat */
    for (int i = 0; i < 20; i++) assert_false(flr_stall_look(d.stall));
    assert_true(flr_stall_look(d.stall)); /* 2.1 s: forces fade */
    assert_int_equal(d.seen.count, 0);
    assert_true(flr_stall_has_stalled(d.stall));
    assert_true(flr_stall_look(d.stall));
    assert_int_equal(d.seen.count, 1);
    assert_string_equal(d.seen.report.doing, "carrying out");
    assert_string_equal(d.seen.report.what, "load");
    assert_gt(d.seen.report.seconds, 2);
    assert_lt(d.seen.report.seconds, 2.5);
    assert_true(flr_stall_look(d.stall));
    assert_int_equal(d.seen.count, 1); /* once */
    end(&d);
}

static void one_that_comes_round_or_rests_does_not_stall(void **state)
{
    (void)state;
    desk d;
    begin(&d);
    for (int i = 0; i < 100; i++) { /* just in time, again and again */
        flr_stall_beat(d.stall);
        for (int k = 0; k < 21; k++) assert_false(flr_stall_look(d.stall));
    }
    /* what had begun to be a stall ends in time */
    assert_true(flr_stall_look(d.stall));
    assert_true(flr_stall_has_stalled(d.stall));
    flr_stall_beat(d.stall);
    assert_false(flr_stall_look(d.stall));
    assert_false(flr_stall_has_stalled(d.stall));
    flr_stall_rest(d.stall);
    for (int k = 0; k < 1000; k++) assert_false(flr_stall_look(d.stall));
    assert_int_equal(d.seen.count, 0);
    flr_stall_beat(NULL);
    flr_stall_rest(NULL);
    flr_stall_set_doing(NULL, "a", "b");
    end(&d);
}

/* ---- the loop's forces, on a simulated machine ---- */

static bool push(void *context, flr_loop_frame *frame)
{
    (void)context;
    frame->wrenches[0].force.x = 5;
    return true;
}

typedef struct written {
    double last, step; /* N: what was written last, and the largest change */
} written;

static void see_write(void *context, int64_t now_ns, const flr_wrench *wrench)
{
    (void)now_ns;
    written *w = context;
    double change = fabs(wrench->force.x - w->last);
    if (change > w->step) w->step = change;
    w->last = wrench->force.x;
}

static flr_loop *make_loop(flr_env *env, flr_test_probe *probe, flr_device **device,
                           const flr_stall *stall)
{
    flr_error error;
    flr_loop *loop;
    assert_ok(flr_device_open(&flr_test_probe_driver, probe, device, &error), error);
    flr_loop_def def = flr_default_loop_def();
    def.env = env;
    def.devices[0] = *device;
    def.device_count = 1;
    def.step = push;
    def.priority = 0;
    def.lock_memory = false;
    assert_ok(flr_loop_create(&def, &loop, &error), error);
    flr_loop_watch_control(loop, stall);
    return loop;
}

static void forces_fade_while_control_stalls(void **state)
{
    (void)state;
    desk d;
    flr_test_probe probe;
    flr_device *device;
    written w = {0, 0};
    begin(&d);
    flr_test_probe_init(&probe);
    probe.on_write = see_write;
    probe.context = &w;
    flr_loop *loop = make_loop(d.env, &probe, &device, d.stall);
    for (int i = 0; i < 1500; i++) {
        flr_stall_beat(d.stall);
        flr_loop_run(loop, 1);
    }
    assert_eq(w.last, 5);
    flr_loop_run(loop, 1999);
    assert_eq(w.last, 5); /* not yet */
    flr_loop_run(loop, 30);
    assert_eq(w.last, 0);
    assert_le(w.step, 1 + 1e-9);
    /* a machine that sleeps for an hour has no frames meanwhile */
    flr_stall_beat(d.stall);
    flr_loop_run(loop, 1000);
    assert_eq(w.last, 5);
    flr_sim_advance(d.sim, INT64_C(3600000) * MS);
    flr_stall_beat(d.stall);
    flr_loop_run(loop, 1500);
    assert_eq(w.last, 5);
    /* whoever looks may see it first */
    for (int i = 0; i < 23; i++) flr_stall_look(d.stall);
    flr_loop_run(loop, 30);
    assert_eq(w.last, 0);
    /* one that rests is not waited for */
    flr_stall_rest(d.stall);
    flr_stall_look(d.stall);
    flr_loop_destroy(loop);
    flr_device_close(device);
    end(&d);
}

/* ---- on the real one ---- */

typedef struct machine {
    sem_t over;
    atomic_int calls;
    flr_test_probe *probe;
    double force_then;
    char doing[64];
} machine;

static void see_stall(void *context, const flr_stall_report *report)
{
    machine *m = context;
    m->force_then = m->probe->wrench.force.x;
    snprintf(m->doing, sizeof m->doing, "%s", report->doing);
    atomic_fetch_add(&m->calls, 1);
    sem_post(&m->over);
}

static void a_thread_that_blocks_is_noticed(void **state)
{
    (void)state;
    flr_error error;
    flr_stall *stall;
    flr_test_probe probe;
    flr_device *device;
    machine m = {.probe = &probe, .force_then = -1};
    sem_init(&m.over, 0, 0);
    flr_test_probe_init(&probe);
    flr_stall_def def = flr_default_stall_def();
    def.limit_ns = 500 * MS;
    def.look_ns = 50 * MS;
    def.fade_ns = 200 * MS;
    def.stalled = see_stall;
    def.context = &m;
    assert_ok(flr_stall_create(&def, &stall, &error), error);
    flr_loop *loop = make_loop(flr_env_real(), &probe, &device, stall);
    assert_ok(flr_stall_start(stall, &error), error);
    assert_ok(flr_loop_start(loop, 0, &error), error);
    uint64_t enough = 800; /* frames: the ramp at the start is over */
    while (probe.writes < enough) {
        flr_stall_beat(stall);
        nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
    }
    assert_int_equal(atomic_load(&m.calls), 0);
    flr_stall_set_doing(stall, "waiting in a test", "");
    sem_wait(&m.over); /* blocked, as long as nobody notices */
    assert_eq(m.force_then, 0);
    assert_string_equal(m.doing, "waiting in a test");
    flr_loop_destroy(loop);
    flr_device_close(device);
    flr_stall_destroy(stall);
    sem_destroy(&m.over);
}

static void exit_badly(void *context, const flr_stall_report *report)
{
    (void)context;
    (void)report;
    _exit(1);
}

/* in a process of its own: comes round every 10 ms, for two seconds of its own rounds */
static void come_round(int ready)
{
    flr_error error;
    flr_stall *stall;
    flr_stall_def def = flr_default_stall_def();
    def.limit_ns = 600 * MS;
    def.look_ns = 60 * MS;
    def.stalled = exit_badly;
    if (flr_stall_create(&def, &stall, &error) != FLR_OK ||
        flr_stall_start(stall, &error) != FLR_OK)
        _exit(2);
    for (int i = 0; i < 200; i++) {
        flr_stall_beat(stall);
        nanosleep(&(struct timespec){.tv_nsec = 10 * MS}, NULL);
        if (i == 50 && write(ready, "", 1) != 1) _exit(3);
    }
    _exit(0);
}

static void a_process_that_is_stopped_does_not_stall(void **state)
{
    (void)state;
    int ready[2], status;
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) come_round(ready[1]);
    assert_gt(child, 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(child, SIGSTOP);
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_eq(WEXITSTATUS(status), 0);
    close(ready[0]), close(ready[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_seconds_are_a_stall),
        cmocka_unit_test(one_that_waits_for_a_processor_does_not_stall),
        cmocka_unit_test(one_that_comes_round_or_rests_does_not_stall),
        cmocka_unit_test(forces_fade_while_control_stalls),
        cmocka_unit_test(a_thread_that_blocks_is_noticed),
        cmocka_unit_test(a_process_that_is_stopped_does_not_stall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
