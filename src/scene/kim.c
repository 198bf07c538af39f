/* Kim's text configuration as a scene */
#include "scene/kim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "scene/number_lines.h"

enum { MAX_MODELS = 4096 };

static const double foot = 0.3048;

typedef struct config {
    flr_rows lines;
    flr_error *error;
    bool haptic, barrier;
    flr_scene_part *parts;
    char **texts; /* of each part: its file, its name */
    size_t count, capacity, wanted;
} config;

bool flr_kim_recognize(const void *bytes, size_t size)
{
    static const char first[] = "haptic";
    const char *text = bytes;
    while (size && (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n'))
        text++, size--;
    return size >= sizeof first - 1 && strncasecmp(text, first, sizeof first - 1) == 0;
}

/* ---- "Key: value (remark)" ---- */

static void skip_blanks(flr_rows *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) r->at++;
}

/* The next line is that of `key`, whose blanks may be underlines; the reader then stands behind its colon. */
static bool read_key(config *c, const char *key)
{
    flr_rows *r = &c->lines;
    if (!flr_rows_next(r)) return flr_rows_fail(r, "the file ends before the line ", key);
    const char *at = r->at;
    for (const char *k = key; *k; k++, at++) {
        bool blank = *k == ' ' && at < r->end && (*at == ' ' || *at == '_');
        if (!blank && (at == r->end || strncasecmp(at, k, 1) != 0))
            return flr_rows_fail(r, "expected a line that begins with ", key);
    }
    r->at = at;
    skip_blanks(r);
    if (r->at == r->end || *r->at != ':') return flr_rows_fail(r, "expected a colon behind ", key);
    r->at++;
    return true;
}

/* what follows a value: nothing, or a remark in parentheses */
static bool end_value(flr_rows *r)
{
    skip_blanks(r);
    if (r->at < r->end && *r->at == '(') return true;
    return flr_rows_end(r, "nothing but a remark in parentheses may follow");
}

static bool read_whole(config *c, const char *key, double high, double *value)
{
    flr_rows *r = &c->lines;
    const char *start;
    if (!read_key(c, key) || !flr_rows_number(r, "a number is missing: ", key, &start, value))
        return false;
    if (!(*value >= 0 && *value <= high && floor(*value) == *value)) {
        r->at = start;
        return flr_rows_fail(
            r, high == 1 ? "must be 0 or 1: " : "must be a whole number, at most 4096: ", key);
    }
    return end_value(r);
}

/* ---- models ---- */

/* the file's name: up to a blank, or in quotation marks. Copied. */
static bool read_file(config *c, char **file)
{
    flr_rows *r = &c->lines;
    char quote = *r->at == '"' ? '"' : 0;
    const char *from = r->at + (quote != 0), *to = from;
    while (to < r->end && *to != '\n' && (quote ? *to != quote : (unsigned char)*to > ' ')) to++;
    if (quote && (to == r->end || *to != quote))
        return flr_rows_fail(r, "the file name has no closing quotation mark", "");
    if (to == from) return flr_rows_fail(r, "the file name is empty", "");
    for (const char *at = from; at < to;) {
        uint32_t code;
        size_t bytes = flr_utf8_size(at, (size_t)(to - at), &code);
        if (!bytes || flr_utf8_is_control(code))
            return flr_rows_fail(r, "the file name has a character that is none", "");
        at += bytes;
    }
    *file = strndup(from, (size_t)(to - from));
    if (!*file) {
        flr_fail(c->error, FLR_NO_MEMORY, "%s: no memory for the scene", r->name);
        return false;
    }
    r->at = to + (quote != 0);
    return true;
}

/* the file's name without folder and ending; "2" and so on behind one that is taken */
static char *make_name(const config *c, const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash && slash[1] ? slash + 1 : file;
    const char *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base), same = 1;
    for (size_t i = 0; i < c->count; i++) same += strcmp(c->texts[2 * i], file) == 0;
    char *name = malloc(length + 24);
    if (!name) return NULL;
    if (same > 1)
        snprintf(name, length + 24, "%.*s %zu", (int)length, base, same);
    else
        snprintf(name, length + 24, "%.*s", (int)length, base);
    return name;
}

/* Room for one more model. The arrays grow with the models that are there: how many the file says there will be costs
 * nothing. */
static bool grow(config *c)
{
    if (c->count < c->capacity) return true;
    size_t capacity = c->capacity ? 2 * c->capacity : 8;
    flr_scene_part *parts = realloc(c->parts, capacity * sizeof *parts);
    if (parts) c->parts = parts;
    char **texts = parts ? realloc(c->texts, 2 * capacity * sizeof *texts) : NULL;
    if (!texts) {
        flr_fail(c->error, FLR_NO_MEMORY, "%s: no memory for the scene", c->lines.name);
        return false;
    }
    memset(texts + 2 * c->capacity, 0, 2 * (capacity - c->capacity) * sizeof *texts);
    c->texts = texts;
    c->capacity = capacity;
    return true;
}

/* "FILE x y z scale voxel" */
static bool read_model(config *c)
{
    flr_rows *r = &c->lines;
    if (!flr_rows_next(r)) {
        char text[64];
        snprintf(text, sizeof text, "%zu of %zu are there", c->count, c->wanted);
        return flr_rows_fail(r, "the file ends before all models: ", text);
    }
    if (!grow(c)) return false;
    flr_scene_part *part = &c->parts[c->count];
    *part = flr_default_scene_part();
    part->line = r->line;
    part->column = 1;
    for (const char *at = r->line_start; at < r->at; at++) part->column++;
    char **texts = c->texts + 2 * c->count;
    if (!read_file(c, &texts[0])) return false;
    texts[1] = make_name(c, texts[0]);
    c->count++;
    if (!texts[1]) {
        flr_fail(c->error, FLR_NO_MEMORY, "%s: no memory for the scene", r->name);
        return false;
    }
    static const char *const what[5] = {"x", "y", "z", "the scale", "the voxel size"};
    double value[5];
    for (int i = 0; i < 5; i++) {
        const char *start;
        if (!flr_rows_number(r, "a model has a file, x y z, scale and voxel size; missing: ",
                             what[i], &start, &value[i]))
            return false;
        bool fine = i < 3 ? fabs(value[i]) <= 1e6 : value[i] >= 1e-6 && value[i] <= 1e6;
        if (fine) continue;
        r->at = start;
        return flr_rows_fail(r, i < 3 ? "out of range: " : "must be from 1e-6 to 1e6: ", what[i]);
    }
    if (!flr_rows_end(r, "nothing may follow the voxel size")) return false;
    part->file = texts[0];
    part->name = texts[1];
    part->unit = value[3] * foot;
    part->T_world_part.p = flr_vec3_make(value[0] * foot, value[1] * foot, value[2] * foot);
    part->voxel = value[4] * foot;
    part->moving = true;
    return true;
}

/* ---- the whole ---- */

static bool read_config(config *c)
{
    double haptic, wanted, barrier = 0;
    if (!read_whole(c, "Haptic device", 1, &haptic) ||
        !read_whole(c, "Number of models", MAX_MODELS, &wanted))
        return false;
    if (wanted < 1) return flr_rows_fail(&c->lines, "a scene has at least one model", "");
    c->wanted = (size_t)wanted;
    while (c->count < c->wanted)
        if (!read_model(c)) return false;
    if (!read_whole(c, "Barrier synchronization", 1, &barrier)) return false;
    if (flr_rows_next(&c->lines))
        return flr_rows_fail(&c->lines, "nothing may follow the line Barrier_synchronization", "");
    c->haptic = haptic != 0, c->barrier = barrier != 0;
    return true;
}

/* names that differ by their folders alone would be the same: the later one gets its whole file name */
static void part_names(config *c)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(c->parts[k].name, c->parts[i].name) == 0) {
                c->parts[i].name = c->parts[i].file;
                break;
            }
}

flr_result flr_kim_read(const char *name, const void *bytes, size_t size,
                        flr_result (*use)(void *context, const flr_scene *scene, flr_error *error),
                        void *context, flr_error *error)
{
    flr_error why = {0};
    config c = {.lines = flr_rows_begin(name, bytes, size, &why), .error = &why};
    flr_result result = FLR_OK;
    if (read_config(&c)) {
        part_names(&c);
        char description[160];
        snprintf(description, sizeof description,
                 "from a text configuration: haptic device %s, barrier synchronization %s",
                 c.haptic ? "yes" : "no", c.barrier ? "yes" : "no");
        const char *slash = strrchr(name, '/'), *stem = slash && slash[1] ? slash + 1 : name;
        flr_scene scene = flr_default_scene();
        scene.name = *stem ? stem : "scene";
        scene.description = description;
        scene.unit = foot;
        scene.devices = c.haptic ? FLR_SCENE_DEVICES_FORCE : FLR_SCENE_DEVICES_NONE;
        scene.barrier = c.barrier;
        scene.parts = c.parts;
        scene.part_count = c.count;
        result = use(context, &scene, error);
    } else {
        result = why.code;
        if (error) *error = why;
    }
    for (size_t i = 0; i < 2 * c.capacity; i++) free(c.texts[i]);
    free(c.texts);
    free(c.parts);
    return result;
}
