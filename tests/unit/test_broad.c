/* the broad phase against all pairs, over random histories */
#include "contact/broad.h"

#include "support/test.h"

enum { MAX_PARTS = 1000 };

static unsigned char flags[MAX_PARTS];
static flr_box3 boxes[MAX_PARTS];
static uint64_t expected[MAX_PARTS * MAX_PARTS / 2];

static bool may_touch(unsigned a, unsigned b)
{
    bool one_way = (a & FLR_BROAD_POINTS) && (b & FLR_BROAD_VOXELS);
    bool other_way = (b & FLR_BROAD_POINTS) && (a & FLR_BROAD_VOXELS);
    return ((a | b) & FLR_BROAD_MOVES) && (one_way || other_way);
}

/* all pairs, in order */
static size_t brute(uint32_t count)
{
    size_t found = 0;
    for (uint32_t high = 1; high < count; high++)
        for (uint32_t low = 0; low < high; low++)
            if (may_touch(flags[high], flags[low]) && flr_box3_overlap(boxes[high], boxes[low]))
                expected[found++] = (uint64_t)high << 32 | low;
    return found;
}

static void put(flr_broad *broad, uint32_t slot, flr_box3 box)
{
    flr_broad_move(broad, slot, box);
    bool sound = flr_vec3_is_finite(box.low) && flr_vec3_is_finite(box.high);
    boxes[slot] = sound ? box : flr_box3_empty();
}

static void flag(flr_broad *broad, uint32_t slot, unsigned value)
{
    flr_broad_flag(broad, slot, value);
    flags[slot] = (unsigned char)value;
}

static flr_box3 random_box(flr_test_random *random, double room)
{
    flr_vec3 low;
    /* whole numbers: many boxes touch exactly */
    low.x = floor(flr_test_random_range(random, -room, room));
    low.y = floor(flr_test_random_range(random, -room, room));
    low.z = floor(flr_test_random_range(random, -room, room));
    double size = flr_test_random_below(random, 4);
    return flr_box3_make(low, flr_vec3_add(low, flr_vec3_make(size, size, size)));
}

static void compare(flr_broad *broad, uint32_t count, size_t capacity)
{
    flr_broad_list list = flr_broad_update(broad);
    size_t found = brute(count), kept = found < capacity ? found : capacity;
    assert_int_equal(list.count, kept);
    assert_int_equal(list.dropped, found - kept);
    assert_memory_equal(list.keys, expected, kept * sizeof *expected);
}

/* Small steps, teleports, boxes of nothing, changing flags; few and many pairs; too little room. */
static void histories(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("broad_histories");
    for (int round = 0; round < 60; round++) {
        uint32_t count = 1 + flr_test_random_below(&random, round % 10 ? 40 : 120);
        size_t capacity = round % 3 ? MAX_PARTS * 8 : 1 + flr_test_random_below(&random, 100);
        double room = round % 2 ? 4 : 15, teleports = round % 7 == 0 ? 0.8 : 0.03;
        flr_broad *broad = flr_broad_create(count, capacity);
        assert_non_null(broad);
        for (uint32_t i = 0; i < count; i++) {
            flag(broad, i, flr_test_random_below(&random, 8) | (i % 2));
            put(broad, i, random_box(&random, room));
        }
        for (int frame = 0; frame < 40; frame++) {
            for (uint32_t i = 0; i < count; i++) {
                double dice = flr_test_random_range(&random, 0, 1);
                flr_vec3 step = {flr_test_random_range(&random, -0.5, 0.5), 0.25, -0.25};
                flr_box3 box = boxes[i];
                box = flr_box3_make(flr_vec3_add(box.low, step), flr_vec3_add(box.high, step));
                if (dice < teleports) box = random_box(&random, room);
                if (dice > 0.99) box = flr_box3_empty();
                if (dice > 0.995) box.low.y = NAN;
                if (dice < 0.5) put(broad, i, box);
                if (dice > 0.3 && dice < 0.305) flag(broad, i, flr_test_random_below(&random, 8));
            }
            compare(broad, count, capacity);
        }
        flr_broad_destroy(broad);
    }
}

/* None, one, a thousand; all in one place, then all apart, then all in one place. */
static void extremes(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= MAX_PARTS; count = count ? count * 1000 : 1) {
        flr_broad *broad = flr_broad_create(count, 1000000);
        assert_non_null(broad);
        for (int phase = 0; phase < 3; phase++) {
            for (uint32_t i = 0; i < count; i++) {
                double at = phase == 1 ? 3.0 * i : 0;
                flr_vec3 low = {at, -at, at};
                flag(broad, i, 7);
                put(broad, i, flr_box3_make(low, flr_vec3_add(low, flr_vec3_make(1, 1, 1))));
            }
            flr_broad_list list = flr_broad_update(broad);
            size_t all = count ? (size_t)count * (count - 1) / 2 : 0;
            assert_int_equal(list.count, phase == 1 ? 0 : all);
        }
        flr_broad_destroy(broad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histories),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests_name("broad", tests, NULL, NULL);
}
