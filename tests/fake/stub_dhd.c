/* a stub of Force Dimension's libdhd: some arms, all the same one, that do what the test says. With STUB_OLD it lacks a
 * function that is needed, with STUB_PLAIN those that are optional. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "stub_arm.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT stub_arm stub_arm_state = {.present = 1};

EXPORT int dhdGetDeviceCount(void);
EXPORT int dhdOpenID(char id);
EXPORT int dhdClose(char id);
EXPORT int dhdStop(char id);
EXPORT const char *dhdGetSystemName(char id);
EXPORT const char *dhdErrorGetLastStr(void);
EXPORT int dhdGetPosition(double *x, double *y, double *z, char id);
EXPORT int dhdGetOrientationFrame(double m[3][3], char id);
EXPORT int dhdGetLinearVelocity(double *x, double *y, double *z, char id);
EXPORT int dhdGetAngularVelocityRad(double *x, double *y, double *z, char id);
EXPORT unsigned dhdGetButtonMask(char id);
EXPORT int dhdEnableForce(unsigned char on, char id);
EXPORT int dhdSetForceAndTorque(double fx, double fy, double fz, double tx, double ty, double tz,
                                char id);
EXPORT bool dhdHasActiveWrist(char id);

int dhdGetDeviceCount(void) { return stub_arm_state.present; }
int dhdOpenID(char id)
{
    if (stub_arm_state.scheduler_fails) return -1;
    stub_arm_state.opened++;
    return id;
}
int dhdClose(char id)
{
    (void)id;
    stub_arm_state.closed++;
    return 0;
}
int dhdStop(char id)
{
    (void)id;
    stub_arm_state.enabled = 0;
    return 0;
}
const char *dhdGetSystemName(char id)
{
    (void)id;
    return "stub sigma.7";
}
const char *dhdErrorGetLastStr(void) { return "no device found"; }

int dhdGetPosition(double *x, double *y, double *z, char id)
{
    (void)id;
    stub_arm *a = &stub_arm_state;
    a->frames++;
    *x = a->position[0], *y = a->position[1], *z = a->position[2];
    return a->broken ? -1 : 0;
}

int dhdGetOrientationFrame(double m[3][3], char id)
{
    (void)id;
    double c = cos(stub_arm_state.turn), s = sin(stub_arm_state.turn);
    const double turned[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
    for (int i = 0; i < 9; i++) m[i / 3][i % 3] = turned[i / 3][i % 3];
    return 0;
}

int dhdGetLinearVelocity(double *x, double *y, double *z, char id)
{
    (void)id;
    stub_arm *a = &stub_arm_state;
    *x = a->velocity[0], *y = a->velocity[1], *z = a->velocity[2];
    return 0;
}

unsigned dhdGetButtonMask(char id)
{
    (void)id;
    return (unsigned)stub_arm_state.buttons;
}

int dhdEnableForce(unsigned char on, char id)
{
    (void)id;
    stub_arm_state.enabled = on;
    return 0;
}

#ifndef STUB_OLD
int dhdSetForceAndTorque(double fx, double fy, double fz, double tx, double ty, double tz, char id)
{
    (void)id;
    stub_arm *a = &stub_arm_state;
    const double f[3] = {fx, fy, fz}, t[3] = {tx, ty, tz};
    for (int i = 0; i < 3; i++) {
        a->force[i] = f[i];
        a->torque[i] = t[i];
    }
    a->zeros = fx == 0 && fy == 0 && fz == 0 ? a->zeros + 1 : 0;
    return a->broken ? -1 : 0;
}
#endif

#ifndef STUB_PLAIN
int dhdGetAngularVelocityRad(double *x, double *y, double *z, char id)
{
    (void)id;
    *x = 0, *y = 0, *z = 2;
    return 0;
}

bool dhdHasActiveWrist(char id)
{
    (void)id;
    return stub_arm_state.torque_capable != 0;
}
#endif
