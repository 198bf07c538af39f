/* scene_review.h: what a review adds to a scene: pairs that are allowed to touch, and notes. Used by the scene reader and writer only. */
#ifndef FLR_SCENE_SCENE_REVIEW_H
#define FLR_SCENE_SCENE_REVIEW_H

#include "scene/scene.h"
#include "scene/value.h"

/* "allow" and "notes" of a scene. Arrays by calloc(); what they point to is the tree's. `has_part` says whether the scene has a
 * part of this name. False: the error is filled, and the arrays are the caller's all the same. */
bool flr_scene_read_allow(const flr_value *array, flr_scene_allow **list, size_t *count);
bool flr_scene_read_notes(const flr_value *array, bool (*has_part)(void *context, const char *name),
                          void *context, flr_scene_note **list, size_t *count);

#endif
