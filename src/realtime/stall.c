/* a control thread that does not come round any more */
#include "realtime/stall.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "feeler/base.h"
#include "realtime/loop.h"

struct flr_stall {
    flr_stall_def def;
    _Atomic uint64_t beats;
    atomic_bool rests, stalled;
    _Atomic(const char *) doing, what;
    atomic_int control; /* its thread; 0: not known yet */

    // of whoever looks
    uint64_t seen;      /* beats at the last look */
    uint64_t ran;       /* time that control had run then */
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
    if (atomic_load(&stall->rests)) atomic_store(&stall->control, (int)gettid());
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

bool flr_stall_look(flr_stall *stall) { return flr_stall_look_at(stall, '?', 0); }

bool flr_stall_look_at(flr_stall *stall, char state, uint64_t ran)
{
    /* ready, and it has not run since the last look: others had the processor */
    bool waits = state == 'R' && ran == stall->ran;
    stall->ran = ran;
    uint64_t beats = atomic_load(&stall->beats);
    if (stall->called) return true;
    if (beats != stall->seen || atomic_load(&stall->rests)) {
        stall->seen = beats;
        stall->late_ns = stall->stalled_ns = 0;
        atomic_store(&stall->stalled, false);
        return false;
    }
    if (waits) return atomic_load(&stall->stalled);
    stall->late_ns += stall->def.look_ns;
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

/* "PID (NAME) STATE …": the state, and utime and stime, fields 14 and 15. False: not known. */
static bool read_control(int thread, char *state, uint64_t *ran)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = 0;
    const char *at = strrchr(text, ')'); /* a name may hold anything */
    unsigned long long user, system;
    if (!at || sscanf(at, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu", state, &user,
                      &system) != 3)
        return false;
    *ran = user + system;
    return true;
}

static void *look_thread(void *context)
{
    flr_stall *stall = context;
    prctl(PR_SET_NAME, "feeler-stall", 0, 0, 0);
    while (!atomic_load(&stall->end)) {
        flr_sleep_until(stall->def.env, flr_clock_ns(stall->def.env) + stall->def.look_ns);
        char control = '?';
        uint64_t ran = 0;
        int thread = atomic_load(&stall->control);
        if (thread && !read_control(thread, &control, &ran)) control = '?';
        flr_stall_look_at(stall, control, ran);
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
