/* cost.h: how much memory the tree of a JSON text takes, before it is made.
 *
 * A tree takes many times the text: "[]," is 3 bytes, and 144 as a value of jansson with its place in an array. So the text
 * is looked through first, and what would take more than a scene may have is refused without a tree. Thread: any. */
#ifndef FLR_SCENE_COST_H
#define FLR_SCENE_COST_H

#include <stdint.h>

#include "scene/locate.h"

/* Bytes of the tree and of the scene made from it, at most; of any text, well-formed or not. Stops where it is above `limit`:
 * then `*where` is that place. */
uint64_t flr_scene_cost(const char *text, size_t size, uint64_t limit, flr_json_position *where);

/* Bytes that reading a text of `size` bytes may take: enough for parts as short as they can be written, not for a text of
 * empty lists and objects. */
uint64_t flr_scene_memory_limit(size_t size);

#endif
