/* feeler/ids.h: names parts, meshes and hands of a running simulation: in a controller, and for its clients.
 *
 *     flr_part_id part = flr_client_find(client, "pump");
 *     flr_client_grab(client, flr_hand(0), part, &error);
 *
 * On the wire an id is its index, which is never used again within a scene. Between scenes the generation tells: an id of a scene that
 * is gone names nothing, whatever has its index now. A type for each kind, so that a hand is never taken for a part.
 *
 * Plain values. Thread: any; RT safe. */
#ifndef FEELER_IDS_H
#define FEELER_IDS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct flr_part_id {
    uint32_t index;      /* as on the wire; UINT32_MAX: no part */
    uint32_t generation; /* number of the scene that it is in; 0 where there is no part */
} flr_part_id;

/* Parts of one shape share a mesh. */
typedef struct flr_mesh_id {
    uint32_t index, generation; /* likewise */
} flr_mesh_id;

/* Hands are there as long as the engine: they need no generation. */
typedef struct flr_hand_id {
    uint32_t index; /* from 0; UINT32_MAX: no hand */
} flr_hand_id;

#define FLR_NO_PART_ID ((flr_part_id){UINT32_MAX, 0})
#define FLR_NO_HAND_ID ((flr_hand_id){UINT32_MAX})

static inline flr_hand_id flr_hand(uint32_t index)
{
    flr_hand_id id = {index};
    return id;
}

static inline bool flr_is_part(flr_part_id id) { return id.index != UINT32_MAX; }
static inline bool flr_is_hand(flr_hand_id id) { return id.index != UINT32_MAX; }

static inline bool flr_same_part(flr_part_id a, flr_part_id b)
{
    return a.index == b.index && a.generation == b.generation;
}

static inline bool flr_same_mesh(flr_mesh_id a, flr_mesh_id b)
{
    return a.index == b.index && a.generation == b.generation;
}

#endif
