/* text that came from outside, made fit to be shown */
#ifndef FLR_BASE_TEXT_H
#define FLR_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"

/* Bytes of the well-formed UTF-8 character that `text` begins with, at most `left`; 0 if it is
 * none: cut off, overlong, a surrogate, beyond Unicode. Its number goes to `*code`, which may be
 * NULL. */
size_t flr_utf8_size(const char *text, size_t left, uint32_t *code);

/* Control characters, and the marks that turn the reading direction. */
bool flr_utf8_is_control(uint32_t code);

/* Replaces every byte of control characters and of broken UTF-8 by '?', in place; `size` bytes,
 * zeros among them too. */
void flr_text_clean(char *text, size_t size);

/* vsnprintf, cleaned. What is too long loses the middle of its longest words first, which are
 * paths, so that the end of a sentence, which says what to do, stays; then it is cut at the end,
 * between characters. */
void flr_text_print(char *text, size_t size, const char *format, va_list arguments)
    FLR_PRINTF(3, 0);

/* Copies a clean text; what is too long is cut between words and ends in "...". */
void flr_text_copy(char *to, size_t size, const char *text);

/* The word for so many: flr_noun(1, "vertex", "vertices") is "vertex". */
static inline const char *flr_noun(unsigned long long count, const char *one, const char *more)
{
    return count == 1 ? one : more;
}

#endif
