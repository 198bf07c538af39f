/* exact distances and overlaps as clients see them: live numbers of what is held, with each engine, and lists of what stands in
 * each other; and the sizes of voxels that feeler chooses */
#include <math.h>
#include <string.h>

#include "sim/gaps.h"
#include "support/fixtures.h"

static void put(flr_test_engine *s, flr_vec3 at)
{
    flr_pose pose = flr_pose_make(at, flr_quat_identity());
    assert_int_equal(flr_engine_place(s->engine, s->block, pose, NULL), FLR_OK);
    flr_test_engine_pass(s, 60);
}

/* The block, 20 mm high, held so far above the plate, whose top is at 0. */
static flr_engine_gap held_at(flr_world_engine engine, double gap)
{
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    assert_int_equal(flr_engine_set(s.engine, "engine", engine, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    flr_engine_want_gaps(s.engine, true);
    put(&s, (flr_vec3){0, 0, 0.01 + gap});
    assert_int_equal(flr_engine_view(s.engine)->gap_count, 0); /* nothing is held */
    flr_pose at = flr_pose_make((flr_vec3){0, 0, 0.01 + gap}, flr_quat_identity());
    assert_int_equal(flr_engine_grab_at(s.engine, flr_hand(0), s.block, at, NULL), FLR_OK);
    flr_test_engine_pass(&s, 200);
    const flr_engine_state *now = flr_engine_view(s.engine);
    assert_true(now->gap_count >= 1);
    flr_engine_gap found = now->gaps[0];
    assert_part_equal(found.part, s.block);
    assert_part_equal(found.other, s.plate);
    // nobody wants it any more
    flr_engine_want_gaps(s.engine, false);
    flr_engine_release(s.engine, flr_hand(0), NULL);
    flr_test_engine_pass(&s, 100);
    assert_int_equal(flr_engine_view(s.engine)->gap_count, 0);
    flr_test_engine_free(&s);
    return found;
}

static void what_is_held_has_a_number(void **state)
{
    (void)state;
    // the exact engine knows it in every frame; beyond a millimetre, and with shells, a worker measures
    const flr_engine_gap near = held_at(FLR_ENGINE_EXACT, 2e-4),
                         far = held_at(FLR_ENGINE_EXACT, 5e-3),
                         shell = held_at(FLR_ENGINE_SHELL, 8e-3);
    assert_true(fabs(near.distance - 2e-4) < 1e-6 && near.error < 1e-6);
    assert_true(fabs(far.distance - 5e-3) < 1e-6 && far.error < 1e-9);
    assert_true(fabs(shell.distance - 8e-3) < 1e-6 && shell.error < 1e-9);
    assert_true(fabs(near.from.z - 2e-4) < 1e-6 &&
                fabs(near.to.z) < 1e-9); /* of the block, of the plate */
    assert_true(fabs(shell.from.z - 8e-3) < 1e-6 && fabs(shell.to.z) < 1e-9);
}

/* A distance belongs to where the parts were: moved a little it is less certain, put elsewhere it is not shown, whenever the next
 * measurement comes. */
static void no_distance_outlives_its_place(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_test_engine_settle(&s);
    flr_engine_want_gaps(s.engine, true);
    const flr_pose at = flr_pose_make((flr_vec3){0, 0, 0.018}, flr_quat_identity());
    put(&s, at.p);
    assert_int_equal(flr_engine_grab_at(s.engine, flr_hand(0), s.block, at, NULL), FLR_OK);
    flr_test_engine_pass(&s, 200);
    assert_int_equal(flr_engine_view(s.engine)->gap_count, 1);
    int looked = 0;
    for (double z = 0.018; z < 0.04; z += 2e-4) {
        const flr_pose next = flr_pose_make((flr_vec3){0, 0, z}, flr_quat_identity());
        assert_int_equal(flr_engine_hand_input(s.engine, flr_hand(0), next, 1, NULL), FLR_OK);
        flr_test_engine_pass(&s, 3);
        const flr_engine_state *now = flr_engine_view(s.engine);
        const uint32_t block = flr_engine_state_find(now, s.block);
        if (now->gap_count == 0) continue;
        const double truth = now->parts[block].T_world_part.p.z - 0.01;
        assert_within(now->gaps[0].distance, truth, now->gaps[0].error + 1e-9);
        assert_within(now->gaps[0].from.z, truth, 1e-9); /* drawn where the part is */
        looked++;
    }
    assert_true(looked > 50);
    // undone: the part is elsewhere, before a worker has measured again
    assert_int_equal(flr_engine_undo(s.engine, 1, NULL), FLR_OK);
    flr_test_engine_pass(&s, 2);
    const flr_engine_state *now = flr_engine_view(s.engine);
    const uint32_t block = flr_engine_state_find(now, s.block);
    assert_within(now->parts[block].T_world_part.p.z, 0.018, 1e-6);
    assert_int_equal(now->gap_count, 0);
    flr_test_engine_free(&s);
}

static void overlaps_are_listed(void **state)
{
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        flr_test_engine s;
        flr_test_engine_make(&s, true, NULL);
        if (exact) flr_engine_set(s.engine, "engine", FLR_ENGINE_EXACT, NULL);
        flr_test_engine_settle(&s);
        assert_int_equal(flr_engine_view(s.engine)->overlap_count, 0);
        put(&s, (flr_vec3){0, 0, 0.0095}); /* half a millimetre in the plate */
        if (!exact) put(&s, (flr_vec3){0, 0, 0.004});
        const flr_engine_state *now = flr_engine_view(s.engine);
        assert_int_equal(now->overlap_count, 1);
        const flr_engine_overlap_state *o = &now->overlaps[0];
        assert_part_equal(o->part, s.block);
        assert_part_equal(o->other, s.plate);
        assert_true(o->point.z < 1e-9 && fabs(o->point.x) < 0.011); /* below the plate's top */
        assert_true(exact ? fabs(o->depth - 5e-4) < 1e-6 : fabs(o->depth - 6e-3) < 2e-3);
        assert_true(exact ? o->tolerated > o->depth : o->tolerated == 0);
        // the same as a number
        flr_engine_event event;
        flr_engine_clearance_ask(s.engine, s.block, FLR_NO_PART_ID, true, 3, NULL);
        do {
            flr_test_engine_pass(&s, 1);
            if (!flr_engine_next(s.engine, &event)) event.kind = FLR_ENGINE_EVENT_NEWS;
        } while (event.kind != FLR_ENGINE_EVENT_CLEARANCE);
        assert_true(event.clearance.known && event.clearance.upper == 0);
        assert_true(fabs(event.clearance.distance + (exact ? 5e-4 : 6e-3)) < 1e-6);
        if (exact) { /* moved out it has come free, and stays in the list */
            flr_pose at = flr_pose_make((flr_vec3){0, 0, 0.0095}, flr_quat_identity());
            flr_engine_grab_at(s.engine, flr_hand(0), s.block, at, NULL);
            flr_test_engine_pass(&s, 20);
            now = flr_engine_view(s.engine);
            assert_true(now->overlap_count == 1 && now->overlaps[0].tolerated > 0);
            assert_true(now->gap_count > 0 && now->gaps[0].distance < -4e-4);
            flr_test_engine_move(&s, 0, (flr_vec3){0, 0, 0.03}, 0, 400);
            now = flr_engine_view(s.engine);
            assert_true(now->overlap_count == 1 && now->overlaps[0].tolerated == 0);
        }
        flr_test_engine_free(&s);
    }
}

/* A part without a size gets one, from its own size or from the gap to the others, and feeler says so. */
static void a_dropped_part_gets_voxels(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_test_engine_make(&s, true, NULL);
    flr_engine_event event;
    flr_engine_add_def def = flr_default_engine_add_def();
    while (flr_engine_next(s.engine, &event)) {}
    def.name = "lid";
    def.mesh = flr_test_engine_box(flr_vec3_make(0.02, 0.02, 0.02));
    def.kind = FLR_PART_MOVABLE;
    def.T_world_part = flr_pose_make((flr_vec3){0.03, 0.03, 0.01025}, flr_quat_identity());
    flr_part_id part;
    uint32_t job;
    assert_int_equal(flr_engine_add(s.engine, &def, &part, &job, NULL), FLR_OK);
    char sentence[FLR_ERROR_MESSAGE_SIZE] = "";
    for (int i = 0; i < 200; i++) {
        flr_test_engine_pass(&s, 10);
        while (flr_engine_next(s.engine, &event))
            if (event.kind == FLR_ENGINE_EVENT_NEWS && strstr(event.sentence, "feeler chose"))
                memcpy(sentence, event.sentence, sizeof sentence);
    }
    flr_engine_part now;
    assert_int_equal(flr_engine_get_part(s.engine, part, &now, NULL), FLR_OK);
    // 20 mm / 200, or a third of the 0.25 mm above the plate: the smaller
    assert_non_null(strstr(sentence, "a third of the gap between"));
    assert_non_null(strstr(sentence, "0.250 mm ± 0.001"));
    assert_true(fabs(now.voxel - 8.3e-5) < 1e-9);
    flr_test_engine_free(&s);
}

static void numbers_are_told_as_people_write_them(void **state)
{
    (void)state;
    char text[FLR_GAP_TEXT_SIZE];
    assert_string_equal(flr_gap_print(96.2e-6, 0, text), "0.096 mm ± 0.001");
    assert_string_equal(flr_gap_print(96.2e-6, 2.4e-6, text), "0.096 mm ± 0.003");
    assert_string_equal(flr_gap_print(-12e-6, 0, text), "interference 0.012 mm ± 0.001");
    assert_string_equal(flr_gap_print(-2e-4, 1e-3, text), "interference at least 0.200 mm");
    assert_string_equal(flr_gap_print(-1e-12, 1e-3, text),
                        "surfaces coincide, overlap up to 1.000 mm");
    assert_string_equal(flr_gap_print(0, 0, text), "touching");
}

/* Another engine is a job that people see, and may cancel: then all stays as it was. */
static void geometry_is_built_with_progress(void **state)
{
    (void)state;
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        flr_test_engine s;
        flr_engine_event event;
        uint32_t job = 0, ended = 0;
        flr_test_engine_make(&s, true, NULL);
        while (flr_engine_next(s.engine, &event)) {}
        assert_int_equal(flr_engine_set(s.engine, "engine", FLR_ENGINE_EXACT, NULL), FLR_OK);
        for (int i = 0; i < 200 && !ended; i++) {
            while (flr_engine_next(s.engine, &event)) {
                if (event.kind != FLR_ENGINE_EVENT_JOB || event.job.kind != FLR_WIRE_JOB_FIT)
                    continue;
                if (!job) assert_string_equal(event.job.name, "exact geometry");
                if (!job && cancelled) flr_engine_cancel(s.engine, event.job.job, NULL);
                job = event.job.job;
                ended += event.job.state == FLR_WIRE_JOB_ENDED;
                if (ended) assert_int_equal(event.job.result, cancelled ? FLR_CANCELLED : FLR_OK);
            }
            flr_engine_service(s.engine);
            if (!job) continue;
            flr_test_engine_pass(&s, 10);
        }
        assert_true(job && ended == 1);
        flr_test_engine_settle(&s);
        flr_engine_parameter p;
        for (uint32_t i = 0; flr_engine_parameter_at(s.engine, i, &p); i++)
            if (strcmp(p.name, "engine") == 0)
                assert_true(p.value == (cancelled ? FLR_ENGINE_SHELL : FLR_ENGINE_EXACT));
        flr_test_engine_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_has_a_number),
        cmocka_unit_test(no_distance_outlives_its_place),
        cmocka_unit_test(overlaps_are_listed),
        cmocka_unit_test(a_dropped_part_gets_voxels),
        cmocka_unit_test(geometry_is_built_with_progress),
        cmocka_unit_test(numbers_are_told_as_people_write_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
