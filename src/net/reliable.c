/* an ordered stream over packets: selective repeat, and a window that follows the round trip */
#include "net/reliable.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "feeler/base.h"

enum {
    WINDOW_FIRST = 32 * FLR_RELIABLE_PART, /* bytes that may fly at the beginning */
    MIN_WINDOW = 8 * FLR_RELIABLE_PART,
    WINDOW_NEAR =
        96 *
        1024, /* on a short path: what the buffer of the other's socket holds while nobody reads it */
    MAX_SLOW = 4,        /* round trips in a row longer than usual, then there is a queue */
    SEARCH_NS = 1000000, /* late parts are looked for no more often than this */
    RELIABLE_PATIENT =
        3, /* a part that was sent so often waits longer each time before it is sent again… */
    MAX_WAIT = 4 /* … up to so many times as long */
};

/* the round trip may become so much longer than usual (s): between the two the window stays. More than the loop of a
 * control thread and the delay of acknowledgements make it waver; less than a hand feels. */
static const double queue_low = 0.010, queue_high = 0.025;
/* bytes/s that are enough for anybody here: with the round trip, how much may fly on a long path */
static const double rate_most = 60e6;
/* more than a link loses by itself: it is a queue that overflows */
static const double loss_most = 0.3;
/* s: of the first round trip, taken to be its deviation at most */
static const double wobble_first = 0.1;
/* s, besides four deviations, that an answer may take longer than usual */
static const double late_slack = 0.010;

flr_reliable *flr_reliable_create(size_t capacity)
{
    FLR_ASSERT(capacity >= 2 * FLR_RELIABLE_MESSAGE);
    flr_reliable *reliable = calloc(1, sizeof *reliable);
    if (!reliable) return NULL;
    reliable->capacity = capacity;
    flr_reliable_out *out = &reliable->out;
    out->ring = malloc(capacity);
    out->parts = malloc(FLR_RELIABLE_PARTS * sizeof *out->parts);
    reliable->in.ring = malloc(capacity);
    if (!out->ring || !out->parts || !reliable->in.ring) {
        flr_reliable_destroy(reliable);
        return NULL;
    }
    // both sides have the same rule, so the first bytes may go before any acknowledgement
    out->limit = FLR_RELIABLE_MESSAGE;
    out->window = WINDOW_FIRST;
    out->starting = true;
    out->search_ns = INT64_MAX, out->earliest_ns = INT64_MAX;
    return reliable;
}

void flr_reliable_destroy(flr_reliable *reliable)
{
    if (!reliable) return;
    free(reliable->out.ring);
    free(reliable->out.parts);
    free(reliable->in.ring);
    free(reliable);
}

/* copies into and out of a ring, across its seam */
static void ring_put(uint8_t *ring, size_t capacity, uint64_t place, const uint8_t *bytes,
                     size_t size)
{
    size_t at = (size_t)(place % capacity);
    size_t front = size < capacity - at ? size : capacity - at;
    if (front > 0) memcpy(ring + at, bytes, front);
    if (size > front) memcpy(ring, bytes + front, size - front);
}

static void ring_get(const uint8_t *ring, size_t capacity, uint64_t place, uint8_t *bytes,
                     size_t size)
{
    size_t at = (size_t)(place % capacity);
    size_t front = size < capacity - at ? size : capacity - at;
    if (front > 0) memcpy(bytes, ring + at, front);
    if (size > front) memcpy(bytes + front, ring, size - front);
}

/* ---- sending ---- */

size_t flr_reliable_room(const flr_reliable *reliable)
{
    const flr_reliable_out *out = &reliable->out;
    size_t room = reliable->capacity - (size_t)(out->queued - out->came);
    if (room <= FLR_RELIABLE_PREFIX) return 0;
    room -= FLR_RELIABLE_PREFIX;
    return room < FLR_RELIABLE_MESSAGE ? room : FLR_RELIABLE_MESSAGE;
}

flr_result flr_reliable_put(flr_reliable *reliable, const void *bytes, size_t size)
{
    FLR_ASSERT(size <= FLR_RELIABLE_MESSAGE);
    flr_reliable_out *out = &reliable->out;
    if (reliable->capacity - (size_t)(out->queued - out->came) < size + FLR_RELIABLE_PREFIX)
        return FLR_AGAIN;
    uint8_t prefix[FLR_RELIABLE_PREFIX];
    flr_put_u32(prefix, (uint32_t)size);
    ring_put(out->ring, reliable->capacity, out->queued, prefix, sizeof prefix);
    out->queued += sizeof prefix;
    ring_put(out->ring, reliable->capacity, out->queued, bytes, size);
    out->queued += size;
    return FLR_OK;
}

static flr_reliable_part *part_at(flr_reliable_out *out, uint32_t index)
{
    return &out->parts[(out->first + index) % FLR_RELIABLE_PARTS];
}

/* the next part that did not come in time; a search goes through all parts once, over several calls */
static flr_reliable_part *late_part(flr_reliable_out *out, int64_t now, double late)
{
    if (now < out->search_ns) return NULL;
    while (out->cursor < out->count) {
        flr_reliable_part *part = part_at(out, out->cursor++);
        if (part->came) continue;
        int factor = part->times <= RELIABLE_PATIENT ? 1 : part->times - RELIABLE_PATIENT + 1;
        if (factor > MAX_WAIT) factor = MAX_WAIT;
        int64_t due = part->sent_ns + (int64_t)(late * factor * 1e9);
        if (due <= now) return part;
        if (due < out->earliest_ns) out->earliest_ns = due;
    }
    int64_t soonest = now + SEARCH_NS;
    out->search_ns = out->earliest_ns < soonest ? soonest : out->earliest_ns;
    out->cursor = 0, out->earliest_ns = INT64_MAX;
    return NULL;
}

/* bytes of the stretch that was never sent and may go now as one part */
static uint64_t new_size(const flr_reliable_out *out)
{
    uint64_t size = out->queued - out->sent, allowed = out->limit - out->sent;
    if (out->count == FLR_RELIABLE_PARTS || (double)out->flying >= out->window) return 0;
    if (size > FLR_RELIABLE_PART) size = FLR_RELIABLE_PART;
    if (allowed >= size) return size;
    return out->flying > 0 ? 0 : allowed; // the window will open: send no crumbs
}

static flr_reliable_part *new_part(flr_reliable_out *out)
{
    uint64_t size = new_size(out);
    if (size == 0) return NULL;
    flr_reliable_part *part = part_at(out, out->count++);
    *part = (flr_reliable_part){.begin = out->sent, .size = (uint32_t)size};
    out->sent += size;
    out->flying += size;
    return part;
}

size_t flr_reliable_take(flr_reliable *reliable, int64_t now, double late, uint8_t *bytes,
                         uint64_t *place)
{
    flr_reliable_out *out = &reliable->out;
    if (out->trip > 0) late = out->trip + 4 * out->wobble + late_slack;
    flr_reliable_part *part = late_part(out, now, late);
    if (part) {
        out->resent++;
    } else {
        part = new_part(out);
        if (!part) return 0;
    }
    part->sent_ns = now;
    part->times++;
    int64_t due = now + (int64_t)(late * 1e9);
    if (due < out->search_ns) out->search_ns = due;
    if (due < out->earliest_ns) out->earliest_ns = due; // for the search that is under way
    ring_get(out->ring, reliable->capacity, part->begin, bytes, part->size);
    *place = part->begin;
    return part->size;
}

int64_t flr_reliable_due(const flr_reliable *reliable)
{
    const flr_reliable_out *out = &reliable->out;
    if (new_size(out) > 0) return 0;
    return out->flying > 0 ? out->search_ns : INT64_MAX;
}

/* not more than the path and the other's socket hold */
static void bound_window(flr_reliable *reliable, double usual)
{
    flr_reliable_out *out = &reliable->out;
    double most = usual * rate_most > WINDOW_NEAR ? usual * rate_most : WINDOW_NEAR;
    if (most > (double)reliable->capacity) most = (double)reliable->capacity;
    if (out->window > most) out->window = most;
    if (out->window < MIN_WINDOW) out->window = MIN_WINDOW;
}

/* at the end of a round the window follows what the round trip did */
static void end_round(flr_reliable *reliable, flr_reliable_path path)
{
    flr_reliable_out *out = &reliable->out;
    double queue = out->round_rtt > 0 && path.usual > 0 ? out->round_rtt - path.usual : 0;
    if (queue > queue_high || path.loss > loss_most) {
        out->window *= 0.8;
        out->starting = false;
    } else if (queue < queue_low && !out->starting && (double)out->flying * 2 > out->window) {
        out->window += out->window * 0.08 + FLR_RELIABLE_PART;
    }
    out->round_end = out->sent;
    out->round_rtt = 0;
}

/* while it starts, every byte that came allows one more, so twice as many each round trip, until there is a queue */
static void start(flr_reliable_out *out, size_t news, flr_reliable_path path)
{
    if (path.rtt > 0)
        out->slow = path.usual > 0 && path.rtt > path.usual + queue_high ? out->slow + 1 : 0;
    if (out->slow >= MAX_SLOW) {
        out->window *= 0.6;
        out->starting = false;
    } else if ((double)out->flying * 2 + (double)news > out->window) {
        out->window += (double)news;
    }
}

/* how long it takes until a part is known to have come: only those sent once tell */
static void note_trip(flr_reliable_out *out, const flr_reliable_part *part, int64_t now)
{
    if (part->times != 1) return;
    double trip = (double)(now - part->sent_ns) * 1e-9;
    if (out->trip == 0) {
        out->trip = trip > 1e-6 ? trip : 1e-6;
        // on a long path, too, where a part that got lost shall not wait for three round trips
        out->wobble = trip / 2 < wobble_first ? trip / 2 : wobble_first;
    } else {
        out->wobble +=
            ((trip > out->trip ? trip - out->trip : out->trip - trip) - out->wobble) / 16;
        out->trip += (trip - out->trip) / 16;
    }
}

/* is it possible? a stretch that was never sent cannot have come */
static bool plausible(const flr_reliable_out *out, const flr_reliable_ack *ack)
{
    uint64_t before = ack->came;
    if (ack->came > out->sent || ack->limit < ack->came) return false;
    for (uint32_t i = 0; i < ack->count; i++) {
        if (ack->ranges[i].begin <= before || ack->ranges[i].end <= ack->ranges[i].begin ||
            ack->ranges[i].end > out->sent)
            return false;
        before = ack->ranges[i].end;
    }
    return true;
}

/* marks the parts that lie in what came; returns how many bytes that is news of */
static size_t mark(flr_reliable_out *out, const flr_reliable_ack *ack, int64_t now)
{
    size_t news = 0;
    uint32_t range = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        flr_reliable_part *part = part_at(out, i);
        uint64_t end = part->begin + part->size;
        while (range < ack->count && ack->ranges[range].end < end) range++;
        bool came =
            end <= ack->came || (range < ack->count && part->begin >= ack->ranges[range].begin);
        if (!came && part->begin >= ack->came && range == ack->count) break;
        if (!came || part->came) continue;
        part->came = true;
        note_trip(out, part, now);
        news += part->size;
        if (end > out->farthest) out->farthest = end;
    }
    out->flying -= news;
    // those at the front are done with
    while (out->count > 0 && part_at(out, 0)->came) {
        flr_reliable_part *part = part_at(out, 0);
        out->came = part->begin + part->size;
        out->first = (out->first + 1) % FLR_RELIABLE_PARTS;
        out->count--;
        if (out->cursor > 0) out->cursor--;
    }
    return news;
}

bool flr_reliable_acked(flr_reliable *reliable, const flr_reliable_ack *ack, flr_reliable_path path,
                        int64_t now)
{
    flr_reliable_out *out = &reliable->out;
    if (!plausible(out, ack)) return false;
    if (ack->limit > out->limit) out->limit = ack->limit;
    if (path.rtt > 0 && (out->round_rtt == 0 || path.rtt < out->round_rtt))
        out->round_rtt = path.rtt;
    size_t news = mark(out, ack, now);
    if (out->starting) start(out, news, path);
    if (out->farthest > out->round_end || (out->flying == 0 && news > 0)) end_round(reliable, path);
    bound_window(reliable, path.usual);
    return true;
}

/* ---- receiving ---- */

/* adds a stretch to those behind the first gap; false: they are too many */
static bool add_range(flr_reliable_in *in, uint64_t begin, uint64_t end)
{
    uint32_t low = 0;
    while (low < in->count && in->ranges[low].end < begin) low++;
    uint32_t high = low;
    while (high < in->count && in->ranges[high].begin <= end) {
        if (in->ranges[high].begin < begin) begin = in->ranges[high].begin;
        if (in->ranges[high].end > end) end = in->ranges[high].end;
        high++;
    }
    if (high == low) {
        if (in->count == FLR_RELIABLE_RANGES) return false;
        memmove(&in->ranges[low + 1], &in->ranges[low], (in->count - low) * sizeof in->ranges[0]);
        in->count++;
    } else if (high > low + 1) {
        memmove(&in->ranges[low + 1], &in->ranges[high], (in->count - high) * sizeof in->ranges[0]);
        in->count -= high - low - 1;
    }
    in->ranges[low] = (flr_reliable_range){begin, end};
    return true;
}

bool flr_reliable_came(flr_reliable *reliable, uint64_t place, const uint8_t *bytes, size_t size)
{
    flr_reliable_in *in = &reliable->in;
    if (size == 0 || place > UINT64_MAX - size || place + size > in->taken + reliable->capacity)
        return false;
    uint64_t end = place + size;
    if (end <= in->came) return true; // once more
    if (place < in->came) {
        size_t known = (size_t)(in->came - place);
        bytes += known, size -= known, place = in->came;
    }
    if (place > in->came) {
        // one that finds no room in the list is as good as lost
        if (add_range(in, place, end)) ring_put(in->ring, reliable->capacity, place, bytes, size);
        return true;
    }
    ring_put(in->ring, reliable->capacity, place, bytes, size);
    in->came = end;
    uint32_t joined = 0;
    while (joined < in->count && in->ranges[joined].begin <= in->came) {
        if (in->ranges[joined].end > in->came) in->came = in->ranges[joined].end;
        joined++;
    }
    in->count -= joined;
    memmove(in->ranges, in->ranges + joined, in->count * sizeof in->ranges[0]);
    return true;
}

flr_reliable_answer flr_reliable_next(flr_reliable *reliable, uint8_t *scratch,
                                      const uint8_t **bytes, size_t *size)
{
    flr_reliable_in *in = &reliable->in;
    uint64_t there = in->came - in->taken;
    if (there < FLR_RELIABLE_PREFIX) return FLR_RELIABLE_NONE;
    uint8_t prefix[FLR_RELIABLE_PREFIX];
    ring_get(in->ring, reliable->capacity, in->taken, prefix, sizeof prefix);
    size_t count = flr_get_u32(prefix);
    if (count > FLR_RELIABLE_MESSAGE) return FLR_RELIABLE_WRONG;
    if (there - FLR_RELIABLE_PREFIX < count) return FLR_RELIABLE_NONE;
    uint64_t begin = in->taken + FLR_RELIABLE_PREFIX;
    size_t at = (size_t)(begin % reliable->capacity);
    if (at + count <= reliable->capacity) {
        *bytes = in->ring + at;
    } else {
        ring_get(in->ring, reliable->capacity, begin, scratch, count);
        *bytes = scratch;
    }
    *size = count;
    in->taken = begin + count;
    return FLR_RELIABLE_WHOLE;
}

void flr_reliable_tell(const flr_reliable *reliable, flr_reliable_ack *ack)
{
    const flr_reliable_in *in = &reliable->in;
    ack->came = in->came;
    ack->limit = in->taken + reliable->capacity;
    ack->count = in->count < FLR_RELIABLE_TOLD ? in->count : FLR_RELIABLE_TOLD;
    memcpy(ack->ranges, in->ranges, ack->count * sizeof ack->ranges[0]);
}
