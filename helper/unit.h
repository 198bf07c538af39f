/* unit.h: the unit of length and the up axis that a file states and its reader does not tell. */
#ifndef FLR_UNIT_H
#define FLR_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect.h"

/* Metres per unit by the ending and content of a file; 0 when the format has no unit. */
double flr_unit_of_file(const char *ending, const uint8_t *bytes, size_t size);

/* Does a 3MF or AMF file state a unit that is none? Then millimetres are assumed, which is noted. */
bool flr_unit_note_unknown(flr_collect *collect, const char *ending, const uint8_t *bytes,
                           size_t size);

/* The axis that is up by the ending and content of a file: 1 x, 2 y, 3 z; 0 when it does not say. */
unsigned flr_up_of_file(const char *ending, const uint8_t *bytes, size_t size);

#endif
