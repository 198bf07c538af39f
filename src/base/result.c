/* result codes and their sentences */
#include "feeler/base.h"

#include "base/text.h"

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

flr_result flr_fail_va(flr_error *error, flr_result code, const char *format, va_list arguments)
{
    if (!error) return code;
    error->code = code;
    flr_text_print(error->message, sizeof error->message, format, arguments);
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

flr_result flr_fail_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "out of memory");
}
