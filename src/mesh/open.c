/* any mesh file: own formats directly, the rest through the helper */
#include "feeler/mesh.h"

flr_result flr_mesh_open(flr_env *env, const char *path, const flr_mesh_options *options,
                         flr_mesh **mesh, flr_mesh_report *report, flr_error *error)
{
    flr_mesh_report own_report;
    if (!report) report = &own_report;
    // a name that only the helper knows saves a look at the content
    if (!flr_import_knows(path)) {
        flr_result result = flr_mesh_read(env, path, options, mesh, report, error);
        if (result != FLR_UNSUPPORTED || report->format != FLR_FORMAT_FOREIGN) return result;
    }
    return flr_import_read(env, path, options, mesh, report, NULL, error);
}
