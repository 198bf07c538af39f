/* allow.h: which pairs of parts may be in each other, or near: the fits of a design. The scene's "allow", the page and
 * `feeler clash --allow` name them alike: two names, each of a part or of a group around it, with * ? and [a-z] as in a shell.
 *
 *     flr_allow *allow = flr_allow_create(count, is_named, context);
 *     flr_allow_add(allow, "bolt*", "nut*", found, &error);
 *     if (flr_allow_has(allow, a, b)) …
 *     flr_allow_destroy(allow);
 *
 * Thread: one at a time; flr_allow_has(): any. Not RT safe. */
#ifndef FLR_SCENE_ALLOW_H
#define FLR_SCENE_ALLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"

enum { FLR_ALLOW_MAX_RULES = 10000 };

typedef struct flr_allow flr_allow;

/* Does a name, which may hold * ? and [a-z], mean this one? A name that is the same to the letter always does. */
bool flr_allow_fits(const char *pattern, const char *name);

/* For parts 0 … count - 1. `is_named` says whether a pattern means a part, by its own name or that of a group around it; it is
 * called during flr_allow_add() only. NULL: no memory. */
flr_allow *flr_allow_create(uint32_t count,
                            bool (*is_named)(void *context, uint32_t part, const char *pattern),
                            void *context);
void flr_allow_destroy(flr_allow *allow); /* NULL allowed */

/* Allows every pair of which one part is meant by `a` and the other by `b`. `found`: how many parts each means. FLR_TOO_LARGE,
 * FLR_NO_MEMORY. */
flr_result flr_allow_add(flr_allow *allow, const char *a, const char *b, uint32_t found[2],
                         flr_error *error);

/* Is the pair allowed? `*rule`, which may be NULL: by the rule that was added in this place. */
bool flr_allow_has(const flr_allow *allow, uint32_t a, uint32_t b, uint32_t *rule);

#endif
