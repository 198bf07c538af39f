/* shapes.h: small meshes for tests, built triangle by triangle and without any reader. */
#ifndef FLR_TEST_SHAPES_H
#define FLR_TEST_SHAPES_H

#include "feeler/mesh.h"

/* A mesh in the making. Begin with all zero; end with flr_test_shape_free(). */
typedef struct flr_test_shape {
    flr_vec3 *vertices;
    flr_triangle *triangles;
    uint32_t vertex_count, vertex_room;
    uint32_t triangle_count, triangle_room;
    flr_mesh_group group;
    flr_mesh mesh;
} flr_test_shape;

void flr_test_shape_free(flr_test_shape *shape);

/* Add one thing; a vertex is always new, a triangle is taken as it is. */
uint32_t flr_test_shape_vertex(flr_test_shape *shape, double x, double y, double z);
void flr_test_shape_triangle(flr_test_shape *shape, uint32_t a, uint32_t b, uint32_t c);

/* Add closed shapes about the origin, outside facing out. */

/* A box of this size; every face is n x n squares of two triangles. */
void flr_test_shape_box(flr_test_shape *shape, flr_vec3 size, uint32_t n);
/* `around` meridians, `along` rings of faces from pole to pole. */
void flr_test_shape_sphere(flr_test_shape *shape, double radius, uint32_t around, uint32_t along);
/* The axis is z. */
void flr_test_shape_torus(flr_test_shape *shape, double large, double small, uint32_t around,
                          uint32_t across);
/* The axis is z; the caps are fans about a middle vertex. */
void flr_test_shape_cylinder(flr_test_shape *shape, double radius, double height, uint32_t around,
                             uint32_t along);
/* Corners (0,0,0), (a,0,0), (0,b,0), (0,0,c). */
void flr_test_shape_tetrahedron(flr_test_shape *shape, double a, double b, double c);
/* An open sheet of nx x ny squares from (0,0) on, with the height z(x, y). */
void flr_test_shape_sheet(flr_test_shape *shape, double size_x, double size_y, uint32_t nx,
                          uint32_t ny, double (*height)(double x, double y));

/* Change what is there: from a vertex or triangle on. */
void flr_test_shape_move(flr_test_shape *shape, uint32_t first_vertex, flr_pose T, double scale);
void flr_test_shape_turn(flr_test_shape *shape, uint32_t first_triangle); /* inside out */

/* The mesh of all that was added, borrowed from the shape until its next change. */
const flr_mesh *flr_test_shape_mesh(flr_test_shape *shape);

#endif
