/* the token, the names, the origins */
#include "server/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void flr_access_make_token(flr_env *env, char token[FLR_TOKEN_SIZE])
{
    unsigned char bytes[16];
    flr_random_bytes(env, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
}

flr_result flr_access_read_token(flr_env *env, const char *path, char token[FLR_TOKEN_SIZE],
                                 flr_error *error)
{
    flr_blob blob = {0};
    flr_result result = flr_file_read_all(env, path, 4096, &blob, error);
    if (result != FLR_OK) return result;
    const char *text = blob.bytes ? (const char *)blob.bytes : "";
    size_t size = strcspn(text, "\r\n");
    bool plain = true;
    for (size_t i = 0; i < size; i++) plain = plain && text[i] > ' ' && text[i] < 127;
    if (size < FLR_TOKEN_MIN_LENGTH)
        result = flr_fail(error, FLR_BAD_INPUT,
                          "%s: a token has at least %d characters, on the first line; openssl "
                          "rand -hex 16 makes one",
                          path, FLR_TOKEN_MIN_LENGTH);
    else if (size >= FLR_TOKEN_SIZE)
        result = flr_fail(error, FLR_BAD_INPUT, "%s: a token has at most %d characters", path,
                          FLR_TOKEN_SIZE - 1);
    else if (!plain)
        result = flr_fail(error, FLR_BAD_INPUT,
                          "%s: a token is made of letters, digits and signs without blanks", path);
    if (result == FLR_OK) {
        memcpy(token, text, size);
        token[size] = 0;
    }
    flr_blob_free(&blob);
    return result;
}

bool flr_access_token(const flr_access *access, const char *token, size_t size)
{
    size_t wanted = strlen(access->token);
    if (wanted == 0) return true;
    if (size != wanted) return false;
    volatile unsigned char different = 0;
    for (size_t i = 0; i < wanted; i++)
        different = (unsigned char)(different | (token[i] ^ access->token[i]));
    return different == 0;
}

/* the name of "name:port" or "[::1]:port"; 0: it is none */
static size_t name_size(const char *host)
{
    const char *end = host[0] == '[' ? strchr(host, ']') : host + strcspn(host, ":");
    if (!end) return 0;
    end += host[0] == '[';
    /* the text goes into headers of answers: nothing but a port may follow */
    if (*end && (*end != ':' || end[1 + strspn(end + 1, "0123456789")])) return 0;
    return (size_t)(end - host);
}

/* four numbers, or something in brackets: no name service can make that point elsewhere */
static bool is_number(const char *host, size_t size)
{
    if (host[0] == '[') return strspn(host + 1, "0123456789abcdefABCDEF:.%") == size - 2;
    char text[64];
    if (size == 0 || size >= sizeof text) return false;
    memcpy(text, host, size);
    text[size] = 0;
    flr_address address;
    return strspn(text, "0123456789.") == size &&
           flr_address_parse(text, 0, &address, NULL) == FLR_OK;
}

static bool is_name(const char *host, size_t size, const char *name)
{
    return strlen(name) == size && !strncasecmp(host, name, size);
}

bool flr_access_host(const flr_access *access, const char *host)
{
    if (!host || !*host) return false;
    size_t size = name_size(host);
    if (size == 0 || strchr(host, '@') || strchr(host, '/')) return false;
    if (is_number(host, size) || is_name(host, size, "localhost")) return true;
    for (size_t i = 0; i < access->name_count; i++) {
        if (is_name(host, size, access->names[i])) return true;
    }
    return false;
}

bool flr_access_origin(const flr_access *access, const char *origin, const char *host)
{
    if (!origin || !*origin) return true;
    for (size_t i = 0; i < access->origin_count; i++) {
        if (!strcasecmp(origin, access->origins[i])) return true;
    }
    /* the page came from here: then its origin is what it calls */
    const char *from = NULL;
    if (!strncasecmp(origin, "http://", 7)) from = origin + 7;
    if (!strncasecmp(origin, "https://", 8)) from = origin + 8;
    return from && host && !strcasecmp(from, host) && flr_access_host(access, host);
}

static bool is_loopback_name(const char *host)
{
    size_t size = name_size(host);
    return is_name(host, size, "localhost") || is_name(host, size, "[::1]") ||
           (!strncmp(host, "127.", 4) && is_number(host, size));
}

bool flr_access_is_local(const char *host, const char *origin)
{
    if (!host || !is_loopback_name(host)) return false;
    if (!origin || !*origin) return true;
    const char *from = strstr(origin, "://");
    return from && is_loopback_name(from + 3);
}

static bool is_host_name(const char *text, size_t size)
{
    if (size == 0 || size > 253 || text[0] == '-' || text[0] == '.') return false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!word && c != '-' && c != '_' && (c != '.' || text[i - 1] == '.')) return false;
    }
    return true;
}

bool flr_access_is_host_name(const char *text) { return is_host_name(text, strlen(text)); }

bool flr_access_is_origin(const char *text)
{
    const char *host = !strncasecmp(text, "http://", 7)    ? text + 7
                       : !strncasecmp(text, "https://", 8) ? text + 8
                                                           : NULL;
    size_t size = host ? name_size(host) : 0;
    if (size == 0 || !(host[0] == '[' ? is_number(host, size) : is_host_name(host, size)))
        return false;
    if (host[size] == 0) return true;
    const char *port = host + size + 1;
    size_t digits = strspn(port, "0123456789");
    return digits > 0 && digits <= 5 && port[digits] == 0 && strtol(port, NULL, 10) <= 65535;
}

void flr_access_network(int family, const uint8_t *ip, uint8_t network[16])
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    memset(network, 0, 16);
    if (family == 6 && memcmp(ip, mapped, sizeof mapped) != 0) {
        memcpy(network, ip, 8);
        network[15] = 1; /* ::1 and the like are not "any other family" */
    } else if (family == 4 || family == 6) {
        memcpy(network, mapped, sizeof mapped);
        memcpy(network + 12, family == 4 ? ip : ip + 12, 4);
    }
}
