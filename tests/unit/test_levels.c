/* levels of detail: chunks together are the mesh, packed ones unpack to it, coarser ones are coarser */
#include <math.h>
#include <meshoptimizer.h>

#include "server/mesh_levels.h"
#include "support/test.h"

/* a wavy plate of 2 n^2 triangles */
static flr_mesh *wave(uint32_t n)
{
    flr_vec3 *vertices = malloc((size_t)(n + 1) * (n + 1) * sizeof *vertices);
    flr_triangle *triangles = malloc((size_t)2 * n * n * sizeof *triangles);
    for (uint32_t y = 0; y <= n; y++)
        for (uint32_t x = 0; x <= n; x++)
            vertices[y * (n + 1) + x] =
                flr_vec3_make(x * 1e-3, y * 1e-3, 5e-3 * sin(x * 0.05) * cos(y * 0.03));
    for (uint32_t i = 0; i < n * n; i++) {
        uint32_t v = i / n * (n + 1) + i % n;
        triangles[2 * i] = (flr_triangle){{v, v + 1, v + n + 1}};
        triangles[2 * i + 1] = (flr_triangle){{v + 1, v + n + 2, v + n + 1}};
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = (n + 1) * (n + 1);
    def.triangles = triangles, def.triangle_count = 2 * n * n;
    flr_mesh *mesh = NULL;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    free(vertices);
    free(triangles);
    return mesh;
}

/* the area of all chunks, from their own arrays */
static double area_of(const flr_level *level)
{
    double area = 0;
    for (uint32_t c = 0; c < level->chunk_count; c++) {
        const flr_level_chunk *chunk = &level->chunks[c];
        for (uint32_t i = 0; i < chunk->index_count; i += 3) {
            flr_vec3 p[3];
            for (uint32_t k = 0; k < 3; k++) {
                const float *v = chunk->vertices + 3 * (size_t)chunk->indices[i + k];
                p[k] = flr_vec3_make((double)v[0], (double)v[1], (double)v[2]);
            }
            area += 0.5 * flr_vec3_length(
                              flr_vec3_cross(flr_vec3_sub(p[1], p[0]), flr_vec3_sub(p[2], p[0])));
        }
    }
    return area;
}

static void test_finest_is_the_mesh(void **state)
{
    (void)state;
    flr_mesh *mesh = wave(300); /* 90,601 vertices: several chunks */
    flr_level *level = NULL;
    assert_int_equal(flr_level_make(mesh, flr_mesh_hash(mesh), 0, false, &level), FLR_OK);
    assert_int_equal(level->triangles, mesh->triangle_count);
    assert_gt(level->chunk_count, 1);
    assert_ge(level->vertices, mesh->vertex_count);
    uint32_t first = 0;
    uint8_t *seen = calloc(mesh->vertex_count, 1);
    for (uint32_t c = 0; c < level->chunk_count; c++) {
        const flr_level_chunk *chunk = &level->chunks[c];
        assert_int_equal(chunk->first_vertex, first);
        assert_le(chunk->vertex_count, FLR_LEVEL_VERTICES);
        assert_le(chunk->index_count, 3 * FLR_LEVEL_TRIANGLES);
        for (uint32_t i = 0; i < chunk->vertex_count; i++) {
            /* `source` says which vertex of the mesh it is */
            uint32_t source = level->source[first + i];
            assert_lt(source, mesh->vertex_count);
            assert_eq(chunk->vertices[3 * i], (float)mesh->vertices[source].x);
            assert_eq(chunk->vertices[3 * i + 2], (float)mesh->vertices[source].z);
            seen[source] = 1;
        }
        for (uint32_t i = 0; i < chunk->index_count; i++)
            assert_lt(chunk->indices[i], chunk->vertex_count);
        first += chunk->vertex_count;
    }
    for (uint32_t i = 0; i < mesh->vertex_count; i++) assert_true(seen[i]);
    free(seen);
    flr_level_free(level);
    flr_mesh_destroy(mesh);
}

static void test_packed_unpacks(void **state)
{
    (void)state;
    flr_mesh *mesh = wave(120);
    flr_level *level = NULL;
    assert_int_equal(flr_level_make(mesh, flr_mesh_hash(mesh), 0, true, &level), FLR_OK);
    assert_true(level->packed);
    size_t packed = 0, plain = 0;
    for (uint32_t c = 0; c < level->chunk_count; c++) {
        const flr_level_chunk *chunk = &level->chunks[c];
        float *vertices = malloc(12 * (size_t)chunk->vertex_count);
        uint16_t *indices = malloc(2 * (size_t)chunk->index_count);
        assert_int_equal(meshopt_decodeVertexBuffer(vertices, chunk->vertex_count, 12,
                                                    chunk->packed_vertices,
                                                    chunk->packed_vertices_size),
                         0);
        assert_int_equal(meshopt_decodeIndexBuffer(indices, chunk->index_count, 2,
                                                   chunk->packed_indices,
                                                   chunk->packed_indices_size),
                         0);
        for (uint32_t i = 0; i < 3 * chunk->vertex_count; i++)
            assert_le(fabsf(vertices[i] - chunk->vertices[i]), fabsf(chunk->vertices[i]) * 8e-6f);
        /* triangles may be turned, but not changed */
        for (uint32_t i = 0; i < chunk->index_count; i += 3) {
            bool same = false;
            for (uint32_t k = 0; k < 3; k++)
                same = same || (indices[i] == chunk->indices[i + k] &&
                                indices[i + 1] == chunk->indices[i + (k + 1) % 3] &&
                                indices[i + 2] == chunk->indices[i + (k + 2) % 3]);
            assert_true(same);
        }
        packed += chunk->packed_vertices_size + chunk->packed_indices_size;
        plain += 12 * (size_t)chunk->vertex_count + 2 * (size_t)chunk->index_count;
        free(vertices);
        free(indices);
    }
    assert_lt(2 * packed, plain);
    flr_level_free(level);
    flr_mesh_destroy(mesh);
}

static void test_coarser(void **state)
{
    (void)state;
    flr_mesh *mesh = wave(150);
    flr_level *fine = NULL, *coarse = NULL;
    assert_int_equal(flr_level_make(mesh, flr_mesh_hash(mesh), 0, false, &fine), FLR_OK);
    assert_int_equal(flr_level_make(mesh, flr_mesh_hash(mesh), 2, false, &coarse), FLR_OK);
    assert_le(coarse->triangles, fine->triangles / 8);
    assert_gt(coarse->triangles, 100);
    assert_lt(fabs(area_of(coarse) / area_of(fine) - 1), 0.1);
    flr_level_free(fine);
    flr_level_free(coarse);
    /* two triangles cannot be fewer */
    flr_mesh *small = wave(1);
    assert_int_equal(flr_level_make(small, flr_mesh_hash(small), 3, true, &coarse), FLR_OK);
    assert_int_equal(coarse->triangles, 2);
    flr_level_free(coarse);
    flr_mesh_destroy(small);
    flr_mesh_destroy(mesh);
}

static void test_choice(void **state)
{
    (void)state;
    assert_int_equal(flr_level_choose(1000000, 0), 0);
    assert_int_equal(flr_level_choose(1000000, 1000000), 0);
    assert_int_equal(flr_level_choose(1000000, 300000), 1);
    assert_int_equal(flr_level_choose(1000000, 100000), 2);
    assert_int_equal(flr_level_choose(3000, 10), 0);
    assert_le(flr_level_choose(UINT32_MAX, 1), FLR_MAX_LEVELS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finest_is_the_mesh),
        cmocka_unit_test(test_packed_unpacks),
        cmocka_unit_test(test_coarser),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
