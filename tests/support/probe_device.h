/* probe_device.h: a device for tests: plays what it is told and keeps what it is given.
 *
 * Thread: as any driver; the fields are for the test while no other thread uses the device. */
#ifndef FLR_TEST_PROBE_DEVICE_H
#define FLR_TEST_PROBE_DEVICE_H

#include <stdatomic.h>

#include "feeler/device.h"
#include "support/test.h"

typedef struct flr_test_probe {
    // given before it is opened
    flr_device_info info; /* flr_test_probe_init(): 15 N, 0.5 N m, one button */
    // its answers
    atomic_bool silent; /* has no new sample */
    atomic_bool deaf;   /* does not take what is written */
    atomic_bool hang;   /* hangs in its next write until this is false */
    flr_pose pose;      /* of its samples */
    uint32_t buttons;
    // what came
    atomic_bool hanging; /* is in a write that hangs */
    _Atomic uint64_t writes, stops, reads, opens, closes;
    flr_wrench wrench; /* the last one */
    int64_t time_ns;
    void (*on_write)(void *context, int64_t now_ns, const flr_wrench *wrench); /* NULL: none */
    void *context;
} flr_test_probe;

void flr_test_probe_init(flr_test_probe *probe);

/* Its parameters are an flr_test_probe, which must outlive the device. */
extern const flr_device_driver flr_test_probe_driver;

#endif
