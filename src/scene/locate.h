/* locate.h: where in a JSON text a value stands, for messages with line and column.
 *
 * jansson tells the place of a syntax error only; what is wrong in meaning is found later, on the
 * tree. A place in the tree is the chain of positions down from the root: the how-manieth element
 * of an array, or member of an object. jansson keeps members in the order of the text, so no key
 * need be compared here. Thread: any. */
#ifndef FLR_SCENE_LOCATE_H
#define FLR_SCENE_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct flr_json_position {
    unsigned line, column; /* from 1; columns count characters, not bytes */
} flr_json_position;

/* Follows `chain` (`depth` positions from the root) through `text`, which must be well-formed
 * JSON. `at_key`: the place of the last member's key instead of its value. A chain that leads
 * nowhere gives the place where it stopped. */
flr_json_position flr_json_locate(const char *text, size_t size, const size_t *chain, size_t depth,
                                  bool at_key);

/* The places of all elements of the array that `chain` leads to, in one pass: fills `positions`,
 * at most `count`. */
void flr_json_locate_each(const char *text, size_t size, const size_t *chain, size_t depth,
                          flr_json_position *positions, size_t count);

/* The line and column of a byte. */
flr_json_position flr_json_position_of(const char *text, size_t at);

#endif
