/* commands.h: protocol/commands.def as C: what control asks of the loop, what a recording notes about it, and what the table says about
 * each.
 *
 *     flr_sim_command command = {.kind = FLR_SIM_COMMAND_SOLID, .as.solid = {.part = part, .solid = false}};
 *     flr_engine_send(engine, &command, &error);       control
 *     flr_stepper_take(stepper, &command);             the loop, before its next frame
 *
 * A command or an entry uses its own member of `as` and no other. Plain data, passed by value.
 *
 * Thread: any; RT safe. */
#ifndef FLR_SIM_COMMANDS_H
#define FLR_SIM_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/world.h"
#include "protocol/messages.h"
#include "sim/mapping.h"

typedef struct flr_world_instance flr_world_instance;
typedef struct flr_static_scene flr_static_scene;
typedef struct flr_recording_tap flr_recording_tap;

/* ---- what stands in C for the types of the table ---- */

typedef uint32_t flr_arg_hand;
typedef uint32_t flr_arg_part;
typedef uint32_t flr_arg_coupling;
typedef uint32_t flr_arg_generation;
typedef uint32_t flr_arg_button;
typedef bool flr_arg_flag;
typedef double flr_arg_length;
typedef flr_pose flr_arg_pose;
typedef flr_mapping_def flr_arg_mapping;
typedef flr_world_params flr_arg_params;
typedef flr_remote_coupling_def flr_arg_coupling_def;
typedef flr_world_instance *flr_arg_world_instance;
typedef flr_static_scene *flr_arg_static_scene;
typedef flr_recording_tap *flr_arg_recording_tap;

typedef uint32_t flr_noted_hand;
typedef uint32_t flr_noted_part; /* as the recording numbers them; UINT32_MAX: not in it */
typedef uint32_t flr_noted_tool;
typedef bool flr_noted_flag;
typedef flr_pose flr_noted_pose;
typedef struct flr_noted_optional_pose {
    bool given;
    flr_pose pose;
} flr_noted_optional_pose;
typedef struct flr_noted_guide {
    bool given;
    flr_world_guide guide;
} flr_noted_guide;
typedef flr_world_params flr_noted_params;
/* Parts that are merged: from the loop a scene, retained for whoever takes the entry; from a file [count] numbers. */
typedef struct flr_noted_parts {
    flr_static_scene *scene;
    const uint8_t *numbers; /* u32 each, little endian: flr_journal_part() */
    size_t count;
} flr_noted_parts;
/* A world's state; not filled by the loop, which leaves it on the tap. */
typedef struct flr_noted_state {
    const uint8_t *bytes;
    size_t size;
} flr_noted_state;

/* ---- commands ---- */

/* clang-format off */
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc) FLR_SIM_COMMAND_##NAME,
#define FLR_LOOP_COMMAND(NAME, name, LATE, journal, doc) FLR_SIM_COMMAND_##NAME,
typedef enum flr_sim_command_kind {
#include "protocol/command_rows.h"
    FLR_SIM_COMMANDS
} flr_sim_command_kind;

#define FLR_LOOP_COMMAND(NAME, name, LATE, journal, doc) typedef struct flr_loop_##name {
#define FLR_A(type, field, doc) flr_arg_##type field;
#define FLR_LOOP_COMMAND_END(name) } flr_loop_##name;
#include "protocol/command_rows.h"

typedef struct flr_sim_command {
    flr_sim_command_kind kind;
    union {
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc) flr_msg_##name name;
#define FLR_LOOP_COMMAND(NAME, name, LATE, journal, doc) flr_loop_##name name;
#include "protocol/command_rows.h"
    } as;
} flr_sim_command;

/* ---- journal entries ---- */

#define FLR_JOURNAL(NAME, name, word, REPLAY, doc) FLR_JOURNAL_##NAME,
typedef enum flr_journal_kind {
#include "protocol/command_rows.h"
    FLR_JOURNAL_KINDS
} flr_journal_kind;

/* C knows no structure without a member, so each has one that says nothing */
#define FLR_JOURNAL(NAME, name, word, REPLAY, doc) typedef struct flr_journal_##name { uint8_t entry;
#define FLR_J(type, field, doc) flr_noted_##type field;
#define FLR_JOURNAL_END(name) } flr_journal_##name;
#include "protocol/command_rows.h"

typedef struct flr_journal_entry {
    flr_journal_kind kind;
    uint64_t frame; /* of the recording, before which it was done */
    union {
#define FLR_JOURNAL(NAME, name, word, REPLAY, doc) flr_journal_##name name;
#include "protocol/command_rows.h"
    } as;
} flr_journal_entry;
/* clang-format on */

/* ---- what the table says ---- */

typedef enum flr_sim_command_undo {
    FLR_SIM_COMMAND_UNDO_NONE,
    FLR_SIM_COMMAND_UNDO_PART, /* an undo step remembers the part that it moves, and those that move by themselves */
    FLR_SIM_COMMAND_UNDO_ALL /* … all that may move */
} flr_sim_command_undo;

typedef enum flr_sim_command_share {
    FLR_SIM_COMMAND_SHARE_NONE, /* also for those who only watch a shared session */
    FLR_SIM_COMMAND_SHARE_HAND, /* the hand is the client's from now on */
    FLR_SIM_COMMAND_SHARE_PART, /* the part is somewhere else */
    FLR_SIM_COMMAND_SHARE_ALL   /* all parts may be */
} flr_sim_command_share;

typedef enum flr_sim_command_late {
    FLR_SIM_COMMAND_LATE_NEVER, /* refused while there is no room on the way to the loop */
    FLR_SIM_COMMAND_LATE_ONE,   /* waits for room; the newest counts */
    FLR_SIM_COMMAND_LATE_HAND   /* waits for room; the newest for each hand counts */
} flr_sim_command_late;

typedef struct flr_sim_command_row {
    const char *name;
    uint16_t message; /* FLR_MSG_…; 0: control's own */
    flr_sim_command_undo undo;
    flr_sim_command_share share;
    flr_sim_command_late late;
    uint32_t journal; /* entries that it writes: bits 1 << FLR_JOURNAL_… */
    size_t body;      /* bytes, of its member of `as` */
    size_t late_hand; /* offset of `hand` in it, where `late` says HAND */
    size_t shared;    /* … of `hand` or `part`, where `share` says so */
} flr_sim_command_row;

const flr_sim_command_row *flr_sim_command_row_of(flr_sim_command_kind kind);
/* By FLR_MSG_…; NULL: no command to the loop. */
const flr_sim_command_row *flr_sim_command_find(uint16_t message);

/* Whether a command that waits is replaced by a newer one. */
bool flr_sim_command_replaces(const flr_sim_command *command, const flr_sim_command *before);

/* So many commands may wait at once in an engine of so many hands, one after the other has replaced those before it. */
#define FLR_LATE_COUNT_NEVER(hands) 0
#define FLR_LATE_COUNT_ONE(hands)   1
#define FLR_LATE_COUNT_HAND(hands)  (hands)
/* clang-format off */
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc) + FLR_LATE_COUNT_##LATE(FLR_WORLD_HANDS)
#define FLR_LOOP_COMMAND(NAME, name, LATE, journal, doc) + FLR_LATE_COUNT_##LATE(FLR_WORLD_HANDS)
enum { FLR_COMMANDS_LATE = 0
#include "protocol/command_rows.h"
};
/* clang-format on */

#endif
