/* thread.h: a bolt and a nut with a helical thread, for tests: small, closed, and exact along the helix. */
#ifndef FLR_TEST_THREAD_H
#define FLR_TEST_THREAD_H

#include "models/kit.h"

typedef struct flr_test_thread {
    double pitch;  /* metres */
    double radius; /* metres: where ridge and groove are equally wide */
    double flank;  /* radians, against a plane across the axis; 30 degrees for metric threads */
    double gap;    /* metres, between flanks, to either side */
    double crest,
        nut_crest; /* metres: how far ridges of the bolt and of the nut reach beyond the radius */
    double bolt, nut;     /* metres: their lengths */
    int sides, nut_sides; /* of the polygons that stand for circles */
} flr_test_thread;

/* M16 x 2 with 0.1 mm between the flanks; the bolt 24 mm long, the nut 8 mm. */
flr_test_thread flr_test_thread_m16(void);

/* Both on the z axis, from z = 0 up. With both at the identity, or the nut turned by any angle and shifted by
 * pitch / turn, flanks are `gap` apart. */
void flr_test_thread_bolt(const flr_test_thread *thread, flr_kit *kit);
void flr_test_thread_nut(const flr_test_thread *thread, flr_kit *kit);

/* The friction from which a loaded nut stays where it is. */
double flr_test_thread_locks(const flr_test_thread *thread);

#endif
