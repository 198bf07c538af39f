/* a stub of OpenHaptics' libHD: one arm of 3.3 N and 6 axes that does what the test says. With STUB_OLD it lacks a
 * function, as an older library might. */
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "stub_arm.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct error_info {
    unsigned code;
    int internal;
    unsigned device;
} error_info;

EXPORT stub_arm stub_arm_state = {.present = 1};
static _Thread_local unsigned pending;
static pthread_t scheduler;
static atomic_int running;
static unsigned (*callback)(void *);
static void *callback_context;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

EXPORT unsigned hdInitDevice(const char *name);
EXPORT void hdDisableDevice(unsigned device);
EXPORT void hdMakeCurrentDevice(unsigned device);
EXPORT void hdBeginFrame(unsigned device);
EXPORT void hdEndFrame(unsigned device);
EXPORT void hdGetDoublev(unsigned name, double *values);
EXPORT void hdGetIntegerv(unsigned name, int *values);
EXPORT void hdSetDoublev(unsigned name, const double *values);
EXPORT const char *hdGetString(unsigned name);
EXPORT void hdEnable(unsigned name);
EXPORT error_info hdGetError(void);
EXPORT const char *hdGetErrorString(unsigned code);
EXPORT void hdStartScheduler(void);
EXPORT void hdStopScheduler(void);
EXPORT unsigned long hdScheduleAsynchronous(unsigned (*call)(void *), void *context,
                                            unsigned short priority);
EXPORT void hdUnschedule(unsigned long call);

unsigned hdInitDevice(const char *name)
{
    if (!stub_arm_state.present || (name && strcmp(name, "Left") != 0)) {
        pending = 0x302;
        return 0xFFFFFFFFu;
    }
    stub_arm_state.opened++;
    return 7;
}

void hdDisableDevice(unsigned device) { stub_arm_state.closed += device == 7; }
void hdMakeCurrentDevice(unsigned device) { (void)device; }
void hdBeginFrame(unsigned device) { (void)device, stub_arm_state.frames++; }
void hdEndFrame(unsigned device) { (void)device; }

void hdGetDoublev(unsigned name, double *values)
{
    stub_arm *a = &stub_arm_state;
    double c = cos(a->turn), s = sin(a->turn);
    if (name == 0x2052) {
        if (a->broken) pending = 0x302;
        // by columns, turned about y, which is up
        const double m[16] = {
            c, 0, -s, 0, 0, 1, 0, 0, s, 0, c, 0, a->position[0], a->position[1], a->position[2], 1};
        memcpy(values, m, sizeof m);
    } else if (name == 0x2051) {
        for (int i = 0; i < 3; i++) values[i] = a->velocity[i];
    } else if (name == 0x2604) {
        *values = 3.3;
    } else if (name == 0x2623) {
        *values = 188; // mN m
    } else if (name == 0x2551) {
        const double box[6] = {-80, -60, -35, 80, 60, 35};
        memcpy(values, box, sizeof box);
    }
}

void hdGetIntegerv(unsigned name, int *values)
{
    if (name == 0x2000) *values = stub_arm_state.buttons;
    if (name == 0x2554) *values = stub_arm_state.torque_capable ? 6 : 3;
}

void hdSetDoublev(unsigned name, const double *values)
{
    stub_arm *a = &stub_arm_state;
    for (int i = 0; i < 3; i++) {
        if (name == 0x2700) a->force[i] = values[i];
        if (name == 0x2701) a->torque[i] = values[i];
    }
    if (name == 0x2700)
        a->zeros = values[0] == 0 && values[1] == 0 && values[2] == 0 ? a->zeros + 1 : 0;
}

const char *hdGetString(unsigned name) { return name == 0x2501 ? "Stub Touch X" : NULL; }
void hdEnable(unsigned name) { stub_arm_state.enabled = name == 0x4000; }

error_info hdGetError(void)
{
    error_info info = {pending, 0, 7};
    pending = 0;
    return info;
}

const char *hdGetErrorString(unsigned code)
{
    return code == 0x302 ? "communication error" : "some error";
}

static void *turn(void *context)
{
    (void)context;
    while (running) {
        pthread_mutex_lock(&lock);
        if (callback && callback(callback_context) == 0) callback = NULL;
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    return NULL;
}

void hdStartScheduler(void)
{
    if (stub_arm_state.scheduler_fails) {
        pending = 0x304;
        return;
    }
    running = 1;
    pthread_create(&scheduler, NULL, turn, NULL);
}

void hdStopScheduler(void)
{
    if (!running) return;
    running = 0;
    pthread_join(scheduler, NULL);
}

unsigned long hdScheduleAsynchronous(unsigned (*call)(void *), void *context,
                                     unsigned short priority)
{
    (void)priority;
    pthread_mutex_lock(&lock);
    callback = call;
    callback_context = context;
    pthread_mutex_unlock(&lock);
    return 1;
}

#ifndef STUB_OLD
void hdUnschedule(unsigned long call) { (void)call, callback = NULL; }
#endif
