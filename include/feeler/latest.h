/* feeler/latest.h: from one thread to another, newest only.
 *
 * One writer publishes a value again and again; one reader takes the newest whole value
 * whenever it likes. Values in between are skipped, never mixed. Neither side ever waits,
 * retries or fails: three copies of the value go around, one for the writer, one for the
 * reader, one in between. The real-time loop shows its state to the control thread this way,
 * and takes the device's pose this way.
 *
 *     flr_latest_write(latest, &state);                  // writer, every tick
 *     uint64_t number = flr_latest_read(latest, &copy);  // reader, at will
 *
 * Large values need not be copied: fill flr_latest_begin(), then flr_latest_publish(); and
 * look at flr_latest_view() in place.
 *
 * Thread: begin, write, publish by one writer; read, view by one reader. RT safe, except
 * create and destroy, which happen while no other thread uses the object.
 */
#ifndef FEELER_LATEST_H
#define FEELER_LATEST_H

#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_latest flr_latest;

/* For values of `size` bytes (greater than 0), each at a 64-byte boundary, all zero at first.
 * NULL: no memory. */
FLR_API flr_latest *flr_latest_create(size_t size);
FLR_API void flr_latest_destroy(flr_latest *latest); /* NULL allowed */

/* Publishes a copy of `value`. */
FLR_API void flr_latest_write(flr_latest *latest, const void *value);

/* The same without the copy: where the writer may put the next value (what is there is an
 * old one, not necessarily the last), and the step that publishes it. */
FLR_API void *flr_latest_begin(flr_latest *latest);
FLR_API void flr_latest_publish(flr_latest *latest);

/* Copies the newest value out. Returns its number: 1 for the first value published, one more
 * for each; 0 (and zeros) as long as there is none. The same number means the same value. */
FLR_API uint64_t flr_latest_read(flr_latest *latest, void *value);

/* The same without the copy: valid until the reader's next read or view. `number` may be
 * NULL. */
FLR_API const void *flr_latest_view(flr_latest *latest, uint64_t *number);

#ifdef __cplusplus
}
#endif
#endif
