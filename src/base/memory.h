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

#endif
