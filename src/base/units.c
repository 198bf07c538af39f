/* lengths and numbers as text */
#include "feeler/base.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* metres = number * top / bottom; both exact, so that "0.35mm" is rounded once */
typedef struct unit {
    const char *name;
    double top, bottom;
} unit;

static const unit units[] = {
    {"um", 1, 1e6},      {"mm", 1, 1000}, {"cm", 1, 100},     {"m", 1, 1}, {"in", 254, 10000},
    {"ft", 3048, 10000}, {"µm", 1, 1e6},  {"\"", 254, 10000}, /* also understood, not advertised */
};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

static const unit *unit_find(const char *name)
{
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (!strcmp(units[i].name, name)) return &units[i];
    return NULL;
}

const char *flr_unit_name(double metres)
{
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (units[i].top / units[i].bottom == metres) return units[i].name;
    return NULL;
}

/* ---- numbers ---- */

static const char *skip_digits(const char *c)
{
    while (*c >= '0' && *c <= '9') c++;
    return c;
}

/* the end of the decimal number at the start of `text`; `text` itself when there is none */
static const char *number_end(const char *text)
{
    const char *c = text;
    if (*c == '+' || *c == '-') c++;
    const char *whole = c;
    c = skip_digits(c);
    size_t digits = (size_t)(c - whole);
    if (*c == '.') {
        const char *fraction = c + 1;
        c = skip_digits(fraction);
        digits += (size_t)(c - fraction);
    }
    if (!digits) return text;

    // an 'e' without digits belongs to what follows
    if (*c == 'e' || *c == 'E') {
        const char *exponent = c + 1;
        if (*exponent == '+' || *exponent == '-') exponent++;
        if (*exponent >= '0' && *exponent <= '9') c = skip_digits(exponent);
    }
    return c;
}

flr_result flr_number_parse(const char *text, double *value, const char **end, flr_error *error)
{
    const char *stop = number_end(text);
    if (stop == text) return flr_fail(error, FLR_BAD_INPUT, "'%.40s' is not a number", text);

    // strtod wants a terminated text, and must not see what follows ("0x10", "1 inf")
    char copy[128];
    size_t length = (size_t)(stop - text);
    if (length >= sizeof copy)
        return flr_fail(error, FLR_BAD_INPUT, "number '%.40s...' has too many digits", text);
    memcpy(copy, text, length);
    copy[length] = 0;
    double got = strtod_l(copy, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
    if (!isfinite(got)) return flr_fail(error, FLR_BAD_INPUT, "number '%s' is too large", copy);
    *value = got;
    *end = stop;
    return FLR_OK;
}

/* prints with a decimal point, whatever the program's locale */
static void print_plain(char *text, size_t size, int digits, double value)
{
    // the C locale is static: making it allocates nothing, and it need not be freed
    locale_t previous = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    snprintf(text, size, "%.*g", digits, value);
    uselocale(previous);
}

const char *flr_number_print(double value, char text[FLR_NUMBER_TEXT_SIZE])
{
    // 15 digits survive the way to a double and back, 17 are always enough
    value += 0.0;
    for (int digits = 15; digits <= 17; digits++) {
        print_plain(text, FLR_NUMBER_TEXT_SIZE, digits, value);
        double back;
        const char *end;
        if (flr_number_parse(text, &back, &end, NULL) == FLR_OK && back == value) break;
    }
    return text;
}

/* ---- units and sizes ---- */

flr_result flr_unit_parse(const char *text, double *metres, flr_error *error)
{
    const unit *known = unit_find(text);
    if (known) {
        *metres = known->top / known->bottom;
        return FLR_OK;
    }
    double number;
    const char *end;
    if (flr_number_parse(text, &number, &end, NULL) == FLR_OK && !*end && number > 0) {
        *metres = number;
        return FLR_OK;
    }
    return flr_fail(error, FLR_BAD_INPUT,
                    "'%.40s' is not a unit; use one of " FLR_UNIT_NAMES
                    " or a positive number of metres",
                    text);
}

flr_result flr_size_parse(const char *text, double default_unit, double *metres, flr_error *error)
{
    const char *c = text + strspn(text, " \t");
    double number;
    const char *end;
    if (flr_number_parse(c, &number, &end, error) != FLR_OK)
        return flr_fail(error, FLR_BAD_INPUT, "'%.40s' is not a size; write it like 0.35mm", text);

    // the unit, without blanks around it
    end += strspn(end, " \t");
    char name[8] = "";
    size_t length = strlen(end);
    while (length && (end[length - 1] == ' ' || end[length - 1] == '\t')) length--;
    if (length < sizeof name) memcpy(name, end, length);

    double size;
    if (!length) {
        if (!(default_unit > 0))
            return flr_fail(error, FLR_BAD_INPUT,
                            "size '%.40s' has no unit; write one of " FLR_UNIT_NAMES " after it",
                            text);
        size = number * default_unit;
    } else {
        const unit *known = unit_find(name);
        if (!known)
            return flr_fail(error, FLR_BAD_INPUT,
                            "size '%.40s': unknown unit '%.20s'; use one of " FLR_UNIT_NAMES, text,
                            end);
        size = number * known->top / known->bottom;
    }
    if (!isfinite(size)) return flr_fail(error, FLR_BAD_INPUT, "size '%.40s' is too large", text);
    *metres = size;
    return FLR_OK;
}

const char *flr_size_print(double metres, char text[FLR_SIZE_TEXT_SIZE])
{
    double size = fabs(metres);
    bool metre = size >= 1, micrometre = size < 1e-5 && size > 0;
    double factor = metre ? 1 : micrometre ? 1e6 : 1000;
    char number[24];
    print_plain(number, sizeof number, 6, metres * factor + 0.0);
    snprintf(text, FLR_SIZE_TEXT_SIZE, "%s %s", number, metre ? "m" : micrometre ? "um" : "mm");
    return text;
}

const char *flr_size_print_tight(double metres, char text[FLR_SIZE_TEXT_SIZE])
{
    flr_size_print(metres, text);
    char *blank = strchr(text, ' ');
    if (blank) memmove(blank, blank + 1, strlen(blank));
    return text;
}
