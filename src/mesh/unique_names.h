/* unique_names.h: names that tell parts apart. */
#ifndef FLR_MESH_UNIQUE_NAMES_H
#define FLR_MESH_UNIQUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers equal names in their order: "bolt", "bolt" become "bolt:1", "bolt:2". An empty name becomes
 * `unnamed` first; where that is NULL, it stays empty. `unique[i]` points into the returned block,
 * which the caller frees; NULL when memory is short. */
char *flr_unique_names(const char *const *names, size_t count, const char *unnamed,
                       const char **unique);

#endif
