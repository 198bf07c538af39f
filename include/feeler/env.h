/* feeler/env.h: the environment: clock, files, sockets, random numbers; and the log.
 *
 *   env  clock, files, sockets, random numbers
 *   log  log messages with levels
 */
#ifndef FEELER_ENV_H
#define FEELER_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== env ==================================================================================== */

/* The one door to the outside: clock, files, sockets, random numbers.
 *
 * Everything in feeler that needs time, a disk, a network or chance takes an
 * `flr_env *` and asks it. There are two kinds:
 *
 *   flr_env_real()        this machine
 *   flr_sim_create()      a simulated one with virtual time, a seeded network that
 *                         delays, loses, reorders, duplicates and partitions, and
 *                         disks that are slow, short or broken; see feeler/sim.h
 *
 * so that the same code runs in use and under test, and a test that failed once
 * fails again with the same seed.
 *
 * Ownership: what an open function returns is closed by its close function. Files
 * and sockets must be closed before their env is destroyed.
 * Thread: an env may be used from several threads; one file or socket from one
 * thread at a time. Nothing here is RT safe except flr_clock_ns(), and flr_sleep_until() where a
 * real-time loop waits for its next frame: one system call, no allocation, no lock.
 */

typedef struct flr_env flr_env;

/* The real machine. One shared, stateless object; never destroyed. Never NULL. */
FLR_API flr_env *flr_env_real(void);

/* ---- clock ---- */

/* Nanoseconds since an arbitrary start; never goes back. RT safe. */
FLR_API int64_t flr_clock_ns(flr_env *env);

/* Nanoseconds since 1970-01-01 UTC; may jump when somebody sets the clock. */
FLR_API int64_t flr_clock_wall_ns(flr_env *env);

/* Sleeps until flr_clock_ns() reaches `time_ns`; returns at once if it has. In a
 * simulated env this moves virtual time on. */
FLR_API void flr_sleep_until(flr_env *env, int64_t time_ns);

/* ---- random numbers ---- */

/* Fills `bytes` with unpredictable bytes (real) or the seeded stream (simulated). */
FLR_API void flr_random_bytes(flr_env *env, void *bytes, size_t count);

/* ---- files ---- */

typedef struct flr_file flr_file;

typedef enum flr_file_mode {
    FLR_FILE_READ,   /* must exist and be a regular file */
    FLR_FILE_CREATE, /* read and write; made new, must not exist yet (mode 0644 less umask) */
    FLR_FILE_UPDATE  /* read and write; must exist */
} flr_file_mode;

typedef enum flr_path_kind {
    FLR_PATH_NONE, /* nothing there */
    FLR_PATH_FILE,
    FLR_PATH_FOLDER,
    FLR_PATH_OTHER /* pipe, socket, device; a link, where links are not followed */
} flr_path_kind;

typedef struct flr_path_info {
    flr_path_kind kind;
    uint64_t size;       /* bytes, of a regular file */
    int64_t modified_ns; /* wall clock */
} flr_path_info;

/* Flags of what is opened or made. */
enum {
    FLR_OPEN_PRIVATE = 1, /* a new file is for its owner only: mode 0600 */
    FLR_OPEN_NO_LINK = 2  /* a symbolic link in place of the file is refused (FLR_DENIED); links
                             among the folders above it are followed as ever */
};

/* Opens a file. Folders, pipes, sockets and devices are refused with a sentence that
 * says what they are; opening a pipe never blocks. `path` is UTF-8, not NULL. */
FLR_API flr_result flr_file_open(flr_env *env, const char *path, flr_file_mode mode,
                                 flr_file **file, flr_error *error);
/* The same with flags (FLR_OPEN_…); 0: none. */
FLR_API flr_result flr_file_open_with(flr_env *env, const char *path, flr_file_mode mode,
                                      unsigned flags, flr_file **file, flr_error *error);

/* Locks a file that was opened for writing, against all who lock it, too: in this process, in
 * others, also in other containers, and on other machines where the file system supports that.
 * Never waits. The lock ends when the file is closed or the process ends, however that happens.
 * FLR_AGAIN (no message): somebody else holds it, or the file was removed before it could be
 * locked. FLR_UNSUPPORTED: this file system has no locks. */
FLR_API flr_result flr_file_lock(flr_file *file, flr_error *error);

/* Reads up to `count` bytes at `offset`. `*got` is what came: less than `count` may
 * happen at any time, 0 only at the end of the file. */
FLR_API flr_result flr_file_read(flr_file *file, uint64_t offset, void *bytes, size_t count,
                                 size_t *got, flr_error *error);

/* Writes all of `bytes` at `offset`, or fails. */
FLR_API flr_result flr_file_write(flr_file *file, uint64_t offset, const void *bytes, size_t count,
                                  flr_error *error);

/* Bytes in the file now. */
FLR_API flr_result flr_file_size(flr_file *file, uint64_t *size, flr_error *error);

/* Waits until what was written is on the disk. */
FLR_API flr_result flr_file_sync(flr_file *file, flr_error *error);

/* Closes; NULL is allowed. Errors of earlier writes were reported by them or by sync. */
FLR_API void flr_file_close(flr_file *file);

/* A whole file as memory, read-only. Plain data; end with flr_file_unmap(). */
typedef struct flr_map {
    flr_env *env;
    const uint8_t *bytes; /* NULL when size is 0; begins at a page */
    size_t size;          /* when it was mapped */
    size_t room;          /* so many bytes behind the file, at least, can be read, too: zeros */
    void *watched;        /* the env's own */
} flr_map;

/* Maps a file opened for reading: nothing is read until it is looked at, whatever the size. The map
 * outlives the file object, and also the file's name: one that is replaced by a rename or removed
 * stays as it was for those who have it mapped. A file that is changed in place changes in the map,
 * too; where one is cut short, or the disk fails, zeros take the place of the bytes from there on,
 * and flr_map_failed() says so: ask it before you use what you made of the bytes. Mapping
 * installs a handler for SIGBUS, which passes on what does not concern a map to the handler that was
 * there before. In a simulated env the map is a copy. `room`:
 * bytes of address space to set aside behind the file, so that a wrong index in it leads to zeros
 * and not out of the process; it costs no memory. 0: none. Where that much cannot be had, or in a
 * simulated env, map.room is 0. */
FLR_API flr_result flr_file_map(flr_file *file, size_t room, flr_map *map, flr_error *error);

/* Could some of the bytes not be read since it was mapped? False for an empty map. RT safe. */
FLR_API bool flr_map_failed(const flr_map *map);

/* Gives it back; leaves an empty map. NULL and an empty map allowed. */
FLR_API void flr_file_unmap(flr_map *map);

/* Several reads of one file under way at once: with io_uring where the system has it (Linux 5.11), else
 * one after the other. Each has a number of the caller's, and they end in any order. */
typedef struct flr_reads flr_reads;

enum { FLR_MAX_READS = 256 };

/* Up to `depth` reads (1 … FLR_MAX_READS) of a file opened for reading, which must stay open; of 1,
 * one after the other everywhere. Fails with FLR_NO_MEMORY only. */
FLR_API flr_result flr_reads_open(flr_file *file, unsigned depth, flr_reads **reads,
                                  flr_error *error);

/* Asks for `count` bytes at `offset`. `bytes` must stay until the read has been taken. False:
 * `depth` are under way. */
FLR_API bool flr_reads_add(flr_reads *reads, uint64_t id, uint64_t offset, void *bytes,
                           size_t count);

/* One that is done: its number and what came, as from flr_file_read(); waits for one until
 * flr_clock_ns() is `deadline_ns`. FLR_TIMEOUT, and `*id` and `*got` are untouched: none is done (no
 * message), at once where none is under way. Any other result is that of the read `*id`. Where they
 * come one after the other it does the next, however long that takes. */
FLR_API flr_result flr_reads_take(flr_reads *reads, int64_t deadline_ns, uint64_t *id, size_t *got,
                                  flr_error *error);

FLR_API unsigned flr_reads_under_way(const flr_reads *reads);
/* Whether it is with io_uring. */
FLR_API bool flr_reads_at_once(const flr_reads *reads);
/* Waits until none is under way; NULL allowed. */
FLR_API void flr_reads_close(flr_reads *reads);

/* What is at `path` (links followed)? A path that does not exist is FLR_OK with kind
 * FLR_PATH_NONE. */
FLR_API flr_result flr_path_look(flr_env *env, const char *path, flr_path_info *info,
                                 flr_error *error);
/* The same without following a link in place of `path` itself: that is FLR_PATH_OTHER. */
FLR_API flr_result flr_path_look_no_link(flr_env *env, const char *path, flr_path_info *info,
                                         flr_error *error);

/* Bytes that this user may still write to the disk that the folder of `path` lies on; UINT64_MAX
 * where there is no limit. */
FLR_API flr_result flr_path_room(flr_env *env, const char *path, uint64_t *bytes, flr_error *error);

/* Puts `from` in the place of `to` in one step, then syncs the folder. */
FLR_API flr_result flr_path_rename(flr_env *env, const char *from, const char *to,
                                   flr_error *error);

/* Removes a file or an empty folder. */
FLR_API flr_result flr_path_remove(flr_env *env, const char *path, flr_error *error);

/* Removes a folder with everything in it, or a file; nothing there is fine. A link is removed,
 * whatever it points to: nothing outside of the folder is ever touched, not even if somebody
 * exchanges folders for links meanwhile. Goes on after a failure and reports the first. */
FLR_API flr_result flr_path_remove_tree(flr_env *env, const char *path, flr_error *error);

/* Makes a folder, and its parents where missing. A folder that exists is fine. */
FLR_API flr_result flr_path_make_folder(flr_env *env, const char *path, flr_error *error);
/* The same for confidential files: what is made is for its owner only (mode 0700), and a folder of
 * this user that exists and that others can read but not write becomes so, too. `flags`:
 * FLR_OPEN_NO_LINK, or 0. */
FLR_API flr_result flr_path_make_private(flr_env *env, const char *path, unsigned flags,
                                         flr_error *error);

/* Waits until the names in a folder, as they are now, are on the disk. */
FLR_API flr_result flr_path_sync_folder(flr_env *env, const char *path, flr_error *error);

/* Calls `visit` with the name (not the path) of each entry of a folder, except . and ..,
 * sorted bytewise; stops early when `visit` returns false. */
FLR_API flr_result flr_path_list(flr_env *env, const char *path,
                                 bool (*visit)(void *context, const char *name), void *context,
                                 flr_error *error);

/* ---- whole files, built on the above ---- */

/* A heap block; free with flr_blob_free(). */
typedef struct flr_blob {
    uint8_t *bytes; /* NULL when size is 0; else followed by one zero byte not counted in size */
    size_t size;
} flr_blob;

FLR_API void flr_blob_free(flr_blob *blob); /* NULL allowed; leaves an empty blob */

/* Reads a whole file of at most `limit` bytes (FLR_TOO_LARGE beyond). */
FLR_API flr_result flr_file_read_all(flr_env *env, const char *path, uint64_t limit, flr_blob *blob,
                                     flr_error *error);

/* Writes a whole file, which appears whole or not at all, as with flr_output below. */
FLR_API flr_result flr_file_write_all(flr_env *env, const char *path, const void *bytes,
                                      size_t size, flr_error *error);

/* A file that appears whole or not at all: written beside its final place under a
 * temporary name, synced, renamed. Buffered. Usage: begin, write any number of
 * times, then exactly one of commit, abandon or end. After a failed write, abandon.
 * A link is followed: what it points to is replaced. A file that is replaced keeps its
 * access rights; one that may not be written is refused. */
typedef struct flr_output flr_output;

FLR_API flr_result flr_output_begin(flr_env *env, const char *path, flr_output **output,
                                    flr_error *error);
/* The same with flags. FLR_OPEN_PRIVATE: the file is for its owner only, whatever the access rights of
 * one that is replaced. FLR_OPEN_NO_LINK: a link in the file's place is replaced, not followed. */
FLR_API flr_result flr_output_begin_with(flr_env *env, const char *path, unsigned flags,
                                         flr_output **output, flr_error *error);
FLR_API flr_result flr_output_write(flr_output *output, const void *bytes, size_t count,
                                    flr_error *error);
FLR_API flr_result flr_output_print(flr_output *output, flr_error *error, const char *format, ...)
    FLR_PRINTF(3, 4);
/* For files that are not written from front to back, in place of flr_output_write(): writes at an
 * offset, unbuffered; what is left out is zeros. And reads back what was written. */
FLR_API flr_result flr_output_put(flr_output *output, uint64_t offset, const void *bytes,
                                  size_t count, flr_error *error);
FLR_API flr_result flr_output_get(flr_output *output, uint64_t offset, void *bytes, size_t count,
                                  flr_error *error);
/* Flushes, syncs, renames; frees `output` whatever the result. On failure the target is as it
 * was and the temporary file is gone; only where the very last step fails, the sync of the
 * folder, the whole new file already stands in its place. */
FLR_API flr_result flr_output_commit(flr_output *output, flr_error *error);
/* Removes the temporary file and frees `output`; NULL allowed. */
FLR_API void flr_output_abandon(flr_output *output);
/* Commits if `result`, the result of all writes, is FLR_OK; otherwise abandons the output and returns `result`. */
FLR_API flr_result flr_output_end(flr_output *output, flr_result result, flr_error *error);

/* Removes the temporary files that outputs of processes which are gone left in a folder. An output
 * locks its temporary file, so one that can be locked here belongs to nobody. On a file system
 * without locks a temporary file must be a day old, by the clock of that file system. A folder
 * that does not exist is fine. */
FLR_API flr_result flr_output_sweep(flr_env *env, const char *folder, flr_error *error);
/* Whether something last changed at `modified_ns` is a day old by the clock of the file system of
 * `folder`: it is compared with a file that is made there now, not with this machine's clock. What
 * lies in the future is not old. False where no file can be made. */
FLR_API bool flr_path_is_old(flr_env *env, const char *folder, int64_t modified_ns);

/* ---- sockets ---- */

/* An internet address; IPv4 uses the first 4 bytes of `ip`. */
typedef struct flr_address {
    uint8_t family; /* 4 or 6; 0: none */
    uint8_t ip[16]; /* network order */
    uint16_t port;  /* host order */
} flr_address;

enum { FLR_ADDRESS_TEXT_SIZE = 64 };

/* Reads "127.0.0.1:7000", "[::1]:7000", "localhost:7000" (numbers only: no name service
 * but localhost). `default_port` is used when the text has none. */
FLR_API flr_result flr_address_parse(const char *text, uint16_t default_port, flr_address *address,
                                     flr_error *error);
/* Writes it back; returns `text`. */
FLR_API const char *flr_address_print(flr_address address, char text[FLR_ADDRESS_TEXT_SIZE]);
#define FLR_ADDRESS_TEXT(address) flr_address_print(address, (char[FLR_ADDRESS_TEXT_SIZE]){0})
FLR_API bool flr_address_equal(flr_address a, flr_address b);
FLR_API bool flr_address_is_loopback(flr_address address);

typedef struct flr_socket flr_socket;

/* All sockets are non-blocking: where there is nothing to do the answer is FLR_AGAIN
 * (without a message); use flr_env_wait() to wait. */

/* A UDP socket bound to `local` (port 0: any). */
FLR_API flr_result flr_udp_open(flr_env *env, flr_address local, flr_socket **socket,
                                flr_error *error);
/* Sends one datagram whole; at most FLR_UDP_MAX bytes. A datagram may get lost silently. */
FLR_API flr_result flr_udp_send(flr_socket *socket, flr_address to, const void *bytes, size_t count,
                                flr_error *error);
/* Receives one datagram. One larger than `capacity` is dropped and counted as lost. */
FLR_API flr_result flr_udp_receive(flr_socket *socket, flr_address *from, void *bytes,
                                   size_t capacity, size_t *got, flr_error *error);
enum { FLR_UDP_MAX = 65507 };
/* Datagrams this socket dropped because they were larger than the capacity given. */
FLR_API uint64_t flr_udp_dropped(const flr_socket *socket);

/* A TCP listener: whether `local` can be listened on. */
FLR_API flr_result flr_tcp_listen(flr_env *env, flr_address local, flr_socket **socket,
                                  flr_error *error);

/* The address a socket is bound to (useful after port 0). */
FLR_API flr_address flr_socket_local(const flr_socket *socket);
FLR_API void flr_socket_close(flr_socket *socket); /* NULL allowed */

enum { FLR_WAIT_READ = 1, FLR_WAIT_WRITE = 2 };

typedef struct flr_wait {
    flr_socket *socket;
    unsigned wanted; /* FLR_WAIT_READ | FLR_WAIT_WRITE */
    unsigned ready;  /* filled in: a subset of wanted; both on error or close */
} flr_wait;

/* Waits until one of `count` sockets is ready or flr_clock_ns() reaches `deadline_ns`.
 * FLR_OK: at least one is ready; FLR_TIMEOUT: none (no message). */
FLR_API flr_result flr_env_wait(flr_env *env, flr_wait *waits, size_t count, int64_t deadline_ns,
                                flr_error *error);

/* ==== log ==================================================================================== */

/* Log lines.
 *
 * There is no global log. Whoever wants lines makes an flr_log with a sink, a function that
 * takes finished lines, and hands it down; code that logs takes an `flr_log *` that may be
 * NULL, which is silence.
 *
 *     flr_log_def def = flr_default_log_def();   // warnings and worse, to stderr
 *     def.level = FLR_LOG_INFO;
 *     flr_log *log = flr_log_create(&def);
 *     flr_log_write(log, FLR_LOG_INFO, "listening on %s", text);
 *
 * A line holds one message of at most FLR_LOG_MESSAGE_SIZE - 1 bytes; longer ones are
 * shortened. Control characters and broken UTF-8 become '?', so that a file name or a packet cannot
 * drive the terminal or forge a line. Of a message that comes again within `repeat_ns`, only the
 * number of repetitions is reported, with the first line after that time or at the end. Of lines that
 * come faster than `burst` plus `per_second` allow, only the number is reported, later, as one line.
 * Errors are never held back.
 *
 * Thread: any; a log may be shared, its sink is called by one thread at a time.
 * Not RT safe: the real-time loop counts and raises fault bits, and the control thread
 * writes the lines.
 */

typedef struct flr_log flr_log;

typedef enum flr_log_level {
    FLR_LOG_ERROR,   /* something asked for was not done */
    FLR_LOG_WARNING, /* done, but not as expected */
    FLR_LOG_INFO,    /* what a user wants to know later */
    FLR_LOG_DEBUG,   /* what a developer wants to know now */
    FLR_LOG_LEVEL_COUNT
} flr_log_level;

enum { FLR_LOG_MESSAGE_SIZE = 1024 };

/* One line as the sink gets it; valid during the call. */
typedef struct flr_log_line {
    flr_log_level level;
    int64_t wall_ns;     /* when: nanoseconds since 1970-01-01 UTC, from the env */
    const char *message; /* UTF-8, no newline */
} flr_log_line;

typedef void (*flr_log_sink)(void *context, const flr_log_line *line);

typedef struct flr_log_def {
    flr_env *env;        /* where the time comes from; must outlive the log */
    flr_log_level level; /* lines above this level are not made */
    flr_log_sink sink;   /* must not write to the same log */
    void *context;       /* given to the sink */
    uint32_t burst;      /* lines that may come at once… */
    uint32_t per_second; /* …and how many more each second; 0: no limit at all */
    int64_t repeat_ns;   /* the same message is written once in such a time; 0: always */
} flr_log_def;

/* The real clock, warnings and errors to stderr, 200 lines at once and 50 per second, the same message
 * once in 10 s. */
FLR_API flr_log_def flr_default_log_def(void);

/* Makes a log; NULL where there is no memory (and then stays silent, as a NULL log is). */
FLR_API flr_log *flr_log_create(const flr_log_def *def);
FLR_API void flr_log_destroy(flr_log *log); /* NULL allowed */

/* Would a line of this level be written? For messages that are costly to make. */
FLR_API bool flr_log_enabled(const flr_log *log, flr_log_level level);

/* Writes one line; `log` may be NULL. */
FLR_API void flr_log_write(flr_log *log, flr_log_level level, const char *format, ...)
    FLR_PRINTF(3, 4);

/* "error", "warning", "info", "debug". Never NULL. */
FLR_API const char *flr_log_level_name(flr_log_level level);

enum { FLR_LOG_TEXT_SIZE = FLR_LOG_MESSAGE_SIZE + 64 };

/* "2026-03-01T12:30:00.123Z warning: message" without a newline; returns `text`. */
FLR_API const char *flr_log_format(const flr_log_line *line, char text[FLR_LOG_TEXT_SIZE]);

/* A sink that writes formatted lines to stderr, each in one piece; `context` is not used. It does not wait for a pipe
 * that is full, a socket or a stopped terminal: lines that they do not take are counted, and the next one that they take
 * comes after a line with that number. A terminal must be in O_NONBLOCK for that to hold while it takes part of a line. */
FLR_API void flr_log_stderr(void *context, const flr_log_line *line);

#ifdef __cplusplus
}
#endif
#endif
