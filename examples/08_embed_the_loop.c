/* 08 embed the loop: a thousand times a second beside a program that does something else
 *
 * The loop has a thread of its own; the program talks to it by commands and sees its newest state.
 * Neither waits for the other. Here the program is a text on a terminal: five times in a second it
 * shows where a simulated hand is and what it feels; half-way it makes the floor softer, and at the end it pauses the world.
 *
 *     build/examples/08_embed_the_loop
 */
#include <stdio.h>
#include <string.h>

#include "feeler/hand.h"
#include "feeler/loop.h"

/* the program to the loop */
typedef struct command {
    double stiffness; /* N/m */
} command;

/* the loop to the program */
typedef struct picture {
    flr_vec3 hand; /* m */
    double force;  /* N */
} picture;

/* what the loop's thread owns, and nobody else touches while it runs */
typedef struct world {
    double stiffness;
} world;

/* Both of these run in the real-time thread: no allocation, no lock, no printing. */
static void take(void *context, const void *bytes)
{
    command c;
    memcpy(&c, bytes, sizeof c);
    ((world *)context)->stiffness = c.stiffness;
}

static bool step(void *context, flr_loop_frame *frame)
{
    const world *w = context;
    flr_vec3 hand = frame->samples[0].T_base_grip.p;
    double force = hand.z < 0 ? -w->stiffness * hand.z : 0; /* a floor */
    frame->wrenches[0].force.z = force;
    *(picture *)frame->state = (picture){hand, force};
    return true;
}

static int fail(const flr_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

static int run(flr_device *device)
{
    world w = {.stiffness = 1500};
    flr_loop_def def = flr_default_loop_def();
    def.env = flr_env_real();
    def.devices[0] = device;
    def.device_count = 1;
    def.step = step;
    def.command = take;
    def.command_size = sizeof(command);
    def.state_size = sizeof(picture);
    def.context = &w;
    flr_error error;
    flr_loop *loop;
    if (flr_loop_create(&def, &loop, &error) != FLR_OK) return fail(&error);
    if (flr_loop_start(loop, 0, &error) != FLR_OK) {
        flr_loop_destroy(loop);
        return fail(&error);
    }
    printf("%s\n", flr_loop_privileges(loop)->sentence);

    for (int i = 1; i <= 5; i++) {
        int64_t now = flr_clock_ns(def.env);
        flr_sleep_until(def.env, now + 200000000);
        if (i == 3) flr_loop_send(loop, &(command){300});
        if (i == 4) flr_loop_pause(loop, true); /* frames go on, the step is not called */
        picture p;
        flr_loop_view(loop, &p);
        printf("x %6.1f mm, z %6.1f mm, %5.2f N\n", 1e3 * p.hand.x, 1e3 * p.hand.z, p.force);
    }
    flr_loop_stop(loop); /* the force fades, then it is over */

    flr_loop_stats stats;
    flr_loop_get_stats(loop, &stats);
    printf("%llu frames, woken up late by %.0f us (median), %.0f us (p99); a frame took %.1f us\n",
           (unsigned long long)stats.frames, 1e-3 * (double)stats.wakeup.p50,
           1e-3 * (double)stats.wakeup.p99, 1e-3 * (double)stats.compute.p50);
    flr_loop_destroy(loop);
    return 0;
}

int main(void)
{
    /* a hand that slides over the floor */
    flr_script_def def = flr_default_script_def();
    def.kind = FLR_SCRIPT_SLIDE;
    def.speed = 2;
    flr_error error;
    flr_script *script;
    flr_device *device;
    if (flr_script_create(&def, &script, &error) != FLR_OK) return fail(&error);
    flr_hand_def hand = flr_default_hand_def();
    hand.target = flr_script_target(script);
    if (flr_device_open(&flr_hand_driver, &hand, &device, &error) != FLR_OK) {
        flr_script_destroy(script);
        return fail(&error);
    }
    int code = run(device);
    flr_device_close(device);
    flr_script_destroy(script);
    return code;
}
