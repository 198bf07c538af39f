/* reads a command line into a command's values struct */
#include "options.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "feeler/base.h"

static const flr_option *find_in(const flr_option *table, const char *name, size_t size,
                                 char letter)
{
    for (const flr_option *o = table; o && o->name; o++)
        if (name ? strlen(o->name) == size && !strncmp(o->name, name, size) : o->letter == letter)
            return o;
    return NULL;
}

/* by long name, or by letter when `name` is NULL */
static const flr_option *find_option(const flr_command *command, const char *name, size_t size,
                                     char letter)
{
    const flr_option *found = find_in(command->options, name, size, letter);
    return found ? found : find_in(flr_common_options, name, size, letter);
}

static flr_result unknown_option(const flr_command *command, const char *text, flr_error *error)
{
    // all names a user could have meant
    const char *names[64];
    size_t count = 0;
    const flr_option *tables[] = {command->options, flr_common_options};
    for (size_t t = 0; t < 2; t++)
        for (const flr_option *o = tables[t]; o && o->name && count < 64; o++)
            names[count++] = o->name;

    char word[64] = "";
    strncpy(word, text + strspn(text, "-"), sizeof word - 1);
    word[strcspn(word, "=")] = 0;
    for (const flr_option *o = command->options; o && o->name; o++)
        if (o->formerly && !strcmp(o->formerly, word))
            return flr_fail(error, FLR_BAD_ARGUMENT, "--%s of feeler %s is called --%s now", word,
                            command->name, o->name);
    const char *near = flr_suggest(word, names, count);
    if (near && text[1] == '-')
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "unknown option %s for feeler %s; did you mean --%s?", text, command->name,
                        near);
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "unknown option %s for feeler %s; see feeler %s --help", text, command->name,
                    command->name);
}

static flr_result set_number(const flr_option *option, const char *text, double *value,
                             flr_error *error)
{
    double number;
    const char *end;
    if (flr_number_parse(text, &number, &end, NULL) != FLR_OK || *end)
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s needs a number, not \"%s\"", option->name,
                        text);
    if (option->max > 0 && (number < option->min || number > option->max))
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s must be from %g to %g, not %s", option->name,
                        option->min, option->max, text);
    *value = number;
    return FLR_OK;
}

static flr_result set_integer(const flr_option *option, const char *text, int64_t *value,
                              flr_error *error)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool digits = *text == '-' || (*text >= '0' && *text <= '9');
    if (!digits || end == text || *end || errno)
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s needs a whole number, not \"%s\"",
                        option->name, text);
    if (option->max > 0 && ((double)number < option->min || (double)number > option->max))
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s must be from %.0f to %.0f, not %s",
                        option->name, option->min, option->max, text);
    *value = number;
    return FLR_OK;
}

/* "4GiB", "500 MB", "65536" */
static flr_result set_bytes(const flr_option *option, const char *text, uint64_t *value,
                            flr_error *error)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},      {"B", 1},       {"kB", 1e3},      {"MB", 1e6},     {"GB", 1e9},
                 {"TB", 1e12}, {"KiB", 1024},  {"MiB", 1048576}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
                 {"k", 1024},  {"M", 1048576}, {"G", 0x1p30},    {"T", 0x1p40}};
    double number;
    const char *end;
    if (flr_number_parse(text, &number, &end, NULL) == FLR_OK && number > 0) {
        while (*end == ' ') end++;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (!strcmp(end, units[i].name) && number * units[i].bytes >= 1 &&
                number * units[i].bytes < 0x1p62) {
                *value = (uint64_t)(number * units[i].bytes);
                return FLR_OK;
            }
    }
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "--%s needs a number of bytes such as 4GiB or 500MB, not \"%s\"", option->name,
                    text);
}

static flr_result set_choice(const flr_option *option, const char *text, int *value,
                             flr_error *error)
{
    char list[256] = "";
    for (int i = 0; option->choices[i]; i++) {
        if (!strcmp(option->choices[i], text)) {
            *value = i;
            return FLR_OK;
        }
        if (i) strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, option->choices[i], sizeof list - strlen(list) - 1);
    }
    return flr_fail(error, FLR_BAD_ARGUMENT, "--%s cannot be \"%s\"; there are %s", option->name,
                    text, list);
}

static flr_result set_size(const flr_option *option, const char *text, double *value,
                           flr_error *error)
{
    flr_error why;
    double metres;
    if (flr_size_parse(text, 0, &metres, &why) != FLR_OK)
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s: %s", option->name, why.message);
    if (metres < option->min)
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s must be at least %s, not %s", option->name,
                        option->min > 0 ? FLR_SIZE_TEXT(option->min) : "0", text);
    if (option->max > 0 && metres > option->max)
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s must be at most %s, not %s", option->name,
                        FLR_SIZE_TEXT(option->max), text);
    *value = metres;
    return FLR_OK;
}

static flr_result set_unit(const flr_option *option, const char *text, double *value,
                           flr_error *error)
{
    flr_error why;
    double metres;
    if (flr_unit_parse(text, &metres, &why) != FLR_OK)
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s: %s", option->name, why.message);
    if (!(metres >= 1e-12 && metres <= 1e12)) // as flr_mesh_options.unit
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s must be from 1e-12 to 1e12 metres, not %s",
                        option->name, text);
    *value = metres;
    return FLR_OK;
}

static flr_result set_value(const flr_option *option, const char *text, void *values,
                            flr_error *error)
{
    void *place = (char *)values + option->offset;
    switch (option->type) {
    case FLR_OPTION_FLAG:
        *(bool *)place = true;
        return FLR_OK;
    case FLR_OPTION_SIZE:
        return set_size(option, text, place, error);
    case FLR_OPTION_UNIT:
        return set_unit(option, text, place, error);
    case FLR_OPTION_NUMBER:
        return set_number(option, text, place, error);
    case FLR_OPTION_INTEGER:
        return set_integer(option, text, place, error);
    case FLR_OPTION_BYTES:
        return set_bytes(option, text, place, error);
    case FLR_OPTION_CHOICE:
        return set_choice(option, text, place, error);
    case FLR_OPTION_PATH:
    case FLR_OPTION_FOLDER:
    case FLR_OPTION_TEXT:
        if (!*text)
            return flr_fail(error, FLR_BAD_ARGUMENT, "--%s needs a value that is not empty",
                            option->name);
        *(const char **)place = text;
        return FLR_OK;
    }
    return FLR_OK;
}

/* "--name", "--name=value" or "--name value"; *used counts a value taken from the next word */
static flr_result long_option(const flr_command *command, const char *text, const char *next,
                              void *values, int *used, flr_error *error)
{
    const char *equals = strchr(text, '=');
    size_t size = equals ? (size_t)(equals - text) - 2 : strlen(text) - 2;
    const flr_option *option = find_option(command, text + 2, size, 0);
    if (!option) return unknown_option(command, text, error);

    if (option->type == FLR_OPTION_FLAG) {
        if (equals) return flr_fail(error, FLR_BAD_ARGUMENT, "--%s takes no value", option->name);
        return set_value(option, NULL, values, error);
    }
    if (equals) return set_value(option, equals + 1, values, error);
    if (!next)
        return flr_fail(error, FLR_BAD_ARGUMENT, "--%s needs a value: --%s %s", option->name,
                        option->name, option->argument);
    // a forgotten value should not swallow the next option
    if (next[0] == '-' && next[1] == '-')
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--%s needs a value, but %s follows; a value that begins with dashes is "
                        "written --%s=%s",
                        option->name, next, option->name, next);
    *used = 1;
    return set_value(option, next, values, error);
}

/* "-q", "-qv", "-o FILE" or "-oFILE" */
static flr_result short_options(const flr_command *command, const char *text, const char *next,
                                void *values, int *used, flr_error *error)
{
    for (const char *c = text + 1; *c; c++) {
        const flr_option *option = find_option(command, NULL, 0, *c);
        if (!option) return unknown_option(command, text, error);
        if (option->type == FLR_OPTION_FLAG) {
            set_value(option, NULL, values, error);
            continue;
        }
        if (c[1]) return set_value(option, c + 1, values, error);
        if (!next)
            return flr_fail(error, FLR_BAD_ARGUMENT, "-%c needs a value: -%c %s", *c, *c,
                            option->argument);
        *used = 1;
        return set_value(option, next, values, error);
    }
    return FLR_OK;
}

flr_result flr_options_parse(const flr_command *command, int argc, char **argv, void *values,
                             char **arguments, int *count, flr_error *error)
{
    if (command->defaults)
        memcpy(values, command->defaults, command->values_size);
    else
        memset(values, 0, command->values_size);

    int found = 0;
    bool ended = false;
    for (int i = 0; i < argc; i++) {
        const char *text = argv[i];
        if (ended || text[0] != '-' || !text[1]) {
            arguments[found++] = argv[i];
            continue;
        }
        if (!strcmp(text, "--")) {
            ended = true;
            continue;
        }
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        int used = 0;
        flr_result result = text[1] == '-'
                                ? long_option(command, text, next, values, &used, error)
                                : short_options(command, text, next, values, &used, error);
        if (result != FLR_OK) return result;
        i += used;
    }

    // --help and --version are answered whatever else is missing
    *count = found;
    const flr_common *common = values;
    if (common->help || common->version) return FLR_OK;
    if (found < command->min_arguments)
        return flr_fail(error, FLR_BAD_ARGUMENT, "feeler %s needs %s; see feeler %s --help",
                        command->name, command->argument_missing, command->name);
    if (command->max_arguments >= 0 && found > command->max_arguments)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "\"%s\" is one argument too many for feeler %s; see feeler %s --help",
                        arguments[command->max_arguments], command->name, command->name);
    return FLR_OK;
}

bool flr_options_has_flag(int argc, char **argv, const char *name)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
        if (!strncmp(argv[i], "--", 2) && !strcmp(argv[i] + 2, name)) return true;
    return false;
}
