/* interposer.h: counts what a thread must not do: allocations, locks, system calls.
 *
 * The functions of the malloc and pthread families are defined by the program itself, in front of libc's, so calls from inside
 * libraries are seen, too. System calls of the thread are trapped by a seccomp filter of that thread alone; the handler counts
 * each one, then makes it. Threads that are not watched are not counted. */
#ifndef FLR_INTERPOSER_H
#define FLR_INTERPOSER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct interposed {
    uint64_t allocations; /* and frees */
    uint64_t locks;       /* mutexes, read-write locks, conditions, semaphores */
    uint64_t calls;       /* of the system, but for sleeps */
    uint64_t sleeps;      /* clock_nanosleep */
    long first_call;      /* number of the first of `calls`; -1: none */
} interposed;

/* Traps system calls of the calling thread, once and for ever. False: this kernel or processor does not offer it. */
bool interposer_arm(void);
/* Counts what the calling thread does from now on; ends that. */
void interposer_begin(void);
interposed interposer_end(void);
/* Does one of each, watched; true: all were noticed. */
bool interposer_works(void);

#endif
