/* feeler/shell.h: a part as surface points: what touches the voxels of another part.
 *
 * One point per surface voxel, at the voxel's centre (as in the papers) or moved onto the exact
 * surface, each with an inward unit normal and a label: vertex, edge or face, whichever comes first
 * of what the voxel inherits from the part's features. Points are kept chunk by chunk (8x8x8
 * voxels) and chunks hyperchunk by hyperchunk, each with an enclosing sphere, so that what is far
 * from everything can be skipped as one.
 *
 * Within a chunk the vertex points come first, then the edge points, then the face points, then
 * padding up to a multiple of FLR_SHELL_PAD. A coordinate is 16 bits within its chunk (a voxel is
 * 6144 steps), a normal is 32 bits: 10 bytes a point, because a query is limited by what it must
 * read.
 *
 * A shell is one block without pointers, immutable, shared by all threads.
 *
 * Thread: any. Reading is RT safe; building and destroying are not.
 */
#ifndef FEELER_SHELL_H
#define FEELER_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/math.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_SHELL_PAD = 16 };

typedef enum flr_label {
    FLR_LABEL_VERTEX,
    FLR_LABEL_EDGE,
    FLR_LABEL_FACE,
    FLR_LABEL_COUNT
} flr_label;

/* 8x8x8 voxels with at least one point */
typedef struct flr_shell_chunk {
    /* where coordinates count from, metres: one voxel before the chunk's low corner, since a point
     * on the exact surface may lie a little outside its voxel */
    float corner[3];
    float centre[3];                 /* of the sphere around its points, metres */
    float radius;                    /* metres */
    uint32_t first;                  /* of its points; a multiple of FLR_SHELL_PAD */
    uint16_t count[FLR_LABEL_COUNT]; /* points by label, in this order, without the padding */
    uint16_t padded;                 /* all of it, a multiple of FLR_SHELL_PAD */
} flr_shell_chunk;

/* 8x8x8 chunks with at least one point */
typedef struct flr_shell_hyper {
    float centre[3]; /* of the sphere around its points, metres */
    float radius;
    uint32_t first_chunk, chunk_count;
} flr_shell_hyper;

/* Read the fields freely; change none. */
typedef struct flr_shell {
    double voxel;    /* metres: the spacing of the points */
    float step;      /* metres per unit of the 16-bit coordinates */
    bool on_surface; /* points lie on the exact surface, not at voxel centres */
    unsigned layer;  /* 0: from the surface voxels; d: from the free voxels at distance d */
    float displaced; /* metres: points were moved so far, see flr_shell_displace() */
    uint32_t hyper_count, chunk_count;
    uint32_t point_count; /* with padding */
    uint32_t total;       /* without */
    uint32_t by_label[FLR_LABEL_COUNT];
    float centre[3], radius;       /* of the sphere around all points */
    const flr_shell_hyper *hypers; /* [hyper_count] */
    const flr_shell_chunk *chunks; /* [chunk_count], by hyperchunk */
    /* [point_count], steps from the chunk's corner; padding repeats the last point */
    const uint16_t *x, *y, *z;
    const uint32_t *normal; /* [point_count], see flr_shell_normal() */
    size_t bytes;           /* of the whole block */
} flr_shell;

/* A point's place, metres, part's frame, moved by `displacement` metres along its outward normal
 * (0: as it is). */
FLR_API flr_vec3 flr_shell_point(const flr_shell *shell, uint32_t chunk, uint32_t point,
                                 double displacement);

/* The inward unit normal behind a packed one. The sphere is folded onto a square (octahedral map),
 * 16 bits each way: the error is below 0.005 degrees. */
FLR_API flr_vec3 flr_shell_normal(uint32_t packed);
FLR_API uint32_t flr_shell_pack_normal(flr_vec3 normal);

/* Moving all points along their normals spreads them apart where the surface is curved. 1 plus the
 * most that the distance of two neighbouring points grows by `displacement` (metres, outward
 * positive), in voxels: above 1.5 or so something thin can slip between them. Looks at all points;
 * not RT safe. */
FLR_API double flr_shell_opening(const flr_shell *shell, double displacement);

/* A new shell whose points are moved by `displacement` metres along their outward normals, once and
 * for all: a query against it is faster than one that moves every point every time, which
 * flr_contact_params.displacement does. Chunks, normals and labels stay; spheres are new. Places
 * are rounded to steps again, so that a point lies up to half a step (1/12288 of a voxel) away along
 * each axis from where the parameter puts it. Fails with FLR_TOO_LARGE when the points of a chunk
 * get too far apart for its 16-bit coordinates, which can happen from 1.3 voxels on, with
 * FLR_BAD_ARGUMENT when `displacement` is no number, and with FLR_NO_MEMORY. The caller owns it. */
FLR_API flr_result flr_shell_displace(const flr_shell *shell, double displacement,
                                      flr_shell **displaced, flr_error *error);

FLR_API void flr_shell_destroy(flr_shell *shell); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
