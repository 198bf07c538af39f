/* what feeler info says about a mesh and a scene */
#include "info.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "feeler/base.h"
#include "feeler/math.h"
#include "feeler/mesh_check.h"
#include "output.h"
#include "sim/stage.h"

/* the unit, metres, in which lengths up to `largest` read well */
static double length_unit(double largest)
{
    return largest >= 1 ? 1 : largest >= 1e-4 || largest == 0 ? 1e-3 : 1e-6;
}

static double largest_of(flr_vec3 v) { return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z))); }

enum { POINT_TEXT_SIZE = 96 };

/* "12.5 0 -3"; what is a rounding error beside `scale` (metres) reads as zero */
static const char *point_print(flr_vec3 p, double scale, double unit, char text[POINT_TEXT_SIZE])
{
    double least = 1e-9 * scale;
    snprintf(text, POINT_TEXT_SIZE, "%.6g %.6g %.6g", fabs(p.x) < least ? 0 : p.x / unit,
             fabs(p.y) < least ? 0 : p.y / unit, fabs(p.z) < least ? 0 : p.z / unit);
    return text;
}

/* "12.5 0 -3 mm", in the unit that suits it */
static const char *place_print(flr_vec3 p, char text[POINT_TEXT_SIZE])
{
    double unit = length_unit(largest_of(p));
    size_t used = strlen(point_print(p, largest_of(p), unit, text));
    snprintf(text + used, POINT_TEXT_SIZE - used, " %s", flr_unit_name(unit));
    return text;
}

/* ---- mesh ---- */

static void tell_format(flr_cli *cli, const flr_mesh_report *report, json_t *object)
{
    const char *unit = flr_unit_name(report->unit);
    flr_print(cli, "  format      %s, %s%s\n", report->format_name, FLR_BYTES_TEXT(report->bytes),
              report->format == FLR_FORMAT_FOREIGN ? ", read by feeler-import" : "");
    if (unit)
        flr_print(cli, "  unit        %s%s\n", unit,
                  report->unit_from_file ? " (the file says so)" : "");
    else
        flr_print(cli, "  unit        %s m%s\n", FLR_NUMBER_TEXT(report->unit),
                  report->unit_from_file ? " (the file says so)" : "");
    flr_json_set(object, "format", flr_json_text(report->format_name));
    flr_json_set(object, "bytes", flr_json_count(report->bytes));
    flr_json_set(object, "unit", flr_json_number(report->unit));
    flr_json_set(object, "unit_from_file", json_boolean(report->unit_from_file));
}

static void tell_counts(flr_cli *cli, const flr_mesh *mesh, const flr_mesh_report *report,
                        json_t *object)
{
    char low[POINT_TEXT_SIZE], high[POINT_TEXT_SIZE];
    flr_vec3 size = flr_box3_size(mesh->bounds);
    flr_print(cli, "  triangles   %s\n", FLR_COUNT_TEXT(mesh->triangle_count));
    flr_print(cli, "  vertices    %s after welding, %s in the file\n",
              FLR_COUNT_TEXT(mesh->vertex_count), FLR_COUNT_TEXT(report->vertices_in_file));
    if (report->polygons_split)
        flr_print(cli, "  polygons    %s had more than three corners and were cut\n",
                  FLR_COUNT_TEXT(report->polygons_split));
    if (report->lines_dropped)
        flr_print(cli, "  lines       %s points and lines without a surface were left out\n",
                  FLR_COUNT_TEXT(report->lines_dropped));
    if (report->ignored_bytes)
        flr_print(cli, "  ignored     %s after the last facet\n",
                  FLR_BYTES_TEXT(report->ignored_bytes));
    flr_print(cli, "  size        %s\n", FLR_EXTENT_TEXT(size));
    double scale = fmax(largest_of(mesh->bounds.low), largest_of(mesh->bounds.high));
    double unit = length_unit(scale);
    flr_print(cli, "  bounds      %s to %s %s\n", point_print(mesh->bounds.low, scale, unit, low),
              point_print(mesh->bounds.high, scale, unit, high), flr_unit_name(unit));

    flr_json_set(object, "triangles", flr_json_count(mesh->triangle_count));
    flr_json_set(object, "vertices", flr_json_count(mesh->vertex_count));
    flr_json_set(object, "vertices_in_file", flr_json_count(report->vertices_in_file));
    flr_json_set(object, "polygons_split", flr_json_count(report->polygons_split));
    flr_json_set(object, "lines_dropped", flr_json_count(report->lines_dropped));
    flr_json_set(object, "ignored_bytes", flr_json_count(report->ignored_bytes));
    flr_json_set(object, "size", flr_json_vec3(size));
    json_t *bounds = flr_json_object();
    flr_json_set(bounds, "low", flr_json_vec3(mesh->bounds.low));
    flr_json_set(bounds, "high", flr_json_vec3(mesh->bounds.high));
    flr_json_set(object, "bounds", bounds);
}

static void tell_components(flr_cli *cli, const flr_adjacency *adjacency, json_t *object)
{
    bool closed = flr_adjacency_is_closed(adjacency);
    flr_print(cli, "  components      %s, %s\n", FLR_COUNT_TEXT(adjacency->component_count),
              closed ? "closed" : "not closed (feeler check says more)");
    flr_json_set(object, "components", flr_json_count(adjacency->component_count));
    flr_json_set(object, "closed", json_boolean(closed));
    flr_json_set(object, "edges", flr_json_count(adjacency->edge_count));
    flr_json_set(object, "border_edges", flr_json_count(adjacency->border_count));
    flr_json_set(object, "flipped_edges", flr_json_count(adjacency->flipped_count));
    flr_json_set(object, "nonmanifold_edges", flr_json_count(adjacency->nonmanifold_count));
}

/* "1963.5 mm2": a size to a power in mm, cm or m */
static const char *power_print(double value, int power, char text[POINT_TEXT_SIZE])
{
    double cm = pow(1e-2, power), m = pow(0.3, power);
    double unit = value >= m ? 1 : value >= cm ? 1e-2 : 1e-3;
    snprintf(text, POINT_TEXT_SIZE, "%.5g %s%d", value / pow(unit, power), flr_unit_name(unit),
             power);
    return text;
}

static json_t *mass_json(const flr_mass *mass, double density, flr_vec3 moments)
{
    json_t *object = flr_json_object();
    flr_json_set(object, "density", flr_json_number(density));
    flr_json_set(object, "mass", flr_json_number(mass->inertia.mass));
    flr_json_set(object, "centre", flr_json_vec3(mass->inertia.centre));
    json_t *rows = flr_json_array();
    for (int i = 0; i < 3; i++)
        flr_json_push(rows, flr_json_vec3(flr_mat3_row(mass->inertia.tensor, i)));
    flr_json_set(object, "inertia", rows);
    flr_json_set(object, "principal", flr_json_vec3(moments));
    flr_json_set(object, "solids", flr_json_count(mass->solid_count));
    flr_json_set(object, "cavities", flr_json_count(mass->cavity_count));
    flr_json_set(object, "sheets", flr_json_count(mass->sheet_count));
    flr_json_set(object, "inverted", json_boolean(mass->inverted));
    flr_json_set(object, "open_area", flr_json_number(mass->open_area));
    return object;
}

/* A mesh without area has no mass; that is a fact about it, not a failure. */
static void tell_mass(flr_cli *cli, const flr_mesh *mesh, const flr_adjacency *adjacency,
                      double density, json_t *object)
{
    flr_mass mass;
    flr_error error;
    char text[POINT_TEXT_SIZE];
    if (flr_mass_compute(mesh, adjacency, density, &mass, &error) != FLR_OK) {
        flr_print(cli, "  mass        none: %s\n", FLR_SAFE(error.message));
        flr_json_set(object, "area", flr_json_number(0));
        flr_json_set(object, "volume", json_null());
        flr_json_set(object, "mass", json_null());
        return;
    }
    flr_print(cli, "  area        %s\n", power_print(mass.area, 2, text));
    flr_print(cli, "  volume      %s", power_print(mass.volume, 3, text));
    if (mass.inverted) flr_print(cli, "; the mesh is inside out and was turned");
    if (mass.open_area > 0)
        flr_print(cli, "; holes of %s were closed", power_print(mass.open_area, 2, text));
    if (mass.cavity_count)
        flr_print(cli, "; less %u cavit%s", mass.cavity_count,
                  flr_noun(mass.cavity_count, "y", "ies"));
    if (mass.sheet_count)
        flr_print(cli, "; %u component%s without volume taken as thin sheet", mass.sheet_count,
                  flr_noun(mass.sheet_count, "", "s"));
    double kg = mass.inertia.mass;
    flr_print(cli, "\n  mass        %.4g %s at %.6g kg/m3\n", kg >= 1 ? kg : 1e3 * kg,
              kg >= 1 ? "kg" : "g", density);
    flr_vec3 size = flr_box3_size(mesh->bounds);
    double unit = length_unit(largest_of(size));
    flr_print(cli, "  centre      %s %s\n",
              point_print(mass.inertia.centre, largest_of(size), unit, text), flr_unit_name(unit));
    flr_vec3 moments = flr_inertia_principal(mass.inertia, NULL);
    flr_print(cli, "  inertia     %.4g %.4g %.4g kg m2 about the principal axes\n", moments.x,
              moments.y, moments.z);
    flr_json_set(object, "area", flr_json_number(mass.area));
    flr_json_set(object, "volume", flr_json_number(mass.volume));
    flr_json_set(object, "mass", mass_json(&mass, density, moments));
}

/* what remains when nearly flat neighbours are merged for this voxel size; `*object` gets a new
 * "features". `indent` and what follows is how the line begins. */
static flr_result tell_features(flr_cli *cli, const flr_mesh *mesh, const flr_adjacency *adjacency,
                                double voxel, const char *indent, json_t *object, flr_error *error)
{
    flr_features *features;
    flr_result result = flr_features_create(mesh, adjacency, voxel, &features, error);
    if (result != FLR_OK) return result;
    flr_print(cli, "%s%s polygon%s, %s edge%s, %s %s at a voxel of %s\n", indent,
              FLR_COUNT_TEXT(features->polygon_count), flr_noun(features->polygon_count, "", "s"),
              FLR_COUNT_TEXT(features->edge_count), flr_noun(features->edge_count, "", "s"),
              FLR_COUNT_TEXT(features->vertex_count),
              flr_noun(features->vertex_count, "vertex", "vertices"), FLR_SIZE_TEXT(voxel));
    json_t *entry = flr_json_object();
    flr_json_set(entry, "voxel", flr_json_number(voxel));
    flr_json_set(entry, "polygons", flr_json_count(features->polygon_count));
    flr_json_set(entry, "edges", flr_json_count(features->edge_count));
    flr_json_set(entry, "vertices", flr_json_count(features->vertex_count));
    flr_json_set(object, "features", entry);
    flr_features_destroy(features);
    return FLR_OK;
}

/* the groups with their names; text shows the first few unless --verbose */
static void tell_groups(flr_cli *cli, const flr_mesh *mesh, json_t *object)
{
    enum { SHOWN = 12 };
    char place[POINT_TEXT_SIZE];
    json_t *groups = flr_json_array();
    bool named = mesh->group_count > 1 || *flr_mesh_group_name(mesh, 0);
    if (named) flr_print(cli, "  groups      %u\n", mesh->group_count);
    for (uint32_t g = 0; g < mesh->group_count; g++) {
        const flr_mesh_group *group = &mesh->groups[g];
        const char *name = flr_mesh_group_name(mesh, g);
        bool moved = !flr_vec3_equal(group->T_mesh_group.p, flr_vec3_zero());
        if (named && (g < SHOWN || cli->verbose))
            flr_print(cli, "    %-24s %9s triangles%s%s\n", *name ? FLR_SAFE(name) : "(no name)",
                      FLR_COUNT_TEXT(group->triangle_count), moved ? "  at " : "",
                      moved ? place_print(group->T_mesh_group.p, place) : "");
        json_t *entry = flr_json_object();
        flr_json_set(entry, "name", flr_json_text(name));
        flr_json_set(entry, "triangles", flr_json_count(group->triangle_count));
        flr_json_set(entry, "position", flr_json_vec3(group->T_mesh_group.p));
        flr_json_set(entry, "rotation", flr_json_quat(group->T_mesh_group.q));
        flr_json_push(groups, entry);
    }
    if (mesh->group_count > SHOWN && !cli->verbose)
        flr_print(cli, "    and %u more; --verbose shows all\n", mesh->group_count - SHOWN);
    flr_json_set(object, "groups", groups);
}

flr_result flr_info_mesh(flr_cli *cli, const char *path, const flr_mesh *mesh,
                         const flr_mesh_report *report, const flr_info_options *options,
                         json_t **object, flr_error *error)
{
    flr_adjacency *adjacency;
    flr_result result = flr_adjacency_create(mesh, &adjacency, error);
    if (result != FLR_OK) return result;

    flr_print(cli, "%s%s%s\n", flr_bold(cli), FLR_SAFE(path), flr_plain(cli));
    json_t *facts = flr_json_object();
    flr_json_set(facts, "file", flr_json_text(path));
    flr_json_set(facts, "kind", flr_json_text("mesh"));
    tell_format(cli, report, facts);
    tell_counts(cli, mesh, report, facts);
    tell_components(cli, adjacency, facts);
    tell_mass(cli, mesh, adjacency, options->density, facts);
    if (options->features)
        result =
            tell_features(cli, mesh, adjacency, options->voxel, "  features    ", facts, error);
    if (result == FLR_OK) tell_groups(cli, mesh, facts);
    flr_adjacency_destroy(adjacency);
    if (result == FLR_OK)
        *object = facts;
    else
        json_decref(facts);
    return result;
}

/* ---- scene ---- */

/* kg that count for a part that moves, and why; 0: not known, as nothing says how large voxels are. */
static double part_mass(const flr_scene *scene, const flr_scene_part *part, const flr_mesh *mesh,
                        const char **from)
{
    flr_mass mass;
    *from = "given";
    if (part->mass > 0) return part->mass;
    *from = "density";
    if (part->density > 0)
        return flr_mass_compute(mesh, NULL, part->density, &mass, NULL) == FLR_OK
                   ? mass.inertia.mass
                   : 0;
    *from = "apparent";
    double least = 0;
    for (size_t i = 0; i < scene->part_count; i++) {
        double voxel = flr_scene_part_voxel(scene, i);
        if (voxel > 0 && !(least > 0 && least < voxel)) least = voxel;
    }
    flr_world_params params = flr_scene_params(scene);
    return least > 0 || params.engine == FLR_ENGINE_EXACT ? flr_apparent_mass(&params, least) : 0;
}

static json_t *part_json(const flr_scene *scene, const flr_scene_part *part, const flr_mesh *mesh)
{
    json_t *entry = flr_json_object();
    flr_json_set(entry, "name", flr_json_text(part->name));
    flr_json_set(entry, "file", flr_json_text(part->file));
    flr_json_set(entry, "group", part->group ? flr_json_text(part->group) : json_null());
    flr_json_set(entry, "moving", json_boolean(part->moving));
    flr_json_set(entry, "triangles", flr_json_count(mesh->triangle_count));
    flr_json_set(entry, "vertices", flr_json_count(mesh->vertex_count));
    flr_json_set(entry, "size", flr_json_vec3(flr_box3_size(mesh->bounds)));
    flr_json_set(entry, "position", flr_json_vec3(part->T_world_part.p));
    flr_json_set(entry, "rotation", flr_json_quat(part->T_world_part.q));
    double voxel = part->voxel > 0 ? part->voxel : scene->voxel;
    flr_json_set(entry, "voxel", voxel > 0 ? flr_json_number(voxel) : json_null());
    if (part->moving) {
        const char *from;
        double kg = part_mass(scene, part, mesh, &from);
        flr_json_set(entry, "mass", kg > 0 ? flr_json_number(kg) : json_null());
        flr_json_set(entry, "mass_from", flr_json_text(from));
    }
    return entry;
}

static void tell_part(flr_cli *cli, const flr_scene *scene, const flr_scene_part *part,
                      const flr_mesh *mesh)
{
    char place[POINT_TEXT_SIZE];
    double angle = flr_quat_angle(part->T_world_part.q, flr_pose_identity().q);
    flr_print(cli, "    %-16s %9s triangles  %-28s %s  at %s", FLR_SAFE(part->name),
              FLR_COUNT_TEXT(mesh->triangle_count), FLR_EXTENT_TEXT(flr_box3_size(mesh->bounds)),
              part->moving ? "moves " : "static", place_print(part->T_world_part.p, place));
    if (angle > 1e-9) flr_print(cli, ", turned by %.4g degrees", angle * 180 / FLR_PI);
    if (part->moving) {
        const char *from;
        double kg = part_mass(scene, part, mesh, &from);
        if (kg > 0)
            flr_print(cli, ", %.4g %s (%s)", kg >= 1 ? kg : 1000 * kg, kg >= 1 ? "kg" : "g",
                      strcmp(from, "apparent") == 0  ? "apparent mass"
                      : strcmp(from, "density") == 0 ? "by its density"
                                                     : "given");
    }
    flr_print(cli, "\n");
}

/* the features of a part, at the voxel size asked for, else the part's, else the scene's */
static flr_result tell_part_features(flr_cli *cli, const flr_scene *scene,
                                     const flr_scene_part *part, const flr_mesh *mesh, double voxel,
                                     json_t *object, flr_error *error)
{
    if (!(voxel > 0)) voxel = part->voxel > 0 ? part->voxel : scene->voxel;
    if (!(voxel > 0))
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s gives no voxel size for part %s; add --voxel 1mm for its features",
                        scene->path, part->name);
    return tell_features(cli, mesh, NULL, voxel, "                     ", object, error);
}

static void tell_paths(flr_cli *cli, const flr_scene *scene, json_t *object)
{
    json_t *paths = flr_json_array();
    if (scene->path_count) flr_print(cli, "  paths       %zu\n", scene->path_count);
    for (size_t i = 0; i < scene->path_count; i++) {
        const flr_scene_path *path = &scene->paths[i];
        flr_print(cli, "    %-16s of %s\n", FLR_SAFE(path->name), FLR_SAFE(path->part));
        json_t *entry = flr_json_object();
        flr_json_set(entry, "name", flr_json_text(path->name));
        flr_json_set(entry, "part", flr_json_text(path->part));
        flr_json_set(entry, "poses", flr_json_text(path->poses));
        flr_json_push(paths, entry);
    }
    flr_json_set(object, "paths", paths);
}

/* ", -90 to 0 deg", or nothing where it has no limits */
static const char *print_limits(const flr_joint_axis *axis, double scale, const char *unit,
                                char *text, size_t size)
{
    text[0] = 0;
    if (axis->limited)
        snprintf(text, size, ", %.4g to %.4g %s", scale * axis->low, scale * axis->high, unit);
    return text;
}

static json_t *limits_json(const flr_joint_axis *axis)
{
    if (!axis->limited) return json_null();
    json_t *limits = flr_json_array();
    flr_json_push(limits, flr_json_number(axis->low));
    flr_json_push(limits, flr_json_number(axis->high));
    return limits;
}

/* groups that move as one, and joints */
static void tell_links(flr_cli *cli, const flr_scene *scene, json_t *object)
{
    json_t *rigid = flr_json_array(), *joints = flr_json_array();
    char turn[64], slide[64];
    for (size_t i = 0; i < scene->group_count; i++) {
        if (!scene->groups[i].rigid) continue;
        flr_print(cli, "  rigid       %s: its parts move as one\n",
                  FLR_SAFE(scene->groups[i].name));
        flr_json_push(rigid, flr_json_text(scene->groups[i].name));
    }
    if (scene->joint_count) flr_print(cli, "  joints      %zu\n", scene->joint_count);
    for (size_t i = 0; i < scene->joint_count; i++) {
        const flr_scene_joint *j = &scene->joints[i];
        flr_print(cli, "    %-16s %s, %s on %s%s%s\n", FLR_SAFE(j->name),
                  flr_joint_kind_name(j->joint.kind), FLR_SAFE(j->b),
                  j->a ? FLR_SAFE(j->a) : "the world",
                  print_limits(&j->joint.turn, 1 / FLR_DEGREE, "deg", turn, sizeof turn),
                  print_limits(&j->joint.slide, 1e3, "mm", slide, sizeof slide));
        json_t *entry = flr_json_object();
        flr_json_set(entry, "name", flr_json_text(j->name));
        flr_json_set(entry, "kind", flr_json_text(flr_joint_kind_name(j->joint.kind)));
        flr_json_set(entry, "a", j->a ? flr_json_text(j->a) : json_null());
        flr_json_set(entry, "b", flr_json_text(j->b));
        flr_json_set(entry, "turn", limits_json(&j->joint.turn));
        flr_json_set(entry, "slide", limits_json(&j->joint.slide));
        flr_json_push(joints, entry);
    }
    flr_json_set(object, "rigid", rigid);
    flr_json_set(object, "joints", joints);
}

flr_result flr_info_scene(flr_cli *cli, const flr_scene *scene, flr_mesh *const *meshes,
                          const flr_info_options *options, json_t **object, flr_error *error)
{
    uint64_t triangles = 0;
    for (size_t i = 0; i < scene->part_count; i++) triangles += meshes[i]->triangle_count;

    flr_print(cli, "%s%s%s\n", flr_bold(cli), FLR_SAFE(scene->path), flr_plain(cli));
    flr_print(cli, "  scene       %s\n", FLR_SAFE(scene->name));
    if (scene->description) flr_print(cli, "  about       %s\n", FLR_SAFE(scene->description));
    if (scene->voxel > 0) flr_print(cli, "  voxel       %s\n", FLR_SIZE_TEXT(scene->voxel));
    flr_print(cli, "  triangles   %s\n", FLR_COUNT_TEXT(triangles));
    flr_print(cli, "  parts       %zu\n", scene->part_count);

    json_t *facts = flr_json_object();
    flr_json_set(facts, "file", flr_json_text(scene->path));
    flr_json_set(facts, "kind", flr_json_text("scene"));
    flr_json_set(facts, "name", flr_json_text(scene->name));
    flr_json_set(facts, "description",
                 scene->description ? flr_json_text(scene->description) : json_null());
    flr_json_set(facts, "unit", flr_json_number(scene->unit));
    flr_json_set(facts, "voxel", scene->voxel > 0 ? flr_json_number(scene->voxel) : json_null());
    flr_json_set(facts, "triangles", flr_json_count(triangles));
    json_t *parts = flr_json_array();
    flr_result result = FLR_OK;
    for (size_t i = 0; i < scene->part_count && result == FLR_OK; i++) {
        const flr_scene_part *part = &scene->parts[i];
        json_t *entry = part_json(scene, part, meshes[i]);
        flr_json_push(parts, entry);
        tell_part(cli, scene, part, meshes[i]);
        if (options->features)
            result = tell_part_features(cli, scene, part, meshes[i], options->voxel, entry, error);
    }
    flr_json_set(facts, "parts", parts);
    tell_links(cli, scene, facts);
    tell_paths(cli, scene, facts);
    if (result == FLR_OK)
        *object = facts;
    else
        json_decref(facts);
    return result;
}
