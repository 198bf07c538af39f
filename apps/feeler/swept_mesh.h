/* swept_mesh.h: the space that parts take while joints move, as a mesh.
 *
 * Each part that moves is swept through voxels (feeler/merge.h), and the border of these becomes a closed mesh: one for each part,
 * all in one file. The mesh is never farther than the tolerance from the space that is swept, and leaves out nothing of it but
 * what the part takes between two places, a quarter of a voxel. */
#ifndef FLR_SWEPT_MESH_H
#define FLR_SWEPT_MESH_H

#include "feeler/mesh.h"
#include "feeler/voxels.h"
#include "world/joint_sweep.h"

typedef struct flr_swept_mesh_def {
    flr_env *env;
    const flr_joint_sweep_def *sweep;
    const flr_mesh *const *meshes; /* [part_count] */
    uint32_t stages;               /* of the sweep; the last one up to `share` */
    double share;
    double tolerance; /* metres */
    const char *path; /* ends in .stl, .ply, .obj or .glb */
} flr_swept_mesh_def;

typedef struct flr_swept_mesh_report {
    size_t triangles;
    double volume; /* m^3: of all parts, each by itself */
    double error;  /* metres: the mesh is no farther than this from what is swept */
} flr_swept_mesh_report;

flr_result flr_swept_mesh_write(const flr_swept_mesh_def *def, flr_swept_mesh_report *report,
                                flr_error *error);

/* The edge of voxels whose border is within the tolerance of what is swept, in steps of half a voxel. */
double flr_swept_mesh_voxel(double tolerance);

/* Writes the border of a swept volume of such voxels as a mesh. */
flr_result flr_swept_mesh_of(flr_env *env, const char *path, const flr_voxmap *swept,
                             size_t *triangles, flr_error *error);

/* Does a name end as a mesh that can be written does? */
bool flr_swept_mesh_is_name(const char *path);

/* The border of the surface and interior of a voxmap as a mesh, added to growing arrays; free() them. */
typedef struct flr_border {
    flr_vec3 *vertices;
    uint32_t (*triangles)[3];
    size_t vertex_count, vertex_room, triangle_count, triangle_room;
} flr_border;

/* Writes a binary glTF file with one mesh, in metres, y up as the format has it. */
flr_result flr_glb_write(flr_env *env, const char *path, const flr_border *border,
                         flr_error *error);

#endif
