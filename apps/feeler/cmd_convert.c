/* feeler convert: any mesh that can be read, as STL, OBJ or PLY; voxels to and from NanoVDB */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"
#include "command.h"
#include "convert_csv.h"
#include "feeler/base.h"
#include "feeler/mesh.h"
#include "feeler/voxel_file.h"
#include "files.h"
#include "info.h"
#include "output.h"
#include "scene/scene.h"
#include "voxel/nanovdb.h"

typedef struct convert_values {
    flr_common common;
    flr_input input;
    double out_unit; /* 0: mm */
    const char *group;
    const char *split;
    int format;
    bool force;
} convert_values;

static const char *const formats[] = {"stl", "obj", "ply", "itri", NULL};

static bool can_write(const char *path)
{
    const char *ending = strrchr(path, '.');
    for (const char *const *f = formats; ending && *f; f++)
        if (!strcasecmp(ending + 1, *f)) return true;
    return false;
}

static bool is_nanovdb(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending && !strcasecmp(ending, ".nvdb");
}

/* ---- voxels to voxels ---- */

static int convert_voxels(flr_cli *cli, const char *from, const char *to)
{
    flr_error error;
    flr_voxmap *voxmap;
    flr_progress(cli, 0, 2, "reading %s", from);
    flr_result result = is_nanovdb(from) ? flr_nanovdb_read(cli->env, from, NULL, &voxmap, &error)
                                         : flr_voxfile_open(cli->env, from, FLR_VOXFILE_VERIFY,
                                                            &voxmap, NULL, &error);
    if (result != FLR_OK) return flr_fail_with(cli, flr_exit_of_input(result), &error);

    flr_progress(cli, 1, 2, "writing %s", to);
    flr_hold_signals();
    result = is_nanovdb(to) ? flr_nanovdb_write(cli->env, to, voxmap, &error)
                            : flr_voxfile_write(cli->env, to, voxmap, NULL, &error);
    flr_release_signals();
    flr_progress_end(cli);
    flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    /* it is mapped while it is written: what was lost meanwhile has become zeros */
    flr_result whole = result == FLR_OK ? flr_voxfile_verify(voxmap, 0, &error) : FLR_OK;
    flr_voxmap_destroy(voxmap);
    if (whole != FLR_OK) {
        flr_path_remove(cli->env, to, NULL);
        return flr_fail_with(cli, flr_exit_of_input(whole), &error);
    }
    if (result != FLR_OK) return flr_fail_with(cli, FLR_EXIT_FAILED, &error);

    flr_path_info file = {0};
    flr_path_look(cli->env, to, &file, NULL);
    flr_print_note(cli, "%s: %s surface voxels, %s\n", FLR_SAFE(to),
                   FLR_COUNT_TEXT(info.stats.surface_voxels), FLR_BYTES_TEXT(file.size));
    json_t *document = flr_json_object(), *files = flr_json_array(), *entry = flr_json_object();
    flr_json_set(entry, "file", flr_json_text(to));
    flr_json_set(entry, "bytes", flr_json_count(file.size));
    flr_json_set(entry, "voxel_size", flr_json_number(info.voxel));
    flr_json_set(entry, "surface_voxels", flr_json_count(info.stats.surface_voxels));
    flr_json_set(entry, "interior_voxels", flr_json_count(info.stats.interior_voxels));
    flr_json_push(files, entry);
    flr_json_set(document, "input", flr_json_text(from));
    flr_json_set(document, "files", files);
    flr_json_print(cli, document);
    return FLR_EXIT_OK;
}

/* ---- one file to one file ---- */

/* the group of that name alone, in its own frame; on failure the sentence names what there is */
static flr_result take_group(flr_mesh **mesh, const char *path, const char *name, flr_error *error)
{
    const char *names[FLR_WORDS_MAX];
    size_t count = 0;
    for (uint32_t g = 0; g < (*mesh)->group_count; g++) {
        const char *group = flr_mesh_group_name(*mesh, g);
        if (!strcmp(group, name)) {
            flr_mesh *part;
            flr_result result = flr_mesh_extract_group(*mesh, g, &part, error);
            if (result != FLR_OK) return result;
            flr_mesh_destroy(*mesh);
            *mesh = part;
            return FLR_OK;
        }
        if (count < FLR_WORDS_MAX) names[count++] = group;
    }
    const char *near = flr_suggest(name, names, count);
    return flr_fail(error, FLR_NOT_FOUND, "%s has no group \"%s\"; %s%s%s", path, name,
                    near ? "did you mean \"" : "see feeler info ", near ? near : path,
                    near ? "\"?" : "");
}

static void tell_file(flr_cli *cli, json_t *files, const char *path, const char *name,
                      const flr_mesh *mesh)
{
    flr_path_info info = {0};
    flr_path_look(cli->env, path, &info, NULL);
    flr_print_note(cli, "%s: %s %s, %s\n", FLR_SAFE(path), FLR_COUNT_TEXT(mesh->triangle_count),
                   flr_noun(mesh->triangle_count, "triangle", "triangles"),
                   FLR_BYTES_TEXT(info.size));
    json_t *entry = flr_json_object();
    flr_json_set(entry, "file", flr_json_text(path));
    if (name) flr_json_set(entry, "group", flr_json_text(name));
    flr_json_set(entry, "bytes", flr_json_count(info.size));
    flr_json_set(entry, "triangles", flr_json_count(mesh->triangle_count));
    flr_json_set(entry, "vertices", flr_json_count(mesh->vertex_count));
    flr_json_push(files, entry);
}

static int convert_one(flr_cli *cli, const convert_values *values, flr_mesh **mesh,
                       const char *from, const char *to, json_t *files)
{
    flr_error error;
    if (values->group && take_group(mesh, from, values->group, &error) != FLR_OK)
        return flr_fail_with(cli, FLR_EXIT_USAGE, &error);
    flr_progress(cli, 1, 2, "writing %s", to);
    flr_hold_signals();
    flr_result result = flr_mesh_write(cli->env, to, *mesh, values->out_unit, &error);
    flr_release_signals();
    flr_progress_end(cli);
    if (result != FLR_OK) return flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    tell_file(cli, files, to, NULL, *mesh);
    return FLR_EXIT_OK;
}

/* ---- one file per group, and a scene that puts them together again ---- */

enum { NAME_SIZE = 64 };

typedef struct split_part {
    char name[NAME_SIZE]; /* in the scene, and of the file without its ending */
    char file[NAME_SIZE + 8];
    uint32_t group;
    flr_mesh *mesh;
} split_part;

/* a file name from a group's name: letters, digits, - and _ stay; never empty, never twice */
static void name_part(split_part *parts, size_t index, const char *group, const char *ending)
{
    split_part *part = &parts[index];
    char base[NAME_SIZE - 12];
    size_t used = 0;
    for (const char *c = group; *c && used + 1 < sizeof base; c++)
        base[used++] = (char)(isalnum((unsigned char)*c) || *c == '-' || *c == '_' ? *c : '_');
    base[used] = 0;
    if (!used) snprintf(base, sizeof base, "part");
    snprintf(part->name, sizeof part->name, "%s", base);
    for (size_t number = 2, i = 0; i < index; i++)
        if (!strcasecmp(parts[i].name, part->name)) {
            snprintf(part->name, sizeof part->name, "%s-%zu", base, number++);
            i = (size_t)-1; // the new name must be compared with all again
        }
    snprintf(part->file, sizeof part->file, "%s.%s", part->name, ending);
}

static flr_result write_split(flr_cli *cli, const convert_values *values, const char *name,
                              split_part *parts, size_t count, const flr_mesh *mesh,
                              const char *folder, flr_error *error)
{
    flr_scene_part *placed = calloc(count, sizeof *placed);
    if (!placed) return flr_fail_memory(error);
    flr_result result = FLR_OK;
    double unit = values->out_unit > 0 ? values->out_unit : 0.001;
    char path[FLR_PATH_MAX + NAME_SIZE + 16];
    for (size_t i = 0; i < count && result == FLR_OK; i++) {
        flr_progress(cli, i, count, "writing %s", parts[i].file);
        snprintf(path, sizeof path, "%s/%s", folder, parts[i].file);
        result = flr_mesh_write(cli->env, path, parts[i].mesh, unit, error);
        placed[i] = flr_default_scene_part();
        placed[i].name = parts[i].name;
        placed[i].file = parts[i].file;
        placed[i].unit = unit;
        placed[i].T_world_part = mesh->groups[parts[i].group].T_mesh_group;
    }
    flr_scene scene = flr_default_scene();
    scene.name = name;
    scene.unit = unit;
    scene.parts = placed;
    scene.part_count = count;
    snprintf(path, sizeof path, "%s/scene.json", folder);
    if (result == FLR_OK) result = flr_scene_write(cli->env, path, &scene, error);
    free(placed);
    return result;
}

static flr_result extract_parts(const flr_mesh *mesh, const char *ending, split_part *parts,
                                size_t *count, flr_error *error)
{
    for (uint32_t g = 0; g < mesh->group_count; g++) {
        if (!mesh->groups[g].triangle_count) continue;
        name_part(parts, *count, flr_mesh_group_name(mesh, g), ending);
        parts[*count].group = g;
        flr_result result = flr_mesh_extract_group(mesh, g, &parts[*count].mesh, error);
        if (result != FLR_OK) return result;
        ++*count;
    }
    return FLR_OK;
}

static int convert_split(flr_cli *cli, const convert_values *values, const char *from,
                         const flr_mesh *mesh, json_t *files)
{
    // the scene is called as the file, without folder and ending
    char scene_name[FLR_SAFE_SIZE];
    const char *slash = strrchr(from, '/');
    flr_safe(slash ? slash + 1 : from, scene_name);
    char *dot = strrchr(scene_name, '.');
    if (dot && dot > scene_name) *dot = 0;

    flr_error error;
    split_part *parts = calloc((size_t)mesh->group_count + 1, sizeof *parts);
    if (!parts) return flr_fail_saying(cli, FLR_EXIT_FAILED, FLR_NO_MEMORY, "out of memory");

    size_t count = 0;
    flr_folder folder;
    flr_hold_signals();
    flr_result result = extract_parts(mesh, formats[values->format], parts, &count, &error);
    if (result == FLR_OK)
        result = flr_folder_begin(cli->env, values->split, values->force, &folder, &error);
    if (result == FLR_OK) {
        result = write_split(cli, values, scene_name, parts, count, mesh, folder.writing, &error);
        if (result == FLR_OK)
            result = flr_folder_commit(cli->env, &folder, &error);
        else
            flr_folder_abandon(cli->env, &folder, &error);
    }
    flr_release_signals();
    flr_progress_end(cli);

    char path[FLR_PATH_MAX + NAME_SIZE + 16];
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", values->split, parts[i].file);
        if (result == FLR_OK)
            tell_file(cli, files, path, flr_mesh_group_name(mesh, parts[i].group), parts[i].mesh);
        flr_mesh_destroy(parts[i].mesh);
    }
    free(parts);
    if (result != FLR_OK) return flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    flr_print_note(cli, "Next: feeler info %s/scene.json\n", FLR_SAFE(values->split));
    return FLR_EXIT_OK;
}

/* ---- the command ---- */

/* the length of a path's folder, its last slash included */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* A scene becomes a scene.json beside it: files that it names are relative to its folder. */
static int check_scene(flr_cli *cli, const convert_values *values, int count, char **arguments)
{
    if (count < 2 || values->split || values->group || !flr_is_scene(arguments[1]) ||
        !strcasecmp(arguments[1] + strlen(arguments[1]) - 4, ".cfg"))
        return FLR_REFUSE(cli,
                          "%s is a scene; feeler convert writes it as a .json, and takes one "
                          "mesh file otherwise",
                          arguments[0]);
    size_t from = folder_length(arguments[0]), to = folder_length(arguments[1]);
    if (from != to || memcmp(arguments[0], arguments[1], from) != 0)
        return FLR_REFUSE(cli,
                          "%s: write it beside %s, because a scene names its meshes from "
                          "its own folder",
                          arguments[1], arguments[0]);
    if (!values->force && flr_same_file(arguments[0], arguments[1]))
        return FLR_REFUSE(cli, "%s is the input itself; add --force to replace it", arguments[1]);
    return FLR_EXIT_OK;
}

static int convert_scene(flr_cli *cli, const char *from, const char *to)
{
    flr_error error;
    flr_scene *scene;
    flr_result result = flr_scene_read(cli->env, from, &scene, &error);
    if (result != FLR_OK) return flr_fail_with(cli, flr_exit_of_input(result), &error);
    size_t parts = scene->part_count;
    result = flr_scene_write(cli->env, to, scene, &error);
    flr_scene_destroy(scene);
    if (result != FLR_OK) return flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    flr_print_note(cli, "%s: %zu %s\n", FLR_SAFE(to), parts, flr_noun(parts, "part", "parts"));
    json_t *document = flr_json_object(), *files = flr_json_array(), *entry = flr_json_object();
    flr_json_set(entry, "file", flr_json_text(to));
    flr_json_set(entry, "parts", flr_json_count(parts));
    flr_json_push(files, entry);
    flr_json_set(document, "input", flr_json_text(from));
    flr_json_set(document, "files", files);
    flr_json_print(cli, document);
    return FLR_EXIT_OK;
}

/* what is wrong with the arguments, before anything is read; FLR_EXIT_OK when nothing */
static int check_arguments(flr_cli *cli, const convert_values *values, int count, char **arguments)
{
    if (flr_is_scene(arguments[0])) return check_scene(cli, values, count, arguments);
    bool voxels = flr_is_voxels(arguments[0]) || is_nanovdb(arguments[0]);
    if (voxels && (values->split || values->group))
        return FLR_REFUSE(cli, "%s holds voxels, which have no groups; leave --%s away",
                          arguments[0], values->split ? "split" : "group");
    if (values->split) {
        if (count == 1 && !values->group) return FLR_EXIT_OK;
        return FLR_REFUSE(cli, "--split writes all groups into its folder; leave %s away",
                          count > 1 ? arguments[1] : "--group");
    }
    if (count < 2) return FLR_REFUSE(cli, "feeler convert needs a file to write, or --split DIR");
    if (!arguments[1][0])
        return FLR_REFUSE(cli, "the name of the file to write is empty; give one");
    if (flr_is_recording(arguments[0]) != flr_is_csv(arguments[1]))
        return FLR_REFUSE(cli, "%s: feeler writes recordings (.mcap), and nothing else, as .csv",
                          arguments[1]);
    if (flr_is_recording(arguments[0])) return FLR_EXIT_OK;
    if (voxels && !(flr_is_voxels(arguments[0]) ? is_nanovdb : flr_is_voxels)(arguments[1]))
        return FLR_REFUSE(cli, "%s: feeler writes these voxels as %s", arguments[1],
                          is_nanovdb(arguments[0]) ? ".flrvox" : ".nvdb");
    if (!voxels && (is_nanovdb(arguments[1]) || flr_is_voxels(arguments[1])))
        return FLR_REFUSE(cli,
                          "%s: voxels are made of a mesh by feeler voxelize %s --voxel 1mm "
                          "--out FILE.flrvox",
                          arguments[1], arguments[0]);
    if (!voxels && !can_write(arguments[1]))
        return FLR_REFUSE(cli, "%s: feeler writes .stl, .obj, .ply and .itri", arguments[1]);
    if (!values->force && flr_same_file(arguments[0], arguments[1]))
        return FLR_REFUSE(cli, "%s is the input itself; add --force to replace it", arguments[1]);
    return FLR_EXIT_OK;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const convert_values *values = given;
    int code = check_arguments(cli, values, count, arguments);
    if (code != FLR_EXIT_OK) return code;
    if (flr_is_scene(arguments[0])) return convert_scene(cli, arguments[0], arguments[1]);
    if (flr_is_voxels(arguments[0]) || is_nanovdb(arguments[0]))
        return convert_voxels(cli, arguments[0], arguments[1]);
    if (flr_is_recording(arguments[0])) return flr_convert_csv(cli, arguments[0], arguments[1]);

    flr_error error;
    flr_mesh *mesh;
    flr_mesh_options options = flr_input_mesh_options(&values->input, 0);
    flr_progress(cli, 0, 2, "reading %s", arguments[0]);
    flr_mesh_report report;
    flr_result result = flr_mesh_open(cli->env, arguments[0], &options, &mesh, &report, &error);
    if (result != FLR_OK) return flr_fail_with(cli, flr_exit_of_input(result), &error);
    char left_out[FLR_LEFT_OUT_TEXT_SIZE];
    flr_left_out_print(&report, left_out);
    flr_warn_left_out(cli, arguments[0], &report);

    json_t *files = flr_json_array();
    code = values->split ? convert_split(cli, values, arguments[0], mesh, files)
                         : convert_one(cli, values, &mesh, arguments[0], arguments[1], files);
    if (code == FLR_EXIT_OK) {
        json_t *document = flr_json_object();
        flr_json_set(document, "input", flr_json_text(arguments[0]));
        flr_json_set(document, "unit",
                     flr_json_number(values->out_unit > 0 ? values->out_unit : 0.001));
        flr_json_set(document, "files", json_incref(files));
        flr_json_set(document, "left_out", *left_out ? flr_json_text(left_out) : json_null());
        flr_json_print(cli, document);
    }
    json_decref(files);
    flr_mesh_destroy(mesh);
    return code;
}

static const char *const usage[] = {"IN OUT [options]", "IN --split DIR [options]", NULL};
static const flr_option options[] = {
    FLR_INPUT_OPTIONS(convert_values),
    FLR_TOLERANT_OPTION(convert_values),
    FLR_OPTION(UNIT, offsetof(convert_values, out_unit), "out-unit", "UNIT",
               "unit of the coordinates to write; default mm", .choices = flr_unit_choices),
    FLR_OPTION(TEXT, offsetof(convert_values, group), "group", "NAME",
               "only this group (part, solid, object) of the file, in its own frame",
               .letter = 'g'),
    FLR_OPTION(FOLDER, offsetof(convert_values, split), "split", "DIR",
               "one file per group, and a scene.json that puts them together"),
    FLR_OPTION(CHOICE, offsetof(convert_values, format), "format", "stl|obj|ply|itri",
               "what --split writes; default stl", .choices = formats),
    FLR_SWITCH(offsetof(convert_values, force), "force",
               "replace the input itself, or write into a folder that is not empty"),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler convert ball/ball.stl ball.obj", "STL to OBJ"},
    {"feeler convert ball/ball.stl ball.ply --out-unit m", "to metres"},
    {"feeler convert ball/ball.stl ball.itri", "the format of Kim 2004"},
    {"feeler convert ball.obj --split ball-parts", "one file per group, with a scene"},
    {"feeler convert turn.mcap turn.csv", "a recording as a table"},
    {"feeler convert ball.flrvox ball.nvdb", "voxels, for tools that read NanoVDB"},
    {NULL, NULL},
};

const flr_command flr_cmd_convert = {
    .name = "convert",
    .summary = "meshes to STL, OBJ, PLY, ITRI; voxels to NVDB; recordings to CSV",
    .usage = usage,
    .description =
        "Reads every format that feeler knows (STL, OBJ, PLY, ITRI, VRML, Inventor; through the "
        "import helper "
        "STEP, IGES, BREP, glTF, 3DS, DAE, 3MF and others) and writes by the ending of OUT: .stl "
        "(binary), .obj, .ply (binary) or .itri. STL has 32-bit coordinates, the others keep every "
        "bit of them. "
        "OBJ keeps the names of groups. An output that exists is replaced, whole or "
        "not at all; the input is not, unless --force is given.\n\n"
        "Voxels (.flrvox) become a NanoVDB file (.nvdb, version 32): a level set of floats, in "
        "metres, and the other way round: the first grid of floats in it gives the surface. "
        "Points, edges and vertices are not in a NanoVDB file.\n\n"
        "A scene (.json, or a text configuration, .cfg) becomes a scene.json in the same "
        "folder.\n\n"
        "A recording (.mcap) becomes a table (.csv): a head, then one line per frame with all "
        "numbers but the contacts one by one, in metres, seconds, newtons.",
    .options = options,
    .examples = examples,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 2,
    .argument_missing = "a mesh file to read and a file to write",
    .values_size = sizeof(convert_values),
    .run = run,
};
