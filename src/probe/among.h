/* among.h: a proxy among several parts, each with a probe model and a pose.
 *
 * What feeler/probe.h promises for one mesh holds for all of them together: every straight piece of the proxy's way is asked
 * for in the frame of every part. The pose of a part does not change while a proxy is on its way, so that the end of one
 * piece is the begin of the next also there, to the last bit. Between two frames parts may move: flr_among_carry() takes the
 * proxy along where one would run over it.
 *
 * Thread: any; RT safe. */
#ifndef FLR_PROBE_AMONG_H
#define FLR_PROBE_AMONG_H

#include "feeler/probe.h"

typedef struct flr_among_part {
    const flr_probe_model *model;
    flr_pose T_world_part, T_part_world; /* not read where `placed` is false */
    bool placed;                         /* false: part's frame and world's are the same */
    uint32_t number;                     /* for the caller */
    flr_probe_witness *witness; /* what was hit last, which shortens a search; NULL: none */
} flr_among_part;

typedef struct flr_among {
    const flr_among_part *parts; /* [count] */
    uint32_t count;
    double size; /* metres: the largest model's; the proxy keeps off by a share of it */
    double
        range; /* metres: the proxy goes no farther away from the hand; all that is as near is in `parts` */
} flr_among;

typedef struct flr_among_hit {
    double t;
    flr_vec3 normal;         /* unit, world */
    flr_vec3 corner;         /* of the triangle, world */
    uint32_t part, triangle; /* place in `parts`, number in its mesh */
} flr_among_hit;

/* The first hit on the way from a to b, world; of several parts with the same t the first in the list. */
bool flr_among_first(const flr_among *among, flr_vec3 a, flr_vec3 b, flr_among_hit *hit);
bool flr_among_any(const flr_among *among, flr_vec3 a, flr_vec3 b);

typedef struct flr_among_result {
    flr_proxy_result proxy;
    uint32_t parts[FLR_PROXY_CONTACTS]; /* place in `parts` of each of proxy.triangles */
    flr_vec3 pushes
        [FLR_PROXY_CONTACTS]; /* N, on each of these; together the opposite of the force on the hand */
} flr_among_result;

/* flr_proxy_step() among parts. */
void flr_among_step(flr_proxy *proxy, const flr_among *among, flr_vec3 hand,
                    const flr_proxy_params *params, flr_among_result *result);

typedef enum flr_carried {
    FLR_CARRIED_NOT, /* nothing came over it */
    FLR_CARRIED,     /* it went along with the part */
    FLR_CARRIED_INTO /* it could not: something else is in the way, and it is on the other side of a surface now */
} flr_carried;

/* A part has moved, from the pose before to the one in `part`. `before` is where the proxy was then, `*at` where it is now
 * (another part may have carried it). Where the part came over it, or is to take it along because friction holds it
 * (`stuck`), it goes along, if no part of `settled` is in the way. */
flr_carried flr_among_carry(const flr_among *settled, const flr_among_part *part,
                            flr_pose T_part_world_before, flr_vec3 before, flr_vec3 hand,
                            bool stuck, flr_vec3 *at);

#endif
