/* decimal.h: decimal numbers in text files, correctly rounded, whatever the locale.
 *
 * Private to src/mesh. */
#ifndef FLR_MESH_DECIMAL_H
#define FLR_MESH_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum flr_precision {
    FLR_DOUBLE,
    FLR_SINGLE /* rounded once, to 32-bit floating point */
} flr_precision;

/* Reads a number at `text` (which ends at `end`, not at a zero) and returns where it stops, or
 * NULL when there is none. [+-]digits[.digits][e[+-]digits]; also .5 and 5., and nan, inf,
 * infinity in any case and what Microsoft's printf makes of them (1.#QNAN). Too large becomes
 * infinite, too small becomes 0. */
const char *flr_decimal_parse(const char *text, const char *end, flr_precision precision,
                              double *value);

/* Reads [+-]digits; NULL when there are none, or too many for 63 bits. */
const char *flr_integer_parse(const char *text, const char *end, int64_t *value);

#endif
