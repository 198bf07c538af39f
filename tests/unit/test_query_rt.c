/* measuring and looking around neither allocates nor locks nor calls the system */
#include "feeler/distance.h"

#include "support/fixtures.h"
#include "support/quiet.h"

enum { POSES = 60, CONTACTS = 64, VERTICES = 32, NEAR = 128 };

typedef struct subject {
    flr_test_part moving, fixed;
    flr_contact_pair *pair;
    flr_gauge_part *gauges[2];
    flr_exact *exact;
    flr_proximity *proximity;
    flr_pose poses[POSES];
} subject;

static int begin(void **state)
{
    subject *s = calloc(1, sizeof *s);
    flr_error error;
    flr_test_part_make(&s->moving, FLR_TEST_TORUS, 1, 0.001, true);
    flr_test_part_make(&s->fixed, FLR_TEST_BOX, 1, 0.001, true);
    const flr_mesh *moving = flr_test_shape_mesh(&s->moving.shape),
                   *fixed = flr_test_shape_mesh(&s->fixed.shape);
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = s->moving.shell;
    def.voxmap = s->fixed.voxmap;
    assert_ok(flr_contact_pair_create(&def, &s->pair, &error), error);
    assert_ok(flr_gauge_part_create(moving, &s->gauges[0], &error), error);
    assert_ok(flr_gauge_part_create(fixed, &s->gauges[1], &error), error);
    assert_ok(flr_exact_create(fixed, s->fixed.voxmap, 1, &s->exact, &error), error);
    assert_ok(flr_proximity_create(moving, &s->proximity, &error), error);
    flr_test_random random = flr_test_random_begin("query_rt");
    for (int i = 0; i < POSES; i++) s->poses[i] = flr_test_random_pose(&random, 0.02);
    *state = s;
    return 0;
}

static int end(void **state)
{
    subject *s = *state;
    flr_contact_pair_destroy(s->pair);
    for (int i = 0; i < 2; i++) flr_gauge_part_destroy(s->gauges[i]);
    flr_exact_destroy(s->exact);
    flr_proximity_destroy(s->proximity);
    flr_test_part_free(&s->moving);
    flr_test_part_free(&s->fixed);
    free(s);
    return 0;
}

static uint64_t ask(void *context)
{
    const subject *s = context;
    uint64_t found = 0;
    flr_pose here = flr_pose_identity();
    flr_gauge_witness witness = flr_no_witness();
    for (int i = 0; i < POSES; i++) {
        flr_pose T = s->poses[i];
        flr_contact_params params = flr_default_contact_params();
        flr_contact_result touch;
        flr_contact_query(s->pair, T, here, &params, &touch);
        const flr_contact *contacts = flr_contact_list(s->pair);
        found += flr_query_meeting(s->moving.shell, s->fixed.voxmap, here, contacts, &touch);
        flr_contact_normal normals[8];
        found += flr_query_normals(contacts, touch.listed, 0.5, normals, 8);

        flr_gauge_params gauge = flr_default_gauge_params();
        gauge.max_work = i % 2 ? 100000 : 50;
        flr_gauge_result measured;
        flr_gauge_distance(s->gauges[0], s->gauges[1], T, here, &gauge, &witness, &measured);
        found += measured.found;
        found += flr_gauge_within(s->gauges[0], s->gauges[1], T, here, 0.001, 1000, &witness);

        flr_proximity_obstacle obstacle = {s->fixed.voxmap, here};
        flr_proximity_update(s->proximity, T, &obstacle, 1, 64);
        double distances[VERTICES];
        flr_proximity_exact(s->proximity, T, s->exact, here, 0, VERTICES, 0.005, 100, distances);
        flr_near_voxel voxels[NEAR];
        flr_near_voxels_def near = {s->fixed.voxmap, here, s->moving.voxmap, T, NULL, 0.002};
        if (i % 10 == 0) found += flr_query_near_voxels(&near, voxels, NEAR);
    }
    return found;
}

static void asking_is_quiet(void **state) { flr_test_quiet(ask, *state, NULL); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_is_quiet),
    };
    return cmocka_run_group_tests_name("query_rt", tests, begin, end);
}
