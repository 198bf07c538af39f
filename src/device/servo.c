/* between the loop and a thread that serves a vendor's device */
#include "device/servo.h"

#include <dlfcn.h>
#include <string.h>

/* ---- samples and wrenches ---- */

flr_result flr_servo_begin(flr_servo *servo, const char *driver, flr_error *error)
{
    memset(servo, 0, sizeof *servo);
    servo->samples = flr_latest_create(sizeof(flr_device_sample));
    servo->wrenches = flr_latest_create(sizeof(flr_wrench));
    if (!servo->samples || !servo->wrenches)
        return flr_fail(error, FLR_NO_MEMORY, "%s: out of memory", driver);
    return FLR_OK;
}

void flr_servo_end(flr_servo *servo)
{
    flr_latest_destroy(servo->samples);
    flr_latest_destroy(servo->wrenches);
    servo->samples = servo->wrenches = NULL;
}

bool flr_servo_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    flr_servo *servo = state;
    uint64_t number;
    const flr_device_sample *newest = flr_latest_view(servo->samples, &number);
    if (number == servo->read) return false;
    servo->read = number;
    *sample = *newest;
    sample->time_ns = now_ns;
    return true;
}

bool flr_servo_write(void *state, int64_t now_ns, const flr_wrench *wrench)
{
    flr_servo *servo = state;
    (void)now_ns;
    flr_latest_write(servo->wrenches, wrench);
    atomic_store(&servo->stopped, false);
    return !atomic_load(&servo->deaf);
}

void flr_servo_stop(void *state) { atomic_store(&((flr_servo *)state)->stopped, true); }

void flr_servo_put(flr_servo *servo, const flr_device_sample *sample)
{
    flr_latest_write(servo->samples, sample);
}

flr_wrench flr_servo_take(flr_servo *servo, int64_t clock_ns)
{
    flr_wrench zero = {{0, 0, 0}, {0, 0, 0}};
    uint64_t number;
    const flr_wrench *newest = flr_latest_view(servo->wrenches, &number);
    if (number != servo->taken) {
        servo->taken = number;
        servo->taken_ns = clock_ns;
    }
    bool silent = number == 0 || clock_ns - servo->taken_ns > FLR_SERVO_PATIENCE_NS;
    return silent || atomic_load(&servo->stopped) ? zero : *newest;
}

void flr_servo_took(flr_servo *servo, bool taken) { atomic_store(&servo->deaf, !taken); }

/* ---- libraries ---- */

flr_result flr_library_open(const char *driver, const char *product, const char *const *files,
                            const flr_symbol *symbols, size_t count, void **library,
                            flr_error *error)
{
    void *opened = NULL;
    const char *file = files[0], *why = "";
    for (size_t i = 0; files[i] && !opened; i++) {
        file = files[i];
        opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (!opened) why = dlerror();
    }
    if (!opened)
        return flr_fail(error, FLR_NOT_FOUND,
                        "%s: the vendor's library is not there (%s); install %s, or name the "
                        "library's file with the option library=FILE",
                        driver, why ? why : "no reason given", product);
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(opened, symbols[i].name);
        if (!address && !symbols[i].optional) {
            flr_result result =
                flr_fail(error, FLR_UNSUPPORTED, "%s: %s has no function %s; install a newer %s",
                         driver, file, symbols[i].name, product);
            dlclose(opened);
            return result;
        }
        memcpy(symbols[i].to, &address, sizeof address); // POSIX: a function's address fits
    }
    *library = opened;
    return FLR_OK;
}
