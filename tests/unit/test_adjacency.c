/* feeler/mesh_check.h: against a plain recount, over random and real meshes */
#include "feeler/mesh_check.h"
#include "support/checked.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/test.h"

static flr_adjacency *adjacency_of(const flr_mesh *mesh)
{
    flr_error error;
    flr_adjacency *adjacency = NULL;
    assert_ok(flr_adjacency_create(mesh, &adjacency, &error), error);
    return adjacency;
}

/* every promise of the header, by counting again in the plainest way */
static void check_adjacency(const flr_mesh *mesh, const flr_adjacency *a)
{
    assert_int_equal(a->vertex_count, mesh->vertex_count);
    assert_int_equal(a->triangle_count, mesh->triangle_count);

    /* edges: sorted, and every side is on the edge that lists it */
    uint32_t kinds[4] = {0}, listed = 0;
    for (uint32_t e = 0; e < a->edge_count; e++) {
        flr_edge edge = a->edges[e];
        assert_lt(edge.v[0], edge.v[1]);
        if (e > 0) {
            flr_edge before = a->edges[e - 1];
            assert_true(before.v[0] < edge.v[0] ||
                        (before.v[0] == edge.v[0] && before.v[1] < edge.v[1]));
        }
        uint32_t forward = 0, count = flr_adjacency_side_count(a, e);
        assert_gt(count, 0);
        for (uint32_t i = a->edge_first[e]; i < a->edge_first[e + 1]; i++) {
            uint32_t side = a->edge_sides[i];
            assert_true(i == a->edge_first[e] || a->edge_sides[i - 1] < side);
            assert_int_equal(a->side_edge[side], e);
            const uint32_t *v = mesh->triangles[side / 3].v;
            uint32_t from = v[side % 3], to = v[(side + 1) % 3];
            if (side % 3 == 2) to = v[0];
            assert_true((from == edge.v[0] && to == edge.v[1]) ||
                        (from == edge.v[1] && to == edge.v[0]));
            forward += from < to;
            listed++;
        }
        flr_edge_kind kind = count == 1     ? FLR_EDGE_BORDER
                             : count > 2    ? FLR_EDGE_NONMANIFOLD
                             : forward == 1 ? FLR_EDGE_REGULAR
                                            : FLR_EDGE_FLIPPED;
        assert_int_equal(a->edge_kind[e], kind);
        kinds[kind]++;
        assert_int_equal(flr_test_find_edge(a, edge.v[1], edge.v[0]), e);
    }
    assert_int_equal(listed, a->edge_first[a->edge_count]);
    assert_int_equal(kinds[FLR_EDGE_BORDER], a->border_count);
    assert_int_equal(kinds[FLR_EDGE_FLIPPED], a->flipped_count);
    assert_int_equal(kinds[FLR_EDGE_NONMANIFOLD], a->nonmanifold_count);

    /* sides without an edge are those of collapsed triangles; opposite is mutual */
    uint32_t collapsed = 0, corners = 0, components = 0;
    for (uint32_t side = 0; side < 3 * a->triangle_count; side++) {
        const uint32_t *v = mesh->triangles[side / 3].v;
        bool none = v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
        assert_int_equal(a->side_edge[side] == FLR_NONE, none);
        collapsed += none;
        uint32_t other = flr_adjacency_opposite(a, side);
        if (other != FLR_NONE) {
            assert_int_equal(flr_adjacency_opposite(a, other), side);
            assert_int_equal(a->triangle_component[side / 3], a->triangle_component[other / 3]);
        }
    }
    assert_int_equal(listed + collapsed, 3 * a->triangle_count);

    /* vertices: rising lists of triangles that do have the vertex, complete */
    for (uint32_t t = 0; t < a->triangle_count; t++) {
        const uint32_t *v = mesh->triangles[t].v;
        corners += 1u + (v[1] != v[0]) + (v[2] != v[0] && v[2] != v[1]);
        assert_le(a->triangle_component[t], components); /* numbered by first triangle */
        if (a->triangle_component[t] == components) components++;
    }
    assert_int_equal(components, a->component_count);
    assert_int_equal(corners, a->vertex_first[a->vertex_count]);
    for (uint32_t v = 0; v < a->vertex_count; v++) {
        for (uint32_t i = a->vertex_first[v]; i < a->vertex_first[v + 1]; i++) {
            uint32_t t = a->vertex_triangles[i];
            assert_true(i == a->vertex_first[v] || a->vertex_triangles[i - 1] < t);
            const uint32_t *w = mesh->triangles[t].v;
            assert_true(w[0] == v || w[1] == v || w[2] == v);
        }
    }
}

static void test_closed_shapes(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 2, 3), 4);
    flr_test_shape_torus(&shape, 3, 1, 12, 8);
    flr_test_shape_sphere(&shape, 1, 10, 6);
    flr_test_shape_cylinder(&shape, 1, 2, 9, 2);
    flr_test_shape_tetrahedron(&shape, 1, 1, 1);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_adjacency *a = adjacency_of(mesh);
    check_adjacency(mesh, a);
    assert_true(flr_adjacency_is_closed(a));
    assert_int_equal(a->component_count, 5);
    assert_int_equal(a->edge_count, 3 * mesh->triangle_count / 2);
    /* Euler: V - E + F is 2 per component and 0 for the torus */
    assert_int_equal(mesh->vertex_count - a->edge_count + mesh->triangle_count, 4 * 2 + 0);
    assert_int_equal(flr_test_find_edge(a, 0, mesh->vertex_count - 1), FLR_NONE);
    assert_int_equal(flr_test_find_edge(a, 5, 5), FLR_NONE);
    flr_adjacency_destroy(a);
    flr_test_shape_free(&shape);
}

static void test_defects(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    for (int i = 0; i < 10; i++) flr_test_shape_vertex(&shape, i, i * i, i * i * i);
    flr_test_shape_triangle(&shape, 0, 1, 2);
    flr_test_shape_triangle(&shape, 1, 2, 3); /* also runs from 1 to 2: flipped */
    flr_test_shape_triangle(&shape, 0, 2, 3);
    flr_test_shape_triangle(&shape, 2, 0, 4); /* third on edge 0-2: non-manifold */
    flr_test_shape_triangle(&shape, 4, 5, 6); /* touches in vertex 4: the same component */
    flr_test_shape_triangle(&shape, 7, 8, 9); /* another component */
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_adjacency *a = adjacency_of(mesh);
    check_adjacency(mesh, a);
    assert_int_equal(a->component_count, 2);
    assert_int_equal(a->edge_kind[flr_test_find_edge(a, 1, 2)], FLR_EDGE_FLIPPED);
    assert_int_equal(a->edge_kind[flr_test_find_edge(a, 0, 2)], FLR_EDGE_NONMANIFOLD);
    assert_int_equal(a->edge_kind[flr_test_find_edge(a, 5, 6)], FLR_EDGE_BORDER);
    assert_false(flr_adjacency_is_closed(a));
    assert_int_equal(flr_adjacency_opposite(a, 1), 3);        /* across 1-2 */
    assert_int_equal(flr_adjacency_opposite(a, 2), FLR_NONE); /* three on 0-2 */
    assert_int_equal(a->vertex_first[5] - a->vertex_first[4], 2);
    flr_adjacency_destroy(a);
    flr_test_shape_free(&shape);
}

static void test_collapsed_triangles(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    for (int i = 0; i < 3; i++) flr_test_shape_vertex(&shape, i, i * i, 0);
    flr_test_shape_triangle(&shape, 0, 0, 0); /* a point */
    flr_test_shape_triangle(&shape, 0, 1, 1); /* lines */
    flr_test_shape_triangle(&shape, 2, 0, 2);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_adjacency *a = adjacency_of(mesh);
    check_adjacency(mesh, a);
    assert_int_equal(a->edge_count, 0);
    assert_int_equal(a->component_count, 1);
    assert_int_equal(a->vertex_first[1], 3); /* vertex 0 is in all three, once each */
    assert_int_equal(flr_adjacency_opposite(a, 0), FLR_NONE);
    flr_adjacency_destroy(a);
    flr_test_shape_free(&shape);
}

static void test_random_soups(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random soups");
    for (int round = 0; round < 200; round++) {
        flr_test_shape shape = {0};
        uint32_t vertices = 1 + flr_test_random_below(&random, 60);
        for (uint32_t i = 0; i < vertices; i++) flr_test_shape_vertex(&shape, i, 0, 0);
        uint32_t triangles = 1 + flr_test_random_below(&random, 200);
        for (uint32_t i = 0; i < triangles; i++) {
            uint32_t hub = flr_test_random_below(&random, 3) ? 0 : vertices / 2; /* large buckets */
            uint32_t b = flr_test_random_below(&random, vertices);
            flr_test_shape_triangle(&shape, flr_test_random_below(&random, 2) ? hub : b, b,
                                    flr_test_random_below(&random, vertices));
        }
        const flr_mesh *mesh = flr_test_shape_mesh(&shape);
        flr_adjacency *a = adjacency_of(mesh);
        check_adjacency(mesh, a);

        /* components again, by spreading the least number until nothing changes */
        uint32_t *least = malloc(triangles * sizeof *least);
        for (uint32_t t = 0; t < triangles; t++) least[t] = t;
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t v = 0; v < a->vertex_count; v++)
                for (uint32_t i = a->vertex_first[v] + 1; i < a->vertex_first[v + 1]; i++) {
                    uint32_t *p = &least[a->vertex_triangles[i - 1]];
                    uint32_t *q = &least[a->vertex_triangles[i]];
                    if (*p != *q) *p = *q = *p < *q ? *p : *q, changed = true;
                }
        }
        for (uint32_t s = 0; s < triangles; s++)
            for (uint32_t t = 0; t < s; t++)
                assert_int_equal(least[s] == least[t],
                                 a->triangle_component[s] == a->triangle_component[t]);
        free(least);
        flr_adjacency_destroy(a);
        flr_test_shape_free(&shape);
    }
}

/* a fan of 100,000 triangles about one vertex must not take quadratic time */
static void test_large_fan(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    flr_test_shape shape = {0};
    flr_test_shape_vertex(&shape, 0, 0, 0);
    for (uint32_t i = 0; i < COUNT; i++) flr_test_shape_vertex(&shape, cos(i), sin(i), 1);
    for (uint32_t i = 0; i < COUNT; i++)
        flr_test_shape_triangle(&shape, 0, COUNT - i, i + 1 == COUNT ? COUNT : COUNT - i - 1);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_adjacency *a = adjacency_of(mesh);
    assert_int_equal(a->component_count, 1);
    assert_int_equal(a->edge_count, 2 * COUNT);
    assert_int_equal(a->border_count, COUNT);
    flr_adjacency_destroy(a);
    flr_test_shape_free(&shape);
}

static void test_failures(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 2);
    const flr_mesh *mesh = flr_test_shape_mesh(&shape);
    flr_adjacency *const untouched = (flr_adjacency *)&shape, *a = untouched;
    flr_error error;
    unsigned n = 1;
    for (;; n++) {
        flr_fail_alloc_from(n);
        flr_result result = flr_adjacency_create(mesh, &a, &error);
        bool failed = flr_fail_alloc_failed() > 0;
        flr_fail_alloc_at(0);
        if (!failed) break;
        assert_int_equal(result, FLR_NO_MEMORY);
        assert_ptr_equal(a, untouched);
    }
    assert_gt(n, 5);
    flr_adjacency_destroy(a);

    flr_mesh huge = *mesh; /* only the count is looked at */
    huge.triangle_count = UINT32_MAX / 3 + 1;
    a = untouched;
    assert_int_equal(flr_adjacency_create(&huge, &a, &error), FLR_TOO_LARGE);
    assert_ptr_equal(a, untouched);
    flr_adjacency_destroy(NULL);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_shapes),       cmocka_unit_test(test_defects),
        cmocka_unit_test(test_collapsed_triangles), cmocka_unit_test(test_random_soups),
        cmocka_unit_test(test_large_fan),           cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests_name("adjacency", tests, NULL, NULL);
}
