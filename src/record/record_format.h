/* record_format.h: what a frame and a note look like in a recording: messages of protocol buffers, described, written and
 * read. recorder.c writes them to an MCAP file, recording.c reads them from one. */
#ifndef FLR_RECORD_RECORD_FORMAT_H
#define FLR_RECORD_RECORD_FORMAT_H

#include "feeler/recording.h"
#include "record/protobuf.h"

/* the most of each in a frame */
enum { FLR_RECORD_HANDS = 64, FLR_RECORD_PARTS = 4096, FLR_RECORD_CONTACTS = 1024 };

/* names of the schemas, and of the metadata that holds the texts */
#define FLR_RECORD_FRAME    "feeler.Frame"
#define FLR_RECORD_NOTE     "feeler.Note"
#define FLR_RECORD_METADATA "feeler"

/* for flr_proto_describe() */
extern const flr_proto_message flr_record_frame_messages[], flr_record_note_messages[];

/* Added to what is there; where memory is out, `bytes` says so. */
void flr_record_put_frame(flr_bytes *bytes, const flr_record_view *view);
void flr_record_put_note(flr_bytes *bytes, const flr_record_note *note);

/* Where the lists of a frame that is read go; as many of each as a frame may have. */
typedef struct flr_record_room {
    flr_record_hand *hands;
    flr_record_part *parts;
    flr_record_contact *contacts;
} flr_record_room;

/* `view`, zero before, points into `room`. False: cut off, or more of something than there may be. */
bool flr_record_get_frame(flr_bytes_look look, const flr_record_room *room, flr_record_view *view);
/* `note` points into `text`, which is written anew, and into what is looked at. False: it makes no sense, or memory is out. */
bool flr_record_get_note(flr_bytes_look look, flr_bytes *text, flr_record_note *note);

#endif
