/* feeler/mesh_check.h: known shapes, and the promises of the header over random and bad meshes */
#include "feeler/mesh_check.h"
#include "mesh/adjacency.h"
#include "mesh/features.h"
#include "support/checked.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

/* a mesh with all that belongs to it */
typedef struct fixture {
    const flr_mesh *mesh;
    flr_adjacency *adjacency;
    flr_features *features;
} fixture;

static flr_vec3 normal_of(const flr_mesh *mesh, uint32_t t)
{
    const uint32_t *v = mesh->triangles[t].v;
    flr_vec3 a = mesh->vertices[v[0]];
    return flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(mesh->vertices[v[1]], a),
                                             flr_vec3_sub(mesh->vertices[v[2]], a)));
}

/* too thin to have a normal worth the name */
static bool is_thin(const flr_mesh *mesh, uint32_t t)
{
    const uint32_t *v = mesh->triangles[t].v;
    flr_vec3 ab = flr_vec3_sub(mesh->vertices[v[1]], mesh->vertices[v[0]]);
    flr_vec3 ac = flr_vec3_sub(mesh->vertices[v[2]], mesh->vertices[v[0]]);
    return flr_vec3_length(flr_vec3_cross(ab, ac)) < 1e-5 * flr_vec3_length2(ab);
}

/* what must hold for every mesh and voxel size */
static void check_promises(const fixture *f)
{
    const flr_mesh *mesh = f->mesh;
    const flr_adjacency *a = f->adjacency;
    const flr_features *x = f->features;
    assert_int_equal(x->triangle_count, mesh->triangle_count);
    assert_int_equal(x->edge_total, a->edge_count);
    assert_int_equal(x->vertex_total, mesh->vertex_count);

    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *v = mesh->triangles[t].v;
        bool collapsed = v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
        uint32_t polygon = x->triangle_polygon[t];
        assert_int_equal(polygon == FLR_NONE, collapsed);
        if (collapsed) continue;

        /* within half a voxel of the plane, and not turned away from it by 90 degrees */
        assert_lt(polygon, x->polygon_count);
        flr_plane p = x->polygon_plane[polygon];
        if (flr_vec3_equal(p.normal, flr_vec3_zero())) continue; /* a sliver by itself */
        for (int k = 0; k < 3; k++) {
            double d = fabs(flr_vec3_dot(p.normal, mesh->vertices[v[k]]) - p.offset);
            if (!(d < x->voxel / 2 * (1 + 1e-9) + 1e-12)) fail_msg("triangle %u is %g off", t, d);
        }
        assert_true(fabs(flr_vec3_dot(p.normal, normal_of(mesh, t))) > 0 || is_thin(mesh, t));
    }

    /* an edge counts exactly when polygons differ, at borders, and where too many meet */
    uint32_t edges = 0, vertices = 0;
    uint8_t *ends = calloc(mesh->vertex_count, 1);
    for (uint32_t e = 0; e < a->edge_count; e++) {
        bool differ = false;
        for (uint32_t i = a->edge_first[e]; i < a->edge_first[e + 1]; i++)
            differ |= x->triangle_polygon[a->edge_sides[i] / 3] !=
                      x->triangle_polygon[a->edge_sides[a->edge_first[e]] / 3];
        bool counts = x->edge_flags[e] & FLR_FEATURE_EDGE;
        edges += counts;
        if (differ || a->edge_kind[e] == FLR_EDGE_BORDER) assert_true(counts);
        if (counts && a->edge_kind[e] == FLR_EDGE_REGULAR && !differ) {
            /* only a triangle and its double, back to back */
            uint32_t one = a->edge_sides[a->edge_first[e]], two = flr_adjacency_opposite(a, one);
            assert_int_equal(mesh->triangles[one / 3].v[(one % 3 + 2) % 3],
                             mesh->triangles[two / 3].v[(two % 3 + 2) % 3]);
        }
        if (!counts) assert_int_equal(x->edge_flags[e], 0);
        for (int k = 0; counts && k < 2; k++)
            if (ends[a->edges[e].v[k]] < 3) ends[a->edges[e].v[k]]++;
    }
    assert_int_equal(edges, x->edge_count);

    /* a vertex counts at ends and forks, and never away from edges that count */
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        vertices += x->vertex_flags[v] != 0;
        if (ends[v] == 0) assert_int_equal(x->vertex_flags[v], 0);
        if (ends[v] == 1 || ends[v] == 3) assert_int_equal(x->vertex_flags[v], FLR_FEATURE_VERTEX);
    }
    assert_int_equal(vertices, x->vertex_count);
    free(ends);
}

static fixture fixture_of(const flr_mesh *mesh, double voxel)
{
    fixture f = {.mesh = mesh};
    flr_error error;
    assert_ok(flr_adjacency_create(mesh, &f.adjacency, &error), error);
    assert_ok(flr_features_create(mesh, f.adjacency, voxel, &f.features, &error), error);
    check_promises(&f);

    /* without an adjacency, and a second time: the same */
    flr_features *again;
    assert_ok(flr_features_create(mesh, NULL, voxel, &again, &error), error);
    assert_int_equal(again->polygon_count, f.features->polygon_count);
    assert_memory_equal(again->triangle_polygon, f.features->triangle_polygon,
                        mesh->triangle_count * sizeof(uint32_t));
    assert_memory_equal(again->vertex_flags, f.features->vertex_flags, mesh->vertex_count);
    flr_features_destroy(again);
    return f;
}

static void drop(fixture *f)
{
    flr_features_destroy(f->features);
    flr_adjacency_destroy(f->adjacency);
}

/* lines of feature edges from vertex to vertex: half the number of their ends */
static double chain_count(const fixture *f)
{
    double ends = 0;
    for (uint32_t e = 0; e < f->adjacency->edge_count; e++)
        for (int k = 0; f->features->edge_flags[e] && k < 2; k++)
            ends += f->features->vertex_flags[f->adjacency->edges[e].v[k]] != 0;
    return ends / 2;
}

static uint32_t edges_with(const fixture *f, uint8_t flag)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < f->adjacency->edge_count; e++)
        count += (f->features->edge_flags[e] & flag) != 0;
    return count;
}

static void test_cube(void **state)
{
    (void)state;
    /* at any voxel size, even one larger than the cube, and turned anyhow */
    flr_test_random random = flr_test_random_begin("cube");
    const double voxels[] = {0.001, 0.05, 0.5, 3};
    for (int i = 0; i < 8; i++) {
        flr_test_shape shape = {0};
        flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 20);
        flr_vec3 r = {flr_test_random_range(&random, -3, 3), flr_test_random_range(&random, -3, 3),
                      flr_test_random_range(&random, -3, 3)};
        if (i >= 4)
            flr_test_shape_move(&shape, 0, flr_pose_make(r, flr_quat_from_rotation_vector(r)), 1);
        fixture f = fixture_of(flr_test_shape_mesh(&shape), voxels[i % 4]);
        assert_int_equal(f.features->polygon_count, 6);
        assert_int_equal(f.features->edge_count, 12 * 20);
        assert_int_equal(f.features->vertex_count, 8);
        assert_int_equal(chain_count(&f), 12);
        assert_int_equal(edges_with(&f, FLR_FEATURE_CONVEX), 12 * 20);
        assert_int_equal(edges_with(&f, FLR_FEATURE_CONCAVE), 0);
        drop(&f);
        flr_test_shape_free(&shape);
    }
}

/* a box with coordinates of 32 bits, far out: the same six faces */
static void test_rounded_cube(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.1, 0.1, 0.1), 10);
    flr_pose T = {{5, -3, 4}, flr_quat_from_rotation_vector(flr_vec3_make(0.3, 0.2, 0.7))};
    flr_test_shape_move(&shape, 0, T, 1);
    for (uint32_t i = 0; i < shape.vertex_count; i++) {
        flr_vec3 *p = &shape.vertices[i];
        *p = flr_vec3_make((float)p->x, (float)p->y, (float)p->z);
    }
    fixture f = fixture_of(flr_test_shape_mesh(&shape), 0.001);
    assert_int_equal(f.features->polygon_count, 6);
    assert_int_equal(f.features->vertex_count, 8);
    drop(&f);
    flr_test_shape_free(&shape);
}

static void test_concave_edges(void **state)
{
    (void)state;
    /* an L profile: one concave edge of six along the length */
    flr_test_shape shape = {0};
    const double x[] = {0, 2, 2, 1, 1, 0}, y[] = {0, 0, 1, 1, 2, 2};
    for (int z = 0; z < 2; z++)
        for (int i = 0; i < 6; i++) flr_test_shape_vertex(&shape, x[i], y[i], z);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t j = (i + 1) % 6;
        flr_test_shape_triangle(&shape, i, j, j + 6);
        flr_test_shape_triangle(&shape, i, j + 6, i + 6);
    }
    const uint32_t cap[4][3] = {{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}};
    for (int i = 0; i < 4; i++) {
        flr_test_shape_triangle(&shape, cap[i][0], cap[i][2], cap[i][1]);
        flr_test_shape_triangle(&shape, cap[i][0] + 6, cap[i][1] + 6, cap[i][2] + 6);
    }
    fixture f = fixture_of(flr_test_shape_mesh(&shape), 0.01);
    assert_int_equal(f.features->polygon_count, 8);
    assert_int_equal(f.features->vertex_count, 12);
    assert_int_equal(edges_with(&f, FLR_FEATURE_CONCAVE), 1);
    uint32_t inner = flr_test_find_edge(f.adjacency, 3, 9);
    assert_int_equal(f.features->edge_flags[inner], FLR_FEATURE_EDGE | FLR_FEATURE_CONCAVE);
    drop(&f);
    flr_test_shape_free(&shape);
}

/* a cylinder: the finer the voxels, the more strips, about as the root */
static void test_cylinder(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_cylinder(&shape, 1, 4, 256, 8);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    uint32_t before = 0;
    const double voxels[] = {0.5, 0.1, 0.02, 0.004};
    for (int i = 0; i < 4; i++) {
        fixture f = fixture_of(mesh, voxels[i]);
        uint32_t strips = f.features->polygon_count - 2;
        /* a strip a voxel thick reaches acos(1 - s) to both sides, but may be cut off */
        double least = 3.14159265 / acos(1 - voxels[i]);
        print_message("voxel %g: %u strips, at least %.1f\n", voxels[i], strips, least);
        assert_ge(strips, least);
        assert_le(strips, 2 * least);
        assert_gt(strips, before);
        before = strips;
        assert_lt(f.features->vertex_count, mesh->vertex_count / 2);
        drop(&f);
    }

    /* voxels finer than the facets' own steps: every facet of 256, but its 8 rows still merge */
    fixture f = fixture_of(mesh, 1e-6);
    assert_int_equal(f.features->polygon_count, 256 + 2);
    assert_int_equal(f.features->vertex_count, 2 * 256);
    drop(&f);
    flr_test_shape_free(&shape);
}

static void test_sphere(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 64, 32);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    uint32_t before = 0;
    const double voxels[] = {100, 3, 0.5, 0.1, 0.01};
    for (int i = 0; i < 5; i++) {
        fixture f = fixture_of(mesh, voxels[i]);
        print_message("voxel %g: %u polygons, %u edges, %u vertices\n", voxels[i],
                      f.features->polygon_count, f.features->edge_count, f.features->vertex_count);
        assert_ge(f.features->polygon_count, 2); /* however small, never flat */
        assert_ge(f.features->polygon_count, before);
        assert_gt(f.features->edge_count, 0);
        before = f.features->polygon_count;
        drop(&f);
    }
    assert_gt(before, 100);
    flr_test_shape_free(&shape);
}

/* z = x^2 / 2R: neighbours differ by next to nothing, ends by a lot */
static double parabola(double x, double y)
{
    (void)y;
    return x * x / 20;
}

static double plane(double x, double y) { return x / 3 + y / 7; }

static void test_slow_curvature(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sheet(&shape, 2, 0.5, 400, 10, parabola); /* rises by 0.2 */
    fixture f = fixture_of(flr_test_shape_mesh(&shape), 0.01);
    /* a strip a voxel thick is 2 sqrt(20 * 0.01) = 0.89 wide: three at least over 2 m */
    print_message("%u polygons\n", f.features->polygon_count);
    assert_ge(f.features->polygon_count, 3);
    assert_le(f.features->polygon_count, 6);
    drop(&f);
    flr_test_shape_free(&shape);
}

static void test_flat_sheet(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sheet(&shape, 2, 1, 7, 9, plane);
    fixture f = fixture_of(flr_test_shape_mesh(&shape), 0.01);
    assert_int_equal(f.features->polygon_count, 1);
    assert_int_equal(f.features->edge_count, 2 * 7 + 2 * 9);
    assert_int_equal(f.features->vertex_count, 4);
    assert_int_equal(edges_with(&f, FLR_FEATURE_CONVEX | FLR_FEATURE_CONCAVE), 0);
    drop(&f);

    /* flipped triangles, doubles of both windings, slivers and collapsed ones change nothing */
    for (uint32_t t = 0; t < shape.triangle_count; t += 3) {
        flr_triangle *triangle = &shape.triangles[t];
        *triangle = (flr_triangle){{triangle->v[1], triangle->v[0], triangle->v[2]}};
    }
    uint32_t count = shape.triangle_count;
    for (uint32_t t = 0; t < count; t += 5) {
        flr_triangle double_ = shape.triangles[t];
        flr_test_shape_triangle(&shape, double_.v[2], double_.v[0], double_.v[1]);
        if (t % 2) flr_test_shape_triangle(&shape, double_.v[2], double_.v[1], double_.v[0]);
    }
    flr_test_shape_triangle(&shape, 4, 4, 9);
    f = fixture_of(flr_test_shape_mesh(&shape), 0.01);
    assert_int_equal(f.features->polygon_count, 1);
    assert_int_equal(f.features->edge_count, 2 * 7 + 2 * 9);
    assert_int_equal(f.features->vertex_count, 4);
    drop(&f);
    flr_test_shape_free(&shape);
}

/* a triangle without area between two flat ones is bridged; one alone stays alone */
static void test_slivers(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    uint32_t a = flr_test_shape_vertex(&shape, 0, 0, 0), b = flr_test_shape_vertex(&shape, 2, 0, 0);
    uint32_t m = flr_test_shape_vertex(&shape, 1, 0, 0), c = flr_test_shape_vertex(&shape, 1, 1, 0);
    uint32_t d = flr_test_shape_vertex(&shape, 1, -1, 0);
    flr_test_shape_triangle(&shape, a, b, c);
    flr_test_shape_triangle(&shape, a, m, b); /* the sliver */
    flr_test_shape_triangle(&shape, a, d, m);
    flr_test_shape_triangle(&shape, m, d, b);
    fixture f = fixture_of(flr_test_shape_mesh(&shape), 0.01);
    assert_int_equal(f.features->polygon_count, 1);
    assert_int_equal(f.features->edge_count, 4);
    drop(&f);

    uint32_t p[3];
    for (int i = 0; i < 3; i++) p[i] = flr_test_shape_vertex(&shape, 5 + i, 5, 5);
    flr_test_shape_triangle(&shape, p[0], p[1], p[2]);
    f = fixture_of(flr_test_shape_mesh(&shape), 0.01);
    assert_int_equal(f.features->polygon_count, 2);
    drop(&f);
    flr_test_shape_free(&shape);
}

/* three sheets on one edge: it counts, though two of them are in one plane */
static void test_nonmanifold(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_vertex(&shape, 0, 0, 0);
    flr_test_shape_vertex(&shape, 1, 0, 0);
    flr_test_shape_vertex(&shape, 0.5, 1, 0);
    flr_test_shape_vertex(&shape, 0.5, -1, 0);
    flr_test_shape_vertex(&shape, 0.5, 0, 1);
    flr_test_shape_triangle(&shape, 0, 1, 2);
    flr_test_shape_triangle(&shape, 1, 0, 3);
    flr_test_shape_triangle(&shape, 0, 1, 4);
    fixture f = fixture_of(flr_test_shape_mesh(&shape), 0.1);
    assert_int_equal(f.features->polygon_count, 3);
    assert_int_equal(f.features->edge_count, 7);
    assert_int_equal(f.features->vertex_count, 5);
    uint32_t edge = flr_test_find_edge(f.adjacency, 0, 1);
    assert_int_equal(f.features->edge_flags[edge], FLR_FEATURE_EDGE);
    drop(&f);
    flr_test_shape_free(&shape);
}

/* every facet of a box twice, the second time inside out: still a box */
static void test_doubled_box(void **state)
{
    (void)state;
    for (int reversed = 0; reversed < 2; reversed++) {
        flr_test_shape shape = {0};
        flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 4);
        uint32_t count = shape.triangle_count;
        for (uint32_t t = 0; t < count; t++) {
            flr_triangle x = shape.triangles[t];
            flr_test_shape_triangle(&shape, x.v[0], x.v[reversed ? 2 : 1], x.v[reversed ? 1 : 2]);
        }
        fixture f = fixture_of(flr_test_shape_mesh(&shape), 0.01);
        assert_int_equal(f.features->polygon_count, 6);
        assert_int_equal(f.features->edge_count, 12 * 4);
        assert_int_equal(f.features->vertex_count, 8);
        drop(&f);
        flr_test_shape_free(&shape);
    }
}

/* two triangles back to back are a sheet with a rim, not a closed body without edges */
static void test_folded_triangle(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_vertex(&shape, 0, 0, 0);
    flr_test_shape_vertex(&shape, 1, 0, 0);
    flr_test_shape_vertex(&shape, 0, 1, 0);
    flr_test_shape_triangle(&shape, 0, 1, 2);
    flr_test_shape_triangle(&shape, 2, 1, 0);
    fixture f = fixture_of(flr_test_shape_mesh(&shape), 0.1);
    assert_int_equal(f.features->polygon_count, 1);
    assert_int_equal(f.features->edge_count, 3);
    assert_int_equal(f.features->vertex_count, 3);
    drop(&f);
    flr_test_shape_free(&shape);
}

/* two triangles a hundred thousand times: one square, and not in quadratic time */
static void test_many_copies(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    for (int i = 0; i < 4; i++) flr_test_shape_vertex(&shape, i % 2, i / 2, 0);
    for (int i = 0; i < 100000; i++) {
        flr_test_shape_triangle(&shape, 0, 1, 3);
        flr_test_shape_triangle(&shape, 0, i % 3 ? 3 : 2, i % 3 ? 2 : 3);
    }
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    fixture f = fixture_of(mesh, 0.1);
    assert_int_equal(f.features->polygon_count, 1);
    assert_int_equal(f.features->edge_count, 4);
    assert_int_equal(f.features->vertex_count, 4);
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        assert_int_equal(f.features->triangle_polygon[t], 0);
    drop(&f);
    flr_test_shape_free(&shape);
}

/* the line along a winding rim: with fine voxels every corner, with coarse ones few; a line
 * that winds like a spiral is cut in the middle after a while and still ends */
static void test_outlines(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    flr_test_shape shape = {0};
    for (uint32_t i = 0; i <= COUNT; i++) { /* a strip along an exponential spiral */
        double a = i * 0.05, r = exp(-a * 0.2);
        flr_test_shape_vertex(&shape, r * cos(a), r * sin(a), 0);
        flr_test_shape_vertex(&shape, 0.9 * r * cos(a), 0.9 * r * sin(a), 0);
        if (i == 0) continue;
        flr_test_shape_triangle(&shape, 2 * i - 2, 2 * i, 2 * i + 1);
        flr_test_shape_triangle(&shape, 2 * i - 2, 2 * i + 1, 2 * i - 1);
    }
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    fixture fine = fixture_of(mesh, 1e-9), coarse = fixture_of(mesh, 0.1);
    print_message("fine %u, coarse %u vertices\n", fine.features->vertex_count,
                  coarse.features->vertex_count);
    assert_gt(fine.features->vertex_count, 400);
    assert_lt(coarse.features->vertex_count, 60);
    drop(&fine);
    drop(&coarse);
    flr_test_shape_free(&shape);
}

static void test_random_soups(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random soups");
    for (int round = 0; round < 300; round++) {
        flr_test_shape shape = {0};
        uint32_t vertices = 3 + flr_test_random_below(&random, 30);
        for (uint32_t i = 0; i < vertices; i++)
            flr_test_shape_vertex(
                &shape, flr_test_random_range(&random, 0, 1), flr_test_random_range(&random, 0, 1),
                flr_test_random_below(&random, 2) ? 0 : flr_test_random_range(&random, 0, 1));
        uint32_t triangles = 1 + flr_test_random_below(&random, 80);
        for (uint32_t i = 0; i < triangles; i++) {
            uint32_t a = flr_test_random_below(&random, vertices);
            uint32_t b = flr_test_random_below(&random, vertices);
            flr_test_shape_triangle(&shape, a, b, flr_test_random_below(&random, vertices));
        }
        fixture f =
            fixture_of(flr_test_shape_mesh(&shape), pow(10, flr_test_random_range(&random, -3, 1)));
        drop(&f);
        flr_test_shape_free(&shape);
    }
}

/* slices of a large mesh done by several threads give the edges and features that one thread gives */
static void test_threads(void **state)
{
    (void)state;
    flr_error error;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 400, 200);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_adjacency *one;
    flr_features *wanted;
    assert_ok(flr_adjacency_create(mesh, &one, &error), error);
    assert_ok(flr_features_create(mesh, one, 0.05, &wanted, &error), error);
    for (unsigned threads = 1; threads <= 3; threads++) {
        flr_adjacency *a;
        flr_features *f;
        assert_ok(flr_adjacency_create_edges(mesh, threads, &a, &error), error);
        assert_ok(flr_features_create_threads(mesh, a, 0.05, threads, &f, &error), error);
        assert_int_equal(a->edge_count, one->edge_count);
        assert_int_equal(a->border_count, one->border_count);
        assert_memory_equal(a->edges, one->edges, a->edge_count * sizeof *a->edges);
        assert_memory_equal(a->edge_kind, one->edge_kind, a->edge_count);
        assert_memory_equal(a->edge_first, one->edge_first,
                            (a->edge_count + 1) * sizeof *a->edge_first);
        assert_memory_equal(a->side_edge, one->side_edge,
                            3 * mesh->triangle_count * sizeof *a->side_edge);
        assert_memory_equal(a->edge_sides, one->edge_sides,
                            a->edge_first[a->edge_count] * sizeof *a->edge_sides);
        assert_int_equal(f->polygon_count, wanted->polygon_count);
        assert_int_equal(f->edge_count, wanted->edge_count);
        assert_int_equal(f->vertex_count, wanted->vertex_count);
        assert_memory_equal(f->triangle_polygon, wanted->triangle_polygon,
                            mesh->triangle_count * sizeof *f->triangle_polygon);
        assert_memory_equal(f->polygon_plane, wanted->polygon_plane,
                            f->polygon_count * sizeof *f->polygon_plane);
        assert_memory_equal(f->edge_flags, wanted->edge_flags, f->edge_total);
        assert_memory_equal(f->vertex_flags, wanted->vertex_flags, f->vertex_total);
        flr_features_destroy(f);
        flr_adjacency_destroy(a);
    }
    flr_features_destroy(wanted);
    flr_adjacency_destroy(one);
    flr_test_shape_free(&shape);
}

static flr_result create_once(void *context, flr_error *error)
{
    flr_features *features;
    flr_result result = flr_features_create(context, NULL, 0.1, &features, error);
    if (result == FLR_OK) flr_features_destroy(features);
    return result;
}

static void test_failures(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sphere(&shape, 1, 8, 6);
    flr_mesh mesh = *flr_test_shape_mesh(&shape);
    assert_ge(flr_fail_alloc_each(create_once, &mesh), 15);

    flr_features *const untouched = (flr_features *)&shape, *features = untouched;
    flr_error error;
    const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        assert_int_equal(flr_features_create(&mesh, NULL, bad[i], &features, &error),
                         FLR_BAD_ARGUMENT);
    assert_ptr_equal(features, untouched);
    flr_features_destroy(NULL);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube),
        cmocka_unit_test(test_rounded_cube),
        cmocka_unit_test(test_concave_edges),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_slow_curvature),
        cmocka_unit_test(test_flat_sheet),
        cmocka_unit_test(test_slivers),
        cmocka_unit_test(test_nonmanifold),
        cmocka_unit_test(test_doubled_box),
        cmocka_unit_test(test_folded_triangle),
        cmocka_unit_test(test_many_copies),
        cmocka_unit_test(test_outlines),
        cmocka_unit_test(test_random_soups),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests_name("features", tests, NULL, NULL);
}
