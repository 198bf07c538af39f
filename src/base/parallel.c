/* a loop over independent pieces of work, on several threads */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { max_threads = 256 };

typedef struct parallel_loop {
    flr_parallel_work work;
    void *context;
    size_t count;
    atomic_size_t next;
    atomic_bool stop;
    pthread_mutex_t lock; /* guards the two below */
    size_t failed_piece;
    flr_result failure;
} parallel_loop;

typedef struct thread {
    parallel_loop *loop;
    unsigned worker;
    pthread_t id;
} thread;

static void *run(void *argument)
{
    thread *self = argument;
    parallel_loop *all = self->loop;
    while (!atomic_load_explicit(&all->stop, memory_order_relaxed)) {
        size_t piece = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed);
        if (piece >= all->count) break;
        flr_result result = all->work(all->context, piece, self->worker);
        if (result == FLR_OK) continue;
        pthread_mutex_lock(&all->lock);
        if (all->failure == FLR_OK || piece < all->failed_piece) {
            all->failure = result;
            all->failed_piece = piece;
        }
        pthread_mutex_unlock(&all->lock);
        atomic_store_explicit(&all->stop, true, memory_order_relaxed);
    }
    return NULL;
}

unsigned flr_parallel_threads(unsigned threads)
{
    if (threads == 0) {
        cpu_set_t set;
        threads = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    }
    return threads < max_threads ? threads : max_threads;
}

flr_result flr_parallel_for(unsigned threads, size_t count, flr_parallel_work work, void *context)
{
    parallel_loop all = {.work = work, .context = context, .count = count, .failure = FLR_OK};
    pthread_mutex_init(&all.lock, NULL);
    threads = flr_parallel_threads(threads);
    if (threads > count) threads = count ? (unsigned)count : 1;

    thread workers[max_threads];
    unsigned started = 1; /* this thread is worker 0 */
    for (; started < threads; started++) {
        workers[started] = (thread){.loop = &all, .worker = started};
        if (pthread_create(&workers[started].id, NULL, run, &workers[started]) != 0) break;
    }
    workers[0] = (thread){.loop = &all, .worker = 0};
    run(&workers[0]);
    for (unsigned i = 1; i < started; i++) pthread_join(workers[i].id, NULL);
    pthread_mutex_destroy(&all.lock);
    return all.failure;
}
