/* length.h: what scene and pose files have in common: lengths in a unit, unit quaternions. */
#ifndef FLR_SCENE_LENGTH_H
#define FLR_SCENE_LENGTH_H

#include <stdbool.h>

#include "feeler/math.h"

/* The number that gives exactly these metres when a reader multiplies it with `unit`, the one
 * with the fewest digits; where there is none, the nearest. */
double flr_length_in(double metres, double unit);

/* Whether this is a unit quaternion within 1e-3; makes it one in full precision. What is of unit
 * length as well as a double can tell stays as it is, so that reading and writing again does not
 * creep. */
bool flr_quat_read(flr_quat *q);

#endif
