/* http.h: the head of an HTTP/1 request, read strictly: what is not understood is refused, never guessed
 *
 *     flr_http_reader reader = {0};
 *     used = flr_http_read(&reader, bytes, size, &status);     until status is not FLR_HTTP_MORE
 *     if (status == FLR_HTTP_DONE) …reader.head…               the texts lie in the reader
 *     flr_http_restart(&reader);                               the next request of the same connection
 *     flr_http_free(&reader);
 *
 * The service needs no request bodies, so a request that has one is refused with 413 and nothing behind it is read. No sockets
 * here: tests and fuzzers feed bytes.
 *
 * Thread: any; a reader belongs to one thread at a time. */
#ifndef FLR_SERVER_HTTP_H
#define FLR_SERVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FLR_HTTP_MAX_HEAD = 8192, /* bytes of request line and headers together */
    /* what flr_http_read() says; anything else is the status of an answer that refuses the request */
    FLR_HTTP_MORE = 0,
    FLR_HTTP_DONE = 200
};

/* Headers that the service looks at. A header that may be given once only and comes twice is refused. */
typedef enum flr_http_header {
    FLR_HTTP_HOST,
    FLR_HTTP_ORIGIN,
    FLR_HTTP_AUTHORIZATION,
    FLR_HTTP_ACCEPT_ENCODING,
    FLR_HTTP_IF_NONE_MATCH,
    FLR_HTTP_CONNECTION,
    FLR_HTTP_UPGRADE,
    FLR_HTTP_WS_KEY,
    FLR_HTTP_WS_VERSION,
    FLR_HTTP_WS_PROTOCOL,
    FLR_HTTP_CONTENT_LENGTH,
    FLR_HTTP_HEADER_COUNT
} flr_http_header;

typedef enum flr_http_method { FLR_HTTP_GET, FLR_HTTP_HEAD, FLR_HTTP_OTHER } flr_http_method;

typedef struct flr_http_head {
    flr_http_method method;
    const char *path;  /* as sent: "/", "/health"; nothing in it is decoded */
    const char *query; /* behind the '?'; "" */
    const char *header[FLR_HTTP_HEADER_COUNT]; /* without blanks around it; NULL: absent */
    bool keep_alive;                           /* the client may send another request */
    bool
        forwarded; /* a proxy sent it on for somebody else: it has a header that names that client */
} flr_http_head;

typedef struct flr_http_reader {
    char *bytes; /* [FLR_HTTP_MAX_HEAD + 1]; NULL until the first byte comes */
    size_t size;
    flr_http_head head; /* once FLR_HTTP_DONE was said */
} flr_http_reader;

/* Takes bytes up to the end of a head and returns how many. `*status`: FLR_HTTP_MORE: all were taken and the head goes on;
 * FLR_HTTP_DONE; otherwise 400, 413 (a body), 431 (too long), 500 (no memory), 505 (not HTTP/1): answer it and close. */
size_t flr_http_read(flr_http_reader *reader, const char *bytes, size_t size, unsigned *status);
void flr_http_restart(flr_http_reader *reader);
void flr_http_free(flr_http_reader *reader);

/* Does a list as in "keep-alive, Upgrade" hold this word? Case does not matter. NULL list: no. */
bool flr_http_lists(const char *list, const char *word);

/* The value of NAME=VALUE in a query, with %XX decoded, into text[size]. False: absent, malformed or too long. */
bool flr_http_argument(const char *query, const char *name, char *text, size_t size);

#endif
