/* mapping.h: how the small workspace of a device becomes a hand in a large scene (or a fine one in a small scene).
 *
 *     flr_mapping map = flr_mapping_make(&def);
 *     each sample:    T_world_hand = flr_mapping_follow(&map, sample.T_base_grip, sample.buttons, dt);
 *     on a change:    flr_mapping_change(&map, &def);      the hand stays where it is
 *
 * The middle of the workspace is at T_world_base, whose axes are the device's; a metre of the device is `scale` metres there. While the
 * clutch is held the hand stays and the device moves freely, like a mouse that is lifted. At the boundary of the workspace
 *
 *     drift    as the device moves, the workspace slowly follows the hand, so that the device is led back to its middle (Conti and Khatib
 *              2005); nothing moves while the device stands
 *     bubble   beyond 80 % of the workspace the hand goes on by itself, the faster the farther the device is out (Dominjon 2005)
 *
 * Thread: one; RT safe. */
#ifndef FLR_SIM_MAPPING_H
#define FLR_SIM_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/math.h"

/* The numbers of the message's boundary. */
typedef enum flr_mapping_boundary {
    FLR_BOUNDARY_NONE,
    FLR_BOUNDARY_DRIFT,
    FLR_BOUNDARY_BUBBLE
} flr_mapping_boundary;

enum { FLR_MAPPING_NO_BUTTON = -1 };

typedef struct flr_mapping_def {
    flr_pose T_world_base; /* where the middle of the workspace is, and the device's axes */
    double scale;          /* metres in the world for a metre of the device, above 0 */
    flr_box3 workspace;    /* metres, the device's base frame; empty: it has no limit */
    flr_mapping_boundary boundary;
    int32_t clutch_button; /* that holds the clutch; FLR_MAPPING_NO_BUTTON: none */
} flr_mapping_def;

typedef struct flr_mapping {
    flr_mapping_def def;
    flr_vec3 shift;       /* metres, world: of the workspace, by clutch, drift or bubble */
    flr_quat turn;        /* of the hand in the grip's frame, by the clutch */
    flr_pose T_base_grip; /* the last sample */
    flr_pose T_world_hand;
    bool begun;    /* there was a sample */
    bool moved;    /* shift or turn are not nothing */
    bool held;     /* the clutch, by a command */
    bool clutched; /* … by a command or the button, in the last sample */
    bool outside;  /* the bubble moved the hand in the last sample */
} flr_mapping;

/* 1:1, no boundary, no clutch. */
flr_mapping_def flr_default_mapping_def(void);

flr_mapping flr_mapping_make(const flr_mapping_def *def);

/* Where the hand is. `dt`: seconds since the sample before; more than 20 ms count as that. */
flr_pose flr_mapping_follow(flr_mapping *map, flr_pose T_base_grip, uint32_t buttons, double dt);

/* Another scale, direction or boundary: the hand stays where it is and goes on from there. */
void flr_mapping_change(flr_mapping *map, const flr_mapping_def *def);

/* The hand is at `T_world_hand` and goes on from there; after the first sample. */
void flr_mapping_put(flr_mapping *map, flr_pose T_world_hand);

/* The workspace in the world: the pose of its middle; `half` gets half its size, metres in the world. False: it has none. */
bool flr_mapping_workspace(const flr_mapping *map, flr_pose *T_world_workspace, flr_vec3 *half);

/* The scale at which a device reaches everything in `scene`: two digits, 0.05 to 20. A device without a limit counts as one of 250 mm.
 * 1 where the scene is empty. */
double flr_mapping_scale(flr_box3 workspace, flr_box3 scene);

#endif
