/* pose_file.h: pose files: a motion, or a set of poses, as text.
 *
 *     # a comment
 *     0      0.1 0 0   1 0 0 0
 *     0.001  0.1 0 0   1 0 0 0     # t x y z qw qx qy qz
 *
 * One line per pose: time in seconds, never less than the line before; position in the unit that
 * the caller states (a scene's); unit quaternion. Blanks or tabs between numbers; empty lines
 * and what follows a # are skipped. In memory positions are in metres.
 *
 * Thread: any. Not RT safe.
 */
#ifndef FLR_SCENE_POSE_FILE_H
#define FLR_SCENE_POSE_FILE_H

#include <stddef.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/hand.h"
#include "feeler/math.h"

typedef struct flr_pose_list {
    flr_timed_pose *poses; /* [count]; from a reading function, owned by the list */
    size_t count;
} flr_pose_list;

enum { FLR_POSES_MAX_BYTES = 1 << 30 }; /* of a pose file; larger ones are refused */

/* Reads a pose file with lengths in `unit` (metres per unit). A sentence begins with
 * "FILE:LINE:COLUMN:". A file without any pose is refused. Free `*list` with
 * flr_pose_list_free(). */
flr_result flr_pose_list_read(flr_env *env, const char *path, double unit, flr_pose_list *list,
                              flr_error *error);

/* The same from memory; `name` stands for the file in messages. `bytes` need not end with 0. */
flr_result flr_pose_list_parse(const char *name, const void *bytes, size_t size, double unit,
                               flr_pose_list *list, flr_error *error);

/* Frees and empties; NULL allowed. Not for lists of your own arrays. */
void flr_pose_list_free(flr_pose_list *list);

/* Writes whole or not at all, shortest numbers that read back the same. `comment` (NULL: none)
 * becomes the first line. */
flr_result flr_pose_list_write(flr_env *env, const char *path, const flr_pose_list *list,
                               double unit, const char *comment, flr_error *error);

#endif
