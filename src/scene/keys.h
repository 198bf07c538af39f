/* keys.h: the keys that a scene file may have, object by object. The reader knows no others, and
 * a test compares this table with docs/scene.schema.json. */
#ifndef FLR_SCENE_KEYS_H
#define FLR_SCENE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum flr_scene_object {
    FLR_SCENE_ROOT,
    FLR_SCENE_PART,
    FLR_SCENE_POSE,
    FLR_SCENE_GROUP,
    FLR_SCENE_JOINT,
    FLR_SCENE_JOINT_AXIS,
    FLR_SCENE_PATH,
    FLR_SCENE_CAMERA,
    FLR_SCENE_CONTACT,
    FLR_SCENE_HAND,
    FLR_SCENE_SPRING,
    FLR_SCENE_NOTE,
    FLR_SCENE_OBJECT_COUNT
} flr_scene_object;

typedef struct flr_scene_key {
    const char *name;
    bool required;
} flr_scene_key;

enum { FLR_SCENE_KEY_MAX = 20 };

/* The keys of an object, in the order in which the writer writes them; ends with a NULL name. */
extern const flr_scene_key flr_scene_keys[FLR_SCENE_OBJECT_COUNT][FLR_SCENE_KEY_MAX];

#endif
