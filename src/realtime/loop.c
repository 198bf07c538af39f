/* loop: what happens in a frame, and when */
#include "realtime/loop.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"

enum { COMMANDS_PER_FRAME = 32 }; /* more wait for the next: the work of a frame is bounded */

/* faults that are more than a force at its limit */
static const uint32_t serious =
    ~(uint32_t)(FLR_FAULT_FORCE_LIMIT | FLR_FAULT_TORQUE_LIMIT | FLR_FAULT_SLEW);
/* what makes a force fade and is no fault of a device that gives none: a page's hand that nobody moves */
static const uint32_t fading = FLR_FAULT_INPUT_LOST | FLR_FAULT_DEAD_MAN;

/* ---- making ---- */

flr_loop_def flr_default_loop_def(void)
{
    flr_loop_def def;
    memset(&def, 0, sizeof def);
    def.rate = 1000;
    def.paced = true;
    def.guard = flr_default_guard_def();
    def.command_capacity = 64;
    def.priority = 80;
    def.lock_memory = true;
    def.cpu = def.home = -1;
    def.slow = 1;
    return def;
}

/* A real device with time of its own is refused. */
flr_result flr_loop_check_device(const flr_loop_def *def, const flr_device *device,
                                 flr_error *error)
{
    const flr_device_info *info = flr_device_get_info(device);
    if (info->hardware && !def->paced)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "loop: the device \"%s\" is real and cannot run faster than the clock; "
                        "use a paced loop",
                        info->name);
    return FLR_OK;
}

static flr_result check(const flr_loop_def *def, flr_error *error)
{
    if (!(def->rate >= 250 && def->rate <= 10000))
        return flr_fail(error, FLR_BAD_ARGUMENT, "loop: a rate of %g Hz; choose 250 to 10000 Hz",
                        def->rate);
    if (def->device_count > FLR_LOOP_DEVICES)
        return flr_fail(error, FLR_BAD_ARGUMENT, "loop: %u devices; it takes %d at most",
                        def->device_count, FLR_LOOP_DEVICES);
    if (def->priority < 0 || def->priority > 98)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "loop: priority %d; choose 1 to 98, or 0 for an ordinary one",
                        def->priority);
    if (def->slow < 1 || def->slow > 100 || (def->slow > 1 && def->paced))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "loop: steps of %u periods; choose 1 to 100, and only free running",
                        def->slow);
    for (uint32_t i = 0; i < def->device_count; i++) {
        FLR_ASSERT(def->devices[i]);
        flr_result result = flr_loop_check_device(def, def->devices[i], error);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

static flr_result fill(flr_loop *loop, flr_error *error)
{
    const flr_loop_def *def = &loop->def;
    bool stats = flr_stats_init(&loop->stats);
    if (def->command && def->command_size > 0) {
        loop->commands = flr_ring_create(def->command_size, def->command_capacity);
        loop->command = calloc(1, def->command_size);
    }
    if (def->state_size > 0) loop->state = flr_latest_create(def->state_size);
    if (def->local) loop->haptics = flr_haptics_create(def->device_count);
    bool wants_commands = def->command && def->command_size > 0;
    if (!stats || (wants_commands && (!loop->commands || !loop->command)) ||
        (def->state_size > 0 && !loop->state) || (def->local && !loop->haptics))
        return flr_fail(error, FLR_NO_MEMORY, "loop: out of memory");
    for (uint32_t i = 0; i < def->device_count; i++) {
        flr_guard_def guard = def->guard;
        guard.device = def->devices[i];
        guard.rate = def->rate;
        flr_guard *made;
        flr_result result = flr_guard_create(&guard, &made, error);
        if (result != FLR_OK) return result;
        loop->guards[i] = made;
    }
    return FLR_OK;
}

flr_result flr_loop_create(const flr_loop_def *def, flr_loop **loop, flr_error *error)
{
    FLR_ASSERT(def && loop && def->env && def->step);
    FLR_ASSERT(def->command_size == 0 || def->command_capacity > 0);
    flr_result result = check(def, error);
    if (result != FLR_OK) return result;
    flr_loop *l = calloc(1, sizeof *l);
    if (!l) return flr_fail(error, FLR_NO_MEMORY, "loop: out of memory");
    l->def = *def;
    l->period_ns = (int64_t)llround(1e9 / def->rate);
    l->faded = true;
    for (int i = 0; i < FLR_LOOP_DEVICES; i++) l->samples[i].T_base_grip = flr_pose_identity();
    result = fill(l, error);
    if (result != FLR_OK) {
        flr_loop_destroy(l);
        return result;
    }
    *loop = l;
    return FLR_OK;
}

void flr_loop_destroy(flr_loop *loop)
{
    if (!loop) return;
    flr_loop_stop(loop);
    for (int i = 0; i < FLR_LOOP_DEVICES; i++) {
        flr_guard_destroy(loop->guards[i]);
        flr_guard_destroy(loop->newcomers[i].guard);
    }
    flr_ring_destroy(loop->commands);
    free(loop->command);
    flr_latest_destroy(loop->state);
    flr_haptics_destroy(loop->haptics);
    flr_stats_free(&loop->stats);
    free(loop);
}

/* ---- the stages of a frame ---- */

/* Waits for the frame's time, which may be past. Whole periods that are gone are left out. */
static void wait_for_time(flr_loop *loop, flr_loop_frame *frame, flr_stats_frame *record)
{
    int64_t now = flr_clock_ns(loop->def.env);
    if (!loop->begun) loop->next_ns = loop->def.paced ? now : 0;
    loop->begun = true;
    if (loop->def.paced) {
        record->slept = now < loop->next_ns;
        if (record->slept) flr_sleep_until(loop->def.env, loop->next_ns);
        if (record->slept) now = flr_clock_ns(loop->def.env);
        int64_t late = now - loop->next_ns, gone = late / loop->period_ns;
        if (late < 0) late = gone = 0;
        loop->next_ns += gone * loop->period_ns;
        if (loop->fresh_start && !record->slept) late = gone = 0; // nobody was waiting
        record->detail.late_ns = late;
        record->detail.skipped = gone < UINT32_MAX ? (uint32_t)gone : UINT32_MAX;
    }
    loop->fresh_start = false;
    record->period_ns = loop->period_ns;
    record->detail.number = frame->number = loop->number++;
    record->detail.time_ns = frame->time_ns = loop->next_ns;
    record->detail.cpu_begin = sched_getcpu();
    frame->skipped = record->detail.skipped;
    frame->dt = 1e-9 * (double)loop->period_ns;
    loop->next_ns += loop->period_ns;
}

static void take_commands(flr_loop *loop, flr_stats_frame *record)
{
    if (!loop->commands) return;
    while (record->detail.commands < COMMANDS_PER_FRAME &&
           flr_ring_pop(loop->commands, loop->command)) {
        loop->def.command(loop->def.context, loop->command);
        record->detail.commands++;
    }
}

/* From the devices, or from the thread that serves them. */
static void read_devices(flr_loop *loop, flr_loop_frame *frame, flr_stats_frame *record)
{
    frame->device_count = loop->def.device_count;
    frame->wrenches = loop->wrenches;
    if (loop->haptics) {
        if (!loop->again) flr_haptics_read(loop, frame);
        frame->samples = loop->haptics->samples;
        frame->sent = loop->haptics->sent;
        frame->models = loop->haptics->given;
        for (uint32_t i = 0; i < loop->def.device_count; i++)
            record->missed |= !loop->haptics->fresh[i];
        loop->again = false;
        return;
    }
    for (uint32_t i = 0; i < loop->def.device_count; i++) {
        if (!loop->again)
            loop->fresh[i] =
                flr_device_read(loop->def.devices[i], frame->time_ns, &loop->samples[i]);
        loop->wrenches[i] = (flr_wrench){{0, 0, 0}, {0, 0, 0}};
        record->missed |= !loop->fresh[i];
    }
    frame->samples = loop->samples;
    frame->sent = loop->sent;
    loop->again = false;
}

/* False: there is no answer in this frame. */
static bool step_world(flr_loop *loop, flr_loop_frame *frame, flr_stats_frame *record)
{
    if (atomic_load_explicit(&loop->paused, memory_order_relaxed)) return false;
    frame->state = loop->state ? flr_latest_begin(loop->state) : NULL;
    bool valid = loop->def.step(loop->def.context, frame);
    record->failed = !valid;
    if (loop->state) flr_latest_publish(loop->state);
    memcpy(record->detail.notes, frame->notes, sizeof frame->notes);
    return valid;
}

/* Nobody listens to the user any more when control stalls: the guards see that as a loss of data. Frames are counted, not time:
 * a machine that slept had none. */
static bool control_stalls(flr_loop *loop)
{
    if (!loop->stall || !loop->def.paced) return false;
    uint64_t beats = flr_stall_beats(loop->stall);
    loop->stale = beats == loop->beats && !flr_stall_rests(loop->stall) ? loop->stale + 1 : 0;
    loop->beats = beats;
    return loop->stale > loop->stale_most || flr_stall_has_stalled(loop->stall);
}

uint32_t flr_loop_faults_of(const flr_device_info *info, uint32_t faults)
{
    return info->force > 0 || info->torque > 0 ? faults : faults & ~fading;
}

/* The step is done: its models are the newest ones. Free running, the devices were served from the ones before while it took
 * `slow` periods. */
static void leave_models(flr_loop *loop, const flr_loop_frame *frame, bool valid,
                         flr_stats_frame *record)
{
    int64_t now = loop->def.paced ? flr_clock_ns(loop->def.env) : frame->time_ns;
    const bool alone = !loop->haptics->made; /* nobody else serves them */
    for (unsigned k = 0; alone && k < loop->def.slow; k++, now += loop->period_ns)
        record->detail.faults |= flr_haptics_serve(loop, now);
    flr_haptics_publish(loop, now, valid);
    record->fault = record->detail.faults & serious;
}

static void write_forces(flr_loop *loop, const flr_loop_frame *frame, bool valid,
                         flr_stats_frame *record)
{
    if (loop->haptics) {
        leave_models(loop, frame, valid, record);
        return;
    }
    for (uint32_t i = 0; i < loop->def.device_count; i++) {
        const flr_device_info *info = flr_device_get_info(loop->def.devices[i]);
        int32_t button = info->dead_man;
        flr_guard_input input = {
            .now_ns = loop->def.paced ? flr_clock_ns(loop->def.env) : frame->time_ns,
            .input_fresh = loop->fresh[i],
            .data_fresh = valid,
            .held = button >= 0 && (loop->samples[i].buttons >> button & 1),
        };
        if (valid && !flr_loop_is_leaving(loop, i)) input.wrench = loop->wrenches[i];
        flr_guard_output output;
        flr_guard_step(loop->guards[i], &input, &output);
        loop->sent[i] = output.wrench;
        flr_loop_let_in(loop, i);
        record->detail.faults |= flr_loop_faults_of(info, output.faults);
    }
    record->fault = record->detail.faults & serious;
}

/* The frame could not happen yet: the next one is this one again. */
static void put_back(flr_loop *loop)
{
    loop->number--;
    loop->next_ns -= loop->period_ns;
    loop->again = true;
}

/* False: it is to be done again. */
static bool one_frame(flr_loop *loop)
{
    flr_env *env = loop->def.env;
    flr_loop_frame frame;
    flr_stats_frame record;
    memset(&frame, 0, sizeof frame);
    memset(&record, 0, sizeof record);

    wait_for_time(loop, &frame, &record);
    int64_t woken = flr_clock_ns(env);
    take_commands(loop, &record);
    read_devices(loop, &frame, &record);
    int64_t read = flr_clock_ns(env);
    bool valid = step_world(loop, &frame, &record);
    if (!valid && frame.again && !loop->def.paced) {
        put_back(loop);
        return false;
    }
    int64_t stepped = flr_clock_ns(env);
    if (control_stalls(loop)) valid = false;
    write_forces(loop, &frame, valid, &record);
    loop->next_ns += (int64_t)(loop->def.slow - 1) * loop->period_ns;
    int64_t written = flr_clock_ns(env);

    record.detail.read_ns = read - woken;
    record.detail.step_ns = stepped - read;
    record.detail.write_ns = written - stepped;
    record.detail.cpu_end = sched_getcpu();
    flr_stats_add(&loop->stats, &record);
    return true;
}

void flr_loop_frames(flr_loop *loop, uint64_t frames)
{
    loop->fresh_start = true;
    loop->faded = false;
    for (uint64_t n = 0; frames == 0 || n < frames;) {
        if (atomic_load_explicit(&loop->end, memory_order_relaxed)) break;
        n += one_frame(loop);
    }
}

void flr_loop_run(flr_loop *loop, uint64_t frames)
{
    FLR_ASSERT(loop && !flr_loop_is_running(loop));
    atomic_store(&loop->end, false);
    flr_loop_frames(loop, frames);
}

void flr_loop_end(flr_loop *loop)
{
    FLR_ASSERT(loop);
    atomic_store(&loop->end, true);
}

void flr_loop_pause(flr_loop *loop, bool paused)
{
    FLR_ASSERT(loop);
    atomic_store(&loop->paused, paused);
}

bool flr_loop_watch(flr_loop *loop)
{
    FLR_ASSERT(loop);
    if (!loop->def.paced) return false; // its frames have a time of their own
    bool in_charge = false;
    int64_t now = flr_clock_ns(loop->def.env);
    for (uint32_t i = 0; i < loop->def.device_count; i++)
        in_charge |= flr_guard_watch(loop->guards[i], now);
    atomic_fetch_add(&loop->rounds, 1);
    return in_charge;
}

/* ---- talking to it ---- */

bool flr_loop_send(flr_loop *loop, const void *command)
{
    FLR_ASSERT(loop && loop->commands && command);
    return flr_ring_push(loop->commands, command);
}

uint64_t flr_loop_view(flr_loop *loop, void *state)
{
    FLR_ASSERT(loop && loop->state && state);
    return flr_latest_read(loop->state, state);
}

const void *flr_loop_look(flr_loop *loop)
{
    FLR_ASSERT(loop && loop->state);
    uint64_t number;
    const void *state = flr_latest_view(loop->state, &number);
    return number > 0 ? state : NULL;
}

const flr_guard *flr_loop_guard(const flr_loop *loop, uint32_t device)
{
    FLR_ASSERT(loop && device < loop->def.device_count);
    return loop->guards[device];
}

void flr_loop_get_stats(flr_loop *loop, flr_loop_stats *stats)
{
    FLR_ASSERT(loop && stats);
    flr_stats_read(&loop->stats, stats);
    stats->dropped = loop->commands ? flr_ring_dropped(loop->commands) : 0;
    stats->page_faults = atomic_load(&loop->threads.page_faults);
    stats->served = loop->haptics ? atomic_load(&loop->haptics->served) : 0;
    stats->stretched = loop->haptics ? atomic_load(&loop->haptics->stretched) : 0;
}

const flr_passivity *flr_loop_passivity(const flr_loop *loop, uint32_t device)
{
    FLR_ASSERT(loop && device < loop->def.device_count);
    return loop->haptics ? &loop->haptics->passivity[device] : NULL;
}

const flr_histogram *flr_loop_compute(const flr_loop *loop)
{
    FLR_ASSERT(loop);
    return &loop->stats.compute;
}
