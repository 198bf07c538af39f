/* text_socket.h: a client for the service of a device at this machine: messages of text, one at a time
 *
 * RFC 6455 as far as such a service needs it: no TLS, no extensions, no fragments from us. Waits in poll(), so it is for a thread of
 * its own, never for the loop. What comes is not trusted: a message has at most FLR_TEXT_SOCKET_MAX bytes, and whatever breaks the rules
 * ends the connection.
 */
#ifndef FLR_DEVICE_TEXT_SOCKET_H
#define FLR_DEVICE_TEXT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"

enum { FLR_TEXT_SOCKET_MAX = 1 << 18 };

typedef struct flr_text_socket {
    int fd;         /* -1: not connected */
    uint8_t *bytes; /* [FLR_TEXT_SOCKET_MAX + 64]: what has come and is not used yet */
    size_t used;
    char *message; /* [FLR_TEXT_SOCKET_MAX + 1]: the newest whole message */
    size_t size;
    uint32_t mask; /* of the next frame */
} flr_text_socket;

/* Connects to a port of a host given by its IPv4 address, within `patience_ms`. FLR_NOT_FOUND: nobody listens there; FLR_IO: what
 * listens is no WebSocket. The sentence has no prefix. On failure nothing is left behind. */
flr_result flr_text_socket_open(flr_text_socket *socket, const char *host, uint16_t port,
                                int patience_ms, flr_error *error);
/* Closes and frees; one that was never opened is all zero with fd -1. */
void flr_text_socket_close(flr_text_socket *socket);
/* Sends one message of at most 2000 bytes. False: the connection is of no use any more. */
bool flr_text_socket_send(flr_text_socket *socket, const char *text, size_t size);
/* Waits for the next whole message, at most `patience_ms`; `wake` is another descriptor that ends the wait, -1: none.
 * 1: it is there, and the next call overwrites it; 0: nothing yet; -1: the connection is of no use any more. */
int flr_text_socket_receive(flr_text_socket *socket, int patience_ms, int wake);

#endif
