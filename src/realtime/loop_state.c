/* loop: where it is, as bytes, and going on from there */
#include <string.h>

#include "device/device.h"
#include "feeler/base.h"
#include "realtime/loop.h"

/* what all loops have; the devices, each with its guard, come behind it */
typedef struct loop_state_saved {
    uint64_t number;
    int64_t next_ns;
    flr_device_sample samples[FLR_LOOP_DEVICES];
    flr_wrench sent[FLR_LOOP_DEVICES];
    bool fresh[FLR_LOOP_DEVICES];
    bool begun, again;
} loop_state_saved;

size_t flr_loop_state_size(const flr_loop *loop)
{
    FLR_ASSERT(loop);
    size_t size = sizeof(loop_state_saved);
    for (uint32_t i = 0; i < loop->def.device_count; i++)
        size += flr_device_saved_size(loop->def.devices[i]) + flr_guard_saved_size();
    return size;
}

void flr_loop_save(const flr_loop *loop, void *state)
{
    FLR_ASSERT(loop && state && !flr_loop_is_running(loop));
    loop_state_saved s;
    memset(&s, 0, sizeof s);
    s.number = loop->number, s.next_ns = loop->next_ns;
    s.begun = loop->begun, s.again = loop->again;
    memcpy(s.samples, loop->samples, sizeof s.samples);
    memcpy(s.sent, loop->sent, sizeof s.sent);
    memcpy(s.fresh, loop->fresh, sizeof s.fresh);
    memcpy(state, &s, sizeof s);
    uint8_t *to = (uint8_t *)state + sizeof s;
    for (uint32_t i = 0; i < loop->def.device_count; i++) {
        flr_device_save(loop->def.devices[i], to);
        to += flr_device_saved_size(loop->def.devices[i]);
        flr_guard_save(loop->guards[i], to);
        to += flr_guard_saved_size();
    }
}

/* What somebody else wrote must not bring a pose into the loop that is none. */
static bool makes_sense(const loop_state_saved *s)
{
    bool fine = s->next_ns >= 0;
    for (int i = 0; i < FLR_LOOP_DEVICES; i++)
        fine = fine && flr_pose_is_valid(s->samples[i].T_base_grip) &&
               flr_vec3_is_finite(s->sent[i].force) && flr_vec3_is_finite(s->sent[i].torque);
    return fine;
}

bool flr_loop_load(flr_loop *loop, const void *state, size_t size)
{
    FLR_ASSERT(loop && state && !flr_loop_is_running(loop));
    loop_state_saved s;
    if (size != flr_loop_state_size(loop)) return false;
    memcpy(&s, state, sizeof s);
    if (!makes_sense(&s)) return false;
    const bool paced = loop->def.paced;
    const int64_t shift = paced ? flr_clock_ns(loop->def.env) - s.next_ns : 0;
    loop->number = s.number;
    memcpy(loop->samples, s.samples, sizeof s.samples);
    if (!paced) {
        loop->next_ns = s.next_ns, loop->begun = s.begun, loop->again = s.again;
        memcpy(loop->sent, s.sent, sizeof s.sent);
        memcpy(loop->fresh, s.fresh, sizeof s.fresh);
    }
    const uint8_t *from = (const uint8_t *)state + sizeof s;
    for (uint32_t i = 0; i < loop->def.device_count; i++) {
        flr_device_load(loop->def.devices[i], from, shift);
        from += flr_device_saved_size(loop->def.devices[i]);
        if (!paced) flr_guard_load(loop->guards[i], from);
        from += flr_guard_saved_size();
    }
    return true;
}
