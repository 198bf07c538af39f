/* what stands behind flr_env: a table of operations, one for the real machine, one simulated
 *
 * The operations do the work and answer with an errno value (0: done). The sentences are made
 * in one place, env.c, so that a simulated fault reads like a real one. */
#ifndef FLR_BASE_ENV_H
#define FLR_BASE_ENV_H

#include "feeler/env.h"

typedef struct flr_env_ops {
    // clock and chance
    int64_t (*clock)(flr_env *env);
    int64_t (*clock_wall)(flr_env *env);
    void (*sleep_until)(flr_env *env, int64_t time_ns);
    void (*random_bytes)(flr_env *env, void *bytes, size_t count);

    // files; what is not a regular file is refused with EISDIR (folder), ESPIPE (pipe),
    // ENOTSOCK (socket) or ENODEV (device). With FLR_FILE_CREATE the new file takes the access
    // rights of the file `like`, where that is not NULL and exists. `flags`: FLR_OPEN_…, ELOOP for a link.
    // lock: EWOULDBLOCK: another has it; ESTALE: it has no name any more; ENOTSUP: no locks here
    int (*file_open)(flr_env *env, const char *path, flr_file_mode mode, unsigned flags,
                     const char *like, flr_file **file);
    int (*file_lock)(flr_file *file);
    int (*file_read)(flr_file *file, uint64_t offset, void *bytes, size_t count, size_t *got);
    int (*file_write)(flr_file *file, uint64_t offset, const void *bytes, size_t count);
    int (*file_size)(flr_file *file, uint64_t *size);
    int (*file_sync)(flr_file *file);
    // reads at once. open: depth 2 or more; ENOTSUP: there is no such thing, env.c makes one after the other. add:
    // there is room. take: at least one is under way; ETIMEDOUT, or what became of the read `*id`.
    // close: as file_close
    int (*reads_open)(flr_file *file, unsigned depth, flr_reads **reads);
    void (*reads_add)(flr_reads *reads, uint64_t id, uint64_t offset, void *bytes, size_t count);
    int (*reads_take)(flr_reads *reads, int64_t deadline_ns, uint64_t *id, size_t *got);
    void (*reads_close)(flr_reads *reads);
    int (*file_map)(flr_file *file, size_t room,
                    flr_map *map);          // all but env; size 0: none to unmap
    bool (*map_failed)(const flr_map *map); // NULL: never
    void (*file_unmap)(flr_map *map);
    void (*file_close)(flr_file *file); // frees it, except the path

    // paths
    int (*path_look)(flr_env *env, const char *path, bool follow, flr_path_info *info);
    int (*path_follow)(flr_env *env, const char *path, char **target); // through links; malloc
    int (*path_writable)(flr_env *env, const char *path); // 0, or why an existing file is not
    int (*path_rename)(flr_env *env, const char *from, const char *to);
    int (*path_remove)(flr_env *env, const char *path);
    int (*tree_remove)(flr_env *env, const char *path);
    int (*folder_make)(flr_env *env, const char *path, bool private_); // one level
    int (*folder_tighten)(flr_env *env, const char *path, unsigned flags);
    int (*folder_sync)(flr_env *env, const char *path);
    int (*folder_room)(flr_env *env, const char *path, uint64_t *bytes);
    int (*folder_list)(flr_env *env, const char *path, char ***names, size_t *count);

    // sockets; EAGAIN: nothing to do now
    int (*udp_open)(flr_env *env, flr_address local, flr_socket **socket);
    int (*udp_send)(flr_socket *socket, flr_address to, const void *bytes, size_t count);
    int (*udp_receive)(flr_socket *socket, flr_address *from, void *bytes, size_t capacity,
                       size_t *got);
    int (*tcp_listen)(flr_env *env, flr_address local, flr_socket **socket);
    void (*socket_close)(flr_socket *socket);                                      // frees it
    int (*wait)(flr_env *env, flr_wait *waits, size_t count, int64_t deadline_ns); // ETIMEDOUT
} flr_env_ops;

/* The first member of every env. */
struct flr_env {
    const flr_env_ops *ops;
};

/* The first member of every file; `path` is set and freed by env.c. */
struct flr_file {
    flr_env *env;
    char *path;
};

/* The first member of every queue of reads; filled in by reads.c. */
struct flr_reads {
    flr_file *file;
    unsigned depth, under_way;
    bool at_once;
};

typedef enum flr_socket_kind { FLR_SOCKET_UDP, FLR_SOCKET_LISTENER } flr_socket_kind;

/* The first member of every socket. */
struct flr_socket {
    flr_env *env;
    flr_socket_kind kind;
    flr_address local;
    uint64_t dropped; /* datagrams that did not fit the caller's buffer */
};

/* Opens like flr_file_open_with(), with `like` as above. 0 or an errno value. */
int flr_file_open_like(flr_env *env, const char *path, flr_file_mode mode, unsigned flags,
                       const char *like, flr_file **file);

/* One sentence for an errno value: what could not be done (`action`: "read", "write"…) with
 * which path, why, and what to do about it. */
flr_result flr_fail_errno(flr_error *error, const char *path, const char *action, int code);

/* The folder that holds `path` ("." for a plain name). NULL: no memory. Free it. */
char *flr_path_parent(const char *path);

/* The real machine's operations (env_real.c); its folders and locks (env_real_folder.c); its sockets
 * (env_real_socket.c); io_uring (env_real_uring.c); maps (env_real_map.c). */
int flr_real_descriptor(const flr_file *file);
int flr_real_file_size(flr_file *file, uint64_t *size);
int flr_real_file_map(flr_file *file, size_t room, flr_map *map);
bool flr_real_map_failed(const flr_map *map);
void flr_real_file_unmap(flr_map *map);
int flr_real_file_lock(flr_file *file);
int flr_real_tree_remove(flr_env *env, const char *path);
int flr_real_folder_tighten(flr_env *env, const char *path, unsigned flags);
int flr_real_reads_open(flr_file *file, unsigned depth, flr_reads **reads);
void flr_real_reads_add(flr_reads *reads, uint64_t id, uint64_t offset, void *bytes, size_t count);
int flr_real_reads_take(flr_reads *reads, int64_t deadline_ns, uint64_t *id, size_t *got);
void flr_real_reads_close(flr_reads *reads);
int flr_real_udp_open(flr_env *env, flr_address local, flr_socket **socket);
int flr_real_udp_send(flr_socket *socket, flr_address to, const void *bytes, size_t count);
int flr_real_udp_receive(flr_socket *socket, flr_address *from, void *bytes, size_t capacity,
                         size_t *got);
int flr_real_tcp_listen(flr_env *env, flr_address local, flr_socket **socket);
void flr_real_socket_close(flr_socket *socket);
int flr_real_wait(flr_env *env, flr_wait *waits, size_t count, int64_t deadline_ns);

#endif
