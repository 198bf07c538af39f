/* feeler/spheres.h: sphere trees: which voxels of two parts intersect, and the impulses that part them.
 *
 *   spheres  which voxels of two parts intersect
 *   impulse  the impulses that separate them
 */
#ifndef FEELER_SPHERES_H
#define FEELER_SPHERES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"
#include "feeler/voxels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== spheres ================================================================================ */

/* Two voxel objects, both of which may move and turn: which voxels intersect?
 *
 * The second way to find contacts, beside feeler/contact.h, after Ruffaldi et al. 2008 (implicit
 * sphere trees). Each part is a tree of cubes over its voxels; every cube stands for the sphere
 * around what it holds, which looks the same however the part is turned. No sphere is stored:
 * centre and radius follow from the level of a cube, its place, and which of its children there
 * are.
 *
 *     flr_sphere_tree_def def = flr_default_sphere_tree_def();
 *     def.voxmap = voxmap, def.shell = shell;
 *     flr_sphere_tree_create(&def, &tree, &error);           once per part
 *     flr_spheres_def room = flr_default_spheres_def();
 *     flr_spheres_create(&room, &spheres, &error);           once per thread that asks
 *     every millisecond:
 *         flr_spheres_params params = flr_default_spheres_params();
 *         flr_spheres_side a = {tree, T_world_a, twist_a, centre_a}, b = …;
 *         flr_spheres_query(spheres, &a, &b, &params, &result);
 *         flr_spheres_list(spheres)[0 … result.listed - 1]
 *
 * Both trees are descended level by level, the larger cubes first; pairs of cubes whose spheres do
 * not overlap are dropped. Of the voxels that are left in the end, those are a pair whose cubes
 * themselves intersect (touching counts, within 1e-9 of a voxel): the same as if every voxel had
 * been compared with every other. Where the descent ends
 * early (level, budget, room), the answer is the pairs of cubes so far, and says how large they
 * are: any two voxels that intersect lie in one of these pairs.
 *
 * What the impulses of such pairs do to the parts is in feeler/spheres.h.
 *
 * Thread: see each function.
 */

/* ---- trees ---- */

/* How many children a cube has, and so how much longer its side is than theirs: 2, 4 or 8 times. */
typedef enum flr_sphere_view {
    FLR_SPHERE_OCTREE = 1,
    FLR_SPHERE_TREE64 = 2,
    FLR_SPHERE_TREE512 = 3
} flr_sphere_view;

enum { FLR_SPHERE_LEVELS = 32 }; /* at most */

/* A part's voxels as a tree of masks: one bit per child, and one number per cube that says where
 * its children begin. Immutable; shared by all threads. */
typedef struct flr_sphere_tree flr_sphere_tree;

typedef struct flr_sphere_tree_def {
    const flr_voxmap *voxmap; /* read while creating; must be given */
    const flr_shell *shell;   /* of the same voxmap, for its normals; NULL: from the marks */
    flr_sphere_view view;     /* default octree */
    bool surface_only;        /* without interior voxels; default true */
    bool normals;             /* one per voxel, 4 bytes; default true */
} flr_sphere_tree_def;

FLR_API flr_sphere_tree_def flr_default_sphere_tree_def(void);

/* Fails with FLR_BAD_ARGUMENT (no voxmap, a view that is none, a grid of more than 2^20 voxels in
 * some direction), FLR_UNSUPPORTED (2^32 - 1 voxels or more) and FLR_NO_MEMORY. A voxmap without
 * voxels gives a tree that touches nothing. Thread: any; not RT safe. */
FLR_API flr_result flr_sphere_tree_create(const flr_sphere_tree_def *def, flr_sphere_tree **tree,
                                          flr_error *error);
FLR_API void flr_sphere_tree_destroy(flr_sphere_tree *tree); /* NULL allowed; not RT safe */

typedef struct flr_sphere_tree_info {
    flr_sphere_view view;
    double voxel;    /* metres */
    flr_vec3 origin; /* low corner of voxel (0, 0, 0), metres, part's frame */
    uint64_t voxels;
    unsigned levels; /* steps from the root down to the voxels; 0: there are none */
    /* cubes of each level; [0] are the voxels, [levels] is 1, the root */
    uint64_t cubes[FLR_SPHERE_LEVELS];
    double root_side;    /* metres */
    size_t bytes;        /* of the tree, without normals */
    size_t normal_bytes; /* of these */
} flr_sphere_tree_info;

FLR_API flr_sphere_tree_info flr_sphere_tree_get_info(const flr_sphere_tree *tree);

/* ---- asking ---- */

/* Queues and lists, sized once. */
typedef struct flr_spheres flr_spheres;

typedef struct flr_spheres_def {
    /* pairs of cubes at one level: when there would be more, the level before is the answer;
     * default 65536 */
    uint32_t pairs;
    uint32_t listed; /* pairs in the list; default 8192 */
    /* that share a query, the asking one included; default 1; as in flr_contact_pair_def: the
     * answer has the same bits for any number */
    unsigned threads;
} flr_spheres_def;

FLR_API flr_spheres_def flr_default_spheres_def(void);

/* Fails with FLR_NO_MEMORY, and FLR_BAD_ARGUMENT when there is no room for a single pair. Not RT
 * safe. */
FLR_API flr_result flr_spheres_create(const flr_spheres_def *def, flr_spheres **spheres,
                                      flr_error *error);
FLR_API void flr_spheres_destroy(flr_spheres *spheres); /* NULL allowed; not RT safe */

typedef struct flr_spheres_params {
    /* The paper's optimisations; the answer is the same without (down to voxels). */
    bool one_child; /* a cube with one child is tested as that child, and only once; default true */
    bool side;      /* spheres around the children there are, not the whole cube; default true */
    unsigned level; /* cubes of less than 2^level voxels a side are not looked at; default 0 */
    uint64_t budget; /* tests of two spheres; 0, the default: as many as it takes */
} flr_spheres_params;

FLR_API flr_spheres_params flr_default_spheres_params(void);

/* One of the two parts: where it is and how it moves. */
typedef struct flr_spheres_side {
    const flr_sphere_tree *tree;
    flr_pose T_world_part;
    flr_twist twist; /* world's axes, about `centre` */
    flr_vec3 centre; /* world's frame, metres */
} flr_spheres_side;

/* Two voxels, or cubes where the descent ended early. World's frame; metres. */
typedef struct flr_voxel_pair {
    uint32_t a[3], b[3];         /* the voxel; of a cube, that at its low corner */
    flr_vec3 centre_a, centre_b; /* of the cubes */
    flr_vec3 normal_a, normal_b; /* outward, unit; zero where not known */
    /* unit: the way in which a leaves b: of b's normal and a's reversed one, that along which the
     * cubes part sooner; where none is known, from centre to centre */
    flr_vec3 normal;
    flr_vec3 velocity; /* m/s, of a against b, midway between the centres */
    /* metres: how far a must go along `normal` for the two cubes to part, at the most */
    double depth;
} flr_voxel_pair;

typedef struct flr_spheres_result {
    uint32_t pairs;        /* found */
    uint32_t listed;       /* in the list: the first ones */
    bool complete;         /* down to the voxels of both */
    double side_a, side_b; /* metres: of the cubes in the list; voxels where it is complete */
    double resolution;     /* metres: the larger of the two */
    uint64_t tests;        /* of two spheres */
    uint32_t steps;        /* levels that were descended, of both trees together */
    bool out_of_room;      /* ended early since def.pairs was too small */
    bool out_of_budget;    /* … or the budget */
} flr_spheres_result;

/* Stateless: the answer depends on the arguments alone, and its order on them, too. Poses that make
 * no sense (NaN, a quaternion that is not unit, 10^9 m away) and empty trees give no pair and are
 * complete. Thread: one at a time per flr_spheres; RT safe. */
FLR_API void flr_spheres_query(flr_spheres *spheres, const flr_spheres_side *a,
                               const flr_spheres_side *b, const flr_spheres_params *params,
                               flr_spheres_result *result);

/* `result.listed` pairs of the last query, valid until the next. RT safe. */
FLR_API const flr_voxel_pair *flr_spheres_list(const flr_spheres *spheres);

/* ==== impulse ================================================================================ */

/* Parts that run into each other bounce, slide or come to rest.
 *
 * The response of the sphere trees (Ruffaldi et al. 2008, section 3.3.1). All intersecting pairs of
 * voxels of one moment are taken together: of those that will not separate by themselves, the
 * deepest gets the impulse that parts it; both parts' velocities change; and so on, with the same
 * pairs, until none is left or the limit is reached. Most pairs are near others and need nothing
 * any more once those have been served. Pairs that were served and do not bounce share what is
 * needed: what one got too much because of later ones is taken back.
 *
 * Two things are kept apart here that are one in the paper. The impulses answer to velocities only:
 * a pair that approaches with v leaves with restitution x v, and friction at most stops what slides.
 * So each takes energy or leaves it, and gives one part what it takes from the other: momentum stays, energy never grows. What is
 * left is depth, and that is taken out by a shift of the parts in this frame, which leaves no
 * velocity behind. An impulse strong enough to undo the depth within a frame, as in the paper,
 * would be kept as speed.
 *
 *     flr_impulse_create(8192, &impulse, &error);
 *     every frame:
 *         velocities += dt x (gravity, the coupling to the hand)
 *         flr_impulse_clear(impulse);
 *         for every two parts a, b that may touch:
 *             flr_spheres_query(…);
 *             flr_impulse_add(impulse, flr_spheres_list(spheres), result.listed, a, b);
 *         flr_impulse_solve(impulse, bodies, body_count, &params, &result);
 *         poses += dt x velocities + shifts
 *
 * Pairs of any number of bodies are resolved together, so that a part between two others finds its
 * balance as one that lies on a single part does.
 *
 * A hand that holds one of the parts feels it through its coupling (feeler/dynamics.h), as the
 * impulses change what the coupling pulls at.
 *
 * Thread: see each function.
 */

/* A part: how hard it is to move, and how it moves. World's frame and axes. */
typedef struct flr_impulse_body {
    double inverse_mass;     /* 1/kg; 0: it stands still */
    flr_mat3 inverse_tensor; /* 1/(kg m^2), about the centre of mass */
    flr_vec3 centre;         /* of mass, metres */
    flr_twist twist;         /* about the centre of mass */
    bool calm;               /* it has been slow for a while: see flr_impulse_params.still */
    /* what solving found: */
    flr_wrench given; /* N s, N m s, about the centre of mass: the sum of its impulses */
    flr_twist shift;  /* rad, m: for this frame, about the centre of mass */
    bool at_rest;     /* it stands still, or was brought to rest */
} flr_impulse_body;

/* `inertia` in the part's frame, as in an flr_body; one that no body can have gives a part that
 * stands still. Thread: any; RT safe. */
FLR_API flr_impulse_body flr_impulse_body_make(flr_inertia inertia, flr_pose T_world_part,
                                               flr_twist twist);
/* Stands still, whatever hits it. */
FLR_API flr_impulse_body flr_impulse_body_fixed(void);

typedef struct flr_impulse_params {
    double restitution; /* 0 … 1, which it is held to; default 0 */
    double friction;    /* Coulomb's, 0 or more; default 0 */
    double rest_speed;  /* m/s: what approaches slower does not bounce; default 0.02 */
    /* pairs that are served; default 100. In the second half nothing bounces, so that it comes to
     * an end */
    uint32_t limit;
    double tolerance; /* m/s: slower approach is none; default 1e-5 */
    /* m/s: what touches a part that stands and is slower after all impulses comes to rest, and so
     * does what touches that; ten times as much for a body that is calm; 0: never; default 0.0005.
     * It acts like a trace of friction: on a slope of less than 3 degrees a part sticks (at 1000 Hz) */
    double still;
    double dt;      /* seconds to the next frame; default 0.001 */
    double slop;    /* metres of depth that are left; default 1e-4 */
    double recover; /* 0 … 1: of the depth beyond, what a frame takes out; 0: none; default 0.2 */
} flr_impulse_params;

FLR_API flr_impulse_params flr_default_impulse_params(void);

typedef struct flr_impulse_result {
    uint32_t impulses; /* pairs served, one after the other */
    uint32_t shifts;   /* steps that these took */
    double left;       /* m/s: the fastest approach when the limit was reached, else 0 */
    double deepest;    /* metres, of all pairs */
} flr_impulse_result;

/* Room for pairs, sized once. */
typedef struct flr_impulse flr_impulse;

/* Fails with FLR_NO_MEMORY. Not RT safe. */
FLR_API flr_result flr_impulse_create(uint32_t pairs, flr_impulse **impulse, flr_error *error);
FLR_API void flr_impulse_destroy(flr_impulse *impulse); /* NULL allowed; not RT safe */

/* ---- every frame; one thread at a time per flr_impulse; RT safe ---- */

/* Forgets the pairs of the frame before. */
FLR_API void flr_impulse_clear(flr_impulse *impulse);

/* Pairs of two bodies, whose numbers in the coming solve are `a` and `b`; the normals push a. A
 * body does not touch itself. Returns how many there was room for: the rest is not looked at. */
FLR_API uint32_t flr_impulse_add(flr_impulse *impulse, const flr_voxel_pair *pairs, uint32_t count,
                                 uint32_t a, uint32_t b);

/* Changes the twists of the bodies, and fills in what they were given. Pairs with a number that is
 * none, or of bodies that are not there, are not looked at. The answer depends on the pairs, their
 * order and the bodies alone. Time is bounded by `limit` times the pairs and ten times the square
 * of `limit`. */
FLR_API void flr_impulse_solve(flr_impulse *impulse, flr_impulse_body *bodies, uint32_t body_count,
                               const flr_impulse_params *params, flr_impulse_result *result);

#ifdef __cplusplus
}
#endif
#endif
