/* feeler/result.h: what a function answers when the world may say no.
 *
 * feeler knows three kinds of trouble:
 *
 *   1. a caller's bug (null where null is not allowed, an index out of range):
 *      FLR_ASSERT, see feeler/assert.h;
 *   2. the world's trouble (a file, a socket, a device, memory): the function
 *      returns a result code other than FLR_OK, leaves its outputs untouched, and
 *      fills an flr_error with one sentence for a person;
 *   3. trouble inside the real-time loop: clamped, counted, never returned.
 *
 * This header is about the second kind. A function that can fail takes an
 * `flr_error *` as its last argument. It may always be NULL when the caller does
 * not want the sentence. On FLR_OK the error is left untouched.
 *
 *     flr_error error;
 *     if (flr_mesh_read(env, "part.stl", NULL, &mesh, NULL, &error) != FLR_OK)
 *         fprintf(stderr, "%s\n", error.message);
 */
#ifndef FEELER_RESULT_H
#define FEELER_RESULT_H

#include <stdarg.h>
#include <stdint.h>

#include "feeler/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happened. The codes are stable; new ones are added at the end. */
typedef enum flr_result {
    FLR_OK = 0,
    FLR_BAD_INPUT,    /* a file, packet or text from outside is not what it should be */
    FLR_BAD_ARGUMENT, /* a parameter is out of its stated range */
    FLR_NOT_FOUND,    /* no such file, name or address */
    FLR_DENIED,       /* exists, but may not be used */
    FLR_IO,           /* reading or writing failed (disk full, device gone, cut off) */
    FLR_NO_MEMORY,    /* memory could not be had */
    FLR_TOO_LARGE,    /* beyond a stated limit */
    FLR_UNSUPPORTED,  /* a valid request that this build or machine cannot serve */
    FLR_TIMEOUT,      /* did not happen in the time given */
    FLR_AGAIN,        /* nothing to be had now; not an error, try later */
    FLR_CLOSED,       /* the other side is gone */
    FLR_CANCELLED,    /* the caller asked to stop */
    FLR_CRASHED,      /* a helper process died or broke its promises */
    FLR_RESULT_COUNT
} flr_result;

enum { FLR_ERROR_MESSAGE_SIZE = 512 };

/* A result code with one sentence that names file, place or field and says what
 * to do. Plain data: copy it freely; it owns nothing. */
typedef struct flr_error {
    flr_result code;
    char message[FLR_ERROR_MESSAGE_SIZE]; /* clean UTF-8; long paths lack their middle */
} flr_error;

/* Fills `error` (which may be NULL) and returns `code`, so that a failing function
 * can end with `return flr_fail(error, FLR_IO, "%s: cannot read: %s", ...)`.
 * Control characters (C1 and marks of reading direction among them) and bytes that
 * are not UTF-8 are replaced by '?', so that a file name or a file's content cannot
 * drive the user's terminal. A sentence that is too long loses the middle of its
 * longest words, which are paths, then its end. Thread: any; not RT safe. */
FLR_API flr_result flr_fail(flr_error *error, flr_result code, const char *format, ...)
    FLR_PRINTF(3, 4);
FLR_API flr_result flr_fail_va(flr_error *error, flr_result code, const char *format,
                               va_list arguments) FLR_PRINTF(3, 0);

/* A short constant name such as "bad input". Never NULL. Thread: any; RT safe. */
FLR_API const char *flr_result_name(flr_result code);

#ifdef __cplusplus
}
#endif
#endif
