/* text that came from outside, made fit to be shown */
#ifndef FLR_BASE_TEXT_H
#define FLR_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "feeler/api.h"

/* vsnprintf, cut between UTF-8 characters where too long, control characters replaced by '?'. */
void flr_text_print(char *text, size_t size, const char *format, va_list arguments)
    FLR_PRINTF(3, 0);

/* The word for so many: flr_noun(1, "vertex", "vertices") is "vertex". */
static inline const char *flr_noun(unsigned long long count, const char *one, const char *more)
{
    return count == 1 ? one : more;
}

#endif
