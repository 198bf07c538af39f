/* feeler/log.h: log lines.
 *
 * There is no global log. Whoever wants lines makes an flr_log with a sink, a function that
 * takes finished lines, and hands it down; code that logs takes an `flr_log *` that may be
 * NULL, which is silence.
 *
 *     flr_log_def def = flr_default_log_def();   // warnings and worse, to stderr
 *     def.level = FLR_LOG_INFO;
 *     flr_log *log = flr_log_create(&def);
 *     flr_log_write(log, FLR_LOG_INFO, "listening on %s", text);
 *
 * A line holds one message of at most FLR_LOG_MESSAGE_SIZE - 1 bytes; longer ones are
 * shortened. Control characters and broken UTF-8 become '?', so that a file name or a packet cannot
 * drive the terminal or forge a line. Of a message that comes again within `repeat_ns`, only the
 * number of repetitions is reported, with the first line after that time or at the end. Of lines that
 * come faster than `burst` plus `per_second` allow, only the number is reported, later, as one line.
 * Errors are never held back.
 *
 * Thread: any; a log may be shared, its sink is called by one thread at a time.
 * Not RT safe: the real-time loop counts and raises fault bits, and the control thread
 * writes the lines.
 */
#ifndef FEELER_LOG_H
#define FEELER_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/env.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_log flr_log;

typedef enum flr_log_level {
    FLR_LOG_ERROR,   /* something asked for was not done */
    FLR_LOG_WARNING, /* done, but not as expected */
    FLR_LOG_INFO,    /* what a user wants to know later */
    FLR_LOG_DEBUG,   /* what a developer wants to know now */
    FLR_LOG_LEVEL_COUNT
} flr_log_level;

enum { FLR_LOG_MESSAGE_SIZE = 1024 };

/* One line as the sink gets it; valid during the call. */
typedef struct flr_log_line {
    flr_log_level level;
    int64_t wall_ns;     /* when: nanoseconds since 1970-01-01 UTC, from the env */
    const char *message; /* UTF-8, no newline */
} flr_log_line;

typedef void (*flr_log_sink)(void *context, const flr_log_line *line);

typedef struct flr_log_def {
    flr_env *env;        /* where the time comes from; must outlive the log */
    flr_log_level level; /* lines above this level are not made */
    flr_log_sink sink;   /* must not write to the same log */
    void *context;       /* given to the sink */
    uint32_t burst;      /* lines that may come at once… */
    uint32_t per_second; /* …and how many more each second; 0: no limit at all */
    int64_t repeat_ns;   /* the same message is written once in such a time; 0: always */
} flr_log_def;

/* The real clock, warnings and errors to stderr, 200 lines at once and 50 per second, the same message
 * once in 10 s. */
FLR_API flr_log_def flr_default_log_def(void);

/* Makes a log; NULL where there is no memory (and then stays silent, as a NULL log is). */
FLR_API flr_log *flr_log_create(const flr_log_def *def);
FLR_API void flr_log_destroy(flr_log *log); /* NULL allowed */

/* Would a line of this level be written? For messages that are costly to make. */
FLR_API bool flr_log_enabled(const flr_log *log, flr_log_level level);

/* Writes one line; `log` may be NULL. */
FLR_API void flr_log_write(flr_log *log, flr_log_level level, const char *format, ...)
    FLR_PRINTF(3, 4);

/* "error", "warning", "info", "debug". Never NULL. */
FLR_API const char *flr_log_level_name(flr_log_level level);

enum { FLR_LOG_TEXT_SIZE = FLR_LOG_MESSAGE_SIZE + 64 };

/* "2026-03-01T12:30:00.123Z warning: message" without a newline; returns `text`. */
FLR_API const char *flr_log_format(const flr_log_line *line, char text[FLR_LOG_TEXT_SIZE]);

/* A sink that writes formatted lines to stderr, each in one piece; `context` is not used. It does not wait for a pipe
 * that is full, a socket or a stopped terminal: lines that they do not take are counted, and the next one that they take
 * comes after a line with that number. A terminal must be in O_NONBLOCK for that to hold while it takes part of a line. */
FLR_API void flr_log_stderr(void *context, const flr_log_line *line);

#ifdef __cplusplus
}
#endif
#endif
