/* reads at once: the same bytes as one after the other, in whatever order; without io_uring, too */
#include "support/test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feeler/sim.h"

static flr_error error;

enum { SIZE = 300000, PIECE = 4096, DEPTH = 8 };

static uint8_t byte_at(size_t i) { return (uint8_t)(i * 2654435761u >> 13); }

static flr_file *make_file(flr_env *env, const char *path)
{
    uint8_t *bytes = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = byte_at(i);
    flr_file *file;
    assert_ok(flr_file_open(env, path, FLR_FILE_CREATE, &file, &error), error);
    assert_ok(flr_file_write(file, 0, bytes, SIZE, &error), error);
    flr_file_close(file);
    free(bytes);
    assert_ok(flr_file_open(env, path, FLR_FILE_READ, &file, &error), error);
    return file;
}

/* Reads all of it in pieces, a full queue at a time; short reads are asked for again. 0: all right. */
static int read_all(flr_env *env, flr_file *file, unsigned depth, bool *at_once)
{
    enum { PIECES = SIZE / PIECE + 1 };
    static uint8_t to[PIECES * PIECE];
    static size_t have[PIECES];
    memset(to, 0, sizeof to);
    memset(have, 0, sizeof have);
    flr_reads *reads;
    if (flr_reads_open(file, depth, &reads, &error) != FLR_OK) return 1;
    *at_once = flr_reads_at_once(reads);
    size_t next = 0, done = 0;
    while (done < PIECES) {
        while (next < PIECES && flr_reads_add(reads, next, next * PIECE, to + next * PIECE, PIECE))
            next++;
        if (next < PIECES && flr_reads_under_way(reads) != depth) return 2;
        uint64_t id;
        size_t got;
        flr_result result =
            flr_reads_take(reads, flr_clock_ns(env) + INT64_C(600000000000), &id, &got, &error);
        if (result != FLR_OK || id >= PIECES) return 3;
        have[id] += got;
        if (got == 0 || have[id] == PIECE) {
            done++;
        } else if (!flr_reads_add(reads, id, id * PIECE + have[id], to + id * PIECE + have[id],
                                  PIECE - have[id])) {
            return 4;
        }
    }
    for (size_t i = 0; i < SIZE; i++)
        if (to[i] != byte_at(i)) return 5;
    uint64_t id = 77;
    size_t got;
    if (flr_reads_take(reads, INT64_MAX, &id, &got, NULL) != FLR_TIMEOUT || id != 77) return 6;
    flr_reads_close(reads);
    return 0;
}

static void the_same_bytes(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[600];
    snprintf(path, sizeof path, "%s/bytes", folder);
    flr_file *file = make_file(flr_env_real(), path);
    bool at_once;
    const unsigned depths[] = {1, 2, DEPTH, 100, FLR_MAX_READS};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        assert_int_equal(read_all(flr_env_real(), file, depths[i], &at_once), 0);
        if (depths[i] == 1) assert_false(at_once);
    }
    /* closing waits for what is under way */
    flr_reads *reads;
    static uint8_t bytes[SIZE];
    assert_ok(flr_reads_open(file, DEPTH, &reads, &error), error);
    for (unsigned i = 0; i < DEPTH; i++)
        assert_true(flr_reads_add(reads, i, i * PIECE, bytes + i * PIECE, PIECE));
    assert_false(flr_reads_add(reads, 9, 0, bytes, PIECE));
    flr_reads_close(reads);
    flr_file_close(file);
    flr_test_folder_remove(folder);
}

/* From here on the system answers io_uring's calls with `code`. */
static bool forbid(uint32_t call, uint32_t code)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* where the system has no io_uring or does not allow it, reads come one after the other */
static void without_io_uring(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[600];
    snprintf(path, sizeof path, "%s/bytes", folder);
    flr_file *file = make_file(flr_env_real(), path);
    const struct {
        uint32_t call, code;
    } cases[] = {
        {__NR_io_uring_setup, ENOSYS}, {__NR_io_uring_setup, EPERM}, {__NR_io_uring_enter, EPERM}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pid_t child = fork();
        assert_ge(child, 0);
        if (child == 0) {
            bool at_once = true;
            if (!forbid(cases[i].call, cases[i].code)) _exit(70);
            int wrong = read_all(flr_env_real(), file, DEPTH, &at_once);
            _exit(wrong ? wrong : at_once ? 71 : 0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 70) skip();
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    flr_file_close(file);
    flr_test_folder_remove(folder);
}

/* a simulated disk: side by side in time, out of order, short, failing one by one */
static void simulated(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    flr_sim *sim = flr_sim_create(&def);
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    flr_env *env = flr_sim_node(sim, address);
    flr_file *file = make_file(env, "/bytes");
    bool at_once;
    flr_sim_set_disk(env, &(flr_sim_disk){.operation_ns = FLR_SIM_MS,
                                          .jitter_ns = 9 * FLR_SIM_MS,
                                          .short_read = 0.3});
    assert_int_equal(read_all(env, file, DEPTH, &at_once), 0);
    assert_true(at_once);

    flr_sim_set_disk(env, &(flr_sim_disk){.operation_ns = 100 * FLR_SIM_MS});
    flr_reads *reads;
    uint8_t bytes[4][16];
    uint64_t id;
    size_t got;
    assert_ok(flr_reads_open(file, 4, &reads, &error), error);
    int64_t begin = flr_sim_now(sim);
    for (unsigned i = 0; i < 4; i++) flr_reads_add(reads, i, i * 16, bytes[i], 16);
    assert_int_equal(flr_sim_now(sim), begin);
    assert_int_equal(flr_reads_take(reads, begin + 30 * FLR_SIM_MS, &id, &got, NULL), FLR_TIMEOUT);
    assert_int_equal(flr_sim_now(sim), begin + 30 * FLR_SIM_MS);
    for (unsigned i = 0; i < 4; i++) {
        assert_ok(flr_reads_take(reads, INT64_MAX, &id, &got, &error), error);
        assert_int_equal(id, i);
        assert_int_equal(bytes[i][5], byte_at(i * 16 + 5));
    }
    assert_int_equal(flr_sim_now(sim), begin + 100 * FLR_SIM_MS);

    flr_sim_set_disk(env, &(flr_sim_disk){.fail_at = 2});
    flr_reads_add(reads, 10, 0, bytes[0], 16);
    flr_reads_add(reads, 11, 0, bytes[1], 16);
    assert_ok(flr_reads_take(reads, INT64_MAX, &id, &got, &error), error);
    assert_int_equal(id, 10);
    assert_int_equal(flr_reads_take(reads, INT64_MAX, &id, &got, &error), FLR_IO);
    assert_int_equal(id, 11);
    assert_non_null(strstr(error.message, "/bytes"));
    flr_reads_close(reads);
    flr_file_close(file);
    flr_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes),
        cmocka_unit_test(without_io_uring),
        cmocka_unit_test(simulated),
    };
    return cmocka_run_group_tests_name("reads", tests, NULL, NULL);
}
