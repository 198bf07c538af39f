/* what feeler info says about a voxel file */
#include <string.h>
#include <strings.h>

#include "feeler/base.h"
#include "feeler/voxel_file.h"
#include "info.h"
#include "output.h"

bool flr_is_voxels(const char *path)
{
    size_t size = strlen(path);
    return size > 7 && !strcasecmp(path + size - 7, ".flrvox");
}

static const char *kind_name(uint32_t kind)
{
    return kind == FLR_SECTION_VOXMAP ? "voxmap" : kind == FLR_SECTION_SHELL ? "shell" : "unknown";
}

static void tell_sections(flr_cli *cli, const flr_voxmap *voxmap, json_t *object)
{
    flr_voxfile_info file;
    if (!flr_voxfile_get_info(voxmap, &file)) return;
    flr_print(cli, "  format      feeler voxels, version %u, %s, all checksums right\n",
              file.version, FLR_BYTES_TEXT(file.size));
    flr_print(cli, "  sections   ");
    json_t *sections = flr_json_array();
    for (uint32_t i = 0; i < file.section_count; i++) {
        const flr_voxfile_section *s = &file.sections[i];
        flr_print(cli, "%s %s %s", i ? "," : "", kind_name(s->kind), FLR_BYTES_TEXT(s->size));
        json_t *section = flr_json_object();
        flr_json_set(section, "kind", flr_json_text(kind_name(s->kind)));
        flr_json_set(section, "offset", flr_json_count(s->offset));
        flr_json_set(section, "bytes", flr_json_count(s->size));
        flr_json_push(sections, section);
    }
    flr_print(cli, "\n");
    flr_json_set(object, "version", flr_json_count(file.version));
    flr_json_set(object, "bytes", flr_json_count(file.size));
    flr_json_set(object, "sections", sections);
}

static void tell_parameters(flr_cli *cli, const flr_voxmap_info *info, json_t *object)
{
    flr_print(cli, "  voxel       %s, %u bits, field to %u voxel%s%s%s\n",
              FLR_SIZE_TEXT(info->voxel), info->bits, info->range, flr_noun(info->range, "", "s"),
              info->features ? "" : ", surface only", info->hollow ? ", hollow" : "");
    flr_print(cli, "  grid        %llu x %llu x %llu voxels\n", (unsigned long long)info->size[0],
              (unsigned long long)info->size[1], (unsigned long long)info->size[2]);
    json_t *grid = flr_json_array(), *pose = flr_json_object();
    for (int axis = 0; axis < 3; axis++) flr_json_push(grid, flr_json_count(info->size[axis]));
    flr_json_set(pose, "position", flr_json_vec3(info->T_voxmap_mesh.p));
    flr_json_set(pose, "orientation", flr_json_quat(info->T_voxmap_mesh.q));
    flr_json_set(object, "mesh_hash", flr_json_text(FLR_HASH_TEXT(info->mesh_hash)));
    flr_json_set(object, "mesh_pose", pose);
    flr_json_set(object, "voxel_size", flr_json_number(info->voxel));
    flr_json_set(object, "bits", flr_json_count(info->bits));
    flr_json_set(object, "range", flr_json_count(info->range));
    flr_json_set(object, "offset", flr_json_count(info->offset));
    flr_json_set(object, "features", json_boolean(info->features));
    flr_json_set(object, "hollow", json_boolean(info->hollow));
    flr_json_set(object, "origin", flr_json_vec3(info->origin));
    flr_json_set(object, "size", grid);
}

static void tell_counts(flr_cli *cli, const flr_voxmap_info *info, json_t *object)
{
    const flr_voxmap_stats *stats = &info->stats;
    flr_print(cli, "  triangles   %s", FLR_COUNT_TEXT(stats->triangles));
    if (info->features)
        flr_print(cli, ", merged to %s polygon%s", FLR_COUNT_TEXT(stats->polygons),
                  flr_noun(stats->polygons, "", "s"));
    flr_print(cli, "\n  surface     %s voxels", FLR_COUNT_TEXT(stats->surface_voxels));
    if (info->features)
        flr_print(cli, ", %s of them on edges, %s at vertices", FLR_COUNT_TEXT(stats->edge_voxels),
                  FLR_COUNT_TEXT(stats->vertex_voxels));
    flr_print(cli, "\n  interior    %s voxels\n", FLR_COUNT_TEXT(stats->interior_voxels));
    flr_print(cli, "  field       %s free voxels with a distance\n",
              FLR_COUNT_TEXT(stats->field_voxels));
    flr_print(cli, "  chunks      %s in %s hyperchunk%s\n",
              FLR_COUNT_TEXT(stats->chunks[FLR_FIELD_SURFACE]), FLR_COUNT_TEXT(stats->hyperchunks),
              flr_noun(stats->hyperchunks, "", "s"));
    double share = (double)stats->bytes / (double)(stats->surface_voxels + !stats->surface_voxels) /
                   (info->features ? FLR_FIELD_COUNT : 1);
    flr_print(cli, "  memory      %s, %.3g bytes per surface voxel%s\n",
              FLR_BYTES_TEXT(stats->bytes), share, info->features ? " and field" : "");
    flr_json_set(object, "bytes_per_voxel_and_field", flr_json_number(share));
    flr_json_set(object, "triangles", flr_json_count(stats->triangles));
    flr_json_set(object, "polygons",
                 info->features ? flr_json_count(stats->polygons) : json_null());
    flr_json_set(object, "surface_voxels", flr_json_count(stats->surface_voxels));
    flr_json_set(object, "edge_voxels", flr_json_count(stats->edge_voxels));
    flr_json_set(object, "vertex_voxels", flr_json_count(stats->vertex_voxels));
    flr_json_set(object, "interior_voxels", flr_json_count(stats->interior_voxels));
    flr_json_set(object, "field_voxels", flr_json_count(stats->field_voxels));
    flr_json_set(object, "chunks", flr_json_count(stats->chunks[FLR_FIELD_SURFACE]));
    flr_json_set(object, "hyperchunks", flr_json_count(stats->hyperchunks));
}

static void tell_points(flr_cli *cli, const flr_shell *shell, json_t *object)
{
    if (!shell) {
        flr_json_set(object, "points", json_null());
        return;
    }
    char n[4][FLR_COUNT_TEXT_SIZE];
    flr_print(cli, "  points      %s: %s vertex, %s edge, %s face; %s\n",
              flr_count_print(shell->total, n[0]),
              flr_count_print(shell->by_label[FLR_LABEL_VERTEX], n[1]),
              flr_count_print(shell->by_label[FLR_LABEL_EDGE], n[2]),
              flr_count_print(shell->by_label[FLR_LABEL_FACE], n[3]),
              shell->on_surface ? "on the surface" : "at voxel centres");
    json_t *points = flr_json_object();
    flr_json_set(points, "total", flr_json_count(shell->total));
    flr_json_set(points, "vertex", flr_json_count(shell->by_label[FLR_LABEL_VERTEX]));
    flr_json_set(points, "edge", flr_json_count(shell->by_label[FLR_LABEL_EDGE]));
    flr_json_set(points, "face", flr_json_count(shell->by_label[FLR_LABEL_FACE]));
    flr_json_set(points, "on_surface", json_boolean(shell->on_surface));
    flr_json_set(object, "points", points);
}

void flr_info_voxmap(flr_cli *cli, const flr_voxmap_info *info, const flr_shell *shell,
                     json_t *object)
{
    tell_parameters(cli, info, object);
    tell_counts(cli, info, object);
    tell_points(cli, shell, object);
}

flr_result flr_info_voxels(flr_cli *cli, const char *path, json_t **object, flr_error *error)
{
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_result result =
        flr_voxfile_open(cli->env, path, FLR_VOXFILE_VERIFY, &voxmap, &shell, error);
    if (result != FLR_OK) return result;
    flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    *object = flr_json_object();
    flr_json_set(*object, "file", flr_json_text(path));
    flr_json_set(*object, "kind", flr_json_text("voxels"));
    flr_print(cli, "%s%s%s\n", flr_bold(cli), FLR_SAFE(path), flr_plain(cli));
    tell_sections(cli, voxmap, *object);
    flr_print(cli, "  mesh        %s\n", FLR_HASH_TEXT(info.mesh_hash));
    flr_info_voxmap(cli, &info, shell, *object);
    flr_shell_destroy(shell);
    flr_voxmap_destroy(voxmap);
    return FLR_OK;
}
