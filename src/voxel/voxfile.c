/* voxels and surface points as a file: writing, opening, verifying */
#include "feeler/voxel_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/large_pages.h"
#include "base/parallel.h"
#include "feeler/base.h"
#include "voxel/voxfile_format.h"

enum {
    VOXFILE_BYTE_ORDER_MARK = 0x01020304,
    WHOLE_AT_ONCE =
        64 << 20, /* bytes: a file up to this size is verified when it is opened, in a few ms */
    BLOCKS_PER_PIECE = 16
};

/* The file format is the memory of a little-endian machine; others read and write none. */
static bool right_machine(void)
{
    const uint32_t mark = VOXFILE_BYTE_ORDER_MARK;
    return *(const uint8_t *)&mark == 4;
}

/* Where the sections begin behind the checksums of so many blocks. */
static uint64_t data_begin(uint64_t block_count)
{
    return flr_section_aligned(sizeof(flr_voxfile_header) + block_count * sizeof(flr_hash));
}

static flr_hash hash_header(const flr_voxfile_header *header)
{
    flr_voxfile_header copy = *header;
    copy.header_hash = (flr_hash){0, 0};
    return flr_hash_bytes(&copy, sizeof copy);
}

/* ---- the open file ---- */

void flr_voxfile_release(flr_voxfile *file)
{
    if (!file || atomic_fetch_sub(&file->references, 1) > 1) return;
    flr_file_unmap(&file->map);
    flr_pages_free(file->pages, file->size);
    free(file->path);
    free(file);
}

/* A copy, made once: what happens to a mapped file after it was checked changes no offset or size. */
static void copy_header(flr_voxfile *file)
{
    const size_t size = file->size < sizeof file->header ? file->size : sizeof file->header;
    if (size) memcpy(&file->header, file->bytes, size);
}

/* what to do about it is the same for all damage */
static flr_result fail_damaged(const flr_voxfile *file, flr_error *error, const char *what)
{
    return flr_fail(error, FLR_BAD_INPUT, "%s: damaged: %s; build it again with feeler voxelize",
                    file->path, what);
}

/* ---- checking ---- */

typedef struct verify_job {
    const flr_voxfile *file;
    uint64_t first, end;      /* blocks */
    _Atomic uint64_t damaged; /* a wrong one + 1; 0: none */
} verify_job;

static flr_result verify_piece(void *context, size_t number, unsigned worker)
{
    (void)worker;
    verify_job *job = context;
    const flr_voxfile_header *header = &job->file->header;
    const flr_hash *table = (const flr_hash *)(job->file->bytes + sizeof *header);
    uint64_t first = job->first + number * BLOCKS_PER_PIECE, end = first + BLOCKS_PER_PIECE;
    for (uint64_t block = first; block < end && block < job->end; block++) {
        uint64_t offset = header->data + block * FLR_VOXFILE_BLOCK, size = header->size - offset;
        if (size > FLR_VOXFILE_BLOCK) size = FLR_VOXFILE_BLOCK;
        if (flr_hash_equal(flr_hash_bytes(job->file->bytes + offset, size), table[block])) continue;
        atomic_store(&job->damaged, block + 1);
        return FLR_BAD_INPUT;
    }
    return FLR_OK;
}

static flr_result fail_unreadable(const flr_voxfile *file, flr_error *error)
{
    return fail_damaged(file, error, "it became shorter or could not be read while it was open");
}

/* Compares the checksums of all blocks that [from, to) touches. The range lies behind the table, unless the numbers that
 * it was computed from were lost meanwhile. */
static flr_result verify_range(const flr_voxfile *file, uint64_t from, uint64_t to,
                               unsigned threads, flr_error *error)
{
    const flr_voxfile_header *header = &file->header;
    if (from < header->data || to < from || to > header->size)
        return fail_damaged(file, error, "a range lies outside of it");
    verify_job job = {.file = file,
                      .first = (from - header->data) / FLR_VOXFILE_BLOCK,
                      .end = (to - header->data + FLR_VOXFILE_BLOCK - 1) / FLR_VOXFILE_BLOCK};
    uint64_t pieces = (job.end - job.first + BLOCKS_PER_PIECE - 1) / BLOCKS_PER_PIECE;
    if (flr_parallel_for(threads, pieces, verify_piece, &job) == FLR_OK) return FLR_OK;
    return flr_fail(error, FLR_BAD_INPUT,
                    "%s: damaged: the checksum at byte %" PRIu64
                    " is wrong; build it again with feeler voxelize",
                    file->path, header->data + (job.damaged - 1) * FLR_VOXFILE_BLOCK);
}

/* What kind of file is it, and is its first page whole? */
static flr_result check_first_page(const flr_voxfile *file, flr_error *error)
{
    const flr_voxfile_header *h = &file->header;
    if (file->size < sizeof h->magic || memcmp(h->magic, FLR_VOXFILE_MAGIC, sizeof h->magic) != 0)
        return flr_fail(error, FLR_BAD_INPUT, "%s: is not a voxel file of feeler", file->path);
    if (file->size < sizeof *h) return fail_damaged(file, error, "it is cut off");
    if (!right_machine() || h->byte_order == __builtin_bswap32(VOXFILE_BYTE_ORDER_MARK))
        return flr_fail(error, FLR_UNSUPPORTED,
                        "%s: is from a machine with another byte order; build it again here",
                        file->path);
    if (h->version != FLR_VOXMAP_VERSION)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "%s: has version %u, this feeler reads %d; build it again with feeler "
                        "voxelize",
                        file->path, h->version, FLR_VOXMAP_VERSION);
    if (!flr_hash_equal(hash_header(h), h->header_hash))
        return fail_damaged(file, error, "the checksum of its header is wrong");
    return FLR_OK;
}

/* Sizes, the checksums of the checksums, and the places of the sections. */
static flr_result check_table(const flr_voxfile *file, flr_error *error)
{
    const flr_voxfile_header *h = &file->header;
    if (h->size != file->size)
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s: damaged: has %zu bytes and should have %" PRIu64
                        "; build it again with feeler voxelize",
                        file->path, file->size, h->size);
    if (h->byte_order != VOXFILE_BYTE_ORDER_MARK || h->block_size != FLR_VOXFILE_BLOCK ||
        h->section_count < 1 || h->section_count > FLR_VOXFILE_SECTIONS ||
        h->block_count > h->size / sizeof(flr_hash) || h->data != data_begin(h->block_count) ||
        h->data > h->size ||
        h->block_count != (h->size - h->data + FLR_VOXFILE_BLOCK - 1) / FLR_VOXFILE_BLOCK)
        return fail_damaged(file, error, "its header contradicts itself");
    for (uint32_t i = 0; i < h->section_count; i++) {
        const flr_voxfile_section *s = &h->sections[i];
        if (s->offset % FLR_SECTION_ALIGN || s->offset < h->data || s->offset > h->size ||
            s->size > h->size - s->offset || s->size < 1)
            return fail_damaged(file, error, "a section lies outside of it");
    }
    if (!flr_hash_equal(flr_hash_bytes(file->bytes + sizeof *h, h->data - sizeof *h),
                        h->table_hash))
        return fail_damaged(file, error, "the checksum of its checksums is wrong");
    return FLR_OK;
}

static const flr_voxfile_section *find_section(const flr_voxfile *file, flr_section_kind kind)
{
    const flr_voxfile_header *h = &file->header;
    for (uint32_t i = 0; i < h->section_count; i++)
        if (h->sections[i].kind == (uint32_t)kind) return &h->sections[i];
    return NULL;
}

/* A part of the file, unless all of it was verified. */
static flr_result verify_part(const flr_voxfile *file, uint64_t offset, uint64_t size,
                              flr_error *error)
{
    if (atomic_load(&file->verified) || file->loaded) return FLR_OK;
    return verify_range(file, offset, offset + size, 0, error);
}

typedef struct directory_part {
    uint64_t offset, size; /* bytes, from the voxmap's header on */
} directory_part;
enum { DIRECTORY_PARTS = 5 };

/* Which parts of the directory are in memory; each is read and verified out to whole blocks. */
static int parts_of_directory(const flr_voxmap_header *h, unsigned flags,
                              directory_part parts[DIRECTORY_PARTS])
{
    if (!(flags & FLR_VOXFILE_SURFACE)) {
        parts[0] = (directory_part){0, h->directory};
        return 1;
    }
    const uint64_t roots = (uint64_t)h->roots[0] * h->roots[1] * h->roots[2] * sizeof(uint32_t),
                   each = 512 * sizeof(uint32_t);
    const flr_tree_place *surface = &h->fields[FLR_FIELD_SURFACE];
    parts[0] = (directory_part){surface->root, roots};
    parts[1] = (directory_part){surface->nodes, surface->node_count * each};
    parts[2] = (directory_part){surface->hypers, surface->hyper_count * each};
    parts[3] = (directory_part){h->chunks.root, roots};
    parts[4] = (directory_part){h->chunks.nodes, h->chunks.node_count * each};
    return DIRECTORY_PARTS;
}

/* The directory: where zeros lie behind the file its upper levels will do, and opening takes no longer for a large
 * file than for a small one. Of one that was loaded the pager looks at the lowest level, which it changes. */
static flr_result check_directory(const flr_voxfile *file, const flr_voxfile_section *s,
                                  const flr_voxmap_header *header, unsigned flags, flr_error *error)
{
    const int fields = flags & FLR_VOXFILE_SURFACE ? 1 : FLR_FIELD_COUNT;
    const char *wrong = NULL;
    flr_result result = FLR_OK;
    if (file->loaded) {
        wrong = flr_voxmap_check_upper(header, fields);
    } else if (file->map.room >= FLR_VOXFILE_CAPACITY && !atomic_load(&file->verified)) {
        const flr_tree_place *places[] = {&header->fields[0], &header->fields[1],
                                          &header->fields[2], &header->chunks};
        for (int i = 0; i < 4 && result == FLR_OK; i++)
            if (places[i]->hypers > places[i]->root)
                result = verify_part(file, s->offset + places[i]->root,
                                     places[i]->hypers - places[i]->root, error);
        if (result == FLR_OK) wrong = flr_voxmap_check_upper(header, fields);
    } else {
        directory_part parts[DIRECTORY_PARTS];
        int count = parts_of_directory(header, flags, parts);
        for (int i = 0; i < count && result == FLR_OK; i++)
            if (parts[i].size)
                result = verify_part(file, s->offset + parts[i].offset, parts[i].size, error);
        if (result == FLR_OK) wrong = flr_voxmap_check_entries(header, fields);
    }
    return wrong ? fail_damaged(file, error, wrong) : result;
}

static flr_result check_voxmap(const flr_voxfile *file, const flr_voxfile_section *s,
                               unsigned flags, flr_error *error)
{
    const flr_voxmap_header *header = (const flr_voxmap_header *)(file->bytes + s->offset);
    uint64_t head = s->size < sizeof *header ? s->size : sizeof *header;
    flr_result result = verify_part(file, s->offset, head, error);
    if (result != FLR_OK) return result;
    const char *wrong = flr_voxmap_check_header(header, s->size);
    return wrong ? fail_damaged(file, error, wrong)
                 : check_directory(file, s, header, flags, error);
}

static flr_result check_shell(const flr_voxfile *file, const flr_voxfile_section *s,
                              flr_error *error)
{
    const flr_shell_header *header = (const flr_shell_header *)(file->bytes + s->offset);
    uint64_t head = s->size < sizeof *header ? s->size : sizeof *header;
    const char *wrong = NULL;
    flr_result result = verify_part(file, s->offset, head, error);
    if (result == FLR_OK) wrong = flr_shell_check_header(header, s->size);
    if (result == FLR_OK && !wrong) result = verify_part(file, s->offset, header->x, error);
    if (result == FLR_OK && !wrong) wrong = flr_shell_check_entries(header);
    return wrong ? fail_damaged(file, error, wrong) : result;
}

static flr_result verify_all(const flr_voxfile *file, unsigned threads, flr_error *error)
{
    flr_result result = verify_range(file, file->header.data, file->header.size, threads, error);
    if (result == FLR_OK && flr_map_failed(&file->map)) result = fail_unreadable(file, error);
    return result;
}

/* ---- opening ---- */

/* The objects that stand on a checked file; each holds it. */
static flr_result hand_out(flr_voxfile *file, bool paged, flr_voxmap **voxmap, flr_shell **shell,
                           flr_error *error)
{
    const flr_voxfile_section *at = find_section(file, FLR_SECTION_VOXMAP);
    const flr_voxfile_section *points = shell ? find_section(file, FLR_SECTION_SHELL) : NULL;
    flr_voxmap *made = calloc(1, sizeof *made);
    flr_shell_owner *owner = points ? calloc(1, sizeof *owner) : NULL;
    if (!made || (points && !owner)) {
        free(made);
        free(owner);
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to open it", file->path);
    }
    made->header = (const flr_voxmap_header *)(file->bytes + at->offset);
    made->file = file;
    made->paged = paged;
    atomic_fetch_add(&file->references, 1);
    if (owner) {
        owner->header = (const flr_shell_header *)(file->bytes + points->offset);
        owner->view = flr_shell_view(owner->header);
        owner->file = file;
        atomic_fetch_add(&file->references, 1);
    }
    *voxmap = made;
    if (shell) *shell = owner ? &owner->view : NULL;
    return FLR_OK;
}

/* Checks what is in memory, then makes the objects. */
static flr_result open_bytes(flr_voxfile *file, unsigned flags, flr_voxmap **voxmap,
                             flr_shell **shell, flr_error *error)
{
    const bool paged = flags & FLR_VOXFILE_DIRECTORY;
    flr_result result = file->loaded ? FLR_OK : check_first_page(file, error);
    if (result == FLR_OK && !file->loaded) result = check_table(file, error);
    const bool all = flags & FLR_VOXFILE_VERIFY || file->size <= WHOLE_AT_ONCE;
    if (result == FLR_OK && !paged && all && !atomic_load(&file->verified)) {
        result = verify_all(file, 0, error);
        atomic_store(&file->verified, result == FLR_OK);
    }
    if (result != FLR_OK) return result;
    const flr_voxfile_section *section = find_section(file, FLR_SECTION_VOXMAP);
    if (!section) return fail_damaged(file, error, "there is no voxmap in it");
    result = check_voxmap(file, section, flags, error);
    section = shell ? find_section(file, FLR_SECTION_SHELL) : NULL;
    if (result == FLR_OK && section) result = check_shell(file, section, error);
    if (result == FLR_OK && flr_map_failed(&file->map)) result = fail_unreadable(file, error);
    return result == FLR_OK ? hand_out(file, paged, voxmap, shell, error) : result;
}

static flr_voxfile *new_file(const char *name, flr_error *error)
{
    flr_voxfile *file = calloc(1, sizeof *file);
    if (file) file->path = strdup(name);
    if (!file || !file->path) {
        flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to open it", name);
        free(file);
        return NULL;
    }
    atomic_init(&file->references, 1);
    return file;
}

/* Reading hundreds of megabytes: by several threads, all but the first with the file opened for itself. */
typedef struct voxfile_load_job {
    flr_env *env;
    flr_voxfile *file;
    flr_file **handles; /* [threads] */
    uint64_t from, to;  /* bytes: whole blocks, where their checksums are known */
    bool verify;
    atomic_flag told;
    flr_error error; /* of the first that failed */
} voxfile_load_job;

enum {
    LOAD_PIECE = BLOCKS_PER_PIECE * FLR_VOXFILE_BLOCK,
    LOAD_ALONE = 8 << 20 /* bytes: up to so many by one thread */
};

static flr_result read_piece(flr_file *from, flr_voxfile *file, uint64_t at, uint64_t end,
                             flr_error *error)
{
    for (size_t got; at < end; at += got) {
        flr_result result =
            flr_file_read(from, at, (uint8_t *)file->pages + at, end - at, &got, error);
        if (result != FLR_OK) return result;
        if (got == 0) return fail_damaged(file, error, "it became shorter while it was read");
    }
    return FLR_OK;
}

/* Reads a piece and compares its checksums while it is in the processor's cache. */
static flr_result load_piece(void *context, size_t number, unsigned worker)
{
    voxfile_load_job *job = context;
    uint64_t from = job->from + number * LOAD_PIECE, to = from + LOAD_PIECE;
    if (to > job->to) to = job->to;
    flr_file **handle = &job->handles[worker];
    flr_error why;
    flr_result result = FLR_OK;
    if (!*handle) result = flr_file_open(job->env, job->file->path, FLR_FILE_READ, handle, &why);
    if (result == FLR_OK) result = read_piece(*handle, job->file, from, to, &why);
    if (result == FLR_OK && job->verify) result = verify_range(job->file, from, to, 1, &why);
    if (result != FLR_OK && !atomic_flag_test_and_set(&job->told)) job->error = why;
    return result;
}

static flr_result load_with(voxfile_load_job *job, flr_file *first, unsigned threads,
                            flr_error *error)
{
    job->handles = calloc(threads, sizeof *job->handles);
    if (!job->handles)
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to open it", job->file->path);
    job->handles[0] = first;
    atomic_flag_clear(&job->told);
    uint64_t pieces = (job->to - job->from + LOAD_PIECE - 1) / LOAD_PIECE;
    flr_result result = flr_parallel_for(threads, pieces, load_piece, job);
    for (unsigned i = 1; i < threads; i++) flr_file_close(job->handles[i]);
    free(job->handles);
    if (result != FLR_OK && error) *error = job->error;
    return result;
}

/* Bytes [from, to) of the file to their place in the address space set aside for it, out to whole blocks; behind the
 * checksums, compared with them. */
static flr_result load_range(flr_env *env, flr_file *from_file, flr_voxfile *file, uint64_t from,
                             uint64_t to, flr_error *error)
{
    const uint64_t data = from < sizeof(flr_voxfile_header) ? 0 : file->header.data;
    const bool verify = from >= data && data > 0;
    if (verify) {
        from -= (from - data) % FLR_VOXFILE_BLOCK;
        to += FLR_VOXFILE_BLOCK - 1 - (to - data + FLR_VOXFILE_BLOCK - 1) % FLR_VOXFILE_BLOCK;
    }
    if (to > file->size) to = file->size;
    if (from >= to) return FLR_OK;
    if (!flr_pages_open((uint8_t *)file->pages + from, flr_section_aligned(to) - from))
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to read it", file->path);
    voxfile_load_job job = {.env = env, .file = file, .from = from, .to = to, .verify = verify};
    unsigned threads = to - from <= LOAD_ALONE ? 1 : flr_parallel_threads(0);
    flr_result result = load_with(&job, from_file, threads, error);
    /* others may have opened what has just replaced it: once more from the one that was opened first */
    if (result != FLR_OK && threads > 1) result = load_with(&job, from_file, 1, error);
    return result;
}

/* Sets aside address space for a file, then reads its header and checksums and checks them: what is read is checked before
 * it tells where to read on, and a damaged file takes no more memory than that. */
static flr_result load_begin(flr_env *env, flr_file *from, flr_voxfile *file, flr_error *error)
{
    uint64_t size;
    flr_result result = flr_file_size(from, &size, error);
    if (result != FLR_OK) return result;
    file->pages = size <= SIZE_MAX / 2 ? flr_pages_reserve(flr_section_aligned(size)) : NULL;
    if (!file->pages)
        return flr_fail(error, FLR_NO_MEMORY, "%s: no room in the address space for it",
                        file->path);
    file->bytes = file->pages;
    file->size = (size_t)size;
    result = load_range(env, from, file, 0, sizeof(flr_voxfile_header), error);
    if (result != FLR_OK) return result;
    copy_header(file);
    result = check_first_page(file, error);
    const flr_voxfile_header *h = &file->header;
    if (result == FLR_OK && h->size != size) return check_table(file, error);
    if (result == FLR_OK && (h->data < sizeof *h || h->data > size || h->data % FLR_SECTION_ALIGN))
        result = fail_damaged(file, error, "its header contradicts itself");
    if (result == FLR_OK) result = load_range(env, from, file, 0, h->data, error);
    return result == FLR_OK ? check_table(file, error) : result;
}

/* The whole file into memory of its own, each block compared with its checksum. */
static flr_result load(flr_env *env, flr_file *from, flr_voxfile *file, uint64_t limit,
                       flr_error *error)
{
    flr_result result = load_begin(env, from, file, error);
    if (result != FLR_OK) return result;
    const flr_voxfile_header *h = &file->header;
    if (h->size > limit)
        return flr_fail(error, FLR_TOO_LARGE,
                        "%s: its voxels take %.3g GiB, and there are %.3g GiB of memory for them; "
                        "use larger voxels, or page them",
                        file->path, (double)h->size / 0x1p30, (double)limit / 0x1p30);
    result = load_range(env, from, file, h->data, h->size, error);
    atomic_store(&file->verified, result == FLR_OK);
    return result;
}

/* What a paged voxmap keeps in memory; open_bytes() checks the rest. */
static flr_result load_directory(flr_env *env, flr_file *from, flr_voxfile *file, unsigned flags,
                                 flr_error *error)
{
    flr_result result = load_begin(env, from, file, error);
    if (result != FLR_OK) return result;
    const flr_voxfile_section *s = find_section(file, FLR_SECTION_VOXMAP);
    if (!s) return fail_damaged(file, error, "there is no voxmap in it");
    uint64_t head = s->size < sizeof(flr_voxmap_header) ? s->size : sizeof(flr_voxmap_header);
    result = load_range(env, from, file, s->offset, s->offset + head, error);
    if (result != FLR_OK) return result;
    const flr_voxmap_header *v = (const flr_voxmap_header *)(file->bytes + s->offset);
    const char *wrong = flr_voxmap_check_header(v, s->size);
    if (wrong) return fail_damaged(file, error, wrong);
    uint64_t chunks = v->chunks.planes, chunks_size = v->chunks.plane_count * 256;
    directory_part parts[DIRECTORY_PARTS];
    int count = parts_of_directory(v, flags, parts);
    for (int i = 0; i < count && result == FLR_OK; i++)
        if (parts[i].size)
            result = load_range(env, from, file, s->offset + parts[i].offset,
                                s->offset + parts[i].offset + parts[i].size, error);
    if (result == FLR_OK && chunks_size)
        result = load_range(env, from, file, s->offset + chunks, s->offset + chunks + chunks_size,
                            error);
    file->loaded = result == FLR_OK;
    return result;
}

flr_result flr_voxfile_open(flr_env *env, const char *path, unsigned flags, flr_voxmap **voxmap,
                            flr_shell **shell, flr_error *error)
{
    return flr_voxfile_open_within(env, path, flags, UINT64_MAX, voxmap, shell, error);
}

flr_result flr_voxfile_open_within(flr_env *env, const char *path, unsigned flags, uint64_t limit,
                                   flr_voxmap **voxmap, flr_shell **shell, flr_error *error)
{
    FLR_ASSERT(env && path && voxmap);
    flr_file *from;
    flr_result result = flr_file_open(env, path, FLR_FILE_READ, &from, error);
    if (result != FLR_OK) return result;
    flr_voxfile *file = new_file(path, error);
    if (!file) {
        flr_file_close(from);
        return FLR_NO_MEMORY;
    }
    if (flags & FLR_VOXFILE_DIRECTORY) {
        result = load_directory(env, from, file, flags, error);
    } else if (flags & FLR_VOXFILE_LOAD) {
        result = load(env, from, file, limit, error);
    } else {
        uint64_t size;
        result = flr_file_size(from, &size, error);
        size_t room = result == FLR_OK && size > WHOLE_AT_ONCE ? FLR_VOXFILE_CAPACITY : 0;
        if (result == FLR_OK) result = flr_file_map(from, room, &file->map, error);
        file->bytes = file->map.bytes;
        file->size = file->map.size;
        copy_header(file);
    }
    flr_file_close(from);
    if (result == FLR_OK) result = open_bytes(file, flags, voxmap, shell, error);
    flr_voxfile_release(file);
    return result;
}

flr_result flr_voxfile_parse(const char *name, const void *bytes, size_t size, unsigned flags,
                             flr_voxmap **voxmap, flr_shell **shell, flr_error *error)
{
    flr_voxfile *file = new_file(name, error);
    if (!file) return FLR_NO_MEMORY;
    file->bytes = bytes;
    file->size = size;
    copy_header(file);
    flr_result result = open_bytes(file, flags, voxmap, shell, error);
    flr_voxfile_release(file);
    return result;
}

/* ---- afterwards ---- */

flr_result flr_voxfile_verify(const flr_voxmap *voxmap, unsigned threads, flr_error *error)
{
    FLR_ASSERT(voxmap);
    flr_voxfile *file = voxmap->file;
    if (file && flr_map_failed(&file->map)) {
        atomic_store(&file->verified, false);
        return fail_unreadable(file, error);
    }
    if (!file || voxmap->paged || atomic_load(&file->verified)) return FLR_OK;
    flr_result result = verify_all(file, threads, error);
    if (result != FLR_OK) return result;
    const char *wrong = flr_voxmap_check_entries(voxmap->header, FLR_FIELD_COUNT);
    if (wrong) return fail_damaged(file, error, wrong);
    atomic_store(&file->verified, true);
    return FLR_OK;
}

bool flr_voxfile_get_info(const flr_voxmap *voxmap, flr_voxfile_info *info)
{
    FLR_ASSERT(voxmap && info);
    if (!voxmap->file) return false;
    const flr_voxfile_header *h = &voxmap->file->header;
    *info = (flr_voxfile_info){.version = h->version,
                               .verified = atomic_load(&voxmap->file->verified),
                               .size = h->size,
                               .section_count = h->section_count};
    memcpy(info->sections, h->sections, sizeof info->sections);
    return true;
}
