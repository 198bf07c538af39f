/* mcap.h: the MCAP container: timed messages on named channels in one file.
 *
 * The format is public (version 0 of the MCAP specification); this is the part of it that a recording needs: chunks without
 * compression, message indexes, a summary with statistics and chunk indexes, metadata. A chunk is written in one piece, so
 * that a writer that dies leaves a file that can be read up to its last chunk.
 *
 * Thread: one at a time per object. Not RT safe. */
#ifndef FLR_RECORD_MCAP_H
#define FLR_RECORD_MCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"

/* bytes that grow; `failed` sticks when memory ran out, and everything after is ignored */
typedef struct flr_bytes {
    uint8_t *data;
    size_t size, room;
    bool failed;
} flr_bytes;

void flr_bytes_add(flr_bytes *bytes, const void *data, size_t size);
void flr_bytes_u8(flr_bytes *bytes, uint8_t value);
void flr_bytes_u16(flr_bytes *bytes, uint16_t value);
void flr_bytes_u32(flr_bytes *bytes, uint32_t value);
void flr_bytes_u64(flr_bytes *bytes, uint64_t value);
void flr_bytes_text(flr_bytes *bytes, const char *text); /* length (32 bits) and text */
void flr_bytes_free(flr_bytes *bytes);

/* a look at bytes, from the front on */
typedef struct flr_bytes_look {
    const uint8_t *data;
    size_t left;
    bool bad; /* something is cut off or makes no sense */
} flr_bytes_look;

/* A number of `size` bytes, little-endian; 0 and bad where there are fewer. */
uint64_t flr_bytes_number(flr_bytes_look *look, size_t size);
/* So many bytes; none and bad where there are fewer. */
flr_bytes_look flr_bytes_piece(flr_bytes_look *look, uint64_t size);

/* The checksum of MCAP (and of zlib): begin with 0, go on with what came out. */
uint32_t flr_crc32(uint32_t crc, const void *data, size_t size);

/* ---- writing ---- */

typedef struct flr_mcap_writer flr_mcap_writer;

enum { FLR_MCAP_CHUNK = 256 << 10 /* a chunk is written when it has grown to this */ };

/* Makes a file that must not exist yet. */
flr_result flr_mcap_create(flr_env *env, const char *path, const char *profile, const char *library,
                           flr_mcap_writer **writer, flr_error *error);

/* Both before the first message. The number of what was added goes to `*id`. */
flr_result flr_mcap_add_schema(flr_mcap_writer *writer, const char *name, const char *encoding,
                               const void *data, size_t size, uint16_t *id, flr_error *error);
flr_result flr_mcap_add_channel(flr_mcap_writer *writer, uint16_t schema, const char *topic,
                                const char *encoding, uint16_t *id, flr_error *error);

/* Texts by key, written at once; `pairs` is key, value, key, value, …, NULL. */
flr_result flr_mcap_add_metadata(flr_mcap_writer *writer, const char *name,
                                 const char *const *pairs, flr_error *error);

/* Adds a message; times in nanoseconds. Writes the chunk when it is full. */
flr_result flr_mcap_add(flr_mcap_writer *writer, uint16_t channel, uint32_t sequence, uint64_t time,
                        const void *data, size_t size, flr_error *error);

/* Writes what waits as a chunk. */
flr_result flr_mcap_flush(flr_mcap_writer *writer, flr_error *error);

/* Flushes, writes summary and end, syncs, closes; frees the writer whatever the result. */
flr_result flr_mcap_finish(flr_mcap_writer *writer, flr_error *error);
/* Closes without an end, as if the process had died; NULL allowed. */
void flr_mcap_abandon(flr_mcap_writer *writer);

/* ---- reading ---- */

typedef struct flr_mcap_reader flr_mcap_reader;

typedef struct flr_mcap_message {
    const char *topic;  /* these three valid as long as the reader */
    const char *schema; /* its name; "" for none */
    const char *encoding;
    uint64_t time;
    uint32_t sequence;
    const uint8_t *data; /* valid until the next call */
    size_t size;
} flr_mcap_message;

flr_result flr_mcap_open(flr_env *env, const char *path, flr_mcap_reader **reader,
                         flr_error *error);
void flr_mcap_close(flr_mcap_reader *reader); /* NULL allowed */

/* The next message, in the order of the file. FLR_CLOSED without a message: there is no more. FLR_UNSUPPORTED: compressed
 * chunks. A damaged chunk is left out: see flr_mcap_get_damage(). */
flr_result flr_mcap_next(flr_mcap_reader *reader, flr_mcap_message *message, flr_error *error);

/* How many messages of a schema there are, and the times of the first and the last of all, as the summary at the end of the file
 * says: no message is read. False: there is none, or it makes no sense. */
bool flr_mcap_summary(flr_mcap_reader *reader, const char *schema, uint64_t *messages,
                      uint64_t *first, uint64_t *last);

/* The time of the last message, for a file whose writer died: that of the last whole chunk, which is looked for in the last 8 MiB;
 * nothing else is read. False: there is none. */
bool flr_mcap_last(flr_mcap_reader *reader, uint64_t *last);

/* The value of a key of a metadata record that was met so far (those before the first message are met when the file is
 * opened); NULL: none. */
const char *flr_mcap_metadata(const flr_mcap_reader *reader, const char *name, const char *key);

/* What was left out so far. */
typedef struct flr_mcap_damage {
    uint32_t places;
    uint64_t at;      /* the first: byte of its record in the file */
    const char *what; /* it is; NULL: there is none */
} flr_mcap_damage;

flr_mcap_damage flr_mcap_get_damage(const flr_mcap_reader *reader);

/* Whether the end of the file was met, as finish writes it: false for a file whose writer died. Known at the end. */
bool flr_mcap_complete(const flr_mcap_reader *reader);

/* enough to know one: 8 bytes */
extern const uint8_t flr_mcap_magic[8];

#endif
