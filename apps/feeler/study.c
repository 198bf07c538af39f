/* a study: its file, its tasks, and their results
 *
 * Every result is a file of its own, which appears whole or not at all and carries a hash of its content. So any number of
 * processes on any number of machines may work on a study, a kill costs only what was running, and nothing is
 * done twice. */
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/version.h"
#include "files.h"
#include "scene/scene.h"

enum { MAX_STUDY_FILE = 1 << 24, MAX_RESULT_FILE = 1 << 28, STUDY_PATH_SIZE = 4096 };

/* ---- the file ---- */

static const char *const commands[] = {"plan", "verify", "clash", "sweep"};
static const char *const options[] = {"part", "to",   "clearance", "overlap", "time",
                                      "seed", "path", "joint",     "from",    "samples"};

static bool is_one_of(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, list[i]) == 0) return true;
    return false;
}

static char *as_text(const json_t *value)
{
    char text[64];
    if (json_is_string(value)) return strdup(json_string_value(value));
    if (json_is_integer(value))
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    else
        snprintf(text, sizeof text, "%.17g", json_real_value(value));
    return strdup(text);
}

/* One value, a list of values, or {"from": 1, "to": 100}. */
static flr_result read_axis(flr_study *s, const char *path, const char *name, const json_t *given,
                            flr_error *error)
{
    if (s->axis_count == FLR_STUDY_MAX_AXES)
        return flr_fail(error, FLR_BAD_INPUT, "%s: has more than %d options", path,
                        FLR_STUDY_MAX_AXES - 1);
    flr_study_axis *axis = &s->axes[s->axis_count++];
    const json_t *from = json_object_get(given, "from"), *to = json_object_get(given, "to");
    const bool range = json_is_integer(from) && json_is_integer(to) && json_object_size(given) == 2;
    const long long first = range ? (long long)json_integer_value(from) : 0;
    const long long span = range ? (long long)json_integer_value(to) - first + 1 : 0;
    const size_t count = range ? (size_t)span : json_is_array(given) ? json_array_size(given) : 1;
    if (range ? span < 1 || span > FLR_STUDY_MAX_TASKS : count == 0)
        return flr_fail(error, FLR_BAD_INPUT, "%s: \"%s\" has no values", path, name);
    axis->name = strdup(name);
    axis->values = calloc(count, sizeof *axis->values);
    axis->contents = calloc(count, sizeof *axis->contents);
    if (!axis->name || !axis->values || !axis->contents) return flr_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_is_array(given) ? json_array_get(given, i) : given;
        char number[32];
        snprintf(number, sizeof number, "%lld", first + (long long)i);
        if (!range && !json_is_string(one) && !json_is_number(one))
            return flr_fail(error, FLR_BAD_INPUT,
                            "%s: a value of \"%s\" is neither a text nor a number", path, name);
        axis->values[i] = range ? strdup(number) : as_text(one);
        if (!axis->values[i]) return flr_fail_memory(error);
        axis->count++;
    }
    return FLR_OK;
}

static flr_result read_document(flr_study *s, const char *path, const json_t *d, flr_error *error)
{
    const char *key;
    json_t *value;
    const char *command = json_string_value(json_object_get(d, "study"));
    if (!command || !is_one_of(command, commands, sizeof commands / sizeof *commands))
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s: \"study\" has to be plan, verify, clash or sweep", path);
    snprintf(s->command, sizeof s->command, "%s", command);
    if (!json_object_get(d, "scenes"))
        return flr_fail(error, FLR_BAD_INPUT, "%s: \"scenes\" is missing", path);
    flr_result result = read_axis(s, path, "scenes", json_object_get(d, "scenes"), error);
    json_object_foreach((json_t *)(uintptr_t)d, key, value)
    {
        if (result != FLR_OK) return result;
        if (strcmp(key, "study") == 0 || strcmp(key, "scenes") == 0) continue;
        if (!is_one_of(key, options, sizeof options / sizeof *options))
            return flr_fail(error, FLR_BAD_INPUT, "%s: there is no key \"%.40s\" in a study", path,
                            key);
        result = read_axis(s, path, key, value, error);
    }
    return result;
}

/* ---- tasks ---- */

const char *flr_study_value(const flr_study *study, size_t task, size_t axis)
{
    // the last axis goes round first
    for (size_t i = study->axis_count; i-- > axis + 1;) task /= study->axes[i].count;
    return study->axes[axis].values[task % study->axes[axis].count];
}

/* A path beside the study, or an absolute one. free() it. */
static char *beside(const flr_study *s, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s%s", name[0] == '/' ? "" : s->folder, name) < 0 ? NULL : path;
}

/* A path of verify and sweep is a file, or the name of one in the scene. */
static bool may_be_file(const flr_study_axis *axis) { return strcmp(axis->name, "path") == 0; }

char *flr_study_argument(const flr_study *study, size_t task, size_t axis)
{
    const char *value = flr_study_value(study, task, axis);
    flr_path_info info;
    if (axis > 0 && !may_be_file(&study->axes[axis])) return strdup(value);
    char *path = beside(study, value);
    if (axis == 0 || !path ||
        (flr_path_look(study->env, path, &info, NULL) == FLR_OK && info.kind == FLR_PATH_FILE))
        return path;
    free(path);
    return strdup(value);
}

/* ---- what results depend on ---- */

/* A file that cannot be read counts as empty: the task that needs it reports why. */
static void add_file(flr_env *env, flr_hasher *hasher, const char *path)
{
    uint8_t bytes[1 << 16];
    flr_file *file = NULL;
    size_t got = 0;
    if (flr_file_open(env, path, FLR_FILE_READ, &file, NULL) != FLR_OK) return;
    for (uint64_t at = 0;
         flr_file_read(file, at, bytes, sizeof bytes, &got, NULL) == FLR_OK && got > 0; at += got)
        flr_hasher_add(hasher, bytes, got);
    flr_file_close(file);
}

static flr_result add_named(const flr_scene *scene, flr_env *env, flr_hasher *hasher,
                            const char *name, flr_error *error)
{
    char *path = flr_scene_file(scene, name);
    if (!path) return flr_fail_memory(error);
    add_file(env, hasher, path);
    free(path);
    return FLR_OK;
}

/* A scene, its meshes and its paths. */
static flr_result add_scene(flr_env *env, flr_hasher *hasher, const char *path, flr_error *error)
{
    flr_scene *scene = NULL;
    add_file(env, hasher, path);
    if (!flr_is_scene(path)) return FLR_OK;
    flr_result result = flr_scene_read(env, path, &scene, error);
    if (result != FLR_OK) return result;
    for (size_t i = 0; i < scene->part_count && result == FLR_OK; i++) {
        size_t k = 0;
        while (k < i && strcmp(scene->parts[k].file, scene->parts[i].file) != 0) k++;
        if (k == i) result = add_named(scene, env, hasher, scene->parts[i].file, error);
    }
    for (size_t i = 0; i < scene->path_count && result == FLR_OK; i++)
        if (scene->paths[i].poses)
            result = add_named(scene, env, hasher, scene->paths[i].poses, error);
    flr_scene_destroy(scene);
    return result;
}

static flr_result hash_files(flr_study *s, flr_error *error)
{
    flr_result result = FLR_OK;
    for (size_t k = 0; k < s->axis_count; k++) {
        flr_study_axis *axis = &s->axes[k];
        for (size_t i = 0; i < axis->count && result == FLR_OK; i++) {
            if (k > 0 && !may_be_file(axis)) continue;
            flr_hasher hasher = flr_hasher_begin();
            char *path = beside(s, axis->values[i]);
            if (!path) return flr_fail_memory(error);
            if (k == 0)
                result = add_scene(s->env, &hasher, path, error);
            else
                add_file(s->env, &hasher, path);
            axis->contents[i] = flr_hasher_end(&hasher);
            free(path);
        }
    }
    return result;
}

/* What names a result. */
static flr_result make_key(flr_study *s, size_t task, flr_error *error)
{
    char *text = NULL, contents[FLR_HASH_TEXT_SIZE];
    size_t size = 0, number = task;
    FILE *out = open_memstream(&text, &size);
    if (!out) return flr_fail_memory(error);
    fprintf(out, "%s\n%s\n", FLR_VERSION, s->command);
    for (size_t k = s->axis_count; k-- > 0;) {
        const flr_study_axis *axis = &s->axes[k];
        const size_t i = number % axis->count;
        number /= axis->count;
        fprintf(out, "%s\n%s\n%s\n", axis->name, axis->values[i],
                flr_hash_print(axis->contents[i], contents));
    }
    const bool written = fclose(out) == 0;
    if (written) flr_hash_print(flr_hash_bytes(text, size), s->tasks[task].key);
    free(text);
    return written ? FLR_OK : flr_fail_memory(error);
}

static flr_result make_tasks(flr_study *s, const char *path, flr_error *error)
{
    size_t count = 1;
    for (size_t i = 0; i < s->axis_count; i++) {
        count *= s->axes[i].count;
        if (count > FLR_STUDY_MAX_TASKS)
            return flr_fail(error, FLR_TOO_LARGE, "%s: has more than %d tasks", path,
                            FLR_STUDY_MAX_TASKS);
    }
    s->tasks = calloc(count, sizeof *s->tasks);
    if (!s->tasks) return flr_fail_memory(error);
    flr_result result = hash_files(s, error);
    for (size_t i = 0; i < count && result == FLR_OK; i++) {
        result = make_key(s, i, error);
        s->tasks[i].value = NAN;
    }
    if (result == FLR_OK) s->task_count = count;
    return result;
}

flr_result flr_study_read(flr_env *env, const char *path, const char *results, flr_study *study,
                          flr_error *error)
{
    flr_blob blob = {0};
    json_error_t why;
    *study = (flr_study){.env = env};
    flr_result result = flr_file_read_all(env, path, MAX_STUDY_FILE, &blob, error);
    if (result != FLR_OK) return result;
    json_t *d = json_loadb((const char *)blob.bytes, blob.size, JSON_REJECT_DUPLICATES, &why);
    flr_blob_free(&blob);
    if (!d || !json_is_object(d)) {
        json_decref(d);
        return flr_fail(error, FLR_BAD_INPUT, "%s:%d: is no study: %s", path, d ? 1 : why.line,
                        d ? "an object is expected" : why.text);
    }
    const char *slash = strrchr(path, '/');
    study->folder = strndup(path, slash ? (size_t)(slash + 1 - path) : 0);
    study->results = strdup(results);
    result = study->folder && study->results ? FLR_OK : flr_fail_memory(error);
    if (result == FLR_OK) result = read_document(study, path, d, error);
    json_decref(d);
    if (result == FLR_OK) result = make_tasks(study, path, error);
    return result;
}

void flr_study_free(flr_study *study)
{
    for (size_t i = 0; i < study->axis_count; i++) {
        for (size_t k = 0; k < study->axes[i].count; k++) free(study->axes[i].values[k]);
        free(study->axes[i].values);
        free(study->axes[i].contents);
        free(study->axes[i].name);
    }
    free(study->folder);
    free(study->results);
    free(study->tasks);
    *study = (flr_study){0};
}

/* ---- results ---- */

static void path_of(const flr_study *s, size_t task, char path[STUDY_PATH_SIZE])
{
    snprintf(path, STUDY_PATH_SIZE, "%s/%.2s/%s.json", s->results, s->tasks[task].key,
             s->tasks[task].key);
}

/* What a command measured: the least distance, or the number of findings. */
static double value_of(const flr_study *s, const json_t *d)
{
    const json_t *v = json_object_get(d, "lower");
    if (strcmp(s->command, "verify") == 0)
        v = json_object_get(json_array_get(json_object_get(d, "paths"), 0), "lower");
    if (strcmp(s->command, "clash") == 0) v = json_object_get(d, "findings");
    if (strcmp(s->command, "sweep") == 0) v = json_object_get(d, "clearance");
    if (json_is_array(v)) return (double)json_array_size(v);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

flr_result flr_study_load(flr_study *study, size_t task, flr_error *error)
{
    char path[STUDY_PATH_SIZE], hash[FLR_HASH_TEXT_SIZE];
    flr_path_info info;
    flr_blob blob = {0};
    flr_study_task *t = &study->tasks[task];
    path_of(study, task, path);
    t->done = false;
    flr_result result = flr_path_look(study->env, path, &info, error);
    if (result != FLR_OK || info.kind != FLR_PATH_FILE) return result;
    result = flr_file_read_all(study->env, path, MAX_RESULT_FILE, &blob, error);
    if (result != FLR_OK) return result;
    // the first line is the exit code and the hash of the rest
    const char *text = (const char *)blob.bytes, *end = memchr(text, '\n', blob.size);
    const size_t head = end ? (size_t)(end + 1 - text) : 0;
    if (end && head == FLR_HASH_TEXT_SIZE + 2 && (text[0] == '0' || text[0] == '1')) {
        flr_hash_print(flr_hash_bytes(text + head, blob.size - head), hash);
        if (memcmp(hash, text + 2, FLR_HASH_TEXT_SIZE - 1) == 0) {
            json_t *d = json_loadb(text + head, blob.size - head, 0, NULL);
            t->done = d != NULL;
            t->code = text[0] - '0';
            t->value = value_of(study, d);
            json_decref(d);
        }
    }
    flr_blob_free(&blob);
    return FLR_OK;
}

flr_result flr_study_store(flr_study *study, size_t task, int code, const char *json,
                           flr_error *error)
{
    char path[STUDY_PATH_SIZE], folder[STUDY_PATH_SIZE], hash[FLR_HASH_TEXT_SIZE], *text = NULL;
    size_t size = 0;
    path_of(study, task, path);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    flr_result result = flr_path_make_folder(study->env, folder, error);
    FILE *out = open_memstream(&text, &size);
    if (!out) return flr_fail_memory(error);
    fprintf(out, "%d %s\n%s", code, flr_hash_print(flr_hash_bytes(json, strlen(json)), hash), json);
    if (fclose(out) != 0 && result == FLR_OK) result = flr_fail_memory(error);
    if (result == FLR_OK) result = flr_file_write_all(study->env, path, text, size, error);
    free(text);
    return result;
}
