/* servo.h: between the loop and a thread that serves a vendor's device.
 *
 * A vendor's library waits for its hardware, so that it is called by a thread of its own: the
 * library's, or one of ours. The loop reads the newest sample and leaves the newest wrench; the
 * thread does the opposite. Neither waits for the other. Should the loop fall silent, the
 * thread gives no force after FLR_SERVO_PATIENCE_NS, which is the time in which the output guard has
 * promised to be at zero.
 *
 * Beside it: vendors' libraries, loaded at run time. */
#ifndef FLR_DEVICE_SERVO_H
#define FLR_DEVICE_SERVO_H

#include <stdatomic.h>

#include "feeler/base.h"
#include "feeler/device.h"

#define FLR_SERVO_PATIENCE_NS INT64_C(25000000)

typedef struct flr_servo {
    flr_latest *samples;  /* flr_device_sample: from the thread */
    flr_latest *wrenches; /* flr_wrench: from the loop */
    uint64_t read;        /* the loop's: number of the sample it read last */
    uint64_t taken;       /* the thread's: number of the wrench it took last, and when */
    int64_t taken_ns;
    atomic_bool stopped; /* no force before the next write */
    atomic_bool deaf;    /* the device did not take the last wrench */
} flr_servo;

/* FLR_NO_MEMORY, the sentence begins with `driver`. End also what could not begin. */
flr_result flr_servo_begin(flr_servo *servo, const char *driver, flr_error *error);
void flr_servo_end(flr_servo *servo);

/* The loop's side: functions of a flr_device_driver whose state begins with a flr_servo. RT safe. */
bool flr_servo_read(void *state, int64_t now_ns, flr_device_sample *sample);
bool flr_servo_write(void *state, int64_t now_ns, const flr_wrench *wrench);
void flr_servo_stop(void *state);

/* The thread's side. `clock_ns` is its own clock. RT safe. */
void flr_servo_put(flr_servo *servo, const flr_device_sample *sample);
flr_wrench flr_servo_take(flr_servo *servo, int64_t clock_ns);
void flr_servo_took(flr_servo *servo, bool taken); /* did the device take it? */

/* A function of a library, and where its address goes. */
typedef struct flr_symbol {
    const char *name;
    void *to; /* address of a function pointer */
    bool optional;
} flr_symbol;

/* Opens the first of `files` (ended by NULL) that the system finds and looks all symbols up; those
 * that are optional and missing become NULL. `*library` is closed with dlclose(). A sentence begins
 * with `driver`, tells what is missing and to install `product`. */
flr_result flr_library_open(const char *driver, const char *product, const char *const *files,
                            const flr_symbol *symbols, size_t count, void **library,
                            flr_error *error);

#endif
