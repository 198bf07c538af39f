/* deed.h: what was done to a world between two frames, as notes of a recording. Written by record.c, done again by rerun.c.
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
 *     tie               a part is tied to one of another controller
 *     cast              parts have come, gone or got other voxels
 *     lost              some are missing here: there was no room for them
 *
 * Hands are counted from 0; parts, too, as in the recording's frames. */
#ifndef FLR_CONTROLLER_DEED_H
#define FLR_CONTROLLER_DEED_H

#include "controller/inside.h"

/* Writes it to the tape's recording. What a deed from the ring uses is dropped, whatever the result. */
flr_result flr_deed_write(flr_tape *tape, const flr_deed *deed, flr_error *error);

/* Filled by flr_deed_read(); `data` points into the note. */
typedef struct flr_deed_note {
    flr_deed_kind kind;
    uint32_t hand, part;
    flr_pose pose;
    flr_world_params params;
    const uint8_t *data; /* of a ground or a state */
    size_t size;
} flr_deed_note;

/* Does it to a world. One that needs more than that (start, ground, cast, tie, lost) changes nothing. */
void flr_deed_do(const flr_deed_note *deed, flr_world *world);

/* The part in place `index` of a ground; there are size / 4. */
uint32_t flr_deed_ground(const flr_deed_note *note, size_t index);

/* FLR_BAD_INPUT: it makes no sense; the sentence says what it is. `path` is the recording's, for that. */
flr_result flr_deed_read(const flr_record_note *note, const char *path, flr_deed_note *deed,
                         flr_error *error);

#endif
