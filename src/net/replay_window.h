/* replay_window.h: which of the newest packets came already
 *
 * Packets of one direction of a connection are numbered from 1. The window remembers the highest number and, for the
 * FLR_WINDOW_BITS numbers up to it, whether they came: each is taken once, whatever the order; what is older is refused because
 * nobody knows. Ask with flr_window_look() before the costly check of the seal, tell with flr_window_add() only after it.
 *
 * Thread: any, one at a time. */
#ifndef FLR_NET_REPLAY_WINDOW_H
#define FLR_NET_REPLAY_WINDOW_H

#include <stdint.h>

enum { FLR_WINDOW_BITS = 4096 };

typedef struct flr_window {
    uint64_t highest;                    /* 0: nothing came yet */
    uint64_t bits[FLR_WINDOW_BITS / 64]; /* number n at bit n % FLR_WINDOW_BITS */
} flr_window;

typedef enum flr_window_answer {
    FLR_WINDOW_NEW,
    FLR_WINDOW_SEEN,
    FLR_WINDOW_OLD
} flr_window_answer;

/* NEW: may be taken. Number 0 is never new. */
flr_window_answer flr_window_look(const flr_window *window, uint64_t number);

/* Notes that `number`, which is NEW, came. */
void flr_window_add(flr_window *window, uint64_t number);

#endif
