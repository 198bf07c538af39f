/* kernel.h: the loops over many points, in several instruction sets that give the same answer.
 *
 * Scanning finds what points of a shell chunk may touch. The chunks of the voxmap around them are a small table of their
 * own, cut out of the flattened tree, so that a lookup is two dependent loads, of which the first is always near and none
 * is out of range. One matrix takes steps of the shell to voxels from the corner of that table, in single precision: the
 * error stays below the job's slack. A point nearer than that to a side of its voxel may lie in the next one: it is *unsure*,
 * and looked at again in double precision.
 *
 * Judging goes over points that do touch, in double precision and with the functions of point.h, operation by operation
 * as the reference: the same bits. The caller adds up, in the order of the points. */
#ifndef FLR_CONTACT_KERNEL_H
#define FLR_CONTACT_KERNEL_H

#include "contact/point.h"

/* One field of a voxmap, flattened: an entry for each chunk of the grid; or, where `hypers` is not NULL, for each hyperchunk
 * of it, and for the chunks of those only that are not of one mark. flr_table_at() finds entries. */
typedef struct flr_flat_field {
    const uint32_t
        *chunks; /* [z][y][x], or [hyper][512]: number of a plane, or FLR_UNIFORM | mark */
    const uint32_t *hypers; /* NULL, or [z][y][x]: number of a hyperchunk, or FLR_UNIFORM | mark */
    const uint32_t *planes; /* packed marks, 16 * bits words each */
    uint32_t bits;
    int32_t size[3];   /* voxels of the grid */
    int32_t stride[2]; /* per y, per z: of `hypers` where they are, else of `chunks` */
} flr_flat_field;

/* ---- scanning ---- */

enum {
    FLR_LOCAL_ORDER = 4,                   /* at most 2^4 chunks along each axis */
    FLR_LOCAL = 1 << 3 * FLR_LOCAL_ORDER,  /* entries of a local table, at most */
    FLR_SCAN_POINTS = 512,                 /* points of a shell chunk, at most */
    FLR_SCAN_WORDS = FLR_SCAN_POINTS / 16, /* words of hits */
};

/* points of one shell chunk, to be looked up */
typedef struct flr_scan_job {
    const uint16_t *x, *y, *z; /* steps; of the chunk, padded to a multiple of 16 */
    const uint32_t *normal;    /* likewise, packed */
    uint32_t from, to;         /* these of the chunk's points */
    bool displaced;            /* along the normals */
    bool judged;               /* by the law of the tangent plane: tell which may press */
    bool smooth;               /* by the smooth law, likewise */
    bool reach;                /* near ones may press, too */
    float matrix[3][4];        /* voxels from the local table's corner = matrix (x, y, z, 1) */
    float turn[3][3];          /* normals to the voxmap's axes */
    float displacement;        /* voxels, outward */
    const uint32_t
        *local; /* [z][y][x], 2^order each way: number of a plane, or FLR_UNIFORM | mark */
    unsigned order;
    const uint32_t *planes; /* packed marks, 16 << shift words each */
    unsigned shift;         /* a mark has 1 << shift bits */
    float slack;            /* voxels: the most that rounding may move a point */
    uint32_t force_mark;    /* marks 1 … this touch, one more is near */
    uint32_t layer_one;     /* marks 1 … this are deep */
} flr_scan_job;

/* the marks around a point, where they are not known; as marks they would all be far */
#define FLR_UNKNOWN UINT32_MAX

/* Bit i % 16 of word i / 16 is the chunk's point i. Words beyond `from` and `to` are left alone. Nothing else tells of the
 * unsure ones. */
typedef struct flr_scan_hits {
    uint16_t touch[FLR_SCAN_WORDS], near[FLR_SCAN_WORDS], unsure[FLR_SCAN_WORDS];
    uint16_t press[FLR_SCAN_WORDS]; /* of those that touch, those whose depth may be positive */
    uint8_t marks[FLR_SCAN_POINTS]; /* where one may press */
    /* smooth law: there, the 8 marks around, 4 bits each, or FLR_UNKNOWN */
    uint32_t around[FLR_SCAN_POINTS];
    uint32_t near_count, deep_count;
    uint32_t least; /* mark met, less 1: so that free is the largest, 0xFFFFFFFF */
} flr_scan_hits;

/* ---- judging ---- */

enum {
    FLR_BATCH = 128,
    FLR_BATCH_FULL = FLR_BATCH - 16 /* with more, a word of hits may find no room */
};

/* points in the making */
typedef struct flr_batch {
    uint32_t count;
    uint8_t label[FLR_BATCH];
    uint32_t point[FLR_BATCH], normal[FLR_BATCH], mark[FLR_BATCH];
    uint32_t around[FLR_BATCH];                      /* smooth law: as in flr_scan_hits */
    double x[FLR_BATCH], y[FLR_BATCH], z[FLR_BATCH]; /* metres, shell's frame */
    double at[3][FLR_BATCH], n[3][FLR_BATCH];        /* from here on by judging: voxels; unit */
    /* smooth law: marks of the 8 voxels around, a byte each, x fastest, of the surface and of the point's own field */
    uint64_t surface[FLR_BATCH], field[FLR_BATCH];
    double size[FLR_BATCH];                           /* depth or approach: counts where positive */
    double push[3][FLR_BATCH], turn[3][FLR_BATCH];    /* 0 where it does not count */
    double world[3][FLR_BATCH], facing[3][FLR_BATCH]; /* metres; unit: world's axes */
} flr_batch;

/* where hits are picked from: a chunk's points */
typedef struct flr_pick {
    const uint16_t *x, *y, *z; /* steps */
    const uint32_t *normal;    /* packed */
    const uint8_t *marks;
    const uint32_t *around; /* where `known` */
    bool known;
    double corner[3], step; /* metres */
    uint32_t first;         /* number of its first point in the shell */
    uint32_t edges, faces;  /* the chunk's first points of these labels */
} flr_pick;

/* Is one of eight marks, 4 bits each, from 1 to `highest`? Each less 1, free is the most; its highest bit, or that of the sum
 * with what is missing to 8, is set where it is above. */
static inline bool flr_marks_any(uint32_t marks, uint32_t highest)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t bytes = (marks & 0x0F0F0F0F) | (uint64_t)(marks >> 4 & 0x0F0F0F0F) << 32;
    uint64_t less = (bytes + 15 * each) & 15 * each;
    return ((less + (128 - highest) * each) & 128 * each) != 128 * each;
}

/* ---- the variants ---- */

typedef struct flr_kernel {
    const char *name;
    void (*scan)(const flr_scan_job *job, flr_scan_hits *hits);
    /* takes the points whose bits are set in words word … end - 1 into a batch; returns the word it had no more room for,
     * or `end` */
    uint32_t (*pick)(const flr_pick *from, const uint16_t *bits, uint32_t word, uint32_t end,
                     flr_batch *batch);
    /* points in the force layer and deeper; points in the layer before it */
    void (*touch)(const flr_contact_frame *frame, flr_batch *batch);
    void (*brake)(const flr_contact_frame *frame, flr_batch *batch);
    /* touch() by the smooth law, in two parts: where points are; all else, once the marks around them are known */
    void (*place)(const flr_contact_frame *frame, flr_batch *batch);
    void (*smooth)(const flr_contact_frame *frame, flr_batch *batch);
    /* points that were judged, for the list of contacts */
    void (*world)(const flr_contact_frame *frame, flr_batch *batch);
    /* centres of chunks, in voxels */
    void (*centres)(const flr_contact_frame *frame, const flr_shell_chunk *chunks, uint32_t count,
                    double at[3][FLR_SCAN_POINTS]);
} flr_kernel;

extern const flr_kernel flr_kernel_scalar;
extern const flr_kernel flr_kernel_avx2;   /* where flr_simd_has() it */
extern const flr_kernel flr_kernel_avx512; /* likewise; where planes have fewer than 2^31 words */
extern const flr_kernel flr_kernel_neon;   /* likewise */

#endif
