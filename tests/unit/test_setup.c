/* what determines a run comes back from a recording to the bit, and changes are reported */
#include "sim/setup.h"

#include <math.h>

#include "support/fail_alloc.h"
#include "support/recorded.h"

static flr_error error;
static const flr_pose origin = {{0, 0, 0}, {1, 0, 0, 0}};

static flr_setup unusual(void)
{
    flr_setup s = flr_default_setup();
    s.rate = 4000;
    s.voxel = 0.1 + 0.2; /* not a short number */
    s.moving_voxel = 1e-300;
    s.options.unit = 0.0254;
    s.options.weld = 1e-6;
    s.options.chord = 1.0 / 3;
    s.options.tolerant = true;
    s.params.contact.force_layer = 7;
    s.params.contact.model = FLR_FORCE_SMOOTH;
    s.params.contact.awareness = !s.params.contact.awareness;
    s.params.contact.stiffness = 123.456;
    s.params.contact.full = 0;
    s.params.contact.displacement = -1e-4 / 3;
    s.params.friction = 0.3;
    s.params.depth = 0.25;
    s.params.unchecked = INFINITY;
    s.params.step.integrator = FLR_INTEGRATOR_QUASI_STATIC;
    s.params.step.gravity = (flr_vec3){-0.1, 0, -9.81};
    s.params.step.damping = 0.7;
    s.params.step.braking = 0;
    s.params.step.bounded = false;
    s.params.step.travel = 1e-3;
    s.params.coupling = (flr_coupling_def){.stiffness = 900,
                                           .turn_stiffness = 2,
                                           .damping = 0.9,
                                           .stretch = 1e-3,
                                           .turn = 0.1,
                                           .firm = true,
                                           .fade = 0.01,
                                           .hold = 0.03};
    s.params.passivity = (flr_passivity_params){false, 0.1, 3, 0.07, 0.02, 70, 800, 0.002, 2, 0.3};
    s.device_force = 15;
    s.device_torque = 0.5;
    s.dead_man = 3;
    return s;
}

static void comes_back_to_the_bit(void **state)
{
    (void)state;
    const flr_setup setups[] = {flr_default_setup(), unusual()};
    for (int i = 0; i < 2; i++) {
        flr_test_recorded r;
        flr_test_recorded_make(&r, &setups[i], &origin, NULL, 1, 0, 1);
        flr_recording *recording;
        flr_setup back;
        assert_ok(flr_recording_open(flr_env_real(), r.path, &recording, &error), error);
        assert_ok(flr_setup_read(recording, r.path, &back, &error), error);
        assert_string_equal(back.scene, r.scene_path);
        assert_string_equal(back.part, "peg");
        assert_eq(back.rate, setups[i].rate);
        assert_eq(back.voxel, setups[i].voxel);
        assert_eq(back.moving_voxel, setups[i].moving_voxel);
        assert_eq(back.options.chord, setups[i].options.chord);
        assert_eq(back.options.tolerant, setups[i].options.tolerant);
        assert_int_equal(back.dead_man, setups[i].dead_man);
        assert_eq(back.device_force, setups[i].device_force);
        /* what is not kept is not read by a world */
        back.params.contact.cull = setups[i].params.contact.cull;
        const flr_world_params *a = &back.params, *b = &setups[i].params;
        assert_eq(a->contact.force_layer, b->contact.force_layer);
        assert_eq(a->contact.model, b->contact.model);
        assert_eq(a->contact.awareness, b->contact.awareness);
        assert_eq(a->contact.stiffness, b->contact.stiffness);
        assert_eq(a->contact.full, b->contact.full);
        assert_eq(a->contact.displacement, b->contact.displacement);
        assert_eq(a->friction, b->friction);
        assert_eq(a->depth, b->depth);
        assert_eq(a->unchecked, b->unchecked);
        assert_eq(a->step.integrator, b->step.integrator);
        assert_true(flr_vec3_equal(a->step.gravity, b->step.gravity));
        assert_eq(a->step.damping, b->step.damping);
        assert_eq(a->step.braking, b->step.braking);
        assert_eq(a->step.bounded, b->step.bounded);
        assert_eq(a->step.travel, b->step.travel);
        assert_memory_equal(&a->coupling, &b->coupling, sizeof a->coupling);
        assert_eq(a->passivity.control, b->passivity.control);
        assert_eq(a->passivity.store, b->passivity.store);
        assert_eq(a->passivity.damping, b->passivity.damping);
        assert_eq(a->passivity.radius, b->passivity.radius);
        assert_eq(a->passivity.bound, b->passivity.bound);
        assert_eq(a->passivity.agility, b->passivity.agility);
        assert_eq(a->passivity.turn_agility, b->passivity.turn_agility);
        assert_eq(a->passivity.delay, b->passivity.delay);
        assert_eq(a->passivity.slew, b->passivity.slew);
        assert_eq(a->passivity.turn_slew, b->passivity.turn_slew);
        flr_recording_close(recording);
        flr_test_recorded_free(&r);
    }
}

/* a recording with one text replaced, or without it */
static flr_recording *with_text(flr_test_recorded *r, const char *key, const char *value)
{
    flr_setup setup = flr_default_setup();
    flr_texts texts = {0};
    setup.scene = r->scene_path;
    assert_ok(flr_setup_write(&setup, r->scene, &r->stage, &texts, &error), error);
    char path[1200];
    snprintf(path, sizeof path, "%s/other.mcap", r->folder);
    flr_path_remove(flr_env_real(), path, NULL);
    const char *list[256];
    size_t count = 0;
    for (size_t i = 0; i < texts.count; i += 2) {
        bool other = strcmp(texts.list[i], key) == 0;
        if (other && !value) continue;
        list[count++] = texts.list[i];
        list[count++] = other ? value : texts.list[i + 1];
    }
    list[count] = NULL;
    flr_recorder_def def = flr_default_recorder_def();
    def.path = path;
    def.texts = list;
    flr_recorder *recorder;
    flr_recording *recording;
    assert_ok(flr_recorder_create(flr_env_real(), &def, &recorder, &error), error);
    assert_ok(flr_recorder_finish(recorder, &error), error);
    assert_ok(flr_recording_open(flr_env_real(), path, &recording, &error), error);
    flr_texts_free(&texts);
    return recording;
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *says;
    } cases[] = {
        {"scene", NULL, "no recording of feeler run"},
        {"part", NULL, "no recording of feeler run"},
        {"device.dead_man", "99", "device.dead_man"},
        {"rate", "fast", "\"rate\" cannot be \"fast\""},
        {"rate", "1e9", "rate"},
        {"rate", NULL, "\"rate\" is missing"},
        {"step.integrator", "magic", "step.integrator"},
        {"mesh.tolerant", "perhaps", "mesh.tolerant"},
        {"contact.stiffness", "nan", "contact.stiffness"},
        {"contact.force_layer", "-1", "contact.force_layer"},
    };
    flr_setup setup = flr_default_setup();
    flr_test_recorded r;
    flr_test_recorded_make(&r, &setup, &origin, NULL, 1, 0, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_recording *recording = with_text(&r, cases[i].key, cases[i].value);
        flr_setup back = {.rate = 7};
        assert_int_equal(flr_setup_read(recording, "r.mcap", &back, &error), FLR_BAD_INPUT);
        assert_eq(back.rate, 7);
        if (!strstr(error.message, cases[i].says)) fail_msg("%s", error.message);
        flr_recording_close(recording);
    }
    flr_test_recorded_free(&r);
}

static void changes_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *says;
        bool changed;
    } cases[] = {
        {"none", NULL, NULL, false},
        {"scene.hash", "0", NULL, true},
        {"parts.1.mesh", "0", "mesh of part \"peg\" has changed", false},
        {"parts.0.name", "roof", "part \"wall\" was not there", false},
        {"parts.1.name", NULL, "part \"peg\" was not there", false},
    };
    flr_setup setup = flr_default_setup();
    flr_test_recorded r;
    flr_test_recorded_make(&r, &setup, &origin, NULL, 1, 0, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_recording *recording = with_text(&r, cases[i].key, cases[i].value);
        bool changed = !cases[i].changed;
        flr_result result = flr_setup_compare(recording, r.scene, &r.stage.parts, &changed, &error);
        assert_int_equal(result, cases[i].says ? FLR_BAD_INPUT : FLR_OK);
        assert_int_equal(changed, cases[i].changed);
        if (cases[i].says && !strstr(error.message, cases[i].says)) fail_msg("%s", error.message);
        flr_recording_close(recording);
    }
    /* a part that is gone */
    flr_recording *recording = with_text(&r, "none", NULL);
    flr_scene less = *r.scene;
    less.part_count = 1;
    bool changed = false;
    assert_int_equal(flr_setup_compare(recording, &less, &r.stage.parts, &changed, &error),
                     FLR_BAD_INPUT);
    assert_non_null(strstr(error.message, "\"peg\", which was recorded, is missing"));
    assert_true(changed);
    flr_recording_close(recording);
    flr_test_recorded_free(&r);
}

static flr_result describe(void *context, flr_error *why)
{
    (void)context;
    flr_texts texts = {0};
    for (int i = 0; i < 10; i++) flr_texts_add(&texts, "key", "value %d", i);
    flr_result result = flr_texts_end(&texts, why);
    flr_texts_free(&texts);
    return result;
}

static void does_without_memory(void **state)
{
    (void)state;
    assert_ge(flr_fail_alloc_each(describe, NULL), 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_to_the_bit),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(changes_are_told),
        cmocka_unit_test(does_without_memory),
    };
    return cmocka_run_group_tests_name("setup", tests, NULL, NULL);
}
