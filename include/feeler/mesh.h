/* feeler/mesh.h: a part as welded, indexed triangles, in its own frame, in metres.
 *
 * A mesh is immutable once made: read from a file (feeler/mesh_io.h), imported from
 * a foreign format (feeler/import.h) or created from arrays (flr_mesh_create). It is
 * kept as it came: open borders, flipped, zero-area and doubled triangles stay in it,
 * because voxels do not mind them; feeler/check.h tells what is wrong in words.
 *
 * Guarantees of every mesh, whoever made it:
 *   - at least one triangle; every index below vertex_count; every vertex used;
 *   - every coordinate finite and at most FLR_MESH_MAX_COORDINATE metres from the origin;
 *   - no two vertices equal (welded); -0 is stored as +0;
 *   - vertices are numbered in the order in which the triangles first use them, so equal
 *     triangles in equal order give equal meshes, whatever the file format;
 *   - the groups cover all triangles, in order, without gap or overlap.
 *
 * Thread: any; a mesh may be shared by all threads. Nothing here is RT safe.
 */
#ifndef FEELER_MESH_H
#define FEELER_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/hash.h"
#include "feeler/math.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLR_MESH_MAX_COORDINATE 1e9 /* metres; farther out is taken for a broken file */

/* Three indices into the vertices, counter-clockwise seen from outside. */
typedef struct flr_triangle {
    uint32_t v[3];
} flr_triangle;

/* A named run of triangles: a solid of an STL file, a group of an OBJ file, a part of a
 * STEP assembly. A file that names nothing has one group with an empty name. */
typedef struct flr_mesh_group {
    uint32_t name; /* offset into the mesh's names, zero-terminated UTF-8 */
    uint32_t first_triangle;
    uint32_t triangle_count; /* may be 0 */
    flr_pose T_mesh_group;   /* where the part's own frame lies in the mesh's frame; identity
                                 where the format has no placements. The vertices are stored in
                                 the mesh's frame, that is with the placement applied. */
} flr_mesh_group;

/* Read the fields freely; change none. */
typedef struct flr_mesh {
    const flr_vec3 *vertices;      /* [vertex_count], metres */
    const flr_triangle *triangles; /* [triangle_count] */
    const flr_mesh_group *groups;  /* [group_count] */
    const char *names;             /* [names_size], zero-terminated strings one after another */
    uint32_t vertex_count;
    uint32_t triangle_count;
    uint32_t group_count;
    uint32_t names_size;
    flr_box3 bounds; /* of all vertices, metres */
    flr_hash hash;   /* of vertices and triangles; zero: not known, see flr_mesh_hash() */
} flr_mesh;

/* What flr_mesh_create() makes a mesh of. All pointers are borrowed during the call. */
typedef struct flr_mesh_def {
    const flr_vec3 *vertices; /* need not be welded or all be used */
    uint32_t vertex_count;
    /* NULL: vertices come in threes, and triangle_count is ignored */
    const flr_triangle *triangles;
    uint32_t triangle_count;
    const flr_mesh_group *groups; /* NULL: one unnamed group */
    uint32_t group_count;
    const char *names; /* NULL when groups is NULL */
    uint32_t names_size;
    double scale; /* metres per unit of the vertices; default 1 */
    double weld;  /* metres; default 0: only equal vertices become one. Else 1e-15 to 1e9: in the
                     order of first use, a vertex joins the nearest one kept so far within this
                     distance, or is kept itself. So no corner moves farther than this, and the
                     outcome is always the same. Triangles that lose their area stay. */
} flr_mesh_def;

/* A definition with all fields at their defaults. */
FLR_API flr_mesh_def flr_default_mesh_def(void);

/* Checks, scales, welds and copies. Fails with FLR_BAD_INPUT on an index out of range, a
 * coordinate that is not finite or too far out, groups that do not cover the triangles, and
 * on no triangles at all; with FLR_NO_MEMORY. On success the caller owns `*mesh`. */
FLR_API flr_result flr_mesh_create(const flr_mesh_def *def, flr_mesh **mesh, flr_error *error);

/* Frees a mesh; NULL allowed. */
FLR_API void flr_mesh_destroy(flr_mesh *mesh);

/* A new mesh of one group's triangles alone, moved into the group's own frame. */
FLR_API flr_result flr_mesh_extract_group(const flr_mesh *mesh, uint32_t group, flr_mesh **part,
                                          flr_error *error);

/* The group's name; "" when it has none. Never NULL. */
FLR_API const char *flr_mesh_group_name(const flr_mesh *mesh, uint32_t group);

/* The hash of vertices and triangles: equal shapes in equal order hash equal, whatever file
 * they came from. Groups and names do not count. */
FLR_API flr_hash flr_mesh_hash(const flr_mesh *mesh);

#ifdef __cplusplus
}
#endif
#endif
