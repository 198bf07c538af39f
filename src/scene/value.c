/* single values out of a JSON tree */
#include "scene/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "feeler/base.h"
#include "feeler/mesh.h"
#include "scene/length.h"

enum { VALUE_DEPTH_MAX = 8 }; /* no field lies deeper in a scene */

flr_value flr_value_member(const flr_value *object, const char *key)
{
    return (flr_value){object->context, object, key, 0, json_object_get(object->json, key)};
}

flr_value flr_value_element(const flr_value *array, size_t index)
{
    return (flr_value){array->context, array, NULL, index, json_array_get(array->json, index)};
}

/* the how-manieth member of an object has this key */
static size_t member_index(json_t *object, const char *wanted)
{
    size_t index = 0;
    const char *key;
    json_t *member;
    json_object_foreach(object, key, member)
    {
        if (!strcmp(key, wanted)) break;
        index++;
    }
    return index;
}

/* the chain of positions from the root to a value; returns its length */
static size_t chain_of(const flr_value *value, size_t chain[VALUE_DEPTH_MAX])
{
    size_t depth = 0;
    for (const flr_value *v = value; v->up; v = v->up) depth++;
    size_t i = depth;
    for (const flr_value *v = value; v->up; v = v->up)
        chain[--i] = v->key ? member_index(v->up->json, v->key) : v->index;
    return depth;
}

void flr_value_places(const flr_value *array, flr_json_position *positions, size_t count)
{
    size_t chain[VALUE_DEPTH_MAX], depth = chain_of(array, chain);
    flr_json_locate_each(array->context->text, array->context->size, chain, depth, positions,
                         count);
}

/* "parts[2].voxel", from the root down; returns the end */
static size_t print_field(const flr_value *value, char *text, size_t size)
{
    if (!value->up) return 0;
    size_t at = print_field(value->up, text, size);
    int wrote = value->key ? snprintf(text + at, size - at, "%s%.40s", at ? "." : "", value->key)
                           : snprintf(text + at, size - at, "[%zu]", value->index);
    size_t end = at + (size_t)wrote;
    return end < size ? end : size - 1;
}

static bool fail_at(const flr_value *value, bool at_key, const char *format, va_list arguments)
{
    char field[128] = "", sentence[FLR_ERROR_MESSAGE_SIZE];
    size_t length = print_field(value, field, sizeof field);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    size_t chain[VALUE_DEPTH_MAX], depth = chain_of(value, chain);
    flr_json_position position =
        flr_json_locate(value->context->text, value->context->size, chain, depth, at_key);
    flr_fail(value->context->error, FLR_BAD_INPUT, "%s:%u:%u: %s%s%s", value->context->name,
             position.line, position.column, field, length ? ": " : "", sentence);
    return false;
}

bool flr_value_fail(const flr_value *value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_at(value, false, format, arguments);
    va_end(arguments);
    return false;
}

static bool fail_at_key(const flr_value *value, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail_at_key(const flr_value *value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_at(value, true, format, arguments);
    va_end(arguments);
    return false;
}

static const char *kind_of(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    default:
        return "a number";
    }
}

static bool fail_kind(const flr_value *value, const char *wanted)
{
    return flr_value_fail(value, "must be %s, not %s", wanted, kind_of(value->json));
}

bool flr_value_object(const flr_value *value, flr_scene_object kind)
{
    if (!json_is_object(value->json)) return fail_kind(value, "an object");
    const flr_scene_key *keys = flr_scene_keys[kind];
    const char *names[FLR_SCENE_KEY_MAX];
    size_t count = 0;
    for (; keys[count].name; count++) names[count] = keys[count].name;

    // unknown keys are mistyped keys more often than not
    const char *key;
    json_t *member;
    json_object_foreach(value->json, key, member)
    {
        size_t i = 0;
        while (i < count && strcmp(names[i], key) != 0) i++;
        if (i < count) continue;
        flr_value unknown = flr_value_member(value, key);
        const char *meant = flr_suggest(key, names, count);
        if (meant) return fail_at_key(&unknown, "unknown key; did you mean \"%s\"?", meant);
        char known[256] = "";
        size_t at = 0;
        for (i = 0; i < count && at < sizeof known; i++)
            at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", names[i]);
        return fail_at_key(&unknown, "unknown key; known here are %s", known);
    }
    for (size_t i = 0; i < count; i++)
        if (keys[i].required && !json_object_get(value->json, names[i]))
            return flr_value_fail(value, "\"%s\" is missing", names[i]);
    return true;
}

bool flr_value_bool(const flr_value *value, bool *out)
{
    if (!value->json) return true;
    if (!json_is_boolean(value->json)) return fail_kind(value, "true or false");
    *out = json_is_true(value->json);
    return true;
}

bool flr_value_text(const flr_value *value, const char **out)
{
    if (!value->json) return true;
    const char *text = json_string_value(value->json);
    if (!text) return fail_kind(value, "a text");
    if (!*text) return flr_value_fail(value, "must not be empty");
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return flr_value_fail(value, "must not hold control characters such as a line break");
    *out = text;
    return true;
}

static bool read_number(const flr_value *value, double *out)
{
    if (!json_is_number(value->json)) return fail_kind(value, "a number");
    *out = json_number_value(value->json) + 0.0;
    return true;
}

bool flr_value_positive(const flr_value *value, double *out)
{
    if (!value->json) return true;
    double number = 0;
    if (!read_number(value, &number)) return false;
    if (!(number > 0)) return flr_value_fail(value, "must be greater than 0");
    *out = number;
    return true;
}

bool flr_value_unit(const flr_value *value, double *out)
{
    if (!value->json) return true;
    const char *name = json_string_value(value->json);
    if (!name && !json_is_number(value->json))
        return fail_kind(value, "the name of a unit or its length in metres");
    if (!name) return flr_value_positive(value, out);
    double unit;
    if (flr_unit_parse(name, &unit, NULL) != FLR_OK || !flr_unit_name(unit))
        return flr_value_fail(
            value, "'%.40s' is not a unit; use one of " FLR_UNIT_NAMES " or a number of metres",
            name);
    *out = unit;
    return true;
}

/* a length in metres: a number in the scene's unit, or a text with its own */
static bool read_length(const flr_value *value, double *out)
{
    const char *text = json_string_value(value->json);
    double metres = 0;
    if (text) {
        flr_error why;
        if (flr_size_parse(text, 0, &metres, &why) != FLR_OK)
            return flr_value_fail(value, "%s", why.message);
    } else {
        if (!json_is_number(value->json))
            return fail_kind(value, "a number or a text such as \"0.35mm\"");
        metres = json_number_value(value->json) * value->context->unit + 0.0;
    }
    if (!(fabs(metres) <= FLR_MESH_MAX_COORDINATE))
        return flr_value_fail(value, "is farther out than %g m", FLR_MESH_MAX_COORDINATE);
    *out = metres;
    return true;
}

bool flr_value_size(const flr_value *value, double *out)
{
    if (!value->json) return true;
    double metres = 0;
    if (!read_length(value, &metres)) return false;
    if (!(metres > 0)) return flr_value_fail(value, "must be greater than 0");
    *out = metres;
    return true;
}

bool flr_value_length(const flr_value *value, double *out)
{
    return !value->json || read_length(value, out);
}

bool flr_value_range(const flr_value *value, double low, double high, double *out)
{
    if (!value->json) return true;
    double number = 0;
    if (!read_number(value, &number)) return false;
    if (!(number >= low && number <= high))
        return flr_value_fail(value, "must be from %g to %g", low, high);
    *out = number;
    return true;
}

bool flr_value_whole(const flr_value *value, unsigned low, unsigned high, unsigned *out)
{
    double number = *out;
    if (!flr_value_range(value, low, high, &number)) return false;
    if (number != floor(number)) return flr_value_fail(value, "must be a whole number");
    *out = (unsigned)number;
    return true;
}

bool flr_value_choice(const flr_value *value, const char *const *words, int *out)
{
    if (!value->json) return true;
    const char *text = json_string_value(value->json);
    char known[128] = "";
    size_t at = 0;
    for (int i = 0; words[i] && at < sizeof known; i++) {
        if (text && strcmp(words[i], text) == 0) {
            *out = i;
            return true;
        }
        at +=
            (size_t)snprintf(known + at, sizeof known - at, "%s\"%s\"", i ? " or " : "", words[i]);
    }
    return flr_value_fail(value, "must be %s", known);
}

bool flr_value_colour(const flr_value *value, uint32_t *out)
{
    if (!value->json) return true;
    const char *text = json_string_value(value->json);
    bool fits = text && text[0] == '#' && strlen(text) == 7 &&
                strspn(text + 1, "0123456789abcdefABCDEF") == 6;
    if (!fits) return flr_value_fail(value, "must be a colour such as \"#ff8000\"");
    *out = (uint32_t)strtoul(text + 1, NULL, 16);
    return true;
}

static bool read_numbers(const flr_value *value, size_t count, bool lengths, double *out)
{
    if (!json_is_array(value->json) || json_array_size(value->json) != count)
        return flr_value_fail(value, "must be an array of %zu numbers", count);
    for (size_t i = 0; i < count; i++) {
        flr_value element = flr_value_element(value, i);
        if (lengths ? !read_length(&element, &out[i]) : !read_number(&element, &out[i]))
            return false;
    }
    return true;
}

bool flr_value_vector(const flr_value *value, flr_vec3 *out)
{
    double n[3];
    if (!value->json) return true;
    if (!read_numbers(value, 3, false, n)) return false;
    *out = (flr_vec3){n[0], n[1], n[2]};
    return true;
}

bool flr_value_point(const flr_value *value, flr_vec3 *out)
{
    double n[3];
    if (!value->json) return true;
    if (!read_numbers(value, 3, true, n)) return false;
    *out = (flr_vec3){n[0], n[1], n[2]};
    return true;
}

bool flr_value_quaternion(const flr_value *value, flr_quat *out)
{
    double n[4];
    if (!value->json) return true;
    if (!read_numbers(value, 4, false, n)) return false;
    flr_quat q = {n[0], n[1], n[2], n[3]};
    if (!flr_quat_read(&q)) return flr_value_fail(value, "must be a unit quaternion w, x, y, z");
    *out = q;
    return true;
}
