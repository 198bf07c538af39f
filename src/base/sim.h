/* the inside of a simulation: sim.c (nodes, time), sim_disk.c, sim_net.c (datagrams, waiting) */
#ifndef FLR_BASE_SIM_H
#define FLR_BASE_SIM_H

#include "base/env.h"
#include "feeler/sim.h"

typedef struct sim_node sim_node;
typedef struct sim_socket sim_socket;

/* a stream of chance; each purpose has its own, so that one does not disturb another */
typedef struct sim_random {
    uint64_t state;
} sim_random;

uint64_t flr_sim_random_u64(sim_random *random);
bool flr_sim_random_chance(sim_random *random, double probability);
int64_t flr_sim_random_below(sim_random *random, int64_t bound); /* 0 where bound is 0 or less */

/* ---- disk ---- */

/* what a file holds; names and open files share it */
typedef struct sim_inode {
    unsigned references;
    uint8_t *bytes; /* as programs see it */
    size_t size, capacity;
    uint8_t *synced; /* as it is on the disk; NULL: never synced */
    size_t synced_size;
    bool dirty;
    int64_t modified_ns;
    const flr_file *locked; /* who holds the lock; NULL: nobody */
} sim_inode;

typedef struct sim_file {
    flr_file base;
    sim_inode *inode;
    flr_file_mode mode;
    uint64_t crashes; /* of its node, when it was opened: another number means it is lost */
} sim_file;

typedef struct sim_entry {
    char *path;       /* from the root, without needless parts; "/a/b" */
    sim_inode *inode; /* NULL: a folder */
} sim_entry;

typedef struct sim_names {
    sim_entry *entries;
    size_t count, capacity;
} sim_names;

typedef struct sim_disk_state {
    flr_sim_disk def;
    uint64_t operation; /* since def was set */
    sim_names now;      /* as programs see it */
    sim_names synced;   /* files only, as they are on the disk */
    size_t open_files;
    int64_t busy_until_ns; /* by reads that are under way at once */
    sim_random random;
} sim_disk_state;

void flr_sim_disk_free(sim_disk_state *disk);
void flr_sim_disk_crash(sim_disk_state *disk);
int flr_sim_file_open(flr_env *env, const char *path, flr_file_mode mode, unsigned flags,
                      const char *like, flr_file **file);
int flr_sim_file_lock(flr_file *file);
int flr_sim_file_read(flr_file *file, uint64_t offset, void *bytes, size_t count, size_t *got);
int flr_sim_file_write(flr_file *file, uint64_t offset, const void *bytes, size_t count);
int flr_sim_file_size(flr_file *file, uint64_t *size);
int flr_sim_file_sync(flr_file *file);
int flr_sim_reads_open(flr_file *file, unsigned depth, flr_reads **reads);
void flr_sim_reads_add(flr_reads *reads, uint64_t id, uint64_t offset, void *bytes, size_t count);
int flr_sim_reads_take(flr_reads *reads, int64_t deadline_ns, uint64_t *id, size_t *got);
void flr_sim_reads_close(flr_reads *reads);
int flr_sim_file_map(flr_file *file, size_t room, flr_map *map);
void flr_sim_file_unmap(flr_map *map);
void flr_sim_file_close(flr_file *file);
int flr_sim_path_look(flr_env *env, const char *path, bool follow, flr_path_info *info);
int flr_sim_path_follow(flr_env *env, const char *path, char **target);
int flr_sim_path_writable(flr_env *env, const char *path);
int flr_sim_path_rename(flr_env *env, const char *from, const char *to);
int flr_sim_path_remove(flr_env *env, const char *path);
int flr_sim_tree_remove(flr_env *env, const char *path);
int flr_sim_folder_make(flr_env *env, const char *path, bool private_);
int flr_sim_folder_tighten(flr_env *env, const char *path, unsigned flags);
int flr_sim_folder_sync(flr_env *env, const char *path);
int flr_sim_folder_room(flr_env *env, const char *path, uint64_t *bytes);
int flr_sim_folder_list(flr_env *env, const char *path, char ***names, size_t *count);

/* ---- network ---- */

/* a datagram on its way or in a socket's queue */
typedef struct sim_datagram {
    struct sim_datagram *next;
    int64_t arrival_ns;
    uint64_t order;  /* among all datagrams, by sending */
    uint64_t number; /* on its link */
    sim_node *from;
    flr_address source, target;
    size_t size;
    uint8_t bytes[];
} sim_datagram;

/* from one node to another */
typedef struct sim_link {
    bool own; /* `network` counts, not the simulation's */
    flr_sim_network network;
    int64_t busy_until_ns;
    uint64_t sent, newest; /* numbers of datagrams: last sent, newest delivered */
} sim_link;

struct sim_socket {
    flr_socket base;
    sim_socket *next; /* of the same node */
    bool dead;        /* its node went down */
    sim_datagram *first, *last;
    size_t held; /* bytes in the queue */
};

struct sim_node {
    flr_env base;
    flr_sim *sim;
    size_t index;
    flr_address address;
    bool up;
    uint64_t crashes;
    int group;
    int64_t ahead_ns;
    int64_t interrupt_ns; /* at the next receive */
    uint16_t next_port;
    sim_socket *sockets;
    sim_link *links; /* one for each node */
    sim_disk_state disk;
    sim_random random; /* what programs ask for */
    flr_sim_program program;
    void *context;
    int64_t wake_ns; /* by the simulation's clock */
    bool touched;    /* something arrived */
};

struct flr_sim {
    flr_sim_def def;
    int64_t now_ns;
    sim_node **nodes;
    size_t node_count;
    sim_datagram **heap; /* on their way, the next to arrive on top */
    size_t heap_count, heap_capacity;
    uint64_t order;
    sim_random network_random;
    flr_sim_stats stats;
    bool running;
};

/* lets everything happen that is due until now */
void flr_sim_settle(flr_sim *sim);
/* moves time to `time_ns`, what is due on the way happening at its time */
void flr_sim_move_to(flr_sim *sim, int64_t time_ns);

void flr_sim_net_free(flr_sim *sim);
void flr_sim_net_crash(sim_node *node);
int64_t flr_sim_net_next(const flr_sim *sim); /* when the next datagram arrives */
void flr_sim_net_deliver(flr_sim *sim);       /* that one */

int flr_sim_udp_open(flr_env *env, flr_address local, flr_socket **socket);
int flr_sim_udp_send(flr_socket *socket, flr_address to, const void *bytes, size_t count);
int flr_sim_udp_receive(flr_socket *socket, flr_address *from, void *bytes, size_t capacity,
                        size_t *got);
int flr_sim_tcp_listen(flr_env *env, flr_address local, flr_socket **socket);
void flr_sim_socket_close(flr_socket *socket);
int flr_sim_wait(flr_env *env, flr_wait *waits, size_t count, int64_t deadline_ns);

#endif
