/* feeler plan: a way out for a part, checked exactly, or what is in its way */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "output.h"
#include "plan_scene.h"
#include "plan_steps.h"
#include "scene/pose_file.h"

typedef struct plan_values {
    flr_common common;
    flr_input input;
    const char *part, *to, *via, *out, *until, *html;
    bool all;
    double clearance, overlap, time;
    int64_t seed, threads;
} plan_values;

typedef struct plan_run {
    flr_cli *cli;
    const plan_values *values;
    flr_plan_scene scene;
    flr_pose *via; /* [via_count] */
    size_t via_count;
    flr_plan_result result;
} plan_run;

/* "x y z" or "x y z qw qx qy qz", lengths in the scene's unit */
static flr_result read_goal(const plan_run *r, flr_plan_search *search, flr_error *error)
{
    double n[7];
    int count = 0;
    const char *at = r->values->to;
    if (!at) return FLR_OK;
    while (count < 7) {
        const char *end;
        while (*at == ' ' || *at == ',') at++;
        if (!*at || flr_number_parse(at, &n[count], &end, NULL) != FLR_OK) break;
        at = end;
        count++;
    }
    while (*at == ' ') at++;
    search->to = search->from;
    search->to_given = true;
    const double unit = r->scene.scene->unit;
    if (count >= 3) search->to.p = flr_vec3_scale(flr_vec3_make(n[0], n[1], n[2]), unit);
    if (count == 7) search->to.q = flr_quat_make(n[3], n[4], n[5], n[6]);
    if (*at || (count != 3 && count != 7) || !flr_pose_is_valid(search->to))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--to \"%s\" is no pose: write 'x y z' or 'x y z qw qx qy qz'",
                        r->values->to);
    search->to.q = flr_quat_normalize(search->to.q);
    return FLR_OK;
}

/* Poses that may help. */
static flr_result read_via(plan_run *r, flr_error *error)
{
    flr_pose_list list;
    if (!r->values->via) return FLR_OK;
    flr_result result =
        flr_pose_list_read(r->cli->env, r->values->via, r->scene.scene->unit, &list, error);
    if (result != FLR_OK) return result;
    r->via = malloc(list.count * sizeof *r->via);
    for (size_t i = 0; r->via && i < list.count; i++) r->via[i] = list.poses[i].T_world_part;
    r->via_count = r->via ? list.count : 0;
    flr_pose_list_free(&list);
    return r->via ? FLR_OK : flr_fail_memory(error);
}

static bool show(void *context, const flr_plan_progress *now)
{
    const plan_run *r = context;
    flr_progress(r->cli, (uint64_t)(10 * now->seconds), (uint64_t)(10 * r->values->time),
                 "%llu poses tried, %.3g mm from the start", (unsigned long long)now->poses,
                 1e3 * now->reached);
    return !flr_stop_wanted();
}

/* a body of its own size in two seconds */
static flr_result write_path(const plan_run *r, flr_error *error)
{
    const flr_plan_result *p = &r->result;
    const flr_box3 box = flr_fit_get_info(r->scene.parts[0].fit).bounds;
    const flr_vec3 centre = flr_box3_centre(box);
    const double size = flr_vec3_length(flr_box3_size(box));
    flr_pose_list list = {calloc(p->pose_count, sizeof *list.poses), p->pose_count};
    if (!list.poses) return flr_fail_memory(error);
    double t = 0;
    for (size_t i = 0; i < p->pose_count; i++) {
        if (i > 0) {
            const flr_pose a = p->poses[i - 1], b = p->poses[i];
            const double travel =
                flr_vec3_distance(flr_pose_apply(a, centre), flr_pose_apply(b, centre)) +
                0.5 * size * flr_quat_angle(a.q, b.q);
            t += size > 0 ? 2 * travel / size : 0;
        }
        list.poses[i] = (flr_timed_pose){t, p->poses[i]};
    }
    char comment[200];
    snprintf(comment, sizeof comment, "found by feeler plan (%s), clearance %.6g mm",
             flr_plan_method_name(p->method), 1e3 * r->values->clearance);
    flr_hold_signals();
    flr_result result = flr_pose_list_write(r->cli->env, r->values->out, &list,
                                            r->scene.scene->unit, comment, error);
    flr_release_signals();
    flr_pose_list_free(&list);
    return result;
}

/* ---- results ---- */

static void tell_fits(flr_cli *cli, const plan_run *r)
{
    const flr_plan_verdict *v = &r->result.verdict;
    for (uint32_t i = 0; i < v->fit_count; i++)
        flr_print(cli, "  it starts %.6g mm %s %s\n", 1e3 * fabs(v->fits[i].start),
                  v->fits[i].start < 0 ? "deep in" : "from",
                  FLR_SAFE(flr_plan_scene_obstacle(&r->scene, v->fits[i].obstacle)));
}

static void tell(flr_cli *cli, const plan_run *r)
{
    const flr_plan_result *p = &r->result;
    const flr_plan_verdict *v = &p->verdict;
    if (p->poses) {
        flr_print(cli, "%sa way is free%s (%s, %zu poses): %.4g mm long, turns by %.4g degrees\n",
                  flr_green(cli), flr_plain(cli), flr_plan_method_name(p->method), p->pose_count,
                  1e3 * p->length, p->turn / FLR_DEGREE);
        if (v->nearest.obstacle != FLR_NONE)
            flr_print(cli, "  at least %.6g mm apart; nearest %.6g mm, to %s\n", 1e3 * v->lower,
                      1e3 * v->upper,
                      FLR_SAFE(flr_plan_scene_obstacle(&r->scene, v->nearest.obstacle)));
        tell_fits(cli, r);
    } else {
        flr_print(cli, "%sno way found%s%s: the part moved %.4g mm of at least %.4g mm\n",
                  flr_red(cli), flr_plain(cli), p->stopped ? ", stopped" : "", 1e3 * p->reached,
                  1e3 * p->wanted);
        for (uint32_t i = 0; i < p->blocker_count; i++) {
            const flr_plan_blocker *b = &p->blockers[i];
            flr_print(cli, "  blocked by %s: stopped %llu %s, first at %.4g %.4g %.4g mm%s\n",
                      FLR_SAFE(flr_plan_scene_obstacle(&r->scene, b->obstacle)),
                      (unsigned long long)b->stops, flr_noun(b->stops, "move", "moves"),
                      1e3 * b->at.x, 1e3 * b->at.y, 1e3 * b->at.z,
                      b->sole ? "; without it the part comes out" : "");
        }
    }
    flr_print(cli, "  %llu %s tried, %llu %s reached, %.3g s\n", (unsigned long long)p->moves,
              flr_noun(p->moves, "move", "moves"), (unsigned long long)p->nodes,
              flr_noun(p->nodes, "pose", "poses"), p->seconds);
}

static json_t *blockers_json(const plan_run *r)
{
    json_t *list = flr_json_array();
    for (uint32_t i = 0; i < r->result.blocker_count; i++) {
        const flr_plan_blocker *b = &r->result.blockers[i];
        json_t *one = flr_json_object();
        flr_json_set(one, "part", flr_json_text(flr_plan_scene_obstacle(&r->scene, b->obstacle)));
        flr_json_set(one, "sole", json_boolean(b->sole));
        flr_json_set(one, "stops", flr_json_count(b->stops));
        flr_json_set(one, "at", flr_json_vec3(b->at));
        flr_json_push(list, one);
    }
    return list;
}

static json_t *fits_json(const plan_run *r)
{
    const flr_plan_verdict *v = &r->result.verdict;
    json_t *list = flr_json_array();
    for (uint32_t i = 0; r->result.poses && i < v->fit_count; i++) {
        json_t *one = flr_json_object();
        flr_json_set(one, "part",
                     flr_json_text(flr_plan_scene_obstacle(&r->scene, v->fits[i].obstacle)));
        flr_json_set(one, "start", flr_json_number(v->fits[i].start));
        flr_json_set(one, "floor", flr_json_number(v->fits[i].floor));
        flr_json_push(list, one);
    }
    return list;
}

static json_t *document_json(const plan_run *r)
{
    const flr_plan_result *p = &r->result;
    json_t *d = flr_json_object();
    const bool found = p->poses != NULL;
    flr_json_set(d, "scene", flr_json_text(r->scene.path));
    flr_json_set(d, "part", flr_json_text(flr_plan_scene_moving(&r->scene, 0)));
    flr_json_set(d, "clearance", flr_json_number(r->values->clearance));
    flr_json_set(d, "found", json_boolean(found));
    flr_json_set(d, "stopped", json_boolean(p->stopped));
    flr_json_set(d, "method", flr_json_text(flr_plan_method_name(p->method)));
    flr_json_set(d, "poses", flr_json_count(p->pose_count));
    flr_json_set(d, "path", flr_json_poses(p->poses, p->pose_count));
    flr_json_set(d, "length", flr_json_number(found ? p->length : NAN));
    flr_json_set(d, "turn", flr_json_number(found ? p->turn : NAN));
    flr_json_set(d, "lower", flr_json_number(found ? p->verdict.lower : NAN));
    flr_json_set(d, "upper", flr_json_number(found ? p->verdict.upper : NAN));
    flr_json_set(
        d, "nearest",
        found ? flr_json_text(flr_plan_scene_obstacle(&r->scene, p->verdict.nearest.obstacle))
              : json_null());
    flr_json_set(d, "fits", fits_json(r));
    flr_json_set(d, "reached", flr_json_number(found ? NAN : p->reached));
    flr_json_set(d, "wanted", flr_json_number(found ? NAN : p->wanted));
    flr_json_set(d, "blockers", blockers_json(r));
    flr_json_set(d, "moves", flr_json_count(p->moves));
    flr_json_set(d, "nodes", flr_json_count(p->nodes));
    flr_json_set(d, "seconds", flr_json_number(p->seconds));
    return d;
}

static flr_result find(plan_run *r, flr_error *error)
{
    const plan_values *v = r->values;
    flr_result result = flr_plan_scene_choose(&r->scene, v->part, error);
    if (result != FLR_OK) return result;
    flr_plan_def def = flr_plan_scene_def(&r->scene, v->clearance);
    if (v->overlap >= 0) def.overlap = v->overlap;
    flr_plan_search search = flr_default_plan_search();
    search.from = r->scene.T_world_body;
    search.seconds = v->time;
    search.seed = (uint64_t)v->seed;
    search.threads = (unsigned)v->threads;
    search.progress = show;
    search.progress_context = r;
    search.via = r->via, search.via_count = r->via_count;
    result = read_goal(r, &search, error);
    flr_catch_stop();
    flr_stop_at_once(true);
    if (result == FLR_OK) result = flr_plan_find(r->cli->env, &def, &search, &r->result, error);
    flr_stop_at_once(false);
    flr_progress_end(r->cli);
    if (result == FLR_BAD_ARGUMENT && r->result.blocker_count == 1) {
        flr_fail(error, result, "the goal is not free: %s is in the way there",
                 FLR_SAFE(flr_plan_scene_obstacle(&r->scene, r->result.blockers[0].obstacle)));
    }
    if (result == FLR_OK && r->result.poses && v->out) {
        result = write_path(r, error);
        if (result != FLR_OK && result != FLR_NO_MEMORY) result = FLR_DENIED;
    }
    return result;
}

static int take_apart(const plan_run *r)
{
    const plan_values *v = r->values;
    const flr_steps_def def = {.until = v->until,
                               .out = v->out,
                               .html = v->html,
                               .clearance = v->clearance,
                               .overlap = v->overlap,
                               .time = v->time,
                               .seed = (uint64_t)v->seed,
                               .threads = (unsigned)v->threads};
    return flr_steps_run(r->cli, &r->scene, &def);
}

static const char *wrong_options(const plan_values *v)
{
    const bool apart = v->all || v->until;
    if (v->all && v->until) return "--all and --until exclude each other";
    if (apart && (v->part || v->to || v->via))
        return "--all and --until choose what moves: leave out --part, --to and --via";
    if (v->html && !apart) return "--html shows a sequence: add --all or --until NAME";
    return NULL;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    (void)count;
    plan_run r = {.cli = cli, .values = given};
    const flr_mesh_options options = flr_input_mesh_options(&r.values->input, 0);
    flr_error error;
    const char *wrong = wrong_options(r.values);
    if (wrong) return FLR_REFUSE(cli, "%s", wrong);
    if (r.values->out && flr_same_file(r.values->out, arguments[0]))
        return FLR_REFUSE(cli, "%s: is read, so it cannot be written", r.values->out);
    flr_result result = flr_plan_scene_read(cli, arguments[0], &options,
                                            (unsigned)r.values->threads, &r.scene, &error);
    int code;
    if (result != FLR_OK) {
        code = flr_fail_with(cli, flr_exit_of_input(result), &error);
    } else if ((result = read_via(&r, &error)) != FLR_OK) {
        code = flr_fail_with(cli, flr_exit_of_input(result), &error);
    } else if (r.values->all || r.values->until) {
        code = take_apart(&r);
    } else if ((result = find(&r, &error)) != FLR_OK) {
        code = flr_fail_with(cli, result == FLR_BAD_ARGUMENT ? FLR_EXIT_USAGE : FLR_EXIT_FAILED,
                             &error);
    } else {
        tell(cli, &r);
        flr_json_print(cli, cli->json ? document_json(&r) : NULL);
        code = r.result.poses ? FLR_EXIT_OK : r.result.stopped ? FLR_EXIT_STOPPED : FLR_EXIT_FAILED;
    }
    flr_plan_result_free(&r.result);
    flr_plan_scene_free(&r.scene);
    free(r.via);
    return code;
}

static const plan_values defaults = {.overlap = -1, .time = 60, .seed = 1};
static const char *const usage[] = {"SCENE|FILE [--part NAME] [--to POSE] [options]",
                                    "SCENE|FILE --all|--until NAME [--html FILE] [options]", NULL};
#define PLAN_AT(field) offsetof(plan_values, field)
static const flr_option options[] = {
    FLR_OPTION(TEXT, PLAN_AT(part), "part", "NAME",
               "what comes out: parts or groups, separated by commas, as one body; default: the "
               "only movable part"),
    FLR_OPTION(
        TEXT, PLAN_AT(to), "to", "POSE",
        "where to: 'x y z' or 'x y z qw qx qy qz' in the scene's unit; default: clear of all "
        "other parts"),
    FLR_OPTION(PATH, PLAN_AT(via), "via", "FILE",
               "a pose file with waypoints or a piece of a path that may help the search"),
    FLR_OPTION(FLAG, PLAN_AT(all), "all", NULL,
               "take the whole assembly apart: all movable parts, or all but one where none is"),
    FLR_OPTION(TEXT, PLAN_AT(until), "until", "NAME",
               "take apart as little as needed to get this part or rigid group out"),
    FLR_OPTION(PATH, PLAN_AT(html), "html", "FILE",
               "with --all or --until: a page with an animation, and instructions to print"),
    FLR_OPTION(SIZE, PLAN_AT(clearance), "clearance", "SIZE",
               "stay this far from all other parts; default 0mm: do not touch them", .letter = 'c'),
    FLR_OPTION(SIZE, PLAN_AT(overlap), "overlap", "SIZE",
               "parts that touch or overlap at the start may go this much deeper; default: half "
               "their depth, and at least 1/10000 of the part's size"),
    FLR_OPTION(NUMBER, PLAN_AT(time), "time", "SECONDS",
               "search no longer than this, with --all for each part; default 60", .min = 0.01,
               .max = 1e6),
    FLR_OPTION(
        INTEGER, PLAN_AT(seed), "seed", "N",
        "seed of the random search; the same seed and threads give the same path, unless time "
        "runs out; default 1",
        .min = 0, .max = 1e15),
    FLR_OPTION(INTEGER, PLAN_AT(threads), "threads", "N", "default: one per processor",
               .letter = 't', .min = 1, .max = 1024),
    FLR_OPTION(PATH, PLAN_AT(out), "out", "FILE",
               "write the path as a pose file; with --all or --until: a folder, one file a step",
               .letter = 'o'),
    FLR_INPUT_OPTIONS(plan_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler plan ball/scene.json --out out.txt", "how does the ball come out of its socket?"},
    {"feeler plan ball/scene.json --clearance 0.02mm --json", "with a clearance, for a program"},
    {"feeler plan cabinet/scene.json --all --html steps.html", "how is it taken apart?"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "a path was found; with --all, for all parts"},
    {FLR_EXIT_FAILED, "none was found, the file could not be written, or memory ran out"},
    {FLR_EXIT_USAGE, "the command line is wrong, or the goal is not free; nothing was done"},
    {FLR_EXIT_INPUT, "the scene, a mesh or the file of --via cannot be used"},
    {FLR_EXIT_STOPPED, "stopped by Ctrl-C before a path was found"},
    {0, NULL},
};

const flr_command flr_cmd_plan = {
    .name = "plan",
    .summary = "find a way out for a part, or the parts that block it",
    .usage = usage,
    .description =
        "Looks for a path of a part from where it is to free space, or to a pose. It first tries "
        "straight moves, then motions that the contacts allow (slides, turns, screws), then a "
        "random search along the surfaces. feeler shortens the path and checks it as feeler verify "
        "does: continuously, triangle against triangle. Ctrl-C ends the search; a path that was "
        "already found is kept.\n\n"
        "If feeler finds no path in time, it reports how far the part came and which parts block "
        "it, beginning with those without which it comes out. Not finding a path does not prove "
        "that there is none.\n\n"
        "--out writes a pose file that feeler verify, contacts and run accept.\n\n"
        "--all takes the assembly apart: it prints the steps in an order that works, and which "
        "steps have to come before which. Where no part comes out alone, parts that block each "
        "other come out together.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 1,
    .argument_missing = "a scene or a CAD file",
    .values_size = sizeof(plan_values),
    .defaults = &defaults,
    .run = run,
};
