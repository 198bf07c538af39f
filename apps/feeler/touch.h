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

/* How contact is found, for commands that simulate. `AT(field)`: where engine, onset, strength, overlap, tests and threads are;
 * `scope`: for whom; `preset`: what decides where an option is not given. */
#define FLR_ENGINE_OPTIONS(AT, scope, preset)                                                      \
    FLR_OPTION(CHOICE, AT(engine), "engine", "shell|spheres|exact|coherent",                       \
               "how contact is found" scope                                                        \
               "; shell: points of one part in the voxels of another, "                            \
               "and forces; spheres: sphere trees of both, and impulses, so that a part that is "  \
               "hit moves on; exact: distances to the triangles themselves, without voxels, for "  \
               "tight fits; coherent: like shell, but far points wait in queues, and a travel "    \
               "limit keeps the tests of a frame near --tests; default: " preset ", else exact "   \
               "where voxels cannot resolve the gap between parts, else shell",                    \
               .choices = flr_scene_engines),                                                      \
        FLR_OPTION(SIZE, AT(onset), "onset", "SIZE",                                               \
                   "force begins this far before surfaces meet" scope "; with voxels, rounded up " \
                   "to a whole number of them; default: " preset ", else 0.005mm with the exact "  \
                   "engine and two voxels with shells",                                            \
                   .formerly = "clearance", .min = 0, .max = 1),                                   \
        FLR_OPTION(NUMBER, AT(strength), "strength", "X",                                          \
                   "of the exact engine: how hard a hand pulls, as a share of 10 N and 0.5 N m; "  \
                   "default: " preset ", else 1",                                                  \
                   .min = 0.01, .max = 100),                                                       \
        FLR_OPTION(SIZE, AT(overlap), "overlap", "SIZE",                                           \
                   "of the exact engine: parts may start in each other up to this depth, so that " \
                   "they can be moved out; default: " preset ", else 2mm",                         \
                   .min = 0, .max = 1),                                                            \
        FLR_OPTION(                                                                                \
            NUMBER, AT(tests), "tests", "N",                                                       \
            "of the coherent engine: point tests that a frame has time for; default: " preset      \
            ", else 20000",                                                                        \
            .min = 1, .max = 1e9),                                                                 \
        FLR_OPTION(INTEGER, AT(threads), "threads", "N",                                           \
                   "threads that share a contact query; default 1; the result does not "           \
                   "depend on it",                                                                 \
                   .letter = 't', .min = 1, .max = 64)

#endif
