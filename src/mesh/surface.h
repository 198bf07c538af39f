/* surface.h: what a person means who points at a mesh: a corner, an edge, a plane, a cylinder, or a curved face.
 *
 *     flr_surface_pick(mesh, at, reach, &surface, &error);
 *     if (surface.kind == FLR_SURFACE_CYLINDER) … 2 * surface.radius …
 *     flr_surface_free(&surface);
 *
 * Meshes know no faces. Triangles that lie in one plane are one; so are those whose corners lie on one cylinder, as tessellations of CAD
 * files put them there. What meets at more than 35 degrees has an edge between it.
 *
 * Thread: any; not RT safe. */
#ifndef FLR_MESH_SURFACE_H
#define FLR_MESH_SURFACE_H

#include "feeler/mesh.h"
#include "feeler/mesh_check.h"

typedef enum flr_surface_kind {
    FLR_SURFACE_POINT, /* a corner, or a place of a surface */
    FLR_SURFACE_EDGE,  /* straight, round or of any shape */
    FLR_SURFACE_PLANE,
    FLR_SURFACE_CYLINDER, /* or a piece of one */
    FLR_SURFACE_CURVED    /* any other face */
} flr_surface_kind;

/* Lengths in metres, all in the mesh's frame. */
typedef struct flr_surface {
    flr_surface_kind kind;
    flr_vec3
        point; /* the corner; on the edge, the plane or the face where it was picked; of what is round, on the axis */
    flr_vec3
        direction; /* unit: along a straight edge, out of a plane, along the axis of what is round; zero: none */
    double radius; /* of a cylinder or a round edge; else 0 */
    double size;   /* length of an edge, area of a face; of a point 0 */
    bool hollow;   /* of a cylinder: a hole, not a shaft */
    flr_mesh
        *mesh; /* it alone, for distances: an edge or a point is of triangles without area. Owned */
} flr_surface;

/* What is at a place of the surface, or nearest to it. A corner, then an edge, no farther than `reach` comes before a face; `reach` negative:
 * the place alone. FLR_BAD_ARGUMENT for what is no place, FLR_NO_MEMORY. On success the caller frees `*surface`. */
flr_result flr_surface_pick(const flr_mesh *mesh, flr_vec3 at, double reach, flr_surface *surface,
                            flr_error *error);
void flr_surface_free(flr_surface *surface);

#endif
