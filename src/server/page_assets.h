/* page_assets.h: the files of the viewer's page, inside the program
 *
 * The table is written by web/embed/embed.c from what the page's build leaves in its folder. Where the viewer was not built
 * (no npm, or -DFLR_VIEWER=OFF) it holds one plain page that says how to. Thread: any. */
#ifndef FLR_SERVER_PAGE_ASSETS_H
#define FLR_SERVER_PAGE_ASSETS_H

#include <stddef.h>

typedef struct flr_asset {
    const char *path; /* "/index.html"; NULL ends the table */
    const char *type; /* for Content-Type */
    const char *etag; /* of the content, hexadecimal, without quotes */
    const unsigned char *bytes;
    size_t size;
    const unsigned char *gzip; /* the same, compressed; NULL: that is not shorter */
    size_t gzip_size;
} flr_asset;

/* Sorted by path. */
extern const flr_asset flr_assets[];

#endif
