/* the exact distance of two parts against all pairs of triangles */
#include "feeler/distance.h"

#include <math.h>

#include "feeler/mesh.h"
#include "mesh/nearest.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"

/* ---- the yardstick ---- */

/* The least distance over all pairs, in the frame of b. */
static double plain_distance(const flr_mesh *a, const flr_mesh *b, flr_pose T_world_a,
                             flr_pose T_world_b)
{
    T_world_a.q = flr_quat_normalize(T_world_a.q);
    T_world_b.q = flr_quat_normalize(T_world_b.q);
    const flr_pose T = flr_pose_mul(flr_pose_inverse(T_world_b), T_world_a);
    flr_nearest best = {.distance2 = INFINITY};
    for (uint32_t i = 0; i < a->triangle_count; i++) {
        flr_vec3 p[3], q[3];
        for (int k = 0; k < 3; k++) p[k] = flr_pose_apply(T, a->vertices[a->triangles[i].v[k]]);
        for (uint32_t j = 0; j < b->triangle_count; j++) {
            for (int k = 0; k < 3; k++) q[k] = b->vertices[b->triangles[j].v[k]];
            flr_triangles_nearest(p, q, &best);
        }
    }
    return sqrt(best.distance2);
}

/* How far a point is from what a spot says that it lies on. */
static double off_spot(const flr_mesh *mesh, flr_pose T, const flr_spot *spot)
{
    const uint32_t *v = mesh->triangles[spot->triangle].v;
    flr_vec3 t[3], point[3] = {spot->point, spot->point, spot->point};
    for (int k = 0; k < 3; k++) {
        uint32_t at = v[k];
        if (spot->kind == FLR_SPOT_VERTEX) at = spot->vertices[0];
        if (spot->kind == FLR_SPOT_EDGE) at = spot->vertices[k > 0];
        assert_true(at == v[0] || at == v[1] || at == v[2]);
        t[k] = flr_pose_apply(T, mesh->vertices[at]);
    }
    assert_eq((spot->vertices[0] == FLR_NONE), (spot->kind == FLR_SPOT_FACE));
    assert_eq((spot->vertices[1] == FLR_NONE), (spot->kind != FLR_SPOT_EDGE));
    assert_true(spot->kind != FLR_SPOT_EDGE || spot->vertices[0] < spot->vertices[1]);
    flr_nearest n = {.distance2 = INFINITY};
    flr_triangles_nearest(point, t, &n);
    return sqrt(n.distance2);
}

/* ---- a pair of parts ---- */

typedef struct pair {
    const flr_mesh *meshes[2];
    flr_gauge_part *parts[2];
} pair;

static pair begin(const flr_mesh *a, const flr_mesh *b)
{
    pair p = {.meshes = {a, b}};
    flr_error error;
    for (int i = 0; i < 2; i++)
        assert_ok(flr_gauge_part_create(p.meshes[i], &p.parts[i], &error), error);
    return p;
}

static void end(pair *p)
{
    for (int i = 0; i < 2; i++) flr_gauge_part_destroy(p->parts[i]);
}

static void assert_same(const flr_gauge_result *a, const flr_gauge_result *b)
{
    assert_eq(a->upper, b->upper);
    assert_eq(a->lower, b->lower);
    assert_eq(a->a.triangle, b->a.triangle);
    assert_eq(a->b.triangle, b->b.triangle);
    assert_eq(a->a.kind, b->a.kind);
    assert_eq(a->b.kind, b->b.kind);
    assert_true(flr_vec3_equal(a->a.point, b->a.point));
    assert_true(flr_vec3_equal(a->b.point, b->b.point));
}

/* Limits, tolerances and witnesses agree with the distance. */
static void check_variants(const pair *p, flr_pose A, flr_pose B, const flr_gauge_result *r,
                           flr_gauge_witness *old)
{
    const double d = r->upper;
    flr_gauge_result other;
    flr_gauge_distance(p->parts[0], p->parts[1], A, B, NULL, old, &other);
    assert_same(r, &other);
    flr_gauge_witness self = {r->a.triangle, r->b.triangle};
    flr_gauge_distance(p->parts[0], p->parts[1], A, B, NULL, &self, &other);
    assert_same(r, &other);

    flr_gauge_params params = flr_default_gauge_params();
    params.max_distance = d;
    flr_gauge_distance(p->parts[0], p->parts[1], A, B, &params, NULL, &other);
    assert_same(r, &other);
    params.max_distance = 0.999 * d;
    flr_gauge_distance(p->parts[0], p->parts[1], A, B, &params, NULL, &other);
    assert_eq(other.found, (d == 0));
    assert_true(other.complete);
    assert_true(d == 0 || (other.lower == params.max_distance && isinf(other.upper) &&
                           other.a.triangle == FLR_NONE));

    flr_gauge_witness none = flr_no_witness();
    assert_int_equal(flr_gauge_within(p->parts[0], p->parts[1], A, B, 1.001 * d, 0, old),
                     FLR_ANSWER_YES);
    assert_int_equal(flr_gauge_within(p->parts[0], p->parts[1], A, B, d, 0, &none), FLR_ANSWER_YES);
    assert_int_equal(flr_gauge_within(p->parts[0], p->parts[1], A, B, 0.999 * d, 0, &none),
                     d > 0 ? FLR_ANSWER_NO : FLR_ANSWER_YES);

    params = flr_default_gauge_params();
    for (params.max_work = 1; params.max_work < 2000; params.max_work *= 3) {
        flr_gauge_distance(p->parts[0], p->parts[1], A, B, &params, NULL, &other);
        assert_le(other.work, params.max_work);
        assert_le(other.lower, d);
        assert_ge(other.upper, d);
        assert_true(other.complete || other.work == params.max_work);
        if (other.complete) assert_same(r, &other);
        flr_gauge_witness far = {0, 0};
        flr_gauge_distance(p->parts[0], p->parts[1], A, B, &params, &far, &other);
        assert_true(other.found);
        assert_le(other.lower, d);
        assert_ge(other.upper, d);
    }
}

static void check_pose(const pair *p, flr_pose A, flr_pose B, flr_gauge_witness *old)
{
    const double expected = plain_distance(p->meshes[0], p->meshes[1], A, B);
    const double slack = 1e-13 * (1 + flr_vec3_length(A.p) + flr_vec3_length(B.p));
    flr_gauge_result r;
    flr_gauge_distance(p->parts[0], p->parts[1], A, B, NULL, NULL, &r);
    assert_true(r.found);
    assert_true(r.complete);
    assert_eq(r.lower, r.upper);
    if (r.upper != expected) fail_msg("%.17g, by all pairs %.17g", r.upper, expected);
    assert_eq(r.meet, (expected == 0));
    assert_le(fabs(flr_vec3_distance(r.a.point, r.b.point) - expected), slack);
    assert_le(off_spot(p->meshes[0], A, &r.a), slack);
    assert_le(off_spot(p->meshes[1], B, &r.b), slack);
    check_variants(p, A, B, &r, old);
}

static void check_poses(const pair *p, flr_test_random *random, int count, double size)
{
    flr_gauge_witness old = flr_no_witness();
    for (int i = 0; i < count; i++) {
        const double reach = i % 5 == 0 ? 30 * size : size;
        flr_pose A = flr_test_random_pose(random, reach), B = flr_test_random_pose(random, size);
        if (i % 3 == 0) A.q = B.q; /* faces parallel to one another */
        if (i % 7 == 0) A.p = B.p, A.q = B.q;
        check_pose(p, A, B, &old);
    }
}

/* ---- tests ---- */

static void solids_equal_all_pairs(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("solids_equal_all_pairs");
    for (int k = 0; k < 6; k++) {
        flr_test_shape a = {0}, b = {0};
        flr_test_shape_torus(&a, 0.02, 0.006, 10, 6);
        if (k % 2) flr_test_shape_free(&a), flr_test_shape_box(&a, flr_vec3_make(.02, .01, .03), 3);
        if (k / 2 == 0) flr_test_shape_sphere(&b, 0.015, 10, 6);
        if (k / 2 == 1) flr_test_shape_box(&b, flr_vec3_make(0.03, 0.02, 0.01), 2);
        if (k / 2 == 2) flr_test_shape_tetrahedron(&b, 0.03, 0.001, 0.02);
        pair p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b));
        check_poses(&p, &random, 24, 0.03);
        end(&p);
        flr_test_shape_free(&a);
        flr_test_shape_free(&b);
    }
}

/* needles, single lines and points, doubled triangles, all in one heap */
static void rubbish_equals_all_pairs(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("rubbish_equals_all_pairs");
    for (int round = 0; round < 6; round++) {
        flr_test_shape shapes[2] = {{0}, {0}};
        for (int k = 0; k < 2; k++)
            for (uint32_t i = 0; i < 70; i++) {
                double wide = pow(10, flr_test_random_range(&random, -9, -1));
                flr_vec3 at = flr_test_random_pose(&random, 0.1).p;
                for (int c = 0; c < 3; c++) {
                    flr_vec3 v = flr_vec3_add(at, flr_test_random_pose(&random, wide).p);
                    if (round % 2) v.z = round == 3 ? 0 : 0.01 * (double)(i % 3);
                    flr_test_shape_vertex(&shapes[k], v.x, v.y, v.z);
                }
                uint32_t first = 3 * i;
                flr_test_shape_triangle(&shapes[k], first, first + (i % 9 != 0), first + 2);
                if (i % 11 == 0) flr_test_shape_triangle(&shapes[k], first, first, first);
                if (i % 4 == 0) flr_test_shape_triangle(&shapes[k], first, first + 1, first + 2);
            }
        pair p = begin(flr_test_shape_mesh(&shapes[0]), flr_test_shape_mesh(&shapes[1]));
        check_poses(&p, &random, 8, 0.15);
        end(&p);
        flr_test_shape_free(&shapes[0]);
        flr_test_shape_free(&shapes[1]);
    }
}

/* all triangles at one place: nothing to split by */
static void one_place_has_an_end(void **state)
{
    (void)state;
    flr_test_shape a = {0}, b = {0};
    for (uint32_t i = 0; i < 20000; i++) {
        if (i < 3) flr_test_shape_vertex(&a, i == 1, i == 2, 0);
        if (i >= 2) flr_test_shape_triangle(&a, 0, 1, 2);
    }
    flr_test_shape_box(&b, flr_vec3_make(1, 1, 1), 1);
    pair p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b));
    flr_pose A = flr_pose_identity();
    A.p.z = 2;
    flr_gauge_result r;
    flr_gauge_distance(p.parts[0], p.parts[1], A, flr_pose_identity(), NULL, NULL, &r);
    assert_true(r.found);
    assert_lt(fabs(r.upper - 1.5), 1e-15);
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

/* known answers: features and points */
static void known_features(void **state)
{
    (void)state;
    flr_test_shape a = {0}, b = {0};
    flr_test_shape_box(&a, flr_vec3_make(2, 2, 2), 1);
    flr_test_shape_box(&b, flr_vec3_make(4, 4, 2), 1);
    pair p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b));
    flr_gauge_result r;
    /* an upper edge to an edge */
    flr_pose A = flr_pose_make(flr_vec3_make(2 + sqrt(2) + 0.25, 0.3, 1 + sqrt(2) + 0.25),
                               flr_quat_from_axis_angle(flr_vec3_make(1, 0.2, 0), 0.7));
    flr_gauge_distance(p.parts[0], p.parts[1], A, flr_pose_identity(), NULL, NULL, &r);
    assert_int_equal(r.b.kind, FLR_SPOT_EDGE);
    /* a corner straight over a face */
    A.q = flr_quat_from_axis_angle(flr_vec3_make(1, 0.31, 0.02), 0.7);
    A.p = flr_vec3_make(0.2, 0.3, 4);
    flr_gauge_distance(p.parts[0], p.parts[1], A, flr_pose_identity(), NULL, NULL, &r);
    assert_int_equal(r.a.kind, FLR_SPOT_VERTEX);
    assert_int_equal(r.b.kind, FLR_SPOT_FACE);
    assert_lt(fabs(r.b.point.z - 1), 1e-15);
    assert_lt(fabs(r.a.point.x - r.b.point.x), 1e-14);
    /* side by side, and then together */
    A = flr_pose_identity();
    A.p.x = 3.5;
    flr_gauge_distance(p.parts[0], p.parts[1], A, flr_pose_identity(), NULL, NULL, &r);
    assert_eq(r.upper, 0.5);
    assert_false(r.meet);
    A.p.x = 3;
    flr_gauge_distance(p.parts[0], p.parts[1], A, flr_pose_identity(), NULL, NULL, &r);
    assert_eq(r.upper, 0);
    assert_true(r.meet);
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

static void nonsense_finds_nothing(void **state)
{
    (void)state;
    flr_test_shape a = {0};
    flr_test_shape_box(&a, flr_vec3_make(1, 1, 1), 2);
    pair p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&a));
    flr_pose good = flr_pose_identity(), bad = good, long_one = good;
    bad.p.y = NAN;
    long_one.q.w = 2;
    flr_gauge_result r;
    flr_gauge_distance(p.parts[0], p.parts[1], bad, good, NULL, NULL, &r);
    assert_false(r.found);
    assert_true(isinf(r.upper));
    assert_false(r.meet);
    flr_gauge_distance(p.parts[0], p.parts[1], good, long_one, NULL, NULL, &r);
    assert_false(r.found);
    flr_gauge_params params = flr_default_gauge_params();
    params.max_distance = NAN;
    flr_gauge_distance(p.parts[0], p.parts[1], good, good, &params, NULL, &r);
    assert_false(r.found);
    assert_int_equal(flr_gauge_within(p.parts[0], p.parts[1], good, good, -1, 0, NULL),
                     FLR_ANSWER_NO);
    /* a thousand kilometres away, and beyond all numbers */
    flr_pose far = flr_pose_make(flr_vec3_make(1e9, 0, 0), flr_quat_identity());
    flr_gauge_distance(p.parts[0], p.parts[1], far, good, NULL, NULL, &r);
    assert_true(r.found);
    assert_lt(fabs(r.upper - (1e9 - 1)), 1e-6);
    assert_lt(r.work, 2000);
    far.p.x = 1e300;
    flr_gauge_distance(p.parts[0], p.parts[1], far, good, NULL, NULL, &r);
    assert_false(r.found);
    flr_gauge_witness wild = {4000000000u, 7};
    flr_gauge_distance(p.parts[0], p.parts[1], good, good, NULL, &wild, &r);
    assert_true(r.found);
    assert_true(r.meet);
    assert_ne(wild.a, 4000000000u);
    end(&p);
    flr_test_shape_free(&a);
}

/* the shared assembly, where it is: a few hundred triangles against thousands */
static void assembly_equals_all_pairs(void **state)
{
    (void)state;
    const char *folder = flr_test_models_dir();
    if (!folder) skip();
    flr_test_random random = flr_test_random_begin("assembly_equals_all_pairs");
    char path[512];
    flr_test_shape tool = {0};
    flr_test_shape_cylinder(&tool, 0.004, 0.03, 5, 1);
    static const char *const names[] = {
        "path_alpha_1.6/alpharobot.obj", "path_ltunnel/obstacles.obj", "asap_beam/6.obj",
        "furniture_drawer/drawer_box.obj", "factory_m16_nut_bolt/factory_bolt_m16_loose.obj"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/assembly/%s", folder, names[i]);
        flr_mesh *mesh;
        flr_error error;
        assert_ok(flr_mesh_open(flr_env_real(), path, NULL, &mesh, NULL, &error), error);
        pair p = begin(flr_test_shape_mesh(&tool), mesh);
        check_poses(&p, &random, 2, 0.7 * flr_vec3_length(flr_box3_size(mesh->bounds)));
        end(&p);
        flr_mesh_destroy(mesh);
    }
    flr_test_shape_free(&tool);
}

static flr_result make(void *context, flr_error *error)
{
    flr_gauge_part *part;
    flr_result result = flr_gauge_part_create(context, &part, error);
    if (result == FLR_OK) flr_gauge_part_destroy(part);
    return result;
}

static void survives_without_memory(void **state)
{
    (void)state;
    flr_test_shape a = {0};
    flr_test_shape_torus(&a, 0.02, 0.006, 40, 20);
    flr_mesh mesh = *flr_test_shape_mesh(&a);
    assert_gt(flr_fail_alloc_each(make, &mesh), 3);
    /* and a query needs none */
    pair p = begin(&mesh, &mesh);
    flr_gauge_result r;
    flr_fail_alloc_at(0);
    flr_gauge_distance(p.parts[0], p.parts[1], flr_pose_identity(), flr_pose_identity(), NULL, NULL,
                       &r);
    assert_int_equal(flr_fail_alloc_asked(), 0);
    end(&p);
    flr_test_shape_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_equal_all_pairs),  cmocka_unit_test(rubbish_equals_all_pairs),
        cmocka_unit_test(one_place_has_an_end),    cmocka_unit_test(known_features),
        cmocka_unit_test(nonsense_finds_nothing),  cmocka_unit_test(assembly_equals_all_pairs),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests_name("gauge", tests, NULL, NULL);
}
