/* small meshes for tests */
#include "support/fixtures.h"

#include <math.h>
#include <stdlib.h>

static const double TWO_PI = 6.28318530717958647693;

/* tests have memory; without it there is nothing to test */
static void *grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room) return array;
    *room = *room ? 2 * *room : 64;
    void *larger = realloc(array, *room * size);
    if (!larger) abort();
    return larger;
}

void flr_test_shape_free(flr_test_shape *shape)
{
    free(shape->vertices);
    free(shape->triangles);
    *shape = (flr_test_shape){0};
}

uint32_t flr_test_shape_vertex(flr_test_shape *shape, double x, double y, double z)
{
    shape->vertices =
        grow(shape->vertices, shape->vertex_count, &shape->vertex_room, sizeof *shape->vertices);
    shape->vertices[shape->vertex_count] = (flr_vec3){x + 0.0, y + 0.0, z + 0.0};
    return shape->vertex_count++;
}

void flr_test_shape_triangle(flr_test_shape *shape, uint32_t a, uint32_t b, uint32_t c)
{
    shape->triangles = grow(shape->triangles, shape->triangle_count, &shape->triangle_room,
                            sizeof *shape->triangles);
    shape->triangles[shape->triangle_count++] = (flr_triangle){{a, b, c}};
}

/* a, b, c, d counter-clockwise */
static void quad(flr_test_shape *shape, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    flr_test_shape_triangle(shape, a, b, c);
    flr_test_shape_triangle(shape, a, c, d);
}

void flr_test_shape_box(flr_test_shape *shape, flr_vec3 size, uint32_t n)
{
    /* the grid points on the surface of an n x n x n lattice, numbered as they come */
    uint32_t side = n + 1;
    uint32_t *number = malloc((size_t)side * side * side * sizeof *number);
    if (!number) abort();
#define SHAPES_AT(i, j, k) number[((i)*side + (j)) * side + (k)]
    for (uint32_t i = 0; i <= n; i++)
        for (uint32_t j = 0; j <= n; j++)
            for (uint32_t k = 0; k <= n; k++)
                if (i % n == 0 || j % n == 0 || k % n == 0)
                    SHAPES_AT(i, j, k) = flr_test_shape_vertex(
                        shape, (double)i / n * size.x - size.x / 2,
                        (double)j / n * size.y - size.y / 2, (double)k / n * size.z - size.z / 2);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            uint32_t p = i + 1, q = j + 1;
            quad(shape, SHAPES_AT(0, i, j), SHAPES_AT(0, i, q), SHAPES_AT(0, p, q),
                 SHAPES_AT(0, p, j));
            quad(shape, SHAPES_AT(n, i, j), SHAPES_AT(n, p, j), SHAPES_AT(n, p, q),
                 SHAPES_AT(n, i, q));
            quad(shape, SHAPES_AT(i, 0, j), SHAPES_AT(p, 0, j), SHAPES_AT(p, 0, q),
                 SHAPES_AT(i, 0, q));
            quad(shape, SHAPES_AT(i, n, j), SHAPES_AT(i, n, q), SHAPES_AT(p, n, q),
                 SHAPES_AT(p, n, j));
            quad(shape, SHAPES_AT(i, j, 0), SHAPES_AT(i, q, 0), SHAPES_AT(p, q, 0),
                 SHAPES_AT(p, j, 0));
            quad(shape, SHAPES_AT(i, j, n), SHAPES_AT(p, j, n), SHAPES_AT(p, q, n),
                 SHAPES_AT(i, q, n));
        }
    }
#undef SHAPES_AT
    free(number);
}

void flr_test_shape_sphere(flr_test_shape *shape, double radius, uint32_t around, uint32_t along)
{
    uint32_t south = flr_test_shape_vertex(shape, 0, 0, -radius), first = shape->vertex_count;
    for (uint32_t i = 1; i < along; i++) {
        double polar = TWO_PI / 2 * i / along;
        for (uint32_t j = 0; j < around; j++) {
            double a = TWO_PI * j / around;
            flr_test_shape_vertex(shape, radius * flr_sin(polar) * flr_cos(a),
                                  radius * flr_sin(polar) * flr_sin(a), -radius * flr_cos(polar));
        }
    }
    uint32_t north = flr_test_shape_vertex(shape, 0, 0, radius), last = north - around;
    for (uint32_t j = 0; j < around; j++) {
        uint32_t next = (j + 1) % around;
        flr_test_shape_triangle(shape, south, first + next, first + j);
        for (uint32_t i = 0; i + 2 < along; i++)
            quad(shape, first + i * around + j, first + i * around + next,
                 first + (i + 1) * around + next, first + (i + 1) * around + j);
        flr_test_shape_triangle(shape, last + j, last + next, north);
    }
}

void flr_test_shape_torus(flr_test_shape *shape, double large, double small, uint32_t around,
                          uint32_t across)
{
    uint32_t first = shape->vertex_count;
    for (uint32_t i = 0; i < around; i++) {
        double a = TWO_PI * i / around;
        for (uint32_t j = 0; j < across; j++) {
            double b = TWO_PI * j / across, r = large + small * flr_cos(b);
            flr_test_shape_vertex(shape, r * flr_cos(a), r * flr_sin(a), small * flr_sin(b));
        }
    }
    for (uint32_t i = 0; i < around; i++) {
        uint32_t here = first + i * across, there = first + (i + 1) % around * across;
        for (uint32_t j = 0; j < across; j++) {
            uint32_t next = (j + 1) % across;
            quad(shape, here + j, there + j, there + next, here + next);
        }
    }
}

void flr_test_shape_cylinder(flr_test_shape *shape, double radius, double height, uint32_t around,
                             uint32_t along)
{
    uint32_t first = shape->vertex_count;
    for (uint32_t i = 0; i <= along; i++) {
        for (uint32_t j = 0; j < around; j++) {
            double a = TWO_PI * j / around;
            flr_test_shape_vertex(shape, radius * flr_cos(a), radius * flr_sin(a),
                                  height * i / along - height / 2);
        }
    }
    uint32_t low = flr_test_shape_vertex(shape, 0, 0, -height / 2);
    uint32_t high = flr_test_shape_vertex(shape, 0, 0, height / 2), top = first + along * around;
    for (uint32_t j = 0; j < around; j++) {
        uint32_t next = (j + 1) % around;
        flr_test_shape_triangle(shape, low, first + next, first + j);
        flr_test_shape_triangle(shape, high, top + j, top + next);
        for (uint32_t i = 0; i < along; i++)
            quad(shape, first + i * around + j, first + i * around + next,
                 first + (i + 1) * around + next, first + (i + 1) * around + j);
    }
}

void flr_test_shape_tube(flr_test_shape *shape, double inner, double outer, double height,
                         uint32_t around)
{
    const uint32_t first = shape->vertex_count;
    const double radius[4] = {outer, outer, inner, inner};
    for (uint32_t j = 0; j < around; j++)
        for (uint32_t k = 0; k < 4; k++) {
            const double a = TWO_PI * j / around;
            flr_test_shape_vertex(shape, radius[k] * flr_cos(a), radius[k] * flr_sin(a),
                                  k == 1 || k == 2 ? height / 2 : -height / 2);
        }
    for (uint32_t j = 0; j < around; j++)
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t here = first + 4 * j, there = first + 4 * ((j + 1) % around),
                           up = (k + 1) % 4;
            quad(shape, here + k, there + k, there + up, here + up);
        }
}

void flr_test_shape_tetrahedron(flr_test_shape *shape, double a, double b, double c)
{
    uint32_t o = flr_test_shape_vertex(shape, 0, 0, 0), x = flr_test_shape_vertex(shape, a, 0, 0);
    uint32_t y = flr_test_shape_vertex(shape, 0, b, 0), z = flr_test_shape_vertex(shape, 0, 0, c);
    flr_test_shape_triangle(shape, o, y, x);
    flr_test_shape_triangle(shape, o, x, z);
    flr_test_shape_triangle(shape, o, z, y);
    flr_test_shape_triangle(shape, x, y, z);
}

void flr_test_shape_sheet(flr_test_shape *shape, double size_x, double size_y, uint32_t nx,
                          uint32_t ny, double (*height)(double x, double y))
{
    uint32_t first = shape->vertex_count, row = nx + 1;
    for (uint32_t j = 0; j <= ny; j++) {
        for (uint32_t i = 0; i <= nx; i++) {
            double x = size_x * i / nx, y = size_y * j / ny;
            flr_test_shape_vertex(shape, x, y, height(x, y));
        }
    }
    for (uint32_t j = 0; j < ny; j++)
        for (uint32_t i = 0; i < nx; i++)
            quad(shape, first + j * row + i, first + j * row + i + 1, first + (j + 1) * row + i + 1,
                 first + (j + 1) * row + i);
}

void flr_test_shape_move(flr_test_shape *shape, uint32_t first_vertex, flr_pose T, double scale)
{
    for (uint32_t i = first_vertex; i < shape->vertex_count; i++)
        shape->vertices[i] = flr_pose_apply(T, flr_vec3_scale(shape->vertices[i], scale));
}

void flr_test_shape_turn(flr_test_shape *shape, uint32_t first_triangle)
{
    for (uint32_t i = first_triangle; i < shape->triangle_count; i++) {
        uint32_t *v = shape->triangles[i].v, swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
}

const flr_mesh *flr_test_shape_mesh(flr_test_shape *shape)
{
    flr_box3 bounds = flr_box3_empty();
    for (uint32_t i = 0; i < shape->vertex_count; i++)
        bounds = flr_box3_add(bounds, shape->vertices[i]);
    shape->group = (flr_mesh_group){.triangle_count = shape->triangle_count,
                                    .T_mesh_group = flr_pose_identity()};
    shape->mesh = (flr_mesh){.vertices = shape->vertices,
                             .triangles = shape->triangles,
                             .groups = &shape->group,
                             .names = "",
                             .vertex_count = shape->vertex_count,
                             .triangle_count = shape->triangle_count,
                             .group_count = 1,
                             .names_size = 1,
                             .bounds = bounds};
    return &shape->mesh;
}

/* ---- exact geometry ---- */

flr_fit *flr_test_fit(const flr_mesh *mesh)
{
    flr_fit *fit;
    flr_error error;
    assert_ok(flr_fit_build(mesh, NULL, &fit, &error), error);
    return fit;
}

flr_fit *flr_test_fit_of(const flr_vec3 *vertices, uint32_t vertex_count,
                         const flr_triangle *triangles, uint32_t triangle_count)
{
    flr_mesh_def def = flr_default_mesh_def();
    flr_mesh *mesh;
    flr_error error;
    def.vertices = vertices, def.vertex_count = vertex_count;
    def.triangles = triangles, def.triangle_count = triangle_count;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    flr_fit *fit = flr_test_fit(mesh);
    flr_mesh_destroy(mesh);
    return fit;
}
