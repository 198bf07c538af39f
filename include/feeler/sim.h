/* feeler/sim.h: the outside world, simulated.
 *
 * A simulation holds any number of nodes: machines with an address, a clock, a disk and
 * random numbers of their own, joined by one network. Each is an `flr_env *`, so code that
 * takes an env runs on it unchanged. Time is virtual: it moves only when a node sleeps, waits
 * or uses a slow disk, or when the test moves it, and then at once. All chance comes from one
 * seed: the same seed and the same calls give the same bits.
 *
 *     flr_sim_def def = flr_default_sim_def();
 *     def.seed = 7;
 *     def.network.delay_ns = 20 * FLR_SIM_MS;
 *     def.network.loss = 0.05;
 *     flr_sim *sim = flr_sim_create(&def);
 *     flr_env *a = flr_sim_node(sim, address_a), *b = flr_sim_node(sim, address_b);
 *     ... flr_udp_open(a, ...), flr_udp_send(...), flr_env_wait(b, ...) ...
 *     flr_sim_destroy(sim);
 *
 * Several programs in one thread. A wait in one node lets time pass and packets travel for
 * all, but the code of the other nodes does not run meanwhile. To run several controllers
 * together, write each as a step that does what is to be done now, waits for nothing, and says
 * when it wants to be called next; give them to flr_sim_set_program() and call flr_sim_run():
 * it calls each step when its time has come or something has arrived for its node, in the
 * order in which the nodes were made, and moves time from one such moment to the next.
 *
 * Thread: a simulation with all its nodes belongs to one thread. Nothing here is RT safe.
 */
#ifndef FEELER_SIM_H
#define FEELER_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_sim flr_sim;

#define FLR_SIM_MS ((int64_t)1000000) /* nanoseconds */
#define FLR_SIM_S  ((int64_t)1000000000)

/* How packets travel from node to node. Within a node nothing is delayed or lost. */
typedef struct flr_sim_network {
    int64_t delay_ns;  /* one way, at least */
    int64_t jitter_ns; /* and up to this much more, evenly spread; lets datagrams overtake */
    double loss;       /* probability that a packet is lost */
    double duplicate;  /* probability that a datagram comes twice */
    double reorder;    /* probability that a datagram is held back by reorder_ns */
    int64_t reorder_ns;
    double bytes_per_second; /* of each direction between two nodes, packets queue up;
                                0: no limit */
    size_t udp_buffer;       /* bytes a socket holds; what comes beyond is dropped */
} flr_sim_network;

typedef enum flr_sim_failure {
    FLR_SIM_IO_ERROR,  /* the operation fails as on a broken disk */
    FLR_SIM_DISK_FULL, /* … as on a full one */
    FLR_SIM_CRASH      /* … and the node goes down, as by flr_sim_crash() */
} flr_sim_failure;

/* How a node's disk behaves. An operation is one call of a flr_file or flr_path function, except
 * close; the whole-file functions make several. A write that fails has written some part. */
typedef struct flr_sim_disk {
    int64_t operation_ns;    /* time each operation takes; reads at once take it side by side */
    int64_t jitter_ns;       /* and up to this much more, evenly spread */
    double bytes_per_second; /* of reading and writing, on top; 0: no limit */
    double short_read;       /* probability that a read gives less than there is */
    double failure;          /* probability that an operation fails… */
    uint64_t fail_at;        /* …or the n-th from when this is set (1: the next; 0: none)… */
    bool fail_on;            /* …and all after that one */
    flr_sim_failure how;
    uint64_t capacity; /* bytes in all files together; 0: no limit */
    bool no_locks;     /* flr_file_lock() is not supported */
} flr_sim_disk;

typedef struct flr_sim_def {
    uint64_t seed;
    int64_t wall_ns; /* wall clock at the start; flr_clock_ns() starts at 0 */
    flr_sim_network network;
    flr_sim_disk disk; /* of every new node */
} flr_sim_def;

/* Seed 1, a fast network and disk without faults. */
FLR_API flr_sim_def flr_default_sim_def(void);

/* NULL: no memory. */
FLR_API flr_sim *flr_sim_create(const flr_sim_def *def);
/* With all nodes; their files and sockets must be closed. NULL allowed. */
FLR_API void flr_sim_destroy(flr_sim *sim);

/* The node with this address, made at the first call (the port does not matter). It has an
 * empty disk with the root folder; a relative path starts there. Owned by the simulation.
 * NULL: no memory. */
FLR_API flr_env *flr_sim_node(flr_sim *sim, flr_address address);

/* ---- time ---- */

/* Virtual nanoseconds since the start, and moving on by hand; packets that are due arrive. */
FLR_API int64_t flr_sim_now(const flr_sim *sim);
FLR_API void flr_sim_advance(flr_sim *sim, int64_t duration_ns);

/* Sets a node's clocks ahead of the simulation's; at most forward from what they were. */
FLR_API void flr_sim_set_clock(flr_env *node, int64_t ahead_ns);

/* Interrupts the node's thread for that long, once, at the start of its next flr_udp_receive: what a busy machine does between
 * two lines of a program. Packets that arrive meanwhile are received. */
FLR_API void flr_sim_interrupt(flr_env *node, int64_t duration_ns);

/* One step of a node's program: does what is to be done now and returns the time, by its own
 * flr_clock_ns(), at which it wants to be called again at the latest; INT64_MAX: only when
 * something arrives. */
typedef int64_t (*flr_sim_program)(void *context, flr_env *node);

/* Gives a node its program; NULL takes it away. */
FLR_API void flr_sim_set_program(flr_env *node, flr_sim_program program, void *context);

/* Runs all programs until flr_sim_now() is `until_ns` or, where a program took longer, a
 * little later. Not from within a program. */
FLR_API void flr_sim_run(flr_sim *sim, int64_t until_ns);

/* ---- faults ---- */

/* Changes the network: everywhere, or from one node to another in this direction. What is
 * already on its way is not affected. */
FLR_API void flr_sim_set_network(flr_sim *sim, const flr_sim_network *network);
FLR_API void flr_sim_set_link(flr_env *from, flr_env *to, const flr_sim_network *network);

/* Nodes of different groups cannot reach each other; all begin in group 0. Datagrams on their
 * way are lost. */
FLR_API void flr_sim_set_group(flr_env *node, int group);
/* All nodes into group 0. */
FLR_API void flr_sim_heal(flr_sim *sim);

/* Changes a node's disk, and starts counting for fail_at. */
FLR_API void flr_sim_set_disk(flr_env *node, const flr_sim_disk *disk);

/* Cuts a file short in place, as another program might while it is open here. False: there is no such
 * file, or it is not longer than `size`. */
FLR_API bool flr_sim_cut(flr_env *node, const char *path, uint64_t size);

/* Takes a node down as a power cut does: it can no longer be reached, everything on its files
 * and sockets fails, and its disk is left with what was synced. Of what was not synced chance
 * decides: the content of a file may be the old, the new, or new at the front and zeros
 * behind; new names and renames in a folder that was not synced may be gone or there. New
 * folders are there. Close what was open as usual. */
FLR_API void flr_sim_crash(flr_env *node);
/* Brings it up again with the disk as it was left. */
FLR_API void flr_sim_restart(flr_env *node);
FLR_API bool flr_sim_is_up(const flr_env *node);

/* ---- what happened ---- */

typedef struct flr_sim_stats {
    uint64_t sent;        /* datagrams given to flr_udp_send() */
    uint64_t delivered;   /* came to a socket, duplicates counted */
    uint64_t lost;        /* by `loss` */
    uint64_t duplicated;  /* by `duplicate` */
    uint64_t reordered;   /* overtaken by a later one */
    uint64_t cut;         /* lost to a partition or a node that is down or does not exist */
    uint64_t unheard;     /* nobody had the port */
    uint64_t overflowed;  /* the socket's buffer was full, or the reader's too small */
    uint64_t operations;  /* of disks */
    uint64_t failures;    /* … made to fail */
    uint64_t short_reads; /* … made short */
    uint64_t crashes;
} flr_sim_stats;

FLR_API flr_sim_stats flr_sim_get_stats(const flr_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
