/* pose files */
#include "scene/poses.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/mesh.h"
#include "feeler/units.h"
#include "scene/length.h"

enum { COLUMNS = 8, NUMBER_MAX = 64 };

static const char *const column_names[COLUMNS] = {"t", "x", "y", "z", "qw", "qx", "qy", "qz"};

/* where the reader is */
typedef struct line_reader {
    const char *name;
    const char *at, *line_start, *end;
    unsigned line; /* from 1 */
    flr_error *error;
} line_reader;

static bool fail_here(const line_reader *r, const char *sentence, const char *detail)
{
    unsigned column = 1;
    for (const char *c = r->line_start; c < r->at; c++)
        column += ((unsigned char)*c & 0xC0) != 0x80;
    flr_fail(r->error, FLR_BAD_INPUT, "%s:%u:%u: %s%s", r->name, r->line, column, sentence, detail);
    return false;
}

static void skip_blanks(line_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

static bool at_line_end(const line_reader *r)
{
    return r->at == r->end || *r->at == '\n' || *r->at == '#';
}

/* to the start of the next line */
static void next_line(line_reader *r)
{
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->at = newline ? newline + 1 : r->end;
    r->line_start = r->at;
    r->line++;
}

static bool read_number(line_reader *r, int column, double *value)
{
    skip_blanks(r);
    if (at_line_end(r)) {
        return fail_here(r, "a pose is t x y z qw qx qy qz; the line ends before ",
                         column_names[column]);
    }
    // the word, terminated
    char word[NUMBER_MAX];
    size_t length = 0;
    while (r->at + length < r->end) {
        char c = r->at[length];
        if ((unsigned char)c <= ' ' || c == '#') break;
        if (length == NUMBER_MAX - 1) return fail_here(r, "too long for a number", "");
        word[length++] = c;
    }
    word[length] = 0;
    const char *rest;
    flr_error why;
    if (flr_number_parse(word, value, &rest, &why) != FLR_OK) return fail_here(r, why.message, "");
    if (*rest) return fail_here(r, "not a number: ", word);
    r->at += length;
    return true;
}

/* the eight numbers of a line, checked; `before` is the time of the pose before */
static bool read_pose(line_reader *r, double unit, double before, flr_timed_pose *pose)
{
    double n[COLUMNS];
    const char *starts[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        skip_blanks(r);
        starts[i] = r->at;
        if (!read_number(r, i, &n[i])) return false;
    }
    skip_blanks(r);
    if (!at_line_end(r)) return fail_here(r, "a pose has eight numbers; there is more", "");

    if (n[0] < before) {
        r->at = starts[0];
        return fail_here(r, "the time goes back", "");
    }
    for (int i = 1; i <= 3; i++) {
        n[i] = n[i] * unit + 0.0;
        if (fabs(n[i]) <= FLR_MESH_MAX_COORDINATE) continue;
        r->at = starts[i];
        return fail_here(r, "farther out than 1e9 m: ", column_names[i]);
    }
    flr_quat q = {n[4], n[5], n[6], n[7]};
    if (!flr_quat_read(&q)) {
        r->at = starts[4];
        return fail_here(r, "qw qx qy qz is not a unit quaternion", "");
    }
    *pose = (flr_timed_pose){n[0], {{n[1], n[2], n[3]}, q}};
    return true;
}

static bool append(flr_pose_list *list, size_t *room, flr_timed_pose pose)
{
    if (list->count == *room) {
        size_t more = *room ? *room * 2 : 64;
        flr_timed_pose *grown = realloc(list->poses, more * sizeof *grown);
        if (!grown) return false;
        list->poses = grown;
        *room = more;
    }
    list->poses[list->count++] = pose;
    return true;
}

flr_result flr_pose_list_parse(const char *name, const void *bytes, size_t size, double unit,
                               flr_pose_list *list, flr_error *error)
{
    flr_pose_list found = {0};
    size_t room = 0;
    flr_error why = {0};
    const char *text = size ? bytes : "";
    line_reader r = {name, text, text, text + size, 1, &why};
    for (; r.at < r.end; next_line(&r)) {
        skip_blanks(&r);
        if (at_line_end(&r)) continue;
        double before = found.count ? found.poses[found.count - 1].t : -INFINITY;
        flr_timed_pose pose;
        bool ok = read_pose(&r, unit, before, &pose);
        if (ok && !append(&found, &room, pose)) {
            flr_fail(&why, FLR_NO_MEMORY, "%s: no memory for the poses", name);
            ok = false;
        }
        if (!ok) {
            flr_pose_list_free(&found);
            if (error) *error = why;
            return why.code;
        }
    }
    if (!found.count)
        return flr_fail(error, FLR_BAD_INPUT, "%s:%u:1: no pose in the file", name, r.line);
    *list = found;
    return FLR_OK;
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
        const double numbers[COLUMNS] = {p->t,
                                         flr_length_in(p->T_world_part.p.x, unit),
                                         flr_length_in(p->T_world_part.p.y, unit),
                                         flr_length_in(p->T_world_part.p.z, unit),
                                         p->T_world_part.q.w,
                                         p->T_world_part.q.x,
                                         p->T_world_part.q.y,
                                         p->T_world_part.q.z};
        char line[COLUMNS * FLR_NUMBER_TEXT_SIZE];
        size_t length = 0;
        for (int k = 0; k < COLUMNS; k++) {
            flr_number_print(numbers[k], line + length);
            length += strlen(line + length);
            line[length++] = k + 1 < COLUMNS ? ' ' : '\n';
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
    result = write_poses(output, list, unit, comment, error);
    if (result == FLR_OK) return flr_output_commit(output, error);
    flr_output_abandon(output);
    return result;
}
