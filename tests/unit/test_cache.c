/* the cache: found when there, built when not, never in the way */
#include "feeler/voxel_file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feeler/sim.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"
#include "voxel/voxmap_format.h"

static flr_error error;
static flr_test_shape the_shape;
static flr_voxelize_def the_def;

static int set_up(void **state)
{
    (void)state;
    flr_test_shape_sphere(&the_shape, 0.004, 12, 8);
    the_def = flr_default_voxelize_def();
    the_def.voxel = 0.0005;
    the_def.range = 2;
    the_def.threads = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_test_shape_free(&the_shape);
    return 0;
}

static flr_env *make_disk(uint64_t seed, flr_sim **sim)
{
    flr_sim_def def = flr_default_sim_def();
    def.seed = seed;
    def.wall_ns = 1000 * FLR_SIM_S;
    *sim = flr_sim_create(&def);
    assert_non_null(*sim);
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    return flr_sim_node(*sim, address);
}

/* voxelizes by way of the cache, looks at what came, and lets it go */
static flr_cache_report go(flr_env *env, const char *folder, const flr_voxelize_def *def,
                           bool with_shell)
{
    flr_cache cache = {.folder = folder};
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_cache_report report;
    assert_ok(flr_cache_voxelize(env, &cache, flr_test_shape_mesh(&the_shape), def, &voxmap,
                                 with_shell ? &shell : NULL, &report, &error),
              error);
    assert_int_equal(flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, flr_vec3_make(0.00395, 0, 0)),
                     FLR_MARK_SURFACE);
    assert_gt(report.voxelize.voxels.surface_voxels, 100);
    assert_int_equal(shell != NULL, with_shell);
    if (shell) assert_int_equal(shell->total, report.voxelize.voxels.surface_voxels);
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    return report;
}

static void touch(flr_env *env, const char *path)
{
    flr_file *file;
    assert_ok(flr_file_open(env, path, FLR_FILE_CREATE, &file, &error), error);
    flr_file_close(file);
}

static bool is_there(flr_env *env, const char *path)
{
    flr_path_info info;
    assert_ok(flr_path_look(env, path, &info, &error), error);
    return info.kind != FLR_PATH_NONE;
}

static size_t count_files(flr_env *env, const char *folder, flr_cache_entry *first)
{
    flr_cache_entry *entries;
    size_t count;
    assert_ok(flr_cache_list(env, folder, &entries, &count, &error), error);
    if (count && first) *first = entries[0];
    flr_cache_list_free(entries);
    return count;
}

static void built_once_then_found(void **state)
{
    (void)state;
    flr_sim *sim;
    flr_env *env = make_disk(1, &sim);
    assert_int_equal(count_files(env, "/home/x/cache", NULL), 0);
    flr_cache_report report = go(env, "/home/x/cache", &the_def, true);
    assert_false(report.found);
    assert_true(report.stored);
    assert_string_equal(report.broken, "");
    assert_string_equal(report.not_stored, "");
    flr_cache_report again = go(env, "/home/x/cache", &the_def, true);
    assert_true(again.found);
    assert_false(again.stored);
    assert_true(flr_hash_equal(report.key, again.key));
    assert_memory_equal(&report.voxelize.voxels, &again.voxelize.voxels,
                        sizeof again.voxelize.voxels);
    assert_int_equal(count_files(env, "/home/x/cache", NULL), 1);

    // without a folder nothing is found or stored
    report = go(env, NULL, &the_def, true);
    assert_false(report.found || report.stored);
    assert_int_equal(count_files(env, "/home/x/cache", NULL), 1);
    flr_sim_destroy(sim);
}

static void a_shell_is_added_when_asked_for(void **state)
{
    (void)state;
    flr_sim *sim;
    flr_env *env = make_disk(1, &sim);
    assert_true(go(env, "/c", &the_def, false).stored);
    assert_true(go(env, "/c", &the_def, false).found);
    flr_cache_report report = go(env, "/c", &the_def, true);
    assert_true(report.stored);
    assert_false(report.found);
    assert_string_equal(report.broken, "");
    assert_true(go(env, "/c", &the_def, true).found);
    assert_true(go(env, "/c", &the_def, false).found);
    assert_int_equal(count_files(env, "/c", NULL), 1);

    // the shell alone
    flr_cache cache = {.folder = "/c"};
    flr_shell *shell = NULL;
    assert_ok(flr_cache_voxelize(env, &cache, flr_test_shape_mesh(&the_shape), &the_def, NULL,
                                 &shell, &report, &error),
              error);
    assert_true(report.found);
    assert_gt(shell->total, 100);
    flr_shell_destroy(shell);
    flr_sim_destroy(sim);
}

static void every_parameter_is_in_the_key(void **state)
{
    (void)state;
    flr_voxelize_def defs[16];
    size_t count = 0;
    for (size_t i = 0; i < 16; i++) defs[i] = the_def;
    count++;
    defs[count++].voxel = 0.0006;
    defs[count++].bits = 8;
    defs[count++].range = 3;
    defs[count++].features = false;
    defs[count++].hollow = true;
    defs[count++].on_surface = true;
    defs[count++].T_voxmap_mesh.p.x = 0.001;
    defs[count].bits = 2;
    defs[count++].range = 1;
    defs[count].bits = 2;
    defs[count].range = 1;
    defs[count++].offset = 2;
    const flr_mesh *mesh = flr_test_shape_mesh(&the_shape);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(
                flr_hash_equal(flr_cache_key(mesh, &defs[i]), flr_cache_key(mesh, &defs[k])));

    // what does not change the bytes is not
    flr_voxelize_def other = the_def;
    other.threads = 7;
    other.memory_limit = UINT64_C(1) << 40;
    assert_true(flr_hash_equal(flr_cache_key(mesh, &the_def), flr_cache_key(mesh, &other)));

    // another mesh is another key
    flr_test_shape cube = {0};
    flr_test_shape_box(&cube, flr_vec3_make(1, 1, 1), 1);
    assert_false(flr_hash_equal(flr_cache_key(mesh, &the_def),
                                flr_cache_key(flr_test_shape_mesh(&cube), &the_def)));
    flr_test_shape_free(&cube);
}

/* overwrites one byte, or replaces the file by `bytes` */
static void spoil(flr_env *env, const char *path, uint64_t at)
{
    flr_file *file;
    uint8_t byte;
    size_t got;
    assert_ok(flr_file_open(env, path, FLR_FILE_UPDATE, &file, &error), error);
    assert_ok(flr_file_read(file, at, &byte, 1, &got, &error), error);
    byte ^= 4;
    assert_ok(flr_file_write(file, at, &byte, 1, &error), error);
    flr_file_close(file);
}

static void broken_files_are_told_and_built_again(void **state)
{
    (void)state;
    flr_sim *sim;
    flr_env *env = make_disk(1, &sim);
    char path[300];
    flr_cache_entry entry;
    go(env, "/c", &the_def, true);
    assert_int_equal(count_files(env, "/c", &entry), 1);
    snprintf(path, sizeof path, "/c/%s", entry.name);
    const uint64_t places[] = {0, 12, 100, 4097, entry.size / 2, entry.size - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        spoil(env, path, places[i]);
        flr_cache_report report = go(env, "/c", &the_def, true);
        assert_false(report.found);
        assert_true(report.stored);
        assert_non_null(strstr(report.broken, path));
        assert_non_null(strstr(report.broken, "; it was built again"));
        assert_null(strstr(report.broken, "feeler voxelize"));
        assert_true(go(env, "/c", &the_def, true).found);
    }

    // the file of another part under this name
    flr_voxelize_def other = the_def;
    other.voxel = 0.0006;
    go(env, "/d", &other, true);
    assert_int_equal(count_files(env, "/d", &entry), 1);
    char from[300];
    snprintf(from, sizeof from, "/d/%s", entry.name);
    assert_ok(flr_path_rename(env, from, path, &error), error);
    flr_cache_report report = go(env, "/c", &the_def, true);
    assert_false(report.found);
    assert_non_null(strstr(report.broken, "something else"));
    assert_true(go(env, "/c", &the_def, true).found);
    flr_sim_destroy(sim);
}

static void no_fault_of_the_disk_hinders(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++)
        for (int there = 0; there < 2; there++) {
            bool through = false;
            for (uint64_t n = 1; !through; n++) {
                flr_sim *sim;
                flr_env *env = make_disk(n, &sim);
                if (there) go(env, "/c", &the_def, true);
                flr_sim_disk disk = {.fail_at = n,
                                     .fail_on = n % 2,
                                     .how = how ? FLR_SIM_DISK_FULL : FLR_SIM_IO_ERROR},
                             sound = {0};
                flr_sim_set_disk(env, &disk);
                flr_cache_report report = go(env, "/c", &the_def, true);
                through = flr_sim_get_stats(sim).failures == 0;
                /* or it hit the search for what others left, and nothing else */
                if (!through)
                    assert_true(report.broken[0] || report.not_stored[0] || report.stored);
                flr_sim_set_disk(env, &sound);
                go(env, "/c", &the_def, true);
                assert_true(go(env, "/c", &the_def, true).found);
                flr_sim_destroy(sim);
                assert_lt(n, 200);
            }
        }
}

static void bad_parameters_stay_bad(void **state)
{
    (void)state;
    flr_sim *sim;
    flr_env *env = make_disk(1, &sim);
    flr_cache cache = {.folder = "/c"};
    flr_voxmap *voxmap = NULL;
    flr_voxelize_def def = the_def;
    def.voxel = -1;
    assert_int_equal(flr_cache_voxelize(env, &cache, flr_test_shape_mesh(&the_shape), &def, &voxmap,
                                        NULL, NULL, &error),
                     FLR_BAD_ARGUMENT);
    assert_null(voxmap);
    assert_int_equal(count_files(env, "/c", NULL), 0);
    flr_sim_destroy(sim);
}

static void the_oldest_go_first(void **state)
{
    (void)state;
    flr_sim *sim;
    flr_env *env = make_disk(1, &sim);
    flr_voxelize_def def = the_def;
    for (int i = 0; i < 5; i++) {
        def.voxel = 0.0005 + 0.00001 * i;
        go(env, "/c", &def, false);
        flr_sim_advance(sim, FLR_SIM_S);
    }
    flr_cache_entry *entries;
    size_t count;
    assert_ok(flr_cache_list(env, "/c", &entries, &count, &error), error);
    assert_int_equal(count, 5);
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += entries[i].size;
        if (i) assert_gt(entries[i].modified_ns, entries[i - 1].modified_ns);
    }

    // others' files are left alone, however they are named
    const char *const names[] = {"/c/note.txt", "/c/0123.flrvox",
                                 "/c/0123456789abcdef0123456789abcdeX.flrvox"};
    for (int i = 0; i < 3; i++) touch(env, names[i]);
    uint64_t files, bytes;
    assert_ok(flr_cache_prune(env, "/c", total, &files, &bytes, &error), error);
    assert_int_equal(files, 0);
    assert_ok(flr_cache_prune(env, "/c", 0, &files, &bytes, &error), error); // no limit
    assert_int_equal(files, 0);
    assert_ok(flr_cache_prune(env, "/c", total - entries[0].size - 1, &files, &bytes, &error),
              error);
    assert_int_equal(files, 2);
    assert_int_equal(bytes, entries[0].size + entries[1].size);
    flr_cache_entry first;
    assert_int_equal(count_files(env, "/c", &first), 3);
    assert_string_equal(first.name, entries[2].name);
    flr_cache_list_free(entries);

    // a limit is kept by storing; the newest is the last to go
    flr_cache cache = {.folder = "/c", .limit = 1};
    flr_voxmap *voxmap;
    def.voxel = 0.001;
    assert_ok(flr_cache_voxelize(env, &cache, flr_test_shape_mesh(&the_shape), &def, &voxmap, NULL,
                                 NULL, &error),
              error);
    flr_voxmap_destroy(voxmap);
    assert_int_equal(count_files(env, "/c", NULL), 0);

    assert_ok(flr_cache_clear(env, "/c", &files, &bytes, &error), error);
    for (int i = 0; i < 3; i++) assert_true(is_there(env, names[i]));
    assert_ok(flr_cache_clear(env, "/nothing", &files, &bytes, &error), error);
    flr_sim_destroy(sim);
}

/* What a writer left that is gone goes with whoever stores next, and what one is writing stays. */
static void temporary_files_of_the_dead_go(void **state)
{
    (void)state;
    static const char left[] = "/c/.feeler-0000000000000001.tmp";
    flr_sim *sim;
    flr_env *env = make_disk(1, &sim);
    flr_output *output;
    assert_ok(flr_path_make_folder(env, "/c", &error), error);
    touch(env, left);
    assert_ok(flr_output_begin(env, "/c/live", &output, &error), error);
    go(env, "/c", &the_def, false);
    assert_false(is_there(env, left));
    assert_ok(flr_output_commit(output, &error), error);
    assert_true(is_there(env, "/c/live"));

    // without locks its age tells, by the clock of the disk; and the future is not old
    flr_sim_disk disk = {.no_locks = true};
    uint64_t files, bytes;
    flr_sim_set_disk(env, &disk);
    flr_sim_set_clock(env, 48 * 3600 * FLR_SIM_S);
    touch(env, left);
    flr_sim_advance(sim, 23 * 3600 * FLR_SIM_S);
    assert_ok(flr_cache_prune(env, "/c", 0, &files, &bytes, &error), error);
    assert_true(is_there(env, left));
    flr_sim_advance(sim, 2 * 3600 * FLR_SIM_S);
    assert_ok(flr_cache_prune(env, "/c", 0, &files, &bytes, &error), error);
    assert_false(is_there(env, left));
    assert_false(flr_path_is_old(env, "/c", INT64_MAX));
    assert_true(flr_path_is_old(env, "/c", INT64_MIN / 2));
    flr_sim_destroy(sim);
}

/* On the real machine: a link in place of an entry is replaced and what it points to stays; only the owner can read. */
static void links_are_replaced(void **state)
{
    (void)state;
    flr_env *env = flr_env_real();
    char *folder = flr_test_folder();
    char cache[512], entry[1024], victim[512], text[16] = "";
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    assert_int_equal(mkdir(cache, 0755), 0);
    assert_int_equal(chmod(cache, 0755), 0);
    FILE *file = fopen(victim, "w");
    assert_non_null(file);
    fputs("precious", file);
    fclose(file);
    char hash[FLR_HASH_TEXT_SIZE];
    flr_hash_print(flr_cache_key(flr_test_shape_mesh(&the_shape), &the_def), hash);
    snprintf(entry, sizeof entry, "%s/%s.flrvox", cache, hash);
    assert_int_equal(symlink(victim, entry), 0);
    flr_cache_report report = go(env, cache, &the_def, true);
    assert_true(report.stored);
    file = fopen(victim, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "precious");
    struct stat info;
    assert_int_equal(lstat(entry, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(lstat(cache, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_true(go(env, cache, &the_def, true).found);
    // nor is one followed that leads to sound voxels
    char sound[512];
    snprintf(sound, sizeof sound, "%s/sound", folder);
    assert_int_equal(rename(entry, sound), 0);
    assert_int_equal(symlink(sound, entry), 0);
    report = go(env, cache, &the_def, true);
    assert_false(report.found);
    assert_true(report.stored);
    assert_non_null(strstr(report.broken, "is a link, and none is followed here; it was built"));
    assert_int_equal(lstat(entry, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    // a folder that has something of the user's in it keeps its access rights
    assert_int_equal(chmod(cache, 0755), 0);
    snprintf(entry, sizeof entry, "%s/letter.txt", cache);
    file = fopen(entry, "w");
    assert_non_null(file);
    fclose(file);
    assert_ok(flr_cache_make_folder(env, cache, &error), error);
    assert_int_equal(lstat(cache, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0755);
    flr_test_folder_remove(folder);
}

static void the_folder_is_where_users_expect_it(void **state)
{
    (void)state;
    char folder[FLR_CACHE_PATH_SIZE];
    assert_ok(flr_cache_folder("mine", "/x", "/home/u", folder, &error), error);
    assert_string_equal(folder, "mine");
    assert_ok(flr_cache_folder("", "/x", "/home/u", folder, &error), error);
    assert_string_equal(folder, "/x/feeler");
    assert_ok(flr_cache_folder(NULL, "relative", "/home/u", folder, &error), error);
    assert_string_equal(folder, "/home/u/.cache/feeler");
    assert_int_equal(flr_cache_folder(NULL, "", NULL, folder, &error), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, "FEELER_CACHE"));
    assert_string_equal(folder, "/home/u/.cache/feeler");
    char *longest = calloc(1, 5000);
    memset(longest, 'x', 4999);
    assert_int_equal(flr_cache_folder(longest, NULL, NULL, folder, &error), FLR_BAD_ARGUMENT);
    flr_cache cache = {.folder = longest};
    flr_voxmap *voxmap;
    assert_int_equal(flr_cache_voxelize(flr_env_real(), &cache, flr_test_shape_mesh(&the_shape),
                                        &the_def, &voxmap, NULL, NULL, &error),
                     FLR_BAD_ARGUMENT);
    free(longest);
}

/* several processes build, spoil, prune and open in one folder; none ever gets anything but the right bytes */
static void processes_share_a_folder(void **state)
{
    (void)state;
    enum { processes = 3, rounds = 40 };
    char *folder = flr_test_folder();
    flr_env *env = flr_env_real();
    const flr_mesh *mesh = flr_test_shape_mesh(&the_shape);
    flr_voxmap *right;
    assert_ok(flr_voxelize(env, mesh, &the_def, &right, NULL, NULL, &error), error);
    fflush(NULL);
    pid_t children[processes];
    for (int p = 0; p < processes; p++) {
        children[p] = fork();
        assert_ge(children[p], 0);
        if (children[p]) continue;
        int wrong = 0;
        for (int i = 0; i < rounds; i++) {
            flr_cache cache = {.folder = folder, .limit = i % 7 == p ? 1 : 0};
            flr_cache_report report;
            flr_voxmap *voxmap;
            uint64_t files, bytes;
            if (flr_cache_voxelize(env, &cache, mesh, &the_def, &voxmap, NULL, &report, &error)) {
                wrong |= 1;
                continue;
            }
            if (report.broken[0]) wrong |= 2;
            if (i % 5 == p) flr_cache_clear(env, folder, &files, &bytes, &error);
            if (voxmap->header->size != right->header->size ||
                memcmp(voxmap->header, right->header, right->header->size) != 0)
                wrong |= 4;
            flr_voxmap_destroy(voxmap);
        }
        _exit(wrong);
    }
    for (int p = 0; p < processes; p++) {
        int status;
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    flr_voxmap_destroy(right);
    flr_test_folder_remove(folder);
}

static flr_result cached(void *context, flr_error *why)
{
    flr_cache cache = {.folder = context};
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_result result = flr_cache_voxelize(flr_env_real(), &cache, flr_test_shape_mesh(&the_shape),
                                           &the_def, &voxmap, &shell, NULL, why);
    if (result != FLR_OK) return result;
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    flr_cache_entry *entries;
    size_t count;
    result = flr_cache_list(flr_env_real(), context, &entries, &count, why);
    if (result == FLR_OK) flr_cache_list_free(entries);
    return result;
}

static void survives_without_memory(void **state)
{
    (void)state;
    char *folder = flr_test_folder();
    assert_int_equal(cached(folder, &error), FLR_OK);
    flr_fail_alloc_each(cached, folder);
    flr_test_folder_remove(folder);
}

/* stored when it suits, under the same name */
static void what_is_stored_later_is_found(void **state)
{
    (void)state;
    flr_sim *sim;
    flr_env *env = make_disk(1, &sim);
    flr_cache cache = {.folder = "/c", .later = true};
    const flr_mesh *mesh = flr_test_shape_mesh(&the_shape);
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_cache_report report;
    assert_ok(flr_cache_voxelize(env, &cache, mesh, &the_def, &voxmap, &shell, &report, &error),
              error);
    assert_false(report.found);
    assert_false(report.stored);
    assert_false(report.not_stored[0]);
    assert_int_equal(count_files(env, "/c", NULL), 0);
    assert_ok(flr_cache_store(env, &cache, mesh, &the_def, voxmap, shell, &error), error);
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    assert_true(go(env, "/c", &the_def, true).found);
    flr_sim_destroy(sim);
}

/* too large for the memory allowed: refused, or built straight into the file, and the same bytes */
static void what_is_too_large_is_streamed(void **state)
{
    (void)state;
    flr_sim *sim;
    flr_env *env = make_disk(1, &sim);
    const flr_mesh *mesh = flr_test_shape_mesh(&the_shape);
    char path[FLR_CACHE_PATH_SIZE];
    flr_cache small = {.folder = "/c"}, large = {.folder = "/d", .stream = true}, none = {0};
    flr_cache_report report;
    flr_blob a, b;
    flr_voxelize_def def = the_def;
    def.voxel /= 16; // what stays in memory is little, then
    flr_voxelize_needs needs;
    assert_ok(flr_voxelize_estimate(mesh, &def, &needs, &error), error);
    def.memory_limit = needs.memory - 1;
    assert_int_equal(flr_cache_file(env, &small, mesh, &def, true, path, NULL, &error),
                     FLR_TOO_LARGE);
    assert_int_equal(flr_cache_file(env, &none, mesh, &def, true, path, NULL, &error),
                     FLR_BAD_ARGUMENT);
    assert_ok(flr_cache_file(env, &large, mesh, &def, true, path, &report, &error), error);
    assert_true(report.stored);
    assert_true(report.streamed);
    assert_false(report.found);
    assert_ok(flr_file_read_all(env, path, 1 << 30, &a, &error), error);
    assert_ok(flr_cache_file(env, &large, mesh, &def, true, path, &report, &error), error);
    assert_true(report.found);
    assert_false(report.streamed);
    def.memory_limit = 0;
    assert_ok(flr_cache_file(env, &small, mesh, &def, true, path, &report, &error), error);
    assert_true(report.stored);
    assert_false(report.streamed);
    assert_ok(flr_file_read_all(env, path, 1 << 30, &b, &error), error);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    flr_blob_free(&a);
    flr_blob_free(&b);
    flr_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_once_then_found),
        cmocka_unit_test(a_shell_is_added_when_asked_for),
        cmocka_unit_test(what_is_stored_later_is_found),
        cmocka_unit_test(what_is_too_large_is_streamed),
        cmocka_unit_test(every_parameter_is_in_the_key),
        cmocka_unit_test(broken_files_are_told_and_built_again),
        cmocka_unit_test(no_fault_of_the_disk_hinders),
        cmocka_unit_test(bad_parameters_stay_bad),
        cmocka_unit_test(the_oldest_go_first),
        cmocka_unit_test(temporary_files_of_the_dead_go),
        cmocka_unit_test(links_are_replaced),
        cmocka_unit_test(the_folder_is_where_users_expect_it),
        cmocka_unit_test(processes_share_a_folder),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
