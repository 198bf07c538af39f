/* what feeler info says about a recording */

#include "feeler/recording.h"
#include "info.h"
#include "output.h"

static void tell_text(flr_cli *cli, const flr_recording *recording, const char *name,
                      const char *key, json_t *object)
{
    const char *text = flr_recording_text(recording, key);
    if (text) flr_print(cli, "  %-11s %s\n", name, FLR_SAFE(text));
    flr_json_set(object, name, text ? flr_json_text(text) : json_null());
}

flr_result flr_info_recording(flr_cli *cli, const char *path, json_t **object, flr_error *error)
{
    flr_recording *recording;
    flr_result result = flr_recording_open(cli->env, path, &recording, error);
    if (result != FLR_OK) return result;
    flr_record_view view = {0};
    uint64_t frames = 0, next = 0, missing = 0, contact = 0;
    int64_t first = 0, last = 0;
    while ((result = flr_recording_next(recording, &view, error)) == FLR_OK) {
        last = view.frame.time_ns;
        if (frames++ == 0) first = last;
        if (view.frame.frame > next) missing += view.frame.frame - next;
        next = view.frame.frame + 1;
        contact += view.frame.contacts > 0;
    }
    if (result != FLR_CLOSED) {
        flr_recording_close(recording);
        return result;
    }
    bool complete = flr_recording_complete(recording);
    flr_error lost;
    bool damaged = flr_recording_damaged(recording, &lost);
    if (damaged) flr_warn(cli, "%s", lost.message);
    flr_path_info file = {0};
    flr_path_look(cli->env, path, &file, NULL);
    json_t *o = flr_json_object();
    flr_json_set(o, "file", flr_json_text(path));
    flr_json_set(o, "kind", flr_json_text("recording"));
    flr_print(cli, "%s%s%s\n", flr_bold(cli), FLR_SAFE(path), flr_plain(cli));
    flr_print(cli, "  format      recording (MCAP), %s%s\n", FLR_BYTES_TEXT(file.size),
              complete ? "" : "; not ended properly: its writer died");
    flr_print(cli, "  frames      %llu in %.4g s, contact in %llu\n", (unsigned long long)frames,
              (double)(last - first) * 1e-9, (unsigned long long)contact);
    if (missing)
        flr_print(cli, "  missing     %llu %s%s\n", (unsigned long long)missing,
                  flr_noun(missing, "frame", "frames"),
                  damaged ? "" : " the disk or the machine was too busy for");
    flr_json_set(o, "bytes", flr_json_count(file.size));
    flr_json_set(o, "complete", json_boolean(complete));
    flr_json_set(o, "damaged", json_boolean(damaged));
    flr_json_set(o, "frames", flr_json_count(frames));
    flr_json_set(o, "missing_frames", flr_json_count(missing));
    flr_json_set(o, "contact_frames", flr_json_count(contact));
    flr_json_set(o, "seconds", flr_json_number((double)(last - first) * 1e-9));
    tell_text(cli, recording, "scene", "scene", o);
    tell_text(cli, recording, "part", "part", o);
    tell_text(cli, recording, "hand", "hand", o);
    tell_text(cli, recording, "rate", "rate", o);
    tell_text(cli, recording, "version", "version", o);
    flr_recording_close(recording);
    *object = o;
    return FLR_OK;
}
