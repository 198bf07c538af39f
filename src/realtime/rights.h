/* rights.h: what a real-time thread asks of the system, and what it says when that is refused. */
#ifndef FLR_REALTIME_RIGHTS_H
#define FLR_REALTIME_RIGHTS_H

#include "feeler/loop.h"

/* Keeps the process in memory, page by page as they are touched. 0 or an errno. Thread: control. */
int flr_rights_lock_memory(void);
void flr_rights_unlock_memory(void);

/* Of the calling thread: SCHED_FIFO with this priority, this processor. 0 or an errno. */
int flr_rights_set_priority(int priority);
int flr_rights_set_cpu(int cpu);

/* Of the calling thread: sleeps end when they should (an ordinary thread is given 50 us of slack),
 * and its stack is there: FLR_RIGHTS_STACK bytes of it are touched. */
void flr_rights_prepare_thread(void);

enum { FLR_RIGHTS_STACK = 256 << 10 };

/* Puts into words what was granted. The errno values are 0 where granted or not asked for. */
void flr_rights_explain(flr_loop_rights_info *rights, const flr_loop_def *def, int fifo, int locked,
                        int pinned);

#endif
