/* options.h: "key=value,key=value" of a device that is opened by name. Thread: any. */
#ifndef FLR_DEVICE_OPTIONS_H
#define FLR_DEVICE_OPTIONS_H

#include <stddef.h>

#include "feeler/base.h"

enum { FLR_DEVICE_OPTION_SIZE = 256 };

/* One key that a driver knows. Exactly one of `number` and `text` is given, with its default in it. */
typedef struct flr_device_option {
    const char *key;
    double *number;
    double low, high; /* of the number */
    char *text;       /* [FLR_DEVICE_OPTION_SIZE] */
} flr_device_option;

/* Reads `options` (NULL: none) into what `known` points to. A sentence begins with `driver`, names
 * the key and says what it may be. On failure some of the values may have changed. */
flr_result flr_device_options_read(const char *driver, const char *options,
                                   const flr_device_option *known, size_t count, flr_error *error);

#endif
