#include "support/test.h"

#include "feeler/arena.h"

static bool is_aligned(const void *pointer, size_t alignment)
{
    return (uintptr_t)pointer % alignment == 0;
}

static void pieces_are_aligned_and_apart(void **state)
{
    (void)state;
    flr_arena *arena = flr_arena_create(1000);
    assert_non_null(arena);
    assert_int_equal(flr_arena_size(arena), 1000);
    uint8_t *a = flr_arena_take(arena, 1), *b = flr_arena_take(arena, 100);
    double *c = FLR_ARENA_NEW(arena, double, 3);
    char *d = flr_arena_take_array(arena, 5, 1, 1);
    assert_true(is_aligned(a, 64) && is_aligned(b, 64) && is_aligned(c, 64));
    assert_true(b >= a + 1 && (uint8_t *)c >= b + 100 && d == (char *)(c + 3));
    assert_int_equal(flr_arena_used(arena), 64 + 128 + 24 + 5);
    memset(b, 1, 100), memset(c, 2, 24), memset(d, 3, 5);
    flr_arena_destroy(arena);
    flr_arena_destroy(NULL);
}

static void full_is_null_and_counted(void **state)
{
    (void)state;
    flr_arena *arena = flr_arena_create(128);
    assert_null(flr_arena_take(arena, 129));
    assert_null(flr_arena_take(arena, SIZE_MAX));
    assert_null(flr_arena_take_array(arena, SIZE_MAX / 2, 4, 8)); // overflows
    assert_int_equal(flr_arena_used(arena), 0);
    assert_non_null(flr_arena_take(arena, 128));
    assert_non_null(flr_arena_take(arena, 0));
    assert_null(flr_arena_take(arena, 1));
    assert_int_equal(flr_arena_refused(arena), 4);
    assert_int_equal(flr_arena_high_water(arena), 128);
    flr_arena_destroy(arena);
    assert_null(flr_arena_create(SIZE_MAX));
    arena = flr_arena_create(0);
    assert_non_null(arena);
    assert_null(flr_arena_take(arena, 1));
    flr_arena_destroy(arena);
}

static void marks_give_back(void **state)
{
    (void)state;
    flr_arena *arena = flr_arena_create(1024);
    void *base = flr_arena_take(arena, 64);
    flr_arena_mark mark = flr_arena_mark_get(arena);
    void *first = flr_arena_take(arena, 500);
    flr_arena_release(arena, mark);
    assert_ptr_equal(flr_arena_take(arena, 10), first);
    assert_int_equal(flr_arena_high_water(arena), 564);
    flr_arena_reset(arena);
    assert_int_equal(flr_arena_used(arena), 0);
    assert_int_equal(flr_arena_high_water(arena), 564);
    assert_ptr_equal(flr_arena_take(arena, 64), base);
    flr_arena_destroy(arena);
}

static void placed_in_memory_of_any_alignment(void **state)
{
    (void)state;
    uint8_t *memory = malloc(1024);
    assert_null(flr_arena_place(memory, 10));
    for (size_t shift = 0; shift < 64; shift += 7) {
        flr_arena *arena = flr_arena_place(memory + shift, 900);
        assert_non_null(arena);
        size_t size = flr_arena_size(arena);
        assert_true(size >= 900 - 3 * 64 && size < 900);
        uint8_t *all = flr_arena_take(arena, size);
        assert_non_null(all);
        assert_true(all + size <= memory + shift + 900 && is_aligned(all, 64));
        memset(all, 0xEE, size);
        flr_arena_destroy(arena); // does nothing
    }
    free(memory);
}

/* random cuts and releases against a plain model: pieces never overlap or leave the block */
static void random_use(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random_use");
    flr_arena *arena = flr_arena_create(10000);
    struct {
        flr_arena_mark mark;
        uint8_t *piece;
        size_t size;
    } stack[200];
    size_t depth = 0;
    for (int round = 0; round < 20000; round++) {
        if (depth == 200 || (depth > 0 && flr_test_random_below(&random, 3) == 0)) {
            depth = flr_test_random_below(&random, (uint32_t)depth);
            flr_arena_release(arena, stack[depth].mark);
            continue;
        }
        size_t size = flr_test_random_below(&random, 300);
        size_t alignment = (size_t)1 << flr_test_random_below(&random, 9);
        stack[depth].mark = flr_arena_mark_get(arena);
        uint8_t *piece = flr_arena_take_array(arena, size, 1, alignment);
        if (!piece) continue;
        assert_true(is_aligned(piece, alignment));
        memset(piece, (int)depth, size);
        stack[depth].piece = piece, stack[depth].size = size;
        depth++;
        for (size_t i = 0; i < depth; i++) // nobody's bytes were touched
            for (size_t j = 0; j < stack[i].size; j += 37) assert_int_equal(stack[i].piece[j], i);
    }
    flr_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_apart),
        cmocka_unit_test(full_is_null_and_counted),
        cmocka_unit_test(marks_give_back),
        cmocka_unit_test(placed_in_memory_of_any_alignment),
        cmocka_unit_test(random_use),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
