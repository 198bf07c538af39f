/* hand.h: what a hand shall do with a part of a scene, from one word of a command line.
 *
 *     builtin:slide     a built-in hand (idle, slide, aggressive, wedge, removal), which begins where
 *                       the part is and goes as far as suits its size; removal follows the scene's
 *                       path for the part, the one called "removal" where there are several
 *     path:turn         the scene's path of that name
 *     way.txt           a pose file, lengths in the scene's unit, beside the current folder
 *
 * Thread: any. Not RT safe.
 */
#ifndef FLR_SCENE_HAND_H
#define FLR_SCENE_HAND_H

#include "feeler/hand.h"
#include "scene/scene.h"

typedef struct flr_scene_hand_def {
    const char *text;   /* as above */
    size_t part;        /* index of the part that is held */
    flr_box3 box;       /* of that part in its own frame, metres */
    double reach;       /* metres; default 0: half the diagonal of the box */
    double speed;       /* default 1; of paths, too */
    uint64_t seed;      /* default 1 */
    flr_vec3 direction; /* of slide and wedge, world; default 0: -z */
} flr_scene_hand_def;

/* Text, part and box must still be given. */
flr_scene_hand_def flr_default_scene_hand_def(void);

typedef struct flr_scene_hand {
    flr_script *script; /* T_world_grip over time; end with flr_script_destroy() */
    /* where the part is held: by the middle of its box, or, on a path, by its own frame */
    flr_pose T_part_grip;
} flr_scene_hand;

/* A sentence names what is wrong: a hand that does not exist with the one that was probably meant,
 * a path that the scene lacks with those that it has, a place in a pose file. */
flr_result flr_scene_hand_make(flr_env *env, const flr_scene *scene, const flr_scene_hand_def *def,
                               flr_scene_hand *hand, flr_error *error);

#endif
