/* assimp.h: the readers of libassimp: glTF, 3DS, DAE, AC3D, 3MF, FBX, OFF, X3D, … */
#ifndef FLR_ASSIMP_H
#define FLR_ASSIMP_H

#include "collect.h"

/* Reads everything that has a surface into `collect`: one group per node with triangles, named
 * after the node. */
flr_result flr_assimp_read(const flr_import_job *job, flr_collect *collect);

/* What assimp calls the format of a name, NULL when it knows none. */
const char *flr_assimp_format(const char *ending);

/* The endings it knows, separated by spaces. */
void flr_assimp_endings(char *text, size_t size);

/* "assimp 5.2" */
void flr_assimp_version(char *text, size_t size);

#endif
