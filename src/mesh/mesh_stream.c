/* the checked binary mesh between feeler-import and feeler */
#include "mesh/mesh_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "mesh/builder.h"

/* arrays go over the pipe as they lie in memory */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the mesh stream is little-endian");
_Static_assert(sizeof(flr_vec3) == 24 && sizeof(flr_triangle) == 12, "no padding");

/* copies at most size - 1 bytes, cleaned */
static void copy_text(char *to, size_t size, const uint8_t *text, size_t length)
{
    if (length > size - 1) length = size - 1;
    memcpy(to, text, length);
    to[length] = 0;
    flr_text_clean(to, length);
}

void flr_stream_content_free(flr_stream_content *content)
{
    free(content->vertices);
    free(content->triangles);
    free(content->groups);
    free(content->nodes);
    free(content->names);
    free(content->notes);
    content->vertices = NULL;
    content->triangles = NULL;
    content->groups = NULL;
    content->nodes = NULL;
    content->names = NULL;
    content->notes = NULL;
    content->notes_size = 0;
}

/* ---- reading ---- */

typedef struct reader {
    flr_stream_source source;
    const char *name;
    uint64_t limit;
    flr_stream_content *content;
    flr_error *error;

    uint64_t bytes;  /* read so far */
    uint32_t blocks; /* read so far */
    uint32_t messages;
    uint64_t vertices, triangles; /* arrived so far */
    uint64_t vertex_room, triangle_room;

    /* the block at hand */
    uint32_t type;
    uint64_t size;
    flr_hasher hasher;
} reader;

static flr_result broken(reader *r, const char *what)
{
    return flr_fail(r->error, FLR_CRASHED,
                    "%s: the import helper broke the rules of its output (block %u: %s); nothing "
                    "was read. Try exporting the file again or convert it to STL.",
                    r->name, (unsigned)r->blocks, what);
}

static flr_result no_memory(reader *r)
{
    return flr_fail(r->error, FLR_NO_MEMORY, "%s: not enough memory for the imported mesh",
                    r->name);
}

/* exactly `count` bytes */
static flr_result take(reader *r, void *bytes, size_t count)
{
    uint8_t *to = bytes;
    while (count > 0) {
        size_t got = 0;
        flr_result result = r->source.read(r->source.context, to, count, &got, r->error);
        if (result != FLR_OK) return result;
        if (got == 0)
            return flr_fail(r->error, FLR_CLOSED, "%s: the import helper stopped after %llu bytes",
                            r->name, (unsigned long long)r->bytes);
        to += got;
        count -= got;
        r->bytes += got;
    }
    return FLR_OK;
}

/* a piece of the block at hand */
static flr_result take_hashed(reader *r, void *bytes, size_t count)
{
    flr_result result = take(r, bytes, count);
    if (result == FLR_OK) flr_hasher_add(&r->hasher, bytes, count);
    return result;
}

static flr_result begin_block(reader *r)
{
    uint8_t head[FLR_STREAM_HEAD_SIZE];
    r->hasher = flr_hasher_begin();
    flr_result result = take_hashed(r, head, sizeof head);
    if (result != FLR_OK) return result;
    r->type = flr_get_u32(head);
    r->size = flr_get_u64(head + 8);
    if (flr_get_u32(head + 4) != r->blocks) return broken(r, "wrong number");
    return FLR_OK;
}

static flr_result end_block(reader *r)
{
    uint8_t bytes[FLR_STREAM_HASH_SIZE];
    flr_result result = take(r, bytes, sizeof bytes);
    if (result != FLR_OK) return result;
    flr_hash stated = {flr_get_u64(bytes), flr_get_u64(bytes + 8)};
    if (!flr_hash_equal(stated, flr_hasher_end(&r->hasher))) return broken(r, "wrong hash");
    ++r->blocks;
    return FLR_OK;
}

static flr_result read_start(reader *r)
{
    uint8_t start[FLR_STREAM_START_SIZE];
    flr_result result = take(r, start, sizeof start);
    if (result != FLR_OK) return result;
    if (memcmp(start, FLR_STREAM_MAGIC, 8) != 0) return broken(r, "not a mesh stream");
    if (flr_get_u32(start + 8) != FLR_STREAM_VERSION)
        return flr_fail(r->error, FLR_UNSUPPORTED,
                        "%s: the import helper speaks version %u of the mesh stream and this "
                        "feeler version %d; install both from the same release",
                        r->name, (unsigned)flr_get_u32(start + 8), FLR_STREAM_VERSION);
    if (flr_get_u32(start + 12) != 0) return broken(r, "reserved field is not 0");
    return FLR_OK;
}

/* the codes a helper may answer with; all else is "bad input" */
static flr_result error_code(uint32_t code)
{
    bool allowed = code == FLR_UNSUPPORTED || code == FLR_TOO_LARGE || code == FLR_NO_MEMORY;
    return allowed ? (flr_result)code : FLR_BAD_INPUT;
}

/* what was left out is listed, as far as there is room */
static flr_result keep_warning(reader *r, const uint8_t *text, size_t length)
{
    flr_stream_content *content = r->content;
    if (content->warnings++ == 0)
        copy_text(content->warning, sizeof content->warning, text, length);
    if (content->notes_size + length + 1 > FLR_STREAM_MAX_NOTES) return FLR_OK;
    char *notes = realloc(content->notes, content->notes_size + length + 1);
    if (!notes) return no_memory(r);
    copy_text(notes + content->notes_size, length + 1, text, length);
    content->notes = notes;
    content->notes_size += strlen(notes + content->notes_size) + 1;
    return FLR_OK;
}

/* an error message does not fail here: its code goes to `*said`, the end must still follow */
static flr_result read_message(reader *r, flr_result *said)
{
    uint8_t bytes[8 + FLR_STREAM_MAX_TEXT];
    if (++r->messages > FLR_STREAM_MAX_MESSAGES) return broken(r, "too many messages");
    if (r->size < 8 || r->size > sizeof bytes) return broken(r, "message of wrong size");
    flr_result result = take_hashed(r, bytes, (size_t)r->size);
    if (result == FLR_OK) result = end_block(r);
    if (result != FLR_OK) return result;

    flr_stream_content *content = r->content;
    const uint8_t *text = bytes + 8;
    size_t length = (size_t)r->size - 8;
    char sentence[FLR_ERROR_MESSAGE_SIZE];
    switch (flr_get_u32(bytes)) {
    case FLR_STREAM_FORMAT:
        copy_text(content->format, sizeof content->format, text, length);
        return FLR_OK;
    case FLR_STREAM_WARNING:
        return keep_warning(r, text, length);
    case FLR_STREAM_ERROR:
        copy_text(sentence, sizeof sentence, text, length);
        *said = flr_fail(r->error, error_code(flr_get_u32(bytes + 4)), "%s: %s", r->name, sentence);
        return FLR_OK;
    default:
        return broken(r, "message of unknown kind");
    }
}

static flr_result check_head(reader *r, const flr_stream_head *head)
{
    if (head->vertex_count == 0 || head->vertex_count >= UINT32_MAX)
        return broken(r, "vertex count out of range");
    if (head->triangle_count == 0 || head->triangle_count >= UINT32_MAX)
        return broken(r, "triangle count out of range");
    if (head->group_count == 0 || head->group_count > FLR_STREAM_MAX_GROUPS)
        return broken(r, "group count out of range");
    if (head->names_size == 0 || head->names_size > FLR_STREAM_MAX_NAMES)
        return broken(r, "size of names out of range");
    if (head->node_count > FLR_STREAM_MAX_NODES) return broken(r, "node count out of range");
    if (head->up > 3) return broken(r, "unknown axis");
    if (!isfinite(head->unit) || head->unit <= 0) return broken(r, "unit is not positive");
    uint64_t need = head->vertex_count * sizeof(flr_vec3) +
                    head->triangle_count * sizeof(flr_triangle) +
                    head->group_count * sizeof(flr_mesh_group) +
                    head->node_count * sizeof(flr_stream_node) + head->names_size;
    if (need > r->limit)
        return flr_fail(r->error, FLR_TOO_LARGE,
                        "%s: the imported mesh has %llu triangles and needs %llu MiB, the limit is "
                        "%llu MiB; raise the helper's memory limit or use a coarser chord "
                        "tolerance",
                        r->name, (unsigned long long)head->triangle_count,
                        (unsigned long long)(need >> 20), (unsigned long long)(r->limit >> 20));
    return FLR_OK;
}

static flr_result read_mesh(reader *r)
{
    uint8_t bytes[FLR_STREAM_MESH_SIZE];
    if (r->size != sizeof bytes) return broken(r, "mesh block of wrong size");
    flr_result result = take_hashed(r, bytes, sizeof bytes);
    if (result == FLR_OK) result = end_block(r);
    if (result != FLR_OK) return result;

    if (flr_get_u64(bytes + 40) > 1) return broken(r, "flag is neither 0 nor 1");
    r->content->head = (flr_stream_head){
        .vertex_count = flr_get_u64(bytes),
        .triangle_count = flr_get_u64(bytes + 8),
        .group_count = flr_get_u64(bytes + 16),
        .names_size = flr_get_u64(bytes + 24),
        .unit = flr_get_f64(bytes + 32),
        .unit_from_file = flr_get_u64(bytes + 40) != 0,
        .triangles_in_file = flr_get_u64(bytes + 48),
        .vertices_in_file = flr_get_u64(bytes + 56),
        .polygons_split = flr_get_u64(bytes + 64),
        .dropped_nonfinite = flr_get_u64(bytes + 72),
        .dropped_malformed = flr_get_u64(bytes + 80),
        .lines_dropped = flr_get_u64(bytes + 88),
        .node_count = flr_get_u64(bytes + 96),
        .up = flr_get_u64(bytes + 104),
        .faces_skipped = flr_get_u64(bytes + 112),
    };
    return check_head(r, &r->content->head);
}

/* Room for one more than the `have` elements of an array of `total`. Memory follows what has arrived, never what was promised:
 * a helper that promises much and sends little must not cost more than a page. */
static bool reserve(void **array, uint64_t *room, uint64_t have, uint64_t total, size_t size)
{
    enum { FIRST = 4096 };
    if (have < *room) return true;
    uint64_t more = *room ? 2 * *room : FIRST / size;
    if (more > total) more = total;
    void *bigger = realloc(*array, (size_t)more * size);
    if (!bigger) return false;
    *array = bigger;
    *room = more;
    return true;
}

/* `count` more elements of the block at hand, behind the `have` that are there */
static flr_result take_array(reader *r, void **array, uint64_t *room, uint64_t have, uint64_t count,
                             uint64_t total, size_t size)
{
    for (uint64_t end = have + count; have < end;) {
        if (!reserve(array, room, have, total, size)) return no_memory(r);
        uint64_t now = (*room < end ? *room : end) - have;
        flr_result result = take_hashed(r, (char *)*array + have * size, (size_t)now * size);
        if (result != FLR_OK) return result;
        have += now;
    }
    return FLR_OK;
}

static flr_result read_names(reader *r)
{
    flr_stream_content *content = r->content;
    size_t size = (size_t)content->head.names_size;
    if (r->size != size) return broken(r, "names of wrong size");
    void *names = NULL;
    uint64_t room = 0;
    flr_result result = take_array(r, &names, &room, 0, size, size, 1);
    content->names = names;
    if (result == FLR_OK) result = end_block(r);
    if (result != FLR_OK) return result;
    if (content->names[size - 1] != 0) return broken(r, "names are not terminated");
    for (size_t i = 0; i < size; i += strlen(content->names + i) + 1)
        flr_text_clean(content->names + i, strlen(content->names + i));
    return FLR_OK;
}

static flr_pose get_pose(const uint8_t *bytes)
{
    double pose[7];
    memcpy(pose, bytes, sizeof pose);
    return (flr_pose){{pose[0], pose[1], pose[2]}, {pose[3], pose[4], pose[5], pose[6]}};
}

/* finite and of unit length */
static flr_result check_pose(reader *r, const flr_pose *pose)
{
    flr_quat q = pose->q;
    double length = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!(fabs(length - 1) < 1e-6)) return broken(r, "turn is not of unit length");
    if (!flr_position_ok(pose->p)) return broken(r, "placement out of range");
    return FLR_OK;
}

/* the groups follow one another without gap */
static flr_result check_group(reader *r, const flr_mesh_group *group, uint64_t next)
{
    if (group->name >= r->content->head.names_size) return broken(r, "name out of range");
    if (group->first_triangle != next) return broken(r, "groups do not follow one another");
    if (!(group->chord >= 0 && group->chord <= FLR_MESH_MAX_COORDINATE))
        return broken(r, "a chord is no length");
    return check_pose(r, &group->T_mesh_group);
}

static flr_result read_groups(reader *r)
{
    flr_stream_content *content = r->content;
    size_t count = (size_t)content->head.group_count;
    if (r->size != count * FLR_STREAM_GROUP_SIZE) return broken(r, "groups of wrong size");

    void *groups = NULL;
    uint64_t next = 0, room = 0;
    for (size_t i = 0; i < count; ++i) {
        uint8_t bytes[FLR_STREAM_GROUP_SIZE];
        if (!reserve(&groups, &room, i, count, sizeof *content->groups)) return no_memory(r);
        content->groups = groups;
        flr_result result = take_hashed(r, bytes, sizeof bytes);
        if (result != FLR_OK) return result;
        content->groups[i] = (flr_mesh_group){
            .name = flr_get_u32(bytes),
            .first_triangle = flr_get_u32(bytes + 4),
            .triangle_count = flr_get_u32(bytes + 8),
            .T_mesh_group = get_pose(bytes + 16),
            .chord = (double)flr_get_f32(bytes + 12),
        };
        result = check_group(r, &content->groups[i], next);
        if (result != FLR_OK) return result;
        next += content->groups[i].triangle_count;
    }
    if (next != content->head.triangle_count) return broken(r, "groups do not cover the triangles");
    return end_block(r);
}

/* parents stand before their children, so that there is no cycle */
static flr_result check_node(reader *r, const flr_stream_node *node, size_t index)
{
    const flr_stream_head *head = &r->content->head;
    if (node->name >= head->names_size) return broken(r, "name out of range");
    if (node->parent != FLR_STREAM_NONE && node->parent >= index)
        return broken(r, "parent out of range");
    if (node->group != FLR_STREAM_NONE && node->group >= head->group_count)
        return broken(r, "shape out of range");
    if (node->colour != FLR_STREAM_NONE && node->colour > 0xffffff)
        return broken(r, "colour out of range");
    return check_pose(r, &node->T_root_node);
}

static flr_result read_nodes(reader *r)
{
    flr_stream_content *content = r->content;
    size_t count = (size_t)content->head.node_count;
    if (r->size != count * FLR_STREAM_NODE_SIZE) return broken(r, "nodes of wrong size");
    void *nodes = NULL;
    uint64_t room = 0;
    for (size_t i = 0; i < count; ++i) {
        uint8_t bytes[FLR_STREAM_NODE_SIZE];
        if (!reserve(&nodes, &room, i, count, sizeof *content->nodes)) return no_memory(r);
        content->nodes = nodes;
        flr_result result = take_hashed(r, bytes, sizeof bytes);
        if (result != FLR_OK) return result;
        if (flr_get_u32(bytes + 16) > 1) return broken(r, "flag is neither 0 nor 1");
        if (flr_get_u32(bytes + 20) != 0) return broken(r, "reserved field is not 0");
        content->nodes[i] = (flr_stream_node){.name = flr_get_u32(bytes),
                                              .parent = flr_get_u32(bytes + 4),
                                              .group = flr_get_u32(bytes + 8),
                                              .colour = flr_get_u32(bytes + 12),
                                              .hidden = flr_get_u32(bytes + 16) != 0,
                                              .T_root_node = get_pose(bytes + 24)};
        result = check_node(r, &content->nodes[i], i);
        if (result != FLR_OK) return result;
    }
    return end_block(r);
}

/* checks the size of a block of vertices or triangles, `*count` of `total` with `have` here */
static flr_result chunk_count(reader *r, size_t size, uint64_t have, uint64_t total,
                              uint64_t *count)
{
    *count = r->size / size;
    if (r->size % size != 0 || *count == 0 || *count > FLR_STREAM_MAX_CHUNK)
        return broken(r, "data of wrong size");
    if (*count > total - have) return broken(r, "more data than promised");
    return FLR_OK;
}

static flr_result read_vertices(reader *r)
{
    uint64_t count, total = r->content->head.vertex_count;
    flr_result result = chunk_count(r, sizeof(flr_vec3), r->vertices, total, &count);
    if (result != FLR_OK) return result;
    void *array = r->content->vertices;
    result = take_array(r, &array, &r->vertex_room, r->vertices, count, total, sizeof(flr_vec3));
    r->content->vertices = array;
    if (result == FLR_OK) result = end_block(r);
    if (result != FLR_OK) return result;
    const flr_vec3 *chunk = r->content->vertices + r->vertices;
    for (uint64_t i = 0; i < count; ++i)
        if (!flr_position_ok(chunk[i])) return broken(r, "coordinate out of range");
    r->vertices += count;
    return FLR_OK;
}

static flr_result read_triangles(reader *r)
{
    uint64_t count, total = r->content->head.triangle_count;
    flr_result result = chunk_count(r, sizeof(flr_triangle), r->triangles, total, &count);
    if (result != FLR_OK) return result;
    void *array = r->content->triangles;
    result =
        take_array(r, &array, &r->triangle_room, r->triangles, count, total, sizeof(flr_triangle));
    r->content->triangles = array;
    if (result == FLR_OK) result = end_block(r);
    if (result != FLR_OK) return result;
    uint64_t bound = r->content->head.vertex_count;
    const flr_triangle *chunk = r->content->triangles + r->triangles;
    for (uint64_t i = 0; i < count; ++i)
        if (chunk[i].v[0] >= bound || chunk[i].v[1] >= bound || chunk[i].v[2] >= bound)
            return broken(r, "index out of range");
    r->triangles += count;
    return FLR_OK;
}

static flr_result read_end(reader *r)
{
    uint8_t bytes[FLR_STREAM_END_SIZE], more;
    uint64_t before = r->bytes - FLR_STREAM_HEAD_SIZE;
    if (r->size != sizeof bytes) return broken(r, "end of wrong size");
    flr_result result = take_hashed(r, bytes, sizeof bytes);
    if (result == FLR_OK) result = end_block(r);
    if (result != FLR_OK) return result;
    if (flr_get_u64(bytes) != before) return broken(r, "length does not fit");
    size_t got = 0;
    result = r->source.read(r->source.context, &more, 1, &got, r->error);
    if (result != FLR_OK) return result;
    return got == 0 ? FLR_OK : broken(r, "bytes after the end");
}

/* which block must come next; a message is welcome at any time before an error or the end */
static uint32_t expected(const reader *r, uint32_t last, flr_result said)
{
    const flr_stream_head *head = &r->content->head;
    if (said != FLR_OK) return FLR_STREAM_END;
    if (last < FLR_STREAM_GROUPS) return last + 1;
    if (r->vertices < head->vertex_count) return FLR_STREAM_VERTICES;
    if (r->triangles < head->triangle_count) return FLR_STREAM_TRIANGLES;
    return head->node_count && last != FLR_STREAM_NODES ? FLR_STREAM_NODES : FLR_STREAM_END;
}

static flr_result read_blocks(reader *r)
{
    flr_result said = FLR_OK;
    for (uint32_t last = FLR_STREAM_MESSAGE;;) {
        flr_result result = begin_block(r);
        if (result != FLR_OK) return result;
        if (r->type == FLR_STREAM_MESSAGE && said == FLR_OK) {
            result = read_message(r, &said);
            if (result != FLR_OK) return result;
            if (said != FLR_OK && last != FLR_STREAM_MESSAGE) return broken(r, "late error");
            continue;
        }
        if (r->type != expected(r, last, said)) return broken(r, "not the block expected");
        switch (r->type) {
        case FLR_STREAM_MESH:
            result = read_mesh(r);
            break;
        case FLR_STREAM_NAMES:
            result = read_names(r);
            break;
        case FLR_STREAM_GROUPS:
            result = read_groups(r);
            break;
        case FLR_STREAM_VERTICES:
            result = read_vertices(r);
            break;
        case FLR_STREAM_TRIANGLES:
            result = read_triangles(r);
            break;
        case FLR_STREAM_NODES:
            result = read_nodes(r);
            break;
        default:
            result = read_end(r);
            return result != FLR_OK ? result : said;
        }
        if (result != FLR_OK) return result;
        last = r->type;
    }
}

flr_result flr_stream_read(flr_stream_source source, const char *name, uint64_t limit,
                           flr_stream_content *content, flr_error *error)
{
    *content = (flr_stream_content){0};
    reader r = {.source = source, .name = name, .limit = limit, .content = content, .error = error};
    flr_result result = read_start(&r);
    if (result == FLR_OK) result = read_blocks(&r);
    if (result != FLR_OK) {
        flr_stream_content_free(content);
        content->head = (flr_stream_head){0};
    }
    return result;
}

/* ---- writing ---- */

static bool put(flr_stream_writer *writer, const void *bytes, size_t size)
{
    writer->bytes += size;
    return size == 0 || writer->write(writer->context, bytes, size);
}

bool flr_stream_start(flr_stream_writer *writer)
{
    uint8_t start[FLR_STREAM_START_SIZE] = FLR_STREAM_MAGIC;
    uint32_t version = FLR_STREAM_VERSION;
    memcpy(start + 8, &version, sizeof version);
    return put(writer, start, sizeof start);
}

bool flr_stream_put(flr_stream_writer *writer, uint32_t type, const void *bytes, size_t size)
{
    uint8_t head[FLR_STREAM_HEAD_SIZE];
    uint64_t size64 = size;
    memcpy(head, &type, 4);
    memcpy(head + 4, &writer->blocks, 4);
    memcpy(head + 8, &size64, 8);
    flr_hasher hasher = flr_hasher_begin();
    flr_hasher_add(&hasher, head, sizeof head);
    flr_hasher_add(&hasher, bytes, size);
    flr_hash hash = flr_hasher_end(&hasher);
    uint64_t hash_bytes[2] = {hash.high, hash.low};
    ++writer->blocks;
    return put(writer, head, sizeof head) && put(writer, bytes, size) &&
           put(writer, hash_bytes, sizeof hash_bytes);
}

bool flr_stream_message(flr_stream_writer *writer, flr_stream_kind kind, flr_result code,
                        const char *text)
{
    uint8_t bytes[8 + FLR_STREAM_MAX_TEXT];
    uint32_t numbers[2] = {(uint32_t)kind, (uint32_t)code};
    size_t length = strnlen(text, FLR_STREAM_MAX_TEXT);
    memcpy(bytes, numbers, 8);
    memcpy(bytes + 8, text, length);
    return flr_stream_put(writer, FLR_STREAM_MESSAGE, bytes, 8 + length);
}

static bool put_mesh(flr_stream_writer *writer, const flr_stream_head *head)
{
    uint64_t numbers[FLR_STREAM_MESH_SIZE / 8] = {head->vertex_count,
                                                  head->triangle_count,
                                                  head->group_count,
                                                  head->names_size,
                                                  0,
                                                  head->unit_from_file,
                                                  head->triangles_in_file,
                                                  head->vertices_in_file,
                                                  head->polygons_split,
                                                  head->dropped_nonfinite,
                                                  head->dropped_malformed,
                                                  head->lines_dropped,
                                                  head->node_count,
                                                  head->up,
                                                  head->faces_skipped};
    memcpy(&numbers[4], &head->unit, sizeof head->unit);
    return flr_stream_put(writer, FLR_STREAM_MESH, numbers, sizeof numbers);
}

static void pose_bytes(uint8_t *to, const flr_pose *pose)
{
    double place[7] = {pose->p.x, pose->p.y, pose->p.z, pose->q.w, pose->q.x, pose->q.y, pose->q.z};
    memcpy(to, place, sizeof place);
}

static bool put_nodes(flr_stream_writer *writer, const flr_stream_content *content)
{
    size_t count = (size_t)content->head.node_count;
    if (count == 0) return true;
    uint8_t *bytes = malloc(count * FLR_STREAM_NODE_SIZE);
    if (!bytes) return false;
    for (size_t i = 0; i < count; ++i) {
        const flr_stream_node *node = &content->nodes[i];
        uint32_t numbers[6] = {node->name,   node->parent, node->group,
                               node->colour, node->hidden, 0};
        memcpy(bytes + i * FLR_STREAM_NODE_SIZE, numbers, sizeof numbers);
        pose_bytes(bytes + i * FLR_STREAM_NODE_SIZE + 24, &node->T_root_node);
    }
    bool ok = flr_stream_put(writer, FLR_STREAM_NODES, bytes, count * FLR_STREAM_NODE_SIZE);
    free(bytes);
    return ok;
}

static bool put_groups(flr_stream_writer *writer, const flr_stream_content *content)
{
    size_t count = (size_t)content->head.group_count;
    uint8_t *bytes = malloc(count * FLR_STREAM_GROUP_SIZE + 1);
    if (!bytes) return false;
    for (size_t i = 0; i < count; ++i) {
        const flr_mesh_group *group = &content->groups[i];
        const uint32_t numbers[3] = {group->name, group->first_triangle, group->triangle_count};
        const float chord = (float)group->chord;
        memcpy(bytes + i * FLR_STREAM_GROUP_SIZE, numbers, sizeof numbers);
        memcpy(bytes + i * FLR_STREAM_GROUP_SIZE + 12, &chord, sizeof chord);
        pose_bytes(bytes + i * FLR_STREAM_GROUP_SIZE + 16, &group->T_mesh_group);
    }
    bool ok = flr_stream_put(writer, FLR_STREAM_GROUPS, bytes, count * FLR_STREAM_GROUP_SIZE);
    free(bytes);
    return ok;
}

/* an array in blocks that the reader accepts */
static bool put_chunks(flr_stream_writer *writer, uint32_t type, const void *array, uint64_t count,
                       size_t size)
{
    const uint8_t *bytes = array;
    bool ok = true;
    while (ok && count > 0) {
        uint64_t now = count < FLR_STREAM_MAX_CHUNK ? count : FLR_STREAM_MAX_CHUNK;
        ok = flr_stream_put(writer, type, bytes, (size_t)now * size);
        bytes += now * size;
        count -= now;
    }
    return ok;
}

bool flr_stream_content_write(flr_stream_writer *writer, const flr_stream_content *content)
{
    const flr_stream_head *head = &content->head;
    return put_mesh(writer, head) &&
           flr_stream_put(writer, FLR_STREAM_NAMES, content->names, (size_t)head->names_size) &&
           put_groups(writer, content) &&
           put_chunks(writer, FLR_STREAM_VERTICES, content->vertices, head->vertex_count,
                      sizeof(flr_vec3)) &&
           put_chunks(writer, FLR_STREAM_TRIANGLES, content->triangles, head->triangle_count,
                      sizeof(flr_triangle)) &&
           put_nodes(writer, content);
}

bool flr_stream_end(flr_stream_writer *writer)
{
    uint64_t before = writer->bytes;
    return flr_stream_put(writer, FLR_STREAM_END, &before, sizeof before);
}
