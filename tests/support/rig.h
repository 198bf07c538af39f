/* rig.h: a body with a few points between planes: contact by formula, so that motion is tested without voxels. */
#ifndef FLR_TEST_RIG_H
#define FLR_TEST_RIG_H

#include "feeler/step.h"
#include "support/test.h"

/* |a - b| <= tolerance; prints all three if not. */
#define assert_within(a, b, tolerance)                                                             \
    do {                                                                                           \
        double assert_a = (a), assert_b = (b), assert_t = (tolerance);                             \
        if (!(fabs(assert_a - assert_b) <= assert_t))                                              \
            fail_msg("%s is %.17g, not %.17g within %g", #a, assert_a, assert_b, assert_t);        \
    } while (0)

enum { FLR_TEST_RIG_POINTS = 64, FLR_TEST_RIG_PLANES = 8 };

typedef struct flr_test_plane {
    flr_vec3 normal; /* unit, into the free side */
    double offset;   /* metres: normal . p of its points */
} flr_test_plane;

typedef struct flr_test_rig {
    flr_body body;
    flr_vec3 points[FLR_TEST_RIG_POINTS]; /* part's frame */
    flr_test_plane planes[FLR_TEST_RIG_PLANES];
    uint32_t point_count, plane_count;
    flr_step *step;
    flr_step_params params;
    flr_contact_params asked;
    double limit, friction, layer; /* layer: metres before a plane in which braking acts */
    bool held;
    flr_coupling coupling;
    flr_handle handle;
    /* of the last step */
    flr_contact list[FLR_TEST_RIG_POINTS * FLR_TEST_RIG_PLANES];
    flr_contact_result contact;
    flr_step_result result;
    flr_wrench felt; /* by the device */
} flr_test_rig;

/* A box of this mass and size at the origin with its eight corners as points, no plane, 1 ms, implicit. */
void flr_test_rig_begin(flr_test_rig *rig, double mass, flr_vec3 size);
void flr_test_rig_end(flr_test_rig *rig);

void flr_test_rig_plane(flr_test_rig *rig, flr_vec3 normal, double offset); /* any length */
void flr_test_rig_grab(flr_test_rig *rig, const flr_coupling_def *def, flr_vec3 point); /* world */

/* What a contact query would say. */
void flr_test_rig_query(flr_test_rig *rig);
/* One whole step. */
void flr_test_rig_step(flr_test_rig *rig);
/* Moves the handle steadily to p in `steps` steps, stepping. */
void flr_test_rig_drag(flr_test_rig *rig, flr_vec3 p, int steps);

#endif
