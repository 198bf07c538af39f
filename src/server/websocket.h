/* websocket.h: the frames of RFC 6455 as a server reads and writes them, strictly and without extensions
 *
 *     flr_ws_reader reader = {0};
 *     used = flr_ws_read(&reader, bytes, size, &event);        one event at most; call again with the rest
 *     head = flr_ws_head(FLR_WS_BINARY, payload_size, out);    then the payload, unmasked
 *
 * What a client may not send (an unmasked frame, reserved bits or opcodes, a fragmented or long control frame, a length that is
 * not the shortest way to write it) is FLR_WS_BAD: close with the event's code. No sockets here: tests and fuzzers feed bytes.
 *
 * Thread: any; a reader belongs to one thread at a time. */
#ifndef FLR_SERVER_WEBSOCKET_H
#define FLR_SERVER_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FLR_WS_CONTINUATION = 0, /* opcodes */
    FLR_WS_TEXT = 1,
    FLR_WS_BINARY = 2,
    FLR_WS_CLOSING = 8,
    FLR_WS_PINGING = 9,
    FLR_WS_PONGING = 10,
    FLR_WS_MAX_CONTROL = 125, /* bytes of a control frame's payload */
    FLR_WS_MAX_HEAD = 10,     /* bytes before the payload of a server's frame */
    FLR_WS_KEY_SIZE = 24,     /* of Sec-WebSocket-Key */
    FLR_WS_ACCEPT_SIZE = 29   /* of Sec-WebSocket-Accept, with its 0 */
};

typedef enum flr_ws_kind {
    FLR_WS_MORE, /* nothing yet: more bytes are needed */
    FLR_WS_DATA, /* a piece of a message */
    FLR_WS_PING, /* answer with a pong of the same bytes */
    FLR_WS_PONG,
    FLR_WS_CLOSE, /* the client closes, with `code`; 1005: it gave none */
    FLR_WS_BAD    /* close with `code` */
} flr_ws_kind;

typedef struct flr_ws_event {
    flr_ws_kind kind;
    uint8_t *
        bytes; /* unmasked; in the input or, of a control frame, in the reader; NULL where size is 0 */
    size_t size;
    bool binary, first, last; /* of a message: its kind, its first piece, its last */
    uint16_t code;
} flr_ws_event;

typedef struct flr_ws_reader {
    uint8_t head[14], head_size;
    uint8_t opcode, mask[4];
    bool final, inside; /* of the frame that is being read; its head is read */
    bool open, binary;  /* a message is under way; of which kind */
    bool begun;         /* … and a piece of it was handed out */
    uint64_t left, at;  /* bytes of the payload */
    uint8_t control[FLR_WS_MAX_CONTROL];
} flr_ws_reader;

/* Reads at most one event from bytes[size], which it unmasks in place, and returns how many bytes it took. After FLR_WS_BAD and
 * FLR_WS_CLOSE nothing more is to be read. */
size_t flr_ws_read(flr_ws_reader *reader, uint8_t *bytes, size_t size, flr_ws_event *event);

/* The head of a final frame without mask. Returns its size. */
size_t flr_ws_head(uint8_t opcode, uint64_t size, uint8_t head[FLR_WS_MAX_HEAD]);

/* The answer to a client's key. False: that is no key of 16 bytes in base64. */
bool flr_ws_accept(const char *key, char accept[FLR_WS_ACCEPT_SIZE]);

#endif
