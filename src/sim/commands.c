/* commands.def as data, and control's side of a command: check it, then send it to the loop */
#include "sim/commands.h"

#include <string.h>

#include "protocol/message_table.h"
#include "sim/engine_internal.h"

/* ---- the table ---- */

/* where the field is that a column speaks of */
#define LATE_HAND_NEVER(type) 0
#define LATE_HAND_ONE(type)   0
#define LATE_HAND_HAND(type)  offsetof(type, hand)
#define SHARED_NONE(type)     0
#define SHARED_ALL(type)      0
#define SHARED_HAND(type)     offsetof(type, hand)
#define SHARED_PART(type)     offsetof(type, part)

/* clang-format off */
#define JOURNAL(NAME) (1u << FLR_JOURNAL_##NAME)
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc) \
    {#name, id, FLR_SIM_COMMAND_UNDO_##UNDO, FLR_SIM_COMMAND_SHARE_##SHARE, FLR_SIM_COMMAND_LATE_##LATE, journal, sizeof(flr_msg_##name), \
     LATE_HAND_##LATE(flr_msg_##name), SHARED_##SHARE(flr_msg_##name)},
#define FLR_LOOP_COMMAND(NAME, name, LATE, journal, doc) \
    {#name, 0, FLR_SIM_COMMAND_UNDO_NONE, FLR_SIM_COMMAND_SHARE_NONE, FLR_SIM_COMMAND_LATE_##LATE, journal, sizeof(flr_loop_##name), LATE_HAND_##LATE(flr_loop_##name), 0},
static const flr_sim_command_row rows[] = {
#include "protocol/command_rows.h"
};
/* clang-format on */

const flr_sim_command_row *flr_sim_command_row_of(flr_sim_command_kind kind) { return &rows[kind]; }

const flr_sim_command_row *flr_sim_command_find(uint16_t message)
{
    for (int i = 0; message > 0 && i < FLR_SIM_COMMANDS; i++)
        if (rows[i].message == message) return &rows[i];
    return NULL;
}

static uint32_t hand_of(const flr_sim_command *command)
{
    uint32_t hand;
    memcpy(&hand, (const char *)&command->as + rows[command->kind].late_hand, sizeof hand);
    return hand;
}

bool flr_sim_command_replaces(const flr_sim_command *command, const flr_sim_command *before)
{
    if (command->kind != before->kind) return false;
    flr_sim_command_late late = rows[command->kind].late;
    return late == FLR_SIM_COMMAND_LATE_ONE ||
           (late == FLR_SIM_COMMAND_LATE_HAND && hand_of(command) == hand_of(before));
}

/* ---- checks ---- */

static flr_result check_hand(const flr_engine *e, uint32_t hand, flr_error *error)
{
    if (hand < e->def.hands) return FLR_OK;
    return flr_fail(error, FLR_NOT_FOUND, "there is no hand %u; there are %u", hand, e->def.hands);
}

/* Whether its voxels are on their way. */
static bool is_voxelized(const flr_engine *e, uint32_t part)
{
    flr_engine_job job;
    for (uint32_t i = 0; flr_jobs_at(e->jobs, i, &job); i++)
        if (job.part.index == part || job.job == e->loading) return true;
    return false;
}

flr_result flr_engine_check_movable(const flr_engine *e, uint32_t part, const char *what,
                                    flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find(e, part, &member, error);
    if (result == FLR_OK && member->kind == FLR_PART_STATIC)
        return flr_fail(error, FLR_DENIED, "part \"%s\" is static and cannot be %s", member->name,
                        what);
    if (result != FLR_OK || member->there) return result;
    if (!flr_shape_is_bare(member->shape))
        return flr_fail(error, FLR_AGAIN, "part \"%s\" is not ready yet; try again", member->name);
    return flr_fail(error, FLR_AGAIN,
                    is_voxelized(e, part)
                        ? "part \"%s\" cannot be %s yet: its voxels are being made"
                        : "part \"%s\" cannot be %s: it has no voxels; have them made first",
                    member->name, what);
}

/* ---- what control does with a message, by the table's column ---- */

/* What is called hand or part is one that exists, and poses are poses. */
static flr_result control_send(flr_engine *e, flr_sim_command *command, flr_error *error)
{
    const flr_wire_message *type = flr_wire_message_find(rows[command->kind].message);
    flr_result result = FLR_OK;
    for (const flr_wire_field *field = type->fields();
         field->shape != FLR_SHAPE_END && result == FLR_OK; field++) {
        const char *at = (const char *)&command->as + field->offset;
        uint32_t number;
        flr_pose pose;
        if (field->shape != FLR_SHAPE_ONE) continue;
        if (field->kind == FLR_KIND_pose) {
            memcpy(&pose, at, sizeof pose);
            if (!flr_engine_is_pose(pose))
                result =
                    flr_fail(error, FLR_BAD_ARGUMENT, "%s: %s is no pose", type->name, field->name);
        } else if (field->kind == FLR_KIND_u32) {
            memcpy(&number, at, sizeof number);
            if (strcmp(field->name, "hand") == 0) result = check_hand(e, number, error);
            if (strcmp(field->name, "part") == 0)
                result = flr_engine_check_movable(e, number, "moved", error);
        }
    }
    return result == FLR_OK ? flr_engine_send(e, command, error) : result;
}

static flr_result control_grab(flr_engine *e, flr_sim_command *command, flr_error *error)
{
    flr_msg_grab *grab = &command->as.grab;
    flr_result result = check_hand(e, grab->hand, error);
    if (result == FLR_OK && grab->part != FLR_ENGINE_NONE)
        result = flr_engine_check_movable(e, grab->part, "taken", error);
    // where a device moves the hand, the hand is where the device is
    grab->has_pose = grab->has_pose && result == FLR_OK && e->selected[grab->hand] == grab->hand;
    // before the command, so that the loop never has the part in a hand that is still elsewhere
    if (grab->has_pose && (!flr_engine_is_pose(grab->T_world_hand) ||
                           !flr_remote_jump(e->pointers[grab->hand].remote, grab->T_world_hand)))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "that is no pose for hand %u", grab->hand);
    return result == FLR_OK ? flr_engine_send(e, command, error) : result;
}

static flr_result control_place(flr_engine *e, flr_sim_command *command, flr_error *error)
{
    const flr_msg_place *place = &command->as.place;
    flr_result result = flr_engine_check_movable(e, place->part, "placed", error);
    if (result == FLR_OK && !flr_engine_is_pose(place->T_world_part))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "that is no pose for part %u", place->part);
    return result == FLR_OK ? flr_engine_send(e, command, error) : result;
}

static flr_result control_guide(flr_engine *e, flr_sim_command *command, flr_error *error)
{
    flr_msg_guide *guide = &command->as.guide;
    flr_result result = check_hand(e, guide->hand, error);
    if (result == FLR_OK && guide->on &&
        (!flr_engine_is_pose(guide->from) || !flr_engine_is_pose(guide->to)))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "guide: from or to is no pose");
    if (result == FLR_OK && guide->on && !(guide->share > 0 && guide->share <= 1))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "guide: a share is above 0 and at most 1");
    if (result == FLR_OK) flr_engine_send_surely(e, command);
    return result;
}

static flr_result control_undo(flr_engine *e, flr_sim_command *command, flr_error *error)
{
    if (command->as.undo.steps == 0)
        return flr_fail(error, FLR_BAD_ARGUMENT, "undo 0 steps; give 1 or more");
    return flr_engine_send(e, command, error);
}

static flr_result control_pause(flr_engine *e, flr_sim_command *command, flr_error *error)
{
    if (e->replay && !command->as.pause.paused)
        return flr_fail(error, FLR_AGAIN, "a recording is shown; end that first");
    return flr_engine_send(e, command, error);
}

/* The loop gets it with the world that has what the tool needs. */
static flr_result control_tool(flr_engine *e, flr_sim_command *command, flr_error *error)
{
    const flr_msg_tool *tool = &command->as.tool;
    flr_result result = check_hand(e, tool->hand, error);
    if (result == FLR_OK && tool->tool != FLR_TOOL_GRIP && tool->tool != FLR_TOOL_POINT)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "there is no tool %d", tool->tool);
    if (result != FLR_OK) return result;
    e->tools[tool->hand] = (flr_tool)tool->tool;
    if (tool->tool == FLR_TOOL_POINT && !e->probes) e->probes = e->dirty = true;
    flr_engine_send_tools(e);
    return FLR_OK;
}

flr_result flr_engine_command(flr_engine *e, const flr_message *message, flr_error *error)
{
    flr_sim_command command;
    switch (message->id) {
        /* clang-format off */
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc) \
    case FLR_MSG_##NAME: \
        command = (flr_sim_command){.kind = FLR_SIM_COMMAND_##NAME, .as.name = message->as.name}; \
        return control_##control(e, &command, error);
#include "protocol/command_rows.h"
        /* clang-format on */
    default:
        return flr_fail(error, FLR_UNSUPPORTED, "message %u is no command to the simulation",
                        message->id);
    }
}

/* ---- by name ---- */

flr_result flr_engine_grab(flr_engine *e, flr_hand_id hand, flr_part_id part, flr_error *error)
{
    flr_message message = {.id = FLR_MSG_GRAB, .as.grab = {.hand = hand.index, .part = part.index}};
    flr_result result = flr_engine_check_id(e, part, error);
    return result == FLR_OK ? flr_engine_command(e, &message, error) : result;
}

flr_result flr_engine_release(flr_engine *e, flr_hand_id hand, flr_error *error)
{
    flr_message message = {.id = FLR_MSG_RELEASE, .as.release = {.hand = hand.index}};
    return flr_engine_command(e, &message, error);
}

flr_result flr_engine_place(flr_engine *e, flr_part_id part, flr_pose T_world_part,
                            flr_error *error)
{
    flr_message message = {.id = FLR_MSG_PLACE,
                           .as.place = {.part = part.index, .T_world_part = T_world_part}};
    flr_result result = flr_engine_check_id(e, part, error);
    return result == FLR_OK ? flr_engine_command(e, &message, error) : result;
}

flr_result flr_engine_leave(flr_engine *e, flr_hand_id hand, flr_error *error)
{
    flr_result result = check_hand(e, hand.index, error);
    if (result != FLR_OK) return result;
    flr_remote_clear(e->pointers[hand.index].remote);
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_LEAVE, .as.leave = {.hand = hand.index}};
    flr_engine_send_surely(e, &command); /* nobody is left who could try again */
    return FLR_OK;
}
