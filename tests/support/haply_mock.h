/* haply_mock.h: the Inverse Service of a Haply Inverse3, and ways in which it may go wrong */
#ifndef FLR_TEST_HAPLY_MOCK_H
#define FLR_TEST_HAPLY_MOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum haply_mood {
    HAPLY_WELL,   /* one state for each command */
    HAPLY_SILENT, /* no answers */
    HAPLY_NAN,    /* places that are no numbers */
    HAPLY_FAR,    /* … kilometres away */
    HAPLY_JUMPS,  /* … somewhere else every time */
    HAPLY_FLOOD,  /* fifty states for each command */
    HAPLY_JUNK,   /* bytes that are no frames */
    HAPLY_HUGE,   /* a frame that says it is a terabyte */
    HAPLY_GONE,   /* the device is not among those of the service any more */
    HAPLY_PONGS   /* frames without end that are no message */
} haply_mood;

typedef struct haply_mock {
    int listener;
    uint16_t port;
    pthread_t thread;
    atomic_bool ending;
    atomic_int mood;
    atomic_uint answers, connections, pongs; /* so far; pongs: bursts of them */
    _Atomic double x, y, z;                  /* where the cursor is */
    _Atomic double fx, fy, fz;               /* what was asked for last */
    atomic_bool pressed;                     /* button a of the grip */
} haply_mock;

/* Listens at a free port of this machine. False: cannot. */
bool haply_mock_begin(haply_mock *mock, uint16_t port);
void haply_mock_end(haply_mock *mock);

#endif
