/* which parts overlap, touch or are too near, where they stand: a worker checks all pairs, and writes reports of it */
#include <stdlib.h>
#include <string.h>

#include "fit/clash_order.h"
#include "scene/allow.h"
#include "sim/review.h"

/* exact geometry takes some 200 bytes for a triangle; larger parts are left out, and that is reported */
enum { CLASH_MAX_TRIANGLES = 1000000 };

/* ---- what was found, to be used again ---- */

typedef struct surveyed_part {
    uint32_t part;
    flr_hash hash; /* of its mesh */
    flr_pose T_world_part;
    bool keep_out;
} surveyed_part;

typedef struct flr_clash_survey {
    double clearance;
    uint32_t scene, part_count;
    surveyed_part *parts; /* [part_count], numbers rising */
    flr_clash_list list;  /* by numbers of parts */
} flr_clash_survey;

void flr_clash_survey_free(flr_clash_survey *survey)
{
    if (!survey) return;
    free(survey->parts);
    flr_clash_list_free(&survey->list);
    free(survey);
}

void flr_engine_clashes_free(flr_engine_clashes *clashes)
{
    free(clashes->pairs);
    free(clashes->is_allowed);
    *clashes = (flr_engine_clashes){0};
}

/* ---- the job ---- */

typedef struct clash_check {
    flr_job job;
    flr_env *env;
    flr_cache cache;
    unsigned threads;
    uint32_t scene, token, left_out;
    double clearance;
    char name[FLR_ENGINE_NAME_SIZE]; /* of the scene */
    flr_part_list parts;             /* where they are */
    flr_group_list groups;
    flr_allow_rules rules;
    flr_clash_part *fits; /* [parts.count] */
    bool *unmoved;        /* [parts.count]: as `before` has it */
    flr_clash_survey *before, *survey;
    flr_engine_clashes found;
    // a report
    bool is_report;
    uint8_t format;
    flr_result (*write)(const flr_engine_report *report, flr_blob *file, flr_error *error);
    flr_blob file;
} clash_check;

static bool go_on(void *context)
{
    const clash_check *c = context;
    return !atomic_load(&c->job.cancelled);
}

static bool goes_on(void *context, double done)
{
    (void)done;
    return go_on(context);
}

static bool same_pose(flr_pose a, flr_pose b) { return memcmp(&a, &b, sizeof a) == 0; }

/* Exact geometry of all parts; those that are too large leave the list. */
static flr_result prepare(clash_check *c, flr_error *error)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->parts.count; i++) {
        flr_part_entry *entry = &c->parts.list[i];
        if (entry->shape->mesh->mesh->triangle_count > CLASH_MAX_TRIANGLES) {
            flr_shape_release(entry->shape);
            c->left_out++;
        } else {
            c->parts.list[kept++] = *entry;
        }
    }
    c->parts.count = kept;
    c->fits = calloc(kept + 1u, sizeof *c->fits);
    c->unmoved = calloc(kept + 1u, sizeof *c->unmoved);
    if (!c->fits || !c->unmoved) return flr_engine_no_memory(error);
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < kept && result == FLR_OK; i++) {
        const flr_part_entry *entry = &c->parts.list[i];
        if (c->is_report && !flr_job_progress(&c->job, 0.3 * i / kept, "preparing %s", entry->name))
            return flr_fail(error, FLR_CANCELLED, "cancelled");
        c->fits[i].T_world_part = entry->T_start;
        c->fits[i].keep_out = entry->use == FLR_PART_USE_KEEP_OUT;
        c->fits[i].chord = entry->chord;
        result = flr_mesh_asset_fit_shown(entry->shape->mesh, c->env, &c->cache, goes_on, c,
                                          &c->fits[i].fit, error);
    }
    return result;
}

/* Which parts are where they were. Both lists have rising numbers. */
static void find_unmoved(clash_check *c)
{
    const flr_clash_survey *before = c->before;
    if (!before || before->clearance != c->clearance || before->scene != c->scene) return;
    for (uint32_t i = 0, k = 0; i < c->parts.count && k < before->part_count;) {
        const flr_part_entry *now = &c->parts.list[i];
        const surveyed_part *was = &before->parts[k];
        if (now->part == was->part)
            c->unmoved[i] = flr_hash_equal(now->shape->mesh->hash, was->hash) &&
                            same_pose(now->T_start, was->T_world_part) &&
                            c->fits[i].keep_out == was->keep_out;
        i += now->part <= was->part;
        k += was->part <= now->part;
    }
}

/* The place of a part by its number, which rise; FLR_ENGINE_NONE: it is gone. */
static uint32_t place_of(const clash_check *c, uint32_t part)
{
    uint32_t low = 0, high = c->parts.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->parts.list[middle].part < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->parts.count && c->parts.list[low].part == part ? low : FLR_ENGINE_NONE;
}

static bool is_known(const clash_check *c, uint32_t a, uint32_t b)
{
    return a != FLR_ENGINE_NONE && b != FLR_ENGINE_NONE && c->unmoved[a] && c->unmoved[b];
}

static bool skip_known(void *context, uint32_t a, uint32_t b) { return is_known(context, a, b); }

/* Takes over from before what is still so. The list is by numbers of parts from then on. */
static flr_result merge_known(clash_check *c, flr_clash_list *list, flr_error *error)
{
    size_t old_count = c->before ? c->before->list.pair_count : 0;
    flr_clash_pair *pairs =
        realloc(list->pairs, (list->pair_count + old_count + 1) * sizeof *pairs);
    if (!pairs) return flr_engine_no_memory(error);
    list->pairs = pairs;
    for (size_t i = 0; i < list->pair_count; i++) {
        pairs[i].a = c->parts.list[pairs[i].a].part;
        pairs[i].b = c->parts.list[pairs[i].b].part;
    }
    for (size_t i = 0; i < old_count; i++) {
        const flr_clash_pair *old = &c->before->list.pairs[i];
        if (is_known(c, place_of(c, old->a), place_of(c, old->b))) pairs[list->pair_count++] = *old;
    }
    qsort(pairs, list->pair_count, sizeof *pairs, flr_clash_by_severity);
    return FLR_OK;
}

static flr_result keep_survey(clash_check *c, flr_clash_list *list, flr_error *error)
{
    flr_clash_survey *survey = calloc(1, sizeof *survey);
    surveyed_part *parts = calloc(c->parts.count + 1u, sizeof *parts);
    if (!survey || !parts) {
        free(survey);
        free(parts);
        flr_clash_list_free(list);
        return flr_engine_no_memory(error);
    }
    for (uint32_t i = 0; i < c->parts.count; i++) {
        const flr_part_entry *entry = &c->parts.list[i];
        parts[i] = (surveyed_part){entry->part, entry->shape->mesh->hash, entry->T_start,
                                   c->fits[i].keep_out};
    }
    *survey = (flr_clash_survey){.clearance = c->clearance,
                                 .scene = c->scene,
                                 .part_count = c->parts.count,
                                 .parts = parts,
                                 .list = *list};
    c->survey = survey;
    return FLR_OK;
}

/* Counts, and lists what is not allowed before what is. */
static flr_result sum_up(clash_check *c, flr_error *error)
{
    const flr_clash_list *list = &c->survey->list;
    const flr_review_names names = {&c->parts, &c->groups};
    flr_allow *allow = flr_review_allow(&names, &c->rules);
    flr_engine_clashes *found = &c->found;
    size_t room = list->pair_count < FLR_ENGINE_CLASHES ? list->pair_count : FLR_ENGINE_CLASHES;
    found->pairs = calloc(room + 1, sizeof *found->pairs);
    found->is_allowed = calloc(room + 1, sizeof *found->is_allowed);
    if (!allow || !found->pairs || !found->is_allowed) {
        flr_allow_destroy(allow);
        return flr_engine_no_memory(error);
    }
    for (int allowed = 0; allowed < 2; allowed++)
        for (size_t i = 0; i < list->pair_count; i++) {
            const flr_clash_pair *pair = &list->pairs[i];
            if (flr_allow_has(allow, place_of(c, pair->a), place_of(c, pair->b), NULL) != allowed)
                continue;
            if (allowed)
                found->allowed++;
            else if (pair->state == FLR_CLASH_OVERLAP)
                found->overlaps++;
            else if (pair->state == FLR_CLASH_CONTACT)
                found->contacts++;
            else
                found->near++;
            if (found->pair_count == room) continue;
            found->is_allowed[found->pair_count] = allowed;
            found->pairs[found->pair_count++] = *pair;
        }
    flr_allow_destroy(allow);
    return FLR_OK;
}

static flr_clash_def clash_def(clash_check *c)
{
    flr_clash_def def = flr_default_clash_def();
    def.parts = c->fits;
    def.part_count = c->parts.count;
    def.clearance = c->clearance;
    def.threads = c->threads;
    def.progress = goes_on;
    def.progress_context = c;
    return def;
}

static flr_result check(clash_check *c, flr_error *error)
{
    flr_clash_list list = {0};
    const int64_t began = flr_clock_ns(c->env);
    flr_result result = prepare(c, error);
    if (result != FLR_OK) return result;
    find_unmoved(c);
    flr_clash_def def = clash_def(c);
    def.skip = skip_known;
    def.skip_context = c;
    result = flr_clash_find(&def, &list, error);
    if (result == FLR_OK) result = merge_known(c, &list, error);
    if (result != FLR_OK) {
        flr_clash_list_free(&list);
        return result;
    }
    result = keep_survey(c, &list, error);
    if (result == FLR_OK) result = sum_up(c, error);
    c->found.scene = c->scene;
    c->found.clearance = c->clearance;
    c->found.least_touch = c->survey->list.least_touch;
    c->found.most_touch = c->survey->list.most_touch;
    c->found.left_out = c->left_out;
    c->found.seconds = 1e-9 * (double)(flr_clock_ns(c->env) - began);
    return result;
}

static void clash_work(flr_job *job) { job->result = check((clash_check *)job, &job->error); }

static void clash_done(flr_engine *e, flr_job *job)
{
    clash_check *c = (clash_check *)job;
    flr_review *review = e->review;
    review->running--;
    flr_clash_survey *survey = c->survey ? c->survey : c->before;
    if (survey && survey->scene == e->scene) {
        flr_clash_survey_free(review->survey);
        review->survey = survey;
        if (survey == c->survey)
            c->survey = NULL;
        else
            c->before = NULL;
    }
    flr_engine_event *event = flr_engine_tell(e, FLR_ENGINE_EVENT_CLASHES);
    event->token = c->token;
    event->result = job->result;
    if (job->result != FLR_OK) {
        memcpy(event->sentence, job->error.message, sizeof event->sentence);
        return;
    }
    flr_review_answer *answer = &review->answers[review->answer_count++ % FLR_REVIEW_ANSWERS];
    flr_engine_clashes_free(&answer->clashes);
    *answer = (flr_review_answer){c->token, c->found};
    c->found = (flr_engine_clashes){0};
}

static void clash_drop(flr_job *job)
{
    clash_check *c = (clash_check *)job;
    flr_part_list_free(&c->parts);
    flr_group_list_free(&c->groups);
    flr_allow_rules_free(&c->rules);
    flr_clash_survey_free(c->before);
    flr_clash_survey_free(c->survey);
    flr_engine_clashes_free(&c->found);
    flr_blob_free(&c->file);
    free(c->fits);
    free(c->unmoved);
    free(c);
}

/* ---- a report ---- */

typedef struct report_skip {
    const clash_check *job;
    const flr_allow *allow;
} report_skip;

static bool skip_allowed(void *context, uint32_t a, uint32_t b)
{
    const report_skip *s = context;
    return flr_allow_has(s->allow, a, b, NULL);
}

static bool drawing(void *context, double done)
{
    clash_check *c = context;
    return flr_job_progress(&c->job, 0.4 + 0.6 * done, "drawing");
}

static flr_result write_report(clash_check *c, const flr_clash_list *list, double seconds,
                               flr_error *error)
{
    flr_engine_report_part *parts = calloc(c->parts.count + 1u, sizeof *parts);
    if (!parts) return flr_engine_no_memory(error);
    for (uint32_t i = 0; i < c->parts.count; i++) {
        const flr_part_entry *entry = &c->parts.list[i];
        bool grouped = entry->group < c->groups.count;
        parts[i] =
            (flr_engine_report_part){.name = entry->name,
                                     .group = grouped ? c->groups.list[entry->group].name : "",
                                     .colour = entry->colour,
                                     .keep_out = c->fits[i].keep_out,
                                     .mesh = entry->shape->mesh->mesh,
                                     .T_world_part = entry->T_start};
    }
    const flr_engine_report report = {.source = c->name,
                                      .clearance = c->clearance,
                                      .seconds = seconds,
                                      .parts = parts,
                                      .part_count = c->parts.count,
                                      .list = list,
                                      .format = c->format,
                                      .go_on = drawing,
                                      .context = c};
    flr_result result = c->write(&report, &c->file, error);
    free(parts);
    return result;
}

static void report_work(flr_job *job)
{
    clash_check *c = (clash_check *)job;
    flr_clash_list list = {0};
    const int64_t began = flr_clock_ns(c->env);
    job->result = prepare(c, &job->error);
    if (job->result != FLR_OK) return;
    flr_job_progress(job, 0.3, "checking");
    const flr_review_names names = {&c->parts, &c->groups};
    flr_allow *allow = flr_review_allow(&names, &c->rules);
    report_skip skip = {c, allow};
    flr_clash_def def = clash_def(c);
    def.skip = skip_allowed;
    def.skip_context = &skip;
    job->result =
        allow ? flr_clash_find(&def, &list, &job->error) : flr_engine_no_memory(&job->error);
    if (job->result == FLR_OK)
        job->result =
            write_report(c, &list, 1e-9 * (double)(flr_clock_ns(c->env) - began), &job->error);
    flr_clash_list_free(&list);
    flr_allow_destroy(allow);
}

static void report_done(flr_engine *e, flr_job *job)
{
    clash_check *c = (clash_check *)job;
    e->review->reporting--;
    if (job->result != FLR_OK) return;
    flr_review_keep_report(e->review, job->info.job, c->format, "clashes", &c->file);
}

/* ---- asking ---- */

static bool copy_groups(const flr_group_list *from, flr_group_list *to)
{
    to->list = calloc(from->count + 1u, sizeof *to->list);
    if (!to->list) return false;
    if (from->count) memcpy(to->list, from->list, from->count * sizeof *to->list);
    to->count = to->room = from->count;
    return true;
}

static flr_result make_job(flr_engine *e, double clearance, clash_check **made, flr_error *error)
{
    if (!(clearance >= 0 && clearance <= 1))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a clearance is a length from 0 to 1 m");
    clash_check *c = calloc(1, sizeof *c);
    if (!c) return flr_engine_no_memory(error);
    flr_engine_look_around(e, &c->parts);
    if (c->parts.count < e->members.count || !copy_groups(&e->groups, &c->groups) ||
        !flr_allow_rules_copy(&e->review->rules, &c->rules)) {
        clash_drop(&c->job);
        return flr_engine_no_memory(error);
    }
    c->env = e->def.env;
    c->cache = e->cache;
    c->threads = e->def.threads;
    c->scene = e->scene;
    c->clearance = clearance;
    memcpy(c->name, e->name, sizeof c->name);
    c->job.drop = clash_drop;
    *made = c;
    return FLR_OK;
}

flr_result flr_engine_clashes_ask(flr_engine *e, double clearance, uint32_t token, flr_error *error)
{
    flr_review *review = e->review;
    clash_check *c;
    if (review->running >= FLR_REVIEW_RUNNING)
        return flr_fail(error, FLR_AGAIN, "clashes are being looked for already; try again later");
    flr_result result = make_job(e, clearance, &c, error);
    if (result != FLR_OK) return result;
    c->token = token;
    c->before = review->survey;
    review->survey = NULL;
    review->running++;
    c->job.work = clash_work;
    c->job.done = clash_done;
    return flr_engine_post(e, &c->job, 0, FLR_NO_PART_ID, NULL, NULL);
}

const flr_engine_clashes *flr_engine_clashes_of(const flr_engine *e, uint32_t token)
{
    for (int i = 0; i < FLR_REVIEW_ANSWERS; i++)
        if (e->review->answers[i].token == token && e->review->answers[i].clashes.pairs)
            return &e->review->answers[i].clashes;
    return NULL;
}

flr_result flr_engine_report_clashes(flr_engine *e, double clearance, uint8_t format, uint32_t *job,
                                     flr_error *error)
{
    clash_check *c;
    if (!e->def.report)
        return flr_fail(error, FLR_UNSUPPORTED, "this controller writes no reports");
    // also who may only watch can ask for them: they must not take the places of all other jobs
    if (e->review->reporting >= FLR_REVIEW_REPORTS)
        return flr_fail(error, FLR_AGAIN, "other reports are being written; try again later");
    flr_result result = flr_engine_can_post(e, error);
    if (result == FLR_OK) result = make_job(e, clearance, &c, error);
    if (result != FLR_OK) return result;
    e->review->reporting++;
    c->is_report = true;
    c->format = format;
    c->write = e->def.report;
    c->job.work = report_work;
    c->job.done = report_done;
    return flr_engine_post(e, &c->job, FLR_WIRE_JOB_REPORT, FLR_NO_PART_ID, "report", job);
}

bool flr_engine_get_report(const flr_engine *e, uint32_t job, uint8_t *format, const char **what,
                           flr_blob *file)
{
    for (int i = 0; i < FLR_REVIEW_REPORTS; i++) {
        const flr_review_report *report = &e->review->reports[i];
        if (report->job == 0 || report->job != job) continue;
        *format = report->format;
        *what = report->what;
        *file = report->file;
        return true;
    }
    return false;
}
