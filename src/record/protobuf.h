/* protobuf.h: the wire format of protocol buffers, as much of it as a recording needs. */
#ifndef FLR_RECORD_PROTOBUF_H
#define FLR_RECORD_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/mcap.h"

/* ---- a description of messages, from which the file tells readers what it holds ---- */

/* the numbers are those of FieldDescriptorProto */
typedef enum flr_proto_type {
    FLR_PROTO_DOUBLE = 1,
    FLR_PROTO_UINT64 = 4,
    FLR_PROTO_FIXED64 = 6,
    FLR_PROTO_BOOL = 8,
    FLR_PROTO_STRING = 9,
    FLR_PROTO_MESSAGE = 11,
    FLR_PROTO_BYTES = 12,
    FLR_PROTO_UINT32 = 13
} flr_proto_type;

typedef struct flr_proto_field {
    const char *name;
    flr_proto_type type;
    const char *message; /* of a message: its full name, ".feeler.Pose" */
    bool repeated;
    /* where it stands in a C structure, for those who write and read it by this table */
    const struct flr_proto_field *inside; /* fields of a message */
    size_t offset, size;                  /* of the member; the size is that of a message */
    size_t flag; /* offset of a bool that says whether it is there; 0: it always is */
} flr_proto_field;

typedef struct flr_proto_message {
    const char *name;
    const flr_proto_field *fields; /* numbered from 1 on; ends with a name of NULL */
} flr_proto_message;

/* A FileDescriptorSet of one file with these messages; ends with a name of NULL. */
void flr_proto_describe(flr_bytes *bytes, const char *file, const char *package,
                        const flr_proto_message *messages);

/* ---- writing ---- */

void flr_proto_varint(flr_bytes *bytes, uint64_t value);
void flr_proto_uint(flr_bytes *bytes, uint32_t number, uint64_t value);
void flr_proto_fixed64(flr_bytes *bytes, uint32_t number, uint64_t value);
void flr_proto_double(flr_bytes *bytes, uint32_t number, double value);
void flr_proto_text(flr_bytes *bytes, uint32_t number, const char *text);
/* A message within: begin, write its fields, end. */
size_t flr_proto_begin(flr_bytes *bytes, uint32_t number);
void flr_proto_end(flr_bytes *bytes, size_t begin);

/* ---- reading ---- */

typedef struct flr_proto_value {
    uint32_t number;       /* of the field */
    uint64_t integer;      /* of a number; of a double: its bits */
    flr_bytes_look inside; /* of a message or text */
} flr_proto_value;

/* The next field; false at the end and when it is bad. */
bool flr_proto_next(flr_bytes_look *look, flr_proto_value *value);

#endif
