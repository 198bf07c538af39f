/* messages to bytes and back, by walking the table */
#include "protocol/codec.h"

#include <stdio.h>
#include <string.h>

#include "feeler/base.h"
#include "protocol/message_check.h"

/* where and why a message is refused; becomes a sentence only when somebody wants to read it */
typedef struct wire_fault {
    flr_result code;
    const char *field, *part; /* part: of a structure; each may be NULL */
    uint32_t index;           /* of the item, where listed */
    bool listed;
    const char *reason; /* the end of the sentence */
    uint32_t limit;     /* stands behind the reason, where not 0 */
} wire_fault;

/* a frame that is read or written, and the room for texts and lists that are read */
typedef struct wire_walk {
    const uint8_t *from; /* reading */
    uint8_t *to;         /* writing */
    size_t at, end;
    uint8_t *room;
    size_t room_at, room_end;
    wire_fault fault;
} wire_walk;

static const char *const cut_off = "is cut off";
static const char *const not_zero = "has bytes before it that are not zero";

static flr_result tell(const flr_wire_message *type, const wire_fault *fault, flr_error *error)
{
    if (!error) return fault->code;
    char index[16] = "", limit[16] = "";
    if (fault->listed) snprintf(index, sizeof index, "[%u]", fault->index);
    if (fault->limit) snprintf(limit, sizeof limit, " %u", fault->limit);
    if (!fault->field)
        return flr_fail(error, fault->code, "message '%s' %s", type->name, fault->reason);
    return flr_fail(error, fault->code, "message '%s', field '%s%s%s%s': %s%s", type->name,
                    fault->field, index, fault->part ? "." : "", fault->part ? fault->part : "",
                    fault->reason, limit);
}

/* notes a fault; false, for the caller to pass on */
static bool refuse(wire_walk *walk, flr_result code, const flr_wire_field *field,
                   const char *reason)
{
    walk->fault.code = code;
    walk->fault.field = field ? field->name : NULL;
    walk->fault.reason = reason;
    return false;
}

static bool refuse_limit(wire_walk *walk, flr_result code, const flr_wire_field *field,
                         const char *reason, uint32_t limit)
{
    walk->fault.limit = limit;
    return refuse(walk, code, field, reason);
}

/* ---- numbers: little endian on the wire ---- */

/* copies values of the wire to memory or back; the same both ways */
static void move(void *to, const void *from, size_t count, size_t width)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (count) memcpy(to, from, count * width);
#else
    for (size_t i = 0; i < count; i++) {
        for (size_t b = 0; b < width; b++)
            ((uint8_t *)to)[i * width + b] = ((const uint8_t *)from)[i * width + width - 1 - b];
    }
#endif
}

static void move_value(const flr_wire_field *field, void *to, const void *from)
{
    const flr_wire_kind_info *kind = flr_wire_kind_of(field->kind);
    move(to, from, kind->lanes, kind->width);
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i]) return false;
    }
    return true;
}

/* ---- reading ---- */

/* goes to the next multiple of `align`; the bytes between must be zero */
static bool read_padding(wire_walk *walk, const flr_wire_field *field, uint32_t align)
{
    size_t next = (walk->at + align - 1) & ~(size_t)(align - 1);
    if (next > walk->end) return refuse(walk, FLR_BAD_INPUT, field, cut_off);
    if (!all_zero(walk->from + walk->at, next - walk->at))
        return refuse(walk, FLR_BAD_INPUT, field, not_zero);
    walk->at = next;
    return true;
}

/* a structure; wire and memory have the same offsets */
static bool read_struct(wire_walk *walk, const flr_wire_field *field, const uint8_t *from,
                        uint8_t *to)
{
    const flr_wire_struct *type = field->structure;
    uint32_t at = 0;
    memset(to, 0, type->size);
    for (const flr_wire_field *part = type->fields(); part->shape != FLR_SHAPE_END; part++) {
        walk->fault.part = part->name;
        if (!all_zero(from + at, part->offset - at))
            return refuse(walk, FLR_BAD_INPUT, field, not_zero);
        move_value(part, to + part->offset, from + part->offset);
        const char *reason = flr_wire_check_value(part, to + part->offset);
        if (reason) return refuse(walk, FLR_BAD_INPUT, field, reason);
        at = part->offset + flr_wire_item_size(part);
    }
    walk->fault.part = NULL;
    if (!all_zero(from + at, type->size - at))
        return refuse(walk, FLR_BAD_INPUT, field, "has bytes at its end that are not zero");
    return true;
}

static bool read_one(wire_walk *walk, const flr_wire_field *field, uint8_t *to)
{
    uint32_t size = flr_wire_item_size(field);
    if (!read_padding(walk, field, flr_wire_item_align(field))) return false;
    if (size > walk->end - walk->at) return refuse(walk, FLR_BAD_INPUT, field, cut_off);
    const uint8_t *from = walk->from + walk->at;
    walk->at += size;
    if (field->structure) return read_struct(walk, field, from, to);
    move_value(field, to, from);
    const char *reason = flr_wire_check_value(field, to);
    return reason ? refuse(walk, FLR_BAD_INPUT, field, reason) : true;
}

/* the count of a text or list, and where its bytes lie, which are all there */
static bool read_count(wire_walk *walk, const flr_wire_field *field, uint32_t *count,
                       const uint8_t **from)
{
    if (!read_padding(walk, field, 4)) return false;
    if (walk->end - walk->at < 4) return refuse(walk, FLR_BAD_INPUT, field, cut_off);
    move(count, walk->from + walk->at, 1, 4);
    walk->at += 4;
    bool text = field->shape == FLR_SHAPE_TEXT;
    if (*count > field->max)
        return refuse_limit(walk, FLR_TOO_LARGE, field,
                            text ? "has more bytes than" : "has more items than", field->max);
    if (*count % field->group)
        return refuse_limit(walk, FLR_BAD_INPUT, field, "has a count that is no multiple of",
                            field->group);
    // an empty list takes no padding, so that what is not there has no place
    if (*count && !read_padding(walk, field, flr_wire_item_align(field))) return false;
    size_t size = (size_t)*count * flr_wire_item_size(field);
    if (size > walk->end - walk->at) return refuse(walk, FLR_BAD_INPUT, field, cut_off);
    *from = walk->from + walk->at;
    walk->at += size;
    return true;
}

/* room for so many bytes; NULL, with the fault noted, when there is none */
static uint8_t *take_room(wire_walk *walk, const flr_wire_field *field, size_t size)
{
    size_t at = (walk->room_at + 7) & ~(size_t)7;
    if (at > walk->room_end || size > walk->room_end - at) {
        refuse(walk, FLR_NO_MEMORY, field, "finds no room");
        return NULL;
    }
    walk->room_at = at + size;
    return walk->room + at;
}

static bool read_text(wire_walk *walk, const flr_wire_field *field, uint8_t *to)
{
    uint32_t count;
    const uint8_t *from;
    if (!read_count(walk, field, &count, &from)) return false;
    const char *reason = flr_wire_check_text((const char *)from, count);
    if (reason) return refuse(walk, FLR_BAD_INPUT, field, reason);
    char *text = (char *)take_room(walk, field, (size_t)count + 1);
    if (!text) return false;
    memcpy(text, from, count);
    text[count] = '\0';
    flr_wire_text value = {text, count};
    memcpy(to, &value, sizeof value);
    return true;
}

static bool read_list(wire_walk *walk, const flr_wire_field *field, uint8_t *body)
{
    uint32_t count;
    const uint8_t *from;
    if (!read_count(walk, field, &count, &from)) return false;
    size_t size = flr_wire_item_size(field);
    uint8_t *items = count ? take_room(walk, field, count * size) : NULL;
    if (count && !items) return false;
    walk->fault.listed = true;
    if (field->structure) {
        for (walk->fault.index = 0; walk->fault.index < count; walk->fault.index++) {
            size_t at = walk->fault.index * size;
            if (!read_struct(walk, field, from + at, items + at)) return false;
        }
    } else {
        move(items, from, count, size);
        const char *reason = flr_wire_check_list(field, items, count, &walk->fault.index);
        if (reason) return refuse(walk, FLR_BAD_INPUT, field, reason);
    }
    walk->fault.listed = false;
    const void *pointer = items;
    memcpy(body + field->offset, &pointer, sizeof pointer);
    memcpy(body + field->count_offset, &count, sizeof count);
    return true;
}

static bool read_field(wire_walk *walk, const flr_wire_field *field, uint8_t *body)
{
    if (field->shape == FLR_SHAPE_TEXT) return read_text(walk, field, body + field->offset);
    if (field->shape == FLR_SHAPE_LIST) return read_list(walk, field, body);
    return read_one(walk, field, body + field->offset);
}

/* a text that the sender's version did not have is empty, not NULL */
static void leave_out(const flr_wire_field *field, uint8_t *body)
{
    static const flr_wire_text nothing = {"", 0};
    if (field->shape == FLR_SHAPE_TEXT) memcpy(body + field->offset, &nothing, sizeof nothing);
}

static bool read_body(wire_walk *walk, const flr_wire_message *type, const flr_protocol_head *head,
                      uint8_t minor, uint8_t *body)
{
    bool missing = false;
    memset(body, 0, type->body_size);
    for (const flr_wire_field *field = type->fields(); field->shape != FLR_SHAPE_END; field++) {
        if (field->shape == FLR_SHAPE_SINCE)
            missing = head->minor < field->max;
        else if (missing)
            leave_out(field, body);
        else if (!read_field(walk, field, body))
            return false;
    }
    bool newer = head->minor > minor || head->major != FLR_PROTOCOL_MAJOR;
    if (walk->at != walk->end && !newer)
        return refuse(walk, FLR_BAD_INPUT, NULL, "has bytes behind its last field");
    return true;
}

flr_result flr_wire_read(const flr_wire_message *type, const flr_protocol_head *head, uint8_t minor,
                         const void *bytes, void *room, size_t room_size, void *body,
                         flr_error *error)
{
    // the room may begin anywhere; what is put there lies at multiples of 8
    size_t first = (size_t)(-(uintptr_t)room & 7);
    wire_walk walk = {.from = bytes, .at = FLR_PROTOCOL_HEAD, .end = head->size};
    if (first <= room_size) {
        walk.room = (uint8_t *)room + (room ? first : 0);
        walk.room_end = room_size - first;
    }
    return read_body(&walk, type, head, minor, body) ? FLR_OK : tell(type, &walk.fault, error);
}

/* ---- writing ---- */

/* `size` bytes at the next multiple of `align`, with zeros before; NULL, with the fault noted, when there is no space */
static uint8_t *claim(wire_walk *walk, const flr_wire_field *field, uint32_t align, size_t size)
{
    size_t next = (walk->at + align - 1) & ~(size_t)(align - 1);
    if (next > walk->end || size > walk->end - next) {
        refuse(walk, FLR_NO_MEMORY, field, "finds no space in the frame");
        return NULL;
    }
    memset(walk->to + walk->at, 0, next - walk->at);
    walk->at = next + size;
    return walk->to + next;
}

static bool write_item(wire_walk *walk, const flr_wire_field *field, uint8_t *to,
                       const uint8_t *from)
{
    if (!field->structure) {
        const char *reason = flr_wire_check_value(field, from);
        if (reason) return refuse(walk, FLR_BAD_ARGUMENT, field, reason);
        move_value(field, to, from);
        return true;
    }
    memset(to, 0, field->structure->size);
    for (const flr_wire_field *part = field->structure->fields(); part->shape != FLR_SHAPE_END;
         part++) {
        walk->fault.part = part->name;
        const char *reason = flr_wire_check_value(part, from + part->offset);
        if (reason) return refuse(walk, FLR_BAD_ARGUMENT, field, reason);
        move_value(part, to + part->offset, from + part->offset);
    }
    walk->fault.part = NULL;
    return true;
}

static bool write_one(wire_walk *walk, const flr_wire_field *field, const uint8_t *from)
{
    uint8_t *to = claim(walk, field, flr_wire_item_align(field), flr_wire_item_size(field));
    return to && write_item(walk, field, to, from);
}

/* a count, and space for what it counts */
static bool write_count(wire_walk *walk, const flr_wire_field *field, uint32_t count, uint8_t **to)
{
    bool text = field->shape == FLR_SHAPE_TEXT;
    if (count > field->max)
        return refuse_limit(walk, FLR_TOO_LARGE, field,
                            text ? "has more bytes than" : "has more items than", field->max);
    if (count % field->group)
        return refuse_limit(walk, FLR_BAD_ARGUMENT, field, "has a count that is no multiple of",
                            field->group);
    uint8_t *place = claim(walk, field, 4, 4);
    if (!place) return false;
    move(place, &count, 1, 4);
    *to = place + 4;
    if (!count) return true;
    *to = claim(walk, field, flr_wire_item_align(field), (size_t)count * flr_wire_item_size(field));
    return *to != NULL;
}

static bool write_text(wire_walk *walk, const flr_wire_field *field, const uint8_t *from)
{
    flr_wire_text text;
    uint8_t *to;
    memcpy(&text, from, sizeof text);
    if (text.size && !text.bytes)
        return refuse(walk, FLR_BAD_ARGUMENT, field, "has a size and no bytes");
    if (!write_count(walk, field, text.size, &to)) return false;
    const char *reason = flr_wire_check_text(text.bytes, text.size);
    if (reason) return refuse(walk, FLR_BAD_ARGUMENT, field, reason);
    if (text.size) memcpy(to, text.bytes, text.size);
    return true;
}

static bool write_list(wire_walk *walk, const flr_wire_field *field, const uint8_t *body)
{
    uint32_t count;
    const uint8_t *items;
    uint8_t *to;
    memcpy(&items, body + field->offset, sizeof items);
    memcpy(&count, body + field->count_offset, sizeof count);
    if (count && !items) return refuse(walk, FLR_BAD_ARGUMENT, field, "has a count and no items");
    if (!write_count(walk, field, count, &to)) return false;
    size_t size = flr_wire_item_size(field);
    walk->fault.listed = true;
    if (field->structure) {
        for (walk->fault.index = 0; walk->fault.index < count; walk->fault.index++) {
            size_t at = walk->fault.index * size;
            if (!write_item(walk, field, to + at, items + at)) return false;
        }
    } else {
        const char *reason = flr_wire_check_list(field, items, count, &walk->fault.index);
        if (reason) return refuse(walk, FLR_BAD_ARGUMENT, field, reason);
        move(to, items, count, size);
    }
    walk->fault.listed = false;
    return true;
}

static bool write_body(wire_walk *walk, const flr_wire_message *type, const uint8_t *body,
                       uint8_t minor)
{
    for (const flr_wire_field *field = type->fields(); field->shape != FLR_SHAPE_END; field++) {
        bool written = true;
        if (field->shape == FLR_SHAPE_SINCE) {
            // minor versions only append, so all that follows is newer still
            if (field->max > minor) return true;
        } else if (field->shape == FLR_SHAPE_TEXT) {
            written = write_text(walk, field, body + field->offset);
        } else if (field->shape == FLR_SHAPE_LIST) {
            written = write_list(walk, field, body);
        } else {
            written = write_one(walk, field, body + field->offset);
        }
        if (!written) return false;
    }
    return true;
}

flr_result flr_wire_write(const flr_wire_message *type, const void *body, uint32_t request,
                          uint8_t minor, void *bytes, size_t capacity, size_t *size,
                          flr_error *error)
{
    wire_walk walk = {.to = bytes, .end = capacity};
    uint8_t *head = claim(&walk, NULL, 1, FLR_PROTOCOL_HEAD);
    if (!head || !write_body(&walk, type, body, minor)) return tell(type, &walk.fault, error);
    uint32_t total = (uint32_t)walk.at;
    memset(head, 0, FLR_PROTOCOL_HEAD);
    move(head, &total, 1, 4);
    move(head + 4, &type->id, 1, 2);
    head[6] = FLR_PROTOCOL_MAJOR;
    head[7] = minor;
    move(head + 8, &request, 1, 4);
    *size = walk.at;
    return FLR_OK;
}

/* ---- frames ---- */

flr_result flr_protocol_read_head(const void *bytes, size_t size, flr_protocol_head *head,
                                  flr_error *error)
{
    const uint8_t *from = bytes;
    if (size < FLR_PROTOCOL_HEAD)
        return flr_fail(error, FLR_BAD_INPUT, "a frame of %zu bytes: the head alone has %d", size,
                        FLR_PROTOCOL_HEAD);
    flr_protocol_head read = {.major = from[6], .minor = from[7]};
    move(&read.size, from, 1, 4);
    move(&read.id, from + 4, 1, 2);
    move(&read.request, from + 8, 1, 4);
    if (read.size != size)
        return flr_fail(error, FLR_BAD_INPUT, "a frame of %zu bytes whose head says %u", size,
                        read.size);
    if (!all_zero(from + 12, 4))
        return flr_fail(error, FLR_BAD_INPUT, "a frame whose head does not end with four zeros");
    *head = read;
    return FLR_OK;
}

flr_result flr_protocol_agree(const flr_protocol_head *hello, uint8_t *minor, flr_error *error)
{
    if (hello->major != FLR_PROTOCOL_MAJOR)
        return flr_fail(
            error, FLR_UNSUPPORTED,
            "the client speaks version %u.%u of the protocol, this controller %d.%d; use a "
            "client and a controller of the same release",
            hello->major, hello->minor, FLR_PROTOCOL_MAJOR, FLR_PROTOCOL_MINOR);
    uint8_t known = FLR_PROTOCOL_MINOR;
    *minor = hello->minor < known ? hello->minor : known;
    return FLR_OK;
}

flr_result flr_protocol_decode(const void *bytes, size_t size, unsigned direction, void *room,
                               size_t room_size, flr_message *message, flr_error *error)
{
    flr_protocol_head head = {0};
    flr_result result = flr_protocol_read_head(bytes, size, &head, error);
    if (result != FLR_OK) return result;
    const flr_wire_message *type = flr_wire_message_find(head.id);
    bool handshake = type && type->kind == FLR_KIND_HANDSHAKE;
    if (head.major != FLR_PROTOCOL_MAJOR && !handshake)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "message %u is of version %u of the protocol, not %d", head.id, head.major,
                        FLR_PROTOCOL_MAJOR);
    if (!type) return flr_fail(error, FLR_UNSUPPORTED, "message %u is not known", head.id);
    if (!(type->direction & direction))
        return flr_fail(error, FLR_DENIED, "message '%s' goes the other way", type->name);
    flr_message decoded = {.id = head.id, .minor = head.minor, .request = head.request};
    result =
        flr_wire_read(type, &head, FLR_PROTOCOL_MINOR, bytes, room, room_size, &decoded.as, error);
    if (result == FLR_OK) *message = decoded;
    return result;
}

flr_result flr_protocol_encode(const flr_message *message, uint8_t minor, void *bytes,
                               size_t capacity, size_t *size, flr_error *error)
{
    const flr_wire_message *type = flr_wire_message_find(message->id);
    if (!type) return flr_fail(error, FLR_UNSUPPORTED, "message %u is not known", message->id);
    FLR_ASSERT(minor <= FLR_PROTOCOL_MINOR);
    return flr_wire_write(type, &message->as, message->request, minor, bytes, capacity, size,
                          error);
}
