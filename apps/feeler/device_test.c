/* measuring a device: how often it has something new, where it was, what a force does */
#include "device_test.h"

#include <math.h>
#include <stdio.h>

#include "files.h"
#include "output.h"

enum {
    LOOP_RATE = 1000,
    STEP_NS = 1000000000 / LOOP_RATE,
    READ_RATE =
        4000, /* more often than devices have something new, so that it is their rate that is measured and not ours */
    READ_NS = 1000000000 / READ_RATE,
    FADE_FRAMES = 100 /* from the largest force to none, when the test is stopped */
};

static const double ramp_s = 1;       /* up, and as long down */
static const double farthest = 0.05;  /* metres: a grip that goes farther is not held */
static const double too_fast = 0.5;   /* m/s, over ten frames */
static const double noticed = 0.0001; /* metres: more than noise */

void flr_device_test_motion(flr_cli *cli, flr_device *device, double seconds, flr_device_found *f)
{
    flr_device_sample sample = {.number = 0}, last = sample;
    const uint64_t reads = (uint64_t)fmax(1, seconds * READ_RATE);
    const int64_t began = flr_clock_ns(cli->env);
    int64_t fresh_ns = 0;
    f->reached = flr_box3_empty();
    flr_quat first = {1, 0, 0, 0};
    while (f->reads < reads && !flr_stop_wanted()) {
        flr_sleep_until(cli->env, began + (int64_t)++f->reads * READ_NS);
        const int64_t now = flr_clock_ns(cli->env);
        const bool fresh = flr_device_read(device, now, &sample);
        const int64_t after = flr_clock_ns(cli->env);
        flr_histogram_add(&f->read, (uint64_t)(after - now));
        if (f->reads % READ_RATE == 0) flr_progress(cli, f->reads, reads, "measuring");
        if (!fresh) continue;
        const flr_pose T = sample.T_base_grip;
        if (f->samples++ == 0) {
            first = T.q;
        } else {
            flr_histogram_add(&f->between, (uint64_t)(now - fresh_ns));
            const double dt = 1e-9 * (double)(now - fresh_ns);
            if (dt > 1e-4)
                f->fastest = fmax(f->fastest, flr_vec3_distance(T.p, last.T_base_grip.p) / dt);
        }
        f->reached = flr_box3_add(f->reached, T.p);
        f->turned = fmax(f->turned, flr_quat_angle(first, T.q));
        f->buttons |= sample.buttons;
        last = sample;
        fresh_ns = now;
    }
    flr_progress_end(cli);
    f->seconds = 1e-9 * (double)(flr_clock_ns(cli->env) - began);
    f->bad = flr_device_bad_samples(device);
}

/* Up and down again: a triangle of two ramps. */
static double wanted_at(double t, double newtons)
{
    return newtons * fmax(0, fmin(t, 2 * ramp_s - t)) / ramp_s;
}

/* where the grip was in the last frames, and when */
typedef struct trail {
    flr_vec3 places[10];
    int64_t times_ns[10];
    uint64_t count;
} trail;

static double speed_of(const trail *w)
{
    const uint64_t newest = (w->count - 1) % 10, oldest = w->count % 10;
    if (w->count < 10) return 0;
    const double dt = 1e-9 * (double)(w->times_ns[newest] - w->times_ns[oldest]);
    return flr_vec3_distance(w->places[newest], w->places[oldest]) / fmax(dt, 0.001);
}

static void watch(flr_device_found *f, trail *w, flr_vec3 p, flr_vec3 start, int64_t now, double t)
{
    w->places[w->count % 10] = p;
    w->times_ns[w->count++ % 10] = now;
    const double away = flr_vec3_distance(p, start);
    f->moved = fmax(f->moved, away);
    if (away > noticed && !isfinite(f->response)) f->response = t;
    if (away > farthest)
        snprintf(f->stopped, sizeof f->stopped, "the grip moved by %.0f mm; hold it", 1e3 * away);
    else if (speed_of(w) > too_fast)
        snprintf(f->stopped, sizeof f->stopped, "the grip moved faster than %.3g m/s", too_fast);
}

/* what a force is tried with */
typedef struct force_trial {
    flr_device *device;
    flr_guard *guard;
    flr_device_found *found;
    flr_device_sample sample;
    flr_vec3 start; /* of the grip, once it is known */
    bool known;
    trail before;
} force_trial;

/* One frame: reads where the grip is, and asks for a force upwards. Returns what the guard let through, newtons. */
static double try_force(force_trial *w, int64_t now, double t, double newtons)
{
    flr_guard_input in = {.now_ns = now, .data_fresh = true, .held = w->sample.buttons != 0};
    flr_guard_output out;
    in.input_fresh = flr_device_read(w->device, now, &w->sample);
    if (in.input_fresh && !w->known) w->start = w->sample.T_base_grip.p, w->known = true;
    in.wrench.force.z = newtons;
    flr_guard_step(w->guard, &in, &out);
    const double given = flr_vec3_length(out.wrench.force);
    w->found->largest = fmax(w->found->largest, given);
    if (w->known && !w->found->stopped[0])
        watch(w->found, &w->before, w->sample.T_base_grip.p, w->start, now, t);
    return given;
}

flr_result flr_device_test_force(flr_cli *cli, flr_device *device, double newtons,
                                 flr_device_found *f, flr_error *error)
{
    flr_guard_def def = flr_default_guard_def();
    force_trial w = {.device = device, .found = f};
    def.device = device;
    def.force = newtons;
    const flr_result result = flr_guard_create(&def, &w.guard, error);
    if (result != FLR_OK) return result;
    const int64_t began = flr_clock_ns(cli->env);
    f->forced = true;
    f->wanted = newtons;
    f->response = NAN;
    /* up and down; when it is stopped, down from there, within a tenth of a second, and at once where the grip runs away: then the
     * guard alone says how fast */
    double last = 0, given = 0, step = newtons / FADE_FRAMES;
    const uint64_t frames = 2 * (uint64_t)ramp_s * LOOP_RATE;
    for (uint64_t i = 1, fading = 0; fading < 2 * FADE_FRAMES; i++) {
        flr_sleep_until(cli->env, began + (int64_t)i * STEP_NS);
        const int64_t now = flr_clock_ns(cli->env);
        const double t = 1e-9 * (double)(now - began);
        const bool ends = i >= frames || f->stopped[0] || fading || flr_stop_wanted();
        fading += ends;
        last = f->stopped[0] ? 0 : ends ? fmax(0, last - step) : wanted_at(t, newtons);
        given = try_force(&w, now, t, last);
        if (ends && last == 0 && given == 0) break;
    }
    f->guard = flr_guard_get_stats(w.guard);
    flr_guard_destroy(w.guard);
    return FLR_OK;
}
