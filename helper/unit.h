/* unit.h: the unit of length that a file states and its reader does not tell. */
#ifndef FLR_UNIT_H
#define FLR_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Metres per unit by the ending and content of a file; 0 when the format has no unit. */
double flr_unit_of_file(const char *ending, const uint8_t *bytes, size_t size);

#endif
