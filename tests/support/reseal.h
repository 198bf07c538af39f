/* reseal.h: puts right the checksums of a voxel file that a test has changed, so that its content is looked at: what
 * somebody would do who forges one. For tests and fuzz targets. */
#ifndef FLR_TEST_RESEAL_H
#define FLR_TEST_RESEAL_H

#include <string.h>

#include "voxel/voxfile_format.h"

/* As far as the file's size and header allow; also the sizes in the header are left as they are. */
static inline void flr_test_reseal(uint8_t *bytes, size_t size)
{
    flr_voxfile_header *h = (flr_voxfile_header *)bytes;
    if (size < sizeof *h) return;
    if (h->data >= sizeof *h && h->data <= size) {
        flr_hash *table = (flr_hash *)(h + 1);
        size_t room = (h->data - sizeof *h) / sizeof *table, offset = h->data;
        for (size_t i = 0; i < room && offset < size; i++) {
            size_t block = size - offset < FLR_VOXFILE_BLOCK ? size - offset : FLR_VOXFILE_BLOCK;
            table[i] = flr_hash_bytes(bytes + offset, block);
            offset += block;
        }
        h->table_hash = flr_hash_bytes(table, h->data - sizeof *h);
    }
    memset(&h->header_hash, 0, sizeof h->header_hash);
    h->header_hash = flr_hash_bytes(h, sizeof *h);
}

#endif
