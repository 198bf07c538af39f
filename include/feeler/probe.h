/* feeler/probe.h: touching a mesh with a point: exact segment queries and the proxy.
 *
 *   probe  the first triangle that a segment hits
 *   proxy  force rendering for a point tool
 */
#ifndef FEELER_PROBE_H
#define FEELER_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"
#include "feeler/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== probe ================================================================================== */

/* Where does a segment first meet a mesh?
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
    bool shading;  /* keep normals for force shading (feeler/probe.h); default false */
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

/* ==== proxy ================================================================================== */

/* What a hand feels that touches a mesh with a point.
 *
 * The hand may go anywhere, also into the part; its proxy may not (god-object, Zilles and Salisbury
 * 1995). In free space the proxy is where the hand is. At a surface it stays outside, as near to
 * the hand as the surface allows, slides along faces, around convex edges and into concave ones,
 * and a spring pulls the hand towards it.
 *
 * What holds, however fast the hand moves: the proxy goes from where it was to where it will be
 * along straight lines, each of which was asked for (flr_probe_any) and hits no triangle, its ends
 * included. So it never passes a surface and never lies on or in one; it stays off by 1e-8 of the
 * mesh's size, or less where there is no room for that. Sheets have two sides; the side from which
 * the proxy comes is the outside.
 *
 * Friction keeps the proxy from following at once: it stays while the way it would slide is shorter
 * than the static coefficient times the depth of the hand, else it stops short of its goal by the
 * dynamic coefficient times the depth. Force shading (Morgenbesser and Srinivasan 1996) turns the
 * force as if the surface were curved: facets are no longer felt, edges beyond the crease angle
 * still are.
 *
 * All in the mesh's frame, SI units.
 */

enum {
    FLR_PROXY_CONTACTS = 3, /* faces that hold the proxy at once, at most */
    FLR_PROXY_QUERIES = 48  /* segments asked in one frame, at most */
};

/* May change from frame to frame. Fill with flr_default_proxy_params(). */
typedef struct flr_proxy_params {
    double stiffness;        /* N/m; default 1000 */
    double static_friction;  /* coefficient, >= 0; default 0 */
    double dynamic_friction; /* coefficient, 0 to static_friction; default 0 */
    bool shading; /* default false; needs a model made with shading, else changes nothing */
} flr_proxy_params;

FLR_API flr_proxy_params flr_default_proxy_params(void);

/* A proxy between two frames. Plain data; begin with flr_proxy_none(). One per hand and model. */
typedef struct flr_proxy {
    flr_vec3 position; /* metres; only when placed */
    bool placed;       /* false: the next frame puts it where the hand is */
    bool touching;     /* after the last frame */
} flr_proxy;

static inline flr_proxy flr_proxy_none(void)
{
    flr_proxy proxy = {{0, 0, 0}, false, false};
    return proxy;
}

/* What one frame gave. */
typedef struct flr_proxy_result {
    flr_vec3 position; /* of the proxy, metres */
    flr_vec3 force;    /* N, on the hand: towards the proxy */
    flr_vec3 normal;   /* unit, away from the surface, as felt; zero when nothing touches */
    double
        depth; /* metres from the hand to the surface where the proxy would be without friction */
    bool touching; /* something keeps the proxy from the hand */
    bool sticking; /* friction holds it */
    bool valid;    /* false: the hand is not finite or beyond 1e9 m; the proxy stays, no force */
    uint32_t contact_count;
    uint32_t triangles[FLR_PROXY_CONTACTS]; /* [contact_count]: what holds it */
    uint32_t queries;                       /* segments asked */
} flr_proxy_result;

/* One frame: the hand is at `hand`. The first time the proxy is put there, wherever that is; inside
 * a part, it feels the part from inside; exactly on a triangle, it is moved off by 1e-8 of the
 * size. A model without triangles touches nothing. Thread: any; RT safe. */
FLR_API void flr_proxy_step(flr_proxy *proxy, const flr_probe_model *model, flr_vec3 hand,
                            const flr_proxy_params *params, flr_proxy_result *result);

#ifdef __cplusplus
}
#endif
#endif
