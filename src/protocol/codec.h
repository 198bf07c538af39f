/* messages to bytes and back
 *
 *     flr_message message = {.id = FLR_MSG_RELEASE, .request = 7, .as.release = {.hand = 0}};
 *     flr_protocol_encode(&message, minor, bytes, sizeof bytes, &size, &error);
 *     …
 *     flr_protocol_decode(bytes, size, FLR_TO_CONTROLLER, room, sizeof room, &message, &error);
 *
 * A frame is one message: a head of 16 bytes and the fields in the order of the table, little endian, each at a multiple
 * of its alignment, zeros between. docs/protocol.md has it all. Encoding checks what decoding checks, so that what one
 * side writes the other accepts; a frame of this version that is accepted is the only one that says so: encoding what was
 * decoded gives the same bytes.
 *
 * Nothing is allocated, nothing kept. Thread: any; RT safe where `error` is NULL (a sentence takes time to write). */
#ifndef FLR_PROTOCOL_CODEC_H
#define FLR_PROTOCOL_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "protocol/message_table.h"
#include "protocol/messages.h"

enum {
    FLR_PROTOCOL_HEAD = 16,    /* bytes */
    FLR_PROTOCOL_VARIABLE = 8, /* texts and lists of a message at most */
    FLR_PROTOCOL_SPARE = 8 * FLR_PROTOCOL_VARIABLE + 8,
};

/* Bytes of memory that decoding a frame of `size` bytes takes at most. */
#define FLR_PROTOCOL_CAPACITY(size) ((size) + FLR_PROTOCOL_SPARE)

/* The first 16 bytes: the same in all versions. */
typedef struct flr_protocol_head {
    uint32_t size; /* of the frame, head included */
    uint16_t id;
    uint8_t major, minor;
    uint32_t request;
} flr_protocol_head;

/* Reads the head alone, of any version. FLR_BAD_INPUT: too short, or `size` is not what it says. */
flr_result flr_protocol_read_head(const void *bytes, size_t size, flr_protocol_head *head,
                                  flr_error *error);

/* What a controller answers to the head of a hello: the minor version that both speak. FLR_UNSUPPORTED: another major
 * version; the sentence says which and what to do. */
flr_result flr_protocol_agree(const flr_protocol_head *hello, uint8_t *minor, flr_error *error);

/* Decodes a frame that goes in `direction` (FLR_TO_CONTROLLER or FLR_TO_CLIENT). Texts and lists are put into `room`,
 * which FLR_PROTOCOL_CAPACITY(size) bytes suffice for and which the message points into; the frame is not needed afterwards.
 *
 *   FLR_UNSUPPORTED  no such message: skip it, or answer with `error` if it has a request number. Or another major version
 *   FLR_BAD_INPUT    the sentence names message and field; so does FLR_TOO_LARGE, for what is beyond the table's limits
 *   FLR_DENIED       a message that only the other side sends
 *   FLR_NO_MEMORY    the room is too small
 *
 * From a newer minor version, bytes behind the known fields are ignored; from an older one, fields that it did not have
 * are zero. On failure `message` is untouched; the room is not. */
flr_result flr_protocol_decode(const void *bytes, size_t size, unsigned direction, void *room,
                               size_t room_size, flr_message *message, flr_error *error);

/* Encodes for a peer that speaks `minor` (FLR_PROTOCOL_MINOR, or what was agreed on): later fields are left out.
 * FLR_UNSUPPORTED: no such message. FLR_BAD_ARGUMENT or FLR_TOO_LARGE: a field is not what the table allows.
 * FLR_NO_MEMORY: `capacity` is too small. On success `*size` is the number of bytes written. */
flr_result flr_protocol_encode(const flr_message *message, uint8_t minor, void *bytes,
                               size_t capacity, size_t *size, flr_error *error);

/* ---- the same for any table, so that versions to come can be tested ---- */

/* The body of a frame whose head has been read, for a side that knows `minor`; `body` [type->body_size] is what it gives. */
flr_result flr_wire_read(const flr_wire_message *type, const flr_protocol_head *head, uint8_t minor,
                         const void *bytes, void *room, size_t room_size, void *body,
                         flr_error *error);
/* A whole frame, head with `request` included, for a side that knows `minor`. */
flr_result flr_wire_write(const flr_wire_message *type, const void *body, uint32_t request,
                          uint8_t minor, void *bytes, size_t capacity, size_t *size,
                          flr_error *error);

#endif
