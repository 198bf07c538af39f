/* OpenHaptics: Touch and PHANTOM arms, by the vendor's libHD.so, loaded at run time
 *
 * The library has a scheduler of its own that calls back a thousand times a second; there the pose
 * is read and the newest wrench is given. Millimetres; x to the right, y up, z towards the person;
 * matrices by columns. Names and numbers are those of its reference manual. */
#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/text.h"
#include "device/options.h"
#include "device/servo.h"
#include "feeler/device.h"
#include "feeler/env.h"

/* what the library calls things */
enum {
    HD_CURRENT_BUTTONS = 0x2000,
    HD_CURRENT_VELOCITY = 0x2051,
    HD_CURRENT_TRANSFORM = 0x2052,
    HD_CURRENT_ANGULAR_VELOCITY = 0x2053,
    HD_DEVICE_MODEL_TYPE = 0x2501,
    HD_USABLE_WORKSPACE_DIMENSIONS = 0x2551,
    HD_OUTPUT_DOF = 0x2554,
    HD_NOMINAL_MAX_CONTINUOUS_FORCE = 0x2604,
    HD_NOMINAL_MAX_TORQUE_CONTINUOUS_FORCE = 0x2623,
    HD_CURRENT_FORCE = 0x2700,
    HD_CURRENT_TORQUE = 0x2701, /* millinewton metres */
    HD_FORCE_OUTPUT = 0x4000,
    HD_CALLBACK_DONE = 0,
    HD_CALLBACK_CONTINUE = 1,
    HD_PRIORITY = 32767 /* in the middle */
};
#define HD_INVALID_HANDLE 0xFFFFFFFFu

typedef struct hd_error {
    unsigned code;
    int internal;
    unsigned device;
} hd_error;

typedef unsigned hd_callback(void *context);

typedef struct hd_library {
    void *library;
    unsigned (*init)(const char *name);
    void (*disable)(unsigned device);
    void (*make_current)(unsigned device);
    void (*begin)(unsigned device);
    void (*end)(unsigned device);
    void (*get_doubles)(unsigned name, double *values);
    void (*get_integers)(unsigned name, int *values);
    void (*set_doubles)(unsigned name, const double *values);
    const char *(*get_string)(unsigned name);
    void (*enable)(unsigned name);
    hd_error (*get_error)(void);
    const char *(*error_string)(unsigned code);
    void (*start_scheduler)(void);
    void (*stop_scheduler)(void);
    unsigned long (*schedule)(hd_callback *call, void *context, unsigned short priority);
    void (*unschedule)(unsigned long call);
} hd_library;

typedef struct openhaptics {
    flr_servo servo; /* first: the driver shares its functions */
    hd_library hd;
    char device_name[FLR_DEVICE_OPTION_SIZE], file[FLR_DEVICE_OPTION_SIZE];
    double force, torque; /* asked for; 0: the device's own */
    unsigned device;
    unsigned long call;
    bool turns; /* gives torques */
    atomic_bool closing;
} openhaptics;

/* the library has one scheduler for the whole process */
static atomic_bool in_use;

/* ---- the library ---- */

static flr_result read_options(openhaptics *o, const char *options, flr_error *error)
{
    const flr_device_option known[] = {
        {.key = "device", .text = o->device_name},
        {.key = "force", .number = &o->force, .low = 0, .high = 100},
        {.key = "torque", .number = &o->torque, .low = 0, .high = 10},
        {.key = "library", .text = o->file},
    };
    return flr_device_options_read("openhaptics", options, known, sizeof known / sizeof known[0],
                                   error);
}

static flr_result load(openhaptics *o, flr_error *error)
{
    hd_library *hd = &o->hd;
    const flr_symbol symbols[] = {
        {"hdInitDevice", &hd->init, false},
        {"hdDisableDevice", &hd->disable, false},
        {"hdMakeCurrentDevice", &hd->make_current, false},
        {"hdBeginFrame", &hd->begin, false},
        {"hdEndFrame", &hd->end, false},
        {"hdGetDoublev", &hd->get_doubles, false},
        {"hdGetIntegerv", &hd->get_integers, false},
        {"hdSetDoublev", &hd->set_doubles, false},
        {"hdGetString", &hd->get_string, false},
        {"hdEnable", &hd->enable, false},
        {"hdGetError", &hd->get_error, false},
        {"hdGetErrorString", &hd->error_string, false},
        {"hdStartScheduler", &hd->start_scheduler, false},
        {"hdStopScheduler", &hd->stop_scheduler, false},
        {"hdScheduleAsynchronous", &hd->schedule, false},
        {"hdUnschedule", &hd->unschedule, false},
    };
    const char *files[] = {"libHD.so.3.4", "libHD.so.3", "libHD.so", NULL};
    const char *named[] = {o->file, NULL};
    return flr_library_open("openhaptics", "OpenHaptics (the device's driver and libHD)",
                            o->file[0] ? named : files, symbols, sizeof symbols / sizeof symbols[0],
                            &hd->library, error);
}

/* the oldest error of the library, and the younger ones thrown away; 0: none */
static unsigned take_error(const hd_library *hd)
{
    unsigned first = 0;
    for (int i = 0; i < 32; i++) { // it keeps a list, oldest first
        unsigned code = hd->get_error().code;
        if (code == 0) break;
        if (first == 0) first = code;
    }
    return first;
}

/* Finds the device, and what it is. */
static flr_result find_device(openhaptics *o, flr_device_info *info, flr_error *error)
{
    hd_library *hd = &o->hd;
    take_error(hd);
    o->device = hd->init(o->device_name[0] ? o->device_name : NULL);
    unsigned code = take_error(hd);
    if (code || o->device == HD_INVALID_HANDLE) {
        const char *why = code ? hd->error_string(code) : NULL;
        if (o->device != HD_INVALID_HANDLE) hd->disable(o->device);
        return flr_fail(error, FLR_NOT_FOUND,
                        "openhaptics: no device answers%s%s (%s); connect it, switch it on, and "
                        "let the vendor's setup program see it first",
                        o->device_name[0] ? " to the name " : "", o->device_name,
                        why ? why : "no reason given");
    }
    hd->make_current(o->device);

    // what it can do; a library that does not know leaves the zeros
    double force = 0, torque = 0, box[6] = {0};
    int dof = 3;
    hd->get_doubles(HD_NOMINAL_MAX_CONTINUOUS_FORCE, &force);
    hd->get_integers(HD_OUTPUT_DOF, &dof);
    if (dof >= 6) hd->get_doubles(HD_NOMINAL_MAX_TORQUE_CONTINUOUS_FORCE, &torque);
    hd->get_doubles(HD_USABLE_WORKSPACE_DIMENSIONS, box);
    take_error(hd);
    const char *model = hd->get_string(HD_DEVICE_MODEL_TYPE);
    flr_text_copy(info->name, sizeof info->name, model && *model ? model : "OpenHaptics device");
    if (!(force > 0 && force <= 100)) force = 0.88; // what the smallest gives for long
    if (!(torque > 0 && torque <= 1e4)) torque = 0;
    info->force = o->force > 0 ? fmin(o->force, force) : force;
    info->torque = o->torque > 0 ? fmin(o->torque, 1e-3 * torque) : 1e-3 * torque;
    info->rate = 1000;
    info->buttons = 4;
    info->hardware = true;
    if (box[3] > box[0] && box[4] > box[1] && box[5] > box[2]) {
        info->workspace.low = flr_vec3_make(1e-3 * box[0], -1e-3 * box[5], 1e-3 * box[1]);
        info->workspace.high = flr_vec3_make(1e-3 * box[3], -1e-3 * box[2], 1e-3 * box[4]);
    }
    o->turns = info->torque > 0;
    return FLR_OK;
}

/* ---- a frame of the library's scheduler ---- */

/* from its axes to ours, and back */
static flr_vec3 to_base(const double *v) { return flr_vec3_make(v[0], -v[2], v[1]); }
static void from_base(flr_vec3 v, double scale, double *out)
{
    out[0] = scale * v.x, out[1] = scale * v.z, out[2] = -scale * v.y;
}

static flr_quat turn_of(const double *m)
{
    // columns of the rotation, along our axes: those of the grip are turned likewise, so that a
    // device that is not turned has no turn
    flr_vec3 x = to_base(m), up = to_base(m + 4), near = to_base(m + 8);
    flr_mat3 R = {{{x.x, -near.x, up.x}, {x.y, -near.y, up.y}, {x.z, -near.z, up.z}}};
    return flr_quat_normalize(flr_quat_from_mat3(R));
}

static unsigned serve(void *context)
{
    openhaptics *o = context;
    const hd_library *hd = &o->hd;
    double m[16] = {0}, v[3] = {0}, w[3] = {0}, f[3], t[3];
    int buttons = 0;
    hd->begin(o->device);
    hd->get_doubles(HD_CURRENT_TRANSFORM, m);
    hd->get_doubles(HD_CURRENT_VELOCITY, v);
    hd->get_doubles(HD_CURRENT_ANGULAR_VELOCITY, w);
    hd->get_integers(HD_CURRENT_BUTTONS, &buttons);
    bool read = take_error(hd) == 0;

    // force: none when nothing could be read, and none any more when it is being closed
    flr_wrench wrench = flr_servo_take(&o->servo, flr_clock_ns(flr_env_real()));
    bool closing = atomic_load(&o->closing), give = read && !closing;
    from_base(wrench.force, give ? 1 : 0, f);
    from_base(wrench.torque, give ? 1e3 : 0, t);
    hd->set_doubles(HD_CURRENT_FORCE, f);
    if (o->turns) hd->set_doubles(HD_CURRENT_TORQUE, t);
    hd->end(o->device);
    flr_servo_took(&o->servo, read && take_error(hd) == 0);

    if (read) {
        flr_device_sample sample = {.buttons = (uint32_t)buttons & 0xf, .has_twist = true};
        sample.T_base_grip.p = flr_vec3_scale(to_base(m + 12), 1e-3);
        sample.T_base_grip.q = turn_of(m);
        sample.twist.linear = flr_vec3_scale(to_base(v), 1e-3);
        sample.twist.angular = to_base(w);
        flr_servo_put(&o->servo, &sample);
    }
    return closing ? HD_CALLBACK_DONE : HD_CALLBACK_CONTINUE;
}

/* ---- the driver ---- */

static void free_all(openhaptics *o)
{
    flr_servo_end(&o->servo);
    if (o->hd.library) dlclose(o->hd.library);
    free(o);
}

static flr_result begin(openhaptics **made, const void *parameters, flr_error *error)
{
    openhaptics *o = calloc(1, sizeof *o);
    if (!o) return flr_fail(error, FLR_NO_MEMORY, "openhaptics: out of memory");
    flr_result result = read_options(o, parameters, error);
    if (result == FLR_OK) result = load(o, error);
    if (result != FLR_OK)
        free_all(o);
    else
        *made = o;
    return result;
}

static flr_result openhaptics_look(const void *parameters, flr_device_info *info, flr_error *error)
{
    openhaptics *o;
    flr_result result = begin(&o, parameters, error);
    if (result != FLR_OK) return result;
    if (atomic_exchange(&in_use, true)) { // it is there, and works for us
        flr_text_copy(info->name, sizeof info->name, "OpenHaptics device (in use)");
    } else {
        result = find_device(o, info, error);
        if (result == FLR_OK) o->hd.disable(o->device);
        atomic_store(&in_use, false);
    }
    free_all(o);
    return result;
}

static flr_result start(openhaptics *o, flr_device_info *info, flr_error *error)
{
    flr_result result = flr_servo_begin(&o->servo, "openhaptics", error);
    if (result != FLR_OK) return result;
    result = find_device(o, info, error);
    if (result != FLR_OK) return result;
    o->hd.enable(HD_FORCE_OUTPUT);
    o->hd.start_scheduler();
    unsigned code = take_error(&o->hd);
    if (code == 0) {
        o->call = o->hd.schedule(serve, o, HD_PRIORITY);
        code = take_error(&o->hd);
        if (code) o->hd.stop_scheduler();
    }
    if (code == 0) return FLR_OK;
    const char *why = o->hd.error_string(code);
    o->hd.disable(o->device);
    return flr_fail(error, FLR_IO,
                    "openhaptics: the library's scheduler does not start (%s); end other programs "
                    "that use the device",
                    why ? why : "no reason given");
}

static flr_result openhaptics_open(const void *parameters, void **state, flr_device_info *info,
                                   flr_error *error)
{
    openhaptics *o;
    flr_result result = begin(&o, parameters, error);
    if (result != FLR_OK) return result;
    if (atomic_exchange(&in_use, true)) {
        free_all(o);
        return flr_fail(error, FLR_DENIED,
                        "openhaptics: a device is open already; this driver serves one at a time");
    }
    result = start(o, info, error);
    if (result != FLR_OK) {
        atomic_store(&in_use, false);
        free_all(o);
        return result;
    }
    *state = o;
    return FLR_OK;
}

static void openhaptics_close(void *state)
{
    openhaptics *o = state;
    atomic_store(&o->closing, true); // the last frame gives zero
    int64_t until = flr_clock_ns(flr_env_real()) + 5000000;
    flr_sleep_until(flr_env_real(), until);
    o->hd.stop_scheduler();
    o->hd.unschedule(o->call);
    o->hd.disable(o->device);
    atomic_store(&in_use, false);
    free_all(o);
}

const flr_device_driver flr_openhaptics_driver = {
    .name = "openhaptics",
    .summary = "a Touch or PHANTOM arm with force, by the vendor's libHD",
    .open = openhaptics_open,
    .close = openhaptics_close,
    .read = flr_servo_read,
    .write = flr_servo_write,
    .stop = flr_servo_stop,
    .look = openhaptics_look,
};
