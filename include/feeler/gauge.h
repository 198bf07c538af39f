/* feeler/gauge.h: the exact distance of two parts, with the nearest points and what they lie on.
 *
 * Where the bounds that a contact query gives (feeler/contact.h) are too wide, the triangles
 * themselves are measured:
 *
 *     flr_gauge_part_create(housing, &a, &error);
 *     flr_gauge_part_create(actuator, &b, &error);
 *     flr_gauge_witness witness = flr_no_witness();
 *     for (each pose) {
 *         flr_gauge_distance(a, b, T_world_a, T_world_b, NULL, &witness, &r);
 *         printf("%g m between %s and %s\n", r.upper, …);
 *     }
 *
 * Each part is a tree of boxes over its triangles, made once. A query walks both trees together,
 * nearest boxes first, and leaves out what cannot be nearer than what was found. It begins with the
 * pair of triangles that was nearest in the last pose, the witness: in smooth motion most of the
 * work falls away. The answer does not depend on the witness, to the bit.
 *
 * The answer equals that of comparing all triangles of one part with all of the other, in double
 * precision. It is about surfaces: a part wholly inside another one has a distance to it, too.
 *
 * Thread: any; parts are immutable and may be shared. Queries are RT safe when `max_work` is set;
 * making and destroying are not.
 */
#ifndef FEELER_GAUGE_H
#define FEELER_GAUGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/adjacency.h"
#include "feeler/api.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- parts ---- */

typedef struct flr_gauge_part flr_gauge_part;

/* Sorts the triangles of a mesh into a tree. The mesh is borrowed as long as the part lives. Fails
 * with FLR_NO_MEMORY. On success the caller owns `*part`. */
FLR_API flr_result flr_gauge_part_create(const flr_mesh *mesh, flr_gauge_part **part,
                                         flr_error *error);
FLR_API void flr_gauge_part_destroy(flr_gauge_part *part); /* NULL allowed */

/* Bytes that it holds, without the mesh. RT safe. */
FLR_API size_t flr_gauge_part_bytes(const flr_gauge_part *part);

/* ---- asking ---- */

/* Yes, no, or not known. */
typedef enum flr_answer { FLR_ANSWER_NO, FLR_ANSWER_MAYBE, FLR_ANSWER_YES } flr_answer;

/* What of a mesh a point lies on. */
typedef enum flr_spot_kind { FLR_SPOT_VERTEX, FLR_SPOT_EDGE, FLR_SPOT_FACE } flr_spot_kind;

/* A point of a mesh. */
typedef struct flr_spot {
    flr_vec3 point; /* world's frame, metres */
    flr_spot_kind kind;
    uint32_t triangle;    /* it lies on, number in the mesh; FLR_NONE when nothing was found */
    uint32_t vertices[2]; /* numbers in the mesh: the vertex and FLR_NONE, the ends of the edge
                             (the lower first), or FLR_NONE twice for a face */
} flr_spot;

/* How to ask. Fill with flr_default_gauge_params(). */
typedef struct flr_gauge_params {
    double max_distance; /* metres: farther does not matter; default INFINITY */
    bool first;          /* any pair within max_distance will do; default false: the nearest */
    uint64_t max_work;   /* pairs of boxes and of triangles; default 0: what it takes */
} flr_gauge_params;

FLR_API flr_gauge_params flr_default_gauge_params(void);

/* The triangles that were nearest: where the next search begins. Plain data. */
typedef struct flr_gauge_witness {
    uint32_t a, b; /* numbers in the meshes; FLR_NONE: not known */
} flr_gauge_witness;

FLR_API flr_gauge_witness flr_no_witness(void);

/* The answer. Plain data. */
typedef struct flr_gauge_result {
    /* metres: the distance lies between these; both are the distance itself when the search was
     * complete and found something. `upper` is INFINITY when nothing was found, and `lower` then
     * the distance asked for */
    double lower, upper;
    bool found;    /* a pair of points no farther apart than max_distance */
    bool complete; /* false: the limit of work was met */
    bool meet;     /* the surfaces have a point in common: a and b are such a place */
    flr_spot a, b; /* the nearest points */
    uint64_t work; /* pairs of boxes looked into and of triangles measured: 0.1 to 1 us each */
} flr_gauge_result;

/* Measures. `params` NULL: defaults; `witness` may be NULL, else it is read and, when something was
 * found, set. Equally near pairs: always the same one. Poses that are not valid find nothing. */
FLR_API void flr_gauge_distance(const flr_gauge_part *a, const flr_gauge_part *b,
                                flr_pose T_world_a, flr_pose T_world_b,
                                const flr_gauge_params *params, flr_gauge_witness *witness,
                                flr_gauge_result *result);

/* Tolerance check: are surfaces of the parts nearer than `tolerance` metres, or just as near? Ends
 * with the first pair that is. `max_work` 0: what it takes; FLR_ANSWER_MAYBE comes only from a
 * limit. With 0 metres: do the surfaces meet? */
FLR_API flr_answer flr_gauge_within(const flr_gauge_part *a, const flr_gauge_part *b,
                                    flr_pose T_world_a, flr_pose T_world_b, double tolerance,
                                    uint64_t max_work, flr_gauge_witness *witness);

#ifdef __cplusplus
}
#endif
#endif
