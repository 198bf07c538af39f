/* probe_recording.h: what a hand touched, as segments to ask again. */
#ifndef FLR_PROBE_RECORDING_H
#define FLR_PROBE_RECORDING_H

#include "command.h"
#include "feeler/mesh.h"
#include "scene/segment_file.h"

/* The paths of the first hand of a recording from frame to frame, in the frame of the part that has this mesh: one segment for
 * each frame in which the hand moved relative to the part. The sentence names the recording. Free `*list` with
 * flr_segment_list_free(). */
flr_result flr_probe_recording(flr_cli *cli, const char *path, const flr_mesh *mesh,
                               flr_segment_list *list, flr_error *error);

#endif
