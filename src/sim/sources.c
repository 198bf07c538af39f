/* Files that the parts of a scene were read from. A worker looks at them once a second, if that is wanted; those that have changed
 * can be read again: their parts get the new meshes and keep all else. */
#include "sim/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "scene/scene_import.h"
#include "sim/build_job.h"
#include "sim/engine_internal.h"

enum { MAX_SOURCES = 4096 };

static const int64_t look_ns = 1000000000;

static void free_files(flr_source_file *files, uint32_t count)
{
    for (uint32_t i = 0; files && i < count; i++) free(files[i].path);
    free(files);
}

void flr_sources_free(flr_sources *s)
{
    free_files(s->files, s->count);
    *s = (flr_sources){.watch = s->watch};
}

/* Takes over `path`, which may be NULL. */
static void add_file(flr_sources *s, flr_env *env, char *path)
{
    flr_path_info info;
    for (uint32_t i = 0; path && i < s->count; i++)
        if (strcmp(s->files[i].path, path) == 0) {
            free(path);
            return;
        }
    flr_source_file *grown = path && s->count < MAX_SOURCES &&
                                     flr_path_look(env, path, &info, NULL) == FLR_OK &&
                                     info.kind == FLR_PATH_FILE
                                 ? realloc(s->files, (s->count + 1) * sizeof *grown)
                                 : NULL;
    if (!grown) { // it is not watched
        free(path);
        return;
    }
    s->files = grown;
    s->files[s->count++] = (flr_source_file){.path = path, .known = info, .seen = info};
}

void flr_sources_read(flr_sources *s, flr_env *env, const char *origin, const flr_scene *scene)
{
    flr_sources_free(s);
    flr_text_copy(s->origin, sizeof s->origin, origin);
    if (!s->watch) return;
    if (flr_scene_can_import(origin)) {
        add_file(s, env, strdup(origin));
        return;
    }
    for (size_t i = 0; i < scene->part_count; i++)
        if (i == 0 || strcmp(scene->parts[i].file, scene->parts[i - 1].file) != 0)
            add_file(s, env, flr_scene_file(scene, scene->parts[i].file));
}

/* ---- looking ---- */

typedef struct source_look {
    flr_job job;
    flr_env *env;
    uint32_t scene, count;
    flr_source_file *files; /* [count], its own */
} source_look;

static void look_work(flr_job *job)
{
    source_look *l = (source_look *)job;
    for (uint32_t i = 0; i < l->count; i++) {
        flr_path_info info;
        // a file that is being written may be missing for a moment
        if (flr_path_look(l->env, l->files[i].path, &info, NULL) == FLR_OK &&
            info.kind == FLR_PATH_FILE)
            l->files[i].seen = info;
    }
    job->result = FLR_OK;
}

static bool same(const flr_path_info *a, const flr_path_info *b)
{
    return a->size == b->size && a->modified_ns == b->modified_ns;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void look_done(flr_engine *e, flr_job *job)
{
    source_look *l = (source_look *)job;
    flr_sources *s = &e->sources;
    s->looking = false;
    if (l->scene != e->scene || l->count != s->count) return;
    bool news = false;
    uint32_t changed = 0;
    const char *first = "";
    for (uint32_t i = 0; i < s->count; i++) {
        flr_source_file *f = &s->files[i];
        // it counts when it has stayed the same for a second: it is not being written any more
        const bool settled = same(&l->files[i].seen, &f->seen);
        const bool is_changed = settled && !same(&f->seen, &f->known);
        f->seen = l->files[i].seen;
        news |= is_changed && !f->changed;
        f->changed |= is_changed;
        if (!f->changed) continue;
        if (changed++ == 0) first = base_of(f->path);
    }
    if (!news) return;
    s->changed = changed;
    if (changed == 1)
        snprintf(s->sentence, sizeof s->sentence, "%.200s has changed.", first);
    else
        snprintf(s->sentence, sizeof s->sentence, "%.200s and %u more files have changed.", first,
                 changed - 1);
    flr_engine_tell(e, FLR_ENGINE_EVENT_FILES);
    FLR_ENGINE_NOTE(e, "%s", s->sentence);
}

static void look_drop(flr_job *job)
{
    source_look *l = (source_look *)job;
    free_files(l->files, l->count);
    free(l);
}

void flr_engine_keep_files(flr_engine *e)
{
    flr_sources *s = &e->sources;
    const int64_t now = flr_clock_ns(e->def.env);
    if (!s->watch || !s->count || s->looking || s->reloading || now - s->looked_ns < look_ns)
        return;
    s->looked_ns = now;
    source_look *l = calloc(1, sizeof *l);
    if (l) l->files = calloc(s->count, sizeof *l->files);
    for (uint32_t i = 0; l && l->files && i < s->count; i++) {
        l->files[i] = s->files[i];
        l->files[i].path = strdup(s->files[i].path);
        if (!l->files[i].path) break;
        l->count++;
    }
    if (!l || l->count < s->count) { // the next service tries again
        if (l) look_drop(&l->job);
        return;
    }
    l->env = e->def.env;
    l->scene = e->scene;
    l->job = (flr_job){.quick = true, .work = look_work, .done = look_done, .drop = look_drop};
    s->looking = true;
    flr_engine_post(e, &l->job, 0, FLR_NO_PART_ID, NULL, NULL);
}

void flr_engine_watch_files(flr_engine *e, bool watch) { e->sources.watch = watch; }

uint32_t flr_engine_changed_files(const flr_engine *e, const char **sentence)
{
    if (sentence) *sentence = e->sources.changed ? e->sources.sentence : "";
    return e->sources.changed;
}

/* ---- reading them again ---- */

typedef struct source_part {
    char name[FLR_ENGINE_NAME_SIZE];
    flr_hash hash;  /* of the mesh that it has */
    flr_mesh *mesh; /* the new one; NULL: it has not changed */
    bool found;     /* the file still has it */
} source_part;

typedef struct source_reload {
    flr_job job;
    flr_env *env;
    uint32_t scene, count, fresh; /* fresh: parts that the scene does not have */
    char origin[FLR_CACHE_PATH_SIZE], path[FLR_CACHE_PATH_SIZE];
    flr_mesh_options options;
    source_part *parts; /* [count] */
} source_reload;

/* What is imported again stands where it stood: in the folder of the scene that was made of it. */
static flr_result import_again(source_reload *r, flr_error *error)
{
    if (!flr_scene_can_import(r->origin)) return FLR_OK;
    const char *file = r->origin;
    flr_scene_import_report report = {0};
    flr_scene_import_def def = {
        .env = r->env, .files = &file, .file_count = 1, .out = r->path, .options = r->options};
    flr_result result = flr_scene_import(&def, &report, error);
    if (result == FLR_OK) free(report.notes);
    return result;
}

static source_part *find_part(const source_reload *r, const char *name)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->parts[i].name, name) == 0) return &r->parts[i];
    return NULL;
}

static flr_result read_again(source_reload *r, const flr_scene *scene, flr_error *error)
{
    flr_scene_loader loader = flr_scene_loader_begin(r->env, scene, &r->options);
    flr_result result = FLR_OK;
    for (size_t i = 0; i < scene->part_count && result == FLR_OK; i++) {
        source_part *part = find_part(r, scene->parts[i].name);
        flr_mesh *mesh;
        r->fresh += !part;
        if (!part) continue;
        if (!flr_job_progress(&r->job, (double)i / (double)scene->part_count, "reading %s",
                              part->name))
            result = flr_fail(error, FLR_CANCELLED, "cancelled");
        if (result == FLR_OK) result = flr_scene_loader_load(&loader, i, &mesh, NULL, error);
        if (result != FLR_OK) break;
        part->found = true;
        if (flr_hash_equal(flr_mesh_hash(mesh), part->hash))
            flr_mesh_destroy(mesh);
        else
            part->mesh = mesh;
    }
    flr_scene_loader_end(&loader);
    return result;
}

static void reload_work(flr_job *job)
{
    source_reload *r = (source_reload *)job;
    flr_scene *scene = NULL;
    job->result = import_again(r, &job->error);
    if (job->result == FLR_OK) job->result = flr_scene_read(r->env, r->path, &scene, &job->error);
    if (job->result == FLR_OK) job->result = read_again(r, scene, &job->error);
    flr_scene_destroy(scene);
}

static void reload_done(flr_engine *e, flr_job *job)
{
    source_reload *r = (source_reload *)job;
    flr_sources *s = &e->sources;
    s->reloading = false;
    if (job->result != FLR_OK || r->scene != e->scene) return;
    uint32_t changed = 0, gone = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t k = 0;
        gone += !r->parts[i].found;
        if (!r->parts[i].mesh) continue;
        while (k < e->members.count && strcmp(e->members.list[k].name, r->parts[i].name) != 0) k++;
        if (k == e->members.count) continue;
        flr_engine_add_def def = flr_default_engine_add_def();
        def.name = r->parts[i].name;
        def.mesh = r->parts[i].mesh;
        def.replaces = flr_engine_part_id(e, e->members.list[k].part);
        r->parts[i].mesh = NULL; // the engine's from here on
        changed += flr_engine_add(e, &def, NULL, NULL, NULL) == FLR_OK;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        s->files[i].known = s->files[i].seen;
        s->files[i].changed = false;
    }
    s->changed = 0;
    flr_engine_tell(e, FLR_ENGINE_EVENT_FILES);
    char rest[120] = "";
    if (r->fresh || gone)
        snprintf(rest, sizeof rest,
                 "; %u parts of the files are new and %u are missing: open the scene again to "
                 "follow that",
                 r->fresh, gone);
    FLR_ENGINE_NOTE(e, "read again: %u %s another shape%s", changed,
                    flr_noun(changed, "part has", "parts have"), rest);
}

static void reload_drop(flr_job *job)
{
    source_reload *r = (source_reload *)job;
    for (uint32_t i = 0; i < r->count; i++) flr_mesh_destroy(r->parts[i].mesh);
    free(r->parts);
    free(r);
}

flr_result flr_engine_reload_files(flr_engine *e, flr_error *error)
{
    flr_sources *s = &e->sources;
    if (!s->changed)
        return flr_fail(error, FLR_NOT_FOUND,
                        s->watch ? "no file of the scene has changed"
                                 : "files are not watched; start feeler with "
                                   "--watch");
    if (s->reloading) return flr_fail(error, FLR_AGAIN, "files are being read again already");
    flr_result result = flr_engine_can_post(e, error);
    if (result != FLR_OK) return result;
    source_reload *r = calloc(1, sizeof *r);
    if (r) r->parts = calloc(e->members.count + 1u, sizeof *r->parts);
    if (!r || !r->parts) {
        if (r) reload_drop(&r->job);
        return flr_engine_no_memory(error);
    }
    for (uint32_t i = 0; i < e->members.count; i++) {
        source_part *part = &r->parts[r->count++];
        memcpy(part->name, e->members.list[i].name, sizeof part->name);
        part->hash = e->members.list[i].shape->mesh->hash;
    }
    r->env = e->def.env;
    r->scene = e->scene;
    memcpy(r->origin, s->origin, sizeof r->origin);
    flr_text_copy(r->path, sizeof r->path, e->path);
    r->options = e->def.options;
    r->options.go_on = flr_build_job_goes_on;
    r->options.context = &r->job;
    r->job = (flr_job){.work = reload_work, .done = reload_done, .drop = reload_drop};
    s->reloading = true;
    return flr_engine_post(e, &r->job, FLR_WIRE_JOB_IMPORT, FLR_NO_PART_ID, "changed files", NULL);
}
