/* zip.h: the members of a ZIP file in memory. */
#ifndef FLR_ZIP_H
#define FLR_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of the first member whose name ends with `ending`, whatever its case: at most `room` bytes. Returns how many. */
size_t flr_zip_peek(const uint8_t *zip, size_t size, const char *ending, char *to, size_t room);

/* A whole member by its name, a 0 behind it; NULL: there is none, or it is damaged. free() it. */
char *flr_zip_read(const uint8_t *zip, size_t size, const char *name, size_t *length);

#endif
