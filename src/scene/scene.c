/* words, defaults and small questions of scenes */
#include "scene/scene.h"

const char *const flr_scene_models[] = {"tangent", "smooth", NULL};
const char *const flr_scene_probes[] = {"best", "grid", "tree", "hybrid", NULL};
const char *const flr_scene_device_kinds[] = {"any", "none", "force", NULL};
const char *const flr_scene_haptics[] = {"step", "local", NULL};
const char *const flr_scene_engines[] = {"shell", "spheres", "exact", "coherent", NULL};
const char *const flr_scene_uses[] = {"solid", "pass", "keep-out", NULL};
const char *const flr_scene_locks[] = {"turn x", "turn y", "turn z", "x", "y", "z", NULL};
const char *const flr_scene_tools[] = {"grip", "point", NULL};
const char *const flr_scene_axes[] = {"world", "view", NULL};
const char *const flr_scene_boundaries[] = {"none", "drift", "bubble", NULL};

flr_scene_contact flr_default_scene_contact(void)
{
    flr_contact_params like = flr_default_contact_params();
    flr_tight_params tight = flr_default_tight_params();
    return (flr_scene_contact){.force_layer = like.force_layer,
                               .displace = like.displacement,
                               .model = like.model,
                               .stiffness = like.stiffness,
                               .awareness = like.awareness,
                               .marks = 4,
                               .range = FLR_RANGE_DEFAULT,
                               .tests = 20000,
                               .onset = -1,
                               .strength = tight.strength,
                               .overlap = tight.overlap};
}

bool flr_scene_chooses_engine(const flr_scene_contact *c)
{
    const flr_scene_contact usual = flr_default_scene_contact();
    return c->engine_given || c->engine != usual.engine || c->marks != usual.marks ||
           c->force_layer != usual.force_layer || c->displace != usual.displace ||
           c->model != usual.model || c->awareness != usual.awareness;
}

flr_scene flr_default_scene(void)
{
    return (flr_scene){.unit = 1, .camera.up = {0, 0, 1}, .contact = flr_default_scene_contact()};
}

flr_scene_part flr_default_scene_part(void)
{
    return (flr_scene_part){.T_world_part.q.w = 1, .colour = FLR_SCENE_NO_COLOUR};
}

bool flr_scene_part_is_driven(const flr_scene_part *part)
{
    const flr_world_constraint *c = part->constraint;
    return c && (c->stiffness > 0 || flr_vec3_length2(c->wrench.force) > 0 ||
                 flr_vec3_length2(c->wrench.torque) > 0);
}

flr_tool flr_scene_tool(const flr_scene *scene, uint32_t hand)
{
    if (scene->hand_count == 0) return FLR_TOOL_GRIP;
    return scene->hands[hand < scene->hand_count ? hand : scene->hand_count - 1].tool;
}

bool flr_scene_firm(const flr_scene *scene, uint32_t hand)
{
    if (scene->hand_count == 0) return false;
    return scene->hands[hand < scene->hand_count ? hand : scene->hand_count - 1].firm;
}

const flr_scene_hand *flr_scene_mapped_hand(const flr_scene *scene, uint32_t hand)
{
    if (scene->hand_count == 0) return NULL;
    const flr_scene_hand *is =
        &scene->hands[hand < scene->hand_count ? hand : scene->hand_count - 1];
    return is->mapped ? is : NULL;
}
