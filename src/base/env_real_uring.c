/* env: the real machine: reads at once by io_uring, by its system calls alone
 *
 * Two rings are shared with the kernel. We put entries into the one of submissions and move its tail; the kernel puts
 * what is done into the other and moves that tail, and we its head. Whatever the system has against it (an old
 * kernel, a filter of system calls, a limit on locked memory), opening says so and reads are made one after the other. */
#include <errno.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/env.h"

static const int64_t longest_ns = 1000000000, pause_ns = 1000000;

typedef struct shared {
    void *bytes;
    size_t size;
} shared;

typedef struct uring {
    flr_reads base;
    int fd;
    shared rings, entries; /* both rings in one map; submissions */
    uint32_t *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
    struct io_uring_cqe *done;
} uring;

static int map(int fd, off_t offset, size_t size, shared *to)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
    if (bytes == MAP_FAILED) return errno;
    *to = (shared){bytes, size};
    return 0;
}

/* Tells the kernel of `count` new entries and waits for one that is done. 0, or an errno value. */
static int enter(uring *u, unsigned count, bool wait, int64_t wait_ns)
{
    struct __kernel_timespec limit = {.tv_sec = wait_ns / 1000000000,
                                      .tv_nsec = wait_ns % 1000000000};
    struct io_uring_getevents_arg argument = {.sigmask_sz = _NSIG / 8,
                                              .ts = (uint64_t)(uintptr_t)&limit};
    unsigned flags = wait ? IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG : 0;
    long did = syscall(__NR_io_uring_enter, u->fd, count, wait ? 1 : 0, flags,
                       wait ? (void *)&argument : NULL, wait ? sizeof argument : 0);
    return did < 0 ? errno : 0;
}

static int set_up(uring *u, unsigned depth)
{
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    u->fd = (int)syscall(__NR_io_uring_setup, depth, &p);
    if (u->fd < 0) return errno;
    /* waiting with a time limit came last of what is needed here */
    if (!(p.features & IORING_FEAT_EXT_ARG) || !(p.features & IORING_FEAT_SINGLE_MMAP))
        return ENOTSUP;
    size_t submissions = p.sq_off.array + p.sq_entries * sizeof(uint32_t),
           completions = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    int code = map(u->fd, IORING_OFF_SQ_RING, submissions > completions ? submissions : completions,
                   &u->rings);
    if (!code)
        code = map(u->fd, IORING_OFF_SQES, p.sq_entries * sizeof(struct io_uring_sqe), &u->entries);
    if (code) return code;
    uint8_t *at = u->rings.bytes;
    u->sq_tail = (uint32_t *)(void *)(at + p.sq_off.tail);
    u->sq_mask = (uint32_t *)(void *)(at + p.sq_off.ring_mask);
    u->sq_array = (uint32_t *)(void *)(at + p.sq_off.array);
    u->cq_head = (uint32_t *)(void *)(at + p.cq_off.head);
    u->cq_tail = (uint32_t *)(void *)(at + p.cq_off.tail);
    u->cq_mask = (uint32_t *)(void *)(at + p.cq_off.ring_mask);
    u->done = (struct io_uring_cqe *)(void *)(at + p.cq_off.cqes);
    return enter(u, 0, false, 0); /* a filter may allow the one call and not the other */
}

static void tear_down(uring *u)
{
    if (u->rings.bytes) munmap(u->rings.bytes, u->rings.size);
    if (u->entries.bytes) munmap(u->entries.bytes, u->entries.size);
    if (u->fd >= 0) close(u->fd);
    free(u);
}

int flr_real_reads_open(flr_file *file, unsigned depth, flr_reads **reads)
{
    (void)file;
    uring *u = calloc(1, sizeof *u);
    if (!u) return ENOMEM;
    int code = set_up(u, depth);
    if (code) {
        tear_down(u);
        return code;
    }
    *reads = &u->base;
    return 0;
}

void flr_real_reads_close(flr_reads *reads) { tear_down((uring *)reads); }

void flr_real_reads_add(flr_reads *reads, uint64_t id, uint64_t offset, void *bytes, size_t count)
{
    uring *u = (uring *)reads;
    uint32_t tail = *u->sq_tail, index = tail & *u->sq_mask;
    struct io_uring_sqe *entry = (struct io_uring_sqe *)u->entries.bytes + index;
    memset(entry, 0, sizeof *entry);
    entry->opcode = IORING_OP_READ;
    entry->fd = flr_real_descriptor(reads->file);
    entry->off = offset;
    entry->addr = (uint64_t)(uintptr_t)bytes;
    entry->len = count < INT32_MAX ? (uint32_t)count : INT32_MAX;
    entry->user_data = id;
    u->sq_array[index] = index;
    __atomic_store_n(u->sq_tail, tail + 1, __ATOMIC_RELEASE);
    /* a kernel that is short of memory just now says so; the entry stays, and the next call takes it along */
    (void)enter(u, 1, false, 0);
}

int flr_real_reads_take(flr_reads *reads, int64_t deadline_ns, uint64_t *id, size_t *got)
{
    uring *u = (uring *)reads;
    for (;;) {
        uint32_t head = *u->cq_head;
        if (head != __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE)) {
            struct io_uring_cqe done = u->done[head & *u->cq_mask];
            __atomic_store_n(u->cq_head, head + 1, __ATOMIC_RELEASE);
            *id = done.user_data;
            *got = done.res > 0 ? (size_t)done.res : 0;
            if (done.res == -ETIMEDOUT) return EIO; /* a disk behind a network, not our waiting */
            return done.res < 0 ? -done.res : 0;
        }
        int64_t left = deadline_ns - flr_clock_ns(reads->file->env);
        if (left <= 0) return ETIMEDOUT;
        /* now and then entries are offered again that the kernel did not take */
        int code = enter(u, reads->depth, true, left < longest_ns ? left : longest_ns);
        if (code && code != ETIME && code != EINTR)
            flr_sleep_until(reads->file->env, flr_clock_ns(reads->file->env) + pause_ns);
    }
}
