/* events: a ring of control's own. What can be asked for again may be replaced by one FLR_ENGINE_EVENT_RESYNC; what cannot, such
 * as the end of a job or the answer to a question, is never left out */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/engine_internal.h"

bool flr_engine_make_events(flr_engine *e)
{
    e->events = calloc(FLR_ENGINE_EVENTS + 1, sizeof *e->events);
    e->event_capacity = e->events ? FLR_ENGINE_EVENTS : 0;
    return e->events;
}

static flr_engine_event *event_at(const flr_engine *e, uint32_t index)
{
    return &e->events[(e->event_first + index) % e->event_capacity];
}

/* Does it only say that something has changed, which whoever resynchronises sees anyway? */
static bool can_be_asked_again(const flr_engine_event *event)
{
    switch (event->kind) {
    case FLR_ENGINE_EVENT_PART:
    case FLR_ENGINE_EVENT_PART_GONE:
    case FLR_ENGINE_EVENT_GROUPS:
    case FLR_ENGINE_EVENT_PARAMETER:
    case FLR_ENGINE_EVENT_DEVICE:
    case FLR_ENGINE_EVENT_RECORDING:
    case FLR_ENGINE_EVENT_ALLOWED:
    case FLR_ENGINE_EVENT_NOTES:
    case FLR_ENGINE_EVENT_JOINTS:
    case FLR_ENGINE_EVENT_UP:
    case FLR_ENGINE_EVENT_FILES:
    case FLR_ENGINE_EVENT_WAY_PROGRESS:
        return true;
    case FLR_ENGINE_EVENT_JOB:
        return event->job.state != FLR_WIRE_JOB_ENDED;
    case FLR_ENGINE_EVENT_NEWS:
    case FLR_ENGINE_EVENT_SCENE:
    case FLR_ENGINE_EVENT_CLEARANCE:
    case FLR_ENGINE_EVENT_CLASHES:
    case FLR_ENGINE_EVENT_MEASURE:
    case FLR_ENGINE_EVENT_GAP_MAP:
    case FLR_ENGINE_EVENT_WAY:
    case FLR_ENGINE_EVENT_REPLAY:
    case FLR_ENGINE_EVENT_RESYNC:
        break;
    }
    return false;
}

/* The oldest part event of a part stands for all later ones, since whoever takes it looks at the part as it is then. */
static void forget_told(flr_engine *e)
{
    for (uint32_t i = 0; i < e->members.count; i++) e->members.list[i].announced = false;
}

static void clear(flr_engine *e, flr_engine_event *event, flr_engine_event_kind kind)
{
    memset(event, 0, sizeof *event);
    event->kind = kind;
    event->part = FLR_NO_PART_ID;
    event->hand = FLR_NO_HAND_ID;
    event->frame = e->state->frame;
}

/* Takes out what can be asked for again; the first of these becomes the request to do so. False: there was none. */
static bool compact(flr_engine *e)
{
    uint32_t asset = 0;
    bool asked = e->resync;
    for (uint32_t i = 0; i < e->event_count; i++) {
        flr_engine_event *event = event_at(e, i);
        if (can_be_asked_again(event)) {
            if (asked) continue;
            clear(e, event, FLR_ENGINE_EVENT_RESYNC);
            asked = true;
        }
        if (asset != i) *event_at(e, asset) = *event;
        asset++;
    }
    bool some = asset < e->event_count;
    e->event_count = asset;
    e->resync = asked;
    forget_told(e);
    return some;
}

/* What cannot be asked for again is bounded by the jobs and questions that there may be. */
static bool grow(flr_engine *e)
{
    uint32_t capacity = 2 * e->event_capacity;
    flr_engine_event *more = calloc(capacity + 1, sizeof *more);
    if (!more) return false;
    for (uint32_t i = 0; i < e->event_count; i++) more[i] = *event_at(e, i);
    free(e->events);
    e->events = more;
    e->event_capacity = capacity;
    e->event_first = 0;
    return true;
}

/* Without memory the oldest one has to go; the request to resynchronise says how many went. */
static void lose_oldest(flr_engine *e)
{
    if (event_at(e, 0)->kind == FLR_ENGINE_EVENT_RESYNC) {
        *event_at(e, 1) = *event_at(e, 0);
        e->events_lost--; /* counted below, though it stays */
    }
    e->event_first = (e->event_first + 1) % e->event_capacity;
    e->event_count--;
    e->events_lost += e->resync ? 1 : 2;
    if (!e->resync) clear(e, event_at(e, 0), FLR_ENGINE_EVENT_RESYNC);
    e->resync = true;
}

/* News have half of the ring at most, so that they leave room for the rest; flr_engine_next() reports how many did not go in.
 * What does not go in is filled in a slot beside the ring. */
flr_engine_event *flr_engine_tell(flr_engine *e, flr_engine_event_kind kind)
{
    flr_engine_event *event = &e->events[e->event_capacity];
    clear(e, event, kind);
    bool news = kind == FLR_ENGINE_EVENT_NEWS;
    if (news && e->event_count >= FLR_ENGINE_EVENTS / 2) {
        e->news_lost++;
        return event;
    }
    /* a job's event is filled in later: it may be an end */
    if (e->resync && kind != FLR_ENGINE_EVENT_JOB && can_be_asked_again(event)) return event;
    if (e->event_count == e->event_capacity && !compact(e) && !grow(e)) lose_oldest(e);
    event = event_at(e, e->event_count++);
    clear(e, event, kind);
    return event;
}

void flr_engine_tell_part(flr_engine *e, flr_part_entry *member)
{
    if (member->announced) return;
    member->announced = true;
    flr_part_id part = flr_engine_part_id(e, member->part);
    flr_engine_tell(e, FLR_ENGINE_EVENT_PART)->part = part;
}

void flr_engine_tell_change(flr_engine *e, uint32_t index)
{
    for (uint32_t i = 0; i < e->event_count; i++) {
        const flr_engine_event *event = event_at(e, i);
        if (event->kind == FLR_ENGINE_EVENT_PARAMETER && event->index == index) return;
    }
    flr_engine_tell(e, FLR_ENGINE_EVENT_PARAMETER)->index = index;
}

void flr_engine_news(flr_engine *e, uint8_t news, flr_part_id part, flr_hand_id hand,
                     const char *format, ...)
{
    flr_engine_event *event = flr_engine_tell(e, FLR_ENGINE_EVENT_NEWS);
    event->news = news;
    event->part = part;
    event->hand = hand;
    va_list arguments;
    va_start(arguments, format);
    flr_text_print(event->sentence, sizeof event->sentence, format, arguments);
    va_end(arguments);
}

static void tell_lost_news(flr_engine *e)
{
    uint64_t lost = e->news_lost;
    e->news_lost = 0;
    FLR_ENGINE_WARN(e, "%llu events were left out: too many happened at once",
                    (unsigned long long)lost);
}

bool flr_engine_next(flr_engine *e, flr_engine_event *event)
{
    if (e->event_count == 0 && e->news_lost > 0) tell_lost_news(e);
    if (e->event_count == 0) return false;
    *event = *event_at(e, 0);
    e->event_first = (e->event_first + 1) % e->event_capacity;
    e->event_count--;
    if (event->kind == FLR_ENGINE_EVENT_RESYNC) {
        event->index = e->events_lost;
        e->events_lost = 0;
        e->resync = false;
        forget_told(e);
    }
    flr_part_entry *member = event->kind == FLR_ENGINE_EVENT_PART
                                 ? flr_part_list_find(&e->members, event->part.index)
                                 : NULL;
    if (member) member->announced = false;
    return true;
}
