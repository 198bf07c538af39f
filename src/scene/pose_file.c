/* pose files */
#include "scene/pose_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "feeler/mesh.h"
#include "scene/length.h"
#include "scene/number_lines.h"

enum { POSE_FILE_COLUMNS = 8 };

static const char *const column_names[POSE_FILE_COLUMNS] = {"t",  "x",  "y",  "z",
                                                            "qw", "qx", "qy", "qz"};

/* the eight numbers of a line, checked; `before` is the pose before */
static bool read_pose(flr_rows *r, double unit, const void *before, void *to)
{
    double n[POSE_FILE_COLUMNS];
    const char *starts[POSE_FILE_COLUMNS];
    for (int i = 0; i < POSE_FILE_COLUMNS; i++)
        if (!flr_rows_number(r, "a pose is t x y z qw qx qy qz; the line ends before ",
                             column_names[i], &starts[i], &n[i]))
            return false;
    if (!flr_rows_end(r, "a pose has eight numbers; there is more")) return false;

    if (before && n[0] < ((const flr_timed_pose *)before)->t) {
        r->at = starts[0];
        return flr_rows_fail(r, "the time goes back", "");
    }
    for (int i = 1; i <= 3; i++) {
        n[i] = n[i] * unit + 0.0;
        if (fabs(n[i]) <= FLR_MESH_MAX_COORDINATE) continue;
        r->at = starts[i];
        return flr_rows_fail(r, "farther out than 1e9 m: ", column_names[i]);
    }
    flr_quat q = {n[4], n[5], n[6], n[7]};
    if (!flr_quat_read(&q)) {
        r->at = starts[4];
        return flr_rows_fail(r, "qw qx qy qz is not a unit quaternion", "");
    }
    *(flr_timed_pose *)to = (flr_timed_pose){n[0], {{n[1], n[2], n[3]}, q}};
    return true;
}

flr_result flr_pose_list_parse(const char *name, const void *bytes, size_t size, double unit,
                               flr_pose_list *list, flr_error *error)
{
    static const flr_rows_def def = {"pose", "poses", POSE_FILE_COLUMNS, sizeof(flr_timed_pose),
                                     read_pose};
    void *poses;
    flr_result result = flr_rows_parse(&def, name, bytes, size, unit, &poses, &list->count, error);
    if (result == FLR_OK) list->poses = poses;
    return result;
}

flr_result flr_pose_list_read(flr_env *env, const char *path, double unit, flr_pose_list *list,
                              flr_error *error)
{
    flr_blob text = {0};
    flr_result result = flr_file_read_all(env, path, FLR_POSES_MAX_BYTES, &text, error);
    if (result != FLR_OK) return result;
    result = flr_pose_list_parse(path, text.bytes, text.size, unit, list, error);
    flr_blob_free(&text);
    return result;
}

void flr_pose_list_free(flr_pose_list *list)
{
    if (!list) return;
    free(list->poses);
    *list = (flr_pose_list){0};
}

static flr_result write_poses(flr_output *output, const flr_pose_list *list, double unit,
                              const char *comment, flr_error *error)
{
    flr_result result = FLR_OK;
    if (comment) result = flr_output_print(output, error, "# %s\n", comment);
    if (result == FLR_OK) result = flr_output_print(output, error, "# t x y z qw qx qy qz\n");
    for (size_t i = 0; i < list->count && result == FLR_OK; i++) {
        const flr_timed_pose *p = &list->poses[i];
        const double numbers[POSE_FILE_COLUMNS] = {p->t,
                                                   flr_length_in(p->T_world_part.p.x, unit),
                                                   flr_length_in(p->T_world_part.p.y, unit),
                                                   flr_length_in(p->T_world_part.p.z, unit),
                                                   p->T_world_part.q.w,
                                                   p->T_world_part.q.x,
                                                   p->T_world_part.q.y,
                                                   p->T_world_part.q.z};
        char line[POSE_FILE_COLUMNS * FLR_NUMBER_TEXT_SIZE];
        size_t length = 0;
        for (int k = 0; k < POSE_FILE_COLUMNS; k++) {
            flr_number_print(numbers[k], line + length);
            length += strlen(line + length);
            line[length++] = k + 1 < POSE_FILE_COLUMNS ? ' ' : '\n';
        }
        result = flr_output_write(output, line, length, error);
    }
    return result;
}

flr_result flr_pose_list_write(flr_env *env, const char *path, const flr_pose_list *list,
                               double unit, const char *comment, flr_error *error)
{
    flr_output *output;
    flr_result result = flr_output_begin(env, path, &output, error);
    if (result != FLR_OK) return result;
    return flr_output_end(output, write_poses(output, list, unit, comment, error), error);
}
