/* server.h: a whole controller on loopback, for tests that talk to it by sockets */
#ifndef FLR_TEST_SERVER_H
#define FLR_TEST_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "server/service.h"
#include "support/test.h"
#include "support/websocket.h"

typedef struct flr_test_server {
    flr_service *service;
    pthread_t thread;
    atomic_bool stop;
    uint16_t port;
    char *folder; /* recordings and uploads are below it */
    char recordings[512], uploads[512];
} flr_test_server;

/* A plate that stays and a block above it that may be moved, on any free port. `change`, which may be NULL, changes the
 * definition first. */
void flr_test_server_begin(flr_test_server *server, void (*change)(flr_service_def *def));
/* The same, as a member of a shared session; `share` as for flr_service_set_share(). */
void flr_test_server_begin_shared(flr_test_server *server, const flr_share_def *share);
void flr_test_server_end(flr_test_server *server);

/* A client that has said hello as a viewer and may do everything. */
void flr_test_server_join(const flr_test_server *server, flr_test_ws *ws);

#endif
