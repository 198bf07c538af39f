/* writing MCAP: chunks as they fill, the summary at the end */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "record/mcap.h"
#include "record/mcap_records.h"

const uint8_t flr_mcap_magic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

/* ---- bytes ---- */

void flr_bytes_add(flr_bytes *bytes, const void *data, size_t size)
{
    if (bytes->failed || size == 0) return;
    if (bytes->room - bytes->size < size) {
        size_t room = bytes->room < 256 ? 256 : bytes->room;
        while (room - bytes->size < size && room < SIZE_MAX / 2) room *= 2;
        uint8_t *grown = realloc(bytes->data, room);
        if (!grown || room - bytes->size < size) {
            bytes->failed = true;
            if (grown) bytes->data = grown;
            return;
        }
        bytes->data = grown;
        bytes->room = room;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void add_number(flr_bytes *bytes, uint64_t value, size_t size)
{
    uint8_t out[8];
    for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(value >> 8 * i);
    flr_bytes_add(bytes, out, size);
}

void flr_bytes_u8(flr_bytes *bytes, uint8_t value) { add_number(bytes, value, 1); }
void flr_bytes_u16(flr_bytes *bytes, uint16_t value) { add_number(bytes, value, 2); }
void flr_bytes_u32(flr_bytes *bytes, uint32_t value) { add_number(bytes, value, 4); }
void flr_bytes_u64(flr_bytes *bytes, uint64_t value) { add_number(bytes, value, 8); }

void flr_bytes_text(flr_bytes *bytes, const char *text)
{
    size_t size = strlen(text);
    flr_bytes_u32(bytes, (uint32_t)size);
    flr_bytes_add(bytes, text, size);
}

void flr_bytes_free(flr_bytes *bytes)
{
    free(bytes->data);
    *bytes = (flr_bytes){0};
}

/* eight bytes at a time: what each of them becomes behind those that follow */
static uint32_t crc_table[8][256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void make_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = (crc & 1 ? 0xEDB88320 : 0) ^ crc >> 1;
        crc_table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            crc_table[k][i] = crc_table[0][crc_table[k - 1][i] & 255] ^ crc_table[k - 1][i] >> 8;
}

uint32_t flr_crc32(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *p = data;
    pthread_once(&crc_once, make_crc_table);
    crc = ~crc;
    for (; size >= 8; p += 8, size -= 8) {
        crc ^= p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        crc = crc_table[7][crc & 255] ^ crc_table[6][crc >> 8 & 255] ^
              crc_table[5][crc >> 16 & 255] ^ crc_table[4][crc >> 24] ^ crc_table[3][p[4]] ^
              crc_table[2][p[5]] ^ crc_table[1][p[6]] ^ crc_table[0][p[7]];
    }
    for (; size > 0; p++, size--) crc = crc_table[0][(crc ^ *p) & 255] ^ crc >> 8;
    return ~crc;
}

/* ---- the writer ---- */

/* what the summary says of a chunk */
typedef struct chunk_entry {
    uint64_t first, last;    /* times */
    uint64_t offset, length; /* of the chunk record */
    uint64_t index_length;   /* of the message indexes behind it */
    uint64_t map, map_size;  /* where `maps` has channel and place of each of these */
    uint64_t records;
} chunk_entry;

typedef struct channel_state {
    uint64_t messages;
    flr_bytes index; /* of the chunk in the making: time, offset */
} channel_state;

enum { MAX_CHANNELS = 64, MAX_SCHEMAS = 64 };

struct flr_mcap_writer {
    flr_file *file;
    uint64_t at;  /* bytes written … */
    uint32_t crc; /* … and their checksum */
    flr_bytes chunk;
    uint64_t first, last; /* times in the chunk */
    flr_bytes described;  /* schema and channel records */
    size_t announced;     /* bytes of them that stand in a chunk */
    size_t outside;       /* … and before one */
    uint16_t schemas, channels;
    channel_state state[MAX_CHANNELS];
    flr_bytes chunks; /* of chunk_entry */
    flr_bytes maps;
    flr_bytes metadata_index;
    uint32_t metadata_count;
    uint64_t messages, begin, end;
    flr_bytes scratch;
};

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory to record");
}

static flr_result put(flr_mcap_writer *w, const void *data, size_t size, flr_error *error)
{
    flr_result result = flr_file_write(w->file, w->at, data, size, error);
    if (result == FLR_OK) {
        w->at += size;
        w->crc = flr_crc32(w->crc, data, size);
    }
    return result;
}

/* Begins a record in `bytes`; its length is filled in by end_record(). */
static size_t begin_record(flr_bytes *bytes, uint8_t opcode)
{
    flr_bytes_u8(bytes, opcode);
    flr_bytes_u64(bytes, 0);
    return bytes->size;
}

static void end_record(flr_bytes *bytes, size_t begin)
{
    if (bytes->failed) return;
    uint64_t size = bytes->size - begin;
    for (int i = 0; i < 8; i++) bytes->data[begin - 8 + (size_t)i] = (uint8_t)(size >> 8 * i);
}

flr_result flr_mcap_create(flr_env *env, const char *path, const char *profile, const char *library,
                           flr_mcap_writer **writer, flr_error *error)
{
    flr_mcap_writer *w = calloc(1, sizeof *w);
    if (!w) return no_memory(error);
    // what is recorded shows geometry: for its owner only
    flr_result result =
        flr_file_open_with(env, path, FLR_FILE_CREATE, FLR_OPEN_PRIVATE, &w->file, error);
    if (result != FLR_OK) {
        free(w);
        return result;
    }
    flr_bytes_add(&w->scratch, flr_mcap_magic, sizeof flr_mcap_magic);
    size_t begin = begin_record(&w->scratch, MCAP_HEADER);
    flr_bytes_text(&w->scratch, profile);
    flr_bytes_text(&w->scratch, library);
    end_record(&w->scratch, begin);
    result = w->scratch.failed ? no_memory(error) : put(w, w->scratch.data, w->scratch.size, error);
    if (result != FLR_OK) {
        flr_mcap_abandon(w);
        return result;
    }
    *writer = w;
    return FLR_OK;
}

flr_result flr_mcap_add_schema(flr_mcap_writer *w, const char *name, const char *encoding,
                               const void *data, size_t size, uint16_t *id, flr_error *error)
{
    if (w->schemas == MAX_SCHEMAS)
        return flr_fail(error, FLR_TOO_LARGE, "a recording has at most %d schemas", MAX_SCHEMAS);
    size_t begin = begin_record(&w->described, MCAP_SCHEMA);
    flr_bytes_u16(&w->described, (uint16_t)(w->schemas + 1));
    flr_bytes_text(&w->described, name);
    flr_bytes_text(&w->described, encoding);
    flr_bytes_u32(&w->described, (uint32_t)size);
    flr_bytes_add(&w->described, data, size);
    end_record(&w->described, begin);
    if (w->described.failed) return no_memory(error);
    *id = ++w->schemas;
    return FLR_OK;
}

flr_result flr_mcap_add_channel(flr_mcap_writer *w, uint16_t schema, const char *topic,
                                const char *encoding, uint16_t *id, flr_error *error)
{
    if (w->channels == MAX_CHANNELS)
        return flr_fail(error, FLR_TOO_LARGE, "a recording has at most %d channels", MAX_CHANNELS);
    size_t begin = begin_record(&w->described, MCAP_CHANNEL);
    flr_bytes_u16(&w->described, (uint16_t)(w->channels + 1));
    flr_bytes_u16(&w->described, schema);
    flr_bytes_text(&w->described, topic);
    flr_bytes_text(&w->described, encoding);
    flr_bytes_u32(&w->described, 0); /* no metadata */
    end_record(&w->described, begin);
    if (w->described.failed) return no_memory(error);
    *id = ++w->channels;
    return FLR_OK;
}

flr_result flr_mcap_add_metadata(flr_mcap_writer *w, const char *name, const char *const *pairs,
                                 flr_error *error)
{
    flr_result result = flr_mcap_flush(w, error);
    if (result != FLR_OK) return result;
    flr_bytes *b = &w->scratch;
    b->size = 0;
    size_t begin = begin_record(b, MCAP_METADATA);
    flr_bytes_text(b, name);
    size_t map = b->size;
    flr_bytes_u32(b, 0);
    for (size_t i = 0; pairs[i]; i++) flr_bytes_text(b, pairs[i]);
    if (b->failed) return no_memory(error);
    uint32_t size = (uint32_t)(b->size - map - 4);
    for (int i = 0; i < 4; i++) b->data[map + (size_t)i] = (uint8_t)(size >> 8 * i);
    end_record(b, begin);
    /* the summary will point here */
    size_t entry = begin_record(&w->metadata_index, MCAP_METADATA_INDEX);
    flr_bytes_u64(&w->metadata_index, w->at);
    flr_bytes_u64(&w->metadata_index, b->size);
    flr_bytes_text(&w->metadata_index, name);
    end_record(&w->metadata_index, entry);
    if (w->metadata_index.failed) return no_memory(error);
    w->metadata_count++;
    return put(w, b->data, b->size, error);
}

flr_result flr_mcap_add(flr_mcap_writer *w, uint16_t channel, uint32_t sequence, uint64_t time,
                        const void *data, size_t size, flr_error *error)
{
    if (w->chunk.size == 0) {
        w->first = w->last = time;
        /* what readers must know before the first message */
        flr_bytes_add(&w->chunk, w->described.data + w->announced,
                      w->described.size - w->announced);
        w->announced = w->described.size;
    }
    channel_state *state = &w->state[channel - 1];
    flr_bytes_u64(&state->index, time);
    flr_bytes_u64(&state->index, w->chunk.size);
    size_t begin = begin_record(&w->chunk, MCAP_MESSAGE);
    flr_bytes_u16(&w->chunk, channel);
    flr_bytes_u32(&w->chunk, sequence);
    flr_bytes_u64(&w->chunk, time);
    flr_bytes_u64(&w->chunk, time);
    flr_bytes_add(&w->chunk, data, size);
    end_record(&w->chunk, begin);
    if (w->chunk.failed || state->index.failed) return no_memory(error);
    if (time < w->first) w->first = time;
    if (time > w->last) w->last = time;
    if (w->messages == 0 || time < w->begin) w->begin = time;
    if (w->messages == 0 || time > w->end) w->end = time;
    w->messages++;
    state->messages++;
    return w->chunk.size >= FLR_MCAP_CHUNK ? flr_mcap_flush(w, error) : FLR_OK;
}

flr_result flr_mcap_flush(flr_mcap_writer *w, flr_error *error)
{
    if (w->chunk.size == 0) return FLR_OK;
    /* outside of the chunk, too: when that is damaged, those after it can still be read */
    size_t more = w->described.size - w->outside;
    flr_result put_first = put(w, w->described.data + w->outside, more, error);
    if (put_first != FLR_OK) return put_first;
    w->outside = w->described.size;
    flr_bytes *b = &w->scratch;
    b->size = 0;
    chunk_entry entry = {
        .first = w->first, .last = w->last, .offset = w->at, .records = w->chunk.size};
    size_t begin = begin_record(b, MCAP_CHUNK);
    flr_bytes_u64(b, w->first);
    flr_bytes_u64(b, w->last);
    flr_bytes_u64(b, w->chunk.size);
    flr_bytes_u32(b, flr_crc32(0, w->chunk.data, w->chunk.size));
    flr_bytes_text(b, ""); /* no compression */
    flr_bytes_u64(b, w->chunk.size);
    flr_bytes_add(b, w->chunk.data, w->chunk.size);
    end_record(b, begin);
    entry.length = b->size;
    entry.map = w->maps.size;
    for (uint16_t i = 0; i < w->channels; i++) {
        flr_bytes *index = &w->state[i].index;
        if (index->size == 0) continue;
        flr_bytes_u16(&w->maps, (uint16_t)(i + 1));
        flr_bytes_u64(&w->maps, w->at + b->size);
        size_t at = begin_record(b, MCAP_MESSAGE_INDEX);
        flr_bytes_u16(b, (uint16_t)(i + 1));
        flr_bytes_u32(b, (uint32_t)index->size);
        flr_bytes_add(b, index->data, index->size);
        end_record(b, at);
        index->size = 0;
    }
    entry.index_length = b->size - entry.length;
    entry.map_size = w->maps.size - entry.map;
    flr_bytes_add(&w->chunks, &entry, sizeof entry);
    if (b->failed || w->chunks.failed || w->maps.failed) return no_memory(error);
    w->chunk.size = 0;
    return put(w, b->data, b->size, error);
}

/* ---- the end ---- */

static void add_statistics(flr_mcap_writer *w, flr_bytes *b)
{
    size_t begin = begin_record(b, MCAP_STATISTICS);
    flr_bytes_u64(b, w->messages);
    flr_bytes_u16(b, w->schemas);
    flr_bytes_u32(b, w->channels);
    flr_bytes_u32(b, 0); /* attachments */
    flr_bytes_u32(b, w->metadata_count);
    flr_bytes_u32(b, (uint32_t)(w->chunks.size / sizeof(chunk_entry)));
    flr_bytes_u64(b, w->begin);
    flr_bytes_u64(b, w->end);
    flr_bytes_u32(b, (uint32_t)w->channels * 10);
    for (uint16_t i = 0; i < w->channels; i++) {
        flr_bytes_u16(b, (uint16_t)(i + 1));
        flr_bytes_u64(b, w->state[i].messages);
    }
    end_record(b, begin);
}

static void add_chunk_indexes(flr_mcap_writer *w, flr_bytes *b)
{
    for (size_t i = 0; i < w->chunks.size / sizeof(chunk_entry); i++) {
        chunk_entry e;
        memcpy(&e, w->chunks.data + i * sizeof e, sizeof e);
        size_t begin = begin_record(b, MCAP_CHUNK_INDEX);
        flr_bytes_u64(b, e.first);
        flr_bytes_u64(b, e.last);
        flr_bytes_u64(b, e.offset);
        flr_bytes_u64(b, e.length);
        flr_bytes_u32(b, (uint32_t)e.map_size);
        flr_bytes_add(b, w->maps.data + e.map, e.map_size);
        flr_bytes_u64(b, e.index_length);
        flr_bytes_text(b, "");
        flr_bytes_u64(b, e.records);
        flr_bytes_u64(b, e.records);
        end_record(b, begin);
    }
}

static flr_result write_end(flr_mcap_writer *w, flr_error *error)
{
    flr_bytes *b = &w->scratch;
    b->size = 0;
    size_t begin = begin_record(b, MCAP_DATA_END);
    flr_bytes_u32(b, w->crc); /* chunks have their own, too, which say where damage is */
    end_record(b, begin);
    size_t summary = b->size;
    uint64_t summary_at = w->at + summary;
    flr_bytes_add(b, w->described.data, w->described.size);
    add_statistics(w, b);
    add_chunk_indexes(w, b);
    flr_bytes_add(b, w->metadata_index.data, w->metadata_index.size);
    begin = begin_record(b, MCAP_FOOTER);
    flr_bytes_u64(b, summary_at);
    flr_bytes_u64(b, 0); /* no summary offsets */
    end_record(b, begin);
    if (b->failed) return no_memory(error);
    /* the length of the footer counts its checksum, which covers all before itself */
    b->data[begin - 8] = 20;
    flr_bytes_u32(b, flr_crc32(0, b->data + summary, b->size - summary));
    flr_bytes_add(b, flr_mcap_magic, sizeof flr_mcap_magic);
    if (b->failed) return no_memory(error);
    flr_result result = put(w, b->data, b->size, error);
    return result == FLR_OK ? flr_file_sync(w->file, error) : result;
}

flr_result flr_mcap_finish(flr_mcap_writer *w, flr_error *error)
{
    flr_result result = flr_mcap_flush(w, error);
    if (result == FLR_OK) result = write_end(w, error);
    flr_mcap_abandon(w);
    return result;
}

void flr_mcap_abandon(flr_mcap_writer *w)
{
    if (!w) return;
    flr_file_close(w->file);
    for (int i = 0; i < MAX_CHANNELS; i++) flr_bytes_free(&w->state[i].index);
    flr_bytes_free(&w->chunk);
    flr_bytes_free(&w->described);
    flr_bytes_free(&w->chunks);
    flr_bytes_free(&w->maps);
    flr_bytes_free(&w->metadata_index);
    flr_bytes_free(&w->scratch);
    free(w);
}
