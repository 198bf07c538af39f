/* aircraft.h: the pieces of the aircraft scenario. Private to models/aircraft*.c.
 *
 * World frame: x forward, y to the left, z up; a fuselage section of 6 m around the x axis at
 * height 1.5 m, cut open at the top. All in metres.
 */
#ifndef FLR_MODELS_AIRCRAFT_H
#define FLR_MODELS_AIRCRAFT_H

#include "models/kit.h"

#define FLR_AIRCRAFT_LENGTH 6.0
#define FLR_AIRCRAFT_RADIUS 1.5  /* of the skin's outside; the axis is as high */
#define FLR_AIRCRAFT_FLOOR  1.62 /* top of the floor panels */

/* Skin, frames, stringers, floor beams, stanchions, floor panels. */
void flr_aircraft_structure(flr_kit *kit);

/* Ducts, pipes, wires, racks with boxes, below and above the floor. */
void flr_aircraft_systems(flr_kit *kit);

#endif
