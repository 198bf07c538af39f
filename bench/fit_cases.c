/* the fits of `feeler bench fits` */
#include "bench/fit_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mm = 1e-3;

/* ---- our own ---- */

static const struct own {
    const char *fit;
    double size, gap; /* mm; size 0: the fit's own */
} owns[] = {
    {"thread", 8, 0.1},      {"thread", 8, 0.02},   {"thread", 3, 0.02},    {"thread", 16, 0.1},
    {"thread", 20, 0.05},    {"round-peg", 0, 0.1}, {"round-peg", 0, 0.02}, {"square-peg", 0, 0.1},
    {"square-peg", 0, 0.02}, {"key", 0, 0.1},       {"key", 0, 0.02},       {"splines", 0, 0.1},
    {"splines", 0, 0.02},    {"dovetail", 0, 0.1},  {"dovetail", 0, 0.02},  {"bayonet", 0, 0.1},
    {"bayonet", 0, 0.02},    {"hook", 0, 0.1},      {"hook", 0, 0.02},      {"gears", 0, 0.1},
    {"gears", 0, 0.02},
};
enum { OWNS = sizeof owns / sizeof *owns };

/* ---- assemblies: one part is taken out of others, straight or on a helix ---- */

enum { STAYING = 6 };

static const struct assembly {
    const char *folder, *moving, *staying[STAYING]; /* ids of assembly.txt; none: all others */
    double unit;                                    /* metres, of the files */
    double way[3];                                  /* mm, from the assembled pose */
    double pitch;                                   /* mm, along the way; 0: straight */
    double
        start; /* turns of a helix, or mm of a straight way, that are left out at the beginning */
    double voxel; /* mm */
} assemblies[] = {
    /* one turn above the head: nearer, the surfaces touch in the run-out of the thread */
    {"factory_m16_nut_bolt", "nut", {"bolt"}, 1, {0, 0, 28}, 2, 1, 0.06},
    {"factory_peg_hole_8mm", "round_peg_8mm_tight", {"round_hole_8mm"}, 1, {0, 0, 15}, 0, 0, 0.04},
    {"factory_peg_hole_8mm", "round_peg_8mm_loose", {"round_hole_8mm"}, 1, {0, 0, 15}, 0, 0, 0.04},
    {"factory_peg_hole_8mm",
     "rectangular_peg_8mm_tight",
     {"rectangular_hole_8mm"},
     1,
     {0, 0, 15},
     0,
     0,
     0.04},
    {"factory_peg_hole_8mm",
     "rectangular_peg_8mm_loose",
     {"rectangular_hole_8mm"},
     1,
     {0, 0, 15},
     0,
     0,
     0.04},
    /* their faces touch the plate */
    {"factory_gears", "small", {NULL}, 1, {0, 0, 40}, 0, 0.1, 0.1},
    {"factory_gears", "medium", {NULL}, 1, {0, 0, 40}, 0, 0.1, 0.1},
    {"furniture_lamp", "lamp_hood", {NULL}, 1, {0, -130, 0}, 0, 0, 0.3},
    /* the bulb's thread; it touches its socket at the place itself */
    {"furniture_lamp", "lamp_bulb", {"lamp_base"}, 1, {0, -120, 0}, 8, 0.25, 0.3},
    /* at its place the lower drawer overlaps the box, 5 mm out it no longer does */
    {"furniture_drawer", "drawer_container_bottom", {NULL}, 1, {0, 0, 150}, 0, 5, 0.3},
    {"furniture_drawer", "drawer_container_top", {NULL}, 1, {0, 0, 150}, 0, 0, 0.3},
    /* faces touch at the place itself */
    {"asap_beam", "part0", {NULL}, 0.01, {0, 0, 100}, 0, 1, 0.1},
    {"asap_beam", "part1", {NULL}, 0.01, {0, 0, 100}, 0, 1, 0.1},
    {"asap_beam", "part2", {"part6"}, 0.01, {0, 0, 100}, 0, 1, 0.1},
    {"asap_beam", "part3", {"part6"}, 0.01, {0, 0, 100}, 0, 1, 0.1},
    {"asap_beam", "part6", {NULL}, 0.01, {0, 0, -100}, 0, 1, 0.1},
};
enum { ASSEMBLIES = sizeof assemblies / sizeof *assemblies };

size_t flr_fit_case_count(void) { return OWNS + ASSEMBLIES; }

void flr_fit_case_free(flr_fit_case *fit)
{
    flr_scene_destroy(fit->scene);
    flr_mesh_destroy(fit->fixed);
    flr_mesh_destroy(fit->moving);
    free(fit->path);
    *fit = (flr_fit_case){0};
}

/* ---- meshes ---- */

/* all parts of the scene that stay as one mesh, and the one that moves */
static flr_result load_meshes(flr_env *env, flr_fit_case *fit, flr_error *error)
{
    const flr_scene *scene = fit->scene;
    flr_vec3 *vertices = NULL;
    flr_triangle *triangles = NULL;
    uint32_t vertex_count = 0, triangle_count = 0;
    flr_result result = FLR_OK;
    for (size_t i = 0; i < scene->part_count && result == FLR_OK; i++) {
        flr_mesh *mesh = NULL;
        result = flr_scene_load_part(env, scene, i, NULL, &mesh, NULL, error);
        if (result != FLR_OK) break;
        if (scene->parts[i].moving) {
            fit->moving = mesh;
            continue;
        }
        flr_vec3 *v = realloc(vertices, (vertex_count + mesh->vertex_count) * sizeof *v);
        if (v) vertices = v;
        flr_triangle *t = realloc(triangles, (triangle_count + mesh->triangle_count) * sizeof *t);
        if (t) triangles = t;
        for (uint32_t k = 0; v && k < mesh->vertex_count; k++)
            v[vertex_count + k] = flr_pose_apply(scene->parts[i].T_world_part, mesh->vertices[k]);
        for (uint32_t k = 0; t && k < mesh->triangle_count; k++)
            for (int c = 0; c < 3; c++)
                t[triangle_count + k].v[c] = mesh->triangles[k].v[c] + vertex_count;
        vertex_count += mesh->vertex_count, triangle_count += mesh->triangle_count;
        flr_mesh_destroy(mesh);
        if (!v || !t) result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    }
    if (result == FLR_OK) {
        flr_mesh_def def = flr_default_mesh_def();
        def.vertices = vertices, def.vertex_count = vertex_count;
        def.triangles = triangles, def.triangle_count = triangle_count;
        result = flr_mesh_create(&def, &fit->fixed, error);
    }
    free(vertices);
    free(triangles);
    return result;
}

/* ---- making ---- */

static flr_result make_own(flr_env *env, const struct own *own, const char *folder,
                           flr_fit_case *fit, flr_error *error)
{
    const flr_model_fit *kind = flr_model_fit_find(own->fit);
    flr_model_fit_options options = {.gap = own->gap * mm, .size = own->size * mm};
    flr_model model;
    flr_result result = flr_model_fit_build(kind, &options, &model, error);
    if (result != FLR_OK) return result;
    options = flr_model_fit_complete(kind, &options);
    fit->gap = options.gap;
    snprintf(fit->name, sizeof fit->name, "%s %g mm, gap %g mm", own->fit, options.size / mm,
             own->gap);
    char path[1100];
    snprintf(path, sizeof path, "%s/scene.json", folder);
    result = flr_model_write(env, &model, folder, error);
    if (result == FLR_OK) result = flr_scene_read(env, path, &fit->scene, error);
    fit->path_count = model.paths[0].count;
    fit->path = model.paths[0].poses; /* taken over */
    model.paths[0].poses = NULL;
    flr_model_free(&model);
    return result;
}

/* the line of assembly.txt with that id: file and pose; false: there is none */
static bool find_placed(const char *text, const char *id, double unit, char file[128],
                        flr_pose *T_world_part)
{
    char name[128];
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        double m[12];
        int n = sscanf(line, "%127s %127s %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", name,
                       file, &m[0], &m[1], &m[2], &m[3], &m[4], &m[5], &m[6], &m[7], &m[8], &m[9],
                       &m[10], &m[11]);
        if (n != 14 || strcmp(name, id)) continue;
        flr_mat3 R =
            flr_mat3_from_columns(flr_vec3_make(m[0], m[4], m[8]), flr_vec3_make(m[1], m[5], m[9]),
                                  flr_vec3_make(m[2], m[6], m[10]));
        T_world_part->q = flr_quat_normalize(flr_quat_from_mat3(R));
        T_world_part->p = flr_vec3_make(m[3] * unit, m[7] * unit, m[11] * unit);
        return true;
    }
    return false;
}

/* the ids of all lines but one */
static size_t other_ids(const char *text, const char *moving, char ids[][128], size_t capacity)
{
    size_t count = 0;
    for (const char *line = text; line && *line && count < capacity; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == '#' || sscanf(line, "%127s", ids[count]) != 1) continue;
        count += strcmp(ids[count], moving) != 0;
    }
    return count;
}

/* from the assembled pose along the way: a turn a second, or all of it in two */
static flr_result make_path(const struct assembly *a, flr_pose T, flr_fit_case *fit,
                            flr_error *error)
{
    enum { TURN_STEPS = 12 };
    flr_vec3 way = flr_vec3_make(a->way[0] * mm, a->way[1] * mm, a->way[2] * mm);
    double length = flr_vec3_length(way), turns = a->pitch > 0 ? length / (a->pitch * mm) : 0;
    double from = a->pitch > 0 ? a->start / turns : a->start * mm / length;
    size_t count = 2 * TURN_STEPS + (size_t)ceil(turns * TURN_STEPS);
    fit->path = calloc(count + 1, sizeof *fit->path);
    if (!fit->path) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i <= count; i++) {
        double k = from + (1 - from) * (double)i / (double)count;
        flr_quat turn =
            flr_quat_from_rotation_vector(flr_vec3_scale(way, FLR_TWO_PI * turns * k / length));
        flr_pose pose = {flr_vec3_add(flr_quat_rotate(turn, T.p), flr_vec3_scale(way, k)),
                         flr_quat_mul(turn, T.q)};
        fit->path[i] = (flr_timed_pose){fmax(turns, 2) * (double)i / (double)count, pose};
    }
    fit->path_count = count + 1;
    return FLR_OK;
}

static flr_result make_scene(const struct assembly *a, const char *text, const char *folder,
                             flr_fit_case *fit, flr_error *error)
{
    static char ids[STAYING + 1][128], files[STAYING + 1][1300];
    size_t count = 0;
    for (size_t i = 0; i < STAYING && a->staying[i]; i++, count++)
        snprintf(ids[count], sizeof *ids, "%s", a->staying[i]);
    if (count == 0) count = other_ids(text, a->moving, ids, STAYING);
    snprintf(ids[count++], sizeof *ids, "%s", a->moving);
    flr_scene_part parts[STAYING + 1];
    for (size_t i = 0; i < count; i++) {
        char file[128];
        parts[i] = flr_default_scene_part();
        if (!find_placed(text, ids[i], a->unit, file, &parts[i].T_world_part))
            return flr_fail(error, FLR_BAD_INPUT, "%s/assembly.txt: no part %s", folder, ids[i]);
        snprintf(files[i], sizeof *files, "%s/%s", folder, file);
        parts[i].name = ids[i], parts[i].file = files[i], parts[i].unit = a->unit;
    }
    flr_scene_part *moving = &parts[count - 1];
    moving->moving = true, moving->density = 7850;
    flr_result result = make_path(a, moving->T_world_part, fit, error);
    if (result != FLR_OK) return result;
    moving->T_world_part = fit->path[0].T_world_part;
    flr_scene scene = flr_default_scene();
    scene.name = a->folder, scene.unit = mm, scene.voxel = a->voxel * mm;
    scene.contact.force_layer = 0;
    scene.contact.displace = -1.5 * scene.voxel;
    scene.parts = parts, scene.part_count = count;
    return flr_scene_copy(&scene, &fit->scene, error);
}

static flr_result make_assembly(flr_env *env, const struct assembly *a, const char *models,
                                flr_fit_case *fit, flr_error *error)
{
    char folder[1100], path[1200];
    snprintf(folder, sizeof folder, "%s/assembly/%s", models, a->folder);
    snprintf(path, sizeof path, "%s/assembly.txt", folder);
    snprintf(fit->name, sizeof fit->name, "%s: %s", a->folder, a->moving);
    flr_blob text;
    if (flr_file_read_all(env, path, 1 << 20, &text, error) != FLR_OK)
        return flr_fail(error, FLR_NOT_FOUND, "%s: not there", path);
    char *string = strndup((const char *)text.bytes, text.size);
    flr_blob_free(&text);
    if (!string) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = make_scene(a, string, folder, fit, error);
    free(string);
    return result;
}

flr_result flr_fit_case_make(flr_env *env, size_t index, const char *folder, const char *models,
                             flr_fit_case *fit, flr_error *error)
{
    *fit = (flr_fit_case){0};
    flr_result result = index < OWNS
                            ? make_own(env, &owns[index], folder, fit, error)
                            : make_assembly(env, &assemblies[index - OWNS], models, fit, error);
    if (result == FLR_OK) result = load_meshes(env, fit, error);
    if (result != FLR_OK) flr_fit_case_free(fit);
    return result;
}

static flr_result run_all(flr_env *env, const flr_bench_options *options, const char *folder,
                          FILE *out, flr_fit_case_run *run, void *context, flr_error *error)
{
    const char *models = options->models ? options->models : "../shared/models";
    flr_result result = FLR_OK;
    bool first = true;
    const size_t count = flr_fit_case_count();
    for (size_t i = 0; i < count && result == FLR_OK && !flr_bench_is_late(options); i++) {
        flr_fit_case fit;
        result =
            flr_fit_case_make(env, (i + options->seed - 1) % count, folder, models, &fit, error);
        if (result == FLR_NOT_FOUND) {
            result = FLR_OK;
            continue;
        }
        if (result != FLR_OK) break;
        if (!options->scene || !strncmp(fit.name, options->scene, strlen(options->scene))) {
            result = run(env, options, &fit, first, out, context, error);
            first = false;
        }
        flr_fit_case_free(&fit);
    }
    if (result == FLR_OK && first)
        return flr_fail(error, FLR_BAD_ARGUMENT, "no fit begins with \"%s\"", options->scene);
    return result;
}

flr_result flr_fit_cases_bench(flr_env *env, const flr_bench_options *options, FILE *out,
                               void (*head)(const flr_bench_options *options, FILE *out),
                               flr_fit_case_run *run, void *context, flr_error *error)
{
    char folder[FLR_BENCH_PATH];
    flr_result result = flr_bench_make_folder(env, options, folder, error);
    if (result != FLR_OK) return result;
    flr_bench_begin(env, options, "fits", out);
    if (!options->json) head(options, out);
    flr_bench_catch_begin();
    result = run_all(env, options, folder, out, run, context, error);
    flr_path_remove_tree(env, folder, NULL);
    flr_bench_catch_end();
    if (options->json && result == FLR_OK) fputs("]}\n", out);
    return result;
}
