/* what a controller and its clients say to each other, as C structures made from messages.def
 *
 * flr_wire_NAME is a structure of the table, flr_msg_NAME the body of a message, FLR_MSG_NAME its id, FLR_WIRE_NAME a value
 * of an enumeration or a bit. A text or a list is a pointer and a size and owns nothing. */
#ifndef FLR_PROTOCOL_MESSAGES_H
#define FLR_PROTOCOL_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "feeler/math.h"

enum { FLR_PROTOCOL_MAJOR = 1, FLR_PROTOCOL_MINOR = 4 };

/* UTF-8 without a zero inside. What comes from decoding has a zero behind it; what is given to encoding need not, and
 * `bytes` may be NULL when size is 0. */
typedef struct flr_wire_text {
    const char *bytes;
    uint32_t size;
} flr_wire_text;

static inline flr_wire_text flr_wire_text_of(const char *text)
{
    flr_wire_text result = {text, (uint32_t)strlen(text)};
    return result;
}

typedef struct flr_wire_vec3f {
    float x, y, z;
} flr_wire_vec3f;

/* what stands in C for a type of the table */
typedef uint8_t flr_wire_u8;
typedef uint16_t flr_wire_u16;
typedef uint32_t flr_wire_u32;
typedef uint64_t flr_wire_u64; /* up to 2^53 - 1, what a number of JavaScript can hold */
typedef bool flr_wire_flag;
typedef float flr_wire_f32;
typedef double flr_wire_f64;
typedef double flr_wire_distance; /* 0 … INFINITY */
typedef flr_vec3 flr_wire_vec3;
typedef flr_pose flr_wire_pose;
typedef flr_wrench flr_wire_wrench;

/* clang-format off */
/* enumerations and bits */
#define FLR_ENUM(name, doc) enum {
#define FLR_VALUE(NAME, number, doc) FLR_WIRE_##NAME = (number),
#define FLR_ENUM_END(name) };
#define FLR_BITS(name, doc) enum {
#define FLR_BIT(NAME, bit, doc) FLR_WIRE_##NAME = 1 << (bit),
#define FLR_BITS_END(name) };
#include "protocol/rows.h"

/* message ids */
#define FLR_MESSAGE(id, NAME, name, KIND, DIRECTION, doc) enum { FLR_MSG_##NAME = (id) };
#include "protocol/rows.h"

/* structures and bodies; C knows no structure without a member, so each body has one that says nothing */
#define FLR_STRUCT(name, doc) typedef struct flr_wire_##name {
#define FLR_STRUCT_END(name) } flr_wire_##name;
#define FLR_MESSAGE(id, NAME, name, KIND, DIRECTION, doc) typedef struct flr_msg_##name { uint8_t body;
#define FLR_MESSAGE_END(name) } flr_msg_##name;
#define FLR_V(type, field, doc) flr_wire_##type field;
#define FLR_S(type, field, doc) flr_wire_##type field;
#define FLR_E(type, field, doc) uint8_t field;
#define FLR_T(field, max, doc) flr_wire_text field;
#define FLR_L(type, field, max, group, doc) const flr_wire_##type *field; uint32_t field##_count;
#define FLR_LS(type, field, max, doc) const flr_wire_##type *field; uint32_t field##_count;
#include "protocol/rows.h"

#define FLR_MESSAGE(id, NAME, name, KIND, DIRECTION, doc) flr_msg_##name name;
typedef union flr_message_body {
#include "protocol/rows.h"
} flr_message_body;
/* clang-format on */

/* Any message. Begin with {.id = FLR_MSG_…}, so that what you do not set is zero. */
typedef struct flr_message {
    uint16_t id;      /* FLR_MSG_… */
    uint8_t minor;    /* version that the sender speaks; set by decoding, not read by encoding */
    uint32_t request; /* a command's number, repeated by its replies; 0: none */
    flr_message_body as;
} flr_message;

#endif
