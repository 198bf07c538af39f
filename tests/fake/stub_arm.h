/* stub_arm.h: what the stub libraries of vendors share with the test that loads them: the symbol `stub_arm` of each. */
#ifndef FLR_STUB_ARM_H
#define FLR_STUB_ARM_H

#include <stdatomic.h>

typedef struct stub_arm {
    // what the test sets
    atomic_int present;         /* how many devices there are */
    atomic_int broken;          /* every call of a frame fails */
    atomic_int scheduler_fails; /* (OpenHaptics) */
    _Atomic double position[3]; /* vendor's unit and axes */
    _Atomic double velocity[3];
    _Atomic double turn; /* radians about the vendor's axis that is up */
    atomic_int buttons;
    atomic_int torque_capable;
    // what it sees
    _Atomic double force[3], torque[3];
    atomic_int opened, closed, enabled;
    atomic_int frames;
    atomic_int zeros; /* forces of zero in a row, until now */
} stub_arm;

#endif
