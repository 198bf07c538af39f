/* sandbox.h: what the import helper gives up before it looks at a file. */
#ifndef FLR_SANDBOX_H
#define FLR_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct flr_sandbox_def {
    unsigned seconds; /* of processor time */
    uint64_t memory;  /* bytes of address space */
    int input;        /* may be opened again; -1: none */
    int folder;       /* files in and below it may be opened for reading; -1: none */
    bool open;        /* open() for reading stays possible */
    bool
        open_beneath; /* openat() from `folder` for reading stays possible, for files that the input names; not with `open` */
} flr_sandbox_def;

enum { FLR_SANDBOX_TEXT_SIZE = 256 };

/* Locks the process in, as far as the machine allows; cannot be undone. `active` and `missing`
 * get the names of what works and what this machine does not offer. */
void flr_sandbox_enter(const flr_sandbox_def *def, char active[FLR_SANDBOX_TEXT_SIZE],
                       char missing[FLR_SANDBOX_TEXT_SIZE]);

#endif
