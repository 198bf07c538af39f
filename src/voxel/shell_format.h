/* shell_format.h: how a shell lies in memory and on disk.
 *
 * One block, offsets from its start, little-endian, arrays at multiples of 64 bytes:
 *
 *     header | hypers | chunks | x | y | z | normals
 *
 * The public flr_shell is a view of it, with pointers in place of offsets. */
#ifndef FLR_VOXEL_SHELL_FORMAT_H
#define FLR_VOXEL_SHELL_FORMAT_H

#include "feeler/voxel_file.h"
#include "feeler/voxels.h"

#define FLR_SHELL_MAGIC "flrshel\n"

typedef struct flr_shell_header {
    char magic[8];
    uint32_t header_size; /* of this struct */
    uint32_t on_surface, layer;
    float step;
    double voxel;
    uint32_t hyper_count, chunk_count, point_count, total;
    uint32_t by_label[FLR_LABEL_COUNT];
    float centre[3], radius;
    float displaced;          /* metres; 0: the points are where they were made */
    uint64_t hypers, chunks;  /* offsets of flr_shell_hyper[], flr_shell_chunk[] */
    uint64_t x, y, z, normal; /* … of uint16_t[] and uint32_t[], point_count each */
    uint64_t size;            /* of the whole block */
} flr_shell_header;

/* The view and what it stands on. */
typedef struct flr_shell_owner {
    flr_shell view;                 /* first, so that a flr_shell is one of these */
    const flr_shell_header *header; /* the block begins here */
    void *pages;                    /* the block, where it has memory of its own */
    struct flr_voxfile *file;       /* else the file it lies in */
} flr_shell_owner;

/* Places and size from the counts. */
void flr_shell_lay_out(flr_shell_header *header);

/* A new shell of zeros with the parameters and counts of `like`; the places are filled in here. NULL: no memory. Fill
 * the arrays and, in the view, the totals; flr_shell_seal() then puts those into the block. */
flr_shell *flr_shell_allocate(const flr_shell_header *like);
void flr_shell_seal(flr_shell *shell);

/* What the header says, with pointers into the block. */
flr_shell flr_shell_view(const flr_shell_header *header);

#endif
