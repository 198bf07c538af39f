/* Force Dimension: omega, delta, sigma, lambda, by the vendor's libdhd.so, loaded at run time
 *
 * The library is called by a thread of ours, which it makes wait for the hardware: read, give the
 * newest wrench, again. Metres; x towards the person, y to the right, z up. Names are those of its
 * reference manual. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/text.h"
#include "device/options.h"
#include "device/servo.h"
#include "feeler/device.h"
#include "feeler/env.h"

static const int64_t period_ns = 500000; /* the least time of a turn of the thread */

typedef struct dhd_library {
    void *library;
    int (*count)(void);
    int (*open)(char device);
    int (*close)(char device);
    int (*stop)(char device);
    const char *(*name)(char device);
    const char *(*error)(void);
    int (*position)(double *x, double *y, double *z, char device);
    int (*frame)(double m[3][3], char device);
    int (*velocity)(double *x, double *y, double *z, char device);
    int (*spin)(double *x, double *y, double *z, char device); /* optional */
    unsigned (*buttons)(char device);
    int (*enable)(unsigned char on, char device);
    int (*give)(double fx, double fy, double fz, double tx, double ty, double tz, char device);
    bool (*has_active_wrist)(char device); /* optional */
} dhd_library;

typedef struct forcedimension {
    flr_servo servo; /* first: the driver shares its functions */
    dhd_library dhd;
    char file[FLR_DEVICE_OPTION_SIZE];
    double number, force, torque;
    char device; /* what the library calls it */
    pthread_t thread;
    atomic_bool closing;
} forcedimension;

/* ---- the library ---- */

static flr_result read_options(forcedimension *d, const char *options, flr_error *error)
{
    d->force = 8, d->torque = 0.2;
    const flr_device_option known[] = {
        {.key = "device", .number = &d->number, .low = 0, .high = 15},
        {.key = "force", .number = &d->force, .low = 0, .high = 40},
        {.key = "torque", .number = &d->torque, .low = 0, .high = 2},
        {.key = "library", .text = d->file},
    };
    return flr_device_options_read("forcedimension", options, known, sizeof known / sizeof known[0],
                                   error);
}

static flr_result load(forcedimension *d, flr_error *error)
{
    dhd_library *dhd = &d->dhd;
    const flr_symbol symbols[] = {
        {"dhdGetDeviceCount", &dhd->count, false},
        {"dhdOpenID", &dhd->open, false},
        {"dhdClose", &dhd->close, false},
        {"dhdStop", &dhd->stop, false},
        {"dhdGetSystemName", &dhd->name, false},
        {"dhdErrorGetLastStr", &dhd->error, false},
        {"dhdGetPosition", &dhd->position, false},
        {"dhdGetOrientationFrame", &dhd->frame, false},
        {"dhdGetLinearVelocity", &dhd->velocity, false},
        {"dhdGetAngularVelocityRad", &dhd->spin, true},
        {"dhdGetButtonMask", &dhd->buttons, false},
        {"dhdEnableForce", &dhd->enable, false},
        {"dhdSetForceAndTorque", &dhd->give, false},
        {"dhdHasActiveWrist", &dhd->has_active_wrist, true},
    };
    const char *files[] = {"libdhd.so.3", "libdhd.so", NULL};
    const char *named[] = {d->file, NULL};
    return flr_library_open("forcedimension", "the Force Dimension SDK (libdhd)",
                            d->file[0] ? named : files, symbols, sizeof symbols / sizeof symbols[0],
                            &dhd->library, error);
}

static flr_result no_device(const forcedimension *d, int count, flr_error *error)
{
    const char *why = d->dhd.error();
    if (count > 0 && d->number >= count)
        return flr_fail(error, FLR_NOT_FOUND,
                        "forcedimension: there is no device %g; the library sees %d, numbered from "
                        "0",
                        d->number, count);
    return flr_fail(error, FLR_NOT_FOUND,
                    "forcedimension: no device answers (%s); connect it, switch it on, end other "
                    "programs that use it, and allow your user to access it (the SDK brings a udev "
                    "rule)",
                    why && *why ? why : "no reason given");
}

/* Opens it, with no force. */
static flr_result find_device(forcedimension *d, flr_device_info *info, flr_error *error)
{
    const dhd_library *dhd = &d->dhd;
    int count = dhd->count(), id = -1;
    if (count > 0 && d->number < count) id = dhd->open((char)d->number);
    if (id < 0) return no_device(d, count, error);
    d->device = (char)id;
    const char *name = dhd->name(d->device);
    flr_text_copy(info->name, sizeof info->name, name && *name ? name : "Force Dimension device");
    info->force = d->force;
    info->torque = dhd->has_active_wrist && dhd->has_active_wrist(d->device) ? d->torque : 0;
    info->buttons = 8;
    info->hardware = true;
    return FLR_OK;
}

/* ---- the thread ---- */

/* from its axes to ours, and back */
static flr_vec3 to_base(double x, double y, double z) { return flr_vec3_make(y, -x, z); }
static flr_vec3 from_base(flr_vec3 v) { return flr_vec3_make(-v.y, v.x, v.z); }

static bool look_at(const forcedimension *d, flr_device_sample *sample)
{
    const dhd_library *dhd = &d->dhd;
    double x, y, z, m[3][3];
    // below 0: an error; above: it worked, and the driver has a remark, such as a timeout
    if (dhd->position(&x, &y, &z, d->device) < 0 || dhd->frame(m, d->device) < 0) return false;
    sample->T_base_grip.p = to_base(x, y, z);
    // columns of the rotation along our axes, those of the grip turned likewise
    flr_vec3 near = to_base(m[0][0], m[1][0], m[2][0]);
    flr_vec3 right = to_base(m[0][1], m[1][1], m[2][1]);
    flr_vec3 up = to_base(m[0][2], m[1][2], m[2][2]);
    flr_mat3 R = {{{right.x, -near.x, up.x}, {right.y, -near.y, up.y}, {right.z, -near.z, up.z}}};
    sample->T_base_grip.q = flr_quat_normalize(flr_quat_from_mat3(R));
    if (dhd->velocity(&x, &y, &z, d->device) >= 0) {
        sample->has_twist = true;
        sample->twist.linear = to_base(x, y, z);
        if (dhd->spin && dhd->spin(&x, &y, &z, d->device) >= 0)
            sample->twist.angular = to_base(x, y, z);
    }
    sample->buttons = dhd->buttons(d->device) & 0xff;
    return true;
}

static void *serve(void *context)
{
    forcedimension *d = context;
    flr_env *env = flr_env_real();
    int64_t next = flr_clock_ns(env);
    while (!atomic_load(&d->closing)) {
        flr_device_sample sample = {.number = 0};
        bool read = look_at(d, &sample);
        if (read) flr_servo_put(&d->servo, &sample);
        int64_t now = flr_clock_ns(env);
        flr_wrench wrench = flr_servo_take(&d->servo, now);
        if (!read) wrench = (flr_wrench){{0, 0, 0}, {0, 0, 0}};
        flr_vec3 f = from_base(wrench.force), t = from_base(wrench.torque);
        bool took = d->dhd.give(f.x, f.y, f.z, t.x, t.y, t.z, d->device) >= 0;
        flr_servo_took(&d->servo, read && took);
        // where the library does not wait, nobody is served by asking more often
        next = next + period_ns > now ? next + period_ns : now;
        flr_sleep_until(env, next);
    }
    d->dhd.give(0, 0, 0, 0, 0, 0, d->device);
    return NULL;
}

/* ---- the driver ---- */

static void free_all(forcedimension *d)
{
    flr_servo_end(&d->servo);
    if (d->dhd.library) dlclose(d->dhd.library);
    free(d);
}

static flr_result begin(forcedimension **made, const void *parameters, flr_device_info *info,
                        flr_error *error)
{
    forcedimension *d = calloc(1, sizeof *d);
    if (!d) return flr_fail(error, FLR_NO_MEMORY, "forcedimension: out of memory");
    flr_result result = read_options(d, parameters, error);
    if (result == FLR_OK) result = load(d, error);
    if (result == FLR_OK) result = flr_servo_begin(&d->servo, "forcedimension", error);
    if (result == FLR_OK) result = find_device(d, info, error);
    if (result != FLR_OK)
        free_all(d);
    else
        *made = d;
    return result;
}

static flr_result forcedimension_look(const void *parameters, flr_device_info *info,
                                      flr_error *error)
{
    forcedimension *d;
    flr_result result = begin(&d, parameters, info, error);
    if (result != FLR_OK) return result;
    d->dhd.close(d->device);
    free_all(d);
    return FLR_OK;
}

static flr_result forcedimension_open(const void *parameters, void **state, flr_device_info *info,
                                      flr_error *error)
{
    forcedimension *d;
    flr_result result = begin(&d, parameters, info, error);
    if (result != FLR_OK) return result;
    if (d->dhd.enable(1, d->device) < 0) {
        const char *why = d->dhd.error();
        result = flr_fail(error, FLR_IO, "forcedimension: forces cannot be switched on (%s)",
                          why ? why : "no reason given");
    } else if (pthread_create(&d->thread, NULL, serve, d) != 0) {
        result = flr_fail(error, FLR_NO_MEMORY, "forcedimension: no thread could be had");
    }
    if (result != FLR_OK) {
        d->dhd.stop(d->device);
        d->dhd.close(d->device);
        free_all(d);
        return result;
    }
    *state = d;
    return FLR_OK;
}

static void forcedimension_close(void *state)
{
    forcedimension *d = state;
    atomic_store(&d->closing, true);
    pthread_join(d->thread, NULL);
    d->dhd.stop(d->device);
    d->dhd.close(d->device);
    free_all(d);
}

const flr_device_driver flr_forcedimension_driver = {
    .name = "forcedimension",
    .summary = "an omega, delta, sigma or lambda with force, by the vendor's libdhd",
    .open = forcedimension_open,
    .close = forcedimension_close,
    .read = flr_servo_read,
    .write = flr_servo_write,
    .stop = flr_servo_stop,
    .look = forcedimension_look,
};
