/* the import client against helpers that misbehave: one sentence each, nothing left behind */
#include "feeler/mesh.h"
#include "support/fail_alloc.h"
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAKE FLR_BINARY_DIR "/tests/fake_import"

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

static const char *file_named(const char *name)
{
    static char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("something\n", file);
    fclose(file);
    return path;
}

static flr_mesh_options options_for_fake(void)
{
    flr_mesh_options options = flr_default_mesh_options();
    options.helper = FAKE;
    options.helper_seconds = 300;
    return options;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int open_descriptors(void)
{
    int count = 0;
    for (int i = 0; i < 256; ++i) count += fcntl(i, F_GETFD) >= 0;
    return count;
}

/* reads `name` through the fake helper; wants `code` and `words` in the sentence */
static void expect(const char *name, flr_result code, const char *words)
{
    flr_mesh_options options = options_for_fake();
    flr_mesh *mesh = NULL;
    flr_error error = {0};
    if (code == FLR_TIMEOUT && strncmp(name, "cpu", 3) != 0) options.helper_seconds = 1;
    const char *path = file_named(name);
    int before = open_descriptors();
    flr_result result = flr_import_read(flr_env_real(), path, &options, &mesh, NULL, NULL, &error);
    if (result != code || !strstr(error.message, words) ||
        strncmp(error.message, path, strlen(path)) != 0)
        fail_msg("%s gives %s: %s", name, flr_result_name(result), error.message);
    assert_null(mesh);
    assert_int_equal(open_descriptors(), before);
    // no child is left, dead or alive
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void good(void **state)
{
    (void)state;
    flr_mesh_options options = options_for_fake();
    flr_mesh *mesh;
    flr_mesh_report report;
    flr_import_info info;
    flr_error error;
    assert_ok(flr_import_read(flr_env_real(), file_named("good.step"), &options, &mesh, &report,
                              &info, &error),
              error);
    assert_int_equal(mesh->triangle_count, 4);
    assert_int_equal(mesh->vertex_count, 4);
    assert_int_equal(mesh->group_count, 2);
    assert_string_equal(flr_mesh_group_name(mesh, 0), "base");
    assert_string_equal(flr_mesh_group_name(mesh, 1), "lid?");
    assert_eq(mesh->groups[1].T_mesh_group.p.x, 0.5);
    assert_eq(mesh->groups[1].T_mesh_group.q.z, 1);
    flr_mesh_destroy(mesh);

    assert_int_equal(report.format, FLR_FORMAT_FOREIGN);
    assert_int_equal(report.bytes, 10);
    assert_eq(report.unit, 0.001);
    assert_true(report.unit_from_file);
    assert_int_equal(report.triangles_in_file, 5);
    assert_int_equal(report.vertices_in_file, 6);
    assert_int_equal(report.polygons_split, 1);
    assert_int_equal(report.dropped_nonfinite, 2);
    assert_int_equal(report.dropped_malformed, 3);
    assert_string_equal(report.first_trouble, "first?warning");
    assert_string_equal(info.format, "FAKE");
    assert_int_equal(info.warnings, 2);
    assert_string_equal(info.warning, "first?warning");

    // the same through the door for all formats, without report
    assert_ok(flr_mesh_open(flr_env_real(), file_named("good.step"), &options, &mesh, NULL, &error),
              error);
    flr_mesh_destroy(mesh);
    // much on its error output does no harm
    assert_ok(
        flr_mesh_open(flr_env_real(), file_named("murmur.step"), &options, &mesh, NULL, &error),
        error);
    flr_mesh_destroy(mesh);
}

static void says_why(void **state)
{
    (void)state;
    expect("error.step", FLR_BAD_INPUT, ": line 7 is?wrong");
    expect("large.step", FLR_TOO_LARGE, ": is too large");
    expect("odd.step", FLR_BAD_INPUT, ": odd code");
}

static void dies(void **state)
{
    (void)state;
    expect("crash.step", FLR_CRASHED,
           "the import helper crashed (signal 11) while reading; the file may be damaged. Try "
           "exporting it again or convert it to STL.");
    expect("abort.step", FLR_CRASHED, "crashed (signal 6)");
    expect("earlycrash.step", FLR_CRASHED, "crashed (signal 11)");
    expect("killed.step", FLR_CRASHED, "out of memory");
    expect("cpu.step", FLR_TIMEOUT, "took longer than 300 s and was stopped");
    expect("status.step", FLR_CRASHED, "gave up with status 3 while reading (cannot go?on)");
    expect("latestatus.step", FLR_CRASHED, "gave up with status 4 while reading (no reason given)");
    expect("loader.step", FLR_UNSUPPORTED, "cannot start: libassimp.so.5");
    expect("memory.step", FLR_NO_MEMORY, "needed more than 4096 MiB of memory");
    expect("nothing.step", FLR_CRASHED, "ended without a result");
    expect("early.step", FLR_CRASHED, "ended without a result");
}

static void lies(void **state)
{
    (void)state;
    expect("garbage.step", FLR_CRASHED, "broke the rules of its output (block 0: not a mesh");
    expect("trailing.step", FLR_CRASHED, "bytes after the end");
    expect("flood.step", FLR_TOO_LARGE, "the limit is 4096 MiB");
}

static void hangs(void **state)
{
    (void)state;
    expect("hang.step", FLR_TIMEOUT, "took longer than 1 s and was stopped");
    expect("loud.step", FLR_TIMEOUT, "took longer than 1 s and was stopped");
    // closes its output and stays: not worth the whole time limit
    double start = seconds_now();
    expect("deaf.step", FLR_CRASHED, "ended without a result");
    assert_lt(seconds_now() - start, 150);
}

static bool not_long(void *context)
{
    const double *start = context;
    return seconds_now() - *start < 0.2;
}

/* somebody does not want to wait any more */
static void is_stopped(void **state)
{
    (void)state;
    static const char *const names[] = {"hang.step", "loud.step"};
    for (int i = 0; i < 2; i++) {
        flr_mesh_options options = options_for_fake();
        flr_mesh *mesh = NULL;
        flr_error error = {0};
        double start = seconds_now();
        options.go_on = not_long;
        options.context = &start;
        assert_int_equal(
            flr_mesh_open(flr_env_real(), file_named(names[i]), &options, &mesh, NULL, &error),
            FLR_CANCELLED);
        assert_non_null(strstr(error.message, "reading was stopped"));
        assert_null(mesh);
        assert_lt(seconds_now() - start, 150);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
}

static pid_t child_of(const char *name)
{
    char path[1200], text[32] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    return (pid_t)atoi(text);
}

static bool alive(const char *name)
{
    char path[64];
    // an orphan that was killed may wait for init to collect it
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child_of(name));
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char line[256] = "";
    bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    const char *after = strrchr(line, ')');
    return read && after && after[2] != 'Z' && after[2] != 'X';
}

static void leaves_children(void **state)
{
    (void)state;
    flr_mesh_options options = options_for_fake();
    flr_mesh *mesh;
    flr_error error;
    double start = seconds_now();
    assert_ok(
        flr_mesh_open(flr_env_real(), file_named("child.step"), &options, &mesh, NULL, &error),
        error);
    flr_mesh_destroy(mesh);
    assert_lt(seconds_now() - start, 150);
    for (int i = 0; i < 15000 && alive("child"); ++i) usleep(20000);
    assert_false(alive("child"));

    // one that left the group cannot be stopped by us, but does not stop us either
    assert_ok(
        flr_mesh_open(flr_env_real(), file_named("escaped.step"), &options, &mesh, NULL, &error),
        error);
    flr_mesh_destroy(mesh);
    assert_true(alive("child"));
    kill(child_of("child"), SIGKILL);
}

/* the helper sees three pipes or files and the folder, two variables, default signals */
static void inherits_nothing(void **state)
{
    (void)state;
    int leaked = open("/dev/null", O_RDONLY); // without close-on-exec
    assert_ge(leaked, 0);
    sigset_t usr1, old;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, &old);
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    expect("inspect.step", FLR_BAD_INPUT, ": descriptors 4, variables 2, usr1 0, pipe 0, leader 1");
    signal(SIGPIPE, handler);
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(leaked);
}

/* a program that ignores its children's end, and one without standard descriptors */
static void odd_programs(void **state)
{
    (void)state;
    flr_mesh_options options = options_for_fake();
    flr_mesh *mesh;
    flr_error error;
    const char *path = file_named("good.step");
    signal(SIGCHLD, SIG_IGN);
    flr_result result = flr_import_read(flr_env_real(), path, &options, &mesh, NULL, NULL, &error);
    signal(SIGCHLD, SIG_DFL);
    assert_ok(result, error);
    flr_mesh_destroy(mesh);

    int saved[3];
    for (int i = 0; i < 3; ++i) {
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
        close(i);
    }
    result = flr_import_read(flr_env_real(), path, &options, &mesh, NULL, NULL, &error);
    for (int i = 0; i < 3; ++i) {
        if (saved[i] < 0) continue;
        dup2(saved[i], i);
        close(saved[i]);
    }
    assert_ok(result, error);
    flr_mesh_destroy(mesh);
}

static void *import_often(void *context)
{
    const char *path = context;
    flr_mesh_options options = options_for_fake();
    size_t failures = 0;
    for (int i = 0; i < 10; ++i) {
        flr_mesh *mesh;
        if (flr_import_read(flr_env_real(), path, &options, &mesh, NULL, NULL, NULL) == FLR_OK)
            flr_mesh_destroy(mesh);
        else
            ++failures;
    }
    return (void *)(uintptr_t)failures;
}

static void several_at_once(void **state)
{
    (void)state;
    char path[1200];
    snprintf(path, sizeof path, "%s", file_named("good.step"));
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, import_often, path), 0);
    for (int i = 0; i < 4; ++i) {
        void *failures;
        pthread_join(threads[i], &failures);
        assert_null(failures);
    }
}

static flr_result import_once(void *context, flr_error *error)
{
    flr_mesh_options options = options_for_fake();
    flr_mesh *mesh;
    flr_result result =
        flr_import_read(flr_env_real(), context, &options, &mesh, NULL, NULL, error);
    if (result == FLR_OK) flr_mesh_destroy(mesh);
    return result;
}

static void allocation_failures(void **state)
{
    (void)state;
    char path[1200];
    snprintf(path, sizeof path, "%s", file_named("good.step"));
    int before = open_descriptors();
    assert_gt(flr_fail_alloc_each(import_once, path), 4);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* files and options that never reach the helper */
static void bad_requests(void **state)
{
    (void)state;
    flr_mesh_options options = options_for_fake();
    flr_mesh *mesh = NULL;
    flr_mesh_report report;
    flr_error error;
    flr_env *env = flr_env_real();
    char path[1200];

    snprintf(path, sizeof path, "%s/none.step", folder);
    assert_int_equal(flr_mesh_open(env, path, &options, &mesh, &report, &error), FLR_NOT_FOUND);
    assert_int_not_equal(flr_import_read(env, folder, &options, &mesh, NULL, NULL, &error), FLR_OK);
    snprintf(path, sizeof path, "%s/pipe.step", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_not_equal(flr_mesh_open(env, path, &options, &mesh, &report, &error), FLR_OK);
    snprintf(path, sizeof path, "%s/empty.step", folder);
    fclose(fopen(path, "w"));
    assert_int_equal(flr_mesh_open(env, path, &options, &mesh, &report, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "empty"));

    const char *good_file = file_named("good.step");
    options.size_limit = 9;
    assert_int_equal(flr_mesh_open(env, good_file, &options, &mesh, &report, &error),
                     FLR_TOO_LARGE);
    options = options_for_fake();
    options.unit = -1;
    assert_int_equal(flr_mesh_open(env, good_file, &options, &mesh, NULL, &error),
                     FLR_BAD_ARGUMENT);
    options = options_for_fake();
    options.chord = 1.0 / 0.0;
    assert_int_equal(flr_mesh_open(env, good_file, &options, &mesh, NULL, &error),
                     FLR_BAD_ARGUMENT);
    assert_null(mesh);
}

static void no_helper(void **state)
{
    (void)state;
    flr_mesh_options options = options_for_fake();
    flr_mesh *mesh = NULL;
    flr_error error;
    char path[FLR_IMPORT_PATH_SIZE] = "untouched";
    const char *good_file = file_named("good.step");
    options.helper = "/nowhere/feeler-import";
    assert_int_equal(flr_mesh_open(flr_env_real(), good_file, &options, &mesh, NULL, &error),
                     FLR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "good.step: "));
    assert_non_null(strstr(error.message, "/nowhere/feeler-import"));
    // something that is no program
    char text[1200];
    snprintf(text, sizeof text, "%s", file_named("notes.txt"));
    chmod(text, 0700);
    options.helper = text;
    assert_int_equal(
        flr_mesh_open(flr_env_real(), file_named("good.step"), &options, &mesh, NULL, &error),
        FLR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cannot start the import helper"));

    // nobody installs anything beside the unit tests
    if (flr_import_find(NULL, path, &error) == FLR_UNSUPPORTED) {
        assert_string_equal(path, "untouched");
        assert_non_null(strstr(error.message, "looked in "));
        assert_non_null(strstr(error.message, "FLR_IMPORT=ON"));
        options.helper = NULL;
        assert_int_equal(
            flr_mesh_open(flr_env_real(), file_named("good.step"), &options, &mesh, NULL, &error),
            FLR_UNSUPPORTED);
    }
    assert_ok(flr_import_find(FAKE, path, &error), error);
    assert_string_equal(path, FAKE);
}

/* a copy of this program in bin/ finds libexec/feeler/feeler-import beside it: the child does it */
static void finds_installed(void **state)
{
    (void)state;
    char command[4096];
    snprintf(command, sizeof command,
             "set -e; cd '%s'; mkdir -p p/bin p/libexec/feeler; cp /proc/%d/exe p/bin/test; "
             "cp '%s' p/libexec/feeler/feeler-import; p/bin/test --find installed; "
             "mv p/libexec/feeler/feeler-import p/bin/; p/bin/test --find beside",
             folder, (int)getpid(), FAKE);
    assert_int_equal(system(command), 0);
}

static int find_and_compare(const char *where)
{
    char path[FLR_IMPORT_PATH_SIZE];
    const char *want =
        strcmp(where, "beside") == 0 ? "/p/bin/feeler-import" : "/p/libexec/feeler/feeler-import";
    if (flr_import_find(NULL, path, NULL) != FLR_OK) return 1;
    size_t length = strlen(path), tail = strlen(want);
    return length > tail && strcmp(path + length - tail, want) == 0 ? 0 : 1;
}

static void knows(void **state)
{
    (void)state;
    assert_true(flr_import_knows("a.step"));
    assert_true(flr_import_knows("/x.y/a.b.GLB"));
    assert_true(flr_import_knows("a.3MF"));
    assert_false(flr_import_knows("a.stl"));
    assert_false(flr_import_knows("step"));
    assert_false(flr_import_knows("/a.step/b"));
    assert_false(flr_import_knows(""));
}

/* flr_mesh_open reads its own formats without any helper */
static void own_formats(void **state)
{
    (void)state;
    flr_mesh_options options = flr_default_mesh_options();
    options.helper = "/nowhere";
    char path[1200];
    snprintf(path, sizeof path, "%s/own.stl", folder);
    FILE *file = fopen(path, "w");
    fputs("solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
          "endloop\nendfacet\nendsolid s\n",
          file);
    fclose(file);
    flr_mesh *mesh;
    flr_error error;
    assert_ok(flr_mesh_open(flr_env_real(), path, &options, &mesh, NULL, &error), error);
    assert_int_equal(mesh->triangle_count, 1);
    flr_mesh_destroy(mesh);
}

static void probing(void **state)
{
    (void)state;
    static flr_import_state seen;
    flr_error error;
    flr_env *env = flr_env_real();
    assert_ok(flr_import_probe(env, FAKE, &seen, &error), error);
    assert_true(seen.starts);
    assert_gt(seen.start_seconds, 0);
    assert_string_equal(seen.path, FAKE);
    assert_string_equal(seen.versions, "fake 1");
    assert_string_equal(seen.formats, "step");
    assert_string_equal(seen.sandbox, "none");
    assert_string_equal(seen.missing, "all? of it");

    static const struct {
        const char *name, *word;
        flr_result result;
    } cases[] = {{"mute", "does not answer", FLR_CRASHED}, {"broken", "signal 11", FLR_CRASHED}};
    for (size_t i = 0; i < 2; ++i) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].name);
        assert_int_equal(symlink(FAKE, path), 0);
        assert_int_equal(flr_import_probe(env, path, &seen, &error), cases[i].result);
        assert_non_null(strstr(error.message, cases[i].word));
        assert_string_equal(seen.path, path);
        assert_false(seen.starts);
    }
    char path[1200];
    snprintf(path, sizeof path, "%s/endless", folder);
    assert_int_equal(symlink(FAKE, path), 0);
    assert_int_not_equal(flr_import_probe(env, path, &seen, &error), FLR_TIMEOUT);
    assert_int_equal(flr_import_probe(env, "/nowhere", &seen, &error), FLR_UNSUPPORTED);
    assert_string_equal(seen.path, "");
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "--find") == 0) return find_and_compare(arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),
        cmocka_unit_test(says_why),
        cmocka_unit_test(dies),
        cmocka_unit_test(lies),
        cmocka_unit_test(hangs),
        cmocka_unit_test(is_stopped),
        cmocka_unit_test(leaves_children),
        cmocka_unit_test(inherits_nothing),
        cmocka_unit_test(odd_programs),
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(bad_requests),
        cmocka_unit_test(no_helper),
        cmocka_unit_test(finds_installed),
        cmocka_unit_test(knows),
        cmocka_unit_test(own_formats),
        cmocka_unit_test(probing),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
