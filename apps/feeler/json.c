/* one JSON document on stdout */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "feeler/base.h"
#include "output.h"

/* jansson answers NULL only when memory is out; there is nothing sensible left to print then */
static json_t *must(json_t *value)
{
    if (value) return value;
    fputs("feeler: out of memory\n", stderr);
    _Exit(FLR_EXIT_FAILED);
}

json_t *flr_json_object(void) { return must(json_object()); }
json_t *flr_json_array(void) { return must(json_array()); }

void flr_json_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, must(value)) != 0) must(NULL);
}

void flr_json_push(json_t *array, json_t *value)
{
    if (json_array_append_new(array, must(value)) != 0) must(NULL);
}

json_t *flr_json_number(double value)
{
    return must(isfinite(value) ? json_real(value) : json_null());
}

json_t *flr_json_count(uint64_t count) { return must(json_integer((json_int_t)count)); }

json_t *flr_json_vec3(flr_vec3 v)
{
    json_t *array = flr_json_array();
    flr_json_push(array, flr_json_number(v.x));
    flr_json_push(array, flr_json_number(v.y));
    flr_json_push(array, flr_json_number(v.z));
    return array;
}

json_t *flr_json_quat(flr_quat q)
{
    json_t *array = flr_json_array();
    flr_json_push(array, flr_json_number(q.w));
    flr_json_push(array, flr_json_number(q.x));
    flr_json_push(array, flr_json_number(q.y));
    flr_json_push(array, flr_json_number(q.z));
    return array;
}

json_t *flr_json_poses(const flr_pose *poses, size_t count)
{
    json_t *list = flr_json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *pose = flr_json_object();
        flr_json_set(pose, "p", flr_json_vec3(poses[i].p));
        flr_json_set(pose, "q", flr_json_quat(poses[i].q));
        flr_json_push(list, pose);
    }
    return list;
}

/* jansson refuses text that is not UTF-8: each byte that breaks it becomes U+FFFD */
json_t *flr_json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value) return value;
    char *mended = malloc(3 * strlen(text) + 1);
    if (!mended) must(NULL);
    char *out = mended;
    for (const char *s = text; *s;) {
        size_t size = flr_utf8_size(s, strlen(s), NULL);
        if (size) {
            memcpy(out, s, size);
            out += size;
            s += size;
        } else {
            memcpy(out, "\xEF\xBF\xBD", 3);
            out += 3;
            s++;
        }
    }
    *out = 0;
    value = must(json_string(mended));
    free(mended);
    return value;
}

json_t *flr_json_error(const flr_error *error, int exit_code)
{
    json_t *object = flr_json_object();
    flr_json_set(object, "code", flr_json_text(flr_result_name(error->code)));
    flr_json_set(object, "message", flr_json_text(error->message));
    flr_json_set(object, "exit", flr_json_count((uint64_t)exit_code));
    return object;
}

/* ---- writing: like json_dumpf(), but with the shortest numbers ---- */

static void put_text(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 0x20 || *c == 0x7F)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

static void put_indent(int depth) { printf("\n%*s", 2 * depth, ""); }

/* short arrays of plain values, such as points, stay on one line */
static bool is_flat(json_t *array)
{
    if (json_array_size(array) > 8) return false;
    size_t i;
    json_t *item;
    json_array_foreach(array, i,
                       item) if (json_is_object(item) || json_is_array(item)) return false;
    return true;
}

static void put_value(json_t *value, int depth);

static void put_array(json_t *array, int depth)
{
    bool flat = is_flat(array);
    size_t i;
    json_t *item;
    putchar('[');
    json_array_foreach(array, i, item)
    {
        if (i) fputs(flat ? ", " : ",", stdout);
        if (!flat) put_indent(depth + 1);
        put_value(item, depth + 1);
    }
    if (!flat) put_indent(depth);
    putchar(']');
}

static void put_object(json_t *object, int depth)
{
    const char *key;
    json_t *item;
    bool first = true;
    putchar('{');
    json_object_foreach(object, key, item)
    {
        if (!first) putchar(',');
        put_indent(depth + 1);
        put_text(key);
        fputs(": ", stdout);
        put_value(item, depth + 1);
        first = false;
    }
    if (!first) put_indent(depth);
    putchar('}');
}

static void put_value(json_t *value, int depth)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        put_object(value, depth);
        break;
    case JSON_ARRAY:
        put_array(value, depth);
        break;
    case JSON_STRING:
        put_text(json_string_value(value));
        break;
    case JSON_INTEGER:
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        fputs(FLR_NUMBER_TEXT(json_real_value(value)), stdout);
        break;
    case JSON_TRUE:
        fputs("true", stdout);
        break;
    case JSON_FALSE:
        fputs("false", stdout);
        break;
    case JSON_NULL:
        fputs("null", stdout);
        break;
    }
}

void flr_json_print(flr_cli *cli, json_t *document)
{
    if (cli->json && document) {
        put_value(document, 0);
        putchar('\n');
    }
    json_decref(document);
}
