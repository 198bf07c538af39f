/* doctor: which devices can be used, and what the others lack */
#include <stdio.h>

#include "doctor.h"
#include "feeler/device.h"
#include "output.h"

void flr_doctor_devices(flr_doctor *doctor, flr_env *env)
{
    (void)env;
    flr_error error;
    if (flr_device_plugins_load(NULL, NULL, &error) != FLR_OK)
        flr_doctor_say(doctor, "plugins", false, error.message,
                       "mend it, or take it out of the folder that FEELER_DEVICES names", NULL);
    flr_doctor_usb(doctor);
    for (size_t i = 0; i < flr_device_driver_count(); i++) {
        const flr_device_driver *driver = flr_device_driver_at(i);
        if (!driver->look) continue; // needs nothing
        flr_device_info info;
        bool there = flr_device_look(driver, NULL, &info, &error) == FLR_OK;
        json_t *numbers = flr_json_object();
        flr_json_set(numbers, "driver", flr_json_text(driver->name));
        flr_json_set(numbers, "present", json_boolean(there));
        flr_json_set(numbers, "reason", there ? json_null() : flr_json_text(error.message));
        if (there) {
            flr_json_set(numbers, "device", flr_json_text(info.name));
            flr_json_set(numbers, "force_n", flr_json_number(info.force));
            flr_json_set(numbers, "torque_nm", flr_json_number(info.torque));
        }
        char value[200];
        snprintf(value, sizeof value, "%s: %s", driver->name,
                 there ? info.name : "not to be used now; a mouse will do without it");
        flr_doctor_say(doctor, "device", there, value, there ? "" : error.message, numbers);
    }
}
