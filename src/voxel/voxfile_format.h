/* voxfile_format.h: how a voxmap and its shell lie in a file; docs/voxel-file.md has it as a table.
 *
 *     header page | checksums | section, section, …
 *
 * Offsets count from the start of the file, little-endian, parts begin at multiples of 4096 bytes. Everything behind
 * the checksums is cut into blocks of 64 KiB, each with its hash in the table; the header has the hash of the table,
 * and its own. So every byte of the file is covered by exactly one hash, and a block can be checked alone. */
#ifndef FLR_VOXEL_VOXFILE_FORMAT_H
#define FLR_VOXEL_VOXFILE_FORMAT_H

#include <stdatomic.h>

#include "feeler/voxel_file.h"
#include "voxel/shell_format.h"
#include "voxel/voxmap_format.h"

#define FLR_VOXFILE_MAGIC "flrvox\r\n" /* 8 bytes; a transfer as text spoils them */

enum { FLR_VOXFILE_BLOCK = 65536 };

/* A flag of flr_voxfile_open() for those who page (pager/): header, checksums, directory and chunk distances are read into
 * memory and checked, whatever the size, but for the entries of hyperchunks, which are the pager's to look at; the planes of
 * the fields are not there, and nothing may look at them. */
enum {
    FLR_VOXFILE_DIRECTORY = 4,
    FLR_VOXFILE_SURFACE = 8 /* with it: of the directory, that of the surface's field alone */
};

typedef struct flr_voxfile_header {
    char magic[8];
    uint32_t byte_order; /* 0x01020304 as the writing machine has it */
    uint32_t version;    /* FLR_VOXMAP_VERSION */
    uint64_t size;       /* of the file */
    uint64_t data;       /* where the sections begin and the checksums end */
    uint64_t block_count;
    uint32_t block_size; /* FLR_VOXFILE_BLOCK */
    uint32_t section_count;
    flr_hash table_hash;  /* of the checksums, from the end of this page to `data` */
    flr_hash header_hash; /* of this page with 0 here */
    flr_voxfile_section sections[FLR_VOXFILE_SECTIONS];
    uint8_t zeros[FLR_SECTION_ALIGN - 80 - FLR_VOXFILE_SECTIONS * sizeof(flr_voxfile_section)];
} flr_voxfile_header;

_Static_assert(sizeof(flr_voxfile_header) == FLR_SECTION_ALIGN, "the header is one page");

/* An open file, shared by the voxmap and the shell in it; the last of them closes it. */
typedef struct flr_voxfile {
    atomic_uint references;
    atomic_bool verified; /* all blocks were */
    bool loaded; /* with FLR_VOXFILE_DIRECTORY: what is there was compared as it was read */
    const uint8_t *bytes;
    size_t size;
    flr_voxfile_header header; /* a copy, as it was when it was checked */
    flr_map map;               /* what `bytes` is, … */
    void *pages; /* … or this (FLR_VOXFILE_LOAD, FLR_VOXFILE_DIRECTORY); else borrowed */
    char *path;
} flr_voxfile;

void flr_voxfile_release(flr_voxfile *file); /* NULL allowed */

/* What flr_voxfile_open() does; with FLR_VOXFILE_LOAD, FLR_TOO_LARGE where a sound file has more than `limit` bytes. */
flr_result flr_voxfile_open_within(flr_env *env, const char *path, unsigned flags, uint64_t limit,
                                   flr_voxmap **voxmap, flr_shell **shell, flr_error *error);

/* What flr_voxfile_open() does, on bytes in memory that begin at a multiple of 64 and stay until all that is
 * opened is destroyed. `name` is for messages. */
flr_result flr_voxfile_parse(const char *name, const void *bytes, size_t size, unsigned flags,
                             flr_voxmap **voxmap, flr_shell **shell, flr_error *error);

/* The largest plane number times the largest plane: how far behind its planes an unchecked entry can lead a query. */
#define FLR_VOXFILE_CAPACITY ((size_t)(UINT64_C(512) << 31))

/* voxfile_check.c: everything a query relies on, so that no content whatever makes one look outside the block: sizes,
 * offsets, numbers, and (in the second) each entry of the directories. A sentence of what is wrong, or NULL. `size`
 * is that of the block; _check_header needs the header only, _check_entries the directory, too. _check_upper leaves
 * out the lowest level, which is nearly all of it: safe where FLR_VOXFILE_CAPACITY bytes of zeros lie behind the block. Of the
 * fields the first `fields` are looked at, as many as there are. */
const char *flr_voxmap_check_header(const flr_voxmap_header *header, uint64_t size);
const char *flr_voxmap_check_upper(const flr_voxmap_header *header, int fields);
const char *flr_voxmap_check_entries(const flr_voxmap_header *header, int fields);
const char *flr_shell_check_header(const flr_shell_header *header, uint64_t size);
const char *flr_shell_check_entries(const flr_shell_header *header);

#endif
