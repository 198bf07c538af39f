/* feeler convert RECORDING FILE.csv: one line per frame, all numbers to the last digit, SI units */
#include "convert_csv.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "feeler/base.h"
#include "feeler/recording.h"
#include "files.h"
#include "output.h"

static bool ends_in(const char *path, const char *ending)
{
    size_t size = strlen(path), wanted = strlen(ending);
    return size > wanted && !strcasecmp(path + size - wanted, ending);
}

bool flr_is_recording(const char *path) { return ends_in(path, ".mcap"); }
bool flr_is_csv(const char *path) { return ends_in(path, ".csv"); }

/* ---- writing, with the first trouble kept ---- */

typedef struct table {
    flr_output *out;
    flr_error *error;
    flr_result result;
    uint64_t lines;
} table;

static void put(table *t, const char *text)
{
    if (t->result == FLR_OK) t->result = flr_output_write(t->out, text, strlen(text), t->error);
}

static void put_number(table *t, double value)
{
    char text[FLR_NUMBER_TEXT_SIZE + 2] = ",";
    if (value == value && value - value == 0)
        flr_number_print(value, text + 1);
    else
        snprintf(text + 1, sizeof text - 1, "%s", value > 0 ? "inf" : value < 0 ? "-inf" : "nan");
    put(t, text);
}

static void put_count(table *t, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, ",%llu", (unsigned long long)value);
    put(t, text);
}

static void put_vector(table *t, flr_vec3 v)
{
    put_number(t, v.x);
    put_number(t, v.y);
    put_number(t, v.z);
}

static void put_pose(table *t, flr_pose T)
{
    put_vector(t, T.p);
    put_number(t, T.q.w);
    put_vector(t, flr_vec3_make(T.q.x, T.q.y, T.q.z));
}

/* ---- the head: names of parts are quoted, as they may hold anything ---- */

static void put_names(table *t, const char *owner, const char *const *columns)
{
    for (; *columns; columns++) {
        put(t, ",\"");
        for (const char *c = owner; *c; c++) {
            char one[3] = {*c, *c == '"' ? '"' : 0, 0};
            put(t, one);
        }
        put(t, " ");
        put(t, *columns);
        put(t, "\"");
    }
}

/* the name of the i-th moving part */
static const char *moving_part(const flr_recording *recording, uint32_t i)
{
    char key[48];
    uint32_t seen = 0;
    for (uint32_t k = 0; k < 4096; k++) {
        snprintf(key, sizeof key, "parts.%u.moving", k);
        const char *moving = flr_recording_text(recording, key);
        if (!moving) break;
        if (strcmp(moving, "true") != 0 || seen++ != i) continue;
        snprintf(key, sizeof key, "parts.%u.name", k);
        return flr_recording_text(recording, key);
    }
    return NULL;
}

static void put_head(table *t, const flr_recording *recording, const flr_record_view *view)
{
    static const char *const of_hand[] = {"x",  "y",  "z",  "qw", "qx",      "qy",    "qz", "vx",
                                          "vy", "vz", "wx", "wy", "wz",      "fresh", "fx", "fy",
                                          "fz", "tx", "ty", "tz", "buttons", "part",  NULL};
    static const char *const of_part[] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                          "vx", "vy", "vz", "wx", "wy", "wz", NULL};
    put(t, "frame,t,compute_us,wakeup_us,points_tested,contacts,penetrations,distance_lower,"
           "distance_upper,energy,travel_limited,stopped,faults,hash");
    for (uint32_t i = 0; i < view->hand_count; i++) {
        char name[24];
        snprintf(name, sizeof name, "hand %u", i);
        put_names(t, name, of_hand);
    }
    for (uint32_t i = 0; i < view->part_count; i++) {
        char number[24];
        snprintf(number, sizeof number, "part %u", i);
        const char *name = moving_part(recording, i);
        put_names(t, name ? name : number, of_part);
    }
    put(t, "\n");
}

static void put_line(table *t, const flr_record_view *view)
{
    const flr_record_frame *f = &view->frame;
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)f->frame);
    put(t, text);
    put_number(t, (double)f->time_ns * 1e-9);
    put_number(t, f->compute_us);
    put_number(t, f->wakeup_us);
    put_count(t, f->points_tested);
    put_count(t, f->contacts);
    put_count(t, f->penetrations);
    put_number(t, f->lower);
    put_number(t, f->upper);
    put_number(t, f->energy);
    put_count(t, f->travel_limited);
    put_count(t, f->stopped);
    put_count(t, f->faults);
    snprintf(text, sizeof text, ",%016llx", (unsigned long long)f->hash);
    put(t, text);
    for (uint32_t i = 0; i < view->hand_count; i++) {
        const flr_record_hand *hand = &view->hands[i];
        put_pose(t, hand->T_world_hand);
        put_vector(t, hand->twist.linear);
        put_vector(t, hand->twist.angular);
        put_count(t, hand->fresh);
        put_vector(t, hand->wrench.force);
        put_vector(t, hand->wrench.torque);
        put_count(t, hand->buttons);
        if (hand->part == UINT32_MAX)
            put(t, ",");
        else
            put_count(t, hand->part);
    }
    for (uint32_t i = 0; i < view->part_count; i++) {
        put_pose(t, view->parts[i].T_world_part);
        put_vector(t, view->parts[i].motion.linear);
        put_vector(t, view->parts[i].motion.angular);
    }
    put(t, "\n");
    t->lines++;
}

/* ---- the whole ---- */

static flr_result write_table(flr_cli *cli, flr_recording *recording, table *t, bool *read)
{
    flr_record_view view;
    flr_result result;
    *read = false;
    while ((result = flr_recording_next(recording, &view, t->error)) == FLR_OK &&
           t->result == FLR_OK) {
        if (t->lines == 0) put_head(t, recording, &view);
        put_line(t, &view);
        if (t->lines % 1024 == 0) flr_progress(cli, t->lines, 0, "frames");
    }
    if (t->result != FLR_OK) return t->result;
    *read = result != FLR_CLOSED;
    return result == FLR_CLOSED ? FLR_OK : result;
}

int flr_convert_csv(flr_cli *cli, const char *from, const char *to)
{
    flr_error error;
    flr_recording *recording;
    flr_result result = flr_recording_open(cli->env, from, &recording, &error);
    if (result != FLR_OK) return flr_fail_with(cli, flr_exit_of_input(result), &error);
    table t = {.error = &error};
    bool read = false;
    flr_hold_signals();
    result = flr_output_begin(cli->env, to, &t.out, &error);
    if (result == FLR_OK)
        result = flr_output_end(t.out, write_table(cli, recording, &t, &read), &error);
    flr_release_signals();
    flr_progress_end(cli);
    bool complete = flr_recording_complete(recording);
    flr_error lost;
    bool damaged = flr_recording_damaged(recording, &lost);
    flr_recording_close(recording);
    if (result != FLR_OK)
        return flr_fail_with(cli, read ? flr_exit_of_input(result) : FLR_EXIT_FAILED, &error);

    flr_path_info file = {0};
    flr_path_look(cli->env, to, &file, NULL);
    if (damaged) flr_warn(cli, "%s", lost.message);
    if (!complete) flr_warn(cli, "%s was not ended properly; its last frames are missing", from);
    flr_print_note(cli, "%s: %llu %s, %s\n", FLR_SAFE(to), (unsigned long long)t.lines,
                   flr_noun(t.lines, "frame", "frames"), FLR_BYTES_TEXT(file.size));
    json_t *document = flr_json_object(), *files = flr_json_array(), *entry = flr_json_object();
    flr_json_set(entry, "file", flr_json_text(to));
    flr_json_set(entry, "bytes", flr_json_count(file.size));
    flr_json_set(entry, "frames", flr_json_count(t.lines));
    flr_json_push(files, entry);
    flr_json_set(document, "input", flr_json_text(from));
    flr_json_set(document, "complete", json_boolean(complete));
    flr_json_set(document, "files", files);
    flr_json_print(cli, document);
    return FLR_EXIT_OK;
}
