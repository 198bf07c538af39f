/* info.h: what `feeler info` knows about a mesh, a scene and a voxel file, as text and as JSON. */
#ifndef FLR_INFO_H
#define FLR_INFO_H

#include <jansson.h>

#include "command.h"
#include "feeler/assembly.h"
#include "feeler/mesh.h"
#include "feeler/voxels.h"
#include "scene/scene.h"
#include "sim/resolution.h"

typedef struct flr_info_options {
    bool features;  /* count polygons, edges and vertices after merging */
    double voxel;   /* metres; for the features */
    double density; /* kg/m^3 */
} flr_info_options;

/* All about one mesh: prints it (unless cli->json) and returns it as a JSON object. */
flr_result flr_info_mesh(flr_cli *cli, const char *path, const flr_mesh *mesh,
                         const flr_mesh_report *report, const flr_info_options *options,
                         json_t **object, flr_error *error);

/* The tree of a file: prints it and adds it to `object` (tree, up, left_out). */
void flr_info_tree(flr_cli *cli, const flr_assembly *assembly, json_t *object);

/* All about a scene whose parts' meshes are loaded, meshes[part_count]. */
flr_result flr_info_scene(flr_cli *cli, const flr_scene *scene, flr_mesh *const *meshes,
                          const flr_info_options *options, json_t **object, flr_error *error);

/* How its parts touch: engine, voxels that feeler chooses, exact geometry, overlaps and gaps at the start. Adds to `facts`. */
flr_result flr_info_contact(flr_cli *cli, const flr_scene *scene, const flr_part_list *parts,
                            const flr_resolution *chosen, json_t *facts, flr_error *error);

/* Voxel files end in .flrvox. */
bool flr_is_voxels(const char *path);

/* What a voxmap is made of, and its points (shell may be NULL): prints and adds to `object`. */
void flr_info_voxmap(flr_cli *cli, const flr_voxmap_info *info, const flr_shell *shell,
                     json_t *object);

/* All about a voxel file, which is opened and verified here. */
flr_result flr_info_voxels(flr_cli *cli, const char *path, json_t **object, flr_error *error);

/* All about a recording, which is read to its end here. */
flr_result flr_info_recording(flr_cli *cli, const char *path, json_t **object, flr_error *error);

#endif
