/* feeler/units.h: lengths as people write them: "0.35mm", "2 in", "1e-3 m".
 *
 * Inside feeler every length is in metres. These functions stand where text comes in or
 * goes out: the command line, scene files, reports. They do not depend on the locale: the
 * decimal sign is a point.
 *
 * Thread: any. Nothing here is RT safe.
 */
#ifndef FEELER_UNITS_H
#define FEELER_UNITS_H

#include "feeler/api.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The names of units, smallest first, for help texts: "um, mm, cm, m, in, ft". */
#define FLR_UNIT_NAMES "um, mm, cm, m, in, ft"

/* Metres per unit, for a name (um, mm, cm, m, in, ft; case counts) or a positive number of
 * metres ("0.0254"). FLR_BAD_INPUT, with a sentence that quotes `text`, for anything else. */
FLR_API flr_result flr_unit_parse(const char *text, double *metres, flr_error *error);

/* The name of the unit of exactly this many metres, or NULL when it has none. */
FLR_API const char *flr_unit_name(double metres);

/* Reads a number, then a unit, with or without blanks between. A number alone is taken in
 * `default_unit` (metres per unit); 0: a unit must be given. The result is finite and may be
 * zero or negative: the caller knows what its size may be. */
FLR_API flr_result flr_size_parse(const char *text, double default_unit, double *metres,
                                  flr_error *error);

enum { FLR_SIZE_TEXT_SIZE = 32, FLR_NUMBER_TEXT_SIZE = 32 };

/* For people: up to six digits in um, mm or m, whichever reads best ("0.35 mm", "4.8 m");
 * flr_size_parse() reads it back. Returns `text`. */
FLR_API const char *flr_size_print(double metres, char text[FLR_SIZE_TEXT_SIZE]);

/* The same without the blank, as a command line takes it: "0.35mm". Returns `text`. */
FLR_API const char *flr_size_print_tight(double metres, char text[FLR_SIZE_TEXT_SIZE]);

/* For files: the fewest digits that read back as the same number ("0.1", "1e-09"); -0 is
 * written as 0. `value` must be finite. Returns `text`. */
FLR_API const char *flr_number_print(double value, char text[FLR_NUMBER_TEXT_SIZE]);

/* Reads one decimal number, such as "-1.5e3", from the start of `text`, and sets `*end` to what
 * follows. Hexadecimal, "inf" and "nan" are no numbers here. FLR_BAD_INPUT when there is no
 * number or when it is too large for a double. */
FLR_API flr_result flr_number_parse(const char *text, double *value, const char **end,
                                    flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
