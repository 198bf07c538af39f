/* threads that help one other thread, which never waits for the system */
#include "contact/worker_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "feeler/env.h"

enum {
    SPINS = 2000,      /* looks without rest: some tens of microseconds */
    SHORT_NS = 50000,  /* then sleeps of this length */
    SHORTS = 4000,     /* so many, */
    LONG_NS = 1000000, /* then of this: an idle worker pool costs next to nothing */
};

typedef struct helper {
    flr_worker_pool *pool;
    unsigned worker;
    pthread_t thread;
} helper;

struct flr_worker_pool {
    flr_worker_pool_work work;
    void *context;
    /* how many items there are, above the number of the next: one word, so that whoever takes an item knows which round it
     * belongs to, however late it comes */
    _Alignas(64) _Atomic uint64_t next;
    _Alignas(64) _Atomic uint32_t done; /* items of this round */
    _Alignas(64) atomic_bool stop;
    unsigned started;
    helper helpers[];
};

static inline void rest(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Does the next item, if there is one. */
static bool take_one(flr_worker_pool *pool, unsigned worker)
{
    uint64_t seen = atomic_load_explicit(&pool->next, memory_order_acquire);
    if ((uint32_t)seen >= seen >> 32) return false;
    seen = atomic_fetch_add_explicit(&pool->next, 1, memory_order_acq_rel);
    if ((uint32_t)seen >= seen >> 32) return false;
    pool->work(pool->context, (uint32_t)seen, worker);
    atomic_fetch_add_explicit(&pool->done, 1, memory_order_release);
    return true;
}

static void *help(void *argument)
{
    helper *self = argument;
    flr_worker_pool *pool = self->pool;
    flr_env *env = flr_env_real();
    for (unsigned idle = 0; !atomic_load_explicit(&pool->stop, memory_order_relaxed);) {
        if (take_one(pool, self->worker)) {
            idle = 0;
            continue;
        }
        idle += idle < SPINS + SHORTS;
        if (idle < SPINS)
            rest();
        else
            flr_sleep_until(env, flr_clock_ns(env) + (idle < SPINS + SHORTS ? SHORT_NS : LONG_NS));
    }
    return NULL;
}

flr_result flr_worker_pool_create(unsigned helpers, flr_worker_pool_work work, void *context,
                                  flr_worker_pool **pool, flr_error *error)
{
    size_t size = sizeof(flr_worker_pool) + helpers * sizeof(helper);
    flr_worker_pool *made = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for worker threads");
    made->work = work;
    made->context = context;
    atomic_init(&made->next, 0);
    atomic_init(&made->done, 0);
    atomic_init(&made->stop, false);
    made->started = 0;

    /* signals are for the threads of the program */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < helpers; i++) {
        made->helpers[i] = (helper){.pool = made, .worker = i + 1};
        if (pthread_create(&made->helpers[i].thread, NULL, help, &made->helpers[i]) != 0) break;
        made->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made->started < helpers) {
        flr_worker_pool_destroy(made);
        return flr_fail(error, FLR_NO_MEMORY, "cannot start %u worker threads; ask for fewer",
                        helpers);
    }
    *pool = made;
    return FLR_OK;
}

void flr_worker_pool_destroy(flr_worker_pool *pool)
{
    if (!pool) return;
    atomic_store_explicit(&pool->stop, true, memory_order_relaxed);
    for (unsigned i = 0; i < pool->started; i++) pthread_join(pool->helpers[i].thread, NULL);
    free(pool);
}

void flr_worker_pool_run(flr_worker_pool *pool, uint32_t count)
{
    atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->next, (uint64_t)count << 32, memory_order_release);
    while (take_one(pool, 0)) {}
    while (atomic_load_explicit(&pool->done, memory_order_acquire) < count) rest();
}
