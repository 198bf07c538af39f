/* finding a path: a few guided moves, then a random search on all threads; what is found is shortened and checked
 *
 * Workers search apart, each with its own random numbers, in rounds of the same number of samples. Of those that found a
 * path in a round, the first counts: the path depends on seed and number of threads, not on which thread was faster. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "plan/plan_field.h"
#include "plan/plan_tree.h"

enum {
    FIRST_GUIDED = 1,
    FIRST_FIELD = 500000, /* nodes */
    FIELD_GROWTH = 3,
    MAX_FIELD = 4000000,
    ROUNDS_OF_A_FIELD = 2,
    SOLE_NODES = 6,
    MAX_SOLE_TRIES = 6,
    LEG_TRIES = 40,
    TREE_TRIES = 300
};

#define SEARCH_MARGIN   1e-4 /* of the size of the body */
#define SEARCH_SHARE    0.85 /* of the time: see explained() */
#define EXPLAIN_SECONDS 10

flr_plan_search flr_default_plan_search(void)
{
    flr_plan_search search = {.seconds = 60, .seed = 1};
    return search;
}

const char *flr_plan_method_name(flr_plan_method method)
{
    static const char *const names[] = {"none", "straight", "legs", "tree"};
    return names[method];
}

/* ---- workers ---- */

typedef struct plan_clock {
    flr_env *env;
    const flr_plan_search *search;
    int64_t begin;
    atomic_bool stopped;  /* progress() said so */
    flr_plan_live live;   /* what workers report */
    pthread_mutex_t lock; /* guards what follows: one thread at a time calls progress() */
    int64_t reported;     /* when it was called last */
} plan_clock;

enum { REPORT_NS = 50000000 };

static double seconds_of(const plan_clock *c)
{
    return (double)(flr_clock_ns(c->env) - c->begin) * 1e-9;
}

static bool is_stopped(const plan_clock *c)
{
    return atomic_load_explicit(&c->stopped, memory_order_relaxed);
}

/* Any thread, as often as it likes. */
static void report(plan_clock *c)
{
    if (!c->search->progress || is_stopped(c) || pthread_mutex_trylock(&c->lock) != 0) return;
    const int64_t now = flr_clock_ns(c->env);
    if (!c->reported || now - c->reported >= REPORT_NS) {
        c->reported = now;
        pthread_mutex_lock(&c->live.lock);
        const flr_plan_progress progress = {
            .seconds = seconds_of(c),
            .poses = atomic_load_explicit(&c->live.poses, memory_order_relaxed),
            .reached = c->live.reached,
            .farthest = c->live.farthest};
        pthread_mutex_unlock(&c->live.lock);
        if (!c->search->progress(c->search->progress_context, &progress))
            atomic_store_explicit(&c->stopped, true, memory_order_relaxed);
    }
    pthread_mutex_unlock(&c->lock);
}

static bool time_is_up(void *context)
{
    plan_clock *c = context;
    report(c);
    return is_stopped(c) || seconds_of(c) > SEARCH_SHARE * c->search->seconds;
}

/* what was found is shortened and checked, however long that takes */
static bool was_stopped(void *context)
{
    report(context);
    return is_stopped(context);
}

/* what is in the way is explained in what is left of the time, and at least ten seconds */
static bool explained(void *context)
{
    plan_clock *c = context;
    report(c);
    return is_stopped(c) ||
           seconds_of(c) >
               fmax(c->search->seconds, SEARCH_SHARE * c->search->seconds + EXPLAIN_SECONDS);
}

static void set_end(flr_plan_worker *worker, bool (*give_up)(void *context), plan_clock *clock)
{
    worker->give_up = worker->space->give_up = give_up;
    worker->give_up_context = worker->space->give_up_context = clock;
}

flr_result flr_plan_worker_begin(flr_plan_worker *worker, const flr_plan_def *def,
                                 const flr_plan_search *search, uint64_t seed, flr_error *error)
{
    *worker = (flr_plan_worker){.search = search, .random = {seed}};
    flr_result result = flr_plan_space_create(def, &worker->space, error);
    if (result != FLR_OK) return result;
    worker->contacts = malloc(FLR_PLAN_CONTACTS * sizeof *worker->contacts);
    worker->stops = calloc(def->obstacle_count + 1u, sizeof *worker->stops);
    worker->stop_at = calloc(def->obstacle_count + 1u, sizeof *worker->stop_at);
    const flr_vec3 centre = worker->space->centre;
    if (!worker->contacts || !worker->stops || !worker->stop_at ||
        flr_plan_tree_add(&worker->trees[0], worker->space, search->from, FLR_NONE, centre) ==
            FLR_NONE ||
        (search->to_given && flr_plan_tree_add(&worker->trees[1], worker->space, search->to,
                                               FLR_NONE, centre) == FLR_NONE))
        return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
    worker->space->margin = SEARCH_MARGIN * worker->space->size;
    return flr_plan_space_begin(worker->space, search->from, error);
}

void flr_plan_worker_end(flr_plan_worker *worker)
{
    for (int i = 0; i < 2; i++) flr_plan_tree_free(&worker->trees[i]);
    free(worker->contacts);
    free(worker->stops);
    free(worker->stop_at);
    flr_plan_space_destroy(worker->space);
}

/* ---- the goal ---- */

/* Every pair keeps its floor at the goal. */
static flr_result check_goal(flr_plan_worker *w, flr_plan_result *result, flr_error *error)
{
    flr_plan_space *s = w->space;
    for (uint32_t m = 0; m < s->moving_count; m++)
        for (uint32_t o = 0; o < s->obstacle_count; o++) {
            const flr_plan_pair *pair = &s->pairs[(size_t)m * s->obstacle_count + o];
            const double distance = flr_plan_distance(s, w->search->to, m, o, INFINITY, 0, NULL);
            if (!(distance < pair->floor || (!pair->fitted && distance <= 0))) continue;
            result->blockers[0] = (flr_plan_blocker){.obstacle = o, .at = w->search->to.p};
            result->blocker_count = 1;
            return flr_fail(error, FLR_BAD_ARGUMENT, "the goal is not free: obstacle %u is there",
                            o);
        }
    return FLR_OK;
}

/* ---- searching ---- */

struct plan_job;

/* When a worker ends. */
typedef struct plan_end {
    struct plan_job *job;
    unsigned index; /* of the worker */
    atomic_bool found;
} plan_end;

typedef struct plan_job {
    const flr_plan_def *def;
    const flr_plan_search *search;
    plan_clock clock;
    unsigned threads;
    unsigned worker_count;    /* one more than threads */
    flr_plan_worker *workers; /* the first is the guided search */
    plan_end *ends;           /* [worker_count] */
    flr_plan_worker *winner;
    flr_plan_field *field; /* NULL: not needed so far */
    uint32_t field_nodes;
} plan_job;

/* A path of an earlier worker counts before those of later ones: these need not go on. */
static bool not_needed(void *context)
{
    const plan_end *end = context;
    const plan_job *j = end->job;
    for (unsigned i = 0; i < end->index; i++)
        if (atomic_load_explicit(&j->ends[i].found, memory_order_relaxed)) return true;
    return time_is_up(&end->job->clock);
}

/* The first piece is the guided search, the others attempts of the random one. */
static flr_result search_piece(void *context, size_t piece, unsigned thread)
{
    (void)thread;
    plan_job *j = context;
    flr_plan_worker *w = &j->workers[piece];
    if (piece == 0)
        flr_plan_guided_next(w);
    else
        flr_plan_relax(w);
    if (w->found) atomic_store_explicit(&j->ends[piece].found, true, memory_order_relaxed);
    return w->no_memory ? FLR_NO_MEMORY : FLR_OK;
}

static uint64_t poses_of(const plan_job *j)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < j->worker_count; i++)
        sum += (uint64_t)j->workers[i].trees[0].count + j->workers[i].trees[1].count;
    return sum;
}

static bool take_winner(plan_job *j)
{
    for (unsigned i = 0; i < j->worker_count && !j->winner; i++)
        if (j->workers[i].found) j->winner = &j->workers[i];
    return j->winner != NULL;
}

/* A field for the random search: coarse at first, finer where that has not led to a path. */
static flr_result refine(plan_job *j, flr_error *error)
{
    if (j->field_nodes >= MAX_FIELD) return FLR_OK;
    j->field_nodes = j->field_nodes ? j->field_nodes * FIELD_GROWTH : FIRST_FIELD;
    flr_plan_field_destroy(j->field);
    flr_result result =
        flr_plan_field_create(j->workers[0].space, j->field_nodes, &j->field, error);
    for (unsigned i = 0; i < j->worker_count; i++) {
        j->ends[i].job = j, j->ends[i].index = i;
        if (i == 0) continue;
        j->workers[i].field = j->field;
        j->workers[i].give_up = j->workers[i].space->give_up = not_needed;
        j->workers[i].give_up_context = j->workers[i].space->give_up_context = &j->ends[i];
    }
    return result;
}

static flr_result search_all(plan_job *j, flr_error *error)
{
    flr_plan_worker *first = &j->workers[0];
    set_end(first, time_is_up, &j->clock);
    if (j->search->effort == FLR_PLAN_AXES_ONLY)
        flr_plan_straight(first);
    else
        flr_plan_guided(first, FIRST_GUIDED);
    if (!first->found && !first->no_memory && j->search->via_count) flr_plan_follow_via(first);
    if (first->no_memory) return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
    if (take_winner(j) || j->search->effort != FLR_PLAN_THOROUGH || time_is_up(&j->clock))
        return FLR_OK;
    for (uint32_t round = 0; !time_is_up(&j->clock); round++) {
        flr_result result = round % ROUNDS_OF_A_FIELD ? FLR_OK : refine(j, error);
        if (result != FLR_OK) return result;
        result = flr_parallel_for(j->threads, j->worker_count, search_piece, j);
        if (result != FLR_OK) return flr_fail(error, result, "no memory to plan");
        if (take_winner(j)) return FLR_OK;
    }
    return FLR_OK;
}

/* ---- what was found ---- */

static void measure_path(const flr_plan_space *s, const flr_plan_legs *legs, flr_plan_result *r)
{
    for (size_t i = 0; i < legs->count; i++) {
        const flr_plan_motion *leg = &legs->legs[i];
        r->length += flr_vec3_distance(flr_pose_apply(leg->from, s->centre),
                                       flr_pose_apply(leg->to, s->centre));
        r->turn += flr_quat_angle(leg->from.q, leg->to.q);
    }
}

/* Writes the path as poses and checks these. Where straight lines between them stray too far from the moves, they come
 * nearer to each other. */
static flr_result certify(flr_plan_worker *w, const flr_plan_legs *legs, flr_plan_result *r,
                          flr_error *error)
{
    double deviation = 0.25 * SEARCH_MARGIN * w->space->size;
    w->space->margin = 0;
    w->space->give_up = NULL;
    for (int i = 0; i < 4; i++, deviation /= 20) {
        size_t count = 0;
        flr_pose *poses = flr_plan_poses(legs, deviation, &count);
        if (!poses) return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
        flr_result result = flr_plan_verify(w->space, poses, count, &r->verdict, error);
        if (result == FLR_OK && r->verdict.free) {
            r->poses = poses, r->pose_count = count;
            r->method = legs->count == 1 ? FLR_PLAN_STRAIGHT : w->method;
            return FLR_OK;
        }
        free(poses);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

static flr_result finish_path(plan_job *j, flr_plan_result *r, flr_error *error)
{
    flr_plan_worker *w = j->winner;
    flr_plan_legs legs = {0};
    set_end(w, was_stopped, &j->clock);
    flr_result result = FLR_OK;
    if (!flr_plan_collect(w, &legs)) result = flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
    if (result == FLR_OK && !legs.count) {
        // it is there already
        flr_plan_motion stay = {j->search->from, j->search->from, w->space->centre};
        legs.legs = malloc(sizeof stay);
        if (!legs.legs)
            result = flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
        else
            legs.legs[0] = stay, legs.count = legs.capacity = 1;
    }
    if (result == FLR_OK &&
        !flr_plan_shorten(w, &legs, w->method == FLR_PLAN_TREE ? TREE_TRIES : LEG_TRIES))
        result = flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
    if (result == FLR_OK) measure_path(w->space, &legs, r);
    if (result == FLR_OK) result = certify(w, &legs, r, error);
    free(legs.legs);
    return result;
}

/* ---- what is in the way ---- */

static int by_stops(const void *a, const void *b)
{
    const flr_plan_blocker *one = a, *other = b;
    if (one->sole != other->sole) return one->sole ? -1 : 1;
    if (one->stops != other->stops) return one->stops > other->stops ? -1 : 1;
    return one->obstacle < other->obstacle ? -1 : one->obstacle > other->obstacle;
}

/* Would the body come out if one part were not there? */
static flr_result try_without(const plan_job *j, uint32_t obstacle, bool *out, flr_error *error)
{
    flr_plan_def def = *j->def;
    flr_plan_part *rest = malloc(def.obstacle_count * sizeof *rest);
    if (!rest) return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
    memcpy(rest, def.obstacles, def.obstacle_count * sizeof *rest);
    rest[obstacle] = rest[--def.obstacle_count];
    def.obstacles = rest;
    flr_plan_worker worker;
    flr_result result = flr_plan_worker_begin(&worker, &def, j->search, j->search->seed, error);
    if (result == FLR_OK) {
        set_end(&worker, explained, (void *)&j->clock);
        flr_plan_guided(&worker, SOLE_NODES);
    }
    *out = worker.found;
    flr_plan_worker_end(&worker);
    free(rest);
    return result;
}

static flr_result find_blockers(const plan_job *j, flr_plan_result *r, flr_error *error)
{
    const uint32_t count = j->def->obstacle_count;
    flr_plan_blocker *all = calloc(count + 1u, sizeof *all);
    if (!all) return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
    for (uint32_t o = 0; o < count; o++) {
        all[o].obstacle = o;
        for (unsigned i = 0; i < j->worker_count; i++) {
            if (!all[o].stops) all[o].at = j->workers[i].stop_at[o];
            all[o].stops += j->workers[i].stops[o];
        }
    }
    qsort(all, count, sizeof *all, by_stops);
    uint32_t found = 0;
    while (found < count && found < FLR_PLAN_MAX_BLOCKERS && all[found].stops) found++;
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < found && i < MAX_SOLE_TRIES && result == FLR_OK; i++)
        result = try_without(j, all[i].obstacle, &all[i].sole, error);
    qsort(all, found, sizeof *all, by_stops);
    memcpy(r->blockers, all, found * sizeof *all);
    r->blocker_count = found;
    free(all);
    return result;
}

static void measure_progress(const plan_job *j, flr_plan_result *r)
{
    const flr_plan_space *s = j->workers[0].space;
    const flr_vec3 start = flr_pose_apply(j->search->from, s->centre);
    for (unsigned i = 0; i < j->worker_count; i++)
        for (uint32_t k = 0; k < j->workers[i].trees[0].count; k++)
            r->reached =
                fmax(r->reached, flr_vec3_distance(j->workers[i].trees[0].nodes[k].middle, start));
    r->wanted = INFINITY;
    for (uint32_t i = 0; i < 6; i++) {
        const flr_plan_motion out = flr_plan_leave(s, j->search->from, flr_plan_direction(i));
        r->wanted = fmin(r->wanted, flr_plan_travel(s, &out));
    }
    if (j->search->to_given)
        r->wanted = flr_vec3_distance(flr_pose_apply(j->search->to, s->centre), start);
}

flr_result flr_plan_find(flr_env *env, const flr_plan_def *def, const flr_plan_search *search,
                         flr_plan_result *result, flr_error *error)
{
    if (!flr_pose_is_valid(search->from) || (search->to_given && !flr_pose_is_valid(search->to)))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the start or the goal of a plan is no valid pose");
    for (size_t i = 0; i < search->via_count; i++)
        if (!flr_pose_is_valid(search->via[i]))
            return flr_fail(error, FLR_BAD_ARGUMENT, "pose %zu to plan by is not valid", i + 1);
    plan_job j = {.def = def,
                  .search = search,
                  .clock = {.env = env, .search = search, .begin = flr_clock_ns(env)},
                  .threads = flr_parallel_threads(search->threads)};
    *result = (flr_plan_result){0};
    j.worker_count = j.threads + 1;
    pthread_mutex_init(&j.clock.lock, NULL);
    pthread_mutex_init(&j.clock.live.lock, NULL);
    j.clock.live.farthest = search->from;
    j.workers = calloc(j.worker_count, sizeof *j.workers);
    j.ends = calloc(j.worker_count, sizeof *j.ends);
    if (!j.workers || !j.ends) {
        free(j.workers);
        free(j.ends);
        return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
    }
    flr_result code = FLR_OK;
    for (unsigned i = 0; i < j.worker_count && code == FLR_OK; i++) {
        code =
            flr_plan_worker_begin(&j.workers[i], def, search, search->seed * 1000003u + i, error);
        if (code == FLR_OK) set_end(&j.workers[i], time_is_up, &j.clock);
        j.workers[i].live = &j.clock.live;
    }
    if (code == FLR_OK && search->to_given) code = check_goal(&j.workers[0], result, error);
    if (code == FLR_OK) code = search_all(&j, error);
    if (code == FLR_OK && j.winner) code = finish_path(&j, result, error);
    if (code == FLR_OK && !result->poses) {
        measure_progress(&j, result);
        if (search->effort == FLR_PLAN_THOROUGH) code = find_blockers(&j, result, error);
    }
    for (unsigned i = 0; i < j.worker_count; i++) result->moves += j.workers[i].moves;
    result->nodes = poses_of(&j);
    result->stopped = is_stopped(&j.clock);
    result->seconds = seconds_of(&j.clock);
    for (unsigned i = 0; i < j.worker_count; i++) flr_plan_worker_end(&j.workers[i]);
    free(j.workers);
    free(j.ends);
    flr_plan_field_destroy(j.field);
    if (code != FLR_OK) flr_plan_result_free(result);
    return code;
}

void flr_plan_result_free(flr_plan_result *result)
{
    free(result->poses);
    result->poses = NULL;
    result->pose_count = 0;
}
