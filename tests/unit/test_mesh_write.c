/* write, read back: the same mesh */
#include "feeler/mesh.h"

#include <math.h>
#include <unistd.h>

#include "feeler/sim.h"
#include "support/meshes.h"

/* random triangles, some sharing corners, in two groups */
static flr_mesh *make_random(flr_test_random *random, uint32_t triangles, bool floats, double scale)
{
    flr_vec3 *v = malloc(3 * triangles * sizeof *v);
    for (uint32_t i = 0; i < 3 * triangles; i++) {
        double p[3] = {flr_test_random_range(random, -500, 500),
                       flr_test_random_range(random, -1, 1), flr_test_random_below(random, 3)};
        for (unsigned k = 0; floats && k < 3; k++) p[k] = (double)(float)p[k];
        v[i] = i % 5 == 4 ? v[i - 4] : flr_vec3_make(p[0], p[1], p[2]);
    }
    flr_mesh_group groups[2] = {{.name = 0, .T_mesh_group = flr_pose_identity()},
                                {.name = 6, .T_mesh_group = flr_pose_identity()}};
    groups[0].triangle_count = groups[1].first_triangle = triangles / 3;
    groups[1].triangle_count = triangles - triangles / 3;
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v;
    def.vertex_count = 3 * triangles;
    def.scale = scale;
    def.groups = groups;
    def.group_count = 2;
    def.names = "left \\\0right hand";
    def.names_size = 20;
    groups[1].name = 7;
    flr_mesh *mesh = NULL;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    free(v);
    return mesh;
}

static flr_mesh *write_and_read(const char *folder, const char *name, const flr_mesh *mesh,
                                double unit)
{
    char path[1200];
    flr_error error;
    flr_mesh *back = NULL;
    flr_mesh_options options = flr_default_mesh_options();
    options.unit = unit;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(flr_mesh_write(flr_env_real(), path, mesh, unit, &error), error);
    assert_ok(flr_mesh_read(flr_env_real(), path, &options, &back, NULL, &error), error);
    return back;
}

static void round_trips(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("round_trips");
    static const double units[] = {0, 0.001, 1, 0.0254, 0.01, 1e-6, 0.3048};
    char *folder = flr_test_folder();
    for (unsigned u = 0; u < 7; u++)
        for (unsigned f = 0; f < 4; f++) {
            static const char *const names[] = {"a.stl", "a.OBJ", "a.ply", "a.itri"};
            // as if it had been read from a file in this unit; STL has 32-bit floats
            flr_mesh *mesh = make_random(&random, 400, f == 0, units[u] > 0 ? units[u] : 0.001);
            flr_mesh *back = write_and_read(folder, names[f], mesh, units[u]);
            flr_test_assert_same_mesh(mesh, back);
            if (f == 1) {
                assert_int_equal(back->group_count, 2);
                assert_string_equal(flr_mesh_group_name(back, 0), "left"); // a last '\' joins lines
                assert_string_equal(flr_mesh_group_name(back, 1), "right hand");
                assert_int_equal(back->groups[1].first_triangle, 133);
            }
            flr_mesh_destroy(mesh);
            flr_mesh_destroy(back);
        }
    flr_test_folder_remove(folder);
}

/* coordinates that are no multiple of the unit come back within one unit in the last place */
static void any_coordinates(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("any_coordinates");
    char *folder = flr_test_folder();
    flr_mesh *mesh = make_random(&random, 300, false, 1);
    for (unsigned f = 0; f < 2; f++) {
        flr_mesh *back = write_and_read(folder, f ? "a.obj" : "a.ply", mesh, 0.001);
        assert_int_equal(back->vertex_count, mesh->vertex_count);
        for (uint32_t i = 0; i < mesh->vertex_count; i++) {
            const double *a = &mesh->vertices[i].x, *b = &back->vertices[i].x;
            for (unsigned k = 0; k < 3; k++)
                assert_true(b[k] == a[k] || b[k] == nextafter(a[k], INFINITY) ||
                            b[k] == nextafter(a[k], -INFINITY));
        }
        flr_mesh_destroy(back);
    }
    flr_mesh_destroy(mesh);
    flr_test_folder_remove(folder);
}

static void stl_bytes(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[1200];
    flr_mesh *mesh =
        flr_test_parse_text("a.obj", "v 0 0 0\nv 2 0 0\nv 0 3 0\nf 1 2 3\n", false, NULL);
    flr_error error;
    flr_blob file;
    snprintf(path, sizeof path, "%s/a.stl", folder);
    assert_ok(flr_mesh_write(flr_env_real(), path, mesh, 0, &error), error);
    assert_ok(flr_file_read_all(flr_env_real(), path, 1000, &file, &error), error);
    assert_int_equal(file.size, 134);
    assert_memory_not_equal(file.bytes, "solid", 5);
    flr_test_bytes wanted = {0};
    const float numbers[] = {0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0};
    flr_test_put_int(&wanted, 1, 4, false);
    for (unsigned i = 0; i < 12; i++) flr_test_put_float(&wanted, numbers[i], false);
    flr_test_put_int(&wanted, 0, 2, false);
    assert_memory_equal(file.bytes + 80, wanted.bytes, wanted.size);
    free(wanted.bytes);
    flr_blob_free(&file);
    flr_mesh_destroy(mesh);
    flr_test_folder_remove(folder);
}

static void refusals(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[1200];
    flr_mesh *mesh =
        flr_test_parse_text("a.obj", "v 0 0 0\nv 2 0 0\nv 0 3 0\nf 1 2 3\n", false, NULL);
    flr_env *env = flr_env_real();
    flr_error error;
    static const char *const endings[] = {"a.step", "a", "a.stl/", "x.obj/a"};
    for (unsigned i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, endings[i]);
        assert_int_equal(flr_mesh_write(env, path, mesh, 0, &error), FLR_UNSUPPORTED);
        assert_non_null(strstr(error.message, ".stl, .obj, .ply or .itri"));
    }
    snprintf(path, sizeof path, "%s/a.stl", folder);
    static const double units[] = {-1, NAN, INFINITY, 1e-30};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(flr_mesh_write(env, path, mesh, units[i], &error), FLR_BAD_ARGUMENT);
    // nowhere to write; nothing is left behind
    snprintf(path, sizeof path, "%s/none/a.stl", folder);
    assert_int_not_equal(flr_mesh_write(env, path, mesh, 0, &error), FLR_OK);
    assert_non_null(strstr(error.message, "none/a.stl"));
    assert_int_equal(rmdir(folder), 0);
    free(folder);
    flr_mesh_destroy(mesh);
}

/* the disk fails at its first, second, third… operation: the file is whole or not there */
static void broken_disk(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("broken_disk");
    flr_mesh *mesh = make_random(&random, 3000, false, 0.001);
    static const char *const names[] = {"a.stl", "a.obj", "a.ply", "a.itri"};
    for (unsigned f = 0; f < 4; f++) {
        flr_sim_def def = flr_default_sim_def();
        flr_sim *sim = flr_sim_create(&def);
        flr_address address;
        flr_error error;
        assert_ok(flr_address_parse("10.0.0.1", 1, &address, &error), error);
        flr_env *node = flr_sim_node(sim, address);
        flr_result result = FLR_IO;
        unsigned failures = 0;
        for (uint64_t n = 1; result != FLR_OK; n++) {
            flr_sim_disk disk = def.disk;
            disk.fail_at = n;
            flr_sim_set_disk(node, &disk);
            result = flr_mesh_write(node, names[f], mesh, 0, &error);
            flr_sim_set_disk(node, &def.disk);
            flr_path_info info;
            assert_ok(flr_path_look(node, names[f], &info, &error), error);
            failures += result != FLR_OK;
            assert_in_range(n, 1, 1000);
            if (info.kind == FLR_PATH_NONE) continue;
            flr_mesh *back = NULL;
            assert_ok(flr_mesh_read(node, names[f], NULL, &back, NULL, &error), error);
            assert_int_equal(back->triangle_count, mesh->triangle_count);
            flr_mesh_destroy(back);
            assert_ok(flr_path_remove(node, names[f], &error), error);
        }
        assert_gt(failures, 2);
        flr_sim_destroy(sim);
    }
    flr_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips), cmocka_unit_test(any_coordinates),
        cmocka_unit_test(stl_bytes),   cmocka_unit_test(refusals),
        cmocka_unit_test(broken_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
