/* env: mapped files of the real machine, and what happens when their bytes cannot be had
 *
 * A file that is cut short in place, or a disk that fails, raises SIGBUS in whoever looks at the bytes. The handler here
 * puts zeros in their place and marks the map as failed, so that the reader comes to its end and then reports the file.
 * The maps are in a list that only grows: its entries are reused and never freed, so the handler reads it without a lock. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/env.h"

/* ---- the list of maps ---- */

typedef struct watched_map {
    atomic_bool taken;
    atomic_bool failed;
    atomic_uintptr_t begin, end; /* of the file's bytes; both 0: none */
    struct watched_map *next;
} watched_map;

static _Atomic(watched_map *) watched;
static struct sigaction previous; /* written before our handler is put in its place */

static watched_map *add_watched(void)
{
    for (watched_map *w = atomic_load(&watched); w; w = w->next) {
        bool was_free = false;
        if (atomic_compare_exchange_strong(&w->taken, &was_free, true)) return w;
    }
    watched_map *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    atomic_init(&made->taken, true);
    made->next = atomic_load(&watched);
    while (!atomic_compare_exchange_weak(&watched, &made->next, made)) {}
    return made;
}

static void watch(watched_map *w, uintptr_t begin, size_t size)
{
    atomic_store(&w->failed, false);
    atomic_store(&w->begin, begin);
    atomic_store(&w->end, begin + size);
}

static void unwatch(watched_map *w)
{
    atomic_store(&w->end, 0);
    atomic_store(&w->begin, 0);
}

static watched_map *find_watched(uintptr_t at)
{
    for (watched_map *w = atomic_load(&watched); w; w = w->next)
        if (at >= atomic_load(&w->begin) && at < atomic_load(&w->end)) return w;
    return NULL;
}

/* ---- the signal ---- */

/* To whom it concerned before; a handler that was put over ours may call ours again. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    /* in the thread's own block from the start: a signal handler must not have the loader allocate it */
    static _Thread_local volatile sig_atomic_t passing __attribute__((tls_model("initial-exec")));
    if (!passing && previous.sa_flags & SA_SIGINFO) {
        passing = 1;
        previous.sa_sigaction(number, info, context);
    } else if (!passing && previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        passing = 1;
        previous.sa_handler(number);
    } else {
        /* as if there were no handler: it comes again when this one returns */
        struct sigaction usual = {.sa_handler = SIG_DFL};
        sigaction(number, &usual, NULL);
        raise(number);
    }
    passing = 0;
}

/* Everything from the lost page on becomes zeros: behind the end of a shortened file nothing can be had, and one call for
 * each page would cut the address space into too many pieces. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const int code = errno;
    const uintptr_t at = (uintptr_t)info->si_addr, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    watched_map *w = info->si_code > 0 ? find_watched(at) : NULL; /* else somebody sent it */
    if (w) {
        const uintptr_t from = at / page * page, to = atomic_load(&w->end);
        atomic_store(&w->failed, true);
        if (mmap((void *)from, to - from, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            w = NULL;
    }
    if (!w) pass_on(number, info, context);
    errno = code;
}

/* With every map: somebody may have put another handler there since the last. */
static void install_handler(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct sigaction now,
        ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&lock);
    if (sigaction(SIGBUS, NULL, &now) == 0 &&
        !(now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_bus_error)) {
        previous = now;
        sigaction(SIGBUS, &ours, NULL);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- mapping ---- */

/* Address space without memory behind it: zeros to whoever reads there. NULL where there is not enough. */
static void *set_aside(size_t size, size_t room)
{
    if (room == 0 || size > SIZE_MAX - room) return NULL;
    void *space =
        mmap(NULL, size + room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return NULL;
    madvise(space, size + room, MADV_DONTDUMP); // a core file need not tell of it
    return space;
}

static int map_into(flr_file *file, size_t size, size_t room, flr_map *map)
{
    void *space = set_aside(size, room);
    void *bytes = mmap(space, size, PROT_READ, MAP_SHARED | (space ? MAP_FIXED : 0),
                       flr_real_descriptor(file), 0);
    if (bytes == MAP_FAILED) {
        int code = errno == ENODEV ? ENOTSUP : errno; // a file system without maps, not a device
        if (space) munmap(space, size + room);
        return code;
    }
    map->bytes = bytes;
    map->size = size;
    map->room = space ? room : 0;
    return 0;
}

int flr_real_file_map(flr_file *file, size_t room, flr_map *map)
{
    uint64_t size;
    int code = flr_real_file_size(file, &size);
    if (code) return code;
    if (size > SIZE_MAX) return ENOMEM;
    if (size == 0) return 0; // an empty map is refused by the system
    install_handler();
    watched_map *w = add_watched();
    if (!w) return ENOMEM;
    code = map_into(file, (size_t)size, room, map);
    if (code) {
        atomic_store(&w->taken, false);
        return code;
    }
    watch(w, (uintptr_t)map->bytes, map->size);
    map->watched = w;
    return 0;
}

bool flr_real_map_failed(const flr_map *map)
{
    return atomic_load(&((const watched_map *)map->watched)->failed);
}

void flr_real_file_unmap(flr_map *map)
{
    watched_map *w = map->watched;
    unwatch(w);
    munmap((void *)(uintptr_t)map->bytes, map->size + map->room);
    atomic_store(&w->taken, false);
}
