/* sources.h: files that the parts of a scene were read from, and whether they have changed since. */
#ifndef FLR_SIM_SOURCES_H
#define FLR_SIM_SOURCES_H

#include "feeler/env.h"
#include "scene/scene.h"
#include "sim/engine.h"

typedef struct flr_source_file {
    char *path;
    flr_path_info known, seen; /* when it was read, and when it was looked at last */
    bool changed;
} flr_source_file;

typedef struct flr_sources {
    bool watch;
    char origin[FLR_CACHE_PATH_SIZE]; /* the scene or CAD file that was opened */
    flr_source_file *files;           /* [count] */
    uint32_t count, changed;
    bool looking, reloading; /* a job does it */
    int64_t looked_ns;
    char sentence[FLR_ERROR_MESSAGE_SIZE]; /* which have changed */
} flr_sources;

/* Of a scene that was loaded from `origin`. */
void flr_sources_read(flr_sources *sources, flr_env *env, const char *origin,
                      const flr_scene *scene);
void flr_sources_free(flr_sources *sources); /* watching stays as it is */
void flr_engine_keep_files(flr_engine *engine);

#endif
