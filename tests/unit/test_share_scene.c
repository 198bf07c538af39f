/* the scene of a shared session on its way: how much a guest takes from a host, and who makes the list of files */
#include "sim/engine_internal.h"
#include "support/fixtures.h"

/* until the guest has it, or has failed; what it says then */
static const char *fetch(flr_test_sites *s, flr_test_site *guest)
{
    const char *sentence = NULL;
    flr_test_site_start(guest, &s->sites[0]);
    for (int i = 0; i < 200 && !sentence && !flr_share_ready(guest->share); i++) {
        flr_test_sites_pass(s, 0.1);
        if (!flr_share_failed(guest->share, &sentence)) sentence = NULL;
    }
    return sentence;
}

static void begin(flr_test_sites *s)
{
    flr_test_sites_begin(s, 1, &flr_test_lan, 2, 1000);
    flr_test_site_start(&s->sites[0], NULL);
    flr_test_sites_await_ready(s, 20);
}

static bool has_file(const flr_test_site *s, const char *path)
{
    flr_path_info info;
    return flr_path_look(s->env, path, &info, NULL) == FLR_OK && info.kind != FLR_PATH_NONE;
}

static void a_guest_takes_no_more_than_it_allows(void **state)
{
    (void)state;
    flr_test_sites s;
    begin(&s);
    s.sites[1].scene_limit = 1000;
    const char *sentence = fetch(&s, &s.sites[1]);
    assert_non_null(sentence);
    assert_non_null(strstr(sentence, "join with a larger --scene-limit"));
    assert_false(has_file(&s.sites[1], "/shared/scene.json"));
    assert_false(has_file(&s.sites[1], "/shared/scene_parts"));
    /* with enough it comes */
    flr_test_site_stop(&s.sites[1]);
    s.sites[1].scene_limit = 1 << 20;
    assert_null(fetch(&s, &s.sites[1]));
    assert_true(flr_share_ready(s.sites[1].share));
    assert_true(has_file(&s.sites[1], "/shared/scene.json"));
    flr_test_sites_end(&s);
}

static void a_guest_looks_for_room_first(void **state)
{
    (void)state;
    flr_test_sites s;
    begin(&s);
    flr_sim_disk disk = {.capacity = 700};
    flr_sim_set_disk(s.sites[1].env, &disk);
    const char *sentence = fetch(&s, &s.sites[1]);
    assert_non_null(sentence);
    assert_non_null(strstr(sentence, "the scene needs"));
    assert_non_null(strstr(sentence, "/shared"));
    assert_false(has_file(&s.sites[1], "/shared/scene.json"));
    flr_test_sites_end(&s);
}

static double chord_of(const flr_test_site *s, const char *name)
{
    const flr_part_list *parts = &s->engine->members;
    for (uint32_t i = 0; i < parts->count; i++)
        if (!strcmp(parts->list[i].name, name)) return parts->list[i].chord;
    fail_msg("there is no part %s", name);
    return 0;
}

/* How far triangles stray from the exact surface decides what is a clash: all members have the same number, to the last bit, and
 * the same meshes. */
static void a_guest_knows_the_chords(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_error error;
    static const double chords[] = {1e-3 / 3, 1.2345678901234567e-5, 7e-9};
    flr_test_sites_begin(&s, 1, &flr_test_lan, 2, 1000);
    flr_test_site_start(&s.sites[0], NULL);
    for (int i = 0; i < 3; i++) {
        char name[16];
        flr_engine_add_def def = flr_default_engine_add_def();
        snprintf(name, sizeof name, "cad %d", i);
        def.name = name;
        def.mesh = flr_test_engine_box(flr_vec3_make(0.01, 0.01, 0.01 * (i + 1) / 3.0));
        ((flr_mesh_group *)(uintptr_t)def.mesh->groups)->chord = chords[i];
        def.T_world_part = flr_pose_make(flr_vec3_make(0.05 * i, 0.5, 0.1), flr_quat_identity());
        def.kind = FLR_PART_STATIC;
        def.voxel = 0.002;
        assert_ok(flr_engine_add(s.sites[0].engine, &def, NULL, NULL, &error), error);
    }
    flr_test_sites_await_ready(&s, 20);
    assert_null(fetch(&s, &s.sites[1]));
    assert_true(flr_share_ready(s.sites[1].share));
    const flr_part_list *host = &s.sites[0].engine->members, *guest = &s.sites[1].engine->members;
    assert_int_equal(host->count, guest->count);
    for (uint32_t i = 0; i < host->count; i++) {
        const flr_part_entry *one = &host->list[i], *other = &guest->list[i];
        assert_string_equal(one->name, other->name);
        assert_true(flr_hash_equal(one->shape->mesh->hash, other->shape->mesh->hash));
        assert_true(one->chord == other->chord);
    }
    assert_true(chord_of(&s.sites[1], "cad 0") == chords[0]);
    assert_true(chord_of(&s.sites[1], "cad 2") == chords[2]);
    flr_test_sites_end(&s);
}

/* the host reads its files in a job: after the scene is saved, one that nobody is shown waits or has just been done */
static void a_worker_lists_the_files(void **state)
{
    (void)state;
    flr_test_sites s;
    flr_engine_event event;
    flr_test_sites_begin(&s, 1, &flr_test_lan, 1, 1000);
    flr_test_site *host = &s.sites[0];
    flr_test_site_start(host, NULL);
    bool saved = false;
    for (int i = 0; i < 20000 && !saved; i++) {
        flr_engine_run(host->engine, 2);
        flr_engine_service(host->engine);
        while (flr_engine_next(host->engine, &event)) {
            saved |= event.kind == FLR_ENGINE_EVENT_JOB && event.job.kind == FLR_WIRE_JOB_SAVE &&
                     event.job.state == FLR_WIRE_JOB_ENDED;
            flr_share_event(host->share, &event);
        }
        if (!saved) flr_share_service(host->share);
        flr_sim_advance(s.sim, 2 * FLR_SIM_MS);
    }
    assert_true(saved);
    /* the disk is not looked at before a worker does: until then it is not ready */
    for (int i = 0; i < 10; i++) flr_share_service(host->share);
    assert_false(flr_share_ready(host->share));
    for (int i = 0; i < 10; i++) flr_engine_service(host->engine);
    flr_share_service(host->share);
    assert_true(flr_share_ready(host->share));
    flr_test_sites_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guest_takes_no_more_than_it_allows),
        cmocka_unit_test(a_guest_looks_for_room_first),
        cmocka_unit_test(a_guest_knows_the_chords),
        cmocka_unit_test(a_worker_lists_the_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
