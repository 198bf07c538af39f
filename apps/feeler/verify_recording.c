/* the path of a part out of a recording, to be checked again in another scene */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "feeler/recording.h"
#include "verify_recording.h"

static const char *text_of(const flr_recording *recording, uint32_t part, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "parts.%u.%s", part, key);
    return flr_recording_text(recording, name);
}

static bool is_moving(const flr_recording *recording, uint32_t part)
{
    const char *moving = text_of(recording, part, "moving");
    return moving && strcmp(moving, "0") != 0 && strcmp(moving, "false") != 0;
}

/* Where a part stands among those that move, whose poses frames have; UINT32_MAX: it does not. */
static uint32_t place_of(const flr_recording *recording, uint32_t part)
{
    uint32_t place = 0;
    if (!is_moving(recording, part)) return UINT32_MAX;
    for (uint32_t i = 0; i < part; i++) place += is_moving(recording, i);
    return place;
}

static uint32_t part_named(const flr_recording *recording, const char *name)
{
    const char *found;
    for (uint32_t i = 0; (found = text_of(recording, i, "name")); i++)
        if (strcmp(found, name) == 0) return i;
    return UINT32_MAX;
}

static uint32_t held_in(const flr_record_view *view)
{
    for (uint32_t h = 0; h < view->hand_count; h++)
        if (view->hands[h].part != UINT32_MAX) return view->hands[h].part;
    return UINT32_MAX;
}

/* The first part that a hand holds. */
static flr_result find_held(flr_env *env, const char *path, uint32_t *part, flr_error *error)
{
    flr_recording *recording;
    flr_record_view view;
    flr_result result = flr_recording_open(env, path, &recording, error);
    *part = UINT32_MAX;
    if (result != FLR_OK) return result;
    while (*part == UINT32_MAX &&
           (result = flr_recording_next(recording, &view, error)) == FLR_OK && view.hands)
        *part = held_in(&view);
    flr_recording_close(recording);
    if (result != FLR_OK && result != FLR_NOT_FOUND && result != FLR_CLOSED) return result;
    return *part == UINT32_MAX
               ? flr_fail(error, FLR_BAD_INPUT,
                          "%s: no hand holds a part in it; say which by --part", path)
               : FLR_OK;
}

/* Poses while the part rests are left out, but for the first and the last of a rest, and so are those that come sooner than 20 ms
 * after the one before: a hand moves evenly for so long. */
static bool add(flr_pose_list *list, size_t *room, flr_timed_pose pose)
{
    const double apart = 0.02;
    const flr_timed_pose *last = list->count ? &list->poses[list->count - 1] : NULL;
    if (list->count > 1 &&
        memcmp(&last->T_world_part, &pose.T_world_part, sizeof pose.T_world_part) == 0 &&
        memcmp(&last[-1].T_world_part, &pose.T_world_part, sizeof pose.T_world_part) == 0) {
        list->poses[list->count - 1].t = pose.t;
        return true;
    }
    if (list->count > 1 && pose.t - last[-1].t < apart) { // the newest takes the place of the last
        list->poses[list->count - 1] = pose;
        return true;
    }
    if (list->count == *room) {
        const size_t more = *room ? 2 * *room : 4096;
        if (!flr_array_resize(&list->poses, more, sizeof *list->poses)) return false;
        *room = more;
    }
    list->poses[list->count++] = pose;
    return true;
}

static flr_result read_poses(flr_recording *recording, const char *path, uint32_t place,
                             flr_pose_list *list, flr_error *error)
{
    flr_record_view view;
    flr_result result;
    size_t room = 0;
    while ((result = flr_recording_next(recording, &view, error)) == FLR_OK) {
        if (place >= view.part_count)
            return flr_fail(error, FLR_BAD_INPUT, "%s: a frame lacks the pose of the part", path);
        const flr_timed_pose pose = {.t = (double)view.frame.time_ns * 1e-9,
                                     .T_world_part = view.parts[place].T_world_part};
        if (!add(list, &room, pose))
            return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory for its frames", path);
    }
    if (list->count < 2 && result == FLR_CLOSED)
        return flr_fail(error, FLR_BAD_INPUT, "%s: has no frames", path);
    return result == FLR_CLOSED ? FLR_OK : result;
}

flr_result flr_verify_read_recording(flr_env *env, const char *path, const char *name,
                                     flr_recorded_path *to, flr_error *error)
{
    flr_recording *recording = NULL;
    uint32_t part = UINT32_MAX;
    flr_result result = name ? FLR_OK : find_held(env, path, &part, error);
    *to = (flr_recorded_path){0};
    if (result == FLR_OK) result = flr_recording_open(env, path, &recording, error);
    if (result != FLR_OK) return result;
    if (name) part = part_named(recording, name);
    const char *found = part == UINT32_MAX ? NULL : text_of(recording, part, "name");
    const uint32_t place = found ? place_of(recording, part) : UINT32_MAX;
    if (place == UINT32_MAX)
        result = flr_fail(error, FLR_NOT_FOUND, "%s: no part \"%.80s\" moves in it", path,
                          name ? name : "?");
    if (result == FLR_OK) result = read_poses(recording, path, place, &to->list, error);
    if (result == FLR_OK && !(to->part = strdup(found))) result = flr_fail_memory(error);
    flr_recording_close(recording);
    if (result != FLR_OK) flr_pose_list_free(&to->list);
    return result;
}
