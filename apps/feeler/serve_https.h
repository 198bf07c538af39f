/* serve_https.h: a certificate of feeler's own for `feeler serve --https` */
#ifndef FLR_SERVE_HTTPS_H
#define FLR_SERVE_HTTPS_H

#include "command.h"
#include "feeler/voxel_file.h"

typedef struct flr_https {
    char certificate[FLR_CACHE_PATH_SIZE], key[FLR_CACHE_PATH_SIZE]; /* their files (PEM) */
    char fingerprint[120]; /* SHA-256, as browsers show it; "" where it is not known */
    bool made;             /* just now */
} flr_https;

/* The certificate of this user and machine: one from before, or, if there is none, if it names other machines than `names` and this
 * one's addresses, or if it is about to expire, a new one, by the program openssl. It is kept in `folder`, its key for this user alone.
 * `names` [count]: host names besides localhost. */
flr_result flr_https_prepare(flr_cli *cli, const char *folder, const char *const *names,
                             size_t count, flr_https *https, flr_error *error);
/* What people have to do in their browsers. */
void flr_https_explain(flr_cli *cli, const flr_https *https);

#endif
