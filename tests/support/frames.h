/* frames.h: frames of a recording with anything in them, a recorder for them on a simulated disk, and whether what comes back
 * is the same to the bit. */
#ifndef FLR_TEST_FRAMES_H
#define FLR_TEST_FRAMES_H

#include "feeler/recording.h"
#include "support/test.h"

enum { FLR_TEST_HANDS = 2, FLR_TEST_PARTS = 3, FLR_TEST_CONTACTS = 5 };

/* A frame may have more contacts than are recorded. */
typedef struct flr_test_frame {
    flr_record_frame head;
    flr_record_hand hands[FLR_TEST_HANDS];
    flr_record_part parts[FLR_TEST_PARTS];
    flr_record_contact contacts[FLR_TEST_CONTACTS + 3];
} flr_test_frame;

/* what the recordings hold beside frames: keys and texts, ends with NULL */
extern const char *const flr_test_frame_texts[];

/* set-up and tear-down of cmocka: a simulated disk, empty */
int flr_test_disk_begin(void **state);
int flr_test_disk_end(void **state);
flr_env *flr_test_disk(void);
/* In place of what is there. */
void flr_test_disk_put(const char *path, const uint8_t *bytes, size_t size);

flr_test_frame flr_test_frame_make(flr_test_random *random, uint64_t number);
/* For frames as made above, with a ring of 64. */
flr_recorder *flr_test_frames_begin(const char *path);
void flr_test_frame_give(flr_recorder *recorder, const flr_test_frame *frame);
void flr_test_frame_same(const flr_test_frame *frame, const flr_record_view *view);
/* Reads all frames that can be read, compares them, returns how many. */
uint64_t flr_test_frames_read(const char *path, const flr_test_frame *frames, uint64_t count,
                              bool *complete);

#endif
