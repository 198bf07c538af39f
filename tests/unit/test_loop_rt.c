/* hygiene of the loop: after warming up, frames fault no page, allocate nothing, take no lock, and make no system
 * call but the sleep
 *
 * A simulated hand pushes against a wall, through the guard, with commands and state going to and fro.
 * FLR_LOOP_FREE and FLR_LOOP_PACED set the frames of the two runs (default 100,000 and 200, for each test). */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "feeler/hand.h"
#include "feeler/loop.h"
#include "support/fail_alloc.h"
#include "support/quiet.h"

enum { WARM = 200 }; /* frames */

typedef struct subject {
    flr_script *script;
    flr_device *device;
    flr_loop *loop;
    bool paced;
    uint64_t frames;
    // by the step
    double stiffness, deepest;
    uint64_t steps;
} subject;

typedef struct shown {
    flr_pose pose;
    double force;
} shown;

/* a wall at z = 0 */
static bool touch(void *context, flr_loop_frame *frame)
{
    subject *s = context;
    double depth = fmax(0, -frame->samples[0].T_base_grip.p.z);
    s->deepest = fmax(s->deepest, depth);
    frame->wrenches[0].force.z = s->stiffness * depth;
    *(shown *)frame->state = (shown){frame->samples[0].T_base_grip, s->stiffness * depth};
    frame->notes[0] = frame->number;
    s->steps++;
    return true;
}

static void set_stiffness(void *context, const void *command)
{
    memcpy(&((subject *)context)->stiffness, command, sizeof(double));
}

static uint64_t frames_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void make(subject *s, bool paced)
{
    flr_error error;
    memset(s, 0, sizeof *s);
    s->paced = paced;
    s->frames = paced ? frames_of("FLR_LOOP_PACED", 200) : frames_of("FLR_LOOP_FREE", 100000);
    s->stiffness = 500;
    flr_script_def script = flr_default_script_def();
    script.kind = FLR_SCRIPT_AGGRESSIVE;
    assert_ok(flr_script_create(&script, &s->script, &error), error);
    flr_hand_def hand = flr_default_hand_def();
    hand.target = flr_script_target(s->script);
    assert_ok(flr_device_open(&flr_hand_driver, &hand, &s->device, &error), error);
    flr_loop_def def = flr_default_loop_def();
    def.env = flr_env_real();
    def.paced = paced;
    def.rate = 1000;
    def.devices[0] = s->device;
    def.device_count = 1;
    def.step = touch;
    def.command = set_stiffness;
    def.command_size = sizeof(double);
    def.state_size = sizeof(shown);
    def.context = s;
    assert_ok(flr_loop_create(&def, &s->loop, &error), error);
}

static void unmake(subject *s)
{
    assert_gt(s->deepest, 0.002); // it did touch
    flr_loop_destroy(s->loop);
    flr_device_close(s->device);
    flr_script_destroy(s->script);
}

/* all the frames, in this thread, with somebody sending and looking now and then */
static void run(subject *s, uint64_t frames)
{
    for (uint64_t done = 0; done < frames; done += 100) {
        double stiffness = 400 + (double)(done % 7) * 20;
        shown now;
        flr_loop_send(s->loop, &stiffness);
        flr_loop_run(s->loop, 100);
        flr_loop_view(s->loop, &now);
    }
}

/* Goes once through all code of a frame, which all loops share: with instrumentation, that writes. */
static int warm_code(void **state)
{
    (void)state;
    subject s;
    make(&s, false);
    run(&s, 5000);
    unmake(&s);
    return 0;
}

static void no_page_fault_no_allocation(void **state)
{
    (void)state;
    for (int paced = 0; paced < 2; paced++) {
        subject s;
        make(&s, paced);
        run(&s, WARM);
        struct rusage before, after;
        getrusage(RUSAGE_THREAD, &before);
        getrusage(RUSAGE_THREAD, &after);
        flr_fail_alloc_at(0);
        void *volatile block = malloc(1);
        free(block);
        assert_int_equal(flr_fail_alloc_asked(), 1); // the counter counts
        flr_fail_alloc_at(0);
        getrusage(RUSAGE_THREAD, &before);
        run(&s, s.frames);
        getrusage(RUSAGE_THREAD, &after);
        assert_int_equal(flr_fail_alloc_asked(), 0);
        long minor = after.ru_minflt - before.ru_minflt, major = after.ru_majflt - before.ru_majflt;
        flr_loop_stats stats;
        flr_loop_get_stats(s.loop, &stats);
        print_message(
            "%s: %llu frames, %ld + %ld page faults, compute p50 %.2f p99 %.2f max %.1f us, "
            "wake-up p50 %.1f p99 %.1f max %.1f us, %llu overruns\n",
            paced ? "paced" : "free running", (unsigned long long)s.steps, minor, major,
            1e-3 * (double)stats.compute.p50, 1e-3 * (double)stats.compute.p99,
            1e-3 * (double)stats.compute.max, 1e-3 * (double)stats.wakeup.p50,
            1e-3 * (double)stats.wakeup.p99, 1e-3 * (double)stats.wakeup.max,
            (unsigned long long)stats.overruns);
#ifndef FLR_SANITIZED // sanitizers keep books in memory of their own
        assert_int_equal(minor, 0);
        assert_int_equal(major, 0);
#endif
        unmake(&s);
    }
}

#ifndef FLR_SANITIZED // sanitizers lock and call as they like

static volatile char fresh[2][64 << 12]; // nobody has written there yet

static bool write_fresh(void *context, flr_loop_frame *frame)
{
    volatile char *bytes = fresh[*(int *)context];
    if (frame->number % 100 < 64) bytes[(frame->number % 100) << 12] = 1;
    return true;
}

/* static data, and code likewise, is there before the first frame that uses it */
static void the_program_is_touched(void **state)
{
    (void)state;
    uint64_t faults[2];
    for (int locked = 0; locked < 2; locked++) {
        flr_error error;
        flr_loop *loop;
        flr_loop_def def = flr_default_loop_def();
        def.env = flr_env_real();
        def.paced = false;
        def.step = write_fresh;
        def.context = &locked;
        def.lock_memory = locked;
        assert_ok(flr_loop_create(&def, &loop, &error), error);
        assert_ok(flr_loop_start(loop, 100, &error), error);
        flr_loop_wait(loop);
        flr_loop_stats stats;
        flr_loop_get_stats(loop, &stats);
        faults[locked] = stats.page_faults;
        flr_loop_destroy(loop);
    }
    assert_ge(faults[0], 60); // the counter counts
    assert_int_equal(faults[1], 0);
}

static uint64_t run_all(void *context)
{
    subject *s = context;
    run(s, s->frames);
    return s->steps;
}

static void no_lock(void **state)
{
    (void)state;
    for (int paced = 0; paced < 2; paced++) {
        subject s;
        make(&s, paced);
        run(&s, WARM);
        assert_int_equal(flr_test_locks(run_all, &s), 0);
        unmake(&s);
    }
}

static void no_system_call_but_the_sleep(void **state)
{
    (void)state;
    static const int sleeping[] = {SYS_clock_nanosleep, -1};
    for (int paced = 0; paced < 2; paced++) {
        subject s;
        make(&s, paced);
        if (paced)
            assert_int_equal(flr_test_alone(run_all, &s, NULL), -SIGSYS); // it would be noticed
        assert_int_equal(flr_test_alone(run_all, &s, paced ? sleeping : NULL), 0);
        run(&s, s.frames); // for unmake(), which looks that it touched
        unmake(&s);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_page_fault_no_allocation),
#ifndef FLR_SANITIZED
        cmocka_unit_test(the_program_is_touched),
        cmocka_unit_test(no_lock),
        cmocka_unit_test(no_system_call_but_the_sleep),
#endif
    };
    return cmocka_run_group_tests_name("loop_rt", tests, warm_code, NULL);
}
