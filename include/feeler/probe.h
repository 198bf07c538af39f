/* feeler/probe.h: where does a segment first meet a mesh?
 *
 * A probe is a point: the tip of a force device, of a stylus, of a mouse ray. Between two frames it
 * sweeps a short segment, and the question is whether that segment meets the triangles, and where
 * first (H-COLLIDE, Gregory et al. 1999). The answer is for the exact triangles, not for voxels.
 *
 * The mesh is made ready once (flr_probe_model_create) by one of three methods, all of which give
 * the same answers:
 *
 *     grid     a hash table of cells, each with the triangles in it
 *     tree     a tree of tight oriented boxes
 *     hybrid   a hash table of cells, where crowded cells hold trees
 *
 * What is a hit. Segment and triangles are closed sets of points; the coordinates are taken as they
 * are, and the test is exact: a segment meets a triangle, its edges and corners included, or it
 * does not. So no crack lets a probe through, and every answer equals flr_probe_reference(), which
 * compares with all triangles one by one. Of several hits the one with the least t counts; where t
 * is the same, the one with the lowest number. A segment within the plane of a triangle hits where
 * it enters it. A triangle without area is never hit. A segment of no length is a point: it hits
 * what it lies on. A segment with a coordinate that is not finite hits nothing; so does every
 * segment where there are no triangles.
 *
 * Ends farther than about 1e12 cells from the mesh cost as much as the reference: there, double
 * precision cannot tell which cells a segment passes.
 *
 * All coordinates are in the mesh's frame, metres.
 */
#ifndef FEELER_PROBE_H
#define FEELER_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/result.h"
#include "feeler/simd.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum flr_probe_method {
    FLR_PROBE_BEST, /* what is measured as fastest: the grid */
    FLR_PROBE_GRID,
    FLR_PROBE_TREE,
    FLR_PROBE_HYBRID
} flr_probe_method;

/* A mesh made ready to be probed. Does not change: may be shared by all threads. */
typedef struct flr_probe_model flr_probe_model;

typedef struct flr_probe_def {
    const flr_mesh *mesh; /* borrowed as long as the model lives; NULL: no triangles */
    flr_probe_method method;
    /* metres: edge of a cell; default 0: twice the mean length of the mesh's edges, larger where
     * large triangles would lie in too many cells, and at least 1/88 of the mesh. A grain that
     * gives more than 1024 cells along an axis is made larger */
    double grain;
    flr_simd simd; /* default best */
    bool shading;  /* keep normals for force shading (feeler/proxy.h); default false */
    double crease; /* radians: edges sharper than this stay sharp under shading; default 0.7 */
} flr_probe_def;

FLR_API flr_probe_def flr_default_probe_def(void);

/* Fails with FLR_NO_MEMORY, with FLR_TOO_LARGE from 2^31 triangles in cells on, with
 * FLR_BAD_ARGUMENT for a grain that is negative or no number, and with FLR_UNSUPPORTED when the
 * processor lacks the instructions asked for. On success the caller owns `*model`. Not RT safe. */
FLR_API flr_result flr_probe_model_create(const flr_probe_def *def, flr_probe_model **model,
                                          flr_error *error);
FLR_API void flr_probe_model_destroy(flr_probe_model *model); /* NULL allowed */

/* What was made. */
typedef struct flr_probe_info {
    flr_probe_method method; /* never FLR_PROBE_BEST */
    const char *simd;        /* "scalar", "AVX2" or "AVX-512" */
    double grain;            /* metres; 0 for a tree */
    size_t bytes;            /* all it holds, without the mesh */
    uint32_t cells;          /* that hold triangles; 0 for a tree */
    uint32_t nodes;          /* of trees, 16 boxes each */
    uint64_t references;     /* triangles in cells or leaves; a triangle may count several times */
    uint32_t fullest;        /* triangles in the fullest cell */
} flr_probe_info;

/* Thread: any; RT safe. */
FLR_API flr_probe_info flr_probe_model_info(const flr_probe_model *model);
FLR_API const flr_mesh *flr_probe_model_mesh(const flr_probe_model *model); /* may be NULL */
/* metres: the diagonal of the mesh's box; 0 without triangles. */
FLR_API double flr_probe_model_size(const flr_probe_model *model);

#define FLR_PROBE_NONE UINT32_MAX /* no triangle */

typedef struct flr_probe_hit {
    double t;          /* 0 at the start, 1 at the end; exact to 1e-8 */
    flr_vec3 point;    /* start + t (end - start) */
    flr_vec3 normal;   /* of the triangle, unit, as its corners turn */
    uint32_t triangle; /* number in the mesh */
} flr_probe_hit;

/* What one probe remembers from frame to frame (section 3.2 of the paper): the triangle it hit
 * last, which flr_probe_any() looks at first unless the segment is short. It changes the time,
 * never the answer. Begin with flr_probe_witness_none(). One per probe. */
typedef struct flr_probe_witness {
    uint32_t triangle;
} flr_probe_witness;

static inline flr_probe_witness flr_probe_witness_none(void)
{
    flr_probe_witness witness = {FLR_PROBE_NONE};
    return witness;
}

/* The first hit on the way from a to b. `hit` is untouched without one. `witness` and `hit` may be
 * NULL. Thread: any; RT safe. */
FLR_API bool flr_probe_first(const flr_probe_model *model, flr_vec3 a, flr_vec3 b,
                             flr_probe_witness *witness, flr_probe_hit *hit);

/* Is there any hit? Faster than the first one. Thread: any; RT safe. */
FLR_API bool flr_probe_any(const flr_probe_model *model, flr_vec3 a, flr_vec3 b,
                           flr_probe_witness *witness);

/* One update of a haptic loop, as section 5.1 of the paper describes it. */
typedef struct flr_probe_contact {
    bool collision;      /* the way from `last` to `now` meets a triangle */
    flr_probe_hit first; /* which, where; only with a collision */
    /* surface contact point: `now` projected onto the plane of that triangle, lifted to the side of
     * `last` by 1e-9 of the mesh's size; only with a collision */
    flr_vec3 surface;
    bool intersection;  /* the way from `last` to `surface` meets a triangle in its turn */
    flr_probe_hit next; /* which, where; only with an intersection */
} flr_probe_contact;

/* The collision query from `last` to `now`, and where it hits, the intersection query from `last`
 * to the surface contact point. `witness` may be NULL. Thread: any; RT safe. */
FLR_API flr_probe_contact flr_probe_touch(const flr_probe_model *model, flr_vec3 last, flr_vec3 now,
                                          flr_probe_witness *witness);

/* Compares with every triangle, and is there to be compared with. `mesh` may be NULL. Thread: any;
 * RT safe, but slow. */
FLR_API bool flr_probe_reference(const flr_mesh *mesh, flr_vec3 a, flr_vec3 b, flr_probe_hit *hit);

#ifdef __cplusplus
}
#endif
#endif
