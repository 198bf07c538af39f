/* the gap map: distances at the corners of small triangles, against what is known */
#include <math.h>

#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;

static const flr_gap_map *map_of(flr_test_engine *s, flr_part_id part, double reach)
{
    static uint32_t token = 5;
    flr_engine_event event;
    while (flr_engine_next(s->engine, &event)) {}
    assert_ok(flr_engine_gap_map_ask(s->engine, part, reach, ++token, &error), error);
    for (int i = 0; i < 100; i++) {
        flr_engine_service(s->engine);
        while (flr_engine_next(s->engine, &event))
            if (event.kind == FLR_ENGINE_EVENT_GAP_MAP && event.token == token) {
                if (event.result != FLR_OK) fail_msg("%s", event.sentence);
                return flr_engine_gap_map_of(s->engine, token);
            }
    }
    return NULL;
}

/* The plate's top is at z = 0; block and ball are cubes of 20 mm, 20 mm above it, at x = 0 and 50 mm. */
static void distances_are_exact(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    const flr_gap_map *map = map_of(&s, s.plate, 0.03);
    assert_non_null(map);
    assert_part_equal(map->part, s.plate);
    assert_within(map->least, 0.02, 1e-6);
    assert_gt(map->triangle_count, 500);
    const double plate = -0.01; /* where it stands */
    for (uint32_t i = 0; i < 3 * map->triangle_count; i++) {
        const float *v = &map->vertices[3 * i];
        double least = 0.03;
        for (int k = 0; k < 2; k++) {
            const double x = fmax(0, fabs(v[0] - 0.05 * k) - 0.01), y = fmax(0, fabs(v[1]) - 0.01);
            least = fmin(least, sqrt(x * x + y * y + pow(0.02 - (v[2] + plate), 2)));
        }
        assert_within(map->distances[i], least, 1e-6);
    }
    /* inside: below 0 */
    const flr_pose in = flr_pose_make(flr_vec3_make(0, 0, 0.005), flr_quat_identity());
    assert_ok(flr_engine_place(s.engine, s.block, in, &error), error);
    flr_test_engine_pass(&s, 50);
    map = map_of(&s, s.plate, 0.03);
    assert_lt(map->least, -0.001);

    assert_int_equal(flr_engine_gap_map_ask(s.engine, s.plate, 0, 6, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(
        flr_engine_gap_map_ask(s.engine, flr_engine_part_id(s.engine, 77), 0.01, 6, &error),
        FLR_NOT_FOUND);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances_are_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
