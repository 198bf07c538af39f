/* options of a device that is opened by name */
#include "device/options.h"

#include <string.h>

#include "base/suggest.h"
#include "feeler/base.h"

enum { MAX_KEYS = 16 };

static flr_result unknown(const char *driver, const char *key, const flr_device_option *known,
                          size_t count, flr_error *error)
{
    const char *keys[MAX_KEYS];
    char list[FLR_DEVICE_OPTION_SIZE] = "";
    for (size_t i = 0; i < count; i++) {
        keys[i] = known[i].key;
        if (i) strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, keys[i], sizeof list - strlen(list) - 1);
    }
    const char *meant = flr_suggest(key, keys, count);
    if (meant)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: no option \"%.40s\"; did you mean \"%s\"?",
                        driver, key, meant);
    return flr_fail(error, FLR_BAD_ARGUMENT, "%s: no option \"%.40s\"; it has %s", driver, key,
                    list);
}

static flr_result read_one(const char *driver, const flr_device_option *option, const char *value,
                           flr_error *error)
{
    if (option->text) {
        memcpy(option->text, value, strlen(value) + 1);
        return FLR_OK;
    }
    double number;
    const char *end;
    if (flr_number_parse(value, &number, &end, NULL) != FLR_OK || *end ||
        !(number >= option->low && number <= option->high))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: %s=%.40s; it has to be a number from %g to %g", driver, option->key,
                        value, option->low, option->high);
    *option->number = number;
    return FLR_OK;
}

flr_result flr_device_options_read(const char *driver, const char *options,
                                   const flr_device_option *known, size_t count, flr_error *error)
{
    FLR_ASSERT(driver && known && count <= MAX_KEYS);
    const char *at = options ? options : "";
    while (*at) {
        // one "key=value"
        char item[FLR_DEVICE_OPTION_SIZE];
        size_t length = strcspn(at, ",");
        if (length >= sizeof item)
            return flr_fail(error, FLR_TOO_LARGE, "%s: the option \"%.40s…\" is too long", driver,
                            at);
        memcpy(item, at, length);
        item[length] = 0;
        at += length + (at[length] == ',');
        char *equals = strchr(item, '=');
        if (!equals)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "%s: \"%.40s\" is no option; write key=value,key=value", driver, item);
        *equals = 0;

        // to where it belongs
        size_t i = 0;
        while (i < count && strcmp(known[i].key, item) != 0) i++;
        if (i == count) return unknown(driver, item, known, count, error);
        flr_result result = read_one(driver, &known[i], equals + 1, error);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}
