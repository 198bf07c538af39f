/* the drivers by name: those that come with feeler, and those of plugins */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "feeler/base.h"
#include "feeler/device.h"
#include "feeler/env.h"
#include "feeler/hand.h"

enum { BUILT_IN = 8, MAX_LISTED = 64 };

/* filled from the front; what is below the count never changes */
static const flr_device_driver *drivers[MAX_LISTED] = {
    &flr_hand_driver,       &flr_script_driver,      &flr_replay_driver,         &flr_remote_driver,
    &flr_spacemouse_driver, &flr_openhaptics_driver, &flr_forcedimension_driver, &flr_haply_driver,
};
static atomic_size_t driver_count = BUILT_IN;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

size_t flr_device_driver_count(void)
{
    return atomic_load_explicit(&driver_count, memory_order_acquire);
}

const flr_device_driver *flr_device_driver_at(size_t index)
{
    FLR_ASSERT(index < flr_device_driver_count());
    return drivers[index];
}

static const flr_device_driver *find(const char *name, size_t length)
{
    size_t count = flr_device_driver_count();
    for (size_t i = 0; i < count; i++)
        if (strncmp(drivers[i]->name, name, length) == 0 && drivers[i]->name[length] == 0)
            return drivers[i];
    return NULL;
}

const flr_device_driver *flr_device_driver_find(const char *name)
{
    FLR_ASSERT(name);
    return find(name, strlen(name));
}

/* ---- by name ---- */

flr_result flr_device_look(const flr_device_driver *driver, const char *options,
                           flr_device_info *info, flr_error *error)
{
    FLR_ASSERT(driver);
    flr_device_info found = {.dead_man = -1, .workspace = flr_box3_empty()};
    flr_text_copy(found.name, sizeof found.name, driver->name);
    flr_result result = driver->look ? driver->look(options, &found, error) : FLR_OK;
    if (result == FLR_OK && info) *info = found;
    return result;
}

static flr_result unknown(const char *name, flr_error *error)
{
    const char *names[MAX_LISTED];
    char list[256] = "";
    size_t count = flr_device_driver_count(), used = 0;
    for (size_t i = 0; i < count; i++) {
        names[i] = drivers[i]->look ? drivers[i]->name : NULL;
        if (!names[i] || used + strlen(names[i]) + 3 > sizeof list) continue;
        if (used) memcpy(list + used, ", ", 3), used += 2;
        memcpy(list + used, names[i], strlen(names[i]) + 1);
        used += strlen(names[i]);
    }
    const char *meant = flr_suggest(name, names, count);
    if (meant)
        return flr_fail(error, FLR_NOT_FOUND, "no device \"%.40s\"; did you mean \"%s\"?", name,
                        meant);
    return flr_fail(error, FLR_NOT_FOUND,
                    "no device \"%.40s\"; there are %s; feeler doctor tells which can be used",
                    name, list);
}

flr_result flr_device_open_named(const char *text, flr_device **device, flr_error *error)
{
    FLR_ASSERT(text && device);
    size_t length = strcspn(text, ":");
    char name[64];
    flr_text_copy(name, sizeof name, text);
    if (length < sizeof name) name[length] = 0;
    const flr_device_driver *driver = find(text, length);
    if (!driver) return unknown(name, error);
    if (!driver->look)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s cannot be opened by its name alone: it needs to know what "
                        "to do",
                        driver->name);
    return flr_device_open(driver, text[length] ? text + length + 1 : NULL, device, error);
}

/* ---- plugins ---- */

typedef struct loader {
    const char *folder;
    size_t loaded;
    flr_result result; /* the first one that is not FLR_OK, with its sentence */
    flr_error *error;
} loader;

static flr_result add(const char *path, const flr_device_plugin *plugin, flr_error *error)
{
    if (plugin->version != FLR_DEVICE_PLUGIN_VERSION)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "%s: made for version %u of device plugins, this is version %d; compile it "
                        "again",
                        path, plugin->version, FLR_DEVICE_PLUGIN_VERSION);
    const flr_device_driver *d = plugin->driver;
    if (!d || !d->name || !d->summary || !d->open || !d->close || !d->read || !d->look)
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s: its driver lacks a name, a summary, or one of open, close, read, look",
                        path);
    if (!*d->name || d->name[strcspn(d->name, ":, ")] != 0)
        return flr_fail(error, FLR_BAD_INPUT, "%s: its driver's name has to be one word", path);
    const flr_device_driver *same = flr_device_driver_find(d->name);
    if (same == d) return FLR_OK; // loaded before
    if (same)
        return flr_fail(error, FLR_BAD_INPUT, "%s: there is a driver \"%s\" already; rename it",
                        path, d->name);
    size_t count = flr_device_driver_count();
    if (count == MAX_LISTED)
        return flr_fail(error, FLR_TOO_LARGE, "%s: there are %d drivers already", path, MAX_LISTED);
    drivers[count] = d;
    atomic_store_explicit(&driver_count, count + 1, memory_order_release);
    return FLR_OK;
}

static flr_result load(const char *path, flr_error *error)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return flr_fail(error, FLR_UNSUPPORTED, "cannot be loaded: %s", dlerror());
    const flr_device_plugin *plugin = dlsym(library, "flr_device_plugin_entry");
    flr_result result =
        plugin ? add(path, plugin, error)
               : flr_fail(error, FLR_BAD_INPUT,
                          "%s: no device plugin: it has no symbol flr_device_plugin_entry", path);
    if (result != FLR_OK) dlclose(library); // else it stays for good
    return result;
}

static bool visit(void *context, const char *name)
{
    loader *l = context;
    size_t length = strlen(name), before = flr_device_driver_count();
    if (length < 4 || strcmp(name + length - 3, ".so") != 0) return true;
    char *path = malloc(strlen(l->folder) + length + 2);
    flr_error error;
    flr_result result;
    if (path) {
        memcpy(path, l->folder, strlen(l->folder));
        path[strlen(l->folder)] = '/';
        memcpy(path + strlen(l->folder) + 1, name, length + 1);
        result = load(path, &error);
        free(path);
    } else {
        result = flr_fail(&error, FLR_NO_MEMORY, "%s: out of memory", name);
    }
    l->loaded += flr_device_driver_count() - before;
    if (result != FLR_OK && l->result == FLR_OK) {
        l->result = result;
        if (l->error) *l->error = error;
    }
    return true;
}

flr_result flr_device_plugins_load(const char *folder, size_t *loaded, flr_error *error)
{
    loader l = {.folder = folder ? folder : getenv("FEELER_DEVICES"), .error = error};
    flr_result result = FLR_OK;
    if (l.folder && *l.folder) {
        pthread_mutex_lock(&loading);
        result = flr_path_list(flr_env_real(), l.folder, visit, &l, error);
        pthread_mutex_unlock(&loading);
    }
    if (loaded) *loaded = l.loaded;
    return result != FLR_OK ? result : l.result;
}
