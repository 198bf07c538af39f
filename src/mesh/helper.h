/* helper.h: a child process whose output is read under a deadline.
 *
 * Starts a program with a clean environment, the given input on descriptor 0, pipes on 1 and 2
 * and, where given, a folder on 3; nothing else is inherited. It leads a process group of its own,
 * so that all it may start ends with it. Whatever the child does, reading ends at the deadline.
 *
 * One thread per helper; several helpers may run at once.
 */
#ifndef FLR_HELPER_H
#define FLR_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "feeler/base.h"

typedef struct flr_helper {
    const char *name;    /* stands for the file in sentences; borrowed */
    unsigned seconds;    /* the time limit */
    int64_t deadline_ns; /* of the real clock */
    pid_t pid;
    int output, trouble; /* our ends of the pipes on 1 and 2; -1 when closed */
    bool left;           /* the child is gone, its group was killed */
    bool timed_out;
    bool (*go_on)(void *context); /* asked between waits; NULL, as it is when started: always */
    void *context;
    char said[512]; /* the beginning of what came on 2, zero-terminated */
    size_t said_size;
} flr_helper;

/* How it ended. */
typedef struct flr_helper_end {
    bool known;  /* false when the program ignores its children's end (SIGCHLD) */
    int exited;  /* exit status, -1 if it did not exit */
    int signal;  /* that killed it, 0 if none */
    bool killed; /* by us, because it did not end */
} flr_helper_end;

/* Starts `arguments[0]`. `input` and `folder` stay the caller's; `folder` -1: none. */
flr_result flr_helper_start(flr_helper *helper, char *const arguments[], int input, int folder,
                            const char *name, unsigned seconds, flr_error *error);

/* The sentence for a helper that took too long; FLR_TIMEOUT. */
flr_result flr_helper_fail_time(const flr_helper *helper, flr_error *error);

/* Waits for output; `*got` 0 at its end. FLR_TIMEOUT after the deadline, FLR_CANCELLED when it shall not go on; the child
 * is killed then. */
flr_result flr_helper_read(flr_helper *helper, void *bytes, size_t count, size_t *got,
                           flr_error *error);

/* Ends the child and all it started, collects it, closes the pipes. A child that is about to exit
 * by itself gets a moment for it. */
flr_helper_end flr_helper_stop(flr_helper *helper);

#endif
