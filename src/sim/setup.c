/* all that determines a run but the way of the hand */
#include "sim/setup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "feeler/base.h"

flr_setup flr_default_setup(void)
{
    return (flr_setup){.options = flr_default_mesh_options(),
                       .rate = 1000,
                       .params = flr_default_world_params(),
                       .onset = -1,
                       .dead_man = -1};
}

flr_result flr_setup_stage(flr_env *env, const flr_setup *setup, const flr_scene *scene,
                           const flr_stage_def *like, flr_stage **stage, flr_error *error)
{
    flr_stage_def def = *like;
    def.scene = scene;
    def.options = setup->options;
    def.voxel = setup->voxel;
    def.moving_voxel = setup->moving_voxel;
    def.common = setup->common;
    def.rate = setup->rate;
    def.params = setup->params;
    def.onset = setup->onset;
    def.has_tool = true;
    def.tool = setup->tool;
    return flr_stage_create(env, &def, stage, error);
}

/* ---- texts ---- */

void flr_texts_add(flr_texts *texts, const char *key, const char *format, ...)
{
    if (texts->failed) return;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *copy = strdup(key), *value = size < 0 ? NULL : malloc((size_t)size + 1);
    texts->failed =
        !copy || !value || !flr_array_resize(&texts->list, texts->count + 3, sizeof *texts->list);
    if (texts->failed) {
        free(copy);
        free(value);
        return;
    }
    va_start(arguments, format);
    vsnprintf(value, (size_t)size + 1, format, arguments);
    va_end(arguments);
    texts->list[texts->count++] = copy;
    texts->list[texts->count++] = value;
    texts->list[texts->count] = NULL;
}

flr_result flr_texts_end(const flr_texts *texts, flr_error *error)
{
    if (!texts->failed) return FLR_OK;
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory to describe the run");
}

void flr_texts_free(flr_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) free(texts->list[i]);
    free(texts->list);
    *texts = (flr_texts){0};
}

const char *flr_texts_find(const flr_texts *texts, const char *key)
{
    for (size_t i = 0; i + 1 < texts->count; i += 2)
        if (strcmp(texts->list[i], key) == 0) return texts->list[i + 1];
    return NULL;
}

/* ---- the numbers ---- */

/* a newer flag or number is missing in older recordings: then the default counts */
typedef enum field_kind {
    SETUP_NUMBER,
    SETUP_COUNT,
    SETUP_FLAG,
    NEWER_FLAG,
    NEWER_NUMBER,
    SETUP_WORD
} field_kind;

typedef struct setup_field {
    const char *key;
    size_t offset; /* in flr_setup */
    field_kind kind;
    const char *const *words; /* of WORD: an enum from 0, NULL-ended */
    double low, high;
} setup_field;

static const char *const integrators[] = {"implicit", "explicit", "quasi-static", NULL};
_Static_assert(sizeof(flr_integrator) == sizeof(int) && sizeof(flr_force_model) == sizeof(int) &&
                   sizeof(flr_world_engine) == sizeof(int) && sizeof(flr_tool) == sizeof(int),
               "words are kept as int");

#define SETUP_AT(member) offsetof(flr_setup, member)
#define ANY              -INFINITY, INFINITY
static const setup_field fields[] = {
    {"rate", SETUP_AT(rate), SETUP_NUMBER, NULL, 250, 10000},
    {"voxel", SETUP_AT(voxel), SETUP_NUMBER, NULL, 0, INFINITY},
    {"moving_voxel", SETUP_AT(moving_voxel), SETUP_NUMBER, NULL, 0, INFINITY},
    {"voxel.common", SETUP_AT(common), NEWER_NUMBER, NULL, 0, INFINITY},
    {"mesh.unit", SETUP_AT(options.unit), SETUP_NUMBER, NULL, 0, INFINITY},
    {"mesh.weld", SETUP_AT(options.weld), SETUP_NUMBER, NULL, 0, INFINITY},
    {"mesh.chord", SETUP_AT(options.chord), SETUP_NUMBER, NULL, 0, INFINITY},
    {"mesh.tolerant", SETUP_AT(options.tolerant), SETUP_FLAG, NULL, 0, 1},
    {"contact.force_layer", SETUP_AT(params.contact.force_layer), SETUP_COUNT, NULL, 0, 252},
    {"contact.layer_onset", SETUP_AT(params.contact.onset), NEWER_NUMBER, NULL, 0, 1},
    {"contact.model", SETUP_AT(params.contact.model), SETUP_WORD, flr_scene_models, 0, 0},
    {"contact.awareness", SETUP_AT(params.contact.awareness), SETUP_FLAG, NULL, 0, 1},
    {"contact.stiffness", SETUP_AT(params.contact.stiffness), SETUP_NUMBER, NULL, 0, INFINITY},
    {"contact.full", SETUP_AT(params.contact.full), SETUP_COUNT, NULL, 0, UINT32_MAX},
    {"contact.displace", SETUP_AT(params.contact.displacement), SETUP_NUMBER, NULL, ANY},
    {"contact.engine", SETUP_AT(params.engine), SETUP_WORD, flr_scene_engines, 0, 0},
    {"contact.restitution", SETUP_AT(params.restitution), SETUP_NUMBER, NULL, 0, 1},
    {"contact.tests", SETUP_AT(params.tests), NEWER_NUMBER, NULL, 1, 1e9},
    {"contact.onset", SETUP_AT(params.exact.onset), NEWER_NUMBER, NULL, 0, 1},
    {"contact.strength", SETUP_AT(params.exact.strength), NEWER_NUMBER, NULL, 0.01, 100},
    {"contact.overlap", SETUP_AT(params.exact.overlap), NEWER_NUMBER, NULL, 0, 1},
    {"friction", SETUP_AT(params.friction), SETUP_NUMBER, NULL, 0, INFINITY},
    {"depth", SETUP_AT(params.depth), SETUP_NUMBER, NULL, 0, INFINITY},
    {"unchecked", SETUP_AT(params.unchecked), SETUP_NUMBER, NULL, 0, INFINITY},
    {"step.integrator", SETUP_AT(params.step.integrator), SETUP_WORD, integrators, 0, 0},
    {"step.gravity.x", SETUP_AT(params.step.gravity.x), SETUP_NUMBER, NULL, ANY},
    {"step.gravity.y", SETUP_AT(params.step.gravity.y), SETUP_NUMBER, NULL, ANY},
    {"step.gravity.z", SETUP_AT(params.step.gravity.z), SETUP_NUMBER, NULL, ANY},
    {"step.damping", SETUP_AT(params.step.damping), SETUP_NUMBER, NULL, 0, INFINITY},
    {"step.braking", SETUP_AT(params.step.braking), SETUP_NUMBER, NULL, 0, 1},
    {"step.bounded", SETUP_AT(params.step.bounded), SETUP_FLAG, NULL, 0, 1},
    {"step.travel", SETUP_AT(params.step.travel), SETUP_NUMBER, NULL, 0, INFINITY},
    {"coupling.stiffness", SETUP_AT(params.coupling.stiffness), SETUP_NUMBER, NULL, 0, INFINITY},
    {"coupling.turn_stiffness", SETUP_AT(params.coupling.turn_stiffness), SETUP_NUMBER, NULL, 0,
     INFINITY},
    {"coupling.damping", SETUP_AT(params.coupling.damping), SETUP_NUMBER, NULL, 0, INFINITY},
    {"coupling.stretch", SETUP_AT(params.coupling.stretch), SETUP_NUMBER, NULL, 0, INFINITY},
    {"coupling.turn", SETUP_AT(params.coupling.turn), SETUP_NUMBER, NULL, 0, INFINITY},
    {"coupling.firm", SETUP_AT(params.coupling.firm), NEWER_FLAG, NULL, 0, 1},
    {"coupling.hold", SETUP_AT(params.coupling.hold), SETUP_NUMBER, NULL, 0, INFINITY},
    {"coupling.fade", SETUP_AT(params.coupling.fade), SETUP_NUMBER, NULL, 0, INFINITY},
    {"passivity.control", SETUP_AT(params.passivity.control), SETUP_FLAG, NULL, 0, 1},
    {"passivity.store", SETUP_AT(params.passivity.store), SETUP_NUMBER, NULL, 0, INFINITY},
    {"passivity.damping", SETUP_AT(params.passivity.damping), SETUP_NUMBER, NULL, 0, INFINITY},
    {"passivity.radius", SETUP_AT(params.passivity.radius), SETUP_NUMBER, NULL, 0, INFINITY},
    {"passivity.bound", SETUP_AT(params.passivity.bound), SETUP_NUMBER, NULL, 0, INFINITY},
    {"passivity.agility", SETUP_AT(params.passivity.agility), SETUP_NUMBER, NULL, 0, INFINITY},
    {"passivity.turn_agility", SETUP_AT(params.passivity.turn_agility), SETUP_NUMBER, NULL, 0,
     INFINITY},
    {"passivity.delay", SETUP_AT(params.passivity.delay), SETUP_NUMBER, NULL, 0, 1},
    {"passivity.slew", SETUP_AT(params.passivity.slew), SETUP_NUMBER, NULL, 0, INFINITY},
    {"passivity.turn_slew", SETUP_AT(params.passivity.turn_slew), SETUP_NUMBER, NULL, 0, INFINITY},
    {"tool", SETUP_AT(tool), SETUP_WORD, flr_scene_tools, 0, 0},
    {"point.stiffness", SETUP_AT(params.proxy.stiffness), SETUP_NUMBER, NULL, 0, INFINITY},
    {"point.static_friction", SETUP_AT(params.proxy.static_friction), SETUP_NUMBER, NULL, 0,
     INFINITY},
    {"point.dynamic_friction", SETUP_AT(params.proxy.dynamic_friction), SETUP_NUMBER, NULL, 0,
     INFINITY},
    {"point.shading", SETUP_AT(params.proxy.shading), SETUP_FLAG, NULL, 0, 1},
    {"device.force", SETUP_AT(device_force), SETUP_NUMBER, NULL, 0, 1e4},
    {"device.torque", SETUP_AT(device_torque), SETUP_NUMBER, NULL, 0, 1e4},
};
enum { SETUP_FIELDS = sizeof fields / sizeof *fields };

static void write_field(const setup_field *f, const flr_setup *setup, flr_texts *texts)
{
    const void *at = (const char *)setup + f->offset;
    switch (f->kind) {
    case SETUP_NUMBER:
    case NEWER_NUMBER: {
        double value = *(const double *)at;
        flr_texts_add(texts, f->key, "%s", isfinite(value) ? FLR_NUMBER_TEXT(value) : "inf");
        break;
    }
    case SETUP_COUNT:
        flr_texts_add(texts, f->key, "%u", *(const unsigned *)at);
        break;
    case SETUP_FLAG:
    case NEWER_FLAG:
        flr_texts_add(texts, f->key, "%s", *(const bool *)at ? "true" : "false");
        break;
    case SETUP_WORD:
        flr_texts_add(texts, f->key, "%s", f->words[*(const int *)at]);
        break;
    }
}

/* false: the text is no such value */
static bool read_field(const setup_field *f, const char *text, flr_setup *setup)
{
    void *at = (char *)setup + f->offset;
    double number = INFINITY;
    const char *end = text;
    if (f->kind == SETUP_WORD) {
        for (int i = 0; f->words[i]; i++)
            if (strcmp(f->words[i], text) == 0) {
                *(int *)at = i;
                return true;
            }
        return false;
    }
    if (f->kind == SETUP_FLAG || f->kind == NEWER_FLAG) {
        *(bool *)at = strcmp(text, "true") == 0;
        return *(bool *)at || strcmp(text, "false") == 0;
    }
    if (strcmp(text, "inf") != 0 && (flr_number_parse(text, &number, &end, NULL) != FLR_OK || *end))
        return false;
    if (!(number >= f->low && number <= f->high)) return false;
    if (f->kind == SETUP_NUMBER || f->kind == NEWER_NUMBER)
        *(double *)at = number;
    else
        *(unsigned *)at = (unsigned)number;
    return true;
}

/* ---- the whole ---- */

flr_result flr_setup_hash_scene(const flr_scene *scene, char hash[FLR_HASH_TEXT_SIZE],
                                flr_error *error)
{
    flr_blob text;
    flr_result result = flr_scene_print(scene, &text, error);
    if (result != FLR_OK) return result;
    flr_hash_print(flr_hash_bytes(text.bytes, text.size), hash);
    flr_blob_free(&text);
    return FLR_OK;
}

void flr_setup_write_part(uint32_t number, const flr_part_entry *part, flr_texts *texts)
{
    char key[48];
    snprintf(key, sizeof key, "parts.%u.name", number);
    flr_texts_add(texts, key, "%s", part->name);
    snprintf(key, sizeof key, "parts.%u.moving", number);
    flr_texts_add(texts, key, "%s", part->kind != FLR_PART_STATIC ? "true" : "false");
    snprintf(key, sizeof key, "parts.%u.mesh", number);
    flr_texts_add(texts, key, "%s", FLR_HASH_TEXT(part->shape->mesh->hash));
    snprintf(key, sizeof key, "parts.%u.mass", number);
    if (part->mass > 0) flr_texts_add(texts, key, "%s", FLR_NUMBER_TEXT(part->mass));
    snprintf(key, sizeof key, "parts.%u.density", number);
    if (part->density > 0) flr_texts_add(texts, key, "%s", FLR_NUMBER_TEXT(part->density));
}

void flr_setup_write_numbers(const flr_setup *setup, flr_texts *texts)
{
    flr_texts_add(texts, "device.dead_man", "%d", setup->dead_man);
    if (setup->live) flr_texts_add(texts, "source", "serve");
    for (size_t i = 0; i < SETUP_FIELDS; i++) write_field(&fields[i], setup, texts);
}

flr_result flr_setup_write(const flr_setup *setup, const flr_scene *scene, const flr_stage *stage,
                           flr_texts *texts, flr_error *error)
{
    char hash[FLR_HASH_TEXT_SIZE];
    uint32_t held = flr_stage_find(stage, setup->part);
    flr_result result = flr_setup_hash_scene(scene, hash, error);
    if (result != FLR_OK) return result;
    flr_texts_add(texts, "scene", "%s", setup->scene);
    flr_texts_add(texts, "scene.name", "%s", scene->name);
    flr_texts_add(texts, "scene.hash", "%s", hash);
    flr_texts_add(texts, "scene.unit", "%s", FLR_NUMBER_TEXT(scene->unit));
    if (setup->tool == FLR_TOOL_POINT)
        flr_texts_add(texts, "part", "%s", "");
    else if (held < stage->parts.count)
        flr_texts_add(texts, "part", "%s", stage->parts.list[held].name);
    flr_texts_add(texts, "voxel.least", "%s", FLR_NUMBER_TEXT(stage->voxel));
    flr_setup_write_numbers(setup, texts);
    for (uint32_t i = 0; i < stage->parts.count; i++)
        flr_setup_write_part(i, &stage->parts.list[i], texts);
    return flr_texts_end(texts, error);
}

flr_result flr_setup_read_numbers(const char *(*text)(const void *context, const char *key),
                                  const void *context, const char *path, flr_setup *setup,
                                  flr_error *error)
{
    flr_setup found = *setup;
    const char *dead_man = text(context, "device.dead_man"), *source = text(context, "source");
    if (!dead_man)
        return flr_fail(error, FLR_BAD_INPUT, "%s: \"device.dead_man\" is missing", path);
    found.live = source && strcmp(source, "serve") == 0;
    found.dead_man = (int)strtol(dead_man, NULL, 10);
    if (found.dead_man < -1 || found.dead_man > 31)
        return flr_fail(error, FLR_BAD_INPUT, "%s: \"device.dead_man\" cannot be \"%s\"", path,
                        dead_man);
    for (size_t i = 0; i < SETUP_FIELDS; i++) {
        const char *value = text(context, fields[i].key);
        if (!value && (fields[i].kind == NEWER_FLAG || fields[i].kind == NEWER_NUMBER)) continue;
        if (!value)
            return flr_fail(error, FLR_BAD_INPUT,
                            "%s: \"%s\" is missing; it was made by another version of feeler", path,
                            fields[i].key);
        if (!read_field(&fields[i], value, &found))
            return flr_fail(error, FLR_BAD_INPUT, "%s: \"%s\" cannot be \"%.60s\"", path,
                            fields[i].key, value);
    }
    *setup = found;
    return FLR_OK;
}

static const char *recorded_text(const void *recording, const char *key)
{
    return flr_recording_text(recording, key);
}

flr_result flr_setup_read(const flr_recording *recording, const char *path, flr_setup *setup,
                          flr_error *error)
{
    flr_setup found = flr_default_setup();
    found.scene = flr_recording_text(recording, "scene");
    found.part = flr_recording_text(recording, "part");
    if (!found.scene || !found.part || !flr_recording_text(recording, "device.dead_man"))
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s does not say which scene was run; it is no recording of feeler run "
                        "or feeler serve",
                        path);
    flr_result result = flr_setup_read_numbers(recorded_text, recording, path, &found, error);
    if (result == FLR_OK) *setup = found;
    return result;
}

flr_result flr_setup_compare(const flr_recording *recording, const flr_scene *scene,
                             const flr_part_list *parts, bool *scene_changed, flr_error *error)
{
    const char *file = scene->path ? scene->path : scene->name;
    char key[48], hash[FLR_HASH_TEXT_SIZE];
    flr_result result = flr_setup_hash_scene(scene, hash, error);
    if (result != FLR_OK) return result;
    const char *then = flr_recording_text(recording, "scene.hash");
    *scene_changed = !then || (then[0] && strcmp(then, hash) != 0);
    for (size_t i = 0; i < scene->part_count; i++) {
        const flr_scene_part *part = &scene->parts[i];
        snprintf(key, sizeof key, "parts.%zu.name", i);
        const char *name = flr_recording_text(recording, key);
        if (!name || strcmp(name, part->name) != 0)
            return flr_fail(error, FLR_BAD_INPUT,
                            "%s: part \"%s\" was not there, or at another place, when this was "
                            "recorded",
                            file, part->name);
        snprintf(key, sizeof key, "parts.%zu.mesh", i);
        const char *mesh = flr_recording_text(recording, key);
        if (!mesh || strcmp(mesh, flr_hash_print(parts->list[i].shape->mesh->hash, hash)) != 0)
            return flr_fail(error, FLR_BAD_INPUT,
                            "%s: the mesh of part \"%s\" has changed since this was recorded", file,
                            part->name);
    }
    snprintf(key, sizeof key, "parts.%zu.name", scene->part_count);
    const char *missing = flr_recording_text(recording, key);
    if (missing)
        return flr_fail(error, FLR_BAD_INPUT, "%s: part \"%s\", which was recorded, is missing",
                        file, missing);
    return FLR_OK;
}
