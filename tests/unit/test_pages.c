/* what worlds tell pagers: parts that have one pager together, and worlds that are gone */
#include <math.h>

#include "feeler/pager.h"
#include "feeler/sim.h"
#include "feeler/voxel_file.h"
#include "feeler/world.h"
#include "support/fixtures.h"

static flr_error error;
static flr_sim *sim;
static flr_env *env;
static flr_test_part plate, tool; /* 480 x 400 x 240 mm, and what slides over it */
static flr_contact_table *whole, *tool_table;

static int set_up(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    flr_address address;
    sim = flr_sim_create(&def);
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    env = flr_sim_node(sim, address);
    flr_test_part_make(&plate, FLR_TEST_BOX, 20, 0.001, false);
    flr_test_part_make(&tool, FLR_TEST_TORUS, 0.5, 0.001, false);
    assert_ok(flr_contact_table_create(plate.voxmap, &whole, &error), error);
    assert_ok(flr_contact_table_create(tool.voxmap, &tool_table, &error), error);
    assert_ok(flr_voxfile_write(env, "/plate.flrvox", plate.voxmap, NULL, &error), error);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_contact_table_destroy(whole);
    flr_contact_table_destroy(tool_table);
    flr_test_part_free(&plate);
    flr_test_part_free(&tool);
    flr_sim_destroy(sim);
    return 0;
}

/* two plates side by side that are one shape, and a tool above the gap between them */
static flr_world *make_world(const flr_contact_table *table, const flr_shell *shell)
{
    flr_world_part parts[3] = {flr_default_world_part(), flr_default_world_part(),
                               flr_default_world_part()};
    parts[0].shape = parts[1].shape = flr_pairs_shape_make(NULL, table);
    parts[0].body.T_world_part.p.x = -0.3;
    parts[1].body.T_world_part.p.x = 0.3;
    parts[2].shape = flr_pairs_shape_make(shell, tool_table);
    parts[2].kind = FLR_PART_MOVABLE;
    assert_ok(
        flr_body_def_from_mesh(flr_test_shape_mesh(&tool.shape), 8000, &parts[2].body, &error),
        error);
    parts[2].body.T_world_part.p = flr_vec3_make(-0.2, 0, 0.128);
    flr_world_def def = flr_default_world_def();
    def.parts = parts, def.part_count = 3;
    flr_world *world;
    assert_ok(flr_world_create(&def, &world, &error), error);
    assert_true(flr_world_grab(world, 0, 2));
    return world;
}

static flr_pager *open_pager(uint64_t budget)
{
    flr_pager_def def = flr_default_pager_def();
    def.env = env, def.path = "/plate.flrvox", def.budget = budget, def.margin = 0.002;
    flr_pager *pager;
    assert_ok(flr_pager_open(&def, &pager, &error), error);
    return pager;
}

enum { FRAMES = 800 };

/* from one plate over to the other, pressed down; `pager` NULL: all is in memory */
static flr_hash play(flr_pager *pager, uint32_t *touching)
{
    flr_world *world = make_world(pager ? flr_pager_table(pager) : whole, tool.shell);
    flr_world_frame frame = {0};
    *touching = 0;
    for (int i = 0; i < FRAMES; i++) {
        flr_world_input in = {.T_world_hand = flr_pose_identity(), .fresh = true};
        in.T_world_hand.p = flr_vec3_make(0.4 * i / FRAMES, 0, -0.012 * fabs(sin(0.02 * i)));
        for (int attempt = 0;; attempt++) {
            flr_world_step(world, &in, &frame);
            if (!frame.missing) break;
            assert_lt(attempt, 20);
            flr_pager_service(pager, 0);
        }
        *touching += frame.contacts > 0;
    }
    flr_world_destroy(world);
    return frame.hash;
}

/* what can be reached from both is reported, or the first of them would wait for ever */
static void parts_with_one_pager(void **state)
{
    (void)state;
    uint32_t touching, again;
    flr_hash expected = play(NULL, &touching);
    flr_pager *pager = open_pager(1 << 20);
    flr_hash got = play(pager, &again);
    assert_gt(touching, FRAMES / 10);
    assert_eq(touching, again);
    assert_memory_equal(&got, &expected, sizeof got);
    flr_pager_stats stats = flr_pager_get_stats(pager);
    assert_gt(stats.evicted, 0);
    /* a step of both counts once, so that who evicts can tell whether one is under way */
    assert_ge(stats.steps, FRAMES);
    assert_lt(stats.steps, FRAMES + stats.suspended + 1);
    flr_pager_close(pager);
}

/* shells go with their world, and the pager goes on: it must not look at them any more */
static void worlds_that_are_gone(void **state)
{
    (void)state;
    flr_test_part gone;
    flr_world_frame frame;
    flr_world_input in = {.T_world_hand = flr_pose_identity(), .fresh = true};
    flr_pager *pager = open_pager(1 << 20);
    flr_test_part_make(&gone, FLR_TEST_TORUS, 0.5, 0.001, false);
    flr_world *first = make_world(flr_pager_table(pager), gone.shell),
              *second = make_world(flr_pager_table(pager), tool.shell);
    flr_world_step(first, &in, &frame);
    assert_true(frame.missing);
    flr_world_destroy(first);
    flr_test_part_free(&gone);
    assert_int_equal(flr_pager_service(pager, 0), 0);
    assert_int_equal(flr_pager_get_stats(pager).reach, 0);
    /* another one is served as ever */
    flr_world_step(second, &in, &frame);
    assert_true(frame.missing);
    assert_gt(flr_pager_service(pager, 0), 0);
    flr_world_step(second, &in, &frame);
    assert_false(frame.missing);
    flr_world_destroy(second);
    flr_pager_close(pager);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_with_one_pager),
        cmocka_unit_test(worlds_that_are_gone),
    };
    return cmocka_run_group_tests_name("pages", tests, set_up, tear_down);
}
