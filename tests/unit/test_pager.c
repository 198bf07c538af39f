/* voxels read as parts come near: the same bits as with all of them in memory, or no step at all */
#include "feeler/pager.h"

#include <math.h>
#include <sys/resource.h>

#include "feeler/sim.h"
#include "feeler/voxel_file.h"
#include "feeler/world.h"
#include "support/fixtures.h"
#include "support/quiet.h"

static flr_error error;
static flr_test_part plate, tool; /* 480 x 400 x 240 mm, and what slides over it */
static flr_contact_table *whole, *tool_table;

static int set_up(void **state)
{
    (void)state;
    flr_test_part_make(&plate, FLR_TEST_BOX, 20, 0.001, true);
    flr_test_part_make(&tool, FLR_TEST_TORUS, 0.5, 0.001, true);
    assert_ok(flr_contact_table_create(plate.voxmap, &whole, &error), error);
    assert_ok(flr_contact_table_create(tool.voxmap, &tool_table, &error), error);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_contact_table_destroy(whole);
    flr_contact_table_destroy(tool_table);
    flr_test_part_free(&plate);
    flr_test_part_free(&tool);
    return 0;
}

static flr_world *make_world_with(const flr_contact_table *table, bool awareness)
{
    flr_world_part parts[2] = {flr_default_world_part(), flr_default_world_part()};
    parts[0].shape = flr_pairs_shape_make(NULL, table);
    parts[1].shape = flr_pairs_shape_make(tool.shell, tool_table);
    parts[1].kind = FLR_PART_MOVABLE;
    assert_ok(
        flr_body_def_from_mesh(flr_test_shape_mesh(&tool.shape), 8000, &parts[1].body, &error),
        error);
    parts[1].body.T_world_part.p = flr_vec3_make(-0.19, -0.15, 0.128);
    flr_world_def def = flr_default_world_def();
    def.parts = parts, def.part_count = 2;
    def.params.contact.awareness = awareness;
    flr_world *world;
    assert_ok(flr_world_create(&def, &world, &error), error);
    assert_true(flr_world_grab(world, 0, 1));
    return world;
}

static flr_world *make_world(const flr_contact_table *table)
{
    return make_world_with(table, false);
}

/* over the plate from end to end, pressed down, and back beside it */
static flr_world_input input_at(int i, int frames)
{
    double t = (double)i / frames, way = t < 0.5 ? 2 * t : 2 - 2 * t;
    flr_world_input in = {.T_world_hand = flr_pose_identity(), .fresh = true};
    in.T_world_hand.p = flr_vec3_make(0.36 * way, 0.28 * t, -0.012 * sin(12 * t));
    return in;
}

typedef struct disk {
    flr_sim *sim;
    flr_env *env;
} disk;

static disk make_disk(void)
{
    flr_sim_def def = flr_default_sim_def();
    disk d = {.sim = flr_sim_create(&def)};
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    d.env = flr_sim_node(d.sim, address);
    assert_ok(flr_voxfile_write(d.env, "/plate.flrvox", plate.voxmap, plate.shell, &error), error);
    return d;
}

static flr_pager *open_pager(flr_env *env, uint64_t budget)
{
    flr_pager_def def = flr_default_pager_def();
    def.env = env, def.path = "/plate.flrvox", def.budget = budget, def.margin = 0.002;
    flr_pager *pager;
    assert_ok(flr_pager_open(&def, &pager, &error), error);
    return pager;
}

enum { FRAMES = 1500 };

static flr_hash play_whole(bool awareness, uint32_t *touching)
{
    flr_world *world = make_world_with(whole, awareness);
    flr_world_frame frame = {0};
    *touching = 0;
    for (int i = 0; i < FRAMES; i++) {
        flr_world_input in = input_at(i, FRAMES);
        flr_world_step(world, &in, &frame);
        *touching += frame.contacts > 0;
    }
    flr_world_destroy(world);
    return frame.hash;
}

/* Each frame is tried until it happens; returns the last hash. */
static flr_hash play_paged(flr_pager *pager, bool awareness)
{
    flr_world *world = make_world_with(flr_pager_table(pager), awareness);
    flr_world_frame frame = {0};
    for (int i = 0; i < FRAMES; i++) {
        flr_world_input in = input_at(i, FRAMES);
        for (int attempt = 0;; attempt++) {
            flr_world_step(world, &in, &frame);
            if (!frame.missing) break;
            flr_wrench felt = flr_world_wrench(world, 0);
            assert_eq(flr_vec3_length(felt.force), 0);
            assert_eq(flr_vec3_length(felt.torque), 0);
            assert_lt(attempt, 50);
            flr_pager_service(pager, 0);
        }
        if (i % 3 == 0) flr_pager_service(pager, 2);
    }
    flr_world_destroy(world);
    return frame.hash;
}

/* with a budget that is less than half of what there is, blocks come and go */
static void the_same_bits_as_with_all_in_memory(void **state)
{
    (void)state;
    flr_hash hashes[2];
    for (int awareness = 0; awareness < 2; awareness++) {
        uint32_t touching;
        flr_hash expected = play_whole(awareness, &touching);
        assert_gt(touching, FRAMES / 10);
        disk d = make_disk();
        flr_pager_def def = flr_default_pager_def();
        def.env = d.env, def.path = "/plate.flrvox", def.margin = 0.002;
        def.budget = awareness ? 6 << 20 : 4 << 20;
        def.features = awareness;
        flr_pager *pager;
        assert_ok(flr_pager_open(&def, &pager, &error), error);
        hashes[awareness] = play_paged(pager, awareness);
        assert_true(flr_hash_equal(hashes[awareness], expected));
        flr_pager_stats stats = flr_pager_get_stats(pager);
        assert_gt(2 * stats.blocks, 3 * (uint64_t)stats.slots);
        assert_gt(stats.evicted, 0);
        assert_le(stats.resident, stats.slots);
        assert_gt(stats.suspended, 0);
        assert_lt(stats.suspended, stats.steps / 10);
        assert_int_equal(stats.failures, 0);
        /* both numbers of memory are all of it */
        assert_int_equal(stats.bytes, stats.directory + (uint64_t)stats.slots * FLR_PAGER_BLOCK);
        assert_gt(stats.directory, 100000);
        flr_pager_close(pager);
        flr_sim_destroy(d.sim);
    }
    /* and it makes a difference */
    assert_false(flr_hash_equal(hashes[0], hashes[1]));
}

/* frames of a millisecond of virtual time: whoever reads takes its time, and nothing moves meanwhile */
static void a_slow_disk_suspends(void **state)
{
    (void)state;
    disk d = make_disk();
    flr_pager *pager = open_pager(d.env, 8 << 20);
    flr_world *world = make_world(flr_pager_table(pager));
    flr_sim_set_disk(d.env, &(flr_sim_disk){.operation_ns = 100 * FLR_SIM_MS, .short_read = 0.5});
    flr_world_input in = input_at(0, FRAMES);
    flr_world_frame frame;
    flr_pose before = flr_world_body(world, 1)->T_world_part;
    flr_world_step(world, &in, &frame);
    assert_true(frame.missing);
    int64_t begin = flr_sim_now(d.sim);
    uint32_t read = flr_pager_service(pager, 3);
    assert_int_equal(read, 3);
    /* three at once, each once or more often */
    assert_ge(flr_sim_now(d.sim) - begin, 100 * FLR_SIM_MS);
    flr_world_step(world, &in, &frame);
    assert_memory_equal(&before, &flr_world_body(world, 1)->T_world_part, sizeof before);
    while (flr_pager_service(pager, 0)) {}
    flr_world_step(world, &in, &frame);
    assert_false(frame.missing);
    assert_int_equal(frame.number, 0);
    flr_world_destroy(world);
    flr_pager_close(pager);
    flr_sim_destroy(d.sim);
}

/* what fails is tried again, less and less often; when the disk is well again, things go on as if nothing had been */
static void a_broken_disk_heals(void **state)
{
    (void)state;
    disk d = make_disk();
    flr_pager *pager = open_pager(d.env, 8 << 20);
    flr_world *world = make_world(flr_pager_table(pager));
    flr_sim_set_disk(d.env, &(flr_sim_disk){.fail_at = 1, .fail_on = true});
    flr_world_input in = input_at(0, FRAMES);
    flr_world_frame frame;
    for (int i = 0; i < 200; i++) {
        flr_world_step(world, &in, &frame);
        assert_true(frame.missing);
        assert_int_equal(flr_pager_service(pager, 0), 0);
        flr_sim_advance(d.sim, FLR_SIM_MS);
    }
    assert_ne(flr_pager_trouble(pager, &error), FLR_OK);
    flr_pager_stats stats = flr_pager_get_stats(pager);
    assert_ge(stats.failures, 4);
    assert_le(stats.failures, 10 + 16);
    flr_sim_set_disk(d.env, &(flr_sim_disk){0});
    flr_sim_advance(d.sim, FLR_SIM_S);
    while (flr_pager_service(pager, 0)) {}
    assert_int_equal(flr_pager_trouble(pager, NULL), FLR_OK);
    flr_world_step(world, &in, &frame);
    assert_false(frame.missing);
    flr_world_destroy(world);
    flr_pager_close(pager);
    flr_sim_destroy(d.sim);
}

/* a bit that changes after the file was opened: never a wrong force, and a sentence that says where */
static void a_flipped_bit_is_never_felt(void **state)
{
    (void)state;
    disk d = make_disk();
    flr_pager *pager = open_pager(d.env, 8 << 20);
    flr_world *world = make_world(flr_pager_table(pager));
    flr_file *file;
    uint64_t size;
    assert_ok(flr_file_open(d.env, "/plate.flrvox", FLR_FILE_UPDATE, &file, &error), error);
    assert_ok(flr_file_size(file, &size, &error), error);
    /* in every block behind the directory */
    for (uint64_t at = size / 4; at < size; at += 65536) {
        uint8_t byte;
        size_t got;
        assert_ok(flr_file_read(file, at, &byte, 1, &got, &error), error);
        byte ^= 4;
        assert_ok(flr_file_write(file, at, &byte, 1, &error), error);
    }
    flr_file_close(file);
    flr_world_frame frame;
    for (int i = 0; i < 60; i++) {
        flr_world_input in = input_at(400, FRAMES);
        flr_world_step(world, &in, &frame);
        flr_pager_service(pager, 0);
        flr_sim_advance(d.sim, 100 * FLR_SIM_MS);
    }
    assert_true(frame.missing);
    assert_int_equal(flr_pager_trouble(pager, &error), FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "/plate.flrvox: damaged: the checksum at byte "));
    flr_world_destroy(world);
    flr_pager_close(pager);
    flr_sim_destroy(d.sim);
}

static void damaged_directories_are_refused(void **state)
{
    (void)state;
    disk d = make_disk();
    flr_pager_def def = flr_default_pager_def();
    flr_pager *pager;
    def.env = d.env, def.path = "/none.flrvox";
    assert_int_equal(flr_pager_open(&def, &pager, &error), FLR_NOT_FOUND);
    def.path = "/plate.flrvox", def.budget = 100;
    assert_int_equal(flr_pager_open(&def, &pager, &error), FLR_BAD_ARGUMENT);
    def.budget = 1 << 20;
    flr_blob blob;
    assert_ok(flr_file_read_all(d.env, "/plate.flrvox", 1 << 30, &blob, &error), error);
    flr_test_random random = flr_test_random_begin("pager");
    const size_t places[] = {9, 60, 4096 + 40, 16384, 70000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        flr_file *file;
        uint8_t byte = (uint8_t)(blob.bytes[places[i]] ^ (1u << flr_test_random_below(&random, 8)));
        assert_ok(flr_file_open(d.env, "/plate.flrvox", FLR_FILE_UPDATE, &file, &error), error);
        assert_ok(flr_file_write(file, places[i], &byte, 1, &error), error);
        assert_ne(flr_pager_open(&def, &pager, &error), FLR_OK);
        assert_ok(flr_file_write(file, places[i], &blob.bytes[places[i]], 1, &error), error);
        flr_file_close(file);
    }
    flr_blob_free(&blob);
    flr_sim_destroy(d.sim);
}

typedef struct subject {
    flr_world *world;
} subject;

static uint64_t step_some(void *context)
{
    subject *s = context;
    uint64_t happened = 0;
    flr_world_frame frame;
    for (int i = 0; i < 100; i++) {
        flr_world_input in = input_at(i, 100000);
        flr_world_step(s->world, &in, &frame);
        happened += !frame.missing;
    }
    return happened;
}

static void a_step_is_quiet(void **state)
{
    (void)state;
    disk d = make_disk();
    flr_pager *pager = open_pager(d.env, 8 << 20);
    subject s = {make_world(flr_pager_table(pager))};
    step_some(&s);
    while (flr_pager_service(pager, 0)) {}
    flr_test_quiet(step_some, &s, NULL);
    flr_world_destroy(s.world);
    flr_pager_close(pager);
    flr_sim_destroy(d.sim);
}

static long faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_minflt + usage.ru_majflt;
}

static void step_until_there(flr_world *world, const flr_world_input *in, flr_world_frame *frame,
                             int64_t end)
{
    flr_env *env = flr_env_real();
    do {
        flr_world_step(world, in, frame);
        if (frame->missing) flr_sleep_until(env, flr_clock_ns(env) + 200000);
    } while (frame->missing && flr_clock_ns(env) < end);
}

/* its own thread, a real disk: the same bits again, also without io_uring */
static void read_ahead(uint32_t depth)
{
    uint32_t touching;
    flr_hash expected = play_whole(false, &touching);
    char *folder = flr_test_folder(), path[600];
    snprintf(path, sizeof path, "%s/plate.flrvox", folder);
    assert_ok(flr_voxfile_write(flr_env_real(), path, plate.voxmap, NULL, &error), error);
    flr_pager_def def = flr_default_pager_def();
    def.env = flr_env_real(), def.path = path, def.budget = 4 << 20, def.margin = 0.002;
    def.depth = depth;
    flr_pager *pager;
    assert_ok(flr_pager_open(&def, &pager, &error), error);
    flr_world *world = make_world(flr_pager_table(pager));
    assert_ok(flr_pager_start(pager, &error), error);
    flr_world_frame frame = {0};
    int64_t end = flr_clock_ns(def.env) + INT64_C(600000000000);
    for (int i = 0; i < FRAMES; i++) {
        flr_world_input in = input_at(i, FRAMES);
        step_until_there(world, &in, &frame, end);
    }
    assert_true(flr_hash_equal(frame.hash, expected));
    /* once more, when everything was touched: blocks come and go, and the thread that steps does not fault. A system short of
     * memory may move pages about: the best of some rounds counts. On a busy machine the thread that reads ahead gets the
     * processor late: later rounds leave it time, until it has read what does not fit beside the rest */
    long least = 1;
    const uint64_t evicted = flr_pager_get_stats(pager).evicted;
    bool come_and_go = false;
    for (int round = 0; (round < 5 && least > 0) || (!come_and_go && flr_clock_ns(def.env) < end);
         round++) {
        long before = faults();
        for (int i = 0; i < FRAMES; i++) {
            flr_world_input in = input_at(i, FRAMES);
            step_until_there(world, &in, &frame, end);
            if (round > 0 && i % 16 == 0) flr_sleep_until(def.env, flr_clock_ns(def.env) + 300000);
        }
        long now = faults() - before;
        if (round == 0 || now < least) least = now;
        come_and_go = flr_pager_get_stats(pager).evicted > evicted;
    }
    assert_false(frame.missing);
    assert_true(come_and_go);
#ifndef FLR_SANITIZED /* sanitizers keep books in memory of their own */
    assert_int_equal(least, 0);
#endif
    flr_world_destroy(world);
    flr_pager_close(pager);
    flr_test_folder_remove(folder);
}

static void a_thread_reads_ahead(void **state)
{
    (void)state;
    read_ahead(16);
    read_ahead(1);
}

/* far too little for the horizon, but enough for a step: what is needed now counts more than what may be needed soon */
static void little_memory_is_for_what_is_near(void **state)
{
    (void)state;
    disk d = make_disk();
    flr_pager_def def = flr_default_pager_def();
    def.env = d.env, def.path = "/plate.flrvox", def.budget = 2 << 20, def.margin = 0.5;
    flr_pager *pager;
    assert_ok(flr_pager_open(&def, &pager, &error), error);
    flr_world *world = make_world(flr_pager_table(pager));
    flr_world_frame frame = {.missing = true};
    for (int i = 0; i < 300; i++) {
        flr_world_input in = input_at(i, FRAMES);
        flr_world_step(world, &in, &frame);
        for (int attempt = 0; frame.missing && attempt < 5; attempt++) {
            flr_pager_service(pager, 0);
            flr_world_step(world, &in, &frame);
        }
        assert_false(frame.missing);
    }
    flr_pager_stats stats = flr_pager_get_stats(pager);
    assert_gt(stats.refused, 0);
    assert_eq(stats.resident, stats.slots);
    assert_gt(stats.needed, 0);
    assert_lt(stats.hits, stats.needed);
    flr_world_destroy(world);
    flr_pager_close(pager);
    flr_sim_destroy(d.sim);
}

static void what_moves_is_not_paged(void **state)
{
    (void)state;
    disk d = make_disk();
    flr_pager *pager = open_pager(d.env, 4 << 20);
    flr_world_part part = flr_default_world_part();
    part.shape = flr_pairs_shape_make(NULL, flr_pager_table(pager));
    part.kind = FLR_PART_MOVABLE;
    assert_ok(flr_body_def_from_mesh(flr_test_shape_mesh(&tool.shape), 8000, &part.body, &error),
              error);
    flr_world_def def = flr_default_world_def();
    def.parts = &part, def.part_count = 1;
    flr_world *world;
    assert_int_equal(flr_world_create(&def, &world, &error), FLR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cannot be paged"));
    flr_pager_close(pager);
    flr_sim_destroy(d.sim);
}

/* less memory than a step needs is reported, with how much would do; and that much does */
static void the_least_memory_is_told(void **state)
{
    (void)state;
    disk d = make_disk();
    /* a tool that reaches over much of the plate */
    flr_test_part small = tool;
    flr_contact_table *small_table = tool_table;
    flr_test_part_make(&tool, FLR_TEST_TORUS, 4, 0.01, true);
    assert_ok(flr_contact_table_create(tool.voxmap, &tool_table, &error), error);
    uint64_t budget = 1 << 20;
    for (int round = 0; round < 2; round++) {
        flr_pager *pager = open_pager(d.env, budget);
        flr_world *world = make_world(flr_pager_table(pager));
        flr_world_input in = input_at(0, FRAMES);
        flr_world_frame frame = {.missing = true};
        for (int attempt = 0; frame.missing && attempt < 20; attempt++) {
            flr_world_step(world, &in, &frame);
            flr_pager_service(pager, 0);
        }
        flr_pager_stats stats = flr_pager_get_stats(pager);
        assert_int_equal(frame.missing, round == 0);
        assert_int_equal(stats.reach > stats.slots, round == 0);
        if (round == 0) assert_gt(stats.refused, 0);
        budget = flr_pager_least(&stats);
        assert_gt(budget, 1 << 20);
        assert_lt(budget, 20 << 20);
        assert_eq(budget % (1 << 20), 0);
        flr_world_destroy(world);
        flr_pager_close(pager);
    }
    flr_contact_table_destroy(tool_table);
    flr_test_part_free(&tool);
    tool = small, tool_table = small_table;
    flr_sim_destroy(d.sim);
}

/* A step of a world of the plate and of tools, or none where its voxels do not come. */
static bool steps_with(flr_pager *pager, const flr_vec3 *places, uint32_t count)
{
    flr_world_part *parts = calloc(count + 1, sizeof *parts);
    assert_non_null(parts);
    parts[0] = flr_default_world_part();
    parts[0].shape = flr_pairs_shape_make(NULL, flr_pager_table(pager));
    for (uint32_t i = 1; i <= count; i++) {
        parts[i] = flr_default_world_part();
        parts[i].shape = flr_pairs_shape_make(tool.shell, tool_table);
        parts[i].kind = FLR_PART_MOVABLE;
        assert_ok(
            flr_body_def_from_mesh(flr_test_shape_mesh(&tool.shape), 8000, &parts[i].body, &error),
            error);
        parts[i].body.T_world_part.p = places[i - 1];
    }
    flr_world_def def = flr_default_world_def();
    def.parts = parts, def.part_count = count + 1;
    flr_world *world;
    assert_ok(flr_world_create(&def, &world, &error), error);
    flr_world_input in = {.T_world_hand = flr_pose_identity()};
    flr_world_frame frame = {.missing = true};
    for (int attempt = 0; frame.missing && attempt < 5; attempt++) {
        flr_world_step(world, &in, &frame);
        flr_pager_service(pager, 0);
    }
    flr_world_destroy(world);
    free(parts);
    return !frame.missing;
}

/* more than the pager is told about at once: what the last one needs comes, too */
static void many_parts_move(void **state)
{
    (void)state;
    enum { TOOLS = 140 };
    flr_vec3 places[TOOLS];
    for (int i = 0; i < TOOLS; i++) places[i] = flr_vec3_make(0.3 * i, 0, 5);
    places[TOOLS - 2] = flr_vec3_make(-0.19, -0.15, 0.128);
    places[TOOLS - 1] = flr_vec3_make(0.19, 0.15, 0.128);
    disk d = make_disk();
    flr_pager *pager = open_pager(d.env, 4 << 20);
    assert_true(steps_with(pager, places, TOOLS));
    assert_gt(flr_pager_get_stats(pager).blocks_read, 0);
    flr_pager_close(pager);
    flr_sim_destroy(d.sim);
}

/* the sphere around a ring has more in it than those around its points: a step looks at that, too */
static void a_ring_at_any_height(void **state)
{
    (void)state;
    flr_test_part small = tool;
    flr_contact_table *small_table = tool_table;
    flr_test_part_make(&tool, FLR_TEST_TORUS, 2.5, 0.0004, true);
    assert_ok(flr_contact_table_create(tool.voxmap, &tool_table, &error), error);
    assert_in_range((int)(1000 * (double)tool.shell->radius), 40, 63);
    disk d = make_disk();
    for (int i = 0; i < 24; i++) {
        flr_vec3 place = flr_vec3_make(-0.05, -0.03, 0.13 + 0.005 * i);
        flr_pager *pager = open_pager(d.env, 8 << 20);
        if (!steps_with(pager, &place, 1)) fail_msg("it waits for ever at %g m", place.z);
        flr_pager_close(pager);
    }
    flr_sim_destroy(d.sim);
    flr_contact_table_destroy(tool_table);
    flr_test_part_free(&tool);
    tool = small, tool_table = small_table;
}

static void waits_are_counted(void **state)
{
    (void)state;
    flr_pager_waits w = {0};
    const bool missing[] = {false, true, true, true, false, false, true, false};
    double lasted = 0;
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        double now = flr_pager_waits_note(&w, missing[i], (int64_t)i * 1000000);
        lasted = now > lasted ? now : lasted;
    }
    assert_int_equal(w.steps, 4);
    assert_int_equal(w.count, 2);
    assert_lt(fabs(w.longest - 0.003), 1e-9);
    assert_lt(fabs(w.total - 0.004), 1e-9);
    assert_lt(fabs(lasted - 0.002), 1e-9);
    assert_false(w.waiting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_as_with_all_in_memory),
        cmocka_unit_test(a_slow_disk_suspends),
        cmocka_unit_test(a_broken_disk_heals),
        cmocka_unit_test(a_flipped_bit_is_never_felt),
        cmocka_unit_test(damaged_directories_are_refused),
        cmocka_unit_test(a_step_is_quiet),
        cmocka_unit_test(a_thread_reads_ahead),
        cmocka_unit_test(little_memory_is_for_what_is_near),
        cmocka_unit_test(the_least_memory_is_told),
        cmocka_unit_test(what_moves_is_not_paged),
        cmocka_unit_test(many_parts_move),
        cmocka_unit_test(a_ring_at_any_height),
        cmocka_unit_test(waits_are_counted),
    };
    return cmocka_run_group_tests_name("pager", tests, set_up, tear_down);
}
