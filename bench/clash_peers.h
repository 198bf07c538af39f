/* clash_peers.h: what a user could ask instead for the distance of two parts of an assembly: FCL, OpenCASCADE.
 *
 * Only with the build option FLR_PEERS (bench/peers/clash_peers.cpp). FCL gets the triangles that feeler measures,
 * OpenCASCADE the exact solids of which they are made.
 */
#ifndef FLR_BENCH_CLASH_PEERS_H
#define FLR_BENCH_CLASH_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/math.h"
#include "feeler/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_CLASH_PROFILE = 8 };

/* A box about the origin; or, with a profile, a part turned about the z axis: points of a closed polygon, anticlockwise in (r, z), r >= 0. Metres. */
typedef struct flr_clash_solid {
    flr_vec3 size;
    uint32_t count; /* points of the profile; 0: a box */
    double r[FLR_CLASH_PROFILE], z[FLR_CLASH_PROFILE];
} flr_clash_solid;

typedef struct flr_clash_peer flr_clash_peer;

size_t flr_clash_peer_count(void);
const char *flr_clash_peer_name(size_t index);
bool flr_clash_peer_gives_distance(
    size_t index); /* else whether parts are nearer than a clearance */
flr_clash_peer *flr_clash_peer_create(size_t index, const flr_clash_solid *solids,
                                      const flr_mesh *const *meshes, size_t count);
/* Two solids, by their indices. Metres: 0 where they meet, INFINITY where they are farther apart than `clearance`
 * (INFINITY allowed); of one that gives no distance 0 where they are nearer. */
double flr_clash_peer_query(flr_clash_peer *peer, size_t a, flr_pose T_world_a, size_t b,
                            flr_pose T_world_b, double clearance);
void flr_clash_peer_destroy(flr_clash_peer *peer); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
