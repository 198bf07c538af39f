/* upload.h: a file or a mesh that comes in pieces
 *
 * A file is written to a folder of this controller alone and goes to the engine by name; a mesh is gathered in memory, with no more
 * of it set aside than has come. What ends before its end leaves nothing. Thread: control. */
#ifndef FLR_SERVER_UPLOAD_H
#define FLR_SERVER_UPLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "protocol/messages.h"
#include "sim/engine.h"

typedef struct flr_upload flr_upload;

/* Begins one. `folder`: for files; NULL: none can be taken. `limit`: bytes. FLR_TOO_LARGE, FLR_BAD_ARGUMENT, FLR_DENIED,
 * FLR_NO_MEMORY, FLR_IO. */
flr_result flr_upload_begin(flr_env *env, const char *folder, uint64_t limit, uint32_t number,
                            const flr_msg_upload *def, flr_upload **upload, flr_error *error);
/* Throws it away; NULL allowed. */
void flr_upload_abandon(flr_upload *upload);

uint32_t flr_upload_number(const flr_upload *upload);
uint64_t flr_upload_size(const flr_upload *upload); /* bytes it will have */

flr_result flr_upload_bytes(flr_upload *upload, const flr_msg_upload_bytes *piece,
                            flr_error *error);
flr_result flr_upload_triangles(flr_upload *upload, const flr_msg_upload_triangles *piece,
                                flr_error *error);

/* All is there: gives it to the engine and frees it, whatever the result. */
flr_result flr_upload_end(flr_upload *upload, flr_engine *engine, const flr_msg_upload_end *end,
                          uint32_t *job, flr_error *error);

/* A folder below `parent` for this controller alone: with a random name, readable by its owner only, and with a file beside
 * it, NAME.lock, that stays locked until flr_upload_folder_remove(). Folders whose lock can be had belong to controllers
 * that have ended and are removed; so are, once they are a day old, those of versions that did not lock. That holds
 * for controllers in other containers and on other machines that share the disk, too. Links are neither followed nor
 * taken for such folders. `folder` has `size` bytes. */
flr_result flr_upload_folder(flr_env *env, const char *parent, char *folder, size_t size,
                             flr_file **lock, flr_error *error);
/* Only removes those of controllers that have ended. */
void flr_upload_folder_sweep(flr_env *env, const char *parent);
/* Removes it with all that is in it, and ends the lock. */
void flr_upload_folder_remove(flr_env *env, const char *folder, flr_file *lock);

#endif
