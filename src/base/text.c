/* text that came from outside, made fit to be shown */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* A text may be cut in the middle of a UTF-8 character; drop the broken rest. */
static void drop_partial_utf8(char *text)
{
    size_t length = strlen(text), back = 0;
    while (back < 3 && back < length && ((unsigned char)text[length - 1 - back] & 0xC0) == 0x80)
        back++;
    if (back == length) return;
    unsigned char lead = (unsigned char)text[length - 1 - back];
    size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (want > back + 1) text[length - 1 - back] = 0;
}

void flr_text_print(char *text, size_t size, const char *format, va_list arguments)
{
    int length = vsnprintf(text, size, format, arguments);
    if (length < 0) text[0] = 0;
    if (length >= 0 && (size_t)length >= size) drop_partial_utf8(text);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
}
