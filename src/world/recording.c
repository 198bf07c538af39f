/* recordings: frames through a ring to an MCAP file, and back */
#include "feeler/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/assert.h"
#include "feeler/ring.h"
#include "world/mcap.h"
#include "world/protobuf.h"

enum { MOST_HANDS = 64, MOST_PARTS = 4096, MOST_CONTACTS = 1024 };
enum { CHUNK_NS = 250000000 };
static const char metadata_name[] = "feeler";
static const char schema_name[] = "feeler.Frame", note_schema[] = "feeler.Note";

/* ---- what a frame looks like in the file ---- */

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
    HAND_SENT_FORCE, /* both only where the world was told */
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

#define VECTOR     FLR_PROTO_MESSAGE, ".feeler.Vector", false
#define POSE       FLR_PROTO_MESSAGE, ".feeler.Pose", false
#define NUMBER(of) FLR_PROTO_##of, NULL, false

static const flr_proto_message messages[] = {
    {"Vector",
     (const flr_proto_field[]){
         {"x", X, NUMBER(DOUBLE)}, {"y", Y, NUMBER(DOUBLE)}, {"z", Z, NUMBER(DOUBLE)}, {0}}},
    {"Quaternion", (const flr_proto_field[]){{"x", X, NUMBER(DOUBLE)},
                                             {"y", Y, NUMBER(DOUBLE)},
                                             {"z", Z, NUMBER(DOUBLE)},
                                             {"w", W, NUMBER(DOUBLE)},
                                             {0}}},
    {"Pose", (const flr_proto_field[]){{"position", POSITION, VECTOR},
                                       {"orientation", ORIENTATION, FLR_PROTO_MESSAGE,
                                        ".feeler.Quaternion", false},
                                       {0}}},
    {"Hand", (const flr_proto_field[]){{"pose", HAND_POSE, POSE},
                                       {"buttons", HAND_BUTTONS, NUMBER(UINT32)},
                                       {"part", HAND_PART, NUMBER(UINT32)},
                                       {"force", HAND_FORCE, VECTOR},
                                       {"torque", HAND_TORQUE, VECTOR},
                                       {"velocity", HAND_LINEAR, VECTOR},
                                       {"angular_velocity", HAND_ANGULAR, VECTOR},
                                       {"fresh", HAND_FRESH, NUMBER(BOOL)},
                                       {"sent_force", HAND_SENT_FORCE, VECTOR},
                                       {"sent_torque", HAND_SENT_TORQUE, VECTOR},
                                       {0}}},
    {"Part", (const flr_proto_field[]){{"pose", PART_POSE, POSE},
                                       {"velocity", PART_LINEAR, VECTOR},
                                       {"angular_velocity", PART_ANGULAR, VECTOR},
                                       {0}}},
    {"Contact", (const flr_proto_field[]){{"point", CONTACT_POINT, VECTOR},
                                          {"normal", CONTACT_NORMAL, VECTOR},
                                          {"depth", CONTACT_DEPTH, NUMBER(DOUBLE)},
                                          {"part", CONTACT_PART, NUMBER(UINT32)},
                                          {0}}},
    {"Frame",
     (const flr_proto_field[]){
         {"frame", FRAME_NUMBER, NUMBER(UINT64)},
         {"time_ns", FRAME_TIME, NUMBER(UINT64)},
         {"compute_us", FRAME_COMPUTE, NUMBER(DOUBLE)},
         {"wakeup_us", FRAME_WAKEUP, NUMBER(DOUBLE)},
         {"points_tested", FRAME_TESTED, NUMBER(UINT64)},
         {"contacts", FRAME_CONTACTS, NUMBER(UINT32)},
         {"penetrations", FRAME_PENETRATIONS, NUMBER(UINT32)},
         {"distance_lower", FRAME_LOWER, NUMBER(DOUBLE)},
         {"distance_upper", FRAME_UPPER, NUMBER(DOUBLE)},
         {"travel_limited", FRAME_LIMITED, NUMBER(BOOL)},
         {"faults", FRAME_FAULTS, NUMBER(UINT32)},
         {"hash", FRAME_HASH, NUMBER(FIXED64)},
         {"hands", FRAME_HANDS, FLR_PROTO_MESSAGE, ".feeler.Hand", true},
         {"parts", FRAME_PARTS, FLR_PROTO_MESSAGE, ".feeler.Part", true},
         {"contact_list", FRAME_CONTACT_LIST, FLR_PROTO_MESSAGE, ".feeler.Contact", true},
         {"stopped", FRAME_STOPPED, NUMBER(BOOL)},
         {"energy", FRAME_ENERGY, NUMBER(DOUBLE)},
         {"waited_us", FRAME_WAITED, NUMBER(DOUBLE)},
         {"paged_needed", FRAME_PAGED_NEEDED, NUMBER(UINT64)},
         {"paged_hits", FRAME_PAGED_HITS, NUMBER(UINT64)},
         {"paged_read", FRAME_PAGED_READ, NUMBER(UINT64)},
         {"paged_resident", FRAME_PAGED_RESIDENT, NUMBER(UINT64)},
         {"paged_directory", FRAME_PAGED_DIRECTORY, NUMBER(UINT64)},
         {0}}},
    {0}};

static const flr_proto_message note_messages[] = {
    {"Note", (const flr_proto_field[]){{"frame", NOTE_FRAME, NUMBER(UINT64)},
                                       {"text", NOTE_TEXT, NUMBER(STRING)},
                                       {"data", NOTE_DATA, NUMBER(BYTES)},
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

static void put_frame(flr_bytes *b, const flr_record_view *v)
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

/* ---- the recorder ---- */

struct flr_recorder {
    flr_recorder_def def;
    flr_mcap_writer *file;
    uint16_t channel, notes;
    flr_ring *ring;
    size_t size;       /* of an element of the ring: frame, hands, parts, contacts */
    uint8_t *incoming; /* the element in the making, of the real-time thread */
    uint8_t *outgoing; /* the same of the control thread */
    flr_bytes encoded;
    uint64_t written;
    int64_t chunk_since; /* time of the first frame that waits in the chunk; -1: none */
    bool broken;
};

flr_recorder_def flr_default_recorder_def(void)
{
    flr_recorder_def def = {.contacts = 16, .ring = 4096};
    return def;
}

static size_t hands_at(void) { return sizeof(flr_record_frame); }
static size_t parts_at(const flr_recorder_def *d)
{
    return hands_at() + d->hands * sizeof(flr_record_hand);
}
static size_t contacts_at(const flr_recorder_def *d)
{
    return parts_at(d) + d->parts * sizeof(flr_record_part);
}

/* A channel of its own kind of message. */
static flr_result add_channel(flr_recorder *r, const char *schema, const flr_proto_message *kinds,
                              const char *topic, uint16_t *channel, flr_error *error)
{
    flr_bytes description = {0};
    uint16_t id = 0;
    flr_proto_describe(&description, "feeler.proto", "feeler", kinds);
    flr_result result = description.failed
                            ? flr_fail(error, FLR_NO_MEMORY, "not enough memory to record")
                            : flr_mcap_add_schema(r->file, schema, "protobuf", description.data,
                                                  description.size, &id, error);
    if (result == FLR_OK)
        result = flr_mcap_add_channel(r->file, id, topic, "protobuf", channel, error);
    flr_bytes_free(&description);
    return result;
}

static flr_result begin_file(flr_recorder *r, flr_env *env, flr_error *error)
{
    static const char *const none[] = {NULL};
    flr_result result = flr_mcap_create(env, r->def.path, "", "feeler", &r->file, error);
    if (result == FLR_OK)
        result = add_channel(r, schema_name, messages, "/frame", &r->channel, error);
    if (result == FLR_OK && r->def.notes)
        result = add_channel(r, note_schema, note_messages, "/note", &r->notes, error);
    if (result == FLR_OK)
        result = flr_mcap_add_metadata(r->file, metadata_name, r->def.texts ? r->def.texts : none,
                                       error);
    return result;
}

flr_result flr_recorder_create(flr_env *env, const flr_recorder_def *def, flr_recorder **recorder,
                               flr_error *error)
{
    if (def->hands > MOST_HANDS || def->parts > MOST_PARTS || def->contacts > MOST_CONTACTS ||
        def->ring == 0)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a recording takes at most %d hands, %d parts and %d contacts a frame, and "
                        "a ring of at least one frame",
                        MOST_HANDS, MOST_PARTS, MOST_CONTACTS);
    flr_recorder *r = calloc(1, sizeof *r);
    if (!r) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to record");
    r->def = *def;
    r->chunk_since = -1;
    r->size = contacts_at(def) + def->contacts * sizeof(flr_record_contact);
    r->ring = flr_ring_create(r->size, def->ring);
    r->incoming = calloc(1, r->size);
    r->outgoing = calloc(1, r->size);
    flr_result result = r->ring && r->incoming && r->outgoing
                            ? begin_file(r, env, error)
                            : flr_fail(error, FLR_NO_MEMORY,
                                       "not enough memory for a ring of %u frames", def->ring);
    if (result != FLR_OK) {
        flr_recorder_abandon(r);
        return result;
    }
    /* texts and path were the caller's for the call only */
    r->def.texts = NULL;
    r->def.path = NULL;
    *recorder = r;
    return FLR_OK;
}

bool flr_recorder_push(flr_recorder *r, const flr_record_frame *frame, const flr_record_hand *hands,
                       const flr_record_part *parts, const flr_record_contact *contacts)
{
    flr_record_frame f = *frame;
    if (f.contacts_given > r->def.contacts) f.contacts_given = r->def.contacts;
    memcpy(r->incoming, &f, sizeof f);
    if (r->def.hands) memcpy(r->incoming + hands_at(), hands, r->def.hands * sizeof *hands);
    if (r->def.parts) memcpy(r->incoming + parts_at(&r->def), parts, r->def.parts * sizeof *parts);
    if (f.contacts_given)
        memcpy(r->incoming + contacts_at(&r->def), contacts, f.contacts_given * sizeof *contacts);
    return flr_ring_push(r->ring, r->incoming);
}

flr_result flr_recorder_service(flr_recorder *r, flr_error *error)
{
    if (r->broken)
        return flr_fail(error, FLR_IO, "the recording ended earlier, when it could not be written");
    flr_result result = FLR_OK;
    while (result == FLR_OK && flr_ring_pop(r->ring, r->outgoing)) {
        /* an element begins with its frame, and calloc aligns for all of its lists */
        flr_record_view view = {.hands = (const void *)(r->outgoing + hands_at()),
                                .parts = (const void *)(r->outgoing + parts_at(&r->def)),
                                .contacts = (const void *)(r->outgoing + contacts_at(&r->def)),
                                .hand_count = r->def.hands,
                                .part_count = r->def.parts};
        memcpy(&view.frame, r->outgoing, sizeof view.frame);
        r->encoded.size = 0;
        put_frame(&r->encoded, &view);
        if (r->encoded.failed) {
            result = flr_fail(error, FLR_NO_MEMORY, "not enough memory to record");
            break;
        }
        int64_t time = view.frame.time_ns;
        result = flr_mcap_add(r->file, r->channel, (uint32_t)view.frame.frame, (uint64_t)time,
                              r->encoded.data, r->encoded.size, error);
        r->written++;
        if (r->chunk_since < 0) r->chunk_since = time;
        if (result == FLR_OK && time - r->chunk_since >= CHUNK_NS) {
            result = flr_mcap_flush(r->file, error);
            r->chunk_since = -1;
        }
    }
    r->broken = result != FLR_OK;
    return result;
}

flr_result flr_recorder_note(flr_recorder *r, const flr_record_note *note, flr_error *error)
{
    FLR_ASSERT(r->def.notes);
    if (r->broken)
        return flr_fail(error, FLR_IO, "the recording ended earlier, when it could not be written");
    r->encoded.size = 0;
    flr_proto_uint(&r->encoded, NOTE_FRAME, note->frame);
    flr_proto_text(&r->encoded, NOTE_TEXT, note->text);
    size_t at = flr_proto_begin(&r->encoded, NOTE_DATA);
    if (note->size) flr_bytes_add(&r->encoded, note->data, note->size);
    flr_proto_end(&r->encoded, at);
    flr_result result = r->encoded.failed
                            ? flr_fail(error, FLR_NO_MEMORY, "not enough memory to record")
                            : flr_mcap_add(r->file, r->notes, (uint32_t)note->frame,
                                           r->chunk_since < 0 ? 0 : (uint64_t)r->chunk_since,
                                           r->encoded.data, r->encoded.size, error);
    r->broken = result != FLR_OK;
    return result;
}

uint64_t flr_recorder_written(const flr_recorder *r) { return r->written; }
uint64_t flr_recorder_lost(const flr_recorder *r) { return flr_ring_dropped(r->ring); }

flr_result flr_recorder_finish(flr_recorder *r, flr_error *error)
{
    flr_result result = flr_recorder_service(r, error);
    if (result == FLR_OK) {
        result = flr_mcap_finish(r->file, error);
        r->file = NULL;
    }
    flr_recorder_abandon(r);
    return result;
}

void flr_recorder_abandon(flr_recorder *r)
{
    if (!r) return;
    flr_mcap_abandon(r->file);
    flr_ring_destroy(r->ring);
    free(r->incoming);
    free(r->outgoing);
    flr_bytes_free(&r->encoded);
    free(r);
}

/* ---- reading ---- */

struct flr_recording {
    flr_mcap_reader *file;
    char *path;
    flr_record_hand *hands;
    flr_record_part *parts;
    flr_record_contact *contacts;
    /* what damage has cost */
    uint32_t places;        /* of the file, at the frame before */
    uint32_t broken;        /* frames that came but make no sense */
    uint64_t next;          /* number of the frame to come */
    int64_t skip_ns;        /* frames before are passed over */
    uint64_t lost, lost_at; /* frames, and the number of the first of them */
    bool open;              /* damage behind the last frame: how many it cost is not known yet */
    void (*seen)(void *context, const flr_record_note *note);
    void *context;
    flr_bytes text; /* of a note, with an end */
};

flr_result flr_recording_open(flr_env *env, const char *path, flr_recording **recording,
                              flr_error *error)
{
    flr_recording *r = calloc(1, sizeof *r);
    flr_result result = FLR_NO_MEMORY;
    if (r) {
        r->path = strdup(path);
        r->hands = calloc(MOST_HANDS, sizeof *r->hands);
        r->parts = calloc(MOST_PARTS, sizeof *r->parts);
        r->contacts = calloc(MOST_CONTACTS, sizeof *r->contacts);
    }
    if (!r || !r->path || !r->hands || !r->parts || !r->contacts)
        flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to read", path);
    else
        result = flr_mcap_open(env, path, &r->file, error);
    if (result != FLR_OK) {
        flr_recording_close(r);
        return result;
    }
    *recording = r;
    return FLR_OK;
}

void flr_recording_close(flr_recording *r)
{
    if (!r) return;
    flr_mcap_close(r->file);
    free(r->path);
    free(r->hands);
    free(r->parts);
    free(r->contacts);
    flr_bytes_free(&r->text);
    free(r);
}

void flr_recording_tell_notes(flr_recording *r,
                              void (*seen)(void *context, const flr_record_note *note),
                              void *context)
{
    r->seen = seen;
    r->context = context;
}

/* What makes no sense is passed over, as is damage. */
static void tell_note(flr_recording *r, flr_proto_look l)
{
    flr_record_note note = {0};
    r->text.size = 0;
    for (flr_proto_value value; flr_proto_next(&l, &value);) {
        if (value.number == NOTE_FRAME) note.frame = value.integer;
        if (value.number == NOTE_TEXT) {
            r->text.size = 0;
            if (value.inside.left) flr_bytes_add(&r->text, value.inside.data, value.inside.left);
        }
        if (value.number == NOTE_DATA) {
            note.data = value.inside.data;
            note.size = value.inside.left;
        }
    }
    flr_bytes_u8(&r->text, 0);
    note.text = (const char *)r->text.data;
    if (!l.bad && !r->text.failed) r->seen(r->context, &note);
}

/* False: cut off, or more of something than there may be. */
static bool get_frame(flr_recording *r, flr_proto_look l, flr_record_view *view)
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
            if (view->hand_count == MOST_HANDS) return false;
            r->hands[view->hand_count++] = INSIDE(get_hand);
            break;
        case FRAME_PARTS:
            if (view->part_count == MOST_PARTS) return false;
            r->parts[view->part_count++] = INSIDE(get_part);
            break;
        case FRAME_CONTACT_LIST:
            if (f->contacts_given == MOST_CONTACTS) return false;
            r->contacts[f->contacts_given++] = INSIDE(get_contact);
            break;
        default:
            break;
        }
    }
    view->hands = r->hands;
    view->parts = r->parts;
    view->contacts = r->contacts;
    return !bad && !l.bad;
}

/* Counts the frames that are missing where something was left out. */
static void count_lost(flr_recording *r, uint64_t number)
{
    if (r->open && number > r->next) {
        if (r->lost == 0) r->lost_at = r->next;
        r->lost += number - r->next;
    }
    r->open = false;
    r->next = number + 1;
}

flr_result flr_recording_next(flr_recording *r, flr_record_view *view, flr_error *error)
{
    for (;;) {
        flr_mcap_message message;
        flr_result result = flr_mcap_next(r->file, &message, error);
        uint32_t places = flr_mcap_get_damage(r->file).places;
        r->open |= places > r->places;
        r->places = places;
        if (result != FLR_OK) return result;
        flr_proto_look look = {message.data, message.size, false};
        if (r->seen && strcmp(message.schema, note_schema) == 0) tell_note(r, look);
        if (strcmp(message.schema, schema_name) != 0) continue;
        if ((int64_t)message.time < r->skip_ns) { /* its number is in the envelope, cut */
            count_lost(r, (r->next & ~(uint64_t)UINT32_MAX) + message.sequence);
            continue;
        }
        flr_record_view found = {0};
        if (get_frame(r, look, &found)) {
            count_lost(r, found.frame.frame);
            *view = found;
            return FLR_OK;
        }
        r->broken++;
        r->open = true;
    }
}

void flr_recording_skip_to(flr_recording *r, int64_t time_ns) { r->skip_ns = time_ns; }

bool flr_recording_length(flr_recording *r, uint64_t *frames, double *seconds)
{
    uint64_t count, first, last;
    if (!flr_mcap_summary(r->file, schema_name, &count, &first, &last) || last > INT64_MAX)
        return false;
    *frames = count;
    *seconds = count ? (double)last * 1e-9 : 0;
    return true;
}

bool flr_recording_damaged(const flr_recording *r, flr_error *error)
{
    flr_mcap_damage damage = flr_mcap_get_damage(r->file);
    uint32_t places = damage.places + r->broken;
    if (places == 0) return false;
    char where[120], what[120];
    if (damage.places)
        snprintf(where, sizeof where, "%s at byte %llu", damage.what,
                 (unsigned long long)damage.at);
    else
        snprintf(where, sizeof where, "a frame that makes no sense");
    if (r->lost)
        snprintf(what, sizeof what, "%llu frames from number %llu on are lost%s",
                 (unsigned long long)r->lost, (unsigned long long)r->lost_at,
                 r->open ? ", and some at the end" : "");
    else
        snprintf(what, sizeof what,
                 r->open ? "what followed on frame %lld is lost" : "no frame is lost",
                 (long long)r->next - 1);
    flr_fail(error, FLR_BAD_INPUT, "%s is damaged at %u %s (%s%s): %s; the rest is used", r->path,
             places, places == 1 ? "place" : "places", places == 1 ? "" : "the first: ", where,
             what);
    return true;
}

const char *flr_recording_text(const flr_recording *r, const char *key)
{
    return flr_mcap_metadata(r->file, metadata_name, key);
}

bool flr_recording_complete(const flr_recording *r) { return flr_mcap_complete(r->file); }
