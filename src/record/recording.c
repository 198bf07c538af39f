/* reading recordings: frames and notes from an MCAP file, and what damage has cost */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_format.h"

struct flr_recording {
    flr_mcap_reader *file;
    char *path;
    flr_record_room room;
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
        r->room.hands = calloc(FLR_RECORD_HANDS, sizeof *r->room.hands);
        r->room.parts = calloc(FLR_RECORD_PARTS, sizeof *r->room.parts);
        r->room.contacts = calloc(FLR_RECORD_CONTACTS, sizeof *r->room.contacts);
    }
    if (!r || !r->path || !r->room.hands || !r->room.parts || !r->room.contacts)
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
    free(r->room.hands);
    free(r->room.parts);
    free(r->room.contacts);
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
        flr_bytes_look look = {message.data, message.size, false};
        if (r->seen && strcmp(message.schema, FLR_RECORD_NOTE) == 0) {
            flr_record_note note = {0}; /* one that makes no sense is passed over, as is damage */
            if (flr_record_get_note(look, &r->text, &note)) r->seen(r->context, &note);
        }
        if (strcmp(message.schema, FLR_RECORD_FRAME) != 0) continue;
        if ((int64_t)message.time < r->skip_ns) { /* its number is in the envelope, cut */
            count_lost(r, (r->next & ~(uint64_t)UINT32_MAX) + message.sequence);
            continue;
        }
        flr_record_view found = {0};
        if (flr_record_get_frame(look, &r->room, &found)) {
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
    if (!flr_mcap_summary(r->file, FLR_RECORD_FRAME, &count, &first, &last) || last > INT64_MAX)
        return false;
    *frames = count;
    *seconds = count ? (double)last * 1e-9 : 0;
    return true;
}

bool flr_recording_reach(flr_recording *r, double *seconds)
{
    uint64_t last;
    if (!flr_mcap_last(r->file, &last) || last > INT64_MAX) return false;
    *seconds = (double)last * 1e-9;
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
    return flr_mcap_metadata(r->file, FLR_RECORD_METADATA, key);
}

bool flr_recording_complete(const flr_recording *r) { return flr_mcap_complete(r->file); }
