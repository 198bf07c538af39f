/* doctor: may a loop run with real-time priority and locked memory here, and with which clock? */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "doctor.h"
#include "output.h"

/* tries real-time priority in a thread that ends at once, so that nothing is left changed */
static void *try_fifo(void *context)
{
    struct sched_param wanted = {.sched_priority = 10};
    *(int *)context = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
    return NULL;
}

void flr_doctor_realtime(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    int refused = EAGAIN;
    pthread_t thread;
    if (pthread_create(&thread, NULL, try_fifo, &refused) == 0) pthread_join(thread, NULL);

    // root may without a limit; a user may go up to it
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_RTPRIO, &limit);
    char value[128];
    if (refused)
        snprintf(value, sizeof value,
                 "this user may not run with real-time priority (SCHED_FIFO; its limit is %llu)",
                 (unsigned long long)limit.rlim_cur);
    else
        snprintf(value, sizeof value, "real-time priority (SCHED_FIFO) is allowed");
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "sched_fifo", json_boolean(!refused));
    flr_json_set(numbers, "rtprio_limit", flr_json_count((uint64_t)limit.rlim_cur));
    flr_doctor_say(doctor, "real time", !refused, value,
                   "add \"YOU - rtprio 85\" with your user name to "
                   "/etc/security/limits.d/feeler.conf and log in again; a service gets it from "
                   "feeler@.service",
                   numbers);
}

void flr_doctor_locked(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    // the loop locks what it touches; 64 MiB stand for a small scene
    enum { PROBE = 64 << 20 };
    void *block = mmap(NULL, PROBE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool fine = block != MAP_FAILED && mlock(block, PROBE) == 0;
    if (block != MAP_FAILED) munmap(block, PROBE);

    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    char value[128];
    if (fine)
        snprintf(value, sizeof value, "memory can be kept from being swapped out (64 MiB tried)");
    else
        snprintf(value, sizeof value, "only %s of memory can be kept from being swapped out",
                 FLR_BYTES_TEXT(limit.rlim_cur));
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "limit_bytes",
                 limit.rlim_cur == RLIM_INFINITY ? json_null()
                                                 : flr_json_count((uint64_t)limit.rlim_cur));
    flr_doctor_say(doctor, "locked", fine, value,
                   "add \"YOU - memlock unlimited\" with your user name to "
                   "/etc/security/limits.d/feeler.conf and log in again",
                   numbers);
}

void flr_doctor_clock(flr_doctor *doctor, flr_env *env)
{
    struct timespec step = {0, 0};
    clock_getres(CLOCK_MONOTONIC, &step);

    // what one look at the clock costs
    enum { LOOKS = 20000 };
    int64_t start = flr_clock_ns(env), end = start;
    for (int i = 0; i < LOOKS; i++) end = flr_clock_ns(env);
    double cost = (double)(end - start) / LOOKS;

    char *source =
        flr_doctor_first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    char value[160];
    snprintf(value, sizeof value, "steps of %ld ns, %.0f ns per look, source %.40s", step.tv_nsec,
             cost, source ? source : "unknown");
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "resolution_ns", flr_json_count((uint64_t)step.tv_nsec));
    flr_json_set(numbers, "cost_ns", flr_json_number(cost));
    flr_json_set(numbers, "source", flr_json_text(source ? source : "unknown"));
    flr_doctor_say(doctor, "clock", step.tv_nsec <= 1000 && cost < 1000, value,
                   "the kernel uses a slow clock; booting with tsc=reliable may help", numbers);
    free(source);
}
