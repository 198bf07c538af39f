/* plan_peers.h: removal problems for RRT-Connect of OMPL with collision queries of FCL.
 *
 * Only with the build option FLR_PEERS, where libompl-dev and libfcl-dev are installed (bench/peers/plan_peers.cpp). */
#ifndef FLR_BENCH_PLAN_PEERS_H
#define FLR_BENCH_PLAN_PEERS_H

#include <stdint.h>

#include "feeler/math.h"
#include "feeler/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_plan_peer_problem {
    const flr_mesh *moving, *obstacle; /* borrowed during the call */
    flr_pose T_world_obstacle, start, goal;
    flr_box3 bounds; /* world: of the origin of the part */
    double seconds;  /* that it may take */
    uint32_t seed;
} flr_plan_peer_problem;

/* Seconds until a path was found, below 0: none was, and NAN where the start or the goal collides, as FCL sees it. Motions are
 * checked at steps of 1/200 of the space, which is OMPL's way; it is not a proof. */
double flr_plan_peer_solve(const flr_plan_peer_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
