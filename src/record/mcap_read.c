/* reading MCAP: record by record, chunk by chunk; whatever the file says is checked before it is used */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/mcap.h"
#include "record/mcap_records.h"

enum {
    MCAP_READ_LARGEST = 64 << 20, /* of a record, bytes: ours stay far below */
    MAX_RECORDS = 1024            /* schemas, channels, metadata pairs */
};

typedef struct schema {
    uint16_t id;
    char *name;
} schema;

typedef struct channel {
    uint16_t id, schema;
    char *topic, *encoding;
} channel;

typedef struct pair {
    char *
        name; /* of the record, once for all its pairs: a long one would be kept a thousand times */
    char *key, *value;
    bool owner; /* of the name: the first pair of its record */
} pair;

static void free_pair(pair *p)
{
    if (p->owner) free(p->name);
    free(p->key);
    free(p->value);
}

struct flr_mcap_reader {
    flr_file *file;
    char *path;
    uint64_t size, at;  /* of the file; of the next record */
    uint64_t record_at; /* where the record in `block` stands, for messages */
    flr_bytes block;    /* the record in hand, or the records of a chunk */
    size_t chunk_at, chunk_end;
    bool complete, chunked; /* chunked: messages stand in chunks, which have checksums */
    uint64_t summed;        /* bytes from the start of the file … */
    uint32_t crc;           /* … that have this checksum */
    flr_mcap_damage damage;
    const char *what; /* was damaged last */
    schema *schemas;
    channel *channels;
    pair *pairs;
    size_t schema_count, channel_count, pair_count;
};

/* ---- a look at bytes ---- */

uint64_t flr_bytes_number(flr_bytes_look *l, size_t size)
{
    uint64_t value = 0;
    if (l->left < size) {
        l->bad = true;
        return 0;
    }
    for (size_t i = 0; i < size; i++) value |= (uint64_t)l->data[i] << 8 * i;
    l->data += size;
    l->left -= size;
    return value;
}

flr_bytes_look flr_bytes_piece(flr_bytes_look *l, uint64_t size)
{
    if (l->bad || size > l->left) {
        l->bad = true;
        return (flr_bytes_look){.bad = true};
    }
    const flr_bytes_look inner = {l->data, (size_t)size, false};
    l->data += size;
    l->left -= (size_t)size;
    return inner;
}

/* Bytes whose length stands before them. */
static flr_bytes_look piece(flr_bytes_look *l, size_t width)
{
    return flr_bytes_piece(l, flr_bytes_number(l, width));
}

/* A text of its own; NULL: no memory. A zero within ends it. */
static char *text(flr_bytes_look *l)
{
    flr_bytes_look t = piece(l, 4);
    char *copy = malloc(t.left + 1);
    if (!copy) return NULL;
    if (t.left) memcpy(copy, t.data, t.left);
    copy[t.left] = 0;
    return copy;
}

/* ---- records ---- */

static flr_result no_memory(const flr_mcap_reader *r, flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to read", r->path);
}

static flr_result damaged(flr_mcap_reader *r, const char *what, flr_error *error)
{
    r->what = what;
    return flr_fail(
        error, FLR_BAD_INPUT,
        "%s: %s at byte %llu, before the first frame; it cannot be read, take a copy of "
        "it if there is one",
        r->path, what, (unsigned long long)r->record_at);
}

/* Damage behind the front: what stands there is left out, and remembered. */
static void note_damage(flr_mcap_reader *r)
{
    if (r->damage.places++ == 0) r->damage.at = r->record_at, r->damage.what = r->what;
    r->chunk_at = r->chunk_end = 0;
}

/* Room for one more; an array of `count` elements is grown at powers of two. */
static bool grow(void **array, size_t count, size_t size)
{
    return count & (count - 1) || flr_array_resize(array, count ? 2 * count : 1, size);
}

static flr_result take_schema(flr_mcap_reader *r, flr_bytes_look l, flr_error *error)
{
    uint16_t id = (uint16_t)flr_bytes_number(&l, 2);
    for (size_t i = 0; i < r->schema_count; i++)
        if (r->schemas[i].id == id) return FLR_OK; /* repeated */
    if (r->schema_count == MAX_RECORDS) return damaged(r, "too many schemas", error);
    char *name = text(&l);
    if (!name || !grow((void **)&r->schemas, r->schema_count, sizeof *r->schemas)) {
        free(name);
        return no_memory(r, error);
    }
    r->schemas[r->schema_count++] = (schema){id, name};
    return l.bad ? damaged(r, "a schema that is cut off", error) : FLR_OK;
}

static flr_result take_channel(flr_mcap_reader *r, flr_bytes_look l, flr_error *error)
{
    uint16_t id = (uint16_t)flr_bytes_number(&l, 2), of = (uint16_t)flr_bytes_number(&l, 2);
    for (size_t i = 0; i < r->channel_count; i++)
        if (r->channels[i].id == id) return FLR_OK;
    if (r->channel_count == MAX_RECORDS) return damaged(r, "too many channels", error);
    char *topic = text(&l), *encoding = text(&l);
    if (!topic || !encoding ||
        !grow((void **)&r->channels, r->channel_count, sizeof *r->channels)) {
        free(topic);
        free(encoding);
        return no_memory(r, error);
    }
    r->channels[r->channel_count++] = (channel){id, of, topic, encoding};
    return l.bad ? damaged(r, "a channel that is cut off", error) : FLR_OK;
}

static flr_result take_metadata(flr_mcap_reader *r, flr_bytes_look l, flr_error *error)
{
    flr_bytes_look name = l;
    piece(&l, 4);
    flr_bytes_look map = piece(&l, 4);
    char *shared = NULL;
    while (!map.bad && map.left) {
        if (r->pair_count == MAX_RECORDS) return damaged(r, "too much metadata", error);
        pair p = {.name = shared ? shared : text(&name), .owner = !shared};
        p.key = text(&map);
        p.value = text(&map);
        if (!p.name || !p.key || !p.value ||
            !grow((void **)&r->pairs, r->pair_count, sizeof *r->pairs)) {
            free_pair(&p);
            return no_memory(r, error);
        }
        shared = p.name;
        r->pairs[r->pair_count++] = p;
    }
    return l.bad || map.bad ? damaged(r, "metadata that is cut off", error) : FLR_OK;
}

static flr_result take_message(flr_mcap_reader *r, flr_bytes_look l, flr_mcap_message *message,
                               flr_error *error)
{
    uint16_t id = (uint16_t)flr_bytes_number(&l, 2);
    message->sequence = (uint32_t)flr_bytes_number(&l, 4);
    message->time = flr_bytes_number(&l, 8);
    flr_bytes_number(&l, 8); /* when it was published: the same */
    if (l.bad) return damaged(r, "a message that is cut off", error);
    message->data = l.data;
    message->size = l.left;
    message->schema = "";
    for (size_t i = 0; i < r->channel_count; i++) {
        const channel *c = &r->channels[i];
        if (c->id != id) continue;
        message->topic = c->topic;
        message->encoding = c->encoding;
        for (size_t k = 0; k < r->schema_count; k++)
            if (r->schemas[k].id == c->schema) message->schema = r->schemas[k].name;
        return FLR_OK;
    }
    return damaged(r, "a message on a channel that was not described", error);
}

/* Opens a chunk: its records are read from `block` from here on. */
static flr_result take_chunk(flr_mcap_reader *r, flr_bytes_look l, flr_error *error)
{
    flr_bytes_number(&l, 8);
    flr_bytes_number(&l, 8);
    uint64_t plain = flr_bytes_number(&l, 8);
    uint32_t crc = (uint32_t)flr_bytes_number(&l, 4);
    flr_bytes_look compression = piece(&l, 4);
    flr_bytes_look records = piece(&l, 8);
    if (l.bad) return damaged(r, "a chunk that is cut off", error);
    bool lz4 = compression.left == 3 && !memcmp(compression.data, "lz4", 3),
         zstd = compression.left == 4 && !memcmp(compression.data, "zstd", 4);
    if (lz4 || zstd)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "%s: the chunks are compressed; write it again without compression",
                        r->path);
    if (compression.left) return damaged(r, "a chunk with an unknown compression", error);
    if (plain != records.left) return damaged(r, "a chunk of another size than it says", error);
    if (crc && flr_crc32(0, records.data, records.left) != crc)
        return damaged(r, "a chunk whose checksum is wrong", error);
    r->chunk_at = (size_t)(records.data - r->block.data);
    r->chunk_end = r->chunk_at + records.left;
    return FLR_OK;
}

/* ---- the file ---- */

static flr_result fetch(flr_mcap_reader *r, uint64_t offset, uint8_t *to, size_t count,
                        flr_error *error)
{
    for (size_t done = 0; done < count;) {
        size_t got;
        flr_result result =
            flr_file_read(r->file, offset + done, to + done, count - done, &got, error);
        if (result != FLR_OK) return result;
        if (got == 0) return damaged(r, "the file ends", error);
        done += got;
    }
    return FLR_OK;
}

/* The next record of the file into `block`; FLR_CLOSED when there is no whole one. */
static flr_result next_record(flr_mcap_reader *r, uint8_t *opcode, flr_error *error)
{
    uint8_t head[9];
    r->record_at = r->at;
    if (r->complete || r->size - r->at < sizeof head) return FLR_CLOSED;
    flr_result result = fetch(r, r->at, head, sizeof head, error);
    if (result != FLR_OK) return result;
    flr_bytes_look l = {head + 1, 8, false};
    uint64_t size = flr_bytes_number(&l, 8);
    *opcode = head[0];
    if (size > r->size - r->at - sizeof head) return FLR_CLOSED; /* the writer died here */
    if (size > MCAP_READ_LARGEST) {
        r->at = r->size; /* where the next one begins is not known any more */
        return damaged(r, "a record that is too large", error);
    }
    if (r->block.room < size + 1) {
        if (!flr_array_resize(&r->block.data, (size_t)size + 1, 1)) return no_memory(r, error);
        r->block.room = (size_t)size + 1;
    }
    r->block.size = (size_t)size;
    result = fetch(r, r->at + sizeof head, r->block.data, (size_t)size, error);
    if (result != FLR_OK) return result;
    /* the end of the data is not part of what its checksum covers; the first chunk is read twice */
    if (r->summed == r->at && *opcode != MCAP_DATA_END) {
        r->crc = flr_crc32(flr_crc32(r->crc, head, sizeof head), r->block.data, (size_t)size);
        r->summed += sizeof head + size;
    }
    r->at += sizeof head + size;
    return result;
}

/* The end of the data: its checksum tells damage outside of chunks, to names and parameters, for one. */
static flr_result take_data_end(flr_mcap_reader *r, flr_bytes_look l, flr_error *error)
{
    uint32_t crc = (uint32_t)flr_bytes_number(&l, 4);
    r->complete = true;
    if (crc == 0 || r->damage.places > 0 || (crc == r->crc && r->summed == r->record_at))
        return FLR_OK;
    return damaged(r, "the checksum over all data is wrong", error);
}

/* Deals with one record. FLR_OK with a topic set: a message. */
static flr_result take(flr_mcap_reader *r, uint8_t opcode, flr_bytes_look l, bool inside,
                       flr_mcap_message *message, flr_error *error)
{
    switch (opcode) {
    case MCAP_SCHEMA:
        return take_schema(r, l, error);
    case MCAP_CHANNEL:
        return take_channel(r, l, error);
    case MCAP_MESSAGE:
        return r->chunked && !inside ? damaged(r, "a message outside of a chunk", error)
                                     : take_message(r, l, message, error);
    case MCAP_METADATA:
        return inside ? damaged(r, "metadata within a chunk", error) : take_metadata(r, l, error);
    case MCAP_CHUNK:
        return inside ? damaged(r, "a chunk within a chunk", error) : take_chunk(r, l, error);
    case MCAP_DATA_END:
        return inside ? FLR_OK : take_data_end(r, l, error);
    default:
        return FLR_OK; /* indexes, and what later versions may add */
    }
}

flr_result flr_mcap_next(flr_mcap_reader *r, flr_mcap_message *message, flr_error *error)
{
    *message = (flr_mcap_message){0};
    flr_result result = FLR_OK;
    while (result == FLR_OK && !message->topic) {
        uint8_t opcode;
        if (r->chunk_at < r->chunk_end) {
            flr_bytes_look l = {r->block.data + r->chunk_at, r->chunk_end - r->chunk_at, false};
            opcode = (uint8_t)flr_bytes_number(&l, 1);
            flr_bytes_look record = piece(&l, 8);
            r->chunk_at = r->chunk_end - l.left;
            result = l.bad ? damaged(r, "a record that is cut off in a chunk", error)
                           : take(r, opcode, record, true, message, error);
        } else {
            result = next_record(r, &opcode, error);
            flr_bytes_look record = {r->block.data, r->block.size, false};
            if (result == FLR_OK) result = take(r, opcode, record, false, message, error);
        }
        if (result == FLR_BAD_INPUT) {
            note_damage(r);
            *message = (flr_mcap_message){0};
            result = FLR_OK;
        }
    }
    return result;
}

/* Goes on to the first chunk or message, so that metadata is known. */
static flr_result read_front(flr_mcap_reader *r, flr_error *error)
{
    for (;;) {
        uint8_t opcode;
        uint64_t before = r->at;
        flr_result result = next_record(r, &opcode, error);
        if (result == FLR_CLOSED) return FLR_OK;
        if (result != FLR_OK) return result;
        if (opcode == MCAP_CHUNK || opcode == MCAP_MESSAGE) {
            r->chunked = opcode == MCAP_CHUNK;
            r->at = before;
            return FLR_OK;
        }
        flr_mcap_message none = {0};
        flr_bytes_look record = {r->block.data, r->block.size, false};
        if ((result = take(r, opcode, record, false, &none, error)) != FLR_OK) return result;
    }
}

flr_result flr_mcap_open(flr_env *env, const char *path, flr_mcap_reader **reader, flr_error *error)
{
    flr_mcap_reader *r = calloc(1, sizeof *r);
    if (!r || !(r->path = strdup(path))) {
        free(r);
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to read", path);
    }
    flr_result result = flr_file_open(env, path, FLR_FILE_READ, &r->file, error);
    if (result == FLR_OK) result = flr_file_size(r->file, &r->size, error);
    uint8_t magic[sizeof flr_mcap_magic] = {0};
    if (result == FLR_OK && r->size >= sizeof magic)
        result = fetch(r, 0, magic, sizeof magic, error);
    if (result == FLR_OK && r->size < sizeof magic)
        result = flr_fail(error, FLR_BAD_INPUT,
                          r->size ? "%s ends after %llu bytes, within its header; "
                                    "it holds nothing"
                                  : "%s is empty; it holds nothing",
                          path, (unsigned long long)r->size);
    if (result == FLR_OK && memcmp(magic, flr_mcap_magic, sizeof magic) != 0)
        result = flr_fail(error, FLR_BAD_INPUT,
                          "%s: this is no MCAP file; give a recording made by feeler", path);
    r->at = r->summed = sizeof magic;
    r->crc = flr_crc32(0, magic, sizeof magic);
    if (result == FLR_OK) result = read_front(r, error);
    if (result != FLR_OK) {
        flr_mcap_close(r);
        return result;
    }
    *reader = r;
    return FLR_OK;
}

/* ---- the summary ---- */

enum { FOOTER = 9 + 20, SUMMARY_RECORDS = 4096, MAX_STATISTICS = 65536 };

/* Statistics: of messages by schema, and their times. */
static bool take_statistics(const flr_mcap_reader *r, flr_bytes_look l, const char *wanted,
                            uint64_t *messages, uint64_t *first, uint64_t *last)
{
    flr_bytes_number(&l, 8), flr_bytes_number(&l, 2); /* messages of all channels, schemas */
    flr_bytes_number(&l, 8), flr_bytes_number(&l, 8); /* channels, attachments, metadata, chunks */
    uint64_t begin = flr_bytes_number(&l, 8), end = flr_bytes_number(&l, 8), count = 0;
    flr_bytes_look map = piece(&l, 4);
    while (!map.bad && map.left) {
        uint16_t id = (uint16_t)flr_bytes_number(&map, 2);
        uint64_t of = flr_bytes_number(&map, 8);
        for (size_t i = 0; i < r->channel_count; i++)
            for (size_t k = 0; k < r->schema_count; k++)
                if (r->channels[i].id == id && r->schemas[k].id == r->channels[i].schema &&
                    !strcmp(r->schemas[k].name, wanted))
                    count += of;
    }
    if (l.bad || map.bad || end < begin) return false;
    *messages = count;
    *first = begin;
    *last = end;
    return true;
}

/* Is the checksum of the summary, which begins at `at`, right? It covers the footer, too, up to itself. */
static bool summary_is_sound(flr_mcap_reader *r, uint64_t at, const uint8_t footer[FOOTER])
{
    enum { MCAP_READ_PIECE = 1 << 16 };
    flr_error ignored;
    flr_bytes_look l = {footer + FOOTER - 4, 4, false};
    uint32_t wanted = (uint32_t)flr_bytes_number(&l, 4), crc = 0;
    uint64_t end = r->size - FOOTER - sizeof flr_mcap_magic;
    if (wanted == 0) return true; /* its writer made none */
    uint8_t *bytes = malloc(MCAP_READ_PIECE);
    bool read = bytes && at <= end;
    while (read && at < end) {
        size_t now = end - at < MCAP_READ_PIECE ? (size_t)(end - at) : MCAP_READ_PIECE;
        read = fetch(r, at, bytes, now, &ignored) == FLR_OK;
        if (read) crc = flr_crc32(crc, bytes, now);
        at += now;
    }
    free(bytes);
    return read && flr_crc32(crc, footer, FOOTER - 4) == wanted;
}

bool flr_mcap_summary(flr_mcap_reader *r, const char *wanted, uint64_t *messages, uint64_t *first,
                      uint64_t *last)
{
    uint8_t end[FOOTER + sizeof flr_mcap_magic], head[9];
    flr_error ignored;
    if (r->size < 2 * sizeof end ||
        fetch(r, r->size - sizeof end, end, sizeof end, &ignored) != FLR_OK)
        return false;
    flr_bytes_look l = {end, sizeof end, false};
    bool footer = flr_bytes_number(&l, 1) == MCAP_FOOTER && flr_bytes_number(&l, 8) == 20;
    uint64_t at = flr_bytes_number(&l, 8), stop = r->size - sizeof end;
    if (!footer || memcmp(end + FOOTER, flr_mcap_magic, sizeof flr_mcap_magic) != 0) return false;
    if (!summary_is_sound(r, at, end)) return false;
    for (int i = 0; i < SUMMARY_RECORDS && at > 0 && at < stop && stop - at > sizeof head; i++) {
        if (fetch(r, at, head, sizeof head, &ignored) != FLR_OK) return false;
        flr_bytes_look h = {head + 1, 8, false};
        uint64_t size = flr_bytes_number(&h, 8);
        at += sizeof head;
        if (size > stop - at) return false;
        if (head[0] == MCAP_STATISTICS && size <= MAX_STATISTICS) {
            uint8_t *bytes = malloc((size_t)size + 1);
            bool told = bytes && fetch(r, at, bytes, (size_t)size, &ignored) == FLR_OK &&
                        take_statistics(r, (flr_bytes_look){bytes, (size_t)size, false}, wanted,
                                        messages, first, last);
            free(bytes);
            return told;
        }
        at += size;
    }
    return false;
}

/* ---- the end of a file without one ---- */

enum { TAIL = 8 << 20, CHUNK_HEAD = 9 + 40, MCAP_READ_TRIES = 64 };

/* Does a whole chunk begin there? Its sizes have to agree and its checksum to be right, so that what a message happens to hold is not
 * taken for one. `tries`: checksums that may still be made. */
static bool whole_chunk(const uint8_t *data, size_t left, int *tries, uint64_t *end)
{
    flr_bytes_look l = {data, left, false};
    if (flr_bytes_number(&l, 1) != MCAP_CHUNK) return false;
    uint64_t size = flr_bytes_number(&l, 8), first = flr_bytes_number(&l, 8),
             last = flr_bytes_number(&l, 8);
    uint64_t plain = flr_bytes_number(&l, 8);
    uint32_t crc = (uint32_t)flr_bytes_number(&l, 4);
    uint64_t compression = flr_bytes_number(&l, 4), records = flr_bytes_number(&l, 8);
    if (l.bad || compression != 0 || records != plain || records > l.left || size != records + 40)
        return false;
    if (last < first || (*tries)-- <= 0) return false;
    if (crc && flr_crc32(0, l.data, (size_t)records) != crc) return false;
    *end = last;
    return true;
}

bool flr_mcap_last(flr_mcap_reader *r, uint64_t *last)
{
    /* metadata and the like stand before the first chunk, which is where reading goes on */
    size_t size = r->size - r->at < TAIL ? (size_t)(r->size - r->at) : TAIL;
    uint8_t *tail = malloc(size + 1);
    bool found = false;
    int tries = MCAP_READ_TRIES;
    flr_error ignored;
    if (tail && fetch(r, r->size - size, tail, size, &ignored) == FLR_OK)
        for (size_t at = size; at-- > 0 && !found;)
            found = tail[at] == MCAP_CHUNK && size - at > CHUNK_HEAD &&
                    whole_chunk(tail + at, size - at, &tries, last);
    free(tail);
    return found;
}

void flr_mcap_close(flr_mcap_reader *r)
{
    if (!r) return;
    flr_file_close(r->file);
    for (size_t i = 0; i < r->schema_count; i++) free(r->schemas[i].name);
    for (size_t i = 0; i < r->channel_count; i++) {
        free(r->channels[i].topic);
        free(r->channels[i].encoding);
    }
    for (size_t i = 0; i < r->pair_count; i++) free_pair(&r->pairs[i]);
    free(r->schemas);
    free(r->channels);
    free(r->pairs);
    flr_bytes_free(&r->block);
    free(r->path);
    free(r);
}

const char *flr_mcap_metadata(const flr_mcap_reader *r, const char *name, const char *key)
{
    for (size_t i = 0; i < r->pair_count; i++)
        if (strcmp(r->pairs[i].name, name) == 0 && strcmp(r->pairs[i].key, key) == 0)
            return r->pairs[i].value;
    return NULL;
}

flr_mcap_damage flr_mcap_get_damage(const flr_mcap_reader *r) { return r->damage; }

bool flr_mcap_complete(const flr_mcap_reader *r) { return r->complete; }
