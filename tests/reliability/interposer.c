/* counts what a thread must not do, see interposer.h */
#include "interposer.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static _Thread_local bool watched;
static _Thread_local interposed counts;

void interposer_begin(void)
{
    counts = (interposed){.first_call = -1};
    watched = true;
}

interposed interposer_end(void)
{
    watched = false;
    return counts;
}

/* libc and other libraries have to see them */
#pragma GCC visibility push(default)

/* ---- memory: glibc has its functions under a second name ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static void allocates(void)
{
    if (watched) counts.allocations++;
}

void *malloc(size_t size)
{
    allocates();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocates();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    allocates();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    allocates();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *found = memalign(alignment, size);
    if (found) *block = found;
    return found ? 0 : ENOMEM;
}

void free(void *block)
{
    if (block) allocates();
    __libc_free(block);
}

/* ---- locks ---- */

/* name, its parameters, and these as arguments */
#define LOCK(name, parameters, arguments)                                                          \
    int name parameters                                                                            \
    {                                                                                              \
        static int(*next) parameters;                                                              \
        if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name);                                      \
        if (watched) counts.locks++;                                                               \
        return next arguments;                                                                     \
    }

LOCK(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
LOCK(pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
LOCK(pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until),
     (mutex, until))
LOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
LOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
LOCK(pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
LOCK(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
LOCK(pthread_cond_timedwait,
     (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
     (condition, mutex, until))
LOCK(pthread_cond_signal, (pthread_cond_t * condition), (condition))
LOCK(pthread_cond_broadcast, (pthread_cond_t * condition), (condition))
LOCK(sem_wait, (sem_t * semaphore), (semaphore))
LOCK(sem_post, (sem_t * semaphore), (semaphore))

#pragma GCC visibility pop

/* ---- system calls ---- */

#if defined(__x86_64__)

/* The one place from which the filter lets calls through: behind this instruction. */
#ifdef __clang__
__attribute__((noinline))
#else
__attribute__((noinline, noclone)) /* its label must be there once */
#endif
static long
pass_call(long number, const long a[6])
{
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    long result;
    __asm__ volatile("syscall\n"
                     ".globl interposer_behind_call\n"
                     "interposer_behind_call:\n"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

extern const char interposer_behind_call[];

static void make_call(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    long number = info->si_syscall;
    if (watched && number == SYS_clock_nanosleep) {
        counts.sleeps++;
    } else if (watched) {
        if (counts.calls++ == 0) counts.first_call = number;
    }
    const long a[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    r[REG_RAX] = pass_call(number, a);
}

bool interposer_arm(void)
{
    struct sigaction action = {.sa_sigaction = make_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, NULL) != 0) return false;
    uint64_t place = (uint64_t)(uintptr_t)interposer_behind_call;
    const unsigned at = offsetof(struct seccomp_data, instruction_pointer);
    struct sock_filter filter[] = {
        /* the return from the handler */
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 4, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)place, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(place >> 32), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

bool interposer_arm(void) { return false; }

#endif

bool interposer_works(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    free(strdup("the first one of a thread asks the system for memory"));
    interposer_begin();
    void *volatile block = strdup("libc allocates");
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pid_t parent = getppid();
    interposed found = interposer_end();
    free(block);
    return parent >= 0 && found.allocations == 1 && found.locks == 1 && found.calls == 1 &&
           found.first_call == SYS_getppid;
}
