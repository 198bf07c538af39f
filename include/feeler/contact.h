/* feeler/contact.h: does a part touch another, where, and with which force?
 *
 *   contact   contact queries and motion checks
 *   coherent  contact queries by temporal coherence, with a travel limit
 */
#ifndef FEELER_CONTACT_H
#define FEELER_CONTACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"
#include "feeler/voxels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== contact ================================================================================ */

/* Does a part touch another, where, and with which force?
 *
 * One part is a shell (surface points), the other a voxmap (voxels); either may move. Every point
 * of the shell that lies in the force layer of the voxmap, or deeper, is a contact. Its force
 * follows the tangent-plane model (McNeely et al. 1999, section 3): a plane through the middle of
 * the voxel, with the point's own normal; the depth of the point below that plane, and a whole
 * voxel more for every layer below the force layer, times the stiffness, along the point's inward
 * normal.
 *
 *     force layer 0   the surface voxels
 *     force layer 2   the default: whenever exact surfaces of the two parts meet, a point is in
 *                     layer 1 or deeper, so that they cannot meet without a force that grew before
 *     force layer d   a clearance of about d voxels is kept
 *
 * Geometrical awareness (2005, section 4) leaves out what cannot matter: vertex points are tested
 * against the surface field, edge points against the edge field, face points against the vertex
 * field.
 *
 * There are two engines. flr_contact_reference() tests every point, one by one, in double
 * precision, and is there to be read and to be compared with. flr_contact_query() finds the same
 * contacts and the same wrench, and is fast: chunks and hyperchunks of points that are farther from
 * anything than their radius are skipped as one, the rest is tested 8 or 16 points at a time.
 * A third one, which remembers what was far and limits the travel, is in feeler/contact.h.
 *
 * Thread: see each function.
 */

/* How deep a point lies, which times the stiffness is its force along its inward normal. */
typedef enum flr_force_model {
    FLR_FORCE_TANGENT, /* the tangent-plane model, above: it jumps where a point changes voxels */
    /* Continuous. The distance is interpolated between the middles of voxels (surface 0, free at
     * distance d: d, beyond the field one more than its range, interior -1, all less by the offset
     * of 2-bit marks); the depth is how far it is below the force layer. Meant for shells on the
     * exact surface (flr_voxelize_def.on_surface). Geometrical awareness becomes a weight: of the
     * voxels that it lets count (inside, or in the force layer of the feature), it grows from 0
     * where they end to 1 half a voxel within. Also the number of contacts that divides their sum
     * is continuous: S^2 / Q, with S the sum of depths and Q that of their squares.
     *
     * A point's depth changes by at most G voxels per voxel of its motion: G = sqrt(3), or
     * sqrt(3) + 2 (force layer + 1) with awareness; the force by at most stiffness x G x
     * (3 contacts + 2 full) times the motion of the fastest point, and by |force| x angle. */
    FLR_FORCE_SMOOTH
} flr_force_model;

/* How a query is asked. Fill with flr_default_contact_params(). All of it may change from query to
 * query. */
typedef struct flr_contact_params {
    unsigned force_layer; /* 0 … range of the voxmap - 1; default 2 (0 for marks of 2 bits) */
    /* metres, for voxmaps with voxels of different sizes; default 0. Above 0, each
     * voxmap's force layer is this length in its own voxels, rounded up; at least layer 2 (or
     * `force_layer` if that is lower), and at most `force_layer`, which is that of the finest voxels */
    double onset;
    flr_force_model model; /* default tangent */
    /* geometrical awareness; default false: with it, near contact in about 4 of 10^5 poses surfaces
     * meet unnoticed (docs/contact.md). Without features it changes nothing */
    bool awareness;
    /* skip chunks of points that are far from everything; default true. Without, the answer is the
     * same, but for narrower bounds of the distance */
    bool cull;
    double stiffness; /* N/m, of one contact; default 1000 */
    /* up to so many contacts add up, from there on the sum is divided by their number over this
     * (1999, section 5: 10); 0: they always add up; default 10 */
    unsigned full;
    /* metres by which points are moved along their outward normals; default 0; a million voxels or
     * more, or no number: nothing touches */
    double displacement;
    flr_vec3 centre; /* shell's frame: the torque is about this point; default its origin */
    /* of the shell's part relative to the voxmap's, world's axes, about `centre`: for braking;
     * default at rest */
    flr_twist motion;
} flr_contact_params;

FLR_API flr_contact_params flr_default_contact_params(void);

/* One contact. */
typedef struct flr_contact {
    flr_vec3 point;  /* world's frame, metres */
    flr_vec3 normal; /* world's frame, unit: the direction of the force on the shell's part */
    double depth;    /* metres, by the force model, with its weight */
    uint32_t index;  /* of the point in the shell */
    uint8_t label;   /* an flr_label */
    uint8_t mark;    /* of the voxel it lies in */
} flr_contact;

/* The answer. Plain data. */
typedef struct flr_contact_result {
    uint32_t contacts;     /* points with a depth above 0 */
    uint32_t penetrations; /* points in layer 1 or deeper: exact surfaces may meet there */
    uint32_t near;         /* points in the layer before the force layer, where braking acts */
    uint32_t listed;       /* contacts in the list: the first ones in the shell's order */
    /* on the shell's part, world's axes, about `centre`; the voxmap's part gets the opposite */
    flr_wrench wrench;
    /* m/s: sum over approaching near points of v (-n . v/|v|), world's axes (1999, section 5.3) */
    flr_vec3 braking;
    flr_vec3 braking_turn; /* m^2/s: the same as a moment about `centre` */
    /* metres: the least distance between the exact surfaces lies between these; where a point is
     * inside, that of the solids. `lower` is 0 where they may touch; `upper` is INFINITY where no
     * point that was looked at is within the field: with culling, soon beyond the force layer */
    double lower, upper;
    uint64_t points_tested; /* lookups of points and of chunk centres */
    bool far;               /* nothing of the shell is anywhere near: all else is zero */
} flr_contact_result;

/* ---- the reference ---- */

/* Tests every point. `contacts` may be NULL when `capacity` is 0. Poses that are not valid (NaN, a
 * quaternion that is not unit) give a result that is `far`. Thread: any; RT safe, but slow. */
FLR_API void flr_contact_reference(const flr_shell *shell, const flr_voxmap *voxmap,
                                   flr_pose T_world_shell, flr_pose T_world_voxmap,
                                   const flr_contact_params *params, flr_contact *contacts,
                                   uint32_t capacity, flr_contact_result *result);

/* ---- the fast one ---- */

/* A voxmap made ready for lookups. Immutable; shared by all its pairs, in all threads. */
typedef struct flr_contact_table flr_contact_table;

/* The voxmap is borrowed as long as the table lives. Fails with FLR_NO_MEMORY. */
FLR_API flr_result flr_contact_table_create(const flr_voxmap *voxmap, flr_contact_table **table,
                                            flr_error *error);
FLR_API void flr_contact_table_destroy(flr_contact_table *table); /* NULL allowed */
FLR_API size_t flr_contact_table_bytes(const flr_contact_table *table);

/* A shell and a voxmap made ready for queries: tables and scratch, sized once. */
typedef struct flr_contact_pair flr_contact_pair;

typedef struct flr_contact_pair_def {
    const flr_shell *shell;   /* borrowed as long as the pair lives */
    const flr_voxmap *voxmap; /* likewise */
    /* of the voxmap, borrowed likewise; NULL: the pair makes one of its own */
    const flr_contact_table *table;
    uint32_t capacity; /* contacts kept in the list; default 1024 */
    flr_simd simd;     /* default best */
    /* that share a query, the asking one included; default 1. The others are the pair's own, begin
     * with it, end with it, and look for work by themselves: the answer has the same bits for any
     * number, and the asking thread still neither locks nor calls the system. It waits only for
     * what another has begun, so give them processors of their own */
    unsigned threads;
} flr_contact_pair_def;

FLR_API flr_contact_pair_def flr_default_contact_pair_def(void);

/* Fails with FLR_NO_MEMORY, and with FLR_UNSUPPORTED when the processor lacks the instructions
 * asked for. Shell, voxmap and table may all be NULL: nothing touches until the pair is aimed. */
FLR_API flr_result flr_contact_pair_create(const flr_contact_pair_def *def, flr_contact_pair **pair,
                                           flr_error *error);
FLR_API void flr_contact_pair_destroy(flr_contact_pair *pair); /* NULL allowed */

/* From now on the pair stands for this shell and the voxmap of this table, both borrowed: one pair
 * can serve many, one after the other. RT safe. */
FLR_API void flr_contact_pair_aim(flr_contact_pair *pair, const flr_shell *shell,
                                  const flr_contact_table *table);

/* Asks. Stateless: the answer depends on the arguments alone. Thread: one at a time per pair; RT
 * safe. */
FLR_API void flr_contact_query(flr_contact_pair *pair, flr_pose T_world_shell,
                               flr_pose T_world_voxmap, const flr_contact_params *params,
                               flr_contact_result *result);

/* The contacts of the last query, `result.listed` of them, valid until the next. RT safe. */
FLR_API const flr_contact *flr_contact_list(const flr_contact_pair *pair);

/* "scalar", "AVX2" or "AVX-512". RT safe. */
FLR_API const char *flr_contact_pair_simd(const flr_contact_pair *pair);

/* ---- the continuous check ---- */

/* A motion during one frame: where a part begins and where it would like to end. */
typedef struct flr_pose_span {
    flr_pose from, to;
} flr_pose_span;

/* How a motion is checked. Fill with flr_default_motion_check_params(). */
typedef struct flr_motion_check_params {
    /* no point shall come into a voxel at this distance from the surface, in voxels, or nearer;
     * default 1: where exact surfaces may meet. 0: surface voxels; more than the range of the
     * voxmap is its range */
    unsigned layer;
    bool interior; /* only the interior counts as the layer; default false */
    /* voxels, 0 … 1: above 0, the layer does not end at the sides of its voxels, which are stairs to
     * a point that slides, but is *smooth*: it ends where the distance interpolated between the
     * middles of voxels (as in FLR_FORCE_SMOOTH) is so much more than the layer's; default 0. With
     * 0.5 and from layer 1 on, its end is as many voxels from the surface's voxels as the layer's
     * number, or more, as are the voxels outside; with 0.875 no voxel of the layer reaches out */
    double margin;
    /* voxels: nothing stops the motion before its fastest point has moved so far; default 0.5: what
     * contact forces alone keep safe, and a part in contact is never held fast. 0: checked from
     * its very beginning */
    double unchecked;
    double displacement; /* as in flr_contact_params */
    /* shell's frame: this point moves along a straight line, all else turns about it; default its
     * origin */
    flr_vec3 centre;
    /* where there are planes (see below), they suffice: `fraction` is 0 and nothing is reported about a
     * stop; default false */
    bool planes;
    /* lookups, of which those that are made many at a time count an eighth; 0, the default: as many as
     * it takes */
    uint64_t budget;
} flr_motion_check_params;

FLR_API flr_motion_check_params flr_default_motion_check_params(void);

/* A plane that a point of the shell would pass: the layer around where the motion would take it. */
typedef struct flr_motion_check_plane {
    flr_vec3 point;  /* world's frame, metres: where the point is at the beginning */
    flr_vec3 normal; /* world's frame at the beginning, unit, out of the layer */
    double gap;      /* metres: from the point to the plane; below 0: it is behind */
    uint32_t index;  /* in the shell */
    uint8_t label;   /* an flr_label */
} flr_motion_check_plane;

enum { FLR_MOTION_CHECK_PLANES = 8 };

/* Plain data. */
typedef struct flr_motion_check_result {
    /* 0 … 1: of the motion, up to which no point comes into the layer; 1: all of it is free */
    double fraction;
    double travel; /* metres: no point moves farther in all of the motion */
    bool stopped;  /* a point comes into the layer at `fraction`; the next four are about it */
    /* the budget did not suffice, or some point would move a billion voxels: `fraction` is what is
     * not checked anyway */
    bool exhausted;
    uint8_t label;   /* an flr_label */
    uint32_t index;  /* in the shell */
    flr_vec3 point;  /* world's frame, metres: where it is then */
    flr_vec3 normal; /* world's frame, unit: its own, inward; smooth: that of the layer, outward */
    /* smooth, and no point goes farther than half a voxel: of the points that the whole motion would
     * take into the layer, some that are deep or far from each other, by which the motion can be
     * changed so that it is free */
    flr_motion_check_plane planes[FLR_MOTION_CHECK_PLANES];
    uint32_t plane_count;
    uint64_t lookups;
    uint64_t spent; /* of the budget */
} flr_motion_check_result;

/* How far can a part move before it would touch? Every point, against the surface field, along its
 * own path, voxel by voxel, so that nothing can be jumped over at any speed: a point enters no
 * voxel of the layer by more than 1e-4 voxels unnoticed (where it is smooth: by half a voxel
 * between two looks, but not where it stops). Stretches that the marks promise to be
 * free are taken in one step, chunks of points that stay away from everything as one.
 *
 * The motion is that of the shell's part as seen from the voxmap's: its `centre` moves along a
 * straight line, its orientation turns at a constant rate the shorter way, from the one relative
 * pose to the other. flr_motion_check_poses() tells where that is.
 *
 * A point that is in the layer when checking begins stops the motion only where it comes deeper
 * than it was then (smooth: than the next whole voxel below the layer's end); interior is the
 * deepest there is. Once it has left the layer (smooth: by a voxel) it may not come back. So a
 * part in contact can always leave and slide.
 *
 * Poses that make no sense, shells without points: nothing stops them. A pair that is not aimed
 * at anything: likewise. Thread: one at a time per pair; RT safe, with a budget of bounded time. */
FLR_API void flr_contact_check_motion(flr_contact_pair *pair, flr_pose_span shell,
                                      flr_pose_span voxmap, const flr_motion_check_params *params,
                                      flr_motion_check_result *result);

/* Where the two parts are when a fraction of that motion is done. The voxmap's part moves straight
 * and turns at a constant rate in the world; the shell's part does where it stands still. RT
 * safe. */
FLR_API void flr_motion_check_poses(flr_pose_span shell, flr_pose_span voxmap, flr_vec3 centre,
                                    double fraction, flr_pose *T_world_shell,
                                    flr_pose *T_world_voxmap);

/* ==== coherent =============================================================================== */

/* Contact by temporal coherence, as published in 2005.
 *
 * A point known to be far from contact need not be looked at again before it could have arrived
 * (McNeely et al. 2005, sections 5 to 5.2). The engine remembers for each point how far it was, in
 * queues by distance to contact; a query looks at all points in contact or next to it and, in turn,
 * at a share of each queue. A chunk of points that is far as a whole is remembered as one, and a
 * point that was looked up is let drift until it may have come near. How much has to be looked at
 * depends on how far the part moves, so there is a travel limit: the capacity of the processor
 * divided by what waits in the queues (Eq. 2). It keeps the tests of a frame near that capacity.
 *
 * The contacts do not depend on the past: queues are served by how far the part did move, so that
 * each query finds the contacts, counts, braking and wrench of flr_contact_reference(), to the bit.
 * A motion beyond the limit is not an error. It costs more tests than there is capacity for, all of
 * them after a jump, and the caller sees it in the result.
 *
 * On processors of today flr_contact_query() (feeler/contact.h) is faster nearly everywhere, is
 * stateless and knows no limit: use that one. docs/contact.md has the measurements.
 *
 * Thread: one at a time per engine.
 */

/* A shell and a voxmap, and what is known about every point: about 20 bytes each. */
typedef struct flr_coherent flr_coherent;

typedef struct flr_coherent_def {
    const flr_shell *shell;   /* borrowed as long as the engine lives */
    const flr_voxmap *voxmap; /* likewise */
    /* of the voxmap, borrowed likewise; NULL: the engine makes one of its own */
    const flr_contact_table *table;
    /* tests of points and chunks that a frame has time for; default 20,000; see
     * flr_coherent_calibrate() */
    double tests_per_frame;
    /* voxels: what is left of the travel limit where all capacity is needed for points in contact;
     * such frames take longer; default 1/16 */
    double least_travel;
    uint32_t capacity; /* contacts kept in the list; default 1024 */
} flr_coherent_def;

FLR_API flr_coherent_def flr_default_coherent_def(void);

/* Fails with FLR_NO_MEMORY, and with FLR_BAD_ARGUMENT for a capacity or a limit that is not
 * positive. */
FLR_API flr_result flr_coherent_create(const flr_coherent_def *def, flr_coherent **engine,
                                       flr_error *error);
FLR_API void flr_coherent_destroy(flr_coherent *engine); /* NULL allowed */

/* Forgets where everything was: the next query looks at all of it. RT safe. */
FLR_API void flr_coherent_reset(flr_coherent *engine);

/* Sets tests_per_frame, which must be positive. RT safe. */
FLR_API void flr_coherent_set_tests(flr_coherent *engine, double tests);

/* The answer. Plain data. */
typedef struct flr_coherent_result {
    /* as from flr_contact_query(), but the bounds of the distance are wider; points_tested are
     * tests of points and of chunk centres */
    flr_contact_result contact;
    uint64_t lookups; /* of these tests, those that had to look at voxels: the rest drifted */
    /* metres: no point should move farther, relative to the voxels, until the next query; see
     * flr_coherent_travel() */
    double max_travel;
    double travel;    /* metres: how far some point moved since the last query, at most */
    bool exceeded;    /* that was more than the limit */
    bool rescanned;   /* nothing was known or everything was out of date */
    bool late;        /* more tests than a frame has time for */
    uint32_t waiting; /* points and chunks in queues, whose turn comes later */
} flr_coherent_result;

/* Asks. A change of force layer, awareness or displacement makes it look at everything again;
 * `params->cull` has no meaning here. RT safe. */
FLR_API void flr_coherent_query(flr_coherent *engine, flr_pose T_world_shell,
                                flr_pose T_world_voxmap, const flr_contact_params *params,
                                flr_coherent_result *result);

/* The contacts of the last query, `result.contact.listed` of them; valid until the next. RT safe */
FLR_API const flr_contact *flr_coherent_list(const flr_coherent *engine);

/* Metres: no point of the shell is farther apart in these two places, the shell's in the voxmap's
 * frame. It is this that the travel limit bounds. RT safe. */
FLR_API double flr_coherent_travel(const flr_coherent *engine, flr_pose T_voxmap_shell_from,
                                   flr_pose T_voxmap_shell_to);

/* Measures how many tests fit into `seconds` with these poses, best some where much is near; makes
 * that the capacity and returns it. Not RT safe. */
FLR_API double flr_coherent_calibrate(flr_coherent *engine, flr_env *env, flr_pose T_world_shell,
                                      flr_pose T_world_voxmap, const flr_contact_params *params,
                                      double seconds);

#ifdef __cplusplus
}
#endif
#endif
