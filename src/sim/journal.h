/* journal.h: what was done to a world between two frames, as notes of a recording. Written by recordings.c, done again by rerun.c.
 *
 *     text              data
 *     start             the world's state, as flr_world_save() gives it
 *     params            all numbers of a setup, "key value" in lines
 *     ground            u32 each, little endian: the parts that are one from now on
 *     grab HAND PART
 *     release HAND
 *     place PART        x y z qw qx qy qz, f64 each, little endian: numbers to the bit
 *     tool HAND TOOL
 *     solid FLAG PART   1 or 0: whether it touches anything
 *     firm HAND FLAG    1 or 0: whether it keeps the direction of what it takes
 *     remote coupling               a part is coupled to one of another controller
 *     world instance              parts have come, gone or got other voxels
 *     lost              some are missing here: there was no room for them
 *
 * Hands are counted from 0; parts, too, as in the recording's frames. */
#ifndef FLR_SIM_JOURNAL_H
#define FLR_SIM_JOURNAL_H

#include "sim/engine_internal.h"

/* Writes it to the recording tap's recording. What a journal entry from the ring uses is dropped, whatever the result. */
flr_result flr_journal_write(flr_recording_tap *tap, const flr_journal_entry *entry,
                             flr_error *error);

/* Filled by flr_journal_read(); `data` points into the note. */
typedef struct flr_journal_note {
    flr_journal_kind kind;
    uint32_t hand, part;
    flr_pose pose;
    flr_world_params params;
    const uint8_t *data; /* of a ground or a state */
    size_t size;
} flr_journal_note;

/* Does it to a world. One that needs more than that (start, ground, world instance, remote coupling, lost) changes nothing. */
void flr_journal_do(const flr_journal_note *entry, flr_world *world);

/* The part in place `index` of a ground; there are size / 4. */
uint32_t flr_journal_static_scene(const flr_journal_note *note, size_t index);

/* FLR_BAD_INPUT: it makes no sense; the sentence says what it is. `path` is the recording's, for that. */
flr_result flr_journal_read(const flr_record_note *note, const char *path, flr_journal_note *entry,
                            flr_error *error);

#endif
