/* what a value has to be, in the table's words; web/src/protocol.mjs says the same with the same words */
#include "protocol/message_check.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static const char *const not_finite = "is not a finite number";

/* whether `lanes` doubles are finite; they may lie unaligned */
static bool finite_lanes(const void *value, unsigned lanes)
{
    for (unsigned i = 0; i < lanes; i++) {
        double lane;
        memcpy(&lane, (const char *)value + sizeof lane * i, sizeof lane);
        if (!isfinite(lane)) return false;
    }
    return true;
}

static const char *check_pose(const void *value)
{
    if (!finite_lanes(value, 7)) return not_finite;
    flr_pose pose;
    memcpy(&pose, value, sizeof pose);
    // in this order on both sides, so that they agree on the last bit
    double length2 = pose.q.w * pose.q.w + pose.q.x * pose.q.x;
    length2 = length2 + pose.q.y * pose.q.y;
    length2 = length2 + pose.q.z * pose.q.z;
    return length2 >= 0.999 && length2 <= 1.001 ? NULL
                                                : "has a quaternion that is not of unit length";
}

static const char *check_distance(const void *value)
{
    double distance;
    memcpy(&distance, value, sizeof distance);
    if (isnan(distance)) return "is not a number";
    return signbit(distance) ? "is negative" : NULL;
}

static const char *check_choice(const flr_wire_choice *choice, uint8_t number)
{
    for (const flr_wire_value *value = choice->values; value->name; value++) {
        if (value->number == number) return NULL;
    }
    return "is a number that the table does not have";
}

static const char *check_floats(const void *value, unsigned lanes)
{
    for (unsigned i = 0; i < lanes; i++) {
        float lane;
        memcpy(&lane, (const char *)value + sizeof lane * i, sizeof lane);
        if (!isfinite(lane)) return not_finite;
    }
    return NULL;
}

const char *flr_wire_check_value(const flr_wire_field *field, const void *value)
{
    uint8_t byte = *(const uint8_t *)value;
    uint64_t wide;
    switch (field->kind) {
    case FLR_KIND_u64:
        memcpy(&wide, value, sizeof wide);
        return wide >> 53 ? "is above 2^53 - 1" : NULL;
    case FLR_KIND_flag:
        return byte > 1 ? "is neither 0 nor 1" : NULL;
    case FLR_KIND_choice:
        return check_choice(field->choice, byte);
    case FLR_KIND_f32:
        return check_floats(value, 1);
    case FLR_KIND_vec3f:
        return check_floats(value, 3);
    case FLR_KIND_f64:
        return finite_lanes(value, 1) ? NULL : not_finite;
    case FLR_KIND_vec3:
        return finite_lanes(value, 3) ? NULL : not_finite;
    case FLR_KIND_wrench:
        return finite_lanes(value, 6) ? NULL : not_finite;
    case FLR_KIND_pose:
        return check_pose(value);
    case FLR_KIND_distance:
        return check_distance(value);
    case FLR_KIND_u8:
    case FLR_KIND_u16:
    case FLR_KIND_u32:
    case FLR_KIND_struct:
    case FLR_KIND_COUNT:
        break;
    }
    return NULL;
}

const char *flr_wire_check_list(const flr_wire_field *field, const void *items, uint32_t count,
                                uint32_t *index)
{
    // whole numbers of a list may be anything
    if (field->kind == FLR_KIND_u8 || field->kind == FLR_KIND_u16 || field->kind == FLR_KIND_u32)
        return NULL;
    size_t size = flr_wire_item_size(field);
    for (uint32_t i = 0; i < count; i++) {
        const char *reason = flr_wire_check_value(field, (const char *)items + size * i);
        if (reason) {
            *index = i;
            return reason;
        }
    }
    return NULL;
}

const char *flr_wire_check_text(const char *text, uint32_t size)
{
    for (size_t at = 0; at < size;) {
        size_t step = flr_utf8_size(text + at, size - at, NULL);
        if (step == 0) return "is not UTF-8";
        at += step;
    }
    return size && memchr(text, 0, size) ? "has a zero byte" : NULL;
}
