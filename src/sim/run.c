/* a stage, a hand and a number of frames */
#include "sim/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sim/engine_internal.h"
#include "sim/recording_tap.h"
#include "sim/run_state.h"

enum { RUN_BATCH = 512, RUN_CONTACTS = 16 };
#define RUN_PATIENCE 2.0 /* s: for voxels that are read from a disk */

/* what the step of the loop works with; all of it made before */
typedef struct run_runner {
    const flr_run_def *def;
    flr_world *world;
    flr_recorder *recorder;
    uint32_t *moving; /* numbers of the parts that may move */
    uint32_t moving_count;
    flr_record_part *parts;
    flr_stepper stepper;
    flr_loop *loop;
    uint64_t frames; /* to be done */
    bool given_up;   /* voxels did not come */
    flr_histogram points, times;
    flr_run_result result;
} run_runner;

flr_run_def flr_default_run_def(void)
{
    return (flr_run_def){.env = flr_env_real(),
                         .T_point = flr_pose_identity(),
                         .frames = 1000,
                         .rate = 1000,
                         .slow = 1};
}

/* ---- in the loop ---- */

/* Does a part begin so near to another that nothing keeps them apart? */
static void look_at_start(run_runner *r)
{
    flr_run_result *to = &r->result;
    uint32_t count;
    const flr_pair_result *pairs = flr_pairs_results(flr_world_pairs(r->world), &count);
    for (uint32_t i = 0; i < count && to->sunk == UINT32_MAX; i++)
        if (pairs[i].contact.penetrations > 0) to->sunk = pairs[i].pair.shell;
    if (flr_world_get_params(r->world)->contact.force_layer < 2) to->sunk = UINT32_MAX;
    to->gap = 2 * r->def->stage->voxel;
}

static void count(run_runner *r, const flr_world_frame *f)
{
    flr_run_result *to = &r->result;
    if (to->frames == 0) look_at_start(r);
    to->frames++;
    to->contact_frames += f->contacts > 0 || f->penetrations > 0;
    to->penetration_frames += f->penetrations > 0;
    to->limited_frames += f->limited > 0;
    to->stopped_frames += f->stopped > 0;
    to->faulty_frames += f->faults != 0;
    to->contacts += f->contacts;
    to->penetrations += f->penetrations;
    const flr_world_point *point = flr_world_proxy(r->world, 0);
    if (point) {
        to->touching_frames += point->touching;
        to->pinched_frames += point->pinched;
        to->segments += point->queries;
        to->max_depth = fmax(to->max_depth, point->depth);
    }
    to->late_frames += f->late > 0;
    if (f->waiting > to->most_queued) to->most_queued = f->waiting;
    if (f->max_travel < to->least_travel) to->least_travel = f->max_travel;
    if (f->contacts > to->most_contacts) to->most_contacts = f->contacts;
    if (f->lower < to->lower) to->lower = f->lower;
    if (f->upper < to->upper) to->upper = f->upper;
    if (f->energy > to->max_energy) to->max_energy = f->energy;
    to->energy = f->energy;
    to->hash = f->hash;
    flr_histogram_add(&r->points, f->points_tested);
}

/* Reads what pairs, the other engines and the point found; writes at most RUN_CONTACTS. Returns how many. */
static uint32_t list_contacts(const flr_world *world, flr_record_contact list[RUN_CONTACTS])
{
    uint32_t given = 0, pair_count, contact_count, impact_count;
    const flr_pair_result *pairs = flr_pairs_results(flr_world_pairs(world), &pair_count);
    const flr_contact *contacts = flr_pairs_contacts(flr_world_pairs(world), &contact_count);
    for (uint32_t i = 0; i < pair_count; i++)
        for (uint32_t k = 0; k < pairs[i].contact.listed && given < RUN_CONTACTS; k++) {
            const flr_contact *c = &contacts[pairs[i].first + k];
            list[given++] =
                (flr_record_contact){c->point, c->normal, c->depth, pairs[i].pair.shell};
        }
    const flr_world_impact *impacts = flr_world_impacts(world, &impact_count);
    for (uint32_t i = 0; i < impact_count && given < RUN_CONTACTS; i++)
        list[given++] = (flr_record_contact){impacts[i].point, impacts[i].normal, impacts[i].depth,
                                             impacts[i].part_a};
    uint32_t touch_count;
    const flr_world_touch *touches = flr_world_touches(world, &touch_count);
    const double clearance = flr_world_get_params(world)->exact.onset;
    for (uint32_t i = 0; i < touch_count && given < RUN_CONTACTS; i++)
        list[given++] = (flr_record_contact){touches[i].point, touches[i].normal,
                                             clearance - touches[i].distance, touches[i].part};
    /* a point's contact: what it does to the part */
    const flr_world_point *point = flr_world_proxy(world, 0);
    if (point && point->part != FLR_NO_PART && given < RUN_CONTACTS)
        list[given++] = (flr_record_contact){point->position, flr_vec3_neg(point->normal),
                                             point->depth, point->part};
    return given;
}

/* Reads the world after its step; pushes the frame to the recorder. */
static void record(run_runner *r, const flr_loop_frame *frame, const flr_world_input *input,
                   const flr_world_frame *f, int64_t began, int64_t took)
{
    const flr_pager_stats paging = flr_stage_paging(r->def->stage);
    flr_record_contact list[RUN_CONTACTS];
    flr_record_frame head = flr_recorded_frame(f, &paging, r->stepper.waits.ended);
    head.time_ns = frame->time_ns - r->stepper.first_ns;
    head.compute_us = (double)took * 1e-3;
    head.wakeup_us = r->def->paced ? (double)(began - frame->time_ns) * 1e-3 : 0;
    head.contacts_given = list_contacts(r->world, list);
    flr_record_hand hand = flr_recorded_hand(input);
    hand.buttons = frame->samples[0].buttons;
    hand.part = flr_world_held(r->world, 0);
    hand.wrench = frame->wrenches[0];
    for (uint32_t i = 0; i < r->moving_count; i++) {
        const flr_body *body = flr_world_body(r->world, r->moving[i]);
        r->parts[i] = (flr_record_part){body->T_world_part, body->twist};
    }
    flr_recorder_push(r->recorder, &head, &hand, r->parts, list);
}

static void poll_pagers(const flr_stage *stage)
{
    for (uint32_t i = 0; i < stage->parts.count; i++)
        if (stage->parts.list[i].shape->pager) flr_pager_poll(stage->parts.list[i].shape->pager);
}

/* Where voxels that the step needs are not in memory it does not happen: paced, it is tried again in the next frame and the device
 * gets nothing meanwhile; else the frame is done again a moment later, since nobody waits for it, and all goes on as if they had
 * been there. After PATIENCE seconds the run ends. */
static void do_again(run_runner *r, flr_loop_frame *frame)
{
    const flr_pager_waits *waits = &r->stepper.waits;
    if (1e-9 * (double)(waits->last_ns - waits->since_ns) >= RUN_PATIENCE) {
        r->given_up = true;
        flr_loop_end(r->loop);
    } else if (!r->def->paced) {
        flr_sleep_until(r->def->env, flr_clock_ns(r->def->env) + 200000);
    }
    r->stepper.hands[0].seen = r->stepper.hands[0].seen_before;
    frame->again = true;
}

/* Reads where bodies are; writes the caller's list of poses. */
static void keep_poses(const run_runner *r)
{
    flr_pose *to = &r->def->poses[r->result.frames * r->moving_count];
    for (uint32_t i = 0; i < r->moving_count; i++)
        to[i] = flr_world_body(r->world, r->moving[i])->T_world_part;
}

/* After every step of the world (flr_stepper_step). Reads what it found; counts, records and tells the caller. */
static void stepped(void *context, flr_loop_frame *frame, const flr_world_input *input,
                    int64_t began)
{
    run_runner *r = context;
    const flr_world_frame *f = &r->stepper.frame;
    if (f->missing) {
        do_again(r, frame);
        return;
    }
    int64_t took = flr_clock_ns(r->def->env) - began;
    flr_histogram_add(&r->times, (uint64_t)(took > 0 ? took : 0));
    if (r->result.frames == 0) r->result.first = f->number;
    if (r->stepper.said) r->stepper.said++;
    if (r->def->poses) keep_poses(r);
    count(r, f);
    if (r->recorder) record(r, frame, input, f, began, took);
    if (r->def->seen) r->def->seen(r->def->context, f);
}

/* A frame: between frames pagers are served, where no other thread does it. */
static bool step(void *context, flr_loop_frame *frame)
{
    run_runner *r = context;
    if (r->def->single) poll_pagers(r->def->stage);
    return flr_stepper_step(&r->stepper, frame);
}

/* ---- around it ---- */

static flr_result make_ready(run_runner *r, flr_error *error)
{
    const flr_stage *stage = r->def->stage;
    r->world = stage->world;
    r->moving = calloc((size_t)stage->parts.count + 1, sizeof *r->moving);
    r->parts = calloc((size_t)stage->parts.count + 1, sizeof *r->parts);
    if (!r->moving || !r->parts)
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a run");
    for (uint32_t i = 0; i < stage->parts.count; i++)
        if (flr_stage_moves(stage, i)) r->moving[r->moving_count++] = i;
    r->result.lower = r->result.upper = r->result.least_travel = INFINITY;
    r->result.sunk = UINT32_MAX;
    flr_stepper *f = &r->stepper;
    f->env = r->def->env;
    f->hand_count = 1;
    f->instance = stage->instance;
    f->paced = r->def->paced;
    f->stepped = stepped;
    f->run = r;
    f->said = r->def->said;
    flr_stepper_hand *hand = &f->hands[0];
    bool grips = flr_world_tool(r->world, 0) == FLR_TOOL_GRIP;
    hand->base = r->def->relative ? FLR_HAND_FRAME_RELATIVE : FLR_HAND_FRAME_WORLD;
    const flr_mapping_def direct = flr_default_mapping_def();
    hand->map = flr_mapping_make(r->def->map ? r->def->map : &direct);
    hand->T_start = grips ? flr_world_body(r->world, r->def->part)->T_world_part : r->def->T_point;
    hand->touched = hand->held = FLR_ENGINE_NONE;
    if (grips && !r->def->resume && !flr_stepper_grab(f, 0, r->def->part, NULL, false))
        return flr_fail(error, FLR_BAD_ARGUMENT, "part %u cannot be picked up", r->def->part);
    if (!r->def->record) return FLR_OK;
    flr_recorder_def recorder = flr_default_recorder_def();
    recorder.path = r->def->record;
    recorder.hands = 1;
    recorder.parts = r->moving_count;
    recorder.contacts = RUN_CONTACTS;
    recorder.texts = r->def->texts;
    return flr_recorder_create(r->def->env, &recorder, &r->recorder, error);
}

/* Takes recorded frames to the file and asks whether to go on. */
static flr_result service(run_runner *r, bool *go_on, flr_error *error)
{
    if (r->def->progress && !r->def->progress(r->def->context, r->result.frames)) {
        r->result.stopped = true;
        *go_on = false;
    }
    return r->recorder ? flr_recorder_service(r->recorder, error) : FLR_OK;
}

static flr_result run_free(run_runner *r, flr_loop *loop, flr_error *error)
{
    flr_result result = FLR_OK;
    bool go_on = true;
    for (uint64_t left = r->frames; left && go_on && result == FLR_OK;) {
        uint64_t now = left < RUN_BATCH ? left : RUN_BATCH;
        flr_loop_run(loop, now);
        left -= now;
        result = service(r, &go_on, error);
        go_on = go_on && !r->given_up;
    }
    return result;
}

/* Paced in the calling thread: with a simulated clock. */
static flr_result run_single(run_runner *r, flr_loop *loop, flr_error *error)
{
    flr_result result = FLR_OK;
    bool go_on = true;
    for (uint64_t left = r->frames; left && go_on && !r->given_up && result == FLR_OK; left--) {
        flr_loop_run(loop, 1);
        result = service(r, &go_on, error);
    }
    return result;
}

static flr_result run_paced(run_runner *r, flr_loop *loop, flr_error *error)
{
    flr_result result = flr_loop_start(loop, r->frames, error);
    bool go_on = true;
    /* else frames, which come with real-time priority, are lost on a busy machine */
    int before = getpriority(PRIO_PROCESS, 0);
    if (r->recorder) (void)setpriority(PRIO_PROCESS, 0, FLR_RECORDING_NICE);
    while (result == FLR_OK && go_on && flr_loop_is_running(loop)) {
        flr_sleep_until(r->def->env, flr_clock_ns(r->def->env) + 10000000);
        result = service(r, &go_on, error);
    }
    if (r->recorder) (void)setpriority(PRIO_PROCESS, 0, before);
    flr_loop_stop(loop);
    return result;
}

/* The pagers begin to read; what they did; why nothing came. */
static flr_result start_pagers(const flr_stage *stage, flr_error *error)
{
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < stage->parts.count && result == FLR_OK; i++)
        if (stage->parts.list[i].shape->pager && flr_part_list_is_first(&stage->parts, i))
            result = flr_pager_start(stage->parts.list[i].shape->pager, error);
    return result;
}

/* What the first step looks at is read before the run begins. */
static void wait_for_first(run_runner *r)
{
    flr_env *env = r->def->env;
    const int64_t begin = flr_clock_ns(env);
    while (!flr_world_ready(r->world) && !r->given_up) {
        flr_sleep_until(env, flr_clock_ns(env) + 200000);
        if (r->def->single) poll_pagers(r->def->stage);
        r->result.load_seconds = 1e-9 * (double)(flr_clock_ns(env) - begin);
        r->given_up = r->result.load_seconds >= RUN_PATIENCE;
    }
}

static unsigned long long in_mib(uint64_t bytes) { return bytes >> 20; }

/* How many parts share the memory given. */
static uint32_t staying(const flr_stage *stage)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < stage->parts.count; i++)
        count += !flr_stage_moves(stage, i) && flr_part_list_is_first(&stage->parts, i);
    return count;
}

static flr_result why_missing(flr_env *env, const flr_stage *stage, flr_error *error)
{
    for (uint32_t i = 0; i < stage->parts.count; i++) {
        const char *name = stage->parts.list[i].name;
        flr_pager *pager = stage->parts.list[i].shape->pager;
        flr_error why;
        if (!pager) continue;
        flr_result result = flr_pager_trouble(pager, &why);
        /* a damaged file of the cache does not mend: without it the next run builds it again */
        if (result == FLR_BAD_INPUT && flr_path_remove(env, flr_pager_path(pager), NULL) == FLR_OK)
            return flr_fail(error, result,
                            "part \"%s\": %.*s; it has been removed from the cache, and the next "
                            "run builds it again",
                            name, (int)strcspn(why.message, ";"), why.message);
        if (result != FLR_OK) return flr_fail(error, result, "part \"%s\": %s", name, why.message);
        const flr_pager_stats stats = flr_pager_get_stats(pager);
        if (stats.refused > 0 && stats.reach > stats.slots)
            return flr_fail(
                error, FLR_NO_MEMORY,
                "part \"%s\": what can be reached at once takes %llu MiB, and its share "
                "of the memory given is %llu MiB; give --memory %lluMiB or more",
                name, in_mib(flr_pager_least(&stats)),
                in_mib((uint64_t)stats.slots * FLR_PAGER_BLOCK),
                in_mib(flr_pager_least(&stats) * staying(stage)));
    }
    return flr_fail(error, FLR_TIMEOUT,
                    "voxels did not come from the disk within %g s; it is too slow or too busy",
                    RUN_PATIENCE);
}

static void conclude(run_runner *r, flr_loop *loop)
{
    flr_run_result *to = &r->result;
    to->pager = flr_stage_paging(r->def->stage);
    to->waits = r->stepper.waits;
    flr_loop_get_stats(loop, &to->loop);
    flr_guard_stats guard = flr_guard_get_stats(flr_loop_guard(loop, 0));
    const flr_passivity *port = flr_loop_passivity(loop, 0);
    if (!port) port = flr_world_passivity(r->world, 0);
    to->max_force = guard.max_force;
    to->max_torque = guard.max_torque;
    to->guard_trips = guard.trips;
    to->put = port->put;
    to->got = port->got;
    to->deficit = port->deficit;
    to->agility = port->agility;
    to->turn_agility = port->turn_agility;
    to->bound = flr_world_get_params(r->world)->passivity.bound;
    to->points = flr_histogram_percentiles(&r->points);
    to->step_ns = flr_histogram_percentiles(&r->times);
}

/* ---- going on ---- */

static flr_result resume(run_runner *r, flr_loop *loop, flr_error *error)
{
    flr_run_state state;
    const char *path = r->def->resume;
    flr_result result = flr_run_state_read(r->def->env, path, &state, error);
    if (result != FLR_OK) return result;
    if (!flr_hash_equal(state.identity, r->def->identity))
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "%s: the state of another run; give the scene, the hand and the options "
                          "of that one",
                          path);
    else if (state.done >= r->def->frames)
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "%s: that run has come to its end after %llu frames; --frames gives more",
                          path, (unsigned long long)state.done);
    else if (!flr_world_load(r->world, state.world, state.world_size) ||
             !flr_loop_load(loop, state.loop, state.loop_size))
        result = flr_fail(error, FLR_BAD_INPUT,
                          "%s: does not fit this run; begin it anew, without --resume", path);
    if (result == FLR_OK) {
        r->frames = r->def->frames - state.done;
        r->result.first = state.done;
        /* a device on a table is somewhere else by now: it takes the part where that is */
        bool stays = !r->def->relative;
        flr_stepper_hand *hand = &r->stepper.hands[0];
        hand->seen = stays ? state.seen : 0;
        uint32_t held = flr_world_held(r->world, 0);
        if (held != FLR_NO_PART) hand->held = r->stepper.instance->ids[held];
        r->stepper.first_ns = state.first_ns;
        r->stepper.begun = stays && !r->def->paced;
        if (stays) hand->T_start = state.T_start;
    }
    flr_run_state_free(&state);
    return result;
}

static flr_result keep(run_runner *r, flr_loop *loop, flr_error *error)
{
    const char *path = r->def->state;
    if (!path || (r->def->only_if_given_up && !r->given_up)) return FLR_OK;
    const flr_stepper_hand *hand = &r->stepper.hands[0];
    flr_run_state state = {.identity = r->def->identity,
                           .done = r->def->frames - r->frames + r->result.frames,
                           .seen = hand->seen,
                           .first_ns = r->stepper.first_ns,
                           .T_start = hand->T_start,
                           .world_size = flr_world_state_size(r->world),
                           .loop_size = flr_loop_state_size(loop)};
    state.world = malloc(state.world_size);
    state.loop = malloc(state.loop_size);
    flr_result result = FLR_OK;
    if (!state.world || !state.loop) {
        result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for the state of the run");
    } else {
        flr_world_save(r->world, state.world);
        flr_loop_save(loop, state.loop);
        result = flr_run_state_write(r->def->env, path, &state, error);
    }
    flr_run_state_free(&state);
    return result;
}

/* Why a run was given up, and how it goes on. */
static flr_result give_up(const run_runner *r, flr_error *error)
{
    flr_error why;
    flr_result result = why_missing(r->def->env, r->def->stage, &why);
    if (!r->def->state) return flr_fail(error, result, "%s", why.message);
    return flr_fail(error, result, "%.*s; the state is kept: --resume %s goes on", 600, why.message,
                    r->def->state);
}

/* ---- all of it ---- */

static flr_result make_loop(run_runner *r, flr_error *error)
{
    const flr_run_def *def = r->def;
    flr_loop_def how = flr_default_loop_def();
    how.env = def->env;
    how.rate = def->rate;
    how.paced = def->paced;
    how.local = def->local;
    how.slow = def->slow;
    how.devices[0] = def->device;
    how.device_count = 1;
    how.step = step;
    how.context = r;
    return flr_loop_create(&how, &r->loop, error);
}

static flr_result run_loop(run_runner *r, flr_error *error)
{
    if (!r->def->paced) return run_free(r, r->loop, error);
    return r->def->single ? run_single(r, r->loop, error) : run_paced(r, r->loop, error);
}

flr_result flr_run(const flr_run_def *def, flr_run_result *result, flr_error *error)
{
    run_runner *r = calloc(1, sizeof *r);
    if (!r) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a run");
    r->def = def;
    r->frames = def->frames;
    flr_result did = make_ready(r, error);
    if (did == FLR_OK) did = make_loop(r, error);
    if (did == FLR_OK && def->resume) {
        did = resume(r, r->loop, error);
        if (def->bad_resume && did != FLR_OK) *def->bad_resume = true;
    }
    if (did == FLR_OK && !def->single) did = start_pagers(def->stage, error);
    if (did == FLR_OK) wait_for_first(r);
    if (did == FLR_OK && !r->given_up) did = run_loop(r, error);
    if (did == FLR_OK) did = keep(r, r->loop, error);
    if (did == FLR_OK) conclude(r, r->loop);
    flr_loop_destroy(r->loop);
    if (r->recorder) {
        r->result.lost = flr_recorder_lost(r->recorder);
        if (did == FLR_OK)
            did = flr_recorder_finish(r->recorder, error); /* also of a run that was given up */
        else
            flr_recorder_abandon(r->recorder);
    }
    if (did == FLR_OK && r->given_up) did = give_up(r, error);
    if (did == FLR_OK) *result = r->result;
    free(r->moving);
    free(r->parts);
    free(r);
    return did;
}
