/* write, read back: the same mesh */
#include "feeler/mesh_io.h"
#include "support/test.h"

/* a number that a 32-bit float holds; volatile, because gcc 12 at -O3 drops pairs of conversions
 * to float and back */
static double single(double value)
{
    volatile float rounded = (float)value;
    return (double)rounded;
}

static flr_mesh *make_random(flr_test_random *random, uint32_t triangles)
{
    flr_vec3 *v = malloc(3 * triangles * sizeof *v);
    for (uint32_t i = 0; i < 3 * triangles; i++)
        v[i] = flr_vec3_make(single(flr_test_random_range(random, -500, 500)),
                             single(flr_test_random_range(random, -1, 1)),
                             flr_test_random_below(random, 3));
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v;
    def.vertex_count = 3 * triangles;
    def.scale = 0.001;
    flr_mesh *mesh = NULL;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    free(v);
    return mesh;
}

static void stl_round_trip(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("stl_round_trip");
    flr_mesh *mesh = make_random(&random, 500), *back;
    char *folder = flr_test_folder(), path[1200];
    flr_error error;
    snprintf(path, sizeof path, "%s/a.stl", folder);
    assert_ok(flr_mesh_write(flr_env_real(), path, mesh, 0, &error), error);
    assert_ok(flr_mesh_read(flr_env_real(), path, NULL, &back, NULL, &error), error);
    assert_int_equal(mesh->vertex_count, back->vertex_count);
    assert_true(flr_hash_equal(flr_mesh_hash(mesh), flr_mesh_hash(back)));
    flr_mesh_destroy(mesh);
    flr_mesh_destroy(back);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stl_round_trip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
