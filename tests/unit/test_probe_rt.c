/* queries and the proxy neither allocate nor lock nor call the system
 *
 * Allocations are counted by support/fail_alloc.c; locks by functions of this program that stand before those of libc;
 * system calls end a child process, in which all but ending is forbidden. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feeler/proxy.h"
#include "support/fail_alloc.h"
#include "support/shapes.h"

enum { QUERIES = 2000 };

typedef struct subject {
    flr_test_shape shape;
    flr_probe_model *models[9];
    int count;
} subject;

static int begin(void **state)
{
    subject *s = calloc(1, sizeof *s);
    flr_test_shape_torus(&s->shape, 2, 0.7, 24, 16);
    for (int i = 0; i < 9; i++) {
        flr_probe_def def = flr_default_probe_def();
        def.mesh = flr_test_shape_mesh(&s->shape);
        def.method = (flr_probe_method)(FLR_PROBE_GRID + i % 3);
        def.simd = (flr_simd)(FLR_SIMD_SCALAR + i / 3);
        def.shading = true;
        if (flr_probe_model_create(&def, &s->models[s->count], NULL) == FLR_OK) s->count++;
    }
    *state = s;
    return 0;
}

static int end(void **state)
{
    subject *s = *state;
    for (int i = 0; i < s->count; i++) flr_probe_model_destroy(s->models[i]);
    flr_test_shape_free(&s->shape);
    free(s);
    return 0;
}

/* Everything that may be asked in the loop; segments through vertices and in planes, too, for what is judged exactly. */
static uint64_t ask(const subject *s)
{
    const flr_mesh *mesh = &s->shape.mesh;
    uint64_t hits = 0;
    flr_proxy proxy = flr_proxy_none();
    flr_proxy_params params = flr_default_proxy_params();
    params.static_friction = 0.6, params.dynamic_friction = 0.4, params.shading = true;
    for (int i = 0; i < QUERIES; i++) {
        const flr_probe_model *model = s->models[i % s->count];
        flr_probe_witness witness = {(uint32_t)i % mesh->triangle_count};
        flr_probe_hit hit;
        flr_proxy_result result;
        flr_vec3 a = {3 * sin(i), 3 * cos(0.7 * i), sin(0.3 * i)};
        flr_vec3 b = mesh->vertices[(uint32_t)i * 7 % mesh->vertex_count];
        if (i % 50 == 0) a.x = 1e300;
        hits += flr_probe_first(model, a, b, &witness, &hit);
        hits += flr_probe_any(model, b, a, &witness);
        hits += flr_probe_touch(model, a, flr_vec3_scale(a, 0.3), &witness).intersection;
        hits += flr_probe_reference(mesh, a, b, &hit);
        flr_proxy_step(&proxy, model, flr_vec3_make(3 * sin(0.01 * i), 3 * cos(0.013 * i), 0.1),
                       &params, &result);
        hits += result.touching;
    }
    return hits;
}

static void no_allocation(void **state)
{
    flr_fail_alloc_at(0);
    void *volatile block = malloc(1);
    free(block);
    assert_int_equal(flr_fail_alloc_asked(), 1); /* the counter counts */
    flr_fail_alloc_at(0);
    assert_true(ask(*state) > QUERIES);
    assert_int_equal(flr_fail_alloc_asked(), 0);
}

#ifndef FLR_SANITIZED /* sanitizers lock and call as they like */

static int locks;

/* Locks never fail here and never lock: this program has one thread while it counts. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    locks++;
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static void no_lock(void **state)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    locks = 0;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    assert_int_equal(locks, 1);
    locks = 0;
    assert_true(ask(*state) > 0);
    assert_int_equal(locks, 0);
}

/* From here on this process may end, and nothing else. False: this kernel does not offer it. */
static bool forbid_calls(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* What becomes of a child that does this where calls are forbidden: its exit code, or -signal. */
static int alone(uint64_t (*body)(const subject *), const subject *s)
{
    pid_t child = fork();
    if (child == 0) {
        if (!forbid_calls()) _exit(77);
        syscall(SYS_exit_group, body(s) > 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) return -WTERMSIG(status);
    if (WEXITSTATUS(status) == 77) skip();
    return WEXITSTATUS(status);
}

static uint64_t call_system(const subject *s)
{
    (void)s;
    return (uint64_t)syscall(SYS_getppid);
}

static void no_system_call(void **state)
{
    assert_int_equal(alone(call_system, *state), -SIGSYS); /* it would be noticed */
    assert_int_equal(alone(ask, *state), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation),
#ifndef FLR_SANITIZED
        cmocka_unit_test(no_lock),
        cmocka_unit_test(no_system_call),
#endif
    };
    return cmocka_run_group_tests_name("probe_rt", tests, begin, end);
}
