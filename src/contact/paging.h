/* paging.h: a contact table whose marks are not all in memory.
 *
 * Its entries are those of the voxmap's own directory, in place: a table of all chunks of the grid would take several times
 * the memory of the directory. The planes are a pool of slots, each as large as a block of the voxel file. The entry of a chunk
 * whose block is in a slot is the number of its plane in the pool; that of another one names its block: marked as uniform and
 * free, so that looking at it by mistake does no harm. Who looks first asks flr_paging_ready(), which works by hyperchunks:
 * each has a count of what it lacks. What is ready stays so until the step ends (flr_paging_end()).
 *
 * One thread looks (RT), one other fills and empties slots: pager/. That one learns from views of a world where its parts
 * are, whose shells go with the world: a world joins before it steps and leaves before they are freed. */
#ifndef FLR_CONTACT_PAGING_H
#define FLR_CONTACT_PAGING_H

#include <pthread.h>
#include <stdatomic.h>

#include "contact/contact_table.h"
#include "feeler/base.h"
#include "feeler/voxels.h"

enum {
    FLR_PAGING_PARTS = 128
}; /* that are reported to the pager; of more, those that lack something come first */

/* A part that moves near the paged one. */
typedef struct flr_paging_part {
    const flr_shell *shell;
    flr_pose T_voxmap_shell;
    flr_twist motion; /* voxmap's axes, about the shell's origin */
    double reach;     /* metres: around its points, what a step looks at */
} flr_paging_part;

typedef struct flr_paging_view {
    uint64_t world; /* flr_paging_user.number of who says it */
    uint32_t count;
    flr_paging_part parts[FLR_PAGING_PARTS];
} flr_paging_view;

/* A world that says where its parts are. */
typedef struct flr_paging_user {
    uint64_t number; /* from 1; never given twice */
    struct flr_paging_user *next;
} flr_paging_user;

typedef struct flr_paging {
    const flr_voxmap *voxmap;
    uint8_t *pool; /* [slots][FLR_VOXFILE_BLOCK] */
    _Atomic uint16_t *
        lacks; /* per hyperchunk of the grid, x fastest: blocks of its planes that are not in memory */
    flr_latest *view;        /* flr_paging_view: from the step to the pager */
    _Atomic uint64_t steps;  /* odd while a step looks */
    _Atomic uint64_t missed; /* steps that were not ready */
    atomic_bool begun;       /* some step was */
    _Atomic uint64_t
        withdrawn; /* counts up before anything is taken away: what was ready with the same count still is */
    pthread_mutex_t looking; /* of what follows; never taken by a step */
    flr_paging_user *users;  /* worlds that are there */
    uint64_t joined;         /* so many ever were */
} flr_paging;

/* The entry of a chunk that is in no slot. */
static inline uint32_t flr_paging_absent(uint64_t block)
{
    return FLR_UNIFORM | (uint32_t)(block + 1) << 8 | FLR_MARK_FREE;
}
enum { FLR_PAGING_BLOCKS = (1 << 23) - 2 }; /* that an entry can name */

/* Does a chunk with this entry have a plane, in a slot or in the file? */
static inline bool flr_paging_has_plane(uint32_t entry)
{
    return !(entry & FLR_UNIFORM) || (entry & ~FLR_UNIFORM) >> 8;
}

/* A table of a voxmap opened with FLR_VOXFILE_DIRECTORY, of which all chunks with a plane are absent: pager/blocks.c.
 * `hypers`: of each field, per hyperchunk of the grid, x fastest, its number or FLR_UNIFORM | mark. `paging` and `hypers` are
 * borrowed. */
flr_result flr_contact_table_create_paged(flr_paging *paging, uint32_t *const hypers[],
                                          flr_contact_table **table, flr_error *error);

/* The entries of a field's hyperchunks, [hyper][512], for the pager. */
uint32_t *flr_paging_entries(const flr_voxmap *voxmap, unsigned field);

/* Around a sphere (voxmap's frame, metres): the hyperchunks that it touches, within the grid. False: none. */
bool flr_paging_box(const flr_voxmap *voxmap, flr_vec3 centre, double radius, int32_t low[3],
                    int32_t high[3]);

/* A shell whose own sphere a step looks at, beside those of its hyperchunks. */
static inline bool flr_paging_is_small(const flr_voxmap *voxmap, const flr_shell *shell)
{
    return (double)shell->radius < FLR_HYPER_SIDE * voxmap->header->grid.voxel;
}

/* A world comes, and goes: afterwards nobody looks at the shells of its parts. `user` is the caller's. Thread: any but RT. */
void flr_paging_join(flr_paging *paging, flr_paging_user *user);
void flr_paging_leave(flr_paging *paging, flr_paging_user *user);

/* The newest view, for the pager, until flr_paging_seen(); one of nothing where its world is gone. */
const flr_paging_view *flr_paging_see(flr_paging *paging);
void flr_paging_seen(flr_paging *paging);

/* A step begins and ends to look. RT safe. */
void flr_paging_begin(flr_paging *paging);
void flr_paging_end(flr_paging *paging);

/* Is all there that a look at the shell in this place can need, as far as `reach` metres around its points? RT safe. */
bool flr_paging_ready(flr_paging *paging, const flr_shell *shell, flr_pose T_voxmap_shell,
                      double reach);

#endif
