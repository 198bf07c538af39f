/* how devices reach into the scene: what clients ask for, made of it for the loop (mapping.h) */
#include <math.h>
#include <string.h>

#include "device/options.h"
#include "scene/scene.h"
#include "sim/engine_internal.h"

flr_engine_mapping flr_default_engine_mapping(void)
{
    return (flr_engine_mapping){.axes = FLR_WIRE_AXES_VIEW,
                                .boundary = FLR_BOUNDARY_NONE,
                                .clutch_button = FLR_MAPPING_NO_BUTTON};
}

static flr_result find_word(const char *key, const char *const *words, const char *word,
                            uint8_t *found, flr_error *error)
{
    for (uint8_t i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0) {
            *found = i;
            return FLR_OK;
        }
    return flr_fail(error, FLR_BAD_ARGUMENT, "mapping: %s is %s, %s%s%s, not \"%s\"", key, words[0],
                    words[1], words[2] ? " or " : "", words[2] ? words[2] : "", word);
}

flr_result flr_engine_mapping_parse(const char *text, flr_engine_mapping *mapping, flr_error *error)
{
    double scale = mapping->scale, clutch = mapping->clutch_button;
    char axes[FLR_DEVICE_OPTION_SIZE] = "view", boundary[FLR_DEVICE_OPTION_SIZE] = "none";
    const flr_device_option known[] = {{"scale", &scale, FLR_MIN_SCALE, FLR_MAX_SCALE, NULL},
                                       {"axes", NULL, 0, 0, axes},
                                       {"boundary", NULL, 0, 0, boundary},
                                       {"clutch", &clutch, 0, 31, NULL}};
    flr_result result = flr_device_options_read("mapping", text, known, 4, error);
    if (result == FLR_OK) result = find_word("axes", flr_scene_axes, axes, &mapping->axes, error);
    if (result == FLR_OK)
        result = find_word("boundary", flr_scene_boundaries, boundary, &mapping->boundary, error);
    if (result == FLR_OK && clutch != floor(clutch))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "mapping: clutch is a button, 0 to 31");
    mapping->scale = scale;
    mapping->clutch_button = (int32_t)clutch;
    return result;
}

static bool is_page(const flr_engine *e, uint32_t hand)
{
    return e->pointers[e->selected[hand]].remote != NULL;
}

flr_mapping_def flr_engine_mapping_def(const flr_engine *e, uint32_t hand)
{
    const flr_pointer *p = &e->pointers[e->selected[hand]];
    const flr_engine_mapping *asked = &e->mappings[hand];
    flr_mapping_def def = flr_default_mapping_def();
    def.T_world_base = p->T_world_base;
    def.scale = p->scale;
    if (is_page(e, hand)) return def; /* poses in the world */
    const flr_device_info *info = flr_device_get_info(p->device);
    if (asked->scale > 0) def.scale = asked->scale;
    if (asked->axes == FLR_WIRE_AXES_VIEW)
        def.T_world_base.q =
            flr_quat_normalize(flr_quat_mul(e->view_axes[hand], def.T_world_base.q));
    def.workspace = info->workspace;
    def.boundary = (flr_mapping_boundary)asked->boundary;
    def.clutch_button = asked->clutch_button;
    return def;
}

/* The loop gets it; the hand stays where it is. */
static void send(flr_engine *e, uint32_t hand)
{
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_MAPPING,
                               .as.mapping = {.hand = hand,
                                              .map = flr_engine_mapping_def(e, hand),
                                              .clutch = e->clutches[hand]}};
    flr_engine_send_surely(e, &command);
}

static flr_result check_hand(const flr_engine *e, flr_hand_id hand, flr_error *error)
{
    if (hand.index < e->def.hands) return FLR_OK;
    return flr_fail(error, FLR_NOT_FOUND, "there is no hand %u; there are %u", hand.index,
                    e->def.hands);
}

flr_result flr_engine_set_mapping(flr_engine *e, flr_hand_id hand, const flr_engine_mapping *asked,
                                  flr_error *error)
{
    flr_result result = check_hand(e, hand, error);
    if (result != FLR_OK) return result;
    if (!(asked->scale == 0 || (asked->scale >= FLR_MIN_SCALE && asked->scale <= FLR_MAX_SCALE)))
        return flr_fail(
            error, FLR_BAD_ARGUMENT,
            "the scale of hand %u must be 0 (derived from workspace and scene) or %g to "
            "%g",
            hand.index, FLR_MIN_SCALE, FLR_MAX_SCALE);
    if (asked->axes > FLR_WIRE_AXES_VIEW || asked->boundary > FLR_BOUNDARY_BUBBLE ||
        asked->clutch_button < FLR_MAPPING_NO_BUTTON || asked->clutch_button > 31)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "hand %u: axes, boundary or clutch button is none that exists", hand.index);
    e->mappings[hand.index] = *asked;
    send(e, hand.index);
    flr_engine_tell(e, FLR_ENGINE_EVENT_DEVICE)->index = e->selected[hand.index];
    return FLR_OK;
}

void flr_engine_get_mapping(const flr_engine *e, flr_hand_id hand, flr_engine_mapping *asked,
                            double *scale)
{
    const bool is = hand.index < e->def.hands;
    *asked = is ? e->mappings[hand.index] : flr_default_engine_mapping();
    *scale = is ? flr_engine_mapping_def(e, hand.index).scale : 1;
}

flr_result flr_engine_hold_clutch(flr_engine *e, flr_hand_id hand, bool held, flr_error *error)
{
    flr_result result = check_hand(e, hand, error);
    if (result != FLR_OK || e->clutches[hand.index] == held) return result;
    e->clutches[hand.index] = held;
    send(e, hand.index);
    return FLR_OK;
}

flr_result flr_engine_set_view_axes(flr_engine *e, flr_hand_id hand, flr_quat axes,
                                    flr_error *error)
{
    flr_result result = check_hand(e, hand, error);
    if (result != FLR_OK) return result;
    if (!flr_engine_is_pose(flr_pose_make(flr_vec3_make(0, 0, 0), axes)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "those are no axes of a view");
    e->view_axes[hand.index] = axes;
    if (e->mappings[hand.index].axes == FLR_WIRE_AXES_VIEW && !is_page(e, hand.index))
        send(e, hand.index);
    return FLR_OK;
}
