/* feeler device test: what a device really does: workspace, rate, latency, a guarded force; and a report file of it */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_test.h"
#include "doctor.h"
#include "feeler/hand.h"
#include "feeler/version.h"
#include "files.h"
#include "output.h"

typedef struct device_values {
    flr_common common;
    double seconds, force;
    const char *out;
} device_values;

static json_t *timing_json(const flr_histogram *h)
{
    const flr_percentiles p = flr_histogram_percentiles(h);
    json_t *o = flr_json_object();
    flr_json_set(o, "p50_us", flr_json_number(1e-3 * (double)p.p50));
    flr_json_set(o, "p99_us", flr_json_number(1e-3 * (double)p.p99));
    flr_json_set(o, "max_us", flr_json_number(1e-3 * (double)p.max));
    return o;
}

static json_t *force_json(const flr_device_found *f)
{
    if (!f->forced) return json_null();
    json_t *o = flr_json_object();
    flr_json_set(o, "wanted_n", flr_json_number(f->wanted));
    flr_json_set(o, "largest_n", flr_json_number(f->largest));
    flr_json_set(o, "moved_mm", flr_json_number(1e3 * f->moved));
    flr_json_set(o, "response_ms",
                 isfinite(f->response) ? flr_json_number(1e3 * f->response) : json_null());
    flr_json_set(o, "stopped", f->stopped[0] ? flr_json_text(f->stopped) : json_null());
    json_t *faults = flr_json_object();
    for (unsigned i = 0; i < FLR_FAULT_COUNT; i++)
        if (f->guard.counts[i])
            flr_json_set(faults, flr_fault_name(i), flr_json_count(f->guard.counts[i]));
    flr_json_set(o, "faults", faults);
    return o;
}

static json_t *report_json(const char *name, const flr_device_info *info, const flr_device_found *f)
{
    char machine[FLR_MACHINE_TEXT_SIZE];
    json_t *o = flr_json_object(), *given = flr_json_object();
    flr_json_set(o, "feeler", flr_json_text(FLR_VERSION));
    flr_json_set(o, "machine", flr_json_text(flr_machine_print(machine)));
    flr_json_set(o, "device", flr_json_text(name));
    flr_json_set(o, "name", flr_json_text(info->name));
    const bool bounded = info->workspace.low.x <= info->workspace.high.x;
    flr_json_set(given, "force_n", flr_json_number(info->force));
    flr_json_set(given, "torque_nm", flr_json_number(info->torque));
    flr_json_set(given, "buttons", flr_json_count(info->buttons));
    flr_json_set(given, "low_m", bounded ? flr_json_vec3(info->workspace.low) : json_null());
    flr_json_set(given, "high_m", bounded ? flr_json_vec3(info->workspace.high) : json_null());
    flr_json_set(o, "stated", given);
    flr_json_set(o, "seconds", flr_json_number(f->seconds));
    flr_json_set(o, "reads", flr_json_count(f->reads));
    flr_json_set(o, "samples", flr_json_count(f->samples));
    flr_json_set(o, "rate_hz",
                 flr_json_number(f->seconds > 0 ? (double)f->samples / f->seconds : 0));
    flr_json_set(o, "bad_samples", flr_json_count(f->bad));
    flr_json_set(o, "between_samples", timing_json(&f->between));
    flr_json_set(o, "read", timing_json(&f->read));
    flr_json_set(o, "reached_low_m", f->samples ? flr_json_vec3(f->reached.low) : json_null());
    flr_json_set(o, "reached_high_m", f->samples ? flr_json_vec3(f->reached.high) : json_null());
    flr_json_set(o, "fastest_m_s", flr_json_number(f->fastest));
    flr_json_set(o, "largest_turn_rad", flr_json_number(f->turned));
    flr_json_set(o, "buttons_seen", flr_json_count(f->buttons));
    flr_json_set(o, "force", force_json(f));
    return o;
}

static void tell(flr_cli *cli, const flr_device_info *info, const flr_device_found *f)
{
    const flr_percentiles between = flr_histogram_percentiles(&f->between);
    const flr_vec3 size = f->samples ? flr_box3_size(f->reached) : flr_vec3_zero();
    flr_print(cli, "%s\n", FLR_SAFE(info->name));
    flr_print(cli,
              "  samples      %llu in %.3g s: %.4g a second; p99 %.3g ms apart, at most %.3g ms\n",
              (unsigned long long)f->samples, f->seconds,
              f->seconds > 0 ? (double)f->samples / f->seconds : 0, 1e-6 * (double)between.p99,
              1e-6 * (double)between.max);
    if (f->bad)
        flr_print(cli, "  not poses    %llu samples, which were left out\n",
                  (unsigned long long)f->bad);
    flr_print(cli, "  workspace    %.0f x %.0f x %.0f mm were reached\n", 1e3 * size.x,
              1e3 * size.y, 1e3 * size.z);
    flr_print(cli, "  motion       %.3g m/s at most, turned by %.3g degrees\n", f->fastest,
              f->turned * 180 / M_PI);
    if (!f->forced)
        flr_print(cli, "  force        %s\n",
                  info->force > 0 ? "not tried: --force 0.5 tries half a newton"
                                  : "the device gives none");
    else if (f->stopped[0])
        flr_print(cli, "  force        stopped at %.3g N: %s\n", f->largest, f->stopped);
    else
        flr_print(cli, "  force        %.3g N upwards and back; the grip moved by %.3g mm%s\n",
                  f->largest, 1e3 * f->moved,
                  isfinite(f->response) ? "" : ", which is nothing that could be measured");
    if (f->forced && isfinite(f->response))
        flr_print(cli, "  latency      the grip moved %.3g ms after the force began\n",
                  1e3 * f->response);
}

/* "haply:port=1" is the driver haply */
static void default_path(const char *name, char path[FLR_PATH_MAX])
{
    snprintf(path, FLR_PATH_MAX, "feeler-device-%.*s.json", (int)strcspn(name, ":/"), name);
}

static flr_result write_report(flr_cli *cli, const char *path, const json_t *report,
                               flr_error *error)
{
    char *text = json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    if (!text) return flr_fail_memory(error);
    flr_hold_signals();
    const flr_result result = flr_file_write_all(cli->env, path, text, strlen(text), error);
    flr_release_signals();
    free(text);
    return result;
}

/* a hand that goes to and fro, to try the command without a device */
static flr_pose to_and_fro(const void *context, double t)
{
    flr_pose T = flr_pose_identity();
    (void)context;
    T.p = flr_vec3_make(0.02 * sin(2 * t), 0, 0);
    return T;
}

static flr_result open_it(const char *name, flr_device **device, flr_error *error)
{
    if (strcmp(name, "hand") != 0) return flr_device_open_named(name, device, error);
    flr_hand_def hand = flr_default_hand_def();
    hand.target = (flr_target){to_and_fro, NULL};
    return flr_device_open(&flr_hand_driver, &hand, device, error);
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const device_values *values = given;
    (void)count;
    flr_error error;
    flr_device *device = NULL;
    if (strcmp(arguments[0], "test") != 0)
        return FLR_REFUSE(
            cli, "feeler device %s: the one thing it does is test: feeler device test NAME",
            arguments[0]);
    if (flr_device_plugins_load(NULL, NULL, &error) != FLR_OK) flr_warn(cli, "%s", error.message);
    flr_result result = open_it(arguments[1], &device, &error);
    if (result != FLR_OK) return flr_fail_with(cli, FLR_EXIT_USAGE, &error);
    const flr_device_info *info = flr_device_get_info(device);
    flr_device_found *found = calloc(1, sizeof *found);
    char path[FLR_PATH_MAX];
    default_path(arguments[1], path);
    if (values->out) snprintf(path, sizeof path, "%s", values->out);
    int code = FLR_EXIT_OK;
    flr_catch_stop();
    flr_print_note(
        cli, "Move the device to all ends of its workspace, turn it, and press its buttons.\n");
    if (!found) {
        result = flr_fail_memory(&error);
    } else {
        flr_device_test_motion(cli, device, values->seconds, found);
        if (values->force > 0 && info->force > 0 && !flr_stop_wanted()) {
            flr_print_note(cli, "Now hold it loosely: it will pull upwards with up to %.3g N.\n",
                           values->force);
            result = flr_device_test_force(cli, device, values->force, found, &error);
        }
    }
    const bool ended = flr_stop_wanted();
    if (result == FLR_OK) {
        json_t *report = report_json(arguments[1], info, found);
        flr_json_set(report, "stopped_early", json_boolean(ended));
        tell(cli, info, found);
        result = write_report(cli, path, report, &error);
        if (result == FLR_OK)
            flr_print_note(cli, "%s: the report; docs/devices.md says where to send it\n",
                           FLR_SAFE(path));
        if (result == FLR_OK && (found->samples == 0 || found->stopped[0])) code = FLR_EXIT_FAILED;
        if (result == FLR_OK && ended) {
            code = FLR_EXIT_STOPPED;
            flr_print_note(cli, "stopped: the report has the measurements so far\n");
        }
        flr_json_print(cli, report);
    }
    free(found);
    flr_device_close(device);
    return result == FLR_OK ? code : flr_fail_with(cli, FLR_EXIT_FAILED, &error);
}

static const device_values defaults = {.seconds = 10};
static const char *const usage[] = {"test NAME [options]", NULL};
static const flr_option options[] = {
    FLR_OPTION(NUMBER, offsetof(device_values, seconds), "seconds", "N",
               "how long you move it; default 10", .min = 0.1, .max = 3600),
    FLR_OPTION(NUMBER, offsetof(device_values, force), "force", "N",
               "then ramp a force up to so many newtons upwards and back; default 0: none",
               .min = 0, .max = 5),
    FLR_OPTION(PATH, offsetof(device_values, out), "out", "FILE",
               "the report (JSON); default feeler-device-NAME.json in this folder", .letter = 'o'),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler device test hand --seconds 1", "a simulated hand, for a second"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "the device was measured, and the report is written"},
    {FLR_EXIT_FAILED,
     "it gave no samples, the force was stopped, or the report could not be written"},
    {FLR_EXIT_USAGE, "there is no such device, or the command line is wrong"},
    {FLR_EXIT_STOPPED, "stopped by Ctrl-C: the force went back to zero, and the report has the "
                       "measurements so far"},
    {0, NULL},
};

const flr_command flr_cmd_device = {
    .name = "device",
    .summary = "measure a device: workspace, rate, latency, a guarded force",
    .usage = usage,
    .description =
        "Opens a device by its name, as --device of feeler serve does, and reads it 4000 times a "
        "second while "
        "you move it: how often it has something new, how far apart samples are, which workspace "
        "you reached, "
        "how fast, which buttons. With --force it then ramps a force up, through the output guard, "
        "and back: "
        "at most 5 N, and it stops when the grip moves by 50 mm or faster than 0.5 m/s. Keep the "
        "emergency "
        "stop within reach. Ctrl-C ends the test safely: the force goes back to zero within a "
        "tenth of a second, and the "
        "report is written.\n\n"
        "The report is a JSON file with these numbers and the machine's, for a bug report.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .min_arguments = 2,
    .max_arguments = 2,
    .argument_missing = "what to do and with which device: test NAME",
    .values_size = sizeof(device_values),
    .defaults = &defaults,
    .run = run,
};
