/* service_inside.h: shared by the sources of the service alone */
#ifndef FLR_CONTROLLER_SERVICE_INSIDE_H
#define FLR_CONTROLLER_SERVICE_INSIDE_H

#include <libwebsockets.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "controller/service.h"

/* what is sent as answer to a request */
typedef struct flr_http_body {
    const uint8_t *bytes; /* borrowed, or … */
    char *owned;          /* … freed at its end */
    flr_file *file;       /* or read piece by piece */
    uint64_t size, at;
} flr_http_body;

/* one connection; lws makes it, filled with zeros */
typedef struct flr_connection {
    flr_service *service;
    struct lws *wsi;
    /* a WebSocket */
    flr_session *session; /* NULL: plain HTTP */
    struct flr_connection *next;
    uint8_t *frame; /* that is being received */
    size_t frame_size, frame_capacity;
    bool refused;   /* the rest of this message is not looked at */
    bool held_back; /* nothing is read from it now */
    int64_t paid;   /* when what it has asked for is made up for by time for others */
    bool asked;     /* for a chance to write … */
    int64_t since;  /* … at this time */
    /* HTTP */
    flr_http_body body;
} flr_connection;

struct flr_service {
    flr_service_def def;
    struct lws_context *context;
    flr_engine *engine;
    flr_hub *hub;
    flr_connection *connections; /* WebSockets */
    flr_address address;
    uint8_t *buffer; /* [LWS_PRE + buffer_size] */
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

/* ---- service_http.c; each returns what lws wants of its callback ---- */
int flr_http_request(flr_connection *connection, const char *path);
int flr_http_writable(flr_connection *connection);
void flr_http_end(flr_connection *connection);
/* May this WebSocket be opened? 0: yes; else it was answered. */
int flr_http_upgrade(flr_service *service, struct lws *wsi);

#endif
