/* mapped files that lose their bytes */
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feeler/env.h"

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    folder = flr_test_folder();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    flr_test_folder_remove(folder);
    return 0;
}

static void write_pages(const char *path, size_t pages)
{
    enum { PAGE = 4096 };
    uint8_t *bytes = malloc(pages * PAGE);
    assert_non_null(bytes);
    memset(bytes, 7, pages * PAGE);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_ge(fd, 0);
    assert_int_equal(write(fd, bytes, pages * PAGE), pages * PAGE);
    close(fd);
    free(bytes);
}

static void map_path(const char *path, flr_map *map)
{
    flr_error why;
    flr_file *file;
    assert_ok(flr_file_open(flr_env_real(), path, FLR_FILE_READ, &file, &why), why);
    assert_ok(flr_file_map(file, 0, map, &why), why);
    flr_file_close(file);
}

/* It reads as zeros from there on and says so; others are as they were. */
static void a_map_outlives_a_file_cut_short(void **state)
{
    (void)state;
    enum { PAGE = 4096 };
    char one[600], two[600];
    snprintf(one, sizeof one, "%s/one", folder);
    snprintf(two, sizeof two, "%s/two", folder);
    write_pages(one, 8);
    write_pages(two, 8);
    flr_map a, b;
    map_path(one, &a);
    map_path(two, &b);
    assert_int_equal(a.bytes[7 * PAGE], 7);
    assert_false(flr_map_failed(&a));
    assert_int_equal(truncate(one, 3 * PAGE), 0);
    assert_int_equal(a.bytes[2 * PAGE], 7);
    assert_false(flr_map_failed(&a));
    const volatile uint8_t *lost = a.bytes;
    for (size_t i = 8 * PAGE; i-- > 3 * PAGE;) assert_int_equal(lost[i], 0);
    assert_true(flr_map_failed(&a));
    assert_int_equal(a.bytes[2 * PAGE], 7);
    assert_false(flr_map_failed(&b));
    for (size_t i = 0; i < 8 * PAGE; i++) assert_int_equal(b.bytes[i], 7);
    flr_file_unmap(&a);

    /* what was learned of one map says nothing about the next */
    map_path(two, &a);
    assert_false(flr_map_failed(&a));
    flr_file_unmap(&a);
    flr_file_unmap(&b);
    assert_false(flr_map_failed(&b));
}

/* A fault that has nothing to do with flr_file_map() is as deadly as ever. */
static void other_bus_errors_are_passed_on(void **state)
{
    (void)state;
    enum { PAGE = 4096 };
    char path[600], other[600];
    snprintf(path, sizeof path, "%s/x", folder);
    snprintf(other, sizeof other, "%s/y", folder);
    write_pages(path, 8);
    write_pages(other, 8);
    flr_map map;
    pid_t child = fork();
    assert_ge(child, 0);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGBUS, SIG_DFL); /* not that of cmocka */
        signal(SIGALRM, SIG_DFL);
        alarm(60);
        map_path(other, &map);
        int fd = open(path, O_RDWR);
        const volatile uint8_t *own = mmap(NULL, 8 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
        if (ftruncate(fd, 0) != 0) _exit(1);
        _exit(own[PAGE] + 2);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    assert_eq(WTERMSIG(how), SIGBUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_map_outlives_a_file_cut_short, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(other_bus_errors_are_passed_on, make_folder, remove_folder),
    };
    return cmocka_run_group_tests_name("env map", tests, NULL, NULL);
}
