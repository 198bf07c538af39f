/* fail_alloc.h: makes the n-th memory allocation fail, to see what a function does then, and counts
 * how much memory a function takes.
 *
 * All tests are linked so that malloc, calloc, realloc, reallocarray, aligned_alloc,
 * posix_memalign, strdup, strndup, asprintf, vasprintf and free, where called by feeler or by the
 * test itself, pass through here. Calls inside libc and other libraries do not.
 *
 *     static flr_result load(void *context, flr_error *error)
 *     {
 *         flr_mesh *mesh;
 *         flr_result result = flr_mesh_read(flr_env_real(), context, NULL, &mesh, error);
 *         if (result == FLR_OK) flr_mesh_destroy(mesh);
 *         return result;
 *     }
 *     ...
 *     flr_fail_alloc_each(load, "part.stl");
 *
 * Thread: the counters are atomic; set them while no other thread allocates.
 */
#ifndef FLR_FAIL_ALLOC_H
#define FLR_FAIL_ALLOC_H

#include "support/test.h"

/* Runs `body` with its 1st, 2nd, 3rd… allocation failing, until it gets through without meeting a
 * failure; then the same with all allocations failing from the n-th on. Fails the test unless each
 * run that met a failure either returned FLR_NO_MEMORY with a sentence or did without that memory
 * and returned FLR_OK, every run without one returned FLR_OK, and no run left a block behind.
 * `body` must free what it made. Returns how many allocations an undisturbed run makes. */
uint64_t flr_fail_alloc_each(flr_result (*body)(void *context, flr_error *error), void *context);

/* By hand: the n-th allocation from now fails (1: the next; 0: none)… */
void flr_fail_alloc_at(uint64_t n);
/* …or the n-th and all after it, until one of the two is called again. */
void flr_fail_alloc_from(uint64_t n);

/* Since then: allocations asked for, and those made to fail. */
uint64_t flr_fail_alloc_asked(void);
uint64_t flr_fail_alloc_failed(void);

/* Blocks handed out and not freed, since the program began; compare before and after. */
int64_t flr_fail_alloc_live(void);

/* How much memory a function takes: from the first call to the second, the peak of what is held above what was held at
 * the first, in bytes. While a block is moved to a larger one, both count. */
void flr_fail_alloc_peak_begin(void);
uint64_t flr_fail_alloc_peak(void);

#endif
