/* kernel.h: looking up many points at once, in several instruction sets that give the same answer.
 *
 * The tree of a field is flattened to one table with an entry for every chunk of the grid, so that a lookup is two
 * dependent loads: entry, mark. Points are given in steps of their shell chunk; one matrix takes steps to voxels,
 * counted from a voxel near the chunk, in single precision: the error stays below the job's slack. A point nearer than that to
 * a side of its voxel may lie in the next one: it is a hit whatever its mark, since in the edge and vertex fields the interior
 * begins beside any mark. So every point that would be a hit in double precision is one here. */
#ifndef FLR_CONTACT_KERNEL_H
#define FLR_CONTACT_KERNEL_H

#include <stdint.h>

/* one field, flattened */
typedef struct flr_flat_field {
    const uint32_t *chunks; /* [z][y][x]: number of a plane, or FLR_UNIFORM | mark */
    const uint32_t *planes; /* packed marks, 16 * bits words each */
    uint32_t bits;
    int32_t size[3];   /* voxels of the grid */
    int32_t stride[2]; /* of the table, chunks: per y, per z */
} flr_flat_field;

/* points of one shell chunk, to be looked up */
typedef struct flr_scan_job {
    const flr_flat_field *field;
    const uint16_t *x, *y, *z; /* [count], steps */
    uint32_t count;            /* at most 512 */
    float matrix[3][4];        /* voxels from `base` = matrix (x, y, z, 1) */
    int32_t base[3];           /* voxel */
    const uint32_t *normal;    /* [count], packed; NULL: points are not displaced */
    float turn[3][3];          /* voxels of displacement = turn (normal) */
    float slack;               /* voxels: the most that rounding may move a point */
    uint32_t limit;            /* marks 1 … limit are hits */
    uint32_t free;             /* what a mark of 0 counts as for `least` */
} flr_scan_job;

/* Sets bit i of `hits` (32 words of 16) for each point whose mark is a hit; returns the least mark met, interior counting
 * as 1. Words beyond the points are left alone. */
typedef uint32_t (*flr_scan_kernel)(const flr_scan_job *job, uint16_t hits[32]);

uint32_t flr_scan_scalar(const flr_scan_job *job, uint16_t hits[32]);
uint32_t flr_scan_avx2(const flr_scan_job *job, uint16_t hits[32]);
uint32_t flr_scan_avx512(const flr_scan_job *job, uint16_t hits[32]);

#endif
