/* watching what a real-time thread must not do */
#include "support/quiet.h"

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fail_alloc.h"

uint64_t flr_test_allocations(flr_test_body body, void *context)
{
    flr_fail_alloc_at(0);
    void *volatile block = malloc(1);
    free(block);
    assert_int_equal(flr_fail_alloc_asked(), 1); /* the counter counts */
    flr_fail_alloc_at(0);
    assert_gt(body(context), 0);
    return flr_fail_alloc_asked();
}

#if defined FLR_SANITIZED ||                                                                       \
    defined FLR_TEST_CORE /* with a static C library there is no next function to ask */

uint64_t flr_test_locks(flr_test_body body, void *context) { return body(context) > 0 ? 0 : 1; }
int flr_test_alone(flr_test_body body, void *context, const int *allowed)
{
    (void)allowed;
    return body(context) > 0 ? 0 : 1;
}

void flr_test_quiet(flr_test_body body, void *context, const int *allowed)
{
    (void)allowed;
    assert_gt(body(context), 0);
    assert_int_equal(flr_test_allocations(body, context), 0);
}

#else

/* ---- locks ---- */

static _Thread_local uint64_t locks;

/* the function of libc that this program's stands before */
#define NEXT(name, ...)                                                                            \
    static int (*next)(__VA_ARGS__);                                                               \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, name)

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    NEXT("pthread_mutex_lock", pthread_mutex_t *);
    locks++;
    return next(mutex);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    NEXT("pthread_rwlock_rdlock", pthread_rwlock_t *);
    locks++;
    return next(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    NEXT("pthread_rwlock_wrlock", pthread_rwlock_t *);
    locks++;
    return next(lock);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    NEXT("pthread_cond_wait", pthread_cond_t *, pthread_mutex_t *);
    locks++;
    return next(condition, mutex);
}

uint64_t flr_test_locks(flr_test_body body, void *context)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    locks = 0;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    assert_eq(locks, 1); /* it would be noticed */
    locks = 0;
    uint64_t found = body(context), counted = locks;
    assert_gt(found, 0);
    return counted;
}

/* ---- system calls ---- */

/* From here on this process may end, do what is allowed, and nothing else. False: this kernel does not offer it. */
static bool forbid_calls(const int *allowed)
{
    enum { MAX_CALLS = 8 };
    struct sock_filter filter[2 * MAX_CALLS + 4] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short length = 1;
    for (int i = -1; i < MAX_CALLS; i++) {
        int call = i < 0 ? SYS_exit_group : allowed ? allowed[i] : -1;
        if (call < 0) break;
        filter[length++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {.len = length, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int flr_test_alone(flr_test_body body, void *context, const int *allowed)
{
    pid_t child = fork();
    if (child == 0) {
        body(context); /* once before: what it writes to for the first time is this child's own */
        if (!forbid_calls(allowed)) _exit(77);
        syscall(SYS_exit_group, body(context) > 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) return -WTERMSIG(status);
    if (WEXITSTATUS(status) == 77) skip();
    return WEXITSTATUS(status);
}

static uint64_t call_system(void *context)
{
    (void)context;
    return (uint64_t)syscall(SYS_getppid);
}

void flr_test_quiet(flr_test_body body, void *context, const int *allowed)
{
    assert_gt(body(context), 0);
    assert_int_equal(flr_test_allocations(body, context), 0);
    assert_int_equal(flr_test_locks(body, context), 0);
    assert_int_equal(flr_test_alone(call_system, NULL, allowed), -SIGSYS); /* it would be noticed */
    assert_int_equal(flr_test_alone(body, context, allowed), 0);
}
#endif
