/* hub.h: all clients of an engine, without their sockets.
 *
 *     flr_hub_create(&def, &hub, &error);
 *     session = flr_client_session_open(hub, …);               a client has connected
 *     flr_client_session_receive(session, frame, size, now);   … has sent something
 *     while (flr_client_session_next(session, now, buffer, size, &count)) …   send this to it
 *     flr_hub_pump(hub, now);                                  at least every 20 ms: passes the engine's events to the sessions
 *
 * The owner of the sockets asks for the next frame when a socket is writable. A client that does not read therefore costs nothing: its
 * state frames are never built, its meshes wait, and only what must not be lost is queued for it, up to a limit.
 *
 * Thread: control. `now` is flr_clock_ns(). */
#ifndef FLR_SERVER_HUB_H
#define FLR_SERVER_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collab/share.h"
#include "feeler/base.h"
#include "feeler/env.h"
#include "server/access.h"
#include "server/mesh_levels.h"
#include "sim/engine.h"

/* What a client may cost. */
typedef struct flr_hub_limits {
    uint32_t clients; /* default 64 */
    uint64_t upload;  /* bytes of one upload; default 512 MiB */
    uint64_t uploads; /* bytes of all that are under way; default 2 GiB */
    /* bytes that may wait for a client; default 8 MiB. One for which half of them wait is sent no further changes of the scene,
     * but the difference when it has read them; so half of it has to be enough for a whole scene, 2 MiB */
    size_t queue;
    uint32_t malformed;      /* frames that cannot be read before it is dropped; default 16 */
    uint32_t per_second;     /* messages; default 20000 */
    double hello_seconds;    /* until a client must have said hello; default 10 */
    uint32_t state_rate;     /* state frames in a second, where a client does not say; default 60 */
    uint32_t max_state_rate; /* default 1000 */
} flr_hub_limits;

flr_hub_limits flr_default_hub_limits(void);

typedef struct flr_hub_def {
    flr_env *env;
    flr_engine *engine;       /* borrowed */
    const flr_access *access; /* borrowed */
    flr_log *log;             /* borrowed; NULL: silent */
    const char *
        uploads; /* folder for files that are being uploaded; copied; NULL: no file can be uploaded */
    const char *name; /* of the controller, for people; copied */
    double loop_rate; /* Hz, of the engine */
    flr_hub_limits limits;
    flr_levels_def levels;
    /* Sees everything that happens; may be NULL. True: it has informed people, so the event is not logged. */
    bool (*seen)(void *context, const flr_engine_event *event);
    void *context;
} flr_hub_def;

typedef struct flr_hub flr_hub;
typedef struct flr_client_session flr_client_session;

flr_result flr_hub_create(const flr_hub_def *def, flr_hub **hub, flr_error *error);
void flr_hub_destroy(flr_hub *hub); /* closes all sessions; NULL allowed */

/* The engine is in a shared session: flr_hub_pump() serves that, too, tells clients who is in it and where hands of others
 * are, and refuses commands that change the list of parts. Borrowed, until another is set; NULL: none. */
void flr_hub_set_share(flr_hub *hub, flr_share *share);

/* Serves the engine and hands on what has happened. Returns when to come again at the latest; INT64_MAX: it does not care. */
int64_t flr_hub_pump(flr_hub *hub, int64_t now);

uint32_t flr_hub_clients(const flr_hub *hub); /* that have said hello */

/* Tells all clients goodbye. */
void flr_hub_close(flr_hub *hub, flr_result code, const char *sentence);

/* ---- sessions ---- */

/* A connection was opened. `from`: an address for the log; copied. `local`: from this machine, and no proxy handed it on. NULL: no
 * memory. */
flr_client_session *flr_client_session_open(flr_hub *hub, const char *from, bool local,
                                            int64_t now);
/* Is gone: hands that it held let go, its uploads are thrown away. NULL allowed. */
void flr_client_session_close(flr_client_session *session);

/* How long the frame may be that begins with these bytes; 0: it need not be received. Fewer than 16 bytes: as long as any. */
size_t flr_client_session_allows(const flr_client_session *session, const void *bytes, size_t size);

/* A frame, whole. */
void flr_client_session_receive(flr_client_session *session, const void *bytes, size_t size,
                                int64_t now);
/* One that was too long or no binary one: what flr_client_session_allows() did not allow. */
void flr_client_session_refuse(flr_client_session *session, const char *sentence);

/* The next frame to send. False: none now. `capacity`: flr_wire_max_frame(FLR_TO_CLIENT). */
bool flr_client_session_next(flr_client_session *session, int64_t now, void *bytes, size_t capacity,
                             size_t *size);
/* When to ask again: not after `now`: at once; INT64_MAX: when something happens. */
int64_t flr_client_session_due(flr_client_session *session, int64_t now);
/* So much waits for it that nothing more should be read from it now. */
bool flr_client_session_crowded(const flr_client_session *session);
/* Says goodbye to it: send what there is, then close. */
bool flr_client_session_ending(const flr_client_session *session);
/* … and all of that has been sent. */
bool flr_client_session_over(const flr_client_session *session);
/* Ends it with a bye; `code` and `sentence` say why. */
void flr_client_session_end(flr_client_session *session, flr_result code, const char *sentence);
/* Has it said hello, with the token where one is needed? */
bool flr_client_session_welcome(const flr_client_session *session);

#endif
