/* tuning.h: what may be changed while everything runs, by name: one table for the controller's
 * parameters, their ranges and what people are told about them.
 *
 * Thread: any; plain data. Not RT safe. */
#ifndef FLR_CONTROLLER_TUNING_H
#define FLR_CONTROLLER_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/result.h"
#include "feeler/world.h"

/* All that the table changes. */
typedef struct flr_tuning {
    flr_world_params world;
    double reach;     /* metres: a hand so near to a part's surface touches it */
    double clearance; /* metres: the force layer times the scene's voxel, and back */
    double voxel;     /* metres, of the scene; 0: none yet. Not in the table */
} flr_tuning;

typedef struct flr_tuning_entry {
    const char *name, *unit, *words, *doc;
    double low, high;
} flr_tuning_entry;

flr_tuning flr_default_tuning(void);

uint32_t flr_tuning_count(void);
const flr_tuning_entry *flr_tuning_at(uint32_t index);
double flr_tuning_get(const flr_tuning *tuning, uint32_t index);
/* The greatest value at present: of the clearance it depends on the voxels. */
double flr_tuning_high(const flr_tuning *tuning, uint32_t index);

/* Changes one. `*index`: which it was. FLR_NOT_FOUND, with the name that was probably meant;
 * FLR_BAD_ARGUMENT, with the range. */
flr_result flr_tuning_set(flr_tuning *tuning, const char *name, double value, uint32_t *index,
                          flr_error *error);

/* The scene's voxels are of this size from now on: what depends on it follows. */
void flr_tuning_set_voxel(flr_tuning *tuning, double voxel);

#endif
