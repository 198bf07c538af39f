/* feeler/assembly.h: a file of several parts, as a tree of placed shapes.
 *
 * CAD programs write assemblies: a tree of named nodes, each with a placement, some with a shape.
 * A shape that stands in several places is stored once. flr_assembly_open() reads such a file:
 *
 *     flr_assembly *gearbox;
 *     if (flr_assembly_open(flr_env_real(), "gearbox.step", NULL, &gearbox, NULL, &error) == FLR_OK)
 *         for (uint32_t i = 0; i < gearbox->node_count; i++)
 *             printf("%s\n", gearbox->nodes[i].name);
 *
 *   STEP, IGES             nodes, names, placements, shared shapes, colours, hidden parts
 *   glTF, DAE, FBX, X3D,   the same, but nothing is hidden
 *   3MF
 *   BREP, 3DS, …           one node per object
 *   STL, OBJ, PLY          one node per solid or group
 *
 * flr_mesh_open() of feeler/mesh.h reads the same files as one mesh with a group per placed part.
 *
 * Thread: any; an assembly may be shared by all threads. Nothing here is RT safe.
 */
#ifndef FEELER_ASSEMBLY_H
#define FEELER_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"
#include "feeler/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLR_ASSEMBLY_NONE UINT32_MAX

typedef enum flr_axis { FLR_AXIS_NONE, FLR_AXIS_X, FLR_AXIS_Y, FLR_AXIS_Z } flr_axis;

/* A node of the tree. It may have a shape, children, both or neither (an empty assembly). */
typedef struct flr_assembly_node {
    const char *name; /* as in the file, UTF-8 without control characters; "" when it has none */
    uint32_t parent;  /* an earlier node; FLR_ASSEMBLY_NONE: a root */
    uint32_t shape;   /* index into the shapes; FLR_ASSEMBLY_NONE: none of its own */
    uint32_t colour;  /* 0xRRGGBB, sRGB; FLR_ASSEMBLY_NONE: the file states none */
    bool hidden;      /* the file hides it, or a node above it */
    flr_pose T_root_node; /* where the shape's frame lies in the file's frame; metres. A mirrored or
                             sheared node keeps its position, and the rest is in its shape. */
} flr_assembly_node;

/* Read the fields freely; change none. */
typedef struct flr_assembly {
    const flr_assembly_node *nodes; /* [node_count], parents before children */
    uint32_t node_count;
    uint32_t part_count;     /* nodes with a shape: at least one */
    flr_mesh *const *shapes; /* [shape_count], each in its own frame; hash is filled */
    uint32_t shape_count;
    flr_axis up;              /* what the file says is up; FLR_AXIS_NONE: it does not say */
    const char *const *notes; /* [note_count]: what was left out, one sentence each */
    uint32_t note_count;
} flr_assembly;

/* Reads a file of any format that feeler knows. `options` NULL: defaults; `report` may be NULL.
 * Faces that cannot be meshed are healed or left out; the notes list them. Fails as
 * flr_mesh_open() does. On success the caller owns `*assembly`. */
FLR_API flr_result flr_assembly_open(flr_env *env, const char *path,
                                     const flr_mesh_options *options, flr_assembly **assembly,
                                     flr_mesh_report *report, flr_error *error);

/* Frees an assembly; NULL allowed. */
FLR_API void flr_assembly_destroy(flr_assembly *assembly);

/* One mesh of all parts where they stand, a group each, as flr_mesh_open() returns it. Parts of equal
 * name are numbered: "bolt:1", "bolt:2". `weld`: as in flr_mesh_def; `limit`: bytes that vertices and
 * triangles may take, else FLR_TOO_LARGE. On success the caller owns `*mesh`. */
FLR_API flr_result flr_assembly_mesh(const flr_assembly *assembly, double weld, uint64_t limit,
                                     flr_mesh **mesh, flr_error *error);

/* The axis that is most likely up: what the file says; else y where the whole is far shorter along
 * y than along both others, since machines are seldom higher than wide; else z. */
FLR_API flr_axis flr_assembly_likely_up(const flr_assembly *assembly);

/* The turn that brings `up` to z; FLR_AXIS_NONE and FLR_AXIS_Z: none. RT safe. */
FLR_API flr_quat flr_axis_upright(flr_axis up);

#ifdef __cplusplus
}
#endif
#endif
