/* mesh_stream.h: a mesh as a checked run of bytes, from feeler-import to feeler through a pipe.
 *
 *   start    "flrmesh\x1a", version u32, 0 u32
 *   block    type u32, number u32 (0, 1, …), size u64, `size` bytes, hash of all these (2 × u64)
 *
 * All numbers are little-endian. The order of blocks:
 *
 *   message*, then either
 *     an error message                        the helper could not read the file
 *   or
 *     mesh, names, groups, vertices+, triangles+, nodes?
 *   and in both cases
 *     end                                     with the number of bytes before it; then nothing
 *
 * Messages may also stand between the others. Lengths are metres. The reader trusts nothing: it
 * checks every count, bound, index, number, hash and the end, takes memory only as data arrive,
 * and never more than its limit. Whatever is wrong is FLR_CRASHED: the helper broke its promise.
 *
 * Private: the format may change with every version, both ends are built together.
 */
#ifndef FLR_MESH_STREAM_H
#define FLR_MESH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLR_STREAM_MAGIC "flrmesh\x1a"

enum {
    FLR_STREAM_VERSION = 3,
    FLR_STREAM_START_SIZE = 16,
    FLR_STREAM_HEAD_SIZE = 16, /* of a block */
    FLR_STREAM_HASH_SIZE = 16,
    FLR_STREAM_MESH_SIZE = 120,
    FLR_STREAM_GROUP_SIZE = 72,
    FLR_STREAM_NODE_SIZE = 80,
    FLR_STREAM_END_SIZE = 8,

    FLR_STREAM_EXIT_MEMORY = 65, /* exit status of a helper that ran into its memory limit */

    /* the reader's limits */
    FLR_STREAM_MAX_TEXT = 2048,      /* bytes of one message */
    FLR_STREAM_MAX_MESSAGES = 1000,  /* of one stream */
    FLR_STREAM_MAX_GROUPS = 1 << 20, /* of one mesh */
    FLR_STREAM_MAX_NODES = 1 << 20,  /* of one assembly */
    FLR_STREAM_MAX_NOTES = 1 << 16,  /* bytes of warnings that are kept */
    FLR_STREAM_MAX_NAMES = 1 << 26,  /* bytes of all names together */
    FLR_STREAM_MAX_CHUNK = 1 << 20   /* vertices or triangles of one block */
};

typedef enum flr_stream_block {
    FLR_STREAM_MESSAGE = 1, /* kind u32, code u32, text */
    FLR_STREAM_MESH,        /* the fields of flr_stream_head, in order, 8 bytes each */
    FLR_STREAM_NAMES,       /* zero-terminated strings */
    FLR_STREAM_GROUPS,    /* name, first, count: u32; chord: float; px py pz qw qx qy qz: double */
    FLR_STREAM_VERTICES,  /* 3 doubles each */
    FLR_STREAM_TRIANGLES, /* 3 u32 each */
    FLR_STREAM_END,       /* bytes before this block, u64 */
    FLR_STREAM_NODES      /* name, parent, group, colour, hidden, 0: u32; pose as in groups */
} flr_stream_block;

typedef enum flr_stream_kind {
    FLR_STREAM_FORMAT = 1, /* what the file is: "STEP" */
    FLR_STREAM_WARNING,
    FLR_STREAM_ERROR /* why it cannot be read, without the file's name; code says the kind */
} flr_stream_kind;

/* Counts and facts that go before the data. */
typedef struct flr_stream_head {
    uint64_t vertex_count;
    uint64_t triangle_count;
    uint64_t group_count;
    uint64_t names_size;
    double unit; /* metres per unit of the file, as used */
    bool unit_from_file;
    uint64_t triangles_in_file;
    uint64_t vertices_in_file;
    uint64_t polygons_split;
    uint64_t dropped_nonfinite;
    uint64_t dropped_malformed;
    uint64_t lines_dropped; /* points and lines, which have no surface */
    uint64_t node_count;    /* 0: the groups are the parts, where they stand */
    uint64_t up; /* the axis that the file says is up: 1 x, 2 y, 3 z; 0: it does not say */
    uint64_t faces_skipped; /* faces without triangles, each part of them with a warning */
} flr_stream_head;

#define FLR_STREAM_NONE UINT32_MAX

/* A node of an assembly's tree. Where a stream has nodes, its groups are shapes, each in its own
 * frame, and nodes place them. */
typedef struct flr_stream_node {
    uint32_t name;   /* offset into the names */
    uint32_t parent; /* an earlier node; FLR_STREAM_NONE: a root */
    uint32_t group;  /* its shape; FLR_STREAM_NONE: it has none of its own */
    uint32_t colour; /* 0xRRGGBB; FLR_STREAM_NONE: none stated */
    bool hidden;
    flr_pose T_root_node;
} flr_stream_node;

/* What a stream holds. The reader owns the arrays until flr_stream_content_free(). */
typedef struct flr_stream_content {
    flr_stream_head head;
    flr_vec3 *vertices;      /* [vertex_count], metres, in the mesh's frame */
    flr_triangle *triangles; /* [triangle_count] */
    flr_mesh_group *groups;  /* [group_count] */
    flr_stream_node *nodes;  /* [node_count] */
    char *names;             /* [names_size] */
    char *notes;             /* warnings, zero-terminated one after another */
    size_t notes_size;
    char format[64];
    uint32_t warnings;
    char warning[512]; /* the first one */
} flr_stream_content;

/* Frees the arrays; format and warnings stay. */
void flr_stream_content_free(flr_stream_content *content);

/* Where the reader gets bytes from: fills up to `count`; `*got` 0 means the end. */
typedef struct flr_stream_source {
    flr_result (*read)(void *context, void *bytes, size_t count, size_t *got, flr_error *error);
    void *context;
} flr_stream_source;

/* Reads a whole stream. `name` stands for the file in sentences. `limit`: bytes of arrays.
 *   FLR_OK       `*content` is filled, the caller frees it
 *   FLR_CLOSED   the stream ended too early
 *   FLR_CRASHED  a rule of the stream is broken
 *   others       what the helper said in its error message (FLR_BAD_INPUT, FLR_UNSUPPORTED,
 *                FLR_TOO_LARGE, FLR_NO_MEMORY), or what `source` answered
 * On failure `*content` holds only format and warnings. */
flr_result flr_stream_read(flr_stream_source source, const char *name, uint64_t limit,
                           flr_stream_content *content, flr_error *error);

/* Where the writer puts bytes: all of them, or false. */
typedef struct flr_stream_writer {
    bool (*write)(void *context, const void *bytes, size_t count);
    void *context;
    uint64_t bytes;  /* written so far; start with 0 */
    uint32_t blocks; /* written so far; start with 0 */
} flr_stream_writer;

/* Each writes its piece and returns false when the pipe is gone. */
bool flr_stream_start(flr_stream_writer *writer);
bool flr_stream_message(flr_stream_writer *writer, flr_stream_kind kind, flr_result code,
                        const char *text);
bool flr_stream_put(flr_stream_writer *writer, uint32_t type, const void *bytes, size_t size);
/* mesh, names, groups, vertices, triangles of `content` */
bool flr_stream_content_write(flr_stream_writer *writer, const flr_stream_content *content);
bool flr_stream_end(flr_stream_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
