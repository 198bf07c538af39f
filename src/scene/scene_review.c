/* pairs that are allowed to touch, and notes, out of a scene file */
#include "scene/scene_review.h"

#include <stdlib.h>

#include "scene/allow.h"

/* Room for the elements; reading ends at the first that is of another kind. */
static bool begin(const flr_value *array, bool objects, size_t size, void **list, size_t *count)
{
    if (!json_is_array(array->json)) return flr_value_fail(array, "must be an array");
    size_t all = json_array_size(array->json), room = 0;
    while (room < all && (objects ? json_is_object(json_array_get(array->json, room))
                                  : json_is_array(json_array_get(array->json, room))))
        room++;
    if (room < all) room++;
    *count = 0;
    *list = room ? calloc(room, size) : NULL;
    if (room && !*list) {
        flr_fail(array->context->error, FLR_NO_MEMORY, "%s: no memory for the scene",
                 array->context->name);
        return false;
    }
    *count = room;
    return true;
}

bool flr_scene_read_allow(const flr_value *array, flr_scene_allow **list, size_t *count)
{
    void *room = NULL;
    if (!array->json) return true;
    if (json_array_size(array->json) > FLR_ALLOW_MAX_RULES)
        return flr_value_fail(array, "has more than %d pairs", FLR_ALLOW_MAX_RULES);
    bool ok = begin(array, false, sizeof **list, &room, count);
    *list = room;
    for (size_t i = 0; ok && i < *count; i++) {
        flr_value pair = flr_value_element(array, i);
        flr_value one = flr_value_element(&pair, 0), other = flr_value_element(&pair, 1);
        if (!json_is_array(pair.json) || json_array_size(pair.json) != 2)
            return flr_value_fail(&pair, "must be two names, such as [\"bolt*\", \"nut*\"]");
        ok = flr_value_text(&one, &(*list)[i].a) && flr_value_text(&other, &(*list)[i].b);
    }
    return ok;
}

bool flr_scene_read_notes(const flr_value *array, bool (*has_part)(void *context, const char *name),
                          void *context, flr_scene_note **list, size_t *count)
{
    void *room = NULL;
    if (!array->json) return true;
    if (json_array_size(array->json) > FLR_SCENE_MAX_NOTES)
        return flr_value_fail(array, "has more than %d notes", FLR_SCENE_MAX_NOTES);
    bool ok = begin(array, true, sizeof **list, &room, count);
    *list = room;
    for (size_t i = 0; ok && i < *count; i++) {
        flr_value element = flr_value_element(array, i);
        flr_scene_note *note = &(*list)[i];
        if (!flr_value_object(&element, FLR_SCENE_NOTE)) return false;
        const flr_value part = flr_value_member(&element, "part");
        ok = flr_value_text(FLR_MEMBER(&element, "text"), &note->text) &&
             flr_value_text(&part, &note->part) &&
             flr_value_point(FLR_MEMBER(&element, "position"), &note->position);
        if (ok && note->part && !has_part(context, note->part))
            ok = flr_value_fail(&part, "there is no part \"%.60s\"", note->part);
    }
    return ok;
}
