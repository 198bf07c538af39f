/* messages.def as data */
#include "protocol/message_table.h"

#include "feeler/base.h"
#include "protocol/codec.h"

_Static_assert((int)FLR_WIRE_RESULT_OK == FLR_OK && (int)FLR_WIRE_RESULT_IO == FLR_IO &&
                   (int)FLR_WIRE_RESULT_UNSUPPORTED == FLR_UNSUPPORTED &&
                   (int)FLR_WIRE_RESULT_CRASHED == FLR_CRASHED,
               "results on the wire have the numbers of flr_result");

/* clang-format off */
/* ---- enumerations and bits ---- */

#define FLR_ENUM(name, doc) static const flr_wire_value values_##name[] = {
#define FLR_VALUE(NAME, number, doc) {#NAME, doc, number},
#define FLR_ENUM_END(name) {NULL, NULL, 0}};
#define FLR_BITS(name, doc) static const flr_wire_value values_##name[] = {
#define FLR_BIT(NAME, bit, doc) {#NAME, doc, bit},
#define FLR_BITS_END(name) {NULL, NULL, 0}};
#include "protocol/rows.h"

#define FLR_ENUM(name, doc) static const flr_wire_choice choice_##name = {#name, doc, values_##name, false};
#define FLR_BITS(name, doc) static const flr_wire_choice choice_##name = {#name, doc, values_##name, true};
#include "protocol/rows.h"

#define FLR_ENUM(name, doc) &choice_##name,
#define FLR_BITS(name, doc) &choice_##name,
static const flr_wire_choice *const choices[] = {
#include "protocol/rows.h"
};

/* ---- structures: their fields stand in functions, where `self` can name the structure ---- */

#define FLR_STRUCT(name, doc) static const flr_wire_field *fields_of_##name(void); \
    static const flr_wire_struct struct_##name = {#name, doc, fields_of_##name, sizeof(flr_wire_##name), _Alignof(flr_wire_##name)};
#include "protocol/rows.h"

#define FLR_STRUCT(name, doc) &struct_##name,
static const flr_wire_struct *const structs[] = {
#include "protocol/rows.h"
};

#define FLR_STRUCT(name, doc) static const flr_wire_field *fields_of_##name(void) { typedef flr_wire_##name self; static const flr_wire_field fields[] = {
#define FLR_STRUCT_END(name) {.shape = FLR_SHAPE_END}}; return fields; }
#define FLR_MESSAGE(id, NAME, name, KIND, DIRECTION, doc) static const flr_wire_field *fields_in_##name(void) { typedef flr_msg_##name self; static const flr_wire_field fields[] = {
#define FLR_MESSAGE_END(name) {.shape = FLR_SHAPE_END, .offset = offsetof(self, body)}}; return fields; }
#define FLR_V(type, field, doc) {FLR_SHAPE_ONE, FLR_KIND_##type, #field, doc, offsetof(self, field), 0, 1, 1, NULL, NULL},
#define FLR_S(type, field, doc) {FLR_SHAPE_ONE, FLR_KIND_struct, #field, doc, offsetof(self, field), 0, 1, 1, NULL, &struct_##type},
#define FLR_E(type, field, doc) {FLR_SHAPE_ONE, FLR_KIND_choice, #field, doc, offsetof(self, field), 0, 1, 1, &choice_##type, NULL},
#define FLR_T(field, max, doc) {FLR_SHAPE_TEXT, FLR_KIND_u8, #field, doc, offsetof(self, field), 0, max, 1, NULL, NULL},
#define FLR_L(type, field, max, group, doc) {FLR_SHAPE_LIST, FLR_KIND_##type, #field, doc, offsetof(self, field), offsetof(self, field##_count), max, group, NULL, NULL},
#define FLR_LS(type, field, max, doc) {FLR_SHAPE_LIST, FLR_KIND_struct, #field, doc, offsetof(self, field), offsetof(self, field##_count), max, 1, NULL, &struct_##type},
#define FLR_SINCE(minor) {.shape = FLR_SHAPE_SINCE, .max = minor},
#include "protocol/rows.h"

#define FLR_MESSAGE(id, NAME, name, KIND, DIRECTION, doc) {id, FLR_KIND_##KIND, FLR_##DIRECTION, #name, doc, fields_in_##name, sizeof(flr_msg_##name)},
static const flr_wire_message messages[] = {
#include "protocol/rows.h"
};
/* clang-format on */

static const flr_wire_kind_info kinds[FLR_KIND_COUNT] = {
    [FLR_KIND_u8] = {"u8", 1, 1},         [FLR_KIND_u16] = {"u16", 1, 2},
    [FLR_KIND_u32] = {"u32", 1, 4},       [FLR_KIND_u64] = {"u64", 1, 8},
    [FLR_KIND_flag] = {"flag", 1, 1},     [FLR_KIND_f32] = {"f32", 1, 4},
    [FLR_KIND_f64] = {"f64", 1, 8},       [FLR_KIND_distance] = {"distance", 1, 8},
    [FLR_KIND_vec3f] = {"vec3f", 3, 4},   [FLR_KIND_vec3] = {"vec3", 3, 8},
    [FLR_KIND_pose] = {"pose", 7, 8},     [FLR_KIND_wrench] = {"wrench", 6, 8},
    [FLR_KIND_choice] = {"choice", 1, 1}, [FLR_KIND_struct] = {"struct", 0, 0},
};

const flr_wire_message *flr_wire_messages(uint32_t *count)
{
    *count = sizeof messages / sizeof messages[0];
    return messages;
}

const flr_wire_struct *const *flr_wire_structs(uint32_t *count)
{
    *count = sizeof structs / sizeof structs[0];
    return structs;
}

const flr_wire_choice *const *flr_wire_choices(uint32_t *count)
{
    *count = sizeof choices / sizeof choices[0];
    return choices;
}

const flr_wire_kind_info *flr_wire_kind_of(flr_wire_kind kind) { return &kinds[kind]; }

const flr_wire_message *flr_wire_message_find(uint16_t id)
{
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        if (messages[i].id == id) return &messages[i];
    }
    return NULL;
}

uint32_t flr_wire_item_size(const flr_wire_field *field)
{
    const flr_wire_kind_info *kind = &kinds[field->kind];
    return field->structure ? field->structure->size : (uint32_t)kind->lanes * kind->width;
}

uint32_t flr_wire_item_align(const flr_wire_field *field)
{
    return field->structure ? field->structure->align : kinds[field->kind].width;
}

uint32_t flr_wire_max_size(const flr_wire_message *message)
{
    uint32_t at = FLR_PROTOCOL_HEAD;
    for (const flr_wire_field *field = message->fields(); field->shape != FLR_SHAPE_END; field++) {
        if (field->shape == FLR_SHAPE_SINCE) continue;
        uint32_t align = flr_wire_item_align(field);
        if (field->shape != FLR_SHAPE_ONE) at = ((at + 3) & ~3u) + 4;
        at = ((at + align - 1) & ~(align - 1)) + field->max * flr_wire_item_size(field);
    }
    return at;
}

uint32_t flr_wire_max_frame(unsigned direction)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        uint32_t size = flr_wire_max_size(&messages[i]);
        if (messages[i].direction & direction && size > largest) largest = size;
    }
    return largest;
}
