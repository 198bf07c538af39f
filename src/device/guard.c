/* output guard: what reaches a device is finite, limited, smooth, and zero in time
 *
 * The law. Let T be the time of a frame and S the step per frame. From one output to the next, e
 * later, |change| <= S min(1, e/T). Something is lost when it is older than `detect`. From then on
 * the output fades, and at the age a it is no more than S (zero - a)/T: zero in time, however
 * irregular the frames. The limit of the force is S (zero - detect)/T, so that with frames in time
 * this bound asks for nothing that the first rule does not allow; only where frames are late it
 * does, and then it counts more.
 *
 * Two threads. The state belongs to whoever has set `owner`. A step takes it for as long as it
 * runs; the watchdog takes it when no step came for a while. Neither waits: where the other has
 * it, a step does nothing, and the watchdog, when a step hangs, stops the device, which needs none
 * of the state. */
#include "feeler/device.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "feeler/base.h"

enum { GUARD_FREE, STEPPING, WATCHING };

#define SECOND_NS ((int64_t)1000000000)
static const int64_t most_zero_ns = 25000000;
static const unsigned still_frames = 4; /* for so many a clock may stand still */
static const double least = 1e-9;       /* N, N m: less is nothing, and never a denormal */

struct flr_guard {
    flr_device *device;
    // fixed when it is made
    double force_limit, torque_limit, force_step, torque_step;
    double frame_ns; /* T */
    int64_t ramp_ns, detect_ns, zero_ns;
    bool dead_man;

    _Atomic int owner;
    atomic_bool started;
    _Atomic int64_t stepped_ns; /* begin of the last step */
    atomic_bool hung;           /* the watchdog stopped the device while a step hung */

    // the owner's
    int64_t now_ns;              /* of the last output */
    int64_t input_age, data_age; /* ns, at the last output */
    int64_t trip_age;            /* since it began to fade */
    unsigned still;              /* frames since the clock last moved */
    bool tripped;                /* fading or gone */
    bool watched;                /* the watchdog had it since the last step */
    bool device_lost;            /* the last write failed */
    double gain;
    flr_wrench output;

    // the watchdog's own: the clock may have jumped behind the last step's time
    int64_t watched_ns; /* of its last look */
    int64_t silent_ns;  /* since it last saw a new step */
    int64_t seen_ns;    /* the step that it saw last, and how many there were */
    uint64_t seen_steps;

    // written by the owner, read by all
    _Atomic uint64_t steps, trips, counts[FLR_FAULT_COUNT];
    _Atomic double max_force, max_torque;
};

const char *flr_fault_name(unsigned index)
{
    static const char *const names[FLR_FAULT_COUNT] = {
        "not a number", "force limited", "torque limited", "change limited",
        "input lost",   "data lost",     "frames stalled", "clock jumped",
        "not held",     "device lost",   "watchdog",       "step hung"};
    FLR_ASSERT(index < FLR_FAULT_COUNT);
    return names[index];
}

/* ---- making ---- */

flr_guard_def flr_default_guard_def(void)
{
    flr_guard_def def = {
        .rate = 1000, .force_step = 1, .ramp_ns = SECOND_NS / 2, .zero_ns = most_zero_ns};
    return def;
}

static flr_result check(const flr_guard_def *def, int64_t frame_ns, int64_t detect_ns,
                        flr_error *error)
{
    if (!(def->force >= 0 && def->force <= DBL_MAX && def->torque >= 0 && def->torque <= DBL_MAX))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "output guard: limits of %g N and %g N m; neither may be negative",
                        def->force, def->torque);
    if (!(def->force_step > 0 && def->force_step <= 1))
        return flr_fail(
            error, FLR_BAD_ARGUMENT,
            "output guard: a change of %g N per frame; it must be above 0 and at most 1",
            def->force_step);
    if (!(def->torque_step >= 0 && def->torque_step <= DBL_MAX))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "output guard: a change of %g N m per frame; it may not be negative",
                        def->torque_step);
    if (def->ramp_ns < 0 || def->ramp_ns > 10 * SECOND_NS)
        return flr_fail(error, FLR_BAD_ARGUMENT, "output guard: a ramp of %g s; choose 0 to 10 s",
                        1e-9 * (double)def->ramp_ns);
    if (def->zero_ns <= 0 || def->zero_ns > most_zero_ns)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "output guard: zero after %g ms; it must be above 0 and at most 25 ms",
                        1e-6 * (double)def->zero_ns);
    if (detect_ns < frame_ns || detect_ns > def->zero_ns - frame_ns)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "output guard: a loss noticed after %g ms and zero after %g ms at %g Hz; a "
                        "frame must fit before and behind it",
                        1e-6 * (double)detect_ns, 1e-6 * (double)def->zero_ns, def->rate);
    return FLR_OK;
}

/* the smallest of what is asked for, what the device bears, and what can fade in time */
static void set_limits(flr_guard *g, const flr_guard_def *def)
{
    const flr_device_info *info = flr_device_get_info(def->device);
    double frames = (double)(g->zero_ns - g->detect_ns) / g->frame_ns;
    g->force_step = def->force_step;
    g->force_limit = info->force;
    if (def->force > 0) g->force_limit = fmin(g->force_limit, def->force);
    g->force_limit = fmin(g->force_limit, g->force_step * frames);

    g->torque_limit = info->torque;
    if (def->torque > 0) g->torque_limit = fmin(g->torque_limit, def->torque);
    // a torque that fades from its limit as long as the force does from its own
    double same = g->force_limit > 0 ? g->force_limit / g->force_step : frames;
    g->torque_step = def->torque_step > 0 ? def->torque_step : g->torque_limit / fmax(same, 1);
    g->torque_limit = fmin(g->torque_limit, g->torque_step * frames);
}

flr_result flr_guard_create(const flr_guard_def *def, flr_guard **guard, flr_error *error)
{
    FLR_ASSERT(def && def->device && guard);
    if (!(def->rate >= 50 && def->rate <= 20000))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "output guard: a rate of %g Hz; choose 50 to 20000 Hz", def->rate);
    int64_t frame_ns = (int64_t)llround(1e9 / def->rate), detect_ns = def->detect_ns;
    if (detect_ns == 0) detect_ns = frame_ns > 2500000 ? 2 * frame_ns : 5000000;
    if (detect_ns > def->zero_ns / 2 && def->detect_ns == 0) detect_ns = def->zero_ns / 2;
    flr_result result = check(def, frame_ns, detect_ns, error);
    if (result != FLR_OK) return result;

    flr_guard *g = calloc(1, sizeof *g);
    if (!g) return flr_fail(error, FLR_NO_MEMORY, "output guard: out of memory");
    if (!flr_device_take(def->device)) {
        free(g);
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "output guard: the device \"%s\" has a guard already; use that one",
                        flr_device_get_info(def->device)->name);
    }
    g->device = def->device;
    g->frame_ns = (double)frame_ns;
    g->ramp_ns = def->ramp_ns;
    g->detect_ns = detect_ns;
    g->zero_ns = def->zero_ns;
    g->dead_man = flr_device_get_info(def->device)->dead_man >= 0;
    g->tripped = true; // the first force comes as all others: by the ramp
    set_limits(g, def);
    *guard = g;
    return FLR_OK;
}

void flr_guard_destroy(flr_guard *guard)
{
    if (!guard) return;
    flr_wrench zero = {{0, 0, 0}, {0, 0, 0}};
    flr_device_write(guard->device, guard->now_ns, &zero);
    flr_device_release(guard->device);
    free(guard);
}

double flr_guard_force_limit(const flr_guard *guard)
{
    FLR_ASSERT(guard);
    return guard->force_limit;
}

double flr_guard_torque_limit(const flr_guard *guard)
{
    FLR_ASSERT(guard);
    return guard->torque_limit;
}

double flr_guard_torque_step(const flr_guard *guard)
{
    FLR_ASSERT(guard);
    return guard->torque_step;
}

/* ---- counting ---- */

static void count(_Atomic uint64_t *counter)
{
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + 1, memory_order_relaxed);
}

static void count_faults(flr_guard *g, uint32_t faults)
{
    for (unsigned i = 0; i < FLR_FAULT_COUNT; i++)
        if (faults >> i & 1) count(&g->counts[i]);
}

static void keep_largest(_Atomic double *largest, double value)
{
    if (value > atomic_load_explicit(largest, memory_order_relaxed))
        atomic_store_explicit(largest, value, memory_order_relaxed);
}

flr_guard_stats flr_guard_get_stats(const flr_guard *guard)
{
    FLR_ASSERT(guard);
    flr_guard_stats stats = {
        .steps = atomic_load_explicit(&guard->steps, memory_order_relaxed),
        .trips = atomic_load_explicit(&guard->trips, memory_order_relaxed),
        .max_force = atomic_load_explicit(&guard->max_force, memory_order_relaxed),
        .max_torque = atomic_load_explicit(&guard->max_torque, memory_order_relaxed),
    };
    for (int i = 0; i < FLR_FAULT_COUNT; i++)
        stats.counts[i] = atomic_load_explicit(&guard->counts[i], memory_order_relaxed);
    return stats;
}

/* ---- vectors that may hold anything ---- */

/* at most `limit` long, same direction, however long before; true: was longer */
static bool limit_length(flr_vec3 *v, double limit)
{
    // a component beyond the limit decides before a square could overflow
    double most = fmax(fabs(v->x), fmax(fabs(v->y), fabs(v->z)));
    if (most <= limit && flr_vec3_length2(*v) <= limit * limit) return false;
    *v = flr_vec3_scale(flr_vec3_normalize(*v), limit);
    return true;
}

static double without_dust(double x) { return fabs(x) < least ? 0 : x; }

static flr_vec3 clean(flr_vec3 v)
{
    return flr_vec3_make(without_dust(v.x), without_dust(v.y), without_dust(v.z));
}

/* from `now` towards `target`, by no more than `most`; true: did not get there */
static bool approach(flr_vec3 *now, flr_vec3 target, double most)
{
    flr_vec3 way = flr_vec3_sub(target, *now);
    double length = flr_vec3_length(way);
    if (length <= most) {
        *now = target;
        return false;
    }
    *now = clean(flr_vec3_add_scaled(*now, most / length, way));
    return true;
}

/* ---- one output ---- */

/* Time since the last output, as far as the clock can be believed. */
static int64_t elapse(flr_guard *g, int64_t now_ns, uint32_t *faults)
{
    int64_t elapsed;
    g->still = now_ns == g->now_ns ? g->still + 1 : 0;
    if (!atomic_load_explicit(&g->started, memory_order_relaxed)) {
        elapsed = (int64_t)g->frame_ns;
    } else if (g->still > 0 && g->still <= still_frames) {
        elapsed = 0; // two frames in one tick of a coarse clock
    } else if (now_ns <= g->now_ns) {
        *faults |= FLR_FAULT_CLOCK;
        elapsed = (int64_t)g->frame_ns;
    } else if (__builtin_sub_overflow(now_ns, g->now_ns, &elapsed) || elapsed > SECOND_NS) {
        elapsed = SECOND_NS; // more makes no difference
    }
    g->now_ns = now_ns;
    return elapsed;
}

static int64_t grow_older(int64_t age, bool fresh, int64_t elapsed)
{
    if (fresh) return 0;
    return age > SECOND_NS ? age : age + elapsed;
}

/* Moves towards zero, and is there in time; `lost_ns` ago something was lost. */
static void fade(flr_guard *g, int64_t elapsed, int64_t lost_ns)
{
    double frames = fmin(1, (double)elapsed / g->frame_ns);
    g->gain = 0;
    // counted from the last good output: whatever went wrong may have done so right after it
    g->trip_age = g->tripped ? grow_older(g->trip_age, false, elapsed) : elapsed;
    if (!g->tripped) count(&g->trips);
    g->tripped = true;
    approach(&g->output.force, flr_vec3_zero(), g->force_step * frames);
    approach(&g->output.torque, flr_vec3_zero(), g->torque_step * frames);

    // what can still fade in the frames that are left
    int64_t age = lost_ns > g->trip_age ? lost_ns : g->trip_age;
    double left = fmax(0, (double)(g->zero_ns - age) / g->frame_ns);
    limit_length(&g->output.force, g->force_step * left);
    limit_length(&g->output.torque, g->torque_step * left);
}

/* Moves towards what is wanted, of which the ramp lets through a share. */
static uint32_t follow(flr_guard *g, flr_wrench wanted, int64_t elapsed)
{
    uint32_t faults = 0;
    double frames = fmin(1, (double)elapsed / g->frame_ns);
    if (limit_length(&wanted.force, g->force_limit)) faults |= FLR_FAULT_FORCE_LIMIT;
    if (limit_length(&wanted.torque, g->torque_limit)) faults |= FLR_FAULT_TORQUE_LIMIT;
    g->gain = g->ramp_ns > 0 ? fmin(1, g->gain + frames * g->frame_ns / (double)g->ramp_ns) : 1;
    flr_vec3 force = clean(flr_vec3_scale(wanted.force, g->gain));
    flr_vec3 torque = clean(flr_vec3_scale(wanted.torque, g->gain));
    if (approach(&g->output.force, force, g->force_step * frames)) faults |= FLR_FAULT_SLEW;
    if (approach(&g->output.torque, torque, g->torque_step * frames)) faults |= FLR_FAULT_SLEW;
    // between two points within the limit, but for rounding
    limit_length(&g->output.force, g->force_limit);
    limit_length(&g->output.torque, g->torque_limit);
    return faults;
}

static void write_out(flr_guard *g)
{
    g->device_lost = !flr_device_write(g->device, g->now_ns, &g->output);
    keep_largest(&g->max_force, flr_vec3_length(g->output.force));
    keep_largest(&g->max_torque, flr_vec3_length(g->output.torque));
}

/* What is lost in this step, as faults; `*lost_ns`: for how long, of the oldest. */
static uint32_t find_losses(flr_guard *g, const flr_guard_input *input, int64_t elapsed,
                            int64_t *lost_ns)
{
    uint32_t faults = 0;
    g->input_age = grow_older(g->input_age, input->input_fresh, elapsed);
    g->data_age = grow_older(g->data_age, input->data_fresh, elapsed);
    *lost_ns = g->input_age > g->data_age ? g->input_age : g->data_age;
    if (g->input_age > g->detect_ns) faults |= FLR_FAULT_INPUT_LOST;
    if (g->data_age > g->detect_ns) faults |= FLR_FAULT_DATA_LOST;
    // a gap between steps: the thread was lost for that long
    if (g->watched || elapsed > g->detect_ns) {
        faults |= FLR_FAULT_STALLED;
        if (elapsed > *lost_ns) *lost_ns = elapsed;
    }
    if (!flr_vec3_is_finite(input->wrench.force) || !flr_vec3_is_finite(input->wrench.torque))
        faults |= FLR_FAULT_NOT_FINITE;
    if (g->dead_man && !input->held) faults |= FLR_FAULT_DEAD_MAN;
    if (g->device_lost) faults |= FLR_FAULT_DEVICE;
    return faults;
}

/* After the watchdog had to stop the device behind this step's back: begin again at nothing. */
static uint32_t begin_again(flr_guard *g)
{
    g->output = (flr_wrench){{0, 0, 0}, {0, 0, 0}};
    g->gain = 0;
    write_out(g);
    return FLR_FAULT_HUNG;
}

void flr_guard_step(flr_guard *guard, const flr_guard_input *input, flr_guard_output *output)
{
    FLR_ASSERT(guard && input);
    flr_guard *g = guard;
    int nobody = GUARD_FREE;
    if (!atomic_compare_exchange_strong(&g->owner, &nobody, STEPPING)) {
        // the watchdog is fading this very moment: this frame is its own
        if (output) *output = (flr_guard_output){.faults = FLR_FAULT_WATCHDOG | FLR_FAULT_STALLED};
        return;
    }
    uint32_t faults = 0;
    int64_t elapsed = elapse(g, input->now_ns, &faults), lost_ns;
    atomic_store(&g->stepped_ns, input->now_ns);
    atomic_store(&g->started, true);
    faults |= find_losses(g, input, elapsed, &lost_ns);
    g->watched = false;
    if (faults) {
        fade(g, elapsed, lost_ns);
    } else {
        faults = follow(g, input->wrench, elapsed);
        g->tripped = false;
    }
    write_out(g);
    if (atomic_exchange(&g->hung, false)) faults |= begin_again(g);
    count(&g->steps);
    count_faults(g, faults);
    if (output) *output = (flr_guard_output){g->output, faults, g->gain};
    atomic_store(&g->owner, GUARD_FREE);
}

/* For how long no step has come, as far as the watchdog has seen by itself: what the clock says of
 * the last step is worth nothing where it was set back since. */
static int64_t silence(flr_guard *g, int64_t now_ns, int64_t stepped_ns)
{
    uint64_t steps = atomic_load_explicit(&g->steps, memory_order_relaxed);
    int64_t passed;
    if (__builtin_sub_overflow(now_ns, g->watched_ns, &passed) || passed > SECOND_NS)
        passed = now_ns > g->watched_ns ? SECOND_NS : (int64_t)g->frame_ns;
    if (passed < 0) passed = (int64_t)g->frame_ns; // it looks about once a frame
    if (steps != g->seen_steps || stepped_ns != g->seen_ns)
        g->silent_ns = 0;
    else
        g->silent_ns = grow_older(g->silent_ns, false, passed);
    g->watched_ns = now_ns;
    g->seen_steps = steps;
    g->seen_ns = stepped_ns;
    return g->silent_ns;
}

bool flr_guard_watch(flr_guard *guard, int64_t now_ns)
{
    FLR_ASSERT(guard);
    flr_guard *g = guard;
    int64_t missing;
    if (!atomic_load(&g->started)) return false;
    int64_t stepped = atomic_load(&g->stepped_ns);
    int64_t silent = silence(g, now_ns, stepped);
    if (__builtin_sub_overflow(now_ns, stepped, &missing))
        missing = now_ns > stepped ? SECOND_NS : 0;
    // set back: the step may have come up to a frame before it was seen
    if (now_ns < stepped) silent += (int64_t)g->frame_ns;
    if (silent > missing) missing = silent;
    if (missing <= g->detect_ns) return false;

    int nobody = GUARD_FREE;
    if (!atomic_compare_exchange_strong(&g->owner, &nobody, WATCHING)) {
        // a step hangs, most likely in its driver: what it was about to write must not stay
        if (!atomic_exchange(&g->hung, true)) flr_device_stop(g->device, now_ns);
        return true;
    }
    if (atomic_load(&g->stepped_ns) == stepped && now_ns != g->now_ns) {
        uint32_t faults = FLR_FAULT_WATCHDOG;
        fade(g, elapse(g, now_ns, &faults), missing);
        write_out(g);
        g->watched = true;
        count_faults(g, faults);
    }
    atomic_store(&g->owner, GUARD_FREE);
    return true;
}

/* ---- saving ---- */

typedef struct guard_saved {
    int64_t stepped_ns, now_ns, input_age, data_age, trip_age;
    flr_wrench output;
    double gain;
    uint32_t still;
    bool started, tripped, watched, device_lost;
} guard_saved;

size_t flr_guard_saved_size(void) { return sizeof(guard_saved); }

void flr_guard_save(const flr_guard *g, void *bytes)
{
    guard_saved s;
    memset(&s, 0, sizeof s); /* gaps, too: the same state is the same bytes */
    s.stepped_ns = atomic_load(&g->stepped_ns), s.now_ns = g->now_ns;
    s.input_age = g->input_age, s.data_age = g->data_age, s.trip_age = g->trip_age;
    s.output = g->output, s.gain = g->gain, s.still = g->still;
    s.started = atomic_load(&g->started), s.tripped = g->tripped;
    s.watched = g->watched, s.device_lost = g->device_lost;
    memcpy(bytes, &s, sizeof s);
}

void flr_guard_load(flr_guard *g, const void *bytes)
{
    guard_saved s;
    memcpy(&s, bytes, sizeof s);
    atomic_store(&g->stepped_ns, s.stepped_ns), g->now_ns = s.now_ns;
    g->input_age = s.input_age, g->data_age = s.data_age, g->trip_age = s.trip_age;
    g->output = s.output, g->gain = s.gain, g->still = s.still;
    atomic_store(&g->started, s.started), g->tripped = s.tripped;
    g->watched = s.watched, g->device_lost = s.device_lost;
}
