/* the head of an HTTP/1 request */
#include "server/http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const names[FLR_HTTP_HEADER_COUNT] = {
    [FLR_HTTP_HOST] = "host",
    [FLR_HTTP_ORIGIN] = "origin",
    [FLR_HTTP_AUTHORIZATION] = "authorization",
    [FLR_HTTP_ACCEPT_ENCODING] = "accept-encoding",
    [FLR_HTTP_IF_NONE_MATCH] = "if-none-match",
    [FLR_HTTP_CONNECTION] = "connection",
    [FLR_HTTP_UPGRADE] = "upgrade",
    [FLR_HTTP_WS_KEY] = "sec-websocket-key",
    [FLR_HTTP_WS_VERSION] = "sec-websocket-version",
    [FLR_HTTP_WS_PROTOCOL] = "sec-websocket-protocol",
    [FLR_HTTP_CONTENT_LENGTH] = "content-length",
};

void flr_http_restart(flr_http_reader *reader)
{
    reader->size = 0;
    reader->head = (flr_http_head){0};
}

void flr_http_free(flr_http_reader *reader)
{
    free(reader->bytes);
    *reader = (flr_http_reader){0};
}

/* RFC 9110: the characters of methods and of the names of headers */
static bool is_token(const char *text)
{
    if (!*text) return false;
    for (const char *c = text; *c; c++) {
        bool word =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!word && !strchr("!#$%&'*+-.^_`|~", *c)) return false;
    }
    return true;
}

/* "GET /path?query HTTP/1.1", cut into pieces where it lies */
static unsigned read_request_line(flr_http_head *head, char *line)
{
    char *target = strchr(line, ' ');
    if (!target) return 400;
    *target++ = 0;
    char *version = strchr(target, ' ');
    if (!version || !is_token(line)) return 400;
    *version++ = 0;
    if (strncmp(version, "HTTP/", 5) != 0) return 400;
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0) return 505;
    head->keep_alive = version[7] == '1';
    head->method = !strcmp(line, "GET")    ? FLR_HTTP_GET
                   : !strcmp(line, "HEAD") ? FLR_HTTP_HEAD
                                           : FLR_HTTP_OTHER;
    /* another method may ask for "*" or "host:port"; it is refused later, by its name */
    if (target[0] != '/' && head->method != FLR_HTTP_OTHER) return 400;
    head->path = target;
    char *query = strchr(target, '?');
    if (query) *query++ = 0;
    head->query = query ? query : "";
    return FLR_HTTP_DONE;
}

/* Proxies name the client in many ways: Forwarded, X-Forwarded-For, X-Real-IP, True-Client-IP, CF-Connecting-IP, … */
static bool is_forwarding(const char *name)
{
    static const char *const parts[] = {"forwarded", "real-ip", "client-ip", "connecting-ip",
                                        "external-address"};
    if (!strcasecmp(name, "via")) return true;
    for (const char *at = name; *at; at++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (!strncasecmp(at, parts[i], strlen(parts[i]))) return true;
    return false;
}

static unsigned read_header(flr_http_head *head, char *line)
{
    char *value = strchr(line, ':');
    if (!value) return 400;
    *value++ = 0;
    /* a blank before the colon or at the begin of a line (a folded header) is no token */
    if (!is_token(line)) return 400;
    value += strspn(value, " \t");
    for (size_t end = strlen(value); end > 0 && strchr(" \t", value[end - 1]);) value[--end] = 0;
    head->forwarded = head->forwarded || is_forwarding(line);
    if (!strcasecmp(line, "transfer-encoding")) return 413;
    for (int i = 0; i < FLR_HTTP_HEADER_COUNT; i++) {
        if (strcasecmp(line, names[i]) != 0) continue;
        if (head->header[i]) return 400;
        head->header[i] = value;
    }
    return FLR_HTTP_DONE;
}

static unsigned check(flr_http_head *head)
{
    const char *length = head->header[FLR_HTTP_CONTENT_LENGTH];
    if (length) {
        if (!*length || length[strspn(length, "0123456789")]) return 400;
        if (length[strspn(length, "0")]) return 413;
    }
    if (flr_http_lists(head->header[FLR_HTTP_CONNECTION], "close")) head->keep_alive = false;
    return FLR_HTTP_DONE;
}

static unsigned parse(flr_http_reader *reader)
{
    unsigned status = FLR_HTTP_DONE;
    bool first = true;
    /* the reader took only lines that end with CR LF, the last of them empty */
    for (char *line = reader->bytes; *line != '\r' && status == FLR_HTTP_DONE;) {
        char *end = strchr(line, '\r');
        *end = 0;
        status = first ? read_request_line(&reader->head, line) : read_header(&reader->head, line);
        first = false;
        line = end + 2;
    }
    return status == FLR_HTTP_DONE ? check(&reader->head) : status;
}

/* May this byte stand behind the one before it? Lines end with CR LF; other control characters do not occur. */
static bool is_allowed(unsigned char byte, unsigned char before)
{
    if (before == '\r' || byte == '\n') return before == '\r' && byte == '\n';
    return (byte >= ' ' && byte != 127) || byte == '\t' || byte == '\r';
}

size_t flr_http_read(flr_http_reader *reader, const char *bytes, size_t size, unsigned *status)
{
    *status = FLR_HTTP_MORE;
    if (size && !reader->bytes) {
        reader->bytes = malloc(FLR_HTTP_MAX_HEAD + 1);
        if (!reader->bytes) {
            *status = 500;
            return size;
        }
    }
    for (size_t i = 0; i < size; i++) {
        char byte = bytes[i];
        /* RFC 9112: empty lines before a request are skipped */
        if (reader->size == 0 && (byte == '\r' || byte == '\n')) continue;
        if (reader->size == FLR_HTTP_MAX_HEAD) {
            *status = 431;
            return i;
        }
        char *at = reader->bytes + reader->size;
        if (!is_allowed((unsigned char)byte, reader->size ? (unsigned char)at[-1] : ' ')) {
            *status = 400;
            return i;
        }
        *at = byte;
        reader->size++;
        if (byte == '\n' && reader->size >= 4 && at[-2] == '\n') {
            at[1] = 0;
            *status = parse(reader);
            return i + 1;
        }
    }
    return size;
}

bool flr_http_lists(const char *list, const char *word)
{
    size_t size = strlen(word);
    while (list && *list) {
        list += strspn(list, " \t,");
        size_t count = strcspn(list, " \t,");
        if (count == size && !strncasecmp(list, word, size)) return true;
        list += count;
    }
    return false;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool flr_http_argument(const char *query, const char *name, char *text, size_t size)
{
    size_t length = strlen(name);
    while (*query && (strncmp(query, name, length) != 0 || query[length] != '=')) {
        query += strcspn(query, "&");
        query += *query == '&';
    }
    if (!*query) return false;
    size_t at = 0;
    for (const char *c = query + length + 1; *c && *c != '&'; c++) {
        if (at + 1 >= size) return false;
        text[at] = *c;
        if (*c == '%') {
            int high = hex(c[1]), low = high < 0 ? -1 : hex(c[2]);
            if (low < 0 || (high == 0 && low == 0)) return false;
            text[at] = (char)(high << 4 | low);
            c += 2;
        }
        at++;
    }
    text[at] = 0;
    return true;
}
