/* assimp.h: the readers of libassimp: glTF, 3DS, DAE, AC3D, 3MF, FBX, OFF, X3D, … */
#ifndef FLR_ASSIMP_H
#define FLR_ASSIMP_H

#include "collect.h"

/* Reads everything that has a surface into `collect`: one group per node with triangles, named
 * after the node. */
flr_result flr_assimp_read(const flr_import_job *job, flr_collect *collect);

/* What the format of an ending is called; false when assimp does not know it. */
bool flr_assimp_format(const char *ending, char *name, size_t size);

/* The endings it knows, separated by spaces. */
void flr_assimp_endings(char *text, size_t size);

/* "assimp 5.2" */
void flr_assimp_version(char *text, size_t size);

#endif
