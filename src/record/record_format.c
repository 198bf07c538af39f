/* what stands in a recording: the fields of frames and notes, to bytes and back */
#include "record/record_format.h"

/* ---- the fields ---- */

enum { X = 1, Y, Z, W };            /* Vector, Quaternion */
enum { POSITION = 1, ORIENTATION }; /* Pose */

enum {
    HAND_POSE = 1,
    HAND_BUTTONS,
    HAND_PART,
    HAND_FORCE,
    HAND_TORQUE,
    HAND_LINEAR, /* both only where the device measures velocity */
    HAND_ANGULAR,
    HAND_FRESH,
    HAND_SENT_FORCE, /* both only where the world got them */
    HAND_SENT_TORQUE
};
enum { PART_POSE = 1, PART_LINEAR, PART_ANGULAR };
enum { CONTACT_POINT = 1, CONTACT_NORMAL, CONTACT_DEPTH, CONTACT_PART };
enum {
    FRAME_NUMBER = 1,
    FRAME_TIME,
    FRAME_COMPUTE,
    FRAME_WAKEUP,
    FRAME_TESTED,
    FRAME_CONTACTS,
    FRAME_PENETRATIONS,
    FRAME_LOWER,
    FRAME_UPPER,
    FRAME_LIMITED,
    FRAME_FAULTS,
    FRAME_HASH,
    FRAME_HANDS,
    FRAME_PARTS,
    FRAME_CONTACT_LIST,
    FRAME_STOPPED,
    FRAME_ENERGY,
    FRAME_WAITED,
    FRAME_PAGED_NEEDED,
    FRAME_PAGED_HITS,
    FRAME_PAGED_READ,
    FRAME_PAGED_RESIDENT,
    FRAME_PAGED_DIRECTORY
};

enum { NOTE_FRAME = 1, NOTE_TEXT, NOTE_DATA };

#define VECTOR                   FLR_PROTO_MESSAGE, ".feeler.Vector", false
#define POSE                     FLR_PROTO_MESSAGE, ".feeler.Pose", false
#define RECORD_FORMAT_NUMBER(of) FLR_PROTO_##of, NULL, false

const flr_proto_message flr_record_frame_messages[] = {
    {"Vector", (const flr_proto_field[]){{"x", X, RECORD_FORMAT_NUMBER(DOUBLE)},
                                         {"y", Y, RECORD_FORMAT_NUMBER(DOUBLE)},
                                         {"z", Z, RECORD_FORMAT_NUMBER(DOUBLE)},
                                         {0}}},
    {"Quaternion", (const flr_proto_field[]){{"x", X, RECORD_FORMAT_NUMBER(DOUBLE)},
                                             {"y", Y, RECORD_FORMAT_NUMBER(DOUBLE)},
                                             {"z", Z, RECORD_FORMAT_NUMBER(DOUBLE)},
                                             {"w", W, RECORD_FORMAT_NUMBER(DOUBLE)},
                                             {0}}},
    {"Pose", (const flr_proto_field[]){{"position", POSITION, VECTOR},
                                       {"orientation", ORIENTATION, FLR_PROTO_MESSAGE,
                                        ".feeler.Quaternion", false},
                                       {0}}},
    {"Hand", (const flr_proto_field[]){{"pose", HAND_POSE, POSE},
                                       {"buttons", HAND_BUTTONS, RECORD_FORMAT_NUMBER(UINT32)},
                                       {"part", HAND_PART, RECORD_FORMAT_NUMBER(UINT32)},
                                       {"force", HAND_FORCE, VECTOR},
                                       {"torque", HAND_TORQUE, VECTOR},
                                       {"velocity", HAND_LINEAR, VECTOR},
                                       {"angular_velocity", HAND_ANGULAR, VECTOR},
                                       {"fresh", HAND_FRESH, RECORD_FORMAT_NUMBER(BOOL)},
                                       {"sent_force", HAND_SENT_FORCE, VECTOR},
                                       {"sent_torque", HAND_SENT_TORQUE, VECTOR},
                                       {0}}},
    {"Part", (const flr_proto_field[]){{"pose", PART_POSE, POSE},
                                       {"velocity", PART_LINEAR, VECTOR},
                                       {"angular_velocity", PART_ANGULAR, VECTOR},
                                       {0}}},
    {"Contact", (const flr_proto_field[]){{"point", CONTACT_POINT, VECTOR},
                                          {"normal", CONTACT_NORMAL, VECTOR},
                                          {"depth", CONTACT_DEPTH, RECORD_FORMAT_NUMBER(DOUBLE)},
                                          {"part", CONTACT_PART, RECORD_FORMAT_NUMBER(UINT32)},
                                          {0}}},
    {"Frame",
     (const flr_proto_field[]){
         {"frame", FRAME_NUMBER, RECORD_FORMAT_NUMBER(UINT64)},
         {"time_ns", FRAME_TIME, RECORD_FORMAT_NUMBER(UINT64)},
         {"compute_us", FRAME_COMPUTE, RECORD_FORMAT_NUMBER(DOUBLE)},
         {"wakeup_us", FRAME_WAKEUP, RECORD_FORMAT_NUMBER(DOUBLE)},
         {"points_tested", FRAME_TESTED, RECORD_FORMAT_NUMBER(UINT64)},
         {"contacts", FRAME_CONTACTS, RECORD_FORMAT_NUMBER(UINT32)},
         {"penetrations", FRAME_PENETRATIONS, RECORD_FORMAT_NUMBER(UINT32)},
         {"distance_lower", FRAME_LOWER, RECORD_FORMAT_NUMBER(DOUBLE)},
         {"distance_upper", FRAME_UPPER, RECORD_FORMAT_NUMBER(DOUBLE)},
         {"travel_limited", FRAME_LIMITED, RECORD_FORMAT_NUMBER(BOOL)},
         {"faults", FRAME_FAULTS, RECORD_FORMAT_NUMBER(UINT32)},
         {"hash", FRAME_HASH, RECORD_FORMAT_NUMBER(FIXED64)},
         {"hands", FRAME_HANDS, FLR_PROTO_MESSAGE, ".feeler.Hand", true},
         {"parts", FRAME_PARTS, FLR_PROTO_MESSAGE, ".feeler.Part", true},
         {"contact_list", FRAME_CONTACT_LIST, FLR_PROTO_MESSAGE, ".feeler.Contact", true},
         {"stopped", FRAME_STOPPED, RECORD_FORMAT_NUMBER(BOOL)},
         {"energy", FRAME_ENERGY, RECORD_FORMAT_NUMBER(DOUBLE)},
         {"waited_us", FRAME_WAITED, RECORD_FORMAT_NUMBER(DOUBLE)},
         {"paged_needed", FRAME_PAGED_NEEDED, RECORD_FORMAT_NUMBER(UINT64)},
         {"paged_hits", FRAME_PAGED_HITS, RECORD_FORMAT_NUMBER(UINT64)},
         {"paged_read", FRAME_PAGED_READ, RECORD_FORMAT_NUMBER(UINT64)},
         {"paged_resident", FRAME_PAGED_RESIDENT, RECORD_FORMAT_NUMBER(UINT64)},
         {"paged_directory", FRAME_PAGED_DIRECTORY, RECORD_FORMAT_NUMBER(UINT64)},
         {0}}},
    {0}};

const flr_proto_message flr_record_note_messages[] = {
    {"Note", (const flr_proto_field[]){{"frame", NOTE_FRAME, RECORD_FORMAT_NUMBER(UINT64)},
                                       {"text", NOTE_TEXT, RECORD_FORMAT_NUMBER(STRING)},
                                       {"data", NOTE_DATA, RECORD_FORMAT_NUMBER(BYTES)},
                                       {0}}},
    {0}};

/* ---- encoding ---- */

static void put_vector(flr_bytes *b, uint32_t number, flr_vec3 v)
{
    size_t at = flr_proto_begin(b, number);
    flr_proto_double(b, X, v.x);
    flr_proto_double(b, Y, v.y);
    flr_proto_double(b, Z, v.z);
    flr_proto_end(b, at);
}

static void put_pose(flr_bytes *b, uint32_t number, flr_pose T)
{
    size_t at = flr_proto_begin(b, number);
    put_vector(b, POSITION, T.p);
    size_t q = flr_proto_begin(b, ORIENTATION);
    flr_proto_double(b, X, T.q.x);
    flr_proto_double(b, Y, T.q.y);
    flr_proto_double(b, Z, T.q.z);
    flr_proto_double(b, W, T.q.w);
    flr_proto_end(b, q);
    flr_proto_end(b, at);
}

void flr_record_put_frame(flr_bytes *b, const flr_record_view *v)
{
    const flr_record_frame *f = &v->frame;
    flr_proto_uint(b, FRAME_NUMBER, f->frame);
    flr_proto_uint(b, FRAME_TIME, (uint64_t)f->time_ns);
    flr_proto_double(b, FRAME_COMPUTE, f->compute_us);
    flr_proto_double(b, FRAME_WAKEUP, f->wakeup_us);
    flr_proto_uint(b, FRAME_TESTED, f->points_tested);
    flr_proto_uint(b, FRAME_CONTACTS, f->contacts);
    flr_proto_uint(b, FRAME_PENETRATIONS, f->penetrations);
    flr_proto_double(b, FRAME_LOWER, f->lower);
    flr_proto_double(b, FRAME_UPPER, f->upper);
    flr_proto_uint(b, FRAME_LIMITED, f->travel_limited);
    flr_proto_uint(b, FRAME_FAULTS, f->faults);
    flr_proto_fixed64(b, FRAME_HASH, f->hash);
    flr_proto_uint(b, FRAME_STOPPED, f->stopped);
    flr_proto_double(b, FRAME_ENERGY, f->energy);
    if (f->paged_resident || f->paged_read || f->waited_us > 0) {
        flr_proto_double(b, FRAME_WAITED, f->waited_us);
        flr_proto_uint(b, FRAME_PAGED_NEEDED, f->paged_needed);
        flr_proto_uint(b, FRAME_PAGED_HITS, f->paged_hits);
        flr_proto_uint(b, FRAME_PAGED_READ, f->paged_read);
        flr_proto_uint(b, FRAME_PAGED_RESIDENT, f->paged_resident);
        flr_proto_uint(b, FRAME_PAGED_DIRECTORY, f->paged_directory);
    }
    for (uint32_t i = 0; i < v->hand_count; i++) {
        const flr_record_hand *hand = &v->hands[i];
        size_t at = flr_proto_begin(b, FRAME_HANDS);
        put_pose(b, HAND_POSE, hand->T_world_hand);
        flr_proto_uint(b, HAND_BUTTONS, hand->buttons);
        flr_proto_uint(b, HAND_PART, hand->part);
        put_vector(b, HAND_FORCE, hand->wrench.force);
        put_vector(b, HAND_TORQUE, hand->wrench.torque);
        if (hand->has_twist) {
            put_vector(b, HAND_LINEAR, hand->twist.linear);
            put_vector(b, HAND_ANGULAR, hand->twist.angular);
        }
        flr_proto_uint(b, HAND_FRESH, hand->fresh);
        if (hand->has_sent) {
            put_vector(b, HAND_SENT_FORCE, hand->sent.force);
            put_vector(b, HAND_SENT_TORQUE, hand->sent.torque);
        }
        flr_proto_end(b, at);
    }
    for (uint32_t i = 0; i < v->part_count; i++) {
        size_t at = flr_proto_begin(b, FRAME_PARTS);
        put_pose(b, PART_POSE, v->parts[i].T_world_part);
        put_vector(b, PART_LINEAR, v->parts[i].motion.linear);
        put_vector(b, PART_ANGULAR, v->parts[i].motion.angular);
        flr_proto_end(b, at);
    }
    for (uint32_t i = 0; i < f->contacts_given; i++) {
        const flr_record_contact *c = &v->contacts[i];
        size_t at = flr_proto_begin(b, FRAME_CONTACT_LIST);
        put_vector(b, CONTACT_POINT, c->point);
        put_vector(b, CONTACT_NORMAL, c->normal);
        flr_proto_double(b, CONTACT_DEPTH, c->depth);
        flr_proto_uint(b, CONTACT_PART, c->part);
        flr_proto_end(b, at);
    }
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

static flr_vec3 get_vector(flr_proto_look *l)
{
    flr_vec3 v = {0};
    for (flr_proto_value value; flr_proto_next(l, &value);) {
        if (value.number == X) v.x = flr_proto_as_double(&value);
        if (value.number == Y) v.y = flr_proto_as_double(&value);
        if (value.number == Z) v.z = flr_proto_as_double(&value);
    }
    return v;
}

static flr_quat get_quaternion(flr_proto_look *l)
{
    flr_quat q = {0};
    for (flr_proto_value value; flr_proto_next(l, &value);) {
        if (value.number == X) q.x = flr_proto_as_double(&value);
        if (value.number == Y) q.y = flr_proto_as_double(&value);
        if (value.number == Z) q.z = flr_proto_as_double(&value);
        if (value.number == W) q.w = flr_proto_as_double(&value);
    }
    return q;
}

/* Reads what is inside, and passes on that it was bad. */
#define INSIDE(get) get(&value.inside), bad |= value.inside.bad

static flr_pose get_pose(flr_proto_look *l)
{
    flr_pose T = {0};
    bool bad = false;
    for (flr_proto_value value; flr_proto_next(l, &value);) {
        if (value.number == POSITION) T.p = INSIDE(get_vector);
        if (value.number == ORIENTATION) T.q = INSIDE(get_quaternion);
    }
    l->bad |= bad;
    return T;
}

static flr_record_hand get_hand(flr_proto_look *l)
{
    flr_record_hand hand = {0};
    bool bad = false;
    for (flr_proto_value value; flr_proto_next(l, &value);) {
        if (value.number == HAND_POSE) hand.T_world_hand = INSIDE(get_pose);
        if (value.number == HAND_BUTTONS) hand.buttons = (uint32_t)value.integer;
        if (value.number == HAND_PART) hand.part = (uint32_t)value.integer;
        if (value.number == HAND_FORCE) hand.wrench.force = INSIDE(get_vector);
        if (value.number == HAND_TORQUE) hand.wrench.torque = INSIDE(get_vector);
        if (value.number == HAND_LINEAR) hand.twist.linear = INSIDE(get_vector);
        if (value.number == HAND_ANGULAR) hand.twist.angular = INSIDE(get_vector);
        if (value.number == HAND_LINEAR || value.number == HAND_ANGULAR) hand.has_twist = true;
        if (value.number == HAND_FRESH) hand.fresh = value.integer != 0;
        if (value.number == HAND_SENT_FORCE) hand.sent.force = INSIDE(get_vector);
        if (value.number == HAND_SENT_TORQUE) hand.sent.torque = INSIDE(get_vector);
        if (value.number == HAND_SENT_FORCE || value.number == HAND_SENT_TORQUE)
            hand.has_sent = true;
    }
    l->bad |= bad;
    return hand;
}

static flr_record_part get_part(flr_proto_look *l)
{
    flr_record_part part = {0};
    bool bad = false;
    for (flr_proto_value value; flr_proto_next(l, &value);) {
        if (value.number == PART_POSE) part.T_world_part = INSIDE(get_pose);
        if (value.number == PART_LINEAR) part.motion.linear = INSIDE(get_vector);
        if (value.number == PART_ANGULAR) part.motion.angular = INSIDE(get_vector);
    }
    l->bad |= bad;
    return part;
}

static flr_record_contact get_contact(flr_proto_look *l)
{
    flr_record_contact contact = {0};
    bool bad = false;
    for (flr_proto_value value; flr_proto_next(l, &value);) {
        if (value.number == CONTACT_POINT) contact.point = INSIDE(get_vector);
        if (value.number == CONTACT_NORMAL) contact.normal = INSIDE(get_vector);
        if (value.number == CONTACT_DEPTH) contact.depth = flr_proto_as_double(&value);
        if (value.number == CONTACT_PART) contact.part = (uint32_t)value.integer;
    }
    l->bad |= bad;
    return contact;
}

bool flr_record_get_frame(flr_proto_look l, const flr_record_room *room, flr_record_view *view)
{
    flr_record_frame *f = &view->frame;
    bool bad = false;
    for (flr_proto_value value; flr_proto_next(&l, &value);) {
        switch (value.number) {
        case FRAME_NUMBER:
            f->frame = value.integer;
            break;
        case FRAME_TIME:
            f->time_ns = (int64_t)value.integer;
            break;
        case FRAME_COMPUTE:
            f->compute_us = flr_proto_as_double(&value);
            break;
        case FRAME_WAKEUP:
            f->wakeup_us = flr_proto_as_double(&value);
            break;
        case FRAME_TESTED:
            f->points_tested = value.integer;
            break;
        case FRAME_CONTACTS:
            f->contacts = (uint32_t)value.integer;
            break;
        case FRAME_PENETRATIONS:
            f->penetrations = (uint32_t)value.integer;
            break;
        case FRAME_LOWER:
            f->lower = flr_proto_as_double(&value);
            break;
        case FRAME_UPPER:
            f->upper = flr_proto_as_double(&value);
            break;
        case FRAME_LIMITED:
            f->travel_limited = value.integer != 0;
            break;
        case FRAME_FAULTS:
            f->faults = (uint32_t)value.integer;
            break;
        case FRAME_HASH:
            f->hash = value.integer;
            break;
        case FRAME_STOPPED:
            f->stopped = value.integer != 0;
            break;
        case FRAME_ENERGY:
            f->energy = flr_proto_as_double(&value);
            break;
        case FRAME_WAITED:
            f->waited_us = flr_proto_as_double(&value);
            break;
        case FRAME_PAGED_NEEDED:
            f->paged_needed = value.integer;
            break;
        case FRAME_PAGED_HITS:
            f->paged_hits = value.integer;
            break;
        case FRAME_PAGED_READ:
            f->paged_read = value.integer;
            break;
        case FRAME_PAGED_RESIDENT:
            f->paged_resident = value.integer;
            break;
        case FRAME_PAGED_DIRECTORY:
            f->paged_directory = value.integer;
            break;
        case FRAME_HANDS:
            if (view->hand_count == FLR_RECORD_HANDS) return false;
            room->hands[view->hand_count++] = INSIDE(get_hand);
            break;
        case FRAME_PARTS:
            if (view->part_count == FLR_RECORD_PARTS) return false;
            room->parts[view->part_count++] = INSIDE(get_part);
            break;
        case FRAME_CONTACT_LIST:
            if (f->contacts_given == FLR_RECORD_CONTACTS) return false;
            room->contacts[f->contacts_given++] = INSIDE(get_contact);
            break;
        default:
            break;
        }
    }
    view->hands = room->hands;
    view->parts = room->parts;
    view->contacts = room->contacts;
    return !bad && !l.bad;
}

bool flr_record_get_note(flr_proto_look l, flr_bytes *text, flr_record_note *note)
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
