/* touch.h: the law of contact on a command line: what is given there replaces what a scene says. */
#ifndef FLR_TOUCH_H
#define FLR_TOUCH_H

#include <math.h>

#include "command.h"
#include "feeler/contact.h"
#include "scene/scene.h"

/* A member of the values of every command that lets parts touch. */
typedef struct flr_touch_options {
    int64_t force_layer;        /* -1: not given */
    double displace, stiffness; /* metres, N/m; NAN: not given */
    int model, awareness;       /* -1: not given */
} flr_touch_options;

#define FLR_TOUCH_NOT_GIVEN                                                                        \
    {                                                                                              \
        .force_layer = -1, .displace = NAN, .stiffness = NAN, .model = -1, .awareness = -1         \
    }

extern const char *const flr_touch_switch[]; /* "off", "on", NULL */

/* Puts what is given in place of what is there. */
void flr_touch_apply(const flr_touch_options *touch, flr_contact_params *params);

/* The options for a table of a struct `values` with a member `flr_touch_options touch`. */
#define FLR_TOUCH_OPTIONS(values)                                                                  \
    FLR_OPTION(INTEGER, offsetof(values, touch.force_layer), "force-layer", "N",                   \
               "advanced: voxels before the surface at which force begins; default: the scene's, " \
               "else 2: exact surfaces cannot meet unnoticed; beyond 7 the points come from a "    \
               "free layer",                                                                       \
               .min = 0, .max = 252),                                                              \
        FLR_OPTION(SIZE, offsetof(values, touch.displace), "displace", "SIZE",                     \
                   "advanced: move the points outward by this, or inward below 0; default: "       \
                   "the scene's, else 0",                                                          \
                   .min = -1, .max = 1),                                                           \
        FLR_OPTION(NUMBER, offsetof(values, touch.stiffness), "stiffness", "N/m",                  \
                   "of one contact; default: the scene's, else 1000", .min = 1e-3, .max = 1e9),    \
        FLR_OPTION(CHOICE, offsetof(values, touch.model), "model", "tangent|smooth",               \
                   "tangent: the plane through a voxel's middle; smooth: a force that does not "   \
                   "jump from voxel to voxel, with points on the exact surface; default: the "     \
                   "scene's, else tangent",                                                        \
                   .choices = flr_scene_models),                                                   \
        FLR_OPTION(                                                                                \
            CHOICE, offsetof(values, touch.awareness), "awareness", "off|on",                      \
            "on: points are tested only against the features that can matter to them, which "      \
            "is faster in wide contact; off: all against the surface; default: the scene's, "      \
            "else off",                                                                            \
            .choices = flr_touch_switch)

#endif
