/* memory.h: how much memory a reader takes for a file, checked by every fuzz target of a reader
 *
 * A reader may take FLR_FUZZ_FACTOR times the size of the file, or a fixed floor where that is more: tables and buffers of
 * a fixed size do not shrink with the file. More is a finding: the target aborts and says how much it was.
 *
 * What counts is the peak of the heap and of flr_pages_alloc() between begin and end, above what was there before, in bytes. At its end
 * the process prints the worst factor that it saw. */
#ifndef FLR_FUZZ_MEMORY_H
#define FLR_FUZZ_MEMORY_H

#include <stddef.h>

enum {
    FLR_FUZZ_FACTOR = 8,
    FLR_FUZZ_FLOOR = 64 << 10,      /* most readers */
    FLR_FUZZ_FLOOR_LARGE = 1 << 20, /* those with fixed buffers, or with a tree of small values */
};

/* A file of `size` bytes is read from here on … */
void flr_fuzz_memory_begin(size_t size, size_t floor);
/* … to here. */
void flr_fuzz_memory_end(void);

#endif
