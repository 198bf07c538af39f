/* leaks: holes through which the inside was reached, and what is none */
#include "voxel/leak.h"

#include "feeler/mesh.h"
#include "feeler/voxels.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_voxmap *voxelize(const flr_mesh *mesh, double voxel, bool hollow)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    flr_voxmap *voxmap;
    flr_error error;
    def.voxel = voxel;
    def.hollow = hollow;
    def.features = false;
    def.threads = 2;
    assert_ok(flr_voxelize(flr_env_real(), mesh, &def, &voxmap, NULL, NULL, &error), error);
    return voxmap;
}

static flr_leak_report find(const flr_mesh *mesh, double voxel, bool hollow)
{
    flr_voxmap *voxmap = voxelize(mesh, voxel, hollow);
    flr_leak_report report;
    flr_error error;
    assert_ok(flr_leak_find(mesh, voxmap, 2, 0, &report, &error), error);
    flr_voxmap_destroy(voxmap);
    return report;
}

/* a box of this size about the origin whose top (largest z) has no triangles */
static void open_box(flr_test_shape *shape, flr_vec3 size)
{
    flr_test_shape_box(shape, size, 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < shape->triangle_count; i++) {
        double low = 1e9;
        for (int k = 0; k < 3; k++) low = fmin(low, shape->vertices[shape->triangles[i].v[k]].z);
        if (low < size.z / 2 - 1e-9) shape->triangles[kept++] = shape->triangles[i];
    }
    assert_int_equal(kept, 10);
    shape->triangle_count = kept;
}

static void closed_shapes_do_not_leak(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        flr_test_shape shape = {0};
        if (kind == 0) flr_test_shape_sphere(&shape, 0.02, 24, 12);
        if (kind == 1) flr_test_shape_box(&shape, flr_vec3_make(0.03, 0.02, 0.01), 1);
        if (kind == 2) flr_test_shape_torus(&shape, 0.02, 0.006, 24, 12);
        assert_int_equal(find(flr_test_shape_mesh(&shape), 0.001, false).total, 0);
        flr_test_shape_free(&shape);
    }
}

static void a_box_without_lid_leaks(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    open_box(&shape, flr_vec3_make(0.03, 0.03, 0.05));
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_leak_report report = find(mesh, 0.001, false);
    assert_int_equal(report.total, 1);
    assert_int_equal(report.count, 1);
    assert_lt(flr_vec3_distance(report.leaks[0].place, flr_vec3_make(0, 0, 0.025)), 1e-6);
    assert_lt(fabs(report.leaks[0].gap - 0.03), 1e-6);
    assert_ge(report.leaks[0].voxel, 0.0375);
    assert_lt(report.leaks[0].voxel, 0.04);
    char text[FLR_LEAK_TEXT_SIZE];
    assert_string_equal(flr_leak_print(&report.leaks[0], text),
                        "interior leaked through a gap near (0, 0, 25 mm), about 30 mm; use "
                        "voxels of 38mm, or voxelize the part as hollow");
    /* a part without interior has no leak, and the advice helps */
    assert_int_equal(find(mesh, 0.001, true).total, 0);
    assert_int_equal(find(mesh, report.leaks[0].voxel, false).total, 0);
    flr_test_shape_free(&shape);
}

/* in every pose of the mesh in its grid, also inside out */
static void leaks_do_not_depend_on_the_pose(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("leaks_do_not_depend_on_the_pose");
    for (int i = 0; i < 12; i++) {
        flr_test_shape shape = {0};
        open_box(&shape, flr_vec3_make(0.02, 0.03, 0.02));
        flr_pose T = {.p = flr_vec3_make(flr_test_random_range(&random, -1, 1), 0.3, 0.2)};
        T.q = flr_quat_normalize((flr_quat){
            flr_test_random_range(&random, -1, 1), flr_test_random_range(&random, -1, 1),
            flr_test_random_range(&random, -1, 1), flr_test_random_range(&random, -1, 1)});
        flr_test_shape_move(&shape, 0, T, 1);
        if (i % 2) flr_test_shape_turn(&shape, 0);
        flr_leak_report report = find(flr_test_shape_mesh(&shape), 0.001, false);
        assert_int_equal(report.total, 1);
        flr_vec3 lid = flr_pose_apply(T, flr_vec3_make(0, 0, 0.01));
        assert_lt(flr_vec3_distance(report.leaks[0].place, lid), 1e-6);
        flr_test_shape_free(&shape);
    }
}

static double flat(double x, double y) { return 0 * x * y; }
static double bent(double x, double y) { return 0.03 * sin(40 * x) * sin(40 * y) * 0.05; }

static void sheets_have_no_inside(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        flr_test_shape shape = {0};
        flr_test_shape_sheet(&shape, 0.08, 0.05, 8, 8, kind ? bent : flat);
        assert_int_equal(find(flr_test_shape_mesh(&shape), 0.001, false).total, 0);
        flr_test_shape_free(&shape);
    }
}

/* six loose sides, each with a border of its own, are a closed box */
static void cracks_are_no_gaps(void **state)
{
    (void)state;
    flr_test_shape box = {0}, loose = {0};
    flr_test_shape_box(&box, flr_vec3_make(0.03, 0.03, 0.02), 1);
    for (uint32_t i = 0; i < box.triangle_count; i++) {
        uint32_t v[3];
        for (int k = 0; k < 3; k++) {
            flr_vec3 p = box.vertices[box.triangles[i].v[k]];
            v[k] = flr_test_shape_vertex(&loose, p.x + 1e-7 * i, p.y, p.z);
        }
        flr_test_shape_triangle(&loose, v[0], v[1], v[2]);
    }
    assert_int_equal(find(flr_test_shape_mesh(&loose), 0.001, false).total, 0);
    flr_test_shape_free(&box);
    flr_test_shape_free(&loose);
}

/* a pipe leaks at both ends, the wider first */
static void the_widest_comes_first(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    enum { AROUND = 24 };
    for (int ring = 0; ring < 2; ring++)
        for (int i = 0; i < AROUND; i++) {
            double angle = 2 * M_PI * i / AROUND, r = ring ? 0.02 : 0.01;
            flr_test_shape_vertex(&shape, r * cos(angle), r * sin(angle), 0.06 * ring);
        }
    for (uint32_t i = 0; i < AROUND; i++) {
        uint32_t j = (i + 1) % AROUND;
        flr_test_shape_triangle(&shape, i, j, j + AROUND);
        flr_test_shape_triangle(&shape, i, j + AROUND, i + AROUND);
    }
    flr_leak_report report = find(flr_test_shape_mesh(&shape), 0.001, false);
    assert_int_equal(report.total, 2);
    assert_gt(report.leaks[0].gap, 0.038);
    assert_lt(report.leaks[1].gap, 0.021);
    assert_gt(report.leaks[0].place.z, 0.05);
    assert_lt(report.leaks[1].place.z, 0.01);
    flr_test_shape_free(&shape);
}

static void shared_models(void **state)
{
    (void)state;
    const char *folder = flr_test_models_dir();
    if (!folder) skip();
    const struct {
        const char *file;
        double voxel;
        uint32_t leaks;
    } cases[] = {{"dirty/assimp_sphereWithHole.stl", 5e-5, 1},
                 {"dirty/cgal_elephant_complex_hole.obj", 1e-5, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[1024];
        flr_mesh *mesh;
        flr_error error;
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].file);
        flr_mesh_options options = flr_default_mesh_options();
        options.unit = 0.001;
        assert_ok(flr_mesh_read(flr_env_real(), path, &options, &mesh, NULL, &error), error);
        flr_leak_report report = find(mesh, cases[i].voxel, false);
        assert_int_equal(report.total, cases[i].leaks);
        /* the advice helps: nothing leaks, and there is an inside */
        flr_voxmap *voxmap = voxelize(mesh, report.leaks[0].voxel, false);
        assert_gt(flr_voxmap_get_info(voxmap).stats.interior_voxels, 0);
        flr_voxmap_destroy(voxmap);
        assert_int_equal(find(mesh, report.leaks[0].voxel, false).total, 0);
        flr_mesh_destroy(mesh);
    }
}

typedef struct subject {
    const flr_mesh *mesh;
    const flr_voxmap *voxmap;
} subject;

static flr_result find_once(void *context, flr_error *error)
{
    const subject *s = context;
    flr_leak_report report;
    return flr_leak_find(s->mesh, s->voxmap, 1, 0, &report, error);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    open_box(&shape, flr_vec3_make(0.03, 0.03, 0.05));
    subject s = {.mesh = flr_test_shape_mesh(&shape)};
    flr_voxmap *voxmap = voxelize(s.mesh, 0.002, false);
    s.voxmap = voxmap;
    flr_fail_alloc_each(find_once, &s);
    flr_voxmap_destroy(voxmap);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_shapes_do_not_leak),
        cmocka_unit_test(a_box_without_lid_leaks),
        cmocka_unit_test(leaks_do_not_depend_on_the_pose),
        cmocka_unit_test(sheets_have_no_inside),
        cmocka_unit_test(cracks_are_no_gaps),
        cmocka_unit_test(the_widest_comes_first),
        cmocka_unit_test(shared_models),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("leak", tests, NULL, NULL);
}
