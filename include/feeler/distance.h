/* feeler/distance.h: how far two parts are from each other, and what is near.
 *
 *   gauge  exact distance of two meshes
 *   query  intersection, normals, proximity
 */
#ifndef FEELER_DISTANCE_H
#define FEELER_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/contact.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/mesh_check.h"
#include "feeler/voxels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== gauge ================================================================================== */

/* The exact distance of two parts, with the nearest points and what they lie on.
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

/* ---- parts ---- */

typedef struct flr_gauge_part flr_gauge_part;

/* Sorts the triangles of a mesh into a tree. The mesh is borrowed as long as the part lives. Fails
 * with FLR_NO_MEMORY. On success the caller owns `*part`. */
FLR_API flr_result flr_gauge_part_create(const flr_mesh *mesh, flr_gauge_part **part,
                                         flr_error *error);
FLR_API void flr_gauge_part_destroy(flr_gauge_part *part); /* NULL allowed */

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

/* ==== query ================================================================================== */

/* What else can be asked of parts that stand near each other.
 *
 * From a contact query (feeler/contact.h): do the parts meet, and along which normals do they
 * touch? From the voxels alone: how near is each vertex of a displayed mesh, for its colour; which
 * surface voxels of the surroundings are near a moving part?
 *
 * The exact distance with nearest points and features is in feeler/distance.h, the centre of mass in
 * feeler/mesh_check.h, the volume that a part sweeps in feeler/merge.h; docs/queries.md has them all in
 * one table.
 *
 * Thread: see each function.
 */

/* ---- from the contacts ---- */

/* Do two solids meet, as far as their voxels tell? `result` and `contacts` are those of a query of
 * this shell and voxmap without awareness, whose points were not displaced.
 *
 *     no      neither surfaces nor solids have a point in common
 *     yes     some surface of the shell's part lies inside the voxmap's part
 *     maybe   what is between: flr_gauge_within() with 0 metres says more
 *
 * Thread: any; RT safe. */
FLR_API flr_answer flr_query_meeting(const flr_shell *shell, const flr_voxmap *voxmap,
                                     flr_pose T_world_voxmap, const flr_contact *contacts,
                                     const flr_contact_result *result);

/* Contacts that push in about the same direction, as one. */
typedef struct flr_contact_normal {
    flr_vec3 normal; /* world's frame, unit: the mean, weighed by depth, of the contacts' normals */
    flr_vec3 point;  /* world's frame, metres: the mean of their points, weighed likewise */
    double depth;    /* metres, of the deepest */
    double sum;      /* metres: of all depths; the force along this normal is in proportion */
    uint32_t contacts;
} flr_contact_normal;

/* Sums up contacts into normals. A contact belongs to the first direction found that is within
 * `angle` radians of its own, or makes a new one; when there are `capacity` already, it belongs to
 * the one that is least far. The one with the most contacts comes first. Returns how many there
 * are. Thread: any; RT safe: as much work as contacts times normals. */
FLR_API uint32_t flr_query_normals(const flr_contact *contacts, uint32_t count, double angle,
                                   flr_contact_normal *normals, uint32_t capacity);

/* ---- how near is each vertex? ---- */

/* The vertices of a mesh, sorted by place, each with how near it was found. One per moving part. */
typedef struct flr_proximity flr_proximity;

/* Something that a vertex can be near to. */
typedef struct flr_proximity_obstacle {
    const flr_voxmap *voxmap;
    flr_pose T_world_voxmap;
} flr_proximity_obstacle;

/* Copies the vertices. Fails with FLR_NO_MEMORY. Thread: control. */
FLR_API flr_result flr_proximity_create(const flr_mesh *mesh, flr_proximity **proximity,
                                        flr_error *error);
FLR_API void flr_proximity_destroy(flr_proximity *proximity); /* NULL allowed */

/* Looks at the next vertices: groups of 64 that lie together, until there are `max_vertices` (0:
 * all of them, once), and goes on from there at the next call. A group that is far from everything
 * costs one lookup. Returns how many vertices are done since the last time that all were: 0 when
 * this call has completed a round. Thread: one at a time; RT safe with a limit. */
FLR_API uint32_t flr_proximity_update(flr_proximity *proximity, flr_pose T_world_mesh,
                                      const flr_proximity_obstacle *obstacles, size_t count,
                                      uint32_t max_vertices);

/* [vertex_count of the mesh], metres by the voxels: d voxels stand for a distance of d - 1 to
 * sqrt(3) (d + 1) voxels; 0 in a surface voxel, less inside, INFINITY beyond the fields and before
 * the first update. RT safe. */
FLR_API const float *flr_proximity_distances(const flr_proximity *proximity);

/* The exact distances, where the voxels say that something is near: for `count` vertices of the
 * mesh from `first` on, into `distances` (metres, negative inside, INFINITY where nothing is
 * within `max_distance`). `max_tests` as in flr_exact_distance(), for each vertex; where it does
 * not suffice, the least that is certain. Thread: one at a time; RT safe with a limit. */
FLR_API void flr_proximity_exact(const flr_proximity *proximity, flr_pose T_world_mesh,
                                 const flr_exact *exact, flr_pose T_world_exact, uint32_t first,
                                 uint32_t count, double max_distance, uint32_t max_tests,
                                 double *distances);

/* ---- which voxels around are near? ---- */

/* A surface voxel of the surroundings. */
typedef struct flr_near_voxel {
    flr_vec3 centre;   /* world's frame, metres */
    double distance;   /* metres from there to the moving part; without triangles, at least */
    uint32_t voxel[3]; /* its place in the voxmap */
} flr_near_voxel;

/* What is near to what. */
typedef struct flr_near_voxels_def {
    const flr_voxmap *around; /* the surroundings */
    flr_pose T_world_around;
    const flr_voxmap *moving; /* the part that moves */
    flr_pose T_world_moving;
    const flr_exact *exact; /* its triangles; NULL: its voxels decide, and may list too many */
    double distance;        /* metres, from a voxel's centre to the moving part's surface */
} flr_near_voxels_def;

/* Lists the surface voxels of the surroundings whose centres are within the distance, in the order
 * in which they lie in the voxmap: by hyperchunk, chunk and place. Voxels inside the moving part
 * are near, too. Returns how many there are; the first `capacity` of them are in `voxels` (NULL
 * when that is 0). Allocates nothing; the work grows with what is near. Thread: any. */
FLR_API uint64_t flr_query_near_voxels(const flr_near_voxels_def *def, flr_near_voxel *voxels,
                                       uint64_t capacity);

#ifdef __cplusplus
}
#endif
#endif
