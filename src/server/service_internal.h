/* service_internal.h: shared by the sources of the service alone */
#ifndef FLR_SERVER_SERVICE_INTERNAL_H
#define FLR_SERVER_SERVICE_INTERNAL_H

#include <jansson.h>
#include <libwebsockets.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "server/http.h"
#include "server/service.h"
#include "server/websocket.h"

/* what is sent as answer to a request */
typedef struct flr_http_body {
    const uint8_t *bytes; /* borrowed, or … */
    char *owned;          /* … freed at its end */
    flr_file *file;       /* or read piece by piece */
    uint64_t size, at;
} flr_http_body;

/* where a connection stands */
typedef enum flr_service_connection_stage {
    FLR_SERVICE_CONNECTION_HTTP,      /* a request is being read or answered */
    FLR_SERVICE_CONNECTION_WEBSOCKET, /* … and this was one that opened a WebSocket */
    FLR_SERVICE_CONNECTION_CLOSING /* its last bytes are on their way; what it sends is thrown away */
} flr_service_connection_stage;

/* One connection, from the moment it is accepted (before TLS) until it is gone; lws makes it, filled with zeros. lws gives us
 * its bytes as they are: its own HTTP and WebSocket parsers never see them. */
typedef struct flr_service_connection {
    flr_service *service;
    struct lws *wsi;
    struct flr_service_connection *next;
    flr_service_connection_stage stage;
    char from[64];       /* its address, as text */
    uint8_t network[16]; /* … and with whose connections it is counted */
    int64_t opened;
    int64_t deadline; /* of HTTP: when it is closed unless something happens */
    bool asked;       /* for a chance to write … */
    int64_t since;    /* … at this time */
    uint8_t *input;   /* [input_size]: received, and not looked at yet */
    size_t input_size;
    bool stopped; /* nothing is read from it now */
    bool timed;   /* by this service alone, not by lws any more */
    bool lingers; /* all is written; it is closed when the client closes, or at the deadline */
    /* HTTP */
    flr_http_reader reader;
    flr_http_body body;
    bool answering;  /* the next request waits until this one's answer is written */
    bool keep_alive; /* … and there may be a next one */
    /* WebSocket */
    flr_client_session *session;
    flr_ws_reader frames;
    uint8_t *message; /* that is being received */
    size_t message_size, message_capacity;
    bool refused;   /* the rest of this message is not looked at */
    bool held_back; /* it asked for so much that others come first */
    int64_t paid;   /* when what it has asked for is made up for by time for others */
    int64_t heard;  /* when something came from it */
    bool pinged;    /* … and since then it was asked whether it is there */
    bool pong_due, ping_due;
    uint8_t pong[FLR_WS_MAX_CONTROL], pong_size;
    uint16_t close_code; /* of the close frame that is to be sent; 0: none */
} flr_service_connection;

struct flr_service {
    flr_service_def def;
    struct lws_context *context;
    flr_engine *engine;
    flr_hub *hub;
    flr_service_connection *connections; /* the youngest first */
    char arriving[64];                   /* address of the connection that is being accepted */
    uint8_t arriving_network[16];
    flr_address address;
    uint8_t *buffer; /* [LWS_PRE + FLR_WS_MAX_HEAD + buffer_size] */
    size_t buffer_size;
    lws_sorted_usec_list_t tick;
    char uploads[FLR_CACHE_PATH_SIZE];
    flr_file *uploads_lock; /* NULL: there is no such folder */
    /* a shared session; its packets wake the service */
    flr_share *share;
    char shared[FLR_CACHE_PATH_SIZE]; /* folder; "": none */
    flr_file *shared_lock;
    double share_rate; /* Hz: of states */
    pthread_t watcher;
    bool watching;
    _Atomic bool ending;
    /* that the calling thread might use before, so that it gets them back */
    cpu_set_t processors;
    bool known;
};

/* ---- service_share.c ---- */
void flr_service_end_share(flr_service *service);
/* Who is in the shared session as this controller knows it, its epoch, and which parts this controller owns; for /health. */
json_t *flr_service_membership(const flr_service *service);

/* ---- service_connection.c; an int is what lws wants of its callback: -1 closes ---- */
enum {
    FLR_SERVICE_READ = 65536,   /* bytes that are read at once */
    FLR_SERVICE_UNSENT = 65536, /* bytes that may wait for a client before more is written */
    FLR_SERVICE_SPARE =
        64, /* connections beside clients: pages being loaded, requests that are not complete */
    FLR_SERVICE_PER_ADDRESS = 48 /* of these for one address, or one /64 of IPv6 */
};
int64_t flr_service_now(flr_service *service);
void flr_service_connection_begin(flr_service *service, flr_service_connection *connection,
                                  struct lws *wsi);
void flr_service_connection_end(flr_service_connection *connection);
/* Readies the socket of a connection that is about to be accepted, and makes room: closes the oldest one that has not become a
 * client. */
void flr_service_connection_make_room(flr_service *service, lws_sockfd_type socket);
int flr_service_connection_receive(flr_service_connection *connection, uint8_t *bytes, size_t size);
int flr_service_connection_writable(flr_service_connection *connection);
/* Asks for flr_service_connection_writable(). */
void flr_service_connection_ask(flr_service_connection *connection, int64_t now);
/* Looks at its times and whether it may be heard again. Returns when to look again. May end the connection. */
int64_t flr_service_connection_look(flr_service_connection *connection, int64_t now);
/* Closes it at once; it is gone afterwards. */
void flr_service_connection_cut(flr_service_connection *connection);

/* ---- service_socket.c: WebSockets ---- */
int flr_socket_begin(flr_service_connection *connection);
void flr_socket_end(flr_service_connection *connection);
/* Takes some of the bytes and returns how many. */
size_t flr_socket_read(flr_service_connection *connection, uint8_t *bytes, size_t size);
int flr_socket_writable(flr_service_connection *connection);
/* Must it wait before it is heard again? */
bool flr_socket_must_wait(const flr_service_connection *connection, int64_t now);

/* ---- service_http.c ---- */
/* Takes some of the bytes and returns how many; less than 0: close. */
ptrdiff_t flr_http_feed(flr_service_connection *connection, const uint8_t *bytes, size_t size);
int flr_http_writable(flr_service_connection *connection);
void flr_http_end(flr_service_connection *connection);

/* ---- service_page.c: the page's files, how the controller is, recordings ---- */
int flr_page_request(flr_service_connection *connection, const flr_http_head *head);

/* An answer in the making. */
enum { FLR_REPLY_HEADERS = 4096 };
typedef struct flr_reply {
    flr_service_connection *connection;
    char text[FLR_REPLY_HEADERS];
    size_t size;
    bool full;
} flr_reply;

void flr_reply_begin(flr_reply *reply, flr_service_connection *connection, unsigned status);
void flr_reply_add(flr_reply *reply, const char *name, const char *value);
/* Sends the headers, and connection->body if `with_body`; `size` is the body's also where it is not sent. */
int flr_reply_finish(flr_reply *reply, uint64_t size, bool with_body);
/* A sentence with a status. */
int flr_reply_say(flr_service_connection *connection, unsigned status, const char *sentence);

#endif
