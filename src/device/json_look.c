/* single values out of a JSON text */
#include "device/json_look.h"

#include <math.h>
#include <string.h>

enum { DEEPEST = 32 };

static const flr_look_at nothing = {NULL, NULL};

static flr_look_at past_space(flr_look_at v)
{
    while (v.at && v.at < v.end && strchr(" \t\r\n", *v.at) && *v.at) v.at++;
    return v.at && v.at < v.end ? v : nothing;
}

/* `c` comes next, behind white space; past it */
static bool take(flr_look_at *v, char c)
{
    *v = past_space(*v);
    if (!v->at || *v->at != c) return false;
    v->at++;
    return true;
}

/* past a text; its length without the quotes, -1: none */
static long past_text(flr_look_at *v)
{
    if (!take(v, '"')) return -1;
    const char *begin = v->at;
    while (v->at < v->end && *v->at != '"') v->at += *v->at == '\\' && v->at + 1 < v->end ? 2 : 1;
    if (v->at >= v->end) return -1;
    return (long)(v->at++ - begin);
}

/* past a value, whatever it is; counts brackets instead of calling itself */
static bool past_value(flr_look_at *v)
{
    int depth = 0;
    do {
        *v = past_space(*v);
        if (!v->at) return false;
        const char c = *v->at;
        if (c == '"') {
            if (past_text(v) < 0) return false;
        } else if (c == '{' || c == '[') {
            if (++depth > DEEPEST) return false;
            v->at++;
        } else if (c == '}' || c == ']') {
            if (--depth < 0) return false;
            v->at++;
        } else if (c == ',' || c == ':') {
            if (depth == 0) return false;
            v->at++;
        } else {
            const char *begin = v->at;
            while (v->at < v->end && *v->at && !strchr(",:]} \t\r\n\"[{", *v->at)) v->at++;
            if (v->at == begin) return false;
        }
    } while (depth > 0);
    return true;
}

flr_look_at flr_look_text(const char *text, size_t size)
{
    return past_space((flr_look_at){text, text + size});
}

flr_look_at flr_look_member(flr_look_at v, const char *name)
{
    const size_t wanted = strlen(name);
    if (!take(&v, '{')) return nothing;
    for (;;) {
        v = past_space(v);
        const char *key = v.at ? v.at + 1 : NULL;
        const long length = past_text(&v);
        if (length < 0 || !take(&v, ':')) return nothing;
        if ((size_t)length == wanted && memcmp(key, name, wanted) == 0) return past_space(v);
        if (!past_value(&v) || !take(&v, ',')) return nothing;
    }
}

flr_look_at flr_look_element(flr_look_at v, size_t index)
{
    if (!take(&v, '[')) return nothing;
    for (size_t i = 0; i < index; i++)
        if (!past_value(&v) || !take(&v, ',')) return nothing;
    v = past_space(v);
    return v.at && *v.at != ']' ? v : nothing;
}

bool flr_look_number(flr_look_at v, double *number)
{
    v = past_space(v);
    if (!v.at) return false;
    const char *c = v.at;
    const bool minus = *c == '-';
    double value = 0, sign = minus ? -1 : 1;
    int places = 0, digits = 0, exponent = 0;
    for (c += minus; c < v.end && *c >= '0' && *c <= '9'; c++, digits++)
        value = 10 * value + (*c - '0');
    if (c < v.end && *c == '.')
        for (c++; c < v.end && *c >= '0' && *c <= '9'; c++, digits++, places++)
            value = 10 * value + (*c - '0');
    if (digits == 0) return false;
    if (c < v.end && (*c == 'e' || *c == 'E')) {
        const bool down = ++c < v.end && *c == '-';
        if (c < v.end && (*c == '-' || *c == '+')) c++;
        if (c >= v.end || *c < '0' || *c > '9') return false;
        for (; c < v.end && *c >= '0' && *c <= '9'; c++)
            if (exponent < 1000) exponent = 10 * exponent + (*c - '0');
        if (down) exponent = -exponent;
    }
    value *= sign * pow(10, exponent - places);
    if (!isfinite(value)) return false;
    *number = value;
    return true;
}

bool flr_look_true(flr_look_at v)
{
    v = past_space(v);
    return v.at && v.end - v.at >= 4 && memcmp(v.at, "true", 4) == 0;
}

bool flr_look_word(flr_look_at v, char *text, size_t size)
{
    v = past_space(v);
    const char *begin = v.at ? v.at + 1 : NULL;
    const long length = past_text(&v);
    if (length < 0 || (size_t)length >= size || memchr(begin, '\\', (size_t)length)) return false;
    memcpy(text, begin, (size_t)length);
    text[length] = 0;
    return true;
}
