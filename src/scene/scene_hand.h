/* scene_hand.h: what a hand shall do with a part of a scene, from one word of a command line.
 *
 *     builtin:slide     a built-in hand: idle, slide, aggressive, wedge, removal; the last follows
 *                       the scene's path for the part, the one called "removal" where there are
 *                       several
 *     path:turn         the scene's path of that name
 *     way.txt           a pose file, lengths in the scene's unit
 *
 * Thread: any. Not RT safe.
 */
#ifndef FLR_SCENE_SCENE_HAND_H
#define FLR_SCENE_SCENE_HAND_H

#include "feeler/hand.h"
#include "scene/scene.h"

/* Makes the script of `text` for the part of that name; NULL: for a point, which may follow the path
 * of any part. Start, reach, speed, seed and the rest are
 * taken from `like`; its kind and path are not. A sentence names what is wrong: a hand that does not
 * exist with the one that was probably meant, a path that the scene lacks with those that it has, a
 * place in a pose file. On success the caller owns `*script`. */
flr_result flr_scene_hand_make(flr_env *env, const flr_scene *scene, const char *part,
                               const char *text, const flr_script_def *like, flr_script **script,
                               flr_error *error);

#endif
