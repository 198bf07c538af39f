/* taking an assembly apart, step by step
 *
 * In each stage, every unit that is left looks for a way out among all others that are left: straight, and where none gets out,
 * by guided moves, too. Those that find one make up the stage: they do not need each other to be gone. Where none does, in all
 * its time, several come out as one: a unit and what stands in its way.
 *
 * A step comes after another if its path, checked exactly, crosses what the other one removes. All others may be there, so the
 * order is a graph, not a list. */
#include <stdlib.h>
#include <string.h>

#include "feeler/plan.h"

enum { MAX_PARTNERS = 3 };

flr_plan_sequence_def flr_default_plan_sequence_def(void)
{
    flr_plan_sequence_def def = {
        .until = FLR_NONE, .overlap = -1, .search = flr_default_plan_search(), .max_together = 3};
    return def;
}

typedef struct sequencer {
    flr_env *env;
    const flr_plan_sequence_def *def;
    flr_plan_sequence *sequence;
    uint32_t capacity;    /* of its steps */
    bool *gone;           /* [unit_count] */
    bool *leaving;        /* [unit_count]: of the step that is looked for */
    flr_plan_part *parts; /* [part_count]: moving ones, then standing ones */
    uint32_t *of;         /* [part_count]: what they are in the definition */
    uint32_t *blocked_by; /* [unit_count * MAX_PARTNERS]: units; FLR_NONE: no more */
    uint32_t out;
    bool stopped;
} sequencer;

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
}

static bool is_fixed(const sequencer *q, uint32_t unit)
{
    return q->def->fixed && q->def->fixed[unit];
}

/* ---- bodies ---- */

/* The parts of the leaving units as one body, then those of `stands`. Returns how many move. */
static uint32_t place(sequencer *q, bool (*stands)(const sequencer *q, uint32_t unit, uint32_t by),
                      uint32_t by, uint32_t *standing)
{
    const flr_plan_sequence_def *d = q->def;
    uint32_t count = 0;
    flr_pose T_body_world = flr_pose_identity();
    for (uint32_t i = 0; i < d->part_count; i++) {
        if (!q->leaving[d->unit[i]]) continue;
        if (!count) T_body_world = flr_pose_inverse(d->parts[i].T);
        q->parts[count] =
            (flr_plan_part){d->parts[i].fit, count ? flr_pose_mul(T_body_world, d->parts[i].T)
                                                   : flr_pose_identity()};
        q->of[count++] = i;
    }
    const uint32_t moving = count;
    for (uint32_t i = 0; i < d->part_count; i++)
        if (!q->leaving[d->unit[i]] && stands(q, d->unit[i], by))
            q->parts[count] = d->parts[i], q->of[count++] = i;
    *standing = count - moving;
    return moving;
}

static bool is_left(const sequencer *q, uint32_t unit, uint32_t by)
{
    (void)by;
    return !q->gone[unit];
}

static bool is_of_step(const sequencer *q, uint32_t unit, uint32_t by)
{
    const flr_plan_step *step = &q->sequence->steps[by];
    for (uint32_t i = 0; i < step->unit_count; i++)
        if (step->units[i] == unit) return true;
    return false;
}

static flr_plan_def body_def(const sequencer *q, uint32_t moving, uint32_t standing)
{
    flr_plan_def def = flr_default_plan_def();
    def.moving = q->parts, def.moving_count = moving;
    def.obstacles = q->parts + moving, def.obstacle_count = standing;
    def.clearance = q->def->clearance;
    def.overlap = q->def->overlap;
    return def;
}

/* ---- steps ---- */

static void free_step(flr_plan_step *step)
{
    free(step->units);
    free(step->poses);
    free(step->after);
}

/* Which steps removed what the path crosses? */
static flr_result find_order(sequencer *q, flr_plan_step *step, flr_error *error)
{
    const uint32_t count = q->sequence->step_count;
    flr_result result = FLR_OK;
    step->after = calloc(count + 1u, sizeof *step->after);
    if (!step->after) return no_memory(error);
    for (uint32_t i = 0; i < count && result == FLR_OK; i++) {
        if (q->sequence->steps[i].stage == step->stage) continue; // it is still there
        uint32_t standing;
        const uint32_t moving = place(q, is_of_step, i, &standing);
        const flr_plan_def def = body_def(q, moving, standing);
        flr_plan_space *space;
        flr_plan_verdict verdict;
        result = flr_plan_space_create(&def, &space, error);
        if (result != FLR_OK) break;
        result = flr_plan_verify(space, step->poses, step->pose_count, &verdict, error);
        if (result == FLR_OK && !verdict.free) step->after[step->after_count++] = i;
        flr_plan_space_destroy(space);
    }
    return result;
}

static uint32_t as_part(const sequencer *q, uint32_t index, uint32_t first)
{
    return index == FLR_NONE ? FLR_NONE : q->of[first + index];
}

static flr_result add_step(sequencer *q, uint32_t stage, uint32_t moving, flr_plan_result *r,
                           flr_error *error)
{
    flr_plan_sequence *s = q->sequence;
    flr_plan_step step = {.part = q->of[0],
                          .stage = stage,
                          .method = r->method,
                          .verdict = r->verdict,
                          .pose_count = r->pose_count};
    flr_plan_verdict *v = &step.verdict;
    v->nearest.obstacle = as_part(q, v->nearest.obstacle, moving);
    v->nearest.moving = as_part(q, v->nearest.moving, 0);
    for (uint32_t i = 0; i < v->fit_count; i++) {
        v->fits[i].obstacle = as_part(q, v->fits[i].obstacle, moving);
        v->fits[i].moving = as_part(q, v->fits[i].moving, 0);
    }
    step.poses = r->poses;
    r->poses = NULL;
    step.units = calloc(q->def->unit_count, sizeof *step.units);
    if (!step.units) {
        free_step(&step);
        return no_memory(error);
    }
    for (uint32_t u = 0; u < q->def->unit_count; u++)
        if (q->leaving[u]) step.units[step.unit_count++] = u;
    flr_result result = find_order(q, &step, error);
    if (result == FLR_OK && s->step_count == q->capacity) {
        const uint32_t capacity = q->capacity ? 2 * q->capacity : 16;
        flr_plan_step *more = realloc(s->steps, capacity * sizeof *more);
        if (more)
            s->steps = more, q->capacity = capacity;
        else
            result = no_memory(error);
    }
    if (result == FLR_OK)
        s->steps[s->step_count++] = step;
    else
        free_step(&step);
    return result;
}

static bool never_mind(void *context, const flr_plan_progress *now)
{
    (void)now;
    sequencer *q = context;
    if (!q->stopped && q->def->progress &&
        !q->def->progress(q->def->progress_context, q->out, FLR_NONE))
        q->stopped = true;
    return !q->stopped;
}

/* The units that stopped a body most, those without which it comes out first. */
static void note_blockers(sequencer *q, uint32_t unit, uint32_t moving, const flr_plan_result *r)
{
    uint32_t *to = q->blocked_by + (size_t)unit * MAX_PARTNERS, count = 0;
    for (uint32_t i = 0; i < MAX_PARTNERS; i++) to[i] = FLR_NONE;
    for (uint32_t i = 0; i < r->blocker_count && count < MAX_PARTNERS; i++) {
        const uint32_t by = q->def->unit[q->of[moving + r->blockers[i].obstacle]];
        bool known = by == unit;
        for (uint32_t k = 0; k < count; k++) known |= to[k] == by;
        if (!known) to[count++] = by;
    }
}

/* Looks for a way out of the leaving units; a step is added where there is one. */
static flr_result try_out(sequencer *q, uint32_t stage, uint32_t unit, flr_plan_effort effort,
                          bool *found, flr_error *error)
{
    uint32_t standing;
    const uint32_t moving = place(q, is_left, 0, &standing);
    const flr_plan_def def = body_def(q, moving, standing);
    flr_plan_search search = q->def->search;
    flr_plan_result r;
    search.from = q->def->parts[q->of[0]].T;
    search.to_given = false;
    search.effort = effort;
    search.progress = never_mind, search.progress_context = q;
    *found = false;
    if (q->def->progress && !q->def->progress(q->def->progress_context, q->out, unit))
        q->stopped = true;
    if (q->stopped) return FLR_OK;
    flr_result result = flr_plan_find(q->env, &def, &search, &r, error);
    if (result != FLR_OK) return result;
    *found = r.poses != NULL;
    if (!*found && effort == FLR_PLAN_THOROUGH) note_blockers(q, unit, moving, &r);
    if (*found) result = add_step(q, stage, moving, &r, error);
    flr_plan_result_free(&r);
    return result;
}

/* ---- stages ---- */

static uint32_t count_left(const sequencer *q)
{
    uint32_t count = 0;
    for (uint32_t u = 0; u < q->def->unit_count; u++) count += !q->gone[u];
    return count;
}

/* All units of a stage leave when all of them have been tried. The last unit of all stays. */
static void leave(sequencer *q, uint32_t first)
{
    for (uint32_t i = first; i < q->sequence->step_count; i++)
        for (uint32_t k = 0; k < q->sequence->steps[i].unit_count; k++) {
            q->gone[q->sequence->steps[i].units[k]] = true;
            q->out++;
        }
}

/* The order in which units are tried: first the one that is wanted, if one is. */
static uint32_t nth_unit(const sequencer *q, uint32_t i)
{
    const uint32_t until = q->def->until;
    if (until == FLR_NONE) return i;
    return i == 0 ? until : i - (i <= until);
}

/* Units one by one. One that is wanted gets a few guided moves even where the others go straight: so fewer of them have to
 * leave before it. */
static flr_result try_alone(sequencer *q, uint32_t stage, flr_plan_effort effort, flr_error *error)
{
    const uint32_t first = q->sequence->step_count, until = q->def->until;
    uint32_t left = count_left(q);
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < q->def->unit_count && result == FLR_OK && left > 1; i++) {
        const uint32_t u = nth_unit(q, i);
        bool found;
        if (q->gone[u] || is_fixed(q, u) || q->stopped) continue;
        if (u == until && effort == FLR_PLAN_QUICK) continue;       // it has had these moves
        if (until != FLR_NONE && u != until && left == 2) continue; // that one would be the last
        memset(q->leaving, 0, q->def->unit_count * sizeof *q->leaving);
        q->leaving[u] = true;
        const bool more = u == until && effort == FLR_PLAN_AXES_ONLY;
        result = try_out(q, stage, u, more ? FLR_PLAN_QUICK : effort, &found, error);
        if (result != FLR_OK || !found) continue;
        left--;
        // with all the time, one at once makes it easier for the others
        if (effort == FLR_PLAN_THOROUGH || u == until) break;
    }
    leave(q, first);
    return result;
}

/* A unit and what stops it, more and more of it. */
static flr_result try_together(sequencer *q, uint32_t stage, flr_error *error)
{
    const uint32_t first = q->sequence->step_count, count = q->def->unit_count;
    flr_result result = FLR_OK;
    for (uint32_t size = 2; size <= q->def->max_together; size++)
        for (uint32_t u = 0; u < count && result == FLR_OK && !q->stopped; u++) {
            bool found;
            uint32_t together = 1;
            if (q->gone[u] || is_fixed(q, u)) continue;
            memset(q->leaving, 0, count * sizeof *q->leaving);
            q->leaving[u] = true;
            const uint32_t *by = q->blocked_by + (size_t)u * MAX_PARTNERS;
            for (uint32_t k = 0; k < MAX_PARTNERS && together < size; k++) {
                if (by[k] == FLR_NONE || q->gone[by[k]] || is_fixed(q, by[k])) continue;
                q->leaving[by[k]] = true;
                together++;
            }
            const uint32_t until = q->def->until;
            const bool wanted_stays = until != FLR_NONE && !q->leaving[until];
            if (together < size || together + 1 + wanted_stays > count_left(q)) continue;
            result = try_out(q, stage, u, FLR_PLAN_QUICK, &found, error);
            if (result != FLR_OK || !found) continue;
            leave(q, first);
            return FLR_OK;
        }
    return result;
}

static bool is_done(const sequencer *q)
{
    if (q->def->until != FLR_NONE) return q->gone[q->def->until];
    uint32_t left = 0;
    for (uint32_t u = 0; u < q->def->unit_count; u++) left += !q->gone[u] && !is_fixed(q, u);
    return left == 0 || count_left(q) < 2;
}

static flr_result run_stages(sequencer *q, flr_error *error)
{
    flr_result result = FLR_OK;
    for (uint32_t stage = 0; result == FLR_OK && !is_done(q) && !q->stopped; stage++) {
        // guided moves take far longer than straight ones, above all where nothing can leave yet
        static const flr_plan_effort efforts[] = {FLR_PLAN_AXES_ONLY, FLR_PLAN_QUICK,
                                                  FLR_PLAN_THOROUGH};
        const uint32_t before = q->sequence->step_count;
        for (int i = 0; i < 3; i++)
            if (result == FLR_OK && q->sequence->step_count == before && !q->stopped)
                result = try_alone(q, stage, efforts[i], error);
        if (result == FLR_OK && q->sequence->step_count == before && !q->stopped)
            result = try_together(q, stage, error);
        if (q->sequence->step_count == before) break;
    }
    return result;
}

/* ---- what is left ---- */

static flr_result list_left(sequencer *q, flr_error *error)
{
    flr_plan_sequence *s = q->sequence;
    const uint32_t count = q->def->unit_count;
    s->left = calloc(count, sizeof *s->left);
    s->blocker = calloc(count, sizeof *s->blocker);
    if (!s->left || !s->blocker) return no_memory(error);
    const bool all = q->def->until != FLR_NONE || count_left(q) > 1;
    for (uint32_t u = 0; u < count; u++) {
        const bool wanted = q->def->until == FLR_NONE || q->def->until == u;
        if (!all || q->gone[u] || is_fixed(q, u) || !wanted) continue;
        s->left[s->left_count] = u;
        s->blocker[s->left_count++] = q->blocked_by[(size_t)u * MAX_PARTNERS];
    }
    return FLR_OK;
}

/* Keeps the step that removes a unit and all that have to come before it. */
static flr_result keep_needed(sequencer *q, flr_error *error)
{
    flr_plan_sequence *s = q->sequence;
    uint32_t *moved = calloc(s->step_count + 1u, sizeof *moved), kept = 0;
    if (!moved) return no_memory(error);
    for (uint32_t i = s->step_count; i-- > 0;) {
        moved[i] |= is_of_step(q, q->def->until, i);
        for (uint32_t k = 0; moved[i] && k < s->steps[i].after_count; k++)
            moved[s->steps[i].after[k]] = 1;
    }
    for (uint32_t i = 0; i < s->step_count; i++) {
        flr_plan_step *step = &s->steps[i];
        if (!moved[i]) {
            free_step(step);
            continue;
        }
        for (uint32_t k = 0; k < step->after_count; k++) step->after[k] = moved[step->after[k]];
        moved[i] = kept;
        s->steps[kept++] = *step;
    }
    s->step_count = kept;
    free(moved);
    return FLR_OK;
}

/* A step is in the first stage that comes after all that it needs. */
static void set_stages(flr_plan_sequence *s)
{
    for (uint32_t i = 0; i < s->step_count; i++) {
        s->steps[i].stage = 0;
        for (uint32_t k = 0; k < s->steps[i].after_count; k++) {
            const uint32_t before = s->steps[s->steps[i].after[k]].stage;
            if (before + 1 > s->steps[i].stage) s->steps[i].stage = before + 1;
        }
    }
}

flr_result flr_plan_sequence_find(flr_env *env, const flr_plan_sequence_def *def,
                                  flr_plan_sequence *sequence, flr_error *error)
{
    *sequence = (flr_plan_sequence){0};
    bool valid = def->part_count > 0 && (def->until == FLR_NONE || def->until < def->unit_count);
    for (uint32_t i = 0; i < def->part_count; i++) valid &= def->unit[i] < def->unit_count;
    if (!valid)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a sequence needs parts, and units that are there");
    sequencer q = {.env = env, .def = def, .sequence = sequence};
    q.gone = calloc(def->unit_count, sizeof *q.gone);
    q.leaving = calloc(def->unit_count, sizeof *q.leaving);
    q.parts = calloc(def->part_count, sizeof *q.parts);
    q.of = calloc(def->part_count, sizeof *q.of);
    q.blocked_by = malloc((size_t)def->unit_count * MAX_PARTNERS * sizeof *q.blocked_by);
    flr_result result =
        q.gone && q.leaving && q.parts && q.of && q.blocked_by ? FLR_OK : no_memory(error);
    for (size_t i = 0; result == FLR_OK && i < (size_t)def->unit_count * MAX_PARTNERS; i++)
        q.blocked_by[i] = FLR_NONE;
    if (result == FLR_OK) result = run_stages(&q, error);
    if (result == FLR_OK) result = list_left(&q, error);
    if (result == FLR_OK && def->until != FLR_NONE && q.gone[def->until])
        result = keep_needed(&q, error);
    if (result == FLR_OK) set_stages(sequence);
    sequence->stopped = q.stopped;
    free(q.gone);
    free(q.leaving);
    free(q.parts);
    free(q.of);
    free(q.blocked_by);
    if (result != FLR_OK) flr_plan_sequence_free(sequence);
    return result;
}

void flr_plan_sequence_free(flr_plan_sequence *sequence)
{
    for (uint32_t i = 0; i < sequence->step_count; i++) free_step(&sequence->steps[i]);
    free(sequence->steps);
    free(sequence->left);
    free(sequence->blocker);
    *sequence = (flr_plan_sequence){0};
}
