/* doctor: what a loop can hold here, and what of the system stands in its way */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"
#include "feeler/loop.h"
#include "output.h"

static bool do_nothing(void *context, flr_loop_frame *frame)
{
    (void)context, (void)frame;
    return true;
}

/* A loop of a second that does nothing, with the privileges that it gets. */
static flr_result measure(flr_env *env, flr_loop_stats *stats, flr_loop_privileges_info *privileges,
                          flr_error *error)
{
    enum { DOCTOR_LOOP_FRAMES = 1000 };
    flr_loop_def def = flr_default_loop_def();
    def.env = env;
    def.step = do_nothing;
    def.lock_memory = false; // nothing of ours is large, and a check should leave no trace
    flr_loop *loop;
    flr_result result = flr_loop_create(&def, &loop, error);
    if (result != FLR_OK) return result;
    result = flr_loop_start(loop, DOCTOR_LOOP_FRAMES, error);
    if (result == FLR_OK) {
        flr_loop_wait(loop);
        flr_loop_get_stats(loop, stats);
        *privileges = *flr_loop_privileges(loop);
    }
    flr_loop_destroy(loop);
    return result;
}

/* The highest usual rate at which late wake-ups cost a quarter of a frame at most; 0: not even the
 * lowest. */
static unsigned rate_for(double late_us)
{
    static const unsigned rates[] = {10000, 4000, 2000, 1000, 500, 250};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (late_us <= 0.25 * 1e6 / rates[i]) return rates[i];
    return 0;
}

void flr_doctor_timer(flr_doctor *doctor, flr_env *env)
{
    flr_loop_stats stats;
    flr_loop_privileges_info privileges;
    flr_error error;
    if (measure(env, &stats, &privileges, &error) != FLR_OK) {
        flr_doctor_say(doctor, "timer", false, error.message, "close other programs", NULL);
        return;
    }
    double p50 = 1e-3 * (double)stats.wakeup.p50, p99 = 1e-3 * (double)stats.wakeup.p99;
    double p999 = 1e-3 * (double)stats.wakeup.p999, worst = 1e-3 * (double)stats.wakeup.max;
    unsigned rate = rate_for(p99);
    char value[200], holds[40] = "for no loop at all";
    if (rate) snprintf(holds, sizeof holds, "good for %u Hz", rate);
    snprintf(value, sizeof value,
             "1000 Hz %s real-time priority: late by %.0f us (median), %.0f us (p99), %.0f us "
             "(worst); %s",
             privileges.fifo ? "with" : "without", p50, p99, worst, holds);
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "p50_us", flr_json_number(p50));
    flr_json_set(numbers, "p99_us", flr_json_number(p99));
    flr_json_set(numbers, "p999_us", flr_json_number(p999));
    flr_json_set(numbers, "worst_us", flr_json_number(worst));
    flr_json_set(numbers, "skipped", flr_json_count(stats.skipped));
    flr_json_set(numbers, "sched_fifo", json_boolean(privileges.fifo));
    flr_json_set(numbers, "holds_hz", flr_json_count(rate));
    flr_doctor_say(doctor, "timer", rate >= 1000 && stats.skipped == 0, value,
                   privileges.fifo
                       ? "other programs or the host of a virtual machine take the "
                         "processor: close them, use a machine of your own or a kernel "
                         "with PREEMPT_RT"
                       : "allow real-time priority (see above), and close other programs",
                   numbers);
}

void flr_doctor_kernel(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    struct utsname kernel = {0};
    uname(&kernel);
    char *flag = flr_doctor_first_line("/sys/kernel/realtime");
    bool full = (flag && !strcmp(flag, "1")) || strstr(kernel.version, "PREEMPT_RT");
    bool some = strstr(kernel.version, "PREEMPT") != NULL;
    free(flag);
    json_t *numbers = flr_json_object();
    flr_json_set(numbers, "preempt_rt", json_boolean(full));
    flr_json_set(numbers, "preempt", json_boolean(full || some));
    flr_doctor_say(doctor, "kernel", full,
                   full   ? "made for real time (PREEMPT_RT)"
                   : some ? "may interrupt itself, but is not made for real time (no PREEMPT_RT)"
                          : "not made for real time (no PREEMPT_RT)",
                   "long stalls become rare with one that is; on Debian: apt install "
                   "linux-image-rt-amd64",
                   numbers);
}

void flr_doctor_governor(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    char *governor = flr_doctor_first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    bool fine = !governor || !strcmp(governor, "performance");
    char value[128];
    if (governor)
        snprintf(value, sizeof value, "the processor's speed is set by: %.60s", governor);
    else
        snprintf(value, sizeof value, "the system does not change the processor's speed");
    flr_doctor_say(doctor, "governor", fine, value,
                   "as root: cpupower frequency-set -g performance; a processor that slows down "
                   "between frames wakes up late",
                   NULL);
    free(governor);
}

void flr_doctor_isolated(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    char *list = flr_doctor_first_line("/sys/devices/system/cpu/isolated");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    bool fine = list && list[0];
    char value[128], advice[200];
    if (fine)
        snprintf(value, sizeof value, "kept free of other programs: %.60s", list);
    else
        snprintf(value, sizeof value, "no core is kept free of other programs");
    snprintf(advice, sizeof advice,
             "boot with isolcpus=%ld nohz_full=%ld and give that core to the loop; only where "
             "late frames trouble you",
             cores - 1, cores - 1);
    flr_doctor_say(doctor, "isolated", fine, value, advice, NULL);
    free(list);
}
