/* A part ready to be touched: one call from a mesh to voxels, points, contact table and mass. */
#include <stdlib.h>

#include "feeler/mesh.h"
#include "feeler/world.h"

struct flr_part {
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_contact_table *table;
    flr_pairs_shape shape; /* borrows the shell and the table */
    flr_body_def body;
};

flr_part_def flr_default_part_def(void)
{
    flr_part_def def = {.voxelize = flr_default_voxelize_def(), .density = 1000};
    def.voxelize.voxel = 0.001;
    return def;
}

void flr_part_destroy(flr_part *part)
{
    if (!part) return;
    flr_contact_table_destroy(part->table);
    flr_shell_destroy(part->shell);
    flr_voxmap_destroy(part->voxmap);
    free(part);
}

flr_result flr_part_create(flr_env *env, const flr_mesh *mesh, const flr_part_def *def,
                           flr_part **part, flr_error *error)
{
    const flr_part_def standard = flr_default_part_def();
    if (!def) def = &standard;
    flr_part *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a part");
    flr_result result = flr_body_def_from_mesh(mesh, def->density, &made->body, error);
    if (result == FLR_OK)
        result = flr_voxelize(env, mesh, &def->voxelize, &made->voxmap, &made->shell, NULL, error);
    if (result == FLR_OK) result = flr_contact_table_create(made->voxmap, &made->table, error);
    if (result != FLR_OK) {
        flr_part_destroy(made);
        return result;
    }
    made->shape = flr_pairs_shape_make(made->shell, made->table);
    *part = made;
    return FLR_OK;
}

flr_result flr_part_open(flr_env *env, const char *path, const flr_part_def *def, flr_part **part,
                         flr_error *error)
{
    flr_mesh *mesh;
    flr_result result = flr_mesh_open(env, path, NULL, &mesh, NULL, error);
    if (result != FLR_OK) return result;
    result = flr_part_create(env, mesh, def, part, error);
    flr_mesh_destroy(mesh);
    return result;
}

flr_world_part flr_part_in_world(const flr_part *part, flr_part_kind kind, flr_pose T_world_part)
{
    flr_world_part placed = flr_default_world_part();
    placed.shape = part->shape;
    placed.kind = kind;
    placed.body = part->body;
    placed.body.T_world_part = T_world_part;
    return placed;
}
