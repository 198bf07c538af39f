/* saving: whatever happens meanwhile, the old scene or the new one is there, with its meshes */
#include "support/fixtures.h"

#include "base/env.h"
#include "feeler/mesh.h"
#include "scene/scene.h"

static const char plan[] = "/plans/plan.json", parts_folder[] = "/plans/plan_parts";
static flr_error error;

/* What a scene is made of: its file and its meshes, byte for byte. */
typedef struct content {
    flr_hash scene;
    flr_hash meshes; /* of all, in the order of the parts */
    uint32_t parts;
} content;

static bool get_content(flr_env *env, content *c)
{
    flr_blob blob;
    flr_scene *scene;
    if (flr_file_read_all(env, plan, 1 << 30, &blob, &error) != FLR_OK) return false;
    c->scene = flr_hash_bytes(blob.bytes, blob.size);
    flr_blob_free(&blob);
    if (flr_scene_read(env, plan, &scene, &error) != FLR_OK) return false;
    flr_hasher hasher = flr_hasher_begin();
    bool whole = true;
    for (size_t i = 0; i < scene->part_count && whole; i++) {
        char path[512];
        flr_mesh *mesh;
        flr_mesh_options options = flr_default_mesh_options();
        options.unit = 1;
        snprintf(path, sizeof path, "/plans/%s", scene->parts[i].file);
        whole = flr_mesh_read(env, path, &options, &mesh, NULL, &error) == FLR_OK;
        if (!whole) break;
        flr_hash hash = flr_mesh_hash(mesh);
        flr_hasher_add(&hasher, &hash, sizeof hash);
        flr_mesh_destroy(mesh);
    }
    c->meshes = flr_hasher_end(&hasher);
    c->parts = (uint32_t)scene->part_count;
    flr_scene_destroy(scene);
    return whole;
}

static bool same_content(content a, content b)
{
    return flr_hash_equal(a.scene, b.scene) && flr_hash_equal(a.meshes, b.meshes);
}

static flr_result save(flr_test_engine *s)
{
    uint32_t job;
    flr_engine_event event;
    flr_result result = FLR_OK;
    assert_ok(flr_engine_save(s->engine, plan, &job, &error), error);
    flr_test_engine_settle(s);
    while (flr_engine_next(s->engine, &event))
        if (event.kind == FLR_ENGINE_EVENT_JOB && event.job.job == job) result = event.job.result;
    return result;
}

typedef struct names {
    unsigned meshes, others;
} names;

static bool count_name(void *context, const char *name)
{
    names *n = context;
    size_t length = strlen(name);
    bool mesh =
        length == 36 && strspn(name, "0123456789abcdef") == 32 && !strcmp(name + 32, ".ply");
    n->meshes += mesh;
    n->others += !mesh;
    return true;
}

static names list_names(flr_env *env)
{
    names n = {0, 0};
    assert_ok(flr_path_list(env, parts_folder, count_name, &n, &error), error);
    return n;
}

/* Three parts are saved; then the mesh of a part is another one, under the same number of a part. */
static void make_first(flr_test_engine *s, content *old)
{
    flr_test_engine_make(s, true, NULL);
    assert_ok(flr_path_make_folder(s->env, "/plans", &error), error);
    assert_int_equal(save(s), FLR_OK);
    assert_true(get_content(s->env, old));
    assert_int_equal(old->parts, 3);
    assert_ok(flr_engine_remove(s->engine, s->block, &error), error);
    flr_test_engine_settle(s);
    flr_test_engine_add(s->engine, "wedge", flr_vec3_make(0.03, 0.02, 0.01),
                        flr_vec3_make(0, 0, 0.05), FLR_PART_MOVABLE, 0.002);
    flr_test_engine_add(s->engine, "bar", flr_vec3_make(0.01, 0.02, 0.04),
                        flr_vec3_make(0, 0.05, 0.05), FLR_PART_MOVABLE, 0.002);
    flr_test_engine_settle(s);
}

static content content_of_second(void)
{
    flr_test_engine s;
    content old, new;
    make_first(&s, &old);
    assert_int_equal(save(&s), FLR_OK);
    assert_true(get_content(s.env, &new));
    assert_int_equal(new.parts, 4);
    assert_false(same_content(old, new));
    // what only the old scene had is gone; nothing else is there
    names n = list_names(s.env);
    assert_int_equal(n.meshes, 4);
    assert_int_equal(n.others, 0);
    flr_test_engine_free(&s);
    return new;
}

/* Chance decides what a crash leaves: other numbers are next. */
static void draw(flr_env *env, unsigned count)
{
    flr_sim_disk disk = flr_default_sim_def().disk;
    flr_path_info info;
    disk.jitter_ns = 1000;
    flr_sim_set_disk(env, &disk);
    while (count-- > 0) assert_ok(flr_path_look(env, plan, &info, &error), error);
}

/* The second save with the n-th operation of the disk failing. True: it did not come that far. */
static bool fail_at(uint64_t n, flr_sim_failure how, bool on, unsigned drawn, content new,
                    unsigned seen[2])
{
    flr_test_engine s;
    content old, now;
    make_first(&s, &old);
    draw(s.env, drawn);
    flr_sim_disk good = flr_default_sim_def().disk, bad = good;
    bad.fail_at = n;
    bad.fail_on = on;
    bad.how = how;
    flr_sim_set_disk(s.env, &bad);
    uint64_t before = flr_sim_get_stats(s.sim).failures;
    flr_result result = save(&s);
    bool through = flr_sim_get_stats(s.sim).failures == before;
    if (!flr_sim_is_up(s.env)) flr_sim_restart(s.env);
    flr_sim_set_disk(s.env, &good);
    if (!get_content(s.env, &now)) fail_msg("operation %u: %s", (unsigned)n, error.message);
    bool is_new = same_content(now, new);
    if (!is_new && !same_content(now, old))
        fail_msg("operation %u: neither the old nor the new scene", (unsigned)n);
    if (result == FLR_OK && !is_new) fail_msg("operation %u: said to be saved", (unsigned)n);
    seen[is_new]++;
    // the next one goes well and leaves nothing of this one
    if (save(&s) != FLR_OK) fail_msg("operation %u: cannot save again", (unsigned)n);
    assert_true(get_content(s.env, &now));
    assert_true(same_content(now, new));
    names left = list_names(s.env);
    if (left.meshes != 4 || left.others != 0)
        fail_msg("operation %u: %u meshes and %u others are left", (unsigned)n, left.meshes,
                 left.others);
    flr_test_engine_free(&s);
    return through;
}

static void fail_everywhere(flr_sim_failure how, bool on, unsigned rounds)
{
    content new = content_of_second();
    unsigned seen[2] = {0, 0};
    uint64_t n = 1;
    for (unsigned i = 0; i < rounds; i++)
        for (n = 1; !fail_at(n, how, on, i, new, seen); n++) {}
    // every operation was made to fail, before and after the scene was replaced
    assert_gt(n, 20);
    assert_gt(seen[0], 10);
    assert_gt(seen[1], 0);
}

static void broken_disk(void **state)
{
    (void)state;
    fail_everywhere(FLR_SIM_IO_ERROR, false, 1);
}

static void full_disk(void **state)
{
    (void)state;
    fail_everywhere(FLR_SIM_DISK_FULL, true, 1);
}

static void crash(void **state)
{
    (void)state;
    fail_everywhere(FLR_SIM_CRASH, false, 5);
}

/* With more and more room on the disk: what fits in is saved, and what was there before stays. */
static void little_room(void **state)
{
    (void)state;
    content new = content_of_second(), old, now;
    unsigned saved = 0, refused = 0;
    for (uint64_t room = 0; saved < 3; room += 97) {
        flr_test_engine s;
        make_first(&s, &old);
        flr_sim_disk disk = flr_default_sim_def().disk;
        uint64_t left;
        disk.capacity = 1 << 30;
        flr_sim_set_disk(s.env, &disk);
        assert_ok(flr_path_room(s.env, plan, &left, &error), error);
        disk.capacity += room - left;
        flr_sim_set_disk(s.env, &disk);
        flr_result result = save(&s);
        assert_true(get_content(s.env, &now));
        assert_true(same_content(now, result == FLR_OK ? new : old));
        saved += result == FLR_OK;
        refused += result != FLR_OK;
        flr_test_engine_free(&s);
    }
    assert_gt(refused, 10);
}

/* ---- cancelling: before the n-th operation of the disk ---- */

static struct {
    const flr_env_ops *ops; /* of the simulation */
    flr_engine *engine;
    uint32_t job;
    uint64_t left; /* operations until it is cancelled; 0: it was */
} cancel;

static void count_down(void)
{
    if (cancel.left > 0 && --cancel.left == 0) flr_engine_cancel(cancel.engine, cancel.job, NULL);
}

static int look_cancelling(flr_env *env, const char *path, bool follow, flr_path_info *info)
{
    count_down();
    return cancel.ops->path_look(env, path, follow, info);
}

static int write_cancelling(flr_file *file, uint64_t offset, const void *bytes, size_t count)
{
    count_down();
    return cancel.ops->file_write(file, offset, bytes, count);
}

static int sync_cancelling(flr_file *file)
{
    count_down();
    return cancel.ops->file_sync(file);
}

static int rename_cancelling(flr_env *env, const char *from, const char *to)
{
    count_down();
    return cancel.ops->path_rename(env, from, to);
}

/* True: it ended before. */
static bool cancel_at(uint64_t n, content new, unsigned seen[2])
{
    flr_test_engine s;
    content old, now;
    make_first(&s, &old);
    flr_env_ops ops = *s.env->ops;
    cancel.ops = s.env->ops;
    ops.path_look = look_cancelling;
    ops.file_write = write_cancelling;
    ops.file_sync = sync_cancelling;
    ops.path_rename = rename_cancelling;
    s.env->ops = &ops;
    cancel.engine = s.engine;
    cancel.left = n;
    assert_ok(flr_engine_save(s.engine, plan, &cancel.job, &error), error);
    flr_test_engine_settle(&s);
    s.env->ops = cancel.ops;
    bool through = cancel.left > 0;
    flr_engine_event event;
    flr_result result = FLR_OK;
    while (flr_engine_next(s.engine, &event))
        if (event.kind == FLR_ENGINE_EVENT_JOB && event.job.job == cancel.job)
            result = event.job.result;
    assert_true(result == FLR_OK || result == FLR_CANCELLED);
    if (!get_content(s.env, &now)) fail_msg("operation %u: %s", (unsigned)n, error.message);
    if (!same_content(now, result == FLR_OK ? new : old))
        fail_msg("operation %u: not the scene that it should be", (unsigned)n);
    seen[result == FLR_OK]++;
    flr_test_engine_free(&s);
    return through;
}

static void cancelled_anywhere(void **state)
{
    (void)state;
    content new = content_of_second();
    unsigned seen[2] = {0, 0};
    uint64_t n = 1;
    while (!cancel_at(n, new, seen)) n++;
    assert_gt(seen[0], 5);
    assert_gt(seen[1], 1);
}

/* ---- what else is there ---- */

static void write_text(flr_env *env, const char *path, const char *text)
{
    flr_file *file;
    assert_ok(flr_file_open(env, path, FLR_FILE_CREATE, &file, &error), error);
    assert_ok(flr_file_write(file, 0, text, strlen(text), &error), error);
    flr_file_close(file);
}

static bool has_text(flr_env *env, const char *path, const char *text)
{
    flr_blob blob;
    if (flr_file_read_all(env, path, 1 << 20, &blob, &error) != FLR_OK) return false;
    bool same = blob.size == strlen(text) && memcmp(blob.bytes, text, blob.size) == 0;
    flr_blob_free(&blob);
    return same;
}

/* What a user has in the folder of meshes is neither written over nor removed. */
static void spares_files_of_the_user(void **state)
{
    (void)state;
    static const char *const own[] = {"/plans/plan_parts/0.ply", "/plans/plan_parts/1.ply",
                                      "/plans/plan_parts/notes.txt",
                                      "/plans/plan_parts/0123456789abcdef0123456789abcdef.ply"};
    flr_test_engine s;
    content now;
    flr_test_engine_make(&s, true, NULL);
    assert_ok(flr_path_make_folder(s.env, parts_folder, &error), error);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) write_text(s.env, own[i], "mine");
    for (int round = 0; round < 2; round++) {
        assert_int_equal(save(&s), FLR_OK);
        assert_true(get_content(s.env, &now));
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
            if (!has_text(s.env, own[i], "mine")) fail_msg("%s was changed", own[i]);
    }
    flr_test_engine_free(&s);
}

/* A scene saved by an older version, with numbered meshes: those go when it is replaced, others of such names stay. */
static void replaces_numbered_meshes(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"feeler\": 1, \"name\": \"old\", \"voxel\": \"2mm\", \"parts\": [ { \"name\": \"a\", "
        "\"file\": \"plan_parts/0.ply\", \"unit\": 1 } ] }\n";
    flr_test_engine s;
    flr_path_info info;
    content now;
    flr_test_engine_make(&s, true, NULL);
    assert_ok(flr_path_make_folder(s.env, parts_folder, &error), error);
    flr_mesh *box = flr_test_engine_box(flr_vec3_make(0.01, 0.01, 0.01));
    assert_ok(flr_mesh_write(s.env, "/plans/plan_parts/0.ply", box, 1, &error), error);
    assert_ok(flr_mesh_write(s.env, "/plans/plan_parts/7.ply", box, 1, &error), error);
    flr_mesh_destroy(box);
    write_text(s.env, plan, text);
    assert_int_equal(save(&s), FLR_OK);
    assert_true(get_content(s.env, &now));
    assert_ok(flr_path_look(s.env, "/plans/plan_parts/0.ply", &info, &error), error);
    assert_int_equal(info.kind, FLR_PATH_NONE);
    assert_ok(flr_path_look(s.env, "/plans/plan_parts/7.ply", &info, &error), error);
    assert_int_equal(info.kind, FLR_PATH_FILE);
    flr_test_engine_free(&s);
}

static char mesh_path[512];

static bool find_mesh(void *context, const char *name)
{
    (void)context;
    snprintf(mesh_path, sizeof mesh_path, "%s/%s", parts_folder, name);
    return false;
}

/* A mesh that is there is not written again, unless it is damaged. */
static void mends_damaged_meshes(void **state)
{
    (void)state;
    flr_test_engine s;
    content first, now;
    flr_test_engine_make(&s, true, NULL);
    assert_ok(flr_path_make_folder(s.env, "/plans", &error), error);
    assert_int_equal(save(&s), FLR_OK);
    assert_true(get_content(s.env, &first));
    assert_ok(flr_path_list(s.env, parts_folder, find_mesh, NULL, &error), error);
    flr_path_info before, after;
    assert_ok(flr_path_look(s.env, mesh_path, &before, &error), error);
    flr_sim_advance(s.sim, FLR_SIM_S);
    assert_int_equal(save(&s), FLR_OK);
    assert_ok(flr_path_look(s.env, mesh_path, &after, &error), error);
    assert_eq(after.modified_ns, before.modified_ns);
    // a byte in the middle, and an end that is missing
    for (int damage = 0; damage < 2; damage++) {
        if (damage) {
            assert_true(flr_sim_cut(s.env, mesh_path, before.size - 1));
        } else {
            flr_file *file;
            assert_ok(flr_file_open(s.env, mesh_path, FLR_FILE_UPDATE, &file, &error), error);
            assert_ok(flr_file_write(file, before.size / 2, "\x7f", 1, &error), error);
            flr_file_close(file);
        }
        assert_int_equal(save(&s), FLR_OK);
        assert_true(get_content(s.env, &now));
        assert_true(same_content(now, first));
    }
    flr_test_engine_free(&s);
}

/* What a scene says of masses is saved again, and said of the parts. */
static void keeps_masses(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_scene *scene;
    uint32_t job;
    flr_test_engine_make(&s, true, NULL);
    assert_ok(flr_path_make_folder(s.env, "/plans", &error), error);
    assert_int_equal(save(&s), FLR_OK);
    assert_ok(flr_scene_read(s.env, plan, &scene, &error), error);
    assert_int_equal(scene->part_count, 3);
    flr_scene given = *scene;
    flr_scene_part parts[3] = {scene->parts[0], scene->parts[1], scene->parts[2]};
    parts[0].mass = 2.5;
    parts[1].density = 7850;
    given.parts = parts;
    assert_ok(flr_scene_write(s.env, "/plans/given.json", &given, &error), error);
    flr_scene_destroy(scene);
    assert_ok(flr_engine_load(s.engine, "/plans/given.json", &job, &error), error);
    flr_test_engine_settle(&s);
    flr_engine_part part;
    assert_true(flr_engine_part_at(s.engine, 0, &part));
    assert_true(part.weighed && part.mass == 2.5);
    assert_true(flr_engine_part_at(s.engine, 1, &part));
    assert_true(part.weighed && part.mass > 0 && part.mass != 2.5);
    assert_true(flr_engine_part_at(s.engine, 2, &part));
    assert_true(!part.weighed && part.mass > 0);
    assert_int_equal(save(&s), FLR_OK);
    assert_ok(flr_scene_read(s.env, plan, &scene, &error), error);
    assert_true(scene->parts[0].mass == 2.5 && scene->parts[0].density == 0);
    assert_true(scene->parts[1].mass == 0 && scene->parts[1].density == 7850);
    assert_true(scene->parts[2].mass == 0 && scene->parts[2].density == 0);
    flr_scene_destroy(scene);
    flr_test_engine_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_disk),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(crash),
        cmocka_unit_test(little_room),
        cmocka_unit_test(cancelled_anywhere),
        cmocka_unit_test(spares_files_of_the_user),
        cmocka_unit_test(replaces_numbered_meshes),
        cmocka_unit_test(mends_damaged_meshes),
        cmocka_unit_test(keeps_masses),
    };
    return cmocka_run_group_tests_name("engine_save", tests, NULL, NULL);
}
