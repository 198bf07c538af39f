/* the engine: creation, and what control does in every iteration; events.c has the events, view.c what is seen */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "feeler/base.h"
#include "realtime/privileges.h"
#include "sim/review.h"
#include "sim/snapshot.h"

enum { ORDERS = 256, NOTICES = 1024 };

flr_engine_def flr_default_engine_def(void)
{
    return (flr_engine_def){.env = flr_env_real(),
                            .rate = 1000,
                            .paced = true,
                            .hands = 2,
                            .workers = 2,
                            .merge = true,
                            .options = flr_default_mesh_options(),
                            .onset = -1,
                            .overlap = -1,
                            .priority = 80,
                            .cpu = -1,
                            .lock_memory = true};
}

flr_engine_def flr_threadless_engine_def(flr_env *env)
{
    flr_engine_def def = flr_default_engine_def();
    def.env = env;
    def.workers = 0;
    def.threads = 1;
    def.priority = 0;
    def.lock_memory = false;
    return def;
}

bool flr_engine_is_pose(flr_pose pose)
{
    const double far = FLR_MESH_MAX_COORDINATE;
    return flr_pose_is_valid(pose) && fabs(pose.p.x) <= far && fabs(pose.p.y) <= far &&
           fabs(pose.p.z) <= far;
}

flr_result flr_engine_no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "the controller is out of memory");
}

/* ---- creation ---- */

static bool copy_text(const char *from, char **slot, const char **to)
{
    *to = from ? *slot = strdup(from) : NULL;
    return !from || *slot;
}

static bool copy_texts(flr_engine *e)
{
    if (e->def.cache) e->cache = *e->def.cache;
    bool done = copy_text(e->cache.folder, &e->texts[0], &e->cache.folder) &&
                copy_text(e->def.recordings, &e->texts[1], &e->def.recordings) &&
                copy_text(e->def.scratch, &e->texts[2], &e->def.scratch) &&
                copy_text(e->def.folder, &e->texts[3], &e->def.folder);
    e->def.cache = &e->cache;
    return done;
}

void flr_engine_choose_contact(const flr_engine_def *def, flr_world_params *params)
{
    if (def->contact) params->engine = (flr_world_engine)(def->contact - 1);
    if (def->onset >= 0) params->exact.onset = def->onset;
    if (def->overlap >= 0) params->exact.overlap = def->overlap;
    if (def->strength > 0) params->exact.strength = def->strength;
    if (def->tests > 0) params->tests = def->tests;
}

static flr_result make_stepper(flr_engine *e, flr_error *error)
{
    flr_stepper *f = e->stepper = calloc(1, sizeof *f);
    e->view = calloc(1, sizeof *e->view);
    e->state = e->view ? &e->view->state : NULL;
    e->pulses = calloc(FLR_ENGINE_PULSES, sizeof *e->pulses);
    e->review = flr_review_create();
    if (!f || !e->view || !flr_engine_make_events(e) || !e->pulses || !e->review)
        return flr_engine_no_memory(error);
    f->env = e->def.env;
    e->up = FLR_AXIS_Z;
    e->turned = flr_quat_identity();
    f->hand_count = e->def.hands;
    f->paced = e->def.paced;
    f->params = e->tuning.world;
    e->model = e->tuning.world.contact.model;
    e->kind = e->tuning.world.engine;
    f->reach = e->tuning.reach;
    f->tape_ns = -1;
    f->frame.lower = f->frame.upper = INFINITY;
    const flr_mapping_def direct = flr_default_mapping_def();
    const flr_mapping map = flr_mapping_make(&direct);
    for (uint32_t h = 0; h < FLR_ENGINE_HANDS; h++) {
        e->mappings[h] = e->def.mapping ? *e->def.mapping : flr_default_engine_mapping();
        e->view_axes[h] = flr_quat_identity();
        f->hands[h] = (flr_stepper_hand){.map = map,
                                         .T_world_hand = flr_pose_identity(),
                                         .touched = FLR_ENGINE_NONE,
                                         .held = FLR_ENGINE_NONE,
                                         .firm = true}; /* a page's, until it gets another device */
    }
    if (!flr_stepper_make_couplings(f) ||
        !(f->notices = flr_ring_create(sizeof(flr_notice), NOTICES)))
        return flr_engine_no_memory(error);
    flr_world_instance_def none = flr_engine_instance_def(e, &e->members, &e->tuning.world, false);
    return flr_world_instance_make(&none, &f->instance, error);
}

static flr_result make_loop(flr_engine *e, flr_error *error)
{
    flr_loop_def def = flr_default_loop_def();
    def.env = e->def.env;
    def.rate = e->def.rate;
    def.paced = e->def.paced;
    def.local = e->def.local;
    def.step = flr_stepper_step;
    def.command = flr_stepper_take;
    def.context = e->stepper;
    def.command_size = sizeof(flr_sim_command);
    def.command_capacity = ORDERS;
    def.state_size = sizeof(flr_snapshot);
    def.priority = e->def.priority;
    def.cpu = e->def.cpu;
    def.home = e->cpu;
    def.lock_memory = e->def.lock_memory;
    flr_result result = flr_engine_open_devices(e, &def, error);
    if (result == FLR_OK) result = flr_loop_create(&def, &e->loop, error);
    if (result == FLR_OK) flr_loop_watch_control(e->loop, e->def.stall);
    return result;
}

flr_result flr_engine_create(const flr_engine_def *def, flr_engine **engine, flr_error *error)
{
    FLR_ASSERT(def && engine && def->env);
    if (def->hands < 1 || def->hands > FLR_ENGINE_HANDS)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%u hands; choose 1 to %d", def->hands,
                        FLR_ENGINE_HANDS);
    flr_engine *e = calloc(1, sizeof *e);
    if (!e) return flr_engine_no_memory(error);
    e->def = *def;
    e->began_ns = flr_clock_ns(def->env);
    e->cpu = def->cpu >= 0 ? def->cpu : def->priority > 0 ? flr_privileges_choose_cpu() : -1;
    e->tuning = flr_default_parameters();
    flr_engine_choose_contact(&e->def, &e->tuning.world);
    e->preset = e->tuning;
    e->unit_metres = 0.001;
    memcpy(e->unit, "mm", 3);
    for (int i = 0; i < FLR_WORLD_REMOTE_COUPLINGS; i++) e->coupled_parts[i] = FLR_ENGINE_NONE;
    flr_result result = copy_texts(e) ? FLR_OK : flr_engine_no_memory(error);
    if (result == FLR_OK) result = make_stepper(e, error);
    if (result == FLR_OK) result = make_loop(e, error);
    if (result == FLR_OK) result = flr_engine_list_recordings(e, error);
    if (result == FLR_OK)
        result =
            flr_jobs_create(def->workers, e->cpu, def->wake, def->wake_context, &e->jobs, error);
    if (result != FLR_OK) {
        flr_engine_destroy(e);
        return result;
    }
    *engine = e;
    return FLR_OK;
}

/* ---- what the loop gave back ---- */

static const char *name_of(const flr_engine *e, uint32_t part)
{
    const flr_part_entry *member = flr_part_list_find(&e->members, part);
    return member ? member->name : "a part";
}

/* The loop has what was sent to it: parts that are new to it can be touched from now on. */
static void welcome_parts(flr_engine *e)
{
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_part_entry *m = &e->members.list[i];
        if (!m->sent || m->there) continue;
        m->there = true;
        flr_engine_suspect_overlaps(e);
        flr_engine_tell_part(e, m);
    }
}

static void take_notice(flr_engine *e, const flr_notice *n)
{
    switch (n->kind) {
    case FLR_NOTICE_INSTANCE:
        flr_engine_discard(e, n->what.instance, NULL);
        e->rebuilding = false;
        welcome_parts(e);
        break;
    case FLR_NOTICE_STATIC_SCENE:
        if (n->refused &&
            e->merged == n->what.merged) { /* not taken: something has moved meanwhile */
            flr_static_scene_release(e->merged);
            e->merged = NULL;
        }
        flr_static_scene_release(n->what.merged);
        break;
    case FLR_NOTICE_TAPE:
        flr_engine_tape_back(e, n->what.tap);
        break;
    case FLR_NOTICE_GRABBED:
        flr_engine_news(e, FLR_WIRE_EVENT_GRABBED, flr_engine_part_id(e, n->part),
                        flr_hand(n->hand), "hand %u took %s", n->hand, name_of(e, n->part));
        flr_engine_tell_overlap(e, n->part);
        break;
    case FLR_NOTICE_PLACED:
        flr_engine_suspect_overlaps(e);
        break;
    case FLR_NOTICE_UNDONE:
        FLR_ENGINE_NOTE(e, "there is nothing %sto undo: no part was taken, placed or reset before",
                        n->partly ? "more " : "");
        break;
    case FLR_NOTICE_RELEASED:
        flr_engine_settle_overlaps(e);
        flr_engine_news(e, FLR_WIRE_EVENT_RELEASED, flr_engine_part_id(e, n->part),
                        flr_hand(n->hand), "hand %u let go of %s", n->hand, name_of(e, n->part));
        break;
    case FLR_NOTICE_WAITING:
        flr_engine_tell_waiting(e, n->there);
        break;
    case FLR_NOTICE_FAULT:
        flr_engine_news(e, FLR_WIRE_EVENT_FAULT, FLR_NO_PART_ID, FLR_NO_HAND_ID,
                        "the step saw faults 0x%x; what was wrong was left out", n->faults);
        break;
    }
}

/* The next notice, unless it gives back what the newest snapshot may point to: then it comes with the next frame. `ended`: the
 * loop does not run any more, and nobody looks at a snapshot. */
static bool next_notice(flr_engine *e, bool ended)
{
    if (!e->notice_waits) e->notice_waits = flr_ring_pop(e->stepper->notices, &e->notice);
    if (!e->notice_waits) return false;
    if (flr_notice_retires(&e->notice)) {
        const flr_snapshot *newest = ended ? NULL : flr_engine_snapshot(e);
        if (newest && newest->retired <= e->retired) return false;
        e->retired++;
    }
    e->notice_waits = false;
    return true;
}

static void take_notices(flr_engine *e, bool ended)
{
    while (next_notice(e, ended)) take_notice(e, &e->notice);
    uint32_t lost = (uint32_t)atomic_load_explicit(&e->stepper->notices_lost, memory_order_relaxed);
    if (lost == e->notices_lost) return;
    FLR_ENGINE_WARN(e, "%u events of the loop were left out: too many happened at once",
                    lost - e->notices_lost);
    e->notices_lost = lost;
    /* parts may have been put somewhere */
    flr_engine_suspect_overlaps(e);
}

/* ---- ending ---- */

/* Orders that never reached the loop carry things, too: frames in which nothing moves take them all. */
static void drain(flr_engine *e)
{
    e->stepper->paused = true;
    flr_loop_run(e->loop, ORDERS / 16);
    take_notices(e, true);
}

void flr_engine_destroy(flr_engine *e)
{
    if (!e) return;
    if (e->loop) {
        flr_loop_stop(e->loop);
        flr_engine_free_replay(e);
        flr_jobs_destroy(e->jobs);
        e->jobs = NULL;
        drain(e);
        flr_loop_destroy(e->loop);
    }
    flr_engine_free_recordings(e);
    flr_engine_close_devices(e);
    flr_engine_free_look(e);
    flr_engine_free_merged(e);
    if (e->stepper) {
        flr_world_instance_free(e->stepper->instance);
        flr_static_scene_release(e->stepper->merged);
        flr_ring_destroy(e->stepper->notices);
        flr_stepper_free_couplings(e->stepper);
        free(e->stepper);
    }
    flr_part_list_free(&e->members);
    flr_group_list_free(&e->groups);
    flr_review_destroy(e->review);
    flr_sources_free(&e->sources);
    for (int i = 0; i < 4; i++) free(e->texts[i]);
    free(e->pulses);
    free(e->events);
    free(e->view);
    free(e);
}

/* ---- running ---- */

void flr_engine_keep_off(const flr_engine *e) { flr_privileges_keep_off(e->cpu); }

flr_result flr_engine_start(flr_engine *e, flr_error *error)
{
    if (flr_loop_is_running(e->loop))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the loop runs already");
    return flr_loop_start(e->loop, 0, error);
}

void flr_engine_stop(flr_engine *e) { flr_loop_stop(e->loop); }

void flr_engine_run(flr_engine *e, uint64_t frames) { flr_loop_run(e->loop, frames); }

void flr_engine_send_surely(flr_engine *e, const flr_sim_command *command)
{
    FLR_ASSERT(flr_sim_command_row_of(command->kind)->late != FLR_SIM_COMMAND_LATE_NEVER);
    if (e->late_count == 0 && flr_loop_send(e->loop, command)) return;
    uint32_t i = 0;
    while (i < e->late_count && !flr_sim_command_replaces(command, &e->late[i])) i++;
    FLR_ASSERT(i < FLR_COMMANDS_LATE);
    e->late[i] = *command;
    if (i == e->late_count) e->late_count++;
}

static void send_late(flr_engine *e)
{
    uint32_t sent = 0;
    while (sent < e->late_count && flr_loop_send(e->loop, &e->late[sent])) sent++;
    e->late_count -= sent;
    memmove(e->late, e->late + sent, e->late_count * sizeof *e->late);
}

static void end_job(flr_engine *e, flr_job *job)
{
    if (job->done) job->done(e, job);
    if (job->more) {
        flr_jobs_post(e->jobs, job);
        return;
    }
    flr_job_end(job);
    if (job->info.job > 0) flr_engine_tell(e, FLR_ENGINE_EVENT_JOB)->job = job->info;
    job->drop(job);
}

flr_stall_doing flr_engine_doing(flr_engine *e, const char *doing, const char *what)
{
    return flr_stall_set_doing(e->def.stall, doing, what);
}

void flr_engine_service(flr_engine *e)
{
    flr_engine_job changed;
    flr_job *ended;
    send_late(e);
    take_notices(e, false);
    flr_jobs_do_one(e->jobs);
    while (flr_jobs_changed(e->jobs, &changed))
        flr_engine_tell(e, FLR_ENGINE_EVENT_JOB)->job = changed;
    while ((ended = flr_jobs_take_ended(e->jobs))) end_job(e, ended);
    for (uint32_t h = 0; h < e->def.hands; h++) flr_loop_exchanging(e->loop, h);
    flr_engine_rebuild(e);
    flr_engine_keep_merged(e);
    flr_engine_keep_looking(e);
    flr_engine_keep_gaps(e);
    flr_engine_keep_overlaps(e);
    flr_engine_keep_files(e);
    flr_engine_keep_ways(e);
    flr_engine_keep_taping(e);
    flr_engine_keep_shapes(e);
    flr_engine_page(e);
    flr_engine_feel_pulse(e);
}

/* ---- telling ---- */

flr_result flr_engine_send(flr_engine *e, const flr_sim_command *command, flr_error *error)
{
    if (e->late_count == 0 && flr_loop_send(e->loop, command)) return FLR_OK; /* none overtakes */
    return flr_fail(error, FLR_AGAIN, "too much is on its way to the loop; try again");
}

flr_result flr_engine_post(flr_engine *e, flr_job *job, uint8_t kind, flr_part_id part,
                           const char *name, uint32_t *number)
{
    atomic_init(&job->cancelled, false);
    if (name) {
        job->info.job = ++e->next_job;
        job->info.kind = kind;
        flr_text_copy(job->info.name, sizeof job->info.name, name);
    }
    job->info.part = part;
    if (number) *number = job->info.job;
    if (name) flr_engine_tell(e, FLR_ENGINE_EVENT_JOB)->job = job->info;
    flr_jobs_post(e->jobs, job);
    return FLR_OK;
}

flr_result flr_engine_can_post(const flr_engine *e, flr_error *error)
{
    if (flr_jobs_count(e->jobs) < FLR_ENGINE_JOBS) return FLR_OK;
    return flr_fail(error, FLR_AGAIN, "%d jobs wait already; try again when some have ended",
                    FLR_ENGINE_JOBS);
}

flr_result flr_engine_cancel(flr_engine *e, uint32_t job, flr_error *error)
{
    if (flr_jobs_cancel(e->jobs, job)) return FLR_OK;
    return flr_fail(error, FLR_NOT_FOUND, "there is no job %u; it may have ended", job);
}

uint32_t flr_engine_jobs(const flr_engine *e) { return flr_jobs_count(e->jobs); }

bool flr_engine_job_at(const flr_engine *e, uint32_t index, flr_engine_job *job)
{
    return flr_jobs_at(e->jobs, index, job);
}
