/* import_content.h: what the import helper sends, before it becomes a mesh or an assembly. Private to
 * src/mesh. */
#ifndef FLR_MESH_IMPORT_CONTENT_H
#define FLR_MESH_IMPORT_CONTENT_H

#include "mesh/mesh_stream.h"

/* Runs the helper as flr_import_read() does and returns the content of its stream, which the caller
 * frees. `options`, `report` and `info` (may be NULL) as there. */
flr_result flr_import_content(flr_env *env, const char *path, const flr_mesh_options *options,
                              flr_stream_content *content, flr_mesh_report *report,
                              flr_import_info *info, flr_error *error);

/* One mesh of all parts where they stand, as flr_assembly_mesh() makes it. Takes names and notes out of
 * the content. The caller owns `*mesh`. */
flr_result flr_content_mesh(flr_stream_content *content, const char *path, double weld,
                            uint64_t limit, flr_mesh **mesh, flr_error *error);

#endif
