/* the same bits with every compiler, build, instruction set and number of threads
 *
 * FLR_TEST_SAME=N runs N frames (a million by hand) and prints the hashes, FLR_TEST_SAME_WAYS=K with the first K ways of the
 * list only; the golden hash (tests/golden/world.txt) is that of the default. */
#include <math.h>

#include "feeler/world.h"
#include "support/fixtures.h"
#include "support/golden.h"

enum { FRAMES = 2000 };

typedef struct scene {
    flr_test_part fixed, moving;
    flr_contact_table *tables[2];
} scene;

/* a whole number of periods of plain numbers: no libm, whose last bit may differ from machine to machine */
static double wave(int i, int period)
{
    double x = (double)(i % period) / period, y = x < 0.5 ? x : 1 - x;
    return 16 * y * y * (1 - 4 * y * y / 3) - 1;
}

static flr_hash play(scene *s, flr_simd simd, unsigned threads, int frames)
{
    flr_world_part parts[3];
    for (int i = 0; i < 3; i++) {
        flr_test_part *of = i ? &s->moving : &s->fixed;
        parts[i] = flr_default_world_part();
        parts[i].shape = flr_pairs_shape_make(of->shell, s->tables[i > 0]);
        assert_int_equal(
            flr_body_def_from_mesh(flr_test_shape_mesh(&of->shape), 8000, &parts[i].body, NULL),
            FLR_OK);
        parts[i].kind = i == 0 ? FLR_PART_STATIC : i == 1 ? FLR_PART_MOVABLE : FLR_PART_FREE;
        parts[i].body.T_world_part.p = flr_vec3_make(0.014 * (i == 2), 0, 0.02 * (i > 0));
    }
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = 3;
    def.simd = simd;
    def.threads = threads;
    def.params.step.gravity = flr_vec3_make(0, 0, -3);
    def.params.friction = 0.2;
    flr_world *world;
    if (flr_world_create(&def, &world, NULL) == FLR_UNSUPPORTED) return (flr_hash){0};
    flr_world_grab(world, 0, 1);
    flr_world_frame frame = {0};
    uint64_t touching = 0;
    for (int i = 0; i < frames; i++) {
        flr_world_input in = {.T_world_hand = flr_pose_identity(), .fresh = true};
        in.T_world_hand.p = flr_vec3_make(0.008 * wave(i, 1100), 0.006 * wave(i, 1700),
                                          -0.008 * (wave(i, 900) + 1));
        flr_world_step(world, &in, &frame);
        touching += frame.contacts > 0;
    }
    assert_gt(touching, (uint64_t)frames / 4);
    flr_world_destroy(world);
    return frame.hash;
}

static void every_way(void **state)
{
    (void)state;
    const char *asked = getenv("FLR_TEST_SAME");
    int frames = asked ? atoi(asked) : FRAMES;
    scene s;
    flr_test_part_make(&s.fixed, FLR_TEST_BOX, 1, 0.001, true);
    flr_test_part_make(&s.moving, FLR_TEST_TORUS, 0.5, 0.001, true);
    assert_int_equal(flr_contact_table_create(s.fixed.voxmap, &s.tables[0], NULL), FLR_OK);
    assert_int_equal(flr_contact_table_create(s.moving.voxmap, &s.tables[1], NULL), FLR_OK);
    const struct {
        flr_simd simd;
        unsigned threads;
    } ways[] = {{FLR_SIMD_SCALAR, 1}, {FLR_SIMD_AVX2, 1}, {FLR_SIMD_AVX512, 1},
                {FLR_SIMD_NEON, 1},   {FLR_SIMD_BEST, 2}, {FLR_SIMD_BEST, 4}};
    flr_hash first = {0};
    const char *some = getenv("FLR_TEST_SAME_WAYS");
    size_t count = some ? (size_t)atoi(some) : sizeof ways / sizeof *ways;
    for (size_t i = 0; i < count && i < sizeof ways / sizeof *ways; i++) {
        flr_hash hash = play(&s, ways[i].simd, ways[i].threads, frames);
        if (hash.high == 0 && hash.low == 0) continue; /* not on this processor */
        if (i == 0) first = hash;
        char text[FLR_HASH_TEXT_SIZE];
        if (asked)
            print_message("%d frames, %s, %u threads: %s\n", frames, flr_simd_name(ways[i].simd),
                          ways[i].threads, flr_hash_print(hash, text));
        assert_eq(hash.high, first.high);
        assert_eq(hash.low, first.low);
        if (!asked) assert_true(flr_test_golden_has("world.txt", "world", hash));
    }
    for (int i = 0; i < 2; i++) flr_contact_table_destroy(s.tables[i]);
    flr_test_part_free(&s.fixed);
    flr_test_part_free(&s.moving);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_way)};
    return cmocka_run_group_tests_name("world_same", tests, NULL, NULL);
}
