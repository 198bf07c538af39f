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
        cmocka_unit_test(a_worker_lists_the_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
