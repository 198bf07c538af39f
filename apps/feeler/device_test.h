/* device_test.h: measuring a device for `feeler device test` */
#ifndef FLR_DEVICE_TEST_H
#define FLR_DEVICE_TEST_H

#include "command.h"
#include "feeler/device.h"

typedef struct flr_device_found {
    double seconds;
    uint64_t reads, samples, bad;
    flr_histogram between, read; /* nanoseconds: from sample to sample; a call of read */
    flr_box3 reached;            /* metres, base's frame */
    double fastest, turned;      /* m/s; radians from the first orientation, at most */
    uint32_t buttons;            /* that were pressed, as bits */
    // the force
    bool forced;
    double wanted, largest; /* N */
    double moved, response; /* metres, at most; seconds until it moved, NAN: it did not */
    char stopped[100];      /* why it ended early; "": it did not */
    flr_guard_stats guard;
} flr_device_found;

/* Reads it by the clock, 4000 times a second. */
void flr_device_test_motion(flr_cli *cli, flr_device *device, double seconds,
                            flr_device_found *found);
/* Ramps a force upwards to `newtons` and back, through a guard. */
flr_result flr_device_test_force(flr_cli *cli, flr_device *device, double newtons,
                                 flr_device_found *found, flr_error *error);

#endif
