/* writing recordings: frames through a ring to an MCAP file */
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "record/record_format.h"

enum { CHUNK_NS = 250000000 };

/* Frames that may wait: 8 s at 1000 Hz, in which a disk that was busy with others comes back. Less where frames are large, but
 * not less than a second. */
enum { RING_BYTES = 64 << 20, MIN_RING = 1024, MAX_RING = 8192 };

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
    flr_recorder_def def = {.contacts = 16};
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
        result = add_channel(r, FLR_RECORD_FRAME, flr_record_frame_messages, "/frame", &r->channel,
                             error);
    if (result == FLR_OK && r->def.notes)
        result =
            add_channel(r, FLR_RECORD_NOTE, flr_record_note_messages, "/note", &r->notes, error);
    if (result == FLR_OK)
        result = flr_mcap_add_metadata(r->file, FLR_RECORD_METADATA,
                                       r->def.texts ? r->def.texts : none, error);
    return result;
}

/* `size`: bytes of a frame */
static uint32_t ring_for(size_t size)
{
    uint32_t frames = MAX_RING; /* a power of two, as all rings are */
    while (frames > MIN_RING && frames * size > RING_BYTES) frames /= 2;
    return frames;
}

flr_result flr_recorder_create(flr_env *env, const flr_recorder_def *def, flr_recorder **recorder,
                               flr_error *error)
{
    if (def->hands > FLR_RECORD_HANDS || def->parts > FLR_RECORD_PARTS ||
        def->contacts > FLR_RECORD_CONTACTS)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a recording takes at most %d hands, %d parts and %d contacts a frame",
                        FLR_RECORD_HANDS, FLR_RECORD_PARTS, FLR_RECORD_CONTACTS);
    flr_recorder *r = calloc(1, sizeof *r);
    if (!r) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to record");
    r->def = *def;
    r->chunk_since = -1;
    r->size = contacts_at(def) + def->contacts * sizeof(flr_record_contact);
    if (!def->ring) r->def.ring = ring_for(r->size);
    r->ring = flr_ring_create(r->size, r->def.ring);
    r->incoming = calloc(1, r->size);
    r->outgoing = calloc(1, r->size);
    flr_result result = r->ring && r->incoming && r->outgoing
                            ? begin_file(r, env, error)
                            : flr_fail(error, FLR_NO_MEMORY,
                                       "not enough memory for a ring of %u frames", r->def.ring);
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
        flr_record_put_frame(&r->encoded, &view);
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
    flr_record_put_note(&r->encoded, note);
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
