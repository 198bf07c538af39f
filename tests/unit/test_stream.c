/* voxels built slab by slab into a file: the same bytes as built in memory, whatever the slabs; trouble leaves nothing */
#include "voxel/stream.h"

#include <stdlib.h>

#include "feeler/mesh.h"
#include "feeler/sim.h"
#include "models/models.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;

static flr_env *make_disk(const flr_sim_disk *disk, flr_sim **sim)
{
    flr_sim_def def = flr_default_sim_def();
    if (disk) def.disk = *disk;
    *sim = flr_sim_create(&def);
    assert_non_null(*sim);
    flr_address address;
    flr_address_parse("10.0.0.1", 0, &address, NULL);
    return flr_sim_node(*sim, address);
}

static bool count_name(void *context, const char *name)
{
    (void)name;
    ++*(int *)context;
    return true;
}

static int files_on(flr_env *disk)
{
    int count = 0;
    assert_ok(flr_path_list(disk, "/", count_name, &count, &error), error);
    return count;
}

static flr_voxelize_def def_of(double voxel)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.threads = 2;
    return def;
}

/* ---- shapes that lie in several root cells, with few voxels ---- */

static void add_wall(flr_test_shape *shape, flr_vec3 corner, flr_vec3 u, flr_vec3 v)
{
    uint32_t first = shape->vertex_count;
    for (int i = 0; i < 4; i++) {
        flr_vec3 p = corner;
        if (i == 1 || i == 2) p = flr_vec3_add(p, u);
        if (i >= 2) p = flr_vec3_add(p, v);
        flr_test_shape_vertex(shape, p.x, p.y, p.z);
    }
    flr_test_shape_triangle(shape, first, first + 1, first + 2);
    flr_test_shape_triangle(shape, first, first + 2, first + 3);
}

/* A box of channels side by side, each joined to the next at one end only, open at the first: the flood goes up and down
 * the whole height once for each. Beside the last a closed one. */
static void make_maze(flr_test_shape *shape, int channels, double height)
{
    const double wide = 0.008, deep = 0.010, gap = 0.006;
    flr_vec3 y = flr_vec3_make(0, deep, 0), z = flr_vec3_make(0, 0, height);
    flr_vec3 x = flr_vec3_make(wide * channels, 0, 0);
    add_wall(shape, flr_vec3_make(0, 0, 0), x, z);
    add_wall(shape, y, x, z);
    add_wall(shape, flr_vec3_make(0, 0, 0), x, y);
    add_wall(shape, flr_vec3_make(wide, 0, height), flr_vec3_make(wide * (channels - 1), 0, 0), y);
    for (int i = 0; i <= channels; i++) {
        bool closed = i == 0 || i >= channels - 1;
        double low = !closed && i % 2 == 1 ? gap : 0;
        double high = !closed && i % 2 == 0 ? height - gap : height;
        add_wall(shape, flr_vec3_make(wide * i, 0, low), flr_vec3_make(0, 0, high - low), y);
    }
}

/* Some solids strewn over a wide space, one in another. */
static void make_strewn(flr_test_shape *shape, flr_test_random *random)
{
    for (int i = 0; i < 5; i++) {
        uint32_t first = shape->vertex_count;
        double size = flr_test_random_range(random, 0.003, 0.01);
        if (i % 3 == 0)
            flr_test_shape_torus(shape, 3 * size, size / 3, 24, 12);
        else if (i % 3 == 1)
            flr_test_shape_cylinder(shape, size / 4, 10 * size, 16, 2);
        else
            flr_test_shape_box(shape, flr_vec3_make(4 * size, size / 2, size), 3);
        flr_pose T = flr_pose_identity();
        double q[4];
        for (int k = 0; k < 4; k++) q[k] = flr_test_random_range(random, -1, 1);
        T.q = flr_quat_normalize((flr_quat){q[0], q[1], q[2], q[3]});
        T.p = flr_vec3_make(flr_test_random_range(random, -0.3, 0.3),
                            flr_test_random_range(random, -0.1, 0.1),
                            flr_test_random_range(random, -0.3, 0.3));
        flr_test_shape_move(shape, first, T, 1);
    }
}

/* ---- the same bytes ---- */

static flr_blob file_in_memory(const flr_mesh *mesh, const flr_voxelize_def *def, bool points)
{
    flr_sim *sim;
    flr_env *disk = make_disk(NULL, &sim);
    flr_voxmap *voxmap;
    flr_shell *shell = NULL;
    flr_voxelize_def whole = *def;
    whole.memory_limit = 0;
    assert_ok(flr_voxelize(disk, mesh, &whole, &voxmap, points ? &shell : NULL, NULL, &error),
              error);
    assert_ok(flr_voxfile_write(disk, "/a", voxmap, shell, &error), error);
    flr_blob blob;
    assert_ok(flr_file_read_all(disk, "/a", 1 << 30, &blob, &error), error);
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    flr_sim_destroy(sim);
    return blob;
}

static void assert_same(const flr_blob *a, const flr_blob *b)
{
    assert_int_equal(a->size, b->size);
    // behind the checksums first: they differ with anything that does
    const flr_voxfile_header *h = (const flr_voxfile_header *)a->bytes;
    for (size_t i = h->data; i < a->size; i++)
        if (a->bytes[i] != b->bytes[i]) fail_msg("byte %zu of %zu differs", i - h->data, a->size);
    assert_memory_equal(a->bytes, b->bytes, h->data);
}

/* Streams with slabs of so many bytes, and compares. */
static void assert_streams(const flr_mesh *mesh, const flr_voxelize_def *def, bool points,
                           uint64_t slab_bytes)
{
    flr_blob whole = file_in_memory(mesh, def, points), blob;
    flr_sim *sim;
    flr_sim_disk short_reads = flr_default_sim_def().disk;
    short_reads.short_read = 0.1;
    flr_env *disk = make_disk(&short_reads, &sim);
    flr_voxelize_report report;
    assert_ok(flr_stream_build(disk, mesh, def, "/b", points, slab_bytes, &report, &error), error);
    assert_ok(flr_file_read_all(disk, "/b", 1 << 30, &blob, &error), error);
    assert_same(&whole, &blob);
    assert_int_equal(files_on(disk), 1);

    // what the report counts is what the file says
    flr_voxmap *voxmap;
    assert_ok(flr_voxfile_open(disk, "/b", FLR_VOXFILE_VERIFY, &voxmap, NULL, &error), error);
    flr_voxmap_stats stats = flr_voxmap_get_info(voxmap).stats;
    assert_memory_equal(&stats, &report.voxels, sizeof stats);
    flr_voxmap_destroy(voxmap);
    flr_blob_free(&whole);
    flr_blob_free(&blob);
    flr_sim_destroy(sim);
}

static void the_flood_finds_its_way(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    make_maze(&shape, 7, 0.6);
    flr_voxelize_def def = def_of(0.001);
    assert_streams(flr_test_shape_mesh(&shape), &def, true, 1);
    // it did get in, and not everywhere
    def.features = false;
    flr_sim *sim;
    flr_env *disk = make_disk(NULL, &sim);
    flr_voxelize_report report;
    assert_ok(flr_stream_build(disk, &shape.mesh, &def, "/b", false, 1, &report, &error), error);
    double inside = (double)report.voxels.interior_voxels * 1e-9;
    assert_gt(inside, 0.3 * 0.008 * 0.010 * 0.6);
    assert_lt(inside, 1.0 * 0.008 * 0.010 * 0.6);
    flr_sim_destroy(sim);
    flr_test_shape_free(&shape);
}

static void any_shape_any_slabs(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("any_shape_any_slabs");
    const unsigned ranges[] = {8, 8, 3, 13, 1, 8};
    for (unsigned i = 0; i < 6; i++) {
        flr_test_shape shape = {0};
        make_strewn(&shape, &random);
        flr_voxelize_def def = def_of(flr_test_random_range(&random, 0.0005, 0.0012));
        def.range = ranges[i];
        def.hollow = i == 1;
        def.on_surface = i == 4;
        def.features = i != 5;
        def.T_voxmap_mesh.p = flr_vec3_make(0.01, 0, -3);
        uint64_t slab =
            1 + flr_test_random_below(&random, 1u << flr_test_random_below(&random, 24));
        assert_streams(flr_test_shape_mesh(&shape), &def, i % 3 != 2, slab);
        flr_test_shape_free(&shape);
    }
}

static void other_marks(void **state)
{
    (void)state;
    const char *finer = getenv("FLR_TEST_STREAM");
    flr_test_shape shape = {0};
    flr_test_shape_cylinder(&shape, 0.002, 0.6, 8, 1);
    flr_voxelize_def def = def_of(0.001);
    def.bits = 8;
    def.range = finer ? 70 : 20; // beyond 64 more hyperchunks are planned
    def.features = false;
    assert_streams(flr_test_shape_mesh(&shape), &def, false, 1);
    def.bits = 2;
    def.range = 8;
    def.offset = 2;
    assert_streams(&shape.mesh, &def, false, 1);
    flr_test_shape_free(&shape);
}

/* A part at `steps` voxels across, and at a few more sizes of slabs when asked for. */
static void assert_part_streams(const flr_mesh *mesh, double steps, bool all)
{
    flr_vec3 size = flr_box3_size(mesh->bounds);
    flr_voxelize_def def = def_of(fmax(size.x, fmax(size.y, size.z)) / steps);
    assert_streams(mesh, &def, true, 1);
    for (uint64_t slab = 1 << 18; all && slab <= 1 << 24; slab *= 8)
        assert_streams(mesh, &def, true, slab);
}

/* Voxels across a part: 50, or as FLR_TEST_STREAM says; from 512 on there are several slabs. */
static double steps_asked(void)
{
    const char *asked = getenv("FLR_TEST_STREAM");
    return asked ? atof(asked) : 50;
}

static void dirty_files(void **state)
{
    (void)state;
    const char *folder = flr_test_models_dir();
    if (!folder) skip();
    static const char *const files[] = {
        "dirty/assimp_Spider_binary.stl", "dirty/cgal_three_knives.obj",
        "dirty/manifold_self_intersectA.obj", "dirty/cgal_elephant_complex_hole.obj",
        "dirty/assimp_sphereWithHole.stl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        flr_mesh *mesh;
        flr_mesh_options options = flr_default_mesh_options();
        options.tolerant = true;
        assert_ok(flr_mesh_open(flr_env_real(), path, &options, &mesh, NULL, &error), error);
        assert_part_streams(mesh, steps_asked(), steps_asked() > 50);
        flr_mesh_destroy(mesh);
    }
}

/* All parts of all scenarios when FLR_TEST_STREAM is set, else those that are small. */
static void scenarios(void **state)
{
    (void)state;
    const bool all = steps_asked() > 50;
    for (size_t i = 0; i < flr_scenario_count(); i++) {
        const flr_scenario *scenario = flr_scenario_at(i);
        if (!all && strcmp(scenario->name, "ball") != 0) continue;
        flr_model model = {0};
        assert_ok(flr_scenario_build(scenario, NULL, &model, &error), error);
        for (size_t k = 0; k < model.mesh_count; k++) {
            if (all) printf("%s %s\n", scenario->name, model.meshes[k].file);
            assert_part_streams(model.meshes[k].mesh, steps_asked(), all);
        }
        flr_model_free(&model);
    }
}

/* ---- trouble ---- */

static flr_test_shape the_shape;

static int make_shape(void **state)
{
    (void)state;
    flr_test_shape_torus(&the_shape, 0.03, 0.004, 16, 8);
    uint32_t first = the_shape.vertex_count;
    flr_test_shape_torus(&the_shape, 0.03, 0.004, 16, 8);
    flr_pose T = flr_pose_identity();
    T.p.z = 0.6;
    flr_test_shape_move(&the_shape, first, T, 1);
    flr_test_shape_mesh(&the_shape);
    return 0;
}

static int free_shape(void **state)
{
    (void)state;
    flr_test_shape_free(&the_shape);
    return 0;
}

static flr_result stream(flr_env *disk, const flr_voxelize_def *def)
{
    return flr_stream_build(disk, &the_shape.mesh, def, "/b", true, 1, NULL, &error);
}

/* How many operations of the disk it takes. */
static uint64_t operations_of(const flr_voxelize_def *def)
{
    flr_sim *sim;
    flr_env *disk = make_disk(NULL, &sim);
    assert_ok(stream(disk, def), error);
    uint64_t operations = flr_sim_get_stats(sim).operations;
    flr_sim_destroy(sim);
    return operations;
}

static void a_full_disk(void **state)
{
    (void)state;
    flr_voxelize_def def = def_of(0.001);
    flr_blob whole = file_in_memory(&the_shape.mesh, &def, true);
    uint64_t operations = operations_of(&def);
    // full during the work; no room for the result, once its size is known; full while it is written
    const uint64_t room[] = {whole.size + 60000, whole.size, 0};
    const char *words[] = {"the disk is full after", "GB, and the disk has room for",
                           "the disk is full; make room"};
    for (int i = 0; i < 3; i++) {
        flr_sim *sim;
        flr_sim_disk full = flr_default_sim_def().disk;
        full.capacity = room[i];
        full.how = FLR_SIM_DISK_FULL;
        full.fail_at = i == 0 ? 6 : i == 2 ? operations - 20 : 0;
        flr_env *disk = make_disk(&full, &sim);
        assert_int_equal(stream(disk, &def), FLR_IO);
        if (!strstr(error.message, words[i]))
            fail_msg("\"%s\" lacks \"%s\"", error.message, words[i]);
        assert_int_equal(files_on(disk), 0);
        flr_sim_destroy(sim);
    }
    flr_blob_free(&whole);
}

/* Each operation fails in turn: nothing is left, or the file is whole. */
static void a_failing_disk(void **state)
{
    (void)state;
    flr_voxelize_def def = def_of(0.002);
    flr_blob whole = file_in_memory(&the_shape.mesh, &def, true), blob;
    uint64_t operations = operations_of(&def);
    for (uint64_t n = 1; n <= operations; n += 1 + operations / 60) {
        flr_sim *sim;
        flr_sim_disk failing = flr_default_sim_def().disk;
        failing.fail_at = n;
        flr_env *disk = make_disk(&failing, &sim);
        flr_result result = stream(disk, &def);
        flr_path_info info;
        assert_ok(flr_path_look(disk, "/b", &info, &error), error);
        bool there = info.kind == FLR_PATH_FILE;
        assert_true(there || result != FLR_OK);
        if (there) {
            assert_ok(flr_file_read_all(disk, "/b", 1 << 30, &blob, &error), error);
            assert_same(&whole, &blob);
            flr_blob_free(&blob);
        }
        // only where removing a temporary file is what fails may it be left
        assert_le(files_on(disk) - there, (result == FLR_OK));
        flr_sim_destroy(sim);
    }
    flr_blob_free(&whole);
}

static bool stop_later(void *context, double done, const char *stage)
{
    int *left = context;
    assert_ge(done, 0);
    assert_le(done, 1);
    assert_true(stage);
    return --*left > 0;
}

static void stopping(void **state)
{
    (void)state;
    flr_voxelize_def def = def_of(0.001);
    def.threads = 1; // so that progress is asked for as often each time
    int calls = 1 << 30, left;
    def.progress = stop_later;
    def.context = &calls;
    flr_sim *sim;
    flr_env *disk = make_disk(NULL, &sim);
    assert_ok(stream(disk, &def), error);
    calls = (1 << 30) - calls;
    assert_ok(flr_path_remove(disk, "/b", &error), error);
    def.context = &left;
    for (int n = 1; n <= calls; n += 1 + calls / 40) {
        left = n;
        assert_int_equal(stream(disk, &def), FLR_CANCELLED);
        assert_int_equal(files_on(disk), 0);
    }
    flr_sim_destroy(sim);
}

static char the_path[600];

static flr_result stream_body(void *context, flr_error *why)
{
    flr_voxelize_def *def = context;
    flr_result result =
        flr_stream_build(flr_env_real(), &the_shape.mesh, def, the_path, true, 1, NULL, why);
    if (result == FLR_OK) flr_path_remove(flr_env_real(), the_path, NULL);
    return result;
}

static void without_memory(void **state)
{
    (void)state;
    flr_voxelize_def def = def_of(0.004);
    def.threads = 1;
    char *folder = flr_test_folder();
    snprintf(the_path, sizeof the_path, "%s/b.flrvox", folder);
    flr_fail_alloc_each(stream_body, &def);
    flr_test_folder_remove(folder);
}

static void what_does_not_fit(void **state)
{
    (void)state;
    flr_sim *sim;
    flr_env *disk = make_disk(NULL, &sim);
    flr_voxelize_def def = def_of(0.0005);
    def.memory_limit = 1 << 20;
    assert_int_equal(flr_voxelize_file(disk, &the_shape.mesh, &def, "/b", true, NULL, &error),
                     FLR_TOO_LARGE);
    assert_non_null(strstr(error.message, "slab by slab"));
    def.voxel = 1e-9;
    assert_int_equal(flr_voxelize_file(disk, &the_shape.mesh, &def, "/b", true, NULL, &error),
                     FLR_TOO_LARGE);
    def.voxel = 10;
    assert_int_equal(flr_voxelize_file(disk, &the_shape.mesh, &def, "/b", true, NULL, &error),
                     FLR_BAD_ARGUMENT);
    assert_int_equal(files_on(disk), 0);
    def = def_of(0.0005);
    assert_int_equal(flr_voxelize_file(disk, &the_shape.mesh, &def, "/no/b", true, NULL, &error),
                     FLR_NOT_FOUND);
    flr_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flood_finds_its_way),
        cmocka_unit_test(any_shape_any_slabs),
        cmocka_unit_test(other_marks),

        cmocka_unit_test(dirty_files),
        cmocka_unit_test(scenarios),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(a_failing_disk),
        cmocka_unit_test(stopping),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, make_shape, free_shape);
}
