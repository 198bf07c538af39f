/* feeler/voxels.h: a part as voxels and as surface points, and the exact distance to its mesh.
 *
 *   voxmap    a part as voxels with distances
 *   shell     a part as surface points
 *   exact     exact distance to a mesh
 *   voxelize  from a mesh to voxels and points
 */
#ifndef FEELER_VOXELS_H
#define FEELER_VOXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/mesh_check.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== voxmap ================================================================================= */

/* A part as voxels: interior, surface, and free space marked with distance.
 *
 * A voxmap is built from a mesh at a voxel size by flr_voxelize() (feeler/voxels.h). Every voxel
 * that a triangle touches is a surface voxel; what cannot be reached from outside is interior; free
 * voxels near the surface are marked with their chessboard distance to it. The marks:
 *
 *     0      free, beyond the field
 *     1      interior
 *     2      surface
 *     2 + d  free, at chessboard distance d from the nearest surface voxel, 1 <= d <= range
 *
 * With 2 bits: 0 free, 1 interior, 2 surface, 3 proximity (the free neighbours of the surface).
 * There the force layer cannot be chosen when asking, so it is built in: with an offset of k
 * layers, "surface" stands for the free voxels at distance k and everything nearer is "interior"
 * (1999, section 4.2). The edge and vertex fields are the same with "voxel touched by a feature
 * edge" or "… vertex" in place of "surface voxel" (see feeler/mesh_check.h); surface voxels too far
 * from an edge have mark 0 there.
 *
 * What a mark promises: for a point in a voxel marked 2 + d of the surface field, the exact surface
 * is at least (d - 1) voxels and at most sqrt(3) (d + 1) voxels away.
 *
 * A voxmap is one block without pointers: what is built, what lies in a cache file and what is
 * mapped back are the same bytes. It is immutable and may be shared by all threads.
 *
 * Thread: any. Queries are RT safe; building, saving and opening are not.
 */

typedef struct flr_voxmap flr_voxmap;

typedef enum flr_field {
    FLR_FIELD_SURFACE,
    FLR_FIELD_EDGE,
    FLR_FIELD_VERTEX,
    FLR_FIELD_COUNT
} flr_field;

enum {
    FLR_MARK_FREE = 0,
    FLR_MARK_INTERIOR = 1,
    FLR_MARK_SURFACE = 2,
    FLR_RANGE_DEFAULT = 8,
    FLR_RANGE_MAX_4BIT = 13,
    FLR_RANGE_MAX_8BIT = 253
};

/* What the building found. Plain data. */
typedef struct flr_voxmap_stats {
    uint64_t triangles, polygons;
    uint64_t surface_voxels, edge_voxels, vertex_voxels; /* an edge voxel is a surface voxel, too */
    uint64_t interior_voxels;
    uint64_t field_voxels;            /* free voxels with a mark in the surface field */
    uint64_t chunks[FLR_FIELD_COUNT]; /* stored, per field */
    uint64_t hyperchunks;             /* touched by the mesh */
    uint64_t bytes;                   /* of the whole block */
} flr_voxmap_stats;

/* Frees or unmaps it; NULL allowed. */
FLR_API void flr_voxmap_destroy(flr_voxmap *voxmap);

/* The mark of the voxel that holds a point (metres, voxmap's frame). Points outside the grid and
 * points that are not finite are free (0). RT safe. */
FLR_API unsigned flr_voxmap_mark(const flr_voxmap *voxmap, flr_field field, flr_vec3 point);

/* The mark of voxel (x, y, z); free when out of range. RT safe. */
FLR_API unsigned flr_voxmap_mark_at(const flr_voxmap *voxmap, flr_field field, int64_t x, int64_t y,
                                    int64_t z);

/* What was asked for and what was found. RT safe. */
typedef struct flr_voxmap_info {
    flr_vec3 origin;  /* low corner of voxel (0, 0, 0), metres, voxmap's frame */
    double voxel;     /* metres */
    uint64_t size[3]; /* voxels */
    unsigned bits, range, offset;
    bool features, hollow;
    flr_pose T_voxmap_mesh;
    flr_hash mesh_hash;
    flr_voxmap_stats stats;
} flr_voxmap_info;

FLR_API flr_voxmap_info flr_voxmap_get_info(const flr_voxmap *voxmap);

/* ==== shell ================================================================================== */

/* A part as surface points: what touches the voxels of another part.
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

/* The inward unit normal behind a packed one. The sphere is folded onto a square (octahedral map),
 * 16 bits each way: the error is below 0.005 degrees. */
FLR_API flr_vec3 flr_shell_normal(uint32_t packed);

/* A point's place, metres, part's frame, moved by `displacement` metres along its outward normal
 * (0: as it is). */
static inline flr_vec3 flr_shell_point(const flr_shell *shell, uint32_t chunk, uint32_t point,
                                       double displacement)
{
    const flr_shell_chunk *c = &shell->chunks[chunk];
    flr_vec3 p = flr_vec3_make((double)c->corner[0] + (double)shell->step * shell->x[point],
                               (double)c->corner[1] + (double)shell->step * shell->y[point],
                               (double)c->corner[2] + (double)shell->step * shell->z[point]);
    if (displacement == 0) return p;
    return flr_vec3_add_scaled(p, -displacement, flr_shell_normal(shell->normal[point]));
}
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

/* ==== exact ================================================================================== */

/* The exact distance to a mesh, where the marks of its voxmap are too coarse.
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

/* ==== voxelize =============================================================================== */

/* From triangles to voxels and surface points.
 *
 *     flr_voxelize_def def = flr_default_voxelize_def();
 *     def.voxel = 0.001;
 *     flr_voxelize(env, mesh, &def, &voxmap, &shell, NULL, &error);
 *
 * The same mesh and parameters give the same bytes, whatever the number of threads, the compiler or
 * the instruction set.
 *
 * Thread: any; not RT safe.
 */

/* What to build and how. Fill with flr_default_voxelize_def(), then change what you need. */
typedef struct flr_voxelize_def {
    double voxel; /* metres; must be given */
    /* where the mesh lies in the voxmap's frame; default identity: its own */
    flr_pose T_voxmap_mesh;
    unsigned bits;  /* 2, 4 (default) or 8 */
    unsigned range; /* voxels of distance marked: default 8; with 2 bits always 1 */
    /* with 2 bits: layers by which the force layer lies outside the surface, 0 … 7; default 0 */
    unsigned offset;
    /* edge and vertex fields, labels of points; default true. false: every point is a vertex, to be
     * tested against the surface */
    bool features;
    bool hollow;      /* no interior: what is inside is free; default false */
    bool on_surface;  /* move the shell's points onto the exact surface; default false */
    unsigned threads; /* 0: one per processor */
    /* bytes; refuse before work begins if more would be needed; 0: what the machine has;
     * UINT64_MAX: no limit, as after flr_voxelize_estimate(). flr_voxelize_file() keeps to it
     * instead */
    uint64_t memory_limit;
    /* Called often, from the calling thread, with the part of the work done, 0 … 1, and what is
     * being done ("features", "triangles", "interior", "chunks", "points", "done"); return false to
     * stop with FLR_CANCELLED. May be NULL. */
    bool (*progress)(void *context, double done, const char *stage);
    void *context;
} flr_voxelize_def;

FLR_API flr_voxelize_def flr_default_voxelize_def(void);

/* What it will take, roughly and rather too much. Plain data. */
typedef struct flr_voxelize_needs {
    uint64_t memory; /* bytes at the peak, without the mesh */
    uint64_t result; /* bytes of voxmap and shell in the end */
} flr_voxelize_needs;

/* Checks everything that flr_voxelize() checks before it begins, and fails as that does; else says
 * what the work will take. Looks at every triangle once. */
FLR_API flr_result flr_voxelize_estimate(const flr_mesh *mesh, const flr_voxelize_def *def,
                                         flr_voxelize_needs *needs, flr_error *error);

/* What happened. Plain data. */
typedef struct flr_voxelize_report {
    flr_voxmap_stats voxels;
    struct {
        double features, scan, fill, fields, shell, total;
    } seconds;
} flr_voxelize_report;

/* Builds a voxmap, a shell, or both (the one whose pointer is NULL is left out). Fails with
 * FLR_BAD_ARGUMENT (a parameter out of range), FLR_TOO_LARGE (with an estimate and a voxel size
 * that would do), FLR_NO_MEMORY, FLR_CANCELLED. The mesh is borrowed during the call only. On
 * success the caller owns what was built. `report` may be NULL. */
FLR_API flr_result flr_voxelize(flr_env *env, const flr_mesh *mesh, const flr_voxelize_def *def,
                                flr_voxmap **voxmap, flr_shell **shell, flr_voxelize_report *report,
                                flr_error *error);

/* Builds straight into a voxel file (feeler/voxel_file.h), slab by slab, for voxels that are larger
 * than memory: the same bytes as flr_voxelize() and flr_voxfile_write() give. It keeps to
 * `def->memory_limit` (0: half of what the machine has), the mesh included; what that is least is
 * the mesh, its features and about 1.5 kB for each hyperchunk of the surface. `shell`: with points.
 * Beside the file a temporary one takes about 2 bytes per surface voxel during the work. The file
 * appears whole or not at all, and nothing is left behind on failure. Fails as flr_voxelize() does,
 * with FLR_TOO_LARGE only where the least does not fit, and with FLR_IO, which says how much the
 * disk would have to hold. `report` may be NULL. */
FLR_API flr_result flr_voxelize_file(flr_env *env, const flr_mesh *mesh,
                                     const flr_voxelize_def *def, const char *path, bool shell,
                                     flr_voxelize_report *report, flr_error *error);

/* A shell from the free voxels at distance `layer` (1 … the voxmap's range): for more clearance
 * than the force layer gives (2005, section 3.2). `exact` is that of the voxmap's mesh, for the
 * normals. Both are borrowed during the call. FLR_BAD_ARGUMENT for another layer or a voxmap with
 * an offset; FLR_TOO_LARGE, FLR_NO_MEMORY. */
FLR_API flr_result flr_shell_from_layer(const flr_voxmap *voxmap, const flr_exact *exact,
                                        unsigned layer, flr_shell **shell, flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
