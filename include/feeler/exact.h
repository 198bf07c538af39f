/* feeler/exact.h: the exact distance to a mesh, where the marks of its voxmap are too coarse.
 *
 * A mark bounds the distance to the surface within some voxels. Who needs the number itself (a
 * clearance in a report, the colour of a point) keeps the triangles, sorted by the chunks (8x8x8
 * voxels) that they touch:
 *
 *     flr_exact_create(mesh, voxmap, 0, &exact, &error);
 *     flr_exact_result d = flr_exact_distance(exact, point, 0.05, 0);
 *     if (d.found) printf("%g m from triangle %u\n", d.distance, d.triangle);
 *
 * A query looks only into chunks that can hold something nearer than what the mark promises or what
 * was found so far, nearest chunks first. Equally near triangles: the one with the lowest number.
 *
 * Inside is what the voxmap calls interior, so that open and inverted meshes have a sign, too. In a
 * surface voxel the first voxel that is not surface decides, seen from the nearest point through
 * the queried one. A wall of fewer than about three voxels has no interior voxels and thus no
 * inside, nor has a voxmap that is hollow or has an offset.
 *
 * Thread: any; the structure is immutable and may be shared. Queries are RT safe; making and
 * destroying are not.
 */
#ifndef FEELER_EXACT_H
#define FEELER_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/adjacency.h"
#include "feeler/api.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/result.h"
#include "feeler/voxmap.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_exact flr_exact;

/* Sorts the triangles of `mesh`, from which `voxmap` was made (else FLR_BAD_ARGUMENT), on up to
 * `threads` threads (0: one per processor). The mesh is borrowed during the call only, the voxmap
 * as long as the structure lives. On success the caller owns `*exact`. Fails with FLR_NO_MEMORY,
 * too. */
FLR_API flr_result flr_exact_create(const flr_mesh *mesh, const flr_voxmap *voxmap,
                                    unsigned threads, flr_exact **exact, flr_error *error);

FLR_API void flr_exact_destroy(flr_exact *exact); /* NULL allowed */

/* The answer to a query. Plain data. */
typedef struct flr_exact_result {
    bool found;        /* a triangle lies within the distance asked for */
    bool complete;     /* false: the limit of triangle tests was met; something nearer may exist */
    double distance;   /* metres, negative inside; INFINITY when nothing was found */
    double least;      /* metres, >= 0: nothing is nearer than this. When complete: the distance
                          without its sign, or the distance asked for if nothing was found */
    flr_vec3 nearest;  /* on that triangle, metres, voxmap's frame; the point itself if not found */
    uint32_t triangle; /* number in the mesh; FLR_NONE if not found */
    uint32_t tests;    /* triangles looked at */
} flr_exact_result;

/* The nearest triangle to a point (metres, voxmap's frame) that is no farther than `max_distance`
 * (metres; INFINITY allowed). Looks at no more than `max_tests` triangles (0: as many as it takes,
 * which from the centre of a sphere is all of them). A point that is not finite finds nothing. RT
 * safe with a limit of tests. */
FLR_API flr_exact_result flr_exact_distance(const flr_exact *exact, flr_vec3 point,
                                            double max_distance, uint32_t max_tests);

/* How much it holds: chunks with triangles, triangles summed over them, bytes of memory. RT
 * safe. */
typedef struct flr_exact_info {
    uint32_t chunks;
    uint64_t entries;
    size_t bytes;
} flr_exact_info;

FLR_API flr_exact_info flr_exact_get_info(const flr_exact *exact);

#ifdef __cplusplus
}
#endif
#endif
