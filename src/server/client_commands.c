/* what a client may ask for, one function each */
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
    uint32_t token; /* of a command that a worker answers */
    uint32_t value; /* that goes with the answer */
    flr_error error;
} call;

static void copy_text(flr_wire_text from, char *to, size_t size)
{
    snprintf(to, size, "%.*s", (int)from.size, from.size ? from.bytes : "");
}

static flr_part_id part_of(const call *c, uint32_t index)
{
    return flr_engine_part_id(c->engine, index);
}

/* ---- talk ---- */

static flr_result do_bye(call *c)
{
    flr_client_session_end(c->session, FLR_OK, "goodbye");
    return FLR_OK;
}

static flr_result do_ping(call *c)
{
    flr_message pong = {.id = FLR_MSG_PONG, .request = c->message->request};
    pong.as.pong.stamp = c->message->as.ping.stamp;
    pong.as.pong.time_us = (uint64_t)(c->now - c->hub->began) / 1000;
    flr_client_session_send(c->session, &pong);
    return FLR_OK;
}

static flr_result do_nothing(call *c)
{
    (void)c;
    return FLR_OK;
}

static flr_result do_health(call *c)
{
    flr_client_session_send_health(c->session, c->message->request, c->now);
    return FLR_OK;
}

static flr_result do_watch(call *c)
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
    return FLR_OK;
}

static flr_result do_state(call *c)
{
    size_t size = flr_client_session_state(c->session, c->message->request, true, c->now,
                                           c->hub->scratch, c->hub->scratch_size);
    flr_client_session_queue(c->session, c->hub->scratch, size);
    return FLR_OK;
}

static flr_result do_mesh(call *c)
{
    const flr_msg_mesh_ask *ask = &c->message->as.mesh_ask;
    flr_mesh_id mesh = flr_engine_mesh_id(c->engine, ask->mesh);
    if (!flr_engine_mesh(c->engine, mesh, NULL))
        return flr_fail(&c->error, FLR_NOT_FOUND, "there is no mesh %u", ask->mesh);
    if (!flr_client_session_ask_mesh(c->session, c->message->request, mesh, ask->triangles))
        return flr_fail(&c->error, FLR_AGAIN,
                        "too many meshes are asked for; wait for those on their way");
    return FLR_OK;
}

static flr_result do_overlay(call *c)
{
    const flr_msg_overlay_ask *ask = &c->message->as.overlay_ask;
    flr_overlay_request *wanted = NULL;
    /* before a job is posted: what is refused must cost nothing */
    if (!flr_client_session_can_ask_overlay(c->session))
        return flr_fail(&c->error, FLR_AGAIN, "too much is asked for; wait for what is on its way");
    flr_result result = flr_overlay_begin(c->engine, part_of(c, ask->part), ask->kind, ask->limit,
                                          &wanted, &c->error);
    if (result == FLR_OK &&
        !flr_client_session_ask_overlay(c->session, c->message->request, wanted))
        result = flr_fail(&c->error, FLR_NO_MEMORY, "the controller has no memory left");
    return result;
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
static flr_result do_command(call *c)
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
    return result;
}

static flr_result do_hand_input(call *c)
{
    const flr_msg_hand_input *input = &c->message->as.hand_input;
    if (flr_engine_hand_input(c->engine, flr_hand(input->hand), input->T_world_hand, input->buttons,
                              &c->error) == FLR_OK)
        mark_hand(c, input->hand);
    return FLR_OK;
}

/* ---- parameters, devices ---- */

static flr_result do_parameters(call *c)
{
    for (uint32_t i = 0; i < flr_engine_parameters(c->engine); i++)
        flr_client_session_send_parameter(c->session, c->message->request, i);
    return FLR_OK;
}

static flr_result do_set(call *c)
{
    const flr_msg_set *set = &c->message->as.set;
    char name[65];
    copy_text(set->name, name, sizeof name);
    return flr_engine_set(c->engine, name, set->value, &c->error);
}

static flr_result do_mapping(call *c)
{
    const flr_msg_mapping_set *set = &c->message->as.mapping_set;
    const flr_engine_mapping mapping = {.scale = set->scale,
                                        .axes = set->axes,
                                        .boundary = set->boundary,
                                        .clutch_button =
                                            set->clutch_button == 255 ? -1 : set->clutch_button};
    return flr_engine_set_mapping(c->engine, flr_hand(set->hand), &mapping, &c->error);
}

static flr_result do_clutch(call *c)
{
    const flr_msg_clutch *clutch = &c->message->as.clutch;
    return flr_engine_hold_clutch(c->engine, flr_hand(clutch->hand), clutch->held, &c->error);
}

static flr_result do_view_axes(call *c)
{
    const flr_msg_view_axes *view = &c->message->as.view_axes;
    return flr_engine_set_view_axes(c->engine, flr_hand(view->hand), view->T_world_view.q,
                                    &c->error);
}

static flr_result do_devices(call *c)
{
    for (uint32_t i = 0; i < flr_engine_devices(c->engine); i++)
        flr_client_session_send_device(c->session, c->message->request, i);
    return FLR_OK;
}

static flr_result do_select(call *c)
{
    const flr_msg_device_select *select = &c->message->as.device_select;
    return flr_engine_select(c->engine, flr_hand(select->hand), select->device, &c->error);
}

/* ---- recordings ---- */

static flr_result do_record_start(call *c)
{
    const flr_wire_text *name = &c->message->as.record_start.name;
    return flr_engine_record_start(c->engine, name->size ? name->bytes : NULL, &c->value,
                                   &c->error);
}

static flr_result do_record_rename(call *c)
{
    const flr_msg_record_rename *rename = &c->message->as.record_rename;
    char name[129];
    copy_text(rename->name, name, sizeof name);
    return flr_engine_record_rename(c->engine, rename->recording, name, &c->error);
}

static flr_result do_record_report(call *c)
{
    const flr_msg_record_report *report = &c->message->as.record_report;
    return flr_engine_report_recording(c->engine, report->recording, report->clearance,
                                       report->format, &c->value, &c->error);
}

static flr_result do_record_remove(call *c)
{
    return flr_engine_record_remove(c->engine, c->message->as.record_remove.recording, &c->error);
}

static flr_result do_record_stop(call *c) { return flr_engine_record_stop(c->engine, &c->error); }

static flr_result do_recordings(call *c)
{
    for (uint32_t i = 0; i < flr_engine_recordings(c->engine); i++)
        flr_client_session_send_recording(c->session, c->message->request, i);
    return FLR_OK;
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

static flr_result do_record_fetch(call *c)
{
    enum { CLIENT_COMMANDS_PIECE = 262144 };
    const flr_msg_record_fetch *fetch = &c->message->as.record_fetch;
    flr_engine_recording recording = {0};
    bool found = false;
    for (uint32_t i = 0; !found && flr_engine_recording_at(c->engine, i, &recording); i++)
        found = recording.recording == fetch->recording;
    if (!found || !recording.finished)
        return flr_fail(&c->error, found ? FLR_AGAIN : FLR_NOT_FOUND,
                        found ? "recording %u has not ended yet" : "there is no recording %u",
                        fetch->recording);
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
    }
    free(bytes);
    return result;
}

/* a recording has to be read first; what is wanted for it happens then */
static flr_result do_replay(call *c)
{
    const flr_msg_replay *replay = &c->message->as.replay;
    flr_engine_replay_state now;
    flr_engine_get_replay(c->engine, &now);
    flr_result result = FLR_OK;
    c->hub->wanting = false;
    if (replay->recording == FLR_ENGINE_NONE) {
        if (now.active) result = flr_engine_replay_end(c->engine, &c->error);
    } else if (now.active && now.recording == replay->recording) {
        result = flr_engine_replay_seek(c->engine, replay->seconds, &c->error);
        if (result == FLR_OK)
            result = flr_engine_replay_play(c->engine, replay->playing, replay->speed, &c->error);
        if (result == FLR_OK) flr_hub_tell_replay(c->hub);
    } else {
        result = flr_engine_replay(c->engine, replay->recording, &c->value, &c->error);
        c->hub->wanted = *replay;
        c->hub->wanting = result == FLR_OK;
    }
    return result;
}

/* ---- scenes and meshes ---- */

static flr_result do_load(call *c)
{
    const flr_wire_text *path = &c->message->as.load.path;
    return path->size ? flr_engine_load(c->engine, path->bytes, &c->value, &c->error)
                      : flr_fail(&c->error, FLR_BAD_ARGUMENT, "a scene has a name");
}

static flr_result do_upload(call *c)
{
    flr_client_session_upload(c->session, c->message);
    return FLR_OK;
}

static flr_result do_remove(call *c)
{
    return flr_engine_remove(c->engine, part_of(c, c->message->as.remove.part), &c->error);
}

/* parts into a group, a group that moves as one, or a group away */
static flr_result do_regroup(call *c)
{
    const flr_msg_regroup *regroup = &c->message->as.regroup;
    const bool rigid = regroup->rigid == 1;
    char name[257];
    copy_text(regroup->name, name, sizeof name);
    if (regroup->parts_count == 0)
        return regroup->rigid ? flr_engine_set_rigid(c->engine, name, rigid, &c->error)
                              : flr_engine_ungroup(c->engine, name, &c->error);
    flr_part_id *parts = calloc(regroup->parts_count, sizeof *parts);
    if (!parts)
        return flr_fail(&c->error, FLR_NO_MEMORY, "not enough memory to group so many parts");
    for (uint32_t i = 0; i < regroup->parts_count; i++) parts[i] = part_of(c, regroup->parts[i]);
    flr_result result = flr_engine_group(c->engine, name, parts, regroup->parts_count, &c->error);
    free(parts);
    if (result == FLR_OK && regroup->rigid)
        result = flr_engine_set_rigid(c->engine, name, rigid, &c->error);
    return result;
}

static flr_result do_voxelize(call *c)
{
    const flr_msg_voxelize *voxelize = &c->message->as.voxelize;
    return flr_engine_voxelize(c->engine, part_of(c, voxelize->part), voxelize->voxel, &c->value,
                               &c->error);
}

static flr_result do_kind(call *c)
{
    const flr_msg_kind *kind = &c->message->as.kind;
    return flr_engine_set_kind(c->engine, part_of(c, kind->part), (flr_part_kind)kind->kind,
                               &c->error);
}

static flr_result do_use(call *c)
{
    const flr_msg_use *use = &c->message->as.use;
    return flr_engine_set_use(c->engine, part_of(c, use->part), (flr_part_use)use->use, &c->error);
}

static flr_result do_save(call *c)
{
    const flr_wire_text *name = &c->message->as.save.path;
    return flr_engine_save_as(c->engine, name->size ? name->bytes : "", &c->value, &c->error);
}

static flr_result do_cancel(call *c)
{
    return flr_engine_cancel(c->engine, c->message->as.cancel.job, &c->error);
}

/* ---- what workers find out ---- */

/* A place for a question, whose token a worker's answer has. */
static flr_result begin_question(call *c, flr_question **question)
{
    for (int i = 0; i < FLR_HUB_QUESTIONS; i++) {
        if (c->hub->questions[i].token != 0) continue;
        if (++c->hub->next_token == 0) ++c->hub->next_token;
        c->token = c->hub->next_token;
        *question = &c->hub->questions[i];
        **question =
            (flr_question){c->token, c->session->number, c->message->request, c->message->id};
        return FLR_OK;
    }
    return flr_fail(&c->error, FLR_AGAIN, "too much is being measured; try again later");
}

static flr_result do_clearance(call *c)
{
    const flr_msg_clearance_ask *ask = &c->message->as.clearance_ask;
    return flr_engine_clearance_ask(c->engine, part_of(c, ask->part), part_of(c, ask->other),
                                    ask->exact, c->token, &c->error);
}

static flr_result do_clashes(call *c)
{
    return flr_engine_clashes_ask(c->engine, c->message->as.clashes_ask.clearance, c->token,
                                  &c->error);
}

static flr_engine_pick pick_of(const call *c, const flr_wire_pick *pick)
{
    return (flr_engine_pick){part_of(c, pick->part), pick->kind, pick->at, pick->reach};
}

static flr_result do_measure(call *c)
{
    const flr_msg_measure_ask *ask = &c->message->as.measure_ask;
    flr_engine_pick first = pick_of(c, &ask->first), second = pick_of(c, &ask->second);
    return flr_engine_measure_ask(c->engine, &first, ask->both ? &second : NULL, c->token,
                                  &c->error);
}

static flr_result do_gap_map(call *c)
{
    const flr_msg_gap_map_ask *ask = &c->message->as.gap_map_ask;
    return flr_engine_gap_map_ask(c->engine, part_of(c, ask->part), ask->reach, c->token,
                                  &c->error);
}

static flr_result do_way(call *c)
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
    return flr_engine_way_ask(c->engine, &def, c->token, NULL, &c->error);
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

static flr_result do_joint_set(call *c)
{
    const flr_msg_joint_set *set = &c->message->as.joint_set;
    char name[257];
    copy_text(set->name, name, sizeof name);
    const flr_joint joint = {.kind = (flr_joint_kind)set->kind,
                             .a = set->a,
                             .b = set->b,
                             .point = set->point,
                             .axis = set->axis,
                             .pitch = set->pitch,
                             .touch = set->touch,
                             .turn = axis_of(&set->turn),
                             .slide = axis_of(&set->slide)};
    return set->remove ? flr_engine_remove_joint(c->engine, name, &c->error)
                       : flr_engine_set_joint(c->engine, name, &joint, &c->error);
}

static flr_result do_up_set(call *c)
{
    return flr_engine_set_up(c->engine, (flr_axis)c->message->as.up_set.axis, &c->error);
}

static flr_result do_reload(call *c) { return flr_engine_reload_files(c->engine, &c->error); }

static flr_result do_allow(call *c)
{
    const flr_msg_allow *allow = &c->message->as.allow;
    return flr_engine_allow(c->engine, part_of(c, allow->part), part_of(c, allow->other),
                            allow->allowed, &c->error);
}

static flr_result do_note(call *c)
{
    const flr_msg_note_set *set = &c->message->as.note_set;
    flr_engine_note note = {
        .note = set->note, .part = part_of(c, set->part), .position = set->position};
    copy_text(set->text, note.text, sizeof note.text);
    flr_result result = flr_engine_set_note(c->engine, &note, &c->error);
    c->value = note.note;
    return result;
}

static flr_result do_report(call *c)
{
    const flr_msg_report *report = &c->message->as.report;
    return flr_engine_report_clashes(c->engine, report->clearance, report->format, &c->value,
                                     &c->error);
}

/* ---- which of them who may ---- */

/* What follows where a command succeeds; one that fails is answered at once. */
typedef enum client_commands_answer {
    ANSWER_NOW,    /* done, with the value */
    ANSWER_ITSELF, /* the command sends what there is to send, now or later */
    ANSWER_BY_WORKER
} client_commands_answer;

typedef struct client_commands_command {
    uint16_t id;
    uint32_t ability; /* 0: everybody */
    flr_result (*run)(call *c);
    client_commands_answer answer;
} client_commands_command;

static const client_commands_command commands[] = {
/* clang-format off */
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc) {FLR_MSG_##NAME, FLR_WIRE_ABILITY_COMMAND, do_command, ANSWER_NOW},
#include "protocol/command_rows.h"
    /* clang-format on */
    {FLR_MSG_BYE, 0, do_bye, ANSWER_ITSELF},
    {FLR_MSG_PING, 0, do_ping, ANSWER_ITSELF},
    {FLR_MSG_PONG, 0, do_nothing, ANSWER_ITSELF},
    {FLR_MSG_HEALTH_ASK, 0, do_health, ANSWER_ITSELF},
    {FLR_MSG_WATCH, 0, do_watch, ANSWER_ITSELF},
    {FLR_MSG_MESH_ASK, 0, do_mesh, ANSWER_ITSELF},
    {FLR_MSG_OVERLAY_ASK, 0, do_overlay, ANSWER_ITSELF},
    {FLR_MSG_STATE_ASK, 0, do_state, ANSWER_ITSELF},
    {FLR_MSG_HAND_INPUT, FLR_WIRE_ABILITY_HAND, do_hand_input, ANSWER_ITSELF},
    {FLR_MSG_PARAMETERS_ASK, 0, do_parameters, ANSWER_NOW},
    {FLR_MSG_SET, FLR_WIRE_ABILITY_COMMAND, do_set, ANSWER_NOW},
    {FLR_MSG_DEVICES_ASK, 0, do_devices, ANSWER_NOW},
    {FLR_MSG_DEVICE_SELECT, FLR_WIRE_ABILITY_COMMAND, do_select, ANSWER_NOW},
    {FLR_MSG_MAPPING_SET, FLR_WIRE_ABILITY_COMMAND, do_mapping, ANSWER_NOW},
    {FLR_MSG_CLUTCH, FLR_WIRE_ABILITY_HAND, do_clutch, ANSWER_NOW},
    {FLR_MSG_VIEW_AXES, FLR_WIRE_ABILITY_HAND, do_view_axes, ANSWER_NOW},
    {FLR_MSG_RECORD_START, FLR_WIRE_ABILITY_RECORD, do_record_start, ANSWER_NOW},
    {FLR_MSG_RECORD_STOP, FLR_WIRE_ABILITY_RECORD, do_record_stop, ANSWER_NOW},
    {FLR_MSG_RECORD_RENAME, FLR_WIRE_ABILITY_RECORD, do_record_rename, ANSWER_NOW},
    {FLR_MSG_RECORD_REPORT, FLR_WIRE_ABILITY_RECORD, do_record_report, ANSWER_NOW},
    {FLR_MSG_RECORD_REMOVE, FLR_WIRE_ABILITY_RECORD, do_record_remove, ANSWER_NOW},
    {FLR_MSG_RECORDINGS_ASK, 0, do_recordings, ANSWER_NOW},
    {FLR_MSG_RECORD_FETCH, FLR_WIRE_ABILITY_RECORD, do_record_fetch, ANSWER_ITSELF},
    {FLR_MSG_REPLAY, FLR_WIRE_ABILITY_RECORD, do_replay, ANSWER_NOW},
    {FLR_MSG_LOAD, FLR_WIRE_ABILITY_LOAD, do_load, ANSWER_NOW},
    {FLR_MSG_UPLOAD, FLR_WIRE_ABILITY_UPLOAD, do_upload, ANSWER_ITSELF},
    {FLR_MSG_UPLOAD_BYTES, FLR_WIRE_ABILITY_UPLOAD, do_upload, ANSWER_ITSELF},
    {FLR_MSG_UPLOAD_TRIANGLES, FLR_WIRE_ABILITY_UPLOAD, do_upload, ANSWER_ITSELF},
    {FLR_MSG_UPLOAD_END, FLR_WIRE_ABILITY_UPLOAD, do_upload, ANSWER_ITSELF},
    {FLR_MSG_REMOVE, FLR_WIRE_ABILITY_COMMAND, do_remove, ANSWER_NOW},
    {FLR_MSG_REGROUP, FLR_WIRE_ABILITY_COMMAND, do_regroup, ANSWER_NOW},
    {FLR_MSG_VOXELIZE, FLR_WIRE_ABILITY_COMMAND, do_voxelize, ANSWER_NOW},
    {FLR_MSG_KIND, FLR_WIRE_ABILITY_COMMAND, do_kind, ANSWER_NOW},
    {FLR_MSG_USE, FLR_WIRE_ABILITY_COMMAND, do_use, ANSWER_NOW},
    {FLR_MSG_SAVE, FLR_WIRE_ABILITY_LOAD, do_save, ANSWER_NOW},
    {FLR_MSG_CANCEL, FLR_WIRE_ABILITY_COMMAND, do_cancel, ANSWER_NOW},
    {FLR_MSG_CLEARANCE_ASK, 0, do_clearance, ANSWER_BY_WORKER},
    {FLR_MSG_CLASHES_ASK, 0, do_clashes, ANSWER_BY_WORKER},
    {FLR_MSG_MEASURE_ASK, 0, do_measure, ANSWER_BY_WORKER},
    {FLR_MSG_GAP_MAP_ASK, 0, do_gap_map, ANSWER_BY_WORKER},
    {FLR_MSG_WAY_ASK, FLR_WIRE_ABILITY_COMMAND, do_way, ANSWER_BY_WORKER},
    {FLR_MSG_JOINT_SET, FLR_WIRE_ABILITY_COMMAND, do_joint_set, ANSWER_NOW},
    {FLR_MSG_UP_SET, FLR_WIRE_ABILITY_COMMAND, do_up_set, ANSWER_NOW},
    {FLR_MSG_RELOAD, FLR_WIRE_ABILITY_COMMAND, do_reload, ANSWER_NOW},
    {FLR_MSG_ALLOW, FLR_WIRE_ABILITY_COMMAND, do_allow, ANSWER_NOW},
    {FLR_MSG_NOTE_SET, FLR_WIRE_ABILITY_COMMAND, do_note, ANSWER_NOW},
    {FLR_MSG_REPORT, 0, do_report, ANSWER_NOW},
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

static void run(const client_commands_command *command, call *c)
{
    flr_question *question = NULL;
    flr_result result = FLR_OK;
    if (command->answer == ANSWER_BY_WORKER) result = begin_question(c, &question);
    if (result == FLR_OK) result = command->run(c);
    if (result != FLR_OK && question) question->token = 0;
    if (result != FLR_OK || command->answer == ANSWER_NOW)
        flr_client_session_answer(c->session, c->message, result, c->value, &c->error);
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
        run(found, &c);
    else if (type->kind != FLR_KIND_INPUT)
        flr_client_session_fail(session, message, &c.error);
    flr_engine_doing(c.engine, before.doing, before.what);
}
