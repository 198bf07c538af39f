/* triangle.h: how two triangles in space lie to each other.
 *
 * Works in double precision with stated error bounds: what cannot be told from rounding counts
 * as zero, so neighbours that share a vertex or an edge never seem to cross because of it. A
 * tolerance widens that band to what the source of the mesh could tell apart.
 * Triangles without area neither cross nor overlap.
 *
 * Thread: any; RT safe.
 */
#ifndef FLR_MESH_TRIANGLE_H
#define FLR_MESH_TRIANGLE_H

#include "feeler/math.h"

typedef enum flr_triangles {
    FLR_TRIANGLES_APART,  /* or touching: see flr_triangles_meet() */
    FLR_TRIANGLES_CROSS,  /* the inside of one passes through the inside of the other */
    FLR_TRIANGLES_OVERLAP /* in one plane, with some area in common */
} flr_triangles;

/* Says whether two triangles cross or overlap by more than `tolerance` (metres, >= 0): in CROSS
 * the common line is longer and the corners reach farther to both sides, in OVERLAP the common
 * piece is wider. Everything less is FLR_TRIANGLES_APART: touching is not looked for. `where`
 * (may be NULL) gets a point in the middle of what is common. */
flr_triangles flr_triangles_meet(const flr_vec3 a[3], const flr_vec3 b[3], double tolerance,
                                 flr_vec3 *where);

#endif
