/* voxels and points, every so manieth */
#include "sim/overlay.h"

#include <stdlib.h>

#include "feeler/voxels.h"
#include "voxel/walk.h"

typedef struct overlay_gathering {
    flr_overlay *overlay;
    uint64_t seen, total;
    flr_vec3 origin; /* of the voxmap */
    double voxel;
    flr_pose T_part_voxmap;
} overlay_gathering;

/* Of `total` things `count` are taken, as evenly as whole numbers allow. */
static bool is_taken(overlay_gathering *g)
{
    uint64_t before = g->seen * g->overlay->count / g->total;
    g->seen++;
    return g->seen * g->overlay->count / g->total > before;
}

static void put(flr_overlay *overlay, uint32_t at, flr_vec3 p)
{
    overlay->positions[3 * (size_t)at] = (float)p.x;
    overlay->positions[3 * (size_t)at + 1] = (float)p.y;
    overlay->positions[3 * (size_t)at + 2] = (float)p.z;
}

static void take_points(overlay_gathering *g, const flr_shell *shell)
{
    uint32_t at = 0;
    for (uint32_t c = 0; c < shell->chunk_count; c++) {
        const flr_shell_chunk *chunk = &shell->chunks[c];
        uint32_t point = chunk->first;
        for (unsigned label = 0; label < FLR_LABEL_COUNT; label++) {
            for (unsigned i = 0; i < chunk->count[label]; i++, point++) {
                if (!is_taken(g) || at == g->overlay->count) continue;
                g->overlay->features[at] = (uint8_t)label;
                put(g->overlay, at++, flr_shell_point(shell, c, point, 0));
            }
        }
    }
    g->overlay->count = at;
}

static bool enter(void *context, const uint32_t low[3], uint32_t side)
{
    (void)context, (void)low, (void)side;
    return true;
}

static void count_chunk(void *context, const uint32_t low[3], const flr_mask *surface,
                        const flr_mask *interior)
{
    (void)low, (void)interior;
    overlay_gathering *g = context;
    g->total += flr_mask_count(surface);
}

static void take_chunk(void *context, const uint32_t low[3], const flr_mask *surface,
                       const flr_mask *interior)
{
    (void)interior;
    overlay_gathering *g = context;
    for (unsigned cell = 0; cell < 512; cell++) {
        if (!flr_mask_get(surface, cell) || !is_taken(g)) continue;
        uint32_t at = (uint32_t)((g->seen - 1) * g->overlay->count / g->total);
        flr_vec3 p = {g->origin.x + g->voxel * (low[0] + (cell & 7) + 0.5),
                      g->origin.y + g->voxel * (low[1] + (cell >> 3 & 7) + 0.5),
                      g->origin.z + g->voxel * (low[2] + (cell >> 6) + 0.5)};
        if (at < g->overlay->count) put(g->overlay, at, flr_pose_apply(g->T_part_voxmap, p));
    }
}

static void walk(overlay_gathering *g, const flr_voxmap *voxmap,
                 void (*chunk)(void *, const uint32_t *, const flr_mask *, const flr_mask *))
{
    const uint32_t from[3] = {0};
    flr_walk through = {.enter = enter, .chunk = chunk, .context = g};
    flr_voxmap_walk(voxmap, from, voxmap->header->grid.hypers, &through);
}

flr_result flr_overlay_make(const flr_engine_part *part, uint8_t kind, uint32_t limit,
                            flr_overlay **overlay, flr_error *error)
{
    bool points = kind == FLR_WIRE_OVERLAY_POINTS;
    if (points ? !part->shell : !part->voxmap)
        return flr_fail(error, FLR_AGAIN, "%s has no %s", part->name,
                        points ? "points; parts that move have" : "voxels of its own yet");
    flr_overlay *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to show that");
    overlay_gathering g = {.overlay = made};
    if (points) {
        g.total = part->shell->total;
        made->size = (float)part->shell->voxel;
    } else {
        flr_voxmap_info info = flr_voxmap_get_info(part->voxmap);
        g.origin = info.origin;
        g.voxel = info.voxel;
        g.T_part_voxmap = flr_pose_inverse(info.T_voxmap_mesh);
        made->size = (float)info.voxel;
        walk(&g, part->voxmap, count_chunk);
    }
    uint32_t most =
        limit > 0 && limit < FLR_OVERLAY_MAX_POSITIONS ? limit : FLR_OVERLAY_MAX_POSITIONS;
    made->part = part->part;
    made->kind = kind;
    made->total = g.total < UINT32_MAX ? (uint32_t)g.total : UINT32_MAX;
    made->count = g.total < most ? (uint32_t)g.total : most;
    made->positions = malloc(3 * (size_t)made->count * sizeof *made->positions + 1);
    if (points) made->features = malloc((size_t)made->count + 1);
    if (!made->positions || (points && !made->features)) {
        flr_overlay_free(made);
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory to show that");
    }
    if (g.total > 0 && points) take_points(&g, part->shell);
    if (g.total > 0 && !points) walk(&g, part->voxmap, take_chunk);
    *overlay = made;
    return FLR_OK;
}

void flr_overlay_free(flr_overlay *overlay)
{
    if (!overlay) return;
    free(overlay->positions);
    free(overlay->features);
    free(overlay);
}
