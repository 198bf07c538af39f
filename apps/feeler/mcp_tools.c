/* the tools of the Model Context Protocol server: commands with some of their options */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "mcp.h"
#include "output.h"
#include "scene/robot.h"
#include "scene/scene.h"

typedef struct mcp_tool {
    const char *name;
    const flr_command *command;
    const char *says;           /* for whom it chooses a tool */
    const char *file;           /* what its file is */
    const char *const *options; /* of the command, NULL-ended */
    const char *writes;         /* option with the file that it writes; NULL: none */
    const char *ending, *mime;  /* of that file */
    bool robots;                /* takes robots, too */
} mcp_tool;

static const char *const info_options[] = {"unit", "tolerant", "density", NULL};
static const char *const clash_options[] = {"clearance", "touch", "allow", "apart",
                                            "all",       "unit",  NULL};
static const char *const plan_options[] = {"part", "to",   "clearance", "overlap",
                                           "time", "seed", "unit",      NULL};
static const char *const check_options[] = {"unit", NULL};
static const char *const picture_options[] = {"unit", NULL};
static const char *const report_options[] = {"clearance", NULL};

static const mcp_tool tools[] = {
    {"open_assembly", &flr_cmd_info,
     "Opens an assembly, scene or mesh and tells what it is: parts, placements, sizes, joints, "
     "mass, gaps below 1 mm.",
     "a scene (.json), CAD assembly (STEP, glTF ...), robot (URDF, MJCF) or mesh (STL, OBJ, PLY)",
     info_options, .robots = true},
    {"clashes", &flr_cmd_clash,
     "Checks every pair of parts of an assembly for overlap, contact and clearance, exactly, worst "
     "first. With clearance it "
     "lists pairs that are nearer, with their distances; with all also pairs that are fine.",
     "a scene (.json), CAD assembly or robot", clash_options, .robots = true},
    {"clash_report", &flr_cmd_clash, "The same as a page (HTML) with pictures of every clash.",
     "a scene (.json), CAD assembly or robot", clash_options, "html", ".html", "text/html", true},
    {"removal_path", &flr_cmd_plan,
     "Finds a path on which a part comes out of its assembly, checked exactly, or the parts that "
     "block it.",
     "a scene (.json), CAD assembly or robot", plan_options, "out", ".txt", "text/plain", true},
    {"check_mesh", &flr_cmd_check, "Tells what is wrong with a mesh, and whether it matters.",
     "a mesh or scene", check_options, .robots = true},
    {"picture", &flr_cmd_info, "A picture (PNG) of a mesh, an assembly, a robot or a scene.",
     "a scene (.json), CAD assembly, robot or mesh", picture_options, "png", ".png", "image/png",
     true},
    {"recording_report", &flr_cmd_report,
     "A page (HTML) about a recording: path, clearance, forces, times; and the verdict as JSON.",
     "a recording (.mcap)", report_options, "out", ".html", "text/html", false},
};
enum { TOOLS = sizeof tools / sizeof *tools };

/* ---- schemas ---- */

static const flr_option *find_option(const flr_command *command, const char *name)
{
    for (const flr_option *o = command->options; o->name; o++)
        if (!strcmp(o->name, name)) return o;
    return NULL;
}

static json_t *option_schema(const flr_option *o)
{
    json_t *schema = flr_json_object();
    const char *type = "string";
    if (o->type == FLR_OPTION_FLAG) type = "boolean";
    if (o->type == FLR_OPTION_NUMBER) type = "number";
    if (o->type == FLR_OPTION_INTEGER) type = "integer";
    flr_json_set(schema, "type", json_string(type));
    flr_json_set(schema, "description",
                 o->type == FLR_OPTION_SIZE
                     ? json_sprintf("%s; a length with its unit, such as 0.5mm", o->help)
                     : json_string(o->help));
    if (o->type == FLR_OPTION_CHOICE && o->choices) {
        json_t *choices = flr_json_array();
        for (const char *const *c = o->choices; *c; c++) flr_json_push(choices, json_string(*c));
        flr_json_set(schema, "enum", choices);
    }
    if ((o->type == FLR_OPTION_NUMBER || o->type == FLR_OPTION_INTEGER) && o->max > 0) {
        const bool whole = o->type == FLR_OPTION_INTEGER;
        flr_json_set(schema, "minimum",
                     whole ? json_integer((json_int_t)o->min) : json_real(o->min));
        flr_json_set(schema, "maximum",
                     whole ? json_integer((json_int_t)o->max) : json_real(o->max));
    }
    return schema;
}

static json_t *tool_schema(const mcp_tool *t)
{
    json_t *schema = flr_json_object(), *properties = flr_json_object(), *file = flr_json_object(),
           *required = flr_json_array();
    flr_json_set(file, "type", json_string("string"));
    flr_json_set(file, "description", json_sprintf("path of %s", t->file));
    flr_json_set(properties, "file", file);
    for (const char *const *name = t->options; *name; name++) {
        const flr_option *o = find_option(t->command, *name);
        FLR_ASSERT(o); /* a row of the table names an option that the command does not have */
        flr_json_set(properties, *name, option_schema(o));
    }
    flr_json_push(required, json_string("file"));
    flr_json_set(schema, "type", json_string("object"));
    flr_json_set(schema, "properties", properties);
    flr_json_set(schema, "required", required);
    flr_json_set(schema, "additionalProperties", json_false());
    return schema;
}

json_t *flr_mcp_list(void)
{
    json_t *list = flr_json_array();
    for (int i = 0; i < TOOLS; i++) {
        json_t *tool = flr_json_object(), *hints = flr_json_object();
        flr_json_set(tool, "name", json_string(tools[i].name));
        flr_json_set(tool, "description", json_string(tools[i].says));
        flr_json_set(tool, "inputSchema", tool_schema(&tools[i]));
        flr_json_set(hints, "readOnlyHint", json_true());
        flr_json_set(tool, "annotations", hints);
        flr_json_push(list, tool);
    }
    return list;
}

/* ---- files ---- */

static bool lies_in(const flr_mcp_limits *limits, const char *path)
{
    for (int i = 0; i < limits->folder_count; i++) {
        const char *folder = limits->folders[i];
        const size_t size = strlen(folder);
        if (!strncmp(path, folder, size) &&
            (path[size] == '/' || path[size] == 0 || (size && folder[size - 1] == '/')))
            return true;
    }
    return false;
}

/* An absolute path without links, within the folders. A relative one counts from the first folder. The caller frees it. */
static flr_result resolve(const flr_mcp *mcp, const char *given, char **path, flr_error *error)
{
    const flr_mcp_limits *limits = &mcp->limits;
    char *joined = NULL, *real = NULL;
    if (asprintf(&joined, "%s%s%s", given[0] == '/' ? "" : limits->folders[0],
                 given[0] == '/' ? "" : "/", given) < 0)
        return flr_fail_memory(error);
    real = realpath(joined, NULL);
    free(joined);
    if (real && lies_in(limits, real)) {
        *path = real;
        return FLR_OK;
    }
    free(real);
    /* the same sentence whether it exists or not: what lies outside is nobody's business */
    return flr_fail(error, FLR_DENIED,
                    "%s: no such file in the folders that feeler mcp was given (%s%s)", given,
                    limits->folders[0], limits->folder_count > 1 ? " and others" : "");
}

/* The files that a scene names lie in the folders, too. */
static flr_result check_scene(const flr_mcp *mcp, const char *path, flr_error *error)
{
    flr_scene *scene = NULL;
    flr_result result = flr_scene_read(mcp->env, path, &scene, error);
    for (size_t i = 0; result == FLR_OK && i < scene->part_count + scene->path_count; i++) {
        const char *name = i < scene->part_count ? scene->parts[i].file
                                                 : scene->paths[i - scene->part_count].poses;
        char *file = flr_scene_file(scene, name);
        char *real = file ? realpath(file, NULL) : NULL;
        if (!file) result = flr_fail_memory(error);
        if (file && (!real || !lies_in(&mcp->limits, real)))
            result = flr_fail(error, FLR_DENIED,
                              "%s: names %s, which is no file in the folders that feeler mcp was "
                              "given",
                              path, name);
        free(file);
        free(real);
    }
    flr_scene_destroy(scene);
    return result;
}

/* ---- command lines ---- */

/* with what a command left in it that was stopped */
static void remove_folder(int in, const char *path, int depth)
{
    const int opened = openat(in, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *folder = opened < 0 ? NULL : fdopendir(opened);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(opened, entry->d_name, 0) != 0 && depth > 0)
            remove_folder(opened, entry->d_name, depth - 1);
    if (folder)
        closedir(folder);
    else if (opened >= 0)
        close(opened);
    unlinkat(in, path, AT_REMOVEDIR);
}

void flr_mcp_call_free(flr_mcp_call *call)
{
    for (int i = 0; i < call->text_count; i++) free(call->texts[i]);
    if (call->folder[0]) remove_folder(AT_FDCWD, call->folder, 4);
    *call = (flr_mcp_call){0};
}

/* Takes a text over; NULL: there was no memory for it. */
static bool push_text(flr_mcp_call *call, char *text)
{
    if (!text || call->count == FLR_MCP_MAX_ARGUMENTS) {
        free(text);
        return false;
    }
    call->texts[call->text_count++] = text;
    call->arguments[call->count++] = text;
    return true;
}

static char *format_value(const flr_option *o, const json_t *value)
{
    char *text = NULL;
    int made = -1;
    if (json_is_string(value))
        made = asprintf(&text, "--%s=%s", o->name, json_string_value(value));
    else if (json_is_integer(value))
        made = asprintf(&text, "--%s=%" JSON_INTEGER_FORMAT, o->name, json_integer_value(value));
    else
        made = asprintf(&text, "--%s=%s", o->name, FLR_NUMBER_TEXT(json_real_value(value)));
    return made < 0 ? NULL : text;
}

static bool is_of_type(const flr_option *o, const json_t *value)
{
    switch (o->type) {
    case FLR_OPTION_FLAG:
        return json_is_boolean(value);
    case FLR_OPTION_NUMBER:
        return json_is_number(value) && isfinite(json_number_value(value));
    case FLR_OPTION_INTEGER:
        return json_is_integer(value);
    default:
        return json_is_string(value);
    }
}

static flr_result add_options(const mcp_tool *t, const json_t *arguments, flr_mcp_call *call,
                              flr_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)arguments, key, value)
    {
        if (!strcmp(key, "file")) continue;
        const char *const *name = t->options;
        while (*name && strcmp(*name, key) != 0) name++;
        if (!*name)
            return flr_fail(error, FLR_BAD_ARGUMENT, "%s has no argument \"%s\"", t->name, key);
        const flr_option *o = find_option(t->command, key);
        if (json_is_null(value)) continue;
        if (!is_of_type(o, value))
            return flr_fail(error, FLR_BAD_ARGUMENT, "%s: \"%s\" must be a %s", t->name, key,
                            o->type == FLR_OPTION_FLAG     ? "boolean"
                            : o->type == FLR_OPTION_NUMBER ? "number"
                            : o->type == FLR_OPTION_INTEGER
                                ? "whole number"
                                : "text; lengths have a unit, such as \"0.5mm\"");
        if (json_is_false(value)) continue;
        char *text = NULL;
        if (o->type == FLR_OPTION_FLAG) {
            if (asprintf(&text, "--%s", key) < 0) text = NULL;
        } else {
            text = format_value(o, value);
        }
        if (!push_text(call, text)) return flr_fail_memory(error);
    }
    return FLR_OK;
}

static flr_result make_folder(flr_mcp_call *call, flr_error *error)
{
    const char *base = getenv("TMPDIR");
    snprintf(call->folder, sizeof call->folder, "%s/feeler-mcp-XXXXXX",
             base && base[0] == '/' && strlen(base) < 40 ? base : "/tmp");
    if (mkdtemp(call->folder)) return FLR_OK;
    call->folder[0] = 0;
    return flr_fail(error, FLR_IO, "a temporary folder could not be made");
}

static flr_result add_output(const mcp_tool *t, flr_mcp_call *call, flr_error *error)
{
    char *text = NULL;
    if (!t->writes) return FLR_OK;
    snprintf(call->file, sizeof call->file, "%s/out%s", call->folder, t->ending);
    call->mime = t->mime;
    if (asprintf(&text, "--%s=%s", t->writes, call->file) < 0) text = NULL;
    return push_text(call, text) ? FLR_OK : flr_fail_memory(error);
}

/* A robot's scene is made first, in the temporary folder, and takes the place of `*path`. */
static flr_result add_import(flr_mcp_call *call, char **path, flr_error *error)
{
    /* it names meshes, which only the system can refuse */
    if (!flr_mcp_confines())
        return flr_fail(error, FLR_UNSUPPORTED,
                        "robots need a system with landlock (Linux 5.13); make a scene of this one "
                        "with feeler scene, and open that");
    char *out = NULL, *scene = NULL;
    const char *name = strrchr(*path, '/') + 1;
    const int length = (int)(strrchr(name, '.') - name);
    if (asprintf(&scene, "%s/%.*s.json", call->folder, length, name) < 0) scene = NULL;
    if (!scene || asprintf(&out, "--out=%s", scene) < 0) out = NULL;
    if (!scene || !out) {
        free(scene);
        return flr_fail_memory(error);
    }
    const char *const import[] = {"scene", out, "--progress", "--json", "--", *path, NULL};
    memcpy(call->import, import, sizeof import);
    call->texts[call->text_count++] = out;
    call->texts[call->text_count++] = *path;
    *path = scene;
    return FLR_OK;
}

flr_result flr_mcp_prepare(const flr_mcp *mcp, const char *name, const json_t *arguments,
                           flr_mcp_call *call, flr_error *error)
{
    *call = (flr_mcp_call){0};
    const mcp_tool *t = NULL;
    for (int i = 0; i < TOOLS; i++)
        if (!strcmp(tools[i].name, name)) t = &tools[i];
    if (!t) return flr_fail(error, FLR_NOT_FOUND, "there is no tool \"%s\"", name);
    const char *given = json_string_value(json_object_get(arguments, "file"));
    if (!given || !*given)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s needs \"file\", %s", t->name, t->file);
    char *path = NULL;
    flr_result result = resolve(mcp, given, &path, error);
    if (result == FLR_OK && flr_is_scene(path)) result = check_scene(mcp, path, error);
    const bool robot = result == FLR_OK && t->robots && flr_robot_recognize(mcp->env, path);
    call->arguments[call->count++] = t->command->name;
    if (result == FLR_OK) result = make_folder(call, error);
    if (result == FLR_OK && robot) result = add_import(call, &path, error);
    if (result == FLR_OK) result = add_options(t, arguments, call, error);
    if (result == FLR_OK) result = add_output(t, call, error);
    if (result != FLR_OK) {
        free(path);
        return result;
    }
    call->arguments[call->count++] = "--progress";
    call->arguments[call->count++] = "--json";
    call->arguments[call->count++] = "--";
    return push_text(call, path) ? FLR_OK : flr_fail_memory(error);
}
