/* what a hand touched, as segments to ask again */
#include "probe_recording.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "output.h"
#include "recorded.h"

/* Where the part is: among those that frames list, or where the scene says. */
typedef struct touched_part {
    uint32_t number;
    bool moves;
    uint32_t index; /* in frames, where it moves */
    flr_pose T_world_part;
} touched_part;

static const char *text_of(const flr_recorded *from, uint32_t part, const char *what)
{
    char key[48];
    snprintf(key, sizeof key, "parts.%u.%s", part, what);
    return flr_recording_text(from->recording, key);
}

/* The part with this mesh; parts that move are listed in frames in their order. */
static bool find_part(const flr_recorded *from, const flr_mesh *mesh, touched_part *part)
{
    char hash[FLR_HASH_TEXT_SIZE];
    flr_hash_print(flr_mesh_hash(mesh), hash);
    *part = (touched_part){0};
    for (;; part->number++) {
        const char *theirs = text_of(from, part->number, "mesh"),
                   *moving = text_of(from, part->number, "moving");
        if (!theirs) return false;
        part->moves = moving && strcmp(moving, "true") == 0;
        if (strcmp(theirs, hash) == 0) return true;
        part->index += part->moves;
    }
}

static bool add(flr_segment_list *list, size_t *room, flr_vec3 from, flr_vec3 to)
{
    if (!FLR_GROW(list->segments, list->count, *room, 1024)) return false;
    list->segments[list->count++] = (flr_segment){from, to};
    return true;
}

static flr_result read_frames(const flr_recorded *from, const touched_part *part,
                              flr_segment_list *list, flr_error *error)
{
    flr_record_view view;
    flr_vec3 before = flr_vec3_zero();
    size_t room = 0;
    bool begun = false;
    flr_result result;
    while ((result = flr_recording_next(from->recording, &view, error)) == FLR_OK) {
        if (view.hand_count == 0 || (part->moves && part->index >= view.part_count)) continue;
        flr_pose T = part->moves ? view.parts[part->index].T_world_part : part->T_world_part;
        flr_vec3 now = flr_pose_apply_inverse(T, view.hands[0].T_world_hand.p);
        if (begun && flr_vec3_distance(before, now) > 0 && !add(list, &room, before, now))
            return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the segments of %s",
                            from->path);
        before = now;
        begun = true;
    }
    if (result != FLR_CLOSED) return result;
    if (list->count == 0)
        return flr_fail(error, FLR_BAD_INPUT, "%s: no hand moves in it", from->path);
    return FLR_OK;
}

flr_result flr_probe_recording(flr_cli *cli, const char *path, const flr_mesh *mesh,
                               flr_segment_list *list, flr_error *error)
{
    flr_recorded from;
    touched_part part;
    *list = (flr_segment_list){0};
    flr_progress(cli, 0, 1, "reading %s", path);
    flr_result result = flr_recorded_open(cli, path, &from, error);
    if (result != FLR_OK) return result;
    if (!find_part(&from, mesh, &part))
        result = flr_fail(error, FLR_BAD_INPUT,
                          "%s: no part of it has this mesh; name the mesh file of a part of its "
                          "scene, %s",
                          path, from.setup.scene);
    if (result == FLR_OK && !part.moves) {
        result = flr_recorded_scene(cli, &from, NULL, error);
        if (result == FLR_OK && part.number >= from.scene->part_count)
            result = flr_fail(error, FLR_BAD_INPUT, "%s has fewer parts than %s was recorded with",
                              from.setup.scene, path);
        if (result == FLR_OK) part.T_world_part = from.scene->parts[part.number].T_world_part;
    }
    if (result == FLR_OK) result = read_frames(&from, &part, list, error);
    if (result != FLR_OK) flr_segment_list_free(list);
    flr_recorded_close(&from);
    return result;
}
