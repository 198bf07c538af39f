/* parameters.h: what may be changed while everything runs, by name: one table for the controller's
 * parameters, their ranges and their help texts.
 *
 * Thread: any; plain data. Not RT safe. */
#ifndef FLR_SIM_PARAMETERS_H
#define FLR_SIM_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/world.h"

/* All that the table changes. */
typedef struct flr_parameters {
    flr_world_params world;
    double reach; /* metres: a hand so near to a part's surface touches it */
    /* metres: force begins no nearer than this: the exact engine's onset; else the force layer times the scene's voxel, or,
     * where parts have voxels of different sizes, the length that was asked for */
    double onset;
    double voxel;          /* metres: the finest of the scene; 0: none yet. Not in the table … */
    double coarsest_voxel; /* … as this one */
} flr_parameters;

typedef struct flr_parameters_entry {
    const char *name, *unit, *words, *doc;
    double low, high;
} flr_parameters_entry;

flr_parameters flr_default_parameters(void);

uint32_t flr_parameters_count(void);
const flr_parameters_entry *flr_parameters_at(uint32_t index);
double flr_parameters_get(const flr_parameters *tuning, uint32_t index);
/* The greatest value at present: of the onset it depends on the voxels. */
double flr_parameters_high(const flr_parameters *tuning, uint32_t index);

/* Changes one. `*index`: which it was. FLR_NOT_FOUND, with the name that was probably meant;
 * FLR_BAD_ARGUMENT, with the range. */
flr_result flr_parameters_set(flr_parameters *tuning, const char *name, double value,
                              uint32_t *index, flr_error *error);

/* Force begins this far before surfaces meet, metres: with the exact engine exactly, else in the nearest layer of voxels that
 * is no nearer, each part by the size of its own. `voxel` is the finest; of those it is the seventh layer at most. Without voxels
 * yet (0) nothing changes. */
void flr_parameters_set_onset(flr_world_params *world, double voxel, double onset);

/* The scene's voxels are from the finest to the coarsest from now on, metres: what depends on it follows. */
void flr_parameters_set_voxels(flr_parameters *tuning, double finest, double coarsest);

#endif
