/* feeler sweep: joints that move, and what is in their way; or the room that a part takes along a path */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "feeler/merge.h"
#include "feeler/mesh.h"
#include "feeler/plan.h"
#include "feeler/voxel_file.h"
#include "feeler/voxels.h"
#include "files.h"
#include "info.h"
#include "output.h"
#include "scene/scene.h"
#include "scene/scene_path.h"
#include "sweep_joints.h"
#include "swept_mesh.h"

typedef struct sweep_values {
    flr_common common;
    flr_input input;
    const char *poses, *path, *part, *against, *out;
    double pose_unit, voxel; /* 0: not given */
    double step;             /* voxels */
    int64_t threads;
    uint64_t memory;
    bool no_cache;
    flr_sweep_joints_values joints;
} sweep_values;

/* all that one run makes and learns */
typedef struct sweep_job {
    flr_mesh *mesh; /* of the moving part */
    bool hollow;
    flr_pose_list poses;
    double voxel;
    flr_voxmap *swept;
    flr_sweep_report report;
    size_t triangles;      /* of the mesh of --volume */
    size_t compared;       /* parts that stand */
    flr_sweep_clash clash; /* with all of them */
    double seconds;
} sweep_job;

static void free_job(sweep_job *j)
{
    flr_mesh_destroy(j->mesh);
    flr_pose_list_free(&j->poses);
    flr_voxmap_destroy(j->swept);
}

/* ---- sweeping ---- */

/* The voxels that were asked for, or that the tolerance of the mesh needs; 0: none were. */
static double asked_voxel(const sweep_values *values)
{
    return values->joints.volume ? flr_swept_mesh_voxel(values->joints.tolerance) : values->voxel;
}

static bool show_progress(void *context, uint64_t done, uint64_t places)
{
    flr_progress(context, done, places, "places");
    return !flr_stop_wanted();
}

static flr_result sweep(flr_cli *cli, const sweep_values *values, sweep_job *j, flr_error *error)
{
    if (!(j->voxel > 0))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "feeler sweep needs the size of a voxel, --voxel 1mm, or a mesh to write: "
                        "--volume FILE");
    flr_pose *poses = malloc(j->poses.count * sizeof *poses);
    if (!poses) return flr_fail_memory(error);
    for (size_t i = 0; i < j->poses.count; i++) poses[i] = j->poses.poses[i].T_world_part;
    flr_sweep_def def = flr_default_sweep_def();
    def.mesh = j->mesh;
    def.hollow = j->hollow;
    def.poses = poses;
    def.pose_count = j->poses.count;
    def.voxel = j->voxel;
    def.step = values->step;
    def.threads = (unsigned)values->threads;
    def.memory_limit = values->memory;
    def.progress = show_progress;
    def.context = cli;
    int64_t begin = flr_clock_ns(cli->env);
    flr_catch_stop();
    flr_stop_at_once(true);
    flr_result result = flr_sweep_make(&def, &j->swept, &j->report, error);
    flr_stop_at_once(false);
    j->seconds = (double)(flr_clock_ns(cli->env) - begin) * 1e-9;
    free(poses);
    if (result == FLR_CANCELLED)
        return flr_fail(error, FLR_CANCELLED, "stopped; nothing was written");
    return result;
}

/* Adds what one part that stands says. */
static void compare(sweep_job *j, const flr_voxmap *part, flr_pose T_world_part)
{
    flr_sweep_clash one;
    flr_sweep_compare(j->swept, flr_pose_identity(), part, T_world_part, &one);
    flr_sweep_clash *all = &j->clash;
    if (one.voxels) {
        double share = (double)one.voxels / (double)(one.voxels + all->voxels);
        all->centre = flr_vec3_lerp(all->centre, one.centre, share);
    }
    all->voxels += one.voxels;
    all->volume += one.volume;
    all->lower = j->compared ? fmin(all->lower, one.lower) : one.lower;
    all->upper = j->compared ? fmin(all->upper, one.upper) : one.upper;
    j->compared++;
}

static flr_result compare_mesh(flr_cli *cli, const sweep_values *values, sweep_job *j,
                               const char *name, const flr_mesh *mesh, bool hollow, double voxel,
                               flr_pose T_world_part, flr_error *error)
{
    char folder[FLR_CACHE_PATH_SIZE];
    flr_cache cache = {0};
    if (!values->no_cache && flr_find_cache(NULL, folder, NULL) == FLR_OK) cache.folder = folder;
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.hollow = hollow;
    flr_voxmap *voxmap;
    flr_progress(cli, 0, 1, "voxelizing %s", name);
    flr_result result =
        flr_cache_voxelize(cli->env, &cache, mesh, &def, &voxmap, NULL, NULL, error);
    if (result != FLR_OK) return result;
    compare(j, voxmap, T_world_part);
    flr_voxmap_destroy(voxmap);
    return FLR_OK;
}

/* ---- a part and poses ---- */

static flr_result open_mesh(flr_cli *cli, const sweep_values *values, const char *path,
                            flr_mesh **mesh, flr_error *error)
{
    flr_mesh_options options = flr_input_mesh_options(&values->input, asked_voxel(values));
    flr_mesh_report report;
    flr_progress(cli, 0, 1, "reading %s", path);
    flr_result result = flr_mesh_open(cli->env, path, &options, mesh, &report, error);
    if (result == FLR_OK)
        flr_warn_left_out(cli, path, &report);
    else
        flr_hint_scene(cli->env, path, error);
    return result;
}

static flr_result compare_file(flr_cli *cli, const sweep_values *values, sweep_job *j,
                               flr_error *error)
{
    const char *path = values->against;
    if (flr_is_voxels(path)) {
        flr_voxmap *voxmap;
        flr_result result =
            flr_voxfile_open(cli->env, path, FLR_VOXFILE_VERIFY, &voxmap, NULL, error);
        if (result != FLR_OK) return result;
        compare(j, voxmap, flr_pose_identity());
        result =
            flr_voxfile_verify(voxmap, 0, error); /* mapped: it may have been cut short meanwhile */
        flr_voxmap_destroy(voxmap);
        return result;
    }
    flr_mesh *mesh;
    flr_result result = open_mesh(cli, values, path, &mesh, error);
    if (result != FLR_OK) return result;
    result = compare_mesh(cli, values, j, path, mesh, false, j->voxel, flr_pose_identity(), error);
    flr_mesh_destroy(mesh);
    return result;
}

static flr_result work_file(flr_cli *cli, const sweep_values *values, const char *path,
                            sweep_job *j, flr_error *error)
{
    double unit = values->pose_unit > 0    ? values->pose_unit
                  : values->input.unit > 0 ? values->input.unit
                                           : 1e-3;
    j->voxel = asked_voxel(values);
    flr_result result = flr_pose_list_read(cli->env, values->poses, unit, &j->poses, error);
    if (result == FLR_OK) result = open_mesh(cli, values, path, &j->mesh, error);
    if (result == FLR_OK) result = sweep(cli, values, j, error);
    if (result == FLR_OK && values->against) result = compare_file(cli, values, j, error);
    return result;
}

/* ---- a scene ---- */

/* What moves along the path and what stands, as in feeler plan: the first part named has the frame of the poses, its rigid group
 * moves with it, and parts that others pass through are not compared. */
typedef struct sweep_roles {
    uint32_t *order;      /* parts of the scene: those that move, then those that stand */
    flr_plan_part *parts; /* where they are; without fits */
    flr_plan_roles count;
} sweep_roles;

static flr_result choose_roles(const flr_scene *scene, const char *names, sweep_roles *roles,
                               flr_error *error)
{
    const uint32_t count = (uint32_t)scene->part_count;
    flr_plan_member *members = calloc(count, sizeof *members);
    uint32_t *rigid = calloc(count, sizeof *rigid);
    char *copy = strdup(names), *rest = copy;
    roles->order = calloc(count, sizeof *roles->order);
    roles->parts = calloc(count, sizeof *roles->parts);
    flr_result result =
        members && rigid && copy && roles->order && roles->parts && flr_scene_rigid(scene, rigid)
            ? FLR_OK
            : flr_fail_memory(error);
    for (uint32_t i = 0; result == FLR_OK && i < count; i++)
        members[i] = (flr_plan_member){.T_world_part = scene->parts[i].T_world_part,
                                       .rigid = rigid[i] == FLR_NO_PART ? 0 : rigid[i] + 1,
                                       .passes = scene->parts[i].use == FLR_PART_USE_PASS};
    for (char *name; result == FLR_OK && (name = strsep(&rest, ","));) {
        uint32_t i = 0;
        while (i < count && strcmp(scene->parts[i].name, name) != 0) i++;
        if (i < count)
            members[i].moves = true, members[i].leads |= name == copy;
        else
            result = flr_fail(error, FLR_BAD_ARGUMENT,
                              "%s has no part \"%s\"; feeler info lists them", scene->path, name);
    }
    if (result == FLR_OK) roles->count = flr_plan_sort(members, count, roles->order, roles->parts);
    free(members);
    free(rigid);
    free(copy);
    return result;
}

/* Adds a part that moves to the mesh of the body. */
static flr_result add_to_body(sweep_job *j, flr_mesh *part, flr_pose T_body_part, flr_error *error)
{
    if (!j->mesh) {
        j->mesh = part;
        return FLR_OK;
    }
    const flr_mesh *const both[2] = {j->mesh, part};
    const uint32_t first = j->mesh->vertex_count, all = first + part->vertex_count;
    flr_mesh_def def = flr_default_mesh_def();
    def.triangle_count = j->mesh->triangle_count + part->triangle_count;
    flr_vec3 *vertices = malloc(all * sizeof *vertices);
    flr_triangle *triangles = malloc(def.triangle_count * sizeof *triangles);
    flr_mesh *body = NULL;
    flr_result result = vertices && triangles ? FLR_OK : flr_fail_memory(error);
    for (uint32_t m = 0, v = 0, t = 0; result == FLR_OK && m < 2; m++) {
        for (uint32_t i = 0; i < both[m]->vertex_count; i++)
            vertices[v++] =
                m ? flr_pose_apply(T_body_part, part->vertices[i]) : j->mesh->vertices[i];
        for (uint32_t i = 0; i < both[m]->triangle_count; i++, t++)
            for (int k = 0; k < 3; k++)
                triangles[t].v[k] = both[m]->triangles[i].v[k] + (m ? first : 0);
    }
    def.vertices = vertices, def.vertex_count = all, def.triangles = triangles;
    if (result == FLR_OK) result = flr_mesh_create(&def, &body, error);
    free(vertices);
    free(triangles);
    flr_mesh_destroy(part);
    if (result != FLR_OK) return result;
    flr_mesh_destroy(j->mesh);
    j->mesh = body;
    return FLR_OK;
}

/* What moves is swept; then all that stands is compared. */
static flr_result work_parts(flr_cli *cli, const sweep_values *values, const flr_scene *scene,
                             const sweep_roles *roles, sweep_job *j, flr_error *error)
{
    flr_scene_loader loader = flr_scene_loader_begin(cli->env, scene, NULL);
    flr_result result = FLR_OK;
    const uint32_t moving = roles->count.moving, all = moving + roles->count.standing;
    for (uint32_t k = 0; k < all && result == FLR_OK; k++) {
        const uint32_t i = roles->order[k];
        const flr_scene_part *part = &scene->parts[i];
        double voxel =
            asked_voxel(values) > 0 ? asked_voxel(values) : flr_scene_part_voxel(scene, i);
        flr_progress(cli, k, all, "reading %s", part->name);
        loader.options = flr_input_mesh_options(&values->input, voxel);
        flr_mesh_report report;
        flr_mesh *mesh;
        result = flr_scene_loader_load(&loader, i, &mesh, &report, error);
        if (result != FLR_OK) break;
        flr_warn_left_out(cli, part->name, &report);
        if (k < moving) {
            if (k == 0) j->hollow = part->hollow, j->voxel = voxel;
            result = add_to_body(j, mesh, roles->parts[k].T, error);
            if (result == FLR_OK && k + 1 == moving) result = sweep(cli, values, j, error);
        } else {
            result = compare_mesh(cli, values, j, part->name, mesh, part->hollow, voxel,
                                  part->T_world_part, error);
            flr_mesh_destroy(mesh);
        }
    }
    flr_scene_loader_end(&loader);
    return result;
}

static bool is_path_of(const flr_scene *scene, const char *name)
{
    for (size_t i = 0; i < scene->path_count; i++)
        if (strcmp(scene->paths[i].name, name) == 0) return true;
    return false;
}

/* A path of the scene moves its own part unless another one is named. */
static flr_result work_scene(flr_cli *cli, const sweep_values *values, const char *file,
                             sweep_job *j, flr_error *error)
{
    flr_scene *scene;
    flr_result result = flr_scene_read(cli->env, file, &scene, error);
    if (result != FLR_OK) return result;
    const flr_scene_path *path = NULL;
    if (values->pose_unit > 0 && is_path_of(scene, values->path))
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "%s: the path \"%s\" is in the scene's unit; only pose files have a "
                          "--pose-unit",
                          scene->path, values->path);
    else if (!values->part || is_path_of(scene, values->path))
        result = flr_scene_path_read(cli->env, scene, values->path, &path, &j->poses, error);
    else
        result = flr_pose_list_read(cli->env, values->path,
                                    values->pose_unit > 0 ? values->pose_unit : scene->unit,
                                    &j->poses, error);
    if (result == FLR_BAD_ARGUMENT && !values->part && !is_path_of(scene, values->path)) {
        const flr_error why = *error;
        flr_fail(error, result, "%s; of a pose file, --part NAME says what moves", why.message);
    }
    sweep_roles roles = {0};
    if (result == FLR_OK)
        result = choose_roles(scene, values->part ? values->part : path->part, &roles, error);
    if (result == FLR_OK) result = work_parts(cli, values, scene, &roles, j, error);
    free(roles.order);
    free(roles.parts);
    flr_scene_destroy(scene);
    return result;
}

/* ---- what to say ---- */

static void tell(flr_cli *cli, const sweep_values *values, const char *path, const sweep_job *j)
{
    const flr_sweep_report *r = &j->report;
    const flr_sweep_clash *c = &j->clash;
    flr_voxmap_info info = flr_voxmap_get_info(j->swept);
    json_t *document = flr_json_object(), *volume = flr_json_object();
    flr_print(cli, "%s%s%s\n", flr_bold(cli), FLR_SAFE(path), flr_plain(cli));
    flr_json_set(document, "file", flr_json_text(path));
    flr_json_set(document, "out", values->out ? flr_json_text(values->out) : json_null());
    flr_json_set(document, "poses", flr_json_count(j->poses.count));
    flr_json_set(document, "places", flr_json_count(r->places));
    flr_json_set(volume, "least", flr_json_number(r->volume_least));
    flr_json_set(volume, "estimate", flr_json_number(r->volume));
    flr_json_set(volume, "most", flr_json_number(r->volume_most));
    flr_json_set(document, "volume", volume);
    flr_info_voxmap(cli, &info, NULL, document);
    flr_print(cli, "  swept       %.6g cm3 (%.6g to %.6g), %zu pose%s, %llu place%s\n",
              1e6 * r->volume, 1e6 * r->volume_least, 1e6 * r->volume_most, j->poses.count,
              flr_noun(j->poses.count, "", "s"), (unsigned long long)r->places,
              flr_noun(r->places, "", "s"));
    flr_json_set(document, "seconds", flr_json_number(j->seconds));
    flr_print(cli, "  time        %.3g s\n", j->seconds);
    if (values->out) flr_print(cli, "  file        %s\n", FLR_SAFE(values->out));
    if (values->joints.volume) {
        json_t *mesh = flr_json_object();
        flr_json_set(mesh, "file", flr_json_text(values->joints.volume));
        flr_json_set(mesh, "triangles", flr_json_count(j->triangles));
        flr_json_set(mesh, "error", flr_json_number(values->joints.tolerance));
        flr_json_set(document, "mesh", mesh);
        flr_print(cli, "  mesh        %s: %zu triangles, within %.4g mm of the swept volume\n",
                  FLR_SAFE(values->joints.volume), j->triangles, 1e3 * values->joints.tolerance);
    }
    if (j->compared) {
        json_t *clash = flr_json_object(), *distance = flr_json_object();
        flr_json_set(clash, "parts", flr_json_count(j->compared));
        flr_json_set(clash, "voxels", flr_json_count(c->voxels));
        flr_json_set(clash, "volume", flr_json_number(c->volume));
        flr_json_set(clash, "centre", c->voxels ? flr_json_vec3(c->centre) : json_null());
        flr_json_set(distance, "lower", flr_json_number(c->lower));
        flr_json_set(distance, "upper", flr_json_number(c->upper));
        flr_json_set(clash, "distance", distance);
        flr_json_set(document, "against", clash);
        if (c->voxels)
            flr_print(cli,
                      "  %sin the way%s  %.4g cm3 of it, in %llu voxel%s about %.4g %.4g %.4g mm\n",
                      flr_red(cli), flr_plain(cli), 1e6 * c->volume, (unsigned long long)c->voxels,
                      flr_noun(c->voxels, "", "s"), 1e3 * c->centre.x, 1e3 * c->centre.y,
                      1e3 * c->centre.z);
        else if (isfinite(c->upper))
            flr_print(cli, "  %sfree%s        nothing stands in it; %.4g to %.4g mm are left\n",
                      flr_green(cli), flr_plain(cli), 1e3 * c->lower, 1e3 * c->upper);
        else
            flr_print(cli, "  %sfree%s        nothing stands in it, or nearer than %.4g mm\n",
                      flr_green(cli), flr_plain(cli), 1e3 * c->lower);
    }
    flr_json_print(cli, document);
}

/* ---- the command ---- */

static int check_arguments(flr_cli *cli, const sweep_values *values, const char *path)
{
    const bool scene = flr_is_scene(path);
    const char *wrong = NULL;
    if (scene && !values->path)
        wrong = "a scene needs --joint NAME or --path NAME, the motion to sweep; feeler info lists "
                "its joints and paths";
    else if (values->joints.from || values->joints.to || values->joints.csv || values->joints.plot)
        wrong = "--from, --to, --csv and --plot go with --joint";
    else if (scene && (values->poses || values->against))
        wrong =
            "a scene has parts of its own: --path says how one of them moves, and the others are "
            "compared";
    else if (!scene && (values->path || values->part))
        wrong = "--path and --part are for scenes; a part needs --poses FILE";
    else if (values->joints.volume && !flr_swept_mesh_is_name(values->joints.volume))
        wrong = "--volume: the name of a mesh ends in .stl, .ply, .obj or .glb";
    else if (values->joints.volume && values->voxel > 0)
        wrong = "--volume takes --tolerance in place of --voxel";
    else if (values->joints.volume && values->step > 0.5)
        wrong = "--volume takes steps of half a voxel at most";
    else if (!scene && !values->poses)
        wrong = "feeler sweep needs the poses of the part: add --poses FILE";
    else if (!scene && !(asked_voxel(values) > 0))
        wrong = "feeler sweep needs the size of a voxel, --voxel 1mm, or a mesh to write: --volume "
                "FILE";
    else if (flr_is_voxels(path))
        wrong = "feeler sweep takes the part as a mesh: voxels do not turn";
    else if (values->out && !flr_is_voxels(values->out))
        wrong = "--out: voxels are written as .flrvox; feeler convert makes a NanoVDB file of it";
    return wrong ? FLR_REFUSE(cli, "%s", wrong) : FLR_EXIT_OK;
}

static int exit_of(flr_result result)
{
    if (result == FLR_CANCELLED) return FLR_EXIT_STOPPED;
    return result == FLR_BAD_ARGUMENT || result == FLR_TOO_LARGE ? FLR_EXIT_USAGE
                                                                 : flr_exit_of_input(result);
}

static int run_joints(flr_cli *cli, const sweep_values *values, const char *path)
{
    const flr_mesh_options options =
        flr_input_mesh_options(&values->input, values->joints.tolerance);
    const char *wrong = NULL;
    if (!flr_is_scene(path))
        wrong = "--joint is for scenes, which name their joints";
    else if (values->poses || values->path || values->part || values->against || values->out)
        wrong = "--joint takes no --poses, --path, --part, --against or --out; --volume writes the "
                "swept "
                "volume";
    else if (values->voxel > 0)
        wrong = "--joint needs no --voxel: joints are swept exactly";
    else if (values->joints.volume && !flr_swept_mesh_is_name(values->joints.volume))
        wrong = "--volume: the name of a mesh ends in .stl, .ply, .obj or .glb";
    if (wrong) return FLR_REFUSE(cli, "%s", wrong);
    return flr_sweep_joints(cli, path, &values->joints, &options);
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    (void)count;
    const sweep_values *values = given;
    if (values->joints.joint) return run_joints(cli, values, arguments[0]);
    int code = check_arguments(cli, values, arguments[0]);
    if (code != FLR_EXIT_OK) return code;
    flr_error error;
    sweep_job j = {0};
    flr_result result = flr_is_scene(arguments[0])
                            ? work_scene(cli, values, arguments[0], &j, &error)
                            : work_file(cli, values, arguments[0], &j, &error);
    if (result == FLR_OK && values->out) {
        flr_hold_signals();
        result = flr_voxfile_write(cli->env, values->out, j.swept, NULL, &error);
        flr_release_signals();
        if (result != FLR_OK) code = FLR_EXIT_FAILED;
    }
    if (result == FLR_OK && values->joints.volume) {
        flr_hold_signals();
        result = flr_swept_mesh_of(cli->env, values->joints.volume, j.swept, &j.triangles, &error);
        flr_release_signals();
        if (result != FLR_OK) code = FLR_EXIT_FAILED;
    }
    flr_progress_end(cli);
    if (result == FLR_OK) tell(cli, values, arguments[0], &j);
    free_job(&j);
    if (result == FLR_OK) return FLR_EXIT_OK;
    return flr_fail_with(cli, code ? code : exit_of(result), &error);
}

#define JOINTS_AT(member) offsetof(sweep_values, joints.member)
static const sweep_values defaults = {.step = 0.5, .joints = {.tolerance = 2e-3}};
static const char *const usage[] = {"SCENE --joint NAME [--from A --to B] [options]",
                                    "MOVING --poses FILE --voxel SIZE [options]",
                                    "SCENE --path NAME|FILE [--part NAMES] [options]", NULL};
static const flr_option options[] = {
    FLR_OPTION(
        TEXT, JOINTS_AT(joint), "joint", "NAMES",
        "the joint to move; or several, one after the other: hinge=0..120deg,rails=0..20cm, or "
        "together, with + instead of the comma; NAME.slide: along the axis of a cylindrical joint",
        .letter = 'j'),
    FLR_OPTION(
        TEXT, JOINTS_AT(from), "from", "PLACE",
        "where the joint begins, such as 0deg or 10mm; default: 0, where the scene has it, or "
        "without --to its lower limit"),
    FLR_OPTION(TEXT, JOINTS_AT(to), "to", "PLACE",
               "where it ends, such as 120deg; default: its upper limit"),
    FLR_OPTION(SIZE, JOINTS_AT(clearance), "clearance", "SIZE",
               "joints: stop where parts come nearer than this; default: where they touch"),
    FLR_OPTION(INTEGER, JOINTS_AT(samples), "samples", "N",
               "joints: positions of each stage at which the clearance is measured; default 121",
               .min = 2, .max = 100000),
    FLR_OPTION(PATH, JOINTS_AT(csv), "csv", "FILE", "joints: write the clearance as a table"),
    FLR_OPTION(PATH, JOINTS_AT(plot), "plot", "FILE", "joints: draw the clearance, as SVG"),
    FLR_OPTION(PATH, JOINTS_AT(volume), "volume", "FILE",
               "write the swept volume as a mesh (.stl, .ply, .obj, .glb)"),
    FLR_OPTION(SIZE, JOINTS_AT(tolerance), "tolerance", "SIZE",
               "how far that mesh may be from the swept volume; default 2mm", .min = 1e-6),
    FLR_WAY_OPTIONS(
        sweep_values, "where the part is: one line t x y z qw qx qy qz for each pose",
        "a path of the scene, or with --part a pose file: what moves is swept, and all other parts "
        "are compared as with --against"),
    FLR_OPTION(TEXT, offsetof(sweep_values, part), "part", "NAMES",
               "what moves along the path: parts, separated by commas, as one body; the poses are "
               "those of the first; default: the part of the scene's path"),
    FLR_OPTION(PATH, offsetof(sweep_values, against), "against", "PART",
               "a mesh or voxel file at the origin: how much of it is in the swept volume, or how "
               "much room is left"),
    FLR_OPTION(PATH, offsetof(sweep_values, out), "out", "FILE",
               "write the swept volume to this file, which ends in .flrvox", .letter = 'o'),
    FLR_OPTION(NUMBER, offsetof(sweep_values, step), "step", "N",
               "voxels that a point of the part may move between two places; default 0.5",
               .min = 0.01, .max = 1000),
    FLR_THREADS_OPTION(offsetof(sweep_values, threads)),
    FLR_OPTION(BYTES, offsetof(sweep_values, memory), "memory", "SIZE",
               "refuse what would need more, such as 4GiB; default: what the machine has"),
    FLR_SWITCH(offsetof(sweep_values, no_cache), "no-cache",
               "neither look for voxels of other parts in the cache nor store them there"),
    FLR_INPUT_OPTIONS(sweep_values),
    FLR_TOLERANT_OPTION(sweep_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler sweep cabinet/scene.json --joint hinge --from 0 --to 120deg || true",
     "how far does the door open?"},
    {"feeler sweep cabinet/scene.json --joint rails=0..20cm+thread=0..-720deg --csv clearance.csv",
     "two joints together, with a table of the clearance"},
    {"feeler sweep ball/ball.stl --poses ball/seat.txt --voxel 1mm --out swept.flrvox",
     "the volume that a ball sweeps on its way"},
    {"feeler sweep ball/scene.json --path seat --voxel 1mm", "and what is in it"},
    {"feeler sweep ball/scene.json --path ball/seat.txt --part ball --volume way.stl",
     "the volume that a part of a scene sweeps along any path, as a mesh"},
    {"feeler sweep ball/ball.stl --poses ball/seat.txt --voxel 1mm --step 2 --against "
     "ball/socket.stl --json",
     "coarse steps, one other part, for a program"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK,
     "joints: the whole motion is free; otherwise: done, whatever is in the swept volume"},
    {FLR_EXIT_FAILED,
     "joints: something is in the way; memory ran out; a file could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong, or a voxel size does not suit; nothing was done"},
    {FLR_EXIT_INPUT, "a part, the scene or the poses cannot be used"},
    {FLR_EXIT_STOPPED, "stopped by Ctrl-C; nothing was written"},
    {0, NULL},
};

const flr_command flr_cmd_sweep = {
    .name = "sweep",
    .summary = "how far joints can move, or the volume that a part sweeps",
    .usage = usage,
    .description =
        "With --joint, feeler moves joints of a scene continuously, not pose by pose: it misses no "
        "contact, and finds the position of the first one to better than 0.01 degrees. Distances "
        "are exact. Parts that a joint connects and parts of a rigid group are not checked against "
        "each other.\n\n"
        "Without it, feeler moves the part from pose to pose, straight and turning evenly, in "
        "steps in which none of its points moves farther than half a voxel. All voxels that it "
        "touches or fills on the way are the swept volume. The estimate of its volume counts half "
        "of each surface voxel; the two numbers after it count none and all of them.\n\n"
        "The file of --out is like that of any part: feeler info draws it, feeler convert turns it "
        "into a NanoVDB file, feeler contacts accepts it as a static part.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 1,
    .argument_missing = "a mesh file or a scene",
    .values_size = sizeof(sweep_values),
    .defaults = &defaults,
    .run = run,
};
