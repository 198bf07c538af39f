/* a control thread that does not come round any more */
#include "realtime/stall.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "feeler/assert.h"
#include "realtime/loop.h"

struct flr_stall {
    flr_stall_def def;
    _Atomic uint64_t beats;
    atomic_bool rests, stalled;
    _Atomic(const char *) doing, what;

    _Atomic int control;          /* id of the control thread; 0: not known yet */
    _Atomic int32_t control_time; /* clock of the time that it ran */

    // of whoever looks
    bool measures;      /* from another thread than control: what control does can be seen */
    int64_t ran_ns;     /* by control, at the last look */
    uint64_t seen;      /* beats at the last look */
    int64_t late_ns;    /* looks since then, in time that they stand for */
    int64_t stalled_ns; /* likewise, since it stalled */
    bool called;

    pthread_t thread;
    bool made;
    atomic_bool end;
};

flr_stall_def flr_default_stall_def(void)
{
    return (flr_stall_def){.env = flr_env_real(),
                           .limit_ns = INT64_C(2000000000),
                           .look_ns = INT64_C(100000000),
                           .fade_ns = INT64_C(100000000)};
}

flr_result flr_stall_create(const flr_stall_def *def, flr_stall **stall, flr_error *error)
{
    FLR_ASSERT(def && def->env && def->look_ns > 0 && def->limit_ns >= def->look_ns && stall);
    flr_stall *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "no memory to watch the control thread");
    made->def = *def;
    atomic_init(&made->rests, true);
    atomic_init(&made->doing, "");
    atomic_init(&made->what, "");
    *stall = made;
    return FLR_OK;
}

void flr_stall_destroy(flr_stall *stall)
{
    if (!stall) return;
    atomic_store(&stall->end, true);
    if (stall->made) pthread_join(stall->thread, NULL);
    free(stall);
}

/* ---- control ---- */

void flr_stall_beat(flr_stall *stall)
{
    if (!stall) return;
    if (!atomic_load(&stall->control)) {
        clockid_t clock;
        if (pthread_getcpuclockid(pthread_self(), &clock) == 0) {
            atomic_store(&stall->control_time, (int32_t)clock);
            atomic_store(&stall->control, (int)gettid());
        }
    }
    atomic_fetch_add(&stall->beats, 1);
    atomic_store(&stall->rests, false);
}

void flr_stall_rest(flr_stall *stall)
{
    if (!stall) return;
    atomic_fetch_add(&stall->beats, 1);
    atomic_store(&stall->rests, true);
}

flr_stall_doing flr_stall_set_doing(flr_stall *stall, const char *doing, const char *what)
{
    if (!stall) return (flr_stall_doing){"", ""};
    return (flr_stall_doing){atomic_exchange(&stall->doing, doing),
                             atomic_exchange(&stall->what, what)};
}

/* ---- looking ---- */

/* Is the control thread ready to run, whether it has a processor or not? */
static bool is_runnable(int thread)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return false;
    text[size] = 0;
    const char *name_end = strrchr(text, ')'); /* the state follows the name */
    return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

static int64_t ran(const flr_stall *stall)
{
    struct timespec time;
    clockid_t clock = (clockid_t)atomic_load(&stall->control_time);
    if (!atomic_load(&stall->control) || clock_gettime(clock, &time) != 0) return 0;
    return INT64_C(1000000000) * time.tv_sec + time.tv_nsec;
}

/* How much of the time since the last look control is to blame for. One that waits for a processor on a busy machine does
 * nothing wrong: then only the time that it ran counts, so that an endless loop is found all the same. */
static int64_t blame(flr_stall *stall)
{
    int64_t period = stall->def.look_ns;
    if (!stall->measures) return period;
    int64_t now = ran(stall), used = now - stall->ran_ns;
    stall->ran_ns = now;
    if (!is_runnable(atomic_load(&stall->control)) || used > period) return period;
    return used > 0 ? used : 0;
}

bool flr_stall_look(flr_stall *stall)
{
    uint64_t beats = atomic_load(&stall->beats);
    if (stall->called) return true;
    if (beats != stall->seen || atomic_load(&stall->rests)) {
        stall->seen = beats;
        stall->late_ns = stall->stalled_ns = 0;
        if (stall->measures) stall->ran_ns = ran(stall);
        atomic_store(&stall->stalled, false);
        return false;
    }
    stall->late_ns += blame(stall);
    if (stall->late_ns <= stall->def.limit_ns) return false;
    /* the loop has seen that by itself, or does now; the process goes on for as long as its forces fade */
    atomic_store(&stall->stalled, true);
    if (stall->stalled_ns < stall->def.fade_ns) {
        stall->stalled_ns += stall->def.look_ns;
        return true;
    }
    stall->called = true;
    const flr_stall_report report = {.seconds = (double)stall->late_ns * 1e-9,
                                     .doing = atomic_load(&stall->doing),
                                     .what = atomic_load(&stall->what)};
    if (stall->def.stalled) stall->def.stalled(stall->def.context, &report);
    return true;
}

static void *look_thread(void *context)
{
    flr_stall *stall = context;
    prctl(PR_SET_NAME, "feeler-stall", 0, 0, 0);
    stall->measures = true;
    while (!atomic_load(&stall->end)) {
        flr_sleep_until(stall->def.env, flr_clock_ns(stall->def.env) + stall->def.look_ns);
        flr_stall_look(stall);
    }
    return NULL;
}

flr_result flr_stall_start(flr_stall *stall, flr_error *error)
{
    FLR_ASSERT(stall && !stall->made);
    if (stall->def.env != flr_env_real())
        return flr_fail(error, FLR_UNSUPPORTED,
                        "a simulated machine has no threads; use flr_stall_look()");
    int code = pthread_create(&stall->thread, NULL, look_thread, stall);
    stall->made = code == 0;
    if (code == 0) return FLR_OK;
    return flr_fail(error, FLR_NO_MEMORY,
                    "cannot make a thread that watches the control thread: %s", strerror(code));
}

/* ---- the loop ---- */

uint64_t flr_stall_beats(const flr_stall *stall)
{
    return atomic_load_explicit(&stall->beats, memory_order_relaxed);
}

bool flr_stall_rests(const flr_stall *stall)
{
    return atomic_load_explicit(&stall->rests, memory_order_relaxed);
}

bool flr_stall_has_stalled(const flr_stall *stall)
{
    return atomic_load_explicit(&stall->stalled, memory_order_relaxed);
}

void flr_loop_watch_control(flr_loop *loop, const flr_stall *stall)
{
    FLR_ASSERT(loop && !flr_loop_is_running(loop));
    loop->stall = stall;
    loop->stale_most = stall ? (uint64_t)(stall->def.limit_ns / loop->period_ns) : 0;
}
