/* one device in the place of another, between two frames */
#include "feeler/base.h"
#include "realtime/loop.h"

enum {
    EXCHANGE_ROUNDS = 2
}; /* of the watchdog, after which it looks at no guard that it saw before */

flr_result flr_loop_exchange(flr_loop *loop, uint32_t index, flr_device *device, flr_error *error)
{
    FLR_ASSERT(loop && device && index < loop->def.device_count);
    if (flr_loop_exchanging(loop, index))
        return flr_fail(error, FLR_AGAIN,
                        "loop: device %u is being exchanged already; wait a little", index);
    flr_loop_newcomer *n = &loop->newcomers[index];
    flr_result result = flr_loop_check_device(&loop->def, device, error);
    flr_guard_def def = loop->def.guard;
    def.device = device;
    def.rate = loop->def.rate;
    if (result == FLR_OK) result = flr_guard_create(&def, &n->guard, error);
    if (result != FLR_OK) return result;
    n->device = device;
    n->rounds = 0;
    atomic_store(&n->phase, FLR_EXCHANGE_ASKED);
    if (loop->faded && !flr_loop_is_running(loop)) flr_loop_let_in(loop, index);
    return FLR_OK;
}

bool flr_loop_is_leaving(const flr_loop *loop, uint32_t index)
{
    return atomic_load_explicit(&loop->newcomers[index].phase, memory_order_acquire) ==
           FLR_EXCHANGE_ASKED;
}

static bool is_zero(const flr_wrench *w)
{
    return flr_vec3_length2(w->force) == 0 && flr_vec3_length2(w->torque) == 0;
}

void flr_loop_let_in(flr_loop *loop, uint32_t index)
{
    flr_loop_newcomer *n = &loop->newcomers[index];
    if (!flr_loop_is_leaving(loop, index) || !(loop->faded || is_zero(&loop->sent[index]))) return;
    flr_guard *before = loop->guards[index];
    loop->guards[index] = n->guard;
    loop->def.devices[index] = n->device;
    loop->samples[index] = (flr_device_sample){.T_base_grip = flr_pose_identity()};
    loop->sent[index] = (flr_wrench){{0, 0, 0}, {0, 0, 0}};
    n->guard = before;
    atomic_store(&n->phase, FLR_EXCHANGE_DONE);
}

bool flr_loop_exchanging(flr_loop *loop, uint32_t index)
{
    FLR_ASSERT(loop && index < loop->def.device_count);
    flr_loop_newcomer *n = &loop->newcomers[index];
    if (atomic_load(&n->phase) == FLR_EXCHANGE_NONE) return false;
    if (atomic_load(&n->phase) == FLR_EXCHANGE_ASKED) return true;
    // the watchdog may still look at the guard before
    uint64_t rounds = atomic_load(&loop->rounds) + 1;
    if (n->rounds == 0) n->rounds = rounds;
    if (loop->threads.watchdog_made && rounds < n->rounds + EXCHANGE_ROUNDS) return true;
    flr_guard_destroy(n->guard);
    n->guard = NULL;
    atomic_store(&n->phase, FLR_EXCHANGE_NONE);
    return false;
}
