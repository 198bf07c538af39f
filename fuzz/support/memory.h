/* memory.h: how much memory a reader takes for a file, checked by every fuzz target of a reader
 *
 * A reader may take FLR_FUZZ_FACTOR times the size of the file beside a fixed amount: tables and buffers that do not shrink
 * with the file. More is a finding: the target aborts and says how much it was. The fixed amount is added, not a floor, so that
 * the factor counts for small files, too.
 *
 * What counts is the peak of the heap and of flr_pages_alloc() between begin and end, above what was there before, in bytes. At its end
 * the process prints the worst factor that it saw: what was taken beside the fixed amount, by the size. */
#ifndef FLR_FUZZ_MEMORY_H
#define FLR_FUZZ_MEMORY_H

#include <stddef.h>

enum {
    FLR_FUZZ_FACTOR = 8,
    FLR_FUZZ_FIXED = 16 << 10, /* most readers: tables of the first elements, hash tables */
    FLR_FUZZ_FIXED_RECORDING =
        592 << 10, /* room for the largest frame, 64 KiB of the file, 1024 pairs of metadata */
};

/* A file of `size` bytes is read from here on … */
void flr_fuzz_memory_begin(size_t size, size_t fixed);
/* … to here. */
void flr_fuzz_memory_end(void);

#endif
