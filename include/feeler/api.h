/* feeler/api.h: which symbols leave the library, and small portability helpers.
 *
 * Included by every other public header; there is nothing here to call.
 *
 * Thread classes, as used in the comments of all public headers:
 *   any      may be called from any thread, and from several at once on different
 *            objects; const objects may be shared
 *   control  only from the thread that owns the object
 *   RT safe  also allowed in the real-time loop: bounded time, no allocation, lock,
 *            system call or log line
 */
#ifndef FEELER_API_H
#define FEELER_API_H

#if defined(FLR_BUILD_LIBRARY) && defined(__GNUC__)
#define FLR_API __attribute__((visibility("default")))
#else
#define FLR_API
#endif

#if defined(__GNUC__)
#define FLR_PRINTF(format_index, first_argument)                                                   \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define FLR_PRINTF(format_index, first_argument)
#endif

#endif
