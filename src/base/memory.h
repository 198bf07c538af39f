/* memory.h: how much memory this process may take. Thread: any; not RT safe. */
#ifndef FLR_BASE_MEMORY_H
#define FLR_BASE_MEMORY_H

#include "feeler/env.h"

typedef struct flr_memory {
    uint64_t machine; /* bytes that the machine has */
    uint64_t
        limit; /* bytes that this process may take: the machine's, or fewer where a control group says so */
} flr_memory;

/* Reads /proc/meminfo, /proc/self/cgroup and the limits of the group and of all groups above it (version 2: memory.max and
 * memory.high, version 1: memory.limit_in_bytes). What cannot be read sets no limit; a machine that does not say its size
 * counts as one of 8 GiB. */
flr_memory flr_memory_look(flr_env *env);

/* Bytes that are allocated in this process now, of all threads; mapped files and stacks are not among them. Blocks that a
 * thread keeps for its next allocation count as allocated: some 100 KiB per thread at most. 0: the C library does not
 * say. Takes the allocator's locks one after the other, for microseconds. */
uint64_t flr_memory_heap(void);

/* For a process that runs for days: from now on blocks of a MiB and more go back to the system when they are freed. By default the C
 * library begins to cut them out of the heap as soon as one was freed; there the small blocks of others come to lie between
 * them, and each recording could add its 7 MiB of buffers again. Call it before threads are made. */
void flr_memory_return_large_blocks(void);

#endif
