/* which parts clash, as clients ask for it: states, what is used again, fits of the design, reports */
#include <math.h>

#include "scene/allow.h"
#include "sim/engine_internal.h"
#include "support/fixtures.h"

static flr_error error;

static void put(flr_test_engine *s, flr_part_id part, flr_vec3 at)
{
    flr_pose pose = flr_pose_make(at, flr_quat_identity());
    assert_ok(flr_engine_place(s->engine, part, pose, &error), error);
    flr_test_engine_pass(s, 60);
}

/* The answer to a question; it must come. */
static const flr_engine_clashes *ask(flr_test_engine *s, double clearance)
{
    static uint32_t token;
    flr_engine_event event;
    assert_ok(flr_engine_clashes_ask(s->engine, clearance, ++token, &error), error);
    for (int i = 0; i < 100; i++) {
        flr_engine_service(s->engine);
        while (flr_engine_next(s->engine, &event))
            if (event.kind == FLR_ENGINE_EVENT_CLASHES && event.token == token) {
                assert_int_equal(event.result, FLR_OK);
                return flr_engine_clashes_of(s->engine, token);
            }
    }
    fail_msg("there is no answer");
    return NULL;
}

/* The block stands 0.5 mm in the plate, the ball 0.3 mm above it. */
static void make(flr_test_engine *s)
{
    flr_test_engine_make(s, true, NULL);
    put(s, s->block, flr_vec3_make(0, 0, 0.0095));
    put(s, s->ball, flr_vec3_make(0.05, 0, 0.0103));
}

static void states_and_distances(void **state)
{
    (void)state;
    flr_test_engine s;
    make(&s);
    const flr_engine_clashes *c = ask(&s, 0.001);
    assert_int_equal(c->overlaps, 1);
    assert_int_equal(c->contacts, 0);
    assert_int_equal(c->near, 1);
    assert_int_equal(c->pair_count, 2);
    assert_int_equal(c->pairs[0].state, FLR_CLASH_OVERLAP);
    assert_int_equal(c->pairs[0].a, s.plate.index);
    assert_int_equal(c->pairs[0].b, s.block.index);
    assert_true(fabs(c->pairs[0].depth - 5e-4) < 1e-6);
    assert_int_equal(c->pairs[1].state, FLR_CLASH_NEAR);
    assert_int_equal(c->pairs[1].b, s.ball.index);
    assert_true(fabs(c->pairs[1].distance - 3e-4) < 1e-9);
    // a smaller clearance finds less, and bad ones are refused
    assert_int_equal(ask(&s, 0)->pair_count, 1);
    assert_int_equal(flr_engine_clashes_ask(s.engine, -1, 7, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_engine_clashes_ask(s.engine, NAN, 7, &error), FLR_BAD_ARGUMENT);
    assert_null(flr_engine_clashes_of(s.engine, 7));
    flr_test_engine_free(&s);
}

/* What did not move is not measured again: the answers are those of an engine that never was asked before. */
static void what_moves_is_found_again(void **state)
{
    (void)state;
    flr_test_engine s, other;
    make(&s);
    flr_test_engine_make(&other, true, NULL);
    ask(&s, 0.001);
    const flr_vec3 ways[] = {
        {0.05, 0, 0.0099}, {0.01, 0, 0.02}, {0.05, 0, 0.5}, {0.0201, 0, 0.0095}};
    put(&other, other.block, flr_vec3_make(0, 0, 0.0095));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        put(&s, s.ball, ways[i]);
        put(&other, other.ball, ways[i]);
        const flr_engine_clashes *again = ask(&s, 0.001), *fresh = ask(&other, 0.001);
        assert_int_equal(again->pair_count, fresh->pair_count);
        for (uint32_t k = 0; k < fresh->pair_count; k++)
            assert_memory_equal(&again->pairs[k], &fresh->pairs[k], sizeof fresh->pairs[k]);
        /* the other engine forgets what it knows */
        ask(&other, 0.5);
    }
    // a part that is gone clashes no more
    assert_ok(flr_engine_remove(s.engine, s.block, &error), error);
    flr_test_engine_settle(&s);
    const flr_engine_clashes *c = ask(&s, 0.001);
    for (uint32_t k = 0; k < c->pair_count; k++)
        assert_true(c->pairs[k].a != s.block.index && c->pairs[k].b != s.block.index);
    assert_int_equal(c->overlaps, 1); /* the ball, which is 0.5 mm in the plate */
    flr_test_engine_free(&s);
    flr_test_engine_free(&other);
}

static void fits_of_the_design(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_scene *scene;
    uint32_t job;
    make(&s);
    assert_ok(flr_engine_allow(s.engine, s.block, s.plate, true, &error), error);
    assert_ok(flr_engine_allow(s.engine, s.plate, s.block, true, &error),
              error); /* it is already */
    assert_int_equal(flr_engine_allow_rules(s.engine), 1);
    const flr_engine_clashes *c = ask(&s, 0.001);
    assert_int_equal(c->overlaps, 0);
    assert_int_equal(c->allowed, 1);
    assert_int_equal(c->pair_count, 2);
    assert_true(!c->is_allowed[0] && c->is_allowed[1]); /* what is allowed comes last */
    // saved, and read again
    assert_ok(flr_path_make_folder(s.env, "/plans", &error), error);
    assert_ok(flr_engine_save(s.engine, "/plans/plan.json", &job, &error), error);
    flr_test_engine_settle(&s);
    assert_ok(flr_scene_read(s.env, "/plans/plan.json", &scene, &error), error);
    assert_int_equal(scene->allow_count, 1);
    assert_string_equal(scene->allow[0].a, "block");
    assert_string_equal(scene->allow[0].b, "plate");
    flr_scene_destroy(scene);
    assert_ok(flr_engine_load(s.engine, "/plans/plan.json", &job, &error), error);
    flr_test_engine_settle(&s);
    c = ask(&s, 0.001);
    assert_int_equal(c->allowed, 1);
    assert_int_equal(c->near, 1);
    flr_part_id plate = flr_engine_part_id(s.engine, 0), block = flr_engine_part_id(s.engine, 1);
    assert_ok(flr_engine_allow(s.engine, plate, block, false, &error), error);
    assert_int_equal(flr_engine_allow_rules(s.engine), 0);
    assert_int_equal(ask(&s, 0.001)->overlaps, 1);
    assert_int_equal(flr_engine_allow(s.engine, plate, plate, true, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(
        flr_engine_allow(s.engine, plate, flr_engine_part_id(s.engine, 77), true, &error),
        FLR_NOT_FOUND);
    flr_test_engine_free(&s);
}

static void notes_are_kept(void **state)
{
    (void)state;
    flr_test_engine s;
    uint32_t job;
    make(&s);
    flr_engine_note note = {FLR_ENGINE_NONE, s.block, {0.01, 0, 0}, "check the gap"};
    assert_ok(flr_engine_set_note(s.engine, &note, &error), error);
    flr_engine_note world = {FLR_ENGINE_NONE, FLR_NO_PART_ID, {0, 0, 1}, "here"}, gone = world;
    assert_ok(flr_engine_set_note(s.engine, &world, &error), error);
    assert_ok(flr_engine_set_note(s.engine, &gone, &error), error);
    assert_int_equal(flr_engine_notes(s.engine), 3);
    gone.text[0] = 0;
    assert_ok(flr_engine_set_note(s.engine, &gone, &error), error);
    assert_int_equal(flr_engine_set_note(s.engine, &gone, &error), FLR_NOT_FOUND);
    note.text[5] = '\n';
    assert_int_equal(flr_engine_set_note(s.engine, &note, &error), FLR_BAD_ARGUMENT);
    strcpy(note.text, "checked");
    assert_ok(flr_engine_set_note(s.engine, &note, &error), error);
    // saved and read again, with the part that they are at
    assert_ok(flr_path_make_folder(s.env, "/plans", &error), error);
    assert_ok(flr_engine_save(s.engine, "/plans/plan.json", &job, &error), error);
    flr_test_engine_settle(&s);
    assert_ok(flr_engine_load(s.engine, "/plans/plan.json", &job, &error), error);
    flr_test_engine_settle(&s);
    assert_int_equal(flr_engine_notes(s.engine), 2);
    const flr_engine_note *first = flr_engine_note_at(s.engine, 0);
    assert_string_equal(first->text, "checked");
    assert_part_equal(first->part, flr_engine_part_id(s.engine, 1));
    assert_true(fabs(first->position.x - 0.01) < 1e-12);
    assert_false(flr_is_part(flr_engine_note_at(s.engine, 1)->part));
    // they go with their part
    assert_ok(flr_engine_remove(s.engine, flr_engine_part_id(s.engine, 1), &error), error);
    assert_int_equal(flr_engine_notes(s.engine), 1);
    assert_null(flr_engine_note_at(s.engine, 1));
    flr_test_engine_free(&s);
}

/* another revision of a part: the mesh is another one, all else stays */
static void a_part_gets_another_file(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_engine_part before, after;
    flr_part_id part;
    uint32_t job;
    make(&s);
    flr_engine_note note = {FLR_ENGINE_NONE, s.block, {0, 0, 0}, "kept"};
    assert_ok(flr_engine_set_note(s.engine, &note, &error), error);
    assert_ok(flr_engine_allow(s.engine, s.block, s.ball, true, &error), error);
    assert_ok(flr_engine_get_part(s.engine, s.block, &before, &error), error);
    assert_int_equal(ask(&s, 0)->overlaps, 1);
    flr_engine_add_def def = flr_default_engine_add_def();
    def.name = "block_rev_b.stl";
    def.mesh = flr_test_engine_box(flr_vec3_make(0.02, 0.02, 0.018)); /* it clears the plate */
    ((flr_mesh_group *)(uintptr_t)def.mesh->groups)->chord = 2e-5;
    def.replaces = s.block;
    assert_ok(flr_engine_add(s.engine, &def, &part, &job, &error), error);
    assert_part_equal(part, s.block);
    flr_test_engine_settle(&s);
    assert_ok(flr_engine_get_part(s.engine, s.block, &after, &error), error);
    assert_string_equal(after.name, "block");
    assert_int_equal(after.kind, before.kind);
    assert_int_equal(after.colour, before.colour);
    assert_true(after.mesh.index != before.mesh.index && after.ready);
    assert_true(after.voxel == before.voxel);
    assert_true(flr_part_list_find(&s.engine->members, s.block.index)->chord == 2e-5);
    assert_true(fabs(flr_box3_size(after.geometry->bounds).z - 0.018) < 1e-9);
    assert_true(fabs(after.T_world_part.p.z - 0.0095) < 1e-3);
    assert_int_equal(flr_engine_notes(s.engine), 1);
    assert_int_equal(flr_engine_allow_rules(s.engine), 1);
    const flr_engine_clashes *c = ask(&s, 0);
    assert_int_equal(c->overlaps, 0);
    // what cannot be read leaves it as it is
    def = flr_default_engine_add_def();
    def.name = "gone.stl";
    def.file = "/gone.stl";
    def.replaces = s.block;
    assert_ok(flr_engine_add(s.engine, &def, NULL, &job, &error), error);
    flr_test_engine_settle(&s);
    flr_engine_event event;
    bool told = false;
    while (flr_engine_next(s.engine, &event))
        told = told || (event.kind == FLR_ENGINE_EVENT_JOB && event.job.job == job &&
                        strstr(event.job.sentence, "\"block\" stays as it was"));
    assert_true(told);
    assert_ok(flr_engine_get_part(s.engine, s.block, &before, &error), error);
    assert_int_equal(before.mesh.index, after.mesh.index);
    def.replaces = flr_engine_part_id(s.engine, 99);
    assert_int_equal(flr_engine_add(s.engine, &def, NULL, &job, &error), FLR_NOT_FOUND);
    flr_test_engine_free(&s);
}

static bool is_named(void *context, uint32_t part, const char *pattern)
{
    const char *const *names = context;
    return flr_allow_fits(pattern, names[part]);
}

static void rules_by_name(void **state)
{
    (void)state;
    const char *names[] = {"bolt 1", "bolt 2", "nut [1]", "plate"};
    flr_allow *allow = flr_allow_create(4, is_named, names);
    uint32_t found[2], rule = 99;
    assert_ok(flr_allow_add(allow, "bolt*", "nut [1]", found, &error), error);
    assert_int_equal(found[0], 2);
    assert_int_equal(found[1], 1); /* to the letter, though it reads as a pattern */
    assert_ok(flr_allow_add(allow, "plate", "*", found, &error), error);
    assert_int_equal(found[1], 4);
    assert_true(flr_allow_has(allow, 2, 1, &rule) && rule == 0);
    assert_true(flr_allow_has(allow, 1, 3, &rule) && rule == 1);
    assert_false(flr_allow_has(allow, 0, 1, &rule));
    flr_allow_destroy(allow);
}

static flr_result print_report(const flr_engine_report *report, flr_blob *file, flr_error *why)
{
    (void)why;
    char *text = malloc(256);
    assert_non_null(text);
    assert_true(report->go_on(report->context, 0.5));
    int size = snprintf(text, 256, "%u %zu %llu %s %s %u", report->part_count,
                        report->list->pair_count, (unsigned long long)report->list->skipped,
                        report->parts[report->list->pairs[0].a].name,
                        report->parts[report->list->pairs[0].b].name, report->format);
    *file = (flr_blob){(uint8_t *)text, (size_t)size};
    return FLR_OK;
}

static void a_report_is_written(void **state)
{
    (void)state;
    flr_test_engine s;
    uint32_t job;
    uint8_t format;
    const char *what;
    flr_blob file;
    make(&s);
    assert_int_equal(flr_engine_report_clashes(s.engine, 0, 0, &job, &error), FLR_UNSUPPORTED);
    flr_test_engine_free(&s);

    flr_engine_def def = flr_threadless_engine_def(flr_env_real());
    def.report = print_report;
    assert_ok(flr_engine_create(&def, &s.engine, &error), error);
    s.env = flr_env_real();
    s.sim = NULL;
    const flr_vec3 size = {0.02, 0.02, 0.02};
    for (int i = 0; i < 3; i++) {
        char name[8] = {(char)('a' + i), 0};
        flr_test_engine_add(s.engine, name, size, flr_vec3_make(0.0195 * i, 0, 0), FLR_PART_STATIC,
                            0.002);
    }
    for (int i = 0; i < 50; i++) flr_engine_service(s.engine);
    assert_ok(flr_engine_allow(s.engine, flr_engine_part_id(s.engine, 0),
                               flr_engine_part_id(s.engine, 1), true, &error),
              error);
    assert_false(flr_engine_get_report(s.engine, 1, &format, &what, &file));
    assert_ok(flr_engine_report_clashes(s.engine, 0.001, 1, &job, &error), error);
    for (int i = 0; i < 10; i++) flr_engine_service(s.engine);
    assert_true(flr_engine_get_report(s.engine, job, &format, &what, &file));
    assert_int_equal(format, 1);
    assert_string_equal(what, "clashes");
    assert_memory_equal(file.bytes, "3 1 1 b c 1", file.size);
    /* a client that asks over and over, which may be a watcher, does not take the places of all other jobs; what ends or is
     * cancelled makes place for the next */
    for (int round = 0; round < 2; round++) {
        uint32_t asked = 0;
        while (asked < 20 && flr_engine_report_clashes(s.engine, 0.001, 1, &job, &error) == FLR_OK)
            asked++;
        assert_in_range(asked, 2, 8);
        assert_non_null(strstr(error.message, "other reports are being written"));
        if (round == 0) assert_ok(flr_engine_cancel(s.engine, job, &error), error);
        for (int i = 0; i < 50; i++) flr_engine_service(s.engine);
        assert_int_equal(flr_engine_jobs(s.engine), 0);
    }
    flr_engine_destroy(s.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_and_distances),     cmocka_unit_test(what_moves_is_found_again),
        cmocka_unit_test(fits_of_the_design),       cmocka_unit_test(rules_by_name),
        cmocka_unit_test(a_report_is_written),      cmocka_unit_test(notes_are_kept),
        cmocka_unit_test(a_part_gets_another_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
