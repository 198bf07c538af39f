/* surface_internal.h: the work of surface.c, shared with surface_round.c */
#ifndef FLR_MESH_SURFACE_INTERNAL_H
#define FLR_MESH_SURFACE_INTERNAL_H

#include "mesh/surface.h"

/* A walk over a mesh from the triangle that was picked. */
typedef struct flr_surface_walk {
    const flr_mesh *mesh;
    flr_adjacency *adjacency;
    flr_vec3 at;
    uint32_t seed;   /* triangle */
    uint32_t *list;  /* [count]: triangles of the face */
    uint32_t *other; /* room for another try, [triangle_count] */
    uint8_t *marks;  /* [triangle_count]: 0 outside of walks */
    uint32_t count;
    double tiny; /* metres: what rounding moves a vertex by */
} flr_surface_walk;

flr_vec3 flr_surface_normal(const flr_mesh *mesh, uint32_t triangle); /* unit, or zero */
double flr_surface_area(const flr_mesh *mesh, const uint32_t *triangles, uint32_t count);
/* All triangles around `seed` that `fits` accepts, each next to one before it; returns how many. */
uint32_t flr_surface_flood(flr_surface_walk *walk, uint32_t seed,
                           bool (*fits)(void *context, uint32_t from, uint32_t to), void *context,
                           uint32_t *list);

/* A circle in a plane, through points in the mean. */
typedef struct flr_surface_circle {
    flr_vec3 centre, axis;
    double radius, error; /* greatest distance of a point from it */
} flr_surface_circle;

/* Of points projected along the axis; false: they lie in a line. */
bool flr_surface_fit_circle(const flr_vec3 *points, uint32_t count, flr_vec3 axis,
                            flr_surface_circle *circle);

/* Is the plane in walk->list a strip of a cylinder? Then the list is the cylinder. FLR_NO_MEMORY. */
flr_result flr_surface_find_cylinder(flr_surface_walk *walk, flr_surface *surface, bool *found,
                                     flr_error *error);
#endif
