/* what a mark promises: for a point in a voxel marked 2 + d the exact surface is at least d - 1 voxels and at most
 * sqrt(3) (d + 1) voxels away; d = 0 is a surface voxel. A million points. */
#include "feeler/mesh.h"
#include "feeler/voxels.h"
#include "support/clearance.h"
#include "support/fixtures.h"
#include "support/test.h"

/* How many points had each mark. */
typedef struct tally {
    uint64_t by_mark[256];
    double least[256], most[256]; /* voxels */
} tally;

static void check_mark(tally *t, unsigned mark, double voxels)
{
    double d = (double)mark - FLR_MARK_SURFACE;
    if (voxels < d - 1 - 1e-9 || voxels > sqrt(3) * (d + 1) + 1e-9)
        fail_msg("mark %u, but %.12g voxels from the surface", mark, voxels);
    if (!t->by_mark[mark]++) t->least[mark] = INFINITY;
    t->least[mark] = fmin(t->least[mark], voxels);
    t->most[mark] = fmax(t->most[mark], voxels);
}

/* Asks for points near the surface, where marks are, and anywhere in the grid. */
static void check_model(const flr_mesh *mesh, double voxel, flr_pose T, uint32_t points,
                        flr_test_random *random, tally *t)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    flr_voxmap *voxmap;
    flr_exact *exact;
    flr_error error;
    def.voxel = voxel;
    def.features = false;
    def.T_voxmap_mesh = T;
    assert_ok(flr_voxelize(flr_env_real(), mesh, &def, &voxmap, NULL, NULL, &error), error);
    assert_ok(flr_exact_create(mesh, voxmap, 0, &exact, &error), error);
    /* another yardstick for some of them, which knows nothing of voxels; it wants the mesh's frame */
    double reach = 20 * voxel;
    flr_box3 region =
        flr_box3_make(flr_vec3_sub(mesh->bounds.low, flr_vec3_make(reach, reach, reach)),
                      flr_vec3_add(mesh->bounds.high, flr_vec3_make(reach, reach, reach)));
    flr_clearance *clearance = flr_clearance_create(mesh, region, reach);

    for (uint32_t i = 0; i < points;) {
        flr_vec3 p;
        double around[3];
        for (int k = 0; k < 3; k++) around[k] = flr_test_random_range(random, -9, 9) * voxel;
        const uint32_t *v = mesh->triangles[flr_test_random_below(random, mesh->triangle_count)].v;
        double a = flr_test_random_range(random, 0, 1), b = flr_test_random_range(random, 0, 1);
        if (a + b > 1) a = 1 - a, b = 1 - b;
        p = mesh->vertices[v[0]];
        p = flr_vec3_add_scaled(p, a, flr_vec3_sub(mesh->vertices[v[1]], mesh->vertices[v[0]]));
        p = flr_vec3_add_scaled(p, b, flr_vec3_sub(mesh->vertices[v[2]], mesh->vertices[v[0]]));
        p = flr_vec3_add(p, flr_vec3_make(around[0], around[1], around[2]));
        flr_vec3 moved = flr_pose_apply(T, p);
        unsigned mark = flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, moved);
        if (mark < FLR_MARK_SURFACE) continue;
        flr_exact_result r = flr_exact_distance(exact, moved, INFINITY, 0);
        if (!r.found) fail_msg("mark %u, but no surface within its bound", mark);
        check_mark(t, mark, fabs(r.distance) / voxel);
        if (i % 64 == 0)
            assert_lt(fabs(flr_clearance_at(clearance, p) - fabs(r.distance)), 1e-9 * voxel);
        i++;
    }
    flr_clearance_destroy(clearance);
    flr_exact_destroy(exact);
    flr_voxmap_destroy(voxmap);
}

/* A million points by FLR_BOUNDS_WHOLE=1. */
static uint32_t share(uint32_t points)
{
#ifdef FLR_SANITIZED
    uint32_t part = 20; /* ten times slower there */
#else
    uint32_t part = 4;
#endif
    return getenv("FLR_BOUNDS_WHOLE") ? points : points / part;
}

/* Every mark must have come up, and the bounds must not be wide of the truth. */
static void check_tally(const tally *t)
{
    uint64_t total = 0;
    for (unsigned mark = 2; mark <= 10; mark++) {
        total += t->by_mark[mark];
        assert_gt(t->by_mark[mark], share(1000));
        double d = (double)mark - FLR_MARK_SURFACE;
        assert_lt(t->least[mark], fmax(d, 0.1));
        assert_gt(t->most[mark], d + 0.9);
    }
    printf("%llu points\n", (unsigned long long)total);
}

static void shapes_keep_the_promise(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("shapes_keep_the_promise");
    tally t = {0};
    for (int kind = 0; kind < 5; kind++) {
        flr_test_shape shape = {0};
        if (kind == 0) flr_test_shape_sphere(&shape, 0.03, 48, 24);
        if (kind == 1) flr_test_shape_torus(&shape, 0.03, 0.01, 48, 24);
        if (kind == 2) flr_test_shape_box(&shape, flr_vec3_make(0.06, 0.04, 0.05), 1);
        if (kind == 3) flr_test_shape_cylinder(&shape, 0.02, 0.06, 24, 1);
        if (kind == 4) flr_test_shape_tetrahedron(&shape, 0.05, 0.03, 0.04);
        for (int turn = 0; turn < 2; turn++) {
            flr_pose T = flr_pose_identity();
            if (turn)
                T = flr_pose_make(flr_vec3_make(1, 2, -3),
                                  flr_quat_from_axis_angle(flr_vec3_make(3, 1, 2), 0.5 + kind));
            check_model(flr_test_shape_mesh(&shape), turn ? 0.0011 : 0.001, T, share(50000),
                        &random, &t);
        }
        flr_test_shape_free(&shape);
    }
    check_tally(&t);
}

static void models_keep_the_promise(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (!models) skip();
    flr_test_random random = flr_test_random_begin("models_keep_the_promise");
    static const char *const names[] = {
        "dirty/assimp_Spider_binary.stl",
        "dirty/cgal_bunny_random_perturbation.obj",
        "dirty/cgal_elephant_complex_hole.obj",
        "dirty/cgal_three_knives.obj",
        "dirty/manifold_self_intersectA.obj",
        "assembly/factory_m16_nut_bolt/factory_bolt_m16_loose.obj",
        "assembly/path_alpha_1.6/alphaobstacle.obj",
        "assembly/wrs2020_drive_unit/04_37D-GEARMOTOR-50-70.stl",
    };
    tally t = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", models, names[i]);
        flr_mesh *mesh;
        flr_error error;
        flr_mesh_options options = flr_default_mesh_options();
        options.tolerant = true;
        assert_ok(flr_mesh_read(flr_env_real(), path, &options, &mesh, NULL, &error), error);
        flr_vec3 size = flr_box3_size(mesh->bounds);
        double voxel = fmax(size.x, fmax(size.y, size.z)) / 120;
        check_model(mesh, voxel, flr_pose_identity(), share(62500), &random, &t);
        flr_mesh_destroy(mesh);
    }
    check_tally(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_keep_the_promise),
        cmocka_unit_test(models_keep_the_promise),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
