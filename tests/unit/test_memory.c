/* how much memory the process may take, from files of a simulated machine */
#include "base/memory.h"

#include "feeler/sim.h"
#include "support/test.h"

static flr_sim *sim;
static flr_env *env;

static int begin(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    sim = flr_sim_create(&def);
    env = flr_sim_node(sim, address);
    return 0;
}

static int end(void **state)
{
    (void)state;
    flr_sim_destroy(sim);
    return 0;
}

static void put(const char *path, const char *text)
{
    flr_error error;
    char folder[256];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    assert_ok(flr_path_make_folder(env, folder, &error), error);
    flr_file *file;
    assert_ok(flr_file_open(env, path, FLR_FILE_CREATE, &file, &error), error);
    assert_ok(flr_file_write(file, 0, text, strlen(text), &error), error);
    flr_file_close(file);
}

static void put_machine(void)
{
    put("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1000000 kB\n");
}

#define GIB(n) (UINT64_C(n) << 30)

static void machine_alone(void **state)
{
    (void)state;
    put_machine();
    flr_memory memory = flr_memory_look(env);
    assert_int_equal(memory.machine, GIB(16));
    assert_int_equal(memory.limit, GIB(16));
}

static void unknown_machine(void **state)
{
    (void)state;
    flr_memory memory = flr_memory_look(env);
    assert_int_equal(memory.machine, GIB(8));
    assert_int_equal(memory.limit, GIB(8));
}

static void own_group(void **state)
{
    (void)state;
    put_machine();
    put("/proc/self/cgroup", "0::/system.slice/feeler.service\n");
    put("/sys/fs/cgroup/system.slice/feeler.service/memory.max", "2147483648\n");
    put("/sys/fs/cgroup/system.slice/feeler.service/memory.high", "max\n");
    assert_int_equal(flr_memory_look(env).limit, GIB(2));
    assert_int_equal(flr_memory_look(env).machine, GIB(16));
}

static void high_counts(void **state)
{
    (void)state;
    put_machine();
    put("/proc/self/cgroup", "0::/a\n");
    put("/sys/fs/cgroup/a/memory.max", "4294967296\n");
    put("/sys/fs/cgroup/a/memory.high", "1073741824\n");
    assert_int_equal(flr_memory_look(env).limit, GIB(1));
}

static void groups_above(void **state)
{
    (void)state;
    put_machine();
    put("/proc/self/cgroup", "0::/user.slice/a.scope/b\n");
    put("/sys/fs/cgroup/user.slice/a.scope/b/memory.max", "max\n");
    put("/sys/fs/cgroup/user.slice/a.scope/memory.max", "8589934592\n");
    put("/sys/fs/cgroup/user.slice/memory.max", "3221225472\n");
    assert_int_equal(flr_memory_look(env).limit, GIB(3));
}

/* the path is that of the machine outside, the files are those of the container */
static void container(void **state)
{
    (void)state;
    put_machine();
    put("/proc/self/cgroup", "0::/docker/0123456789abcdef\n");
    put("/sys/fs/cgroup/memory.max", "1073741824\n");
    assert_int_equal(flr_memory_look(env).limit, GIB(1));
}

static void version_1(void **state)
{
    (void)state;
    put_machine();
    put("/proc/self/cgroup",
        "12:cpu,cpuacct:/x\n5:hugetlb,memory:/job/1\n1:name=systemd:/y\n0::/\n");
    put("/sys/fs/cgroup/memory/job/1/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5368709120\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(flr_memory_look(env).limit, GIB(5));
}

static void nonsense_sets_no_limit(void **state)
{
    (void)state;
    put_machine();
    put("/proc/self/cgroup", "\n:\n::\n0:\n0::\n0::relative\n0::/a/../b\nmemory\n7:memory\n0::/c");
    put("/sys/fs/cgroup/c/memory.max", "-1\n");
    put("/sys/fs/cgroup/b/memory.max", "1\n");
    assert_int_equal(flr_memory_look(env).limit, GIB(16));
}

static void this_machine(void **state)
{
    (void)state;
    flr_memory memory = flr_memory_look(flr_env_real());
    assert_le(memory.limit, memory.machine);
    assert_gt(memory.limit, 16 << 20);
}

static void heap_counts_what_is_allocated(void **state)
{
    (void)state;
    if (flr_memory_heap() == 0) skip(); /* another C library, or the allocator of a sanitizer */
    const size_t sizes[] = {1000, 100000, 50000000}; /* from the heap, and mapped */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t before = flr_memory_heap();
        char *volatile bytes = malloc(sizes[i]);
        assert_non_null(bytes);
        uint64_t grown = flr_memory_heap() - before;
        assert_ge(grown, sizes[i]);
        assert_lt(grown, sizes[i] + 10000);
        free(bytes);
        if (sizes[i] > 1000) assert_lt(flr_memory_heap(), before + 10000);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(machine_alone), TEST(unknown_machine),
                                       TEST(own_group),     TEST(high_counts),
                                       TEST(groups_above),  TEST(container),
                                       TEST(version_1),     TEST(nonsense_sets_no_limit),
                                       TEST(this_machine),  TEST(heap_counts_what_is_allocated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
