/* recording_tap.h: what a recording keeps of a step; the same for the engine and for headless runs.
 *
 * Thread: any; RT safe. */
#ifndef FLR_SIM_RECORDING_TAP_H
#define FLR_SIM_RECORDING_TAP_H

#include "feeler/pager.h"
#include "feeler/recording.h"
#include "feeler/world.h"

/* Of the thread that takes frames to the file: it comes before ordinary work where the system allows it, since frames come with
 * real-time priority. */
enum { FLR_RECORDING_NICE = -15 };

/* Everything that the step of the world decides, numbered as the world numbers it. `waited`: seconds for which the step waited for
 * voxels. The times are left to the caller. */
flr_record_frame flr_recorded_frame(const flr_world_frame *step, const flr_pager_stats *paging,
                                    double waited);

/* What the hand did. Buttons, part and wrench are left to the caller. */
flr_record_hand flr_recorded_hand(const flr_world_input *input);

#endif
