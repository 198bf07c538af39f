/* fit_peers.h: what a user could pick instead, asked at the poses of a fit: FCL, ODE, Bullet.
 *
 * Only with the build option FLR_PEERS (bench/peers/fit_peers.cpp). Meshes are borrowed as long as
 * a peer lives.
 */
#ifndef FLR_BENCH_FIT_PEERS_H
#define FLR_BENCH_FIT_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "feeler/math.h"
#include "feeler/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_fit_peer flr_fit_peer;

size_t flr_fit_peer_count(void);
const char *flr_fit_peer_name(size_t index);    /* "FCL distance" */
bool flr_fit_peer_gives_distance(size_t index); /* else the number of contacts */
bool flr_fit_peer_takes_tolerance(size_t index);
/* `tolerance`, metres: how far the distance may be off (FCL), or what is added around both (Bullet); others ignore it. */
flr_fit_peer *flr_fit_peer_create(size_t index, const flr_mesh *fixed, const flr_mesh *moving,
                                  double tolerance);
/* One query. Metres, 0 or less where they touch; or contacts. */
double flr_fit_peer_query(flr_fit_peer *peer, flr_pose T_world_part);
void flr_fit_peer_destroy(flr_fit_peer *peer);

#ifdef __cplusplus
}
#endif
#endif
