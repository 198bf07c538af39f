/* voxfile_write.h: writing a voxel file piece by piece, in any order, with the checksum of each block on the way.
 *
 *     flr_voxfile_begin(env, path, sections, count, threads, &writer, error)
 *     part = flr_voxfile_part_at(offset, size)      a run of bytes of a section that is written from front to back
 *     flr_voxfile_put(writer, &part, bytes, count, error) …   as often as it takes, in any order of the parts
 *     flr_voxfile_commit(writer, error), or flr_voxfile_abandon(writer)
 *
 * Blocks that lie within one part are hashed and written as they come; those that parts share are kept until the end. */
#ifndef FLR_VOXEL_VOXFILE_WRITE_H
#define FLR_VOXEL_VOXFILE_WRITE_H

#include "voxel/voxfile_format.h"

typedef struct flr_voxfile_writer flr_voxfile_writer;

/* A run of bytes under way; offsets count from where the sections begin. Parts must not overlap; less than a block may lie
 * between them, which becomes zeros. */
typedef struct flr_voxfile_part {
    uint64_t begin, next, end;
} flr_voxfile_part;

static inline flr_voxfile_part flr_voxfile_part_at(uint64_t offset, uint64_t size)
{
    return (flr_voxfile_part){.begin = offset, .next = offset, .end = offset + size};
}

/* Bytes of a file with these sections, of which kind and size are given; fills in their offsets, counted from where
 * the first begins. */
uint64_t flr_voxfile_lay_out(flr_voxfile_section *sections, uint32_t count);

/* `threads` hash. FLR_UNSUPPORTED on a machine that is not little-endian, FLR_NO_MEMORY, or what the disk says. */
flr_result flr_voxfile_begin(flr_env *env, const char *path, const flr_voxfile_section *sections,
                             uint32_t count, unsigned threads, flr_voxfile_writer **writer,
                             flr_error *error);

flr_result flr_voxfile_put(flr_voxfile_writer *writer, flr_voxfile_part *part, const void *bytes,
                           size_t count, flr_error *error);

/* Puts the file in place when all parts are written; frees the writer in any case. */
flr_result flr_voxfile_commit(flr_voxfile_writer *writer, flr_error *error);
void flr_voxfile_abandon(flr_voxfile_writer *writer); /* NULL allowed */

#endif
