/* two parts at many poses, and many motions of one of them */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch/batch.h"

enum { POSES_IN_PIECE = 16, FIRST_CAPACITY = 1024 };

/* The memory of one thread. */
typedef struct batch_worker {
    flr_fit_pair *pair;
    flr_fit_contact *contacts; /* [capacity] of the last query */
    uint32_t capacity;
    /* contacts of this thread's poses, where they are wanted */
    flr_fit_contact *kept;
    uint32_t *pose;
    size_t kept_count, kept_capacity;
} batch_worker;

struct flr_batch_pair {
    const flr_fit *a, *b;
    batch_worker *workers; /* [count]: made when a thread is needed first */
    unsigned count;
};

flr_batch_params flr_default_batch_params(void)
{
    return (flr_batch_params){.fit = flr_default_fit_params(), .foundation = 1e12};
}

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the batch");
}

static bool grow_contacts(batch_worker *w, uint32_t capacity)
{
    flr_fit_contact *more = realloc(w->contacts, capacity * sizeof *more);
    if (!more) return false;
    w->contacts = more;
    w->capacity = capacity;
    return true;
}

/* more threads than before */
static flr_result add_workers(flr_batch_pair *pair, unsigned count, flr_error *error)
{
    if (count <= pair->count) return FLR_OK;
    batch_worker *more = realloc(pair->workers, count * sizeof *more);
    if (!more) return no_memory(error);
    pair->workers = more;
    while (pair->count < count) {
        batch_worker *w = &more[pair->count];
        *w = (batch_worker){0};
        if (!grow_contacts(w, FIRST_CAPACITY)) return no_memory(error);
        flr_result result = flr_fit_pair_create(pair->a, pair->b, &w->pair, error);
        if (result != FLR_OK) {
            free(w->contacts);
            return result;
        }
        pair->count++;
    }
    return FLR_OK;
}

flr_result flr_batch_pair_create(const flr_fit *a, const flr_fit *b, flr_batch_pair **pair,
                                 flr_error *error)
{
    FLR_ASSERT(a && b && pair);
    flr_batch_pair *made = calloc(1, sizeof *made);
    if (!made) return no_memory(error);
    made->a = a, made->b = b;
    flr_result result = add_workers(made, 1, error);
    if (result == FLR_OK)
        *pair = made;
    else
        flr_batch_pair_destroy(made);
    return result;
}

void flr_batch_pair_destroy(flr_batch_pair *pair)
{
    if (!pair) return;
    for (unsigned i = 0; i < pair->count; i++) {
        flr_fit_pair_destroy(pair->workers[i].pair);
        free(pair->workers[i].contacts);
        free(pair->workers[i].kept);
        free(pair->workers[i].pose);
    }
    free(pair->workers);
    free(pair);
}

/* As many threads as there are pieces, at most. */
static flr_result prepare(flr_batch_pair *pair, const flr_batch_options *options, size_t count,
                          unsigned *threads, flr_error *error)
{
    const size_t pieces = count ? (count - 1) / POSES_IN_PIECE + 1 : 1;
    *threads = pieces == 1 ? 1 : flr_parallel_threads(options->threads);
    if (*threads > pieces) *threads = (unsigned)pieces;
    return add_workers(pair, *threads, error);
}

/* ---- poses ---- */

typedef struct pose_batch {
    flr_batch_pair *pair;
    const flr_pose *poses;
    const flr_batch_params *params;
    flr_batch_result *results;
    bool keep;
} pose_batch;

/* an elastic foundation: each sample pushes b along its normal */
static flr_wrench sum_wrench(const flr_batch_params *params, const flr_fit_contact *contacts,
                             uint32_t count, flr_vec3 origin)
{
    flr_wrench sum = {{0, 0, 0}, {0, 0, 0}};
    for (uint32_t i = 0; i < count; i++) {
        const flr_fit_contact *c = &contacts[i];
        const double push =
            0.5 * params->foundation * c->area * fmax(0, params->fit.reach - c->distance);
        const flr_vec3 force = flr_vec3_scale(c->normal, push);
        sum.force = flr_vec3_add(sum.force, force);
        sum.torque =
            flr_vec3_add(sum.torque, flr_vec3_cross(flr_vec3_sub(c->point, origin), force));
    }
    return sum;
}

static bool keep_contacts(batch_worker *w, uint32_t pose, uint32_t count)
{
    if (w->kept_count + count > w->kept_capacity) {
        const size_t capacity = 2 * (w->kept_count + count);
        flr_fit_contact *more = realloc(w->kept, capacity * sizeof *more);
        if (more) w->kept = more;
        uint32_t *owners = realloc(w->pose, capacity * sizeof *owners);
        if (owners) w->pose = owners;
        if (!more || !owners) return false;
        w->kept_capacity = capacity;
    }
    if (count) memcpy(w->kept + w->kept_count, w->contacts, count * sizeof *w->kept);
    for (uint32_t i = 0; i < count; i++) w->pose[w->kept_count + i] = pose;
    w->kept_count += count;
    return true;
}

static flr_result query(const pose_batch *batch, batch_worker *w, size_t i)
{
    flr_fit_result r;
    const flr_pose T = batch->poses[i];
    flr_fit_pair_query(w->pair, T, &batch->params->fit, w->contacts, w->capacity, &r);
    if (r.contact_total > w->capacity) {
        if (!grow_contacts(w, 2 * r.contact_total)) return FLR_NO_MEMORY;
        flr_fit_pair_query(w->pair, T, &batch->params->fit, w->contacts, w->capacity, &r);
    }
    batch->results[i] =
        (flr_batch_result){.distance = r.distance,
                           .lower = r.lower,
                           .upper = r.upper,
                           .point = {r.point[0], r.point[1]},
                           .normal = r.normal,
                           .wrench = sum_wrench(batch->params, w->contacts, r.contact_count, T.p),
                           .triangle = {r.triangle[0], r.triangle[1]},
                           .contacts = r.contact_total,
                           .found = r.found,
                           .meet = r.meet,
                           .complete = r.complete};
    if (batch->keep && !keep_contacts(w, (uint32_t)i, r.contact_count)) return FLR_NO_MEMORY;
    return FLR_OK;
}

static flr_result query_range(void *context, size_t first, size_t end, unsigned worker)
{
    const pose_batch *batch = context;
    flr_result result = FLR_OK;
    for (size_t i = first; i < end && result == FLR_OK; i++)
        result = query(batch, &batch->pair->workers[worker], i);
    return result;
}

/* The contacts of all threads, in order of poses: each thread has its own in this order. */
static flr_result merge_contacts(const flr_batch_pair *pair, unsigned threads,
                                 const flr_batch_result *results, size_t poses,
                                 flr_batch_contacts *contacts, flr_error *error)
{
    size_t total = 0;
    for (unsigned t = 0; t < threads; t++) total += pair->workers[t].kept_count;
    flr_batch_contacts all = {.list = malloc((total + !total) * sizeof *all.list),
                              .pose = malloc((total + !total) * sizeof *all.pose),
                              .count = total};
    size_t *start = calloc(poses + 1, sizeof *start);
    if (!all.list || !all.pose || !start) {
        flr_batch_contacts_free(&all);
        free(start);
        return no_memory(error);
    }
    for (size_t i = 0; i < poses; i++) start[i + 1] = start[i] + results[i].contacts;
    for (unsigned t = 0; t < threads; t++) {
        const batch_worker *w = &pair->workers[t];
        for (size_t k = 0; k < w->kept_count; k++) {
            const size_t to = start[w->pose[k]]++;
            all.list[to] = w->kept[k];
            all.pose[to] = w->pose[k];
        }
    }
    free(start);
    *contacts = all;
    return FLR_OK;
}

void flr_batch_contacts_free(flr_batch_contacts *contacts)
{
    free(contacts->list);
    free(contacts->pose);
    *contacts = (flr_batch_contacts){0};
}

static flr_result check_poses(const flr_pose *poses, size_t count, flr_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!flr_pose_is_valid(poses[i]))
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "pose %zu is no pose: seven finite numbers, of which the last four are "
                            "a unit quaternion, are needed",
                            i);
    return FLR_OK;
}

flr_result flr_batch_poses(flr_batch_pair *pair, const flr_pose *T_a_b, size_t count,
                           const flr_batch_params *params, const flr_batch_options *options,
                           flr_batch_result *results, flr_batch_contacts *contacts,
                           flr_error *error)
{
    FLR_ASSERT(pair && (!count || (T_a_b && results)));
    const flr_batch_params usual = flr_default_batch_params();
    const flr_batch_options plain = flr_default_batch_options();
    if (!params) params = &usual;
    if (!options) options = &plain;
    if (count > UINT32_MAX)
        return flr_fail(error, FLR_TOO_LARGE, "%zu poses are too many for one batch", count);
    unsigned threads;
    flr_result result = check_poses(T_a_b, count, error);
    if (result == FLR_OK) result = prepare(pair, options, count, &threads, error);
    if (result != FLR_OK) return result;
    pose_batch batch = {pair, T_a_b, params, results, contacts != NULL};
    const flr_batch_run run = {options, count, POSES_IN_PIECE, query_range, &batch};
    result = flr_batch_go(&run, threads, error);
    if (result == FLR_NO_MEMORY) result = no_memory(error);
    if (result == FLR_OK && contacts)
        result = merge_contacts(pair, threads, results, count, contacts, error);
    for (unsigned t = 0; t < threads; t++) pair->workers[t].kept_count = 0;
    return result;
}

/* ---- motions ---- */

typedef struct motion_batch {
    flr_batch_pair *pair;
    const flr_fit_motion *motions;
    const flr_fit_motion_params *params;
    flr_fit_motion_result *results;
} motion_batch;

static flr_result move_range(void *context, size_t first, size_t end, unsigned worker)
{
    const motion_batch *b = context;
    for (size_t i = first; i < end; i++)
        flr_fit_pair_motion(b->pair->workers[worker].pair, &b->motions[i], b->params,
                            &b->results[i]);
    return FLR_OK;
}

flr_result flr_batch_motions(flr_batch_pair *pair, const flr_fit_motion *motions, size_t count,
                             const flr_fit_motion_params *params, const flr_batch_options *options,
                             flr_fit_motion_result *results, flr_error *error)
{
    FLR_ASSERT(pair && (!count || (motions && results)));
    const flr_fit_motion_params usual = flr_default_fit_motion_params();
    const flr_batch_options plain = flr_default_batch_options();
    if (!params) params = &usual;
    if (!options) options = &plain;
    for (size_t i = 0; i < count; i++) {
        const flr_pose ends[2] = {motions[i].from, motions[i].to};
        if (check_poses(ends, 2, NULL) != FLR_OK)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "motion %zu has an end that is no pose: seven finite numbers, of which "
                            "the last four are a unit quaternion, are needed",
                            i);
    }
    unsigned threads;
    flr_result result = prepare(pair, options, count, &threads, error);
    if (result != FLR_OK) return result;
    motion_batch batch = {pair, motions, params, results};
    const flr_batch_run run = {options, count, POSES_IN_PIECE, move_range, &batch};
    return flr_batch_go(&run, threads, error);
}
