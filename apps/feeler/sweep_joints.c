/* feeler sweep SCENE --joint: joints moved continuously */
#include "sweep_joints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "output.h"
#include "picture/plot.h"
#include "scene/scene_allow.h"
#include "scene/scene_joint.h"
#include "swept_mesh.h"
#include "world/joint_sweep.h"

enum { MAX_TRAVELS = 64, MAX_MOTION_BYTES = 4096 };

/* A run and what it needs. */
typedef struct joints_job {
    flr_cli *cli;
    const flr_sweep_joints_values *values;
    flr_scene *scene;
    flr_mechanism *mechanism;
    flr_mesh **meshes; /* [part_count]; those of parts that share one are the same */
    flr_fit **fits;    /* likewise */
    flr_allow *allow;  /* pairs that may touch; NULL: none */
    flr_pose *T_world_part;
    flr_joint_travel travels[MAX_TRAVELS];
    uint32_t first[MAX_TRAVELS + 1];
    flr_joint_sweep_def def;
    flr_joint_sweep found;
    double seconds;
} joints_job;

static void free_job(joints_job *j)
{
    const size_t count = j->scene ? j->scene->part_count : 0;
    for (size_t i = 0; i < count; i++) {
        bool shared = false;
        for (size_t k = 0; k < i; k++) shared |= j->meshes && j->meshes[k] == j->meshes[i];
        if (!shared && j->meshes) flr_mesh_destroy(j->meshes[i]);
        if (!shared && j->fits) flr_fit_destroy(j->fits[i]);
    }
    free(j->meshes);
    free(j->fits);
    free(j->T_world_part);
    flr_joint_sweep_free(&j->found);
    flr_mechanism_destroy(j->mechanism);
    flr_allow_destroy(j->allow);
    flr_scene_destroy(j->scene);
}

/* ---- what to move ---- */

static const flr_scene_joint *joint_of(const joints_job *j, const flr_joint_travel *t)
{
    return &j->scene->joints[t->joint];
}

static bool is_slide(const joints_job *j, const flr_joint_travel *t)
{
    return t->slide || joint_of(j, t)->joint.kind == FLR_JOINT_PRISMATIC;
}

/* "120deg", "2.1rad", "90": an angle; or a length, plain numbers in the scene's unit */
static flr_result read_place(const joints_job *j, const flr_joint_travel *t, const char *text,
                             double *to, flr_error *error)
{
    const char *end = text;
    double value = 0;
    if (flr_number_parse(text, &value, &end, NULL) == FLR_OK && isfinite(value) &&
        !is_slide(j, t)) {
        if (strcmp(end, "rad") == 0) {
            *to = value;
            return FLR_OK;
        }
        if (*end == 0 || strcmp(end, "deg") == 0 || strcmp(end, "°") == 0) {
            *to = value * FLR_DEGREE;
            return FLR_OK;
        }
    }
    if (!is_slide(j, t))
        return flr_fail(error, FLR_BAD_ARGUMENT, "\"%.40s\" is no angle; write 120deg or 2.1rad",
                        text);
    const bool negative = *text == '-';
    flr_error why;
    if (strspn(text + negative, "0.") == strlen(text + negative) && text[negative]) {
        *to = 0;
        return FLR_OK;
    }
    if (flr_size_parse(text + negative, j->scene->unit, to, &why) != FLR_OK)
        return flr_fail(error, FLR_BAD_ARGUMENT, "\"%.40s\" is no length; write 200mm", text);
    if (negative) *to = -*to;
    return FLR_OK;
}

static flr_result find_joint(joints_job *j, const char *name, flr_joint_travel *t, flr_error *error)
{
    char plain[MAX_MOTION_BYTES];
    snprintf(plain, sizeof plain, "%s", name);
    char *dot = strrchr(plain, '.');
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < j->scene->joint_count; i++)
            if (strcmp(j->scene->joints[i].name, plain) == 0) {
                t->joint = (uint32_t)i;
                return FLR_OK;
            }
        /* "rod.slide": the other motion of a cylindrical joint */
        if (!dot || strcmp(dot, ".slide") != 0) break;
        *dot = 0;
        t->slide = true;
    }
    if (j->scene->joint_count == 0)
        return flr_fail(error, FLR_NOT_FOUND, "%s has no joints", j->scene->path);
    const char *meant = NULL;
    for (size_t i = 0; i < j->scene->joint_count && !meant; i++)
        meant = flr_suggest(name, &j->scene->joints[i].name, 1);
    return flr_fail(error, FLR_NOT_FOUND, "%s has no joint \"%.60s\"; %s \"%.60s\"", j->scene->path,
                    name, meant ? "did you mean" : "it has, for example,",
                    meant ? meant : j->scene->joints[0].name);
}

/* one motion: "hinge=0deg..120deg", or "hinge" for what --from and --to or its limits say */
static flr_result read_travel(joints_job *j, char *text, flr_joint_travel *t, flr_error *error)
{
    char *equals = strchr(text, '='), *dots = equals ? strstr(equals, "..") : NULL;
    const char *from = j->values->from, *to = j->values->to;
    if (equals) {
        if (!dots)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "\"%.60s\": write JOINT=FROM..TO, such as hinge=0..120deg", text);
        if (from || to)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "\"%.60s\" says from where to where: leave out --from and --to", text);
        *equals = *dots = 0;
        from = equals + 1, to = dots + 2;
    }
    *t = (flr_joint_travel){0};
    flr_result result = find_joint(j, text, t, error);
    if (result != FLR_OK) return result;
    const flr_joint *joint = &joint_of(j, t)->joint;
    const flr_joint_axis *axis = is_slide(j, t) ? &joint->slide : &joint->turn;
    if (joint->kind == FLR_JOINT_FIXED || joint->kind == FLR_JOINT_PLANAR ||
        joint->kind == FLR_JOINT_BALL)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "joint \"%s\" is %s: it has no single motion to sweep", text,
                        flr_joint_kind_name(joint->kind));
    if (t->slide && joint->kind != FLR_JOINT_CYLINDRICAL)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "joint \"%s\" is %s: only cylindrical ones have \".slide\"", text,
                        flr_joint_kind_name(joint->kind));
    if (!to && !axis->limited)
        return flr_fail(error, FLR_BAD_ARGUMENT, "joint \"%s\" has no limits: add --from and --to",
                        text);
    t->from = axis->limited && !from && !to ? axis->low : 0;
    t->to = axis->high;
    if (from) result = read_place(j, t, from, &t->from, error);
    if (result == FLR_OK && to) result = read_place(j, t, to, &t->to, error);
    if (result != FLR_OK) return result;
    uint32_t island;
    if (flr_mechanism_freedom(j->mechanism, t->joint, &island) == FLR_MECHANISM_NONE)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "joint \"%s\" closes a loop of joints; sweep another one of that loop",
                        text);
    if (axis->limited &&
        (fmin(t->from, t->to) < axis->low - 1e-9 || fmax(t->from, t->to) > axis->high + 1e-9))
        flr_warn(j->cli, "joint \"%s\" goes beyond its limits", text);
    return FLR_OK;
}

/* "a=0..90deg+b=0..2cm,c": a and b together, then c */
static flr_result read_travels(joints_job *j, flr_error *error)
{
    char text[MAX_MOTION_BYTES];
    uint32_t count = 0, stages = 0;
    if (strlen(j->values->joint) >= sizeof text)
        return flr_fail(error, FLR_BAD_ARGUMENT, "--joint: more than %d bytes",
                        MAX_MOTION_BYTES - 1);
    snprintf(text, sizeof text, "%s", j->values->joint);
    for (char *stage = text, *next; stage; stage = next) {
        next = strchr(stage, ',');
        if (next) *next++ = 0;
        j->first[stages++] = count;
        for (char *one = stage, *plus; one; one = plus) {
            plus = strchr(one, '+');
            if (plus) *plus++ = 0;
            if (count == MAX_TRAVELS || stages == MAX_TRAVELS)
                return flr_fail(error, FLR_BAD_ARGUMENT, "--joint: more than %d motions",
                                MAX_TRAVELS);
            flr_result result = read_travel(j, one, &j->travels[count], error);
            if (result != FLR_OK) return result;
            for (uint32_t i = j->first[stages - 1]; i < count; i++)
                if (j->travels[i].joint == j->travels[count].joint &&
                    j->travels[i].slide == j->travels[count].slide)
                    return flr_fail(error, FLR_BAD_ARGUMENT,
                                    "joint \"%s\" cannot make two motions at the same time", one);
            count++;
        }
    }
    j->first[stages] = count;
    j->def.travels = j->travels;
    j->def.first = j->first;
    j->def.stage_count = stages;
    return FLR_OK;
}

/* ---- loading ---- */

static flr_result load(joints_job *j, const char *path, const flr_mesh_options *options,
                       flr_error *error)
{
    flr_result result = flr_scene_read(j->cli->env, path, &j->scene, error);
    if (result != FLR_OK) return result;
    result = flr_scene_mechanism(j->scene, &j->mechanism, error);
    if (result == FLR_OK) result = flr_scene_allowed(j->scene, &j->allow, error);
    if (result == FLR_OK) result = read_travels(j, error);
    if (result != FLR_OK) return result;
    const size_t count = j->scene->part_count;
    j->meshes = calloc(count, sizeof *j->meshes);
    j->fits = calloc(count, sizeof *j->fits);
    j->T_world_part = calloc(count, sizeof *j->T_world_part);
    if (!j->meshes || !j->fits || !j->T_world_part) return flr_fail_memory(error);
    char folder[FLR_CACHE_PATH_SIZE];
    flr_cache cache = {0};
    if (flr_find_cache(NULL, folder, NULL) == FLR_OK) cache.folder = folder;
    flr_scene_loader loader = flr_scene_loader_begin(j->cli->env, j->scene, options);
    for (size_t i = 0; i < count && result == FLR_OK; i++) {
        j->T_world_part[i] = j->scene->parts[i].T_world_part;
        for (size_t k = 0; k < i && !j->fits[i]; k++)
            if (flr_scene_same_mesh(j->scene, i, k))
                j->meshes[i] = j->meshes[k], j->fits[i] = j->fits[k];
        if (j->fits[i]) continue;
        flr_progress(j->cli, i, count, "reading %s", j->scene->parts[i].name);
        result = flr_scene_loader_load(&loader, i, &j->meshes[i], NULL, error);
        if (result == FLR_OK)
            result =
                flr_fit_open(j->cli->env, &cache, j->meshes[i], NULL, &j->fits[i], NULL, error);
    }
    flr_scene_loader_end(&loader);
    return result;
}

/* What the design lets touch, and what all others pass through, stops nothing. */
static bool may_touch(void *context, uint32_t a, uint32_t b)
{
    const joints_job *j = context;
    return j->scene->parts[a].use == FLR_PART_USE_PASS ||
           j->scene->parts[b].use == FLR_PART_USE_PASS ||
           (j->allow && flr_allow_has(j->allow, a, b, NULL));
}

/* ---- what to say ---- */

static const char *name_of(const joints_job *j, uint32_t part)
{
    return part == FLR_MECHANISM_NONE ? "" : j->scene->parts[part].name;
}

/* Degrees, or metres. */
static double shown(const joints_job *j, const flr_joint_travel *t, double share)
{
    const double at = flr_joint_travel_at(t, share);
    return is_slide(j, t) ? at : at / FLR_DEGREE;
}

static void print_place(const joints_job *j, uint32_t stage, double share)
{
    for (uint32_t i = j->first[stage]; i < j->first[stage + 1]; i++) {
        const flr_joint_travel *t = &j->travels[i];
        const bool slide = is_slide(j, t);
        flr_print(j->cli, "%s%s at %.*f %s", i > j->first[stage] ? ", " : "",
                  FLR_SAFE(joint_of(j, t)->name), slide ? 4 : 3,
                  shown(j, t, share) * (slide ? 1e3 : 1), slide ? "mm" : "deg");
    }
}

/* The sample with the least clearance. */
static const flr_joint_sweep_sample *least_of(const flr_joint_sweep *found)
{
    const flr_joint_sweep_sample *least = NULL;
    for (uint32_t i = 0; i < found->sample_count; i++)
        if (!least || found->samples[i].clearance < least->clearance) least = &found->samples[i];
    return least;
}

static json_t *places_json(const joints_job *j, uint32_t stage, double share)
{
    json_t *list = flr_json_object();
    for (uint32_t i = j->first[stage]; i < j->first[stage + 1]; i++)
        flr_json_set(list, joint_of(j, &j->travels[i])->name,
                     flr_json_number(shown(j, &j->travels[i], share)));
    return list;
}

static json_t *make_json(const joints_job *j, const char *path)
{
    const flr_joint_sweep *f = &j->found;
    json_t *facts = flr_json_object(), *samples = flr_json_array(), *starts = flr_json_array();
    flr_json_set(facts, "scene", flr_json_text(path));
    flr_json_set(facts, "free", json_boolean(!f->blocked));
    flr_json_set(facts, "stage", flr_json_count(f->stage));
    flr_json_set(facts, "at", places_json(j, f->stage, f->share));
    if (f->blocked && !f->locked) {
        json_t *contact = flr_json_object();
        flr_json_set(contact, "part", flr_json_text(name_of(j, f->part[0])));
        flr_json_set(contact, "with", flr_json_text(name_of(j, f->part[1])));
        flr_json_set(contact, "point", flr_json_vec3(f->point[1]));
        flr_json_set(facts, "contact", contact);
    }
    flr_json_set(facts, "locked", json_boolean(f->locked));
    for (uint32_t i = 0; i < f->start_count; i++) {
        json_t *pair = flr_json_array();
        for (int k = 0; k < 2; k++)
            flr_json_push(pair, flr_json_text(name_of(j, f->starts[i].part[k])));
        flr_json_push(starts, pair);
    }
    flr_json_set(facts, "touching_at_start", starts);
    for (uint32_t i = 0; i < f->sample_count; i++) {
        const flr_joint_sweep_sample *s = &f->samples[i];
        json_t *entry = flr_json_object();
        flr_json_set(entry, "stage", flr_json_count(s->stage));
        flr_json_set(entry, "at", places_json(j, s->stage, s->share));
        flr_json_set(entry, "clearance", flr_json_number(s->clearance));
        flr_json_set(entry, "part", flr_json_text(name_of(j, s->part[0])));
        flr_json_set(entry, "with", flr_json_text(name_of(j, s->part[1])));
        flr_json_push(samples, entry);
    }
    flr_json_set(facts, "samples", samples);
    flr_json_set(facts, "seconds", flr_json_number(j->seconds));
    return facts;
}

static void tell(const joints_job *j)
{
    flr_cli *cli = j->cli;
    const flr_joint_sweep *f = &j->found;
    if (!f->blocked) {
        flr_print(cli, "%sfree%s        all the way, to ", flr_green(cli), flr_plain(cli));
        print_place(j, f->stage, f->share);
        flr_print(cli, "\n");
    } else if (f->locked) {
        flr_print(cli, "%slocked%s      ", flr_red(cli), flr_plain(cli));
        print_place(j, f->stage, f->share);
        flr_print(cli, ": beyond it, a loop of joints cannot close\n");
    } else {
        flr_print(cli, "%s%s%s  ", flr_red(cli), j->values->clearance > 0 ? "too near" : "contact ",
                  flr_plain(cli));
        print_place(j, f->stage, f->share);
        flr_print(cli, ": %s meets %s at %.4g %.4g %.4g mm\n", FLR_SAFE(name_of(j, f->part[0])),
                  FLR_SAFE(name_of(j, f->part[1])), 1e3 * f->point[1].x, 1e3 * f->point[1].y,
                  1e3 * f->point[1].z);
    }
    for (uint32_t i = 0; i < f->start_count; i++)
        flr_print(
            cli,
            "  start     %s and %s touch before anything moves; this does not stop the motion\n",
            FLR_SAFE(name_of(j, f->starts[i].part[0])), FLR_SAFE(name_of(j, f->starts[i].part[1])));
    const flr_joint_sweep_sample *least = least_of(f);
    if (least && isfinite(least->clearance)) {
        flr_print(cli, "  least     %.6g mm between %s and %s, ", 1e3 * least->clearance,
                  FLR_SAFE(name_of(j, least->part[0])), FLR_SAFE(name_of(j, least->part[1])));
        print_place(j, least->stage, least->share);
        flr_print(cli, "\n");
    }
    flr_print(cli, "  time      %.3g s, %llu motions of pairs followed\n", j->seconds,
              (unsigned long long)f->pairs);
}

/* ---- files ---- */

static flr_result write_csv(const joints_job *j, const char *path, flr_error *error)
{
    flr_output *out;
    flr_result result = flr_output_begin(j->cli->env, path, &out, error);
    if (result != FLR_OK) return result;
    result = flr_output_print(out, error, "stage,share,joint,at,clearance_mm,part,with\n");
    for (uint32_t i = 0; i < j->found.sample_count && result == FLR_OK; i++) {
        const flr_joint_sweep_sample *s = &j->found.samples[i];
        const flr_joint_travel *t = &j->travels[j->first[s->stage]];
        char clearance[FLR_NUMBER_TEXT_SIZE] = "", place[FLR_NUMBER_TEXT_SIZE];
        if (isfinite(s->clearance)) flr_number_print(1e3 * s->clearance, clearance);
        flr_number_print(shown(j, t, s->share) * (is_slide(j, t) ? 1e3 : 1), place);
        result = flr_output_print(out, error, "%u,%.9g,\"%s\",%s,%s,\"%s\",\"%s\"\n", s->stage,
                                  s->share, joint_of(j, t)->name, place, clearance,
                                  name_of(j, s->part[0]), name_of(j, s->part[1]));
    }
    return flr_output_end(out, result, error);
}

static flr_result write_plot(const joints_job *j, const char *path, flr_error *error)
{
    const uint32_t count = j->found.sample_count;
    double *x = calloc(count + 1u, sizeof *x), *y = calloc(count + 1u, sizeof *y);
    flr_result result = FLR_NO_MEMORY;
    if (x && y) {
        const bool one = j->def.stage_count == 1;
        const flr_joint_travel *t = &j->travels[0];
        char label[FLR_SAFE_SIZE + 32];
        for (uint32_t i = 0; i < count; i++) {
            const flr_joint_sweep_sample *s = &j->found.samples[i];
            x[i] = one ? shown(j, t, s->share) * (is_slide(j, t) ? 1e3 : 1) : s->stage + s->share;
            y[i] = 1e3 * s->clearance;
        }
        flr_plot_series series = {.x = x, .y = y, .count = count};
        flr_plot_def def = flr_default_plot_def();
        snprintf(label, sizeof label, "%s [%s]", FLR_SAFE(joint_of(j, t)->name),
                 is_slide(j, t) ? "mm" : "degrees");
        def.title = "Clearance";
        def.x_label = one ? label : "stage";
        def.y_label = "least distance [mm]";
        def.series = &series;
        def.series_count = 1;
        result = flr_plot_write(j->cli->env, path, &def, error);
    } else {
        flr_fail_memory(error);
    }
    free(x);
    free(y);
    return result;
}

static flr_result write_volume(const joints_job *j, flr_error *error)
{
    const uint32_t stages = j->found.stage + 1;
    flr_swept_mesh_def def = {.env = j->cli->env,
                              .sweep = &j->def,
                              .meshes = (const flr_mesh *const *)j->meshes,
                              .stages = stages,
                              .share = j->found.share,
                              .tolerance = j->values->tolerance,
                              .path = j->values->volume};
    flr_swept_mesh_report report;
    flr_result result = flr_swept_mesh_write(&def, &report, error);
    if (result != FLR_OK) return result;
    flr_print_note(j->cli, "%s: %zu triangles, %.6g cm3, within %.4g mm of the swept volume\n",
                   FLR_SAFE(j->values->volume), report.triangles, 1e6 * report.volume,
                   1e3 * report.error);
    return FLR_OK;
}

/* ---- the whole ---- */

int flr_sweep_joints(flr_cli *cli, const char *path, const flr_sweep_joints_values *values,
                     const flr_mesh_options *options)
{
    joints_job j = {.cli = cli, .values = values, .def = flr_default_joint_sweep_def()};
    flr_error error;
    flr_result result = load(&j, path, options, &error);
    if (result != FLR_OK) {
        flr_progress_end(cli);
        free_job(&j);
        return flr_fail_with(
            cli, result == FLR_BAD_ARGUMENT ? FLR_EXIT_USAGE : flr_exit_of_input(result), &error);
    }
    j.def.mechanism = j.mechanism;
    j.def.fits = (const flr_fit *const *)j.fits;
    j.def.T_world_part = j.T_world_part;
    j.def.clearance = values->clearance;
    j.def.skip = may_touch, j.def.skip_context = &j;
    if (values->samples > 0) j.def.samples = (uint32_t)values->samples;
    flr_progress(cli, 1, 1, "sweeping");
    const int64_t begin = flr_clock_ns(cli->env);
    result = flr_joint_sweep_run(&j.def, &j.found, &error);
    j.seconds = (double)(flr_clock_ns(cli->env) - begin) * 1e-9;
    flr_progress_end(cli);
    if (result == FLR_OK && values->csv) result = write_csv(&j, values->csv, &error);
    if (result == FLR_OK && values->plot) result = write_plot(&j, values->plot, &error);
    if (result == FLR_OK && values->volume) result = write_volume(&j, &error);
    int code = FLR_EXIT_OK;
    if (result == FLR_OK) {
        tell(&j);
        flr_json_print(cli, cli->json ? make_json(&j, path) : NULL);
        code = j.found.blocked ? FLR_EXIT_FAILED : FLR_EXIT_OK;
    }
    free_job(&j);
    return result == FLR_OK
               ? code
               : flr_fail_with(cli, result == FLR_BAD_ARGUMENT ? FLR_EXIT_USAGE : FLR_EXIT_FAILED,
                               &error);
}
