/* a step of the world neither allocates nor locks nor calls the system
 *
 * As in test_contact_rt.c: allocations are counted by support/fail_alloc.c, locks by functions of this program that stand
 * before those of libc; system calls end a child process, in which all but writing and ending is forbidden. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feeler/world.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"

enum { FRAMES = 300 };

typedef struct subject {
    flr_test_part fixed, moving;
    flr_contact_table *tables[2];
    flr_world *world; /* a plate, a part in a hand, one that falls */
    void *saved;
} subject;

static int begin(void **state)
{
    subject *s = calloc(1, sizeof *s);
    flr_test_part_make(&s->fixed, FLR_TEST_BOX, 1, 0.001, true);
    flr_test_part_make(&s->moving, FLR_TEST_TORUS, 0.5, 0.001, true);
    assert_int_equal(flr_contact_table_create(s->fixed.voxmap, &s->tables[0], NULL), FLR_OK);
    assert_int_equal(flr_contact_table_create(s->moving.voxmap, &s->tables[1], NULL), FLR_OK);
    flr_world_part parts[3];
    for (int i = 0; i < 3; i++) {
        flr_test_part *of = i ? &s->moving : &s->fixed;
        parts[i] = flr_default_world_part();
        parts[i].shape = flr_pairs_shape_make(of->shell, s->tables[i > 0]);
        assert_int_equal(
            flr_body_def_from_mesh(flr_test_shape_mesh(&of->shape), 8000, &parts[i].body, NULL),
            FLR_OK);
        parts[i].kind = i == 0 ? FLR_PART_STATIC : i == 1 ? FLR_PART_MOVABLE : FLR_PART_FREE;
        parts[i].body.T_world_part.p = flr_vec3_make(0.012 * (i == 2), 0, 0.02 * (i > 0));
    }
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = 3;
    def.hand_count = 2;
    def.params.step.gravity = flr_vec3_make(0, 0, -9.81);
    def.params.friction = 0.3;
    assert_int_equal(flr_world_create(&def, &s->world, NULL), FLR_OK);
    s->saved = malloc(flr_world_state_size(s->world));
    flr_world_save(s->world, s->saved);
    *state = s;
    return 0;
}

static int end(void **state)
{
    subject *s = *state;
    flr_world_destroy(s->world);
    for (int i = 0; i < 2; i++) flr_contact_table_destroy(s->tables[i]);
    flr_test_part_free(&s->fixed);
    flr_test_part_free(&s->moving);
    free(s->saved);
    free(s);
    return 0;
}

/* All integrators, slow and fast hands, nonsense, taking and letting go; returns frames in which something touched. */
static uint64_t play(const subject *s)
{
    uint64_t touching = 0;
    flr_world_load(s->world, s->saved, flr_world_state_size(s->world));
    for (int i = 0; i < FRAMES; i++) {
        flr_world_params params = *flr_world_get_params(s->world);
        params.step.integrator = (flr_integrator)(i / (FRAMES / 3) % 3);
        params.contact.force_layer = i % 60 < 45 ? 2 : 0;
        params.contact.model = i % 30 < 20 ? FLR_FORCE_TANGENT : FLR_FORCE_SMOOTH;
        flr_world_set_params(s->world, &params);
        if (i % 50 == 0) flr_world_grab(s->world, 0, 1);
        if (i % 50 == 20) flr_world_grab(s->world, 1, i % 100 == 20 ? 1 : 2);
        if (i % 50 == 40) flr_world_release(s->world, 1);
        flr_remote_coupling_def coupling = flr_default_remote_coupling_def();
        coupling.part = 1 + (uint32_t)(i / 35 % 2);
        coupling.mutual = i % 70 < 35;
        coupling.rest = i % 105 > 70;
        if (i % 35 == 0)
            flr_world_set_remote_coupling(s->world, 2, i % 140 == 105 ? NULL : &coupling);
        flr_remote_coupling_input other = {.T_world_part = flr_pose_identity(), .delay = 0.01 * i};
        other.T_world_part.p.z = 0.02;
        flr_remote_coupling_follow(s->world, 2, &other);
        if (i % 60 == 30) flr_world_set_solid(s->world, 2, i % 120 == 90);
        if (i % 90 == 80)
            flr_world_place(s->world, 2,
                            flr_pose_make(flr_vec3_make(0.012, 0, 0.02), flr_quat_identity()));
        flr_world_input in[2];
        for (int k = 0; k < 2; k++) {
            double swing = 0.01 * sin(0.1 * i + k);
            in[k] = (flr_world_input){.T_world_hand = flr_pose_identity(), .fresh = i % 7 != k};
            in[k].T_world_hand.p = flr_vec3_make(swing, k * swing, i % 40 < 30 ? 0.004 : 0.03);
            if (i % 41 == 0) in[k].T_world_hand.p.x = NAN;
        }
        flr_world_frame frame;
        flr_world_step(s->world, in, &frame);
        touching += frame.contacts > 0;
    }
    return touching;
}

static void no_allocation(void **state)
{
    flr_fail_alloc_at(0);
    assert_gt(play(*state), FRAMES / 4);
    assert_int_equal(flr_fail_alloc_asked(), 0);
}

#ifndef FLR_SANITIZED /* sanitizers lock and call as they like */

static int locks;

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

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition, (void)mutex;
    locks++;
    return 0;
}

static void no_lock(void **state)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    locks = 0;
    pthread_mutex_lock(&mutex);
    assert_int_equal(locks, 1);
    locks = 0;
    assert_gt(play(*state), 0);
    assert_int_equal(locks, 0);
}

static bool forbid_calls(void)
{
#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void no_system_call(void **state)
{
    for (int calls = 0; calls < 2; calls++) { /* the second time with one, which must be noticed */
        pid_t child = fork();
        if (child == 0) {
            play(
                *state); /* once before: what it writes to for the first time is this child's own */
            if (!forbid_calls()) _exit(77);
            bool touched = play(*state) > 0;
            if (calls) syscall(SYS_getppid);
            syscall(SYS_exit_group, touched ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip();
        if (calls)
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
        else
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
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
    return cmocka_run_group_tests_name("world_rt", tests, begin, end);
}
