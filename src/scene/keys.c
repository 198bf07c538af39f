/* the keys of a scene file */
#include "scene/keys.h"

const flr_scene_key flr_scene_keys[FLR_SCENE_OBJECT_COUNT][FLR_SCENE_KEY_MAX] = {
    [FLR_SCENE_ROOT] = {{"$schema", false},
                        {"feeler", true},
                        {"name", true},
                        {"description", false},
                        {"unit", false},
                        {"voxel", false},
                        {"gravity", false},
                        {"parts", true},
                        {"paths", false},
                        {"camera", false}},
    [FLR_SCENE_PART] = {{"name", true},
                        {"file", true},
                        {"group", false},
                        {"unit", false},
                        {"pose", false},
                        {"moving", false},
                        {"hollow", false},
                        {"colour", false},
                        {"voxel", false},
                        {"density", false},
                        {"mass", false}},
    [FLR_SCENE_POSE] = {{"position", false}, {"orientation", false}},
    [FLR_SCENE_PATH] = {{"name", true}, {"part", true}, {"poses", true}},
    [FLR_SCENE_CAMERA] = {{"eye", true}, {"target", true}, {"up", false}},
};
