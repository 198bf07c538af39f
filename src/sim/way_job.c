/* a way out for a part: a worker searches while the loop runs, see way.h */
#include "sim/way.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/review.h"

/* exact geometry takes some 200 bytes for a triangle */
enum { WAY_MAX_TRIANGLES = 5000000 };

typedef struct way_job {
    flr_job job;
    flr_env *env;
    flr_cache cache;
    uint32_t token, scene, self;
    flr_engine_way_def def;
    flr_pose *via;       /* [def.via_count] */
    flr_part_list parts; /* where they are */
    /* [parts.count], those that move first: the body, and what its parts are in the list */
    flr_plan_part *bodies;
    uint32_t *of;
    uint32_t moving_count, obstacle_count;
    pthread_mutex_t lock; /* guards what follows */
    flr_plan_progress now;
    bool fresh; /* control has not seen it yet */
    flr_engine_way way;
} way_job;

void flr_engine_way_free(flr_engine_way *way)
{
    free(way->poses);
    *way = (flr_engine_way){0};
}

flr_engine_way_def flr_default_engine_way_def(void)
{
    return (flr_engine_way_def){.part = FLR_NO_PART_ID, .seconds = 60, .seed = 1};
}

/* ---- the worker ---- */

static bool building(void *context, double done)
{
    (void)done;
    return !atomic_load(&((way_job *)context)->job.cancelled);
}

static bool searching(void *context, const flr_plan_progress *now)
{
    way_job *w = context;
    const double share = now->seconds / w->def.seconds;
    pthread_mutex_lock(&w->lock);
    w->now = *now;
    w->fresh = true;
    pthread_mutex_unlock(&w->lock);
    if (share > 0.85)
        return flr_job_progress(&w->job, fmin(share, 1), "finding out what is in the way");
    return flr_job_progress(&w->job, share, "%llu poses tried, %.3g mm from the start",
                            (unsigned long long)now->poses, 1e3 * now->reached);
}

static flr_result prepare_body(way_job *w, uint32_t at, flr_error *error)
{
    const flr_part_entry *part = &w->parts.list[w->of[at]];
    if (part->shape->mesh->mesh->triangle_count > WAY_MAX_TRIANGLES)
        return flr_fail(error, FLR_TOO_LARGE,
                        "part \"%s\" has more than %d triangles: too many to search a way",
                        part->name, WAY_MAX_TRIANGLES);
    if (!flr_job_progress(&w->job, 0, "preparing %s", part->name))
        return flr_fail(error, FLR_CANCELLED, "cancelled");
    return flr_mesh_asset_fit_shown(part->shape->mesh, w->env, &w->cache, building, w,
                                    &w->bodies[at].fit, error);
}

/* The first part of a rigid group has the frame of the body, whichever was asked for. */
static flr_result prepare(way_job *w, flr_error *error)
{
    const uint32_t count = w->parts.count;
    const flr_part_entry *self = &w->parts.list[w->self];
    flr_plan_member *members = calloc(count, sizeof *members);
    w->bodies = calloc(count, sizeof *w->bodies);
    w->of = calloc(count, sizeof *w->of);
    if (!members || !w->bodies || !w->of) {
        free(members);
        return flr_engine_no_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        const flr_part_entry *part = &w->parts.list[i];
        members[i] =
            (flr_plan_member){.T_world_part = part->T_start,
                              .rigid = part->rigid,
                              .moves = i == w->self || (part->rigid && part->rigid == self->rigid),
                              .passes = part->use == FLR_PART_USE_PASS};
    }
    const flr_plan_roles roles = flr_plan_sort(members, count, w->of, w->bodies);
    w->moving_count = roles.moving, w->obstacle_count = roles.standing;
    free(members);
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < roles.moving + roles.standing && result == FLR_OK; i++)
        result = prepare_body(w, i, error);
    return result;
}

static flr_part_id part_at(const way_job *w, uint32_t index)
{
    return flr_part_id_of(w->scene, w->parts.list[w->of[index]].part);
}

/* Poses of the part that was asked for are those of the body, which is the first of its group. */
static flr_pose of_body(const way_job *w, flr_pose T_world_part)
{
    const flr_pose T_part_world = flr_pose_inverse(w->parts.list[w->self].T_start),
                   T = flr_pose_mul(T_part_world, w->parts.list[w->of[0]].T_start);
    return w->of[0] == w->self ? T_world_part : flr_pose_mul(T_world_part, T);
}

static flr_result take(way_job *w, flr_plan_result *r, flr_error *error)
{
    flr_engine_way *way = &w->way;
    *way = (flr_engine_way){.part = part_at(w, 0),
                            .found = r->poses != NULL,
                            .stopped = r->stopped,
                            .method = r->method,
                            .clearance = w->def.clearance,
                            .lower = r->poses ? r->verdict.lower : 0,
                            .upper = r->poses ? r->verdict.upper : 0,
                            .nearest = FLR_NO_PART_ID,
                            .length = r->length,
                            .turn = r->turn,
                            .reached = r->reached,
                            .wanted = r->wanted,
                            .moves = r->moves,
                            .seconds = r->seconds,
                            .blocker_count = r->blocker_count};
    if (r->pose_count > FLR_WAY_MAX_POSES)
        return flr_fail(error, FLR_TOO_LARGE,
                        "a way was found, but it has %zu poses; at most %d can be sent",
                        r->pose_count, FLR_WAY_MAX_POSES);
    way->poses = r->poses;
    way->pose_count = (uint32_t)r->pose_count;
    r->poses = NULL;
    if (way->found && r->verdict.nearest.obstacle != FLR_NONE)
        way->nearest = part_at(w, w->moving_count + r->verdict.nearest.obstacle);
    for (uint32_t i = 0; i < r->blocker_count; i++) {
        const flr_plan_blocker *b = &r->blockers[i];
        way->blockers[i] = (flr_engine_way_blocker){part_at(w, w->moving_count + b->obstacle),
                                                    b->sole, b->stops, b->at};
    }
    return FLR_OK;
}

/* "obstacle 3 is there" becomes its name */
static void name_blocker(const way_job *w, const flr_plan_result *r, flr_error *error)
{
    if (error->code != FLR_BAD_ARGUMENT || r->blocker_count != 1) return;
    const uint32_t i = w->of[w->moving_count + r->blockers[0].obstacle];
    flr_fail(error, FLR_BAD_ARGUMENT, "the goal is not free: %s is in the way there",
             w->parts.list[i].name);
}

static void way_work(flr_job *job)
{
    way_job *w = (way_job *)job;
    job->result = prepare(w, &job->error);
    if (job->result != FLR_OK) return;
    flr_plan_def def = flr_default_plan_def();
    def.moving = w->bodies, def.moving_count = w->moving_count;
    def.obstacles = w->bodies + w->moving_count, def.obstacle_count = w->obstacle_count;
    def.clearance = w->def.clearance;
    flr_plan_search search = flr_default_plan_search();
    search.from = w->parts.list[w->of[0]].T_start;
    search.to_given = w->def.to_given;
    search.to = of_body(w, w->def.to);
    for (size_t i = 0; i < w->def.via_count; i++) w->via[i] = of_body(w, w->via[i]);
    search.via = w->via, search.via_count = w->def.via_count;
    search.seconds = w->def.seconds;
    search.seed = w->def.seed;
    search.progress = searching, search.progress_context = w;
    flr_plan_result result;
    job->result = flr_plan_find(w->env, &def, &search, &result, &job->error);
    if (job->result == FLR_OK)
        job->result = take(w, &result, &job->error);
    else
        name_blocker(w, &result, &job->error);
    flr_plan_result_free(&result);
}

/* ---- control ---- */

static void forget(flr_review *review, const flr_job *job)
{
    for (int i = 0; i < FLR_WAY_RUNNING; i++)
        if (review->searching[i] == job) review->searching[i] = NULL;
}

static void way_done(flr_engine *e, flr_job *job)
{
    way_job *w = (way_job *)job;
    flr_review *review = e->review;
    forget(review, job);
    flr_engine_event *event = flr_engine_tell(e, FLR_ENGINE_EVENT_WAY);
    event->token = w->token;
    event->result = job->result;
    if (job->result != FLR_OK) {
        memcpy(event->sentence, job->error.message, sizeof event->sentence);
        return;
    }
    flr_review_way *kept = &review->ways[review->way_count++ % FLR_REVIEW_WAYS];
    flr_engine_way_free(&kept->way);
    *kept = (flr_review_way){w->token, w->way};
    w->way = (flr_engine_way){0};
}

static void way_drop(flr_job *job)
{
    way_job *w = (way_job *)job;
    flr_part_list_free(&w->parts);
    flr_engine_way_free(&w->way);
    pthread_mutex_destroy(&w->lock);
    free(w->via);
    free(w->bodies);
    free(w->of);
    free(w);
}

void flr_engine_keep_ways(flr_engine *e)
{
    for (int i = 0; i < FLR_WAY_RUNNING; i++) {
        way_job *w = (way_job *)e->review->searching[i];
        if (!w) continue;
        pthread_mutex_lock(&w->lock);
        const bool fresh = w->fresh;
        const flr_plan_progress now = w->now;
        w->fresh = false;
        pthread_mutex_unlock(&w->lock);
        if (!fresh) continue;
        flr_engine_event *event = flr_engine_tell(e, FLR_ENGINE_EVENT_WAY_PROGRESS);
        event->token = w->token;
        event->index = w->job.info.job;
        event->part = flr_part_id_of(w->scene, w->parts.list[w->of[0]].part);
        event->way = now;
    }
}

static flr_result check_def(const flr_engine_way_def *def, flr_error *error)
{
    if (!(def->clearance >= 0 && def->clearance <= 1))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a clearance is a length from 0 to 1 m");
    if (!(def->seconds > 0 && def->seconds <= FLR_WAY_MAX_SECONDS))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a search takes more than 0 and at most %d s",
                        FLR_WAY_MAX_SECONDS);
    if (def->via_count > FLR_WAY_MAX_VIA)
        return flr_fail(error, FLR_TOO_LARGE, "a search takes at most %d poses to go by",
                        FLR_WAY_MAX_VIA);
    for (size_t i = 0; i < def->via_count; i++)
        if (!flr_engine_is_pose(def->via[i]))
            return flr_fail(error, FLR_BAD_ARGUMENT, "pose %zu to go by is no pose", i + 1);
    if (def->to_given && !flr_engine_is_pose(def->to))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the goal is no pose");
    return FLR_OK;
}

flr_result flr_engine_way_ask(flr_engine *e, const flr_engine_way_def *def, uint32_t token,
                              uint32_t *job, flr_error *error)
{
    flr_part_entry *member = NULL;
    int slot = 0;
    flr_result result = flr_engine_find_id(e, def->part, &member, error);
    if (result == FLR_OK) result = check_def(def, error);
    if (result == FLR_OK) result = flr_engine_can_post(e, error);
    if (result != FLR_OK) return result;
    while (slot < FLR_WAY_RUNNING && e->review->searching[slot]) slot++;
    if (slot == FLR_WAY_RUNNING)
        return flr_fail(error, FLR_AGAIN, "other ways are being searched; stop one, or try later");
    way_job *w = calloc(1, sizeof *w);
    if (!w) return flr_engine_no_memory(error);
    pthread_mutex_init(&w->lock, NULL);
    flr_engine_look_around(e, &w->parts);
    w->via = calloc(def->via_count + 1, sizeof *w->via);
    w->self = UINT32_MAX;
    for (uint32_t i = 0; i < w->parts.count; i++)
        if (w->parts.list[i].part == def->part.index) w->self = i;
    if (!w->via || w->self == UINT32_MAX) {
        way_drop(&w->job);
        return flr_engine_no_memory(error);
    }
    if (def->via_count) memcpy(w->via, def->via, def->via_count * sizeof *w->via);
    w->env = e->def.env;
    w->cache = e->cache;
    w->scene = e->scene;
    w->token = token;
    w->def = *def;
    w->job = (flr_job){.work = way_work, .done = way_done, .drop = way_drop};
    e->review->searching[slot] = &w->job;
    return flr_engine_post(e, &w->job, FLR_WIRE_JOB_WAY, def->part, member->name, job);
}

const flr_engine_way *flr_engine_way_of(const flr_engine *e, uint32_t token)
{
    for (int i = 0; i < FLR_REVIEW_WAYS; i++)
        if (token && e->review->ways[i].token == token) return &e->review->ways[i].way;
    return NULL;
}
