/* leak.h: did the inside leak out through a hole of the mesh, and where?
 *
 * Free space is flooded from outside. A hole that is wider than a voxel lets the flood in, and what a person would
 * call the inside becomes free. To tell such a hole from the rim of a sheet, which has no inside, all borders are
 * closed by a cone to their middle and the flood is done once more: where a cone keeps the flood out of a space of
 * some depth (a tenth of the gap's width at least), that space had leaked. A flat or gently curved sheet is not
 * reported, a box without a lid is. */
#ifndef FLR_VOXEL_LEAK_H
#define FLR_VOXEL_LEAK_H

#include "feeler/base.h"
#include "feeler/mesh.h"
#include "feeler/voxels.h"

typedef struct flr_leak {
    flr_vec3 place; /* the middle of the gap's border, metres, mesh's frame */
    double gap;     /* its width, metres: exact if round or square, at most twice that of a slit */
    double voxel;   /* a size of voxels that closes it, metres */
} flr_leak;

enum { FLR_LEAKS_MAX = 8, FLR_LEAK_TEXT_SIZE = 256 };

typedef struct flr_leak_report {
    flr_leak leaks[FLR_LEAKS_MAX]; /* the widest first */
    uint32_t count;                /* of those */
    uint32_t total;                /* of all that leak */
    bool skipped;                  /* there may be some: looking would take too much memory */
} flr_leak_report;

/* Looks for leaks of a voxmap that was made of this mesh. Takes no time for a closed mesh and for a hollow voxmap, else
 * about as long as scanning and filling did; is left out where that would take more than `memory` bytes (0: no limit).
 * Not RT safe. FLR_NO_MEMORY. */
flr_result flr_leak_find(const flr_mesh *mesh, const flr_voxmap *voxmap, unsigned threads,
                         uint64_t memory, flr_leak_report *report, flr_error *error);

/* "interior leaked through a gap near (1 mm, 0, 2 mm), about 3 mm; use voxels of 3.8mm, or voxelize the part as hollow"; returns `text`. */
const char *flr_leak_print(const flr_leak *leak, char text[FLR_LEAK_TEXT_SIZE]);

#endif
