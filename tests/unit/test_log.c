#include "feeler/sim.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "feeler/env.h"

typedef struct capture {
    int count;
    flr_log_level level;
    int64_t wall_ns;
    char message[FLR_LOG_MESSAGE_SIZE];
    char before[FLR_LOG_MESSAGE_SIZE]; /* the message before the last */
} capture;

static void keep(void *context, const flr_log_line *line)
{
    capture *kept = context;
    kept->count++;
    kept->level = line->level;
    kept->wall_ns = line->wall_ns;
    memcpy(kept->before, kept->message, sizeof kept->message);
    snprintf(kept->message, sizeof kept->message, "%s", line->message);
}

static flr_log *make_log(capture *kept, flr_log_level level, uint32_t burst, uint32_t per_second)
{
    flr_log_def def = flr_default_log_def();
    def.sink = keep;
    def.context = kept;
    def.level = level;
    def.burst = burst;
    def.per_second = per_second;
    flr_log *log = flr_log_create(&def);
    assert_non_null(log);
    return log;
}

static void levels(void **state)
{
    (void)state;
    capture kept = {0};
    flr_log *log = make_log(&kept, FLR_LOG_INFO, 1, 0);
    flr_log_write(log, FLR_LOG_INFO, "%d of %s", 3, "x");
    assert_int_equal(kept.count, 1);
    assert_int_equal(kept.level, FLR_LOG_INFO);
    assert_string_equal(kept.message, "3 of x");
    assert_gt(kept.wall_ns, 1600000000ll * 1000000000);
    flr_log_write(log, FLR_LOG_DEBUG, "not wanted");
    assert_int_equal(kept.count, 1);
    assert_true(flr_log_enabled(log, FLR_LOG_ERROR));
    assert_false(flr_log_enabled(log, FLR_LOG_DEBUG));
    flr_log_destroy(log);
    assert_int_equal(kept.count, 1);
    assert_string_equal(flr_log_level_name(FLR_LOG_WARNING), "warning");
    assert_string_equal(flr_log_level_name((flr_log_level)77), "unknown");
}

static void no_log_is_silence(void **state)
{
    (void)state;
    flr_log_write(NULL, FLR_LOG_ERROR, "nobody hears");
    assert_false(flr_log_enabled(NULL, FLR_LOG_ERROR));
    flr_log_destroy(NULL);
}

static void lines_are_clean_and_bounded(void **state)
{
    (void)state;
    capture kept = {0};
    flr_log *log = make_log(&kept, FLR_LOG_DEBUG, 1, 0);
    flr_log_write(log, FLR_LOG_DEBUG, "a\nb\033[2J%s", "\x7f");
    assert_string_equal(kept.message, "a?b?[2J?");
    char text[2 * FLR_LOG_MESSAGE_SIZE + 2] = "";
    for (size_t i = 0; i + 2 < sizeof text; i += 2) memcpy(text + i, "\xC3\xA4", 3);
    flr_log_write(log, FLR_LOG_DEBUG, "%s", text);
    assert_in_range(strlen(kept.message), FLR_LOG_MESSAGE_SIZE - 4, FLR_LOG_MESSAGE_SIZE - 1);
    assert_null(strchr(kept.message, '?')); // no half characters
    flr_log_destroy(log);
}

static void floods_are_held_back_but_errors_pass(void **state)
{
    (void)state;
    capture kept = {0};
    flr_log *log = make_log(&kept, FLR_LOG_DEBUG, 10, 1);
    for (int i = 0; i < 1000; i++) flr_log_write(log, FLR_LOG_INFO, "line %d", i);
    assert_in_range(kept.count, 10, 20); // a slow machine may earn some more meanwhile
    int held_back = 1000 - kept.count;
    flr_log_write(log, FLR_LOG_ERROR, "bad");
    assert_string_equal(kept.message, "bad");
    char expected[100];
    snprintf(expected, sizeof expected, "%d lines held back, they came too fast", held_back);
    assert_string_equal(kept.before, expected);

    // what is held back at the end is reported at the end
    int count = kept.count;
    for (int i = 0; i < 10; i++) flr_log_write(log, FLR_LOG_INFO, "more %d", i);
    flr_log_destroy(log);
    assert_gt(kept.count, count);
    assert_non_null(strstr(kept.message, "held back"));
}

/* on a simulated clock */
static void what_repeats_is_written_once(void **state)
{
    (void)state;
    capture kept = {0};
    flr_sim_def machine = flr_default_sim_def();
    flr_sim *sim = flr_sim_create(&machine);
    flr_log_def def = flr_default_log_def();
    def.env = flr_sim_node(sim, (flr_address){.family = 4, .ip = {10, 0, 0, 1}});
    def.sink = keep;
    def.context = &kept;
    flr_log *log = flr_log_create(&def);
    for (int i = 0; i < 23; i++) {
        flr_log_write(log, FLR_LOG_WARNING, "the step saw faults 0x%x", 4);
        flr_sim_advance(sim, 300 * FLR_SIM_MS);
    }
    assert_int_equal(kept.count, 1);
    // another one is written meanwhile, and an error always
    flr_log_write(log, FLR_LOG_WARNING, "the step saw faults 0x8");
    assert_int_equal(kept.count, 2);
    for (int i = 0; i < 3; i++) flr_log_write(log, FLR_LOG_ERROR, "bad");
    assert_int_equal(kept.count, 5);
    // how often it came is said after that time, before the next line
    flr_sim_advance(sim, 4000 * FLR_SIM_MS);
    flr_log_write(log, FLR_LOG_WARNING, "later");
    assert_int_equal(kept.count, 7);
    assert_string_equal(kept.before, "the step saw faults 0x4 (repeated 22 times)");
    assert_string_equal(kept.message, "later");
    // then it is new again
    flr_log_write(log, FLR_LOG_WARNING, "the step saw faults 0x4");
    assert_int_equal(kept.count, 8);
    // many different ones: the oldest is forgotten, with what it counted
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 40; i++) {
            flr_log_write(log, FLR_LOG_WARNING, "message %d", i);
            flr_sim_advance(sim, FLR_SIM_MS);
        }
    assert_int_equal(kept.count, 128);
    // the end says the rest
    flr_log_write(log, FLR_LOG_WARNING, "message 39");
    flr_log_destroy(log);
    assert_int_equal(kept.count, 129);
    assert_string_equal(kept.message, "message 39 (repeated 1 time)");
    flr_sim_destroy(sim);
}

static void format_of_time(void **state)
{
    (void)state;
    char text[FLR_LOG_TEXT_SIZE];
    flr_log_line line = {FLR_LOG_ERROR, 0, "x"};
    assert_string_equal(flr_log_format(&line, text), "1970-01-01T00:00:00.000Z error: x");
    line.wall_ns = -1;
    assert_string_equal(flr_log_format(&line, text), "1969-12-31T23:59:59.999Z error: x");

    // against the C library, over leap years and centuries
    flr_test_random random = flr_test_random_begin("format_of_time");
    for (int i = 0; i < 5000; i++) {
        int64_t second = (int64_t)(flr_test_random_u64(&random) % 16000000000ull) - 8000000000;
        if (i == 0) second = 951782400;  // 29 February 2000
        if (i == 1) second = 4107542400; // 1 March 2100
        time_t system = (time_t)second;
        struct tm parts;
        gmtime_r(&system, &parts);
        char expected[100];
        strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S.123Z error: x", &parts);
        line.wall_ns = second * 1000000000 + 123456789;
        assert_string_equal(flr_log_format(&line, text), expected);
    }
}

static void default_goes_to_stderr(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        flr_log_def def = flr_default_log_def();
        flr_log *log = flr_log_create(&def);
        flr_log_write(log, FLR_LOG_WARNING, "careful");
        flr_log_write(log, FLR_LOG_INFO, "by the way");
        flr_log_destroy(log);
        _exit(0);
    }
    close(ends[1]);
    char text[256] = "";
    ssize_t got = read(ends[0], text, sizeof text - 1);
    assert_gt(got, 0);
    waitpid(child, NULL, 0);
    close(ends[0]);
    assert_non_null(strstr(text, "Z warning: careful\n"));
    assert_null(strstr(text, "by the way"));
}

/* Fills what the child has as standard error, and lets it log; it must come back. */
static void check_that_nothing_waits(const int ends[2])
{
    static char filler[512];
    memset(filler, '.', sizeof filler);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    while (write(ends[1], filler, sizeof filler) > 0) {}
    while (write(ends[1], filler, 1) > 0) {}
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        dup2(ends[1], STDERR_FILENO);
        const flr_log_line line = {FLR_LOG_WARNING, 0, "lost"}, last = {FLR_LOG_WARNING, 0, "kept"};
        for (int i = 0; i < 3; i++) flr_log_stderr(NULL, &line);
        kill(getpid(), SIGSTOP);
        flr_log_stderr(NULL, &last);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status)); /* else the alarm ended it */
    close(ends[1]);
    static char text[1 << 20];
    size_t size = 0;
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    for (ssize_t got; (got = read(ends[0], text, sizeof text)) > 0;) {}
    kill(child, SIGCONT);
    assert_int_equal(fcntl(ends[0], F_SETFL, 0), 0);
    for (ssize_t got; (got = read(ends[0], text + size, sizeof text - 1 - size)) > 0;)
        size += (size_t)got;
    text[size] = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(ends[0]);
    assert_null(strstr(text, "lost"));
    const char *report = strstr(text, "warning: 3 lines left out: standard error took nothing");
    assert_non_null(report);
    assert_non_null(strstr(report, "warning: kept\n"));
}

static void stderr_that_takes_nothing_is_not_waited_for(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    check_that_nothing_waits(ends);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    check_that_nothing_waits(ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(no_log_is_silence),
        cmocka_unit_test(lines_are_clean_and_bounded),
        cmocka_unit_test(floods_are_held_back_but_errors_pass),
        cmocka_unit_test(what_repeats_is_written_once),
        cmocka_unit_test(format_of_time),
        cmocka_unit_test(default_goes_to_stderr),
        cmocka_unit_test(stderr_that_takes_nothing_is_not_waited_for),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
