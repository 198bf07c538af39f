/* nanovdb.h: voxmaps as NanoVDB files (.nvdb), to exchange them with other tools.
 *
 * What is written is the surface field as one uncompressed grid of 32-bit floats of the class "level set" that the
 * readers of version 32 open (Debian 12 has 32.4). A value is a distance in metres, by the mark of its voxel:
 *
 *     interior                 minus one voxel
 *     surface                  0
 *     free at distance d       d voxels (chessboard distance, as everywhere in a voxmap)
 *     free, beyond the field   range + 1 voxels; this is the background
 *
 * Surface voxels and free ones with a distance are active. Index (x, y, z) is voxel (x, y, z) of the voxmap, and an
 * index stands for the voxel's centre, so that coordinates in metres agree.
 *
 * What is read is the first grid of a file, if it is of floats, uncompressed, without rotation and with cubic voxels:
 * ours, or any level set. A voxel is a surface voxel when its value is within half a diagonal of a voxel (0.87 voxels)
 * of zero: that is every voxel which a surface at zero passes through. Interior is then what free space from outside
 * does not reach, as with meshes; there is none if the grid has no negative value beyond that. The distances are made
 * anew. What was written and is read comes back with the same marks.
 *
 * Thread: any; not RT safe. */
#ifndef FLR_VOXEL_NANOVDB_H
#define FLR_VOXEL_NANOVDB_H

#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/voxels.h"

typedef struct flr_nanovdb_options {
    unsigned bits; /* of the marks: 2, 4 or 8; default 0: as few as hold the range, at least 4 */
    unsigned
        range; /* voxels of distance marked; default 0: as far as the grid has them, at least 8 */
    unsigned threads; /* 0: one per processor */
} flr_nanovdb_options;

flr_nanovdb_options flr_default_nanovdb_options(void);

/* Writes the surface field; the file appears whole or not at all. */
flr_result flr_nanovdb_write(flr_env *env, const char *path, const flr_voxmap *voxmap,
                             flr_error *error);

/* Reads a file. `options` NULL: defaults. FLR_BAD_INPUT: not a NanoVDB file, or damaged; FLR_UNSUPPORTED: one that
 * is not as described above. The caller owns the voxmap; it has no edge and vertex field. */
flr_result flr_nanovdb_read(flr_env *env, const char *path, const flr_nanovdb_options *options,
                            flr_voxmap **voxmap, flr_error *error);

/* The same from memory; `name` stands for the file in messages. */
flr_result flr_nanovdb_parse(const char *name, const uint8_t *bytes, size_t size,
                             const flr_nanovdb_options *options, flr_voxmap **voxmap,
                             flr_error *error);

#endif
