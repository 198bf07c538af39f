/* voxels and surface points as a file: writing */
#include "voxel/voxfile_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "feeler/base.h"

enum { VOXFILE_WRITE_BYTE_ORDER_MARK = 0x01020304, BLOCKS_AT_ONCE = 256 };

/* a block that more than one part lies in */
typedef struct shared_block {
    uint64_t number;
    uint8_t *bytes;
} shared_block;

struct flr_voxfile_writer {
    flr_output *output;
    flr_voxfile_header header;
    flr_hash *table; /* as it lies in the file, behind the header */
    shared_block *shared;
    size_t shared_count;
    uint64_t hashed; /* blocks that have their checksum */
    unsigned threads;
    char *path;
};

/* ---- sizes ---- */

static uint64_t lay_out(flr_voxfile_header *header)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < header->section_count; i++) {
        header->sections[i].offset = total;
        total += flr_section_aligned(header->sections[i].size);
    }
    header->block_count = (total + FLR_VOXFILE_BLOCK - 1) / FLR_VOXFILE_BLOCK;
    header->data = flr_section_aligned(sizeof *header + header->block_count * sizeof(flr_hash));
    header->size = header->data + total;
    for (uint32_t i = 0; i < header->section_count; i++) header->sections[i].offset += header->data;
    return total;
}

uint64_t flr_voxfile_lay_out(flr_voxfile_section *sections, uint32_t count)
{
    flr_voxfile_header header = {.section_count = count};
    memcpy(header.sections, sections, count * sizeof *sections);
    lay_out(&header);
    for (uint32_t i = 0; i < count; i++)
        sections[i].offset = header.sections[i].offset - header.data;
    return header.size;
}

/* ---- begin and end ---- */

static void free_writer(flr_voxfile_writer *writer)
{
    for (size_t i = 0; i < writer->shared_count; i++) free(writer->shared[i].bytes);
    free(writer->shared);
    free(writer->table);
    free(writer->path);
    free(writer);
}

static flr_result no_memory(const char *path, flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to write it", path);
}

flr_result flr_voxfile_begin(flr_env *env, const char *path, const flr_voxfile_section *sections,
                             uint32_t count, unsigned threads, flr_voxfile_writer **writer,
                             flr_error *error)
{
    /* the format is the memory of a little-endian machine; others read and write none */
    const uint32_t mark = VOXFILE_WRITE_BYTE_ORDER_MARK;
    if (*(const uint8_t *)&mark != 4)
        return flr_fail(error, FLR_UNSUPPORTED, "%s: voxel files need a little-endian machine",
                        path);
    flr_voxfile_writer *made = calloc(1, sizeof *made);
    if (!made) return no_memory(path, error);
    made->threads = threads;
    made->header = (flr_voxfile_header){.byte_order = VOXFILE_WRITE_BYTE_ORDER_MARK,
                                        .version = FLR_VOXMAP_VERSION,
                                        .block_size = FLR_VOXFILE_BLOCK,
                                        .section_count = count};
    memcpy(made->header.magic, FLR_VOXFILE_MAGIC, sizeof made->header.magic);
    for (uint32_t i = 0; i < count; i++)
        made->header.sections[i] =
            (flr_voxfile_section){.kind = sections[i].kind, .size = sections[i].size};
    lay_out(&made->header);
    made->table = calloc(1, made->header.data - sizeof made->header + 1);
    made->path = strdup(path);
    flr_result result = made->table && made->path
                            ? flr_output_begin_with(env, path, FLR_OPEN_PRIVATE | FLR_OPEN_NO_LINK,
                                                    &made->output, error)
                            : no_memory(path, error);
    if (result != FLR_OK) {
        free_writer(made);
        return result;
    }
    *writer = made;
    return FLR_OK;
}

void flr_voxfile_abandon(flr_voxfile_writer *writer)
{
    if (!writer) return;
    flr_output_abandon(writer->output);
    free_writer(writer);
}

/* ---- blocks ---- */

/* The bytes of a block of which only a part comes now; NULL: no memory. */
static uint8_t *shared_bytes(flr_voxfile_writer *writer, uint64_t block)
{
    for (size_t i = 0; i < writer->shared_count; i++)
        if (writer->shared[i].number == block) return writer->shared[i].bytes;
    shared_block *more =
        realloc(writer->shared, (writer->shared_count + 1) * sizeof *writer->shared);
    if (!more) return NULL;
    writer->shared = more;
    uint8_t *bytes = calloc(1, FLR_VOXFILE_BLOCK);
    if (bytes) writer->shared[writer->shared_count++] = (shared_block){block, bytes};
    return bytes;
}

/* A block that is shared no more: it was filled by one part alone. */
static void drop_shared(flr_voxfile_writer *writer, uint64_t block)
{
    for (size_t i = 0; i < writer->shared_count; i++) {
        if (writer->shared[i].number != block) continue;
        free(writer->shared[i].bytes);
        writer->shared[i] = writer->shared[--writer->shared_count];
        return;
    }
}

typedef struct hash_job {
    const uint8_t *bytes;
    flr_hash *table;
} hash_job;

static flr_result hash_block(void *context, size_t block, unsigned worker)
{
    (void)worker;
    const hash_job *job = context;
    job->table[block] = flr_hash_bytes(job->bytes + block * FLR_VOXFILE_BLOCK, FLR_VOXFILE_BLOCK);
    return FLR_OK;
}

/* Whole blocks. */
static flr_result put_blocks(flr_voxfile_writer *writer, uint64_t first, const uint8_t *bytes,
                             size_t count, flr_error *error)
{
    flr_result result = FLR_OK;
    for (size_t done = 0; done < count && result == FLR_OK; done += BLOCKS_AT_ONCE) {
        size_t now = count - done < BLOCKS_AT_ONCE ? count - done : BLOCKS_AT_ONCE;
        hash_job job = {bytes + done * FLR_VOXFILE_BLOCK, writer->table + first + done};
        flr_parallel_for(now < 4 ? 1 : writer->threads, now, hash_block, &job);
        result =
            flr_output_put(writer->output, writer->header.data + (first + done) * FLR_VOXFILE_BLOCK,
                           job.bytes, now * FLR_VOXFILE_BLOCK, error);
    }
    writer->hashed += count;
    return result;
}

flr_result flr_voxfile_put(flr_voxfile_writer *writer, flr_voxfile_part *part, const void *bytes,
                           size_t count, flr_error *error)
{
    FLR_ASSERT(count <= part->end - part->next);
    const uint8_t *from = bytes;
    flr_result result = FLR_OK;
    while (count > 0 && result == FLR_OK) {
        uint64_t block = part->next / FLR_VOXFILE_BLOCK, at = part->next % FLR_VOXFILE_BLOCK;
        size_t taken;
        if (at == 0 && count >= FLR_VOXFILE_BLOCK) {
            taken = count / FLR_VOXFILE_BLOCK * FLR_VOXFILE_BLOCK;
            result = put_blocks(writer, block, from, taken / FLR_VOXFILE_BLOCK, error);
        } else {
            /* into memory, until the block is full: at once where it belongs to this part alone */
            uint8_t *to = shared_bytes(writer, block);
            if (!to) return no_memory(writer->path, error);
            taken = FLR_VOXFILE_BLOCK - at < count ? (size_t)(FLR_VOXFILE_BLOCK - at) : count;
            memcpy(to + at, from, taken);
            if (at + taken == FLR_VOXFILE_BLOCK && part->begin <= block * FLR_VOXFILE_BLOCK) {
                result = put_blocks(writer, block, to, 1, error);
                drop_shared(writer, block);
            }
        }
        from += taken;
        count -= taken;
        part->next += taken;
    }
    return result;
}

/* ---- the end ---- */

static flr_result put_shared(flr_voxfile_writer *writer, flr_error *error)
{
    const flr_voxfile_header *h = &writer->header;
    flr_result result = FLR_OK;
    for (size_t i = 0; i < writer->shared_count && result == FLR_OK; i++) {
        const shared_block *block = &writer->shared[i];
        uint64_t begin = h->data + block->number * FLR_VOXFILE_BLOCK, left = h->size - begin;
        size_t size = left < FLR_VOXFILE_BLOCK ? (size_t)left : FLR_VOXFILE_BLOCK;
        writer->table[block->number] = flr_hash_bytes(block->bytes, size);
        writer->hashed++;
        result = flr_output_put(writer->output, begin, block->bytes, size, error);
    }
    return result;
}

flr_result flr_voxfile_commit(flr_voxfile_writer *writer, flr_error *error)
{
    flr_voxfile_header *h = &writer->header;
    flr_result result = put_shared(writer, error);
    if (result == FLR_OK) {
        FLR_ASSERT(writer->hashed == h->block_count);
        h->table_hash = flr_hash_bytes(writer->table, h->data - sizeof *h);
        h->header_hash = (flr_hash){0, 0};
        h->header_hash = flr_hash_bytes(h, sizeof *h);
        result = flr_output_put(writer->output, 0, h, sizeof *h, error);
    }
    if (result == FLR_OK)
        result =
            flr_output_put(writer->output, sizeof *h, writer->table, h->data - sizeof *h, error);
    if (result != FLR_OK) {
        flr_voxfile_abandon(writer);
        return result;
    }
    result = flr_output_commit(writer->output, error);
    free_writer(writer);
    return result;
}

/* ---- what is in memory ---- */

flr_result flr_voxfile_write(flr_env *env, const char *path, const flr_voxmap *voxmap,
                             const flr_shell *shell, flr_error *error)
{
    FLR_ASSERT(env && path && voxmap);
    const void *blocks[2] = {voxmap->header, NULL};
    flr_voxfile_section sections[2] = {{.kind = FLR_SECTION_VOXMAP, .size = voxmap->header->size}};
    uint32_t count = 1;
    if (shell) {
        const flr_shell_header *header = ((const flr_shell_owner *)shell)->header;
        blocks[count] = header;
        sections[count++] = (flr_voxfile_section){.kind = FLR_SECTION_SHELL, .size = header->size};
    }
    flr_voxfile_lay_out(sections, count);
    flr_voxfile_writer *writer;
    flr_result result = flr_voxfile_begin(env, path, sections, count, 0, &writer, error);
    for (uint32_t i = 0; i < count && result == FLR_OK; i++) {
        flr_voxfile_part part = flr_voxfile_part_at(sections[i].offset, sections[i].size);
        result = flr_voxfile_put(writer, &part, blocks[i], sections[i].size, error);
        if (result != FLR_OK) flr_voxfile_abandon(writer);
    }
    return result == FLR_OK ? flr_voxfile_commit(writer, error) : result;
}
