/* feeler plan --all and --until: which parts come out, in which order, along which paths */
#include "plan_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/pose_file.h"

enum { STEPS_NAME_SIZE = 400 };

/* ---- units ---- */

/* Does anything touch the part, or the rigid group around it? */
static bool is_solid(const flr_scene *scene, const uint32_t *rigid, uint32_t part)
{
    if (rigid[part] == FLR_NO_PART) return scene->parts[part].use != FLR_PART_USE_PASS;
    for (size_t i = 0; i < scene->part_count; i++)
        if (rigid[i] == rigid[part] && scene->parts[i].use != FLR_PART_USE_PASS) return true;
    return false;
}

/* Parts of a rigid group are one unit; parts that others pass through belong to none. Parts that the scene does not let move
 * stay, unless none may move. */
static flr_result make_units(flr_steps *s, flr_error *error)
{
    const flr_scene *scene = s->scene->scene;
    const uint32_t count = (uint32_t)scene->part_count;
    uint32_t *rigid = calloc(count, sizeof *rigid);
    s->parts = calloc(count, sizeof *s->parts);
    s->unit = calloc(count, sizeof *s->unit);
    s->names = calloc(count, sizeof *s->names);
    s->fixed = calloc(count, sizeof *s->fixed);
    bool any = false;
    flr_result result = FLR_OK;
    if (!rigid || !s->parts || !s->unit || !s->names || !s->fixed || !flr_scene_rigid(scene, rigid))
        result = flr_fail_memory(error);
    for (uint32_t i = 0; i < count && result == FLR_OK; i++) any |= scene->parts[i].moving;
    for (uint32_t i = 0; i < count && result == FLR_OK; i++) {
        uint32_t k = 0;
        s->parts[i] =
            (flr_plan_part){s->scene->fits[s->scene->mesh_of[i]], scene->parts[i].T_world_part};
        s->unit[i] = FLR_NONE;
        if (!is_solid(scene, rigid, i)) continue;
        while (k < i && (rigid[i] == FLR_NO_PART || rigid[k] != rigid[i])) k++;
        s->unit[i] = k < i ? s->unit[k] : s->unit_count++;
        if (k < i) {
            s->fixed[s->unit[i]] &= !scene->parts[i].moving;
            continue;
        }
        s->names[s->unit[i]] =
            rigid[i] == FLR_NO_PART ? scene->parts[i].name : scene->groups[rigid[i]].name;
        s->fixed[s->unit[i]] = any && !scene->parts[i].moving;
    }
    free(rigid);
    return result;
}

static flr_result choose_until(flr_steps *s, flr_error *error)
{
    const flr_scene *scene = s->scene->scene;
    const char *until = s->def->until;
    s->until = FLR_NONE;
    if (!until) return FLR_OK;
    for (uint32_t u = 0; u < s->unit_count; u++)
        if (strcmp(s->names[u], until) == 0) s->until = u;
    bool known = false;
    for (uint32_t i = 0; i < scene->part_count && s->until == FLR_NONE; i++) {
        if (strcmp(scene->parts[i].name, until) != 0) continue;
        s->until = s->unit[i];
        known = true;
    }
    if (s->until == FLR_NONE && known)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: all other parts pass through \"%s\", so nothing holds it",
                        s->scene->path, until);
    if (s->until == FLR_NONE)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s has neither a part nor a rigid group \"%s\"; feeler info lists them",
                        s->scene->path, until);
    // it is what is asked for, so it moves
    s->fixed[s->until] = false;
    return FLR_OK;
}

const char *flr_steps_name(const flr_steps *s, const flr_plan_step *step, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < step->unit_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " with " : "",
                                 s->names[step->units[i]]);
    return text;
}

/* ---- results ---- */

static void tell(const flr_steps *s)
{
    const flr_plan_sequence *q = &s->sequence;
    char name[STEPS_NAME_SIZE];
    for (uint32_t i = 0; i < q->step_count; i++) {
        const flr_plan_step *step = &q->steps[i];
        flr_print(s->cli, "%3u. %s (%s", i + 1,
                  FLR_SAFE(flr_steps_name(s, step, name, sizeof name)),
                  flr_plan_method_name(step->method));
        if (isfinite(step->verdict.lower))
            flr_print(s->cli, ", at least %.4g mm apart", 1e3 * step->verdict.lower);
        flr_print(s->cli, ")");
        for (uint32_t k = 0; k < step->after_count; k++)
            flr_print(s->cli, "%s%u", k ? ", " : "; after ", step->after[k] + 1);
        flr_print(s->cli, "\n");
    }
    for (uint32_t i = 0; i < q->left_count; i++) {
        flr_print(s->cli, "  %sno way found%s for %s", flr_red(s->cli), flr_plain(s->cli),
                  FLR_SAFE(s->names[q->left[i]]));
        if (q->blocker[i] != FLR_NONE)
            flr_print(s->cli, ", blocked by %s", FLR_SAFE(s->names[q->blocker[i]]));
        flr_print(s->cli, "\n");
    }
    uint32_t stages = 0;
    for (uint32_t i = 0; i < q->step_count; i++)
        if (q->steps[i].stage + 1 > stages) stages = q->steps[i].stage + 1;
    flr_print(s->cli, "  %u %s in %u %s%s\n", q->step_count,
              flr_noun(q->step_count, "step", "steps"), stages, flr_noun(stages, "stage", "stages"),
              q->stopped ? ", stopped" : "");
}

static json_t *step_json(const flr_steps *s, const flr_plan_step *step)
{
    json_t *d = flr_json_object(), *units = flr_json_array(), *after = flr_json_array();
    for (uint32_t i = 0; i < step->unit_count; i++)
        flr_json_push(units, flr_json_text(s->names[step->units[i]]));
    for (uint32_t i = 0; i < step->after_count; i++)
        flr_json_push(after, flr_json_count(step->after[i]));
    flr_json_set(d, "parts", units);
    flr_json_set(d, "of", flr_json_text(s->scene->scene->parts[step->part].name));
    flr_json_set(d, "stage", flr_json_count(step->stage));
    flr_json_set(d, "after", after);
    flr_json_set(d, "method", flr_json_text(flr_plan_method_name(step->method)));
    flr_json_set(d, "lower", flr_json_number(step->verdict.lower));
    flr_json_set(d, "upper", flr_json_number(step->verdict.upper));
    flr_json_set(d, "poses", flr_json_poses(step->poses, step->pose_count));
    return d;
}

static json_t *document_json(const flr_steps *s)
{
    const flr_plan_sequence *q = &s->sequence;
    json_t *d = flr_json_object(), *steps = flr_json_array(), *left = flr_json_array();
    for (uint32_t i = 0; i < q->step_count; i++) flr_json_push(steps, step_json(s, &q->steps[i]));
    for (uint32_t i = 0; i < q->left_count; i++) {
        json_t *one = flr_json_object();
        flr_json_set(one, "part", flr_json_text(s->names[q->left[i]]));
        flr_json_set(one, "blocker",
                     q->blocker[i] == FLR_NONE ? json_null()
                                               : flr_json_text(s->names[q->blocker[i]]));
        flr_json_push(left, one);
    }
    flr_json_set(d, "scene", flr_json_text(s->scene->path));
    flr_json_set(d, "clearance", flr_json_number(s->def->clearance));
    flr_json_set(d, "until", s->def->until ? flr_json_text(s->def->until) : json_null());
    flr_json_set(d, "steps", steps);
    flr_json_set(d, "left", left);
    flr_json_set(d, "stopped", json_boolean(q->stopped));
    return d;
}

/* ---- pose files ---- */

static flr_result write_paths(const flr_steps *s, flr_error *error)
{
    flr_result result = flr_path_make_folder(s->cli->env, s->def->out, error);
    for (uint32_t i = 0; i < s->sequence.step_count && result == FLR_OK; i++) {
        const flr_plan_step *step = &s->sequence.steps[i];
        char path[4096], comment[STEPS_NAME_SIZE + 80], name[STEPS_NAME_SIZE];
        flr_pose_list list = {calloc(step->pose_count, sizeof *list.poses), step->pose_count};
        if (!list.poses) return flr_fail_memory(error);
        for (size_t k = 0; k < step->pose_count; k++)
            list.poses[k] = (flr_timed_pose){(double)k, step->poses[k]};
        snprintf(path, sizeof path, "%s/step-%03u.txt", s->def->out, i + 1);
        snprintf(comment, sizeof comment, "step %u of feeler plan: %s", i + 1,
                 flr_steps_name(s, step, name, sizeof name));
        for (char *c = comment; *c; c++)
            if ((unsigned char)*c < ' ') *c = ' ';
        result =
            flr_pose_list_write(s->cli->env, path, &list, s->scene->scene->unit, comment, error);
        flr_pose_list_free(&list);
    }
    return result;
}

/* ---- all of it ---- */

static bool show(void *context, uint32_t out, uint32_t unit)
{
    const flr_steps *s = context;
    if (unit != FLR_NONE)
        flr_progress(s->cli, out, s->unit_count, "looking for a way out of %s", s->names[unit]);
    return !flr_stop_wanted();
}

/* All parts but those that others pass through; of[i]: the index of part i in the scene. */
static flr_result list_solid(const flr_steps *s, flr_plan_part *parts, uint32_t *unit, uint32_t *of,
                             uint32_t *count, flr_error *error)
{
    const flr_scene *scene = s->scene->scene;
    *count = 0;
    for (uint32_t i = 0; i < scene->part_count; i++) {
        if (scene->parts[i].use == FLR_PART_USE_PASS) continue;
        parts[*count] = s->parts[i];
        unit[*count] = s->unit[i];
        of[(*count)++] = i;
    }
    if (*count) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "%s: all parts are passed through, so nothing holds them", s->scene->path);
}

static flr_result find_among(flr_steps *s, const flr_plan_part *parts, const uint32_t *unit,
                             uint32_t count, flr_error *error)
{
    flr_plan_sequence_def def = flr_default_plan_sequence_def();
    def.parts = parts, def.unit = unit, def.fixed = s->fixed;
    def.part_count = count;
    def.unit_count = s->unit_count;
    def.until = s->until;
    def.clearance = s->def->clearance;
    if (s->def->overlap >= 0) def.overlap = s->def->overlap;
    def.search.seconds = s->def->time;
    def.search.seed = s->def->seed;
    def.search.threads = s->def->threads;
    def.progress = show, def.progress_context = s;
    flr_catch_stop();
    flr_stop_at_once(true);
    flr_result result = flr_plan_sequence_find(s->cli->env, &def, &s->sequence, error);
    flr_stop_at_once(false);
    flr_progress_end(s->cli);
    return result;
}

static flr_result find(flr_steps *s, flr_error *error)
{
    const size_t room = s->scene->scene->part_count;
    flr_plan_part *parts = calloc(room, sizeof *parts);
    uint32_t *unit = calloc(room, sizeof *unit), *of = calloc(room, sizeof *of), count = 0;
    flr_result result = parts && unit && of ? list_solid(s, parts, unit, of, &count, error)
                                            : flr_fail_memory(error);
    if (result == FLR_OK) result = find_among(s, parts, unit, count, error);
    for (uint32_t i = 0; result == FLR_OK && i < s->sequence.step_count; i++)
        s->sequence.steps[i].part = of[s->sequence.steps[i].part];
    free(parts);
    free(unit);
    free(of);
    return result;
}

int flr_steps_run(flr_cli *cli, const flr_plan_scene *scene, const flr_steps_def *def)
{
    flr_steps s = {.cli = cli, .def = def, .scene = scene};
    flr_error error;
    int code = FLR_EXIT_OK;
    flr_result result = make_units(&s, &error);
    if (result == FLR_OK) result = choose_until(&s, &error);
    if (result == FLR_OK) result = find(&s, &error);
    if (result != FLR_OK) {
        code = flr_fail_with(cli, result == FLR_BAD_ARGUMENT ? FLR_EXIT_USAGE : FLR_EXIT_FAILED,
                             &error);
    } else {
        if (def->out) result = write_paths(&s, &error);
        if (result == FLR_OK && def->html) result = flr_steps_write_page(&s, def->html, &error);
        flr_progress_end(cli);
        if (result != FLR_OK) {
            code = flr_fail_with(cli, FLR_EXIT_FAILED, &error);
        } else {
            tell(&s);
            flr_json_print(cli, cli->json ? document_json(&s) : NULL);
            if (s.sequence.left_count) code = FLR_EXIT_FAILED;
            if (s.sequence.stopped) code = FLR_EXIT_STOPPED;
        }
    }
    flr_plan_sequence_free(&s.sequence);
    free(s.parts);
    free(s.unit);
    free(s.names);
    free(s.fixed);
    return code;
}
