/* what stands in a recording: the fields of frames and notes, to bytes and back */
#include "record/record_format.h"

#include <string.h>

/* ---- the fields: number 1 first ---- */

#define RECORD_FIELD(kind, label, structure, member)                                               \
    {                                                                                              \
        .name = label, .type = FLR_PROTO_##kind, .offset = offsetof(structure, member)             \
    }
#define RECORD_INSIDE(of, fields, label, structure, member)                                        \
    {                                                                                              \
        .name = label, .type = FLR_PROTO_MESSAGE, .message = ".feeler." of, .inside = fields,      \
        .offset = offsetof(structure, member), .size = sizeof((structure *)0)->member              \
    }
/* written only where the flag `has` of the structure is set; sets it when read */
#define RECORD_OPTIONAL(label, structure, member, has)                                             \
    {                                                                                              \
        .name = label, .type = FLR_PROTO_MESSAGE, .message = ".feeler.Vector",                     \
        .inside = vector_fields, .offset = offsetof(structure, member), .size = sizeof(flr_vec3),  \
        .flag = offsetof(structure, has)                                                           \
    }
#define RECORD_LIST(of, label)                                                                     \
    {                                                                                              \
        .name = label, .type = FLR_PROTO_MESSAGE, .message = ".feeler." of, .repeated = true       \
    }

static const flr_proto_field vector_fields[] = {RECORD_FIELD(DOUBLE, "x", flr_vec3, x),
                                                RECORD_FIELD(DOUBLE, "y", flr_vec3, y),
                                                RECORD_FIELD(DOUBLE, "z", flr_vec3, z),
                                                {0}};
static const flr_proto_field quaternion_fields[] = {RECORD_FIELD(DOUBLE, "x", flr_quat, x),
                                                    RECORD_FIELD(DOUBLE, "y", flr_quat, y),
                                                    RECORD_FIELD(DOUBLE, "z", flr_quat, z),
                                                    RECORD_FIELD(DOUBLE, "w", flr_quat, w),
                                                    {0}};
static const flr_proto_field pose_fields[] = {
    RECORD_INSIDE("Vector", vector_fields, "position", flr_pose, p),
    RECORD_INSIDE("Quaternion", quaternion_fields, "orientation", flr_pose, q),
    {0}};
static const flr_proto_field hand_fields[] = {
    RECORD_INSIDE("Pose", pose_fields, "pose", flr_record_hand, T_world_hand),
    RECORD_FIELD(UINT32, "buttons", flr_record_hand, buttons),
    RECORD_FIELD(UINT32, "part", flr_record_hand, part),
    RECORD_INSIDE("Vector", vector_fields, "force", flr_record_hand, wrench.force),
    RECORD_INSIDE("Vector", vector_fields, "torque", flr_record_hand, wrench.torque),
    RECORD_OPTIONAL("velocity", flr_record_hand, twist.linear, has_twist),
    RECORD_OPTIONAL("angular_velocity", flr_record_hand, twist.angular, has_twist),
    RECORD_FIELD(BOOL, "fresh", flr_record_hand, fresh),
    RECORD_OPTIONAL("sent_force", flr_record_hand, sent.force, has_sent),
    RECORD_OPTIONAL("sent_torque", flr_record_hand, sent.torque, has_sent),
    {0}};
static const flr_proto_field part_fields[] = {
    RECORD_INSIDE("Pose", pose_fields, "pose", flr_record_part, T_world_part),
    RECORD_INSIDE("Vector", vector_fields, "velocity", flr_record_part, motion.linear),
    RECORD_INSIDE("Vector", vector_fields, "angular_velocity", flr_record_part, motion.angular),
    {0}};
static const flr_proto_field contact_fields[] = {
    RECORD_INSIDE("Vector", vector_fields, "point", flr_record_contact, point),
    RECORD_INSIDE("Vector", vector_fields, "normal", flr_record_contact, normal),
    RECORD_FIELD(DOUBLE, "depth", flr_record_contact, depth),
    RECORD_FIELD(UINT32, "part", flr_record_contact, part),
    {0}};
static const flr_proto_field frame_fields[] = {
    RECORD_FIELD(UINT64, "frame", flr_record_frame, frame),
    RECORD_FIELD(UINT64, "time_ns", flr_record_frame, time_ns),
    RECORD_FIELD(DOUBLE, "compute_us", flr_record_frame, compute_us),
    RECORD_FIELD(DOUBLE, "wakeup_us", flr_record_frame, wakeup_us),
    RECORD_FIELD(UINT64, "points_tested", flr_record_frame, points_tested),
    RECORD_FIELD(UINT32, "contacts", flr_record_frame, contacts),
    RECORD_FIELD(UINT32, "penetrations", flr_record_frame, penetrations),
    RECORD_FIELD(DOUBLE, "distance_lower", flr_record_frame, lower),
    RECORD_FIELD(DOUBLE, "distance_upper", flr_record_frame, upper),
    RECORD_FIELD(BOOL, "travel_limited", flr_record_frame, travel_limited),
    RECORD_FIELD(UINT32, "faults", flr_record_frame, faults),
    RECORD_FIELD(FIXED64, "hash", flr_record_frame, hash),
    RECORD_LIST("Hand", "hands"),
    RECORD_LIST("Part", "parts"),
    RECORD_LIST("Contact", "contact_list"),
    RECORD_FIELD(BOOL, "stopped", flr_record_frame, stopped),
    RECORD_FIELD(DOUBLE, "energy", flr_record_frame, energy),
    RECORD_FIELD(DOUBLE, "waited_us", flr_record_frame, waited_us),
    RECORD_FIELD(UINT64, "paged_needed", flr_record_frame, paged_needed),
    RECORD_FIELD(UINT64, "paged_hits", flr_record_frame, paged_hits),
    RECORD_FIELD(UINT64, "paged_read", flr_record_frame, paged_read),
    RECORD_FIELD(UINT64, "paged_resident", flr_record_frame, paged_resident),
    RECORD_FIELD(UINT64, "paged_directory", flr_record_frame, paged_directory),
    {0}};
/* the numbers of those that are treated apart */
enum { FRAME_HANDS = 13, FRAME_PARTS, FRAME_CONTACT_LIST, FRAME_WAITED = 18 };

const flr_proto_message flr_record_frame_messages[] = {
    {"Vector", vector_fields}, {"Quaternion", quaternion_fields},
    {"Pose", pose_fields},     {"Hand", hand_fields},
    {"Part", part_fields},     {"Contact", contact_fields},
    {"Frame", frame_fields},   {0}};

enum { NOTE_FRAME = 1, NOTE_TEXT, NOTE_DATA };
static const flr_proto_field note_fields[] = {{.name = "frame", .type = FLR_PROTO_UINT64},
                                              {.name = "text", .type = FLR_PROTO_STRING},
                                              {.name = "data", .type = FLR_PROTO_BYTES},
                                              {0}};
const flr_proto_message flr_record_note_messages[] = {{"Note", note_fields}, {0}};

/* ---- encoding ---- */

/* the fields of a structure with numbers below `end`, but no lists */
static void put_fields(flr_bytes *b, const flr_proto_field *fields, uint32_t end, const char *from)
{
    for (uint32_t number = 1; number < end && fields[number - 1].name; number++) {
        const flr_proto_field *f = &fields[number - 1];
        const void *at = from + f->offset;
        if (f->repeated || (f->flag && !*(const bool *)(from + f->flag))) continue;
        if (f->type == FLR_PROTO_MESSAGE) {
            size_t inside = flr_proto_begin(b, number);
            put_fields(b, f->inside, UINT32_MAX, at);
            flr_proto_end(b, inside);
        } else if (f->type == FLR_PROTO_DOUBLE) {
            flr_proto_double(b, number, *(const double *)at);
        } else if (f->type == FLR_PROTO_FIXED64) {
            flr_proto_fixed64(b, number, *(const uint64_t *)at);
        } else {
            flr_proto_uint(b, number,
                           f->type == FLR_PROTO_UINT64   ? *(const uint64_t *)at
                           : f->type == FLR_PROTO_UINT32 ? *(const uint32_t *)at
                                                         : *(const bool *)at);
        }
    }
}

/* a list of structures of `size` bytes */
static void put_list(flr_bytes *b, uint32_t number, const flr_proto_field *fields, const void *list,
                     uint32_t count, size_t size)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t at = flr_proto_begin(b, number);
        put_fields(b, fields, UINT32_MAX, (const char *)list + i * size);
        flr_proto_end(b, at);
    }
}

void flr_record_put_frame(flr_bytes *b, const flr_record_view *v)
{
    const flr_record_frame *f = &v->frame;
    bool paged = f->paged_resident || f->paged_read || f->waited_us > 0;
    put_fields(b, frame_fields, paged ? UINT32_MAX : FRAME_WAITED, (const char *)f);
    put_list(b, FRAME_HANDS, hand_fields, v->hands, v->hand_count, sizeof *v->hands);
    put_list(b, FRAME_PARTS, part_fields, v->parts, v->part_count, sizeof *v->parts);
    put_list(b, FRAME_CONTACT_LIST, contact_fields, v->contacts, f->contacts_given,
             sizeof *v->contacts);
}

void flr_record_put_note(flr_bytes *b, const flr_record_note *note)
{
    flr_proto_uint(b, NOTE_FRAME, note->frame);
    flr_proto_text(b, NOTE_TEXT, note->text);
    size_t at = flr_proto_begin(b, NOTE_DATA);
    if (note->size) flr_bytes_add(b, note->data, note->size);
    flr_proto_end(b, at);
}

/* ---- decoding ---- */

static void get_fields(flr_bytes_look *l, const flr_proto_field *fields, void *to, size_t size);

/* one of the fields; others are passed over. What is inside may turn out to be bad. */
static void get_field(flr_proto_value *value, const flr_proto_field *f, char *to)
{
    for (uint32_t number = 1; f->name && number < value->number; number++) f++;
    if (!f->name || value->number == 0) return;
    void *at = to + f->offset;
    if (f->flag) *(bool *)(to + f->flag) = true;
    if (f->type == FLR_PROTO_MESSAGE)
        get_fields(&value->inside, f->inside, at, f->size);
    else if (f->type == FLR_PROTO_UINT32)
        *(uint32_t *)at = (uint32_t)value->integer;
    else if (f->type == FLR_PROTO_BOOL)
        *(bool *)at = value->integer != 0;
    else /* numbers of eight bytes, a double as its bits */
        memcpy(at, &value->integer, sizeof value->integer);
}

/* a whole structure of `size` bytes; says in `l` whether something in it is bad */
static void get_fields(flr_bytes_look *l, const flr_proto_field *fields, void *to, size_t size)
{
    bool bad = false;
    memset(to, 0, size);
    for (flr_proto_value value; flr_proto_next(l, &value); bad |= value.inside.bad)
        get_field(&value, fields, to);
    l->bad |= bad;
}

/* the next structure of a list; false: there may be no more */
static bool get_entry(flr_proto_value *value, const flr_proto_field *fields, void *list,
                      uint32_t *count, uint32_t max, size_t size)
{
    if (*count == max) return false;
    get_fields(&value->inside, fields, (char *)list + (*count)++ * size, size);
    return true;
}

bool flr_record_get_frame(flr_bytes_look l, const flr_record_room *room, flr_record_view *view)
{
    flr_record_frame *f = &view->frame;
    bool bad = false;
    for (flr_proto_value value; flr_proto_next(&l, &value); bad |= value.inside.bad) {
        bool fits = true;
        if (value.number == FRAME_HANDS)
            fits = get_entry(&value, hand_fields, room->hands, &view->hand_count, FLR_RECORD_HANDS,
                             sizeof *room->hands);
        else if (value.number == FRAME_PARTS)
            fits = get_entry(&value, part_fields, room->parts, &view->part_count, FLR_RECORD_PARTS,
                             sizeof *room->parts);
        else if (value.number == FRAME_CONTACT_LIST)
            fits = get_entry(&value, contact_fields, room->contacts, &f->contacts_given,
                             FLR_RECORD_CONTACTS, sizeof *room->contacts);
        else
            get_field(&value, frame_fields, (char *)f);
        if (!fits) return false;
    }
    view->hands = room->hands;
    view->parts = room->parts;
    view->contacts = room->contacts;
    return !bad && !l.bad;
}

bool flr_record_get_note(flr_bytes_look l, flr_bytes *text, flr_record_note *note)
{
    text->size = 0;
    for (flr_proto_value value; flr_proto_next(&l, &value);) {
        if (value.number == NOTE_FRAME) note->frame = value.integer;
        if (value.number == NOTE_TEXT) {
            text->size = 0;
            if (value.inside.left) flr_bytes_add(text, value.inside.data, value.inside.left);
        }
        if (value.number == NOTE_DATA) {
            note->data = value.inside.data;
            note->size = value.inside.left;
        }
    }
    flr_bytes_u8(text, 0);
    note->text = (const char *)text->data;
    return !l.bad && !text->failed;
}
