/* gear.h: the pieces of the landing gear scenario. Private to models/gear*.c.
 *
 * World frame: x forward, y to the left, z up; the tyres stand on z = 0. All in metres.
 */
#ifndef FLR_MODELS_GEAR_H
#define FLR_MODELS_GEAR_H

#include "models/kit.h"

#define FLR_GEAR_LENGTH 4.1 /* x, tyre to tyre, and the bay */
#define FLR_GEAR_WIDTH  1.9 /* y */
#define FLR_GEAR_HEIGHT 4.8 /* z, from the ground to the top of the bay */

#define FLR_GEAR_TYRE_RADIUS 0.635
#define FLR_GEAR_AXLE_STEP   1.415 /* from axle to axle, along x */
#define FLR_GEAR_TRACK       1.41  /* between the middles of the left and right tyres */
#define FLR_GEAR_TYRE_WIDTH  0.42
#define FLR_GEAR_AXLE_HEIGHT FLR_GEAR_TYRE_RADIUS

/* where the moving actuator is installed: its middle, axis along x, rod end forward */
#define FLR_GEAR_ACTUATOR_X (-0.70)
#define FLR_GEAR_ACTUATOR_Y 0.30
#define FLR_GEAR_ACTUATOR_Z 0.79

/* The hydraulic actuator in its own frame: middle at the origin, axis along x, rod end at +x,
 * pins along y; 0.9 x 0.2 x 0.2 m. */
void flr_gear_actuator(flr_kit *kit);

/* A wheel with tyre and hub, axle along y, outside at +y, middle of the tyre at the origin. */
void flr_gear_wheel(flr_kit *kit, flr_pose at);

/* The brake on the inside of a wheel, same frame. */
void flr_gear_brake(flr_kit *kit, flr_pose at);

/* Bogie beam with axles; shock strut with torsion links; braces up to the airframe. */
void flr_gear_bogie(flr_kit *kit);
void flr_gear_strut(flr_kit *kit);
void flr_gear_braces(flr_kit *kit);

/* The bay the gear hangs in: walls, frames, stringers, roof, doors' hinges. */
void flr_gear_bay(flr_kit *kit);

/* Pipes and wires on bogie, strut and bay. */
void flr_gear_lines(flr_kit *kit);

/* Mounts of the actuator, and what surrounds the way it is taken out by. */
void flr_gear_corridor(flr_kit *kit);

#endif
