/* internet addresses as text, by hand: numbers only, the same on every system */
#include <stdio.h>
#include <string.h>

#include "feeler/base.h"
#include "feeler/env.h"

/* a decimal number up to `most` without sign or needless zeros; NULL: there is none */
static const char *read_decimal(const char *text, unsigned most, unsigned *value)
{
    if (*text < '0' || *text > '9') return NULL;
    if (text[0] == '0' && text[1] >= '0' && text[1] <= '9') return NULL; // 010 is 8 to some
    unsigned number = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        number = 10 * number + (unsigned)(*text - '0');
        if (number > most) return NULL;
    }
    *value = number;
    return text;
}

/* four numbers with dots; returns what follows, or NULL */
static const char *read_v4(const char *text, uint8_t ip[4])
{
    for (int i = 0; i < 4; i++) {
        unsigned part;
        text = read_decimal(text, 255, &part);
        if (!text) return NULL;
        ip[i] = (uint8_t)part;
        if (i < 3 && *text++ != '.') return NULL;
    }
    return text;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Up to eight groups of hexadecimal digits, "::" once for a run of zeros, the last 32 bits also
 * as an IPv4 address. Returns what follows, or NULL. */
static const char *read_v6(const char *text, uint8_t ip[16])
{
    uint8_t bytes[16] = {0};
    size_t used = 0, gap = SIZE_MAX;
    if (text[0] == ':') {
        if (text[1] != ':') return NULL;
        gap = 0, text += 2;
    }
    while (hex_digit(*text) >= 0) {
        const char *start = text;
        unsigned group = 0, digits = 0;
        for (; hex_digit(*text) >= 0 && digits < 5; text++, digits++)
            group = group << 4 | (unsigned)hex_digit(*text);
        if (*text == '.') {
            if (used > 12) return NULL;
            text = read_v4(start, bytes + used);
            used += 4;
            break;
        }
        if (digits > 4 || used > 14) return NULL;
        bytes[used++] = (uint8_t)(group >> 8), bytes[used++] = (uint8_t)group;
        if (*text != ':') break;
        if (text[1] == ':') {
            if (gap != SIZE_MAX) return NULL;
            gap = used, text += 2;
        } else if (hex_digit(text[1]) < 0) {
            return NULL;
        } else {
            text++;
        }
    }
    if (!text || (gap == SIZE_MAX ? used != 16 : used > 14)) return NULL;

    // what came after the gap moves to the end
    memset(ip, 0, 16);
    if (gap == SIZE_MAX) gap = used;
    memcpy(ip, bytes, gap);
    memcpy(ip + 16 - (used - gap), bytes + gap, used - gap);
    return text;
}

/* ":7000" or nothing; returns what follows, or NULL */
static const char *read_port(const char *text, uint16_t *port)
{
    if (*text != ':') return text;
    unsigned number;
    text = read_decimal(text + 1, 65535, &number);
    if (text) *port = (uint16_t)number;
    return text;
}

flr_result flr_address_parse(const char *text, uint16_t default_port, flr_address *address,
                             flr_error *error)
{
    FLR_ASSERT(text && address);
    static const char localhost[] = "localhost";
    flr_address found;
    memset(&found, 0, sizeof found);
    found.port = default_port;
    const char *rest = NULL;
    if (strncmp(text, localhost, sizeof localhost - 1) == 0) {
        static const uint8_t loopback[4] = {127, 0, 0, 1};
        found.family = 4;
        memcpy(found.ip, loopback, sizeof loopback);
        rest = read_port(text + sizeof localhost - 1, &found.port);
    } else if (text[0] == '[') {
        found.family = 6;
        rest = read_v6(text + 1, found.ip);
        rest = rest && *rest == ']' ? read_port(rest + 1, &found.port) : NULL;
    } else if ((rest = read_v4(text, found.ip))) {
        found.family = 4;
        rest = read_port(rest, &found.port);
    } else {
        // without brackets a port cannot be told from the last group, so there is none
        memset(found.ip, 0, sizeof found.ip);
        found.family = 6;
        rest = read_v6(text, found.ip);
    }
    if (!rest || *rest)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "\"%s\" is not an address; write it like 127.0.0.1:7000, [::1]:7000 or "
                        "localhost:7000",
                        text);
    *address = found;
    return FLR_OK;
}

/* the longest run of two or more zero groups, the first of equals; length 0: none */
static void find_zero_run(const unsigned groups[8], int *start, int *length)
{
    *start = -1, *length = 0;
    for (int i = 0; i < 8; i++) {
        int run = 0;
        while (i + run < 8 && groups[i + run] == 0) run++;
        if (run >= 2 && run > *length) *start = i, *length = run;
        i += run;
    }
}

static void print_v6(const uint8_t ip[16], char *text, size_t size)
{
    unsigned groups[8];
    for (int i = 0; i < 8; i++) groups[i] = (unsigned)ip[2 * i] << 8 | ip[2 * i + 1];
    int start, length;
    find_zero_run(groups, &start, &length);
    size_t used = 0;
    for (int i = 0; i < 8; i++) {
        if (i == start) {
            used += (size_t)snprintf(text + used, size - used, "::");
            i += length - 1;
        } else {
            bool separate = i > 0 && i != start + length;
            used += (size_t)snprintf(text + used, size - used, separate ? ":%x" : "%x", groups[i]);
        }
    }
}

const char *flr_address_print(flr_address address, char text[FLR_ADDRESS_TEXT_SIZE])
{
    FLR_ASSERT(text);
    const uint8_t *ip = address.ip;
    if (address.family == 4) {
        snprintf(text, FLR_ADDRESS_TEXT_SIZE, "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3],
                 address.port);
    } else if (address.family == 6) {
        char inner[FLR_ADDRESS_TEXT_SIZE - 16] = "";
        print_v6(ip, inner, sizeof inner);
        snprintf(text, FLR_ADDRESS_TEXT_SIZE, "[%s]:%u", inner, address.port);
    } else {
        snprintf(text, FLR_ADDRESS_TEXT_SIZE, "no address");
    }
    return text;
}

bool flr_address_equal(flr_address a, flr_address b)
{
    if (a.family != b.family) return false;
    size_t size = a.family == 4 ? 4 : a.family == 6 ? 16 : 0;
    return memcmp(a.ip, b.ip, size) == 0 && (size == 0 || a.port == b.port);
}

bool flr_address_is_loopback(flr_address address)
{
    static const uint8_t v6[16] = {[15] = 1};
    if (address.family == 4) return address.ip[0] == 127;
    return address.family == 6 && memcmp(address.ip, v6, sizeof v6) == 0;
}
