/* quiet.h: what runs in a real-time thread neither allocates nor locks nor calls the system.
 *
 *     static uint64_t ask(void *context) { … return how_often_something_was_found; }
 *     …
 *     flr_test_quiet(ask, subject, NULL);
 *
 * Allocations are counted by support/fail_alloc.c; locks by functions that stand before those of libc; system calls end a
 * child process, in which all but ending and those allowed is forbidden. Under sanitizers, which lock and call as they
 * like, only allocations are counted. */
#ifndef FLR_TEST_QUIET_H
#define FLR_TEST_QUIET_H

#include "support/test.h"

/* Something to be done; returns more than 0, so that a body that does nothing is noticed. */
typedef uint64_t (*flr_test_body)(void *context);

/* Fails the test unless the body is quiet in all three ways. It runs once before it is watched, in each process:
 * what is touched for the first time may fault. `allowed`: numbers of system calls, ended by -1; NULL: none. */
void flr_test_quiet(flr_test_body body, void *context, const int *allowed);

/* One by one: allocations and locks of the calling thread while the body runs; what becomes of a child that runs it
 * where other calls are forbidden: 0, its exit code, or -signal. */
uint64_t flr_test_allocations(flr_test_body body, void *context);
uint64_t flr_test_locks(flr_test_body body, void *context);
int flr_test_alone(flr_test_body body, void *context, const int *allowed);

#endif
