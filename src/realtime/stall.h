/* stall.h: notices when the control thread does not come round any more.
 *
 *     flr_stall_def def = flr_default_stall_def();
 *     def.stalled = end_the_process;
 *     flr_stall_create(&def, &stall, &error);
 *     flr_loop_watch_control(loop, stall);     the loop fades its forces when control stalls
 *     flr_stall_start(stall, &error);          a thread that looks ten times a second
 *     control, in every round:  flr_stall_beat(stall);
 *
 * A stall is counted in looks of that thread and in frames of the loop, never by the clock alone: a process that was stopped or a
 * machine that slept has seen neither, so it does not find its control thread late when it goes on. A look that came late counts
 * as one; one that finds the control thread ready while the machine runs others does not count, since ending a process that only
 * waits for a processor helps nobody. The loop's forces fade all the same.
 *
 * Thread: control, where a function does not say otherwise. */
#ifndef FLR_REALTIME_STALL_H
#define FLR_REALTIME_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/loop.h"

typedef struct flr_stall flr_stall;

/* What control was at when it stalled. Texts are constants. */
typedef struct flr_stall_report {
    double seconds; /* for which control did not come round, at least */
    const char *doing,
        *what; /* such as "carrying out the command" and its name; "" where not known */
} flr_stall_report;

typedef struct flr_stall_def {
    flr_env *env;     /* default the real one */
    int64_t limit_ns; /* default 2 s */
    int64_t look_ns;  /* between two looks; default 100 ms */
    int64_t fade_ns;  /* from a stall to `stalled`, in which forces fade; default 100 ms */
    /* Called once, by the thread that looks. Control may hold any lock. NULL: none. */
    void (*stalled)(void *context, const flr_stall_report *report);
    void *context;
} flr_stall_def;

flr_stall_def flr_default_stall_def(void);

flr_result flr_stall_create(const flr_stall_def *def, flr_stall **stall, flr_error *error);
void flr_stall_destroy(flr_stall *stall); /* ends its thread; NULL allowed */
/* The thread. Refused by a simulated env. */
flr_result flr_stall_start(flr_stall *stall, flr_error *error);

/* Control comes round. Nothing is watched before the first one. The functions for control allow NULL. */
void flr_stall_beat(flr_stall *stall);
/* Control does something that may take as long as it likes, such as ending: nothing is watched until the next beat. */
void flr_stall_rest(flr_stall *stall);

typedef struct flr_stall_doing {
    const char *doing, *what;
} flr_stall_doing;

/* What control does from now on, as constants; returns what it did before, to be set again. */
flr_stall_doing flr_stall_set_doing(flr_stall *stall, const char *doing, const char *what);

/* One look, for those without the thread. True: control has stalled. */
bool flr_stall_look(flr_stall *stall);
/* The same with what the system says of the control thread: its state as in proc(5), 'R' where it runs or could, and the time that
 * it has run up to now, in any unit. */
bool flr_stall_look_at(flr_stall *stall, char state, uint64_t ran);

/* ---- for the loop; RT safe ---- */

/* How often control came round or began to rest; does it rest; has whoever looks seen a stall that has not ended? */
uint64_t flr_stall_beats(const flr_stall *stall);
bool flr_stall_rests(const flr_stall *stall);
bool flr_stall_has_stalled(const flr_stall *stall);

/* Forces of the loop fade while control stalls, and ramp up again should it go on. Before the loop starts; `stall` outlives it;
 * NULL: none. Only a paced loop looks. */
void flr_loop_watch_control(flr_loop *loop, const flr_stall *stall);

#endif
