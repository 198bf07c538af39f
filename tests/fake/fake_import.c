/* fake_import: an import helper that misbehaves on request. The name of the file that it is asked
 * to read says how: "crash.step" crashes. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mesh/mesh_stream.h"

extern char **environ;

static bool write_out(void *context, const void *bytes, size_t count)
{
    (void)context;
    const char *from = bytes;
    while (count > 0) {
        ssize_t put = write(1, from, count);
        if (put <= 0) _exit(40);
        from += put;
        count -= (size_t)put;
    }
    return true;
}

static flr_stream_writer writer = {.write = write_out};

static void write_error(const char *text, flr_result code)
{
    flr_stream_start(&writer);
    flr_stream_message(&writer, FLR_STREAM_ERROR, code, text);
    flr_stream_end(&writer);
}

/* a tetrahedron of two groups, one placed */
static void write_good(bool with_end)
{
    static flr_vec3 vertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static flr_triangle triangles[] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};
    static flr_mesh_group groups[] = {{0, 0, 3, {{0, 0, 0}, {1, 0, 0, 0}}, 0},
                                      {5, 3, 1, {{0.5, 0, 0}, {0, 0, 0, 1}}, 0}};
    static char names[] = "base\0lid\n";
    flr_stream_content content = {.head = {.vertex_count = 4,
                                           .triangle_count = 4,
                                           .group_count = 2,
                                           .names_size = sizeof names,
                                           .unit = 0.001,
                                           .unit_from_file = true,
                                           .triangles_in_file = 5,
                                           .vertices_in_file = 6,
                                           .polygons_split = 1,
                                           .dropped_nonfinite = 2,
                                           .dropped_malformed = 3},
                                  .vertices = vertices,
                                  .triangles = triangles,
                                  .groups = groups,
                                  .names = names};
    flr_stream_start(&writer);
    flr_stream_message(&writer, FLR_STREAM_FORMAT, FLR_OK, "FAKE");
    flr_stream_message(&writer, FLR_STREAM_WARNING, FLR_OK, "first\033warning");
    flr_stream_message(&writer, FLR_STREAM_WARNING, FLR_OK, "second");
    flr_stream_content_write(&writer, &content);
    if (with_end) flr_stream_end(&writer);
}

static void die_by(int number)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    kill(getpid(), number);
    pause();
}

/* promises much, sends for ever */
static void flood(void)
{
    flr_stream_head head = {.vertex_count = 4000000000u,
                            .triangle_count = 1,
                            .group_count = 1,
                            .names_size = 1,
                            .unit = 1};
    flr_stream_start(&writer);
    flr_stream_content content = {.head = head};
    static char chunk[1 << 20];
    content.names = chunk;
    flr_stream_content_write(&writer, &content);
    for (;;) write_out(NULL, chunk, sizeof chunk);
}

/* leaves a child that holds the pipe, in our group or outside it; the child's number goes beside
 * the input */
static void leave_child(bool outside)
{
    pid_t child = fork();
    if (child == 0) {
        if (outside) setsid();
        for (int i = 0; i < 600; ++i) sleep(1);
        _exit(0);
    }
    int file = openat(3, "child", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dprintf(file, "%d", (int)child);
    close(file);
}

/* says what it has inherited: descriptors, environment, blocked signals */
static void inspect(void)
{
    char text[512];
    int descriptors = 0, variables = 0;
    for (int i = 0; i < 1024; ++i) descriptors += fcntl(i, F_GETFD) >= 0;
    while (environ[variables]) ++variables;
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    snprintf(text, sizeof text, "descriptors %d, variables %d, usr1 %d, pipe %d, leader %d",
             descriptors, variables, sigismember(&blocked, SIGUSR1),
             signal(SIGPIPE, SIG_DFL) == SIG_IGN, getpgrp() == getpid());
    write_error(text, FLR_BAD_INPUT);
}

static void behave(const char *how)
{
    static const struct {
        const char *how;
        int number;
    } deaths[] = {{"crash", SIGSEGV}, {"abort", SIGABRT}, {"killed", SIGKILL}, {"cpu", SIGXCPU}};
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; ++i)
        if (strcmp(how, deaths[i].how) == 0) die_by(deaths[i].number);
    if (strcmp(how, "good") == 0) write_good(true);
    if (strcmp(how, "error") == 0) write_error("line 7 is\nwrong", FLR_BAD_INPUT);
    if (strcmp(how, "large") == 0) write_error("is too large", FLR_TOO_LARGE);
    if (strcmp(how, "odd") == 0) write_error("odd code", FLR_OK);
    if (strcmp(how, "hang") == 0)
        for (;;) pause();
    if (strcmp(how, "deaf") == 0) {
        close(1);
        for (;;) pause();
    }
    if (strcmp(how, "garbage") == 0) write_out(NULL, "\033[2J this is no mesh stream at all", 34);
    if (strcmp(how, "nothing") == 0) return;
    if (strcmp(how, "early") == 0) write_good(false);
    if (strcmp(how, "earlycrash") == 0) write_good(false), die_by(SIGSEGV);
    if (strcmp(how, "trailing") == 0) write_good(true), write_out(NULL, "more", 4);
    if (strcmp(how, "flood") == 0) flood();
    if (strcmp(how, "loud") == 0)
        for (;;)
            if (write(2, how, 4) < 0) _exit(41);
    if (strcmp(how, "murmur") == 0) {
        for (int i = 0; i < 50000; ++i)
            if (write(2, how, 4) < 0) _exit(41);
        write_good(true);
    }
    if (strcmp(how, "status") == 0) {
        dprintf(2, "cannot go\033on\nsecond line\n");
        _exit(3);
    }
    if (strcmp(how, "latestatus") == 0) write_good(true), _exit(4);
    if (strcmp(how, "loader") == 0) {
        dprintf(2, "libassimp.so.5: cannot open shared object file\n");
        _exit(127);
    }
    if (strcmp(how, "memory") == 0) _exit(FLR_STREAM_EXIT_MEMORY);
    if (strcmp(how, "child") == 0) write_good(true), leave_child(false);
    if (strcmp(how, "escaped") == 0) write_good(true), leave_child(true);
    if (strcmp(how, "inspect") == 0) inspect();
}

static void answer_probe(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *how = slash ? slash + 1 : program;
    if (strcmp(how, "mute") == 0) return;
    if (strcmp(how, "broken") == 0) die_by(SIGSEGV);
    if (strcmp(how, "endless") == 0)
        for (;;) dprintf(1, "versions: too many words\n");
    dprintf(1, "versions: fake 1\nformats: step\nsandbox: none\nmissing: all\033 of it\n");
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; ++i) {
        if (strcmp(arguments[i], "--probe") == 0) answer_probe(arguments[0]);
        if (strncmp(arguments[i], "--name=", 7) != 0) continue;
        char how[64];
        snprintf(how, sizeof how, "%s", arguments[i] + 7);
        how[strcspn(how, ".")] = 0;
        behave(how);
    }
    _exit(0);
}
