/* websocket.h: a small client for tests: HTTP and WebSocket over a real socket on loopback, nothing hidden
 *
 * Everything waits at most a few seconds and fails the test then, where nothing else is said. */
#ifndef FLR_TEST_WEBSOCKET_H
#define FLR_TEST_WEBSOCKET_H

#include "protocol/codec.h"
#include "support/test.h"

typedef struct flr_test_ws {
    int socket;
    uint8_t *frame; /* the last one received */
    size_t size, capacity;
    uint8_t *room;
    int close_code; /* of a close frame; 0: none came */
    char *answer;   /* to the request that opened it: head and, where it was refused, body */
} flr_test_ws;

/* Sends `request` as it stands and reads until the other side closes, or all that Content-Length promised is there. free(). */
char *flr_test_http(uint16_t port, const char *request);
/* The same for a path: GET with Host: localhost. */
char *flr_test_get(uint16_t port, const char *path);

/* A connection alone. */
int flr_test_connect(uint16_t port);
/* Opens a WebSocket; `host` and `origin` may be NULL: localhost, none. False: it was refused; ws->answer says how. */
bool flr_test_ws_open(flr_test_ws *ws, uint16_t port, const char *host, const char *origin);
void flr_test_ws_close(flr_test_ws *ws);

/* A binary frame. False: the other side is gone. */
bool flr_test_ws_send(flr_test_ws *ws, const void *bytes, size_t size);
bool flr_test_ws_send_message(flr_test_ws *ws, const flr_message *message);
/* The next message; false: the connection ended or nothing came in `seconds`. */
bool flr_test_ws_receive(flr_test_ws *ws, double seconds, flr_message *message);
/* Reads on until a message of this kind comes; fails the test when none does. */
void flr_test_ws_expect(flr_test_ws *ws, uint16_t id, flr_message *message);
/* hello and welcome; the rest of the scene is left to be read. */
void flr_test_ws_hello(flr_test_ws *ws, uint8_t role, uint32_t abilities, const char *token);

#endif
