/* folders of controllers: one's own stays, those of the dead go, and nothing else is touched */
#include "server/upload.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "feeler/sim.h"
#include "support/test.h"

static flr_error error;

typedef struct place {
    char *folder;
    char parent[256], victim[256], letter[300]; /* the victim is a folder with a letter in it */
    flr_env *env;
} place;

static void make_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static place make_place(void)
{
    place p = {.folder = flr_test_folder(), .env = flr_env_real()};
    snprintf(p.parent, sizeof p.parent, "%s/uploads", p.folder);
    snprintf(p.victim, sizeof p.victim, "%s/victim", p.folder);
    snprintf(p.letter, sizeof p.letter, "%s/letter", p.victim);
    assert_int_equal(mkdir(p.parent, 0755), 0);
    assert_int_equal(mkdir(p.victim, 0755), 0);
    make_file(p.letter, "dear");
    return p;
}

static const char *below(const place *p, const char *name)
{
    static char paths[4][600];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", p->parent, name);
    return path;
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static mode_t rights(const char *path)
{
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    return info.st_mode & 0777;
}

static void set_age(const char *path, time_t seconds)
{
    struct timespec at[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, at, 0), 0);
}

/* Begins and ends, as a controller does. */
static void start_and_stop(const place *p)
{
    char folder[FLR_CACHE_PATH_SIZE];
    flr_file *lock;
    assert_ok(flr_upload_folder(p->env, p->parent, folder, sizeof folder, &lock, &error), error);
    assert_true(exists(folder));
    flr_upload_folder_remove(p->env, folder, lock);
    assert_false(exists(folder));
}

static unsigned count_names(const char *path)
{
    char command[600], text[16] = "";
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", path);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_non_null(fgets(text, sizeof text, list));
    pclose(list);
    return (unsigned)strtoul(text, NULL, 10);
}

/* A process number that nobody has. */
static long dead_process(void)
{
    pid_t child = fork();
    assert_ge(child, 0);
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    return child;
}

static void links_are_not_followed(void **state)
{
    (void)state;
    place p = make_place();
    char name[64];
    // as an older version would name it, of a process that is gone; with and without an age
    snprintf(name, sizeof name, "uploads-%ld", dead_process());
    assert_int_equal(symlink(p.victim, below(&p, name)), 0);
    start_and_stop(&p);
    assert_true(exists(p.letter));
    // as this version names it, and its lock is free
    assert_int_equal(symlink(p.victim, below(&p, "uploads-00000000000000aa")), 0);
    make_file(below(&p, "uploads-00000000000000aa.lock"), "");
    // links inside of a folder that is removed, in both ways of naming it
    assert_int_equal(mkdir(below(&p, "uploads-00000000000000bb"), 0700), 0);
    assert_int_equal(symlink(p.victim, below(&p, "uploads-00000000000000bb/deep")), 0);
    assert_int_equal(symlink(p.letter, below(&p, "uploads-00000000000000bb/file")), 0);
    make_file(below(&p, "uploads-00000000000000bb.lock"), "");
    // a lock file that is a link
    assert_int_equal(mkdir(below(&p, "uploads-00000000000000cc"), 0700), 0);
    assert_int_equal(symlink(p.letter, below(&p, "uploads-00000000000000cc.lock")), 0);
    start_and_stop(&p);
    assert_true(exists(p.letter));
    assert_false(exists(below(&p, "uploads-00000000000000aa")));
    assert_false(exists(below(&p, "uploads-00000000000000bb")));
    assert_false(exists(below(&p, "uploads-00000000000000bb.lock")));
    assert_true(exists(below(&p, "uploads-00000000000000cc")));
    flr_test_folder_remove(p.folder);
}

static void a_link_for_all_is_refused(void **state)
{
    (void)state;
    place p = make_place();
    char folder[FLR_CACHE_PATH_SIZE];
    flr_file *lock;
    assert_int_equal(rmdir(p.parent), 0);
    assert_int_equal(symlink(p.victim, p.parent), 0);
    assert_int_equal(flr_upload_folder(p.env, p.parent, folder, sizeof folder, &lock, &error),
                     FLR_DENIED);
    assert_non_null(strstr(error.message, "is a link"));
    assert_int_equal(count_names(p.victim), 1);
    flr_test_folder_remove(p.folder);
}

/* Two live ones leave each other alone, and only the owner can read. */
static void the_living_stay(void **state)
{
    (void)state;
    place p = make_place();
    char first[FLR_CACHE_PATH_SIZE], second[FLR_CACHE_PATH_SIZE], file[FLR_CACHE_PATH_SIZE + 8];
    flr_file *first_lock, *second_lock;
    assert_ok(flr_upload_folder(p.env, p.parent, first, sizeof first, &first_lock, &error), error);
    snprintf(file, sizeof file, "%s/a.stl", first);
    make_file(file, "solid");
    // however old it looks
    set_age(first, 1000000);
    assert_ok(flr_upload_folder(p.env, p.parent, second, sizeof second, &second_lock, &error),
              error);
    assert_string_not_equal(first, second);
    assert_true(exists(file));
    assert_int_equal(rights(first), 0700);
    assert_int_equal(rights(p.parent), 0700);
    snprintf(file, sizeof file, "%s.lock", first);
    assert_int_equal(rights(file), 0600);
    flr_upload_folder_remove(p.env, first, first_lock);
    flr_upload_folder_remove(p.env, second, second_lock);
    assert_int_equal(count_names(p.parent), 0);
    flr_test_folder_remove(p.folder);
}

/* Killed at any moment: the next one removes what was left, folder and lock. */
static void the_dead_go(void **state)
{
    (void)state;
    place p = make_place();
    for (int i = 0; i < 20; i++) {
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        assert_ge(child, 0);
        if (child == 0) {
            char folder[FLR_CACHE_PATH_SIZE], file[FLR_CACHE_PATH_SIZE + 8];
            flr_file *lock;
            if (i % 2 && write(ready[1], "x", 1) != 1) _exit(1);
            if (flr_upload_folder(p.env, p.parent, folder, sizeof folder, &lock, NULL) != FLR_OK)
                _exit(1);
            snprintf(file, sizeof file, "%s/a", folder);
            close(open(file, O_CREAT | O_WRONLY, 0600));
            if (write(ready[1], "x", 1) != 1) _exit(1);
            pause();
        }
        char byte;
        assert_int_equal(read(ready[0], &byte, 1), 1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(ready[0]);
        close(ready[1]);
        start_and_stop(&p);
        assert_int_equal(count_names(p.parent), 0);
    }
    flr_test_folder_remove(p.folder);
}

/* Those of a version without locks go by age; the future is not old. */
static void older_versions(void **state)
{
    (void)state;
    place p = make_place();
    char name[64];
    snprintf(name, sizeof name, "uploads-%ld", dead_process());
    assert_int_equal(mkdir(below(&p, name), 0755), 0);
    start_and_stop(&p); // it may run on another machine
    assert_true(exists(below(&p, name)));
    set_age(below(&p, name), -10 * 86400);
    start_and_stop(&p);
    assert_true(exists(below(&p, name)));
    set_age(below(&p, name), 2 * 86400);
    assert_int_equal(mkdir(below(&p, "uploads-mine"), 0755), 0);
    set_age(below(&p, "uploads-mine"), 2 * 86400);
    start_and_stop(&p);
    assert_false(exists(below(&p, name)));
    assert_true(exists(below(&p, "uploads-mine")));
    flr_test_folder_remove(p.folder);
}

/* Simulated: a crash ends the lock; a disk without locks goes by age; every operation may fail. */
static void simulated(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 30; n++) {
        flr_sim_def def = flr_default_sim_def();
        flr_sim *sim = flr_sim_create(&def);
        flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
        flr_env *env = flr_sim_node(sim, address);
        char folder[256], again[256];
        flr_file *lock, *second;
        flr_path_info info;
        assert_ok(flr_upload_folder(env, "/up", folder, sizeof folder, &lock, &error), error);
        flr_sim_disk disk = {.fail_at = n, .fail_on = n % 2}, sound = {0},
                     plain = {.no_locks = true};
        flr_sim_set_disk(env, &disk);
        if (flr_upload_folder(env, "/up", again, sizeof again, &second, &error) == FLR_OK)
            flr_upload_folder_remove(env, again, second);
        flr_sim_set_disk(env, &plain);
        assert_ok(flr_upload_folder(env, "/up", again, sizeof again, &second, &error), error);
        flr_upload_folder_remove(env, again, second);
        assert_ok(flr_path_look(env, folder, &info, &error), error);
        assert_int_equal(info.kind, FLR_PATH_FOLDER);
        flr_sim_set_disk(env, &sound);
        assert_ok(flr_path_sync_folder(env, "/up", &error), error);
        flr_sim_crash(env);
        flr_sim_restart(env);
        flr_file_close(lock);
        assert_ok(flr_upload_folder(env, "/up", again, sizeof again, &second, &error), error);
        assert_ok(flr_path_look(env, folder, &info, &error), error);
        assert_int_equal(info.kind, FLR_PATH_NONE);
        flr_upload_folder_remove(env, again, second);
        flr_sim_destroy(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_not_followed), cmocka_unit_test(a_link_for_all_is_refused),
        cmocka_unit_test(the_living_stay),        cmocka_unit_test(the_dead_go),
        cmocka_unit_test(older_versions),         cmocka_unit_test(simulated),
    };
    return cmocka_run_group_tests_name("upload_folder", tests, NULL, NULL);
}
