/* feeler/query.h: what else can be asked of parts that stand near each other.
 *
 * From a contact query (feeler/contact.h): do the parts meet, and along which normals do they
 * touch? From the voxels alone: how near is each vertex of a displayed mesh, for its colour; which
 * surface voxels of the surroundings are near a moving part?
 *
 * The exact distance with nearest points and features is in feeler/gauge.h, the centre of mass in
 * feeler/mass.h, the volume that a part sweeps in feeler/sweep.h; docs/queries.md has them all in
 * one table.
 *
 * Thread: see each function.
 */
#ifndef FEELER_QUERY_H
#define FEELER_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/contact.h"
#include "feeler/exact.h"
#include "feeler/gauge.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/result.h"
#include "feeler/voxmap.h"

#ifdef __cplusplus
extern "C" {
#endif

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
