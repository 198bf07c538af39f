/* journal.h: what was done to a world between two frames, as notes of a recording. Written by recordings.c, repeated by replay.c.
 *
 * protocol/commands.def has the entries: a note's text is the entry's word and its numbers, such as "grab 0 3"; poses, parameters and
 * the like are its data. Entries that were added later have fields that older recordings do not: these read as not given. */
#ifndef FLR_SIM_JOURNAL_H
#define FLR_SIM_JOURNAL_H

#include "sim/engine_internal.h"

/* Writes it to the tap's recording. What an entry from the ring uses is released, whatever the result. */
flr_result flr_journal_write(flr_recording_tap *tap, const flr_journal_entry *entry,
                             flr_error *error);

/* What it points to is the note's. FLR_BAD_INPUT: it makes no sense; the sentence says what it is. `path` is the recording's, for
 * that. */
flr_result flr_journal_read(const flr_record_note *note, const char *path, flr_journal_entry *entry,
                            flr_error *error);

/* The number of a part that was read; there are parts->count. */
uint32_t flr_journal_part(const flr_noted_parts *parts, size_t index);

/* Whether flr_journal_do() repeats it. If not and `why` is given, what follows cannot be repeated, for this reason; without a reason
 * it needs more than a world. */
bool flr_journal_repeats(flr_journal_kind kind, const char **why);
/* Does it to a world; nothing where flr_journal_repeats() says no. */
void flr_journal_do(const flr_journal_entry *entry, flr_world *world);

#endif
