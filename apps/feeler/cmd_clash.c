/* feeler clash: every pair of parts of an assembly: overlap, contact, below the clearance, or OK */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clash.h"
#include "feeler/assembly.h"
#include "files.h"
#include "mesh/unique_names.h"
#include "output.h"

typedef struct clash_values {
    flr_common common;
    flr_input input;
    double clearance, touch;
    const char *allow, *allow_file, *baseline, *csv, *html;
    bool apart, all;
    int64_t threads;
} clash_values;

/* What was loaded: parts, and what they point to. */
typedef struct clash_input {
    flr_scene *scene;
    flr_assembly *assembly;
    flr_mesh **meshes; /* [mesh_count], of a scene */
    size_t mesh_count;
    flr_fit **fits; /* [fit_count] */
    size_t fit_count;
    const char **names; /* [2 × parts] of an assembly: as in the file, then unique */
    char *name_text;
    flr_clash_report report;
    const clash_values *values;
} clash_input;

static void unload(clash_input *in)
{
    for (size_t i = 0; i < in->fit_count; i++) flr_fit_destroy(in->fits[i]);
    for (size_t i = 0; i < in->mesh_count; i++) flr_mesh_destroy(in->meshes[i]);
    free(in->fits);
    free(in->meshes);
    free(in->names);
    free(in->name_text);
    flr_allow_destroy(in->report.allow);
    free(in->report.groups);
    free(in->report.items);
    free(in->report.known);
    flr_clash_list_free(&in->report.list);
    flr_assembly_destroy(in->assembly);
    flr_scene_destroy(in->scene);
}

/* ---- parts ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static uint32_t group_of(const flr_scene *scene, const char *name)
{
    for (size_t i = 0; name && i < scene->group_count; i++)
        if (strcmp(scene->groups[i].name, name) == 0) return (uint32_t)i;
    return FLR_NONE;
}

/* parts of a scene that name the same file share its mesh */
static flr_result load_scene(flr_cli *cli, clash_input *in, const char *path,
                             const flr_mesh_options *options, flr_error *error)
{
    flr_result result = flr_scene_read(cli->env, path, &in->scene, error);
    if (result != FLR_OK) return result;
    const flr_scene *scene = in->scene;
    in->report.items = calloc(scene->part_count, sizeof *in->report.items);
    in->meshes = calloc(scene->part_count, sizeof(flr_mesh *));
    in->report.groups = calloc(scene->group_count + 1, sizeof *in->report.groups);
    if (!in->report.items || !in->meshes || !in->report.groups) return flr_fail_memory(error);
    for (size_t i = 0; i < scene->group_count; i++)
        in->report.groups[i] = (flr_clash_group){.name = scene->groups[i].name,
                                                 .in = group_of(scene, scene->groups[i].in)};
    flr_scene_loader loader = flr_scene_loader_begin(cli->env, scene, options);
    for (size_t i = 0; i < scene->part_count && result == FLR_OK; i++) {
        const flr_scene_part *part = &scene->parts[i];
        flr_clash_item *item = &in->report.items[i];
        *item = (flr_clash_item){.name = part->name,
                                 .raw = part->name,
                                 .in = group_of(scene, part->in),
                                 .group = part->in ? part->in : "",
                                 .colour = part->colour,
                                 .keep_out = part->use == FLR_PART_USE_KEEP_OUT,
                                 .chord = part->chord,
                                 .T_world_part = part->T_world_part};
        for (size_t k = 0; k < i && !item->mesh; k++)
            if (same_text(scene->parts[k].file, part->file) &&
                same_text(scene->parts[k].group, part->group) && scene->parts[k].unit == part->unit)
                item->mesh = in->report.items[k].mesh;
        if (item->mesh) continue;
        flr_progress(cli, i, scene->part_count, "reading %s", part->name);
        result = flr_scene_loader_load(&loader, i, &in->meshes[in->mesh_count], NULL, error);
        if (result == FLR_OK) item->mesh = in->meshes[in->mesh_count++];
    }
    flr_scene_loader_end(&loader);
    in->report.count = (uint32_t)scene->part_count;
    return result;
}

static flr_result load_assembly(flr_cli *cli, clash_input *in, const char *path,
                                const flr_mesh_options *options, flr_error *error)
{
    flr_progress(cli, 0, 1, "reading");
    flr_result result = flr_assembly_open(cli->env, path, options, &in->assembly, NULL, error);
    if (result != FLR_OK) return result;
    const flr_assembly *a = in->assembly;
    for (uint32_t i = 0; i < a->note_count; i++) flr_warn(cli, "%s: %s", path, a->notes[i]);
    in->report.items = calloc(a->part_count, sizeof *in->report.items);
    in->names = calloc(2 * (size_t)a->part_count, sizeof(char *));
    in->report.groups = calloc(a->node_count + 1u, sizeof *in->report.groups);
    if (!in->report.items || !in->names || !in->report.groups) return flr_fail_memory(error);
    for (uint32_t i = 0; i < a->node_count; i++) {
        const flr_assembly_node *node = &a->nodes[i];
        uint32_t parent = node->parent == FLR_ASSEMBLY_NONE ? FLR_NONE : node->parent;
        in->report.groups[i] = (flr_clash_group){.name = node->name, .in = parent};
        if (node->shape == FLR_ASSEMBLY_NONE) continue;
        uint32_t k = in->report.count++;
        in->names[k] = node->name;
        in->report.items[k] = (flr_clash_item){
            .raw = node->name,
            .in = parent,
            .group = node->parent == FLR_ASSEMBLY_NONE ? "" : a->nodes[node->parent].name,
            .colour = node->colour,
            .mesh = a->shapes[node->shape],
            .T_world_part = node->T_root_node};
    }
    const char **unique = in->names + a->part_count;
    in->name_text = flr_unique_names(in->names, a->part_count, "part", unique);
    if (!in->name_text) return flr_fail_memory(error);
    for (uint32_t k = 0; k < a->part_count; k++) in->report.items[k].name = unique[k];
    return FLR_OK;
}

/* one fit for each mesh */
static flr_result make_fits(flr_cli *cli, clash_input *in, flr_error *error)
{
    flr_clash_report *r = &in->report;
    flr_fit_def def = flr_default_fit_def();
    def.threads = (unsigned)in->values->threads;
    in->fits = calloc(r->count, sizeof(flr_fit *));
    if (!in->fits) return flr_fail_memory(error);
    for (uint32_t i = 0; i < r->count; i++) {
        for (uint32_t k = 0; k < i && !r->items[i].fit; k++)
            if (r->items[k].mesh == r->items[i].mesh) r->items[i].fit = r->items[k].fit;
        if (r->items[i].fit) continue;
        flr_progress(cli, i, r->count, "preparing %s", r->items[i].name);
        flr_result result = flr_fit_build(r->items[i].mesh, &def, &in->fits[in->fit_count], error);
        if (result != FLR_OK) return result;
        r->items[i].fit = in->fits[in->fit_count++];
    }
    return FLR_OK;
}

/* ---- what is allowed ---- */

static bool skip(void *context, uint32_t a, uint32_t b)
{
    const clash_input *in = context;
    uint32_t one = in->report.items[a].in, other = in->report.items[b].in;
    if (in->values->apart && one != FLR_NONE && one == other) return true;
    return flr_clash_is_allowed(&in->report, a, b);
}

static flr_result read_allowed(flr_cli *cli, clash_input *in, flr_error *error)
{
    const clash_values *v = in->values;
    const flr_scene *scene = in->scene;
    flr_result result = FLR_OK;
    for (size_t i = 0; scene && i < scene->allow_count && result == FLR_OK; i++)
        result = flr_clash_add_pair(cli, &in->report, scene->allow[i].a, scene->allow[i].b,
                                    scene->path, error);
    if (result == FLR_OK && v->allow)
        result = flr_clash_add_rules(cli, &in->report, v->allow, false, "--allow", error);
    if (result == FLR_OK && v->allow_file)
        result = flr_clash_read_rules(cli, &in->report, v->allow_file, error);
    return result;
}

/* ---- what is known ---- */

static int state_of(const char *name)
{
    for (int i = FLR_CLASH_OVERLAP; name && i > FLR_CLASH_OK; i--)
        if (strcmp(name, flr_clash_state_name((flr_clash_state)i)) == 0) return i;
    return FLR_CLASH_OK;
}

/* Was a pair, in the baseline, in the same or a worse state, no less deep and no farther apart? */
static bool no_less_severe(const flr_clash_pair *p, const json_t *old)
{
    int state = state_of(json_string_value(json_object_get(old, "state")));
    if (state != (int)p->state) return state > (int)p->state;
    double depth = json_number_value(json_object_get(old, "depth"));
    double distance = json_number_value(json_object_get(old, "distance"));
    return p->depth <= depth + p->touch && p->distance >= distance - p->touch;
}

/* The pairs of a baseline, by their names: {a: {b: pair}}. NULL: no memory. */
static json_t *index_pairs(json_t *pairs)
{
    json_t *index = json_object(), *entry;
    size_t k;
    json_array_foreach(pairs, k, entry)
    {
        const char *a = json_string_value(json_object_get(entry, "a"));
        const char *b = json_string_value(json_object_get(entry, "b"));
        if (!a || !b) continue;
        json_t *of_a = json_object_get(index, a);
        if (!of_a && json_object_set_new(index, a, of_a = json_object()) != 0) break;
        if (json_object_set(of_a, b, entry) != 0) break;
    }
    if (k == json_array_size(pairs)) return index;
    json_decref(index);
    return NULL;
}

static const json_t *look_up(const json_t *index, const char *a, const char *b)
{
    const json_t *found = json_object_get(json_object_get(index, a), b);
    return found ? found : json_object_get(json_object_get(index, b), a);
}

static flr_result compare(flr_cli *cli, clash_input *in, flr_error *error)
{
    flr_clash_report *r = &in->report;
    const char *path = in->values->baseline;
    r->known = calloc(r->list.pair_count + 1, 1);
    if (!r->known) return flr_fail_memory(error);
    if (!path) return FLR_OK;
    flr_blob text = {0};
    flr_result result = flr_file_read_all(cli->env, path, 1 << 28, &text, error);
    if (result != FLR_OK) return result;
    json_error_t why;
    json_t *old = json_loadb((const char *)text.bytes, text.size, JSON_DECODE_INT_AS_REAL, &why);
    flr_blob_free(&text);
    json_t *pairs = json_object_get(old, "pairs"), *index = NULL;
    if (!json_is_array(pairs))
        result = flr_fail(error, FLR_BAD_INPUT,
                          "%s: is no result of feeler clash --json, which a baseline is", path);
    else if (!(index = index_pairs(pairs)))
        result = flr_fail_memory(error);
    for (size_t i = 0; result == FLR_OK && i < r->list.pair_count; i++) {
        const flr_clash_pair *p = &r->list.pairs[i];
        const json_t *was = look_up(index, r->items[p->a].name, r->items[p->b].name);
        r->known[i] = was && no_less_severe(p, was);
    }
    json_decref(index);
    json_decref(old);
    return result;
}

/* ---- the command ---- */

static void tell(flr_cli *cli, const flr_clash_report *r, bool all)
{
    enum { CLASHES_SHOWN = 30 };
    size_t shown = 0;
    all = all || cli->verbose;
    for (size_t i = 0; i < r->list.pair_count; i++) {
        const flr_clash_pair *p = &r->list.pairs[i];
        if ((!flr_clash_is_finding(r, p) || r->known[i]) && !all) continue;
        if (shown++ >= CLASHES_SHOWN && !all) continue;
        flr_print(cli, "%-8s %s  %s  ", flr_clash_state_name(p->state),
                  FLR_SAFE(r->items[p->a].name), FLR_SAFE(r->items[p->b].name));
        if (p->state == FLR_CLASH_OVERLAP)
            flr_print(cli, "%.4g mm deep, about %.3g mm3", 1e3 * p->depth, 1e9 * p->volume);
        else if (p->facets > 0)
            flr_print(cli, "%.4g mm deep, of which facets explain %.4g mm", 1e3 * p->depth,
                      1e3 * p->facets);
        else if (isfinite(p->distance))
            flr_print(cli, "%.6g mm apart", 1e3 * p->distance);
        else
            flr_print(cli, "farther apart than was measured");
        if (!isfinite(p->distance)) {
            flr_print(cli, "\n");
            continue;
        }
        flr_print(cli, ", at %.4g %.4g %.4g mm%s%s\n", 1e3 * p->at.x, 1e3 * p->at.y, 1e3 * p->at.z,
                  flr_clash_is_zone(r, p) ? " (keep-out zone)" : "", r->known[i] ? " (known)" : "");
    }
    if (shown > CLASHES_SHOWN && !all)
        flr_print(cli, "and %zu more; --verbose shows all\n", shown - CLASHES_SHOWN);
    flr_print(cli, "%u %s, %llu %s: %zu overlap, %zu in contact, %zu below the clearance", r->count,
              flr_noun(r->count, "part", "parts"), (unsigned long long)r->list.checked,
              flr_noun(r->list.checked, "pair", "pairs"), r->by_state[FLR_CLASH_OVERLAP],
              r->by_state[FLR_CLASH_CONTACT], r->by_state[FLR_CLASH_NEAR]);
    if (r->list.skipped) flr_print(cli, "; %llu allowed", (unsigned long long)r->list.skipped);
    flr_print(cli, "; %zu %s\n", r->findings, flr_noun(r->findings, "finding", "findings"));
    if (r->list.least_touch < r->list.most_touch)
        flr_print_note(cli,
                       "in contact: within a thousandth of the smaller part's size, here %.3g to "
                       "%.3g mm; --touch sets one length\n",
                       1e3 * r->list.least_touch, 1e3 * r->list.most_touch);
    if (r->fits)
        flr_print_note(
            cli,
            "%zu of the contacts %s: facets of curved surfaces overlap, by up to %.4g mm; "
            "--all lists them; import with a finer --chord to decide\n",
            r->fits, flr_noun(r->fits, "is a nominal fit", "are nominal fits"),
            1e3 * r->deepest_fit);
}

static bool show_checking(void *context, double done)
{
    flr_progress(context, (uint64_t)(100 * done), 100, "checking");
    return true;
}

static flr_result check(flr_cli *cli, clash_input *in, flr_error *error)
{
    flr_clash_report *r = &in->report;
    flr_clash_part *parts = calloc(r->count, sizeof *parts);
    if (!parts) return flr_fail_memory(error);
    for (uint32_t i = 0; i < r->count; i++)
        parts[i] = (flr_clash_part){.fit = r->items[i].fit,
                                    .T_world_part = r->items[i].T_world_part,
                                    .chord = r->items[i].chord > 0
                                                 ? r->items[i].chord
                                                 : flr_mesh_facet_chord(r->items[i].mesh),
                                    .keep_out = r->items[i].keep_out};
    flr_clash_def def = flr_default_clash_def();
    def.parts = parts;
    def.part_count = r->count;
    def.clearance = r->clearance = in->values->clearance;
    def.touch = in->values->touch;
    def.all = in->values->all;
    def.threads = (unsigned)in->values->threads;
    def.skip = skip;
    def.skip_context = in;
    def.progress = show_checking;
    def.progress_context = cli;
    int64_t begin = flr_clock_ns(cli->env);
    flr_result result = flr_clash_find(&def, &r->list, error);
    r->seconds = (double)(flr_clock_ns(cli->env) - begin) * 1e-9;
    flr_progress_end(cli);
    free(parts);
    return result;
}

static bool show_drawing(void *context, size_t drawn, size_t all)
{
    flr_progress(context, drawn, all, "drawing");
    return true;
}

static int finish(flr_cli *cli, clash_input *in)
{
    flr_clash_report *r = &in->report;
    flr_error error;
    flr_result result = compare(cli, in, &error);
    if (result != FLR_OK) return flr_fail_with(cli, flr_exit_of_input(result), &error);
    flr_clash_count(r);
    r->drawn = show_drawing;
    r->context = cli;
    if (in->values->csv) result = flr_clash_write(cli, r, true, in->values->csv, &error);
    if (result == FLR_OK && in->values->html)
        result = flr_clash_write(cli, r, false, in->values->html, &error);
    if (result != FLR_OK) return flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    tell(cli, r, in->values->all);
    flr_json_print(cli, cli->json ? flr_clash_json(r) : NULL);
    return r->findings ? FLR_EXIT_FAILED : FLR_EXIT_OK;
}

/* what is written must not replace what is read, nor each other */
static flr_result check_outputs(const clash_values *v, const char *source, flr_error *error)
{
    const char *const out[] = {v->csv, v->html};
    const char *const read[] = {source, v->baseline, v->allow_file};
    if (v->csv && v->html && (strcmp(v->csv, v->html) == 0))
        return flr_fail(error, FLR_BAD_ARGUMENT, "--csv and --html name the same file, %s", v->csv);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            if (out[i] && read[k] && flr_same_file(out[i], read[k]))
                return flr_fail(error, FLR_BAD_ARGUMENT, "%s: is read, so it cannot be written",
                                out[i]);
    return FLR_OK;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    (void)count;
    clash_input in = {.values = given, .report = {.source = arguments[0]}};
    flr_error wrong;
    if (check_outputs(in.values, arguments[0], &wrong) != FLR_OK)
        return flr_fail_with(cli, FLR_EXIT_USAGE, &wrong);
    flr_mesh_options options = flr_input_mesh_options(&in.values->input, 0);
    flr_error error;
    flr_result result = flr_is_scene(arguments[0])
                            ? load_scene(cli, &in, arguments[0], &options, &error)
                            : load_assembly(cli, &in, arguments[0], &options, &error);
    if (result == FLR_OK) result = read_allowed(cli, &in, &error);
    if (result == FLR_OK) result = make_fits(cli, &in, &error);
    if (result == FLR_OK) result = check(cli, &in, &error);
    flr_progress_end(cli);
    int code =
        result == FLR_OK ? finish(cli, &in) : flr_fail_with(cli, flr_exit_of_input(result), &error);
    unload(&in);
    return code;
}

static const clash_values defaults = {.touch = -1};
static const char *const usage[] = {"SCENE|FILE [options]", NULL};
#define CLASH_AT(field) offsetof(clash_values, field)
static const flr_option options[] = {
    FLR_OPTION(
        SIZE, CLASH_AT(clearance), "clearance", "SIZE",
        "parts nearer than this, or in contact, are findings, too; default: only overlaps are",
        .letter = 'c'),
    FLR_OPTION(
        SIZE, CLASH_AT(touch), "touch", "SIZE",
        "parts this near, or this deep in each other, are in contact; default, for each pair: a "
        "thousandth of the smaller part's diagonal, at most 0.01mm"),
    FLR_OPTION(
        TEXT, CLASH_AT(allow), "allow", "RULES",
        "pairs that are not checked: 'bolt*|nut*,gasket' with names of parts or groups; a name "
        "alone allows every pair with it"),
    FLR_OPTION(PATH, CLASH_AT(allow_file), "allow-file", "FILE",
               "read such rules from a file, one per line; # starts a comment"),
    FLR_SWITCH(CLASH_AT(apart), "apart", "do not check parts of the same group against each other"),
    FLR_OPTION(PATH, CLASH_AT(baseline), "baseline", "FILE",
               "an earlier result of --json: only what is new or worse is a finding"),
    FLR_OPTION(PATH, CLASH_AT(csv), "csv", "FILE", "write the pairs as a table"),
    FLR_OPTION(PATH, CLASH_AT(html), "html", "FILE", "write a page with pictures of the findings"),
    FLR_SWITCH(CLASH_AT(all), "all",
               "list pairs that are OK, too, if their bounding boxes are near each other"),
    FLR_THREADS_OPTION(CLASH_AT(threads)),
    FLR_INPUT_OPTIONS(clash_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler clash ball/scene.json || true", "do parts of a scene overlap?"},
    {"feeler clash ball/scene.json --clearance 1mm --json || true",
     "which pairs are nearer than a millimetre, for a program"},
    {"feeler clash ball/scene.json --allow 'ball|socket' --html clash.html",
     "a page; the ball may touch its socket"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "there are no findings"},
    {FLR_EXIT_FAILED, "there are findings, or memory ran out"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "the scene, a mesh, the rules or the baseline cannot be used"},
    {0, NULL},
};

const flr_command flr_cmd_clash = {
    .name = "clash",
    .summary = "which parts of an assembly overlap, touch or are too near",
    .usage = usage,
    .description =
        "Checks every pair of parts of a scene or of a CAD file. A pair overlaps, is in contact, "
        "is nearer than the clearance, or is OK. Distances are exact, triangle against triangle. "
        "The depth is that of the deepest point found; the volume is an estimate, to about a "
        "tenth.\n\n"
        "Curved surfaces are measured as triangles, so a pin in a hole of the same size overlaps "
        "by as much as the triangles deviate from the surface. Reduce that with --chord, or accept "
        "it with --touch.\n\n"
        "To find only what is new or worse than before, keep a result of --json and pass it as "
        "--baseline.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 1,
    .argument_missing = "a scene or a CAD file",
    .values_size = sizeof(clash_values),
    .defaults = &defaults,
    .run = run,
};
