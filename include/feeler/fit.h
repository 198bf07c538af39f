/* feeler/fit.h: exact contact geometry of tight fits.
 *
 * Voxels say where to look; this says how far away something is. A fit is made of a mesh once:
 *
 *     flr_fit_build(bolt, NULL, &a, &error);
 *     flr_fit_build(nut, NULL, &b, &error);
 *     flr_fit_pair_create(a, b, &pair, &error);
 *     flr_fit_pair_query(pair, T_a_b, NULL, contacts, 4096, &r);
 *     printf("%g m apart\n", r.distance);
 *
 * A fit holds
 *   triangles   as in the mesh, sorted into a tree of boxes, in double precision
 *   samples     points on the exact surface: every vertex, and as many points along edges and on
 *               faces as `spacing` asks for. Each stands for a piece of the surface; the areas of
 *               all samples add up to the area of the mesh, so a sum over samples depends neither on
 *               voxels nor on how finely a face is triangulated
 *   patches     flat pieces of at most 16 triangles, with a tree of boxes above: what a query compares
 *
 * All distances are those to the triangles themselves, in double precision: they equal what
 * flr_fit_reference_point() and flr_fit_reference_pair() find by comparing everything with
 * everything, up to the `error` reported with each of them (about 1e-15 of the part's size).
 *
 * Inside. A distance is negative inside a part. Inside is where the winding number of the mesh is
 * more than one half, in either direction: closed meshes have the inside that one expects, whichever
 * way their triangles turn, if all turn alike; doubled triangles and shells that overlap or cross
 * change nothing; a hole is closed by the surface from which it covers half of what there is to
 * see. A mesh that encloses nothing, such as a single triangle, has no inside: all its distances are
 * positive.
 *
 * Frames: everything about a fit is in the frame of its mesh, everything about a pair in the frame
 * of part a. Metres and radians.
 *
 * Thread: a fit does not change and may be shared by all threads; a pair belongs to one thread at a
 * time. Building, loading and destroying are not RT safe; queries are, with a limit of work.
 */
#ifndef FEELER_FIT_H
#define FEELER_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/mesh_check.h"
#include "feeler/voxel_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- fits ---- */

typedef struct flr_fit flr_fit;

/* How to build. Fill with flr_default_fit_def(). */
typedef struct flr_fit_def {
    /* metres: no point of the surface is farther than this from its nearest sample, along edges and
     * on faces; default 0: 1/40 of the diagonal of the part's box. Large faces get larger spacings
     * where there would be more than 2^20 samples beside the vertices; flr_fit_info tells */
    double spacing;
    unsigned threads; /* default 0: one per processor. Does not change the result */
    /* called now and then with 0 … 1; false: stop with FLR_CANCELLED. May be NULL */
    bool (*progress)(void *context, double done);
    void *progress_context;
} flr_fit_def;

FLR_API flr_fit_def flr_default_fit_def(void);

/* Builds. `mesh` is borrowed during the call only; `def` NULL: defaults. Fails with FLR_NO_MEMORY,
 * FLR_CANCELLED, and FLR_BAD_ARGUMENT for a spacing that is negative or no number. On success the
 * caller owns `*fit`. */
FLR_API flr_result flr_fit_build(const flr_mesh *mesh, const flr_fit_def *def, flr_fit **fit,
                                 flr_error *error);
FLR_API void flr_fit_destroy(flr_fit *fit); /* NULL allowed */

/* Writes a fit to a file, which appears whole or not at all. */
FLR_API flr_result flr_fit_write(flr_env *env, const char *path, const flr_fit *fit,
                                 flr_error *error);
/* Reads one. All checksums and all indices are checked: FLR_BAD_INPUT for a file that is damaged, of
 * another version or something else. On success the caller owns `*fit`. */
FLR_API flr_result flr_fit_read(flr_env *env, const char *path, flr_fit **fit, flr_error *error);

/* What flr_fit_open() did. Plain data. */
typedef struct flr_fit_report {
    bool found;                              /* read from the cache, not built */
    bool stored;                             /* built and put into the cache */
    char broken[FLR_ERROR_MESSAGE_SIZE];     /* what was wrong with the file that was there; "" */
    char not_stored[FLR_ERROR_MESSAGE_SIZE]; /* why it was not put into the cache; "" */
} flr_fit_report;

/* What flr_fit_build() does, by way of the cache (feeler/voxel_file.h): reads the file when it is there and
 * sound, else builds and stores it. The name follows from mesh, definition and format. `cache` NULL or
 * without folder: builds. A cache that cannot be written is no failure. `report` may be NULL. */
FLR_API flr_result flr_fit_open(flr_env *env, const flr_cache *cache, const flr_mesh *mesh,
                                const flr_fit_def *def, flr_fit **fit, flr_fit_report *report,
                                flr_error *error);

/* A point of the surface and the piece of it that it stands for. */
typedef struct flr_fit_sample {
    flr_vec3 point;
    double area;       /* square metres; 0 for vertices of triangles without area */
    double radius;     /* metres: its piece of the surface reaches no farther from it */
    uint32_t triangle; /* one on which it lies */
    uint32_t vertex;   /* of the mesh, when it is one; else FLR_NONE */
} flr_fit_sample;

/* What was built. RT safe. */
typedef struct flr_fit_info {
    uint32_t triangles, vertices;
    uint32_t samples;
    uint32_t patches; /* of at most 16 triangles */
    double spacing;   /* metres, as it came out */
    double area;      /* square metres, of all triangles */
    double size;      /* metres: the diagonal of the box */
    flr_box3 bounds;  /* metres */
    bool solid;       /* closed, without self-intersections, turned alike: fastest signs */
    size_t bytes;     /* all it holds */
    flr_hash mesh;    /* flr_mesh_hash() of what it was built from */
} flr_fit_info;

FLR_API flr_fit_info flr_fit_get_info(const flr_fit *fit);

/* The samples, flr_fit_info.samples of them, near ones near each other. They live as long as the
 * fit. RT safe. */
FLR_API const flr_fit_sample *flr_fit_samples(const flr_fit *fit);

/* The corners of a triangle, by its number in the mesh. RT safe. */
FLR_API void flr_fit_triangle(const flr_fit *fit, uint32_t triangle, flr_vec3 corners[3]);

/* ---- one point ---- */

typedef struct flr_fit_point_result {
    bool found;         /* the surface is no farther than `reach` */
    double distance;    /* metres, negative inside; INFINITY when not found */
    double error;       /* metres: the distance is off by no more than this */
    flr_vec3 direction; /* unit, the gradient of the distance: the way out of the part, or away from
                            it. On the surface itself: the normal of the triangle */
    flr_vec3 nearest;   /* on the surface */
    uint32_t triangle;  /* it lies on; of several the lowest number. FLR_NONE when not found */
} flr_fit_point_result;

/* The surface nearest to a point, no farther than `reach` metres (INFINITY allowed). A point that is
 * not finite finds nothing. RT safe, but its time is bounded by the size of the part only. */
FLR_API flr_fit_point_result flr_fit_point(const flr_fit *fit, flr_vec3 point, double reach);

/* Is a point inside? RT safe. */
FLR_API bool flr_fit_inside(const flr_fit *fit, flr_vec3 point);

/* ---- two parts ---- */

/* The queries of one pair of parts: their memory, sized when it is created, and what they remember. Poses
 * that follow each other in small steps may be measured faster than others, because a pair keeps a
 * list of what is near at a reference pose. So make one for every pair of parts, even where several pairs
 * have the same fits. */
typedef struct flr_fit_pair flr_fit_pair;

/* Both fits are borrowed as long as the pair lives. Fails with FLR_NO_MEMORY. */
FLR_API flr_result flr_fit_pair_create(const flr_fit *a, const flr_fit *b, flr_fit_pair **pair,
                                       flr_error *error);
FLR_API void flr_fit_pair_destroy(flr_fit_pair *pair); /* NULL allowed */
FLR_API size_t flr_fit_pair_bytes(const flr_fit_pair *pair);

enum { FLR_FIT_GROUPS = 16 };

/* All that a pair remembers from one query to the next follows from these numbers: the patches of b are in
 * groups, each with a list of what is near at a pose of its own. Plain data without padding: may be
 * written to a file and hashed. All zero: nothing. */
typedef struct flr_fit_track {
    flr_pose reference[FLR_FIT_GROUPS]; /* T_a_b for which each list was made */
    double cover[FLR_FIT_GROUPS]; /* metres: it holds all that is nearer than this; 0: no list */
    uint32_t nearest
        [2]; /* triangles of a and b that were nearest in the last query, plus one; 0: none */
} flr_fit_track;

/* What a pair remembers now. RT safe. */
FLR_API flr_fit_track flr_fit_pair_save(const flr_fit_pair *pair);

/* Makes a pair remember that, as if it had been asked what led there: further queries return the same
 * bits, `work` included. NULL, or a track that is not valid: the pair forgets everything. Allocates
 * nothing, but takes as long as several queries. */
FLR_API void flr_fit_pair_restore(flr_fit_pair *pair, const flr_fit_track *track);

/* What to ask. Fill with flr_default_fit_params(). */
typedef struct flr_fit_params {
    /* metres: list every sample of one part whose distance to the other is less than this; default 0:
     * those that are inside. Negative: list nothing */
    double reach;
    /* metres: the least distance matters up to here; default INFINITY. Negative: do not measure */
    double max_distance;
    /* metres: the least distance may be too large by this much; default 0: exact. Where several places
     * are within the tolerance, what the pair remembers decides which of them is returned */
    double tolerance;
    /* units of about 10 ns; default 0: as much as it takes. When it runs out, `complete` is false
     * and `lower` is what is sure */
    uint64_t budget;
    /* default false. True: the caller knows that no shell of either part lies inside the other, unless
     * the surfaces meet: an earlier query has found so, and every motion since was free. Then nobody looks
     * whether it does, which takes long for large and open meshes */
    bool outside;
} flr_fit_params;

FLR_API flr_fit_params flr_default_fit_params(void);

/* A sample near the other part. */
typedef struct flr_fit_contact {
    flr_vec3 point;   /* the sample, frame of a */
    flr_vec3 nearest; /* on the other part's surface, frame of a */
    flr_vec3 normal;  /* unit, frame of a: moved this way, b comes off a and the distance grows */
    double distance;  /* metres, negative: inside the other part */
    double error;     /* metres: the distance is off by no more than this */
    double area;      /* square metres that the sample stands for */
    uint32_t sample;  /* number in the fit that it belongs to */
    uint32_t triangle[2]; /* in a and in b: the sample's own and the nearest one */
    uint32_t side; /* 0: a sample of a; 1: of b. Where both parts are sampled finely, the areas of
                          the contacts of either side add up to the area of contact, so half of the
                          sum over both sides is the mean */
} flr_fit_contact;

typedef struct flr_fit_result {
    /* Least distance. `distance` is what to report: positive is the distance of the surfaces, between
     * the points below; 0 where they meet and no sample is inside; negative is interference: minus
     * how deep the deepest sample of either part is in the other. INFINITY: none within
     * max_distance. The true least distance lies between `lower` and `upper`; where the parts
     * interfere, these bound the depth of the deepest point of either surface. `upper` is
     * `distance` plus rounding */
    double distance, lower, upper;
    bool found;    /* nearest points are given */
    bool meet;     /* the surfaces have a point in common */
    bool complete; /* false: the budget ran out. What was not looked at is not free: only `lower`
                          is sure, and contacts may be missing */
    flr_vec3 point
        [2]; /* nearest points (or deepest sample and its way out), on a and on b; frame of a */
    flr_vec3 normal; /* unit: moved this way, b comes off a there */
    uint32_t triangle[2];
    /* Contacts, in an order that depends on the arguments alone. More than there is room for:
     * `contact_count` are stored, `contact_total` were found */
    uint32_t contact_count, contact_total;
    uint64_t work; /* done, units of the budget */
} flr_fit_result;

/* Measures two parts and lists the samples near the other part. `T_a_b` places b in the frame of a;
 * `params` NULL: defaults; `contacts` may be NULL with `capacity` 0. A pose that is not valid finds
 * nothing and is not complete. The same arguments give the same bits whatever was asked before, but for
 * `work`, for results that are not complete, and for the choice that a tolerance leaves. */
FLR_API void flr_fit_pair_query(flr_fit_pair *pair, flr_pose T_a_b, const flr_fit_params *params,
                                flr_fit_contact *contacts, uint32_t capacity,
                                flr_fit_result *result);

/* ---- motion ---- */

/* A motion of b in the frame of a: `centre`, a point of b in its own frame, moves along a straight
 * line and b turns at constant speed about it, from one pose to the other by the shorter way. */
typedef struct flr_fit_motion {
    flr_pose from, to; /* T_a_b */
    flr_vec3 centre;   /* frame of b */
} flr_fit_motion;

typedef struct flr_fit_motion_params {
    /* metres: the parts stay as far apart as this; default 0: they do not touch. Parts that are nearer
     * at the start do not come nearer than they are, less the tolerance or half of it */
    double clearance;
    double tolerance; /* metres; default 1e-7: what a motion may stop short of the clearance */
    /* metres, default 0: on its way, no point of b is farther than this from where the motion has it. For two
     * parts that both move, whose relative motion is no straight line and no even turn. It is kept free, too:
     * triangles that are no farther apart than this at the start block the motion */
    double deviation;
    /* metres, default 0: the parts are known to be as far apart as this at the start, by a query there. It need
     * not be measured then */
    double start;
    uint64_t budget; /* as in flr_fit_params */
} flr_fit_motion_params;

FLR_API flr_fit_motion_params flr_default_fit_motion_params(void);

typedef struct flr_fit_motion_result {
    double free;       /* 0 … 1: of the motion, up to which it is proven that nothing touches */
    bool complete;     /* false: the budget ran out; `free` is sure all the same */
    bool blocked;      /* free < 1 because of the pair of triangles below */
    double distance;   /* metres: of that pair, at `free` */
    flr_vec3 point[2]; /* on a and on b, frame of a, at `free` */
    flr_vec3 normal;   /* unit: b would come off a this way */
    uint32_t triangle[2];
    /* pairs of triangles that meet at the start: they do not stop the motion, so that what overlaps
     * can be moved apart */
    uint32_t meeting;
    uint64_t work;
} flr_fit_motion_result;

/* How much of a motion is free? Rigorous at any speed: no triangle of b passes through one of a, or
 * comes within the clearance, up to the fraction returned. Sliding along a surface is no obstacle:
 * what counts is how fast each pair of triangles approaches. */
FLR_API void flr_fit_pair_motion(flr_fit_pair *pair, const flr_fit_motion *motion,
                                 const flr_fit_motion_params *params,
                                 flr_fit_motion_result *result);

/* Both at once, faster than one after the other: is a motion free, and what is near at its end? `way` gets
 * the former. When all of the motion is free, `there` gets what flr_fit_pair_query() finds at `motion->to`,
 * with `contacts`; otherwise it is empty and not complete. The budgets apply to each of them. */
FLR_API void flr_fit_pair_sweep(flr_fit_pair *pair, const flr_fit_motion *motion,
                                const flr_fit_motion_params *check, const flr_fit_params *params,
                                flr_fit_contact *contacts, uint32_t capacity,
                                flr_fit_motion_result *way, flr_fit_result *there);

/* The pose at a fraction of a motion. RT safe. */
FLR_API flr_pose flr_fit_motion_pose(const flr_fit_motion *motion, double fraction);

/* ---- motions of parts that overlap ---- */

typedef struct flr_fit_slide_def {
    flr_fit_motion motion;
    double depth; /* metres, above 0: no sample of one part gets deeper into the other than this */
    bool (*go_on)(void *context); /* asked now and then; false: stop. Default NULL */
    void *context;
} flr_fit_slide_def;

typedef struct flr_fit_slide_result {
    double
        free; /* 0 … 1: the part of the motion in which no sample is too deep; a few percent of the depth are reserved for rounding */
    bool stopped;      /* go_on() said so: nothing is known, and `free` is 0 */
    double distance;   /* metres, negative: of the sample that is too deep there; when free < 1 */
    flr_vec3 point[2]; /* on a and on b, frame of a */
    flr_vec3 normal;   /* unit: b would come off a this way */
    uint64_t work;
} flr_fit_slide_result;

/* Finds how far a part can move before it overlaps another too deeply. Nominal fits overlap where their facets deviate from the exact
 * surfaces, and slide and turn all the same. Follows every sample of both parts separately. Allocates nothing, but takes
 * too long for a real-time loop. */
FLR_API void flr_fit_slide(const flr_fit *a, const flr_fit *b, const flr_fit_slide_def *def,
                           flr_fit_slide_result *result);

/* ---- reference: everything with everything, in double precision; to be compared with. Slow ---- */

FLR_API flr_fit_point_result flr_fit_reference_point(const flr_mesh *mesh, flr_vec3 point,
                                                     double reach);
/* The winding number of a mesh around a point: 1 inside a closed mesh, 0 outside. */
FLR_API double flr_fit_reference_winding(const flr_mesh *mesh, flr_vec3 point);

/* As flr_fit_pair_query() with samples of the two fits, which were built from the two meshes. */
FLR_API void flr_fit_reference_pair(const flr_fit *a, const flr_mesh *mesh_a, const flr_fit *b,
                                    const flr_mesh *mesh_b, flr_pose T_a_b,
                                    const flr_fit_params *params, flr_fit_contact *contacts,
                                    uint32_t capacity, flr_fit_result *result);

#ifdef __cplusplus
}
#endif
#endif
