/* sweep_joints.h: feeler sweep SCENE --joint: joints moved continuously, what is in the way, how near parts come. */
#ifndef FLR_SWEEP_JOINTS_H
#define FLR_SWEEP_JOINTS_H

#include "command.h"
#include "files.h"

/* What the command line says. Texts are NULL where it says nothing. */
typedef struct flr_sweep_joints_values {
    const char *joint, *from, *to;
    const char *csv, *plot, *volume;
    double clearance, tolerance;
    int64_t samples;
} flr_sweep_joints_values;

/* Returns the exit code. */
int flr_sweep_joints(flr_cli *cli, const char *path, const flr_sweep_joints_values *values,
                     const flr_mesh_options *options);

#endif
