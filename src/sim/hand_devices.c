/* devices, and which of them moves which hand */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sim/engine_internal.h"

static const double glide = 0.02; /* s: of a hand that a page moves sixty times a second */

flr_result flr_engine_open_devices(flr_engine *e, flr_loop_def *loop, flr_error *error)
{
    flr_result result = FLR_OK;
    for (uint32_t h = 0; h < e->def.hands && result == FLR_OK; h++) {
        flr_pointer *p = &e->pointers[h];
        if (!(p->remote = flr_remote_create(glide))) return flr_engine_no_memory(error);
        result = flr_device_open(&flr_remote_driver, p->remote, &p->device, error);
        p->T_world_base = flr_pose_identity();
        p->scale = 1;
        p->info = (flr_engine_device){
            .device = h, .kind = FLR_WIRE_DEVICE_PAGE, .present = true, .hand = flr_hand(h)};
        snprintf(p->info.name, sizeof p->info.name, "page or host, hand %u", h);
        e->pointer_count = h + 1;
        e->selected[h] = h;
        loop->devices[h] = p->device;
        loop->device_count = h + 1;
    }
    return result;
}

void flr_engine_close_devices(flr_engine *e)
{
    for (uint32_t i = 0; i < e->def.hands; i++) {
        if (e->pointers[i].remote) flr_device_close(e->pointers[i].device);
        flr_remote_destroy(e->pointers[i].remote);
    }
}

flr_result flr_engine_add_device(flr_engine *e, flr_device *device, uint8_t kind, const char *name,
                                 const char *sentence, flr_pose T_world_base, double scale,
                                 uint32_t *number, flr_error *error)
{
    if (e->pointer_count == FLR_ENGINE_POINTERS)
        return flr_fail(error, FLR_TOO_LARGE, "there are %d devices; no more can be added",
                        FLR_ENGINE_POINTERS);
    flr_pointer *p = &e->pointers[e->pointer_count];
    *p = (flr_pointer){.device = device, .T_world_base = T_world_base, .scale = scale};
    p->info = (flr_engine_device){
        .device = e->pointer_count, .kind = kind, .present = device, .hand = FLR_NO_HAND_ID};
    if (device) {
        const flr_device_info *info = flr_device_get_info(device);
        p->info.max_force = info->force;
        p->info.max_torque = info->torque;
        if (!name) name = info->name;
    }
    flr_text_copy(p->info.name, sizeof p->info.name, name ? name : "device");
    flr_text_copy(p->info.sentence, sizeof p->info.sentence, sentence ? sentence : "");
    flr_engine_tell(e, FLR_ENGINE_EVENT_DEVICE)->index = e->pointer_count;
    if (number) *number = e->pointer_count;
    e->pointer_count++;
    return FLR_OK;
}

uint32_t flr_engine_devices(const flr_engine *e) { return e->pointer_count; }

bool flr_engine_device_at(const flr_engine *e, uint32_t index, flr_engine_device *device)
{
    if (index >= e->pointer_count) return false;
    *device = e->pointers[index].info;
    return true;
}

static flr_result check(const flr_engine *e, uint32_t hand, uint32_t device, flr_error *error)
{
    if (hand >= e->def.hands)
        return flr_fail(error, FLR_NOT_FOUND, "there is no hand %u; there are %u", hand,
                        e->def.hands);
    if (device >= e->pointer_count)
        return flr_fail(error, FLR_NOT_FOUND, "there is no device %u; there are %u", device,
                        e->pointer_count);
    return FLR_OK;
}

void flr_engine_send_base(flr_engine *e, uint32_t hand)
{
    const flr_pointer *p = &e->pointers[e->selected[hand]];
    // a dead-man button is held all the time: the next one takes
    int32_t dead_man = flr_device_get_info(p->device)->dead_man;
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_BASE,
                               .as.base = {.hand = hand,
                                           .map = flr_engine_mapping_def(e, hand),
                                           .grab_button = dead_man == 0 ? 1 : 0,
                                           .firm = e->firm[hand] || !(p->info.max_torque > 0)}};
    flr_engine_send_surely(e, &command);
}

flr_result flr_engine_select(flr_engine *e, flr_hand_id id, uint32_t device, flr_error *error)
{
    uint32_t hand = id.index;
    if (device == FLR_ENGINE_NONE) device = hand;
    flr_result result = check(e, hand, device, error);
    if (result != FLR_OK || e->selected[hand] == device) return result;
    flr_pointer *p = &e->pointers[device];
    if (!p->device)
        return flr_fail(error, FLR_DENIED, "device \"%s\" cannot be used: %s", p->info.name,
                        p->info.sentence);
    if (flr_is_hand(p->info.hand))
        return flr_fail(error, FLR_DENIED, "device \"%s\" moves hand %u already", p->info.name,
                        p->info.hand.index);
    if (flr_loop_exchanging(e->loop, hand))
        return flr_fail(error, FLR_AGAIN, "hand %u is getting another device already", hand);
    result = flr_loop_exchange(e->loop, hand, p->device, error);
    if (result != FLR_OK) return result;
    uint32_t before = e->selected[hand];
    e->pointers[before].info.hand = FLR_NO_HAND_ID;
    p->info.hand = id;
    e->selected[hand] = device;
    memset(&e->guards[hand], 0, sizeof e->guards[hand]);
    flr_sim_command release = {.kind = FLR_SIM_COMMAND_RELEASE, .as.release = {.hand = hand}};
    flr_engine_send_surely(e, &release);
    flr_engine_tell(e, FLR_ENGINE_EVENT_DEVICE)->index = before;
    flr_engine_tell(e, FLR_ENGINE_EVENT_DEVICE)->index = device;
    flr_engine_send_base(e, hand);
    return FLR_OK;
}

flr_result flr_engine_place_device(flr_engine *e, uint32_t device, flr_pose T_world_base,
                                   double scale, flr_error *error)
{
    flr_result result = check(e, 0, device, error);
    if (result != FLR_OK) return result;
    if (!flr_engine_is_pose(T_world_base) || !(scale > 0 && isfinite(scale)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "device %u cannot stand there", device);
    e->pointers[device].T_world_base = T_world_base;
    e->pointers[device].scale = scale;
    uint32_t hand = e->pointers[device].info.hand.index;
    if (hand < e->def.hands) flr_engine_send_base(e, hand);
    return FLR_OK;
}

flr_result flr_engine_hand_input(flr_engine *e, flr_hand_id id, flr_pose T_world_hand,
                                 uint32_t buttons, flr_error *error)
{
    uint32_t hand = id.index;
    flr_result result = check(e, hand, 0, error);
    if (result == FLR_OK && (!flr_engine_is_pose(T_world_hand) ||
                             !flr_remote_set(e->pointers[hand].remote, T_world_hand, buttons)))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "that is no pose for hand %u", hand);
    return result;
}
