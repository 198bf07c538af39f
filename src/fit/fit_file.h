/* fit_file.h: the file format of fits: this header, then the block of memory. Little-endian, as all machines are that run
 * this. */
#ifndef FLR_FIT_FILE_H
#define FLR_FIT_FILE_H

#include "fit/fit_internal.h"

#define FLR_FIT_MAGIC    "feelrfit"
#define FLR_FIT_MAX_FILE ((uint64_t)1 << 38)
enum { FLR_FIT_VERSION = 7 /* another where the same mesh gives other bytes */ };

typedef struct flr_fit_header {
    char magic[8];
    uint32_t version;
    uint32_t solid;
    flr_fit_counts counts;
    flr_hash mesh;
    double asked_spacing, spacing, area;
    flr_box3 bounds;
    flr_hash content; /* of the memory */
    flr_hash self;    /* of all above */
} flr_fit_header;

/* The header of a fit, with its hashes. */
void flr_fit_fill_header(const flr_fit *fit, flr_fit_header *header);

/* Makes a fit of a file's bytes, which are borrowed during the call. Fails with FLR_BAD_INPUT. */
flr_result flr_fit_parse(const void *bytes, size_t size, flr_fit **fit, flr_error *error);

#endif
