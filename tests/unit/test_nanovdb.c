/* NanoVDB files: what is written comes back, other level sets are understood, damage is refused */
#include "voxel/nanovdb.h"

#include <sys/wait.h>
#include <unistd.h>

#include "feeler/voxels.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"
#include "voxel/nanovdb_format.h"

static flr_voxmap *voxelize(const flr_mesh *mesh, double voxel, unsigned bits, unsigned range,
                            bool hollow)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    flr_voxmap *voxmap;
    flr_error error;
    def.voxel = voxel;
    def.bits = bits;
    def.range = range;
    def.hollow = hollow;
    def.features = false;
    assert_ok(flr_voxelize(flr_env_real(), mesh, &def, &voxmap, NULL, NULL, &error), error);
    return voxmap;
}

static void assert_same_marks(const flr_voxmap *a, const flr_voxmap *b)
{
    flr_voxmap_info ia = flr_voxmap_get_info(a), ib = flr_voxmap_get_info(b);
    assert_lt(flr_vec3_distance(ia.origin, ib.origin), 1e-9 * ia.voxel * 1e3);
    assert_int_equal(ia.stats.surface_voxels, ib.stats.surface_voxels);
    assert_int_equal(ia.stats.interior_voxels, ib.stats.interior_voxels);
    assert_int_equal(ia.stats.field_voxels, ib.stats.field_voxels);
    for (int axis = 0; axis < 3; axis++) assert_int_equal(ia.size[axis], ib.size[axis]);
    for (int64_t z = 0; z < (int64_t)ia.size[2]; z++)
        for (int64_t y = 0; y < (int64_t)ia.size[1]; y++)
            for (int64_t x = 0; x < (int64_t)ia.size[0]; x++) {
                unsigned ma = flr_voxmap_mark_at(a, FLR_FIELD_SURFACE, x, y, z);
                unsigned mb = flr_voxmap_mark_at(b, FLR_FIELD_SURFACE, x, y, z);
                if (ma != mb)
                    fail_msg("voxel %d %d %d: %u, then %u", (int)x, (int)y, (int)z, ma, mb);
            }
}

static char *file_in(const char *folder, const char *name)
{
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static void written_comes_back(void **state)
{
    (void)state;
    const struct {
        unsigned bits, range;
        bool hollow;
        double voxel;
    } cases[] = {{4, 8, false, 0.001},
                 {4, 8, true, 0.001},
                 {8, 20, false, 0.0007},
                 {2, 1, false, 0.001},
                 {4, 3, false, 0.00025}};
    char *folder = flr_test_folder(), *path = file_in(folder, "a.nvdb");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_test_shape shape = {0};
        flr_test_shape_torus(&shape, 0.015, 0.006, 24, 12);
        flr_pose T = {.p = flr_vec3_make(0.1, -3, 0.5), .q = {0.5, 0.5, 0.1, 0.7}};
        T.q = flr_quat_normalize(T.q);
        flr_test_shape_move(&shape, 0, T, 1);
        flr_voxmap *before = voxelize(flr_test_shape_mesh(&shape), cases[i].voxel, cases[i].bits,
                                      cases[i].range, cases[i].hollow);
        flr_voxmap *after;
        flr_error error;
        assert_ok(flr_nanovdb_write(flr_env_real(), path, before, &error), error);
        flr_nanovdb_options options = {.bits = cases[i].bits, .range = cases[i].range};
        assert_ok(flr_nanovdb_read(flr_env_real(), path, &options, &after, &error), error);
        assert_same_marks(before, after);
        flr_voxmap_destroy(before);
        flr_voxmap_destroy(after);
        flr_test_shape_free(&shape);
    }
    free(path);
    flr_test_folder_remove(folder);
}

/* a solid so large that whole lower nodes are interior */
static void large_solids_have_tiles(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), *path = file_in(folder, "a.nvdb");
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.3, 0.3, 0.3), 1);
    flr_voxmap *before = voxelize(flr_test_shape_mesh(&shape), 0.001, 4, 8, false), *after;
    flr_error error;
    assert_ok(flr_nanovdb_write(flr_env_real(), path, before, &error), error);
    assert_ok(flr_nanovdb_read(flr_env_real(), path, NULL, &after, &error), error);
    flr_voxmap_info a = flr_voxmap_get_info(before), b = flr_voxmap_get_info(after);
    assert_int_equal(a.stats.interior_voxels, b.stats.interior_voxels);
    assert_int_equal(a.stats.surface_voxels, b.stats.surface_voxels);
    flr_voxmap_destroy(before);
    flr_voxmap_destroy(after);
    flr_test_shape_free(&shape);
    free(path);
    flr_test_folder_remove(folder);
}

/* The library's own reader, where it is installed: a program compiled against its header looks at all voxels. */
static void its_own_reader_agrees(void **state)
{
    (void)state;
    const char *reader = FLR_BINARY_DIR "/tests/nanovdb_reader";
    if (access(reader, X_OK) != 0) skip();
    char *folder = flr_test_folder(), *path = file_in(folder, "a.nvdb");
    char *list = file_in(folder, "values"), *command;
    for (int kind = 0; kind < 2; kind++) {
        flr_test_shape shape = {0};
        if (kind)
            flr_test_shape_box(&shape, flr_vec3_make(0.3, 0.2, 0.31), 1);
        else
            flr_test_shape_sphere(&shape, 0.03, 24, 12);
        flr_voxmap *voxmap =
            voxelize(flr_test_shape_mesh(&shape), kind ? 0.001 : 0.0003, 4, 8, false);
        flr_voxmap_info info = flr_voxmap_get_info(voxmap);
        flr_error error;
        assert_ok(flr_nanovdb_write(flr_env_real(), path, voxmap, &error), error);

        /* x y z, the value in voxels, active or not; where the voxel's centre is */
        flr_test_random random = flr_test_random_begin("its_own_reader_agrees");
        FILE *file = fopen(list, "w");
        assert_non_null(file);
        for (int i = 0; i < 200000; i++) {
            int at[3];
            for (int k = 0; k < 3; k++)
                at[k] = (int)flr_test_random_below(&random, (uint32_t)info.size[k] + 40) - 20;
            unsigned mark = flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, at[0], at[1], at[2]);
            int value = mark == FLR_MARK_FREE ? (int)info.range + 1 : (int)mark - 2;
            fprintf(file, "%d %d %d %d %d %.17g\n", at[0], at[1], at[2], value,
                    mark >= FLR_MARK_SURFACE, info.origin.y + (at[1] + 0.5) * info.voxel);
        }
        fclose(file);
        assert_gt(
            asprintf(&command, "'%s' '%s' '%s' %llu", reader, path, list,
                     (unsigned long long)(info.stats.surface_voxels + info.stats.field_voxels)),
            0);
        int status = system(command);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        free(command);
        flr_voxmap_destroy(voxmap);
        flr_test_shape_free(&shape);
    }
    /* and a sphere that it made itself, in Euclidean distances */
    char *other = file_in(folder, "sphere.nvdb");
    assert_gt(asprintf(&command, "'%s' --sphere '%s' 0.02 0.0005", reader, other), 0);
    assert_int_equal(system(command), 0);
    free(command);
    flr_voxmap *sphere;
    flr_error error;
    assert_ok(flr_nanovdb_read(flr_env_real(), other, NULL, &sphere, &error), error);
    flr_test_random random = flr_test_random_begin("sphere");
    for (int i = 0; i < 100000; i++) {
        flr_vec3 p = {flr_test_random_range(&random, -0.025, 0.025),
                      flr_test_random_range(&random, -0.025, 0.025),
                      flr_test_random_range(&random, -0.025, 0.025)};
        double distance = flr_vec3_length(p) - 0.02;
        unsigned mark = flr_voxmap_mark(sphere, FLR_FIELD_SURFACE, p);
        if (fabs(distance) < 1e-6) assert_int_equal(mark, FLR_MARK_SURFACE);
        if (distance < -0.0005 * 1.75) assert_int_equal(mark, FLR_MARK_INTERIOR);
        if (distance > 0.0005 * 1.75) assert_true(mark == FLR_MARK_FREE || mark > FLR_MARK_SURFACE);
    }
    flr_voxmap_destroy(sphere);
    free(other);
    free(list);
    free(path);
    flr_test_folder_remove(folder);
}

static flr_blob sphere_file(void)
{
    char *folder = flr_test_folder(), *path = file_in(folder, "a.nvdb");
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 0.004, 12, 6);
    flr_voxmap *voxmap = voxelize(flr_test_shape_mesh(&shape), 0.001, 4, 2, false);
    flr_blob blob;
    flr_error error;
    assert_ok(flr_nanovdb_write(flr_env_real(), path, voxmap, &error), error);
    assert_ok(flr_file_read_all(flr_env_real(), path, 1 << 24, &blob, &error), error);
    flr_voxmap_destroy(voxmap);
    flr_test_shape_free(&shape);
    free(path);
    flr_test_folder_remove(folder);
    return blob;
}

static void refuse(const flr_blob *blob, size_t size, flr_result code, const char *words)
{
    flr_voxmap *voxmap = NULL;
    flr_error error;
    assert_int_equal(flr_nanovdb_parse("x.nvdb", blob->bytes, size, NULL, &voxmap, &error), code);
    assert_null(voxmap);
    if (strncmp(error.message, "x.nvdb", 6) || !strstr(error.message, words))
        fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void others_are_refused(void **state)
{
    (void)state;
    flr_blob blob = sphere_file();
    uint8_t *grid = blob.bytes + FLR_NV_FILE + FLR_NV_META + sizeof "surface";
    const struct {
        uint8_t *place;
        uint8_t value;
        flr_result code;
        const char *words;
    } cases[] = {
        {blob.bytes, 'X', FLR_BAD_INPUT, "not a NanoVDB file"},
        {blob.bytes + 11, 3, FLR_UNSUPPORTED, "version"},
        {blob.bytes + FLR_NV_FILE_CODEC, 1, FLR_UNSUPPORTED, "compress"},
        {blob.bytes + FLR_NV_FILE_COUNT, 0, FLR_BAD_INPUT, "no grid"},
        {blob.bytes + FLR_NV_FILE + FLR_NV_META_TYPE, 2, FLR_UNSUPPORTED, "float"},
        {blob.bytes + FLR_NV_FILE + 7, 1, FLR_BAD_INPUT, "ends"},
        {grid, 'X', FLR_BAD_INPUT, "begin"},
        {grid + FLR_NV_GRID_MAP_D + 15, 0x3f, FLR_UNSUPPORTED, "turned"},
        {grid + FLR_NV_GRID_MAP_D + 7, 0xbf, FLR_BAD_INPUT, "size"},
        {grid + FLR_NV_GRID + FLR_NV_TREE_OFFSETS + 30, 1, FLR_BAD_INPUT, "root"},
        {grid + FLR_NV_GRID + FLR_NV_TREE_COUNTS, 0, FLR_BAD_INPUT, "two parents"},
        {grid + FLR_NV_GRID + FLR_NV_TREE_COUNTS + 3, 1, FLR_BAD_INPUT, "more nodes"},
        {grid + FLR_NV_GRID + FLR_NV_TREE + FLR_NV_ROOT + FLR_NV_TILE_CHILD + 4, 1, FLR_BAD_INPUT,
         "outside"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t before = *cases[i].place;
        *cases[i].place = cases[i].value;
        refuse(&blob, blob.size, cases[i].code, cases[i].words);
        *cases[i].place = before;
    }
    for (size_t size = 0; size < blob.size; size = size * 3 / 2 + 1)
        refuse(&blob, size, FLR_BAD_INPUT, "");
    refuse(&blob, blob.size - 1, FLR_BAD_INPUT, "ends");
    flr_blob_free(&blob);
}

/* any bytes changed: read to something, or refused in a sentence; under the sanitizers this finds what is read
 * outside */
static void mutations_do_no_harm(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("mutations_do_no_harm");
    flr_blob blob = sphere_file();
    uint8_t *copy = malloc(blob.size);
    int refused = 0;
    for (int i = 0; i < 300; i++) {
        memcpy(copy, blob.bytes, blob.size);
        for (uint32_t k = 1 + flr_test_random_below(&random, 4); k--;) {
            /* mostly where the structure is */
            uint32_t range = flr_test_random_below(&random, 3) ? 1200 : (uint32_t)blob.size;
            copy[flr_test_random_below(&random, range)] = (uint8_t)flr_test_random_u64(&random);
        }
        flr_voxmap *voxmap;
        flr_error error;
        if (flr_nanovdb_parse("x.nvdb", copy, blob.size, NULL, &voxmap, &error) == FLR_OK) {
            flr_voxmap_destroy(voxmap);
        } else {
            assert_memory_equal(error.message, "x.nvdb", 6);
            refused++;
        }
    }
    assert_gt(refused, 10);
    free(copy);
    flr_blob_free(&blob);
}

static flr_result parse_once(void *context, flr_error *error)
{
    const flr_blob *blob = context;
    flr_voxmap *voxmap;
    flr_nanovdb_options options = flr_default_nanovdb_options();
    options.threads = 1;
    flr_result result =
        flr_nanovdb_parse("x.nvdb", blob->bytes, blob->size, &options, &voxmap, error);
    if (result == FLR_OK) flr_voxmap_destroy(voxmap);
    return result;
}

typedef struct destination {
    const char *path;
    const flr_voxmap *voxmap;
} destination;

static flr_result write_once(void *context, flr_error *error)
{
    const destination *to = context;
    return flr_nanovdb_write(flr_env_real(), to->path, to->voxmap, error);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    flr_blob blob = sphere_file();
    flr_fail_alloc_each(parse_once, &blob);
    char *folder = flr_test_folder(), *path = file_in(folder, "a.nvdb");
    flr_voxmap *voxmap;
    flr_error error;
    assert_ok(flr_nanovdb_parse("x", blob.bytes, blob.size, NULL, &voxmap, &error), error);
    destination to = {path, voxmap};
    flr_fail_alloc_each(write_once, &to);
    flr_voxmap_destroy(voxmap);
    flr_blob_free(&blob);
    free(path);
    flr_test_folder_remove(folder);
}

/* small boxes so far apart that each has an upper node of its own */
static flr_blob distant_file(void)
{
    char *folder = flr_test_folder(), *path = file_in(folder, "a.nvdb");
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.01, 0.01, 0.01), 1);
    size_t first = shape.vertex_count;
    flr_test_shape_box(&shape, flr_vec3_make(0.01, 0.01, 0.01), 1);
    flr_pose T = flr_pose_identity();
    T.p.x = 5;
    flr_test_shape_move(&shape, (uint32_t)first, T, 1);
    flr_voxmap *voxmap = voxelize(flr_test_shape_mesh(&shape), 0.001, 4, 8, false);
    flr_blob blob;
    flr_error error;
    assert_ok(flr_nanovdb_write(flr_env_real(), path, voxmap, &error), error);
    assert_ok(flr_file_read_all(flr_env_real(), path, 1 << 24, &blob, &error), error);
    flr_voxmap_destroy(voxmap);
    flr_test_shape_free(&shape);
    free(path);
    flr_test_folder_remove(folder);
    return blob;
}

/* A few bytes of a small file must not ask for hundreds of megabytes. */
static void memory_is_bounded_by_the_file(void **state)
{
    (void)state;
    flr_blob blob = distant_file();
    flr_voxmap *voxmap;
    flr_error error;
    assert_ok(flr_nanovdb_parse("x.nvdb", blob.bytes, blob.size, NULL, &voxmap, &error), error);
    flr_voxmap_destroy(voxmap);
    uint8_t *grid = blob.bytes + FLR_NV_FILE + FLR_NV_META + sizeof "surface";
    uint8_t *root = grid + FLR_NV_GRID + FLR_NV_TREE, *tile = root + FLR_NV_ROOT + FLR_NV_TILE;
    assert_int_equal(flr_get_u32(root + FLR_NV_ROOT_COUNT), 2);

    // the second box 100 upper nodes away to two sides
    uint64_t key = flr_get_u64(tile);
    flr_put_u64(tile, key | UINT64_C(100) << 42 | UINT64_C(100) << 21);
    flr_fail_alloc_peak_begin();
    refuse(&blob, blob.size, FLR_TOO_LARGE, "too far apart");
    assert_lt(flr_fail_alloc_peak(), blob.size);
    flr_put_u64(tile, key);

    // a background of 200 voxels, and values of 9
    const float background = 0.2f;
    memcpy(root + FLR_NV_ROOT_BACKGROUND, &background, sizeof background);
    flr_fail_alloc_peak_begin();
    refuse(&blob, blob.size, FLR_TOO_LARGE, "background");
    assert_lt(flr_fail_alloc_peak(), blob.size);
    // a request for that range gets it
    flr_nanovdb_options options = {.range = 30, .threads = 1};
    assert_ok(flr_nanovdb_parse("x.nvdb", blob.bytes, blob.size, &options, &voxmap, &error), error);
    assert_int_equal(flr_voxmap_get_info(voxmap).range, 30);
    flr_voxmap_destroy(voxmap);
    flr_blob_free(&blob);

    // a lower node full of tiles on the surface: 32 KiB that stand for two million surface voxels
    blob = sphere_file();
    grid = blob.bytes + FLR_NV_FILE + FLR_NV_META + sizeof "surface";
    uint8_t *lower = grid + FLR_NV_GRID + flr_get_u64(grid + FLR_NV_GRID + FLR_NV_TREE_OFFSETS + 8);
    memset(lower + FLR_NV_LOWER_CHILDREN, 0, 512);
    memset(lower + FLR_NV_LOWER_CELLS, 0, (size_t)4096 * 8);
    flr_fail_alloc_peak_begin();
    refuse(&blob, blob.size, FLR_UNSUPPORTED, "too many blocks of 8 voxels");
    assert_lt(flr_fail_alloc_peak(), blob.size);
    flr_blob_free(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_comes_back),
        cmocka_unit_test(large_solids_have_tiles),
        cmocka_unit_test(its_own_reader_agrees),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(mutations_do_no_harm),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(memory_is_bounded_by_the_file),
    };
    return cmocka_run_group_tests_name("nanovdb", tests, NULL, NULL);
}
