/* json_look.h: single values out of a JSON text, without a tree of it and without memory
 *
 *     flr_look_at state = flr_look_member(flr_look_element(flr_look_member(flr_look_text(text, size), "inverse3"), 0), "state");
 *     if (flr_look_number(flr_look_member(state, "x"), &x)) …
 *
 * What is not there, or no JSON, has `at` NULL, and so has everything looked for in it. Only what is passed on the way is checked.
 * For texts of devices: some ten kilobytes, a thousand times a second. Thread: any; RT safe.
 */
#ifndef FLR_DEVICE_JSON_LOOK_H
#define FLR_DEVICE_JSON_LOOK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct flr_look_at {
    const char *at, *end;
} flr_look_at;

flr_look_at flr_look_text(const char *text, size_t size);
flr_look_at flr_look_member(flr_look_at object, const char *name);
flr_look_at flr_look_element(flr_look_at array, size_t index);
/* Finite numbers only. */
bool flr_look_number(flr_look_at value, double *number);
bool flr_look_true(flr_look_at value); /* false: anything else */
/* A text without escapes that fits, with a zero at its end. */
bool flr_look_word(flr_look_at value, char *text, size_t size);

#endif
