/* a recording shown in place of what the loop does */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/text.h"
#include "sim/engine_internal.h"

/* Frames are kept so far apart: a page shows sixty a second. */
static const int64_t apart_ns = 8000000;
enum { PLAYBACK_CONTACTS = 16 };

typedef struct moment {
    flr_record_frame frame;
    flr_record_contact contacts[PLAYBACK_CONTACTS];
} moment;

/* what a worker read */
typedef struct reel {
    uint32_t hands, parts; /* of each moment */
    uint64_t count, room;
    moment *moments;                     /* [count] */
    flr_record_hand *hand;               /* [count][hands] */
    flr_record_part *part;               /* [count][parts] */
    char (*names)[FLR_ENGINE_NAME_SIZE]; /* [parts] */
    uint32_t *numbers;                   /* [parts]: what frames call them */
} reel;

struct flr_replay {
    reel reel;
    uint32_t recording;
    uint32_t *ids; /* [reel.parts]: parts of the scene of the same names; FLR_ENGINE_NONE: none */
    bool playing;
    bool was_paused; /* the loop, before */
    double seconds, speed;
    int64_t since_ns; /* of the clock: when `seconds` was so */
};

static void free_reel(reel *r)
{
    free(r->moments);
    free(r->hand);
    free(r->part);
    free(r->names);
    free(r->numbers);
    memset(r, 0, sizeof *r);
}

/* ---- reading ---- */

typedef struct reel_job {
    flr_job job;
    flr_env *env;
    char path[FLR_CACHE_PATH_SIZE];
    uint32_t recording;
    flr_recording *file; /* NULL: not open yet */
    double length;       /* seconds; 0: not known */
    flr_error lost;      /* what damage has cost; FLR_OK: there is none */
    reel reel;
} reel_job;

/* Somebody waits, so it is the quick worker's; but others wait, too: so long at a time. */
static const int64_t slice_ns = 100000000;

static bool grow(reel *r)
{
    if (r->count < r->room) return true;
    uint64_t room = r->room ? 2 * r->room : 1024;
    if (!flr_array_resize(&r->moments, room, sizeof *r->moments) ||
        !flr_array_resize(&r->hand, room * r->hands + 1, sizeof *r->hand) ||
        !flr_array_resize(&r->part, room * r->parts + 1, sizeof *r->part))
        return false;
    r->room = room;
    return true;
}

static bool keep(reel *r, const flr_record_view *view)
{
    if (!grow(r)) return false;
    moment *m = &r->moments[r->count];
    m->frame = view->frame;
    if (m->frame.contacts_given > PLAYBACK_CONTACTS) m->frame.contacts_given = PLAYBACK_CONTACTS;
    memcpy(m->contacts, view->contacts, m->frame.contacts_given * sizeof *m->contacts);
    memcpy(&r->hand[r->count * r->hands], view->hands, r->hands * sizeof *view->hands);
    memcpy(&r->part[r->count * r->parts], view->parts, r->parts * sizeof *view->parts);
    r->count++;
    return true;
}

/* The names of what moved, in order. */
static flr_result read_names(const flr_recording *recording, reel *r, flr_error *error)
{
    r->names = calloc((size_t)r->parts + 1, sizeof *r->names);
    r->numbers = calloc((size_t)r->parts + 1, sizeof *r->numbers);
    if (!r->names || !r->numbers) return flr_engine_no_memory(error);
    for (uint32_t i = 0, found = 0; found < r->parts; i++) {
        char key[48];
        snprintf(key, sizeof key, "parts.%u.name", i);
        const char *name = flr_recording_text(recording, key);
        snprintf(key, sizeof key, "parts.%u.moving", i);
        const char *moving = flr_recording_text(recording, key);
        if (!name || !moving) break;
        if (strcmp(moving, "true") != 0) continue;
        r->numbers[found] = i;
        flr_text_copy(r->names[found++], sizeof *r->names, name);
    }
    return FLR_OK;
}

static flr_result read_moments(reel_job *j, flr_error *error)
{
    flr_record_view view;
    flr_result result;
    int64_t end_ns = flr_clock_ns(j->env) + slice_ns;
    while ((result = flr_recording_next(j->file, &view, error)) == FLR_OK) {
        flr_recording_skip_to(j->file, view.frame.time_ns + apart_ns);
        reel *r = &j->reel;
        if (r->count == 0) {
            r->hands = view.hand_count < FLR_ENGINE_HANDS ? view.hand_count : FLR_ENGINE_HANDS;
            r->parts = view.part_count;
        }
        if (view.part_count < r->parts || view.hand_count < r->hands)
            return flr_fail(error, FLR_BAD_INPUT,
                            "%s: damaged: frame %llu has fewer parts or hands than those before it",
                            j->path, (unsigned long long)view.frame.frame);
        if (!keep(r, &view)) return flr_engine_no_memory(error);
        if (flr_clock_ns(j->env) < end_ns) continue;
        double done = 1e-9 * (double)view.frame.time_ns;
        if (!flr_job_progress(&j->job, j->length > done ? done / j->length : 0.5,
                              "reading the recording"))
            return flr_fail(error, FLR_CANCELLED, "cancelled");
        j->job.more = true;
        return FLR_OK;
    }
    if (result != FLR_CLOSED) return result;
    if (!flr_recording_damaged(j->file, &j->lost) && !flr_recording_complete(j->file))
        flr_fail(&j->lost, FLR_BAD_INPUT,
                 "%s is cut off: its writer was stopped, or the file was; it is shown up to its "
                 "last whole chunk",
                 j->path);
    return j->reel.count > 0
               ? read_names(j->file, &j->reel, error)
               : flr_fail(error, FLR_BAD_INPUT,
                          "%s: there is no whole frame in it; its writer was stopped before the "
                          "first was on the disk",
                          j->path);
}

static void reel_work(flr_job *job)
{
    reel_job *j = (reel_job *)job;
    uint64_t frames;
    job->result = FLR_OK;
    if (!j->file) {
        job->result = flr_recording_open(j->env, j->path, &j->file, &job->error);
        if (job->result == FLR_OK && !flr_recording_length(j->file, &frames, &j->length))
            j->length = 0;
    }
    if (job->result == FLR_OK) job->result = read_moments(j, &job->error);
}

static void send_pause(flr_engine *e, bool paused)
{
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_PAUSE, .as.pause = {.paused = paused}};
    flr_engine_send_surely(e, &command);
}

static void reel_done(flr_engine *e, flr_job *job)
{
    reel_job *j = (reel_job *)job;
    if (job->result != FLR_OK || job->more) return;
    flr_replay *r = calloc(1, sizeof *r);
    uint32_t *ids = calloc((size_t)j->reel.parts + 1, sizeof *ids);
    if (!r || !ids) {
        free(r);
        free(ids);
        return;
    }
    bool was_paused = e->replay ? e->replay->was_paused : flr_engine_view(e)->paused;
    flr_engine_free_replay(e);
    for (uint32_t i = 0; i < j->reel.parts; i++) {
        ids[i] = FLR_ENGINE_NONE;
        for (uint32_t k = 0; k < e->members.count; k++)
            if (strcmp(e->members.list[k].name, j->reel.names[i]) == 0)
                ids[i] = e->members.list[k].part;
    }
    *r = (flr_replay){.reel = j->reel,
                      .recording = j->recording,
                      .ids = ids,
                      .was_paused = was_paused,
                      .speed = 1,
                      .since_ns = flr_clock_ns(e->def.env)};
    memset(&j->reel, 0, sizeof j->reel);
    e->replay = r;
    if (j->lost.code != FLR_OK) FLR_ENGINE_WARN(e, "%s", j->lost.message);
    send_pause(e, true);
    flr_engine_tell(e, FLR_ENGINE_EVENT_REPLAY);
}

static void reel_drop(flr_job *job)
{
    reel_job *j = (reel_job *)job;
    flr_recording_close(j->file);
    free_reel(&j->reel);
    free(j);
}

flr_result flr_engine_replay(flr_engine *e, uint32_t recording, uint32_t *number, flr_error *error)
{
    flr_engine_recording info;
    if (!flr_engine_recording_at(e, recording, &info))
        return flr_fail(error, FLR_NOT_FOUND, "there is no recording %u", recording);
    if (!info.finished)
        return flr_fail(error, FLR_AGAIN, "the recording %s is not finished", info.name);
    flr_result result = flr_engine_can_post(e, error);
    if (result != FLR_OK) return result;
    reel_job *j = calloc(1, sizeof *j);
    if (!j) return flr_engine_no_memory(error);
    j->env = e->def.env;
    j->recording = recording;
    flr_text_copy(j->path, sizeof j->path, info.path);
    j->job = (flr_job){.quick = true, .work = reel_work, .done = reel_done, .drop = reel_drop};
    return flr_engine_post(e, &j->job, FLR_WIRE_JOB_LOAD, FLR_NO_PART_ID, info.name, number);
}

/* ---- playing ---- */

static double length_of(const flr_replay *r)
{
    return 1e-9 * (double)r->reel.moments[r->reel.count - 1].frame.time_ns;
}

/* Where it is now. */
static void move_on(flr_engine *e)
{
    flr_replay *r = e->replay;
    int64_t now = flr_clock_ns(e->def.env);
    if (r->playing) r->seconds += r->speed * 1e-9 * (double)(now - r->since_ns);
    r->since_ns = now;
    double length = length_of(r);
    if (r->seconds >= length || r->seconds < 0) r->playing = false;
    r->seconds = r->seconds < 0 ? 0 : r->seconds > length ? length : r->seconds;
}

static flr_result check(const flr_engine *e, flr_error *error)
{
    return e->replay ? FLR_OK : flr_fail(error, FLR_NOT_FOUND, "no recording is shown");
}

flr_result flr_engine_replay_seek(flr_engine *e, double seconds, flr_error *error)
{
    flr_result result = check(e, error);
    if (result == FLR_OK && !isfinite(seconds))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "that is no time in a recording");
    if (result != FLR_OK) return result;
    move_on(e);
    e->replay->seconds = seconds;
    return FLR_OK;
}

flr_result flr_engine_replay_play(flr_engine *e, bool play, double speed, flr_error *error)
{
    flr_result result = check(e, error);
    if (result == FLR_OK && !(fabs(speed) <= 100))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "a speed of %g; choose -100 to 100", speed);
    if (result != FLR_OK) return result;
    move_on(e);
    flr_replay *r = e->replay;
    if (play && speed > 0 && r->seconds >= length_of(r)) r->seconds = 0;
    r->playing = play;
    r->speed = speed;
    return FLR_OK;
}

flr_result flr_engine_replay_end(flr_engine *e, flr_error *error)
{
    flr_result result = check(e, error);
    if (result != FLR_OK) return result;
    bool paused = e->replay->was_paused;
    flr_engine_free_replay(e);
    send_pause(e, paused);
    flr_engine_tell(e, FLR_ENGINE_EVENT_REPLAY);
    return FLR_OK;
}

void flr_engine_free_replay(flr_engine *e)
{
    if (!e->replay) return;
    free_reel(&e->replay->reel);
    free(e->replay->ids);
    free(e->replay);
    e->replay = NULL;
}

void flr_engine_get_replay(flr_engine *e, flr_engine_replay_state *state)
{
    memset(state, 0, sizeof *state);
    if (!e->replay) return;
    move_on(e);
    *state = (flr_engine_replay_state){.active = true,
                                       .playing = e->replay->playing,
                                       .recording = e->replay->recording,
                                       .seconds = e->replay->seconds,
                                       .length = length_of(e->replay),
                                       .speed = e->replay->speed};
}

/* ---- showing ---- */

static uint64_t moment_at(const reel *r, double seconds)
{
    int64_t time = (int64_t)(seconds * 1e9);
    uint64_t later;
    FLR_BISECT(later, r->count, r->moments[later].frame.time_ns <= time);
    return later > 0 ? later - 1 : 0;
}

static void show_part(flr_engine_state *s, flr_part_id part, flr_pose pose, uint32_t look)
{
    uint32_t at = flr_engine_state_find(s, part);
    if (at == FLR_ENGINE_NONE) return;
    s->parts[at].T_world_part = pose;
    s->parts[at].look = look;
}

/* The part that a frame means; none, if it is not in the scene. */
static flr_part_id part_of(const flr_replay *r, uint32_t scene, uint32_t number)
{
    for (uint32_t i = 0; i < r->reel.parts; i++)
        if (r->reel.numbers[i] == number) return flr_part_id_of(scene, r->ids[i]);
    return FLR_NO_PART_ID;
}

/* What is shown, in the orientation that the scene has now: it may have been turned since. */
static void turn_shown(const flr_engine *e, flr_engine_state *s)
{
    const flr_quat from = e->recordings[e->replay->recording].turned;
    if (memcmp(&from, &e->turned, sizeof from) == 0) return;
    const flr_pose turn = {.q = flr_turn_between(from, e->turned)};
    for (uint32_t i = 0; i < e->replay->reel.parts; i++) {
        const uint32_t at = flr_engine_state_find(s, flr_part_id_of(s->scene, e->replay->ids[i]));
        if (at == FLR_ENGINE_NONE) continue;
        s->parts[at].T_world_part = flr_pose_mul(turn, s->parts[at].T_world_part);
    }
    for (uint32_t h = 0; h < s->hand_count && h < e->replay->reel.hands; h++) {
        flr_engine_hand_state *hand = &s->hands[h];
        hand->T_world_hand = hand->T_world_ghost = flr_pose_mul(turn, hand->T_world_hand);
        hand->wrench.force = flr_pose_apply_vector(turn, hand->wrench.force);
        hand->wrench.torque = flr_pose_apply_vector(turn, hand->wrench.torque);
    }
    for (uint32_t i = 0; i < s->contacts_given; i++) {
        s->contacts[i].point = flr_pose_apply(turn, s->contacts[i].point);
        s->contacts[i].force = flr_pose_apply_vector(turn, s->contacts[i].force);
    }
}

bool flr_engine_show_replay(flr_engine *e, flr_engine_state *s)
{
    flr_replay *r = e->replay;
    if (!r) return false;
    move_on(e);
    const reel *film = &r->reel;
    uint64_t at = moment_at(film, r->seconds);
    const moment *m = &film->moments[at];
    s->replaying = true;
    s->points_tested = m->frame.points_tested;
    s->contact_count = m->frame.contacts;
    s->lower = m->frame.lower;
    s->upper = m->frame.upper;
    s->energy = m->frame.energy;
    s->limited = m->frame.travel_limited;
    s->stopped = m->frame.stopped;
    s->faults = m->frame.faults;
    s->queued = s->late = 0;
    s->max_travel = INFINITY;
    s->compute_last_us = m->frame.compute_us;
    s->deepest = 0;
    s->contacts_given = m->frame.contacts_given;
    for (uint32_t i = 0; i < s->part_count; i++) s->parts[i].look = FLR_WIRE_LOOK_PLAIN;
    for (uint32_t i = 0; i < film->parts; i++) {
        uint32_t look = FLR_WIRE_LOOK_PLAIN;
        for (uint32_t k = 0; k < m->frame.contacts_given; k++)
            if (m->contacts[k].part == film->numbers[i]) look = FLR_WIRE_LOOK_COLLIDING;
        show_part(s, flr_part_id_of(s->scene, r->ids[i]),
                  film->part[at * film->parts + i].T_world_part, look);
    }
    for (uint32_t h = 0; h < s->hand_count; h++) {
        flr_engine_hand_state *to = &s->hands[h];
        to->held = to->touched = FLR_NO_PART_ID;
        if (h >= film->hands) continue;
        const flr_record_hand *hand = &film->hand[at * film->hands + h];
        to->T_world_hand = to->T_world_ghost = hand->T_world_hand;
        to->wrench = hand->wrench;
        to->buttons = hand->buttons;
        to->held = part_of(r, s->scene, hand->part);
    }
    for (uint32_t i = 0; i < s->contacts_given; i++) {
        const flr_record_contact *c = &m->contacts[i];
        double force = c->depth * e->tuning.world.contact.stiffness;
        if (c->depth > s->deepest) s->deepest = c->depth;
        s->contacts[i] = (flr_engine_contact){.point = c->point,
                                              .force = flr_vec3_scale(c->normal, force),
                                              .depth = c->depth,
                                              .part = part_of(r, s->scene, c->part),
                                              .other = FLR_NO_PART_ID};
    }
    turn_shown(e, s);
    return true;
}
