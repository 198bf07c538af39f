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
    {.name = "force-layer",                                                                        \
     .type = FLR_OPTION_INTEGER,                                                                   \
     .argument = "N",                                                                              \
     .help = "voxels before the surface at which force begins; default: the scene's, else 2: "     \
             "exact surfaces cannot meet unnoticed; beyond 7 the points come from a free layer",   \
     .offset = offsetof(values, touch.force_layer),                                                \
     .min = 0,                                                                                     \
     .max = 252},                                                                                  \
        {.name = "displace",                                                                       \
         .type = FLR_OPTION_SIZE,                                                                  \
         .argument = "SIZE",                                                                       \
         .help = "move the points outward by this, or inward where it is less than 0; default: "   \
                 "the scene's, else 0",                                                            \
         .offset = offsetof(values, touch.displace),                                               \
         .min = -1,                                                                                \
         .max = 1},                                                                                \
        {.name = "stiffness",                                                                      \
         .type = FLR_OPTION_NUMBER,                                                                \
         .argument = "N/m",                                                                        \
         .help = "of one contact; default: the scene's, else 1000",                                \
         .offset = offsetof(values, touch.stiffness),                                              \
         .min = 1e-3,                                                                              \
         .max = 1e9},                                                                              \
        {.name = "model",                                                                          \
         .type = FLR_OPTION_CHOICE,                                                                \
         .argument = "tangent|smooth",                                                             \
         .help = "tangent: the plane through a voxel's middle; smooth: a force that does not "     \
                 "jump from voxel to voxel, with points on the exact surface; default: the "       \
                 "scene's, else tangent",                                                          \
         .offset = offsetof(values, touch.model),                                                  \
         .choices = flr_scene_models},                                                             \
    {                                                                                              \
        .name = "awareness", .type = FLR_OPTION_CHOICE, .argument = "off|on",                      \
        .help = "on: points are tested only against the features that can matter to them, which "  \
                "is faster in wide contact; off: all against the surface; default: the scene's, "  \
                "else off",                                                                        \
        .offset = offsetof(values, touch.awareness), .choices = flr_touch_switch                   \
    }

#endif
