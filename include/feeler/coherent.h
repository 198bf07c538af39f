/* feeler/coherent.h: contact by temporal coherence, as published in 2005.
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
 * them after a jump, and is told.
 *
 * On processors of today flr_contact_query() (feeler/contact.h) is faster nearly everywhere, is
 * stateless and knows no limit: use that one. docs/contact.md has the measurements.
 *
 * Thread: one at a time per engine.
 */
#ifndef FEELER_COHERENT_H
#define FEELER_COHERENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/contact.h"
#include "feeler/env.h"
#include "feeler/math.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* The answer. Plain data. */
typedef struct flr_coherent_result {
    /* as from flr_contact_query(), but the bounds of the distance are wider; points_tested are
     * tests of points and of chunk centres */
    flr_contact_result contact;
    uint64_t lookups; /* of these tests, those that had to look at voxels: the rest drifted */
    /* metres: no point should move farther, relative to the voxels, until the next query; see
     * flr_coherent_travel() */
    double max_travel;
    double travel;  /* metres: how far some point moved since the last query, at most */
    bool exceeded;  /* that was more than the limit */
    bool rescanned; /* nothing was known or everything was out of date */
    bool late;      /* more tests than a frame has time for */
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

/* What happened since the engine was made. RT safe. */
typedef struct flr_coherent_stats {
    uint64_t queries, exceeded, rescanned, late;
} flr_coherent_stats;

FLR_API flr_coherent_stats flr_coherent_get_stats(const flr_coherent *engine);

/* Bytes that the engine holds. RT safe. */
FLR_API size_t flr_coherent_bytes(const flr_coherent *engine);

#ifdef __cplusplus
}
#endif
#endif
