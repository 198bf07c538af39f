/* the wire format of protocol buffers */
#include "record/protobuf.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

void flr_proto_varint(flr_bytes *bytes, uint64_t value)
{
    while (value >= 0x80) {
        flr_bytes_u8(bytes, (uint8_t)(value | 0x80));
        value >>= 7;
    }
    flr_bytes_u8(bytes, (uint8_t)value);
}

static void tag(flr_bytes *bytes, uint32_t number, unsigned wire)
{
    flr_proto_varint(bytes, (uint64_t)number << 3 | wire);
}

void flr_proto_uint(flr_bytes *bytes, uint32_t number, uint64_t value)
{
    tag(bytes, number, VARINT);
    flr_proto_varint(bytes, value);
}

void flr_proto_fixed64(flr_bytes *bytes, uint32_t number, uint64_t value)
{
    tag(bytes, number, FIXED64);
    flr_bytes_u64(bytes, value);
}

void flr_proto_double(flr_bytes *bytes, uint32_t number, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    flr_proto_fixed64(bytes, number, bits);
}

void flr_proto_text(flr_bytes *bytes, uint32_t number, const char *text)
{
    size_t size = strlen(text);
    tag(bytes, number, LENGTH);
    flr_proto_varint(bytes, size);
    flr_bytes_add(bytes, text, size);
}

/* The length of a message is not known when it begins. It gets five bytes, filled up with empty groups of seven bits:
 * longer than need be, and valid. */
size_t flr_proto_begin(flr_bytes *bytes, uint32_t number)
{
    tag(bytes, number, LENGTH);
    flr_bytes_add(bytes, "\x80\x80\x80\x80\0", 5);
    return bytes->size;
}

void flr_proto_end(flr_bytes *bytes, size_t begin)
{
    if (bytes->failed) return;
    size_t size = bytes->size - begin;
    for (size_t i = 0; i < 4; i++)
        bytes->data[begin - 5 + i] = (uint8_t)(0x80 | (size >> 7 * i & 0x7F));
    bytes->data[begin - 1] = (uint8_t)(size >> 28 & 0x7F);
}

void flr_proto_describe(flr_bytes *bytes, const char *file, const char *package,
                        const flr_proto_message *messages)
{
    /* the field numbers are those of descriptor.proto */
    enum { SET_FILE = 1, FILE_NAME = 1, FILE_PACKAGE = 2, FILE_MESSAGE = 4, FILE_SYNTAX = 12 };
    enum { MESSAGE_NAME = 1, MESSAGE_FIELD = 2 };
    enum { FIELD_NAME = 1, FIELD_NUMBER = 3, FIELD_LABEL = 4, FIELD_TYPE = 5, FIELD_TYPE_NAME = 6 };
    size_t whole = flr_proto_begin(bytes, SET_FILE);
    flr_proto_text(bytes, FILE_NAME, file);
    flr_proto_text(bytes, FILE_PACKAGE, package);
    for (const flr_proto_message *m = messages; m->name; m++) {
        size_t message = flr_proto_begin(bytes, FILE_MESSAGE);
        flr_proto_text(bytes, MESSAGE_NAME, m->name);
        for (const flr_proto_field *f = m->fields; f->name; f++) {
            size_t field = flr_proto_begin(bytes, MESSAGE_FIELD);
            flr_proto_text(bytes, FIELD_NAME, f->name);
            flr_proto_uint(bytes, FIELD_NUMBER, (uint64_t)(f - m->fields) + 1);
            flr_proto_uint(bytes, FIELD_LABEL, f->repeated ? 3 : 1);
            flr_proto_uint(bytes, FIELD_TYPE, (uint64_t)f->type);
            if (f->message) flr_proto_text(bytes, FIELD_TYPE_NAME, f->message);
            flr_proto_end(bytes, field);
        }
        flr_proto_end(bytes, message);
    }
    flr_proto_text(bytes, FILE_SYNTAX, "proto3");
    flr_proto_end(bytes, whole);
}

/* ---- reading ---- */

static uint64_t varint(flr_bytes_look *look)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (look->left == 0) break;
        uint8_t byte = *look->data++;
        look->left--;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) return value;
    }
    look->bad = true;
    return 0;
}

bool flr_proto_next(flr_bytes_look *look, flr_proto_value *value)
{
    *value = (flr_proto_value){0};
    if (look->bad || look->left == 0) return false;
    uint64_t key = varint(look);
    value->number = (uint32_t)(key >> 3);
    switch (key & 7) {
    case VARINT:
        value->integer = varint(look);
        break;
    case FIXED64:
        value->integer = flr_bytes_number(look, 8);
        break;
    case FIXED32:
        value->integer = flr_bytes_number(look, 4);
        break;
    case LENGTH:
        value->inside = flr_bytes_piece(look, varint(look));
        break;
    default:
        look->bad = true;
    }
    return !look->bad;
}
