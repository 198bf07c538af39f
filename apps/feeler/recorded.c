/* a recording and the scene that it was made in */
#include "recorded.h"

flr_result flr_recorded_open(flr_cli *cli, const char *path, flr_recorded *recorded,
                             flr_error *error)
{
    *recorded = (flr_recorded){.path = path};
    flr_result result = flr_recording_open(cli->env, path, &recorded->recording, error);
    if (result == FLR_OK)
        result = flr_setup_read(recorded->recording, path, &recorded->setup, error);
    if (result != FLR_OK) flr_recorded_close(recorded);
    return result;
}

void flr_recorded_close(flr_recorded *recorded)
{
    flr_scene_destroy(recorded->scene);
    flr_recording_close(recorded->recording);
    recorded->scene = NULL;
    recorded->recording = NULL;
}

flr_result flr_recorded_scene(flr_cli *cli, flr_recorded *recorded, const char *given,
                              flr_error *error)
{
    const char *path = given ? given : recorded->setup.scene;
    flr_error why;
    flr_result result = flr_scene_read(cli->env, path, &recorded->scene, &why);
    if (result == FLR_OK) return FLR_OK;
    if (given || result != FLR_NOT_FOUND) return flr_fail(error, result, "%s", why.message);
    return flr_fail(error, result, "%s, where %s was recorded; name the scene: feeler %s %s SCENE",
                    why.message, recorded->path, cli->command->name, recorded->path);
}
