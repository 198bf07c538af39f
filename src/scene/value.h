/* value.h: single values out of a JSON tree, with sentences that say where they stand.
 * Used by the scene reader only. Every function returns false after it has filled the error. */
#ifndef FLR_SCENE_VALUE_H
#define FLR_SCENE_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"
#include "scene/keys.h"
#include "scene/locate.h"

/* What all values of one file share. */
typedef struct flr_value_context {
    const char *name; /* of the file */
    const char *text; /* [size], for finding places */
    size_t size;
    double unit; /* metres per unit of plain numbers that are lengths */
    flr_error *error;
} flr_value_context;

/* A value and the way to it. Lives on the stack of whoever walks the tree. */
typedef struct flr_value {
    flr_value_context *context;
    const struct flr_value *up; /* the array or object it is in; NULL: the root */
    const char *key;            /* in an object; NULL: in an array */
    size_t index;               /* in an array */
    json_t *json;               /* NULL: not given */
} flr_value;

/* The member or element; `json` NULL when there is none. */
flr_value flr_value_member(const flr_value *object, const char *key);
flr_value flr_value_element(const flr_value *array, size_t index);
/* A pointer to a member, as readers take it; good until the end of the block. */
#define FLR_MEMBER(object, name)                                                                   \
    (&(flr_value){(object)->context, (object), (name), 0, json_object_get((object)->json, (name))})

/* "FILE:LINE:COLUMN: FIELD: " and the rest, as FLR_BAD_INPUT. Always false. */
bool flr_value_fail(const flr_value *value, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Lines and columns of the elements of an array; of the first `count` ones. */
void flr_value_places(const flr_value *array, flr_json_position *positions, size_t count);

/* An object with no unknown and no missing keys. */
bool flr_value_object(const flr_value *value, flr_scene_object kind);

/* The rest leave `*out` as it is, and return true, when the value is not given. */
bool flr_value_bool(const flr_value *value, bool *out);
bool flr_value_text(const flr_value *value,
                    const char **out);                        /* not empty, no control characters */
bool flr_value_positive(const flr_value *value, double *out); /* number > 0 */
bool flr_value_unit(const flr_value *value, double *out);     /* name or metres */
bool flr_value_size(const flr_value *value, double *out);   /* "0.35mm" or number, > 0, in metres */
bool flr_value_length(const flr_value *value, double *out); /* the same of any sign */
/* A number from `low` to `high`; a whole one of these. */
bool flr_value_range(const flr_value *value, double low, double high, double *out);
bool flr_value_whole(const flr_value *value, unsigned low, unsigned high, unsigned *out);
/* One of these words, NULL-ended: its place among them. */
bool flr_value_choice(const flr_value *value, const char *const *words, int *out);
bool flr_value_colour(const flr_value *value, uint32_t *out);
bool flr_value_vector(const flr_value *value, flr_vec3 *out); /* three plain numbers */
bool flr_value_point(const flr_value *value, flr_vec3 *out);  /* three lengths, in metres */
bool flr_value_quaternion(const flr_value *value, flr_quat *out);

#endif
