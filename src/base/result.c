/* result codes and their sentences */
#include "feeler/result.h"

#include <stdio.h>
#include <string.h>

static const char *const result_names[FLR_RESULT_COUNT] = {
    [FLR_OK] = "ok",
    [FLR_BAD_INPUT] = "bad input",
    [FLR_BAD_ARGUMENT] = "bad argument",
    [FLR_NOT_FOUND] = "not found",
    [FLR_DENIED] = "denied",
    [FLR_IO] = "input/output error",
    [FLR_NO_MEMORY] = "out of memory",
    [FLR_TOO_LARGE] = "too large",
    [FLR_UNSUPPORTED] = "unsupported",
    [FLR_TIMEOUT] = "timeout",
    [FLR_AGAIN] = "try again",
    [FLR_CLOSED] = "closed",
    [FLR_CANCELLED] = "cancelled",
    [FLR_CRASHED] = "crashed",
};

const char *flr_result_name(flr_result code)
{
    if ((unsigned)code >= FLR_RESULT_COUNT) return "unknown result";
    return result_names[code];
}

/* A message may be cut in the middle of a UTF-8 character; drop the broken rest. */
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

flr_result flr_fail_va(flr_error *error, flr_result code, const char *format, va_list arguments)
{
    if (!error) return code;
    error->code = code;
    int length = vsnprintf(error->message, sizeof error->message, format, arguments);
    if (length < 0) error->message[0] = 0;
    if (length >= (int)sizeof error->message) drop_partial_utf8(error->message);
    for (char *c = error->message; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
    return code;
}

flr_result flr_fail(flr_error *error, flr_result code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flr_fail_va(error, code, format, arguments);
    va_end(arguments);
    return code;
}
