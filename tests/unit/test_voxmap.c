/* the voxmap against a brute-force reference, voxel by voxel */
#include "feeler/mesh_check.h"
#include "feeler/voxels.h"

#include "support/fixtures.h"
#include "support/golden.h"
#include "support/test.h"
#include "voxel/overlap.h"
#include "voxel/voxmap_format.h"

/* ---- the reference: plain arrays, plain loops ---- */

typedef struct plain {
    int n[3];
    uint8_t *marks; /* [z][y][x] */
} plain;

static uint8_t *at(plain *p, int x, int y, int z)
{
    return &p->marks[((size_t)z * (size_t)p->n[1] + (size_t)y) * (size_t)p->n[0] + (size_t)x];
}

/* Chessboard distance by two sweeps over the 26 neighbours, forth and back (Borgefors): exact for this metric. */
static void mark_distances(plain *p, int range)
{
    size_t total = (size_t)p->n[0] * (size_t)p->n[1] * (size_t)p->n[2];
    int *distance = malloc(total * sizeof *distance);
    for (size_t i = 0; i < total; i++) distance[i] = p->marks[i] == FLR_MARK_SURFACE ? 0 : 1000000;
    for (int sweep = 0; sweep < 2; sweep++)
        for (size_t k = 0; k < total; k++) {
            size_t i = sweep ? total - 1 - k : k;
            int x = (int)(i % (size_t)p->n[0]), y = (int)(i / (size_t)p->n[0] % (size_t)p->n[1]),
                z = (int)(i / (size_t)p->n[0] / (size_t)p->n[1]);
            for (int d = 0; d < 13; d++) { /* the 13 neighbours that come before in the sweep */
                int u = d % 3 - 1, v = d / 3 % 3 - 1, w = d / 9 - 1;
                if (sweep) u = -u, v = -v, w = -w;
                if (x + u < 0 || y + v < 0 || z + w < 0 || x + u >= p->n[0] || y + v >= p->n[1] ||
                    z + w >= p->n[2])
                    continue;
                int other = distance[((size_t)(z + w) * (size_t)p->n[1] + (size_t)(y + v)) *
                                         (size_t)p->n[0] +
                                     (size_t)(x + u)];
                if (other + 1 < distance[i]) distance[i] = other + 1;
            }
        }
    for (size_t i = 0; i < total; i++)
        if (p->marks[i] == FLR_MARK_FREE && distance[i] <= range)
            p->marks[i] = (uint8_t)(2 + distance[i]);
    free(distance);
}

static plain plain_voxelize(const flr_mesh *mesh, const flr_voxmap *voxmap, bool hollow)
{
    const flr_voxmap_header *h = voxmap->header;
    plain p;
    for (int i = 0; i < 3; i++) p.n[i] = (int)h->grid.hypers[i] * 64;
    size_t total = (size_t)p.n[0] * (size_t)p.n[1] * (size_t)p.n[2];
    p.marks = calloc(total, 1);

    /* surface */
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        flr_vec3 v[3];
        for (int k = 0; k < 3; k++)
            v[k] =
                flr_grid_corner(&h->grid, flr_pose_apply(h->T_voxmap_mesh,
                                                         mesh->vertices[mesh->triangles[t].v[k]]));
        flr_overlap o = flr_overlap_prepare(v[0], v[1], v[2]);
        for (int z = o.low[2]; z <= o.high[2]; z++)
            for (int y = o.low[1]; y <= o.high[1]; y++)
                for (int x = o.low[0]; x <= o.high[0]; x++)
                    if (flr_overlap_voxel(&o, x, y, z)) *at(&p, x, y, z) = FLR_MARK_SURFACE;
    }
    /* interior: all that a flood from a corner does not reach */
    int *stack = malloc(total * sizeof *stack), depth = 0;
    uint8_t *seen = calloc(total, 1);
    stack[depth++] = 0;
    seen[0] = 1;
    while (depth) {
        int i = stack[--depth], x = i % p.n[0], y = i / p.n[0] % p.n[1], z = i / p.n[0] / p.n[1];
        const int steps[6][3] = {{-1, 0, 0}, {1, 0, 0},  {0, -1, 0},
                                 {0, 1, 0},  {0, 0, -1}, {0, 0, 1}};
        for (int d = 0; d < 6; d++) {
            int u = x + steps[d][0], v = y + steps[d][1], w = z + steps[d][2];
            if (u < 0 || v < 0 || w < 0 || u >= p.n[0] || v >= p.n[1] || w >= p.n[2]) continue;
            int j = (w * p.n[1] + v) * p.n[0] + u;
            if (seen[j] || p.marks[j] == FLR_MARK_SURFACE) continue;
            seen[j] = 1;
            stack[depth++] = j;
        }
    }
    for (size_t i = 0; i < total; i++)
        if (!hollow && !seen[i] && p.marks[i] != FLR_MARK_SURFACE) p.marks[i] = FLR_MARK_INTERIOR;
    free(seen);
    free(stack);
    mark_distances(&p, (int)h->range);
    return p;
}

/* What the 1999 paper does with two bits: promote and demote, once for each layer. */
static void offset_marks(plain *p, unsigned offset)
{
    size_t total = (size_t)p->n[0] * (size_t)p->n[1] * (size_t)p->n[2];
    for (size_t i = 0; i < total; i++)
        if (p->marks[i] >= 2)
            p->marks[i] = (uint8_t)(p->marks[i] - 2u < offset ? 1 : p->marks[i] - offset);
}

/* The edge or vertex field from the surface field's marks: its seeds are the voxels that a feature touches. */
static void compare_features(const flr_mesh *mesh, const flr_voxmap *voxmap, plain *surface,
                             flr_field field)
{
    const flr_voxmap_header *h = voxmap->header;
    flr_adjacency *adjacency;
    flr_features *features;
    flr_error error;
    assert_ok(flr_adjacency_create(mesh, &adjacency, &error), error);
    assert_ok(flr_features_create(mesh, adjacency, h->grid.voxel, &features, &error), error);
    plain p = *surface;
    size_t total = (size_t)p.n[0] * (size_t)p.n[1] * (size_t)p.n[2];
    p.marks = malloc(total);
    for (size_t i = 0; i < total; i++) p.marks[i] = surface->marks[i] == FLR_MARK_INTERIOR;
    uint32_t count = field == FLR_FIELD_EDGE ? features->edge_total : 0;
    for (uint32_t i = 0; i < count + features->vertex_total; i++) {
        bool edge = i < count;
        if (!(edge ? features->edge_flags[i] : features->vertex_flags[i - count])) continue;
        uint32_t ends[2] = {edge ? adjacency->edges[i].v[0] : i - count,
                            edge ? adjacency->edges[i].v[1] : i - count};
        flr_vec3 v[2];
        for (int k = 0; k < 2; k++)
            v[k] = flr_grid_corner(&h->grid,
                                   flr_pose_apply(h->T_voxmap_mesh, mesh->vertices[ends[k]]));
        flr_overlap o = flr_overlap_prepare(v[0], v[1], v[1]);
        for (int z = o.low[2]; z <= o.high[2]; z++)
            for (int y = o.low[1]; y <= o.high[1]; y++)
                for (int x = o.low[0]; x <= o.high[0]; x++)
                    if (flr_overlap_voxel(&o, x, y, z)) *at(&p, x, y, z) = FLR_MARK_SURFACE;
    }
    mark_distances(&p, (int)h->range);
    for (int z = 0; z < p.n[2]; z++)
        for (int y = 0; y < p.n[1]; y++)
            for (int x = 0; x < p.n[0]; x++)
                assert_int_equal(flr_voxmap_mark_at(voxmap, field, x, y, z), *at(&p, x, y, z));
    free(p.marks);
    flr_features_destroy(features);
    flr_adjacency_destroy(adjacency);
}

static void compare(const flr_mesh *mesh, flr_voxelize_def def)
{
    flr_voxmap *voxmap;
    flr_voxelize_report report;
    flr_error error;
    assert_ok(flr_voxelize(flr_env_real(), mesh, &def, &voxmap, NULL, &report, &error), error);
    plain p = plain_voxelize(mesh, voxmap, def.hollow);
    offset_marks(&p, def.offset);
    uint64_t counts[256] = {0};
    for (int z = 0; z < p.n[2]; z++)
        for (int y = 0; y < p.n[1]; y++)
            for (int x = 0; x < p.n[0]; x++) {
                unsigned mark = flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, x, y, z);
                counts[mark]++;
                if (mark != *at(&p, x, y, z))
                    fail_msg("voxel %d %d %d: mark %u, reference %u", x, y, z, mark,
                             *at(&p, x, y, z));
            }
    if (def.features) {
        compare_features(mesh, voxmap, &p, FLR_FIELD_EDGE);
        compare_features(mesh, voxmap, &p, FLR_FIELD_VERTEX);
    }
    free(p.marks);
    flr_voxmap_destroy(voxmap);
    if (def.offset) return; /* the counts are those of the true surface */
    assert_int_equal(report.voxels.surface_voxels, counts[2]);
    assert_int_equal(report.voxels.interior_voxels, counts[1]);
    uint64_t field = 0;
    for (int i = 3; i < 256; i++) field += counts[i];
    assert_int_equal(report.voxels.field_voxels, field);
}

static flr_voxelize_def small_def(double voxel)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.features = false;
    return def;
}

static void add_cone(flr_test_shape *shape, double radius, double height, uint32_t around)
{
    uint32_t tip = flr_test_shape_vertex(shape, 0, 0, height),
             middle = flr_test_shape_vertex(shape, 0, 0, 0);
    for (uint32_t i = 0; i < around; i++) {
        double a = 2 * 3.14159265358979 * i / around;
        flr_test_shape_vertex(shape, radius * flr_cos(a), radius * flr_sin(a), 0);
    }
    for (uint32_t i = 0; i < around; i++) {
        uint32_t a = middle + 1 + i, b = middle + 1 + (i + 1) % around;
        flr_test_shape_triangle(shape, a, b, tip);
        flr_test_shape_triangle(shape, b, a, middle);
    }
}

static void shapes_equal_brute_force(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("shapes_equal_brute_force");
    for (int kind = 0; kind < 5; kind++)
        for (int turn = 0; turn < 3; turn++) {
            flr_test_shape shape = {0};
            if (kind == 0) flr_test_shape_sphere(&shape, 0.03, 24, 12);
            if (kind == 1) flr_test_shape_box(&shape, flr_vec3_make(0.04, 0.05, 0.02), 2);
            if (kind == 2) flr_test_shape_torus(&shape, 0.03, 0.01, 24, 12);
            if (kind == 3) flr_test_shape_cylinder(&shape, 0.02, 0.06, 16, 2);
            if (kind == 4) add_cone(&shape, 0.025, 0.05, 20);
            flr_voxelize_def def =
                small_def(turn == 0 ? 0.001 : flr_test_random_range(&random, 0.0007, 0.003));
            def.hollow = turn == 2 && kind == 2;
            def.features = turn == 1;
            if (turn)
                def.T_voxmap_mesh.q = flr_quat_normalize((flr_quat){
                    flr_test_random_range(&random, -1, 1), flr_test_random_range(&random, -1, 1),
                    flr_test_random_range(&random, -1, 1), flr_test_random_range(&random, -1, 1)});
            compare(flr_test_shape_mesh(&shape), def);
            flr_test_shape_free(&shape);
        }
}

static void long_ranges_equal_brute_force(void **state)
{
    (void)state;
    const struct {
        unsigned bits, range;
        bool hollow;
        unsigned offset;
    } cases[] = {{4, 13, false, 0}, {4, 9, true, 0},   {8, 8, false, 0},
                 {8, 17, false, 0}, {8, 70, false, 0}, {2, 1, false, 0},
                 {2, 1, false, 2},  {2, 1, true, 1},   {4, 1, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_test_shape shape = {0};
        flr_test_shape_sphere(&shape, cases[i].range > 20 ? 0.004 : 0.01, 16, 8);
        flr_voxelize_def def = small_def(0.001);
        def.bits = cases[i].bits;
        def.range = cases[i].range;
        def.hollow = cases[i].hollow;
        def.offset = cases[i].offset;
        compare(flr_test_shape_mesh(&shape), def);
        flr_test_shape_free(&shape);
    }
}

/* the same bytes from any number of threads, compiler and instruction set: the hashes are kept */
static void the_same_bytes_everywhere(void **state)
{
    (void)state;
    /* a mesh that is the same on every machine: the scenarios use no libm function but the square root */
    flr_model model = {0};
    flr_error error;
    assert_ok(flr_scenario_build(flr_scenario_find("approach"), NULL, &model, &error), error);
    const flr_mesh *mesh = model.meshes[0].mesh;
    flr_vec3 size = flr_box3_size(mesh->bounds);
    bool all = true;
    for (unsigned threads = 1; threads <= 4; threads *= 2)
        for (int kind = 0; kind < 3; kind++) {
            flr_voxelize_def def = flr_default_voxelize_def();
            def.voxel = size.x / 128;
            def.threads = threads;
            def.on_surface = kind == 1;
            def.bits = kind == 2 ? 8 : 4;
            def.range = kind == 2 ? 12 : 8;
            flr_voxmap *voxmap;
            flr_shell *shell;
            assert_ok(flr_voxelize(flr_env_real(), mesh, &def, &voxmap, &shell, NULL, &error),
                      error);
            char name[64];
            snprintf(name, sizeof name, "voxmap-%d", kind);
            bool same = flr_test_golden_has("voxels.txt", name,
                                            flr_hash_bytes(voxmap->header, voxmap->header->size));
            flr_hasher hasher = flr_hasher_begin();
            flr_hasher_add(&hasher, shell->x, shell->point_count * sizeof *shell->x);
            flr_hasher_add(&hasher, shell->y, shell->point_count * sizeof *shell->y);
            flr_hasher_add(&hasher, shell->z, shell->point_count * sizeof *shell->z);
            flr_hasher_add(&hasher, shell->normal, shell->point_count * sizeof *shell->normal);
            flr_hasher_add(&hasher, shell->chunks, shell->chunk_count * sizeof *shell->chunks);
            flr_hasher_add(&hasher, shell->hypers, shell->hyper_count * sizeof *shell->hypers);
            snprintf(name, sizeof name, "shell-%d", kind);
            same &= flr_test_golden_has("voxels.txt", name, flr_hasher_end(&hasher));
            all &= same;
            flr_voxmap_destroy(voxmap);
            flr_shell_destroy(shell);
        }
    flr_model_free(&model);
    assert_true(all);
}

/* the surface is the mesh's alone: neither range nor bits move it, even where faces lie on planes between voxels */
static void the_margin_does_not_move_the_surface(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.02, 0.02, 0.02), 5);
    flr_test_shape_box(&shape, flr_vec3_make(0.01, 0.03, 0.005), 1);
    const struct {
        unsigned bits, range;
    } cases[] = {{4, 8}, {4, 4}, {4, 13}, {2, 1}, {8, 20}, {8, 40}};
    uint64_t surface = 0, interior = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_voxelize_def def = small_def(0.001);
        def.bits = cases[i].bits;
        def.range = cases[i].range;
        flr_voxmap *voxmap;
        flr_voxelize_report report;
        flr_error error;
        assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&shape), &def, &voxmap, NULL,
                               &report, &error),
                  error);
        if (i == 0)
            surface = report.voxels.surface_voxels, interior = report.voxels.interior_voxels;
        assert_int_equal(report.voxels.surface_voxels, surface);
        assert_int_equal(report.voxels.interior_voxels, interior);
        flr_voxmap_destroy(voxmap);
    }
    flr_test_shape_free(&shape);
}

/* two triangles far apart: time and memory follow what is there, not the space between */
static void wide_scenes_are_cheap(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    for (int i = 0; i < 2; i++) {
        double at = i * 30.0;
        uint32_t a = flr_test_shape_vertex(&shape, at, at, at),
                 b = flr_test_shape_vertex(&shape, at + 0.002, at, at),
                 c = flr_test_shape_vertex(&shape, at, at + 0.002, at);
        flr_test_shape_triangle(&shape, a, b, c);
    }
    flr_voxelize_def def = small_def(0.001);
    flr_voxmap *voxmap;
    flr_voxelize_report report;
    flr_error error;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&shape), &def, &voxmap, NULL,
                           &report, &error),
              error);
    flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    assert_gt(info.size[0], 30000);
    assert_gt(info.size[2], 30000);
    assert_gt(report.voxels.surface_voxels, 4);
    assert_lt(report.voxels.surface_voxels, 40);
    assert_lt(report.voxels.bytes, 8u << 20);
    assert_int_equal(flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, flr_vec3_make(15, 15, 15)),
                     FLR_MARK_FREE);
    assert_int_equal(
        flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, flr_vec3_make(30.0005, 30.0005, 30)),
        FLR_MARK_SURFACE);
    flr_voxmap_destroy(voxmap);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_equal_brute_force),
        cmocka_unit_test(long_ranges_equal_brute_force),
        cmocka_unit_test(the_same_bytes_everywhere),
        cmocka_unit_test(the_margin_does_not_move_the_surface),
        cmocka_unit_test(wide_scenes_are_cheap),
    };
    return cmocka_run_group_tests_name("voxmap", tests, NULL, NULL);
}
