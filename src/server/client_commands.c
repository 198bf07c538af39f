/* what a client may ask for, one function each */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/client_session.h"
#include "sim/commands.h"
#include "sim/way.h"

typedef struct call {
    flr_client_session *session;
    flr_hub *hub;
    flr_engine *engine;
    const flr_message *message;
    int64_t now;
    flr_error error;
} call;

static void answer(call *c, flr_result result, uint32_t value)
{
    flr_client_session_answer(c->session, c->message, result, value, &c->error);
}

static flr_part_id part_of(const call *c, uint32_t index)
{
    return flr_engine_part_id(c->engine, index);
}

/* ---- talk ---- */

static void do_bye(call *c) { flr_client_session_end(c->session, FLR_OK, "goodbye"); }

static void do_ping(call *c)
{
    flr_message pong = {.id = FLR_MSG_PONG, .request = c->message->request};
    pong.as.pong.stamp = c->message->as.ping.stamp;
    pong.as.pong.time_us = (uint64_t)(c->now - c->hub->began) / 1000;
    flr_client_session_send(c->session, &pong);
}

static void do_nothing(call *c) { (void)c; }

static void do_health(call *c)
{
    flr_client_session_send_health(c->session, c->message->request, c->now);
}

static void do_watch(call *c)
{
    flr_client_session *session = c->session;
    const flr_msg_watch *watch = &c->message->as.watch;
    uint32_t rate = watch->state_rate;
    if (rate > c->hub->def.limits.max_state_rate) rate = c->hub->def.limits.max_state_rate;
    uint32_t before = session->wants;
    session->wants = watch->wants;
    session->period = rate > 0 ? INT64_C(1000000000) / rate : 0;
    session->due = c->now;
    if (watch->wants & ~before & FLR_WIRE_WANT_PROXIMITY) session->near_number = 0;
    if (watch->wants & ~before & FLR_WIRE_WANT_VOXELS) session->voxels_number = 0;
    flr_client_session_done(session, c->message->request, 0);
    /* a new watcher receives earlier reports that still hold */
    flr_message message = {.id = FLR_MSG_EVENT};
    char sentence[FLR_ERROR_MESSAGE_SIZE];
    flr_part_id part;
    if ((watch->wants & ~before & FLR_WIRE_WANT_EVENTS) &&
        flr_engine_overlap(c->engine, &part, sentence)) {
        message.as.event.part = part.index;
        message.as.event.kind = FLR_WIRE_EVENT_WARNING;
        message.as.event.hand = FLR_ENGINE_NONE;
        message.as.event.sentence = flr_wire_text_of(sentence);
        flr_client_session_send(session, &message);
    }
    flr_engine_job job;
    if (watch->wants & ~before & FLR_WIRE_WANT_JOBS)
        for (uint32_t i = 0; flr_engine_job_at(c->engine, i, &job); i++)
            flr_client_session_send_job(session, &job);
}

static void do_state(call *c)
{
    size_t size = flr_client_session_state(c->session, c->message->request, true, c->now,
                                           c->hub->scratch, c->hub->scratch_size);
    flr_client_session_queue(c->session, c->hub->scratch, size);
}

static void do_mesh(call *c)
{
    const flr_msg_mesh_ask *ask = &c->message->as.mesh_ask;
    flr_mesh_id mesh = flr_engine_mesh_id(c->engine, ask->mesh);
    if (!flr_engine_mesh(c->engine, mesh, NULL)) {
        answer(c, flr_fail(&c->error, FLR_NOT_FOUND, "there is no mesh %u", ask->mesh), 0);
        return;
    }
    if (!flr_client_session_ask_mesh(c->session, c->message->request, mesh, ask->triangles))
        answer(c,
               flr_fail(&c->error, FLR_AGAIN,
                        "too many meshes are asked for; wait for those on their way"),
               0);
}

static void do_overlay(call *c)
{
    const flr_msg_overlay_ask *ask = &c->message->as.overlay_ask;
    flr_overlay_request *wanted = NULL;
    /* before a job is posted: what is refused must cost nothing */
    flr_result result = FLR_OK;
    if (!flr_client_session_can_ask_overlay(c->session))
        result =
            flr_fail(&c->error, FLR_AGAIN, "too much is asked for; wait for what is on its way");
    if (result == FLR_OK)
        result = flr_overlay_begin(c->engine, part_of(c, ask->part), ask->kind, ask->limit, &wanted,
                                   &c->error);
    if (result == FLR_OK &&
        !flr_client_session_ask_overlay(c->session, c->message->request, wanted))
        result = flr_fail(&c->error, FLR_NO_MEMORY, "the controller has no memory left");
    if (result != FLR_OK) answer(c, result, 0);
}

/* ---- hands and parts ---- */

static void mark_hand(call *c, uint32_t hand)
{
    if (hand >= FLR_ENGINE_HANDS) return;
    /* it is whose who used it last: others that go do not let go of what it holds */
    for (flr_client_session *other = c->hub->sessions; other; other = other->next)
        other->hands &= ~(1u << hand);
    c->session->hands |= 1u << hand;
}

/* any command of commands.def */
static void do_command(call *c)
{
    const flr_sim_command_row *row = flr_sim_command_find(c->message->id);
    flr_result result = flr_engine_command(c->engine, c->message, &c->error);
    uint32_t shared;
    memcpy(&shared, (const char *)&c->message->as + row->shared, sizeof shared);
    if (result == FLR_OK && row->share == FLR_SIM_COMMAND_SHARE_HAND) mark_hand(c, shared);
    if (result == FLR_OK && row->share == FLR_SIM_COMMAND_SHARE_PART && c->hub->share)
        flr_share_tell_held(c->hub->share, part_of(c, shared));
    if (result == FLR_OK && row->share == FLR_SIM_COMMAND_SHARE_ALL && c->hub->share)
        flr_share_tell_held(c->hub->share, FLR_NO_PART_ID);
    answer(c, result, 0);
}

static void do_hand_input(call *c)
{
    const flr_msg_hand_input *input = &c->message->as.hand_input;
    if (flr_engine_hand_input(c->engine, flr_hand(input->hand), input->T_world_hand, input->buttons,
                              &c->error) == FLR_OK)
        mark_hand(c, input->hand);
}

/* ---- parameters, devices ---- */

static void do_parameters(call *c)
{
    for (uint32_t i = 0; i < flr_engine_parameters(c->engine); i++)
        flr_client_session_send_parameter(c->session, c->message->request, i);
    flr_client_session_done(c->session, c->message->request, 0);
}

static void do_set(call *c)
{
    const flr_msg_set *set = &c->message->as.set;
    char name[65];
    snprintf(name, sizeof name, "%.*s", (int)set->name.size, set->name.size ? set->name.bytes : "");
    answer(c, flr_engine_set(c->engine, name, set->value, &c->error), 0);
}

static void do_mapping(call *c)
{
    const flr_msg_mapping_set *set = &c->message->as.mapping_set;
    const flr_engine_mapping mapping = {.scale = set->scale,
                                        .axes = set->axes,
                                        .boundary = set->boundary,
                                        .clutch_button =
                                            set->clutch_button == 255 ? -1 : set->clutch_button};
    answer(c, flr_engine_set_mapping(c->engine, flr_hand(set->hand), &mapping, &c->error), 0);
}

static void do_clutch(call *c)
{
    const flr_msg_clutch *clutch = &c->message->as.clutch;
    answer(c, flr_engine_hold_clutch(c->engine, flr_hand(clutch->hand), clutch->held, &c->error),
           0);
}

static void do_view_axes(call *c)
{
    const flr_msg_view_axes *view = &c->message->as.view_axes;
    answer(
        c,
        flr_engine_set_view_axes(c->engine, flr_hand(view->hand), view->T_world_view.q, &c->error),
        0);
}

static void do_devices(call *c)
{
    for (uint32_t i = 0; i < flr_engine_devices(c->engine); i++)
        flr_client_session_send_device(c->session, c->message->request, i);
    flr_client_session_done(c->session, c->message->request, 0);
}

static void do_select(call *c)
{
    const flr_msg_device_select *select = &c->message->as.device_select;
    answer(c, flr_engine_select(c->engine, flr_hand(select->hand), select->device, &c->error), 0);
}

/* ---- recordings ---- */

static void do_record_start(call *c)
{
    const flr_wire_text *name = &c->message->as.record_start.name;
    uint32_t recording = 0;
    flr_result result =
        flr_engine_record_start(c->engine, name->size ? name->bytes : NULL, &recording, &c->error);
    answer(c, result, recording);
}

static void do_record_rename(call *c)
{
    const flr_msg_record_rename *rename = &c->message->as.record_rename;
    char name[129];
    snprintf(name, sizeof name, "%.*s", (int)rename->name.size, rename->name.bytes);
    answer(c, flr_engine_record_rename(c->engine, rename->recording, name, &c->error), 0);
}

static void do_record_report(call *c)
{
    const flr_msg_record_report *report = &c->message->as.record_report;
    uint32_t job = 0;
    flr_result result = flr_engine_report_recording(c->engine, report->recording, report->clearance,
                                                    report->format, &job, &c->error);
    answer(c, result, job);
}

static void do_record_remove(call *c)
{
    answer(c,
           flr_engine_record_remove(c->engine, c->message->as.record_remove.recording, &c->error),
           0);
}

static void do_record_stop(call *c) { answer(c, flr_engine_record_stop(c->engine, &c->error), 0); }

static void do_recordings(call *c)
{
    for (uint32_t i = 0; i < flr_engine_recordings(c->engine); i++)
        flr_client_session_send_recording(c->session, c->message->request, i);
    flr_client_session_done(c->session, c->message->request, 0);
}

static flr_result read_piece(call *c, const char *path, uint8_t *bytes, uint32_t wanted,
                             size_t *got, uint64_t *total)
{
    flr_file *file;
    flr_result result = flr_file_open(c->hub->def.env, path, FLR_FILE_READ, &file, &c->error);
    if (result != FLR_OK) return result;
    result = flr_file_size(file, total, &c->error);
    uint64_t offset = c->message->as.record_fetch.offset;
    *got = 0;
    while (result == FLR_OK && *got < wanted && offset + *got < *total) {
        size_t more = 0;
        result = flr_file_read(file, offset + *got, bytes + *got, wanted - *got, &more, &c->error);
        if (more == 0) break;
        *got += more;
    }
    flr_file_close(file);
    return result;
}

static void do_record_fetch(call *c)
{
    enum { CLIENT_COMMANDS_PIECE = 262144 };
    const flr_msg_record_fetch *fetch = &c->message->as.record_fetch;
    flr_engine_recording recording = {0};
    bool found = false;
    for (uint32_t i = 0; !found && flr_engine_recording_at(c->engine, i, &recording); i++)
        found = recording.recording == fetch->recording;
    if (!found || !recording.finished) {
        answer(c,
               flr_fail(&c->error, found ? FLR_AGAIN : FLR_NOT_FOUND,
                        found ? "recording %u has not ended yet" : "there is no recording %u",
                        fetch->recording),
               0);
        return;
    }
    uint32_t wanted = fetch->size < CLIENT_COMMANDS_PIECE ? fetch->size : CLIENT_COMMANDS_PIECE;
    uint8_t *bytes = malloc(wanted ? wanted : 1);
    flr_message data = {.id = FLR_MSG_RECORD_DATA, .request = c->message->request};
    size_t got = 0;
    uint64_t total = 0;
    flr_result result =
        bytes ? read_piece(c, recording.path, bytes, wanted, &got, &total)
              : flr_fail(&c->error, FLR_NO_MEMORY, "the controller has no memory left");
    if (result == FLR_OK) {
        data.as.record_data.recording = fetch->recording;
        data.as.record_data.offset = fetch->offset;
        data.as.record_data.total = total;
        data.as.record_data.bytes = bytes;
        data.as.record_data.bytes_count = (uint32_t)got;
        flr_client_session_send(c->session, &data);
    } else {
        answer(c, result, 0);
    }
    free(bytes);
}

/* a recording has to be read first; what is wanted for it happens then */
static void do_replay(call *c)
{
    const flr_msg_replay *replay = &c->message->as.replay;
    flr_engine_replay_state now;
    flr_engine_get_replay(c->engine, &now);
    flr_result result = FLR_OK;
    uint32_t job = 0;
    c->hub->wanting = false;
    if (replay->recording == FLR_ENGINE_NONE) {
        if (now.active) result = flr_engine_replay_end(c->engine, &c->error);
    } else if (now.active && now.recording == replay->recording) {
        result = flr_engine_replay_seek(c->engine, replay->seconds, &c->error);
        if (result == FLR_OK)
            result = flr_engine_replay_play(c->engine, replay->playing, replay->speed, &c->error);
        if (result == FLR_OK) flr_hub_tell_replay(c->hub);
    } else {
        result = flr_engine_replay(c->engine, replay->recording, &job, &c->error);
        c->hub->wanted = *replay;
        c->hub->wanting = result == FLR_OK;
    }
    answer(c, result, job);
}

/* ---- scenes and meshes ---- */

static void do_load(call *c)
{
    uint32_t job = 0;
    const flr_wire_text *path = &c->message->as.load.path;
    flr_result result = path->size ? flr_engine_load(c->engine, path->bytes, &job, &c->error)
                                   : flr_fail(&c->error, FLR_BAD_ARGUMENT, "a scene has a name");
    answer(c, result, job);
}

static void do_upload(call *c) { flr_client_session_upload(c->session, c->message); }

static void do_remove(call *c)
{
    answer(c, flr_engine_remove(c->engine, part_of(c, c->message->as.remove.part), &c->error), 0);
}

/* parts into a group, a group that moves as one, or a group away */
static void do_regroup(call *c)
{
    const flr_msg_regroup *regroup = &c->message->as.regroup;
    const bool rigid = regroup->rigid == 1;
    char name[257];
    snprintf(name, sizeof name, "%.*s", (int)regroup->name.size,
             regroup->name.size ? regroup->name.bytes : "");
    if (regroup->parts_count == 0) {
        answer(c,
               regroup->rigid ? flr_engine_set_rigid(c->engine, name, rigid, &c->error)
                              : flr_engine_ungroup(c->engine, name, &c->error),
               0);
        return;
    }
    flr_part_id *parts = calloc(regroup->parts_count, sizeof *parts);
    flr_result result = FLR_NO_MEMORY;
    for (uint32_t i = 0; parts && i < regroup->parts_count; i++)
        parts[i] = part_of(c, regroup->parts[i]);
    if (parts)
        result = flr_engine_group(c->engine, name, parts, regroup->parts_count, &c->error);
    else
        flr_fail(&c->error, result, "not enough memory to group so many parts");
    free(parts);
    if (result == FLR_OK && regroup->rigid)
        result = flr_engine_set_rigid(c->engine, name, rigid, &c->error);
    answer(c, result, 0);
}

static void do_voxelize(call *c)
{
    const flr_msg_voxelize *voxelize = &c->message->as.voxelize;
    uint32_t job = 0;
    flr_result result = flr_engine_voxelize(c->engine, part_of(c, voxelize->part), voxelize->voxel,
                                            &job, &c->error);
    answer(c, result, job);
}

static void do_kind(call *c)
{
    const flr_msg_kind *kind = &c->message->as.kind;
    answer(c,
           flr_engine_set_kind(c->engine, part_of(c, kind->part), (flr_part_kind)kind->kind,
                               &c->error),
           0);
}

static void do_use(call *c)
{
    const flr_msg_use *use = &c->message->as.use;
    answer(c,
           flr_engine_set_use(c->engine, part_of(c, use->part), (flr_part_use)use->use, &c->error),
           0);
}

static void do_save(call *c)
{
    uint32_t job = 0;
    const flr_wire_text *name = &c->message->as.save.path;
    flr_result result =
        flr_engine_save_as(c->engine, name->size ? name->bytes : "", &job, &c->error);
    answer(c, result, job);
}

static void do_cancel(call *c)
{
    answer(c, flr_engine_cancel(c->engine, c->message->as.cancel.job, &c->error), 0);
}

/* ---- what workers find out ---- */

/* A place for a question; NULL: there are too many, which was answered. */
static flr_question *begin_question(call *c)
{
    flr_question *question = NULL;
    for (int i = 0; i < FLR_HUB_QUESTIONS && !question; i++) {
        if (c->hub->questions[i].token == 0) question = &c->hub->questions[i];
    }
    if (!question) {
        answer(c, flr_fail(&c->error, FLR_AGAIN, "too much is being measured; try again later"), 0);
        return NULL;
    }
    if (++c->hub->next_token == 0) ++c->hub->next_token;
    *question =
        (flr_question){c->hub->next_token, c->session->number, c->message->request, c->message->id};
    return question;
}

/* A worker is at it, or it was refused. */
static void end_question(call *c, flr_question *question, flr_result result)
{
    if (result == FLR_OK) return;
    question->token = 0;
    answer(c, result, 0);
}

static void do_clearance(call *c)
{
    const flr_msg_clearance_ask *ask = &c->message->as.clearance_ask;
    flr_question *question = begin_question(c);
    if (question)
        end_question(c, question,
                     flr_engine_clearance_ask(c->engine, part_of(c, ask->part),
                                              part_of(c, ask->other), ask->exact, question->token,
                                              &c->error));
}

static void do_clashes(call *c)
{
    flr_question *question = begin_question(c);
    if (question)
        end_question(c, question,
                     flr_engine_clashes_ask(c->engine, c->message->as.clashes_ask.clearance,
                                            question->token, &c->error));
}

static flr_engine_pick pick_of(const call *c, const flr_wire_pick *pick)
{
    return (flr_engine_pick){part_of(c, pick->part), pick->kind, pick->at, pick->reach};
}

static void do_measure(call *c)
{
    const flr_msg_measure_ask *ask = &c->message->as.measure_ask;
    flr_engine_pick first = pick_of(c, &ask->first), second = pick_of(c, &ask->second);
    flr_question *question = begin_question(c);
    if (question)
        end_question(c, question,
                     flr_engine_measure_ask(c->engine, &first, ask->both ? &second : NULL,
                                            question->token, &c->error));
}

static void do_gap_map(call *c)
{
    const flr_msg_gap_map_ask *ask = &c->message->as.gap_map_ask;
    flr_question *question = begin_question(c);
    if (question)
        end_question(c, question,
                     flr_engine_gap_map_ask(c->engine, part_of(c, ask->part), ask->reach,
                                            question->token, &c->error));
}

static void do_way(call *c)
{
    const flr_msg_way_ask *ask = &c->message->as.way_ask;
    flr_pose via[FLR_WAY_MAX_VIA];
    flr_engine_way_def def = flr_default_engine_way_def();
    def.part = part_of(c, ask->part);
    def.to_given = ask->has_goal, def.to = ask->goal;
    def.clearance = ask->clearance, def.seconds = ask->seconds, def.seed = ask->seed;
    def.via = via, def.via_count = ask->via_count / 7;
    for (size_t i = 0; i < def.via_count; i++) {
        const double *row = ask->via + 7 * i;
        via[i] = (flr_pose){{row[0], row[1], row[2]}, {row[3], row[4], row[5], row[6]}};
    }
    flr_question *question = begin_question(c);
    if (question)
        end_question(c, question,
                     flr_engine_way_ask(c->engine, &def, question->token, NULL, &c->error));
}

static flr_joint_axis axis_of(const flr_wire_joint_axis *axis)
{
    return (flr_joint_axis){.limited = axis->limited,
                            .low = axis->low,
                            .high = axis->high,
                            .friction = axis->friction,
                            .stiffness = axis->stiffness,
                            .rest = axis->rest,
                            .damping = axis->damping};
}

static void do_joint_set(call *c)
{
    const flr_msg_joint_set *set = &c->message->as.joint_set;
    char name[257];
    snprintf(name, sizeof name, "%.*s", (int)set->name.size, set->name.size ? set->name.bytes : "");
    const flr_joint joint = {.kind = (flr_joint_kind)set->kind,
                             .a = set->a,
                             .b = set->b,
                             .point = set->point,
                             .axis = set->axis,
                             .pitch = set->pitch,
                             .touch = set->touch,
                             .turn = axis_of(&set->turn),
                             .slide = axis_of(&set->slide)};
    answer(c,
           set->remove ? flr_engine_remove_joint(c->engine, name, &c->error)
                       : flr_engine_set_joint(c->engine, name, &joint, &c->error),
           0);
}

static void do_up_set(call *c)
{
    answer(c, flr_engine_set_up(c->engine, (flr_axis)c->message->as.up_set.axis, &c->error), 0);
}

static void do_reload(call *c) { answer(c, flr_engine_reload_files(c->engine, &c->error), 0); }

static void do_allow(call *c)
{
    const flr_msg_allow *allow = &c->message->as.allow;
    answer(c,
           flr_engine_allow(c->engine, part_of(c, allow->part), part_of(c, allow->other),
                            allow->allowed, &c->error),
           0);
}

static void do_note(call *c)
{
    const flr_msg_note_set *set = &c->message->as.note_set;
    flr_engine_note note = {
        .note = set->note, .part = part_of(c, set->part), .position = set->position};
    snprintf(note.text, sizeof note.text, "%.*s", (int)set->text.size,
             set->text.size ? set->text.bytes : "");
    flr_result result = flr_engine_set_note(c->engine, &note, &c->error);
    answer(c, result, note.note);
}

static void do_report(call *c)
{
    const flr_msg_report *report = &c->message->as.report;
    uint32_t job = 0;
    flr_result result =
        flr_engine_report_clashes(c->engine, report->clearance, report->format, &job, &c->error);
    answer(c, result, job);
}

/* ---- which of them who may ---- */

typedef struct client_commands_command {
    uint16_t id;
    uint32_t ability; /* 0: everybody */
    void (*run)(call *c);
} client_commands_command;

static const client_commands_command commands[] = {
/* clang-format off */
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc) {FLR_MSG_##NAME, FLR_WIRE_ABILITY_COMMAND, do_command},
#include "protocol/command_rows.h"
    /* clang-format on */
    {FLR_MSG_BYE, 0, do_bye},
    {FLR_MSG_PING, 0, do_ping},
    {FLR_MSG_PONG, 0, do_nothing},
    {FLR_MSG_HEALTH_ASK, 0, do_health},
    {FLR_MSG_WATCH, 0, do_watch},
    {FLR_MSG_MESH_ASK, 0, do_mesh},
    {FLR_MSG_OVERLAY_ASK, 0, do_overlay},
    {FLR_MSG_STATE_ASK, 0, do_state},
    {FLR_MSG_HAND_INPUT, FLR_WIRE_ABILITY_HAND, do_hand_input},
    {FLR_MSG_PARAMETERS_ASK, 0, do_parameters},
    {FLR_MSG_SET, FLR_WIRE_ABILITY_COMMAND, do_set},
    {FLR_MSG_DEVICES_ASK, 0, do_devices},
    {FLR_MSG_DEVICE_SELECT, FLR_WIRE_ABILITY_COMMAND, do_select},
    {FLR_MSG_MAPPING_SET, FLR_WIRE_ABILITY_COMMAND, do_mapping},
    {FLR_MSG_CLUTCH, FLR_WIRE_ABILITY_HAND, do_clutch},
    {FLR_MSG_VIEW_AXES, FLR_WIRE_ABILITY_HAND, do_view_axes},
    {FLR_MSG_RECORD_START, FLR_WIRE_ABILITY_RECORD, do_record_start},
    {FLR_MSG_RECORD_STOP, FLR_WIRE_ABILITY_RECORD, do_record_stop},
    {FLR_MSG_RECORD_RENAME, FLR_WIRE_ABILITY_RECORD, do_record_rename},
    {FLR_MSG_RECORD_REPORT, FLR_WIRE_ABILITY_RECORD, do_record_report},
    {FLR_MSG_RECORD_REMOVE, FLR_WIRE_ABILITY_RECORD, do_record_remove},
    {FLR_MSG_RECORDINGS_ASK, 0, do_recordings},
    {FLR_MSG_RECORD_FETCH, FLR_WIRE_ABILITY_RECORD, do_record_fetch},
    {FLR_MSG_REPLAY, FLR_WIRE_ABILITY_RECORD, do_replay},
    {FLR_MSG_LOAD, FLR_WIRE_ABILITY_LOAD, do_load},
    {FLR_MSG_UPLOAD, FLR_WIRE_ABILITY_UPLOAD, do_upload},
    {FLR_MSG_UPLOAD_BYTES, FLR_WIRE_ABILITY_UPLOAD, do_upload},
    {FLR_MSG_UPLOAD_TRIANGLES, FLR_WIRE_ABILITY_UPLOAD, do_upload},
    {FLR_MSG_UPLOAD_END, FLR_WIRE_ABILITY_UPLOAD, do_upload},
    {FLR_MSG_REMOVE, FLR_WIRE_ABILITY_COMMAND, do_remove},
    {FLR_MSG_REGROUP, FLR_WIRE_ABILITY_COMMAND, do_regroup},
    {FLR_MSG_VOXELIZE, FLR_WIRE_ABILITY_COMMAND, do_voxelize},
    {FLR_MSG_KIND, FLR_WIRE_ABILITY_COMMAND, do_kind},
    {FLR_MSG_USE, FLR_WIRE_ABILITY_COMMAND, do_use},
    {FLR_MSG_SAVE, FLR_WIRE_ABILITY_LOAD, do_save},
    {FLR_MSG_CANCEL, FLR_WIRE_ABILITY_COMMAND, do_cancel},
    {FLR_MSG_CLEARANCE_ASK, 0, do_clearance},
    {FLR_MSG_CLASHES_ASK, 0, do_clashes},
    {FLR_MSG_MEASURE_ASK, 0, do_measure},
    {FLR_MSG_GAP_MAP_ASK, 0, do_gap_map},
    {FLR_MSG_WAY_ASK, FLR_WIRE_ABILITY_COMMAND, do_way},
    {FLR_MSG_JOINT_SET, FLR_WIRE_ABILITY_COMMAND, do_joint_set},
    {FLR_MSG_UP_SET, FLR_WIRE_ABILITY_COMMAND, do_up_set},
    {FLR_MSG_RELOAD, FLR_WIRE_ABILITY_COMMAND, do_reload},
    {FLR_MSG_ALLOW, FLR_WIRE_ABILITY_COMMAND, do_allow},
    {FLR_MSG_NOTE_SET, FLR_WIRE_ABILITY_COMMAND, do_note},
    {FLR_MSG_REPORT, 0, do_report},
};

static const char *ability_name(uint32_t ability)
{
    switch (ability) {
    case FLR_WIRE_ABILITY_COMMAND:
        return "to give commands";
    case FLR_WIRE_ABILITY_HAND:
        return "to move a hand";
    case FLR_WIRE_ABILITY_UPLOAD:
        return "to upload";
    case FLR_WIRE_ABILITY_RECORD:
        return "to record";
    default:
        return "to name files of the controller's machine";
    }
}

void flr_client_session_command(flr_client_session *session, const flr_message *message,
                                int64_t now)
{
    call c = {.session = session,
              .hub = session->hub,
              .engine = session->hub->def.engine,
              .message = message,
              .now = now};
    const flr_wire_message *type = flr_wire_message_find(message->id);
    const client_commands_command *found = NULL;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0] && !found; i++) {
        if (commands[i].id == message->id) found = &commands[i];
    }
    flr_result result = FLR_OK;
    if (!found)
        result = flr_fail(&c.error, FLR_UNSUPPORTED, "this controller cannot do '%s'", type->name);
    else if (type->kind == FLR_KIND_COMMAND && message->request == 0)
        result = flr_fail(&c.error, FLR_BAD_INPUT,
                          "message '%s': a command has a request number other than 0", type->name);
    else if (found->ability && !(session->abilities & found->ability))
        result = flr_fail(&c.error, FLR_DENIED, "message '%s': you were not given the right %s",
                          type->name, ability_name(found->ability));
    else if (session->hub->share)
        result = flr_hub_check_share(session->hub, message->id, &c.error);
    flr_stall_doing before =
        flr_engine_doing(c.engine, "carrying out a client's command", type->name);
    if (result == FLR_OK)
        found->run(&c);
    else if (type->kind != FLR_KIND_INPUT)
        flr_client_session_fail(session, message, &c.error);
    flr_engine_doing(c.engine, before.doing, before.what);
}
