/* feeler/proxy.h: what a hand feels that touches a mesh with a point.
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
#ifndef FEELER_PROXY_H
#define FEELER_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/math.h"
#include "feeler/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

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
