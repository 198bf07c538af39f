/* workers and their queues: one for what is long, one for what somebody waits for */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/text.h"
#include "realtime/privileges.h"
#include "sim/engine_internal.h"

enum { MAX_WORKERS = 16, LONG_NICE = 10 };

struct flr_jobs {
    pthread_mutex_t lock;
    pthread_cond_t work;        /* something waits, or the end has come */
    flr_job *waiting, *running; /* lists, oldest first; running: in no order */
    flr_job *ended;
    bool end;
    pthread_t threads[MAX_WORKERS + 1]; /* the last one for quick jobs only */
    unsigned workers, made;
    int cpu; /* that threads keep off; -1: none */
    void (*wake)(void *);
    void *context;
};

/* ---- lists, under the lock ---- */

static void append(flr_job **list, flr_job *job)
{
    while (*list) list = &(*list)->next;
    job->next = NULL;
    *list = job;
}

static void take_out(flr_job **list, flr_job *job)
{
    while (*list != job) list = &(*list)->next;
    *list = job->next;
}

/* The next for a worker of this kind; without workers, anything. */
static flr_job *next_job(flr_jobs *jobs, bool quick, bool any)
{
    flr_job *found = jobs->waiting;
    while (found && !any && found->quick != quick) found = found->next;
    if (!found) return NULL;
    take_out(&jobs->waiting, found);
    append(&jobs->running, found);
    found->info.state = FLR_WIRE_JOB_RUNNING;
    found->reported = false;
    return found;
}

static void wake(flr_jobs *jobs)
{
    if (jobs->wake) jobs->wake(jobs->context);
}

/* ---- doing them ---- */

static void do_job(flr_jobs *jobs, flr_job *job)
{
    job->more = false;
    if (atomic_load(&job->cancelled))
        job->result = flr_fail(&job->error, FLR_CANCELLED, "cancelled");
    else
        job->work(job);
    pthread_mutex_lock(&jobs->lock);
    take_out(&jobs->running, job);
    append(&jobs->ended, job);
    pthread_mutex_unlock(&jobs->lock);
    wake(jobs);
}

static void work(flr_jobs *jobs, bool quick)
{
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->end) {
        flr_job *job = next_job(jobs, quick, false);
        if (!job) {
            pthread_cond_wait(&jobs->work, &jobs->lock);
            continue;
        }
        pthread_mutex_unlock(&jobs->lock);
        do_job(jobs, job);
        pthread_mutex_lock(&jobs->lock);
    }
    pthread_mutex_unlock(&jobs->lock);
}

/* Long work gives way to everything else; the threads that it makes do, too. */
static void *long_worker(void *context)
{
    flr_jobs *jobs = context;
    prctl(PR_SET_NAME, "feeler-worker", 0, 0, 0);
    flr_privileges_keep_off(jobs->cpu);
    (void)setpriority(PRIO_PROCESS, 0, LONG_NICE); /* of this thread alone, on Linux */
    work(jobs, false);
    return NULL;
}

static void *quick_worker(void *context)
{
    flr_jobs *jobs = context;
    prctl(PR_SET_NAME, "feeler-quick", 0, 0, 0);
    flr_privileges_keep_off(jobs->cpu);
    work(jobs, true);
    return NULL;
}

bool flr_jobs_do_one(flr_jobs *jobs)
{
    if (jobs->workers > 0) return false;
    pthread_mutex_lock(&jobs->lock);
    flr_job *job = next_job(jobs, false, true);
    pthread_mutex_unlock(&jobs->lock);
    if (job) do_job(jobs, job);
    return job;
}

/* ---- creation ---- */

flr_result flr_jobs_create(unsigned workers, int cpu, void (*wake_up)(void *), void *context,
                           flr_jobs **jobs, flr_error *error)
{
    flr_jobs *made = calloc(1, sizeof *made);
    if (!made) return flr_engine_no_memory(error);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->work, NULL);
    made->workers = workers < MAX_WORKERS ? workers : MAX_WORKERS;
    made->cpu = cpu;
    made->wake = wake_up;
    made->context = context;
    unsigned wanted = made->workers ? made->workers + 1 : 0;
    while (made->made < wanted) {
        void *(*body)(void *) = made->made < made->workers ? long_worker : quick_worker;
        int code = pthread_create(&made->threads[made->made], NULL, body, made);
        if (code) {
            flr_jobs_destroy(made);
            return flr_fail(error, FLR_NO_MEMORY, "cannot make a worker thread: %s",
                            strerror(code));
        }
        made->made++;
    }
    *jobs = made;
    return FLR_OK;
}

static void drop_all(flr_job *list)
{
    while (list) {
        flr_job *next = list->next;
        list->drop(list);
        list = next;
    }
}

void flr_jobs_destroy(flr_jobs *jobs)
{
    if (!jobs) return;
    pthread_mutex_lock(&jobs->lock);
    jobs->end = true;
    for (flr_job *j = jobs->running; j; j = j->next) atomic_store(&j->cancelled, true);
    pthread_cond_broadcast(&jobs->work);
    pthread_mutex_unlock(&jobs->lock);
    for (unsigned i = 0; i < jobs->made; i++) pthread_join(jobs->threads[i], NULL);
    drop_all(jobs->waiting);
    drop_all(jobs->ended);
    pthread_cond_destroy(&jobs->work);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}

/* ---- control's side ---- */

void flr_jobs_post(flr_jobs *jobs, flr_job *job)
{
    pthread_mutex_lock(&jobs->lock);
    job->jobs = jobs;
    job->info.state = FLR_WIRE_JOB_WAITING;
    append(&jobs->waiting, job);
    pthread_cond_broadcast(&jobs->work);
    pthread_mutex_unlock(&jobs->lock);
    if (jobs->workers == 0) wake(jobs);
}

flr_job *flr_jobs_take_ended(flr_jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    flr_job *job = jobs->ended;
    if (job) jobs->ended = job->next;
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

void flr_job_end(flr_job *job)
{
    job->info.state = FLR_WIRE_JOB_ENDED;
    job->info.result = job->result;
    if (job->result == FLR_OK) {
        job->info.fraction = 1;
        job->info.sentence[0] = 0;
    } else {
        flr_text_copy(job->info.sentence, sizeof job->info.sentence, job->error.message);
    }
}

/* One that has more to do is not over while control has not seen what it made so far. */
static bool goes_on(const flr_job *job) { return job->info.job > 0 && job->more; }

bool flr_jobs_cancel(flr_jobs *jobs, uint32_t number)
{
    bool found = false;
    pthread_mutex_lock(&jobs->lock);
    flr_job *lists[] = {jobs->waiting, jobs->running, jobs->ended};
    for (int i = 0; i < 3; i++)
        for (flr_job *j = lists[i]; j; j = j->next)
            if (j->info.job == number && number > 0 && (i < 2 || goes_on(j))) {
                atomic_store(&j->cancelled, true);
                found = true;
            }
    pthread_mutex_unlock(&jobs->lock);
    return found;
}

bool flr_jobs_at(flr_jobs *jobs, uint32_t index, flr_engine_job *info)
{
    bool found = false;
    pthread_mutex_lock(&jobs->lock);
    flr_job *lists[] = {jobs->running, jobs->waiting, jobs->ended};
    for (int i = 0; i < 3 && !found; i++)
        for (flr_job *j = lists[i]; j && !found; j = j->next) {
            if (j->info.job == 0 || (i == 2 && !goes_on(j))) continue;
            found = index == 0;
            if (found && info) *info = j->info;
            index--;
        }
    pthread_mutex_unlock(&jobs->lock);
    return found;
}

uint32_t flr_jobs_count(flr_jobs *jobs)
{
    uint32_t count = 0;
    pthread_mutex_lock(&jobs->lock);
    flr_job *lists[] = {jobs->running, jobs->waiting, jobs->ended};
    for (int i = 0; i < 3; i++)
        for (flr_job *j = lists[i]; j; j = j->next) count += i == 2 ? goes_on(j) : j->info.job > 0;
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

bool flr_jobs_changed(flr_jobs *jobs, flr_engine_job *info)
{
    bool found = false;
    pthread_mutex_lock(&jobs->lock);
    for (flr_job *j = jobs->running; j && !found; j = j->next)
        if (!j->reported && j->info.job > 0) {
            found = j->reported = true;
            *info = j->info;
        }
    pthread_mutex_unlock(&jobs->lock);
    return found;
}

/* ---- a worker's side ---- */

bool flr_job_progress(flr_job *job, double fraction, const char *format, ...)
{
    char text[sizeof job->info.sentence];
    va_list arguments;
    va_start(arguments, format);
    flr_text_print(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&job->jobs->lock);
    job->info.fraction = (float)fraction;
    memcpy(job->info.sentence, text, sizeof text);
    job->reported = false;
    pthread_mutex_unlock(&job->jobs->lock);
    return !atomic_load(&job->cancelled);
}
