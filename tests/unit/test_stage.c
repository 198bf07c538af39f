/* a scene becomes a world */
#include "sim/stage.h"

#include <math.h>

#include "models/models.h"
#include "support/fixtures.h"

static flr_error error;

/* Writes a scenario into a new folder and reads its scene; free both. */
static flr_scene *scene_of(const char *name, char **folder)
{
    char path[1024];
    *folder = flr_test_folder();
    assert_ok(flr_scenario_make(flr_env_real(), flr_scenario_find(name), NULL, *folder, &error),
              error);
    snprintf(path, sizeof path, "%s/scene.json", *folder);
    flr_scene *scene;
    assert_ok(flr_scene_read(flr_env_real(), path, &scene, &error), error);
    return scene;
}

static void ball_in_its_socket(void **state)
{
    (void)state;
    char *folder;
    flr_scene *scene = scene_of("ball", &folder);
    flr_stage_def def = flr_default_stage_def();
    def.scene = scene;
    def.params = flr_scene_params(scene);
    /* as in the paper: at the surface, points moved inwards */
    assert_int_equal(def.params.contact.force_layer, 0);
    assert_lt(fabs(def.params.contact.displacement + 0.5 * scene->voxel), 1e-12);
    flr_stage *stage;
    assert_ok(flr_stage_create(flr_env_real(), &def, &stage, &error), error);
    uint32_t ball = flr_stage_find(stage, NULL);
    assert_lt(ball, stage->parts.count);
    assert_true(flr_stage_moves(stage, ball));
    assert_int_equal(flr_stage_find(stage, stage->parts.list[ball].name), ball);
    assert_int_equal(flr_stage_find(stage, "nobody"), UINT32_MAX);
    assert_non_null(stage->parts.list[ball].shape->shell);
    assert_eq(stage->voxel, scene->voxel);
    /* held where it is, it stays */
    assert_true(flr_world_grab(stage->world, 0, ball));
    flr_world_input in = {.T_world_hand = stage->parts.list[ball].T_start, .fresh = true};
    flr_world_frame frame;
    for (int i = 0; i < 20; i++) flr_world_step(stage->world, &in, &frame);
    flr_vec3 off = flr_vec3_sub(flr_world_body(stage->world, ball)->T_world_part.p,
                                stage->parts.list[ball].T_start.p);
    assert_lt(flr_vec3_length(off), 3 * stage->voxel);
    assert_int_equal(frame.pairs, 1);
    flr_stage_destroy(stage);
    flr_scene_destroy(scene);
    flr_test_folder_remove(folder);
}

/* A scene with a point: probes and no voxels; the same with another tool, and the ball with a point. */
static void touched_with_a_point(void **state)
{
    (void)state;
    char *folder;
    flr_scene *scene = scene_of("probe", &folder);
    flr_stage_def def = flr_default_stage_def();
    def.scene = scene;
    def.params = flr_scene_params(scene);
    assert_eq(def.params.proxy.stiffness, scene->contact.stiffness);
    assert_eq(def.params.proxy.static_friction, scene->contact.friction);
    assert_lt(def.params.proxy.dynamic_friction, scene->contact.friction);
    flr_stage *stage;
    assert_ok(flr_stage_create(flr_env_real(), &def, &stage, &error), error);
    assert_int_equal(flr_world_tool(stage->world, 0), FLR_TOOL_POINT);
    assert_non_null(stage->parts.list[0].shape->mesh->probe);
    assert_null(stage->parts.list[0].shape->voxmap);
    /* from where the scene puts the hand straight down: the body is in the way */
    flr_world_input in = {.T_world_hand = {scene->hands[0].position, {1, 0, 0, 0}}, .fresh = true};
    flr_world_frame frame;
    for (int i = 0; i < 33; i++, in.T_world_hand.p.z -= 1e-3)
        flr_world_step(stage->world, &in, &frame);
    assert_int_equal(frame.touching, 1);
    assert_gt(flr_world_proxy(stage->world, 0)->position.z, 0.015);
    assert_gt(flr_world_wrench(stage->world, 0).force.z, 0.5);
    flr_stage_destroy(stage);
    def.has_tool = true, def.tool = FLR_TOOL_GRIP;
    assert_ok(flr_stage_create(flr_env_real(), &def, &stage, &error), error);
    assert_int_equal(flr_world_tool(stage->world, 0), FLR_TOOL_GRIP);
    assert_null(stage->parts.list[0].shape->mesh->probe);
    flr_stage_destroy(stage);
    flr_scene_destroy(scene);
    flr_test_folder_remove(folder);
}

/* Eight parts: what stays is one merged static scene. */
static void axle_has_a_merged(void **state)
{
    (void)state;
    char *folder;
    flr_scene *scene = scene_of("axle", &folder);
    flr_stage_def def = flr_default_stage_def();
    def.scene = scene;
    def.voxel = def.moving_voxel = 0.012;
    flr_stage *stage;
    assert_ok(flr_stage_create(flr_env_real(), &def, &stage, &error), error);
    uint32_t still = 0;
    for (uint32_t i = 0; i < stage->parts.count; i++) still += !flr_stage_moves(stage, i);
    assert_int_equal(stage->parts.count, scene->part_count);
    assert_eq((still > 1), (stage->merged != NULL));
    assert_eq((stage->merged != NULL), flr_pairs_has_merged(flr_world_pairs(stage->world)));
    flr_stage_destroy(stage);
    flr_scene_destroy(scene);
    flr_test_folder_remove(folder);
}

/* What a scene says about contact is what the world does. */
static void law_of_the_scene(void **state)
{
    (void)state;
    flr_scene scene = flr_default_scene();
    scene.contact = (flr_scene_contact){.force_layer = 3,
                                        .displace = -1e-3,
                                        .model = FLR_FORCE_SMOOTH,
                                        .stiffness = 500,
                                        .friction = 0.3,
                                        .awareness = false};
    flr_world_params params = flr_scene_params(&scene);
    assert_int_equal(params.contact.force_layer, 3);
    assert_eq(params.contact.displacement, -1e-3);
    assert_int_equal(params.contact.model, FLR_FORCE_SMOOTH);
    assert_eq(params.contact.stiffness, 500);
    assert_eq(params.friction, 0.3);
    assert_false(params.contact.awareness);
    flr_world_params usual = flr_default_world_params();
    scene.contact = flr_default_scene_contact();
    params = flr_scene_params(&scene);
    assert_memory_equal(&params.contact, &usual.contact, sizeof usual.contact);
}

static bool stop_at_voxels(void *context, size_t part, double done, const char *what)
{
    (void)part;
    /* or where some of them are made already: that may take many minutes for one part */
    return strcmp(what, "voxelizing") != 0 || (context && done == 0);
}

static void troubles_are_told(void **state)
{
    (void)state;
    char *folder;
    flr_scene *scene = scene_of("ball", &folder);
    flr_stage_def def = flr_default_stage_def();
    def.scene = scene;
    flr_stage *stage = NULL;
    def.progress = stop_at_voxels;
    assert_int_equal(flr_stage_create(flr_env_real(), &def, &stage, &error), FLR_CANCELLED);
    def.context = &def;
    assert_int_equal(flr_stage_create(flr_env_real(), &def, &stage, &error), FLR_CANCELLED);
    def.progress = NULL;
    def.voxel = 1e-9;
    assert_int_equal(flr_stage_create(flr_env_real(), &def, &stage, &error), FLR_TOO_LARGE);
    assert_non_null(strstr(error.message, "part \""));
    assert_null(stage);
    flr_scene_destroy(scene);
    flr_test_folder_remove(folder);
}

/* Where nobody says how large voxels are, feeler chooses one size for all parts, and says why. */
static void a_size_is_chosen(void **state)
{
    (void)state;
    char *folder;
    flr_scene *scene = scene_of("ball", &folder);
    flr_stage_def def = flr_default_stage_def();
    def.scene = scene;
    def.onset = 3e-4;
    flr_stage *stage = NULL;
    scene->voxel = 0;
    flr_scene_part *parts = (flr_scene_part *)scene->parts;
    for (size_t i = 0; i < scene->part_count; i++) parts[i].voxel = 0;
    assert_int_equal(flr_stage_create(flr_env_real(), &def, &stage, &error), FLR_OK);
    const flr_resolution *r = &stage->resolution;
    assert_true(r->voxel > 5e-5 && r->voxel < 7e-5); /* half a million surface voxels of the ball */
    assert_true(stage->voxel == r->voxel);
    assert_true(r->too_coarse && fabs(r->gap - 55e-6) < 2e-6); /* as between socket and ball */
    assert_non_null(strstr(r->sentence, "exact"));
    // lengths become layers
    assert_int_equal(flr_world_get_params(stage->world)->contact.force_layer,
                     (unsigned)ceil(3e-4 / r->voxel));
    flr_stage_destroy(stage);
    // the parts are far from each other: the size of the ball decides, and what is chosen can be given again
    parts[1].T_world_part.p.z += 0.1;
    def.onset = -1;
    assert_int_equal(flr_stage_create(flr_env_real(), &def, &stage, &error), FLR_OK);
    const double chosen = stage->resolution.voxel;
    assert_true(!stage->resolution.too_coarse && isinf(stage->resolution.gap));
    flr_stage_destroy(stage);
    def.common = chosen;
    assert_int_equal(flr_stage_create(flr_env_real(), &def, &stage, &error), FLR_OK);
    assert_true(stage->resolution.voxel == 0 && stage->voxel == chosen);
    flr_stage_destroy(stage);
    flr_scene_destroy(scene);
    flr_test_folder_remove(folder);
}

/* What is deeper in another part than any fit is clashes; the gap is that of the others. */
static void a_clash_is_no_fit(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"feeler\": 1, \"name\": \"stack\", \"parts\": [\n"
        "{ \"name\": \"base\", \"file\": \"base.ply\", \"unit\": 1 },\n"
        "{ \"name\": \"deep\", \"file\": \"cube.ply\", \"unit\": 1, \"moving\": true, "
        "\"pose\": { \"position\": [-0.03, 0, %s] } },\n"
        "{ \"name\": \"lid\", \"file\": \"cube.ply\", \"unit\": 1, \"moving\": true, "
        "\"pose\": { \"position\": [0.03, 0, %s] } } ] }\n";
    const struct {
        const char *deep, *lid; /* where the cubes are, of 20 mm on a base that is 20 mm thick */
        double gap;
        bool exact;
    } cases[] = {{"0.016", "0.02", 0, true},         /* one clashes, one rests */
                 {"0.0185", "0.1", -0.0015, true},   /* one fits tightly */
                 {"0.016", "0.1", INFINITY, false}}; /* one clashes, one is far away */
    char *folder = flr_test_folder(), path[1024], scene_text[sizeof text + 32];
    const char *const names[] = {"base", "cube"};
    const flr_vec3 sizes[] = {{0.1, 0.06, 0.02}, {0.02, 0.02, 0.02}};
    for (int i = 0; i < 2; i++) {
        flr_mesh *mesh = flr_test_engine_box(sizes[i]);
        snprintf(path, sizeof path, "%s/%s.ply", folder, names[i]);
        assert_ok(flr_mesh_write(flr_env_real(), path, mesh, 1, &error), error);
        flr_mesh_destroy(mesh);
    }
    snprintf(path, sizeof path, "%s/scene.json", folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(scene_text, sizeof scene_text, text, cases[i].deep, cases[i].lid);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_not_equal(fputs(scene_text, file), EOF);
        assert_int_equal(fclose(file), 0);
        flr_scene *scene;
        assert_ok(flr_scene_read(flr_env_real(), path, &scene, &error), error);
        flr_stage_def def = flr_default_stage_def();
        def.scene = scene;
        flr_stage *stage = NULL;
        assert_ok(flr_stage_create(flr_env_real(), &def, &stage, &error), error);
        const flr_resolution *r = &stage->resolution;
        assert_int_equal(r->exact, cases[i].exact);
        if (isfinite(cases[i].gap))
            assert_lt(fabs(r->gap - cases[i].gap), 1e-6);
        else
            assert_true(isinf(r->gap));
        flr_stage_destroy(stage);
        flr_scene_destroy(scene);
    }
    flr_test_folder_remove(folder);
}

typedef struct warnings {
    int built_again, others;
} warnings;

static void count_warning(void *context, const char *sentence)
{
    warnings *w = context;
    bool expected =
        strstr(sentence, "part \"") == sentence && strstr(sentence, "it was built again");
    w->built_again += expected;
    w->others += !expected;
}

/* A byte of each file in the cache's folder is changed, at `place` of its length. */
static void damage_cache(const char *folder, double place)
{
    flr_cache_entry *entries;
    size_t count;
    char path[FLR_CACHE_PATH_SIZE];
    assert_ok(flr_cache_list(flr_env_real(), folder, &entries, &count, &error), error);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%.2000s/%s", folder, entries[i].name);
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, (long)(place * (double)entries[i].size), SEEK_SET);
        int byte = fgetc(file);
        fseek(file, -1, SEEK_CUR);
        fputc(byte ^ 1, file);
        fclose(file);
    }
    flr_cache_list_free(entries);
}

/* what is damaged in the cache is made again, and said */
static void damage_is_told(void **state)
{
    (void)state;
    char *folder, place[1024];
    flr_scene *scene = scene_of("ball", &folder);
    snprintf(place, sizeof place, "%s/cache", folder);
    warnings seen = {0};
    flr_stage_def def = flr_default_stage_def();
    def.scene = scene, def.params = flr_scene_params(scene);
    def.cache = &(flr_cache){.folder = place};
    def.warn = count_warning, def.context = &seen;
    /* in memory, and paged with a directory that is wrong */
    for (int paged = 0; paged < 2; paged++) {
        flr_stage *stage;
        uint64_t files, bytes;
        def.memory = paged ? 1 << 20 : 0;
        def.voxel = def.moving_voxel = paged ? 0.0002 : 0;
        for (int i = 0; i < 2; i++) {
            if (i > 0) damage_cache(place, 0.01);
            seen = (warnings){0};
            assert_ok(flr_stage_create(flr_env_real(), &def, &stage, &error), error);
            assert_int_equal(seen.others, 0);
            assert_int_equal(seen.built_again, 2 * i);
            assert_int_equal(flr_stage_paging(stage).slots > 0, paged);
            flr_stage_destroy(stage);
        }
        assert_ok(flr_cache_clear(flr_env_real(), place, &files, &bytes, &error), error);
    }
    flr_scene_destroy(scene);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_in_its_socket), cmocka_unit_test(touched_with_a_point),
        cmocka_unit_test(axle_has_a_merged),  cmocka_unit_test(law_of_the_scene),
        cmocka_unit_test(troubles_are_told),  cmocka_unit_test(a_size_is_chosen),
        cmocka_unit_test(a_clash_is_no_fit),  cmocka_unit_test(damage_is_told),
    };
    return cmocka_run_group_tests_name("stage", tests, NULL, NULL);
}
