/* the loop's thread, the one that watches it, and the one that serves devices from local models */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "feeler/base.h"
#include "realtime/loop.h"
#include "realtime/privileges.h"

enum { STACK_SIZE = 4 << 20 };           /* of which what is touched takes memory */
static const int64_t watch_ns = 1000000; /* between two looks of the watchdog */
static const int64_t fade_ns = 30000000; /* after so long every guard is at zero */

/* ---- the threads ---- */

static uint64_t faults_so_far(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return 0;
    return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

static void *loop_thread(void *context)
{
    flr_loop *loop = context;
    flr_loop_threads *t = &loop->threads;
    flr_privileges_prepare_thread("feeler-loop");
    if (loop->def.priority > 0) t->fifo = flr_privileges_set_priority(loop->def.priority);
    if (loop->def.cpu >= 0)
        t->pinned = flr_privileges_set_cpu(loop->def.cpu);
    else
        flr_privileges_begin_on(loop->def.home);
    uint64_t frames = loop->frames;
    sem_post(&t->ready);
    uint64_t before = faults_so_far();
    flr_loop_frames(loop, frames);
    atomic_store(&t->page_faults, faults_so_far() - before);
    atomic_store(&t->running, false);
    return NULL;
}

static void *watchdog_thread(void *context)
{
    flr_loop *loop = context;
    flr_privileges_prepare_thread("feeler-watchdog");
    flr_privileges_keep_off(loop->def.cpu >= 0 ? loop->def.cpu : loop->def.home);
    // above the loop: when that spins for ever, somebody must still come through
    if (loop->def.priority > 0) (void)flr_privileges_set_priority(loop->def.priority + 1);
    int64_t next = flr_clock_ns(loop->def.env);
    while (atomic_load(&loop->threads.watch)) {
        flr_loop_watch(loop);
        int64_t now = flr_clock_ns(loop->def.env);
        next = next + watch_ns > now ? next + watch_ns : now + watch_ns;
        flr_sleep_until(loop->def.env, next);
    }
    return NULL;
}

/* 0 or an errno */
static int make_thread(pthread_t *thread, void *(*body)(void *), void *context)
{
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code) return code;
    code = pthread_attr_setstacksize(&attributes, STACK_SIZE);
    if (!code) code = pthread_create(thread, &attributes, body, context);
    pthread_attr_destroy(&attributes);
    return code;
}

/* ---- starting ---- */

static void end_watchdog(flr_loop *loop)
{
    atomic_store(&loop->threads.watch, false);
    if (loop->threads.watchdog_made) pthread_join(loop->threads.watchdog, NULL);
    loop->threads.watchdog_made = false;
}

static void end_haptics(flr_loop *loop)
{
    if (!loop->haptics) return;
    atomic_store(&loop->haptics->go_on, false);
    if (loop->haptics->made) pthread_join(loop->haptics->thread, NULL);
    loop->haptics->made = false;
}

/* 0 or an errno */
static int begin_haptics(flr_loop *loop)
{
    flr_haptics *h = loop->haptics;
    if (!h || !loop->def.paced || loop->def.device_count == 0) return 0;
    atomic_store(&h->go_on, true);
    h->made = true; // before it runs: the loop's thread must not serve devices, too
    const int code = make_thread(&h->thread, flr_haptics_thread, loop);
    h->made = code == 0;
    return code;
}

static flr_result no_thread(flr_loop *loop, int code, flr_error *error)
{
    end_haptics(loop);
    end_watchdog(loop);
    atomic_store(&loop->threads.running, false);
    return flr_fail(error, code == ENOMEM || code == EAGAIN ? FLR_NO_MEMORY : FLR_DENIED,
                    "loop: cannot make its threads: %s", strerror(code));
}

flr_result flr_loop_start(flr_loop *loop, uint64_t frames, flr_error *error)
{
    FLR_ASSERT(loop && !flr_loop_is_running(loop));
    flr_loop_threads *t = &loop->threads;
    if (loop->def.env != flr_env_real())
        return flr_fail(error, FLR_UNSUPPORTED,
                        "loop: a simulated machine has no threads; use flr_loop_run()");
    flr_loop_stop(loop); // what is left of an earlier start
    atomic_store(&loop->end, false);
    atomic_store(&t->running, true);
    atomic_store(&t->watch, true);
    loop->frames = frames;
    t->fifo = t->pinned = 0;

    // the watchdog first: there is no frame without one
    bool watched = loop->def.paced && loop->def.device_count > 0;
    int code = watched ? make_thread(&t->watchdog, watchdog_thread, loop) : 0;
    t->watchdog_made = watched && code == 0;
    if (code) return no_thread(loop, code, error);
    int locked = loop->def.lock_memory ? flr_privileges_lock_memory() : 0;
    if (loop->def.lock_memory) flr_privileges_touch_program();
    t->locked = loop->def.lock_memory && locked == 0;
    code = begin_haptics(loop);
    if (code) return no_thread(loop, code, error);
    if (sem_init(&t->ready, 0, 0) != 0) return no_thread(loop, errno, error);
    code = make_thread(&t->loop, loop_thread, loop);
    t->loop_made = code == 0;
    if (code == 0)
        while (sem_wait(&t->ready) != 0 && errno == EINTR) {}
    sem_destroy(&t->ready);
    if (code) return no_thread(loop, code, error);
    flr_privileges_explain(&t->privileges, &loop->def, t->fifo, locked, t->pinned);
    return FLR_OK;
}

bool flr_loop_is_running(const flr_loop *loop)
{
    FLR_ASSERT(loop);
    return atomic_load(&loop->threads.running);
}

const flr_loop_privileges_info *flr_loop_privileges(const flr_loop *loop)
{
    FLR_ASSERT(loop);
    return &loop->threads.privileges;
}

/* ---- ending ---- */

/* No more frames will come: the guards see that as any other loss. */
static void fade_forces(flr_loop *loop)
{
    if (loop->faded) return;
    loop->faded = true;
    for (int64_t past = 0; past < fade_ns; past += watch_ns) {
        int64_t virtual_now = loop->next_ns + past;
        for (uint32_t i = 0; i < loop->def.device_count; i++)
            if (!loop->def.paced) flr_guard_watch(loop->guards[i], virtual_now);
        if (!loop->def.paced) continue;
        flr_sleep_until(loop->def.env, flr_clock_ns(loop->def.env) + watch_ns);
        if (!loop->threads.watchdog_made) flr_loop_watch(loop);
    }
}

void flr_loop_wait(flr_loop *loop)
{
    FLR_ASSERT(loop);
    if (loop->threads.loop_made) pthread_join(loop->threads.loop, NULL);
    loop->threads.loop_made = false;
}

void flr_loop_stop(flr_loop *loop)
{
    FLR_ASSERT(loop);
    flr_loop_end(loop);
    flr_loop_wait(loop);
    end_haptics(loop);
    if (loop->def.device_count > 0) fade_forces(loop);
    end_watchdog(loop);
    if (loop->threads.locked) flr_privileges_unlock_memory();
    loop->threads.locked = false;
}
