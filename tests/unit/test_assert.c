#include "support/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feeler/base.h"

static jmp_buf way_out;
static char seen_condition[64], seen_function[64];
static int seen_line;

static void leave(const char *condition, const char *file, int line, const char *function)
{
    (void)file;
    snprintf(seen_condition, sizeof seen_condition, "%s", condition);
    snprintf(seen_function, sizeof seen_function, "%s", function);
    seen_line = line;
    longjmp(way_out, 1);
}

static void come_back(const char *condition, const char *file, int line, const char *function)
{
    (void)condition, (void)file, (void)line, (void)function;
}

static void handler_gets_condition_and_place(void **state)
{
    (void)state;
    assert_null(flr_set_assert_handler(leave));
    volatile int line = 0;
    if (setjmp(way_out) == 0) {
        FLR_ASSERT(1 + 1 == 2);
        line = __LINE__ + 1;
        FLR_ASSERT(1 + 1 == 3);
    }
    assert_ptr_equal(flr_set_assert_handler(NULL), leave);
    assert_string_equal(seen_condition, "1 + 1 == 3");
    assert_string_equal(seen_function, "handler_gets_condition_and_place");
    assert_int_equal(seen_line, line);
}

/* the signal that ends a child in which an assertion fails, and what it wrote to stderr */
static int fail_in_child(flr_assert_handler handler, char *text, size_t size)
{
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    int line_count = 0;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); // cmocka's or a sanitizer's handler must not step in
        dup2(pipe_ends[1], STDERR_FILENO);
        flr_set_assert_handler(handler);
        FLR_ASSERT(line_count < 0);
        _exit(0);
    }
    close(pipe_ends[1]);
    size_t used = 0;
    ssize_t got;
    while ((got = read(pipe_ends[0], text + used, size - 1 - used)) > 0) used += (size_t)got;
    text[used] = 0;
    close(pipe_ends[0]);
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void default_handler_prints_and_aborts(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(fail_in_child(NULL, text, sizeof text), SIGABRT);
    assert_non_null(strstr(text, "assertion failed: line_count < 0"));
    assert_non_null(strstr(text, "test_assert.c:"));
}

static void returning_handler_is_followed_by_abort(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(fail_in_child(come_back, text, sizeof text), SIGABRT);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handler_gets_condition_and_place),
        cmocka_unit_test(default_handler_prints_and_aborts),
        cmocka_unit_test(returning_handler_is_followed_by_abort),
    };
    return cmocka_run_group_tests_name("assert", tests, NULL, NULL);
}
