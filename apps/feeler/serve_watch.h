/* serve_watch.h: a controller whose control thread stalls ends, and systemd starts it again. */
#ifndef FLR_SERVE_WATCH_H
#define FLR_SERVE_WATCH_H

#include "feeler/base.h"
#include "feeler/env.h"
#include "realtime/stall.h"

typedef struct flr_serve_watch {
    flr_env *env;
    flr_stall *stall;  /* for flr_engine_def */
    int notify;        /* socket of the service manager; -1: there is none */
    int64_t period_ns; /* between two signs of life; 0: none are wanted */
    int64_t due_ns;
    int output
        [2]; /* standard output and error as they were before flr_serve_watch_ready(); -1: as they are */
} flr_serve_watch;

/* Watches from the first round on. */
flr_result flr_serve_watch_begin(flr_serve_watch *watch, flr_env *env, flr_error *error);
/* The controller can be used: READY=1. From now on the control thread does not wait for a terminal or pipe that takes nothing. */
void flr_serve_watch_ready(flr_serve_watch *watch);
/* The control thread comes round. A stall of 2 s ends the process with FLR_EXIT_STALLED and a line on standard error. */
void flr_serve_watch_round(flr_serve_watch *watch);
/* The controller ends, which takes as long as it takes: STOPPING=1. */
void flr_serve_watch_rest(flr_serve_watch *watch);
void flr_serve_watch_end(flr_serve_watch *watch); /* after the engine is gone */

#endif
