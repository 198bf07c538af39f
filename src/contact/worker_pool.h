/* worker_pool.h: threads that help one other thread, which never waits for the system.
 *
 * The caller publishes a number of items and takes them one after the other, as do the helpers that happen to be awake; in
 * the end it waits for what others have taken, and for nothing else. Helpers look for work on their own: for a moment
 * without rest, then with short sleeps in between, then with longer ones. So the caller neither locks nor calls the
 * system, and a helper that sleeps is not missed. */
#ifndef FLR_CONTACT_WORKER_POOL_H
#define FLR_CONTACT_WORKER_POOL_H

#include "feeler/base.h"

typedef struct flr_worker_pool flr_worker_pool;

/* `worker` is 0 for the caller, else 1 … helpers. Each thread gets items in ascending order. */
typedef void (*flr_worker_pool_work)(void *context, uint32_t item, unsigned worker);

/* Starts the helpers. Fails with FLR_NO_MEMORY when there cannot be as many. Not RT safe, nor is destroying. */
flr_result flr_worker_pool_create(unsigned helpers, flr_worker_pool_work work, void *context,
                                  flr_worker_pool **pool, flr_error *error);
void flr_worker_pool_destroy(flr_worker_pool *pool); /* NULL allowed */

/* Does items 0 … count - 1 and returns when all are done. Thread: one at a time; RT safe. */
void flr_worker_pool_run(flr_worker_pool *pool, uint32_t count);

#endif
