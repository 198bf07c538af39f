/* a contact table whose marks are not all in memory: what a step asks before it looks */
#include "contact/paging.h"

#include <stdlib.h>

/* ---- the table ---- */

uint32_t *flr_paging_entries(const flr_voxmap *voxmap, unsigned field)
{
    /* a directory that was read into memory is the voxmap's own */
    return (uint32_t *)(uintptr_t)flr_voxmap_u32(voxmap, voxmap->header->fields[field].hypers);
}

flr_result flr_contact_table_create_paged(flr_paging *paging, uint32_t *const hypers[],
                                          flr_contact_table **table, flr_error *error)
{
    const flr_voxmap_header *h = paging->voxmap->header;
    flr_contact_table *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a contact table");
    for (unsigned i = 0; i < (h->features ? FLR_FIELD_COUNT : 1u); i++) {
        flr_flat_field *field = &made->fields[i];
        flr_flat_field_size(field, h);
        field->chunks = flr_paging_entries(paging->voxmap, i);
        field->hypers = hypers[i];
        field->planes = (const uint32_t *)paging->pool;
        field->stride[0] = (int32_t)h->grid.hypers[0];
        field->stride[1] = (int32_t)(h->grid.hypers[0] * h->grid.hypers[1]);
    }
    made->voxmap = paging->voxmap;
    made->paging = paging;
    made->small = true; /* a pool of less than 8 GiB; checked by the pager */
    *table = made;
    return FLR_OK;
}

/* ---- asking ---- */

bool flr_paging_box(const flr_voxmap *voxmap, flr_vec3 centre, double radius, int32_t low[3],
                    int32_t high[3])
{
    const flr_grid *grid = &voxmap->header->grid;
    flr_vec3 v = flr_grid_to_voxels(grid, centre);
    const double at[3] = {v.x, v.y, v.z}, r = radius / grid->voxel;
    for (int axis = 0; axis < 3; axis++) {
        double a = floor((at[axis] - r) / FLR_HYPER_SIDE),
               b = floor((at[axis] + r) / FLR_HYPER_SIDE), last = (double)grid->hypers[axis] - 1;
        /* written so that what is no number touches nothing */
        if (!(b >= 0 && a <= last)) return false;
        low[axis] = a > 0 ? (int32_t)a : 0;
        high[axis] = (int32_t)(b < last ? b : last);
    }
    return true;
}

static bool box_ready(const flr_paging *paging, const int32_t low[3], const int32_t high[3])
{
    const uint32_t *hypers = paging->voxmap->header->grid.hypers;
    unsigned lacks = 0;
    for (int32_t z = low[2]; z <= high[2]; z++)
        for (int32_t y = low[1]; y <= high[1]; y++) {
            size_t row = ((size_t)z * hypers[1] + (size_t)y) * hypers[0];
            for (int32_t x = low[0]; x <= high[0]; x++)
                lacks |=
                    atomic_load_explicit(&paging->lacks[row + (size_t)x], memory_order_acquire);
        }
    return lacks == 0;
}

static bool sphere_ready(const flr_paging *paging, flr_pose T_voxmap_shell, const float centre[3],
                         float radius, double reach)
{
    flr_vec3 at = flr_pose_apply(
        T_voxmap_shell, flr_vec3_make((double)centre[0], (double)centre[1], (double)centre[2]));
    int32_t low[3], high[3];
    return !flr_paging_box(paging->voxmap, at, (double)radius + reach, low, high) ||
           box_ready(paging, low, high);
}

/* ---- worlds ---- */

void flr_paging_join(flr_paging *paging, flr_paging_user *user)
{
    pthread_mutex_lock(&paging->looking);
    *user = (flr_paging_user){++paging->joined, paging->users};
    paging->users = user;
    pthread_mutex_unlock(&paging->looking);
}

void flr_paging_leave(flr_paging *paging, flr_paging_user *user)
{
    pthread_mutex_lock(&paging->looking);
    flr_paging_user **at = &paging->users;
    while (*at && *at != user) at = &(*at)->next;
    if (*at) *at = user->next;
    pthread_mutex_unlock(&paging->looking);
}

const flr_paging_view *flr_paging_see(flr_paging *paging)
{
    static const flr_paging_view nothing;
    pthread_mutex_lock(&paging->looking);
    const flr_paging_view *view = flr_latest_view(paging->view, NULL);
    for (const flr_paging_user *user = paging->users; user; user = user->next)
        if (user->number == view->world) return view;
    return &nothing;
}

void flr_paging_seen(flr_paging *paging) { pthread_mutex_unlock(&paging->looking); }

/* ---- steps ---- */

void flr_paging_begin(flr_paging *paging)
{
    atomic_fetch_add_explicit(&paging->steps, 1, memory_order_seq_cst);
}

void flr_paging_end(flr_paging *paging)
{
    atomic_fetch_add_explicit(&paging->steps, 1, memory_order_seq_cst);
}

bool flr_paging_ready(flr_paging *paging, const flr_shell *shell, flr_pose T_voxmap_shell,
                      double reach)
{
    /* a small shell's own sphere is looked at, too, at its centre */
    bool ready = true;
    if (flr_paging_is_small(paging->voxmap, shell))
        ready = sphere_ready(paging, T_voxmap_shell, shell->centre, shell->radius, reach);
    for (uint32_t i = 0; i < shell->hyper_count && ready; i++)
        ready = sphere_ready(paging, T_voxmap_shell, shell->hypers[i].centre,
                             shell->hypers[i].radius, reach);
    return ready;
}
