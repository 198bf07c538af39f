/* doctor: can a loop run 1000 times a second here? */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_RTPRIO, &limit);
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "sched_fifo", json_boolean(!refused));
    flr_json_set(numbers, "rtprio_limit", flr_json_count((uint64_t)limit.rlim_cur));
    flr_doctor_say(doctor, "real time", !refused,
                   refused ? "this user may not run with real-time priority (SCHED_FIFO)"
                           : "real-time priority (SCHED_FIFO) is allowed",
                   "add \"YOU - rtprio 80\" with your user name to "
                   "/etc/security/limits.d/feeler.conf and log in again",
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
    char value[128], bytes[FLR_COUNT_TEXT_SIZE];
    if (fine)
        snprintf(value, sizeof value, "memory can be kept from being swapped out (64 MiB tried)");
    else
        snprintf(value, sizeof value, "only %s of memory can be kept from being swapped out",
                 flr_bytes_print(limit.rlim_cur, bytes));
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

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void flr_doctor_timer(flr_doctor *doctor, flr_env *env)
{
    // a loop of 1000 Hz that does nothing: how late does it wake up?
    enum { TICKS = 300 };
    int64_t late[TICKS];
    int64_t next = flr_clock_ns(env);
    for (int i = 0; i < TICKS; i++) {
        next += 1000000;
        flr_sleep_until(env, next);
        late[i] = flr_clock_ns(env) - next;
        // after a stall start again from now, else all later ticks count it too
        if (late[i] > 1000000) next += late[i];
    }
    qsort(late, TICKS, sizeof late[0], compare);
    double p50 = (double)late[TICKS / 2] * 1e-3, p99 = (double)late[TICKS * 99 / 100] * 1e-3;
    double worst = (double)late[TICKS - 1] * 1e-3;

    char value[160];
    snprintf(value, sizeof value,
             "1000 Hz wake-ups come late by %.0f us (median), %.0f us (p99), %.0f us (worst)", p50,
             p99, worst);
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "p50_us", flr_json_number(p50));
    flr_json_set(numbers, "p99_us", flr_json_number(p99));
    flr_json_set(numbers, "worst_us", flr_json_number(worst));
    flr_doctor_say(doctor, "timer", p99 < 200, value,
                   "other programs or the host of a virtual machine take the processor: close "
                   "them, or allow real-time priority",
                   numbers);
}
