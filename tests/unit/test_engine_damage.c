/* files of the cache that are damaged, before they are loaded or afterwards: what is felt is always as with sound ones */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feeler/voxel_file.h"
#include "support/fixtures.h"

enum { FRAMES = 400 };

/* an engine without threads on the real disk */
typedef struct bench {
    flr_env *env;
    flr_engine *engine;
    flr_cache cache;
    flr_part_id block;
    char said[FLR_ERROR_MESSAGE_SIZE]; /* the last warning; "" */
} bench;

static flr_error error;

static void settle(bench *b)
{
    flr_engine_event event;
    for (int i = 0; i < 40; i++) {
        flr_engine_service(b->engine);
        flr_engine_run(b->engine, 1);
        while (flr_engine_next(b->engine, &event))
            if (event.kind == FLR_ENGINE_EVENT_NEWS && event.news == FLR_WIRE_EVENT_WARNING)
                memcpy(b->said, event.sentence, sizeof b->said);
    }
    assert_int_equal(flr_engine_jobs(b->engine), 0);
}

/* a plate, and a block above it in the hand */
static void begin(bench *b, const char *folder, double voxel)
{
    *b = (bench){.env = flr_env_real(), .cache = {.folder = folder}};
    flr_engine_def def = flr_threadless_engine_def(b->env);
    def.hands = 1;
    def.cache = &b->cache;
    def.paced = false;
    assert_ok(flr_engine_create(&def, &b->engine, &error), error);
    flr_test_engine_add(b->engine, "plate", flr_vec3_make(0.16, 0.08, 0.02),
                        flr_vec3_make(0, 0, -0.01), FLR_PART_STATIC, voxel);
    b->block = flr_test_engine_add(b->engine, "block", flr_vec3_make(0.02, 0.02, 0.02),
                                   flr_vec3_make(0, 0, 0.012), FLR_PART_MOVABLE, 0.002);
    settle(b);
    assert_ok(flr_engine_grab(b->engine, flr_hand(0), b->block, &error), error);
}

/* presses the block on the plate; how high it is then, metres */
static double press(bench *b)
{
    for (int i = 0; i < FRAMES; i++) {
        flr_vec3 at = flr_vec3_make(0, 0, -0.01 * i / FRAMES);
        flr_engine_hand_input(b->engine, flr_hand(0), flr_pose_make(at, flr_quat_identity()), 0,
                              NULL);
        flr_engine_run(b->engine, 1);
    }
    flr_engine_service(b->engine);
    const flr_engine_state *now = flr_engine_view(b->engine);
    assert_gt(now->contact_count, 0);
    double height = NAN;
    for (uint32_t i = 0; i < now->part_count; i++)
        if (flr_same_part(now->parts[i].part, b->block)) height = now->parts[i].T_world_part.p.z;
    flr_engine_destroy(b->engine);
    b->engine = NULL;
    return height;
}

/* the clock of the machine has some influence on the hand; without voxels it would be 10 mm lower */
static void assert_same(double height, double sound)
{
    if (!(fabs(height - sound) < 5e-4)) fail_msg("%g m, not %g", height, sound);
}

typedef enum damage { CUT_OFF, ZEROED } damage;

/* Damages each file in place, from a quarter of it on. Returns the size of the largest. */
static uint64_t damage_all(const char *folder, damage how)
{
    flr_cache_entry *entries;
    size_t count;
    uint64_t largest = 0;
    assert_ok(flr_cache_list(flr_env_real(), folder, &entries, &count, &error), error);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i].name);
        off_t size = (off_t)entries[i].size;
        int fd = open(path, O_RDWR);
        assert_ge(fd, 0);
        assert_int_equal(ftruncate(fd, how == CUT_OFF ? 0 : size / 4), 0);
        if (how == ZEROED) assert_int_equal(ftruncate(fd, size), 0);
        close(fd);
        if (entries[i].size > largest) largest = entries[i].size;
    }
    flr_cache_list_free(entries);
    return largest;
}

/* Whatever happens to a file that was loaded. */
static void voxels_outlive_their_file(void **state)
{
    (void)state;
    char *folder = flr_test_folder();
    bench b;
    begin(&b, folder, 0.002);
    double sound = press(&b);
    for (int how = CUT_OFF; how <= ZEROED; how++) {
        begin(&b, folder, 0.002);
        damage_all(folder, (damage)how);
        assert_same(press(&b), sound);
        /* the next one sees it, says so and builds it again */
        begin(&b, folder, 0.002);
        assert_non_null(strstr(b.said, "it was built again"));
        assert_same(press(&b), sound);
        begin(&b, folder, 0.002);
        assert_string_equal(b.said, "");
        assert_same(press(&b), sound);
    }
    flr_test_folder_remove(folder);
}

/* A file of more than 64 MiB is verified like any other. */
static void large_files_are_verified(void **state)
{
    (void)state;
    char *folder = flr_test_folder();
    bench b;
    begin(&b, folder, 0.00008);
    double sound = press(&b);
    assert_gt(damage_all(folder, ZEROED), 64 << 20);
    begin(&b, folder, 0.00008);
    assert_non_null(strstr(b.said, "damaged"));
    assert_non_null(strstr(b.said, "it was built again"));
    assert_same(press(&b), sound);
    begin(&b, folder, 0.00008);
    assert_string_equal(b.said, "");
    assert_same(press(&b), sound);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(voxels_outlive_their_file),
        cmocka_unit_test(large_files_are_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
