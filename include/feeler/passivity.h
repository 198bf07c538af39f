/* feeler/passivity.h: the simulation must not feed energy into the hand.
 *
 * A sampled spring gives back more energy than it took: this is what makes a force device buzz.
 * The observer counts what goes through the device's port: a wrench that was held over an interval
 * gives exactly its product with the way that the device made meanwhile. The controller damps the
 * device by as much as it takes to get the surplus back (Hannaford and Ryu's time-domain
 * passivity), as long as the surplus lasts.
 *
 *     account > 0   the hand has put in more than it got back: springs may return it
 *     account < 0   the simulation has made energy: damping is on
 *
 * What was put in is remembered up to `store` only, so that work done against friction an hour ago
 * does not excuse a vibration now.
 *
 * The bound: over any stretch of time that ends now, no more comes out than went in by more than
 * `bound`: account >= -bound, always. Damping alone cannot promise that, as it works only on a
 * device that moves. So the wrench is scaled down where what it may give before it could be taken
 * back would not be covered: W.way, if the device goes on as it did, and |W| agility dt^2 (force and torque by themselves), if it
 * changes its velocity as fast as a hand can; both until the guard, which lets a wrench change only
 * so fast, has brought it to zero. The promise holds for a device whose acceleration, as it is
 * sampled, keeps to `agility`; flr_passivity.agility tells the most that was
 * seen. `deficit` says how
 * much came out in fact.
 *
 * Plain data. Thread: one at a time; RT safe.
 */
#ifndef FEELER_PASSIVITY_H
#define FEELER_PASSIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/body.h"
#include "feeler/inertia.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_PASSIVITY_LATE = 16 }; /* samples by which a pose may be late: below this */

/* Fill with flr_default_passivity_params(). */
typedef struct flr_passivity_params {
    bool control;   /* false: observe only; default true */
    double store;   /* joules remembered; default 0.05 */
    double damping; /* N s/m: the most the controller adds; a device bears some; default 5 */
    double radius;  /* metres: a turn by 1 rad counts as a way of this length; default 0.05 */
    double bound;   /* joules: see above; INFINITY: none; default 0.01 */
    double agility, turn_agility; /* m/s^2, rad/s^2: of hand and device; default 50 and 4000 */
    /* s: by which the device's poses are older than the moment at which they are passed: each way is
     * counted with the wrench of its own time, and what is on its way is covered, too. A delay that
     * is not told here is energy that is not seen. default 0; up to 15 samples */
    double delay;
    double slew, turn_slew; /* N, N m: by which a guard lets a wrench change in a sample; default 1
                               and 0.01 */
} flr_passivity_params;

FLR_API flr_passivity_params flr_default_passivity_params(void);

/* Zero it to begin, and after every gap in the device's data. */
typedef struct flr_passivity {
    double account;               /* joules, at most `store` */
    double deficit;               /* joules: the most by which the account was ever below zero */
    double put, got;              /* joules, in all: by the hand, and back to it */
    double damping;               /* N s/m, at present */
    double gain;                  /* 0 … 1: what the bound leaves of the wrench, at present */
    double agility, turn_agility; /* m/s^2, rad/s^2: the largest that were seen */
    /* on the device since the last call, [held_count % FLR_PASSIVITY_LATE], and before that */
    flr_wrench held[FLR_PASSIVITY_LATE];
    uint32_t held_count;
    flr_pose T_world_handle;
    flr_motion way; /* from the call before to the last */
    bool begun;
} flr_passivity;

/* The wrench to send: `wrench` (on the device, about the handle's origin, world's axes) plus
 * damping, as far as the bound allows. Call it once per sample, with the pose of the device at this moment and the seconds
 * until the next; what it returns is taken to act until then. When the device was sent something
 * else (a guard clamped it), say so by flr_passivity_sent(). What is not finite gives zero and
 * begins anew. */
FLR_API flr_wrench flr_passivity_pass(flr_passivity *passivity, const flr_passivity_params *params,
                                      flr_pose T_world_handle, flr_wrench wrench, double dt);

/* What the device really got after the last flr_passivity_pass(). */
FLR_API void flr_passivity_sent(flr_passivity *passivity, flr_wrench wrench);

#ifdef __cplusplus
}
#endif
#endif
