/* privileges: real-time priority, locked memory, a processor of one's own; with sentences */
#include "realtime/privileges.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ /* C libraries before Linux 5.14, musl 1.2.3 among them */
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

int flr_privileges_lock_memory(void)
{
    // on fault: address space that is set aside but never used must not be filled
    return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0 ? 0 : errno;
}

void flr_privileges_unlock_memory(void) { munlockall(); }

#ifdef FLR_SANITIZED /* they fault anyway, and have very much static data */
void flr_privileges_touch_program(void) {}
#else
/* One object (program or library): what it has loaded. Static data that is written later is made writable now, page by page,
 * since some of it was closed after relocation; where the system cannot do it (before Linux 5.14), code alone is read. */
static int touch_object(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    const uintptr_t step = *(const uintptr_t *)context;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_R)) continue;
        uintptr_t begin = object->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        begin -= begin % step;
        int how = part->p_flags & PF_W ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
        for (uintptr_t page = begin; page < end; page += step)
            if (madvise((void *)page, step, how) != 0 && errno == EINVAL &&
                how == MADV_POPULATE_READ)
                (void)*(volatile const char *)page;
    }
    return 0;
}

void flr_privileges_touch_program(void)
{
    uintptr_t step = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(touch_object, &step);
}
#endif

int flr_privileges_set_priority(int priority)
{
    struct sched_param wanted = {.sched_priority = priority};
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
}

int flr_privileges_set_cpu(int cpu)
{
    if (cpu >= CPU_SETSIZE) return EINVAL;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

int flr_privileges_choose_cpu(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return -1;
    int cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET((unsigned)cpu, &allowed)) cpu--;
    return cpu;
}

void flr_privileges_begin_on(int cpu)
{
    cpu_set_t allowed;
    if (cpu < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    if (flr_privileges_set_cpu(cpu) != 0) return;
    CPU_SET((unsigned)cpu, &allowed); /* whoever made this thread may keep off it */
    sched_setaffinity(0, sizeof allowed, &allowed);
}

void flr_privileges_keep_off(int cpu)
{
    cpu_set_t allowed;
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    CPU_CLR((unsigned)cpu, &allowed);
    if (CPU_COUNT(&allowed) > 0) sched_setaffinity(0, sizeof allowed, &allowed);
}

/* writes to every page of its own stack; not inlined, or the pages would be the caller's */
__attribute__((noinline)) static void touch_stack(void)
{
    volatile char stack[FLR_PRIVILEGES_STACK];
    for (size_t i = 0; i < sizeof stack; i += 1024) stack[i] = 0;
}

void flr_privileges_prepare_thread(const char *name)
{
    prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
    touch_stack();
}

/* adds a part of a sentence */
static void say(flr_loop_privileges_info *privileges, const char *text)
{
    size_t used = strlen(privileges->sentence);
    snprintf(privileges->sentence + used, sizeof privileges->sentence - used, "%s", text);
}

void flr_privileges_explain(flr_loop_privileges_info *privileges, const flr_loop_def *def, int fifo,
                            int locked, int pinned)
{
    memset(privileges, 0, sizeof *privileges);
    privileges->fifo = def->priority > 0 && fifo == 0;
    privileges->locked = def->lock_memory && locked == 0;
    privileges->pinned = def->cpu >= 0 && pinned == 0;
    bool refused = fifo || locked || pinned;
    if (!refused) {
        say(privileges, privileges->fifo ? "the loop runs with real-time priority"
                                         : "the loop runs with ordinary priority, as asked");
        say(privileges, privileges->locked ? " and with its memory locked" : "");
        say(privileges, privileges->pinned ? ", on a processor of its own" : "");
        return;
    }
    char part[160];
    say(privileges, "the loop runs, but");
    if (fifo) {
        snprintf(part, sizeof part, " without real-time priority (%s)", strerror(fifo));
        say(privileges, part);
    }
    if (locked) {
        struct rlimit limit = {0, 0};
        getrlimit(RLIMIT_MEMLOCK, &limit);
        if (locked == EPERM || limit.rlim_cur == RLIM_INFINITY)
            snprintf(part, sizeof part, "%s with memory that may be swapped out (%s)",
                     fifo ? " and" : "", strerror(locked));
        else
            snprintf(part, sizeof part,
                     "%s with memory that may be swapped out (at most %llu KiB may be locked)",
                     fifo ? " and" : "", (unsigned long long)limit.rlim_cur / 1024);
        say(privileges, part);
    }
    if (pinned) {
        snprintf(part, sizeof part, "%s not on processor %d (%s)", fifo || locked ? " and" : "",
                 def->cpu, strerror(pinned));
        say(privileges, part);
    }
    say(privileges,
        ": frames come late when the machine is busy; `feeler doctor` says how to mend it");
}
