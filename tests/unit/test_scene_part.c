/* meshes of scenes that were saved: their names say what is in them */
#include <stdio.h>

#include "feeler/mesh.h"
#include "feeler/sim.h"
#include "scene/scene.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_error error;
static flr_sim *sim;
static flr_env *env;

static int set_up(void **state)
{
    (void)state;
    flr_sim_def def = flr_default_sim_def();
    flr_address address = {.family = 4, .ip = {10, 0, 0, 1}};
    sim = flr_sim_create(&def);
    env = flr_sim_node(sim, address);
    assert_ok(flr_path_make_folder(env, "/plan_parts", &error), error);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flr_sim_destroy(sim);
    return 0;
}

/* A torus with what welding and cleaning look for: equal and nearly equal vertices, some that nothing uses, triangles
 * without area, twins. */
static flr_mesh *make_mesh(double weld)
{
    flr_test_shape shape = {0};
    flr_test_shape_torus(&shape, 0.01, 0.004, 16, 8);
    const flr_mesh *from = flr_test_shape_mesh(&shape);
    uint32_t vertices = from->vertex_count + 6, triangles = from->triangle_count + 5;
    flr_vec3 *v = calloc(vertices, sizeof *v);
    flr_triangle *t = calloc(triangles, sizeof *t);
    assert_true(v);
    assert_true(t);
    v[0] = flr_vec3_make(9, 9, 9); /* nothing uses it */
    memcpy(v + 1, from->vertices, from->vertex_count * sizeof *v);
    for (uint32_t i = 0; i < 5; i++) v[vertices - 1 - i] = v[1 + i];
    v[vertices - 1].x += 1e-7;
    for (uint32_t i = 0; i < from->triangle_count; i++)
        for (int k = 0; k < 3; k++) t[i].v[k] = from->triangles[i].v[k] + 1;
    flr_triangle *odd = t + from->triangle_count;
    odd[0] = (flr_triangle){{1, 1, 2}};
    odd[1] = (flr_triangle){{2, vertices - 2, 5}};
    odd[2] = t[0];
    odd[3] = (flr_triangle){{vertices - 1, vertices - 2, vertices - 3}};
    odd[4] = (flr_triangle){{1, vertices - 1, 7}};
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v, def.vertex_count = vertices;
    def.triangles = t, def.triangle_count = triangles;
    def.weld = weld;
    flr_mesh *mesh;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    flr_test_shape_free(&shape);
    free(v);
    free(t);
    return mesh;
}

/* the file of a scene's only part */
static flr_result load(const char *file, double unit, double weld, flr_hash *hash)
{
    flr_scene_part part = flr_default_scene_part();
    part.name = "torus";
    part.file = file;
    part.unit = unit;
    flr_scene scene = {.path = "/plan.json", .parts = &part, .part_count = 1};
    flr_mesh_options options = flr_default_mesh_options();
    options.weld = weld;
    flr_mesh *mesh = NULL;
    flr_result result = flr_scene_load_part(env, &scene, 0, &options, &mesh, NULL, &error);
    if (result == FLR_OK) *hash = flr_mesh_hash(mesh);
    if (result != FLR_OK) assert_null(mesh);
    flr_mesh_destroy(mesh);
    return result;
}

static void save(const flr_mesh *mesh, char file[100])
{
    char path[120], hash[FLR_HASH_TEXT_SIZE];
    snprintf(file, 100, "plan_parts/%s.ply", flr_hash_print(flr_mesh_hash(mesh), hash));
    snprintf(path, sizeof path, "/%s", file);
    assert_ok(flr_mesh_write(env, path, mesh, 1, &error), error);
}

/* However they were made and are read. */
static void sound_meshes_are_accepted(void **state)
{
    (void)state;
    const double welds[] = {0, 1e-6, 1e-3};
    for (int i = 0; i < 3; i++) {
        char file[100];
        flr_mesh *mesh = make_mesh(welds[i]);
        flr_hash hash;
        save(mesh, file);
        assert_ok(load(file, 1, 0, &hash), error);
        assert_true(flr_hash_equal(hash, flr_mesh_hash(mesh)));
        assert_ok(load(file, 0.001, 0, &hash), error);
        assert_ok(load(file, 1, 2e-3, &hash), error);
        flr_mesh_destroy(mesh);
    }
}

static void patch(const char *file, uint64_t at, uint8_t bit)
{
    char path[120];
    flr_file *open;
    uint8_t byte;
    size_t got;
    snprintf(path, sizeof path, "/%s", file);
    assert_ok(flr_file_open(env, path, FLR_FILE_UPDATE, &open, &error), error);
    assert_ok(flr_file_read(open, at, &byte, 1, &got, &error), error);
    byte ^= bit;
    assert_ok(flr_file_write(open, at, &byte, 1, &error), error);
    flr_file_close(open);
}

/* A bit anywhere among the numbers: most of them give another mesh that is as good as any. */
static void damaged_meshes_are_refused(void **state)
{
    (void)state;
    char file[100], path[120];
    flr_mesh *mesh = make_mesh(0);
    flr_hash sound = flr_mesh_hash(mesh), hash;
    flr_path_info info;
    save(mesh, file);
    snprintf(path, sizeof path, "/%s", file);
    assert_ok(flr_path_look(env, path, &info, &error), error);
    uint32_t named = 0;
    for (uint64_t at = 0; at < info.size; at += 7) {
        uint8_t bit = (uint8_t)(1u << at % 8);
        patch(file, at, bit);
        for (int how = 0; how < 2; how++) {
            flr_result result = load(file, how ? 0.001 : 1, 0, &hash);
            if (result == FLR_OK && !how) assert_true(flr_hash_equal(hash, sound));
            named += result != FLR_OK && strstr(error.message, "not the mesh that was saved");
        }
        patch(file, at, bit);
    }
    assert_gt(named, 100);
    assert_ok(load(file, 1, 0, &hash), error);

    // what has another name may be changed by whoever likes to
    assert_ok(flr_mesh_write(env, "/plan_parts/mine.ply", mesh, 1, &error), error);
    patch("plan_parts/mine.ply", 1000, 1);
    assert_ok(load("plan_parts/mine.ply", 1, 0, &hash), error);
    assert_false(flr_hash_equal(hash, sound));
    flr_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_meshes_are_accepted),
        cmocka_unit_test(damaged_meshes_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
