/* an engine whose static part is paged: as in memory; a disk that stalls pauses it with a word, and it goes on */
#include <math.h>

#include "feeler/sim.h"
#include "sim/engine.h"
#include "sim/overlay.h"
#include "support/fixtures.h"

static flr_error error;

static const char scene_text[] =
    "{\"feeler\": 1, \"name\": \"paged\", \"unit\": \"mm\", \"voxel\": 1,\n"
    " \"parts\": [{\"name\": \"plate\", \"file\": \"plate.stl\"},\n"
    "            {\"name\": \"tool\", \"file\": \"tool.stl\", \"moving\": true,\n"
    "             \"pose\": {\"position\": [-190, -150, 125]}}]}\n";

typedef struct rig {
    flr_sim *sim;
    flr_env *env;
    flr_cache cache;
    flr_engine *engine;
    char said[FLR_ERROR_MESSAGE_SIZE]; /* the last news with "voxels" in it */
} rig;

static void serve(rig *r, int times)
{
    for (int i = 0; i < times; i++) {
        flr_engine_event event;
        flr_engine_service(r->engine);
        while (flr_engine_next(r->engine, &event)) {
            if (event.kind == FLR_ENGINE_EVENT_JOB && event.job.state == FLR_WIRE_JOB_ENDED)
                assert_int_equal(event.job.result, FLR_OK);
            if (event.kind == FLR_ENGINE_EVENT_NEWS && strstr(event.sentence, "voxels"))
                memcpy(r->said, event.sentence, sizeof r->said);
        }
    }
}

static bool running_free; /* engines made from now on are not paced */

static void make_rig_with(rig *r, uint64_t memory, const char *scene)
{
    flr_sim_def sim = flr_default_sim_def();
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    *r = (rig){.sim = flr_sim_create(&sim), .cache = {.folder = "/cache"}};
    r->env = flr_sim_node(r->sim, address);
    flr_test_part plate, tool;
    flr_test_part_make(&plate, FLR_TEST_BOX, 20, 0.01, false);
    flr_test_part_make(&tool, FLR_TEST_TORUS, 0.5, 0.001, false);
    assert_ok(flr_mesh_write(r->env, "/plate.stl", flr_test_shape_mesh(&plate.shape), 0, &error),
              error);
    assert_ok(flr_mesh_write(r->env, "/tool.stl", flr_test_shape_mesh(&tool.shape), 0, &error),
              error);
    flr_test_part_free(&plate);
    flr_test_part_free(&tool);
    flr_output *out;
    assert_ok(flr_output_begin(r->env, "/scene.json", &out, &error), error);
    assert_ok(flr_output_write(out, scene, strlen(scene), &error), error);
    assert_ok(flr_output_commit(out, &error), error);
    flr_engine_def def = flr_threadless_engine_def(r->env);
    def.hands = 1;
    def.cache = &r->cache;
    def.memory = memory;
    def.paced = !running_free;
    assert_ok(flr_engine_create(&def, &r->engine, &error), error);
    uint32_t job;
    assert_ok(flr_engine_load(r->engine, "/scene.json", &job, &error), error);
    serve(r, 30);
    flr_engine_run(r->engine, 2);
    serve(r, 30);
    assert_int_equal(flr_engine_jobs(r->engine), 0);
    assert_ok(flr_engine_grab(r->engine, flr_hand(0), flr_engine_part_id(r->engine, 1), &error),
              error);
}

static void make_rig(rig *r, uint64_t memory) { make_rig_with(r, memory, scene_text); }

static void free_rig(rig *r)
{
    flr_engine_destroy(r->engine);
    flr_sim_destroy(r->sim);
}

/* Where the hand is at a step; from end to end of the plate, pressed down. */
static void push(rig *r, int i, int of)
{
    flr_pose T = flr_pose_identity();
    double t = (double)i / of;
    T.p = flr_vec3_make(-0.19 + 0.36 * t, -0.15 + 0.2 * t, 0.125 - 0.02 * sin(3 * t));
    flr_engine_hand_input(r->engine, flr_hand(0), T, 0, NULL);
    flr_engine_run(r->engine, 1);
}

/* where the tool is; a plate that was touched is in the list, too */
static flr_pose tool_of(const flr_engine_state *s)
{
    for (uint32_t i = 0; i < s->part_count; i++)
        if (s->parts[i].part.index == 1) return s->parts[i].T_world_part;
    fail();
    return flr_pose_identity();
}

enum { FRAMES = 800 };

static void paged_is_as_in_memory(void **state)
{
    (void)state;
    flr_pose end[2];
    uint64_t touching = 0;
    for (int paged = 0; paged < 2; paged++) {
        rig r;
        make_rig(&r, paged ? 2 << 20 : 0);
        for (int i = 0; i < 20; i++)
            push(&r, 0, FRAMES), serve(&r, 3); /* takes the tool where it is */
        for (int i = 0; i < FRAMES; i++) {
            push(&r, i, FRAMES);
            /* nothing is slow here: what is wanted is there before the next frame */
            serve(&r, paged ? 3 : 1);
            const flr_engine_state *s = flr_engine_view(r.engine);
            touching += s->contact_count > 0;
            assert_true(paged || s->paging.slots == 0);
        }
        const flr_engine_state *s = flr_engine_view(r.engine);
        end[paged] = tool_of(s);
        if (paged) {
            assert_eq(s->paging.slots, 32);
            assert_gt(s->paging.evicted, 0);
            assert_gt(s->paging.hits, 0);
            assert_gt(s->paging.bytes_read, 0);
            assert_lt(s->waits.count, 20);
            assert_lt(s->waits.total, 0.1);
        }
        free_rig(&r);
    }
    assert_gt(touching, FRAMES / 5);
    /* steps that waited have the hand move on meanwhile; that each step is the same is shown by runs */
    assert_lt(flr_vec3_length(flr_vec3_sub(end[0].p, end[1].p)), 0.015);
}

/* What viewers ask for comes from the file: the same voxels and distances as of a part in memory. */
static void overlays_and_distances_are_as_in_memory(void **state)
{
    (void)state;
    uint32_t voxels[2] = {0}, near_voxels[2] = {0};
    double least[2] = {INFINITY, INFINITY};
    for (int paged = 0; paged < 2; paged++) {
        rig r;
        make_rig(&r, paged ? 2 << 20 : 0);
        flr_engine_want_near(r.engine, true, true);
        for (int i = 0; i < 300; i++) push(&r, 0, FRAMES), serve(&r, 3);
        assert_eq(flr_engine_view(r.engine)->paging.slots > 0, paged);
        flr_engine_near near;
        assert_true(flr_engine_get_near(r.engine, &near));
        for (uint32_t i = 0; i < near.vertices; i++)
            least[paged] = fmin(least[paged], near.distances[i]);
        near_voxels[paged] = near.voxel_count;
        flr_overlay_request *request;
        const flr_overlay *overlay;
        assert_ok(flr_overlay_begin(r.engine, flr_engine_part_id(r.engine, 0),
                                    FLR_WIRE_OVERLAY_VOXELS, 1000, &request, &error),
                  error);
        serve(&r, 30);
        assert_ok(flr_overlay_get(request, &overlay, &error), error);
        voxels[paged] = overlay->count;
        flr_overlay_end(request);
        free_rig(&r);
    }
    assert_gt(voxels[0], 100);
    assert_eq(voxels[0], voxels[1]);
    assert_lt(least[0], 0.01);
    assert_eq(least[0], least[1]);
    assert_gt(near_voxels[0], 0);
    assert_eq(near_voxels[0], near_voxels[1]);
}

static void a_stall_pauses(void **state)
{
    (void)state;
    rig r;
    make_rig(&r, 2 << 20);
    for (int i = 0; i < 50; i++) push(&r, i, FRAMES), serve(&r, 2);
    assert_false(flr_engine_view(r.engine)->waiting);
    flr_sim_set_disk(r.env, &(flr_sim_disk){.fail_at = 1, .fail_on = true});
    int waiting = 0, i = 50;
    while (!flr_engine_view(r.engine)->paused && i < 6000) {
        push(&r, i < FRAMES ? i : FRAMES, FRAMES), serve(&r, 1), i++;
        const flr_engine_state *s = flr_engine_view(r.engine);
        waiting += s->waiting;
        if (waiting > 60) assert_eq(flr_vec3_length(s->hands[0].wrench.force), 0);
    }
    const flr_engine_state *s = flr_engine_view(r.engine);
    assert_true(s->paused);
    assert_true(s->waiting);
    assert_ge(s->waits.longest, 2.0);
    assert_le(s->waits.longest, 2.05);
    serve(&r, 2);
    assert_non_null(strstr(r.said, "paused: voxels did not come from the disk within 2 s"));
    flr_pose there = tool_of(s);
    for (int k = 0; k < 100; k++) push(&r, FRAMES, FRAMES), serve(&r, 1);
    /* the disk is well again: that is reported, and it goes on when a client resumes */
    flr_sim_set_disk(r.env, &(flr_sim_disk){0});
    for (int k = 0; k < 600; k++) push(&r, FRAMES, FRAMES), serve(&r, 2);
    assert_non_null(strstr(r.said, "the voxels are there now"));
    s = flr_engine_view(r.engine);
    assert_true(s->paused);
    assert_false(s->waiting);
    flr_pose still = tool_of(s);
    assert_memory_equal(&there.p, &still.p, sizeof there.p);
    assert_ok(flr_engine_pause(r.engine, false, &error), error);
    for (int k = 0; k < 300; k++) push(&r, FRAMES, FRAMES), serve(&r, 2);
    s = flr_engine_view(r.engine);
    assert_false(s->paused || s->waiting);
    assert_gt(flr_vec3_length(flr_vec3_sub(tool_of(s).p, there.p)), 0.01);
    free_rig(&r);
}

/* Frames that run free take no time: it is the clock that says how long the disk takes. */
static void a_free_run_is_patient(void **state)
{
    (void)state;
    rig r;
    running_free = true;
    make_rig(&r, 2 << 20);
    running_free = false;
    for (int i = 0; i < 50; i++) push(&r, i, FRAMES), serve(&r, 2);
    flr_sim_set_disk(r.env, &(flr_sim_disk){.fail_at = 1, .fail_on = true});
    int waiting = 0;
    for (int i = 50; i < 6000; i++) {
        push(&r, i < FRAMES ? i : FRAMES, FRAMES), serve(&r, 1);
        waiting += flr_engine_view(r.engine)->waiting;
    }
    assert_gt(waiting, 4000);
    assert_false(flr_engine_view(r.engine)->paused);
    flr_sim_advance(r.sim, 2100 * FLR_SIM_MS);
    for (int i = 0; i < 5; i++) push(&r, FRAMES, FRAMES), serve(&r, 1);
    assert_true(flr_engine_view(r.engine)->paused);
    free_rig(&r);
}

/* voxels of a part that moves cannot be paged: it is refused, and all goes on as before */
static void a_paged_part_stays(void **state)
{
    (void)state;
    rig r;
    make_rig(&r, 2 << 20);
    assert_non_null(strstr(r.said, "part \"plate\": "));
    assert_non_null(strstr(r.said, "2 MB of memory for them, and "));
    assert_int_equal(
        flr_engine_set_kind(r.engine, flr_engine_part_id(r.engine, 0), FLR_PART_MOVABLE, &error),
        FLR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "part \"plate\" cannot be made to move"));
    assert_int_equal(
        flr_engine_set_kind(r.engine, flr_engine_part_id(r.engine, 0), FLR_PART_FREE, &error),
        FLR_UNSUPPORTED);
    assert_int_equal(
        flr_engine_grab(r.engine, flr_hand(0), flr_engine_part_id(r.engine, 0), &error),
        FLR_DENIED);
    *r.said = 0;
    /* what does move can be told to stay and to move again */
    assert_ok(
        flr_engine_set_kind(r.engine, flr_engine_part_id(r.engine, 1), FLR_PART_STATIC, &error),
        error);
    serve(&r, 5), flr_engine_run(r.engine, 2), serve(&r, 5);
    assert_ok(
        flr_engine_set_kind(r.engine, flr_engine_part_id(r.engine, 1), FLR_PART_MOVABLE, &error),
        error);
    serve(&r, 5), flr_engine_run(r.engine, 2), serve(&r, 5);
    assert_ok(flr_engine_grab(r.engine, flr_hand(0), flr_engine_part_id(r.engine, 1), &error),
              error);
    for (int i = 0; i < 200; i++) push(&r, i, FRAMES), serve(&r, 3);
    assert_gt(flr_engine_view(r.engine)->paging.bytes_read, 0);
    assert_int_equal(*r.said, 0);
    free_rig(&r);
}

/* Every block of the larger file in the cache, the plate's. Returns how many files there are. */
static size_t damage_file(rig *r)
{
    flr_cache_entry *entries;
    size_t count, largest = 0;
    char path[FLR_CACHE_PATH_SIZE];
    flr_file *file;
    assert_ok(flr_cache_list(r->env, "/cache", &entries, &count, &error), error);
    for (size_t i = 0; i < count; i++)
        if (entries[i].size > entries[largest].size) largest = i;
    snprintf(path, sizeof path, "/cache/%s", entries[largest].name);
    assert_ok(flr_file_open(r->env, path, FLR_FILE_UPDATE, &file, &error), error);
    for (uint64_t at = 0; at < entries[largest].size; at += 16384)
        assert_ok(flr_file_write(file, at, "x", 1, &error), error);
    flr_file_close(file);
    flr_cache_list_free(entries);
    return count;
}

/* a damaged file goes, so that opening the scene again helps; it would be found there for ever otherwise */
static void damage_is_mended_by_opening_again(void **state)
{
    (void)state;
    rig r;
    make_rig(&r, 2 << 20);
    for (int i = 0; i < 50; i++) push(&r, i, FRAMES), serve(&r, 2);
    size_t before = damage_file(&r);
    for (int i = 50; !flr_engine_view(r.engine)->paused && i < 6000; i++)
        push(&r, i < FRAMES ? i : FRAMES, FRAMES), serve(&r, 1);
    serve(&r, 2);
    assert_non_null(strstr(r.said, "the checksum at byte"));
    assert_non_null(strstr(r.said, "removed from the cache: open the scene again"));
    flr_cache_entry *entries;
    size_t after;
    assert_ok(flr_cache_list(r.env, "/cache", &entries, &after, &error), error);
    flr_cache_list_free(entries);
    assert_int_equal(after + 1, before);
    uint32_t job;
    assert_ok(flr_engine_load(r.engine, "/scene.json", &job, &error), error);
    for (int i = 0; i < 20; i++) serve(&r, 10), flr_engine_run(r.engine, 1);
    assert_ok(flr_engine_pause(r.engine, false, &error), error);
    assert_ok(flr_engine_grab(r.engine, flr_hand(0), flr_engine_part_id(r.engine, 1), &error),
              error);
    for (int i = 0; i < FRAMES; i++) push(&r, i, FRAMES), serve(&r, 3);
    const flr_engine_state *s = flr_engine_view(r.engine);
    assert_false(s->paused || s->waiting);
    assert_gt(s->paging.bytes_read, 0);
    assert_eq(s->paging.failures, 0);
    free_rig(&r);
}

/* The tool at a height, in millimetres: what is said of its standing in the plate, whose top is at 120. NULL: nothing. */
static const char *said_at(double height)
{
    static char said[FLR_ERROR_MESSAGE_SIZE];
    char scene[600];
    const char *place = strstr(scene_text, "125]}");
    rig r;
    flr_part_id part;
    snprintf(scene, sizeof scene, "%.*s%g%s", (int)(place - scene_text), scene_text, height,
             place + 3);
    make_rig_with(&r, 2 << 20, scene);
    for (int i = 0; i < 20; i++)
        flr_sim_advance(r.sim, 10 * FLR_SIM_MS), flr_engine_run(r.engine, 1), serve(&r, 3);
    bool there = flr_engine_overlap(r.engine, &part, said);
    assert_gt(flr_engine_view(r.engine)->paging.slots, 0);
    if (there) assert_int_equal(part.index, 1);
    free_rig(&r);
    return there ? said : NULL;
}

/* though most of a paged part is not in memory */
static void what_stands_inside_is_told(void **state)
{
    (void)state;
    assert_null(said_at(125));
    const char *said = said_at(0);
    assert_non_null(said);
    assert_non_null(strstr(said, "tool is up to "));
    assert_non_null(strstr(said, " deep inside plate"));
    assert_gt(strtod(strstr(said, "up to ") + 6, NULL), 40); /* mm; 50 from the nearest side */
    /* a part that only just reaches into it, so that the directory does not know */
    said = said_at(120);
    assert_non_null(said);
    assert_non_null(strstr(said, "tool"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paged_is_as_in_memory),
        cmocka_unit_test(overlays_and_distances_are_as_in_memory),
        cmocka_unit_test(a_stall_pauses),
        cmocka_unit_test(a_free_run_is_patient),
        cmocka_unit_test(a_paged_part_stays),
        cmocka_unit_test(what_stands_inside_is_told),
        cmocka_unit_test(damage_is_mended_by_opening_again),
    };
    return cmocka_run_group_tests_name("engine_paged", tests, NULL, NULL);
}
