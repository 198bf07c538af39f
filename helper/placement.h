/* placement.h: a placement of a file as a rigid pose and what it does to the shape beyond that. */
#ifndef FLR_PLACEMENT_H
#define FLR_PLACEMENT_H

#include "feeler/math.h"

/* Three rows of an affine map: p' = m p + m[..][3]. */
typedef struct flr_matrix {
    double m[3][4];
} flr_matrix;

flr_matrix flr_matrix_identity(void);
flr_matrix flr_matrix_multiply(const flr_matrix *a, const flr_matrix *b);
double flr_matrix_determinant(const flr_matrix *a);

/* The placement of a node, metres. Scale belongs to the part's shape, so it is taken out; a mirrored or sheared node has no
 * turn of its own and keeps only its position. */
flr_pose flr_matrix_pose(const flr_matrix *a, double unit);

/* What a placement does to the shape: identity for a rigid one, whose turn `pose` has. */
flr_matrix flr_matrix_reshaping(const flr_matrix *a, const flr_pose *pose);

#endif
