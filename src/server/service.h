/* service.h: the controller's one port: the page by HTTP, everything else by WebSocket
 *
 *     flr_service_def def = flr_default_service_def();
 *     def.engine.cache = …, def.address = …;
 *     flr_service_create(&def, &service, &error);      the engine is made, the port is open
 *     flr_engine_load(flr_service_engine(service), "scene.json", &job, &error);
 *     flr_service_run(service, stop_wanted, NULL);     until it says so
 *     flr_service_destroy(service);
 *
 * One thread, control, runs the sockets and the engine's service; the loop and the workers have theirs. A client that is slow
 * is skipped, one that does not read at all is dropped, and neither is ever waited for.
 *
 * HTTP: GET and HEAD of the page's files, /health (JSON), /recordings/N.mcap. With a token the latter two want it, as
 * "Authorization: Bearer TOKEN" or "?token=TOKEN"; the page's files hold no secret.
 *
 * Thread: control, where a function does not say otherwise. */
#ifndef FLR_SERVER_SERVICE_H
#define FLR_SERVER_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "server/access.h"
#include "server/hub.h"
#include "sim/engine.h"

enum { FLR_SERVICE_PORT = 7878 };

typedef struct flr_service_def {
    flr_engine_def engine;         /* wake is the service's */
    flr_address address;           /* default 127.0.0.1:7878; port 0: any */
    flr_access access;             /* an address that is not loopback needs a token */
    const char *certificate, *key; /* PEM files for TLS; NULL: none */
    const char *uploads;           /* folder for uploaded files; NULL: none are taken */
    flr_hub_limits limits;
    double stall_seconds; /* a client that takes nothing for so long is dropped; default 30 */
    flr_log *log;         /* NULL: silent */
    /* Sees everything that happens; may be NULL. True: it has informed people, so the event is not logged. */
    bool (*seen)(void *context, const flr_engine_event *event);
    void *context;
} flr_service_def;

flr_service_def flr_default_service_def(void);

typedef struct flr_service flr_service;

/* Makes the engine and opens the port. FLR_DENIED: the port is in use or may not be opened, a token is missing;
 * FLR_BAD_INPUT: certificate or key. On success the caller owns `*service`. */
flr_result flr_service_create(const flr_service_def *def, flr_service **service, flr_error *error);
void flr_service_destroy(flr_service *service); /* ends the engine, too; NULL allowed */

flr_engine *flr_service_engine(flr_service *service);
flr_hub *flr_service_hub(flr_service *service);
flr_address flr_service_address(const flr_service *service); /* with its real port */

/* The engine takes part in a shared session from now on: with `def`, but for its engine and env, which are the service's.
 * In `def->folder` it makes one for this process, and removes it at the end. Once; before flr_service_run(). */
flr_result flr_service_set_share(flr_service *service, const flr_share_def *def, flr_error *error);
flr_share *flr_service_share(const flr_service *service); /* NULL: none */

/* Serves until `stop` says true, which is asked 50 times a second at least; then it says goodbye to the clients. */
void flr_service_run(flr_service *service, bool (*stop)(void *context), void *context);
/* Makes flr_service_run() look around. Thread: any. */
void flr_service_wake(void *service);

#endif
