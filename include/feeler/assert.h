/* feeler/assert.h: a caller's bug.
 *
 * FLR_ASSERT(condition) guards what a caller must get right: null where null is not
 * allowed, an index out of range, a call in the wrong order. The checks are cheap and stay
 * in release builds, because a host application is where such bugs are made. What the
 * world does wrong (a file, a socket, memory) is never asserted; see feeler/result.h.
 *
 * Where the condition does not hold, the assert handler is called. The default one prints
 * one line to stderr and aborts. An application may put its own there: write a crash
 * report, bring the forces to zero, leave by longjmp. A handler that
 * returns is followed by abort(): the code behind a broken promise must not run.
 *
 * The handler is the one process-wide variable of the library. It must be one, since an
 * assertion has no object to ask; it is set and read atomically.
 */
#ifndef FEELER_ASSERT_H
#define FEELER_ASSERT_H

#include "feeler/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called with the text of the condition and the place. All texts are constants. */
typedef void (*flr_assert_handler)(const char *condition, const char *file, int line,
                                   const char *function);

/* Replaces the handler of this process; NULL brings the default back. Returns the one
 * before (NULL: the default). Thread: any. */
FLR_API flr_assert_handler flr_set_assert_handler(flr_assert_handler handler);

/* Calls the handler; does not return. Thread: any. */
#if defined(__GNUC__)
__attribute__((noreturn, cold))
#endif
FLR_API void
flr_assert_failed(const char *condition, const char *file, int line, const char *function);

/* An expression of type void. RT safe while the condition holds. */
#define FLR_ASSERT(condition)                                                                      \
    ((condition) ? (void)0 : flr_assert_failed(#condition, __FILE__, __LINE__, __func__))

#ifdef __cplusplus
}
#endif
#endif
