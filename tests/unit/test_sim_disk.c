/* the simulated disk, and what the whole-file functions make of its faults */
#include "support/test.h"

#include "feeler/sim.h"

static flr_error error;

typedef struct machine {
    flr_sim *sim;
    flr_env *env;
} machine;

static machine make_machine(uint64_t seed)
{
    flr_sim_def def = flr_default_sim_def();
    def.seed = seed;
    machine m = {flr_sim_create(&def), NULL};
    assert_non_null(m.sim);
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    m.env = flr_sim_node(m.sim, address);
    return m;
}

static flr_result write_file(flr_env *env, const char *path, const char *text, size_t copies)
{
    flr_output *output;
    flr_result result = flr_output_begin(env, path, &output, &error);
    for (size_t i = 0; !result && i < copies; i++) {
        result = flr_output_write(output, text, strlen(text), &error);
        if (result) {
            flr_output_abandon(output);
            return result;
        }
    }
    return result ? result : flr_output_commit(output, &error);
}

/* does the file hold exactly so many copies of a text? */
static bool file_is(flr_env *env, const char *path, const char *text, size_t copies)
{
    flr_blob blob;
    if (flr_file_read_all(env, path, 1 << 30, &blob, &error) != FLR_OK) return false;
    size_t length = strlen(text);
    bool same = blob.size == length * copies;
    for (size_t i = 0; same && i < copies; i++)
        same = memcmp(blob.bytes + i * length, text, length) == 0;
    flr_blob_free(&blob);
    return same;
}

static bool count_names(void *context, const char *name)
{
    (void)name;
    ++*(int *)context;
    return true;
}

static int count_in(flr_env *env, const char *folder)
{
    int count = 0;
    assert_ok(flr_path_list(env, folder, count_names, &count, &error), error);
    return count;
}

/* ---- a disk that works ---- */

static void behaves_like_a_disk(void **state)
{
    (void)state;
    machine m = make_machine(1);
    flr_env *env = m.env;
    flr_path_info info;
    assert_ok(flr_path_make_folder(env, "/data/x/y", &error), error);
    assert_ok(flr_path_look(env, "data//x/./y/", &info, &error), error);
    assert_int_equal(info.kind, FLR_PATH_FOLDER);
    assert_ok(write_file(env, "/data/x/../f", "abc", 2), error);
    assert_true(file_is(env, "data/f", "abc", 2));
    assert_ok(flr_path_look(env, "/data/f", &info, &error), error);
    assert_int_equal(info.kind, FLR_PATH_FILE);
    assert_int_equal(info.size, 6);
    assert_int_equal(count_in(env, "/data"), 2);
    assert_int_equal(count_in(env, "/"), 1);

    // the same refusals as the real one, in the same words
    flr_file *file = NULL;
    assert_int_equal(flr_file_open(env, "/data", FLR_FILE_READ, &file, &error), FLR_BAD_INPUT);
    assert_string_equal(error.message, "/data: is a folder, not a file");
    assert_int_equal(flr_file_open(env, "/no", FLR_FILE_READ, &file, &error), FLR_NOT_FOUND);
    assert_int_equal(flr_file_open(env, "/data/f/g", FLR_FILE_READ, &file, &error), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, "is a file, not a folder"));
    assert_int_equal(flr_file_open(env, "/data/f", FLR_FILE_CREATE, &file, &error), FLR_DENIED);
    assert_int_equal(write_file(env, "/no/f", "x", 1), FLR_NOT_FOUND);
    assert_non_null(strstr(error.message, "make it first"));
    assert_int_equal(write_file(env, "/data", "x", 1), FLR_BAD_INPUT);
    assert_int_equal(flr_path_make_folder(env, "/data/f", &error), FLR_DENIED);
    assert_int_equal(flr_path_remove(env, "/data/x", &error), FLR_DENIED);
    assert_int_equal(flr_path_list(env, "/data/f", count_names, NULL, &error), FLR_BAD_INPUT);
    assert_int_equal(flr_path_rename(env, "/data/q", "/r", &error), FLR_NOT_FOUND);

    // reading, updating, holes; a removed file lives while it is open
    assert_ok(flr_file_open(env, "/data/f", FLR_FILE_UPDATE, &file, &error), error);
    assert_ok(flr_file_write(file, 8, "z", 1, &error), error);
    char bytes[20];
    size_t got;
    assert_ok(flr_path_remove(env, "/data/f", &error), error);
    assert_ok(flr_file_read(file, 0, bytes, 20, &got, &error), error);
    assert_int_equal(got, 9);
    assert_memory_equal(bytes, "abcabc\0\0z", 9);
    assert_ok(flr_file_read(file, 100, bytes, 20, &got, &error), error);
    assert_int_equal(got, 0);
    // a map is one operation that may fail, and lives on
    flr_map map = {0};
    flr_sim_disk broken = {.fail_at = 1, .how = FLR_SIM_IO_ERROR}, sound = {0};
    flr_sim_set_disk(env, &broken);
    assert_int_equal(flr_file_map(file, 100, &map, &error), FLR_IO);
    assert_null(map.bytes);
    flr_sim_set_disk(env, &sound);
    assert_ok(flr_file_map(file, 100, &map, &error), error);
    flr_file_close(file);
    assert_int_equal(map.size, 9);
    assert_memory_equal(map.bytes, "abcabc\0\0z", 9);
    flr_file_unmap(&map);
    assert_ok(flr_path_remove(env, "/data/x/y", &error), error);
    assert_int_equal(count_in(env, "/data/x"), 0);
    flr_sim_destroy(m.sim);
}

static void disks_take_time(void **state)
{
    (void)state;
    machine m = make_machine(1);
    flr_sim_disk disk = {.operation_ns = 5 * FLR_SIM_MS, .bytes_per_second = 1e6};
    flr_sim_set_disk(m.env, &disk);
    assert_ok(write_file(m.env, "/f", "0123456789", 100000), error); // one second of bytes
    flr_sim_stats stats = flr_sim_get_stats(m.sim);
    int64_t expected = FLR_SIM_S + (int64_t)stats.operations * 5 * FLR_SIM_MS;
    assert_in_range(flr_sim_now(m.sim), expected - FLR_SIM_MS, expected + FLR_SIM_MS);
    flr_sim_destroy(m.sim);
}

static void short_reads_lose_nothing(void **state)
{
    (void)state;
    machine m = make_machine(3);
    assert_ok(write_file(m.env, "/f", "0123456789abc", 5000), error);
    flr_sim_disk disk = {.short_read = 0.9};
    flr_sim_set_disk(m.env, &disk);
    assert_true(file_is(m.env, "/f", "0123456789abc", 5000));
    assert_gt(flr_sim_get_stats(m.sim).short_reads, 5);
    flr_sim_destroy(m.sim);
}

/* ---- a disk that does not ---- */

/* fails the 1st, 2nd, 3rd… operation of writing a file: the old one or the new one stands, whole,
 * and nothing else is left */
static void no_failing_operation_leaves_half_a_file(void **state)
{
    (void)state;
    static const flr_sim_failure hows[] = {FLR_SIM_IO_ERROR, FLR_SIM_DISK_FULL};
    for (int existing = 0; existing < 2; existing++)
        for (int how = 0; how < 2; how++) {
            uint64_t n = 1;
            for (;; n++) {
                machine m = make_machine(n);
                if (existing) assert_ok(write_file(m.env, "/f", "old", 1000), error);
                flr_sim_disk disk = {.fail_at = n, .how = hows[how]};
                uint64_t before = flr_sim_get_stats(m.sim).failures;
                flr_sim_set_disk(m.env, &disk);
                flr_result result = write_file(m.env, "/f", "new!", 50000);
                bool failed = flr_sim_get_stats(m.sim).failures > before;
                disk = (flr_sim_disk){0};
                flr_sim_set_disk(m.env, &disk);
                bool is_new = file_is(m.env, "/f", "new!", 50000);
                bool is_old = existing ? file_is(m.env, "/f", "old", 1000) : !is_new;
                assert_true(is_new || is_old);
                if (result == FLR_OK) assert_true(is_new);
                assert_int_equal(count_in(m.env, "/"), existing || is_new ? 1 : 0);
                if (failed) {
                    assert_int_equal(result, FLR_IO);
                    // only the last step, the sync of the folder, may fail behind a new file
                    if (!is_new) assert_non_null(strstr(error.message, "/f"));
                }
                flr_sim_destroy(m.sim);
                if (!failed) break;
            }
            assert_gt(n, 7);
        }
}

/* a disk that stays broken: a temporary file may be left, the target is whole */
static void a_disk_that_stays_broken(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 20; n++) {
        machine m = make_machine(n);
        assert_ok(write_file(m.env, "/f", "old", 10), error);
        flr_sim_disk disk = {.fail_at = n, .fail_on = true};
        flr_sim_set_disk(m.env, &disk);
        (void)write_file(m.env, "/f", "new!", 50000);
        disk = (flr_sim_disk){0};
        flr_sim_set_disk(m.env, &disk);
        assert_true(file_is(m.env, "/f", "old", 10) || file_is(m.env, "/f", "new!", 50000));
        flr_sim_destroy(m.sim);
    }
}

static void random_failures(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random_failures");
    machine m = make_machine(flr_test_random_u64(&random));
    assert_ok(write_file(m.env, "/f", "0", 1), error);
    flr_sim_disk faulty = {.failure = 0.1, .short_read = 0.3}, good = {0};
    int succeeded = 0;
    for (int round = 0; round < 300; round++) {
        flr_sim_set_disk(m.env, &faulty);
        const char text[] = {(char)('a' + round % 26), 0};
        flr_result result = write_file(m.env, "/f", text, 100 + (size_t)round);
        flr_sim_set_disk(m.env, &good);
        if (result == FLR_OK) {
            assert_true(file_is(m.env, "/f", text, 100 + (size_t)round));
            succeeded++;
        }
    }
    assert_in_range(succeeded, 60, 240); // 0.9 to the power of the operations of one writing
    flr_sim_destroy(m.sim);
}

static void full_disk(void **state)
{
    (void)state;
    machine m = make_machine(1);
    flr_sim_disk disk = {.capacity = 100000};
    flr_sim_set_disk(m.env, &disk);
    assert_ok(write_file(m.env, "/f", "x", 60000), error);
    assert_int_equal(write_file(m.env, "/g", "x", 60000), FLR_IO);
    assert_string_equal(error.message,
                        "/g: cannot write: the disk is full; make room and try again");
    assert_int_equal(count_in(m.env, "/"), 1);
    uint64_t room;
    assert_ok(flr_path_room(m.env, "/g", &room, &error), error);
    assert_int_equal(room, 40000);
    assert_ok(write_file(m.env, "/g", "x", 40000), error);
    assert_ok(flr_path_room(m.env, "/g", &room, &error), error);
    assert_int_equal(room, 0);
    flr_sim_destroy(m.sim);
}

/* ---- crashes ---- */

/* written without sync: over many seeds all of old, new and torn are met; with sync only new */
static void unsynced_data_may_be_lost(void **state)
{
    (void)state;
    for (int synced = 0; synced < 2; synced++) {
        int old = 0, fresh = 0, other = 0;
        for (uint64_t seed = 0; seed < 60; seed++) {
            machine m = make_machine(seed);
            assert_ok(write_file(m.env, "/f", "old", 1000), error);
            flr_file *file;
            assert_ok(flr_file_open(m.env, "/f", FLR_FILE_UPDATE, &file, &error), error);
            for (uint64_t i = 0; i < 1000; i++)
                assert_ok(flr_file_write(file, 4 * i, "new!", 4, &error), error);
            if (synced) assert_ok(flr_file_sync(file, &error), error);
            flr_sim_crash(m.env);
            assert_int_equal(flr_file_sync(file, &error), FLR_IO);
            assert_int_equal(write_file(m.env, "/f", "x", 1), FLR_IO); // it is down
            flr_sim_restart(m.env);
            assert_int_equal(flr_file_sync(file, &error), FLR_IO); // from before the crash
            flr_file_close(file);
            bool is_old = file_is(m.env, "/f", "old", 1000);
            bool is_new = file_is(m.env, "/f", "new!", 1000);
            old += is_old, fresh += is_new, other += !is_old && !is_new;
            flr_sim_destroy(m.sim);
        }
        if (synced) assert_int_equal(fresh, 60);
        if (!synced) assert_true(old > 5 && fresh > 5 && other > 5);
    }
}

/* new names in a folder that was not synced are there or not */
static void unsynced_names_may_be_lost(void **state)
{
    (void)state;
    int there = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        machine m = make_machine(seed);
        assert_ok(flr_path_make_folder(m.env, "/d", &error), error);
        flr_file *file;
        assert_ok(flr_file_open(m.env, "/d/f", FLR_FILE_CREATE, &file, &error), error);
        assert_ok(flr_file_write(file, 0, "x", 1, &error), error);
        assert_ok(flr_file_sync(file, &error), error);
        flr_file_close(file);
        flr_sim_crash(m.env);
        flr_sim_restart(m.env);
        bool is_there = count_in(m.env, "/d") == 1;
        if (is_there) assert_true(file_is(m.env, "/d/f", "x", 1));
        there += is_there;
        // what was found after a crash is on the disk, and stays
        flr_sim_crash(m.env);
        flr_sim_restart(m.env);
        assert_int_equal(count_in(m.env, "/d"), is_there);
        flr_sim_destroy(m.sim);
    }
    assert_in_range(there, 10, 50);
}

/* a crash at the 1st, 2nd, 3rd… operation, over several seeds: the file is the old one or the new
 * one, whole; once commit has said yes it is the new one */
static void output_survives_a_crash_anywhere(void **state)
{
    (void)state;
    bool finished = false;
    for (uint64_t n = 1; !finished; n++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            machine m = make_machine(seed);
            assert_ok(write_file(m.env, "/f", "old", 1000), error);
            flr_sim_disk disk = {.fail_at = n, .how = FLR_SIM_CRASH};
            flr_sim_set_disk(m.env, &disk);
            flr_result result = write_file(m.env, "/f", "new!", 50000);
            finished = flr_sim_is_up(m.env);
            if (finished) assert_int_equal(result, FLR_OK);
            disk = (flr_sim_disk){0};
            flr_sim_set_disk(m.env, &disk);
            flr_sim_crash(m.env);
            flr_sim_restart(m.env);
            bool is_new = file_is(m.env, "/f", "new!", 50000);
            assert_true(is_new || file_is(m.env, "/f", "old", 1000));
            if (result == FLR_OK) assert_true(is_new);
            flr_sim_destroy(m.sim);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaves_like_a_disk),
        cmocka_unit_test(disks_take_time),
        cmocka_unit_test(short_reads_lose_nothing),
        cmocka_unit_test(no_failing_operation_leaves_half_a_file),
        cmocka_unit_test(a_disk_that_stays_broken),
        cmocka_unit_test(random_failures),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(unsynced_data_may_be_lost),
        cmocka_unit_test(unsynced_names_may_be_lost),
        cmocka_unit_test(output_survives_a_crash_anywhere),
    };
    return cmocka_run_group_tests_name("sim_disk", tests, NULL, NULL);
}
