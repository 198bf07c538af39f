/* privileges.h: what a real-time thread asks of the system, and what it says when that is refused. */
#ifndef FLR_REALTIME_PRIVILEGES_H
#define FLR_REALTIME_PRIVILEGES_H

#include "feeler/loop.h"

/* Keeps the process in memory, page by page as they are touched. 0 or an errno. Thread: control. */
int flr_privileges_lock_memory(void);
void flr_privileges_unlock_memory(void);

/* Touches the code and the static data of the program and its libraries: else the first frame that goes through a function
 * faults. Thread: control. */
void flr_privileges_touch_program(void);

/* Of the calling thread: SCHED_FIFO with this priority, this processor. 0 or an errno. */
int flr_privileges_set_priority(int priority);
int flr_privileges_set_cpu(int cpu);

/* The processor that a loop should have for itself: the last of those that the calling thread may
 * use; -1: there is only one. */
int flr_privileges_choose_cpu(void);
/* Of the calling thread: goes to this processor, but may leave it. A real-time thread stays where it
 * is until one of higher priority is there; then it gives way to another processor. */
void flr_privileges_begin_on(int cpu);
/* Of the calling thread and those that it will make: uses any other processor, where there is
 * one. -1: nothing is changed. */
void flr_privileges_keep_off(int cpu);

/* Of the calling thread: it has a name of up to 15 letters for those who look at processes, sleeps
 * end when they should (an ordinary thread is given 50 us of slack), and its stack is there:
 * FLR_PRIVILEGES_STACK bytes of it are touched. */
void flr_privileges_prepare_thread(const char *name);

enum { FLR_PRIVILEGES_STACK = 256 << 10 };

/* Puts into words what was granted. The errno values are 0 where granted or not asked for. */
void flr_privileges_explain(flr_loop_privileges_info *privileges, const flr_loop_def *def, int fifo,
                            int locked, int pinned);

#endif
