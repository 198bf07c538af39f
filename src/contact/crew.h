/* crew.h: threads that help one other thread, which never waits for the system.
 *
 * The caller publishes a number of items and takes them one after the other, as do the helpers that happen to be awake; in
 * the end it waits for what others have taken, and for nothing else. Helpers look for work on their own: for a moment
 * without rest, then with short sleeps in between, then with longer ones. So the caller neither locks nor calls the
 * system, and a helper that sleeps is not missed. */
#ifndef FLR_CONTACT_CREW_H
#define FLR_CONTACT_CREW_H

#include "feeler/result.h"

typedef struct flr_crew flr_crew;

/* `worker` is 0 for the caller, else 1 … helpers. Each thread gets items in ascending order. */
typedef void (*flr_crew_work)(void *context, uint32_t item, unsigned worker);

/* Starts the helpers. Fails with FLR_NO_MEMORY when there cannot be as many. Not RT safe, nor is destroying. */
flr_result flr_crew_create(unsigned helpers, flr_crew_work work, void *context, flr_crew **crew,
                           flr_error *error);
void flr_crew_destroy(flr_crew *crew); /* NULL allowed */

/* Does items 0 … count - 1 and returns when all are done. Thread: one at a time; RT safe. */
void flr_crew_run(flr_crew *crew, uint32_t count);

#endif
