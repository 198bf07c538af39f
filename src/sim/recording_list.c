/* recordings as clients manage them: which scene one is of, another name, away with it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/engine_internal.h"

static flr_result find(flr_engine *e, uint32_t recording, flr_engine_recording **found,
                       flr_error *error)
{
    if (recording >= e->recording_count || e->recordings[recording].gone)
        return flr_fail(error, FLR_NOT_FOUND, "there is no recording %u", recording);
    *found = &e->recordings[recording];
    if ((*found)->finished) return FLR_OK;
    return flr_fail(error, FLR_AGAIN, "the recording %s is still being made; stop it first",
                    (*found)->name);
}

bool flr_engine_recording_is_here(const flr_engine *e, const flr_engine_recording *r)
{
    if (r->made_in == (uint64_t)e->scene + 1) return true;
    if (r->scene_hash[0] && !e->altered && strcmp(r->scene_hash, e->file_hash) == 0) return true;
    return e->path[0] && r->scene_path && strcmp(r->scene_path, e->path) == 0;
}

flr_result flr_engine_record_rename(flr_engine *e, uint32_t recording, const char *name,
                                    flr_error *error)
{
    flr_engine_recording *r = NULL;
    flr_result result = find(e, recording, &r, error);
    if (result != FLR_OK) return result;
    if (!name[0] || strlen(name) > 100 || strchr(name, '/') || name[0] == '.')
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a recording has a name of 1 to 100 bytes without slashes, which does not "
                        "begin with a dot");
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 32)
            return flr_fail(error, FLR_BAD_ARGUMENT, "a recording's name is one line of text");
    char path[FLR_CACHE_PATH_SIZE];
    flr_path_info info;
    int size = snprintf(path, sizeof path, "%s/%s.mcap", e->def.recordings, name);
    if (size < 0 || (size_t)size >= sizeof path)
        return flr_fail(error, FLR_BAD_ARGUMENT, "that name is too long for a file there");
    if (strcmp(path, r->path) == 0) return FLR_OK;
    result = flr_path_look(e->def.env, path, &info, error);
    if (result == FLR_OK && info.kind != FLR_PATH_NONE)
        result = flr_fail(error, FLR_DENIED, "there is a recording %s already", name);
    char *copy = result == FLR_OK ? strdup(path) : NULL;
    if (result == FLR_OK && !copy) result = flr_engine_no_memory(error);
    if (result == FLR_OK) result = flr_path_rename(e->def.env, r->path, path, error);
    if (result != FLR_OK) {
        free(copy);
        return result;
    }
    free((char *)r->path);
    r->path = copy;
    flr_text_copy(r->name, sizeof r->name, name);
    flr_engine_tell(e, FLR_ENGINE_EVENT_RECORDING)->index = recording;
    return FLR_OK;
}

flr_result flr_engine_record_remove(flr_engine *e, uint32_t recording, flr_error *error)
{
    flr_engine_recording *r = NULL;
    flr_engine_replay_state replay;
    flr_result result = find(e, recording, &r, error);
    if (result != FLR_OK) return result;
    flr_engine_get_replay(e, &replay);
    if (replay.active && replay.recording == recording) result = flr_engine_replay_end(e, error);
    if (result == FLR_OK) result = flr_path_remove(e->def.env, r->path, error);
    if (result != FLR_OK) return result;
    r->gone = true;
    flr_engine_tell(e, FLR_ENGINE_EVENT_RECORDING)->index = recording;
    return FLR_OK;
}
