/* parts.h: small parts ready for contact: mesh, voxmap and shell. */
#ifndef FLR_TEST_PARTS_H
#define FLR_TEST_PARTS_H

#include "feeler/contact.h"
#include "feeler/voxelize.h"
#include "support/shapes.h"
#include "support/test.h"

typedef enum flr_test_solid {
    FLR_TEST_BOX,         /* 24 x 20 x 12 mm */
    FLR_TEST_SPHERE,      /* radius 10 mm */
    FLR_TEST_TORUS,       /* radii 12 and 4 mm */
    FLR_TEST_TETRAHEDRON, /* legs of 20, 18 and 16 mm */
    FLR_TEST_SOLID_COUNT
} flr_test_solid;

typedef struct flr_test_part {
    flr_test_shape shape;
    flr_voxmap *voxmap;
    flr_shell *shell;
} flr_test_part;

/* Few triangles (12 to 200), voxels of this size in metres; `scale` multiplies the part. Fails the test if it cannot.
 * Free with flr_test_part_free(). */
void flr_test_part_make(flr_test_part *part, flr_test_solid solid, double scale, double voxel,
                        bool features);
void flr_test_part_free(flr_test_part *part);

/* A position in a cube of +-reach metres, any orientation. */
flr_pose flr_test_random_pose(flr_test_random *random, double reach);

#endif
