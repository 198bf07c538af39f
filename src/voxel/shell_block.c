/* the block a shell lies in: its places, its memory, the view of it */
#include <stdlib.h>
#include <string.h>

#include "base/large_pages.h"
#include "voxel/shell_format.h"
#include "voxel/voxfile_format.h"

static uint64_t aligned(uint64_t size) { return (size + 63) / 64 * 64; }

void flr_shell_lay_out(flr_shell_header *header)
{
    uint64_t points = header->point_count;
    memcpy(header->magic, FLR_SHELL_MAGIC, sizeof header->magic);
    header->header_size = sizeof *header;
    header->hypers = aligned(sizeof *header);
    header->chunks = aligned(header->hypers + header->hyper_count * sizeof(flr_shell_hyper));
    header->x = aligned(header->chunks + header->chunk_count * sizeof(flr_shell_chunk));
    header->y = aligned(header->x + points * sizeof(uint16_t));
    header->z = aligned(header->y + points * sizeof(uint16_t));
    header->normal = aligned(header->z + points * sizeof(uint16_t));
    header->size = aligned(header->normal + points * sizeof(uint32_t));
}

flr_shell flr_shell_view(const flr_shell_header *h)
{
    const uint8_t *block = (const uint8_t *)h;
    flr_shell view = {.voxel = h->voxel,
                      .step = h->step,
                      .on_surface = h->on_surface,
                      .layer = h->layer,
                      .displaced = h->displaced,
                      .hyper_count = h->hyper_count,
                      .chunk_count = h->chunk_count,
                      .point_count = h->point_count,
                      .total = h->total,
                      .radius = h->radius,
                      .hypers = (const flr_shell_hyper *)(block + h->hypers),
                      .chunks = (const flr_shell_chunk *)(block + h->chunks),
                      .x = (const uint16_t *)(block + h->x),
                      .y = (const uint16_t *)(block + h->y),
                      .z = (const uint16_t *)(block + h->z),
                      .normal = (const uint32_t *)(block + h->normal),
                      .bytes = h->size};
    memcpy(view.by_label, h->by_label, sizeof view.by_label);
    memcpy(view.centre, h->centre, sizeof view.centre);
    return view;
}

flr_shell *flr_shell_allocate(const flr_shell_header *like)
{
    flr_shell_header header = *like;
    flr_shell_lay_out(&header);
    flr_shell_owner *owner = calloc(1, sizeof *owner);
    flr_shell_header *block = owner ? flr_pages_alloc(header.size) : NULL;
    if (!block) {
        free(owner);
        return NULL;
    }
    *block = header;
    owner->header = owner->pages = block;
    owner->view = flr_shell_view(block);
    return &owner->view;
}

void flr_shell_seal(flr_shell *shell)
{
    flr_shell_header *header = ((flr_shell_owner *)shell)->pages;
    header->layer = shell->layer;
    header->displaced = shell->displaced;
    header->total = shell->total;
    header->radius = shell->radius;
    memcpy(header->by_label, shell->by_label, sizeof header->by_label);
    memcpy(header->centre, shell->centre, sizeof header->centre);
}

void flr_shell_destroy(flr_shell *shell)
{
    if (!shell) return;
    flr_shell_owner *owner = (flr_shell_owner *)shell;
    flr_pages_free(owner->pages, owner->view.bytes);
    flr_voxfile_release(owner->file);
    free(owner);
}
