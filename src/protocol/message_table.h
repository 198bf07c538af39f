/* messages.def as data: what the codec, the generator and the tests walk */
#ifndef FLR_PROTOCOL_MESSAGE_TABLE_H
#define FLR_PROTOCOL_MESSAGE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/messages.h"

/* What a value is. */
typedef enum flr_wire_kind {
    FLR_KIND_u8,
    FLR_KIND_u16,
    FLR_KIND_u32,
    FLR_KIND_u64,
    FLR_KIND_flag,
    FLR_KIND_f32,
    FLR_KIND_f64,
    FLR_KIND_distance,
    FLR_KIND_vec3f,
    FLR_KIND_vec3,
    FLR_KIND_pose,
    FLR_KIND_wrench,
    FLR_KIND_choice, /* of an enumeration */
    FLR_KIND_struct,
    FLR_KIND_COUNT
} flr_wire_kind;

/* How often, and where it lies. */
typedef enum flr_wire_shape {
    FLR_SHAPE_END, /* no more fields */
    FLR_SHAPE_ONE,
    FLR_SHAPE_TEXT,
    FLR_SHAPE_LIST,
    FLR_SHAPE_SINCE /* no field: those that follow came with minor version `max` */
} flr_wire_shape;

/* A kind: so many lanes of so many bytes, one behind the other, the same in memory and on the wire. */
typedef struct flr_wire_kind_info {
    const char *name;
    uint8_t lanes, width; /* 0 for a structure */
} flr_wire_kind_info;

typedef struct flr_wire_value {
    const char *name, *doc;
    uint32_t number; /* of bits: which one */
} flr_wire_value;

/* An enumeration or a set of bits. */
typedef struct flr_wire_choice {
    const char *name, *doc;
    const flr_wire_value *values; /* ends with a name that is NULL */
    bool bits;
} flr_wire_choice;

typedef struct flr_wire_struct flr_wire_struct;

typedef struct flr_wire_field {
    flr_wire_shape shape;
    flr_wire_kind kind; /* of the value, or of a list's items */
    const char *name, *doc;
    uint32_t offset;       /* of value, text or pointer in the C structure */
    uint32_t count_offset; /* of a list's count */
    uint32_t max, group;   /* of texts (bytes) and lists (items) */
    const flr_wire_choice *choice;
    const flr_wire_struct *structure;
} flr_wire_field;

struct flr_wire_struct {
    const char *name, *doc;
    const flr_wire_field *(*fields)(
        void);     /* all FLR_SHAPE_ONE, none a structure; then FLR_SHAPE_END */
    uint32_t size; /* in memory and on the wire, padded to its alignment */
    uint32_t align;
};

typedef enum flr_wire_message_kind {
    FLR_KIND_HANDSHAKE,
    FLR_KIND_COMMAND,
    FLR_KIND_INPUT,
    FLR_KIND_REPLY,
    FLR_KIND_SCENE,
    FLR_KIND_STATE,
    FLR_KIND_EVENT,
    FLR_KIND_PEER
} flr_wire_message_kind;

/* Who may send it; bits. */
enum { FLR_TO_CONTROLLER = 1, FLR_TO_CLIENT = 2, FLR_BOTH = 3, FLR_TO_PEER = 4 };

typedef struct flr_wire_message {
    uint16_t id;
    flr_wire_message_kind kind;
    uint8_t direction;
    const char *name, *doc;
    const flr_wire_field *(*fields)(void); /* then FLR_SHAPE_END */
    uint32_t body_size;                    /* of flr_msg_NAME */
} flr_wire_message;

/* All of them, in the order of the table; `*count` how many. Thread: any; RT safe, as all here. */
const flr_wire_message *flr_wire_messages(uint32_t *count);
const flr_wire_struct *const *flr_wire_structs(uint32_t *count);
const flr_wire_choice *const *flr_wire_choices(uint32_t *count);
const flr_wire_kind_info *flr_wire_kind_of(flr_wire_kind kind);

/* NULL: there is none. */
const flr_wire_message *flr_wire_message_find(uint16_t id);

/* Size and alignment on the wire of one value of the field, or of one item of its list. */
uint32_t flr_wire_item_size(const flr_wire_field *field);
uint32_t flr_wire_item_align(const flr_wire_field *field);

/* Bytes of the largest frame, head included, that the table allows for this message. */
uint32_t flr_wire_max_size(const flr_wire_message *message);

/* Bytes of the largest frame that may come in a direction: what is longer need not be received. */
uint32_t flr_wire_max_frame(unsigned direction);

#endif
